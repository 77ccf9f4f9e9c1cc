//! Estimates against what training again gives, and bounds against cases where they are known.

use super::*;
use crate::data::{Dataset, Labels, Points, Targets, toy};
use crate::exec::Exec;
use crate::gram::{KernelRows, Matrix};
use crate::kernel::Kernel;
use crate::model::svc::{Slack, SvcParams};
use crate::model::{RidgeParams, Sample};
use crate::watch::silent;
use mercer_testkit::assert;

fn params(c: f64) -> SvcParams {
    SvcParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), c, tol: 1e-9, ..SvcParams::default() }
}

/// `y f` of machines trained without each row, and which rows are free and bounded there.
fn left_out(params: &SvcParams, data: &Dataset) -> Vec<(f64, [Vec<usize>; 2])> {
    let labels = data.targets.classes().expect("classes");
    let n = data.len();
    let one = |p: usize| {
        let rest: Vec<usize> = (0..n).filter(|&i| i != p).collect();
        let part = data.gather(&rest);
        let model =
            params.fit(Sample::new(&part.points, &part.targets), Exec::one(), &mut silent()).expect("a fit");
        let f = model.decision(data.points.gather(&[p]).view(), Exec::one()).expect("a point")[0];
        let positive = model.classes()[model.sides()[0].positive as usize] == labels.name_of(p);
        let rows = |set: &[u32]| {
            let mut set: Vec<usize> = set.iter().map(|&i| rest[i as usize]).collect();
            set.sort_unstable();
            set
        };
        let machine = &model.parts[0];
        (if positive { f } else { -f }, [rows(&machine.free), rows(&machine.bounded)])
    };
    (0..n).map(one).collect()
}

#[test]
fn the_span_is_leaving_one_out_where_no_row_changes_its_place() {
    let (points, targets) = toy::banana(60, 3);
    let data = Dataset::new(points, targets).expect("one per row");
    let sample = Sample::new(&data.points, &data.targets);
    // Without a box only rows that come and go change places; with one, few are left that do not.
    let cases = [
        (params(0.3), 1),
        (params(3.0), 1),
        (SvcParams { slack: Slack::Squared, ..params(3.0) }, 5),
        (SvcParams { shift: 0.2, ..params(1.0) }, 1),
    ];
    for (params, least) in cases {
        let model = params.fit(sample, Exec::one(), &mut silent()).expect("a fit");
        let machine =
            &TrainedMachine::all(&model, sample, Exec::one(), &mut silent()).expect("its own data")[0];
        let got = span(machine, Exec::one()).expect("few rows");
        let mut same = 0;
        let truth = left_out(&params, &data);
        for (p, (f, sets)) in truth.iter().enumerate() {
            let without = |rows: &[u32]| {
                let mut set: Vec<usize> = rows.iter().map(|&i| i as usize).filter(|&i| i != p).collect();
                set.sort_unstable();
                set
            };
            let own = &model.parts[0];
            if sets[0] == without(&own.free) && sets[1] == without(&own.bounded) && machine.coef[p] != 0.0 {
                assert::close(got.left_out[p], *f, 1e-5 * (1.0 + f.abs()));
                same += 1;
            }
        }
        assert!(same >= least, "{params:?}: only {same} rows to compare");
        let errors = truth.iter().filter(|(f, _)| *f <= 0.0).count();
        assert!(got.errors.abs_diff(errors) <= 3, "{} estimated, {errors} true", got.errors);
        assert!(got.errors <= support_count(machine).support);
    }
}

#[test]
fn a_plane_with_too_many_rows_on_its_margin_has_a_span_all_the_same() {
    // Two rows of three points: whatever four or more of them are on the margin, the fourth lies in the others' hull.
    let points =
        Points::dense(vec![0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0], 2).expect("rows");
    let targets = Targets::Classes(Labels::new(["a", "a", "a", "b", "b", "b"]));
    let params = SvcParams { kernel: Some(Kernel::Linear), c: 1e3, tol: 1e-6, ..SvcParams::default() };
    let sample = Sample::new(&points, &targets);
    let model = params.fit(sample, Exec::one(), &mut silent()).expect("separable");
    let machine = &TrainedMachine::all(&model, sample, Exec::one(), &mut silent()).expect("refitted")[0];
    let bound = span(machine, Exec::one()).expect("few rows");
    assert!(bound.spans.iter().all(|(_, s2)| (0.0..=5.0 + 1e-6).contains(s2)), "{bound:?}");
    // |w| = 2, and the six points lie in a circle of radius sqrt(1 + 1/4).
    let radius = radius_margin(machine, Exec::one(), &mut silent()).expect("a sphere");
    assert::close(radius.norm2, 4.0, 1e-4);
    assert::close(radius.radius2, 1.25, 1e-3);
}

#[test]
fn other_data_is_refused() {
    let (points, targets) = toy::banana(60, 3);
    let model = params(1.0).fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
    let (other, labels) = toy::banana(60, 4);
    assert!(TrainedMachine::all(&model, Sample::new(&other, &labels), Exec::one(), &mut silent()).is_err());
    let (fewer, labels) = toy::banana(50, 3);
    let e = TrainedMachine::all(&model, Sample::new(&fewer, &labels), Exec::one(), &mut silent())
        .expect_err("too few");
    assert!(e.to_string().contains("60"), "{e}");
}

#[test]
fn several_classes_have_a_bound_each() {
    let (points, targets) = toy::three_clusters(90, 2);
    let sample = Sample::new(&points, &targets);
    let model = params(1.0).fit(sample, Exec::one(), &mut silent()).expect("a fit");
    let machines = TrainedMachine::all(&model, sample, Exec::one(), &mut silent()).expect("its own data");
    assert_eq!(machines.len(), model.parts.len());
    let rows = KernelRows::new(model.expansion.kernel(), &points, Exec::one()).expect("points");
    let matrix = Matrix::new(crate::gram::exact(&rows, Exec::one()), 90).expect("symmetric");
    let again = TrainedMachine::all(&model, sample.with_gram(&matrix), Exec::one(), &mut silent())
        .expect("from a matrix");
    let norms = model.expansion.norm2(Exec::one()).expect("points");
    for ((a, b), norm2) in machines.iter().zip(&again).zip(norms) {
        assert::close(a.norm2(), norm2, 1e-9 * norm2);
        assert::close_to_scale(&a.output, &b.output, 1e-9);
        let (a, b) = (span(a, Exec::one()).expect("few"), span(b, Exec::one()).expect("few"));
        assert::close_to_scale(&a.left_out, &b.left_out, 1e-9);
    }
}

#[test]
fn ridge_leaves_one_out_exactly() {
    let kernel = Some(Kernel::Rbf { gamma: 0.7 });
    for offset in [false, true] {
        let params = RidgeParams { kernel: kernel.clone(), lambda: 0.3, offset, ..RidgeParams::default() };
        for (points, targets) in [toy::sinc(25, 1), toy::banana(30, 2), toy::three_clusters(30, 2)] {
            let n = points.len();
            let weights: Vec<f64> = (0..n).map(|i| [1.0, 0.5, 2.0, 0.0][i % 4]).collect();
            let sample = Sample::new(&points, &targets).weighted(&weights);
            let got = ridge_leave_one_out(&params, sample, Exec::one()).expect("few rows");
            let k = got.outputs.len() / got.rows.len();
            for (line, &p) in got.outputs.chunks(k).zip(&got.rows) {
                let mut without = weights.clone();
                without[p as usize] = 0.0;
                let model = params.fit(sample.weighted(&without), Exec::one(), &mut silent()).expect("a fit");
                let want = model.decision(points.gather(&[p as usize]).view(), Exec::one()).expect("a point");
                assert::close_to_scale(line, &want, 1e-8);
            }
            assert_eq!(got.errors.is_some(), targets.classes().is_ok());
        }
    }
}

#[test]
fn bounds_of_the_risk_rise_with_capacity_and_stay_void() {
    let at = |h: f64| vc_bound(h, 1000, 0.1, 0.05).expect("in range").risk;
    let risks: Vec<f64> = [0.0, 1.0, 10.0, 100.0, 1000.0, 2000.0].map(at).to_vec();
    assert!(risks.is_sorted_by(|a, b| a < b) && risks[0] > 0.1 && risks[4] > 1.0, "{risks:?}");
    assert_eq!(at(1e9), at(2000.0));
    assert!(vc_bound(1.0, 0, 0.0, 0.05).is_err() && vc_bound(1.0, 10, 0.0, 0.0).is_err());
}

#[test]
fn c_comes_to_rest_and_is_smaller_with_noise() {
    let (points, targets) = toy::banana(120, 5);
    let sample = Sample::new(&points, &targets);
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let rows = KernelRows::new(&kernel, &points, Exec::one()).expect("points");
    let matrix = rows.whole_matrix(Exec::one());
    let (radius2, _) =
        crate::model::enclosing_radius2(&matrix, Exec::one(), &mut silent()).expect("a sphere");
    let params = SvcParams { kernel: Some(kernel.clone()), ..SvcParams::default() };
    let auto = AutoC { start: 10.0, steps: 30, tol: 1e-3, ..AutoC::default() };
    let mut seen = 0;
    let chosen = auto
        .run(&params, sample, (&matrix, radius2), Exec::one(), &mut silent(), &mut |_, _| {
            seen += 1;
            Ok(())
        })
        .expect("it comes to an end");
    assert_eq!(seen, chosen.steps.len());
    let last = chosen.steps.last().expect("a step");
    assert!(chosen.c > 0.0 && chosen.c < 10.0 && last.dimension > 0.0, "{chosen:?}");
    // The equation's own fixed point, or a cycle around it no wider than a factor of three.
    if let Some(next) = last.next {
        assert!((next / chosen.c).ln().abs() < 3f64.ln(), "{last:?}");
    }
}

#[test]
fn the_smallest_power_that_separates() {
    let (points, targets) = toy::spirals(80, 1);
    let sample = Sample::new(&points, &targets);
    let params = SvcParams { kernel: Some(Kernel::Rbf { gamma: 2.0 }), ..SvcParams::default() };
    let found = separating_c(&params, sample, -3..=6, Exec::one(), &mut silent()).expect("fits");
    let c = found.c.expect("a narrow Gaussian separates anything");
    assert!(found.separable && found.tried.last() == Some(&(c, 0)));
    assert!(found.tried.iter().rev().skip(1).all(|(_, errors)| *errors > 0));
    // One class inside the other, on a line: no plane separates them.
    let points = Points::dense(vec![-1.0, 0.0, 1.0], 1).expect("rows");
    let targets = Targets::Classes(Labels::new(["a", "b", "a"]));
    let linear = SvcParams { kernel: Some(Kernel::Linear), ..SvcParams::default() };
    let none = separating_c(&linear, Sample::new(&points, &targets), 0..=2, Exec::one(), &mut silent())
        .expect("fits");
    assert_eq!((none.c, none.separable, none.tried.len()), (None, false, 3));
}

#[test]
fn kernels_are_chosen_by_their_capacity() {
    let (points, targets) = toy::ring(100, 1);
    let sample = Sample::new(&points, &targets);
    let kernels: Vec<Kernel> = (1..4).map(|degree| Kernel::Poly { degree, scale: 1.0, coef0: 1.0 }).collect();
    let params = SvcParams { c: 10.0, ..SvcParams::default() };
    let mut seen = Vec::new();
    let chosen = choose_kernel(&kernels, &params, sample, 0.05, Exec::one(), &mut silent(), &mut |k, _| {
        seen.push(k);
        Ok(())
    })
    .expect("fits");
    assert_eq!((seen, chosen.len()), (vec![0, 1, 2], 1));
    let tried = &chosen[0].tried;
    assert!(tried[0].training_errors > 10, "no line parts a ring from its middle");
    for t in tried {
        assert::close(t.capacity, t.radius2 * t.norm2, 1e-12 * t.capacity);
    }
    let least = (0..3).min_by(|&a, &b| tried[a].risk.total_cmp(&tried[b].risk)).expect("three");
    assert_eq!(chosen[0].by_risk, least);
}

#[test]
fn alignment_is_the_cosine_of_matrices() {
    let (points, targets) = toy::three_clusters(40, 1);
    let rows = KernelRows::new(&Kernel::Rbf { gamma: 1.0 }, &points, Exec::one()).expect("points");
    let got = alignment(&rows, &targets, Exec::one()).expect("classes");
    // The slow way: both matrices written out.
    let n = points.len();
    let k = crate::gram::exact(&rows, Exec::one());
    let labels = targets.classes().expect("classes");
    let c = labels.names.len() as f64;
    let t: Vec<f64> = (0..n * n)
        .map(|at| if labels.of_row[at / n] == labels.of_row[at % n] { 1.0 } else { -1.0 / (c - 1.0) })
        .collect();
    let centred = |a: &[f64]| -> Vec<f64> {
        let mean: Vec<f64> = a.chunks(n).map(|line| line.iter().sum::<f64>() / n as f64).collect();
        let grand = mean.iter().sum::<f64>() / n as f64;
        (0..n * n).map(|at| a[at] - mean[at / n] - mean[at % n] + grand).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = |a: &[f64], b: &[f64]| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
    assert::close(got.plain, cosine(&k, &t), 1e-6);
    assert::close(got.centred, cosine(&centred(&k), &centred(&t)), 1e-6);
}

#[test]
fn axes_below_the_scale_do_not_count() {
    // Half axes 8, 4, 1/2 at |w| = 2 on 4 rows.
    let values = [64.0, 16.0, 0.25];
    let capacity = eigen_capacity(&values, 4, 2.0, 1.0).expect("a scale");
    assert_eq!((capacity.dimensions, capacity.bits), (2, 5.0));
    assert!(capacity.bits_above > capacity.bits && capacity.spread > 1.0 && capacity.spread < 3.0);
    // log(lambda_1 / lambda_j) = (j - 1)^2 is about j^2: faster than 1, slower than 4.
    let fast: Vec<f64> = (0..6).map(|j: i32| (-f64::from(j * j)).exp()).collect();
    let p = eigen_capacity(&fast, 6, 1.0, 1.0).expect("a scale").decay.expect("six values");
    assert!((2.0..4.0).contains(&p), "{p}");
    assert!(eigen_capacity(&values, 4, 2.0, 0.0).is_err());
}

#[test]
fn the_bootstrap_sees_what_is_left_out() {
    let want: Vec<u32> = (0..200).map(|i| u32::from(i % 4 == 0)).collect();
    // Learns its rows by heart and says 0 elsewhere.
    let by_heart = |train: &[usize], test: &[usize]| -> crate::Result<Vec<u32>> {
        Ok(test.iter().map(|i| if train.contains(i) { want[*i] } else { 0 }).collect())
    };
    let found = Bootstrap::default().error(&want, &mut { by_heart }).expect("two classes");
    assert_eq!(found.training, 0.0);
    assert::close(found.left_out, 0.25, 1e-12);
    assert::close(found.e632, 0.158, 1e-12);
    assert!(found.e632_plus > found.e632 && found.e632_plus <= 0.25, "{found:?}");
    let loss: Vec<f64> = (0..400).map(|i| f64::from(u8::from(i % 10 == 0))).collect();
    let [low, high] = bootstrap_interval(&loss, 0.95, 2000, 1).expect("rows").interval;
    // The binomial's 95 % interval is 0.1 +- 0.0294.
    assert!((low - 0.0706).abs() < 0.006 && (high - 0.1294).abs() < 0.006, "{low} {high}");
}
