//! Kernel values and derivatives of many points against many others, the basis of all searches for vectors.
//!
//! For kernels that are functions of dot products an evaluation is one matrix product and one map, and a gradient two
//! more products; other kernels are differentiated value by value, in parallel over points.

use rayon::prelude::*;

use crate::data::{Points, Row};
use crate::error::Result;
use crate::exec::Exec;
use crate::gram;
use crate::kernel::{Form, Kernel};
use crate::num::{Mat, product};

/// Points y_j on the right-hand side of kernel values, dense rows of f64.
#[derive(Debug, Clone)]
pub(super) struct Sheet {
    kernel: Kernel,
    pub d: usize,
    pub y: Vec<f64>,
    sq: Vec<f64>,
}

/// `k(z_i, y_j)` and the terms that derivatives need.
#[derive(Debug)]
pub(super) struct Look {
    /// m x n.
    pub values: Vec<f64>,
    dots: Vec<f64>,
    sq: Vec<f64>,
}

fn squares(rows: &[f64], d: usize) -> impl Iterator<Item = f64> + '_ {
    rows.chunks(d).map(|r| r.iter().map(|v| v * v).sum())
}

impl Sheet {
    pub(super) fn new(kernel: &Kernel, y: Vec<f64>, d: usize) -> Self {
        let sq = squares(&y, d).collect();
        Sheet { kernel: kernel.clone(), d, y, sq }
    }

    pub(super) fn push(&mut self, rows: &[f64]) {
        self.y.extend(rows);
        self.sq.extend(squares(rows, self.d));
    }

    /// The first `n` rows only.
    pub(super) fn truncate(&mut self, n: usize) {
        self.y.truncate(n * self.d);
        self.sq.truncate(n);
    }

    pub(super) fn len(&self) -> usize {
        self.sq.len()
    }

    fn products(&self) -> bool {
        self.kernel.form() == Form::Dot
    }

    /// Values at all points z.
    pub(super) fn look(&self, z: &[f64], exec: Exec) -> Result<Look> {
        let (m, n) = (z.len() / self.d, self.len());
        if m == 0 || n == 0 {
            return Ok(Look { values: Vec::new(), dots: Vec::new(), sq: Vec::new() });
        }
        if !self.products() {
            let (z, y) = (Points::dense(z.to_vec(), self.d)?, Points::dense(self.y.clone(), self.d)?);
            let values = gram::cross::<f64>(&self.kernel, z.view(), y.view(), exec)?.to_vec();
            return Ok(Look { values, dots: Vec::new(), sq: Vec::new() });
        }
        let mut dots = vec![0.0; m * n];
        product::nt(&mut dots, Mat::new(z, m, self.d), Mat::new(&self.y, n, self.d), exec.threads());
        let sq: Vec<f64> = squares(z, self.d).collect();
        let mut values = dots.clone();
        self.kernel.map(&mut values, &sq, &self.sq);
        Ok(Look { values, dots, sq })
    }

    /// `g_i = sum_j weight_ij dk(z_i, y_j)/dz_i`, m x d.
    pub(super) fn pull(&self, z: &[f64], look: &Look, weights: &[f64], exec: Exec) -> Vec<f64> {
        let (d, n) = (self.d, self.len());
        let mut out = vec![0.0; z.len()];
        if n == 0 {
            return out;
        }
        if !self.products() {
            let one = |((z, weights), out): ((&[f64], &[f64]), &mut [f64])| {
                for (y, &w) in self.y.chunks(d).zip(weights).filter(|(_, w)| **w != 0.0) {
                    self.kernel.add_gradient(w, Row::F64(z), Row::F64(y), out);
                }
            };
            let rows = z.par_chunks(d).zip(weights.par_chunks(n)).zip(out.par_chunks_mut(d));
            if exec.threads() > 1 {
                rows.for_each(one);
            } else {
                z.chunks(d).zip(weights.chunks(n)).zip(out.chunks_mut(d)).for_each(one);
            }
            return out;
        }
        let (mut along, own) = self.slopes(look, weights);
        product::nn(&mut out, Mat::new(&along, z.len() / d, n), Mat::new(&self.y, n, d), exec.threads());
        along.clear();
        for ((out, z), own) in out.chunks_mut(d).zip(z.chunks(d)).zip(own) {
            out.iter_mut().zip(z).for_each(|(o, z)| *o += 2.0 * own * z);
        }
        out
    }

    /// The derivatives with respect to the dot product times weights, m x n, and those with respect to `|z_i|^2`
    /// times weights, summed over j. Only for functions of dot products.
    pub(super) fn slopes(&self, look: &Look, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.len();
        let (mut along, mut own) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
        self.kernel.map_derivative(&look.dots, &look.sq, &self.sq, &mut along, &mut own);
        along.iter_mut().zip(weights).for_each(|(a, w)| *a *= w);
        let sums = own.chunks(n).zip(weights.chunks(n));
        let own = sums.map(|(o, w)| o.iter().zip(w).map(|(o, w)| o * w).sum()).collect();
        (along, own)
    }
}

/// Whether a kernel is a function of `|x - y|` alone.
pub(super) fn radial(kernel: &Kernel) -> bool {
    match kernel {
        Kernel::Rbf { .. }
        | Kernel::InverseMultiquadric { .. }
        | Kernel::Multiquadric { .. }
        | Kernel::RadialPower { .. } => true,
        Kernel::Sum(_)
        | Kernel::Product(_)
        | Kernel::Scaled { .. }
        | Kernel::Power { .. }
        | Kernel::Normalised(_) => kernel.children().iter().all(radial),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, toy};

    #[test]
    fn a_pull_is_the_slope_of_the_weighted_sum() {
        for line in [
            "rbf(gamma=0.3)",
            "poly(degree=3, coef0=1)",
            "rbf(gamma=0.2) + linear",
            "laplacian(gamma=0.3)",
            "rbf_widths(gamma=0.3)",
        ] {
            let kernel: Kernel = line.parse().expect("a kernel");
            let sheet = Sheet::new(&kernel, toy::normals(7, 3, 1), 3);
            let (z, weights) = (toy::normals(2, 3, 2), toy::normals(2, 7, 3));
            let sum = |z: &[f64]| -> f64 {
                let look = sheet.look(z, Exec::one()).expect("numbers");
                look.values.iter().zip(&weights).map(|(k, w)| k * w).sum()
            };
            let look = sheet.look(&z, Exec::one()).expect("numbers");
            let got = sheet.pull(&z, &look, &weights, Exec::new(2));
            for at in 0..z.len() {
                let moved = |h: f64| {
                    let mut z = z.clone();
                    z[at] += h;
                    sum(&z)
                };
                close(got[at], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-7);
            }
        }
    }
}
