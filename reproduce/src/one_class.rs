//! One-class machines: nu bounds the share of outliers from above and that of support vectors from below (Mueller et
//! al. 2001, Theorem 2 and Fig. 14).
//!
//! First the four pictures of the figure, on a toy: a cloud in [-1, 1]^2, and the cloud with a few points more in the
//! upper left corner, which a large nu ignores, a small nu or a small width does not. The paper's points are not to be
//! had; the shares in its table are those of 28 points and of 34, and so many are drawn here. Then machines trained on
//! one USPS digit: outliers among the training rows, among that digit's test rows, and other digits taken in.

use mercer::data::{Dataset, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::OneClassModel;
use mercer::{Par, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Experiment;
use crate::data::{Split, USPS, Usps};
use crate::kernels::rbf;
use crate::lab::{Lab, NOVELTY_TOL};
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "one-class",
    shows: "nu is an upper bound on the share of outliers and a lower bound on that of support vectors",
    paper: "Mueller et al. 2001, Theorem 2 and Fig. 14",
    notes: &[
        "Toy: the paper's points are not to be had; these are our own, as many as its shares fit, as wide as its margin.",
        "Digits: the paper's column is the bound, 100 nu: outliers must be below it, support vectors above.",
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
    let mut rows = toy(lab)?;
    lab.step("reading", 1, 12)?;
    let digits = lab.usps(Usps::Smoothed)?;
    for nu in [0.01, 0.05, 0.1, 0.2, 0.5, 0.9] {
        lab.step(format!("digit 0, nu={nu}"), 2, 12)?;
        rows.extend(digit(lab, &digits, "0", nu, "digit 0", &format!("nu={nu}"))?);
    }
    for (k, name) in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"].into_iter().enumerate() {
        lab.step(format!("digit {name}"), 2 + k, 12)?;
        rows.extend(digit(lab, &digits, name, 0.05, "nu=0.05", &format!("digit {name}"))?);
    }
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
fn outliers(model: &OneClassModel, data: &Dataset, par: Par) -> Result<f64> {
    let outputs = model.decision(data.points.view(), par)?;
    let below = outputs.iter().filter(|f| **f < -NOVELTY_TOL).count();
    Ok(100.0 * below as f64 / data.len() as f64)
}

/// The four pictures.
fn toy(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (nu, c, corner, paper) in PICTURES {
        let data = points(corner)?;
        let model = lab.novelty(Kernel::Rbf { gamma: 1.0 / c }, nu, &data)?;
        let setting = format!("nu={nu}, c={c}{}", if corner { ", corner" } else { "" });
        let n = data.len() as f64;
        let norm2 = model.expansion.norm2(lab.par())?[0];
        let mut add = |quantity, paper, mercer, unit| {
            rows.push(Row { unit, ..row("toy", &setting, quantity, paper, mercer, Better::Near) });
        };
        let [support, outside, margin] = paper.map(Some);
        add("SVs", support, 100.0 * model.support.len() as f64 / n, Unit::Percent);
        add("outliers", outside, outliers(&model, &data, lab.par())?, Unit::Percent);
        add("margin", margin, model.rho() / norm2.sqrt(), Unit::One);
        if corner {
            let corner = data.gather(&(CLOUD..CLOUD + CORNER).collect::<Vec<_>>());
            add("corner left out", None, outliers(&model, &corner, lab.par())?, Unit::Percent);
        }
    }
    Ok(rows)
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
) -> Result<Vec<Row>> {
    let (own, _) = parted(&digits.train, name)?;
    let (same, others) = parted(&digits.test, name)?;
    let model = lab.novelty(rbf(0.5, own.dim()), nu, &own)?;
    let bound = Some(100.0 * nu);
    let support = 100.0 * model.support.len() as f64 / own.len() as f64;
    let add = |quantity, paper, mercer, better| row(group, setting, quantity, paper, mercer, better);
    let mut rows = vec![
        add("SVs", bound, support, Better::Higher),
        add("outliers", bound, outliers(&model, &own, lab.par())?, Better::Lower),
    ];
    if !same.is_empty() && !others.is_empty() {
        rows.push(add("test, left out", None, outliers(&model, &same, lab.par())?, Better::Near));
        let kept = 100.0 - outliers(&model, &others, lab.par())?;
        rows.push(add("others taken in", None, kept, Better::Lower));
    }
    Ok(rows)
}

/// The rows of a digit, and all others.
fn parted(data: &Dataset, digit: &str) -> Result<(Dataset, Dataset)> {
    let labels = data.targets.classes()?;
    let (own, others): (Vec<usize>, Vec<usize>) = (0..data.len()).partition(|&i| labels.name_of(i) == digit);
    Ok((data.gather(&own), data.gather(&others)))
}
