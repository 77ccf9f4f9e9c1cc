//! The hard margin, and proofs that there is none.

use mercer::Exec;
use mercer::data::{Labels, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::Sample;
use mercer::model::svc::{Kind, Separation, Slack, SvcParams};
use mercer::watch::silent;
use mercer_testkit::assert::{all_close, close};
use mercer_testkit::toy;

use super::help::{clouds, disc, fit, outputs, rbf};

fn hard(kernel: Kernel) -> SvcParams {
    SvcParams { kernel: Some(kernel), kind: Kind::Hard, ..SvcParams::default() }
}

/// Two clouds in the plane with a slab of width 2 around x = 0 free of points.
fn apart(n: usize, seed: u64) -> (Points, Targets) {
    let mut x = toy::normals(n, 2, seed);
    let mut names = Vec::new();
    for row in x.chunks_mut(2) {
        row[0] += row[0].signum();
        names.push(if row[0] > 0.0 { "right" } else { "left" });
    }
    // Two rows on the very edge fix the margin.
    x.extend([-1.0, 0.3, 1.0, 0.3]);
    names.extend(["left", "right"]);
    (Points::dense(x, 2).expect("whole rows"), Targets::Classes(Labels::new(names)))
}

#[test]
fn a_known_margin_and_radius_are_found() {
    let (points, targets) = apart(80, 1);
    let model = fit(&hard(Kernel::Linear), &points, &targets);
    let margin = model.parts[0].margin.expect("separable");
    close(margin.width, 1.0, 2e-3);
    assert!(margin.width <= margin.at_most && margin.at_most <= 1.002);
    // The sphere holds all rows, and a smaller one would not hold the two farthest.
    let x = points.view().to_f64().expect("numbers");
    let far = x
        .chunks(2)
        .flat_map(|a| x.chunks(2).map(move |b| (a[0] - b[0]).hypot(a[1] - b[1])))
        .fold(0.0, f64::max);
    assert!(
        margin.radius >= far / 2.0 - 1e-6 && margin.radius <= far / 3.0_f64.sqrt() * 1.001,
        "{}",
        margin.radius
    );
    // All rows keep a functional margin of 1, some have just that, and 1 / |w| is the geometric one.
    let labels = targets.classes().expect("classes");
    let f = outputs(&model, &points);
    let tight = f
        .iter()
        .zip(&labels.of_row)
        .map(|(f, &c)| if c == 1 { *f } else { -f })
        .fold(f64::INFINITY, f64::min);
    close(tight, 1.0, 1e-9);
    let norm2 = model.expansion.norm2(Exec::one()).expect("a kernel")[0];
    close(1.0 / norm2.sqrt(), margin.width, 1e-9);
}

#[test]
fn it_is_where_large_costs_tend_to() {
    let (points, targets) = apart(60, 2);
    for kernel in [rbf(0.5), Kernel::Poly { degree: 3, scale: 1.0, coef0: 1.0 }] {
        let a = fit(&SvcParams { tol: 1e-6, ..hard(kernel.clone()) }, &points, &targets);
        let soft = SvcParams { kernel: Some(kernel), c: 1e5, tol: 1e-5, ..SvcParams::default() };
        let b = fit(&soft, &points, &targets);
        assert!(b.parts[0].bounded.is_empty());
        all_close(&outputs(&a, &points), &outputs(&b, &points), 1e-3);
    }
}

/// Checks that convex weights describe one point of input space twice.
fn meet(points: &Points, negative: &[(u32, f64)], positive: &[(u32, f64)]) {
    let sum = |side: &[(u32, f64)]| {
        close(side.iter().map(|(_, w)| w).sum(), 1.0, 1e-9);
        assert!(side.iter().all(|(_, w)| *w > 0.0));
        let mut at = vec![0.0; points.dim()];
        for &(r, w) in side {
            at.iter_mut().zip(points.row(r as usize).to_f64()).for_each(|(a, x)| *a += w * x);
        }
        at
    };
    all_close(&sum(negative), &sum(positive), 1e-5);
}

#[test]
fn overlap_is_proved_by_a_point_of_both_hulls() {
    // Crosswise corners of a square, and clouds that run into each other.
    let square = Points::dense(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2).expect("whole rows");
    let crossed = Targets::Classes(Labels::new(["a", "a", "b", "b"]));
    for (points, targets) in [(square, crossed), disc(60, 3)] {
        let sample = Sample::new(&points, &targets);
        let got =
            hard(Kernel::Linear).separation(sample, Exec::one(), &mut silent()).expect("a sound problem");
        let [(sides, Separation::Overlap(overlap))] = got.as_slice() else { panic!("{got:?}") };
        let labels = targets.classes().expect("classes");
        assert!(overlap.positive.iter().all(|&(r, _)| labels.of_row[r as usize] == sides.positive));
        assert!(overlap.negative.iter().all(|&(r, _)| labels.of_row[r as usize] != sides.positive));
        meet(&points, &overlap.negative, &overlap.positive);
        assert!(overlap.distance <= 1e-5 * overlap.scale);
        let e = hard(Kernel::Linear).fit(sample, Exec::one(), &mut silent()).expect_err("no margin");
        assert!(e.to_string().starts_with("kind = hard: must be c or nu here: two classes overlap"), "{e}");
        // The same rows under a kernel that can.
        let got = hard(rbf(2.0)).separation(sample, Exec::one(), &mut silent()).expect("a sound problem");
        assert!(matches!(got[0].1, Separation::Separable(_)), "{got:?}");
    }
}

#[test]
fn equal_rows_of_different_classes_never_separate() {
    let x = [toy::normals(20, 3, 4), vec![0.5; 6]].concat();
    let points = Points::dense(x, 3).expect("whole rows");
    let names = (0..22).map(|i| if i % 2 == 0 { "a" } else { "b" });
    let targets = Targets::Classes(Labels::new(names));
    let sample = Sample::new(&points, &targets);
    let got = hard(rbf(5.0)).separation(sample, Exec::one(), &mut silent()).expect("a sound problem");
    let [(_, Separation::Overlap(overlap))] = got.as_slice() else { panic!("{got:?}") };
    for (side, row) in [(&overlap.negative, 20), (&overlap.positive, 21)] {
        let weight: f64 = side.iter().filter(|(r, _)| *r == row).map(|(_, w)| w).sum();
        close(weight, 1.0, 1e-5);
    }
}

#[test]
fn every_pair_of_classes_has_its_certificate() {
    let (points, targets) = clouds(4, 15, 5);
    let sample = Sample::new(&points, &targets);
    let got = hard(Kernel::Linear).separation(sample, Exec::new(2), &mut silent()).expect("a sound problem");
    assert_eq!(got.len(), 6);
    // Opposite clouds are six apart, with spread one.
    let apart = got.iter().filter(|(_, s)| matches!(s, Separation::Separable(_))).count();
    assert!(apart >= 2, "{apart}");
    let model = fit(&hard(rbf(4.0)), &points, &targets);
    assert_eq!(super::help::error(&model, &points, &targets), 0.0);
    assert!(model.parts.iter().all(|m| m.margin.is_some_and(|m| m.width > 0.0 && m.radius <= 1.0 + 1e-6)));
}

#[test]
fn an_infinite_cost_is_the_hard_margin_also_with_squared_slack_and_from_text() {
    let (points, targets) = apart(80, 1);
    let plain = fit(&hard(Kernel::Linear), &points, &targets);
    for slack in [Slack::Linear, Slack::Squared] {
        let params = SvcParams { kind: Kind::C, c: f64::INFINITY, slack, ..hard(Kernel::Linear) };
        let line = serde_json::to_string(&params).expect("plain data");
        assert!(line.contains("\"c\":\"inf\""), "{line}");
        let model = fit(&serde_json::from_str(&line).expect("as written"), &points, &targets);
        assert_eq!(model.svc().map(|p| p.kind), Some(Kind::Hard));
        all_close(&outputs(&model, &points), &outputs(&plain, &points), 0.0);
    }
    let bad: Result<SvcParams, _> = serde_json::from_str("{\"c\": \"much\"}");
    assert!(bad.expect_err("no number").to_string().contains("`much` is not a number or inf"));
}
