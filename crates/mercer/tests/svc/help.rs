//! Toy sets, and optimality recomputed from a fitted model alone.

use mercer::Exec;
use mercer::data::{Labels, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::Machine;
use mercer::model::Sample;
use mercer::model::svc::{Kind, Slack, SvcParams};
use mercer::watch::silent;
use mercer_testkit::toy;

/// Two classes in the plane, one in ten labels wrong.
pub(crate) fn disc(n: usize, seed: u64) -> (Points, Targets) {
    let (x, y) = toy::noisy_disc(n, seed);
    let labels = Labels::new(y.iter().map(|&y| if y > 0.0 { "in" } else { "out" }));
    (Points::dense(x, 2).expect("whole rows"), Targets::Classes(labels))
}

/// k overlapping clouds on a circle, unequal in size.
pub(crate) fn clouds(k: usize, each: usize, seed: u64) -> (Points, Targets) {
    let (mut x, mut names) = (Vec::new(), Vec::new());
    let noise = toy::normals(k * each * 2, 2, seed);
    for c in 0..k {
        let angle = std::f64::consts::TAU * c as f64 / k as f64;
        for p in 0..each + 3 * c {
            let at = 2 * (c * 2 * each + p);
            x.extend([3.0 * angle.cos() + noise[at], 3.0 * angle.sin() + noise[at + 1]]);
            names.push(format!("class {c}"));
        }
    }
    // Mixed up, so that rows of a class do not lie together.
    let order = mercer::data::split::shuffle(names.len(), seed);
    let points = Points::dense(x, 2).expect("whole rows").gather(&order);
    (points, Targets::Classes(Labels::new(order.iter().map(|&i| &names[i]))))
}

pub(crate) fn rbf(gamma: f64) -> Kernel {
    Kernel::Rbf { gamma }
}

pub(crate) fn fit(params: &SvcParams, points: &Points, targets: &Targets) -> Machine {
    params.fit(Sample::new(points, targets), Exec::one(), &mut silent()).expect("a sound problem")
}

/// The coefficient of every training row in a machine.
pub(crate) fn coef(model: &Machine, machine: usize, n: usize) -> Vec<f64> {
    let k = model.outputs();
    let mut out = vec![0.0; n];
    for (j, &row) in model.support.iter().enumerate() {
        out[row as usize] = model.expansion.coef()[j * k + machine];
    }
    out
}

/// How far a C-machine is from optimal: the largest violation among its rows, its sum, and how far coefficients leave
/// their boxes. Everything in f64 from the expansion, nothing from the solver.
pub(crate) fn violation(
    model: &Machine,
    machine: usize,
    points: &Points,
    targets: &Targets,
    weight: &[f64],
) -> [f64; 3] {
    let (p, n, k) = (model.svc().expect("a classifier"), points.len(), model.outputs());
    assert_eq!(p.kind, Kind::C);
    let labels = targets.classes().expect("classes");
    let sides = model.sides()[machine];
    let f = model.decision(points.view(), Exec::one()).expect("columns agree");
    let beta = coef(model, machine, n);
    let (mut highest, mut lowest, mut out, mut sum) = (f64::NEG_INFINITY, f64::INFINITY, 0.0_f64, 0.0);
    for i in 0..n {
        let class = labels.of_row[i];
        let y = match (class == sides.positive, sides.negative) {
            (true, _) => 1.0,
            (false, Some(negative)) if class != negative => continue,
            _ => -1.0,
        };
        let (c, own) = match p.slack {
            Slack::Linear => (p.c * weight[i], 0.0),
            Slack::Squared => (f64::INFINITY, 1.0 / (p.c * weight[i])),
        };
        let a = y * beta[i];
        sum += beta[i];
        out = out.max(-a).max(a - c);
        let g = f[i * k + machine] - y + (own + p.shift) * beta[i];
        let (may_grow, may_shrink) = (a < c, a > 0.0);
        if if y > 0.0 { may_grow } else { may_shrink } {
            lowest = lowest.min(g);
        }
        if if y > 0.0 { may_shrink } else { may_grow } {
            highest = highest.max(g);
        }
    }
    [highest - lowest, sum, out]
}

/// Share of rows whose class is wrong.
pub(crate) fn error(model: &Machine, points: &Points, targets: &Targets) -> f64 {
    let got = model.labels(points.view(), Exec::one()).expect("columns agree").of_row;
    mercer::assess::metric::error_rate(&got, &targets.classes().expect("classes").of_row)
}

/// Outputs of all machines.
pub(crate) fn outputs(model: &Machine, points: &Points) -> Vec<f64> {
    model.decision(points.view(), Exec::one()).expect("columns agree")
}
