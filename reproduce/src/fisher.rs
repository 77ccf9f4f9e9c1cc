//! Fisher discriminants with few centres beside the one with all of them (Mika, Raetsch and Mueller 2001; Mika, Smola and
//! Schoelkopf 2001; Mueller et al. 2001, Sec. IV-C).
//!
//! On benchmark sets: the closed form, the sparse one (a quadratic program), the linear sparse one (a linear program) and the
//! greedy one, each with settings by five-fold validation on training rows; test errors and the share of rows that are
//! centres. On the USPS digits: the greedy form with 500 centres for all ten classes together.

use std::time::Instant;

use mercer::Result;
use mercer::assess::{KernelFamily, SearchAxis, Space, by_factors};
use mercer::data::Dataset;
use mercer::data::split::Fold;
use mercer::kernel::Kernel;
use mercer::model::{KfdForm, KfdParams, Learner, Model, Sample};

use crate::Experiment;
use crate::benchmark::{IDA, Method, best_of_few, measured, read_set};
use crate::data::{USPS, Usps};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "fisher",
    shows: "A Fisher discriminant with a tenth of the centres is as good as one with all of them",
    paper: "Mika, Raetsch and Mueller 2001; Mika, Smola and Schoelkopf 2001",
    notes: &[
        "Means over five splits; centres: fraction of the training rows. Settings by five-fold validation on training rows, the \
         median of five. The sparse forms take the width of the closed one and, of those settings on their own grids that leave at \
         most a tenth of the rows as centres, the one with the least validation error. --full: german, of 700 rows, as well, \
         settings by two splits.",
        "USPS: all ten classes on one set of 500 centres, exp(-|x - y|^2 / (0.3 * 256)), lambda = 1e-3, 2000 candidates; seconds of the fit.",
    ],
    needs: &[IDA, USPS],
    needs_full: &[IDA, USPS],
    seconds: 60,
    full: Some(850),
    run,
};

/// Rows that may be centres.
const SHARE: f64 = 0.1;
/// Training rows from which on fewer splits decide.
const LARGE: usize = 500;
/// Splits whose test errors are told.
const SPLITS: usize = 5;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let small = lab.settings.rows.is_some();
    let sets: &[&str] = match (small, lab.settings.full) {
        (true, _) => &["heart"],
        (_, false) => &["banana", "heart", "breast-cancer"],
        (_, true) => &["banana", "heart", "breast-cancer", "german"],
    };
    let steps = 4 * sets.len() + 1;
    let mut rows = Vec::new();
    for (s, name) in sets.iter().enumerate() {
        let (data, folds) = read_set(lab, name, false)?;
        let folds = &folds[..if small { 2 } else { SPLITS }];
        lab.step(format!("{name}, closed form"), 4 * s, steps)?;
        let whole = Method {
            name: "closed",
            base: Learner::Kfd(KfdParams::default()),
            space: Space {
                families: vec![KernelFamily::rbf(&by_factors(1e-3, 10.0, 5))],
                axes: vec![SearchAxis { name: "lambda".into(), values: by_factors(1e-3, 1.0, 4) }],
            },
            stages: 1,
        };
        let whole = whole.chosen(lab, &data, folds)?;
        let Some(kernel) = whole.kernel() else { continue };
        report(lab, &mut rows, name, "closed", &whole, &data, folds)?;
        let forms = [
            (KfdForm::Sparse, "sparse", [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]),
            (KfdForm::Linear, "linear sparse", [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]),
            (KfdForm::Greedy, "greedy", [64.0, 48.0, 32.0, 24.0, 16.0, 12.0, 8.0]),
        ];
        for (f, (form, label, values)) in forms.into_iter().enumerate() {
            lab.step(format!("{name}, {label}"), 4 * s + 1 + f, steps)?;
            let setting = |v: f64| match form {
                KfdForm::Greedy => with(kernel, form, 0.01, v as u64),
                _ => with(kernel, form, v, 1),
            };
            // Programs grow with the cube of the rows: two splits decide where they are large.
            let choosing = if folds[0].train.len() > LARGE { &folds[..folds.len().min(2)] } else { folds };
            let few = best_of_few(&values.map(setting), SHARE, &data, choosing, lab.exec())?;
            report(lab, &mut rows, name, label, &few, &data, folds)?;
        }
    }
    lab.step("digits", steps - 1, steps)?;
    digits(lab, &mut rows)?;
    Ok(rows)
}

fn with(kernel: &Kernel, form: KfdForm, lambda: f64, centres: u64) -> Learner {
    let kernel = Some(kernel.clone());
    Learner::Kfd(KfdParams { kernel, form, lambda, centres, ..KfdParams::default() })
}

fn report(
    lab: &Lab<'_>,
    rows: &mut Vec<Row>,
    set: &str,
    form: &str,
    learner: &Learner,
    data: &Dataset,
    folds: &[Fold],
) -> Result<()> {
    let measured = measured(learner, data, folds, lab.exec())?;
    let mean = |of: fn(&(f64, f64)) -> f64| measured.iter().map(of).sum::<f64>() / measured.len() as f64;
    rows.push(row(set, form, "test error", mean(|m| m.0), Better::Lower, Unit::Percent));
    rows.push(row(set, form, "centres", mean(|m| m.1), Better::Lower, Unit::Percent));
    Ok(())
}

fn digits(lab: &mut Lab<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let split = lab.usps(Usps::Smoothed)?;
    let kernel = Some(Kernel::Rbf { gamma: 1.0 / (0.3 * 256.0) });
    let params =
        KfdParams { kernel, form: KfdForm::Greedy, lambda: 1e-3, centres: 500, ..KfdParams::default() };
    let exec = lab.exec();
    let clock = Instant::now();
    let fitted =
        lab.watched(|watch| params.fit(Sample::new(&split.train.points, &split.train.targets), exec, watch))?;
    let seconds = clock.elapsed().as_secs_f64();
    let centres = fitted.expansion.len();
    let got = Model::from(fitted).predict(split.test.points.view(), exec)?;
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
