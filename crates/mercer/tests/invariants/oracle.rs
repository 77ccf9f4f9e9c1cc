//! The same problem by an interior-point method that shares nothing with ours.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};
use mercer_testkit::qp::Qp;

/// The minimum of the objective, with these sums of the groups.
pub(crate) fn minimum(qp: &Qp, sums: &[f64]) -> f64 {
    let total = qp.linear.len();
    let entry = |i: usize, j: usize| {
        qp.k[(i % qp.n) * qp.n + j % qp.n] + if i == j { qp.shift[i] + 1e-13 } else { 0.0 }
    };
    let upper: Vec<(usize, usize, f64)> =
        (0..total).flat_map(|j| (0..=j).map(move |i| (i, j))).map(|(i, j)| (i, j, entry(i, j))).collect();
    let p = triplets(total, total, &upper);

    let mut rows: Vec<(usize, usize, f64)> = (0..total).map(|v| (qp.group[v], v, 1.0)).collect();
    let mut right = sums.to_vec();
    for v in 0..total {
        for (sign, bound) in [(1.0, qp.upper[v]), (-1.0, -qp.lower[v])] {
            if bound.is_finite() {
                rows.push((right.len(), v, sign));
                right.push(bound);
            }
        }
    }
    let a = triplets(right.len(), total, &rows);
    let cones = [ZeroConeT(sums.len()), NonnegativeConeT(right.len() - sums.len())];
    let settings = DefaultSettingsBuilder::default().verbose(false).build().expect("settings");
    let mut solver =
        DefaultSolver::new(&p, &qp.linear, &a, &right, &cones, settings).expect("a convex problem");
    solver.solve();
    assert!(
        matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved),
        "{:?}",
        solver.solution.status
    );
    solver.solution.obj_val
}

fn triplets(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> CscMatrix<f64> {
    let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for &(r, c, value) in entries {
        i.push(r);
        j.push(c);
        v.push(value);
    }
    CscMatrix::new_from_triplets(rows, cols, i, j, v)
}
