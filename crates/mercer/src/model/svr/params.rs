//! What a regression is fitted with.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::data::Transformations;
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::param::{self, Allowed, ParamSpec, spec};
use crate::solve;

/// Parameters of a regression. See [`SvrParams::TABLE`] for ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SvrParams {
    /// The kernel; none: a Gaussian whose width follows from the data's spread.
    pub kernel: Option<Kernel>,
    /// What an error costs.
    pub loss: Loss,
    /// Cost of an error against the smoothness of f.
    pub c: f64,
    /// Half-width of the tube (loss `epsilon`).
    pub epsilon: f64,
    /// Bound on the share of rows outside the tube (loss `nu`).
    pub nu: f64,
    /// Where the loss turns linear (loss `huber`).
    pub delta: f64,
    /// Largest violation of the optimality conditions left.
    pub tol: f64,
    /// Most steps of the solver.
    pub max_iter: Option<u64>,
    /// Whether rows that cannot move are left out for a while.
    pub shrinking: bool,
    /// Train again on rows with a coefficient moved by these transformations, with their targets; empty: once.
    pub virtual_vectors: Transformations,
    /// How often; each run moves what the one before has left.
    pub virtual_rounds: u32,
}

impl Default for SvrParams {
    fn default() -> Self {
        SvrParams {
            kernel: None,
            loss: Loss::Epsilon,
            c: 1.0,
            epsilon: 0.1,
            nu: 0.5,
            delta: 1.0,
            tol: 1e-3,
            max_iter: None,
            shrinking: true,
            virtual_vectors: Transformations::default(),
            virtual_rounds: 1,
        }
    }
}

impl SvrParams {
    /// Names, ranges, defaults.
    pub const TABLE: &'static [ParamSpec] = &[
        spec("kernel", Allowed::Kernel, "rbf, width by the data", "the kernel"),
        spec("loss", Allowed::OneOf(Loss::NAMES), "epsilon", "what an error costs"),
        spec("c", Allowed::Above(0.0), "1", "cost of an error against smoothness"),
        spec(
            "epsilon",
            Allowed::AtLeast(0.0),
            "0.1",
            "half-width of the tube that costs nothing (loss epsilon)",
        ),
        spec(
            "nu",
            Allowed::UpTo(0.0, 1.0),
            "0.5",
            "bounds the share of rows outside the tube from above, of support vectors from below (loss nu)",
        ),
        spec(
            "delta",
            Allowed::Above(0.0),
            "1",
            "size of an error from which the cost grows linearly (loss huber)",
        ),
        spec("tol", Allowed::Above(0.0), "0.001", "optimality violation left"),
        spec("max_iter", Allowed::WholeOrNone(1), "none", "most solver steps"),
        spec("shrinking", Allowed::Flag, "true", "leave out rows that cannot move"),
        spec(
            "virtual_vectors",
            Allowed::Transformations,
            "none",
            "train again on support vectors moved by these transformations",
        ),
        spec("virtual_rounds", Allowed::Whole(1), "1", "further runs on moved support vectors"),
    ];

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        let numbers = [
            ("c", self.c),
            ("epsilon", self.epsilon),
            ("nu", self.nu),
            ("delta", self.delta),
            ("tol", self.tol),
        ];
        param::check(Self::TABLE, &numbers)?;
        param::check(
            Self::TABLE,
            &[
                ("max_iter", self.max_iter.unwrap_or(1) as f64),
                ("virtual_rounds", f64::from(self.virtual_rounds)),
            ],
        )?;
        self.kernel.as_ref().map_or(Ok(()), |kernel| kernel.check(None))
    }

    pub(super) fn solver(&self, exec: Exec) -> solve::Params {
        solve::Params {
            tol: self.tol,
            max_iter: self.max_iter,
            shrinking: self.shrinking,
            exec,
            ..solve::Params::default()
        }
    }
}
