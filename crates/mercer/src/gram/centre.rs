//! Centring in feature space: `Phi(x) - mean of Phi`, done on kernel values (Schoelkopf, Smola and Mueller 1996,
//! appendix A). With r the row means and g the grand mean of K:
//!
//! ```text
//! training:  K_ij - r_i - r_j + g        test:  K(t, i) - mean_i K(t, i) - r_i + g
//! ```

/// The means of a square kernel matrix, which centre it and every test block against the same points.
#[derive(Debug, Clone, PartialEq)]
pub struct Means {
    /// Mean of each row.
    pub row: Vec<f64>,
    /// Mean of all.
    pub grand: f64,
}

impl Means {
    /// Of an n x n matrix.
    pub fn of(k: &[f64], n: usize) -> Self {
        let row: Vec<f64> = k.chunks(n.max(1)).map(|r| r.iter().sum::<f64>() / n as f64).collect();
        let grand = row.iter().sum::<f64>() / n.max(1) as f64;
        Means { row, grand }
    }

    /// Centres the matrix these means are of.
    pub fn centre_square(&self, k: &mut [f64]) {
        let n = self.row.len();
        for (line, ri) in k.chunks_mut(n.max(1)).zip(&self.row) {
            line.iter_mut().zip(&self.row).for_each(|(v, rj)| *v += self.grand - ri - rj);
        }
    }

    /// Centres a block of other points (rows) against the same points (columns).
    pub fn centre_cross(&self, k: &mut [f64]) {
        let n = self.row.len();
        for line in k.chunks_mut(n.max(1)) {
            let mean = line.iter().sum::<f64>() / n as f64;
            line.iter_mut().zip(&self.row).for_each(|(v, rj)| *v += self.grand - mean - rj);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    /// With a linear kernel feature space is input space: centre the points themselves and compare.
    #[test]
    fn centred_values_are_products_of_centred_points() {
        let (n, m, d) = (7, 4, 3);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(p, q)| p * q).sum::<f64>();
        let (x, t) = (toy::normals(n, d, 1), toy::normals(m, d, 2));
        let mean: Vec<f64> = (0..d).map(|j| x.iter().skip(j).step_by(d).sum::<f64>() / n as f64).collect();
        let shifted =
            |v: &[f64]| -> Vec<f64> { v.iter().enumerate().map(|(p, v)| v - mean[p % d]).collect() };
        let mut square = reference::gram(&x, &x, d, dot);
        let mut cross = reference::gram(&t, &x, d, dot);
        let means = Means::of(&square, n);
        means.centre_square(&mut square);
        means.centre_cross(&mut cross);
        let (x, t) = (shifted(&x), shifted(&t));
        assert::all_close(&square, &reference::gram(&x, &x, d, dot), 1e-13);
        assert::all_close(&cross, &reference::gram(&t, &x, d, dot), 1e-13);
    }
}
