//! The parameters of a regression.

use super::Loss;
use crate::data::Transformations;
use crate::kernel::Kernel;
use crate::model::param::params;

params! {
    /// Parameters of a regression. See [`SvrParams::TABLE`] for ranges.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let (points, targets) = mercer::data::toy::sinc(80, 1);
    /// let params = SvrParams { epsilon: 0.1, c: 10.0, kernel: Some(Kernel::Rbf { gamma: 0.2 }), ..SvrParams::default() };
    /// let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// assert!(machine.support.len() < 80, "rows inside the tube are no support vectors");
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub struct SvrParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        loss: Loss = Loss::Epsilon, OneOf(Loss::NAMES), "epsilon" => "loss";
        c: f64 = 1.0, Above(0.0) => "cost of errors";
        epsilon: f64 = 0.1, AtLeast(0.0) => "half-width of the epsilon-insensitive tube (loss epsilon)";
        nu: f64 = 0.5, UpTo(0.0, 1.0) => "upper bound on the fraction of rows outside the tube, lower bound on that of support vectors (loss nu)";
        delta: f64 = 1.0, Above(0.0) => "residual beyond which the loss is linear (loss huber)";
        /// Stopping tolerance: maximum KKT violation.
        tol: f64 = 1e-3, Above(0.0), "0.001" => "stopping tolerance (maximum KKT violation)";
        max_iter: Option<u64> = None, WholeOrNone(1), "none" => "maximum iterations";
        /// Whether variables that are unlikely to change are removed for a while (shrinking).
        shrinking: bool = true, Flag => "use shrinking";
        /// Label-preserving transformations that are applied to the support vectors before retraining, with the same
        /// targets; empty: one run.
        virtual_vectors: Transformations = Transformations::default(), Transformations, "none" => "retrain on virtual support vectors made by these label-preserving transformations";
        /// Number of further runs, each on the support vectors of the previous one.
        virtual_rounds: u32 = 1, Whole(1) => "rounds of retraining on virtual support vectors";
    }
}
