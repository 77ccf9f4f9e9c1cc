//! Eigenvectors of a symmetric tridiagonal matrix for eigenvalues that are known, by inverse iteration.
//!
//! One iteration solves `(T - lambda) x_new = x_old`, which multiplies the component along the wanted vector by
//! `1 / |error of lambda|`, so two or three iterations suffice (Wilkinson 1965). Each vector is made orthogonal to those
//! before it, so that close eigenvalues get independent vectors. Cost: about 20 n per iteration and n per pair of vectors.

/// Maximum number of iterations per vector.
const STEPS: usize = 6;
/// Largest residual that counts as rounding, in multiples of machine epsilon times the norm of the matrix.
const LEFT: f64 = 64.0;

/// Unit eigenvectors for these eigenvalues, row by row. None if the residual of one of them exceeds rounding, or if the matrix
/// is not finite.
pub(super) fn vectors(diag: &[f64], below: &[f64], values: &[f64]) -> Option<Vec<f64>> {
    let n = diag.len();
    if diag.iter().chain(below).any(|v| !v.is_finite()) {
        return None;
    }
    let off = |i: usize| below.get(i).copied().unwrap_or(0.0).abs();
    let size =
        (0..n).map(|i| diag[i].abs() + off(i) + if i > 0 { off(i - 1) } else { 0.0 }).fold(0.0, f64::max);
    let least = (f64::EPSILON * size).max(f64::MIN_POSITIVE);
    let mut out: Vec<f64> = Vec::with_capacity(values.len() * n);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    // Equal values get distinct shifts; otherwise all iterations would converge to one vector.
    let mut used: Vec<f64> = Vec::new();
    for &value in values {
        let mut shift = value;
        while used.iter().any(|u| (u - shift).abs() < 2.0 * least) {
            shift -= 3.0 * least;
        }
        used.push(shift);
        let factors = Factors::of(diag, below, shift, least);
        let mut x: Vec<f64> = (0..n)
            .map(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                (random >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
            })
            .collect();
        let mut done = false;
        for step in 0..STEPS {
            apart(&mut x, &out);
            factors.solve(&mut x);
            // Twice: after one pass, what remains of the other vectors may be as large as the vector itself.
            unit(&mut x)?;
            apart(&mut x, &out);
            apart(&mut x, &out);
            unit(&mut x)?;
            done = step > 0 && residual(diag, below, value, &x) <= LEFT * least;
            if done {
                break;
            }
        }
        if !done {
            return None;
        }
        out.extend_from_slice(&x);
    }
    Some(out)
}

/// The largest entry of `T x - value x`.
fn residual(diag: &[f64], below: &[f64], value: f64, x: &[f64]) -> f64 {
    let n = diag.len();
    let one = |i: usize| {
        let left = if i > 0 { below[i - 1] * x[i - 1] } else { 0.0 };
        let right = if i + 1 < n { below[i] * x[i + 1] } else { 0.0 };
        (left + (diag[i] - value) * x[i] + right).abs()
    };
    (0..n).map(one).fold(0.0, f64::max)
}

/// Removes the components along unit vectors.
fn apart(x: &mut [f64], vectors: &[f64]) {
    for v in vectors.chunks(x.len()) {
        let along: f64 = v.iter().zip(x.iter()).map(|(v, x)| v * x).sum();
        x.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
    }
}

/// Normalises to length 1; None if the vector is zero or not finite.
fn unit(x: &mut [f64]) -> Option<()> {
    let most = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if most == 0.0 || !most.is_finite() {
        return None;
    }
    x.iter_mut().for_each(|v| *v /= most);
    let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    x.iter_mut().for_each(|v| *v /= length);
    Some(())
}

/// `P (T - shift) = L U` with partial pivoting: U has three diagonals, L has one.
struct Factors {
    /// The entries of U, one row each.
    upper: Vec<[f64; 3]>,
    /// Multiple of row i that was subtracted from row i + 1, and whether they were exchanged first.
    lower: Vec<(f64, bool)>,
}

impl Factors {
    /// Pivots smaller than `least` are replaced by it.
    fn of(diag: &[f64], below: &[f64], shift: f64, least: f64) -> Self {
        let n = diag.len();
        let (mut upper, mut lower) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut row = [diag[0] - shift, below.first().copied().unwrap_or(0.0), 0.0];
        for i in 0..n - 1 {
            let next = [below[i], diag[i + 1] - shift, below.get(i + 1).copied().unwrap_or(0.0)];
            let exchanged = next[0].abs() > row[0].abs();
            let (top, rest) = if exchanged { (next, row) } else { (row, next) };
            let top = [pivot(top[0], least), top[1], top[2]];
            let factor = rest[0] / top[0];
            row = [rest[1] - factor * top[1], rest[2] - factor * top[2], 0.0];
            upper.push(top);
            lower.push((factor, exchanged));
        }
        upper.push([pivot(row[0], least), 0.0, 0.0]);
        Factors { upper, lower }
    }

    fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        for (i, &(factor, exchanged)) in self.lower.iter().enumerate() {
            if exchanged {
                x.swap(i, i + 1);
            }
            x[i + 1] -= factor * x[i];
        }
        for i in (0..n).rev() {
            let [d, one, two] = self.upper[i];
            let at = |j: usize| x.get(j).copied().unwrap_or(0.0);
            x[i] = (x[i] - one * at(i + 1) - two * at(i + 2)) / d;
        }
    }
}

fn pivot(value: f64, least: f64) -> f64 {
    if value.abs() >= least { value } else { least.copysign(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::toy;

    /// Eigenvalues of -1, 2, -1 are known: `2 - 2 cos(pi k / (n + 1))`.
    #[test]
    fn vectors_of_known_values_are_sines() {
        let n = 60;
        let angle = |k: usize| std::f64::consts::PI * k as f64 / (n + 1) as f64;
        let wanted = [60, 59, 30, 1];
        let values = wanted.map(|k| 2.0 - 2.0 * angle(k).cos());
        let found = vectors(&vec![2.0; n], &vec![-1.0; n - 1], &values).expect("values far apart");
        for (k, v) in wanted.iter().zip(found.chunks(n)) {
            let sine: Vec<f64> = (1..=n).map(|i| (angle(*k) * i as f64).sin()).collect();
            let length = sine.iter().map(|v| v * v).sum::<f64>().sqrt();
            let along: f64 = sine.iter().zip(v).map(|(s, v)| s * v / length).sum();
            assert!((along.abs() - 1.0).abs() <= 1e-13, "{k}: {along}");
        }
    }

    /// Off-diagonal entries near 0: eigenvalues that are equal up to rounding, and matrices that split into blocks.
    #[test]
    fn equal_eigenvalues_have_orthogonal_vectors() {
        let (n, k) = (40, 12);
        for size in [1.0, 1e-200, 1e200] {
            let diag: Vec<f64> = (0..n).map(|i| size * (1 + i % 2) as f64).collect();
            for off in [0.0, 1e-15, 1e-5] {
                let below: Vec<f64> = toy::normals(n - 1, 1, 3).iter().map(|v| size * off * v).collect();
                let found = vectors(&diag, &below, &vec![2.0 * size; k]);
                if off > 1e-12 {
                    // These are not eigenvalues of the matrix, which is reported.
                    assert!(found.is_none(), "{size} {off}");
                    continue;
                }
                let found = found.expect("so many of this value");
                for (i, a) in found.chunks(n).enumerate() {
                    for (j, b) in found.chunks(n).enumerate() {
                        let inner: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                        assert!((inner - f64::from(u8::from(i == j))).abs() <= 1e-13, "{size} {off} {i} {j}");
                    }
                }
            }
        }
        // More vectors than exist.
        assert!(vectors(&[1.0, 2.0], &[0.0], &[2.0, 2.0]).is_none());
        assert!(vectors(&[f64::NAN, 2.0], &[0.0], &[2.0]).is_none());
    }
}
