//! The path against training anew at every C looked at.

use super::*;
use crate::gram::Matrix;
use crate::solve::{self, Problem, Shift};
use crate::watch::{Stop, silent};
use mercer_testkit::{assert, reference, toy};

struct Case {
    rows: Matrix,
    k: Vec<f64>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    shift: f64,
}

impl Case {
    fn new(x: &[f64], d: usize, labels: Vec<f64>, kernel: impl Fn(&[f64], &[f64]) -> f64) -> Self {
        let k = reference::gram(x, x, d, kernel);
        let n = labels.len();
        Case {
            rows: Matrix::new(k.clone(), n).expect("symmetric"),
            k,
            weights: vec![1.0; n],
            labels,
            shift: 0.0,
        }
    }

    fn walk(&self, c_min: f64, c_max: f64) -> Path {
        let problem =
            PathProblem { rows: &self.rows, labels: &self.labels, weights: &self.weights, shift: self.shift };
        let params = PathParams { c_min, c_max, exec: Exec::one(), ..PathParams::default() };
        path(&problem, &params, &mut silent()).expect("a path")
    }

    fn objective(&self, beta: &[f64]) -> f64 {
        let n = beta.len();
        let quadratic: f64 = (0..n * n).map(|at| beta[at / n] * self.k[at] * beta[at % n]).sum();
        let rest: f64 = beta.iter().zip(&self.labels).map(|(b, y)| self.shift / 2.0 * b * b - y * b).sum();
        quadratic / 2.0 + rest
    }

    fn solved(&self, c: f64) -> f64 {
        let bound: Vec<f64> = self.weights.iter().map(|v| c * v).collect();
        let mut problem = Problem::classify(&self.rows, &self.labels, &bound);
        problem.shift = Shift::Same(self.shift);
        let rule = solve::Params { tol: 1e-9, exec: Exec::one(), ..solve::Params::default() };
        let beta = solve::solve(&problem, &rule, &mut silent()).expect("a solution").beta;
        self.objective(&beta)
    }

    /// Compares at breakpoints, between them, and at powers of C.
    fn check(&self, path: &Path) {
        let points = path.breakpoints();
        assert!(points.is_sorted());
        let between = points.windows(2).map(|w| f64::midpoint(w[0], w[1]));
        let some: Vec<f64> = points.iter().copied().chain(between).collect();
        let every = (some.len() / 60).max(1);
        for c in some.into_iter().step_by(every) {
            let at = path.at(c).expect("on the path");
            assert::close(at.beta.iter().sum(), 0.0, 1e-7 * c.max(1.0));
            for ((b, y), v) in at.beta.iter().zip(&self.labels).zip(&self.weights) {
                assert!(b * y >= 0.0 && b * y <= c * v * (1.0 + 1e-12), "beta {b} at C = {c}");
            }
            let want = self.solved(c);
            assert::close(self.objective(&at.beta), want, 1e-6 * want.abs().max(1e-300));
        }
    }
}

fn gaussian(gamma: f64) -> impl Fn(&[f64], &[f64]) -> f64 {
    move |a, b| (-gamma * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn the_path_is_training_anew_at_every_c() {
    let (x, y) = toy::noisy_disc(80, 2);
    let case = Case::new(&x, 2, y, gaussian(1.0));
    let path = case.walk(1e-3, 1e4);
    assert!(path.breakpoints().len() > 80 && path.stop == Stop::Converged);
    case.check(&path);
}

#[test]
fn unequal_classes_weights_and_a_shift() {
    let (x, y) = toy::noisy_disc(90, 5);
    // Of the positive rows only every fourth: 20 against 45 or so.
    let keep: Vec<usize> = (0..90).filter(|i| y[*i] < 0.0 || i % 4 == 0).collect();
    let x: Vec<f64> = keep.iter().flat_map(|&i| [x[2 * i], x[2 * i + 1]]).collect();
    let y: Vec<f64> = keep.iter().map(|&i| y[i]).collect();
    let mut case = Case::new(&x, 2, y, gaussian(0.5));
    case.check(&case.walk(1e-4, 1e3));
    case.weights = (0..case.labels.len()).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
    case.check(&case.walk(1e-3, 1e2));
    case.shift = 0.1;
    case.check(&case.walk(1e-3, 1e2));
}

#[test]
fn rows_that_repeat_and_matrices_without_full_rank() {
    let (mut x, mut y) = toy::noisy_disc(40, 7);
    // Every row twice, some with the other label; and a plane, whose matrix has rank 2.
    let flipped: Vec<f64> = y.iter().enumerate().map(|(i, y)| if i % 5 == 0 { -y } else { *y }).collect();
    x.extend(x.clone());
    y.extend(flipped);
    let twice = Case::new(&x, 2, y.clone(), gaussian(2.0));
    twice.check(&twice.walk(1e-2, 1e2));
    let plane = Case::new(&x, 2, y, dot);
    plane.check(&plane.walk(1e-3, 1e1));
    // Points on a grid: ties everywhere.
    let grid: Vec<f64> = (0..36).flat_map(|i| [f64::from(i % 6), f64::from(i / 6)]).collect();
    let labels: Vec<f64> = (0..36).map(|i| if (i % 6 + i / 6) % 5 < 2 { 1.0 } else { -1.0 }).collect();
    let grid = Case::new(&grid, 2, labels, gaussian(0.3));
    grid.check(&grid.walk(1e-2, 1e2));
}

#[test]
fn nu_is_found_on_the_path() {
    let (x, y) = toy::noisy_disc(60, 3);
    let case = Case::new(&x, 2, y, gaussian(1.0));
    let path = case.walk(1e-2, 1e3);
    for nu in [0.3, 0.5, 0.7] {
        let c = path.c_of_nu(nu).expect("on the path");
        let mass: f64 = path.at(c).expect("on the path").beta.iter().map(|b| b.abs()).sum();
        assert::close(mass / (c * 60.0), nu, 1e-9);
    }
    assert!(path.c_of_nu(1.5).is_err() && path.at(1e4).is_err());
}

#[test]
fn what_is_no_path_is_refused() {
    let rows = Matrix::new(vec![1.0, 0.0, 0.0, 1.0], 2).expect("symmetric");
    let problem = PathProblem { rows: &rows, labels: &[1.0, 1.0], weights: &[1.0; 2], shift: 0.0 };
    assert!(path(&problem, &PathParams::default(), &mut silent()).is_err());
    let problem = PathProblem { labels: &[1.0, -1.0], ..problem };
    let backwards = PathParams { c_min: 2.0, c_max: 1.0, ..PathParams::default() };
    assert!(path(&problem, &backwards, &mut silent()).is_err());
    let one = PathParams { c_min: 2.0, c_max: 2.0, ..PathParams::default() };
    assert_eq!(path(&problem, &one, &mut silent()).expect("a point").breakpoints(), [2.0, 2.0]);
    let cancelled = path(&problem, &PathParams::default(), &mut |_| std::ops::ControlFlow::Break(()));
    assert!(cancelled.is_err() || cancelled.is_ok_and(|p| p.stop == Stop::Cancelled));
}
