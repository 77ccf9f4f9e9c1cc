//! Machines for large data: what they solve, beside slow references.

use std::ops::ControlFlow;

use mercer::assess::choose_large;
use mercer::data::{Csr, Dataset, Labels, Points, Targets, toy};
use mercer::kernel::Kernel;
use mercer::model::{
    Landmarks, LargeLoss, LargeParams, Learner, Machine, Model, Plan, RidgeParams, Sample, Task, Wishes,
};
use mercer::watch::{Step, Stop, silent};
use mercer::{Error, Exec};
use mercer_testkit::assert::{close, close_to_scale};
use mercer_testkit::{reference, toy as numbers};

const LOSSES: [LargeLoss; 3] = [LargeLoss::Squared, LargeLoss::Logistic, LargeLoss::SquaredHinge];
const PLACES: [Landmarks; 3] = [Landmarks::Uniform, Landmarks::Kmeans, Landmarks::Cholesky];

fn exact(kernel: Kernel, centres: u64) -> LargeParams {
    LargeParams { kernel: Some(kernel), centres, tol: 1e-13, ..LargeParams::default() }
}

fn fitted(params: &LargeParams, sample: Sample<'_>, exec: Exec) -> Machine {
    params.fit(sample, exec, &mut silent()).expect("good data")
}

fn decided(machine: &Machine, points: &Points) -> Vec<f64> {
    machine.decision(points.view(), Exec::one()).expect("points")
}

/// The same rows as f32, sparse rows and sequences would be other numbers: these are exact in f32.
fn forms(points: &Points) -> Vec<Points> {
    let d = points.dim();
    let values: Vec<f64> =
        points.view().to_f64().expect("numbers").iter().map(|v| f64::from(*v as f32)).collect();
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in values.chunks(d) {
        for (j, &v) in row.iter().enumerate() {
            csr.column.push(j as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    vec![
        Points::dense_f32(values.iter().map(|v| *v as f32).collect(), d).expect("rows"),
        Points::sparse(csr, d).expect("rows"),
        Points::dense(values, d).expect("rows"),
    ]
}

#[test]
fn with_every_row_a_centre_it_is_ridge_regression() {
    let (points, targets) = toy::sinc(80, 1);
    let (three, classes) = toy::three_clusters(80, 2);
    let weight: Vec<f64> = (0..80).map(|i| [1.0, 0.0, 2.5, 1.0][i % 4]).collect();
    let kernel = Kernel::Rbf { gamma: 0.7 };
    for (points, targets) in [(&points, &targets), (&three, &classes)] {
        for points in forms(points) {
            for (offset, weights) in [(true, None), (false, None), (true, Some(&weight))] {
                let mut sample = Sample::new(&points, targets);
                sample.weights = weights.map(Vec::as_slice);
                let params = LargeParams { offset, lambda: 0.3, ..exact(kernel.clone(), 80) };
                let got = fitted(&params, sample, Exec::new(2));
                let kernel = Some(kernel.clone());
                let ridge = RidgeParams { kernel, lambda: 0.3, offset, ..RidgeParams::default() };
                let want = ridge.fit(sample, Exec::one(), &mut silent()).expect("good data");
                assert_eq!(got.info.stop, Stop::Converged);
                assert_eq!(got.support, want.support);
                close_to_scale(&decided(&got, &points), &decided(&want, &points), 1e-8);
            }
        }
    }
}

#[test]
fn numbers_far_from_zero_keep_their_digits() {
    let (points, targets) = toy::sinc(600, 1);
    let y = targets.reals().expect("numbers").to_vec();
    for points in forms(&points) {
        for place in PLACES {
            let kernel = Some(Kernel::Rbf { gamma: 0.5 });
            let params = LargeParams { kernel, centres: 30, lambda: 0.01, place, ..LargeParams::default() };
            let want = decided(&fitted(&params, Sample::new(&points, &targets), Exec::one()), &points);
            // A price, a year in seconds: the same curve, that much higher.
            let far = Targets::Reals(y.iter().map(|v| v + 1e6).collect());
            let got = decided(&fitted(&params, Sample::new(&points, &far), Exec::new(2)), &points);
            let got: Vec<f64> = got.iter().map(|f| f - 1e6).collect();
            close_to_scale(&got, &want, 1e-3);
            let constant = Targets::Reals(vec![3.25; 600]);
            let machine = fitted(&params, Sample::new(&points, &constant), Exec::one());
            assert_eq!(machine.info.stop, Stop::Converged);
            decided(&machine, &points).iter().for_each(|f| close(*f, 3.25, 1e-12));
        }
    }
}

#[test]
fn equal_rows_with_different_targets_are_one_row_with_their_mean() {
    let (some, targets) = toy::sinc(60, 1);
    let rows: Vec<usize> = (0..240).map(|i| i * 7 % 60).collect();
    let y: Vec<f64> = targets.reals().expect("numbers").repeat(4);
    let y: Vec<f64> = y.iter().zip(numbers::normals(240, 1, 5)).map(|(y, e)| y + 0.3 * e).collect();
    let targets = Targets::Reals(y.clone());
    let weight: Vec<f64> = (0..240).map(|i| [1.0, 0.0, 2.5, 0.5, 1.0][i % 5]).collect();
    let kernel = Kernel::Rbf { gamma: 0.7 };
    for points in forms(&some) {
        let points = points.gather(&rows);
        for weights in [None, Some(&weight)] {
            let mut sample = Sample::new(&points, &targets);
            sample.weights = weights.map(Vec::as_slice);
            let params = LargeParams { lambda: 0.3, ..exact(kernel.clone(), 60) };
            let got = fitted(&params, sample, Exec::new(2));
            assert!(got.info.notes.iter().any(|note| note.contains("duplicates are merged")));
            let ridge = RidgeParams { kernel: Some(kernel.clone()), lambda: 0.3, ..RidgeParams::default() };
            let want = ridge.fit(sample, Exec::one(), &mut silent()).expect("good data");
            close_to_scale(&decided(&got, &points), &decided(&want, &points), 1e-8);
        }
    }
}

#[test]
fn several_columns_are_as_many_fits() {
    let (points, targets) = toy::sinc(120, 1);
    let y = targets.reals().expect("numbers").to_vec();
    let right = vec![y.clone(), y.iter().map(|v| v * v).collect(), y.iter().map(|v| 1.0 - v).collect()];
    let params = exact(Kernel::Rbf { gamma: 0.5 }, 30);
    let sample = Sample::new(&points, &targets);
    let (all, _) = params.fit_columns(sample, &right, Exec::one(), &mut silent()).expect("columns");
    let got = all.evaluate(points.view(), Exec::one()).expect("points");
    for (o, y) in right.iter().enumerate() {
        let one = fitted(&params, Sample::new(&points, &Targets::Reals(y.clone())), Exec::one());
        let got: Vec<f64> = got.iter().skip(o).step_by(3).copied().collect();
        close_to_scale(&got, &decided(&one, &points), 1e-8);
    }
    assert!(params.fit_columns(sample, &[vec![1.0]], Exec::one(), &mut silent()).is_err());
    assert!(params.fit_columns(sample, &[], Exec::one(), &mut silent()).is_err());
}

/// The gradient of the problem itself, at the coefficients found, from the definition.
fn slope(machine: &Machine, points: &Points, classes: &Labels, params: &LargeParams) -> f64 {
    let kernel = machine.expansion.kernel();
    let f = decided(machine, points);
    let k = machine.outputs();
    let n = points.len();
    let mut slopes = vec![0.0; n * k];
    for i in 0..n {
        let class = classes.of_row[i] as usize;
        let line = &f[i * k..(i + 1) * k];
        for o in 0..k {
            let y = if k == 1 {
                2.0 * class as f64 - 1.0
            } else if o == class {
                1.0
            } else {
                -1.0
            };
            slopes[i * k + o] = match params.loss {
                LargeLoss::Squared => line[o] - y,
                LargeLoss::SquaredHinge => -y * (1.0 - y * line[o]).max(0.0),
                LargeLoss::Logistic if k == 1 => -y / (1.0 + (y * line[0]).exp()),
                LargeLoss::Logistic => {
                    let sum: f64 = line.iter().map(|f| f.exp()).sum();
                    line[o].exp() / sum - f64::from(u8::from(o == class))
                }
            };
        }
    }
    let centres = machine.expansion.centres().view();
    let mut worst = 0.0_f64;
    for o in 0..k {
        worst = worst.max((0..n).map(|i| slopes[i * k + o]).sum::<f64>().abs());
        for j in 0..centres.n {
            let at = |other: mercer::data::View<'_>, i: usize| kernel.value(centres.row(j), other.row(i));
            let loss: f64 = (0..n).map(|i| slopes[i * k + o] * at(points.view(), i)).sum();
            let norm: f64 =
                (0..centres.n).map(|i| machine.expansion.coef()[i * k + o] * at(centres, i)).sum();
            worst = worst.max((loss + params.lambda * norm).abs());
        }
    }
    worst / n as f64
}

/// Newton's method with dense matrices for the logistic loss over k classes (two classes: one output), from the definition:
/// the decision values of the rows, of which each row's mean is taken where there are several.
fn newton(machine: &Machine, points: &Points, classes: &Labels, params: &LargeParams) -> Vec<f64> {
    let (kernel, centres) = (machine.expansion.kernel(), machine.expansion.centres().view());
    let (n, m, k) = (points.len(), centres.n, machine.outputs());
    let rows = points.view();
    // A row's values and 1 for the offset.
    let values: Vec<f64> = (0..n)
        .flat_map(|i| (0..m).map(move |j| (i, j)).chain([(i, m)]))
        .map(|(i, j)| if j == m { 1.0 } else { kernel.value(rows.row(i), centres.row(j)) })
        .collect();
    let wide = m + 1;
    let mut c = vec![0.0; wide * k];
    let outputs = |c: &[f64]| reference::product(&values, c, n, wide, k);
    for _ in 0..60 {
        let f = outputs(&c);
        let (mut gradient, mut hessian) = (vec![0.0; wide * k], vec![0.0; wide * k * wide * k]);
        for (i, line) in f.chunks(k).enumerate() {
            let class = classes.of_row[i] as usize;
            let p: Vec<f64> = if k == 1 {
                vec![1.0 / (1.0 + (-line[0]).exp())]
            } else {
                let sum: f64 = line.iter().map(|f| f.exp()).sum();
                line.iter().map(|f| f.exp() / sum).collect()
            };
            let x = &values[i * wide..(i + 1) * wide];
            for o in 0..k {
                let hit = if k == 1 { class == 1 } else { class == o };
                for j in 0..wide {
                    gradient[j * k + o] += (p[o] - f64::from(u8::from(hit))) * x[j];
                }
                for q in 0..k {
                    let bent = if o == q { p[o] * (1.0 - p[o]) } else { -p[o] * p[q] };
                    for j in 0..wide {
                        for h in 0..wide {
                            hessian[(j * k + o) * wide * k + h * k + q] += bent * x[j] * x[h];
                        }
                    }
                }
            }
        }
        for j in 0..m {
            for h in 0..m {
                let value = params.lambda * kernel.value(centres.row(j), centres.row(h));
                for o in 0..k {
                    gradient[j * k + o] += value * c[h * k + o];
                    hessian[(j * k + o) * wide * k + h * k + o] += value;
                }
            }
        }
        // Equal offsets for all classes change nothing: that direction has no curvature.
        (0..wide * k).for_each(|p| hessian[p * wide * k + p] += 1e-9);
        let step = reference::solve(&hessian, &gradient);
        c.iter_mut().zip(&step).for_each(|(c, s)| *c -= s);
    }
    centred(&outputs(&c), k)
}

fn centred(f: &[f64], k: usize) -> Vec<f64> {
    let mean = |line: &[f64]| if k == 1 { 0.0 } else { line.iter().sum::<f64>() / k as f64 };
    f.chunks(k).flat_map(|line| line.iter().map(move |f| f - mean(line))).collect()
}

#[test]
fn the_logistic_loss_gives_what_newtons_method_gives() {
    let shake = |points: &Points, by: f64| {
        let x = points.view().to_f64().expect("numbers");
        let noise = numbers::normals(x.len(), 1, 5);
        Points::dense(x.iter().zip(noise).map(|(a, b)| a + by * b).collect(), 2).expect("rows")
    };
    let (two, two_classes) = toy::banana(120, 3);
    let (three, three_classes) = toy::three_clusters(120, 4);
    for (points, targets) in [(shake(&two, 0.5), two_classes), (shake(&three, 0.8), three_classes)] {
        for points in forms(&points) {
            for place in PLACES {
                let kernel = Kernel::Rbf { gamma: 0.6 };
                let params =
                    LargeParams { loss: LargeLoss::Logistic, place, lambda: 0.5, ..exact(kernel, 12) };
                let machine = fitted(&params, Sample::new(&points, &targets), Exec::new(2));
                let want = newton(&machine, &points, targets.classes().expect("classes"), &params);
                let got = centred(&decided(&machine, &points), machine.outputs());
                close_to_scale(&got, &want, 1e-8);
            }
        }
    }
}

#[test]
fn every_loss_is_at_its_minimum_wherever_centres_are() {
    let (two, two_classes) = toy::banana(150, 3);
    let (three, three_classes) = toy::three_clusters(150, 4);
    // Clusters that overlap: with separable ones the logistic loss has its minimum far out.
    let shaken: Vec<f64> = three
        .view()
        .to_f64()
        .expect("numbers")
        .iter()
        .zip(numbers::normals(300, 1, 5))
        .map(|(a, b)| a + 0.8 * b)
        .collect();
    let three = Points::dense(shaken, 2).expect("rows");
    for (points, targets) in [(&two, &two_classes), (&three, &three_classes)] {
        for loss in LOSSES {
            for place in PLACES {
                let params = LargeParams { loss, place, tol: 1e-10, ..exact(Kernel::Rbf { gamma: 0.6 }, 25) };
                let machine = fitted(&params, Sample::new(points, targets), Exec::one());
                assert_eq!(machine.info.stop, Stop::Converged, "{loss:?} {place:?}");
                let slope = slope(&machine, points, targets.classes().expect("classes"), &params);
                assert!(slope < 1e-7, "{loss:?} {place:?}: {slope}");
                assert_eq!(machine.support.is_empty(), place == Landmarks::Kmeans);
            }
        }
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let (points, targets) = toy::banana(900, 5);
    for loss in LOSSES {
        let params = LargeParams { loss, tol: 1e-12, ..exact(Kernel::Rbf { gamma: 1.0 }, 40) };
        let of = |exec: Exec| decided(&fitted(&params, Sample::new(&points, &targets), exec), &points);
        let want = of(Exec::one());
        for exec in
            [Exec::new(2), Exec::new(7), Exec::one().with_memory(100_000), Exec::new(3).with_memory(150_000)]
        {
            close_to_scale(&of(exec), &want, 1e-10);
        }
    }
    let few = LargeParams { centres: 800, ..exact(Kernel::Rbf { gamma: 1.0 }, 800) };
    let sample = Sample::new(&points, &targets);
    let refused = few.fit(sample, Exec::one().with_memory(1 << 10), &mut silent()).expect_err("no room");
    assert!(matches!(refused, Error::Memory { .. }), "{refused}");
    assert!(refused.to_string().starts_with("800 centres for 900 rows needs"), "{refused}");
}

#[test]
fn single_precision_is_as_good_as_its_tolerance() {
    // More values than stay in f64 whatever the tolerance.
    let (points, targets) = toy::banana(9000, 5);
    for loss in LOSSES {
        let params = LargeParams { loss, lambda: 1.0, ..exact(Kernel::Rbf { gamma: 1.0 }, 500) };
        let rough = LargeParams { tol: 1e-4, ..params.clone() };
        let fine = LargeParams { tol: 1e-9, ..params };
        let sample = Sample::new(&points, &targets);
        let (a, b) = (fitted(&rough, sample, Exec::new(2)), fitted(&fine, sample, Exec::new(2)));
        close_to_scale(&decided(&a, &points), &decided(&b, &points), 5e-3);
        assert!(a.info.iterations < b.info.iterations);
    }
}

#[test]
fn probabilities_are_those_of_the_loss_and_survive_files() {
    let (points, targets) = toy::three_clusters(90, 2);
    let entry = Learner::find("large-logistic").expect("in the table");
    assert_eq!(entry.tasks, [Task::Classification]);
    let params = LargeParams { loss: LargeLoss::Logistic, lambda: 0.01, ..LargeParams::default() };
    let model = Model::from(fitted(&params, Sample::new(&points, &targets), Exec::one()));
    let got = model.probabilities(points.view(), Exec::one()).expect("probabilities");
    assert!(got.contradict.is_empty());
    for (p, f) in got.values.chunks(3).zip(decided(&model.machine, &points).chunks(3)) {
        close(p.iter().sum(), 1.0, 1e-12);
        close((p[0] / p[1]).ln(), f[0] - f[1], 1e-9);
    }
    let right = got.values.chunks(3).zip(&targets.classes().expect("classes").of_row);
    assert!(right.filter(|(p, c)| p[**c as usize] > 0.8).count() > 80);
    let back = Model::from_bytes("memory", &model.to_bytes().expect("bytes")).expect("a model");
    assert_eq!(back, model);
    assert_eq!(back.probabilities(points.view(), Exec::one()).expect("probabilities"), got);
}

#[test]
fn a_fit_that_is_broken_off_leaves_what_there_was() {
    let (points, targets) = toy::banana(300, 1);
    for loss in LOSSES {
        let params = LargeParams { loss, ..exact(Kernel::Rbf { gamma: 1.0 }, 60) };
        let all = {
            let mut steps = 0;
            let mut count = |_: &Step| {
                steps += 1;
                ControlFlow::Continue(())
            };
            params.fit(Sample::new(&points, &targets), Exec::one(), &mut count).expect("good data");
            steps
        };
        let mut left = 0;
        for stop in 1..=all {
            let mut steps = 0;
            let mut watch = |_: &Step| {
                steps += 1;
                if steps < stop { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            match Learner::Large(params.clone()).fit(Sample::new(&points, &targets), Exec::one(), &mut watch)
            {
                Ok(machine) => {
                    assert_eq!(machine.info.stop, Stop::Cancelled);
                    assert!(decided(&machine, &points).iter().all(|f| f.is_finite()));
                    left += 1;
                }
                Err(e) => assert!(matches!(e, Error::Cancelled), "{e}"),
            }
        }
        assert!(left >= all - 3, "{left} of {all}");
    }
}

#[test]
fn limits_constants_and_equal_rows_are_answered() {
    let same = Points::dense([1.0, 2.0].repeat(50), 2).expect("rows");
    let constant = Targets::Reals(vec![3.5; 50]);
    for place in PLACES {
        let params = LargeParams { place, ..LargeParams::default() };
        let machine = fitted(&params, Sample::new(&same, &constant), Exec::one());
        decided(&machine, &same).iter().for_each(|f| close(*f, 3.5, 1e-3));
    }
    let (points, targets) = toy::sinc(200, 1);
    let short = LargeParams { max_iter: 2, ..exact(Kernel::Rbf { gamma: 1.0 }, 50) };
    assert_eq!(fitted(&short, Sample::new(&points, &targets), Exec::one()).info.stop, Stop::Limit);
    // Classes have no loss on numbers.
    let logistic = LargeParams { loss: LargeLoss::Logistic, ..LargeParams::default() };
    assert!(logistic.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).is_err());
    let zero = Targets::Reals(vec![0.0; 200]);
    let flat = fitted(&exact(Kernel::Rbf { gamma: 1.0 }, 50), Sample::new(&points, &zero), Exec::one());
    assert!(decided(&flat, &points).iter().all(|f| *f == 0.0));
}

/// Waves that the usual width, which looks at the spread of the columns alone, is far too wide for.
#[test]
fn width_and_lambda_are_chosen_where_nobody_gives_them() {
    let n = 1500;
    let x: Vec<f64> = numbers::normals(n, 1, 3).iter().map(|v| v * 2.0).collect();
    let noise = numbers::normals(n, 1, 4);
    let y: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| (6.0 * x).sin() + 0.1 * e).collect();
    let points = Points::dense(x, 1).expect("rows");
    let classes = Targets::Classes(Labels::new(y.iter().map(|y| if *y > 0.0 { "up" } else { "down" })));
    let wishes = |learner: &str| Wishes { learner: Some(learner.into()), ..Wishes::default() };
    for form in forms(&points) {
        for (targets, learners) in [
            (Targets::Reals(y.clone()), &["large"][..]),
            (classes.clone(), &["large", "large-logistic", "large-hinge"]),
        ] {
            let data = Dataset::new(form.clone(), targets).expect("rows");
            for learner in learners {
                let wishes = wishes(learner);
                let chosen = |wishes: &Wishes, threads: usize| {
                    let mut plan = Plan::new(&data, wishes, Exec::new(threads)).expect("a plan");
                    let before = plan.learner.clone();
                    let found = choose_large(&mut plan, wishes, 0, Exec::new(threads), &mut silent());
                    (before, plan.learner, found.expect("no fault"))
                };
                let (before, after, found) = chosen(&wishes, 1);
                let found = found.expect("nothing was given");
                assert!(found.after < 0.7 * found.before, "{learner}: {found:?}");
                assert_ne!(before.kernel(), after.kernel());
                assert_eq!(chosen(&wishes, 2).1, after);
                // What was given stays.
                let given = Wishes { gamma: Some(0.5), ..wishes.clone() };
                let (before, after, _) = chosen(&given, 1);
                assert_eq!(before.kernel(), after.kernel());
                let given = Wishes { params: vec![("lambda", 0.25.into())], ..wishes.clone() };
                assert_eq!(chosen(&given, 1).1.get("lambda"), Some(0.25.into()));
                let both = Wishes { gamma: Some(0.5), ..given };
                let (before, after, found) = chosen(&both, 1);
                assert!(found.is_none() && before == after);
            }
        }
    }
    for (rows, targets) in [(200, y[..200].to_vec()), (n, vec![1.5; n])] {
        let some = points.gather(&(0..rows).collect::<Vec<_>>());
        let data = Dataset::new(some, Targets::Reals(targets)).expect("rows");
        let mut plan = Plan::new(&data, &wishes("large"), Exec::one()).expect("a plan");
        let found = choose_large(&mut plan, &wishes("large"), 0, Exec::one(), &mut silent());
        assert_eq!(found.expect("no fault"), None);
    }
    let data = Dataset::new(points, classes).expect("rows");
    let mut plan = Plan::new(&data, &wishes("svc"), Exec::one()).expect("a plan");
    let found = choose_large(&mut plan, &wishes("svc"), 0, Exec::one(), &mut silent());
    assert_eq!(found.expect("no fault"), None);
}

/// Means of pixels are rounded to their grid, where kernel values are products of bytes; means of flags are not, which would
/// make them other rows.
#[test]
fn means_of_pixels_stay_on_their_grid_and_those_of_flags_do_not() {
    let (n, d, m) = (900, 6, 30);
    let normals = numbers::normals(n, d, 7);
    let targets = Targets::Reals(normals.chunks(d).map(|row| row[0] + row[1].abs()).collect());
    // Steps that are exact in f32, so that all three forms hold the same pixels.
    let pixel = |v: &f64| (128.0 + 40.0 * v).round().clamp(0.0, 255.0) / 256.0;
    let flag = |v: &f64| f64::from(u8::from(*v > 0.3));
    let means = |points: &Points, threads: usize| {
        let kernel = Some(Kernel::Rbf { gamma: 2.0 });
        let params = LargeParams { kernel, centres: m, place: Landmarks::Kmeans, ..LargeParams::default() };
        let machine = fitted(&params, Sample::new(points, &targets), Exec::new(threads));
        assert_eq!(machine.expansion.len() as u64, m);
        machine.expansion.centres().view().to_f64().expect("numbers")
    };
    let off = |v: &f64, scale: f64| (v * scale - (v * scale).round()).abs() > 1e-3;
    for form in forms(&Points::dense(normals.iter().map(pixel).collect(), d).expect("rows")) {
        let found = means(&form, 1);
        assert_eq!(found, means(&form, 2));
        if mercer::num::bytes::available() {
            assert!(!found.iter().any(|v| off(v, 256.0)));
        }
        // Means are no rows: close to what they stand for.
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }
    for form in forms(&Points::dense(normals.iter().map(flag).collect(), d).expect("rows")) {
        assert!(means(&form, 1).iter().any(|v| off(v, 1.0)));
    }
}
