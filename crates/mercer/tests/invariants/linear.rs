//! Coordinate descent on rows finds what pairs find on their matrix.

use mercer::gram::Matrix;
use mercer::solve::{DescentParams, LinearProblem, LinearSolution, Problem, Shift, Vectors, descend};
use mercer::watch::{Stop, silent};
use mercer_testkit::assert::{all_close, close};
use mercer_testkit::toy::normals;

use crate::common::{one, run};

struct Dense {
    values: Vec<f64>,
    d: usize,
}

impl Dense {
    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.d..(i + 1) * self.d]
    }
    fn gram(&self) -> Matrix {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        let k = mercer_testkit::reference::gram(&self.values, &self.values, self.d, dot);
        Matrix::new(k, self.len()).expect("a Gram")
    }
}

impl Vectors for Dense {
    fn len(&self) -> usize {
        self.values.len() / self.d
    }
    fn dim(&self) -> usize {
        self.d
    }
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        self.row(i).iter().zip(w).map(|(a, b)| a * b).sum()
    }
    fn add(&self, i: usize, a: f64, w: &mut [f64]) {
        w.iter_mut().zip(self.row(i)).for_each(|(w, x)| *w += a * x);
    }
    fn square(&self, i: usize) -> f64 {
        self.dot(i, self.row(i))
    }
}

/// Two noisy clouds, far from the origin so that the offset matters.
fn clouds(n: usize, d: usize, seed: u64) -> (Dense, Vec<f64>) {
    let mut values = normals(n, d, seed);
    let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    for i in 0..n {
        values[i * d] += 0.8 * y[i];
        values[i * d + 1] += 4.0;
    }
    (Dense { values, d }, y)
}

fn fit(x: &Dense, problem: &LinearProblem, tol: f64) -> LinearSolution {
    let params = DescentParams { tol, ..DescentParams::default() };
    let found = descend(x, problem, &params, &mut silent()).expect("a problem");
    assert_eq!(found.info.stop, Stop::Converged, "{:?}", found.info);
    // w is what the variables say, the variables are in their box.
    let mut w = vec![0.0; x.d];
    (0..x.len()).for_each(|i| x.add(i, found.beta[i], &mut w));
    all_close(&found.w, &w, 1e-9);
    assert!((0..x.len()).all(|i| found.beta[i] >= problem.lower[i] && found.beta[i] <= problem.upper[i]));
    found
}

#[test]
fn a_linear_classifier_is_the_kernel_machine_with_its_offset() {
    let (x, y) = clouds(200, 5, 1);
    let rows = x.gram();
    for c in [1e-3, 1.0, 100.0] {
        for squared in [false, true] {
            let cost = if squared { f64::INFINITY } else { c };
            let mut linear = LinearProblem::classify(&y, &[cost; 200], true);
            let mut problem = Problem::classify(&rows, &y, &[cost; 200]);
            if squared {
                linear.shift = Shift::Same(1.0 / c);
                problem.shift = Shift::Same(1.0 / c);
            }
            let want = run(&problem, &one(1e-6));
            let found = fit(&x, &linear, 1e-6);
            close(found.objective / want.objective, 1.0, 1e-4);
            close(found.beta.iter().sum(), 0.0, 1e-3 * c.max(1.0));
            let offset = -want.thresholds[0].value();
            for i in 0..200 {
                close(x.dot(i, &found.w) + found.b, want.output[i] + offset, 1e-3);
            }
        }
    }
}

#[test]
fn linear_regression_with_a_tube_is_the_kernel_machine() {
    let (x, _) = clouds(150, 4, 2);
    let noise = normals(150, 1, 3);
    let y: Vec<f64> = (0..150).map(|i| x.row(i)[0] - 2.0 * x.row(i)[2] + 3.0 + 0.2 * noise[i]).collect();
    let rows = x.gram();
    for (c, epsilon) in [(0.01, 0.1), (1.0, 0.0), (10.0, 0.3)] {
        let want = run(&Problem::regress(&rows, &y, epsilon, &[c; 150]), &one(1e-6));
        let found = fit(&x, &LinearProblem::regress(&y, epsilon, &[c; 150], true), 1e-6);
        close(found.objective / want.objective, 1.0, 1e-4);
        let offset = -want.thresholds[0].value();
        for i in 0..150 {
            close(x.dot(i, &found.w) + found.b, want.output[i] + offset, 2e-3);
        }
    }
}

#[test]
fn without_an_offset_the_plane_goes_through_the_origin() {
    let (x, y) = clouds(100, 3, 4);
    let found = fit(&x, &LinearProblem::classify(&y, &[1.0; 100], false), 1e-8);
    assert_eq!(found.b, 0.0);
    // Optimality by hand: free variables have margin 1, those at 0 more, those at the bound less.
    for i in 0..100 {
        let margin = y[i] * x.dot(i, &found.w);
        match found.beta[i].abs() {
            0.0 => assert!(margin >= 1.0 - 1e-7),
            1.0 => assert!(margin <= 1.0 + 1e-7),
            _ => close(margin, 1.0, 1e-7),
        }
    }
}

#[test]
fn descent_repeats_resumes_and_refuses() {
    let (x, y) = clouds(120, 3, 5);
    let mut problem = LinearProblem::classify(&y, &[1.0; 120], true);
    let first = fit(&x, &problem, 1e-4);
    assert_eq!(first, LinearSolution { info: first.info.clone(), ..fit(&x, &problem, 1e-4) });
    problem.start = Some(first.beta.clone());
    let again = fit(&x, &problem, 1e-3);
    close(again.objective / first.objective, 1.0, 1e-3);
    let few = DescentParams { max_epochs: 1, tol: 1e-9, ..DescentParams::default() };
    problem.start = None;
    let cut = descend(&x, &problem, &few, &mut silent()).expect("a problem");
    assert_eq!((cut.info.stop, cut.info.iterations), (Stop::Limit, 1));
    problem.lower[7] = 9.0;
    let error = descend(&x, &problem, &few, &mut silent()).expect_err("bounds that cross").to_string();
    assert!(error.starts_with("bounds[7] = [9,"), "{error}");
}

/// The largest violation of the optimality conditions, counted by hand.
fn violation(x: &Dense, p: &LinearProblem, found: &LinearSolution) -> f64 {
    let slope = |i: usize| {
        let own = match &p.shift {
            Shift::None => 0.0,
            Shift::Same(s) => *s,
            Shift::Each(s) => s[i],
        };
        x.dot(i, &found.w) + found.b + p.linear[i] + own * found.beta[i]
    };
    let off = |i: usize| {
        let (b, e, s) = (found.beta[i], p.epsilon, slope(i));
        let rise = if b < p.upper[i] { -(s + if b >= 0.0 { e } else { -e }) } else { 0.0 };
        let fall = if b > p.lower[i] { s + if b > 0.0 { e } else { -e } } else { 0.0 };
        rise.max(fall).max(0.0)
    };
    (0..x.len()).map(off).fold(0.0, f64::max)
}

#[test]
fn costs_that_descent_creeps_at_are_settled_by_interior_points() {
    let n = 400;
    let (x, y) = clouds(n, 6, 6);
    let noise = normals(n, 1, 7);
    let numbers: Vec<f64> = (0..n).map(|i| x.row(i)[0] - x.row(i)[2] + 0.5 * noise[i]).collect();
    let c: Vec<f64> = (0..n).map(|i| if i % 50 == 0 { 0.0 } else { 1e4 }).collect();
    let inf = vec![f64::INFINITY; n];
    let with = |shift: Shift, p: LinearProblem| LinearProblem { shift, ..p };
    let mut finished = 0;
    for offset in [true, false] {
        for problem in [
            LinearProblem::classify(&y, &c, offset),
            with(Shift::Same(1e-4), LinearProblem::classify(&y, &inf, offset)),
            LinearProblem::regress(&numbers, 0.2, &c, offset),
            with(Shift::Same(1e-4), LinearProblem::regress(&numbers, 0.2, &inf, offset)),
            with(Shift::Each(vec![1e-3; n]), LinearProblem::regress(&numbers, 0.0, &inf, offset)),
        ] {
            let found = fit(&x, &problem, 1e-6);
            assert!(violation(&x, &problem, &found) <= 1.1e-6, "{:?}", found.info);
            assert!(found.info.iterations < 2000, "{:?}", found.info);
            if offset {
                // In units of the bounds, or of what squared slack lets variables be.
                close(found.beta.iter().sum::<f64>() / 1e4, 0.0, 1e-9);
            }
            finished += usize::from(found.info.notes.iter().any(|n| n.text.contains("interior point")));
        }
    }
    assert!(finished >= 4, "only {finished} needed it");
}

#[test]
fn a_tolerance_beneath_all_digits_still_gives_numbers() {
    let (x, _) = clouds(120, 5, 8);
    let y: Vec<f64> = normals(120, 1, 9).iter().map(|v| 150.0 + 80.0 * v).collect();
    for offset in [true, false] {
        let problem = LinearProblem::regress(&y, 0.0, &[1e3; 120], offset);
        let params = DescentParams { tol: 1e-14, max_epochs: 2000, ..DescentParams::default() };
        let found = descend(&x, &problem, &params, &mut silent()).expect("numbers");
        assert!(found.objective.is_finite() && found.w.iter().all(|w| w.is_finite()), "{:?}", found.info);
        assert!(violation(&x, &problem, &found) < 1e-6, "{:?}", found.info);
    }
}
