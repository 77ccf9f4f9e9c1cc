//! Invariant hyperplanes (Schoelkopf 1997, Tables 4.6 to 4.8): the first 5000 MNIST digits, one against the rest, C = 10,
//! degree 4. Pixels are mapped to [0, 1], multiplied by B and mapped back; where directions are dropped they stay as
//! they come from B, and products are divided by the mean squared length of what is left.
//!
//! Beside the errors: how much outputs change when test digits are shifted by a pixel, over how much they vary. And what
//! the paper left open: the same in feature space, by kernel PCA of tangents, for machines and for kernel components.

use mercer::Result;
use mercer::data::{Dataset, ImageShape, Points, Stages, Transformations};
use mercer::kernel::Kernel;
use mercer::model::Machine;
use mercer::model::svc::{Multi, SvcParams};
use mercer::model::{Invariance, InvarianceParams, KpcaParams, Sample};

use crate::Experiment;
use crate::data::{MNIST, Split, head};
use crate::digits::{C, COSTS, error_percent};
use crate::kernels::{poly, rbf};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "invariant-hyperplane",
    shows: "Machines with a metric of tangents to shifts have a lower error and change less under shifts",
    paper: "Schoelkopf 1997, Tables 4.6, 4.7 and 4.8",
    notes: &[
        "The paper's small set is not available: here the first 5000 training digits of MNIST and all 10000 test digits. \
         Compare drops from lambda = 1 rather than errors.",
        "Without --full every second setting of each table is run.",
        "The paper's images have 400 pixels, and so have those here where directions are dropped: the inner 20 x 20. Its kernel \
         (x.y)^4 is not scaled there; ours is, by the mean of x.x, so that C means the same whatever is dropped.",
        "C by validation: the fewest errors of a two-fold cross-validation on the training digits.",
        "In feature space lambda is chosen among .1, .03, .01, .003, .001, .0003, .0001 by the errors on the last 1000 training digits; \
         the cost is lambda C, so that what no shift moves counts as before. Components: 128 of the first 2000 digits.",
    ],
    needs: &[MNIST],
    needs_full: &[MNIST],
    seconds: 80,
    full: Some(160),
    run,
};

const TRAIN: usize = 5000;
/// Sides of MNIST's images and of the paper's, and the pixels of those.
const FRAME: usize = 28;
const SIDE: usize = 20;
const PIXELS: usize = SIDE * SIDE;
const LAMBDA: [f64; 10] = [4.2, 3.8, 3.6, 3.6, 3.7, 3.8, 3.8, 3.9, 3.9, 4.0];
const DROP_POLY: [f64; 8] = [8.7, 5.4, 4.9, 4.4, 4.2, 3.9, 3.7, 3.9];
const DROP_RBF: [f64; 8] = [3.6, 3.6, 3.6, 3.5, 3.5, 3.4, 3.3, 3.6];

/// One machine to train.
struct Setting {
    group: &'static str,
    name: String,
    /// Pixels come in [-1, 1].
    line: String,
    kernel: Kernel,
    paper: f64,
    /// Of the table with all directions: the whole frame, and the change under shifts is measured.
    whole: bool,
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("reading", 0, 1)?;
    let all = lab.mnist()?;
    let full = lab.settings.full;
    let digits = Split { train: head(&all.train, TRAIN), test: all.test };
    let inner = Split { train: inner(&digits.train)?, test: inner(&digits.test)? };
    let settings: Vec<Setting> = settings(digits.train.dim())
        .into_iter()
        .filter(|(i, _)| full || i % 2 == 1)
        .map(|(_, s)| s)
        .collect();
    let mut rows = Vec::new();
    for (i, setting) in settings.iter().enumerate() {
        lab.step(format!("{}, {}", setting.group, setting.name), i, settings.len())?;
        let digits = if setting.whole { &digits } else { &inner };
        let (stages, points) =
            Stages::fit(&Stages::parse(&setting.line)?, digits.train.points.view(), lab.exec())?;
        let train = Dataset::new(points, digits.train.targets.clone())?;
        let seen = |data: &Dataset| -> Result<Dataset> {
            Dataset::new(stages.apply(data.points.view(), lab.exec())?, data.targets.clone())
        };
        let test = seen(&digits.test)?;
        let kernel = match setting.kernel {
            // Dropping directions shortens rows.
            Kernel::Poly { degree, coef0, .. } if !setting.whole => {
                Kernel::Poly { degree, scale: 1.0 / mean_square(&train)?, coef0 }
            }
            ref kernel => kernel.clone(),
        };
        let by_validation = lab.validated_cost(&kernel, &train, &COSTS)?.c;
        for (c, chosen) in [(C, Chosen::Paper), (by_validation, Chosen::Validation)] {
            let model = lab.classifier(kernel.clone(), c, &train)?;
            let row = |quantity, paper, mercer, unit| Row {
                group: match chosen {
                    Chosen::Paper => setting.group.into(),
                    Chosen::Validation => format!("{}, C by validation", setting.group),
                },
                setting: match chosen {
                    Chosen::Paper => setting.name.clone(),
                    Chosen::Validation => format!("{}, C={c}", setting.name),
                },
                quantity,
                paper,
                mercer,
                unit,
                better: Better::Lower,
                chosen,
            };
            let error = error_percent(&model, &test, lab.exec())?;
            rows.push(row("test error", lab.paper(setting.paper), error, Unit::Percent));
            if setting.whole {
                let moved =
                    Transformations::parse("shift=1")?.apply(digits.test.points.view(), lab.exec())?;
                let moved = stages.apply(moved.view(), lab.exec())?;
                let change = change(&model, &test, &moved, lab)?;
                rows.push(row("change under shifts", None, change, Unit::One));
            }
        }
    }
    // A table and then the same with C chosen: the order in which groups first appear.
    let mut groups: Vec<String> = Vec::new();
    for row in &rows {
        if !groups.contains(&row.group) {
            groups.push(row.group.clone());
        }
    }
    rows.sort_by_key(|row| groups.iter().position(|group| *group == row.group));
    rows.extend(in_feature_space(lab, &digits, settings.len())?);
    Ok(rows)
}

/// Lambdas that are tried in feature space.
const LAMBDAS: [f64; 7] = [0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001];
/// Training digits whose tangents are taken, those that lambda is chosen by, and those that components are made from.
const PATTERNS: usize = 500;
const HELD: usize = 1000;
const FROM: usize = 2000;
const COMPONENTS: u64 = 128;

/// The invariance of the feature space itself.
fn in_feature_space(lab: &mut Lab<'_>, digits: &Split, done: usize) -> Result<Vec<Row>> {
    let n = digits.train.len();
    let held = HELD.min(n / 4);
    let (fit, judged) =
        (head(&digits.train, n - held), digits.train.gather(&(n - held..n).collect::<Vec<_>>()));
    let params = InvarianceParams {
        kernel: poly(4, digits.train.dim()),
        transformations: "shift(1,0), shift(0,1)".parse()?,
        rows: Some(PATTERNS.min(n)),
        ..InvarianceParams::default()
    };
    lab.step("tangents in feature space", done, done)?;
    let (exec, train) = (lab.exec(), &digits.train.points);
    let invariance = lab.watched(|watch| params.fit(train, exec, watch))?;
    let mut best = (f64::INFINITY, 1.0);
    for lambda in LAMBDAS {
        lab.step(format!("in feature space, lambda={lambda}"), done, done)?;
        let model = invariant(lab, &invariance, lambda, &fit)?;
        let wrong = error_percent(&model, &judged, lab.exec())?;
        if wrong < best.0 {
            best = (wrong, lambda);
        }
    }
    let (mut rows, mut behind_components) = (Vec::new(), Vec::new());
    for (lambda, chosen) in [(1.0, Chosen::Paper), (best.1, Chosen::Validation)] {
        lab.step(format!("in feature space, lambda={lambda}, all digits"), done, done)?;
        let row = |group: &str, quantity, mercer, unit| Row {
            group: group.to_owned(),
            setting: format!("lambda={lambda}"),
            quantity,
            paper: None,
            mercer,
            unit,
            better: Better::Lower,
            chosen,
        };
        let model = invariant(lab, &invariance, lambda, &digits.train)?;
        let moved = Transformations::parse("shift=1")?.apply(digits.test.points.view(), lab.exec())?;
        let group = "poly d=4, in feature space";
        rows.push(row(group, "test error", error_percent(&model, &digits.test, lab.exec())?, Unit::Percent));
        rows.push(row(group, "change under shifts", change(&model, &digits.test, &moved, lab)?, Unit::One));

        let from = head(&digits.train, FROM);
        let kpca =
            KpcaParams { components: Some(COMPONENTS.min(from.len() as u64 / 2)), ..KpcaParams::default() };
        let metric = invariance.with_lambda(lambda)?;
        let sample = Sample::new(&from.points, &from.targets);
        let features = lab.watched(|watch| metric.components(&kpca, sample, exec, watch))?;
        let seen = |data: &Dataset| -> Result<Dataset> {
            let values = features.evaluate(data.points.view(), exec)?;
            // The factor 1 / lambda is taken out, as it is from the cost of the machines above.
            let values = values.iter().map(|v| v * lambda.sqrt()).collect();
            Dataset::new(Points::dense(values, features.outputs())?, data.targets.clone())
        };
        let behind = lab.classifier(Kernel::Linear, COMPONENTS_C, &seen(&digits.train)?)?;
        let error = error_percent(&behind, &seen(&digits.test)?, lab.exec())?;
        behind_components.push(row(
            "components of degree 4, linear machine",
            "test error",
            error,
            Unit::Percent,
        ));
    }
    rows.extend(behind_components);
    Ok(rows)
}

/// The cost of machines behind components.
const COMPONENTS_C: f64 = 1000.0;

/// Ten machines under the metric of tangents.
fn invariant(lab: &mut Lab<'_>, invariance: &Invariance, lambda: f64, data: &Dataset) -> Result<Machine> {
    let exec = lab.exec();
    let params = SvcParams { c: lambda * C, multi: Multi::OneVsRest, ..SvcParams::default() };
    let metric = invariance.with_lambda(lambda)?;
    let sample = Sample::new(&data.points, &data.targets);
    lab.watched(|watch| metric.classifier(&params, sample, exec, watch))
}

/// Settings with their places in their tables.
fn settings(d: usize) -> Vec<(usize, Setting)> {
    let mut all = Vec::new();
    for (i, paper) in LAMBDA.into_iter().enumerate() {
        let lambda = (i + 1) as f64 / 10.0;
        let line = format!("scale(by=0.5, add=0.5) | invariant(lambda={lambda}) | scale(by=2, add=-1)");
        let (name, kernel) = (format!("lambda={lambda}"), poly(4, d));
        let group = "poly d=4, by lambda";
        all.push((i, Setting { group, name, line, kernel, paper, whole: true }));
    }
    // The width of [-1, 1] in the scale of [0, 1].
    let tables = [
        ("poly d=4 on [0, 1], by directions dropped", poly(4, PIXELS), DROP_POLY),
        ("rbf c=0.5, by directions dropped", rbf(0.125, PIXELS), DROP_RBF),
    ];
    for (group, kernel, papers) in tables {
        for (i, paper) in papers.into_iter().enumerate() {
            let drop = 50 * i;
            let line = format!("scale(by=0.5, add=0.5) | invariant(lambda=0.4, drop={drop})");
            let (name, kernel) = (format!("{drop} dropped"), kernel.clone());
            all.push((i + 1, Setting { group, name, line, kernel, paper, whole: false }));
        }
    }
    all
}

/// The inner pixels of MNIST digits, whose frames are empty.
fn inner(digits: &Dataset) -> Result<Dataset> {
    let (side, from) = (SIDE, (FRAME - SIDE) / 2);
    let all = digits.points.view().to_f64()?;
    let row = |image: &[f64], y: usize| image[(from + y) * FRAME + from..][..side].to_vec();
    let pixels =
        all.chunks(FRAME * FRAME).flat_map(|image| (0..side).flat_map(move |y| row(image, y))).collect();
    let points = Points::dense(pixels, PIXELS)?.with_image(ImageShape::grey(side, side))?;
    Dataset::new(points, digits.targets.clone())
}

/// The mean of `x.x`.
fn mean_square(data: &Dataset) -> Result<f64> {
    let all = data.points.view().to_f64()?;
    Ok(all.iter().map(|v| v * v).sum::<f64>() / data.len() as f64)
}

/// Root mean square of what shifts change in the outputs, over the outputs' standard deviation.
fn change(model: &Machine, test: &Dataset, moved: &Points, lab: &Lab<'_>) -> Result<f64> {
    let here = model.decision(test.points.view(), lab.exec())?;
    let there = model.decision(moved.view(), lab.exec())?;
    let n = here.len() as f64;
    let mean = here.iter().sum::<f64>() / n;
    let spread = here.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let off =
        there.iter().zip(here.iter().cycle()).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / there.len() as f64;
    Ok((off / spread).sqrt())
}
