//! Eigenvectors of a symmetric matrix from which rows and columns are removed one by one.
//!
//! With `K = V Lambda V'` and u the n-th row of V, K without row and column n has the eigenvalues mu and eigenvectors
//! w with
//!
//! ```text
//! sum_i u_i^2 / (lambda_i - mu) = 0,     w = V (Lambda - mu)^-1 u
//! ```
//!
//! one mu between each pair of neighbouring lambda (Golub 1973). The roots are found as distances from the nearer
//! neighbour, and u is recomputed from them so that the w are orthogonal to working precision (Gu and Eisenstat
//! 1995). Cost: m^2 for each bit of the roots and one product of 2 m^3, a small fraction of the 9 m^3 of a new
//! decomposition, which are also slower operations.

use crate::error::Result;
use crate::num::{Mat, factor, product};

/// Eigenvalues in ascending order, eigenvectors in columns.
#[derive(Debug, Clone)]
pub(super) struct Spectrum {
    pub values: Vec<f64>,
    pub vectors: Vec<f64>,
}

impl Spectrum {
    /// From the matrix, m x m.
    pub(super) fn new(gram: &[f64], m: usize) -> Result<Self> {
        let (values, vectors) = factor::eigen(gram, m)?;
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let vectors = vectors.chunks(m.max(1)).flat_map(|line| order.iter().map(move |&j| line[j])).collect();
        Ok(Spectrum { values: order.iter().map(|&j| values[j]).collect(), vectors })
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// A column of the matrix's inverse.
    pub(super) fn inverse_column(&self, row: usize) -> Vec<f64> {
        let m = self.len();
        let least = f64::EPSILON * self.values.last().copied().unwrap_or(0.0).abs();
        let own = &self.vectors[row * m..(row + 1) * m];
        let scaled: Vec<f64> = own.iter().zip(&self.values).map(|(v, l)| v / l.max(least)).collect();
        self.vectors.chunks(m).map(|line| line.iter().zip(&scaled).map(|(a, b)| a * b).sum()).collect()
    }

    /// The spectrum without a row and column; `None` if neighbouring eigenvalues are too close to separate.
    pub(super) fn without(&self, row: usize) -> Option<Spectrum> {
        let m = self.len();
        if m < 2 {
            return None;
        }
        let lambda = &self.values;
        let squares: Vec<f64> = self.vectors[row * m..(row + 1) * m].iter().map(|u| u * u).collect();
        // Column j: the differences lambda_i - mu_j, each measured from the neighbour of mu_j, which avoids
        // cancellation.
        let mut off = vec![0.0; m * (m - 1)];
        let mut values = Vec::with_capacity(m - 1);
        let mut poles = vec![0.0; m];
        for j in 0..m - 1 {
            let gap = lambda[j + 1] - lambda[j];
            if gap.is_nan() || gap <= f64::EPSILON * lambda[m - 1].abs() {
                return None;
            }
            let sum = |poles: &[f64], at: f64| -> f64 {
                poles.iter().zip(&squares).map(|(p, s)| s / (p - at)).sum()
            };
            poles.iter_mut().zip(lambda).for_each(|(p, l)| *p = l - lambda[j]);
            // The sum increases from minus to plus infinity between the neighbours.
            let upper = sum(&poles, 0.5 * gap) < 0.0;
            let (mut low, mut high) = (0.0, 0.5 * gap);
            if upper {
                poles.iter_mut().zip(lambda).for_each(|(p, l)| *p = l - lambda[j + 1]);
                (low, high) = (-0.5 * gap, 0.0);
            }
            loop {
                let middle = f64::midpoint(low, high);
                if middle <= low || middle >= high {
                    break;
                }
                if sum(&poles, middle) < 0.0 { low = middle } else { high = middle }
            }
            let at = if upper { low } else { high };
            if at == 0.0 {
                return None;
            }
            values.push(if upper { lambda[j + 1] + at } else { lambda[j] + at });
            poles.iter().enumerate().for_each(|(i, p)| off[i * (m - 1) + j] = p - at);
        }
        let mut map = off;
        for i in 0..m {
            let line = &map[i * (m - 1)..(i + 1) * (m - 1)];
            let below: f64 = (0..i).map(|j| line[j] / (lambda[i] - lambda[j])).product();
            let above: f64 = (i..m - 1).map(|j| -line[j] / (lambda[j + 1] - lambda[i])).product();
            let own = self.vectors[row * m + i];
            let u = (below * above).max(0.0).sqrt().copysign(own);
            map[i * (m - 1)..(i + 1) * (m - 1)].iter_mut().for_each(|d| *d = u / *d);
        }
        let mut length = vec![0.0; m - 1];
        map.chunks(m - 1).for_each(|line| length.iter_mut().zip(line).for_each(|(s, c)| *s += c * c));
        map.chunks_mut(m - 1).for_each(|line| line.iter_mut().zip(&length).for_each(|(c, s)| *c /= s.sqrt()));
        let rows: Vec<f64> =
            (0..m).filter(|&i| i != row).flat_map(|i| &self.vectors[i * m..(i + 1) * m]).copied().collect();
        let mut vectors = vec![0.0; (m - 1) * (m - 1)];
        product::nn(&mut vectors, Mat::new(&rows, m - 1, m), Mat::new(&map, m, m - 1), 1);
        vectors.iter().all(|v| v.is_finite()).then_some(Spectrum { values, vectors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, toy};

    #[test]
    fn what_is_left_has_the_eigenvectors_of_a_new_decomposition() {
        let (m, x) = (24, toy::normals(24, 3, 1));
        let k = |i: usize, j: usize| -> f64 {
            let d2: f64 = (0..3).map(|c| (x[i * 3 + c] - x[j * 3 + c]).powi(2)).sum();
            (-0.5 * d2).exp()
        };
        let mut keep: Vec<usize> = (0..m).collect();
        let matrix = |keep: &[usize]| -> Vec<f64> {
            keep.iter().flat_map(|&i| keep.iter().map(move |&j| k(i, j))).collect()
        };
        let mut now = Spectrum::new(&matrix(&keep), m).expect("numbers");
        for out in [3, 0, 19, 20, 7, 7, 0, 15] {
            now = now.without(out).expect("neighbours apart");
            keep.remove(out);
            let (n, gram) = (keep.len(), matrix(&keep));
            let fresh = Spectrum::new(&gram, n).expect("numbers");
            for j in 0..n {
                close(now.values[j], fresh.values[j], 1e-10);
                let w: Vec<f64> = (0..n).map(|i| now.vectors[i * n + j]).collect();
                for i in 0..n {
                    let kw: f64 = (0..n).map(|c| gram[i * n + c] * w[c]).sum();
                    close(kw, now.values[j] * w[i], 1e-9);
                }
                for other in 0..=j {
                    let dot: f64 = (0..n).map(|i| w[i] * now.vectors[i * n + other]).sum();
                    close(dot, f64::from(u8::from(other == j)), 1e-9);
                }
            }
            let column = now.inverse_column(2);
            for i in 0..n {
                let unit: f64 = (0..n).map(|c| gram[i * n + c] * column[c]).sum();
                close(unit, f64::from(u8::from(i == 2)), 1e-6);
            }
        }
        // Equal eigenvalues cannot be told apart.
        let unit: Vec<f64> = (0..9).map(|p| f64::from(u8::from(p / 3 == p % 3))).collect();
        assert!(Spectrum::new(&unit, 3).expect("numbers").without(0).is_none());
    }
}
