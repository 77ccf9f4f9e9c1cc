//! Reduced sets beyond the papers' ten machines: regression, one-class machines, kernel principal components, and the MNIST
//! digits with one set for ten machines. Schoelkopf et al. (1998, section 7) leave simultaneous approximations open.

use mercer::data::{Dataset, Labels};
use mercer::kernel::Kernel;
use mercer::model::{CompressParams, Compressed, Goal, Model, Sample, SvrParams};
use mercer::reduce::reduced_set::{ReducedSetParams, Size};
use mercer::{Exec, Result};

use crate::Experiment;
use crate::data::{ABALONE, MNIST, USPS, Usps, head};
use crate::digits::error_percent;
use crate::kernels::rbf;
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "rs-beyond",
    shows: "Regression, novelty detection, kernel principal components and ten machines at once can be compressed, too",
    paper: "Schoelkopf et al. 1998, sections 5 and 7, left open there",
    notes: &[
        "Settings are fixed beforehand and the same before and after; no paper has these numbers.",
        "The default takes the first 10000 MNIST digits, --full all 60000. Centres are those of all ten machines together: \
         what a test point costs in kernel values.",
        "Retrained: by squared hinge losses on the training digits; coefficients on the same centres, or both in turns.",
    ],
    needs: &[USPS, ABALONE, MNIST],
    needs_full: &[USPS, ABALONE, MNIST],
    seconds: 30,
    full: Some(400),
    run,
};

/// The first so many abalones are learned from, as is usual.
const ABALONES: usize = 3133;
const COMPONENTS: usize = 64;
const DIGITS: usize = 3000;
const MNIST_ROWS: usize = 10_000;
/// Rounds of training centres and coefficients anew.
const ROUNDS: usize = 10;
/// The Gaussian of width 50 on pixels from 0 to 1, here on pixels from -1 to 1.
const MNIST_KERNEL: Kernel = Kernel::Rbf { gamma: 0.005 };
const MNIST_C: f64 = 10.0;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = regression(lab)?;
    rows.extend(novelty(lab)?);
    rows.extend(components(lab)?);
    rows.extend(ten_machines(lab)?);
    Ok(rows)
}

fn row(group: &str, setting: &str, quantity: &'static str, mercer: f64, unit: Unit, better: Better) -> Row {
    Row {
        group: group.into(),
        setting: setting.into(),
        quantity,
        paper: None,
        mercer,
        unit,
        better,
        chosen: Chosen::Paper,
    }
}

fn centres(group: &str, setting: &str, model: &Model) -> Row {
    let count = model.machine.expansion.len() as f64;
    row(group, setting, "centres", count, Unit::Count, Better::Lower)
}

const WHOLE: &str = "whole";
const TENTH: &str = "a tenth of the centres";

impl Lab<'_> {
    fn smaller(
        &mut self,
        model: &Model,
        ratio: f64,
        set: ReducedSetParams,
        data: &Dataset,
    ) -> Result<Compressed> {
        let goal = Goal::Size(Size::Ratio(ratio));
        let params = CompressParams { goal, set, ..CompressParams::default() };
        let exec = self.exec();
        self.watched(|watch| model.compress(&params, Some(data), exec, watch))
    }
}

fn regression(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("abalones", 0, 4)?;
    let all = crate::data::abalone(&lab.settings.folder, lab.settings.rows, lab.exec())?;
    let cut = ABALONES.min(3 * all.len() / 4);
    let (train, test) = (head(&all, cut), all.gather(&(cut..all.len()).collect::<Vec<_>>()));
    let params = SvrParams { c: 10.0, epsilon: 1.0, ..SvrParams::default() };
    let exec = lab.exec();
    let sample = Sample::new(&train.points, &train.targets);
    let whole = Model::from(lab.watched(|watch| params.fit(sample, exec, watch))?);
    let small = lab.smaller(&whole, 10.0, ReducedSetParams::default(), &train)?;
    let anew = small.model.retrained(&train, 0, exec)?;
    let group = "regression, abalone";
    let mut rows = Vec::new();
    for (setting, model) in
        [(WHOLE, &whole), (TENTH, &small.model), ("a tenth, coefficients retrained", &anew)]
    {
        rows.push(centres(group, setting, model));
        let error = rms(model, &test, exec)?;
        rows.push(row(group, setting, "test error, root mean square", error, Unit::One, Better::Lower));
    }
    Ok(rows)
}

fn rms(model: &Model, data: &Dataset, exec: Exec) -> Result<f64> {
    let told = model.predict(data.points.view(), exec)?;
    let pairs = told.reals()?.iter().zip(data.targets.reals()?);
    Ok((pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>() / data.len() as f64).sqrt())
}

fn novelty(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("digit 0", 1, 4)?;
    let digits = lab.usps(Usps::Smoothed)?;
    let part = |data: &Dataset, zero: bool| -> Result<Dataset> {
        let labels = data.targets.classes()?;
        Ok(data.gather(&(0..data.len()).filter(|&i| (labels.name_of(i) == "0") == zero).collect::<Vec<_>>()))
    };
    let (own, same, others) =
        (part(&digits.train, true)?, part(&digits.test, true)?, part(&digits.test, false)?);
    let whole = Model::from(lab.novelty(rbf(0.5, own.dim()), 0.1, &own)?);
    let small = lab.smaller(&whole, 10.0, ReducedSetParams::default(), &own)?;
    let exec = lab.exec();
    let inside = |model: &Model, data: &Dataset| -> Result<f64> {
        let outputs = model.decision(data.points.view(), exec)?;
        Ok(100.0 * outputs.iter().filter(|f| **f > 0.0).count() as f64 / data.len().max(1) as f64)
    };
    let group = "one-class, USPS digit 0";
    let mut rows = Vec::new();
    for (setting, model) in [(WHOLE, &whole), (TENTH, &small.model)] {
        rows.push(centres(group, setting, model));
        let left_out = 100.0 - inside(model, &same)?;
        rows.push(row(group, setting, "test zeros rejected", left_out, Unit::Percent, Better::Near));
        let taken = inside(model, &others)?;
        rows.push(row(group, setting, "others accepted", taken, Unit::Percent, Better::Lower));
    }
    Ok(rows)
}

fn components(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("components of digits", 2, 4)?;
    let digits = lab.usps(Usps::Smoothed)?;
    let from = head(&digits.train, DIGITS);
    let count = COMPONENTS.min(from.len() / 4);
    let whole = Model::from(lab.components(rbf(0.5, from.dim()), &from.points, count, true)?);
    let set = ReducedSetParams { descent: Some(50), starts: 32, ..ReducedSetParams::default() };
    let small = lab.smaller(&whole, 10.0, set, &from)?;
    let exec = lab.exec();
    let group = "64 kernel principal components, USPS";
    let features = |model: &Model, data: &Dataset| -> Result<Dataset> {
        let values = model.decision(data.points.view(), exec)?;
        let d = values.len() / data.len().max(1);
        Dataset::new(mercer::data::Points::dense(values, d)?, data.targets.clone())
    };
    let (before, after) = (features(&whole, &digits.test)?, features(&small.model, &digits.test)?);
    let (a, b) = (before.points.view().to_f64()?, after.points.view().to_f64()?);
    let (off, all): (f64, f64) =
        (a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum(), a.iter().map(|a| a * a).sum());
    // The machine behind the features learned from the whole ones.
    let machine = lab.classifier(Kernel::Linear, 1000.0, &features(&whole, &digits.train)?)?;
    let mut rows = vec![centres(group, WHOLE, &whole), centres(group, TENTH, &small.model)];
    for (setting, data, lost) in [(WHOLE, &before, 0.0), (TENTH, &after, 100.0 * off / all)] {
        let error = error_percent(&machine, data, exec)?;
        rows.push(row(group, setting, "variance of test features lost", lost, Unit::Percent, Better::Lower));
        rows.push(row(
            group,
            setting,
            "test error, linear machine on them",
            error,
            Unit::Percent,
            Better::Lower,
        ));
    }
    Ok(rows)
}

fn ten_machines(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("MNIST, ten machines", 3, 4)?;
    let mut digits = lab.mnist()?;
    let full = lab.settings.full;
    if !full {
        digits.train = head(&digits.train, MNIST_ROWS);
    }
    let group = if full { "MNIST, all 60000" } else { "MNIST, the first 10000" };
    let exec = lab.exec();
    let whole = Model::from(lab.classifier(MNIST_KERNEL, MNIST_C, &digits.train)?);
    let mut rows = vec![centres(group, WHOLE, &whole), wrong(group, WHOLE, &whole, &digits.test, exec)?];
    lab.step("MNIST, one set for all", 3, 4)?;
    let set = ReducedSetParams { starts: 32, ..ReducedSetParams::default() };
    let ratios: &[f64] = &[50.0];
    for &ratio in ratios {
        let small = lab.smaller(&whole, ratio, set.clone(), &digits.train)?;
        lab.step("MNIST, retrained", 3, 4)?;
        let anew = small.model.retrained(&digits.train, 0, exec)?;
        let moved = small.model.retrained(&digits.train, ROUNDS, exec)?;
        let all = [
            (&small.model, "coefficients nearest"),
            (&anew, "coefficients retrained"),
            (&moved, "centres retrained, too"),
        ];
        for (model, how) in all {
            let setting = format!("{ratio} times fewer, {how}");
            rows.push(centres(group, &setting, model));
            rows.push(wrong(group, &setting, model, &digits.test, exec)?);
        }
    }
    Ok(rows)
}

fn wrong(group: &str, setting: &str, model: &Model, test: &Dataset, exec: Exec) -> Result<Row> {
    let told = model.predict(test.points.view(), exec)?;
    let (told, truth): (&Labels, &Labels) = (told.classes()?, test.targets.classes()?);
    let wrong = (0..test.len()).filter(|&i| told.name_of(i) != truth.name_of(i)).count();
    let error = 100.0 * wrong as f64 / test.len().max(1) as f64;
    Ok(row(group, setting, "test error", error, Unit::Percent, Better::Lower))
}
