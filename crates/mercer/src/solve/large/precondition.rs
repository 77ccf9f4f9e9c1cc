//! The coordinates in which the Hessian is nearly the identity.
//!
//! ```text
//! M = L L',   A A' = L' D L / m + lambda I,   c = L'^-1 A'^-1 x
//! ```
//!
//! L' D L / m stands for the n rows what the centres' own values say of them: exactly so if the centres are all rows. A
//! matrix that is singular to rounding (equal centres, a flat kernel) gets a ridge: coefficients then cost a little more.

use super::Own;
use crate::error::Result;
use crate::exec::Exec;
use crate::num::triangular::Lower;
use crate::num::{Buffer, Fault, Real};

/// Factors in one of the two types.
pub(super) enum Coordinates {
    Single(Factors<f32>),
    Double(Factors<f64>),
}

/// The two factors.
pub(super) struct Factors<T: Real> {
    own: Lower<T>,
    all: Lower<T>,
}

impl Coordinates {
    /// Of the centres' matrix. Fails where it is not positive definite, however large the ridge.
    ///
    /// `rounding` is that of the values of rows against centres: directions which are lost in it must not be taken, or
    /// coefficients grow without bound that cancel each other up to rounding.
    pub(super) fn new(own: Own, rounding: f64, (lambda, curvature): (f64, f64), exec: Exec) -> Result<Self> {
        Ok(match own {
            Own::Single(own) => Coordinates::Single(Factors::new(own, rounding, (lambda, curvature), exec)?),
            Own::Double(own) => Coordinates::Double(Factors::new(own, rounding, (lambda, curvature), exec)?),
        })
    }

    /// Takes the curvature of the loss at each centre.
    pub(super) fn bend(&mut self, curvature: &[f64], lambda: f64, exec: Exec) -> Result<()> {
        match self {
            Coordinates::Single(f) => f.all = second(&f.own, Some(curvature), 1.0, lambda, exec)?,
            Coordinates::Double(f) => f.all = second(&f.own, Some(curvature), 1.0, lambda, exec)?,
        }
        Ok(())
    }

    /// `z = A'^-1 x`, m x k in its place: in these coordinates the penalty is `lambda |z|^2`.
    pub(super) fn whiten(&self, x: &mut [f64], k: usize, exec: Exec) {
        self.with(
            x,
            |f, x| f.all.solve_transposed(x, k, exec.threads().min(k)),
            |f, x| f.all.solve_transposed(x, k, exec.threads().min(k)),
        );
    }

    /// The transpose of [`Coordinates::whiten`]: `A^-1 g`.
    pub(super) fn whiten_back(&self, g: &mut [f64], k: usize, exec: Exec) {
        self.with(
            g,
            |f, g| f.all.solve(g, k, exec.threads().min(k)),
            |f, g| f.all.solve(g, k, exec.threads().min(k)),
        );
    }

    /// `c = L'^-1 z`: coefficients.
    pub(super) fn coef(&self, z: &mut [f64], k: usize, exec: Exec) {
        self.with(
            z,
            |f, z| f.own.solve_transposed(z, k, exec.threads().min(k)),
            |f, z| f.own.solve_transposed(z, k, exec.threads().min(k)),
        );
    }

    /// The transpose of [`Coordinates::coef`]: `L^-1 g`.
    pub(super) fn coef_back(&self, g: &mut [f64], k: usize, exec: Exec) {
        self.with(
            g,
            |f, g| f.own.solve(g, k, exec.threads().min(k)),
            |f, g| f.own.solve(g, k, exec.threads().min(k)),
        );
    }

    fn with(
        &self,
        x: &mut [f64],
        single: impl FnOnce(&Factors<f32>, &mut [f32]),
        double: impl FnOnce(&Factors<f64>, &mut [f64]),
    ) {
        match self {
            Coordinates::Double(f) => double(f, x),
            Coordinates::Single(f) => {
                let mut short: Vec<f32> = x.iter().map(|v| *v as f32).collect();
                single(f, &mut short);
                x.iter_mut().zip(&short).for_each(|(x, s)| *x = f64::from(*s));
            }
        }
    }
}

impl<T: Real> Factors<T> {
    fn new(own: Buffer<T>, rounding: f64, (lambda, curvature): (f64, f64), exec: Exec) -> Result<Self> {
        let m = (own.len() as f64).sqrt() as usize;
        let scale = (0..m).map(|i| own[i * m + i].f64().abs()).sum::<f64>() / m.max(1) as f64;
        let scale = scale.max(f64::MIN_POSITIVE);
        // Rounding of a product of m numbers grows with the root of m.
        let mut ridge = 8.0 * scale * rounding.max(T::EPSILON.f64()) * (m as f64).max(10.0).sqrt();
        for _ in 0..10 {
            let mut shifted = Buffer::stale(own.len());
            shifted.copy_from_slice(&own);
            (0..m).for_each(|i| shifted[i * m + i] += T::of(ridge));
            match Lower::new(shifted, m, exec.threads()) {
                Ok(factor) => {
                    drop(own);
                    let all = second(&factor, None, curvature, lambda, exec)?;
                    return Ok(Factors { own: factor, all });
                }
                Err(_) => ridge *= 10.0,
            }
        }
        Err(Fault::NotPositiveDefinite { n: m }.into())
    }
}

/// The factor of `s L' D L / m + lambda I`.
fn second<T: Real>(own: &Lower<T>, d: Option<&[f64]>, s: f64, lambda: f64, exec: Exec) -> Result<Lower<T>> {
    let m = own.order();
    let mut a = own.gram(d, exec.threads());
    let s = T::of(s / m.max(1) as f64);
    // Only the lower half was written.
    for j in 0..m {
        a[j * m + j..(j + 1) * m].iter_mut().for_each(|v| *v *= s);
    }
    let trace = (0..m).map(|i| a[i * m + i].f64()).sum::<f64>();
    // Never below what rounding leaves of the matrix: this only shapes the coordinates, not the problem.
    let least = trace * T::EPSILON.f64();
    (0..m).for_each(|i| a[i * m + i] += T::of(lambda.max(least)));
    Ok(Lower::new(a, m, exec.threads())?)
}
