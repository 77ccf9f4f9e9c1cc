//! What the experiments on digits have in common.

use mercer::data::{Dataset, Labels, Targets, split};
use mercer::model::svc::{Machine, SvcModel};
use mercer::{Par, Result};

use crate::data::{self, Split, Usps};
use crate::kernels::sigmoid;
use crate::lab::Lab;

/// The papers' regularisation constant, wherever they do not say otherwise (Schoelkopf 1997, section 2.3).
pub(crate) const C: f64 = 10.0;

/// The thresholds of the sigmoid kernel that are tried: the paper's .8 to 1.4, and on to 2.4, since on this copy of the
/// digits the good ones are larger.
pub(crate) fn thresholds() -> impl ExactSizeIterator<Item = f64> {
    (8..25).map(|tenths| f64::from(tenths) / 10.0)
}

impl Lab<'_> {
    /// The USPS digits.
    pub(crate) fn usps(&self, copy: Usps) -> Result<Split> {
        data::usps(&self.settings.folder, copy, self.settings.rows, self.par())
    }

    /// The MNIST digits.
    pub(crate) fn mnist(&self) -> Result<Split> {
        data::mnist(&self.settings.folder, self.settings.rows, self.par())
    }

    /// The threshold of the sigmoid kernel with the fewest errors in a five-fold cross-validation on the training rows.
    /// Every second threshold is tried.
    pub(crate) fn validated_threshold(&mut self, train: &Dataset) -> Result<f64> {
        let folds = split::stratified_kfold(train.targets.classes()?, 5, 1)?;
        let tried: Vec<f64> = thresholds().step_by(2).collect();
        let mut wrong = vec![0; tried.len()];
        for (i, fold) in folds.iter().enumerate() {
            let (fit, held) = (train.gather(&fold.train), train.gather(&fold.test));
            for (j, &threshold) in tried.iter().enumerate() {
                let done = i * tried.len() + j;
                self.step(format!("validating sigmoid T={threshold}"), done, folds.len() * tried.len())?;
                let model = self.classifier(sigmoid(threshold, train.dim()), C, &fit)?;
                wrong[j] += errors(&model, &held, self.par())?;
            }
        }
        // Of equals the first.
        let best = (0..tried.len()).min_by_key(|&j| wrong[j]).expect("thresholds are tried");
        Ok(tried[best])
    }
}

/// The same points, told apart by whether they are a digit.
pub(crate) fn digit_or_rest(data: &Dataset, digit: &str) -> Result<Dataset> {
    let labels = data.targets.classes()?;
    let names = (0..data.len()).map(|i| if labels.name_of(i) == digit { digit } else { "rest" });
    Dataset::new(data.points.clone(), Targets::Classes(Labels::new(names)))
}

/// The number of rows told wrong.
pub(crate) fn errors(model: &SvcModel, data: &Dataset, par: Par) -> Result<usize> {
    let (told, labels) = (model.predict(data.points.view(), par)?, data.targets.classes()?);
    Ok((0..told.len()).filter(|&i| model.classes[told[i] as usize] != labels.name_of(i)).count())
}

/// The share of rows told wrong, in hundredths.
pub(crate) fn error_percent(model: &SvcModel, data: &Dataset, par: Par) -> Result<f64> {
    Ok(100.0 * errors(model, data, par)? as f64 / data.len() as f64)
}

/// The training rows with a coefficient in a machine, rising.
pub(crate) fn support(machine: &Machine) -> Vec<u32> {
    let mut rows = [machine.free.as_slice(), &machine.bounded].concat();
    rows.sort_unstable();
    rows
}

/// Support vectors a machine, on average.
pub(crate) fn mean_support(model: &SvcModel) -> f64 {
    let all: usize = model.machines.iter().map(|m| m.free.len() + m.bounded.len()).sum();
    all as f64 / model.machines.len() as f64
}
