//! A symmetric matrix made tridiagonal by blocked Householder reflections, and vectors carried back.
//!
//! ```text
//! A = Q T Q',   Q = H_1 ... H_{n-2},   H_j = 1 - tau_j v_j v_j'
//! ```
//!
//! Half of the `4/3 n^3` multiply-adds are products of the trailing matrix with one vector each, bound by memory.
//! They only read its upper half once: the rank-two updates of a panel of columns are collected and applied as one
//! matrix product (Dongarra, Hammarling and Sorensen 1989). faer applies each change at once, so that it also writes
//! the matrix in every step; at n = 3000 this halves the time.

use rayon::join;
use rayon::prelude::*;

use crate::Buffer;
use crate::dispatch::dispatch;
use crate::product::{Algebra, Mat};

/// Columns of a panel.
const PANEL: usize = 48;
/// Rows of the trailing matrix that are updated by one product.
const ROWS: usize = 128;
/// Vectors carried back at a time.
const CARRIED: usize = 96;
/// Trailing matrices smaller than this are one thread's work.
const SMALL: usize = 300;

/// A tridiagonal matrix and the reflections that led to it.
#[derive(Debug)]
pub(super) struct Tridiagonal {
    pub diag: Vec<f64>,
    /// One less than the diagonal has.
    pub below: Vec<f64>,
    panels: Vec<Panel>,
    n: usize,
}

/// Reflections of neighbouring columns: `1 - V T V'`, V of `n - first` rows.
#[derive(Debug)]
struct Panel {
    /// The first row V has.
    first: usize,
    width: usize,
    v: Vec<f64>,
    t: Vec<f64>,
}

impl Tridiagonal {
    /// Of the matrix whose upper half (row by row) is in `a`; `a` is used up.
    pub(super) fn new(mut a: Buffer<f64>, n: usize, threads: usize) -> Self {
        let (mut diag, mut below) = (vec![0.0; n], vec![0.0; n.saturating_sub(1)]);
        let mut panels = Vec::new();
        let mut start = 0;
        while n - start > 2 {
            let width = PANEL.min(n - start - 2);
            let panel = reduce(&mut a, n, start, width, &mut diag, &mut below, threads);
            panels.push(panel);
            start += width;
        }
        for j in start..n {
            diag[j] = a[j * n + j];
            if j + 1 < n {
                below[j] = a[j * n + j + 1];
            }
        }
        Tridiagonal { diag, below, panels, n }
    }

    /// Rows `u` of eigenvectors of T become eigenvectors of A.
    pub(super) fn carry_back(&self, u: &mut [f64], threads: usize) {
        let n = self.n;
        // Few enough to stay in cache while all panels go over them.
        let some = |u: &mut [f64]| {
            let rows = u.len() / n;
            let (mut along, mut turned) = (vec![0.0; rows * PANEL], vec![0.0; rows * PANEL]);
            for p in self.panels.iter().rev() {
                let (tall, w) = (n - p.first, p.width);
                let v = Mat::new(&p.v, tall, w);
                let part = Mat { values: &u[p.first..], rows, cols: tall, stride: n };
                f64::product_nn(&mut along, w, false, 1.0, part, v, 1);
                // u (1 - V T V')' = u - (u V) T' V'.
                let t = Mat::new(&p.t, w, w);
                f64::product_nt(&mut turned, w, false, 1.0, Mat::new(&along, rows, w), t, 1);
                f64::product_nt(&mut u[p.first..], n, true, -1.0, Mat::new(&turned, rows, w), v, 1);
            }
        };
        if threads <= 1 || n < SMALL {
            u.chunks_mut(CARRIED * n.max(1)).for_each(some);
        } else {
            u.par_chunks_mut(CARRIED * n).for_each(some);
        }
    }
}

/// Reduces columns `start .. start + width` and updates the matrix behind them.
fn reduce(
    a: &mut [f64],
    n: usize,
    start: usize,
    width: usize,
    diag: &mut [f64],
    below: &mut [f64],
    threads: usize,
) -> Panel {
    let first = start + 1;
    let tall = n - first;
    // V and W by columns while they grow: column c at c * tall.
    let (mut v, mut w) = (vec![0.0; width * tall], vec![0.0; width * tall]);
    let mut tau = vec![0.0; width];
    let mut scratch = vec![0.0; 2 * tall];
    for c in 0..width {
        let j = start + c;
        // Column j from the diagonal down, which is row j from it on, with the panel's changes so far.
        let mut column = a[j * n + j..(j + 1) * n].to_vec();
        for k in 0..c {
            let (vk, wk) = (&v[k * tall..(k + 1) * tall], &w[k * tall..(k + 1) * tall]);
            let (vj, wj) = (vk[j - first], wk[j - first]);
            less_two(&mut column, &vk[j - first..], wj, &wk[j - first..], vj);
        }
        diag[j] = column[0];
        let (t, beta) = reflector(&mut column[1..]);
        (tau[c], below[j]) = (t, beta);
        let from = j + 1 - first;
        v[c * tall + from..(c + 1) * tall].copy_from_slice(&column[1..]);
        if t == 0.0 {
            continue;
        }
        let x = &column[1..];
        let y = &mut w[c * tall + from..(c + 1) * tall];
        symmetric_product(a, n, j + 1, x, y, &mut scratch, threads);
        // The matrix has not had the panel's changes: take them out of the product.
        let (done, open) = w.split_at_mut(c * tall);
        let y = &mut open[from..tall];
        for k in 0..c {
            let (vk, wk) = (&v[k * tall + from..(k + 1) * tall], &done[k * tall + from..(k + 1) * tall]);
            let (along_w, along_v) = (dot(wk, x), dot(vk, x));
            less_two(y, vk, along_w, wk, along_v);
        }
        y.iter_mut().for_each(|y| *y *= t);
        let half = 0.5 * t * dot(y, x);
        y.iter_mut().zip(x).for_each(|(y, x)| *y -= half * x);
    }
    // Row by row for the products: P = (V W) and its mirror (W V).
    let (mut p, mut q, mut rows) =
        (vec![0.0; 2 * width * tall], vec![0.0; 2 * width * tall], vec![0.0; width * tall]);
    for r in 0..tall {
        for c in 0..width {
            let (v, w) = (v[c * tall + r], w[c * tall + r]);
            (p[2 * r * width + c], p[(2 * r + 1) * width + c]) = (v, w);
            (q[2 * r * width + c], q[(2 * r + 1) * width + c]) = (w, v);
            rows[r * width + c] = v;
        }
    }
    update(a, n, start + width, first, width, &p, &q, threads);
    Panel { first, width, t: factor(&rows, tall, width, &tau), v: rows }
}

/// `A -= P Q'` on and above the diagonal of the rows from `next` on.
#[expect(clippy::too_many_arguments, reason = "a product and its place")]
fn update(
    a: &mut [f64],
    n: usize,
    next: usize,
    first: usize,
    width: usize,
    p: &[f64],
    q: &[f64],
    threads: usize,
) {
    let d = 2 * width;
    let strip = |(i, part): (usize, &mut [f64])| {
        let row = next + i * ROWS;
        let end = (row + ROWS).min(n);
        let left = Mat::new(&p[(row - first) * d..(end - first) * d], end - row, d);
        let right = Mat::new(&q[(row - first) * d..(n - first) * d], n - row, d);
        f64::product_nt(&mut part[row..], n, true, -1.0, left, right, 1);
    };
    let behind = &mut a[next * n..];
    if threads <= 1 || n - next < SMALL {
        behind.chunks_mut(ROWS * n).enumerate().for_each(strip);
    } else {
        behind.par_chunks_mut(ROWS * n).enumerate().for_each(strip);
    }
}

/// Makes a column a multiple of the first unit vector: v (its first entry 1) in place of it, tau, and the multiple.
fn reflector(x: &mut [f64]) -> (f64, f64) {
    let head = x[0];
    let size = x[1..].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if size == 0.0 {
        x[0] = 1.0;
        return (0.0, head);
    }
    let scale = size.max(head.abs());
    let norm = scale * x.iter().map(|v| (v / scale).powi(2)).sum::<f64>().sqrt();
    let beta = if head > 0.0 { -norm } else { norm };
    let divide = head - beta;
    x[1..].iter_mut().for_each(|v| *v /= divide);
    x[0] = 1.0;
    ((beta - head) / beta, beta)
}

/// T of `H_0 ... H_{w-1} = 1 - V T V'`, upper triangular.
fn factor(v: &[f64], tall: usize, width: usize, tau: &[f64]) -> Vec<f64> {
    let mut inner = vec![0.0; width * width];
    f64::product_tn(&mut inner, width, false, 1.0, Mat::new(v, tall, width), Mat::new(v, tall, width), 1);
    let mut t = vec![0.0; width * width];
    for c in 0..width {
        t[c * width + c] = tau[c];
        for r in 0..c {
            let sum: f64 = (r..c).map(|k| t[r * width + k] * inner[k * width + c]).sum();
            t[r * width + c] = -tau[c] * sum;
        }
    }
    t
}

/// `y = A x` for the rows and columns from `from` on, reading the upper half.
fn symmetric_product(
    a: &[f64],
    n: usize,
    from: usize,
    x: &[f64],
    y: &mut [f64],
    scratch: &mut [f64],
    threads: usize,
) {
    let m = n - from;
    y.fill(0.0);
    if threads <= 1 || m < SMALL {
        upper_rows(a, n, from, 0, m, x, y);
        return;
    }
    // Two threads, the same number of entries each: more would wait for memory.
    let half = (m as f64 * (1.0 - 0.5_f64.sqrt())) as usize / STRIP * STRIP;
    let other = &mut scratch[..m];
    other.fill(0.0);
    join(|| upper_rows(a, n, from, 0, half, x, y), || upper_rows(a, n, from, half, m, x, other));
    y.iter_mut().zip(other.iter()).for_each(|(y, o)| *y += o);
}

dispatch! {
    /// Rows `lo .. hi` of the upper half: each entry counts for its row and, right of the diagonal, for its column.
    fn upper_rows<const FMA>(a: &[f64], n: usize, from: usize, lo: usize, hi: usize, x: &[f64], y: &mut [f64]) {
        let m = n - from;
        let row = |i: usize| &a[(from + i) * n + from + i..(from + i + 1) * n];
        let mut i = lo;
        // Some rows at a time: y is read and written once for all of them.
        while i + STRIP <= hi {
            let rows: [&[f64]; STRIP] = std::array::from_fn(|k| row(i + k));
            let own: [f64; STRIP] = std::array::from_fn(|k| x[i + k]);
            let tails: [&[f64]; STRIP] = std::array::from_fn(|k| &rows[k][STRIP - k..]);
            let ends = strip::<FMA>(tails, own, &x[i + STRIP..m], &mut y[i + STRIP..m]);
            // The corner on the diagonal.
            for k in 0..STRIP {
                y[i + k] += ends[k] + rows[k][0] * own[k];
                for l in k + 1..STRIP {
                    y[i + k] += rows[k][l - k] * own[l];
                    y[i + l] += rows[k][l - k] * own[k];
                }
            }
            i += STRIP;
        }
        for i in i..hi {
            let r = row(i);
            let mut sum = r[0] * x[i];
            for c in 1..m - i {
                sum += r[c] * x[i + c];
                y[i + c] += r[c] * x[i];
            }
            y[i] += sum;
        }
    }
}

/// Rows that go through y together.
const STRIP: usize = 8;
const LANES: usize = 8;
type Lanes = [f64; LANES];

/// `c + a b`, lane by lane.
#[inline(always)]
fn fused<const FMA: bool>(a: &Lanes, b: &Lanes, mut c: Lanes) -> Lanes {
    for l in 0..LANES {
        c[l] = if FMA { a[l].mul_add(b[l], c[l]) } else { a[l] * b[l] + c[l] };
    }
    c
}

/// Kept out of line: seen together, four sums of lanes lead the compiler to gather one lane of each row at a time.
#[inline(never)]
fn total(lanes: &Lanes) -> f64 {
    lanes.iter().sum()
}

/// `rows x` of some rows, and `y += own rows`.
#[inline(always)]
fn strip<const FMA: bool>(
    rows: [&[f64]; STRIP],
    own: [f64; STRIP],
    x: &[f64],
    y: &mut [f64],
) -> [f64; STRIP] {
    let n = x.len();
    let y = &mut y[..n];
    let rows = rows.map(|r| &r[..n]);
    let mut sums = [[0.0; LANES]; STRIP];
    let whole = n / LANES * LANES;
    let mut c = 0;
    while c < whole {
        let x: &Lanes = x[c..c + LANES].try_into().expect("so many");
        let y: &mut Lanes = (&mut y[c..c + LANES]).try_into().expect("so many");
        let (mut even, mut odd) = (*y, [0.0; LANES]);
        for k in (0..STRIP).step_by(2) {
            let v: &Lanes = rows[k][c..c + LANES].try_into().expect("so many");
            sums[k] = fused::<FMA>(v, x, sums[k]);
            even = fused::<FMA>(v, &[own[k]; LANES], even);
            let v: &Lanes = rows[k + 1][c..c + LANES].try_into().expect("so many");
            sums[k + 1] = fused::<FMA>(v, x, sums[k + 1]);
            odd = fused::<FMA>(v, &[own[k + 1]; LANES], odd);
        }
        for l in 0..LANES {
            y[l] = even[l] + odd[l];
        }
        c += LANES;
    }
    let mut ends = [0.0; STRIP];
    for k in 0..STRIP {
        ends[k] = total(&sums[k]);
        for c in whole..n {
            ends[k] += rows[k][c] * x[c];
            y[c] += rows[k][c] * own[k];
        }
    }
    ends
}

dispatch! {
    /// `y -= a v + b w`
    fn less_two(y: &mut [f64], v: &[f64], a: f64, w: &[f64], b: f64) {
        for ((y, v), w) in y.iter_mut().zip(v).zip(w) {
            *y -= a * v + b * w;
        }
    }
}

dispatch! {
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        let mut lanes = [0.0; 8];
        let ((a, ra), (b, rb)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        for (a, b) in a.iter().zip(b) {
            for l in 0..8 {
                lanes[l] += a[l] * b[l];
            }
        }
        lanes.iter().sum::<f64>() + ra.iter().zip(rb).map(|(a, b)| a * b).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    #[test]
    fn the_reflections_give_the_matrix_back() {
        for (n, threads) in [(1, 1), (2, 1), (3, 1), (50, 1), (51, 2), (131, 2), (340, 2)] {
            let x = toy::normals(n, n, 7);
            let a: Vec<f64> = (0..n * n).map(|p| x[p] + x[p % n * n + p / n]).collect();
            let made = Tridiagonal::new(a.clone().into(), n, threads);
            // Rows of the unit matrix carried back are the rows of Q'.
            let mut q: Vec<f64> = (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect();
            made.carry_back(&mut q, threads);
            let mut t = vec![0.0; n * n];
            for i in 0..n {
                t[i * n + i] = made.diag[i];
                if i + 1 < n {
                    (t[(i + 1) * n + i], t[i * n + i + 1]) = (made.below[i], made.below[i]);
                }
            }
            let turned: Vec<f64> = (0..n * n).map(|p| q[p % n * n + p / n]).collect();
            let back = reference::product(&turned, &reference::product(&t, &q, n, n, n), n, n, n);
            assert::close_to_scale(&back, &a, 1e-13);
        }
    }
}
