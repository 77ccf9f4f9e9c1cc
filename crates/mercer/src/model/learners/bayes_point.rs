//! Bayes point machines: the centre of mass of version space.
//!
//! Among all w that separate the rows, the support vector machine is the centre of the largest inscribed ball. The
//! Bayes point is the centre of mass, which approximates the majority vote of all consistent classifiers (Herbrich,
//! Graepel and Campbell 2001). It is found by a billiard in version space. For overlapping classes `shift` is added
//! to the kernel's diagonal; this makes every training set separable, and larger values allow more errors. Several
//! classes: one-vs-rest. Cost: n^2 for the matrix, n per bounce.

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::classified::Classified;
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Learner, Sample};
use crate::solve::billiard::billiard;
use crate::solve::perceptron::adatron;
use crate::watch::{Info, Stop, Watch};

params! {
    /// Parameters of a Bayes point machine. See [`BayesPointParams::TABLE`] for ranges.
    pub struct BayesPointParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        shift: f64 = 0.1, AtLeast(0.0) => "added to the diagonal of the kernel matrix: errors are allowed";
        bounces: u64 = 5000, Whole(1) => "number of billiard bounces";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

impl BayesPointParams {
    /// Fits on the sample's points and classes; rows of weight 0 are ignored, other weights have no effect. Fails
    /// without a shift if the rows are not separable.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        let classes = Classified::of(&sample)?;
        let (codes, n) = (classes.codes(), classes.rows.len());
        let k = codes.len();
        let mut gram = given.matrix(&classes.rows, 2)?;
        let scale = (0..n).map(|i| gram[i * n + i]).sum::<f64>() / n as f64;
        // The offset is a constant added to the kernel: version space then covers w and b together.
        gram.iter_mut().for_each(|v| *v += scale);
        (0..n).for_each(|i| gram[i * n + i] += self.shift * scale);
        let (mut coef, mut offset) = (vec![0.0; n * k], vec![0.0; k]);
        let mut info = Info { kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
        let mut bounces = 0;
        for (o, y) in codes.iter().enumerate() {
            let start = adatron(
                &gram,
                y,
                &vec![f64::MAX; n],
                false,
                1e-3 / scale.max(f64::MIN_POSITIVE),
                2000,
                watch,
            );
            if start.stop == Stop::Cancelled {
                return Err(Error::Cancelled);
            }
            let own = billiard(&gram, y, &start.coef, self.bounces, self.seed, exec, watch);
            let found = own.map_err(|e| match e {
                Error::Unsupported(_) => {
                    let allowed = "larger: the rows are not separable with this one";
                    Error::param("shift", self.shift, allowed)
                }
                other => other,
            })?;
            found.coef.iter().enumerate().for_each(|(i, a)| coef[i * k + o] = *a);
            offset[o] = scale * found.coef.iter().sum::<f64>();
            bounces += found.bounces;
            if found.stop == Stop::Cancelled {
                info.stop = Stop::Cancelled;
                break;
            }
        }
        info.iterations = bounces;
        let learner = Learner::BayesPoint(self.clone());
        let mut model = given.machine(&classes.rows, coef, offset, classes.role(), learner, info)?;
        model.tell("bounces", bounces as f64);
        Ok(model)
    }
}
