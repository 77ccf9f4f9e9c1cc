//! One-class hyperplanes and spheres: what nu bounds, that the two are one machine for radial kernels, and that the
//! smallest sphere is the smallest.

use mercer::data::{Csr, Points, Targets};
use mercer::gram::{KernelRows, Matrix};
use mercer::kernel::Kernel;
use mercer::model::{Ball, Checkpoint, Machine, OneClassParams, Sample, SphereParams, enclosing_radius2};
use mercer::watch::{Stop, silent};
use mercer::{Error, Exec};
use mercer_testkit::{assert, reference, toy};

fn dense(x: &[f64], d: usize) -> Points {
    Points::dense(x.to_vec(), d).expect("whole rows")
}

fn rbf(gamma: f64) -> Kernel {
    Kernel::Rbf { gamma }
}

fn radius(machine: &Machine) -> Ball {
    machine.ball().expect("a sphere")
}

fn sphere(params: &SphereParams, points: &Points) -> Machine {
    params.fit(Sample::new(points, &Targets::None), Exec::one(), &mut silent()).expect("points")
}

#[test]
fn nu_bounds_outliers_from_above_and_support_vectors_from_below() {
    let n = 150;
    let points = dense(&toy::normals(n, 3, 4), 3);
    for gamma in [0.05, 0.5, 5.0] {
        for nu in [0.02, 0.1, 0.5, 0.9, 1.0] {
            let params =
                OneClassParams { kernel: Some(rbf(gamma)), nu, tol: 1e-6, ..OneClassParams::default() };
            let model =
                params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("points");
            let f = model.decision(points.view(), Exec::one()).expect("rows");
            let outside = f.iter().filter(|f| **f < -1e-5).count();
            assert!(outside as f64 <= nu * n as f64 + 1e-9, "{outside} outside at nu = {nu}");
            assert!(
                model.support.len() as f64 >= nu * n as f64 - 1e-9,
                "{} support vectors",
                model.support.len()
            );
            // The scale is LIBSVM's: boxes of 1, a sum of nu n.
            assert::close(model.expansion.coef().iter().sum(), nu * n as f64, 1e-9);
            assert!(model.expansion.coef().iter().all(|c| (0.0..=1.0).contains(c)));
            // Rows on their bound lie outside, free ones on the plane, all others inside.
            let mut coef = vec![0.0; n];
            model.support.iter().zip(model.expansion.coef()).for_each(|(&i, &c)| coef[i as usize] = c);
            for (c, f) in coef.iter().zip(&f) {
                assert!(*c == 0.0 || *f <= 1e-5, "coefficient {c}, output {f}");
                assert!(*c == 1.0 || *f >= -1e-5, "coefficient {c}, output {f}");
            }
        }
    }
}

#[test]
fn under_a_radial_kernel_sphere_and_hyperplane_are_one_machine() {
    let n = 80;
    let (train, test) = (dense(&toy::normals(n, 2, 6), 2), dense(&toy::normals(40, 2, 7), 2));
    for nu in [0.05, 0.3, 0.7] {
        let plane = OneClassParams { kernel: Some(rbf(0.7)), nu, tol: 1e-7, ..OneClassParams::default() };
        let plane =
            plane.fit(Sample::new(&train, &Targets::None), Exec::one(), &mut silent()).expect("points");
        let ball = sphere(
            &SphereParams { kernel: Some(rbf(0.7)), nu, tol: 1e-8, ..SphereParams::default() },
            &train,
        );
        let scale = 2.0 / (nu * n as f64);
        let want: Vec<f64> =
            plane.decision(test.view(), Exec::one()).expect("rows").iter().map(|f| scale * f).collect();
        assert::all_close(&ball.decision(test.view(), Exec::one()).expect("rows"), &want, 1e-5);
        assert_eq!(ball.fact("bounded"), plane.fact("bounded"));
        assert::close(ball.expansion.coef().iter().sum(), 1.0, 1e-12);
    }
}

#[test]
fn the_smallest_sphere_holds_all_points_and_hangs_on_some() {
    for (kernel, d) in [
        (Kernel::Linear, 3),
        (Kernel::Rbf { gamma: 0.3 }, 2),
        (Kernel::Poly { degree: 3, scale: 1.0, coef0: 1.0 }, 2),
    ] {
        let x = toy::normals(70, d, 12);
        let points = dense(&x, d);
        let params = SphereParams { kernel: Some(kernel.clone()), tol: 1e-7, ..SphereParams::default() };
        let ball = sphere(&params, &points);
        let distance2 = ball.expansion.distance2(points.view(), Exec::one()).expect("rows");
        let largest = distance2.iter().fold(0.0_f64, |m, v| m.max(*v));
        assert::close(largest / radius(&ball).radius2, 1.0, 1e-9);
        // A centre in the hull of points that all lie on the surface can be moved nowhere: the sphere is the smallest.
        assert!(ball.expansion.coef().iter().all(|c| *c > 0.0));
        assert::close(ball.expansion.coef().iter().sum(), 1.0, 1e-12);
        for &i in &ball.support {
            assert::close(distance2[i as usize] / radius(&ball).radius2, 1.0, 1e-4);
        }
        // The dual value is what no sphere undercuts.
        let k = reference::gram(&x, &x, d, |a, b| {
            kernel.value(mercer::data::Row::F64(a), mercer::data::Row::F64(b))
        });
        let mut beta = vec![0.0; 70];
        ball.support.iter().zip(ball.expansion.coef()).for_each(|(&i, &c)| beta[i as usize] = c);
        let kb = reference::product(&k, &beta, 70, 70, 1);
        let dual: f64 = (0..70).map(|i| beta[i] * (k[i * 70 + i] - kb[i])).sum();
        assert!(
            dual <= radius(&ball).radius2 * (1.0 + 1e-9) && dual >= radius(&ball).radius2 * (1.0 - 1e-5),
            "{dual} {}",
            radius(&ball).radius2
        );
        assert::close(radius(&ball).norm2, reference::product(&beta, &kb, 1, 70, 1)[0], 1e-9);

        // From rows alone, to the default tolerance.
        let rows = KernelRows::new(&kernel, &points, Exec::one()).expect("numbers");
        let (radius2, weights) = enclosing_radius2(&rows, Exec::one(), &mut silent()).expect("rows");
        assert::close(radius2 / radius(&ball).radius2, 1.0, 1e-3);
        assert::close(weights.iter().sum(), 1.0, 1e-12);
    }
}

#[test]
fn known_spheres() {
    let linear = SphereParams { kernel: Some(Kernel::Linear), tol: 1e-9, ..SphereParams::default() };
    // Two points: the one in between, at half the distance.
    let ball = sphere(&linear, &dense(&[0.0, 0.0, 6.0, 8.0], 2));
    assert::close(radius(&ball).radius2, 25.0, 1e-9);
    assert::close(radius(&ball).norm2, 25.0, 1e-9);
    // The corners of a square, one of them twice, and points inside.
    let corners = [1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 0.0, 0.5, 0.9, -0.9];
    let ball = sphere(&linear, &dense(&corners, 2));
    assert::close(radius(&ball).radius2, 2.0, 1e-6);
    assert::close(radius(&ball).norm2, 0.0, 1e-6);
    let at = ball.decision(dense(&[0.0, 0.0, 1.0, 1.0, 2.0, 0.0], 2).view(), Exec::one()).expect("rows");
    assert::all_close(&at, &[2.0, 0.0, -2.0], 1e-6);
    // All points the same, and one point.
    for points in [dense(&[2.0; 6], 2), dense(&[3.0, 1.0], 2)] {
        let ball = sphere(&linear, &points);
        assert::close(radius(&ball).radius2, 0.0, 1e-12);
        assert!(ball.decision(points.view(), Exec::one()).expect("rows").iter().all(|v| v.abs() < 1e-9));
    }
    // nu = 1: every row weighs the same, the centre is the mean.
    let x = toy::normals(30, 2, 3);
    let ball = sphere(&SphereParams { nu: 1.0, ..linear.clone() }, &dense(&x, 2));
    assert!(ball.expansion.coef().iter().all(|c| (c - 1.0 / 30.0).abs() < 1e-12));
    // A soft sphere is smaller, and no more rows than allowed are outside.
    let points = dense(&x, 2);
    let (hard, soft) = (sphere(&linear, &points), sphere(&SphereParams { nu: 0.2, ..linear }, &points));
    assert!(radius(&soft).radius2 < radius(&hard).radius2);
    let outside =
        soft.decision(points.view(), Exec::one()).expect("rows").iter().filter(|f| **f < -1e-6).count();
    assert!(outside > 0 && outside <= 6, "{outside}");
}

#[test]
fn dense_sparse_and_precomputed_points_give_one_machine() {
    let n = 50;
    let x = toy::normals(n, 2, 15);
    let csr = Csr {
        start: (0..=n).map(|i| 2 * i).collect(),
        column: (0..2 * n as u32).map(|p| if p % 2 == 0 { 7 } else { 250 }).collect(),
        value: x.clone(),
    };
    let (points, sparse) = (dense(&x, 2), Points::sparse(csr, 300).expect("rising columns"));
    let gauss =
        |a: &[f64], b: &[f64]| (-0.5 * a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp();
    let k = reference::gram(&x, &x, 2, gauss);
    let gram = Matrix::new(k.clone(), n).expect("symmetric");
    let (numbers, values) = (Points::row_numbers((0..n as u32).collect()), dense(&k, n));

    let plane = OneClassParams { kernel: Some(rbf(0.5)), nu: 0.2, tol: 1e-7, ..OneClassParams::default() };
    let fit = |params: &OneClassParams, sample: Sample<'_>| {
        params.fit(sample, Exec::one(), &mut silent()).expect("rows")
    };
    let want =
        fit(&plane, Sample::new(&points, &Targets::None)).decision(points.view(), Exec::one()).expect("rows");
    let got =
        fit(&plane, Sample::new(&sparse, &Targets::None)).decision(sparse.view(), Exec::one()).expect("rows");
    assert::all_close(&got, &want, 1e-5);
    let given = OneClassParams { kernel: Some(Kernel::Precomputed), ..plane };
    let given = fit(&given, Sample::new(&numbers, &Targets::None).with_gram(&gram));
    assert::all_close(&given.decision(values.view(), Exec::one()).expect("rows"), &want, 1e-5);

    let ball = SphereParams { kernel: Some(rbf(0.5)), nu: 0.2, tol: 1e-8, ..SphereParams::default() };
    let want = sphere(&ball, &points).decision(points.view(), Exec::one()).expect("rows");
    let got = sphere(&ball, &sparse).decision(sparse.view(), Exec::one()).expect("rows");
    assert::all_close(&got, &want, 1e-5);
    let given = SphereParams { kernel: Some(Kernel::Precomputed), ..ball };
    let sample = Sample::new(&numbers, &Targets::None).with_gram(&gram);
    let given = given.fit(sample, Exec::one(), &mut silent()).expect("a matrix");
    assert::all_close(
        &given.decision_values(values.view(), &vec![1.0; n], Exec::one()).expect("rows"),
        &want,
        1e-5,
    );
    assert!(matches!(given.decision(values.view(), Exec::one()), Err(Error::Unsupported(_))));
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let points = dense(&toy::normals(40, 2, 19), 2);
    let weights: Vec<f64> = (0..40).map(|i| [1.0, 0.0, 2.0, 1.0][i % 4]).collect();
    let many = points.gather(&(0..40).flat_map(|i| vec![i; weights[i] as usize]).collect::<Vec<_>>());
    let sample = Sample::new(&points, &Targets::None);
    let plane = OneClassParams { kernel: Some(rbf(0.5)), nu: 0.3, tol: 1e-7, ..OneClassParams::default() };
    let a = plane.fit(sample.weighted(&weights), Exec::one(), &mut silent()).expect("weights");
    let b = plane.fit(Sample::new(&many, &Targets::None), Exec::one(), &mut silent()).expect("copies");
    let at = |values: mercer::Result<Vec<f64>>| values.expect("rows");
    assert::all_close(
        &at(a.decision(points.view(), Exec::one())),
        &at(b.decision(points.view(), Exec::one())),
        1e-5,
    );
    for nu in [0.0, 0.3] {
        let ball = SphereParams { kernel: Some(rbf(0.5)), nu, tol: 1e-8, ..SphereParams::default() };
        let a = ball.fit(sample.weighted(&weights), Exec::one(), &mut silent()).expect("weights");
        let b = sphere(&ball, &many);
        assert::all_close(
            &at(a.decision(points.view(), Exec::one())),
            &at(b.decision(points.view(), Exec::one())),
            1e-5,
        );
    }
    let zeros = vec![0.0; 40];
    assert!(plane.fit(sample.weighted(&zeros), Exec::one(), &mut silent()).is_err());
    assert!(SphereParams::default().fit(sample.weighted(&zeros), Exec::one(), &mut silent()).is_err());
}

#[test]
fn a_fit_that_was_broken_off_goes_on_to_the_same_end() {
    let points = dense(&toy::normals(200, 2, 23), 2);
    let sample = Sample::new(&points, &Targets::None);
    let plane = OneClassParams { kernel: Some(rbf(0.5)), nu: 0.3, tol: 1e-6, ..OneClassParams::default() };
    let straight = plane.fit(sample, Exec::one(), &mut silent()).expect("points");
    let part = OneClassParams { max_iter: Some(20), ..plane.clone() };
    let part = part.fit(sample, Exec::one(), &mut silent()).expect("some steps");
    assert_eq!(part.info.stop, Stop::Limit);
    let from = part.checkpoint.as_ref().and_then(Checkpoint::variables).expect("not at its end");
    let rest = plane.resume(sample, from, Exec::one(), &mut silent()).expect("goes on");
    assert::close(rest.info.objective.expect("solved"), straight.info.objective.expect("solved"), 1e-8);
    let other = OneClassParams { nu: 0.4, ..plane };
    assert!(other.resume(sample, from, Exec::one(), &mut silent()).is_err());

    let params = SphereParams { kernel: Some(rbf(0.5)), tol: 1e-7, ..SphereParams::default() };
    let part = SphereParams { max_iter: Some(5), ..params.clone() };
    let part = part.fit(sample, Exec::one(), &mut silent()).expect("some steps");
    assert_eq!(part.info.stop, Stop::Limit);
    // Whatever its centre, the sphere holds all points.
    assert!(part.decision(points.view(), Exec::one()).expect("rows").iter().all(|f| *f >= -1e-9));
    let from = part.checkpoint.as_ref().and_then(Checkpoint::variables).expect("kept");
    let rest = params.resume(sample, from, Exec::one(), &mut silent()).expect("goes on");
    assert::close(radius(&rest).radius2 / radius(&sphere(&params, &points)).radius2, 1.0, 1e-6);
    assert!(radius(&rest).radius2 < radius(&part).radius2);
}

#[test]
fn odd_data_give_an_answer_or_a_clear_error() {
    let (one, same) = (dense(&[1.0, 2.0], 2), dense(&[1.0; 10], 2));
    for points in [&one, &same] {
        let params = OneClassParams::default();
        let model =
            params.fit(Sample::new(points, &Targets::None), Exec::one(), &mut silent()).expect("points");
        assert!(model.decision(points.view(), Exec::one()).expect("rows").iter().all(|f| f.abs() < 1e-2));
    }
    let none = one.gather(&[]);
    let fitted =
        OneClassParams::default().fit(Sample::new(&none, &Targets::None), Exec::one(), &mut silent());
    assert_eq!(fitted.expect_err("no rows").to_string(), "training rows: got 0, expected at least 1");
    let fitted = SphereParams { nu: 1.5, ..SphereParams::default() };
    let fitted = fitted.fit(Sample::new(&one, &Targets::None), Exec::one(), &mut silent());
    assert_eq!(fitted.expect_err("nu").to_string(), "nu = 1.5: must be a number from 0 to 1");
    // Not positive definite: ends all the same.
    let x = dense(&toy::normals(40, 2, 1), 2);
    let kernel = Some(Kernel::Sigmoid { amplitude: 1.0, scale: 1.0, shift: -1.0 });
    let params =
        OneClassParams { kernel: kernel.clone(), max_iter: Some(100_000), ..OneClassParams::default() };
    assert!(params.fit(Sample::new(&x, &Targets::None), Exec::one(), &mut silent()).is_ok());
    let params = SphereParams { kernel, max_iter: Some(100_000), ..SphereParams::default() };
    assert!(params.fit(Sample::new(&x, &Targets::None), Exec::one(), &mut silent()).is_ok());
}

#[test]
fn at_the_usual_tolerance_labels_are_those_of_the_exact_sphere() {
    let fresh = dense(&toy::normals(1000, 4, 99), 4);
    let mut labels = 0;
    for (seed, nu, kernel) in [
        (1, 0.05, rbf(0.3)),
        (2, 0.2, rbf(0.3)),
        (3, 0.5, rbf(0.05)),
        (4, 0.1, Kernel::Linear),
        (5, 0.3, "poly(degree=2, scale=0.5, coef0=1)".parse().expect("a kernel")),
        (6, 0.0, rbf(0.3)),
        (7, 0.0, Kernel::Linear),
    ] {
        let n = 500;
        let points = dense(&toy::normals(n, 4, seed), 4);
        let usual = SphereParams { kernel: Some(kernel.clone()), nu, ..SphereParams::default() };
        let exact = sphere(&SphereParams { tol: 1e-11, ..usual.clone() }, &points);
        let usual = sphere(&usual, &points);
        assert::close(radius(&usual).radius2 / radius(&exact).radius2, 1.0, 2e-5);
        let of = |ball: &Machine| ball.decision(fresh.view(), Exec::one()).expect("rows");
        let (got, want) = (of(&usual), of(&exact));
        for (a, b) in got.iter().zip(&want) {
            assert::close((a - b) / radius(&exact).radius2, 0.0, 2e-4);
        }
        labels += got.iter().zip(&want).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
        if let (Kernel::Rbf { .. }, true) = (&kernel, nu > 0.0) {
            // The same machine, by another learner at its own tolerance.
            let plane = OneClassParams { kernel: Some(kernel), nu, ..OneClassParams::default() };
            let plane =
                plane.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("points");
            let plane = plane.decision(fresh.view(), Exec::one()).expect("rows");
            let off = got.iter().zip(&plane).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
            assert!(off <= 2, "nu {nu}: {off} of 1000 labels differ from the hyperplane's");
        }
    }
    assert!(labels <= 1, "{labels} of 7000 labels differ from the exact spheres'");
}

#[test]
fn over_nu_and_gamma_spheres_give_the_labels_of_the_exact_ones_and_enclose_all_but_nu() {
    let n = 1000;
    let (mut labels, mut all) = (0, 0);
    for (d, gamma) in [(2, 0.2), (2, 1.0), (2, 5.0), (4, 0.2), (4, 1.0), (4, 5.0), (8, 1.0)] {
        let points = dense(&toy::normals(n, d, 5), d);
        let fresh = dense(&toy::normals(2000, d, 77), d);
        for nu in [0.02, 0.1, 0.3] {
            let usual = SphereParams { kernel: Some(rbf(gamma)), nu, ..SphereParams::default() };
            let exact = sphere(&SphereParams { tol: 1e-9, ..usual.clone() }, &points);
            let usual = sphere(&usual, &points);
            let of = |ball: &Machine, at: &Points| ball.decision(at.view(), Exec::one()).expect("rows");
            let differ = |at: &Points| {
                of(&usual, at).iter().zip(of(&exact, at)).filter(|(a, b)| (**a > 0.0) != (*b > 0.0)).count()
            };
            labels += differ(&points) + differ(&fresh);
            all += n + fresh.len();
            // Rows on the sphere count as inside: only those on their bound are outside, and nu bounds their share.
            let outside = of(&usual, &points).iter().filter(|v| **v <= 0.0).count();
            assert!(outside as f64 <= nu * n as f64, "gamma {gamma} nu {nu}: {outside} of {n} rows outside");
            // Of a nearly singular matrix, rounding decides about single rows.
            let bounded = usual.fact("bounded").expect("solved");
            let off = (outside as f64 - bounded).abs();
            assert!(off <= if (d, gamma) == (2, 5.0) { 2.0 } else { 0.0 }, "gamma {gamma} nu {nu}: {off}");
        }
    }
    assert!(labels as f64 <= 4e-4 * all as f64, "{labels} of {all} labels differ from the exact spheres'");
}
