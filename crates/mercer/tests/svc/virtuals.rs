//! Virtual support vectors: the second run is a fit on support vectors and their images, and machines learn what they
//! were told.

use mercer::data::{ImageShape, Labels, Points, Targets, Transformations};
use mercer::kernel::Kernel;
use mercer::model::svc::{Multi, SvcParams};
use mercer::model::{Machine, Model, Sample};
use mercer::watch::silent;
use mercer::{Exec, Result};
use mercer_testkit::{assert, toy};

use crate::help::{clouds, fit, rbf};

fn try_fit(params: &SvcParams, points: &Points, targets: &Targets) -> Result<Machine> {
    params.fit(Sample::new(points, targets), Exec::one(), &mut silent())
}

/// A quarter turn of the plane, which takes the clouds of four classes to each other, and so is no good invariance; a
/// mirror at the x axis keeps the first and the third.
fn mirrored() -> Transformations {
    Transformations::default().with_fn("mirror", |row| row[1] = -row[1])
}

#[test]
fn the_second_run_is_a_fit_on_vectors_and_their_images() {
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        let (points, targets) = clouds(3, 40, 5);
        let plain = SvcParams { kernel: Some(rbf(0.3)), c: 5.0, multi, tol: 1e-7, ..SvcParams::default() };
        let first = fit(&plain, &points, &targets);
        let union = SvcParams { virtual_vectors: mirrored(), virtual_union: true, ..plain.clone() };
        let got = fit(&union, &points, &targets);
        // By hand.
        let held: Vec<usize> = first.support.iter().map(|&r| r as usize).collect();
        let own = points.gather(&held);
        let all = own.concat(&mirrored().apply(own.view(), Exec::one()).expect("rows")).expect("alike");
        let labels = targets.classes().expect("classes");
        let names = held.iter().chain(&held).map(|&r| labels.name_of(r));
        let want = fit(&plain, &all, &Targets::Classes(Labels::new(names)));
        let probe = Points::dense(toy::normals(50, 2, 9), 2).expect("whole rows");
        let outputs = |m: &Machine| m.decision(probe.view(), Exec::one()).expect("outputs");
        assert::all_close(&outputs(&got), &outputs(&want), 1e-4);
        // Rows are those of the training set, virtual or not.
        assert!(got.support.iter().all(|r| first.support.contains(r)));
        assert!(got.info.notes.iter().any(|n| n.contains("virtual examples")), "{:?}", got.info.notes);
    }
}

#[test]
fn each_machine_goes_on_with_its_own_vectors() {
    let (points, targets) = clouds(3, 40, 6);
    let plain = SvcParams {
        kernel: Some(rbf(0.3)),
        c: 5.0,
        multi: Multi::OneVsRest,
        tol: 1e-7,
        ..SvcParams::default()
    };
    let first = fit(&plain, &points, &targets);
    let got = fit(&SvcParams { virtual_vectors: mirrored(), ..plain.clone() }, &points, &targets);
    for (before, after) in first.parts.iter().zip(&got.parts) {
        let own = before.free.len() + before.bounded.len();
        assert_eq!(after.rows, 2 * own);
    }
    // The first machine by hand, on two classes.
    let machine = &first.parts[0];
    let mut held: Vec<usize> = machine.free.iter().chain(&machine.bounded).map(|&r| r as usize).collect();
    held.sort_unstable();
    let own = points.gather(&held);
    let all = own.concat(&mirrored().apply(own.view(), Exec::one()).expect("rows")).expect("alike");
    let labels = targets.classes().expect("classes");
    let side = |&r: &usize| if labels.of_row[r] == first.sides()[0].positive { "yes" } else { "no" };
    let want = fit(&plain, &all, &Targets::Classes(Labels::new(held.iter().chain(&held).map(side))));
    let probe = Points::dense(toy::normals(50, 2, 9), 2).expect("whole rows");
    let of = |m: &Machine| m.decision(probe.view(), Exec::one()).expect("outputs");
    let got: Vec<f64> = of(&got).chunks(3).map(|line| line[0]).collect();
    assert::all_close(&got, &of(&want), 1e-4);
}

/// Bars at a random place in a frame of 8 x 8, upright or flat: few rows and no shifts are not enough.
fn bars(n: usize, seed: u64) -> (Points, Targets) {
    let noise = toy::normals(n, 64, seed);
    let (mut x, mut names) = (Vec::new(), Vec::new());
    for i in 0..n {
        let at = 2 + i / 2 % 4;
        for p in 0..64 {
            let on = if i % 2 == 0 { p % 8 == at } else { p / 8 == at };
            x.push(f64::from(u8::from(on)) + 0.25 * noise[i * 64 + p]);
        }
        names.push(if i % 2 == 0 { "upright" } else { "flat" });
    }
    let points = Points::dense(x, 64).expect("whole rows").with_image(ImageShape::grey(8, 8)).expect("8 x 8");
    (points, Targets::Classes(Labels::new(names)))
}

#[test]
fn shifted_bars_are_learned_from_few() {
    // Bars in two places to learn from, in four to judge by.
    let (points, targets) = bars(200, 1);
    let two: Vec<usize> = (0..200).filter(|i| i / 2 % 4 % 3 == 1).take(24).collect();
    let labels = targets.classes().expect("classes");
    let few = Targets::Classes(Labels::new(two.iter().map(|&i| labels.name_of(i))));
    let kernel = Some(Kernel::Poly { degree: 3, scale: 1.0 / 64.0, coef0: 0.1 });
    let plain = SvcParams { kernel, c: 100.0, ..SvcParams::default() };
    let wrong = |params: &SvcParams| -> usize {
        let model = fit(params, &points.gather(&two), &few);
        let told = model.labels(points.view(), Exec::one()).expect("labels");
        (0..200).filter(|&i| told.name_of(i) != labels.name_of(i)).count()
    };
    let shifts: Transformations = "shift=1, background=0".parse().expect("a line");
    let with = SvcParams { virtual_vectors: shifts, virtual_rounds: 2, ..plain.clone() };
    let (without, with) = (wrong(&plain), wrong(&with));
    assert!(with * 2 < without, "{with} of 200 wrong with shifts, {without} without");
}

#[test]
fn models_are_saved_and_what_cannot_be_is_said() {
    let (points, targets) = bars(40, 2);
    let params = SvcParams {
        kernel: Some(rbf(0.02)),
        virtual_vectors: "shift=1".parse().expect("a line"),
        virtual_kernel: Some(rbf(0.05)),
        ..SvcParams::default()
    };
    let model = fit(&params, &points, &targets);
    assert_eq!(model.expansion.kernel(), &rbf(0.05));
    let want = model.decision(points.view(), Exec::one()).expect("outputs");
    let whole = Model::from(model);
    let back = Model::from_bytes("a file", &whole.to_bytes().expect("bytes")).expect("a model");
    let back = back.machine;
    assert_eq!(back.svc(), Some(&params));
    assert_eq!(back.decision(points.view(), Exec::one()).expect("outputs"), want);

    let own = SvcParams { virtual_vectors: mirrored(), ..params.clone() };
    let (plane, sides) = clouds(2, 20, 3);
    assert!(fit(&own, &plane, &sides).svc().expect("a classifier").virtual_vectors.is_empty());
    let told = |params: &SvcParams, points: &Points, targets: &Targets| {
        try_fit(params, points, targets).expect_err("no way").to_string()
    };
    assert!(told(&params, &plane, &sides).contains("images"));
    let sure = SvcParams { probability: true, ..params.clone() };
    assert!(told(&sure, &points, &targets).contains("probability"));
    let none = SvcParams { virtual_rounds: 0, ..params };
    assert!(told(&none, &points, &targets).contains("virtual_rounds"));
}
