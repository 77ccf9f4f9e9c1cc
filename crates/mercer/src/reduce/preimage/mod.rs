//! Pre-images: points whose images come nearest to vectors in feature space.
//!
//! ```text
//! z_o = argmin |Phi(z) - Psi_o|^2 = argmin  k(z, z) - 2 sum_i c_io k(z, x_i) + |Psi_o|^2       (Schoelkopf et al. 1999)
//! ```
//!
//! for every output o of an [`Expansion`], thousands at once. Not every vector has an exact pre-image; the remaining
//! distance is returned with each point. [`PreimageMethod::Auto`] selects by the kernel: fixed-point iteration for
//! functions of the distance, a closed form for linear kernels, descent where there is a gradient, else a learned
//! map.

mod distances;
mod exact;
mod fixed_point;
mod gradient;
mod invert;
mod learned;
mod starts;
mod target;

use serde::{Deserialize, Serialize};

use crate::data::{Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::{Form, Kernel};
use crate::watch::Watch;

pub use target::Target;
pub(crate) use target::turned;

/// Method for computing pre-images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreimageMethod {
    /// Selected by the kernel; [`Preimages::method`] reports which.
    #[default]
    Auto,
    /// The closed form that is exact where a pre-image exists: kernels that are invertible functions of the dot
    /// product or of the distance.
    Exact,
    /// `z <- sum_i c_i k'(z, x_i) x_i / sum_i c_i k'(z, x_i)`: kernels that are functions of the distance.
    FixedPoint,
    /// Descent by L-BFGS: kernels with a gradient; the only method that respects bounds.
    Gradient,
    /// A map learned on the centres by ridge regression: any kernel on rows of numbers.
    Learned,
    /// From distances to the nearest centres: kernels as for [`PreimageMethod::Exact`].
    Distances,
}

/// Parameters for computing pre-images.
///
/// ```
/// use mercer::prelude::*;
/// use mercer::reduce::preimage::preimages;
/// // The mean of two images of nearby points, and the point whose image is nearest.
/// let centres = Points::dense(vec![0.0, 0.2], 1)?;
/// let mean = Expansion::new(Kernel::Rbf { gamma: 1.0 }, centres, vec![0.5, 0.5], vec![0.0])?;
/// let found = preimages(&mean, None, &PreimageParams::default(), Exec::one(), &mut watch::silent())?;
/// assert!((found.points.row(0).to_f64()[0] - 0.1).abs() < 1e-3);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreimageParams {
    /// Method.
    pub method: PreimageMethod,
    /// Additional starts of an iteration; `None`: 0 if starts are given, else 3.
    pub starts: Option<usize>,
    /// Change of a point at which an iteration stops, relative to the spread of the centres.
    pub tol: f64,
    /// Maximum number of iterations.
    pub max_iter: usize,
    /// Lower and upper bound of every coordinate.
    pub bounds: Option<(f64, f64)>,
    /// Number of nearest centres used by [`PreimageMethod::Distances`].
    pub neighbours: usize,
    /// Ridge of [`PreimageMethod::Learned`].
    pub lambda: f64,
    /// Length of the basis vectors of [`PreimageMethod::Exact`]; `None`: by the norms of the centres.
    pub scale: Option<f64>,
    /// The basis of [`PreimageMethod::Exact`], d orthonormal rows; `None`: the coordinate axes.
    pub basis: Option<Vec<f64>>,
    /// Seed of the starts.
    pub seed: u64,
}

impl Default for PreimageParams {
    fn default() -> Self {
        PreimageParams {
            method: PreimageMethod::Auto,
            starts: None,
            tol: 1e-4,
            max_iter: 200,
            bounds: None,
            neighbours: 10,
            lambda: 1e-3,
            scale: None,
            basis: None,
            seed: 1,
        }
    }
}

/// The starting point of the best iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// None: a closed form.
    None,
    /// A given point.
    Given,
    /// The mean of the centres, weighted by the absolute values of their coefficients.
    Mean,
    /// The best of a sample of centres.
    Best,
    /// A random centre.
    Drawn,
    /// The closed form of [`PreimageMethod::Exact`].
    Exact,
}

/// Pre-images, one per vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Preimages {
    /// The points.
    pub points: Points,
    /// `|Phi(z) - Psi|^2` of each.
    pub distance2: Vec<f64>,
    /// `Phi(z) . Psi` of each.
    pub inner: Vec<f64>,
    /// `|Psi|^2` of each.
    pub norm2: Vec<f64>,
    /// `k(z, z)` of each.
    pub own: Vec<f64>,
    /// Number of iterations of the best start.
    pub steps: Vec<u32>,
    /// The best start.
    pub start: Vec<Start>,
    /// The method that was used.
    pub method: PreimageMethod,
}

impl Preimages {
    /// `min_b |b Phi(z) - Psi|^2` of each: the error of the direction alone.
    pub fn scaled_distance2(&self) -> Vec<f64> {
        let rest = |(i, n2): (usize, &f64)| {
            let own = self.own[i];
            (n2 - if own > 0.0 { self.inner[i].powi(2) / own } else { 0.0 }).max(0.0)
        };
        self.norm2.iter().enumerate().map(rest).collect()
    }

    /// Appends other pre-images.
    pub fn with(mut self, more: &Preimages) -> Result<Preimages> {
        self.points = self.points.concat(&more.points)?;
        self.distance2.extend(&more.distance2);
        self.inner.extend(&more.inner);
        self.norm2.extend(&more.norm2);
        self.own.extend(&more.own);
        self.steps.extend(&more.steps);
        self.start.extend(&more.start);
        Ok(self)
    }
}

/// Pre-images of every output of an expansion, without offsets. `starts` are starting points, one per output.
///
/// ```
/// use mercer::data::Points;
/// use mercer::expansion::Expansion;
/// use mercer::kernel::Kernel;
/// use mercer::reduce::preimage::{PreimageMethod, PreimageParams, preimages};
/// use mercer::{Exec, watch};
///
/// // The image of a point is its own pre-image.
/// let centre = Points::dense(vec![0.5, -1.0], 2)?;
/// let psi = Expansion::new(Kernel::Rbf { gamma: 0.7 }, centre, vec![1.0], vec![0.0])?;
/// let found = preimages(&psi, None, &PreimageParams::default(), Exec::one(), &mut watch::silent())?;
/// assert_eq!(found.method, PreimageMethod::FixedPoint);
/// assert!(found.distance2[0] < 1e-10);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn preimages(
    psi: &Expansion,
    starts: Option<View<'_>>,
    params: &PreimageParams,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Preimages> {
    Target::new(psi, None, starts, exec)?.solve(params, exec, watch)
}

impl PreimageParams {
    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return Err(Error::param("tol", self.tol, "above 0"));
        }
        if self.max_iter == 0 {
            return Err(Error::param("max_iter", 0, "at least 1"));
        }
        if let Some((lo, hi)) = self.bounds
            && (lo.is_nan() || hi.is_nan() || lo > hi)
        {
            return Err(Error::param("bounds", format!("{lo} to {hi}"), "the least value first"));
        }
        if self.neighbours < 2 {
            return Err(Error::param("neighbours", self.neighbours, "at least 2"));
        }
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            return Err(Error::param("lambda", self.lambda, "above 0"));
        }
        match self.scale {
            Some(s) if !(s > 0.0 && s.is_finite()) => Err(Error::param("scale", s, "above 0")),
            _ => Ok(()),
        }
    }

    /// The method for a kernel; fails if the requested one does not support it.
    fn method_for(&self, kernel: &Kernel) -> Result<PreimageMethod> {
        let radial = radial(kernel);
        let refuse = |what: &str| Err(Error::Unsupported(format!("kernel `{kernel}` {what}")));
        match self.method {
            PreimageMethod::Auto if *kernel == Kernel::Linear && self.bounds.is_none() => {
                Ok(PreimageMethod::Exact)
            }
            PreimageMethod::Auto if radial && self.bounds.is_none() => Ok(PreimageMethod::FixedPoint),
            PreimageMethod::Auto if kernel.has_gradient() => Ok(PreimageMethod::Gradient),
            PreimageMethod::Auto => Ok(PreimageMethod::Learned),
            PreimageMethod::FixedPoint if !radial => {
                refuse("is not a function of the distance, so there is no fixed-point step")
            }
            PreimageMethod::Gradient if !kernel.has_gradient() => {
                refuse("has no derivative for gradient descent")
            }
            other if self.bounds.is_some() && other != PreimageMethod::Gradient => {
                Err(Error::param("bounds", "given", "none: only the gradient method keeps to them"))
            }
            other => Ok(other),
        }
    }
}

/// Whether a kernel is a function of `|x - y|^2` evaluated from dot products.
fn radial(kernel: &Kernel) -> bool {
    kernel.form() == Form::Dot && kernel.translation_invariant() && kernel.radial_derivatives(1.0).is_some()
}
