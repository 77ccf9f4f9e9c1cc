//! What must hold of every solution, whatever the method, the memory, the threads and the order of the rows.
//!
//! Everything is recomputed from scratch in f64 from the problem itself: nothing the solver says is believed.

use mercer::Par;
use mercer::gram::{Matrix, Rows};
use mercer::solve::{Groups, Method, Params, Problem, Shift, Solution, solve};
use mercer::watch::{Stop, silent};
use mercer_testkit::assert::close;
use mercer_testkit::qp::Qp;
use mercer_testkit::toy::{noisy_disc, normals};

fn rbf(x: &[f64], d: usize, gamma: f64) -> Vec<f64> {
    mercer_testkit::reference::gram(x, x, d, |a, b| {
        (-gamma * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
    })
}

/// The same problem as plain slices.
fn plain(problem: &Problem<'_>, k: &[f64]) -> Qp {
    let (n, total) = (problem.rows.len(), problem.linear.len());
    Qp {
        k: k.to_vec(),
        n,
        linear: problem.linear.clone(),
        lower: problem.lower.clone(),
        upper: problem.upper.clone(),
        group: (0..total)
            .map(|v| match &problem.groups {
                Groups::One => 0,
                Groups::BySide => v / n,
                Groups::ByRow(of) => usize::from(of[v % n]),
            })
            .collect(),
        shift: match &problem.shift {
            Shift::None => vec![0.0; total],
            Shift::Same(s) => vec![*s; total],
            Shift::Each(s) => s.clone(),
        },
    }
}

/// Box, sums, optimality and the numbers of the report, all from scratch.
#[track_caller]
fn holds(problem: &Problem<'_>, k: &[f64], found: &Solution, tol: f64) {
    let qp = plain(problem, k);
    let beta = &found.beta;
    for v in 0..beta.len() {
        assert!(
            beta[v] >= qp.lower[v] && beta[v] <= qp.upper[v],
            "variable {v} = {} leaves its box",
            beta[v]
        );
    }
    let zeros = vec![0.0; beta.len()];
    let start = problem.start.as_ref().unwrap_or(&zeros);
    let mass: f64 = beta.iter().map(|b| b.abs()).sum();
    for (got, want) in qp.sums(beta).into_iter().zip(qp.sums(start)) {
        assert!((got - want).abs() <= 1e-11 * mass.max(1.0), "sum {got:e}, wanted {want:e}");
    }
    assert_eq!(found.info.stop, Stop::Converged, "{:?}", found.info);
    let violation = qp.violation(beta);
    assert!(violation <= tol * 1.2 + 1e-12 * mass, "violates by {violation:e} where {tol:e} is asked");
    close(found.objective, qp.objective(beta), 1e-6);
    close(found.info.gap, violation, tol);
    for (got, want) in found.output.iter().zip(qp.output(beta)) {
        close(*got, want, tol);
    }
}

fn run(problem: &Problem<'_>, params: &Params) -> Solution {
    solve(problem, params, &mut silent()).expect("a problem")
}

fn one(tol: f64) -> Params {
    Params { tol, par: Par::one(), ..Params::default() }
}

#[test]
fn a_classifier_is_what_projected_gradients_find() {
    let (x, y) = noisy_disc(80, 1);
    let k = rbf(&x, 2, 0.5);
    let rows = Matrix::new(k.clone(), 80).expect("a Gram");
    for c in [1e-3, 0.1, 1.0] {
        let problem = Problem::classify(&rows, &y, &[c; 80]);
        let found = run(&problem, &one(1e-5));
        holds(&problem, &k, &found, 1e-5);
        let qp = plain(&problem, &k);
        let slow = qp.objective(&qp.solve(&[0.0; 80], 4000));
        close(found.objective, slow, 1e-6);
        assert!(qp.lower_bound(&found.beta) <= slow + 1e-9);
    }
}

#[test]
fn regression_has_two_sides_on_one_row() {
    let n = 60;
    let x = normals(n, 1, 5);
    let y: Vec<f64> = x.iter().map(|v| v.sin()).collect();
    let k = rbf(&x, 1, 1.0);
    let rows = Matrix::new(k.clone(), n).expect("a Gram");
    let problem = Problem::regress(&rows, &y, 0.05, &vec![2.0; n]);
    let found = run(&problem, &one(1e-5));
    holds(&problem, &k, &found, 1e-5);
    for r in 0..n {
        assert_eq!(found.beta[r] * found.beta[n + r], 0.0, "both sides of row {r} at work");
    }
    let offset = -found.thresholds[0].value();
    let off = (0..n).filter(|&r| (found.output[r] + offset - y[r]).abs() > 0.0501).count();
    let full = (0..n).filter(|&r| (found.beta[r] + found.beta[n + r]).abs() == 2.0).count();
    assert!(off <= full, "{off} rows outside the tube, {full} at the bound");
}

#[test]
fn two_groups_keep_their_sums() {
    // nu-classification: each class's weights sum to nu n / 2, no linear term.
    let (x, y) = noisy_disc(100, 3);
    let k = rbf(&x, 2, 0.5);
    let rows = Matrix::new(k.clone(), 100).expect("a Gram");
    let mut problem = Problem::classify(&rows, &y, &[1.0; 100]);
    problem.linear = vec![0.0; 100];
    problem.groups = Groups::ByRow(y.iter().map(|&y| u8::from(y > 0.0)).collect());
    problem.start_at_sums(&[-20.0, 20.0]).expect("feasible");
    let found = run(&problem, &one(1e-5));
    holds(&problem, &k, &found, 1e-5);
    assert_eq!(found.thresholds.len(), 2);
}

/// The same matrix, one row at a time: what a kernel looks like to a solver.
struct OnDemand<'a>(&'a Matrix);

impl Rows for OnDemand<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn diag(&self) -> Vec<f64> {
        self.0.diag()
    }
    fn block(&self, rows: &[u32], out: &mut [f32], par: Par) {
        self.0.block(rows, out, par);
    }
    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], par: Par) {
        self.0.apply(rows, coef, out, par);
    }
    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        self.0.subset(keep)
    }
    fn cost(&self) -> f64 {
        1e9
    }
}

/// Every way to solve, by name.
fn ways(n: usize, tol: f64) -> Vec<(&'static str, Params)> {
    let base = one(tol);
    vec![
        ("pairs", Params { method: Method::Smo, ..base.clone() }),
        ("pairs, no shrinking", Params { method: Method::Smo, shrinking: false, ..base.clone() }),
        ("working sets", Params { method: Method::WorkingSet, ..base.clone() }),
        (
            "working sets, two threads",
            Params { method: Method::WorkingSet, par: Par::new(2), ..base.clone() },
        ),
        (
            "working sets, little memory",
            Params { method: Method::WorkingSet, memory: 2 * 4 * n, ..base.clone() },
        ),
        ("auto", base),
    ]
}

#[test]
fn one_objective_by_every_way_at_every_c() {
    let n = 300;
    let (x, y) = noisy_disc(n, 7);
    let k = rbf(&x, 2, 0.7);
    let rows = Matrix::new(k.clone(), n).expect("a Gram");
    let on_demand = OnDemand(&rows);
    for c in [1e-3, 1.0, 1e3, 1e6] {
        let mut want = None;
        for (name, params) in ways(n, 1e-3) {
            let source: &dyn Rows = if name == "auto" { &rows } else { &on_demand };
            let problem = Problem::classify(source, &y, &vec![c; n]);
            let found = run(&problem, &params);
            holds(&problem, &k, &found, params.tol);
            let want = *want.get_or_insert(found.objective);
            close(found.objective / want, 1.0, 1e-4);
        }
    }
}
