//! The vectors whose pre-images are computed, with prepared centres: dense rows relative to their mean.

use rayon::prelude::*;

use super::{PreimageMethod, PreimageParams, Preimages, Start};
use super::{distances, exact, fixed_point, gradient, learned};
use crate::data::{Data, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::num::{Mat, product};
use crate::watch::Watch;

/// Vectors of feature space, one per output of an expansion.
#[derive(Debug, Clone)]
pub struct Target<'a> {
    pub(super) psi: &'a Expansion,
    pub(super) starts: Option<View<'a>>,
    norm2: Option<Vec<f64>>,
    /// The coefficients, p x m: those of each vector contiguously.
    pub(super) coef: Vec<f64>,
    /// The centres, m x d.
    pub(super) x: Vec<f64>,
    pub(super) d: usize,
    /// Root mean square distance of a centre from their mean.
    pub(super) spread: f64,
    pub(super) mean: Vec<f64>,
}

/// Points, and centres, per block of kernel values.
const POINTS: usize = 256;
const CENTRES: usize = 1024;

/// The result of a method.
pub(super) struct Candidates {
    pub points: Vec<f64>,
    pub steps: Vec<u32>,
    pub start: Vec<Start>,
}

impl<'a> Target<'a> {
    /// The outputs of an expansion; `norm2` are their squared norms where known, `starts` starting points.
    pub fn new(
        psi: &'a Expansion,
        norm2: Option<Vec<f64>>,
        starts: Option<View<'a>>,
        exec: Exec,
    ) -> Result<Self> {
        let view = psi.centres().view();
        if !matches!(view.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. }) {
            return Err(Error::Unsupported(format!(
                "{} have no pre-images: only rows of numbers do",
                view.kind()
            )));
        }
        if psi.is_empty() {
            return Err(Error::shape("centres of the vectors to invert", 0, "at least 1"));
        }
        let (m, d, p) = (view.n, view.d, psi.outputs());
        if let Some(starts) = starts
            && (starts.n != p || starts.d != d)
        {
            return Err(Error::shape(
                "points to start at",
                format!("{} x {}", starts.n, starts.d),
                format!("{p} x {d}: one per vector"),
            ));
        }
        if norm2.as_ref().is_some_and(|n| n.len() != p) {
            return Err(Error::shape("squared lengths", norm2.map_or(0, |n| n.len()), p));
        }
        let x = view.to_f64_within(exec.memory())?;
        let mut mean = vec![0.0; d];
        x.chunks(d).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v));
        mean.iter_mut().for_each(|v| *v /= m as f64);
        let off: f64 =
            x.chunks(d).map(|row| row.iter().zip(&mean).map(|(v, m)| (v - m).powi(2)).sum::<f64>()).sum();
        let spread = (off / m as f64).sqrt();
        // With one centre, or equal ones, any scale will do.
        let spread = if spread > 0.0 { spread } else { 1.0 };
        Ok(Target { psi, starts, norm2, coef: turned(psi.coef(), m, p), x, d, spread, mean })
    }

    /// Computes the pre-images.
    pub fn solve(&self, params: &PreimageParams, exec: Exec, watch: &mut Watch<'_>) -> Result<Preimages> {
        params.check()?;
        let method = params.method_for(self.psi.kernel())?;
        let found = match method {
            PreimageMethod::Auto | PreimageMethod::FixedPoint => fixed_point::run(self, params, exec, watch)?,
            PreimageMethod::Gradient => gradient::run(self, params, exec, watch)?,
            PreimageMethod::Exact => exact::run(self, params, exec)?,
            PreimageMethod::Learned => learned::run(self, params, exec)?,
            PreimageMethod::Distances => distances::run(self, params, exec)?,
        };
        let points = Points::dense(found.points, self.d)?;
        let points = match self.psi.centres().image() {
            Some(shape) => points.with_image(shape)?,
            None => points,
        };
        let inner = self.inner(points.view(), exec)?;
        let mut own = vec![0.0; points.len()];
        self.psi.kernel().diag(points.view(), &mut own);
        let norm2 = self.norm2(exec)?;
        let distance2 = (0..own.len()).map(|o| (own[o] - 2.0 * inner[o] + norm2[o]).max(0.0)).collect();
        Ok(Preimages { points, distance2, inner, norm2, own, steps: found.steps, start: found.start, method })
    }

    /// Number of vectors.
    pub(super) fn len(&self) -> usize {
        self.psi.outputs()
    }

    /// Number of centres.
    pub(super) fn centres(&self) -> usize {
        self.psi.len()
    }

    /// `Psi_o . Phi(z_o)` for one point per vector, in f64.
    pub(super) fn inner(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let (p, m, one) = (self.len(), self.centres(), exec.with_threads(1));
        let work = |at: usize| -> Result<Vec<f64>> {
            let rows = at..(at + POINTS).min(p);
            let centres = self.psi.centres().view();
            let values = gram::cross::<f64>(self.psi.kernel(), points.slice(rows.clone()), centres, one)?;
            let sum =
                |(r, o): (usize, usize)| dot(&values[r * m..(r + 1) * m], &self.coef[o * m..(o + 1) * m]);
            Ok(rows.enumerate().map(sum).collect())
        };
        let starts: Vec<usize> = (0..p).step_by(POINTS).collect();
        let parts: Vec<Vec<f64>> = if exec.threads() == 1 {
            starts.into_iter().map(work).collect::<Result<_>>()?
        } else {
            starts.into_par_iter().map(work).collect::<Result<_>>()?
        };
        Ok(parts.concat())
    }

    /// `Psi_o . Phi(x)` of all vectors at any points: n x p, row by row.
    pub(super) fn values(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let p = self.len();
        let mut out = self.psi.evaluate(points, exec)?;
        let offset = self.psi.offset();
        if offset.iter().any(|b| *b != 0.0) {
            out.chunks_mut(p).for_each(|line| line.iter_mut().zip(offset).for_each(|(v, b)| *v -= b));
        }
        Ok(out)
    }

    /// `|Psi_o|^2`: given, or computed (m^2 values, m^2 p multiply-adds).
    pub(super) fn norm2(&self, exec: Exec) -> Result<Vec<f64>> {
        if let Some(norm2) = &self.norm2 {
            return Ok(norm2.clone());
        }
        let (m, p) = (self.centres(), self.len());
        let centres = self.psi.centres().view();
        let mut out = vec![0.0; p];
        for at in (0..m).step_by(CENTRES) {
            let rows = CENTRES.min(m - at);
            let values = gram::cross::<f64>(self.psi.kernel(), centres.slice(at..at + rows), centres, exec)?;
            let mut half = vec![0.0; rows * p];
            product::nn(
                &mut half,
                Mat::new(&values, rows, m),
                Mat::new(self.psi.coef(), m, p),
                exec.threads(),
            );
            let coef = &self.psi.coef()[at * p..(at + rows) * p];
            for (half, coef) in half.chunks(p).zip(coef.chunks(p)) {
                out.iter_mut().zip(half.iter().zip(coef)).for_each(|(o, (h, c))| *o += h * c);
            }
        }
        Ok(out)
    }
}

/// The transpose of an m x p matrix, in blocks that stay in cache.
pub(crate) fn turned(a: &[f64], m: usize, p: usize) -> Vec<f64> {
    const SQUARE: usize = 32;
    let mut out = vec![0.0; m * p];
    for o in (0..p).step_by(SQUARE) {
        for j in (0..m).step_by(SQUARE) {
            for c in o..(o + SQUARE).min(p) {
                for r in j..(j + SQUARE).min(m) {
                    out[c * m + r] = a[r * p + c];
                }
            }
        }
    }
    out
}

/// A dot product in eight lanes.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..8 {
            lanes[l] += a[l] * b[l];
        }
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}
