//! Problems that are hardly problems, or hardly solvable.

use mercer::Exec;
use mercer::gram::{Matrix, Rows};
use mercer::solve::{Groups, Method, Params, Problem, solve};
use mercer::watch::{Stop, silent};
use mercer_testkit::assert::close;
use mercer_testkit::toy::{noisy_disc, normals};

use crate::common::{every_way, holds, on_demand, one, rbf, run};

#[test]
fn one_row_and_two() {
    let rows = on_demand(vec![2.0], 1);
    let problem = Problem::classify(&rows, &[1.0], &[10.0]);
    let found = every_way(&problem, &[2.0], 1e-3);
    assert_eq!((found.beta, found.info.iterations), (vec![0.0], 0));

    let k = vec![1.0, 0.5, 0.5, 1.0];
    let rows = on_demand(k.clone(), 2);
    let problem = Problem::classify(&rows, &[1.0, -1.0], &[10.0; 2]);
    let found = every_way(&problem, &k, 1e-6);
    // By hand: beta = (2, -2), outputs (1, -1), offset 0.
    close(found.beta[0], 2.0, 1e-6);
    close(found.beta[1], -2.0, 1e-6);
    close(found.thresholds[0].value(), 0.0, 1e-6);
}

#[test]
fn one_class_only_leaves_nothing_to_move() {
    let n = 30;
    let k = rbf(&normals(n, 2, 1), 2, 1.0);
    let rows = on_demand(k.clone(), n);
    for sign in [1.0, -1.0] {
        let found = every_way(&Problem::classify(&rows, &vec![sign; n], &vec![1.0; n]), &k, 1e-3);
        assert!(found.beta.iter().all(|&b| b == 0.0));
        // The offset that classifies all rows with room: b = sign, a bracket with one end.
        close(-found.thresholds[0].value(), sign, 1e-12);
    }
}

#[test]
fn the_bracket_has_the_right_ends_when_nothing_is_free() {
    // A small C and equal classes: every variable ends on its upper bound.
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..20).map(|i| (f64::from(i), if i % 2 == 0 { 1.0 } else { -1.0 })).unzip();
    let k = rbf(&x, 1, 0.1);
    let rows = on_demand(k.clone(), 20);
    let found = every_way(&Problem::classify(&rows, &y, &[1e-4; 20]), &k, 1e-6);
    assert!(found.beta.iter().all(|b| b.abs() == 1e-4));
    let threshold = found.thresholds[0];
    assert!(threshold.free.is_none());
    assert!(threshold.lo < threshold.hi && threshold.lo.is_finite() && threshold.hi.is_finite());
    close(threshold.value(), f64::midpoint(threshold.lo, threshold.hi), 1e-15);
}

#[test]
fn the_same_point_with_both_labels() {
    let n = 120;
    let (half, labels) = noisy_disc(n / 2, 5);
    let x = [half.clone(), half].concat();
    let y: Vec<f64> = labels.iter().copied().chain(labels.iter().map(|y| -y)).collect();
    let k = rbf(&x, 2, 1.0);
    let rows = on_demand(k.clone(), n);
    for c in [1e-3, 1.0, 1e3, 1e6] {
        let found = every_way(&Problem::classify(&rows, &y, &vec![c; n]), &k, 1e-3);
        // Both copies of every point at the bound: the machine knows nothing.
        assert!(found.beta.iter().all(|b| b.abs() > 0.999 * c), "c {c}");
    }
}

#[test]
fn constant_features_and_more_columns_than_rows() {
    let (n, d) = (40, 200);
    for gram in [vec![1.0; n * n], {
        let x = normals(n, d, 3);
        mercer_testkit::reference::gram(&x, &x, d, |a, b| a.iter().zip(b).map(|(a, b)| a * b).sum())
    }] {
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let rows = on_demand(gram.clone(), n);
        every_way(&Problem::classify(&rows, &y, &vec![10.0; n]), &gram, 1e-3);
    }
}

#[test]
fn a_sphere_around_rows_that_hardly_differ_ends_where_the_digits_do() {
    for n in [2, 9] {
        let (x, y) = noisy_disc(n, 7);
        let rows = on_demand(rbf(&x, 2, 1e-12), n);
        let mut problem = Problem {
            linear: vec![-0.5; n],
            lower: vec![0.0; n],
            upper: vec![1.0; n],
            ..Problem::classify(&rows, &y, &vec![1.0; n])
        };
        problem.start_at_sums(&[1.0]).expect("room for 1");
        let found = run(&problem, &one(1e-17));
        assert!(found.beta.iter().all(|b| b.is_finite()));
        // Not the limit of ten million, at which it ended before.
        assert!(found.info.iterations < 2_000_000, "{n} rows: {} iterations", found.info.iterations);
    }
}

#[test]
fn kernels_that_are_not_positive_end_all_the_same() {
    let n = 150;
    let (x, y) = noisy_disc(n, 19);
    let k = mercer_testkit::reference::gram(&x, &x, 2, |a, b| (a[0] * b[0] + a[1] * b[1] - 1.0).tanh());
    assert!(k[0] < 0.0 || k.iter().any(|&v| v < 0.0));
    let rows = on_demand(k.clone(), n);
    for c in [0.1, 1.0, 100.0] {
        for method in [Method::Smo, Method::WorkingSet] {
            let problem = Problem::classify(&rows, &y, &vec![c; n]);
            let found = run(&problem, &Params { method, ..one(1e-3) });
            // A stationary point, of which there are several: objectives may differ.
            holds(&problem, &k, &found, 1e-3);
            assert!(found.objective < 0.0);
        }
    }
}

#[test]
fn without_a_bound_a_separable_problem_has_its_margin() {
    let k: Vec<f64> = {
        let x = [2.0, 3.0, 5.0, -2.0, -4.0_f64];
        x.iter().flat_map(|a| x.map(|b| a * b)).collect()
    };
    let rows = on_demand(k.clone(), 5);
    let problem = Problem::classify(&rows, &[1.0, 1.0, 1.0, -1.0, -1.0], &[f64::INFINITY; 5]);
    let found = every_way(&problem, &k, 1e-6);
    // The nearest points are 2 and -2: w = 1/2, the objective -|w|^2/2.
    close(found.objective, -0.125, 1e-6);
    assert!(found.unbounded.is_none());
}

#[test]
fn without_a_bound_hulls_that_meet_are_shown_to_meet() {
    // The same point twice, and a cross: four corners of a square, opposite corners of one class.
    let square = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0_f64]];
    let k: Vec<f64> = square.iter().flat_map(|a| square.map(|b| a[0] * b[0] + a[1] * b[1])).collect();
    let twice = vec![1.0; 4];
    for (k, y) in [(twice, vec![1.0, -1.0]), (k, vec![1.0, 1.0, -1.0, -1.0])] {
        let n = y.len();
        let rows = on_demand(k.clone(), n);
        let problem = Problem::classify(&rows, &y, &vec![f64::INFINITY; n]);
        for method in [Method::Smo, Method::WorkingSet] {
            let found = run(&problem, &Params { method, ..one(1e-3) });
            assert_eq!(found.info.stop, Stop::Limit);
            let ray = found.unbounded.expect("hulls that meet");
            // Convex weights on each side, the same point on both.
            close(ray.iter().filter(|r| **r > 0.0).sum(), 1.0, 1e-9);
            close(ray.iter().filter(|r| **r < 0.0).sum(), -1.0, 1e-9);
            assert!((0..n).all(|i| ray[i] * y[i] >= 0.0));
            let meet: f64 = (0..n)
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .map(|(i, j)| ray[i] * ray[j] * k[i * n + j])
                .sum();
            assert!(meet.abs() < 1e-9, "hulls {meet:e} apart");
        }
    }
}

/// Rows whose last value is none.
struct Broken(Matrix);

impl Rows for Broken {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn diag(&self) -> Vec<f64> {
        self.0.diag()
    }
    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        self.0.block(rows, out, exec);
        out.chunks_mut(self.len()).for_each(|row| row[self.len() - 1] = f32::NAN);
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

#[test]
fn values_that_are_no_numbers_are_an_error_not_an_answer() {
    let n = 50;
    let (x, y) = noisy_disc(n, 2);
    let rows = Broken(Matrix::new(rbf(&x, 2, 1.0), n).expect("a Gram"));
    for method in [Method::Smo, Method::WorkingSet] {
        let problem = Problem::classify(&rows, &y, &vec![1.0; n]);
        let got = solve(&problem, &Params { method, ..one(1e-3) }, &mut silent());
        let error = got.expect_err("a NaN in the matrix").to_string();
        assert!(error.contains("not finite"), "{error}");
    }
}

#[test]
fn what_is_no_problem_is_refused_with_its_value() {
    let rows = on_demand(vec![1.0, 0.0, 0.0, 1.0], 2);
    let good = Problem::classify(&rows, &[1.0, -1.0], &[1.0, 1.0]);
    let refused = |problem: Problem<'_>, params: Params| {
        solve(&problem, &params, &mut silent()).expect_err("refused").to_string()
    };
    let short = Problem { lower: vec![0.0], ..good.clone() };
    assert_eq!(refused(short, one(1e-3)), "lower bounds: got 1, expected 2, one per variable");
    let crossed = Problem { lower: vec![2.0, -1.0], ..good.clone() };
    assert_eq!(refused(crossed, one(1e-3)), "bounds[0] = [2, 1]: must be lower <= upper");
    let outside = Problem { start: Some(vec![3.0, 0.0]), ..good.clone() };
    assert_eq!(refused(outside, one(1e-3)), "start[0] = 3: must be within [0, 1]");
    let ragged = Problem { linear: vec![0.0; 3], ..good.clone() };
    assert!(refused(ragged, one(1e-3)).contains("a multiple of 2 rows"));
    let groups = Problem { groups: Groups::ByRow(vec![0, 9]), ..good.clone() };
    assert!(refused(groups, one(1e-3)).starts_with("groups = 10"));
    assert_eq!(refused(good.clone(), one(0.0)), "tol = 0: must be above 0");
    let mut full = good;
    assert!(full.start_at_sums(&[5.0]).is_err());
}

#[test]
fn a_start_near_a_guess_is_feasible_and_a_feasible_guess_stays() {
    let n = 24;
    let rows = on_demand(rbf(&normals(n, 2, 5), 2, 1.0), n);
    let labels: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    for (seed, scale) in [(1, 0.1), (2, 1.0), (3, 30.0)] {
        let noise = normals(n, 3, seed);
        let bounds: Vec<f64> = noise[..n].iter().map(|v| v.abs()).collect();
        let mut classes = Problem::classify(&rows, &labels, &bounds);
        let mut nu = Problem::classify(&rows, &labels, &bounds);
        nu.groups = Groups::ByRow(labels.iter().map(|&y| u8::from(y > 0.0)).collect());
        let side = |y: f64| labels.iter().zip(&bounds).filter(|(l, _)| **l == y).map(|(_, b)| b).sum::<f64>();
        let half = 0.4 * side(1.0).min(side(-1.0));
        nu.start_at_sums(&[-half, half]).expect("feasible");
        let mut tube = Problem::regress(&rows, &noise[n..2 * n], 0.1, &bounds);
        let mut open = Problem::classify(&rows, &labels, &vec![f64::INFINITY; n]);
        for problem in [&mut classes, &mut nu, &mut tube, &mut open] {
            let sums = |beta: &[f64]| match &problem.groups {
                Groups::ByRow(of) => {
                    [0, 1].map(|g| (0..n).filter(|&i| of[i] == g).map(|i| beta[i]).sum::<f64>())
                }
                _ => [beta.iter().sum(), 0.0],
            };
            let total = problem.linear.len();
            let want = sums(&problem.start.clone().unwrap_or_else(|| vec![0.0; total]));
            let guess: Vec<f64> = normals(total, 1, seed + 10).iter().map(|v| scale * v).collect();
            let mut near = problem.clone();
            near.start_near(guess).expect("a guess of the right length");
            let start = near.start.clone().unwrap_or_else(|| vec![0.0; total]);
            for v in 0..total {
                assert!(start[v] >= problem.lower[v] && start[v] <= problem.upper[v], "outside its box: {v}");
            }
            for (got, want) in sums(&start).into_iter().zip(want) {
                close(got, want, 1e-8 * (1.0 + scale * n as f64));
            }
            near.start_near(start.clone()).expect("the same length");
            assert_eq!(near.start.unwrap_or_else(|| vec![0.0; total]), start);
            assert!(problem.clone().start_near(vec![0.0]).is_err());
        }
    }
}
