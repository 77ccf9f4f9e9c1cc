//! What nu promises about training rows, exactly and at the usual tolerance: the share of outliers is nu or less and the share
//! of support vectors is nu or more, for hyperplanes and spheres, kernels, widths, forms of rows and weights, and on every path
//! a prediction takes.

use mercer::Exec;
use mercer::data::{Csr, Points, Targets};
use mercer::exec::FEW;
use mercer::kernel::{Kernel, default_gamma};
use mercer::model::{Machine, Model, OneClassParams, Sample, SphereParams};
use mercer::watch::silent;
use mercer_testkit::toy;

const NU: [f64; 6] = [0.01, 0.05, 0.1, 0.3, 0.5, 0.9];

/// Rows of one kind, and their weights.
struct Rows {
    name: &'static str,
    points: Points,
    weights: Option<Vec<f64>>,
}

fn sparse(x: &[f64], d: usize) -> Points {
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in x.chunks(d) {
        // Some rows are empty, some are equal then.
        for (j, &v) in (0..).zip(row).filter(|(_, v)| v.abs() > 0.7) {
            csr.column.push(j);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    Points::sparse(csr, d).expect("rising columns")
}

/// Rows of every kind, made of the same normal numbers.
fn kinds(n: usize, d: usize, seed: u64) -> Vec<Rows> {
    let x = toy::normals(n, d, seed);
    let dense = |x: Vec<f64>| Points::dense(x, d).expect("whole rows");
    let single = Points::dense_f32(x.iter().map(|v| *v as f32).collect(), d).expect("whole rows");
    // Every third row is one of three.
    let twice = |i: usize, v: f64| if (i / d).is_multiple_of(3) { x[(i / d % 9) * d + i % d] } else { v };
    let twice: Vec<f64> = x.iter().enumerate().map(|(i, v)| twice(i, *v)).collect();
    let weights = |of: &dyn Fn(usize) -> f64| Some((0..n).map(of).collect());
    let row = |name, points, weights| Rows { name, points, weights };
    vec![
        row("f64", dense(x.clone()), None),
        row("f32", single, None),
        row("sparse", sparse(&x, d), None),
        row("duplicates", dense(twice), None),
        row("constant", dense((0..n * d).map(|i| x[i % d]).collect()), None),
        row("zeros", dense(vec![0.0; n * d]), None),
        row("far from 0", dense(x.iter().map(|v| v + 1000.0).collect()), None),
        row("counts as weights", dense(x.clone()), weights(&|i| [1.0, 0.0, 2.0, 1.0][i % 4])),
        row("weights", dense(x), weights(&|i| 0.1 + (i as f64 * 0.37).fract())),
    ]
}

fn kernels(points: &Points) -> Vec<Kernel> {
    let gamma = default_gamma(points.view()).unwrap_or(1.0);
    let parse = |line: &str| line.parse().expect("a kernel");
    vec![
        Kernel::Rbf { gamma: gamma * 1e-3 },
        Kernel::Rbf { gamma },
        Kernel::Rbf { gamma: gamma * 100.0 },
        Kernel::Linear,
        Kernel::Laplacian { gamma },
        parse("poly(degree=3, scale=0.5, coef0=1)"),
    ]
}

/// Decision values on each path a prediction takes.
fn paths(machine: Machine, points: &Points) -> Vec<(&'static str, Vec<f64>)> {
    let (view, n) = (points.view(), points.len());
    let batches = (0..n).step_by(FEW).map(|i| view.slice(i..n.min(i + FEW)));
    let batches =
        batches.flat_map(|some| machine.decision(some, Exec::one()).expect("rows")).collect::<Vec<_>>();
    let whole = machine.decision(view, Exec::one()).expect("rows");
    let threads = machine.decision(view, Exec::one().with_threads(2)).expect("rows");
    let saved = Model::from(machine).to_bytes().expect("a file");
    let loaded = Model::from_bytes("m", &saved).expect("the same").decision(view, Exec::one()).expect("rows");
    vec![("at once", whole), ("few at a time", batches), ("on two threads", threads), ("from a file", loaded)]
}

fn holds(sizes: &[usize], fit: &dyn Fn(Kernel, f64, Sample<'_>) -> Machine) {
    let (mut fits, mut broken) = (0, Vec::new());
    for (seed, (&n, d)) in (1..).zip(sizes.iter().flat_map(|n| [1, 2, 8].map(|d| (n, d)))) {
        for rows in kinds(n, d, seed) {
            let weight = |i: usize| rows.weights.as_ref().map_or(1.0, |w| w[i]);
            let share = |of: &dyn Fn(usize) -> bool| {
                let sum = |of: &dyn Fn(usize) -> bool| (0..n).filter(|&i| of(i)).map(weight).sum::<f64>();
                sum(of) / sum(&|_| true)
            };
            for kernel in kernels(&rows.points) {
                for nu in NU {
                    let sample = Sample::new(&rows.points, &Targets::None);
                    let sample = rows.weights.as_ref().map_or(sample, |w| sample.weighted(w));
                    let machine = fit(kernel.clone(), nu, sample);
                    fits += 1;
                    let support = machine.support.clone();
                    let support = share(&|i| support.contains(&(i as u32)));
                    let at = format!("{} {n} x {d}, {kernel}, nu {nu}", rows.name);
                    if support < nu * (1.0 - 1e-12) {
                        broken.push(format!("{at}: {support} are support vectors"));
                    }
                    for (path, f) in paths(machine, &rows.points) {
                        // A decision value of 0 is predicted as an outlier, as in LIBSVM.
                        let outside = share(&|i| f[i] <= 0.0);
                        if outside > nu {
                            broken.push(format!("{at}, {path}: {outside} are outside"));
                        }
                    }
                }
            }
        }
    }
    let some = broken.iter().take(12).cloned().collect::<Vec<_>>().join("\n");
    assert!(broken.is_empty(), "{} broken promises in {fits} fits, such as\n{some}", broken.len());
}

fn one_class(kernel: Kernel, nu: f64, sample: Sample<'_>) -> Machine {
    let params = OneClassParams { kernel: Some(kernel), nu, ..OneClassParams::default() };
    params.fit(sample, Exec::one(), &mut silent()).expect("rows")
}

fn sphere(kernel: Kernel, nu: f64, sample: Sample<'_>) -> Machine {
    let params = SphereParams { kernel: Some(kernel), nu, ..SphereParams::default() };
    params.fit(sample, Exec::one(), &mut silent()).expect("rows")
}

#[test]
fn nu_bounds_the_share_outside_a_hyperplane() {
    holds(&[20, 50, 300], &one_class);
}

#[test]
fn nu_bounds_the_share_outside_a_sphere() {
    holds(&[20, 50, 300], &sphere);
}

#[test]
fn nu_bounds_the_share_outside_also_where_a_fit_stops_early() {
    for max_iter in [Some(1), Some(10)] {
        holds(&[50], &|kernel, nu, sample| {
            let params = OneClassParams { kernel: Some(kernel), nu, max_iter, ..OneClassParams::default() };
            params.fit(sample, Exec::one(), &mut silent()).expect("rows")
        });
    }
}
