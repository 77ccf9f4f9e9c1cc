//! The span estimate beside the true error of leaving one out (Vapnik and Chapelle 2000; Chapelle and Vapnik 2000).
//!
//! Gaussian machines on the heart data (270 rows) and on the first 500 rows of banana, over a grid of widths and C. For each
//! setting the machine is trained once for the span estimate, and once without each support vector for the truth (a row
//! that is no support vector changes nothing when it is left out). Printed: the correlation of the two over the grid, how
//! far they are apart, and what one loses by choosing the setting by the estimate.

use mercer::Result;
use mercer::assess::bounds::{TrainedMachine, span, support_count};
use mercer::data::Dataset;
use mercer::gram::KernelRows;
use mercer::kernel::Kernel;
use mercer::model::Sample;
use mercer::model::svc::SvcParams;
use mercer_report::html::Figure;
use mercer_report::svg::{Axis, Chart, Look, Series};

use crate::Experiment;
use crate::data::{BANANA, HEART, ida};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "span",
    shows: "The leave-one-out error, estimated from a single fit, next to the exact one",
    paper: "Vapnik and Chapelle 2000, on other sets",
    notes: &["Chosen by the span: the true leave-one-out error of the setting with the smallest estimate."],
    needs: &[HEART, BANANA],
    needs_full: &[HEART, BANANA],
    seconds: 60,
    full: None,
    run,
};

/// Rows of banana.
const PART: usize = 500;
/// Values of C.
const COSTS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1000.0];

/// Errors from here on are those of a machine that has learned next to nothing, in hundredths.
const GUESSED: f64 = 30.0;

/// One setting.
struct Tried {
    gamma: f64,
    c: f64,
    /// Errors in hundredths of the rows: by the span, true, and the bound by the number of support vectors.
    span: f64,
    truth: f64,
    support: f64,
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let sets = [(&HEART, 270, [0.001, 0.01, 0.03, 0.1, 0.3]), (&BANANA, PART, [0.1, 0.3, 1.0, 3.0, 10.0])];
    let total = sets.len() * COSTS.len() * 5;
    for (set, part, gammas) in sets {
        let data =
            ida(&lab.settings.folder, set, Some(lab.settings.rows.map_or(part, |n| (n / 4).min(part))))?;
        let mut tried = Vec::new();
        for gamma in gammas {
            for c in COSTS {
                let done = rows.len().min(1) * total / 2 + tried.len();
                lab.step(format!("{}, gamma={gamma}, C={c}", set.name), done, total)?;
                tried.push(setting(lab, &data, gamma, c)?);
            }
        }
        summary(set.name, &tried, &mut rows);
        lab.draw(figure(set.name, &tried));
    }
    Ok(rows)
}

fn setting(lab: &mut Lab<'_>, data: &Dataset, gamma: f64, c: f64) -> Result<Tried> {
    let kernel = Kernel::Rbf { gamma };
    let exec = lab.exec();
    let matrix = KernelRows::new(&kernel, &data.points, exec)?.whole_matrix(exec);
    let sample = Sample::new(&data.points, &data.targets).with_gram(&matrix);
    let params = SvcParams { kernel: Some(kernel.clone()), c, tol: 1e-4, ..SvcParams::default() };
    lab.watched(|watch| {
        let model = params.fit(sample, exec, watch)?;
        let machines = TrainedMachine::all(&model, sample, exec, watch)?;
        let machine = &machines[0];
        let labels = data.targets.classes()?;
        let mut weights = vec![1.0; data.len()];
        let mut errors = 0;
        for p in machine.support() {
            weights[p] = 0.0;
            let without = params.fit(sample.weighted(&weights), exec, watch)?;
            weights[p] = 1.0;
            let told = without.labels(data.points.gather(&[p]).view(), exec)?;
            errors += usize::from(told.name_of(0) != labels.name_of(p));
        }
        let n = data.len() as f64;
        Ok(Tried {
            gamma,
            c,
            span: 100.0 * span(machine, exec)?.rate,
            truth: 100.0 * errors as f64 / n,
            support: 100.0 * support_count(machine).rate,
        })
    })
}

fn summary(name: &str, tried: &[Tried], rows: &mut Vec<Row>) {
    let row = |group: String, setting: String, quantity, mercer, unit, better| Row {
        group,
        setting,
        quantity,
        paper: None,
        mercer,
        unit,
        better,
        chosen: Chosen::Paper,
    };
    for t in tried {
        let setting = format!("gamma={} C={}", t.gamma, t.c);
        for (quantity, value) in
            [("span", t.span), ("true leave-one-out", t.truth), ("support vectors", t.support)]
        {
            let group = format!("{name}, setting by setting");
            rows.push(row(group, setting.clone(), quantity, value, Unit::Percent, Better::Near));
        }
    }
    let pairs: Vec<(f64, f64)> = tried.iter().map(|t| (t.span, t.truth)).collect();
    let bound: Vec<(f64, f64)> = tried.iter().map(|t| (t.support, t.truth)).collect();
    let apart: Vec<f64> = pairs.iter().map(|(a, b)| (a - b).abs()).collect();
    let best = tried.iter().map(|t| t.truth).fold(f64::INFINITY, f64::min);
    let by = |of: fn(&Tried) -> f64| {
        tried.iter().min_by(|a, b| of(a).total_cmp(&of(b))).map_or(f64::NAN, |t| t.truth)
    };
    let group = format!("{name}, all {} settings", tried.len());
    let mut add = |setting: &str, quantity, value, unit, better| {
        rows.push(row(group.clone(), setting.into(), quantity, value, unit, better));
    };
    add("span and truth", "correlation", correlation(&pairs), Unit::One, Better::Higher);
    // Settings that do little more than guess are easy to tell from the others.
    let useful: Vec<(f64, f64)> = pairs.iter().copied().filter(|(_, truth)| *truth < GUESSED).collect();
    add("the same, errors below 30 %", "correlation", correlation(&useful), Unit::One, Better::Higher);
    add("SV bound and truth", "correlation", correlation(&bound), Unit::One, Better::Higher);
    let mean = apart.iter().sum::<f64>() / apart.len() as f64;
    add("mean distance", "points", mean, Unit::Percent, Better::Lower);
    add(
        "largest distance",
        "points",
        apart.iter().copied().fold(0.0, f64::max),
        Unit::Percent,
        Better::Lower,
    );
    add("best setting", "true leave-one-out", best, Unit::Percent, Better::Lower);
    add("chosen by the span", "true leave-one-out", by(|t| t.span), Unit::Percent, Better::Lower);
    add("chosen by SV count", "true leave-one-out", by(|t| t.support), Unit::Percent, Better::Lower);
}

/// Pearson's correlation.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let (x, y) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (xy, xx, yy) = pairs.iter().fold((0.0, 0.0, 0.0), |(xy, xx, yy), (a, b)| {
        (xy + (a - x) * (b - y), xx + (a - x).powi(2), yy + (b - y).powi(2))
    });
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

fn figure(name: &str, tried: &[Tried]) -> Figure {
    let most = tried.iter().map(|t| t.span.max(t.truth)).fold(1.0, f64::max);
    let dots = tried.iter().map(|t| (t.truth, t.span)).collect();
    let series = vec![
        Series { look: Look::Dots, ..Series::line("settings", dots) },
        Series { look: Look::Dashed, ..Series::line("equal", vec![(0.0, 0.0), (most, most)]) },
    ];
    let (x, y) = (Axis::new("true leave-one-out error, per cent"), Axis::new("span estimate, per cent"));
    Figure::svg(
        Chart::new(&format!("{name}: estimate and truth"), x, y, series).draw(),
        "One dot per setting of width and C.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_correlates_with_itself() {
        assert!((correlation(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) - 1.0).abs() < 1e-12);
        assert!((correlation(&[(0.0, 5.0), (1.0, 3.0), (2.0, 1.0)]) + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[(0.0, 5.0), (1.0, 5.0)]), 0.0);
    }
}
