//! Fisher discriminants with few centres beside the one with all of them (Mika, Raetsch and Mueller 2001; Mika, Smola and
//! Schoelkopf 2001; Mueller et al. 2001, Sec. IV-C).
//!
//! On benchmark sets: the closed form, the sparse one (a quadratic program), the linear sparse one (a linear program) and the
//! greedy one, each with settings by five-fold validation on training rows; test errors and the share of rows that are
//! centres. On the USPS digits: the greedy form with 500 centres for all ten classes together.

use std::time::Instant;

use mercer::Result;
use mercer::kernel::Kernel;
use mercer::model::{Body, KfdForm, KfdParams, Learner, Model, Sample};

use crate::Experiment;
use crate::data::{USPS, Usps};
use crate::ida::{self, Grid, IDA};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "fisher",
    shows: "a Fisher discriminant with a tenth of the centres is as good as one with all of them",
    paper: "Mika, Raetsch and Mueller 2001; Mika, Smola and Schoelkopf 2001",
    notes: &[
        "Means over five splits; centres: share of the training rows. Settings by five-fold validation on training rows, the \
         median of five. The sparse forms take the width of the closed one and, of their own grids, the fewest centres whose \
         validation error is within a standard error of the best.",
        "USPS: all ten classes on one set of 500 centres, exp(-|x - y|^2 / (0.3 * 256)), lambda = 1e-3, 2000 candidates; seconds of the fit.",
    ],
    needs: &[IDA, USPS],
    needs_full: &[IDA, USPS],
    seconds: 90,
    full: None,
    run,
};

fn closed(gamma: f64, lambda: f64) -> Learner {
    Learner::Kfd(kfd(KfdForm::Closed, gamma, lambda))
}

fn kfd(form: KfdForm, gamma: f64, lambda: f64) -> KfdParams {
    KfdParams { kernel: Some(Kernel::Rbf { gamma }), form, lambda, ..KfdParams::default() }
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let small = lab.settings.rows.is_some();
    let sets: &[usize] = if small { &[2] } else { &[0, 2, 4] };
    let mut rows = Vec::new();
    for (s, &set) in sets.iter().enumerate() {
        let (name, data, folds) = ida::set(lab, set)?;
        let folds = &folds[..if small { 2 } else { 5 }];
        lab.step(format!("{name}, closed form"), 4 * s, 4 * sets.len() + 1)?;
        let widths = vec![0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
        let grid = Grid { first: widths, second: vec![1e-3, 1e-2, 1e-1, 1.0], learner: closed };
        let whole = ida::choose(&grid, &data, folds, lab.par())?;
        let Learner::Kfd(KfdParams { kernel: Some(kernel), .. }) = &whole else { continue };
        report(lab, &mut rows, name, "closed", &whole, &data, folds)?;
        for (f, (form, label)) in
            [(KfdForm::Sparse, "sparse"), (KfdForm::Linear, "linear sparse"), (KfdForm::Greedy, "greedy")]
                .iter()
                .enumerate()
        {
            lab.step(format!("{name}, {label}"), 4 * s + 1 + f, 4 * sets.len() + 1)?;
            let settings: Vec<Learner> = match form {
                KfdForm::Greedy => [64, 32, 16, 8].map(|m| with(kernel, *form, 0.01, m)).to_vec(),
                KfdForm::Sparse => [0.3, 1.0, 3.0, 10.0].map(|l| with(kernel, *form, l, 0)).to_vec(),
                _ => [0.1, 0.3, 1.0, 3.0].map(|l| with(kernel, *form, l, 0)).to_vec(),
            };
            let few = ida::thriftiest(&settings, &data, folds, lab.par())?;
            report(lab, &mut rows, name, label, &few, &data, folds)?;
        }
    }
    lab.step("digits", 4 * sets.len(), 4 * sets.len() + 1)?;
    digits(lab, &mut rows)?;
    Ok(rows)
}

fn with(kernel: &Kernel, form: KfdForm, lambda: f64, centres: u64) -> Learner {
    let params = KfdParams { kernel: Some(kernel.clone()), form, lambda, ..KfdParams::default() };
    Learner::Kfd(KfdParams { centres: centres.max(1), ..params })
}

fn report(
    lab: &Lab<'_>,
    rows: &mut Vec<Row>,
    set: &str,
    form: &str,
    learner: &Learner,
    data: &mercer::data::Dataset,
    folds: &[mercer::data::split::Fold],
) -> Result<()> {
    let measured = ida::spread_pairs(folds.len(), lab.par(), |f| {
        let (train, test) = (data.gather(&folds[f].train), data.gather(&folds[f].test));
        let (error, centres) = ida::error_and_centres(learner, &train, &test)?;
        Ok((100.0 * error, 100.0 * centres as f64 / train.len() as f64))
    })?;
    let mean = |of: fn(&(f64, f64)) -> f64| measured.iter().map(of).sum::<f64>() / measured.len() as f64;
    rows.push(row(set, form, "test error", mean(|m| m.0), Better::Lower, Unit::Percent));
    rows.push(row(set, form, "centres", mean(|m| m.1), Better::Lower, Unit::Percent));
    Ok(())
}

fn digits(lab: &mut Lab<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let split = lab.usps(Usps::Smoothed)?;
    let params = KfdParams { centres: 500, ..kfd(KfdForm::Greedy, 1.0 / (0.3 * 256.0), 1e-3) };
    let par = lab.par();
    let clock = Instant::now();
    let fitted =
        lab.watched(|watch| params.fit(Sample::new(&split.train.points, &split.train.targets), par, watch))?;
    let seconds = clock.elapsed().as_secs_f64();
    let centres = fitted.expansion.len();
    let got = Model::from(Body::Function(fitted)).predict(split.test.points.view(), par)?;
    let (got, want) = (got.classes()?, split.test.targets.classes()?);
    let wrong = (0..want.len()).filter(|&i| got.name_of(i) != want.name_of(i)).count();
    let error = 100.0 * wrong as f64 / want.len() as f64;
    rows.push(row("USPS", "greedy", "test error", error, Better::Lower, Unit::Percent));
    rows.push(row("USPS", "greedy", "centres", centres as f64, Better::Lower, Unit::Count));
    rows.push(row("USPS", "greedy", "seconds", seconds, Better::Lower, Unit::One));
    Ok(())
}

fn row(group: &str, setting: &str, quantity: &'static str, mercer: f64, better: Better, unit: Unit) -> Row {
    Row {
        group: group.into(),
        setting: setting.into(),
        quantity,
        paper: None,
        mercer,
        unit,
        better,
        chosen: Chosen::Validation,
    }
}
