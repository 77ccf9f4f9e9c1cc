//! Slow, simple, hopefully correct.

/// The n x m matrix of `k(x_i, y_j)`, row by row, one value at a time.
pub fn gram(x: &[f64], y: &[f64], d: usize, k: impl Fn(&[f64], &[f64]) -> f64) -> Vec<f64> {
    x.chunks(d).flat_map(|a| y.chunks(d).map(|b| k(a, b)).collect::<Vec<_>>()).collect()
}

/// The product of an n x k and a k x m matrix, row by row.
pub fn product(a: &[f64], b: &[f64], n: usize, k: usize, m: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * m];
    for i in 0..n {
        for j in 0..m {
            out[i * m + j] = (0..k).map(|p| a[i * k + p] * b[p * m + j]).sum();
        }
    }
    out
}

/// Eigenvalues (falling) and eigenvectors (column j belongs to value j) of a symmetric matrix, by Jacobi rotations.
pub fn eigen(matrix: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut a = matrix.to_vec();
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    for _ in 0..100 {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * n + j].powi(2)).sum();
        if off < 1e-30 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q] == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k * n + p], v[k * n + q]);
                    (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    let vectors =
        (0..n).flat_map(|r| order.iter().map(move |&c| (r, c))).map(|(r, c)| v[r * n + c]).collect();
    (values, vectors)
}

/// `A x = b` by Gaussian elimination with pivots.
pub fn solve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    for c in 0..n {
        let p = (c..n).max_by(|&i, &j| a[i * n + c].abs().total_cmp(&a[j * n + c].abs())).expect("a row");
        (0..n).for_each(|j| a.swap(c * n + j, p * n + j));
        b.swap(c, p);
        for i in c + 1..n {
            let f = a[i * n + c] / a[c * n + c];
            (c..n).for_each(|j| a[i * n + j] -= f * a[c * n + j]);
            b[i] -= f * b[c];
        }
    }
    for c in (0..n).rev() {
        b[c] = (b[c] - (c + 1..n).map(|j| a[c * n + j] * b[j]).sum::<f64>()) / a[c * n + c];
    }
    b
}

/// Linear discriminant analysis: the scores of k classes at `at`, `w_c . x - 1/2 w_c . m_c` with `w_c = S^-1 m_c` and S the
/// pooled covariance within classes, all as written in textbooks.
pub fn lda(x: &[f64], d: usize, class: &[usize], k: usize, at: &[f64]) -> Vec<f64> {
    let n = class.len();
    let mut mean = vec![0.0; k * d];
    for c in 0..k {
        let rows: Vec<usize> = (0..n).filter(|&i| class[i] == c).collect();
        for j in 0..d {
            mean[c * d + j] = rows.iter().map(|&i| x[i * d + j]).sum::<f64>() / rows.len() as f64;
        }
    }
    let mut s = vec![0.0; d * d];
    for i in 0..n {
        for p in 0..d {
            for q in 0..d {
                let off = |j: usize| x[i * d + j] - mean[class[i] * d + j];
                s[p * d + q] += off(p) * off(q) / (n - k) as f64;
            }
        }
    }
    let mut out = Vec::new();
    for row in at.chunks(d) {
        for c in 0..k {
            let m = &mean[c * d..(c + 1) * d];
            let w = solve(&s, m);
            out.push((0..d).map(|j| w[j] * (row[j] - 0.5 * m[j])).sum());
        }
    }
    out
}
