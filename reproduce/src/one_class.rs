//! One-class machines: nu bounds the share of outliers from above and that of support vectors from below (Mueller et
//! al. 2001, Theorem 2 and Fig. 14).
//!
//! First the four pictures of the figure, on a toy: a cloud in [-1, 1]^2, and the cloud with a few points more in the
//! upper left corner, which a large nu ignores, a small nu or a small width does not. The paper's points are not to be
//! had; the shares in its table are those of 28 points and of 34, and so many are drawn here. Then machines trained on
//! one USPS digit: outliers among the training rows, among that digit's test rows, and other digits taken in.

use mercer::data::{Dataset, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::{Machine, Model};
use mercer::{Exec, Result};
use mercer_report::html::{Figure, Ink, Tile, Tiles};
use mercer_report::svg::{Learned, learned};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Experiment;
use crate::data::{Split, USPS, Usps};
use crate::kernels::rbf;
use crate::lab::{Lab, NOVELTY_TOL};
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "one-class",
    shows: "Nu is an upper bound on the fraction of outliers and a lower bound on that of support vectors",
    paper: "Mueller et al. 2001, Theorem 2 and Fig. 14",
    notes: &[
        "Toy: the paper's points are not available; these are our own, with its numbers of points and its margin.",
        "Every setting: outliers at most, and support vectors at least, the share nu of the training rows.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 10,
    full: None,
    run,
};

/// Points of the toy's cloud, and points in its corner.
const CLOUD: usize = 28;
const CORNER: usize = 6;

/// A picture: nu, width, whether the corner is there; the paper's shares of support vectors and outliers, and its
/// margin `rho / |w|`.
const PICTURES: [(f64, f64, bool, [f64; 3]); 4] = [
    (0.5, 0.5, false, [54.0, 43.0, 0.84]),
    (0.5, 0.5, true, [59.0, 47.0, 0.70]),
    (0.1, 0.5, true, [24.0, 3.0, 0.62]),
    (0.5, 0.1, true, [65.0, 38.0, 0.48]),
];

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("toy", 0, 12)?;
    let (mut rows, mut kept) = toy(lab)?;
    lab.step("reading", 1, 12)?;
    let digits = lab.usps(Usps::Smoothed)?;
    for nu in [0.01, 0.05, 0.1, 0.2, 0.5, 0.9] {
        lab.step(format!("digit 0, nu={nu}"), 2, 12)?;
        let (more, bounds) = digit(lab, &digits, "0", nu, "digit 0", &format!("nu={nu}"))?;
        rows.extend(more);
        kept.push(bounds);
    }
    for (k, name) in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"].into_iter().enumerate() {
        lab.step(format!("digit {name}"), 2 + k, 12)?;
        let (more, bounds) = digit(lab, &digits, name, 0.05, "nu=0.05", &format!("digit {name}"))?;
        rows.extend(more);
        kept.push(bounds);
    }
    let share = 100.0 * kept.iter().filter(|kept| **kept).count() as f64 / kept.len() as f64;
    let settings = format!("{} settings", kept.len());
    rows.push(row("nu", &settings, "both bounds hold", Some(100.0), share, Better::Higher));
    Ok(rows)
}

fn row(
    group: &str,
    setting: &str,
    quantity: &'static str,
    paper: Option<f64>,
    mercer: f64,
    better: Better,
) -> Row {
    Row {
        group: group.into(),
        setting: setting.into(),
        quantity,
        paper,
        mercer,
        unit: Unit::Percent,
        better,
        chosen: Chosen::Paper,
    }
}

/// The share of rows that are outliers, in hundredths.
fn outliers(model: &Machine, data: &Dataset, exec: Exec) -> Result<f64> {
    let outputs = model.decision(data.points.view(), exec)?;
    let below = outputs.iter().filter(|f| **f < -NOVELTY_TOL).count();
    Ok(100.0 * below as f64 / data.len() as f64)
}

/// Whether nu bounds the shares of support vectors and outliers.
fn bounded(nu: f64, support: f64, outside: f64) -> bool {
    support >= 100.0 * nu - 1e-9 && outside <= 100.0 * nu + 1e-9
}

/// The four pictures, and whether nu's bounds hold in each. The points are not the paper's: its numbers are no measure.
fn toy(lab: &mut Lab<'_>) -> Result<(Vec<Row>, Vec<bool>)> {
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    for (nu, c, corner, paper) in PICTURES {
        let data = points(corner)?;
        let model = lab.novelty(Kernel::Rbf { gamma: 1.0 / c }, nu, &data)?;
        let setting = format!("nu={nu}, c={c}{}", if corner { ", corner" } else { "" });
        let n = data.len() as f64;
        let norm2 = model.expansion.norm2(lab.exec())?[0];
        let (support, outside) =
            (100.0 * model.support.len() as f64 / n, outliers(&model, &data, lab.exec())?);
        let margin = -model.expansion.offset()[0] / norm2.sqrt();
        let mut add = |quantity, mercer, unit| {
            rows.push(Row { unit, ..row("toy", &setting, quantity, None, mercer, Better::Near) });
        };
        add("SVs", support, Unit::Percent);
        add("outliers", outside, Unit::Percent);
        add("margin", margin, Unit::One);
        if corner {
            let corner = data.gather(&(CLOUD..CLOUD + CORNER).collect::<Vec<_>>());
            add("corner left out", outliers(&model, &corner, lab.exec())?, Unit::Percent);
        }
        kept.push(bounded(nu, support, outside));
        let caption = format!(
            "{setting}: {support:.0} % support vectors, {outside:.0} % outliers, margin {margin:.2}; the paper, on other \
             points: {:.0} %, {:.0} %, {:.2}.",
            paper[0], paper[1], paper[2]
        );
        let model = Model::from(model);
        let picture = learned(&model, Learned::training(&setting, &model, &data), lab.exec())?;
        lab.draw(Figure::svg(picture, caption));
    }
    Ok((rows, kept))
}

/// Outliers shown of a digit.
const SHOWN: usize = 20;

/// The rows of a digit that a machine finds strangest, worst first.
fn strangest(model: &Machine, data: &Dataset, exec: Exec) -> Result<Vec<Tile>> {
    let outputs = model.decision(data.points.view(), exec)?;
    let mut order: Vec<usize> = (0..outputs.len()).collect();
    order.sort_by(|&a, &b| outputs[a].total_cmp(&outputs[b]));
    let tile = |&i: &usize| {
        let pixels = data.points.gather(&[i]).view().to_f64()?;
        Ok(Tile::new(pixels, format!("{:.2}", outputs[i])))
    };
    order.iter().take(SHOWN).map(tile).collect()
}

/// A cloud as wide as the paper's margin has it, and points in the upper left corner behind it.
fn points(corner: bool) -> Result<Dataset> {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let mut normal = || {
        let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let mut values = Vec::new();
    for _ in 0..CLOUD {
        values.extend([0.2 + 0.25 * normal(), -0.2 + 0.25 * normal()]);
    }
    for _ in 0..if corner { CORNER } else { 0 } {
        values.extend([-0.7 + 0.1 * normal(), 0.7 + 0.1 * normal()]);
    }
    Dataset::new(Points::dense(values, 2)?, Targets::None)
}

/// A machine trained on one digit.
fn digit(
    lab: &mut Lab<'_>,
    digits: &Split,
    name: &str,
    nu: f64,
    group: &str,
    setting: &str,
) -> Result<(Vec<Row>, bool)> {
    let (own, _) = parted(&digits.train, name)?;
    let (same, others) = parted(&digits.test, name)?;
    let model = lab.novelty(rbf(0.5, own.dim()), nu, &own)?;
    let support = 100.0 * model.support.len() as f64 / own.len() as f64;
    let outside = outliers(&model, &own, lab.exec())?;
    let add = |quantity, mercer, better| row(group, setting, quantity, None, mercer, better);
    let mut rows = vec![add("SVs", support, Better::Near), add("outliers", outside, Better::Near)];
    if !same.is_empty() && !others.is_empty() {
        rows.push(add("test, rejected", outliers(&model, &same, lab.exec())?, Better::Near));
        let kept = 100.0 - outliers(&model, &others, lab.exec())?;
        rows.push(add("others accepted", kept, Better::Lower));
    }
    if group.starts_with("nu") {
        let (tiles, shape) = (strangest(&model, &own, lab.exec())?, own.points.image());
        if let Some(shape) = shape {
            let caption = format!(
                "The most unusual training rows of digit {name}, with their outputs: rows below 0 are outliers."
            );
            lab.draw(Figure::tiles(Tiles { shape, ink: Ink::Levels(-1.0, 1.0), tiles }, caption));
        }
    }
    Ok((rows, bounded(nu, support, outside)))
}

/// The rows of a digit, and all others.
fn parted(data: &Dataset, digit: &str) -> Result<(Dataset, Dataset)> {
    let labels = data.targets.classes()?;
    let (own, others): (Vec<usize>, Vec<usize>) = (0..data.len()).partition(|&i| labels.name_of(i) == digit);
    Ok((data.gather(&own), data.gather(&others)))
}
