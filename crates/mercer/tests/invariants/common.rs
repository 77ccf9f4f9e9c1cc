//! Problems as plain slices, and what must hold of a solution.

use mercer::Exec;
use mercer::gram::{Matrix, Rows};
use mercer::solve::{Groups, Method, Params, Problem, Shift, Solution, solve};
use mercer::watch::{Stop, silent};
use mercer_testkit::assert::close;
use mercer_testkit::qp::Qp;

pub(crate) fn rbf(x: &[f64], d: usize, gamma: f64) -> Vec<f64> {
    mercer_testkit::reference::gram(x, x, d, |a, b| {
        (-gamma * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
    })
}

/// The same problem as plain slices.
pub(crate) fn plain(problem: &Problem<'_>, k: &[f64]) -> Qp {
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

/// The sums a problem keeps.
pub(crate) fn sums(problem: &Problem<'_>, qp: &Qp) -> Vec<f64> {
    let zeros = vec![0.0; problem.linear.len()];
    qp.sums(problem.start.as_ref().unwrap_or(&zeros))
}

/// Box, sums, optimality and the numbers of the report, all from scratch.
#[track_caller]
pub(crate) fn holds(problem: &Problem<'_>, k: &[f64], found: &Solution, tol: f64) {
    let qp = plain(problem, k);
    let beta = &found.beta;
    for v in 0..beta.len() {
        assert!(
            beta[v] >= qp.lower[v] && beta[v] <= qp.upper[v],
            "variable {v} = {} leaves its box",
            beta[v]
        );
    }
    let mass: f64 = beta.iter().map(|b| b.abs()).sum();
    for (got, want) in qp.sums(beta).into_iter().zip(sums(problem, &qp)) {
        assert!((got - want).abs() <= 1e-11 * mass.max(1.0), "sum {got:e}, wanted {want:e}");
    }
    assert_eq!(found.info.stop, Stop::Converged, "{:?}", found.info);
    // A tenth more where the solver judged that f32 rounding need not be checked.
    let violation = qp.violation(beta);
    assert!(violation <= 1.1 * tol, "violates by {violation:e} where {tol:e} is asked: {:?}", found.info);
    assert!((found.info.gap - violation).abs() <= 0.2 * tol, "says {:e}, is {violation:e}", found.info.gap);
    close(found.objective, qp.objective(beta), 1e-5);
    for (got, want) in found.output.iter().zip(qp.output(beta)) {
        close(*got, want, tol);
    }
}

pub(crate) fn run(problem: &Problem<'_>, params: &Params) -> Solution {
    solve(problem, params, &mut silent()).expect("a problem")
}

pub(crate) fn one(tol: f64) -> Params {
    Params { tol, exec: Exec::one(), ..Params::default() }
}

/// The same matrix, rows at a time: what a kernel looks like to a solver.
pub(crate) struct OnDemand(Matrix);

pub(crate) fn on_demand(k: Vec<f64>, n: usize) -> OnDemand {
    OnDemand(Matrix::new(k, n).expect("a Gram"))
}

impl Rows for OnDemand {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn diag(&self) -> Vec<f64> {
        self.0.diag()
    }
    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        self.0.block(rows, out, exec);
    }
    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
        self.0.apply(rows, coef, out, exec);
    }
    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        self.0.subset(keep)
    }
    fn cost(&self) -> f64 {
        1e9
    }
}

/// Every way to solve, by name.
pub(crate) fn ways(n: usize, tol: f64) -> Vec<(&'static str, Params)> {
    let base = one(tol);
    let sets = Params { method: Method::WorkingSet, ..base.clone() };
    vec![
        ("pairs", Params { method: Method::Smo, ..base.clone() }),
        ("pairs, no shrinking", Params { method: Method::Smo, shrinking: false, ..base.clone() }),
        ("working sets", sets.clone()),
        ("working sets, two threads", Params { exec: Exec::new(2), ..sets.clone() }),
        (
            "working sets, room for two rows",
            Params { exec: Exec::one().with_memory(2 * 4 * n as u64), ..sets },
        ),
        ("chunks", Params { method: Method::Chunking, ..base.clone() }),
        ("auto", base),
    ]
}

/// Solves in every way: what must hold holds, and all agree.
#[track_caller]
pub(crate) fn every_way(problem: &Problem<'_>, k: &[f64], tol: f64) -> Solution {
    let mut first: Option<Solution> = None;
    for (name, params) in ways(problem.rows.len(), tol) {
        let found = run(problem, &params);
        holds(problem, k, &found, tol);
        // A pair's violation times the mass that could move bounds how far an objective can be off.
        let mass: f64 = found.beta.iter().map(|b| b.abs()).sum();
        let want = first.get_or_insert(found.clone()).objective;
        let off = (found.objective - want).abs();
        assert!(
            off <= 1e-4 * want.abs() + 0.02 * tol * mass,
            "{name}: {} instead of {want}",
            found.objective
        );
    }
    first.expect("there is a way")
}
