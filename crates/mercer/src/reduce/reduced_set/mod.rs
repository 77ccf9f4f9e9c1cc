//! Reduced sets: vectors of feature space approximated with fewer points.
//!
//! ```text
//! Psi^o = sum_i a_io Phi(x_i), i = 1 .. n     ~     Psi'^o = sum_j b_jo Phi(z_j), j = 1 .. m,     m < n
//! ```
//!
//! Prediction costs one kernel value per centre, so m centres instead of n speed it up by n / m. Two families of
//! methods ([`ReducedSetMethod`]): *construction* makes new points z, *selection* keeps some of the x. For given z,
//! the coefficients minimise `|Psi - Psi'|` (Schoelkopf et al. 1999, proposition 8).
//!
//! ```
//! use mercer::reduce::reduced_set::{ReducedSetParams, Size, reduce};
//! use mercer::{data::Points, expansion::Expansion, kernel::Kernel, Exec};
//! let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 10.0).collect();
//! let coef = x.iter().map(|x| x.sin()).collect();
//! let psi = Expansion::new(Kernel::Rbf { gamma: 0.5 }, Points::dense(x, 1)?, coef, vec![0.0])?;
//! let params = ReducedSetParams { size: Size::Vectors(4), ..ReducedSetParams::default() };
//! let small = reduce(&psi, &params, Exec::one(), &mut mercer::watch::silent())?;
//! assert!(small.expansion.len() == 4 && small.report.error < 0.01);
//! # Ok::<(), mercer::Error>(())
//! ```

mod construct;
mod descend;
mod family;
mod fit_rows;
mod fixed_point;
mod gradient;
mod job;
mod join;
mod l1;
mod run;
mod select;
mod sheet;
mod spectrum;
mod square;
mod wide;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::data::{Data, Points};
use crate::error::{Error, Result};
use crate::expansion::Expansion;

pub use family::{PointFamily, reduce_within};
pub(crate) use fit_rows::{Fit, fit_rows};
pub use l1::Weighting;
pub use run::{reduce, reduce_path, reduce_until};
pub use wide::with_widths;

/// Vectors times centres times columns above which vectors are not constructed one by one unless requested.
const LONG: f64 = 1e8;

/// How the smaller set is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReducedSetMethod {
    /// Construction where the kernel allows it: exact under `(x.y)^2`, by fixed points if it is radial, by descent if
    /// it has a derivative, and moved centres where constructing many vectors one by one would take long; else greedy
    /// selection.
    #[default]
    Auto,
    /// New vectors one by one, by fixed-point iteration; radial kernels (Schoelkopf et al. 1998).
    FixedPoint,
    /// New vectors one by one, by descent; kernels with a derivative (Burges 1996).
    Gradient,
    /// Centres selected greedily, then all moved together: for many vectors of large expansions; kernels with a
    /// derivative.
    Moved,
    /// Eigenvectors: exact with at most as many vectors as columns, under `(x.y)^2`.
    Square,
    /// Removes only linear combinations of other centres: outputs do not change.
    Exact,
    /// Removes centres one by one, each time the one whose removal increases the error least. Under kernels that are
    /// not positive definite, centres are added one by one instead, each time the one that reduces the error of the
    /// outputs at all centres most.
    Greedy,
    /// Removes centres by the kernel PCA criterion (Schoelkopf et al. 1999, eq. 64).
    Components,
    /// Keeps centres that have a non-zero coefficient under an L1 penalty; for several outputs, on the largest
    /// coefficient of a centre.
    Penalty,
}

impl ReducedSetMethod {
    /// All methods with their names.
    pub const ALL: [(&'static str, ReducedSetMethod); 9] = [
        ("auto", ReducedSetMethod::Auto),
        ("fixed-point", ReducedSetMethod::FixedPoint),
        ("gradient", ReducedSetMethod::Gradient),
        ("moved", ReducedSetMethod::Moved),
        ("square", ReducedSetMethod::Square),
        ("exact", ReducedSetMethod::Exact),
        ("greedy", ReducedSetMethod::Greedy),
        ("kpca", ReducedSetMethod::Components),
        ("l1", ReducedSetMethod::Penalty),
    ];

    /// The method's name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, m)| *m == self).map_or("auto", |(name, _)| name)
    }

    /// Whether it constructs new points.
    pub fn constructs(self) -> bool {
        matches!(
            self,
            ReducedSetMethod::FixedPoint
                | ReducedSetMethod::Gradient
                | ReducedSetMethod::Moved
                | ReducedSetMethod::Square
        )
    }

    /// Resolves [`ReducedSetMethod::Auto`]; fails if the method does not support the kernel or the points.
    fn on(self, psi: &Expansion, k: usize, wanted: &[Size]) -> Result<ReducedSetMethod> {
        let kernel = psi.kernel();
        let numbers = !matches!(
            psi.centres().view().data,
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. }
        );
        let wrong = |wanted: &str| {
            Err(Error::Unsupported(format!("method {} is for {wanted}, not for `{kernel}`", self.name())))
        };
        // These methods minimise norms in feature space, which do not exist here.
        if !psi.definite() {
            return match self {
                ReducedSetMethod::Auto | ReducedSetMethod::Greedy => Ok(ReducedSetMethod::Greedy),
                _ => Err(Error::Unsupported(format!(
                    "method {} requires a positive definite kernel, and `{kernel}` is not known to be one: use greedy, \
                     which matches outputs",
                    self.name()
                ))),
            };
        }
        match self {
            ReducedSetMethod::Auto if numbers && k == 1 && square::applies(kernel) => {
                Ok(ReducedSetMethod::Square)
            }
            ReducedSetMethod::Auto if numbers && kernel.has_gradient() && long(psi, wanted) => {
                Ok(ReducedSetMethod::Moved)
            }
            ReducedSetMethod::Auto if numbers && sheet::radial(kernel) => Ok(ReducedSetMethod::FixedPoint),
            ReducedSetMethod::Auto if numbers && kernel.has_gradient() => Ok(ReducedSetMethod::Gradient),
            ReducedSetMethod::Auto => Ok(ReducedSetMethod::Greedy),
            ReducedSetMethod::FixedPoint if !numbers || !sheet::radial(kernel) => {
                wrong("functions of |x - y|")
            }
            ReducedSetMethod::Gradient | ReducedSetMethod::Moved if !numbers || !kernel.has_gradient() => {
                wrong("kernels with a derivative")
            }
            ReducedSetMethod::Square if !numbers || !square::applies(kernel) => wrong("(x.y)^2"),
            ReducedSetMethod::Square if k > 1 => Err(Error::Unsupported(
                "method square handles one output at a time: request them separately".into(),
            )),
            asked => Ok(asked),
        }
    }
}

/// Whether constructing this many vectors one by one takes minutes: each costs about 1000 evaluations at all centres.
fn long(psi: &Expansion, wanted: &[Size]) -> bool {
    let n = psi.len() as f64;
    let vectors = |size: &Size| match *size {
        Size::Vectors(v) => v as f64,
        Size::Ratio(r) => n / r,
        Size::Error(_) => 0.0,
    };
    let most = wanted.iter().map(vectors).fold(0.0, f64::max);
    most.min(n) * n * psi.centres().dim() as f64 > LONG
}

/// The size of the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// Number of vectors; under [`Share::Each`] and [`Share::Pooled`] per output, on average.
    Vectors(usize),
    /// Factor by which the number of vectors is reduced.
    Ratio(f64),
    /// The smallest set with at most this `|Psi - Psi'| / |Psi|`.
    Error(f64),
}

/// How several outputs share vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// One set for all outputs.
    #[default]
    All,
    /// One set per output, used by that output only.
    Each,
    /// One set per output, then used by all, whose kernel values are computed anyway.
    Pooled,
}

/// A part of an expansion: centres that have coefficients in some outputs only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Indices of the centres.
    pub centres: Vec<usize>,
    /// The outputs in which they have coefficients.
    pub outputs: Vec<usize>,
}

/// Parameters of a reduction.
#[derive(Debug, Clone, PartialEq)]
pub struct ReducedSetParams {
    /// Method.
    pub method: ReducedSetMethod,
    /// Size of the set.
    pub size: Size,
    /// How outputs share vectors.
    pub share: Share,
    /// Parts of the expansion whose centres are replaced by centres of that part; empty: as `share` says. Sizes then
    /// count the centres of all parts together.
    pub blocks: Vec<Block>,
    /// Additional points that selection methods may choose from besides the centres, such as training rows. The
    /// greedy method then adds points one by one instead of removing them.
    pub candidates: Option<Points>,
    /// Number of steps of phase two, the joint descent over all vectors; `None`: 200 after construction, 0 after
    /// selection.
    pub descent: Option<usize>,
    /// Number of starts per search for a vector.
    pub starts: usize,
    /// Weights of the penalty, for [`ReducedSetMethod::Penalty`].
    pub weighting: Weighting,
    /// Seed of the random starts.
    pub seed: u64,
}

impl Default for ReducedSetParams {
    fn default() -> Self {
        ReducedSetParams {
            method: ReducedSetMethod::Auto,
            size: Size::Ratio(10.0),
            share: Share::All,
            blocks: Vec::new(),
            candidates: None,
            descent: None,
            starts: 128,
            weighting: Weighting::default(),
            seed: 1,
        }
    }
}

impl ReducedSetParams {
    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        match self.size {
            Size::Vectors(0) => Err(Error::param("vectors", 0, "at least 1")),
            Size::Ratio(r) if !(r >= 1.0 && r.is_finite()) => Err(Error::param("ratio", r, "at least 1")),
            Size::Error(e) if !(0.0..1.0).contains(&e) => {
                Err(Error::param("error", e, "at least 0 and below 1"))
            }
            _ if self.starts == 0 => Err(Error::param("starts", 0, "at least 1")),
            _ => Ok(()),
        }
    }
}

/// A smaller expansion with a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduced {
    /// The expansion.
    pub expansion: Expansion,
    /// The report.
    pub report: Report,
}

/// Report of a reduction.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The method that was used.
    pub method: ReducedSetMethod,
    /// Number of centres before.
    pub before: usize,
    /// Number of centres after.
    pub after: usize,
    /// `|Psi - Psi'| / |Psi|` over all outputs together; see `by_outputs`.
    pub error: f64,
    /// The same per output.
    pub error_by_output: Vec<f64>,
    /// Whether errors compare outputs at the old centres instead of norms in feature space, which do not exist for
    /// kernels not known to be positive definite.
    pub by_outputs: bool,
    /// The error after each vector of phase one, starting with none; empty for selection.
    pub path: Vec<f64>,
    /// Seconds of phase one, constructing vectors one by one.
    pub first_seconds: f64,
    /// Seconds of phase two, moving them together.
    pub second_seconds: f64,
}
