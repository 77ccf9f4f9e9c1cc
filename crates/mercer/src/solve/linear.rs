//! Linear systems in a kernel matrix too large to factorise: preconditioned conjugate gradients.
//!
//! ```text
//! (K + diag(shift)) x = b
//! ```
//!
//! Each iteration multiplies by K once: n^2 multiply-adds where K is in memory, n^2 kernel values where it is not.
//! The number of iterations grows with the square root of the condition number. The preconditioner is `L L' +
//! diag(shift)`, with `K ~ L L'` of rank r from a partial Cholesky factorisation with pivoting; its inverse costs 4 n
//! r by Woodbury's identity and handles the directions with the largest eigenvalues. Inner iterations use f32 values
//! of K. Their error is measured in f64 ([`Rows::apply`]) and solved for again (iterative refinement), until the
//! exact residual satisfies the tolerance.

use std::time::Instant;

use mercer_num::{Buffer, Fault, factor, pass};

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::watch::{Info, Step, Stop, Watch};

/// Parameters of a linear solve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinearParams {
    /// Tolerance on the norm of the residual, relative to the right-hand side.
    pub tol: f64,
    /// Maximum number of products with K, over all right-hand sides.
    pub max_iter: u64,
    /// Rank of the preconditioner.
    pub rank: usize,
    /// Threads, memory for values of K, device.
    pub exec: Exec,
}

impl Default for LinearParams {
    fn default() -> Self {
        LinearParams { tol: 1e-8, max_iter: 10_000, rank: 200, exec: Exec::one() }
    }
}

/// Maximum number of refinement rounds in f64.
const ROUNDS: usize = 30;

/// Solves for each right-hand side (n numbers each). [`Info::gap`] is the largest relative residual.
///
/// Fails if the matrix turns out not to be positive definite. Reaching the limit and being cancelled are reported in
/// the info; the solution reached so far is returned.
pub(crate) fn solve_linear(
    rows: &dyn Rows,
    shift: &[f64],
    right: &[Vec<f64>],
    params: &LinearParams,
    watch: &mut Watch<'_>,
) -> Result<(Vec<Vec<f64>>, Info)> {
    let clock = Instant::now();
    let n = rows.len();
    if shift.len() != n || right.iter().any(|b| b.len() != n) {
        return Err(Error::shape("numbers of a linear system", shift.len(), format!("{n}, one per row")));
    }
    if shift.iter().chain(right.iter().flatten()).any(|v| !v.is_finite()) {
        return Err(Fault::NotFinite { what: "linear system" }.into());
    }
    let matrix = Product::new(rows, params);
    let near = Near::new(rows, shift, params);
    let mut job = Job { left: params.max_iter, done: 0, cancelled: false, watch };
    let mut gap = 0.0_f64;
    let mut out = Vec::with_capacity(right.len());
    let all: Vec<u32> = (0..n as u32).collect();
    // Right-hand sides share the matrix and the preconditioner, and are solved one after another.
    for b in right {
        let scale = length(b);
        let (mut x, mut rest) = (vec![0.0; n], b.clone());
        let mut now = if scale == 0.0 { 0.0 } else { 1.0 };
        for _ in 0..ROUNDS {
            if now <= params.tol || job.over() {
                break;
            }
            // Slightly below the tolerance, so that the exact residual satisfies it, and never below what f32
            // resolves.
            let wanted = (0.3 * params.tol / now).max(1e-4);
            let change = gradients(&matrix, shift, &near, &rest, wanted, &mut job)?;
            let better: Vec<f64> = x.iter().zip(&change).map(|(a, b)| a + b).collect();
            let mut exact = vec![0.0; n];
            rows.apply(&all, &better, &mut exact, params.exec);
            let residual: Vec<f64> = (0..n).map(|i| b[i] - exact[i] - shift[i] * better[i]).collect();
            let after = length(&residual) / scale;
            if !after.is_finite() {
                return Err(Fault::NotFinite { what: "linear system" }.into());
            }
            // Refinement usually gains orders of magnitude per round; less than 30 % means that f32 values limit it.
            let stalled = after > 0.7 * now;
            if after < now {
                (x, rest, now) = (better, residual, after);
            }
            if stalled {
                break;
            }
        }
        gap = gap.max(now);
        out.push(x);
    }
    let stop = match (job.cancelled, gap <= params.tol) {
        (true, _) => Stop::Cancelled,
        (false, true) => Stop::Converged,
        (false, false) => Stop::Limit,
    };
    let note = format!(
        "conjugate gradients, preconditioner of rank {}, {}",
        near.factor.len(),
        if matrix.whole.is_some() { "matrix in memory" } else { "values recomputed in every iteration" }
    );
    let products = if matrix.whole.is_some() { 1 } else { job.done };
    let kernel_values = products * (n as u64).pow(2);
    let seconds = clock.elapsed().as_secs_f64();
    let info = Info {
        stop,
        iterations: job.done,
        gap,
        objective: None,
        kernel_values,
        seconds,
        notes: vec![note.into()],
        device: None,
        held_out: Vec::new(),
    };
    Ok((out, info))
}

struct Job<'a, 'w> {
    left: u64,
    done: u64,
    cancelled: bool,
    watch: &'a mut Watch<'w>,
}

impl Job<'_, '_> {
    fn over(&self) -> bool {
        self.cancelled || self.left == 0
    }

    fn step(&mut self, gap: f64) {
        (self.done, self.left) = (self.done + 1, self.left - 1);
        self.cancelled = (self.watch)(&Step::new("solve", self.done, None).gap(gap)).is_break();
    }
}

/// Conjugate gradients until the residual is reduced by this factor.
fn gradients(
    matrix: &Product<'_>,
    shift: &[f64],
    near: &Near,
    b: &[f64],
    share: f64,
    job: &mut Job<'_, '_>,
) -> Result<Vec<f64>> {
    let n = b.len();
    let (mut x, mut r) = (vec![0.0; n], b.to_vec());
    let goal = share * length(b);
    let mut z = near.solve(&r);
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    let mut q = vec![0.0; n];
    while length(&r) > goal && !job.over() {
        matrix.times(&p, &mut q);
        q.iter_mut().zip(shift).zip(&p).for_each(|((q, s), p)| *q += s * p);
        let bend = dot(&p, &q);
        if bend <= 0.0 {
            // With x = 0 this direction proves that the matrix is not positive definite. Later it may be a rounding
            // error, which the exact residual reveals.
            if x.iter().all(|&v| v == 0.0) {
                return Err(Fault::NotPositiveDefinite { n }.into());
            }
            break;
        }
        let t = rz / bend;
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += t * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= t * q);
        z = near.solve(&r);
        let next = dot(&r, &z);
        let turn = next / rz;
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + turn * *p);
        rz = next;
        job.step(length(&r) * share / goal);
    }
    Ok(x)
}

/// K as an operator: f32 values, f64 sums.
struct Product<'a> {
    rows: &'a dyn Rows,
    whole: Option<Whole<'a>>,
    /// Rows computed at once when the matrix is not in memory.
    high: usize,
    exec: Exec,
}

enum Whole<'a> {
    Given(&'a [f32]),
    Own(Buffer<f32>),
}

impl<'a> Product<'a> {
    fn new(rows: &'a dyn Rows, params: &LinearParams) -> Self {
        let n = rows.len();
        let fits = n.saturating_mul(n).saturating_mul(4) <= params.exec.budget();
        let whole = match rows.whole() {
            Some(values) => Some(Whole::Given(values)),
            None if fits => {
                let mut own = Buffer::stale(n * n);
                rows.fill(&mut own, params.exec);
                Some(Whole::Own(own))
            }
            None => None,
        };
        let high = (params.exec.budget() / (4 * n.max(1))).clamp(16, 1024).min(n.max(1));
        Product { rows, whole, high, exec: params.exec }
    }

    /// `out = K x`.
    fn times(&self, x: &[f64], out: &mut [f64]) {
        let n = x.len();
        out.fill(0.0);
        let whole: Option<&[f32]> = self.whole.as_ref().map(|w| match w {
            Whole::Given(values) => *values,
            Whole::Own(values) => values,
        });
        if let Some(values) = whole {
            self.add(values, x, out);
            return;
        }
        let mut block = Buffer::<f32>::stale(self.high * n);
        let numbers: Vec<u32> = (0..n as u32).collect();
        for (rows, x) in numbers.chunks(self.high).zip(x.chunks(self.high)) {
            let block = &mut block[..rows.len() * n];
            self.rows.block(rows, block, self.exec);
            self.add(block, x, out);
        }
    }

    /// `out += values' x`. Columns are divided among threads, so the sums do not depend on the number of threads.
    fn add(&self, values: &[f32], x: &[f64], out: &mut [f64]) {
        let n = out.len();
        let pieces = if values.len() < 1 << 18 { 1 } else { self.exec.threads() };
        let piece = n.div_ceil(pieces).next_multiple_of(16);
        let work = |p: usize, out: &mut [f64]| {
            let part: Vec<&[f32]> =
                values.chunks(n).map(|row| &row[p * piece..p * piece + out.len()]).collect();
            pass::accumulate(out, &part, x);
        };
        if pieces == 1 {
            return work(0, out);
        }
        rayon::scope(|scope| {
            for (p, out) in out.chunks_mut(piece).enumerate() {
                scope.spawn(move |_| work(p, out));
            }
        });
    }
}

/// The preconditioner `L L' + diag(shift)`.
struct Near {
    /// The columns of L.
    factor: Vec<Vec<f64>>,
    /// The reciprocals of the diagonal.
    inverse: Vec<f64>,
    /// `(I + L' D^-1 L)^-1`.
    inner: Vec<f64>,
}

impl Near {
    fn new(rows: &dyn Rows, shift: &[f64], params: &LinearParams) -> Self {
        let n = rows.len();
        let mut rest = rows.diag();
        let mean = rest.iter().sum::<f64>() / n.max(1) as f64;
        let inverse: Vec<f64> =
            shift.iter().map(|s| 1.0 / s.max(1e-10 * mean.abs()).max(f64::MIN_POSITIVE)).collect();
        let least = inverse.iter().fold(0.0, |a: f64, b| a.max(*b)).recip();
        let mut factor: Vec<Vec<f64>> = Vec::new();
        let mut row = vec![0.0_f32; n];
        while factor.len() < params.rank.min(n) {
            let (at, &pivot) =
                rest.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).expect("n is above rank");
            // Stop where pivots are below f32 precision, or so far below the shift that they do not matter.
            if !(pivot > 1e-6 * mean && pivot > 1e-2 * least) {
                break;
            }
            rows.block(&[at as u32], &mut row, params.exec);
            let mut column: Vec<f64> = row.iter().map(|&v| f64::from(v)).collect();
            for l in &factor {
                let c = l[at];
                column.iter_mut().zip(l).for_each(|(v, l)| *v -= c * l);
            }
            let root = pivot.sqrt();
            for v in &mut column {
                *v /= root;
            }
            rest.iter_mut().zip(&column).for_each(|(r, v)| *r -= v * v);
            rest[at] = 0.0;
            factor.push(column);
        }
        let r = factor.len();
        let mut inner = vec![0.0; r * r];
        for a in 0..r {
            for b in 0..=a {
                let sum: f64 =
                    factor[a].iter().zip(&factor[b]).zip(&inverse).map(|((p, q), d)| p * q * d).sum();
                inner[a * r + b] = sum + f64::from(u8::from(a == b));
                inner[b * r + a] = inner[a * r + b];
            }
        }
        let mut unit = vec![0.0; r * r];
        (0..r).for_each(|a| unit[a * r + a] = 1.0);
        match factor::solve_spd(&inner, r, &unit, r) {
            Ok((inner, _)) => Near { factor, inverse, inner },
            // If not even this matrix is invertible, precondition with the diagonal alone.
            Err(_) => Near { factor: Vec::new(), inverse, inner: Vec::new() },
        }
    }

    /// Woodbury: `D^-1 v - D^-1 L (I + L' D^-1 L)^-1 L' D^-1 v`.
    fn solve(&self, v: &[f64]) -> Vec<f64> {
        let r = self.factor.len();
        let scaled: Vec<f64> = v.iter().zip(&self.inverse).map(|(v, d)| v * d).collect();
        let inside: Vec<f64> = self.factor.iter().map(|l| dot(l, &scaled)).collect();
        let mut rest = v.to_vec();
        for (a, l) in self.factor.iter().enumerate() {
            let c = dot(&self.inner[a * r..(a + 1) * r], &inside);
            rest.iter_mut().zip(l).for_each(|(v, l)| *v -= c * l);
        }
        rest.iter().zip(&self.inverse).map(|(v, d)| v * d).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p * q).sum()
}

fn length(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Matrix;
    use crate::watch::silent;
    use mercer_testkit::{reference, toy};
    use std::ops::ControlFlow;

    fn gaussian(n: usize, gamma: f64) -> Vec<f64> {
        let x = toy::normals(n, 3, 5);
        let k = |a: &[f64], b: &[f64]| {
            (-gamma * a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
        };
        reference::gram(&x, &x, 3, k)
    }

    /// A matrix that hides that it is in memory.
    struct Hidden(Matrix);

    impl Rows for Hidden {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn diag(&self) -> Vec<f64> {
            self.0.diag()
        }
        fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
            self.0.block(rows, out, exec);
        }
        fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
            self.0.apply(rows, coef, out, exec);
        }
        fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
            self.0.subset(keep)
        }
        fn cost(&self) -> f64 {
            1.0
        }
    }

    #[test]
    fn residuals_are_as_small_as_asked_wherever_the_values_come_from() {
        let n = 90;
        for (gamma, shift) in [(0.3, 1e-1), (0.1, 1e-4), (3.0, 1e-6)] {
            let k = gaussian(n, gamma);
            let shift: Vec<f64> = (0..n).map(|i| shift * (1.0 + (i % 3) as f64)).collect();
            let right = vec![toy::normals(n, 1, 8), vec![1.0; n], vec![0.0; n]];
            let given = Matrix::new(k.clone(), n).expect("symmetric");
            let hidden = Hidden(given.clone());
            for (rows, memory, rank) in
                [(&given as &dyn Rows, 1 << 20, 30), (&hidden, 1 << 20, 200), (&hidden, 100, 10)]
            {
                let params = LinearParams {
                    tol: 1e-9,
                    exec: Exec::one().with_memory(memory),
                    rank,
                    ..LinearParams::default()
                };
                let (x, info) = solve_linear(rows, &shift, &right, &params, &mut silent()).expect("definite");
                assert_eq!(info.stop, Stop::Converged, "{gamma} {info:?}");
                for (x, b) in x.iter().zip(&right) {
                    let mut got = reference::product(&k, x, n, n, 1);
                    got.iter_mut().zip(&shift).zip(x).for_each(|((g, s), x)| *g += s * x);
                    let off: Vec<f64> = got.iter().zip(b).map(|(g, b)| g - b).collect();
                    assert!(length(&off) <= 2e-9 * length(b), "{} of {}", length(&off), length(b));
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_told() {
        let k = Matrix::new(vec![1.0, 0.0, 0.0, -5.0], 2).expect("symmetric");
        let right = [vec![0.0, 1.0]];
        let e = solve_linear(&k, &[0.1; 2], &right, &LinearParams::default(), &mut silent());
        assert!(e.is_err());
        assert!(solve_linear(&k, &[0.1], &right, &LinearParams::default(), &mut silent()).is_err());
        assert!(solve_linear(&k, &[f64::NAN; 2], &right, &LinearParams::default(), &mut silent()).is_err());
    }

    #[test]
    fn stopping_is_told() {
        let n = 60;
        let k = Matrix::new(gaussian(n, 1.0), n).expect("symmetric");
        let right = [toy::normals(n, 1, 1)];
        let params = LinearParams { rank: 0, max_iter: 2, ..LinearParams::default() };
        let (_, info) = solve_linear(&k, &vec![1e-3; n], &right, &params, &mut silent()).expect("definite");
        assert_eq!((info.stop, info.iterations), (Stop::Limit, 2));
        let params = LinearParams { rank: 0, ..LinearParams::default() };
        let mut stop = |_: &Step| ControlFlow::Break(());
        let (_, info) = solve_linear(&k, &vec![1e-3; n], &right, &params, &mut stop).expect("definite");
        assert_eq!(info.stop, Stop::Cancelled);
    }
}
