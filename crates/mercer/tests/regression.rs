//! Support vector regression and kernel ridge: optimality recomputed from nothing, in f64, for every loss.

use mercer::data::{Csr, Points, Row, Sequences, Targets};
use mercer::gram::Matrix;
use mercer::kernel::{Custom, Definiteness, Kernel, default_sequence_kernel};
use mercer::model::{Checkpoint, Learner, Loss, Machine, RidgeMethod, RidgeParams, Sample, SvrParams};
use mercer::watch::{Stop, silent};
use mercer::{Error, Exec};
use mercer_testkit::{assert, reference, toy};

const GAMMA: f64 = 0.4;

/// A noisy wave over two columns, with a few rows far off.
fn wave(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let x = toy::uniforms(n, 2, -2.0, 2.0, seed);
    let noise = toy::normals(n, 1, seed + 1);
    let far = |i: usize| if i.is_multiple_of(11) { 3.0 } else { 0.0 };
    let y = (0..n).map(|i| (2.0 * x[2 * i]).sin() + 0.5 * x[2 * i + 1] + 0.1 * noise[i] + far(i)).collect();
    (x, y)
}

fn gaussian(x: &[f64], y: &[f64], d: usize) -> Vec<f64> {
    reference::gram(x, y, d, |a, b| {
        (-GAMMA * a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
    })
}

fn dense(x: &[f64], d: usize) -> Points {
    Points::dense(x.to_vec(), d).expect("whole rows")
}

fn params(loss: Loss, c: f64, tol: f64) -> SvrParams {
    let kernel = Some(Kernel::Rbf { gamma: GAMMA });
    SvrParams { kernel, loss, c, tol, epsilon: 0.2, nu: 0.3, delta: 0.25, ..SvrParams::default() }
}

fn fit(params: &SvrParams, points: &Points, y: &[f64]) -> Machine {
    let targets = Targets::Reals(y.to_vec());
    params.fit(Sample::new(points, &targets), Exec::one(), &mut silent()).expect("a problem like any other")
}

/// One coefficient a training row, zeros included.
fn spread(model: &Machine, n: usize) -> Vec<f64> {
    assert_eq!(model.support.len(), model.expansion.len());
    let mut coef = vec![0.0; n];
    model.support.iter().zip(model.expansion.coef()).for_each(|(&i, &c)| coef[i as usize] = c);
    coef
}

/// What optimality means for each loss, written in residuals: the coefficient is C times a subgradient of the loss.
fn check_optimal(model: &Machine, x: &[f64], y: &[f64], c: f64, slack: f64) {
    let n = y.len();
    let coef = spread(model, n);
    let mut f = reference::product(&gaussian(x, x, 2), &coef, n, n, 1);
    f.iter_mut().for_each(|f| *f += model.expansion.offset()[0]);
    let Learner::Svr(params) = &model.learner else { panic!("a regression") };
    let loss = params.loss;
    assert::close(coef.iter().sum::<f64>() / c, 0.0, 1e-9);
    let epsilon = model.fact("epsilon").unwrap_or(0.0);
    assert!(epsilon >= -slack, "{loss:?}: tube of {epsilon}");
    for i in 0..n {
        let (r, b) = (y[i] - f[i], coef[i] / c);
        let place = format!("{loss:?}, C = {c}, row {i}: residual {r}, coefficient {b} C, tube {epsilon}");
        match loss {
            Loss::Epsilon | Loss::Nu | Loss::Laplace => {
                assert!(b.abs() <= 1.0, "{place}");
                // Inside the tube there is no coefficient, outside it is on the bound, with the residual's sign.
                if b < 1.0 {
                    assert!(r <= epsilon.max(0.0) + slack, "{place}");
                }
                if b > -1.0 {
                    assert!(r >= -epsilon.max(0.0) - slack, "{place}");
                }
                if b > 0.0 {
                    assert!(r >= epsilon - slack, "{place}");
                }
                if b < 0.0 {
                    assert!(r <= -epsilon + slack, "{place}");
                }
            }
            Loss::Huber => {
                // The gradient of the loss, within what a residual's slack may change it.
                let want = |r: f64| (r / params.delta).clamp(-1.0, 1.0);
                let (low, high) = (want(r - slack), want(r + slack));
                assert!(b >= low - 1e-9 && b <= high + 1e-9, "{place}");
            }
            Loss::Squared => assert!((b - r).abs() <= slack, "{place}"),
        }
    }
}

#[test]
fn every_loss_is_optimal_from_the_smallest_to_the_largest_c() {
    let (x, y) = wave(70, 3);
    let points = dense(&x, 2);
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Laplace, Loss::Huber, Loss::Squared] {
        for c in [1e-3, 1.0, 1e3, 1e6] {
            let model = fit(&params(loss, c, 1e-3), &points, &y);
            assert_eq!(model.info.stop, Stop::Converged, "{loss:?} {c} {:?}", model.info);
            // Two residuals on the same level may differ by the tolerance; rounding of sums of size C comes on top.
            check_optimal(&model, &x, &y, c, 2e-3 + 1e-12 * c);
        }
    }
}

#[test]
fn dense_single_sparse_and_precomputed_points_give_one_machine() {
    let (x, y) = wave(60, 9);
    let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let x: Vec<f64> = single.iter().map(|&v| f64::from(v)).collect();
    let n = y.len();
    let csr = Csr {
        start: (0..=n).map(|i| 2 * i).collect(),
        column: (0..2 * n as u32).map(|p| if p % 2 == 0 { 1 } else { 300 }).collect(),
        value: x.clone(),
    };
    let sparse = Points::sparse(csr, 400).expect("rising columns");
    let all = [dense(&x, 2), Points::dense_f32(single, 2).expect("whole rows"), sparse];
    let gram = Matrix::new(gaussian(&x, &x, 2), n).expect("symmetric");
    let numbers = Points::row_numbers((0..n as u32).collect());
    let targets = Targets::Reals(y.clone());
    let values = Points::dense(gaussian(&x, &x, 2), n).expect("whole rows");
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Laplace, Loss::Huber, Loss::Squared] {
        let params = params(loss, 5.0, 1e-7);
        let want = fit(&params, &all[0], &y);
        let at = want.decision(all[0].view(), Exec::one()).expect("same columns");
        for points in &all[1..] {
            let model = fit(&params, points, &y);
            assert::all_close(&model.decision(points.view(), Exec::one()).expect("same columns"), &at, 2e-5);
        }
        // The matrix given beside points, and instead of them.
        let beside = params.fit(Sample::new(&all[0], &targets).with_gram(&gram), Exec::one(), &mut silent());
        let beside = beside.expect("a matrix of the points");
        assert::all_close(&beside.decision(all[0].view(), Exec::one()).expect("same columns"), &at, 2e-5);
        let params = SvrParams { kernel: Some(Kernel::Precomputed), ..params };
        let instead =
            params.fit(Sample::new(&numbers, &targets).with_gram(&gram), Exec::one(), &mut silent());
        let instead = instead.expect("a matrix");
        assert::all_close(&instead.decision(values.view(), Exec::one()).expect("all columns"), &at, 2e-5);
        let few = Points::dense(vec![0.0; 3], 3).expect("one row");
        assert!(instead.decision(few.view(), Exec::one()).is_err());
        assert!(params.fit(Sample::new(&numbers, &targets), Exec::one(), &mut silent()).is_err());
    }
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let (x, y) = wave(40, 21);
    let weights: Vec<f64> = (0..40).map(|i| [1.0, 0.0, 2.0, 1.0][i % 4]).collect();
    let copies: Vec<usize> = (0..40).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let points = dense(&x, 2);
    let (targets, many) = (Targets::Reals(y.clone()), points.gather(&copies));
    let y_many: Vec<f64> = copies.iter().map(|&i| y[i]).collect();
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Laplace, Loss::Huber, Loss::Squared] {
        let params = params(loss, 2.0, 1e-7);
        let weighted =
            params.fit(Sample::new(&points, &targets).weighted(&weights), Exec::one(), &mut silent());
        let (weighted, copied) = (weighted.expect("weights"), fit(&params, &many, &y_many));
        let at = |m: &Machine| m.decision(points.view(), Exec::one()).expect("same columns");
        assert::all_close(&at(&weighted), &at(&copied), 3e-5);
        if loss != Loss::Squared {
            let (a, b) = (weighted.info.objective.expect("solved"), copied.info.objective.expect("solved"));
            assert::close(a, b, 1e-5);
        }
    }
}

#[test]
fn nu_bounds_errors_from_above_and_support_vectors_from_below() {
    let (x, y) = wave(120, 5);
    let points = dense(&x, 2);
    for nu in [0.05, 0.2, 0.5, 0.8, 1.0] {
        let params = SvrParams { nu, ..params(Loss::Nu, 10.0, 1e-6) };
        let model = fit(&params, &points, &y);
        let f = model.decision(points.view(), Exec::one()).expect("same columns");
        let epsilon = model.fact("epsilon").expect("found");
        let outside = f.iter().zip(&y).filter(|(f, y)| (*f - *y).abs() > epsilon + 1e-5).count();
        assert!(outside as f64 <= nu * 120.0, "{outside} outside at nu = {nu}");
        assert!(model.support.len() as f64 >= nu * 120.0 - 1e-9, "{} at nu = {nu}", model.support.len());
        // The tube nu found, given to the machine that asks for it, gives the same function.
        if epsilon > 1e-3 {
            let given = SvrParams { epsilon, ..SvrParams { loss: Loss::Epsilon, ..params } };
            let again = fit(&given, &points, &y).decision(points.view(), Exec::one()).expect("same columns");
            assert::all_close(&again, &f, 1e-4);
        }
    }
}

#[test]
fn huber_lies_between_laplace_and_squared() {
    let (x, y) = wave(50, 13);
    let points = dense(&x, 2);
    let at = |params: &SvrParams| {
        fit(params, &points, &y).decision(points.view(), Exec::one()).expect("same columns")
    };
    // Never linear: r^2 / (2 delta) is the squared loss with C / delta.
    let wide = SvrParams { delta: 100.0, ..params(Loss::Huber, 200.0, 1e-8) };
    assert::all_close(&at(&wide), &at(&params(Loss::Squared, 2.0, 1e-8)), 1e-6);
    let narrow = SvrParams { delta: 1e-6, ..params(Loss::Huber, 2.0, 1e-6) };
    assert::all_close(&at(&narrow), &at(&params(Loss::Laplace, 2.0, 1e-6)), 1e-3);
    let none = SvrParams { epsilon: 0.0, ..params(Loss::Epsilon, 2.0, 1e-6) };
    assert::all_close(&at(&none), &at(&params(Loss::Laplace, 2.0, 1e-6)), 1e-6);
}

#[test]
fn a_linear_machine_is_one_weight_vector() {
    let (x, y) = wave(50, 43);
    let points = dense(&x, 2);
    let k = reference::gram(&x, &x, 2, |a, b| a[0] * b[0] + a[1] * b[1]);
    let (gram, rows) = (Matrix::new(k.clone(), 50).expect("symmetric"), dense(&k, 50));
    let numbers = Points::row_numbers((0..50).collect());
    let targets = Targets::Reals(y.clone());
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Huber, Loss::Squared] {
        let linear = SvrParams { kernel: Some(Kernel::Linear), ..params(loss, 1.0, 1e-7) };
        let model = fit(&linear, &points, &y);
        assert_eq!(model.expansion.len(), 1);
        assert!(model.support.len() > 5);
        let given = SvrParams { kernel: Some(Kernel::Precomputed), ..linear };
        let given = given.fit(Sample::new(&numbers, &targets).with_gram(&gram), Exec::one(), &mut silent());
        let want = given.expect("a matrix").decision(rows.view(), Exec::one()).expect("rows");
        assert::all_close(&model.decision(points.view(), Exec::one()).expect("rows"), &want, 1e-5);
    }
}

#[test]
fn order_of_rows_threads_and_shrinking_do_not_matter() {
    let (x, y) = wave(80, 31);
    let points = dense(&x, 2);
    let order: Vec<usize> = (0..80).map(|i| (i * 37) % 80).collect();
    let mixed: Vec<f64> = order.iter().map(|&i| y[i]).collect();
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Huber] {
        for c in [0.1, 100.0] {
            let plain = params(loss, c, 1e-6);
            let model = fit(&plain, &points, &y);
            let at = model.decision(points.view(), Exec::one()).expect("same columns");
            let moved = fit(&plain, &points.gather(&order), &mixed);
            let slow = fit(&SvrParams { shrinking: false, ..plain.clone() }, &points, &y);
            let targets = Targets::Reals(y.clone());
            let two =
                plain.fit(Sample::new(&points, &targets), Exec::new(2), &mut silent()).expect("a problem");
            for other in [moved, slow, two] {
                assert::close(
                    other.info.objective.expect("solved"),
                    model.info.objective.expect("solved"),
                    1e-6,
                );
                assert::all_close(
                    &other.decision(points.view(), Exec::new(2)).expect("same columns"),
                    &at,
                    2e-4,
                );
            }
        }
    }
}

#[test]
fn a_fit_that_was_broken_off_goes_on_to_the_same_end() {
    let (x, y) = wave(300, 51);
    let (points, targets) = (dense(&x, 2), Targets::Reals(y.clone()));
    let sample = Sample::new(&points, &targets);
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Laplace, Loss::Huber] {
        let params = params(loss, 100.0, 1e-5);
        let straight = fit(&params, &points, &y);
        assert!(straight.checkpoint.is_none());
        let limited = SvrParams { max_iter: Some(100), ..params.clone() };
        let part = limited.fit(sample, Exec::one(), &mut silent()).expect("some steps");
        assert_eq!((part.info.stop, part.info.iterations), (Stop::Limit, 100), "{loss:?}");
        let from = part.checkpoint.as_ref().and_then(Checkpoint::variables).expect("not at its end").to_vec();
        let rest = params.resume(sample, &from, Exec::one(), &mut silent()).expect("goes on");
        assert_eq!(rest.info.stop, Stop::Converged);
        assert::close(rest.info.objective.expect("solved"), straight.info.objective.expect("solved"), 1e-7);
        let at = |m: &Machine| m.decision(points.view(), Exec::one()).expect("rows");
        assert::all_close(&at(&rest), &at(&straight), 1e-3);
        // A checkpoint of another problem is told.
        assert!(params.resume(sample, &from[1..], Exec::one(), &mut silent()).is_err());
        let mut other = from.clone();
        other[0] += 0.5;
        assert!(params.resume(sample, &other, Exec::one(), &mut silent()).is_err());
        let small = SvrParams { c: 1e-3, ..params };
        assert!(small.resume(sample, &from, Exec::one(), &mut silent()).is_err());
    }
    // Broken off by the watcher before the first step: what there was is returned, and said to be that.
    let mut stop = |_: &mercer::watch::Step| std::ops::ControlFlow::Break(());
    let part =
        params(Loss::Epsilon, 100.0, 1e-5).fit(sample, Exec::one(), &mut stop).expect("what there was");
    assert_eq!(part.info.stop, Stop::Cancelled);
    assert!(part.checkpoint.is_some());
}

#[test]
fn sequences_are_points_like_any_other() {
    /// How many places agree.
    struct Agree;
    impl mercer::kernel::KernelFn for Agree {
        fn name(&self) -> &'static str {
            "agree"
        }
        fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
            let (Row::Sequence(a), Row::Sequence(b)) = (x, y) else { return f64::NAN };
            a.iter().zip(b).filter(|(p, q)| p == q).count() as f64
        }
        fn definiteness(&self) -> Definiteness {
            Definiteness::Positive
        }
        fn accepts(&self, points: mercer::data::View<'_>) -> mercer::Result<()> {
            match points.data {
                mercer::data::Data::Sequences { .. } => Ok(()),
                _ => Err(Error::Unsupported("sequences only".into())),
            }
        }
    }
    let symbol: Vec<u8> = toy::uniforms(40, 6, 0.0, 4.0, 3).iter().map(|v| *v as u8).collect();
    let y: Vec<f64> = symbol.chunks(6).map(|s| f64::from(s[0]) + f64::from(u8::from(s[3] == 2))).collect();
    let sequences =
        Sequences { alphabet: b"ACGT".to_vec(), start: (0..=40).map(|i| 6 * i).collect(), symbol };
    let points = Points::sequences(sequences).expect("symbols of the alphabet");
    let kernel = Some(Kernel::Custom(Custom(std::sync::Arc::new(Agree))));
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Laplace, Loss::Huber, Loss::Squared] {
        let params = SvrParams { kernel: kernel.clone(), ..params(loss, 100.0, 1e-4) };
        let model = fit(&params, &points, &y);
        let f = model.decision(points.view(), Exec::one()).expect("sequences");
        let off = f.iter().zip(&y).map(|(f, y)| (f - y).abs()).fold(0.0, f64::max);
        // Additive over places, so it can be learned; a wide tube (nu) leaves the most.
        assert!(off < 1.0, "{loss:?}: off by {off}");
    }
    let none = SvrParams { kernel: None, ..params(Loss::Epsilon, 1.0, 1e-3) };
    let model = fit(&none, &points, &y);
    assert_eq!(model.expansion.kernel(), &default_sequence_kernel(points.view()).expect("sequences"));
}

#[test]
fn odd_data_give_an_answer_or_a_clear_error() {
    let one = dense(&[1.0, 2.0], 2);
    for loss in [Loss::Epsilon, Loss::Nu, Loss::Laplace, Loss::Huber, Loss::Squared] {
        let params = params(loss, 1.0, 1e-4);
        // One row: a constant.
        assert::close(
            fit(&params, &one, &[7.0]).decision(one.view(), Exec::one()).expect("one row")[0],
            7.0,
            1e-3,
        );
        // The same point with two targets, and constant columns.
        let same = dense(&[1.0; 8], 2);
        let f =
            fit(&params, &same, &[1.0, 3.0, 1.0, 3.0]).decision(same.view(), Exec::one()).expect("four rows");
        assert!(f.iter().all(|v| (1.0 - 1e-3..=3.0 + 1e-3).contains(v)), "{loss:?} {f:?}");
        // Not positive definite: ends all the same.
        let (x, y) = wave(40, 2);
        let sigmoid = Kernel::Sigmoid { amplitude: 1.0, scale: 1.0, shift: -1.0 };
        let indefinite = SvrParams { kernel: Some(sigmoid), max_iter: Some(100_000), ..params.clone() };
        let targets = Targets::Reals(y);
        let points = dense(&x, 2);
        match indefinite.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()) {
            Ok(model) => {
                assert!(
                    model.decision(points.view(), Exec::one()).expect("rows").iter().all(|v| v.is_finite())
                );
            }
            Err(e) => assert!(loss == Loss::Squared && matches!(e, Error::Numeric(_)), "{loss:?}: {e}"),
        }
    }
    // More columns than rows.
    let wide = dense(&toy::normals(5, 50, 1), 50);
    let model = fit(&params(Loss::Epsilon, 100.0, 1e-4), &wide, &[1.0, 2.0, 3.0, 4.0, 5.0]);
    assert::close(model.decision(wide.view(), Exec::one()).expect("rows")[4], 5.0, 0.05);
    // A tube around everything: a constant in the middle and no support vector.
    let (x, y) = wave(30, 4);
    let model = fit(&SvrParams { epsilon: 100.0, ..params(Loss::Epsilon, 1.0, 1e-4) }, &dense(&x, 2), &y);
    let (low, high) = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    assert!(model.expansion.is_empty());
    assert::close(model.expansion.offset()[0], f64::midpoint(low, high), 1e-12);
}

#[test]
fn bad_input_is_named() {
    let (x, y) = wave(5, 1);
    let points = dense(&x, 2);
    let message = |params: SvrParams, targets: Targets| {
        let fitted = params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent());
        fitted.expect_err("bad input").to_string()
    };
    let good = Targets::Reals(y.clone());
    let with = |c, epsilon, nu| SvrParams { c, epsilon, nu, ..SvrParams::default() };
    assert_eq!(message(with(0.0, 0.1, 0.5), good.clone()), "c = 0: must be a number above 0");
    assert_eq!(message(with(1.0, -1.0, 0.5), good.clone()), "epsilon = -1: must be a number of at least 0");
    assert_eq!(message(with(1.0, 0.1, 2.0), good), "nu = 2: must be a number above 0 and at most 1");
    let nan = Targets::Reals(vec![1.0, f64::NAN, 0.0, 0.0, 0.0]);
    assert_eq!(message(SvrParams::default(), nan), "target of row 2 = NaN: must be a finite number");
    assert_eq!(message(SvrParams::default(), Targets::None), "targets: got none, expected real numbers");
    assert!(message(SvrParams::default(), Targets::Reals(y[1..].to_vec())).contains("targets"));
}

#[test]
fn ridge_satisfies_its_equations_by_either_method() {
    let (x, y) = wave(60, 17);
    let points = dense(&x, 2);
    let k = gaussian(&x, &x, 2);
    let weights: Vec<f64> = (0..60).map(|i| [0.5, 1.0, 0.0, 3.0][i % 4]).collect();
    let targets = Targets::Reals(y.clone());
    for offset in [true, false] {
        for method in [RidgeMethod::Cholesky, RidgeMethod::Gradients] {
            let kernel = Some(Kernel::Rbf { gamma: GAMMA });
            let params = RidgeParams { kernel, lambda: 0.01, offset, method, tol: 1e-10 };
            let sample = Sample::new(&points, &targets).weighted(&weights);
            let model = params.fit(sample, Exec::one(), &mut silent()).expect("definite");
            assert_eq!(model.info.stop, Stop::Converged);
            assert!(model.info.gap <= 1e-9, "{:?}", model.info);
            let mut coef = vec![0.0; 60];
            model.support.iter().zip(model.expansion.coef()).for_each(|(&i, &c)| coef[i as usize] = c);
            let mut f = reference::product(&k, &coef, 60, 60, 1);
            f.iter_mut().for_each(|f| *f += model.expansion.offset()[0]);
            for i in 0..60 {
                if weights[i] == 0.0 {
                    assert_eq!(coef[i], 0.0);
                } else {
                    assert::close(f[i] + 0.01 / weights[i] * coef[i], y[i], 1e-7);
                }
            }
            let sum: f64 = coef.iter().sum();
            assert!(if offset { sum.abs() < 1e-7 } else { model.expansion.offset() == [0.0] }, "{sum}");
        }
    }
}

#[test]
fn least_squares_machines_tell_classes() {
    let (x, sign) = toy::noisy_disc(150, 8);
    let points = dense(&x, 2);
    let params =
        RidgeParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), lambda: 0.5, ..RidgeParams::default() };
    let two = mercer::data::Labels::new(sign.iter().map(|s| if *s > 0.0 { "in" } else { "out" }));
    let right = |labels: &mercer::data::Labels| {
        let targets = Targets::Classes(labels.clone());
        let model = params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("classes");
        let got = model.predict(points.view(), Exec::one()).expect("rows");
        let got = got.classes().expect("classes").clone();
        assert_eq!(got.names, labels.names);
        let hits = got.of_row.iter().zip(&labels.of_row).filter(|(a, b)| a == b).count();
        (model, hits)
    };
    let (model, hits) = right(&two);
    assert!(model.expansion.outputs() == 1 && hits > 125, "{hits}");
    // Positive outputs mean the class named second.
    let f = model.decision(points.view(), Exec::one()).expect("rows");
    let got = model.predict(points.view(), Exec::one()).expect("rows");
    assert!(f.iter().zip(&got.classes().expect("classes").of_row).all(|(f, k)| (*f > 0.0) == (*k == 1)));
    let side = |i: usize| if x[2 * i] > 0.0 { "right" } else { "left" };
    let three = mercer::data::Labels::new((0..150).map(|i| if sign[i] > 0.0 { "in" } else { side(i) }));
    let (model, hits) = right(&three);
    assert!(model.expansion.outputs() == 3 && hits > 120, "{hits}");
    let one = Targets::Classes(mercer::data::Labels::new(vec!["a"; 150]));
    assert!(params.fit(Sample::new(&points, &one), Exec::one(), &mut silent()).is_err());
}
