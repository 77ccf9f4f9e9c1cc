//! Fisher discriminants: textbook discriminants for a linear kernel, one answer by all forms, and data with nothing to tell.

use std::ops::ControlFlow;

use mercer::data::{Labels, Points, Targets, toy};
use mercer::gram::Matrix;
use mercer::kernel::Kernel;
use mercer::model::{KfdForm, KfdParams, KfdPenalty, KfdThreshold, Machine, Model, Sample};
use mercer::watch::{Step, Stop, silent};
use mercer::{Exec, Result};
use mercer_testkit::assert::close;
use mercer_testkit::{reference, toy as draw};

fn fit(params: &KfdParams, points: &Points, targets: &Targets) -> Result<Machine> {
    params.fit(Sample::new(points, targets), Exec::one(), &mut silent())
}

fn classes(n: usize, k: usize, d: usize, seed: u64) -> (Vec<f64>, Vec<usize>, Targets) {
    let mut x = draw::normals(n, d, seed);
    let class: Vec<usize> = (0..n).map(|i| i * 5 % 11 % k).collect();
    for i in 0..n {
        x[i * d] += 1.5 * class[i] as f64;
        x[i * d + 1] -= (class[i] * class[i]) as f64;
    }
    let names: Vec<String> = class.iter().map(|c| format!("c{c}")).collect();
    (x, class, Targets::Classes(Labels::new(names)))
}

fn errors(model: &Machine, points: &Points, targets: &Targets) -> usize {
    let got = model.predict(points.view(), Exec::one()).expect("points");
    let (got, want) = (got.classes().expect("classes"), targets.classes().expect("classes"));
    (0..got.len()).filter(|&i| got.name_of(i) != want.name_of(i)).count()
}

#[test]
fn a_linear_kernel_gives_linear_discriminant_analysis() {
    for (k, d) in [(2, 3), (3, 4), (4, 3)] {
        let (x, class, targets) = classes(60, k, d, 11);
        let points = Points::dense(x.clone(), d).expect("whole rows");
        let kernel = Some(Kernel::Linear);
        // Nearly nothing: lambda only picks among the many coefficients that have the same direction.
        let params = KfdParams { kernel, lambda: 1e-6, ..KfdParams::default() };
        let model = fit(&params, &points, &targets).expect("classes");
        let fresh = draw::normals(40, d, 5);
        let want = reference::lda(&x, d, &class, k, &fresh);
        let got =
            model.decision(Points::dense(fresh, d).expect("whole rows").view(), Exec::one()).expect("points");
        if k == 2 {
            // One output, scaled to 2 between the means: proportional to the difference of the scores.
            let apart: Vec<f64> = want.chunks(2).map(|s| s[1] - s[0]).collect();
            let scale = got[0] / apart[0];
            assert!(scale > 0.0);
            got.iter().zip(&apart).for_each(|(g, w)| close(*g, scale * w, 1e-5 * (1.0 + w.abs())));
        } else {
            for (got, want) in got.chunks(k).zip(want.chunks(k)) {
                (1..k).for_each(|c| close(got[c] - got[0], want[c] - want[0], 1e-4 * (1.0 + want[c].abs())));
            }
        }
    }
}

#[test]
fn the_program_and_the_eigenproblem_have_one_direction() {
    let (points, targets) = toy::banana(50, 3);
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let k = mercer::gram::square::<f64>(&kernel, points.view(), Exec::one()).expect("numbers").to_vec();
    let labels = targets.classes().expect("classes").of_row.clone();
    let (n, lambda) = (50, 0.3);
    for penalty in [KfdPenalty::Identity, KfdPenalty::Kernel] {
        let params = KfdParams { kernel: Some(kernel.clone()), lambda, penalty, ..KfdParams::default() };
        let model = fit(&params, &points, &targets).expect("classes");
        // min |xi|^2 + lambda a'Pa, K a + b = y + xi, sums of xi over both classes zero: its KKT system, entry by entry.
        let size = n + 3;
        let mut system = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        let y = |i: usize| if labels[i] == 1 { 1.0 } else { -1.0 };
        for p in 0..n {
            for q in 0..n {
                let p_term = match penalty {
                    KfdPenalty::Identity => f64::from(u8::from(p == q)),
                    KfdPenalty::Kernel => k[p * n + q],
                };
                system[p * size + q] =
                    (0..n).map(|i| k[i * n + p] * k[i * n + q]).sum::<f64>() + lambda * p_term;
            }
            system[p * size + n] = (0..n).map(|i| k[i * n + p]).sum();
            system[n * size + p] = system[p * size + n];
            right[p] = (0..n).map(|i| k[i * n + p] * y(i)).sum();
            for c in 0..2 {
                let sum: f64 = (0..n).filter(|&i| labels[i] == c as u32).map(|i| k[i * n + p]).sum();
                system[p * size + n + 1 + c] = sum;
                system[(n + 1 + c) * size + p] = sum;
            }
        }
        system[n * size + n] = n as f64;
        right[n] = (0..n).map(y).sum();
        for c in 0..2 {
            let count = labels.iter().filter(|&&l| l == c as u32).count() as f64;
            system[n * size + n + 1 + c] = count;
            system[(n + 1 + c) * size + n] = count;
            right[n + 1 + c] = if c == 1 { count } else { -count };
        }
        // The three sums depend on each other (both classes together are all rows), but the solution in a and b is one:
        // what is left of the offset's own row is that the multipliers' weighted sum is zero.
        (0..=n).for_each(|j| system[n * size + j] = 0.0);
        right[n] = 0.0;
        let want = reference::solve(&system, &right);
        let f = |i: usize| (0..n).map(|j| k[i * n + j] * want[j]).sum::<f64>() + want[n];
        let got = model.decision(points.view(), Exec::one()).expect("points");
        (0..n).for_each(|i| close(got[i], f(i), 1e-5));
    }
}

#[test]
fn the_sparse_forms_are_as_good_with_few_centres() {
    let (points, targets) = toy::banana(200, 1);
    let (fresh, truth) = toy::banana(600, 2);
    let kernel = Some(Kernel::Rbf { gamma: 1.0 });
    let all = fit(&KfdParams { kernel: kernel.clone(), ..KfdParams::default() }, &points, &targets)
        .expect("classes");
    assert_eq!(all.expansion.len(), 200);
    let want = errors(&all, &fresh, &truth);
    for (form, lambda) in [(KfdForm::Sparse, 2.0), (KfdForm::Linear, 0.5), (KfdForm::Greedy, 0.1)] {
        let params = KfdParams { kernel: kernel.clone(), form, lambda, centres: 20, ..KfdParams::default() };
        let few = fit(&params, &points, &targets).expect("classes");
        assert!(few.expansion.len() <= 20, "{form:?}: {}", few.expansion.len());
        assert_eq!(few.support.len(), few.expansion.len());
        let got = errors(&few, &fresh, &truth);
        assert!(got <= want + 18, "{form:?}: {got} errors, {want} of the closed form");
    }
}

#[test]
fn flat_kernels_whose_columns_are_nearly_alike_still_give_a_discriminant() {
    let (points, targets) = toy::banana(200, 1);
    for form in [KfdForm::Sparse, KfdForm::Linear] {
        for (gamma, lambda) in [(0.001, 0.01), (0.01, 0.1), (0.1, 0.01)] {
            let params =
                KfdParams { kernel: Some(Kernel::Rbf { gamma }), form, lambda, ..KfdParams::default() };
            let model = fit(&params, &points, &targets).expect("columns that differ a little");
            let wrong = errors(&model, &points, &targets);
            assert!(wrong < 50, "{form:?}, gamma {gamma}, lambda {lambda}: {wrong} of 200");
        }
    }
}

#[test]
fn leaving_out_one_row_is_fitting_without_it() {
    let (points, targets) = toy::banana(40, 7);
    let kernel = Kernel::Rbf { gamma: 0.7 };
    let params =
        KfdParams { kernel: Some(kernel), lambda: 0.05, leave_one_out: true, ..KfdParams::default() };
    let model = fit(&params, &points, &targets).expect("classes");
    let told = model.facts.iter().find(|f| f.0 == "leave_one_out_error").expect("asked").1;
    // The true one leaves the row out of the centres too: near, not the same.
    let wrong = (0..40)
        .filter(|&i| {
            let keep: Vec<usize> = (0..40).filter(|&j| j != i).collect();
            let (x, y) = (points.gather(&keep), targets.gather(&keep));
            errors(&fit(&params, &x, &y).expect("classes"), &points.gather(&[i]), &targets.gather(&[i])) == 1
        })
        .count();
    close(told, wrong as f64 / 40.0, 0.08);
}

#[test]
fn thresholds_and_probabilities() {
    let (x, _, targets) = classes(120, 2, 2, 4);
    let points = Points::dense(x, 2).expect("whole rows");
    for threshold in [KfdThreshold::Means, KfdThreshold::Svm, KfdThreshold::Probability] {
        let params = KfdParams { threshold, ..KfdParams::default() };
        let model = fit(&params, &points, &targets).expect("classes");
        assert!(errors(&model, &points, &targets) < 30, "{threshold:?}");
        let told = model.probabilities(points.view(), Exec::one());
        assert_eq!(told.is_ok(), threshold == KfdThreshold::Probability);
        if let Ok(told) = told {
            assert!(
                told.values
                    .chunks(2)
                    .all(|p| (p[0] + p[1] - 1.0).abs() < 1e-12 && p[0] >= 0.0 && p[1] >= 0.0)
            );
            // The sign of the output and the likelier class agree between the means.
            assert!(told.contradict.len() < 6, "{:?}", told.contradict);
        }
    }
    let (x, _, three) = classes(120, 3, 2, 4);
    let points = Points::dense(x, 2).expect("whole rows");
    let params = KfdParams { threshold: KfdThreshold::Probability, ..KfdParams::default() };
    let told = fit(&params, &points, &three)
        .expect("classes")
        .probabilities(points.view(), Exec::one())
        .expect("asked");
    assert!(told.values.chunks(3).all(|p| (p.iter().sum::<f64>() - 1.0).abs() < 1e-12));
}

#[test]
fn numbers_weights_matrices_and_directions() {
    let (points, targets) = toy::sinc(80, 1);
    for form in [KfdForm::Closed, KfdForm::Sparse, KfdForm::Linear, KfdForm::Greedy] {
        let params = KfdParams { form, lambda: 0.02, centres: 20, ..KfdParams::default() };
        let model = fit(&params, &points, &targets).expect("numbers");
        let got = model.predict(points.view(), Exec::one()).expect("points");
        let (got, want) = (got.reals().expect("numbers"), targets.reals().expect("numbers"));
        let error = got.iter().zip(want).map(|(g, w)| (g - w).powi(2)).sum::<f64>() / 80.0;
        assert!(error < 0.03, "{form:?}: {error}");
    }
    let (points, targets) = toy::banana(60, 2);
    let kernel = Kernel::Rbf { gamma: 0.4 };
    // A row of weight 2 is a row that is there twice, one of weight 0 is not there.
    let mut weight = vec![1.0; 60];
    (weight[3], weight[10]) = (2.0, 0.0);
    let rows: Vec<usize> = (0..60).filter(|&i| i != 10).chain([3]).collect();
    let (again, twice) = (points.gather(&rows), targets.gather(&rows));
    for form in [KfdForm::Closed, KfdForm::Greedy, KfdForm::Sparse] {
        let penalty = KfdPenalty::Kernel;
        let kernel_again = Some(kernel.clone());
        let params =
            KfdParams { kernel: kernel_again, form, penalty, centres: 10, tol: 1e-6, ..KfdParams::default() };
        let weighted = params
            .fit(Sample::new(&points, &targets).weighted(&weight), Exec::one(), &mut silent())
            .expect("weights");
        let plain = fit(&params, &again, &twice).expect("classes");
        let at = |m: &Machine| m.decision(points.view(), Exec::one()).expect("points");
        at(&weighted).iter().zip(at(&plain)).for_each(|(a, b)| close(*a, b, 2e-3));
        // The same from its matrix alone.
        let k = mercer::gram::square::<f64>(&kernel, points.view(), Exec::one()).expect("numbers").to_vec();
        let (matrix, numbers) =
            (Matrix::new(k.clone(), 60).expect("symmetric"), Points::row_numbers((0..60).collect()));
        let params = KfdParams { kernel: Some(Kernel::Precomputed), ..params };
        let sample = Sample::new(&numbers, &targets).with_gram(&matrix).weighted(&weight);
        let given = params.fit(sample, Exec::one(), &mut silent()).expect("a matrix");
        let values = Points::dense(k, 60).expect("whole rows");
        let got = given.decision(values.view(), Exec::one()).expect("kernel values");
        got.iter().zip(at(&weighted)).for_each(|(a, b)| close(*a, b, 1e-6));
    }
    let (x, _, three) = classes(60, 3, 3, 4);
    let points = Points::dense(x, 3).expect("whole rows");
    let seen = KfdParams::default().directions(Sample::new(&points, &three), Exec::one()).expect("classes");
    assert_eq!(seen.outputs(), 2);
}

#[test]
fn data_with_nothing_to_tell_is_told_apart_from_data_with_little() {
    let one = Points::dense(vec![1.0, 2.0], 2).expect("one row");
    let e = fit(&KfdParams::default(), &one, &Targets::Classes(Labels::new(["a"]))).expect_err("one class");
    assert_eq!(e.to_string(), "classes: got 1, expected at least 2");
    let same = Points::dense(vec![1.0; 8], 2).expect("rows");
    let labels = Targets::Classes(Labels::new(["a", "b", "a", "b"]));
    for form in [KfdForm::Closed, KfdForm::Sparse, KfdForm::Linear, KfdForm::Greedy] {
        let params = KfdParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), form, ..KfdParams::default() };
        let e = fit(&params, &same, &labels).expect_err("one point").to_string();
        assert!(e.contains("one mean for both"), "{form:?}: {e}");
        // One row of each class, and rows that are there many times: N is singular.
        let two = Points::dense(vec![0.0, 1.0], 1).expect("rows");
        let both = Targets::Classes(Labels::new(["a", "b"]));
        let model = fit(&params, &two, &both).expect("two rows");
        assert_eq!(errors(&model, &two, &both), 0);
        let copies = Points::dense(vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0], 1).expect("rows");
        let labels = Targets::Classes(Labels::new(["a", "a", "a", "b", "b", "b"]));
        let model = fit(&params, &copies, &labels).expect("copies");
        assert_eq!(errors(&model, &copies, &labels), 0, "{form:?}");
    }
    let singular = KfdParams { lambda: 0.0, kernel: Some(Kernel::Linear), ..KfdParams::default() };
    let (x, _, targets) = classes(30, 2, 2, 1);
    let points = Points::dense(x, 2).expect("rows");
    let model = fit(&singular, &points, &targets).expect("30 columns of rank 2");
    assert!(model.info.notes.iter().any(|n| n.contains("singular")));
    assert!(errors(&model, &points, &targets) < 10);
    let bad = KfdParams { lambda: -1.0, ..KfdParams::default() };
    assert!(bad.check().is_err());
}

#[test]
fn a_saved_discriminant_is_the_same() {
    let (x, _, targets) = classes(40, 3, 2, 9);
    let points = Points::dense(x, 2).expect("rows");
    for form in [KfdForm::Closed, KfdForm::Sparse, KfdForm::Greedy] {
        let params = KfdParams { form, threshold: KfdThreshold::Probability, ..KfdParams::default() };
        let model = Model::from(fit(&params, &points, &targets).expect("classes"));
        let back =
            Model::from_bytes("memory", &model.to_bytes().expect("no code inside")).expect("just written");
        assert_eq!(back, model);
        let seen = model.explain(None, Exec::one(), &mut silent()).expect("a look");
        assert_eq!(seen.machines.len(), 3);
    }
}

#[test]
fn many_noisy_rows_are_a_program_like_any_other() {
    let n = 8000;
    let (x, noise) = (draw::normals(n, 2, 1), draw::normals(n, 1, 2));
    let side = |(x, e): (&[f64], &f64)| if x[0] * x[0] + x[1] + 1.5 * e > 1.0 { "a" } else { "b" };
    let targets = Targets::Classes(Labels::new(x.chunks(2).zip(&noise).map(side)));
    let points = Points::dense(x, 2).expect("whole rows");
    let kernel = Some(Kernel::Rbf { gamma: 0.5 });
    let params = KfdParams { form: KfdForm::Linear, kernel, ..KfdParams::default() };
    // All rounds would take minutes; two programs are enough to see that they can be solved.
    let mut calls = 0;
    let mut watch = |_: &Step| {
        calls += 1;
        if calls < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let model = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch).expect("a program");
    assert!(calls == 2 && model.info.stop == Stop::Cancelled, "{:?}", model.info);
    let wrong = errors(&model, &points, &targets) as f64 / n as f64;
    assert!(wrong < 0.35, "{wrong} of the rows are wrong");
}
