//! Kernel PCA: what its features, axes and reconstructions must be.

use mercer::data::{Labels, Points, Row, Targets};
use mercer::expansion::Precision;
use mercer::gram;
use mercer::kernel::Kernel;
use mercer::model::{
    Components, KpcaMethod, KpcaParams, Machine, Model, Sample, SvcParams, empirical_map, whitening_map,
};
use mercer::watch::silent;
use mercer::{Exec, Result};
use mercer_testkit::{assert, reference, toy};

/// The components of a machine.
fn of(machine: &Machine) -> Components<'_> {
    machine.components().expect("components")
}

fn points(n: usize, d: usize, seed: u64) -> Points {
    Points::dense(toy::normals(n, d, seed), d).expect("whole rows")
}

fn fit(params: &KpcaParams, x: &Points) -> Result<Machine> {
    params.fit(Sample::new(x, &Targets::None), Exec::one(), &mut silent())
}

fn rbf(gamma: f64) -> KpcaParams {
    KpcaParams { kernel: Some(Kernel::Rbf { gamma }), ..KpcaParams::default() }
}

/// The centred kernel matrix and its eigenvalues by the slow way.
fn slow(x: &Points, kernel: &Kernel) -> (Vec<f64>, Vec<f64>) {
    let n = x.len();
    let mut k = gram::square::<f64>(kernel, x.view(), Exec::one()).expect("numbers").to_vec();
    gram::Means::of(&k, n).centre_square(&mut k);
    let (values, _) = reference::eigen(&k, n);
    (k, values)
}

#[test]
fn a_linear_kernel_gives_pca() {
    let (n, d) = (40, 6);
    let x = points(n, d, 1);
    let raw = x.view().to_f64().expect("numbers");
    let mean: Vec<f64> = (0..d).map(|j| raw.iter().skip(j).step_by(d).sum::<f64>() / n as f64).collect();
    let centred: Vec<f64> = raw.iter().enumerate().map(|(p, v)| v - mean[p % d]).collect();
    let mut scatter = vec![0.0; d * d];
    for row in centred.chunks(d) {
        (0..d * d).for_each(|p| scatter[p] += row[p / d] * row[p % d]);
    }
    let (values, vectors) = reference::eigen(&scatter, d);
    let linear = KpcaParams { kernel: Some(Kernel::Linear), ..KpcaParams::default() };
    // By the d x d matrix, by the n x n one, and by products.
    for method in [KpcaMethod::Auto, KpcaMethod::Complete, KpcaMethod::Krylov] {
        let model = fit(&KpcaParams { method, components: Some(d as u64), tol: 1e-13, ..linear.clone() }, &x)
            .expect("fits");
        assert::close_to_scale(&of(&model).features.values, &values, 1e-10);
        let t = points(7, d, 2);
        let got = model.decision(t.view(), Exec::one()).expect("columns agree");
        let t = t.view().to_f64().expect("numbers");
        for k in 0..d {
            let axis: Vec<f64> = (0..d).map(|j| vectors[j * d + k]).collect();
            let want: Vec<f64> =
                t.chunks(d).map(|row| (0..d).map(|j| (row[j] - mean[j]) * axis[j]).sum()).collect();
            let got: Vec<f64> = got.iter().skip(k).step_by(d).copied().collect();
            let sign = if (got[0] - want[0]).abs() > (got[0] + want[0]).abs() { -1.0 } else { 1.0 };
            assert::all_close(&got, &want.iter().map(|v| sign * v).collect::<Vec<_>>(), 1e-10);
        }
        assert!(model.expansion.len() <= d, "axes of a linear kernel are points");
    }
}

#[test]
fn folded_centring_is_explicit_centring() {
    let (x, t) = (points(30, 3, 3), points(9, 3, 4));
    let kernel = Kernel::Poly { degree: 2, scale: 0.5, coef0: 1.0 };
    let params = KpcaParams { kernel: Some(kernel.clone()), components: Some(4), ..KpcaParams::default() };
    let model = fit(&params, &x).expect("fits");
    let (k, values) = slow(&x, &kernel);
    assert::close_to_scale(&of(&model).features.values, &values[..4], 1e-10);
    let (all, vectors) = reference::eigen(&k, 30);
    let square = gram::square::<f64>(&kernel, x.view(), Exec::one()).expect("numbers");
    let mut cross = gram::cross::<f64>(&kernel, t.view(), x.view(), Exec::one()).expect("numbers").to_vec();
    gram::Means::of(&square, 30).centre_cross(&mut cross);
    let got = model.decision(t.view(), Exec::one()).expect("columns agree");
    for c in 0..4 {
        let a: Vec<f64> = (0..30).map(|i| vectors[i * 30 + c] / all[c].sqrt()).collect();
        let want: Vec<f64> =
            cross.chunks(30).map(|row| row.iter().zip(&a).map(|(v, a)| v * a).sum::<f64>()).collect();
        let got: Vec<f64> = got.iter().skip(c).step_by(4).copied().collect();
        let sign = if (got[0] - want[0]).abs() > (got[0] + want[0]).abs() { -1.0 } else { 1.0 };
        assert::close_to_scale(&got, &want.iter().map(|v| sign * v).collect::<Vec<_>>(), 1e-9);
    }
}

#[test]
fn features_are_uncorrelated_and_whitened_ones_have_unit_variance() {
    let x = points(60, 4, 5);
    for whiten in [false, true] {
        let model = fit(&KpcaParams { whiten, components: Some(8), ..rbf(0.2) }, &x).expect("fits");
        let f = model.decision(x.view(), Exec::one()).expect("columns agree");
        for a in 0..8 {
            assert!(f.iter().skip(a).step_by(8).sum::<f64>().abs() < 1e-9);
            for b in 0..8 {
                let got: f64 = f.chunks(8).map(|row| row[a] * row[b]).sum::<f64>() / 60.0;
                let want = if a != b {
                    0.0
                } else if whiten {
                    1.0
                } else {
                    of(&model).features.values[a] / 60.0
                };
                assert::close(got, want, 1e-9);
            }
        }
        let second = of(&model).moment(x.view(), &[2, 2], Exec::one()).expect("an axis");
        assert::close(second, of(&model).features.values[2] / 60.0, 1e-9);
    }
}

/// Proposition 7: what the first n components lose falls with n, to zero, and is the sum of the other eigenvalues.
#[test]
fn reconstruction_errors_fall_to_zero() {
    let x = points(25, 3, 6);
    let model = fit(&rbf(0.5), &x).expect("fits");
    let k = model.outputs();
    assert_eq!(k, 24, "centring takes one");
    let losses = of(&model).losses(x.view(), Exec::one()).expect("columns agree");
    let sums: Vec<f64> = (0..=k).map(|c| losses.iter().skip(c).step_by(k + 1).sum()).collect();
    assert!(sums.windows(2).all(|w| w[1] <= w[0] + 1e-12));
    for c in 0..=k {
        assert::close(
            sums[c],
            of(&model).features.total - of(&model).features.values[..c].iter().sum::<f64>(),
            1e-9,
        );
    }
    assert!(sums[k].abs() < 1e-10);
    // The expansion that a reconstruction is gives the same distances.
    let f = model.decision(x.view(), Exec::one()).expect("columns agree");
    let five: Vec<f64> = f.chunks(k).flat_map(|row| row[..5].to_vec()).collect();
    let psi = of(&model).reconstruct(&five, 5, Exec::one()).expect("fits");
    let distance2 = psi.distance2(x.view(), Exec::one()).expect("columns agree");
    for i in 0..25 {
        assert::close(distance2[i * 25 + i], losses[i * (k + 1) + 5], 1e-9);
    }
}

/// Proposition 5: of all extractors with unit-variance outputs that are orthogonal to the earlier ones, the k-th has the
/// shortest weight vector when scaled so.
#[test]
fn no_extractor_of_unit_variance_is_shorter() {
    let n = 20;
    let x = points(n, 2, 7);
    let kernel = Kernel::Rbf { gamma: 0.8 };
    let model = fit(&KpcaParams { components: Some(3), ..rbf(0.8) }, &x).expect("fits");
    let (k, _) = slow(&x, &kernel);
    let quad = |a: &[f64], b: &[f64]| -> f64 {
        (0..n).map(|i| (0..n).map(|j| a[i] * k[i * n + j] * b[j]).sum::<f64>()).sum()
    };
    let variance = |a: &[f64]| -> f64 {
        (0..n).map(|i| (0..n).map(|j| k[i * n + j] * a[j]).sum::<f64>().powi(2)).sum::<f64>() / n as f64
    };
    let axis = |c: usize| -> Vec<f64> { model.expansion.coef().iter().skip(c).step_by(3).copied().collect() };
    for c in 0..3 {
        // A unit axis of variance lambda / n: scaled to unit variance its length is n / lambda.
        let best = n as f64 / of(&model).features.values[c];
        let own = axis(c);
        assert::close(quad(&own, &own) / variance(&own), best, 1e-9);
        for trial in 0..50 {
            let mut a = toy::normals(1, n, 100 + trial);
            for earlier in (0..c).map(axis) {
                let along = quad(&a, &earlier);
                a.iter_mut().zip(&earlier).for_each(|(a, e)| *a -= along * e);
            }
            assert!(quad(&a, &a) / variance(&a) >= best * (1.0 - 1e-9));
        }
    }
}

#[test]
fn ways_to_the_same_components_agree() {
    let x = points(150, 3, 8);
    let base = KpcaParams { components: Some(6), tol: 1e-10, ..rbf(0.1) };
    let whole = fit(&KpcaParams { method: KpcaMethod::Complete, ..base.clone() }, &x).expect("fits");
    let probe = points(12, 3, 9);
    let features = |m: &Machine| m.decision(probe.view(), Exec::one()).expect("columns agree");
    let krylov = fit(&KpcaParams { method: KpcaMethod::Krylov, ..base.clone() }, &x).expect("fits");
    assert::close_to_scale(&of(&krylov).features.values, &of(&whole).features.values, 1e-10);
    assert::all_close(&features(&krylov), &features(&whole), 1e-7);
    // Rows of f32 computed anew in each product.
    let few = Exec::one().with_memory(1000);
    let small = KpcaParams { tol: 1e-7, ..base.clone() };
    let small = small.fit(Sample::new(&x, &Targets::None), few, &mut silent()).expect("fits");
    assert!(small.info.notes[0].contains("computed in each"), "{:?}", small.info.notes);
    assert::close_to_scale(&of(&small).features.values, &of(&whole).features.values, 1e-6);
    assert::all_close(&features(&small), &features(&whole), 1e-3);
    // Landmarks that span (nearly) everything.
    for method in [KpcaMethod::Nystroem, KpcaMethod::Cholesky] {
        let low = fit(&KpcaParams { method, rows: Some(120), ..base.clone() }, &x).expect("fits");
        assert::close_to_scale(&of(&low).features.values, &of(&whole).features.values, 1e-4);
        assert!(low.expansion.len() <= 120 && low.info.notes[0].contains("of the trace"));
        let signs = features(&low)
            .iter()
            .zip(&features(&whole))
            .map(|(a, b)| (a.abs() - b.abs()).abs())
            .fold(0.0, f64::max);
        assert!(signs < 1e-2, "{method:?}: {signs}");
    }
    let part = fit(&KpcaParams { rows: Some(100), ..base.clone() }, &x).expect("fits");
    assert_eq!((of(&part).features.rows, part.expansion.len()), (100, 100));
    // A share instead of a number.
    let share = fit(&KpcaParams { components: None, share: 0.9, ..base.clone() }, &x).expect("fits");
    let carried: f64 = of(&share).shares().iter().sum();
    let before: f64 = of(&share).shares()[..share.outputs() - 1].iter().sum();
    assert!(carried >= 0.9 && before < 0.9);
}

#[test]
fn sparse_axes_are_orthonormal_and_need_few_points() {
    let x = points(80, 3, 10);
    let model =
        fit(&KpcaParams { method: KpcaMethod::Sparse, components: Some(7), ..rbf(0.1) }, &x).expect("fits");
    assert_eq!(model.expansion.len(), 7);
    let inner = model.expansion.inner(&model.expansion, Exec::one()).expect("one kernel");
    let unit: Vec<f64> = (0..49).map(|p| f64::from(u8::from(p / 7 == p % 7))).collect();
    assert::all_close(&inner, &unit, 1e-8);
    let f = model.decision(x.view(), Exec::one()).expect("columns agree");
    for c in 0..7 {
        assert!(f.iter().skip(c).step_by(7).sum::<f64>().abs() < 1e-8);
        assert::close(
            f.iter().skip(c).step_by(7).map(|v| v * v).sum::<f64>(),
            of(&model).features.values[c],
            1e-8,
        );
    }
    let whole = fit(&KpcaParams { components: Some(7), ..rbf(0.1) }, &x).expect("fits");
    let (sparse, best): (f64, f64) =
        (of(&model).features.values.iter().sum(), of(&whole).features.values.iter().sum());
    assert!(sparse <= best * (1.0 + 1e-9) && sparse > 0.6 * best, "{sparse} of {best}");
}

#[test]
fn an_indefinite_kernel_stays_usable_and_says_its_signature() {
    let x = points(40, 3, 11);
    let kernel = Kernel::Sigmoid { amplitude: 1.0, scale: 2.0, shift: -1.0 };
    let model = fit(&KpcaParams { kernel: Some(kernel), components: Some(30), ..KpcaParams::default() }, &x)
        .expect("fits");
    let negative = of(&model).features.values.iter().filter(|v| **v < 0.0).count();
    assert!(negative > 0);
    assert!(
        model.info.notes.iter().any(|n| n.contains(&format!("{negative} with negative"))),
        "{:?}",
        model.info.notes
    );
    assert!(of(&model).features.values.windows(2).all(|w| w[0].abs() >= w[1].abs()));
    // V . V = sign lambda, and features on the training rows are still uncorrelated.
    let inner = model.expansion.inner(&model.expansion, Exec::one()).expect("one kernel");
    let want: Vec<f64> = (0..900)
        .map(|p| if p / 30 == p % 30 { of(&model).features.values[p / 30].signum() } else { 0.0 })
        .collect();
    assert::all_close(&inner, &want, 1e-8);
}

#[test]
fn odd_data_gives_components_or_a_clear_error() {
    let same = Points::dense(vec![2.0; 30], 3).expect("whole rows");
    let error = fit(&rbf(1.0), &same).expect_err("constant").to_string();
    assert!(error.contains("no components"), "{error}");
    let one = Points::dense(vec![1.0, 2.0], 2).expect("one row");
    assert!(fit(&rbf(1.0), &one).is_err());
    let alone = fit(&KpcaParams { centred: false, ..rbf(1.0) }, &one).expect("one image has a direction");
    assert_eq!((alone.outputs(), of(&alone).features.values[0]), (1, 1.0));
    // Duplicates: as many components as there are different points, less the mean.
    let twice = points(8, 2, 12).concat(&points(8, 2, 12)).expect("alike");
    for method in [KpcaMethod::Auto, KpcaMethod::Complete] {
        assert_eq!(fit(&KpcaParams { method, ..rbf(1.0) }, &twice).expect("fits").outputs(), 7);
    }
    let error =
        fit(&KpcaParams { components: Some(8), ..rbf(1.0) }, &twice).expect_err("too many").to_string();
    assert_eq!(
        error,
        "components = 8: must be at most 7: the kernel matrix has no more eigenvalues that are not zero"
    );
    let error =
        fit(&KpcaParams { components: Some(17), ..rbf(1.0) }, &twice).expect_err("too many").to_string();
    assert!(error.contains("components = 17"), "{error}");
    assert!(fit(&KpcaParams { share: 0.0, ..rbf(1.0) }, &twice).is_err());
}

#[test]
fn maps_into_the_span_keep_kernel_values() {
    let z = points(15, 2, 13);
    let kernel = Kernel::Rbf { gamma: 0.6 };
    let map = whitening_map(kernel.clone(), z.clone(), Exec::one()).expect("numbers");
    let f = map.evaluate(z.view(), Exec::one()).expect("columns agree");
    let turned: Vec<f64> = (0..225).map(|p| f[p % 15 * 15 + p / 15]).collect();
    let k = gram::square::<f64>(&kernel, z.view(), Exec::one()).expect("numbers");
    assert::all_close(&reference::product(&f, &turned, 15, 15, 15), &k, 1e-9);
    let x = points(4, 2, 14);
    let got = empirical_map(kernel.clone(), z.clone())
        .expect("numbers")
        .evaluate(x.view(), Exec::one())
        .expect("columns");
    assert::all_close(
        &got,
        &gram::cross::<f64>(&kernel, x.view(), z.view(), Exec::one()).expect("numbers"),
        1e-14,
    );
}

/// Kernel PCA then a linear machine in one file, and kernel PCA alone, predict bit for bit what they did.
#[test]
fn models_with_components_come_back_from_files() {
    let (raw, y) = toy::noisy_disc(80, 15);
    let x = Points::dense(raw, 2).expect("whole rows");
    let of_row = y.iter().map(|y| u32::from(*y > 0.0)).collect();
    let targets = Targets::Classes(Labels { names: vec!["out".into(), "in".into()], of_row });
    let sample = Sample::new(&x, &targets);
    let kpca = KpcaParams { components: Some(10), whiten: true, ..rbf(0.5) };
    let kpca = kpca.fit(sample, Exec::one(), &mut silent()).expect("fits");
    let seen = Points::dense(kpca.decision(x.view(), Exec::one()).expect("columns"), 10).expect("whole rows");
    let svc = SvcParams { kernel: Some(Kernel::Linear), ..SvcParams::default() };
    let svc = svc.fit(Sample::new(&seen, &targets), Exec::one(), &mut silent()).expect("fits");
    let features = of(&kpca).layer().expect("finite");
    let layered = Model::from(svc.clone()).behind(features).expect("10 columns");
    assert!(Model::from(svc).behind(kpca.expansion.select(&[0]).expect("an axis")).is_err());
    let map = empirical_map(Kernel::Rbf { gamma: 0.1 }, x.clone()).expect("numbers");
    let twice = layered.clone().behind(map.select(&[0, 1]).expect("two")).expect("two columns");
    for model in [Model::from(kpca), layered, twice] {
        let bytes = model.to_bytes().expect("no custom kernel");
        let back = Model::from_bytes("test", &bytes).expect("what was written");
        assert_eq!(back, model);
        let at = |m: &Model| m.decision(x.view(), Exec::one()).expect("columns agree");
        assert_eq!(at(&back), at(&model));
        assert!(back.describe().facts.len() > 2);
        for cut in [bytes.len() / 3, bytes.len() - 9] {
            assert!(Model::from_bytes("test", &bytes[..cut]).is_err());
        }
    }
}

/// Many rows go through f32; a tolerance below its reach goes through f64.
#[test]
fn f32_finds_the_components_of_f64() {
    let (n, d) = (2000, 132);
    // Four directions that matter and a little of all others.
    let (z, e) = (toy::normals(n, 4, 3), toy::normals(n, d, 4));
    let x = (0..n * d).map(|p| 0.2 * e[p] + if p % d < 4 { z[p / d * 4 + p % d] } else { 0.0 }).collect();
    let x = Points::dense(x, d).expect("whole rows");
    let quick = fit(&KpcaParams { components: Some(6), ..rbf(0.02) }, &x).expect("a fit");
    let exact = fit(&KpcaParams { components: Some(6), tol: 1e-9, ..rbf(0.02) }, &x).expect("a fit");
    assert!(quick.info.notes[0].contains("f32") && !exact.info.notes[0].contains("f32"), "{:?}", quick.info);
    assert!(quick.info.gap <= 1e-5 && quick.info.gap > 0.0, "{}", quick.info.gap);
    for (a, b) in of(&quick).features.values.iter().zip(&of(&exact).features.values) {
        assert!((a - b).abs() <= 1e-6 * b, "{a} {b}");
    }
    // Features in f32, against f64 on the same axes and on the exact ones; in standard deviations.
    assert_eq!(of(&quick).precision(), Precision::F32);
    let some = points(50, d, 5);
    let fast = quick.decision(some.view(), Exec::one()).expect("features");
    let slow = quick.decision_in(some.view(), Precision::F64, Exec::one()).expect("features");
    let truth = exact.decision_in(some.view(), Precision::F64, Exec::one()).expect("features");
    for (p, v) in fast.iter().enumerate() {
        let deviation = (of(&exact).features.values[p % 6] / n as f64).sqrt();
        assert!((v - slow[p]).abs() <= 3e-5 * deviation);
        assert!((v - truth[p]).abs() <= 1e-3 * deviation, "{v} {}", truth[p]);
    }
    assert_ne!(fast, slow);
}

#[test]
fn values_beyond_f32_are_found_in_f64() {
    let x = points(2000, 3, 1);
    let kernel = Some(Kernel::Poly { degree: 3, scale: 1e13, coef0: 1.0 });
    let found = fit(&KpcaParams { kernel, components: Some(2), ..KpcaParams::default() }, &x).expect("a fit");
    assert!(
        of(&found).features.values[0].is_finite()
            && of(&found).features.values[0] > 1e38
            && !found.info.notes[0].contains("f32")
    );
}

/// What single inputs do to a feature: under the linear kernel the axes themselves, else the slow sum.
#[test]
fn responses_are_inner_products_with_unit_vectors() {
    let x = points(30, 5, 16);
    let linear = KpcaParams { kernel: Some(Kernel::Linear), ..KpcaParams::default() };
    let pca = fit(&linear, &x).expect("fits");
    let got = of(&pca).responses(&[0, 3], Exec::one()).expect("axes");
    let axes = pca.expansion.centres().view().to_f64().expect("numbers");
    for (place, axis) in [(0, 0), (1, 3)] {
        let own: Vec<f64> = got.iter().skip(place).step_by(2).copied().collect();
        assert::all_close(&own, &axes[axis * 5..(axis + 1) * 5], 1e-12);
    }
    let model = fit(&KpcaParams { components: Some(4), ..rbf(0.3) }, &x).expect("fits");
    let got = of(&model).responses(&[1], Exec::one()).expect("an axis");
    let centres = x.view().to_f64().expect("numbers");
    for (i, got) in got.iter().enumerate() {
        let value = |c: &[f64]| {
            (-0.3 * c.iter().enumerate().map(|(j, v)| (v - f64::from(u8::from(i == j))).powi(2)).sum::<f64>())
                .exp()
        };
        let want: f64 =
            centres.chunks(5).zip(model.expansion.coef().chunks(4)).map(|(c, a)| a[1] * value(c)).sum();
        assert::close(*got, want, 1e-12);
    }
    assert!(of(&model).responses(&[4], Exec::one()).is_err());
}

/// A kernel that is not symmetric still has an empirical map, x first; so has one on points of its own.
#[test]
fn empirical_maps_take_kernels_that_are_not_symmetric() {
    struct Lopsided;
    impl mercer::kernel::KernelFn for Lopsided {
        fn name(&self) -> &'static str {
            "lopsided"
        }
        fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
            let (x, y) = (x.to_f64(), y.to_f64());
            (x[0] * y[1]).exp() + x[1]
        }
    }
    let (z, x) = (points(6, 2, 17), points(4, 2, 18));
    let map = empirical_map(Kernel::custom(Lopsided), z.clone()).expect("numbers");
    let got = map.evaluate(x.view(), Exec::one()).expect("columns agree");
    let (z, x) = (z.view().to_f64().expect("numbers"), x.view().to_f64().expect("numbers"));
    let want: Vec<f64> =
        x.chunks(2).flat_map(|x| z.chunks(2).map(move |z| (x[0] * z[1]).exp() + x[1])).collect();
    assert::all_close(&got, &want, 1e-12);
}

/// Moments along axes are means of products of features, whichever order.
#[test]
fn moments_of_higher_order() {
    let x = points(50, 3, 19);
    let model = fit(&KpcaParams { components: Some(4), ..rbf(0.4) }, &x).expect("fits");
    let f = model.decision(x.view(), Exec::one()).expect("columns agree");
    for axes in [&[0, 0, 0][..], &[0, 1, 2], &[3, 3, 1, 1], &[2]] {
        let product = |line: &[f64]| axes.iter().map(|&j: &usize| line[j]).product::<f64>();
        let want = f.chunks(4).map(product).sum::<f64>() / 50.0;
        assert::close(of(&model).moment(x.view(), axes, Exec::one()).expect("axes"), want, 1e-12);
    }
    assert!(of(&model).moment(x.view(), &[4], Exec::one()).is_err());
}
