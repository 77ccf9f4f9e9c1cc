//! Methods without training: Parzen windows and nearest neighbours in feature space.
//!
//! ```text
//! Parzen   f_c(x) = share_c mean_{i in c} k(x_i, x): the class of the largest; for two classes the difference
//! density  f(x) = mean_i k(x_i, x) - threshold: a share nu of the rows themselves is below it
//! k-NN     the classes of the k rows with the smallest k(x, x) - 2 k(x, x_i) + k(x_i, x_i); numbers: their mean
//! ```
//!
//! (Parzen 1962; Schoelkopf and Smola 2002, section 1.2; Yu, Ji and Zhang 2002.) Parzen's classifier is the kernel
//! mean of each class; with a Gaussian that integrates to one it is Bayes' rule on estimated densities. Cost: n^2
//! kernel values for a density's threshold, otherwise no fit; n per prediction.

use crate::data::Targets;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::classified::weighted_reals;
use crate::model::classified::{Classified, weighted_rows};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Learner, Sample};
use crate::model::{Machine, Nearest, Readout, Role};
use crate::watch::{Info, Watch};

params! {
    /// Parameters of Parzen windows. See [`ParzenParams::TABLE`] for ranges.
    pub struct ParzenParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        /// For a density: the share of the rows below its threshold.
        nu: f64 = 0.05, UpTo(0.0, 1.0) => "upper bound on the fraction of outliers";
    }
}

params! {
    /// Parameters of nearest neighbours. See [`KnnParams::TABLE`] for ranges.
    pub struct KnnParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        neighbours: u64 = 5, Whole(1) => "number of neighbours";
    }
}

impl ParzenParams {
    /// Fits on the sample's points and weights: a classifier if there are classes, else a density.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, _watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        match sample.targets {
            Targets::Classes(_) => self.classifier(&given),
            _ => self.density(&given),
        }
    }

    fn classifier(&self, given: &Given<'_>) -> Result<Machine> {
        let classes = Classified::of(&given.sample)?;
        let total: f64 = classes.weight.iter().sum();
        // share_c times the mean over c equals the sum over c divided by the number of all rows.
        let k = if classes.names.len() == 2 { 1 } else { classes.names.len() };
        let mut coef = vec![0.0; classes.rows.len() * k];
        for (i, (&c, w)) in classes.class.iter().zip(&classes.weight).enumerate() {
            match k {
                1 => coef[i] = if c == 1 { w / total } else { -w / total },
                _ => coef[i * k + c as usize] = w / total,
            }
        }
        let (role, learner) = (classes.role(), Learner::Parzen(self.clone()));
        given.machine(&classes.rows, coef, vec![0.0; k], role, learner, Info::default())
    }

    fn density(&self, given: &Given<'_>) -> Result<Machine> {
        let (rows, weight) = weighted_rows(&given.sample)?;
        let total: f64 = weight.iter().sum();
        let coef: Vec<f64> = weight.iter().map(|w| w / total).collect();
        let mut f = vec![0.0; given.sample.points.len()];
        given.on_rows(|all| {
            all.apply(&rows, &coef, &mut f, given.exec);
            Ok(())
        })?;
        let mut own: Vec<(f64, f64)> = rows.iter().zip(&weight).map(|(&i, &w)| (f[i as usize], w)).collect();
        own.sort_by(|a, b| a.0.total_cmp(&b.0));
        // As many rows as nu allows are below the threshold.
        let mut below = 0.0;
        let first = own.iter().find(|(_, w)| {
            below += w;
            below > self.nu * total
        });
        let threshold = first.map_or(0.0, |(f, _)| f - 1e-12 * f.abs());
        let learner = Learner::Parzen(self.clone());
        let mut model =
            given.machine(&rows, coef, vec![-threshold], Role::Novelty, learner, Info::default())?;
        model.tell("threshold", threshold);
        Ok(model)
    }
}

impl KnnParams {
    /// Fits on the sample's points, targets (classes or numbers) and weights, which weight the votes.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, _watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        let (rows, says, values, role) = if let Targets::Reals(y) = sample.targets {
            let (rows, _, says) = weighted_reals(&sample, y)?;
            (rows, says, 1, Role::Numbers)
        } else {
            let classes = Classified::of(&sample)?;
            let k = classes.names.len();
            let mut says = vec![0.0; classes.rows.len() * k];
            for (i, (&c, w)) in classes.class.iter().zip(&classes.weight).enumerate() {
                says[i * k + c as usize] = *w;
            }
            let role = classes.role();
            (classes.rows, says, k, role)
        };
        let n = rows.len();
        if self.neighbours as usize > n {
            return Err(Error::param(
                "neighbours",
                self.neighbours,
                format!("at most the number of rows, {n}"),
            ));
        }
        let diag = given.on_rows(|all| Ok(all.diag()))?;
        let own = rows.iter().map(|&i| diag[i as usize]).collect();
        // The mean of all images, as if all rows were neighbours.
        let centres = given.points(&rows);
        let expansion = Expansion::new(given.kernel.clone(), centres, vec![1.0 / n as f64; n], vec![0.0])?;
        let mut model = Machine::new(expansion, role, Learner::Knn(self.clone()), Info::default());
        model.readout = Readout::Nearest(Nearest { neighbours: self.neighbours as usize, says, values, own });
        model.support = rows;
        Ok(given.timed(model))
    }
}
