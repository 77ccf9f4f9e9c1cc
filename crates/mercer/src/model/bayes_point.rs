//! Bayes point machines: the centre of all machines that make no error on the training rows.
//!
//! Of the w that separate the rows, the support vector machine takes the centre of the largest ball; the Bayes point is the
//! centre of mass, the one machine that agrees best with a vote of them all (Herbrich, Graepel and Campbell 2001). It is found
//! by a billiard in version space. Where classes overlap, `shift` is added to the kernel's diagonal: each row gets an image of
//! its own as well, so that every training set is separable, and errors are allowed the more the larger it is. Several classes:
//! each against the rest. Cost: n^2 for the matrix, n a bounce.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::classified::{self, Classified, matrix};
use crate::model::common::kernel_or_default;
use crate::model::param::{self, Allowed, ParamSpec, spec};
use crate::model::{Learner, Sample};
use crate::solve::billiard::billiard;
use crate::solve::perceptron::adatron;
use crate::watch::{Info, Stop, Watch};

/// Parameters of a Bayes point machine. See [`BayesPointParams::TABLE`] for ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BayesPointParams {
    /// The kernel; none: a Gaussian whose width follows from the data's spread.
    pub kernel: Option<Kernel>,
    /// Added to the diagonal, as a share of its mean: errors are allowed.
    pub shift: f64,
    /// Bounces of the billiard.
    pub bounces: u64,
    /// Seed of the first direction.
    pub seed: u64,
}

impl Default for BayesPointParams {
    fn default() -> Self {
        BayesPointParams { kernel: None, shift: 0.1, bounces: 5000, seed: 0 }
    }
}

impl BayesPointParams {
    /// Names, ranges, defaults.
    pub const TABLE: &'static [ParamSpec] = &[
        spec("kernel", Allowed::Kernel, "rbf, width by the data", "the kernel"),
        spec(
            "shift",
            Allowed::AtLeast(0.0),
            "0.1",
            "added to the diagonal of the kernel matrix: errors are allowed",
        ),
        spec("bounces", Allowed::Whole(1), "5000", "bounces of the billiard"),
        spec("seed", Allowed::Whole(0), "0", "seed of what is drawn"),
    ];

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        param::check(Self::TABLE, &[("shift", self.shift), ("bounces", self.bounces as f64)])?;
        self.kernel.as_ref().map_or(Ok(()), |kernel| kernel.check(None))
    }

    /// Fits on the sample's points and classes; a row counts or, with weight 0, does not. Fails without a shift where the rows
    /// are not separable.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        sample.check()?;
        let classes = Classified::of(&sample)?;
        let kernel = kernel_or_default(self.kernel.as_ref(), &sample)?;
        let (codes, n) = (classes.codes(), classes.rows.len());
        let k = codes.len();
        let mut gram = matrix(&kernel, &sample, &classes.rows, exec)?;
        let scale = (0..n).map(|i| gram[i * n + i]).sum::<f64>() / n as f64;
        // The offset is a constant in the kernel: version space is that of w and b together.
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
        let (expansion, support) = classified::expansion(kernel, &sample, &classes.rows, coef, offset, exec)?;
        let mut model = Machine::new(expansion, classes.role(), Learner::BayesPoint(self.clone()), info);
        model.support = support;
        model.tell("bounces", bounces as f64);
        model.info.seconds = clock.elapsed().as_secs_f64();
        Ok(model)
    }
}
