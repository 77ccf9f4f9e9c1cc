//! Pre-images by descent, for every kernel with a gradient and with bounds on the coordinates.
//!
//! ```text
//! minimise  k(z, z) - 2 sum_i c_i k(z, x_i)        lo <= z <= hi
//! ```
//!
//! by L-BFGS, all vectors and starts in lock step: one evaluation of all objectives and gradients is two matrix
//! products where the kernel is a function of dot products (`2 p m d` multiply-adds), else one derivative at a time.

use rayon::prelude::*;

use super::starts::{self, Starts};
use super::target::{Candidates, Target};
use super::{PreimageParams, Start, exact};
use crate::data::Row;
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Form;
use crate::num::{Mat, product};
use crate::solve::lbfgs::{self, LbfgsParams};
use crate::watch::Watch;

/// Points of a tile.
const POINTS: usize = 64;

pub(super) fn run(
    target: &Target<'_>,
    params: &PreimageParams,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Candidates> {
    let (p, d) = (target.len(), target.d);
    let Starts { mut kinds, mut points } = starts::make(target, params, exec)?;
    if target.starts.is_none() && params.basis.is_none() && exact::inverse(target).is_some() {
        kinds.push(Start::Exact);
        points.extend(exact::run(target, params, exec)?.points);
    }
    let x_sq: Vec<f64> = target.x.chunks(d).map(|r| r.iter().map(|v| v * v).sum()).collect();
    let look = Look { target, x_sq };
    let obey = LbfgsParams {
        bounds: params.bounds,
        tol: params.tol * target.spread,
        max_iter: params.max_iter,
        ..LbfgsParams::default()
    };
    let ends =
        lbfgs::minimise(&mut points, d, &obey, &mut |rows, z, f, g| look.at(rows, z, f, g, exec), watch);
    let merit: Vec<f64> = ends.iter().map(|e| -e.value).collect();
    let won = starts::winners(&merit, p);
    let pick = |(o, &s): (usize, &usize)| s * p + o;
    Ok(Candidates {
        points: won
            .iter()
            .enumerate()
            .flat_map(|w| points[pick(w) * d..(pick(w) + 1) * d].to_vec())
            .collect(),
        steps: won.iter().enumerate().map(|w| ends[pick(w)].steps).collect(),
        start: won.iter().map(|&s| kinds[s]).collect(),
    })
}

/// Walkers, their points, and the output slices for their objectives and gradients.
type Part<'s> = (((&'s [usize], &'s [f64]), &'s mut [f64]), &'s mut [f64]);

struct Look<'t, 'a> {
    target: &'t Target<'a>,
    x_sq: Vec<f64>,
}

impl Look<'_, '_> {
    /// Objectives and gradients of some walkers at points z.
    fn at(&self, rows: &[usize], z: &[f64], f: &mut [f64], g: &mut [f64], exec: Exec) {
        let d = self.target.d;
        let dots = self.target.psi.kernel().form() == Form::Dot;
        let work = |(((rows, z), f), g): Part<'_>| {
            if dots { self.by_products(rows, z, f, g) } else { self.by_values(rows, z, f, g) }
        };
        if exec.threads() == 1 {
            work((((rows, z), f), g));
        } else {
            rows.par_chunks(POINTS)
                .zip(z.par_chunks(POINTS * d))
                .zip(f.par_chunks_mut(POINTS))
                .zip(g.par_chunks_mut(POINTS * d))
                .for_each(work);
        }
    }

    fn by_products(&self, rows: &[usize], z: &[f64], f: &mut [f64], g: &mut [f64]) {
        let (t, n) = (self.target, rows.len());
        let (d, m, p, kernel) = (t.d, t.centres(), t.len(), t.psi.kernel());
        let z_sq: Vec<f64> = z.chunks(d).map(|r| r.iter().map(|v| v * v).sum()).collect();
        let mut values = vec![0.0; n * m];
        product::nt(&mut values, Mat::new(z, n, d), Mat::new(&t.x, m, d), 1);
        let (mut by_dot, mut by_row) = (vec![0.0; n * m], vec![0.0; n * m]);
        kernel.map_derivative(&values, &z_sq, &self.x_sq, &mut by_dot, &mut by_row);
        kernel.map(&mut values, &z_sq, &self.x_sq);
        let mut own_row = vec![0.0; n];
        for (r, &w) in rows.iter().enumerate() {
            let coef = &t.coef[w % p * m..(w % p + 1) * m];
            let line = r * m..(r + 1) * m;
            f[r] = -2.0 * values[line.clone()].iter().zip(coef).map(|(v, c)| v * c).sum::<f64>();
            by_dot[line.clone()].iter_mut().zip(coef).for_each(|(v, c)| *v *= -2.0 * c);
            own_row[r] = -4.0 * by_row[line].iter().zip(coef).map(|(v, c)| v * c).sum::<f64>();
        }
        product::nn(g, Mat::new(&by_dot, n, m), Mat::new(&t.x, m, d), 1);
        for r in 0..n {
            // The derivative of k(z, z) is twice that of k(z, y) at y = z.
            let sq = [z_sq[r]];
            let (mut own, mut by_dot, mut by_row) = (sq, [0.0], [0.0]);
            kernel.map_derivative(&sq, &sq, &sq, &mut by_dot, &mut by_row);
            kernel.map(&mut own, &sq, &sq);
            f[r] += own[0];
            let along = own_row[r] + 2.0 * by_dot[0] + 4.0 * by_row[0];
            g[r * d..(r + 1) * d].iter_mut().zip(&z[r * d..(r + 1) * d]).for_each(|(g, z)| *g += along * z);
        }
    }

    fn by_values(&self, rows: &[usize], z: &[f64], f: &mut [f64], g: &mut [f64]) {
        let t = self.target;
        let (d, m, p, kernel) = (t.d, t.centres(), t.len(), t.psi.kernel());
        for (r, &w) in rows.iter().enumerate() {
            let (z, g) = (Row::F64(&z[r * d..(r + 1) * d]), &mut g[r * d..(r + 1) * d]);
            g.fill(0.0);
            f[r] = kernel.value(z, z);
            kernel.add_gradient(2.0, z, z, g);
            for j in 0..m {
                let c = -2.0 * t.coef[w % p * m + j];
                if c != 0.0 {
                    let x = Row::F64(&t.x[j * d..(j + 1) * d]);
                    f[r] += c * kernel.value(z, x);
                    kernel.add_gradient(c, z, x, g);
                }
            }
        }
    }
}
