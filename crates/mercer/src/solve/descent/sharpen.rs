//! Refinement of a linear machine's solution to nearly full precision.
//!
//! Two solutions within the same tolerance may give different labels to a row on the decision boundary. Under a
//! linear kernel the exact solution is cheap to reach: about as many variables as columns lie strictly between their
//! bounds, and once these are known, Newton steps on them converge to it. So a solution found by another solver is
//! refined by the steps of [`super::newton`], each followed by one pass in which variables may leave their bounds.
//!
//! Cost: a few passes over the data while few variables are free; it stops where more would be needed.

use super::{Descent, LinearProblem, LinearSolution, Vectors};
use crate::watch::{Info, Stop};

/// Target violation as a fraction of the tolerance.
const AIM: f64 = 1e-5;

/// Maximum number of rounds of Newton steps followed by a pass over all variables.
const ROUNDS: usize = 8;

/// Maximum number of multiply-adds of Newton steps per stored value of the data.
const WORK: f64 = 48.0;

/// Refines the solution `beta`, `b`, which satisfies the optimality conditions to `tol`. Returns `None` where the
/// exact solution is not cheap to reach.
///
/// ```
/// use mercer::solve::{LinearProblem, Vectors, sharpen};
///
/// struct Points(Vec<f64>);
/// impl Vectors for Points {
///     fn len(&self) -> usize { self.0.len() }
///     fn dim(&self) -> usize { 1 }
///     fn dot(&self, i: usize, w: &[f64]) -> f64 { self.0[i] * w[0] }
///     fn add(&self, i: usize, a: f64, w: &mut [f64]) { w[0] += a * self.0[i] }
///     fn square(&self, i: usize) -> f64 { self.0[i] * self.0[i] }
/// }
///
/// // The plane between -1 and 3 is at 1; what is given is a little off.
/// let x = Points(vec![-1.0, -2.0, 3.0, 5.0]);
/// let problem = LinearProblem::classify(&[-1.0, -1.0, 1.0, 1.0], &[10.0; 4], true);
/// let found = sharpen(&x, &problem, vec![-0.1251, 0.0, 0.1251, 0.0], -0.5003, 1e-3).expect("a way");
/// assert!((found.w[0] - 0.5).abs() < 1e-9 && (found.b + 0.5).abs() < 1e-9);
/// ```
pub fn sharpen<V: Vectors>(
    x: &V,
    problem: &LinearProblem,
    beta: Vec<f64>,
    b: f64,
    tol: f64,
) -> Option<LinearSolution> {
    let (n, d) = (x.len(), x.dim());
    if beta.len() != n || problem.check(n).is_err() || !b.is_finite() {
        return None;
    }
    let squares: Vec<f64> = (0..n).map(|i| x.square(i)).collect();
    let typical = squares.iter().sum::<f64>() / n as f64;
    let mu = if problem.offset { if typical > 0.0 { typical } else { 1.0 } } else { 0.0 };
    let mut state = Descent {
        x,
        p: problem,
        beta: Vec::new(),
        w: vec![0.0; d],
        bend: Vec::new(),
        sum: 0.0,
        mu,
        anchor: 0.0,
    };
    state.bend = (0..n).map(|i| squares[i] + mu + state.shift(i)).collect();
    state.take(beta, b);
    let entries: f64 = (0..n).map(|i| x.entries(i) as f64).sum();
    let mut left = WORK * entries;
    let off = |state: &Descent<'_, V>| state.worst().max((state.mu * state.sum).abs());
    let (begun, aim) = (off(&state), AIM * tol);
    let mut best: Option<(f64, Vec<f64>, f64)> = None;
    for _ in 0..ROUNDS {
        loop {
            let free = state.free() as f64;
            left -= free * free * (entries / n as f64 + free / 3.0);
            if left < 0.0 || !state.newton() {
                break;
            }
        }
        if left < 0.0 {
            break;
        }
        let worst = off(&state);
        if worst < best.as_ref().map_or(begun, |b| b.0) {
            best = Some((worst, state.beta.clone(), state.offset()));
        }
        if worst <= aim {
            break;
        }
        for i in 0..n {
            let slope = state.slope(i);
            if state.violation(i, slope) > 0.0 {
                state.settle(i, slope);
            }
        }
    }
    let (gap, beta, b) = best?;
    state.take(beta, b);
    let objective = state.objective();
    let info = Info { stop: Stop::Converged, gap, objective: Some(objective), ..Info::default() };
    objective.is_finite().then_some(LinearSolution { w: state.w, b, beta: state.beta, objective, info })
}

#[cfg(test)]
mod tests {
    use super::super::{DescentParams, descend};
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::toy;

    struct Rows(Vec<f64>, usize);

    impl Vectors for Rows {
        fn len(&self) -> usize {
            self.0.len() / self.1
        }
        fn dim(&self) -> usize {
            self.1
        }
        fn dot(&self, i: usize, w: &[f64]) -> f64 {
            self.0[i * self.1..(i + 1) * self.1].iter().zip(w).map(|(x, w)| x * w).sum()
        }
        fn add(&self, i: usize, a: f64, w: &mut [f64]) {
            self.0[i * self.1..(i + 1) * self.1].iter().zip(w).for_each(|(x, w)| *w += a * x);
        }
        fn square(&self, i: usize) -> f64 {
            self.0[i * self.1..(i + 1) * self.1].iter().map(|x| x * x).sum()
        }
    }

    #[test]
    fn a_rough_solution_becomes_the_exact_one() {
        let mut sharpened = 0;
        for seed in 0..12 {
            let (n, d) = (300, [2, 5, 10][seed as usize % 3]);
            let x = toy::normals(n, d, seed);
            let noise = toy::normals(n, 1, 100 + seed);
            let side = |(row, e): (&[f64], &f64)| if row[0] + row[1] + e > 0.2 { 1.0 } else { -1.0 };
            let labels: Vec<f64> = x.chunks(d).zip(&noise).map(side).collect();
            let rows = Rows(x, d);
            let c = [0.01, 1.0, 30.0][seed as usize / 4];
            let problem = LinearProblem::classify(&labels, &vec![c; n], true);
            let solved = |tol: f64| {
                let params = DescentParams { tol, max_epochs: 200_000, ..DescentParams::default() };
                descend(&rows, &problem, &params, &mut silent()).expect("a machine")
            };
            let (rough, exact) = (solved(5e-4), solved(1e-11));
            let far = |w: &[f64], b: f64| {
                let weights = w.iter().zip(&exact.w).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                weights.max((b - exact.b).abs())
            };
            if let Some(found) = sharpen(&rows, &problem, rough.beta.clone(), rough.b, 1e-3) {
                let (before, after) = (far(&rough.w, rough.b), far(&found.w, found.b));
                assert!(after <= before.max(1e-7), "seed {seed}: {before:e} to {after:e}");
                assert!(found.beta.iter().sum::<f64>().abs() <= 1e-6 * c, "seed {seed}");
                sharpened += usize::from(after < 1e-6);
            }
        }
        assert!(sharpened >= 9, "{sharpened} of 12");
    }
}
