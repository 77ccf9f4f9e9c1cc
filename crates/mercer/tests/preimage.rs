//! Pre-images: exact ones come back, iterations never make things worse, and every method says how far it got.

use mercer::data::{Points, Targets};
use mercer::expansion::Expansion;
use mercer::kernel::Kernel;
use mercer::model::{Components, KpcaParams, Machine, Sample};
use mercer::reduce::preimage::{PreimageMethod, PreimageParams, Preimages, Start, preimages};
use mercer::watch::silent;
use mercer::{Exec, Result};
use mercer_testkit::{assert, toy};

/// The components of a machine.
fn of(machine: &Machine) -> Components<'_> {
    machine.components().expect("components")
}

fn points(n: usize, d: usize, seed: u64) -> Points {
    Points::dense(toy::normals(n, d, seed), d).expect("whole rows")
}

/// Images of points, each an output: every one has an exact pre-image.
fn images(kernel: &Kernel, x: &Points) -> Expansion {
    let n = x.len();
    let unit = (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect();
    Expansion::new(kernel.clone(), x.clone(), unit, vec![0.0; n]).expect("fits")
}

fn sums(kernel: &Kernel, m: usize, p: usize, d: usize) -> Expansion {
    Expansion::new(kernel.clone(), points(m, d, 21), toy::uniforms(m, p, -0.3, 1.0, 22), vec![0.1; p])
        .expect("fits")
}

fn find(psi: &Expansion, params: &PreimageParams) -> Result<Preimages> {
    preimages(psi, None, params, Exec::one(), &mut silent())
}

fn with(method: PreimageMethod) -> PreimageParams {
    PreimageParams { method, ..PreimageParams::default() }
}

#[test]
fn exact_pre_images_come_back() {
    let x = points(12, 5, 1);
    let want = x.view().to_f64().expect("numbers");
    let rotation = {
        // Two coordinates turned against each other, the rest as they are.
        let mut b: Vec<f64> = (0..25).map(|p| f64::from(u8::from(p / 5 == p % 5))).collect();
        (b[0], b[1], b[5], b[6]) = (0.6, 0.8, -0.8, 0.6);
        b
    };
    let kernels = [
        (Kernel::Poly { degree: 3, scale: 1.0, coef0: 1.0 }, 1e-8),
        (Kernel::Rbf { gamma: 0.2 }, 1e-8),
        (Kernel::Linear, 1e-10),
        (Kernel::Sigmoid { amplitude: 1.04, scale: 0.5, shift: -0.3 }, 1e-8),
        (Kernel::InverseMultiquadric { c: 1.5 }, 1e-8),
    ];
    for (kernel, tol) in kernels {
        let psi = images(&kernel, &x);
        for params in [
            with(PreimageMethod::Exact),
            PreimageParams { scale: Some(0.7), ..with(PreimageMethod::Exact) },
            PreimageParams { basis: Some(rotation.clone()), ..with(PreimageMethod::Exact) },
        ] {
            let found = find(&psi, &params).expect("invertible");
            assert::all_close(&found.points.view().to_f64().expect("numbers"), &want, tol);
            assert!(found.distance2.iter().all(|d| *d < 1e-9), "{kernel}: {:?}", found.distance2);
        }
    }
    // Homogeneous odd powers: the inverse is infinitely steep at 0, so small coordinates lose digits.
    let cube = images(&Kernel::Poly { degree: 3, scale: 1.0, coef0: 0.0 }, &x);
    let found = find(&cube, &with(PreimageMethod::Exact)).expect("invertible");
    assert::all_close(&found.points.view().to_f64().expect("numbers"), &want, 1e-4);
    let even = images(&Kernel::Poly { degree: 2, scale: 1.0, coef0: 0.0 }, &x);
    let error = find(&even, &with(PreimageMethod::Exact)).expect_err("even powers fold").to_string();
    assert!(error.contains("no closed form"), "{error}");
    let skew = PreimageParams { basis: Some(vec![1.0; 25]), ..with(PreimageMethod::Exact) };
    assert!(find(&cube, &skew).is_err());
}

#[test]
fn every_method_finds_the_point_behind_an_image() {
    let x = points(30, 3, 2);
    let want = x.view().to_f64().expect("numbers");
    let psi = images(&Kernel::Rbf { gamma: 0.3 }, &x);
    for (method, tol) in [
        (PreimageMethod::FixedPoint, 1e-5),
        (PreimageMethod::Gradient, 1e-5),
        (PreimageMethod::Exact, 1e-8),
        (PreimageMethod::Distances, 1e-6),
        (PreimageMethod::Learned, 0.2),
    ] {
        let params = PreimageParams { tol: 1e-9, lambda: 1e-6, max_iter: 2000, ..with(method) };
        let found = find(&psi, &params).expect("radial");
        assert_eq!(found.method, method);
        let got = found.points.view().to_f64().expect("numbers");
        let off = got.iter().zip(&want).map(|(g, w)| (g - w).abs()).fold(0.0, f64::max);
        assert!(off < tol, "{method:?}: off by {off:e}");
    }
}

#[test]
fn the_fixed_point_never_ends_farther_than_it_began() {
    let kernels = [
        "rbf(gamma=0.5)",
        "rbf(gamma=20)",
        "inverse_multiquadric(c=0.5)",
        "0.5*rbf(gamma=1) + rbf(gamma=0.05)",
        "radial_power(power=-2)",
    ];
    for line in kernels {
        let kernel: Kernel = line.parse().expect(line);
        // Coefficients of both signs, and sums that nearly vanish.
        for (lo, hi) in [(-0.3, 1.0), (-1.0, 1.0), (-1.0, 0.1)] {
            let (m, p, d) = (40, 25, 4);
            let psi =
                Expansion::new(kernel.clone(), points(m, d, 3), toy::uniforms(m, p, lo, hi, 4), vec![0.0; p])
                    .expect("fits");
            for tol in [1e-3, 1e-8] {
                let begin = points(p, d, 5);
                let params = PreimageParams { tol, ..with(PreimageMethod::FixedPoint) };
                let found =
                    preimages(&psi, Some(begin.view()), &params, Exec::one(), &mut silent()).expect("radial");
                let before = psi.distance2(begin.view(), Exec::one()).expect("columns agree");
                for o in 0..p {
                    assert!(found.distance2[o].is_finite());
                    assert!(
                        found.distance2[o] <= before[o * p + o] + 1e-12 * (1.0 + before[o * p + o]),
                        "{line}"
                    );
                    assert_eq!(found.start[o], Start::Given);
                }
                assert!(found.points.first_not_finite().is_none());
            }
        }
    }
}

#[test]
fn a_fixed_point_is_a_stationary_point_and_descent_agrees() {
    let kernel = Kernel::Rbf { gamma: 0.2 };
    let psi = sums(&kernel, 30, 8, 3);
    let tight = PreimageParams { tol: 1e-10, max_iter: 5000, ..PreimageParams::default() };
    let fixed = find(&psi, &tight).expect("radial");
    assert_eq!(fixed.method, PreimageMethod::FixedPoint);
    for (o, z) in fixed.points.view().to_f64().expect("numbers").chunks(3).enumerate() {
        let gradient = psi.gradient(mercer::data::Row::F64(z)).expect("smooth");
        assert!(gradient[o * 3..o * 3 + 3].iter().all(|g| g.abs() < 1e-6), "{gradient:?}");
    }
    let descent = find(&psi, &PreimageParams { method: PreimageMethod::Gradient, ..tight }).expect("smooth");
    for (a, b) in fixed.distance2.iter().zip(&descent.distance2) {
        assert::close(*a, *b, 1e-6);
    }
    // The pieces of a distance fit together.
    let scaled = fixed.scaled_distance2();
    for o in 0..8 {
        assert::close(fixed.distance2[o], fixed.own[o] - 2.0 * fixed.inner[o] + fixed.norm2[o], 1e-12);
        assert!(scaled[o] <= fixed.distance2[o] + 1e-12);
    }
    assert::all_close(&fixed.norm2, &psi.norm2(Exec::one()).expect("finite"), 1e-10);
}

#[test]
fn auto_says_what_it_picked_and_bounds_are_kept() {
    let cases = [
        ("linear", PreimageMethod::Exact),
        ("poly(degree=2, coef0=1)", PreimageMethod::Gradient),
        ("laplacian(gamma=0.3)", PreimageMethod::Gradient),
        ("rbf(gamma=0.3) + poly(degree=3, coef0=1)", PreimageMethod::Gradient),
        ("rbf(gamma=0.3)", PreimageMethod::FixedPoint),
    ];
    for (line, want) in cases {
        let kernel: Kernel = line.parse().expect(line);
        let psi = sums(&kernel, 20, 5, 3);
        let found = find(&psi, &PreimageParams::default()).expect(line);
        assert_eq!(found.method, want, "{line}");
        // Better than every centre.
        let at_centres = psi.distance2(psi.centres().view(), Exec::one()).expect("columns agree");
        for o in 0..5 {
            let best = (0..20).map(|j| at_centres[j * 5 + o]).fold(f64::INFINITY, f64::min);
            assert!(found.distance2[o] <= best + 1e-9, "{line}: {} against {best}", found.distance2[o]);
        }
    }
    let psi = sums(&Kernel::Rbf { gamma: 0.3 }, 20, 5, 3);
    let bounded = PreimageParams { bounds: Some((-0.1, 0.2)), ..PreimageParams::default() };
    let found = find(&psi, &bounded).expect("smooth");
    assert_eq!(found.method, PreimageMethod::Gradient);
    assert!(found.points.view().to_f64().expect("numbers").iter().all(|v| (-0.1..=0.2).contains(v)));
    assert!(find(&psi, &PreimageParams { method: PreimageMethod::Exact, ..bounded }).is_err());
    let poly = sums(&Kernel::Poly { degree: 2, scale: 1.0, coef0: 1.0 }, 20, 5, 3);
    assert!(find(&poly, &with(PreimageMethod::FixedPoint)).is_err());
    assert!(find(&poly, &PreimageParams { tol: 0.0, ..PreimageParams::default() }).is_err());
}

/// A custom kernel without a gradient still has a way back.
#[test]
fn a_learned_map_needs_no_derivative() {
    #[derive(Debug)]
    struct Hats;
    impl mercer::kernel::KernelFn for Hats {
        fn name(&self) -> &'static str {
            "hats"
        }
        fn value(&self, x: mercer::data::Row<'_>, y: mercer::data::Row<'_>) -> f64 {
            x.to_f64().iter().zip(y.to_f64()).map(|(a, b)| (1.0 - (a - b).abs() / 4.0).max(0.0)).product()
        }
    }
    let x = points(60, 2, 6);
    let psi = images(&Kernel::custom(Hats), &x);
    let found = find(&psi, &PreimageParams::default()).expect("numbers");
    assert_eq!(found.method, PreimageMethod::Learned);
    let (got, want) = (found.points.view().to_f64().expect("numbers"), x.view().to_f64().expect("numbers"));
    let off = got.iter().zip(&want).map(|(g, w)| (g - w).powi(2)).sum::<f64>() / want.len() as f64;
    assert!(off < 0.05, "mean squared error {off}");
}

fn kpca(x: &Points, components: u64, gamma: f64) -> Machine {
    KpcaParams { kernel: Some(Kernel::Rbf { gamma }), components: Some(components), ..KpcaParams::default() }
        .fit(Sample::new(x, &Targets::None), Exec::one(), &mut silent())
        .expect("fits")
}

/// Points on a circle, moved off it: denoising brings them back, and batches, threads and decoding agree.
#[test]
fn denoising_takes_points_back_to_the_curve() {
    let (n, noise) = (200, 0.25);
    let angle = toy::uniforms(n, 1, 0.0, std::f64::consts::TAU, 7);
    let ring: Vec<f64> = angle.iter().flat_map(|a| [2.0 * a.cos(), 2.0 * a.sin()]).collect();
    let x = Points::dense(ring.clone(), 2).expect("whole rows");
    let model = kpca(&x, 12, 0.5);
    let moved: Vec<f64> = ring.iter().zip(toy::normals(n, 2, 8)).map(|(x, e)| x + noise * e).collect();
    let noisy = Points::dense(moved, 2).expect("whole rows");
    let clean = of(&model)
        .denoise(noisy.view(), 6, &PreimageParams::default(), Exec::one(), &mut silent())
        .expect("fits");
    let off = |p: &Points| -> f64 {
        let rows = p.view().to_f64().expect("numbers");
        rows.chunks(2).map(|z| (z[0].hypot(z[1]) - 2.0).powi(2)).sum::<f64>() / n as f64
    };
    assert!(off(&clean.points) < 0.1 * off(&noisy), "{} of {}", off(&clean.points), off(&noisy));
    let threads = of(&model)
        .denoise(noisy.view(), 6, &PreimageParams::default(), Exec::new(2), &mut silent())
        .expect("fits");
    assert::all_close(
        &threads.points.view().to_f64().expect("numbers"),
        &clean.points.view().to_f64().expect("numbers"),
        1e-4,
    );
    // The lengths a model knows are the lengths the expansion has.
    let f = model.decision(noisy.view(), Exec::one()).expect("columns");
    let six: Vec<f64> = f.chunks(12).flat_map(|row| row[..6].to_vec()).collect();
    let psi = of(&model).reconstruct(&six, 6, Exec::one()).expect("fits");
    assert::all_close(&clean.norm2, &psi.norm2(Exec::one()).expect("finite"), 1e-9);
    let decoded =
        of(&model).decode(&six, 6, &PreimageParams::default(), Exec::one(), &mut silent()).expect("fits");
    assert!(off(&decoded.points) < 0.1 * off(&noisy));
    assert!(
        of(&model).denoise(noisy.view(), 13, &PreimageParams::default(), Exec::one(), &mut silent()).is_err()
    );
    assert_eq!(
        of(&model)
            .show_axis(0, &PreimageParams::default(), Exec::one(), &mut silent())
            .expect("an axis")
            .len(),
        1
    );
}
