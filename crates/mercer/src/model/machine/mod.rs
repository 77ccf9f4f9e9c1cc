//! The machine: the result of every learner.
//!
//! An [`Expansion`], how its outputs become decision values ([`Readout`]), what the decision values mean ([`Role`]),
//! and the learner with its parameters. Learners differ only in how they find the coefficients, so predicting,
//! saving, explaining, compressing, exporting and drawing are implemented once for all of them.
//!
//! Only `predict.rs` depends on readout and role.

mod components;
mod describe;
mod hypotheses;
mod model;
pub(super) mod multiclass;
mod predict;
mod readout;
mod reject;
mod rough;
mod sigmoid;

pub use components::{Components, Features};
pub use describe::Description;
pub(super) use describe::IN_FILES;
pub(super) use model::{MAX_LAYERS, Ready};
pub use model::{Model, Names, Task};
pub use multiclass::Sides;
pub use predict::Probabilities;
pub(crate) use predict::largest;
pub use readout::{Ball, Calibration, Nearest, Normals, Readout, Votes};
pub use reject::{Reject, Wanted};
pub use sigmoid::Sigmoid;

use serde::{Deserialize, Serialize};

use crate::expansion::Expansion;
use crate::model::Learner;
use crate::model::svc::{Kind, Margin, SvcParams};
use crate::watch::Info;

/// The meaning of a machine's decision values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one per machine, which holds arrays of rows")]
pub enum Role {
    /// Classes of these names: one decision value for two of them (positive: the second), else one per class or per pair.
    Classes(Vec<String>),
    /// Numbers.
    Numbers,
    /// Novelty: positive for inliers.
    Novelty,
    /// Clusters, of which there are this many; the nearest has the largest decision value.
    Clusters(usize),
    /// Features of a point.
    Features(Features),
}

/// A fitted machine.
///
/// ```
/// use mercer::prelude::*;
/// let (points, targets) = mercer::data::toy::banana(60, 1);
/// let machine: Machine = SvcParams::default().fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
/// // The support vectors are the centres of its expansion.
/// assert_eq!(machine.support.len(), machine.expansion.len());
/// assert_eq!(machine.labels(points.view(), Exec::one())?.len(), 60);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The function; for a sphere, its centre.
    pub expansion: Expansion,
    /// How its outputs become decision values.
    pub readout: Readout,
    /// The meaning of the decision values.
    pub role: Role,
    /// From decision values to probabilities.
    pub calibration: Calibration,
    /// The reject rule, if there is one.
    pub reject: Option<Reject>,
    /// The learner with the parameters of the fit.
    pub learner: Learner,
    /// The training rows with a non-zero coefficient, in order: these are the centres, unless a linear machine was
    /// reduced to one centre per output. Empty if not known.
    pub support: Vec<u32>,
    /// The coefficients of `support` if a linear machine was reduced.
    pub dual: Dual,
    /// The solution behind each output of a support vector classifier; empty for other learners.
    pub parts: Vec<Part>,
    /// Facts specific to the learner, by names of [`Machine::FACTS`].
    pub facts: Vec<(&'static str, f64)>,
    /// Where the coefficients come from.
    pub origin: Origin,
    /// The state to resume from, where the fit was interrupted or reached its limit.
    pub checkpoint: Option<Checkpoint>,
    /// Statistics of the fit.
    pub info: Info,
}

/// The solution behind one output of a classifier.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Number of its training rows.
    pub rows: usize,
    /// Free support vectors: training rows strictly inside their box, which lie on the margin.
    pub free: Vec<u32>,
    /// Bounded support vectors: training rows at their bound, inside the margin or beyond it.
    pub bounded: Vec<u32>,
    /// The dual objective reached.
    pub objective: f64,
    /// Iterations of its solver; 0 if not known.
    pub iterations: u64,
    /// The margin, for hard-margin machines.
    pub margin: Option<Margin>,
}

/// Coefficients of the training rows of a reduced linear machine, m x outputs; empty for all other machines, whose
/// expansion has them. They are not stored in files and do not count in comparisons.
#[derive(Debug, Clone, Default)]
pub struct Dual(pub Vec<f64>);

impl PartialEq for Dual {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// The origin of a machine's coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// Fitted by another library, whose file does not contain all parameters: the learner has defaults for the
    /// others.
    pub foreign: bool,
    /// Its centres were replaced by fewer ones.
    pub compressed: bool,
}

/// The state of an incomplete fit.
#[derive(Debug, Clone, PartialEq)]
pub enum Checkpoint {
    /// The variables of one problem.
    Variables(Vec<f64>),
    /// Those of a classifier's machines.
    Machines(crate::model::svc::SvcCheckpoint),
}

impl Checkpoint {
    /// The variables of a single problem, if it is one.
    pub fn variables(&self) -> Option<&[f64]> {
        if let Checkpoint::Variables(beta) = self { Some(beta) } else { None }
    }

    /// The state of a classifier's machines, if it is one.
    pub fn machines(&self) -> Option<&crate::model::svc::SvcCheckpoint> {
        if let Checkpoint::Machines(machines) = self { Some(machines) } else { None }
    }
}

impl Machine {
    /// The names of facts that learners report.
    pub const FACTS: &'static [&'static str] = &[
        "leave_one_out_error",
        "ratio",
        "hypotheses",
        "least_margin",
        "mean_margin",
        "lp_margin",
        "updates",
        "bounces",
        "version_space",
        "gamma",
        "inertia",
        "starts",
        "threshold",
        "bounded",
        "epsilon",
        "noise",
    ];

    /// A machine whose outputs are its decision values.
    pub fn new(expansion: Expansion, role: Role, learner: Learner, info: Info) -> Self {
        Machine {
            expansion,
            readout: Readout::Plain,
            role,
            calibration: Calibration::None,
            reject: None,
            learner,
            support: Vec::new(),
            dual: Dual::default(),
            parts: Vec::new(),
            facts: Vec::new(),
            origin: Origin::default(),
            checkpoint: None,
            info,
        }
    }

    /// Whether its fit can be resumed: it was interrupted, and its learner keeps checkpoints.
    pub fn can_resume(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// Adds a fact; numbers that are not finite are ignored.
    pub fn tell(&mut self, name: &'static str, value: f64) {
        let place = |name: &str| Self::FACTS.iter().position(|f| *f == name);
        debug_assert!(place(name).is_some(), "{name} is not in the table");
        if value.is_finite() {
            self.facts.push((name, value));
            self.facts.sort_by_key(|f| place(f.0));
        }
    }

    /// A fact by name.
    pub fn fact(&self, name: &str) -> Option<f64> {
        self.facts.iter().find(|f| f.0 == name).map(|f| f.1)
    }

    /// The learner's name: `svc`, `svr`, `ridge`, `one-class`, `sphere`, `kpca`, `kfd`, ...; all forms of `svc` and of `svr`
    /// share one.
    pub fn kind(&self) -> &'static str {
        match &self.learner {
            Learner::Svc(_) => "svc",
            Learner::Svr(_) => "svr",
            other => other.entry().name,
        }
    }

    /// The sphere's radius and centre, if it is one.
    pub fn ball(&self) -> Option<Ball> {
        if let Readout::Ball(ball) = self.readout { Some(ball) } else { None }
    }

    /// The parameters of a support vector classifier.
    pub fn svc(&self) -> Option<&SvcParams> {
        if let Learner::Svc(params) = &self.learner { Some(params) } else { None }
    }

    /// Whether it is a support vector machine, whose centres are training rows with active constraints.
    pub fn has_support_vectors(&self) -> bool {
        matches!(self.learner, Learner::Svc(_) | Learner::Svr(_) | Learner::OneClass(_) | Learner::Sphere(_))
    }

    /// Whether every coefficient is bounded by the parameters: f32 kernel values are then accurate enough for f32
    /// rows.
    pub(super) fn has_bounded_coef(&self) -> bool {
        match &self.learner {
            Learner::Svc(p) => p.kind != Kind::Hard,
            Learner::Svr(_) | Learner::OneClass(_) => true,
            _ => false,
        }
    }

    /// The same machine with another expansion; its training rows are then unknown.
    pub(super) fn on(&self, expansion: Expansion) -> Self {
        let facts = self.facts.iter().copied().filter(|f| f.0 != "bounded").collect();
        let forgotten = |p: &Part| Part {
            rows: p.rows,
            objective: p.objective,
            iterations: p.iterations,
            ..Part::default()
        };
        let parts = self.parts.iter().map(forgotten).collect();
        Machine {
            expansion,
            support: Vec::new(),
            dual: Dual::default(),
            facts,
            parts,
            checkpoint: None,
            ..self.clone()
        }
    }
}
