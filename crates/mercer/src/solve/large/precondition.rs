//! The coordinates in which the Hessian is nearly the identity.
//!
//! ```text
//! M = L L',   A A' = V D V' / s + lambda I,   c = L'^-1 A'^-1 x
//! ```
//!
//! The columns of V, `L^-1 k(z, x)`, belong to s representative rows: the centres themselves (then V = L'), or a
//! sketch of random rows. More rows reduce the number of passes, at m^2 multiply-adds each. A matrix M that is
//! singular to rounding (equal centres, a flat kernel) gets a ridge, a small additional penalty on the coefficients.
//!
//! Where the centres stand for all rows with the same curvature d, `A A' = d L' L / m + lambda I`. If lambda is small beside
//! the smallest eigenvalue of `d L' L / m`, `A = L' sqrt(d / m)` does as well: one factorisation instead of two and a
//! product, two thirds of the work, for a few more passes.

use rayon::prelude::*;

use super::{Own, Stand, Start};
use crate::error::Result;
use crate::exec::Exec;
use crate::num::triangular::{Lower, outer};
use crate::num::{Buffer, Fault, Mat, Real, product};
use crate::solve::Nystrom;

/// Factors in one of the two types, or on a device.
pub(super) enum Coordinates<'a> {
    Single(Factors<f32>),
    Double(Factors<f64>),
    Kept {
        kept: &'a dyn Nystrom,
        /// Of `M + ridge I`.
        diag: Vec<f64>,
    },
}

/// The two factors.
pub(super) struct Factors<T: Real> {
    own: Lower<T>,
    /// V; none: the centres stand for all rows.
    sketch: Option<Buffer<T>>,
    all: All<T>,
}

/// A.
enum All<T: Real> {
    Factor(Lower<T>),
    /// `by L'`.
    Own {
        by: f64,
    },
}

/// Passes that a second factor would cost, for so many rows and outputs: the multiply-adds of both.
pub(super) fn passes(m: usize, n: usize, k: usize) -> f64 {
    let (m, n, k) = (m as f64, n.max(1) as f64, k.max(1) as f64);
    m * m / (3.0 * n * k)
}

impl<'a> Coordinates<'a> {
    /// Of the centres' matrix, with the curvature at each row that stands for others. Fails where the matrix is not
    /// positive definite, however large the ridge.
    ///
    /// `rounding` is that of the values of rows against centres: directions below it must be suppressed, or
    /// coefficients become huge and cancel up to rounding.
    /// `passes`: what a second factor costs.
    pub(super) fn new(
        start: Start<'a>,
        (rounding, passes): (f64, f64),
        (lambda, curvature): (f64, &[f64]),
        exec: Exec,
    ) -> Result<Self> {
        let (own, stand) = match start {
            Start::Here(own, stand) => (own, stand),
            Start::Kept(kept, diag) => return Self::on_device(kept, diag, rounding, (lambda, curvature)),
        };
        let exact = (rounding, passes);
        let values = stand.map(|stand: Stand| stand.values);
        Ok(match own {
            Own::Single(own) => {
                let values = values.map(|values| match values {
                    Own::Single(values) => values,
                    Own::Double(values) => converted(&values),
                });
                Coordinates::Single(Factors::new(own, values, exact, (lambda, curvature), exec)?)
            }
            Own::Double(own) => {
                let values = values.map(|values| match values {
                    Own::Single(values) => converted(&values),
                    Own::Double(values) => values,
                });
                Coordinates::Double(Factors::new(own, values, exact, (lambda, curvature), exec)?)
            }
        })
    }

    fn on_device(
        kept: &'a dyn Nystrom,
        mut diag: Vec<f64>,
        rounding: f64,
        (lambda, curvature): (f64, &[f64]),
    ) -> Result<Self> {
        let mut ridge = first_ridge(diag.iter().copied(), rounding.max(f64::EPSILON));
        for _ in 0..TRIES {
            if kept.factor(ridge)? {
                diag.iter_mut().for_each(|d| *d += ridge);
                let mut coordinates = Coordinates::Kept { kept, diag };
                coordinates.bend(curvature, lambda, Exec::one())?;
                return Ok(coordinates);
            }
            ridge *= 10.0;
        }
        Err(Fault::NotPositiveDefinite { n: diag.len() }.into())
    }

    /// Takes the curvature of the loss at each row that stands for others.
    pub(super) fn bend(&mut self, curvature: &[f64], lambda: f64, exec: Exec) -> Result<()> {
        match self {
            Coordinates::Single(f) => {
                f.all = All::Factor(second(&f.own, f.sketch.as_ref(), curvature, lambda, exec)?);
            }
            Coordinates::Double(f) => {
                f.all = All::Factor(second(&f.own, f.sketch.as_ref(), curvature, lambda, exec)?);
            }
            Coordinates::Kept { kept, diag } => {
                let (by, alike) = shared(curvature, diag.len());
                let of = |i: usize| if alike { 1.0 } else { curvature[i].max(0.0) };
                // Bounded below by rounding, as on the CPU.
                let trace = by * diag.iter().enumerate().map(|(i, v)| of(i) * v).sum::<f64>();
                let d: Vec<f64> = if alike { Vec::new() } else { (0..diag.len()).map(of).collect() };
                if !kept.factor_inner(by, &d, lambda.max(trace * f64::EPSILON))? {
                    return Err(Fault::NotPositiveDefinite { n: diag.len() }.into());
                }
            }
        }
        Ok(())
    }

    /// Outputs `V' z` of the rows that stand for others, s x k.
    pub(super) fn outputs(&self, z: &[f64], k: usize, exec: Exec) -> Result<Vec<f64>> {
        Ok(match self {
            Coordinates::Single(f) => f.outputs(z, k, exec),
            Coordinates::Double(f) => f.outputs(z, k, exec),
            Coordinates::Kept { kept, .. } => {
                let mut out = vec![0.0; z.len()];
                kept.times_factor(&turned(z, k, exec), &mut out)?;
                turned(&out, z.len() / k, exec)
            }
        })
    }

    /// `z = A'^-1 x`, m x k in its place: in these coordinates the penalty is `lambda |z|^2`.
    pub(super) fn whiten(&self, x: &mut [f64], k: usize, exec: Exec) -> Result<()> {
        self.solved((true, true), x, k, exec)
    }

    /// The transpose of [`Coordinates::whiten`]: `A^-1 g`.
    pub(super) fn whiten_back(&self, g: &mut [f64], k: usize, exec: Exec) -> Result<()> {
        self.solved((true, false), g, k, exec)
    }

    /// `c = L'^-1 z`: coefficients.
    pub(super) fn coef(&self, z: &mut [f64], k: usize, exec: Exec) -> Result<()> {
        self.solved((false, true), z, k, exec)
    }

    /// The transpose of [`Coordinates::coef`]: `L^-1 g`.
    pub(super) fn coef_back(&self, g: &mut [f64], k: usize, exec: Exec) -> Result<()> {
        self.solved((false, false), g, k, exec)
    }

    /// Solves with A if `inner`, else with L, or with its transpose.
    fn solved(&self, (inner, transposed): (bool, bool), x: &mut [f64], k: usize, exec: Exec) -> Result<()> {
        match self {
            Coordinates::Double(f) => f.solved((inner, transposed), x, k, exec),
            Coordinates::Single(f) => {
                let mut short: Vec<f32> = x.iter().map(|v| *v as f32).collect();
                f.solved((inner, transposed), &mut short, k, exec);
                x.iter_mut().zip(&short).for_each(|(x, s)| *x = f64::from(*s));
            }
            Coordinates::Kept { kept, .. } => {
                let mut vectors = turned(x, k, exec);
                kept.solve(inner, transposed, &mut vectors)?;
                x.copy_from_slice(&turned(&vectors, x.len() / k, exec));
            }
        }
        Ok(())
    }
}

/// The transpose of rows of k numbers.
pub(super) fn turned(x: &[f64], k: usize, exec: Exec) -> Vec<f64> {
    let m = x.len() / k.max(1);
    let mut out = vec![0.0; x.len()];
    let line = |(o, line): (usize, &mut [f64])| {
        line.iter_mut().zip(x.chunks(k)).for_each(|(to, row)| *to = row[o]);
    };
    // Few long lines, or many short ones, which are many runs of rows for one line each.
    if m == 0 || exec.threads() == 1 || x.len() < MANY {
        out.chunks_mut(m.max(1)).enumerate().for_each(line);
    } else if m >= k {
        out.par_chunks_mut(m).enumerate().for_each(line);
    } else {
        out.par_chunks_mut(m * RUN).enumerate().for_each(|(p, lines)| {
            for (o, part) in lines.chunks_mut(m).enumerate() {
                line((p * RUN + o, part));
            }
        });
    }
    out
}

/// Numbers from which threads share a transposition, and rows that one of them writes at a time.
const MANY: usize = 1 << 16;
const RUN: usize = 1024;

/// The first ridge for a matrix with this diagonal: rounding of a product of m numbers grows with the root of m.
fn first_ridge(diag: impl ExactSizeIterator<Item = f64>, rounding: f64) -> f64 {
    let m = diag.len();
    let scale = diag.map(f64::abs).sum::<f64>() / m.max(1) as f64;
    8.0 * scale.max(f64::MIN_POSITIVE) * rounding * (m as f64).max(10.0).sqrt()
}

/// Ridges that are tried, each ten times the one before.
const TRIES: usize = 10;

/// What `V D V'` is multiplied with for s rows of these curvatures, and whether these are all equal and in it.
fn shared(d: &[f64], s: usize) -> (f64, bool) {
    let alike = d.windows(2).all(|pair| pair[0] == pair[1]);
    let by = 1.0 / s.max(1) as f64;
    (if alike { by * d.first().copied().unwrap_or(1.0) } else { by }, alike)
}

fn converted<A: Real, B: Real>(from: &Buffer<A>) -> Buffer<B> {
    let mut out = Buffer::stale(from.len());
    out.iter_mut().zip(from.iter()).for_each(|(o, v)| *o = B::of(v.f64()));
    out
}

impl<T: Real> Factors<T> {
    fn new(
        own: Buffer<T>,
        sketch: Option<Buffer<T>>,
        (rounding, passes): (f64, f64),
        (lambda, curvature): (f64, &[f64]),
        exec: Exec,
    ) -> Result<Self> {
        let m = own.len().isqrt();
        let mut ridge = first_ridge((0..m).map(|i| own[i * m + i].f64()), rounding.max(T::EPSILON.f64()));
        for _ in 0..TRIES {
            let mut shifted = Buffer::stale(own.len());
            shifted.copy_from_slice(&own);
            (0..m).for_each(|i| shifted[i * m + i] += T::of(ridge));
            match Lower::new(shifted, m, exec.threads()) {
                Ok(factor) => {
                    drop(own);
                    let sketch = sketch.map(|mut values| {
                        factor.solve_columns(&mut values, exec.threads());
                        values
                    });
                    let all = match (&sketch, alike(curvature)) {
                        (None, Some(d)) if more(&factor, lambda / d, exec) <= passes => {
                            All::Own { by: (d / m.max(1) as f64).sqrt() }
                        }
                        _ => All::Factor(second(&factor, sketch.as_ref(), curvature, lambda, exec)?),
                    };
                    return Ok(Factors { own: factor, sketch, all });
                }
                Err(_) => ridge *= 10.0,
            }
        }
        Err(Fault::NotPositiveDefinite { n: m }.into())
    }

    fn solved(&self, (inner, transposed): (bool, bool), x: &mut [T], k: usize, exec: Exec) {
        let (factor, transposed, by) = match &self.all {
            All::Factor(all) if inner => (all, transposed, 1.0),
            // A is a multiple of L', not of L.
            All::Own { by } if inner => (&self.own, !transposed, *by),
            _ => (&self.own, transposed, 1.0),
        };
        if transposed {
            factor.solve_transposed(x, k, exec.threads());
        } else {
            factor.solve(x, k, exec.threads());
        }
        if by != 1.0 {
            x.iter_mut().for_each(|x| *x = T::of(x.f64() / by));
        }
    }

    fn outputs(&self, z: &[f64], k: usize, exec: Exec) -> Vec<f64> {
        let Some(sketch) = &self.sketch else { return self.own.times(z, k) };
        let m = self.own.order();
        let s = sketch.len() / m.max(1);
        let short: Vec<T> = z.iter().map(|z| T::of(*z)).collect();
        let mut out = vec![T::ZERO; s * k];
        product::nn(&mut out, Mat::new(sketch, s, m), Mat::new(&short, m, k), exec.threads());
        out.iter().map(|v| v.f64()).collect()
    }
}

/// The one curvature of all rows, if it is above 0.
fn alike(curvature: &[f64]) -> Option<f64> {
    let d = *curvature.first()?;
    (d > 0.0 && curvature.iter().all(|other| *other == d)).then_some(d)
}

/// Passes of a fit with one condition number; they grow with its root.
const PASSES: f64 = 8.0;
/// Rounds of inverse iteration.
const ROUNDS: usize = 6;

/// About the number of passes that a fit takes more without lambda in `L' L / m + lambda I`.
fn more<T: Real>(own: &Lower<T>, lambda: f64, exec: Exec) -> f64 {
    let m = own.order();
    // Inverse iteration for the smallest eigenvalue of `L L'`, and with it of `L' L`.
    let mut x: Vec<T> = (0..m).map(|i| T::of(((i * 7919) % 101) as f64 / 50.0 - 1.01)).collect();
    let mut least = 0.0;
    for _ in 0..ROUNDS {
        let length = x.iter().map(|v| v.f64() * v.f64()).sum::<f64>().sqrt();
        x.iter_mut().for_each(|v| *v = T::of(v.f64() / length));
        own.solve(&mut x, 1, exec.threads());
        own.solve_transposed(&mut x, 1, exec.threads());
        least = 1.0 / x.iter().map(|v| v.f64() * v.f64()).sum::<f64>().sqrt();
    }
    // Not a number where solves overflow: never few.
    let more = PASSES * ((1.0 + m as f64 * lambda / least).sqrt() - 1.0);
    if more.is_nan() { f64::INFINITY } else { more }
}

/// The factor of `V D V' / s + lambda I`.
fn second<T: Real>(
    own: &Lower<T>,
    sketch: Option<&Buffer<T>>,
    d: &[f64],
    lambda: f64,
    exec: Exec,
) -> Result<Lower<T>> {
    let m = own.order();
    let s = sketch.map_or(m, |v| v.len() / m.max(1));
    let (by, alike) = shared(d, s);
    let mut a = match sketch {
        None => own.gram((!alike).then_some(d), exec.threads()),
        Some(v) if alike => outer(v, m, exec.threads()),
        Some(v) => {
            let mut scaled = Buffer::stale(v.len());
            for ((to, from), d) in scaled.chunks_mut(m).zip(v.chunks(m)).zip(d) {
                let root = T::of(d.max(0.0).sqrt());
                to.iter_mut().zip(from).for_each(|(t, f)| *t = root * *f);
            }
            outer(&scaled, m, exec.threads())
        }
    };
    // Only the lower half was written.
    let by = T::of(by);
    for j in 0..m {
        a[j * m + j..(j + 1) * m].iter_mut().for_each(|v| *v *= by);
    }
    let trace = (0..m).map(|i| a[i * m + i].f64()).sum::<f64>();
    // Never below what rounding leaves of the matrix: this only shapes the coordinates, not the problem.
    let least = trace * T::EPSILON.f64();
    (0..m).for_each(|i| a[i * m + i] += T::of(lambda.max(least)));
    Ok(Lower::new(a, m, exec.threads())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close_to_scale, toy};

    /// A matrix with eigenvalues from 0.5 on.
    fn own(m: usize) -> Own {
        let x = toy::normals(m, 3, 2);
        let at = |i: usize, j: usize| {
            let far: f64 = (0..3).map(|c| (x[3 * i + c] - x[3 * j + c]).powi(2)).sum();
            (-far).exp() + if i == j { 0.5 } else { 0.0 }
        };
        let values: Vec<f64> = (0..m * m).map(|p| at(p / m, p % m)).collect();
        let mut matrix = Buffer::stale(values.len());
        matrix.copy_from_slice(&values);
        Own::Double(matrix)
    }

    fn made(lambda: f64, passes: f64, curvature: &[f64]) -> Coordinates<'static> {
        let exact = (f64::EPSILON, passes);
        Coordinates::new(Start::Here(own(curvature.len()), None), exact, (lambda, curvature), Exec::one())
            .expect("a factor")
    }

    fn is_one_factor(coordinates: &Coordinates) -> bool {
        matches!(coordinates, Coordinates::Double(Factors { all: All::Own { .. }, .. }))
    }

    #[test]
    fn one_factor_stands_for_two_where_lambda_is_small() {
        let (m, d) = (80, [0.25; 80]);
        let mut uneven = d;
        uneven[3] = 0.5;
        for (lambda, passes, curvature, want) in [
            (1e-6, 5.0, d, true),
            (1e-6, 0.0, d, false),
            (1.0, 5.0, d, false),
            // 80 lambda / 0.25 is 32 times the smallest eigenvalue: some 38 passes more.
            (0.05, 20.0, d, false),
            (0.05, 60.0, d, true),
            (1e-6, 5.0, uneven, false),
        ] {
            assert_eq!(is_one_factor(&made(lambda, passes, &curvature)), want, "{lambda} {passes}");
        }
        // (A A')^-1 is the same up to lambda.
        let inverse = |passes: f64| -> Vec<f64> {
            let coordinates = made(1e-6, passes, &d);
            let mut x: Vec<f64> = (0..m * 2).map(|p| ((p * 37) % 11) as f64 - 5.0).collect();
            coordinates.whiten_back(&mut x, 2, Exec::one()).expect("numbers");
            coordinates.whiten(&mut x, 2, Exec::one()).expect("numbers");
            x
        };
        close_to_scale(&inverse(5.0), &inverse(0.0), 2e-3);
        // Curvatures of a Newton step bring the second factor.
        let mut coordinates = made(1e-6, 5.0, &d);
        coordinates.bend(&uneven, 1e-6, Exec::one()).expect("a factor");
        assert!(!is_one_factor(&coordinates));
    }
}
