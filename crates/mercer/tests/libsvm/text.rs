//! The text itself: layout, digits, and words for what is wrong.

use mercer::Exec;
use mercer::data::stage::Recipe;
use mercer::data::{Labels, Row, Stages, Targets};
use mercer::kernel::Kernel;
use mercer::model::svc::Multi;
use mercer::model::{Calibration, Model, Sample, SphereParams, SvcParams, SvrParams};
use mercer::watch::silent;
use mercer_testkit::assert;

use crate::{THREE, data, dense, labels};

#[test]
fn coefficients_are_laid_out_by_class() {
    let model = Model::from_libsvm("text", THREE.as_bytes()).expect("well formed");
    assert_eq!(model.classes(), ["7", "-2", "3"]);
    let x = [2.0, -1.0];
    let k = [0.0, -2.0, -3.0, 9.0];
    // LIBSVM's pairs: (7, -2), (7, 3), (-2, 3), positive for the first. Ours are positive for the second.
    let theirs = [
        1.0 * k[0] - 0.25 * k[1] - 0.75 * k[2] - 0.5,
        0.5 * k[0] - 0.5 * k[3] + 1.0,
        2.0 * k[1] + 1.0 * k[2] - 3.0 * k[3] - 2.0,
    ];
    let ours = model.decision(dense(&x, 2).view(), Exec::one()).expect("two columns");
    assert::all_close(&ours, &theirs.map(|v| -v), 1e-14);
    // Probabilities belong to classes, not to signs.
    let svc = &model.machine;
    let Calibration::Sigmoids(sigmoids) = &svc.calibration else { panic!("calibrated") };
    for p in 0..3 {
        let there = 1.0 / (1.0 + ([-1.0, -2.0, -3.0][p] * theirs[p] + [0.1, 0.2, 0.3][p]).exp());
        assert::close(sigmoids[p].at(ours[p]), 1.0 - there, 1e-14);
    }
    // There and back.
    let text = model.to_libsvm().expect("pairs");
    assert!(text.contains("\nlabel 7 -2 3\n") && text.contains("\nnr_sv 1 2 1\n"), "{text}");
    let back = Model::from_libsvm("text", text.as_bytes()).expect("just written");
    assert_eq!(back.decision(dense(&x, 2).view(), Exec::one()).expect("two columns"), ours);
    let again = &back.machine;
    assert_eq!((&again.calibration, &again.readout), (&svc.calibration, &svc.readout));
    assert_eq!(again.classes(), svc.classes());
}

#[test]
fn two_classes_come_in_order() {
    let text = |labels: &str| {
        format!(
            "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel {labels}\nprobA -2\nprobB 0.25\nnr_sv 1 1\nSV\n1 1:3 \n-1 1:1 \n"
        )
    };
    for (labels, sign) in [("1 -1", 1.0), ("-1 1", -1.0), ("9 10", -1.0)] {
        let model = Model::from_libsvm("text", text(labels).as_bytes()).expect("well formed");
        assert_eq!(model.classes(), if sign > 0.0 || labels == "-1 1" { ["-1", "1"] } else { ["9", "10"] });
        let at = dense(&[2.0, -2.0], 1);
        let (theirs, ours) = ([3.5, -4.5], model.decision(at.view(), Exec::one()).expect("one column"));
        assert::all_close(&ours, &theirs.map(|v| sign * v), 1e-15);
        let got = model.predict(at.view(), Exec::one()).expect("one column");
        let first = labels.split(' ').next().expect("two labels");
        assert_eq!(got.classes().expect("classes").name_of(0), first);
        let p = model.probabilities(at.view(), Exec::one()).expect("kept").values;
        let there = 1.0 / (1.0 + (-2.0_f64 * 3.5 + 0.25).exp());
        let place = model.classes().iter().position(|c| c == first).expect("a class");
        assert::close(p[place], there, 1e-14);
    }
}

#[test]
fn numbers_survive_to_the_last_bit() {
    let odd = [1.0 / 3.0, 1e-300, -2.5e17, 4.9e-324, 123_456.789];
    let points = dense(&odd, 1);
    let f = mercer::expansion::Expansion::new(
        Kernel::Rbf { gamma: 0.1 + 0.2 },
        points,
        odd.to_vec(),
        vec![1e-7 / 3.0],
    );
    let svr = SvrParams::default().fit(
        Sample::new(&dense(&[0.0, 1.0], 1), &Targets::Reals(vec![0.0, 1.0])),
        Exec::one(),
        &mut silent(),
    );
    let mut svr = svr.expect("two rows");
    svr.expansion = f.expect("fits");
    let text = Model::from(svr.clone()).to_libsvm().expect("LIBSVM has this");
    let back = Model::from_libsvm("text", text.as_bytes()).expect("just written").machine;
    assert_eq!(back.expansion.coef(), svr.expansion.coef());
    assert_eq!(back.expansion.offset(), svr.expansion.offset());
    assert_eq!(back.expansion.kernel(), svr.expansion.kernel());
    let row = |r: Row<'_>| r.to_f64();
    for j in 0..odd.len() {
        assert_eq!(row(back.expansion.centres().row(j)), row(svr.expansion.centres().row(j)));
    }
}

#[test]
fn what_libsvm_cannot_hold_is_refused_with_words() {
    let train = data(40, 41);
    let points = dense(&train.x, train.d);
    let classify = |multi: Multi, kernel: &str, targets: &Targets| {
        let kernel = Some(kernel.parse().expect("a kernel"));
        let params = SvcParams { kernel, multi, ..SvcParams::default() };
        Model::from(params.fit(Sample::new(&points, targets), Exec::one(), &mut silent()).expect("classes"))
    };
    let four = labels(&train.classes);
    let message = |model: Model| model.to_libsvm().expect_err("not LIBSVM's").to_string();
    assert!(message(classify(Multi::OneVsRest, "rbf(gamma=1)", &four)).contains("one_vs_one"));
    assert!(message(classify(Multi::OneVsOne, "laplacian(gamma=1)", &four)).contains("no kernel laplacian"));
    let named = Targets::Classes(Labels::new(train.classes.iter().map(|c| format!("class {c}"))));
    assert!(message(classify(Multi::OneVsOne, "rbf(gamma=1)", &named)).contains("a whole number"));
    let stage =
        Recipe::parse("standard").expect("a stage").fit(points.view(), mercer::Exec::one()).expect("numbers");
    let model = classify(Multi::OneVsOne, "rbf(gamma=1)", &four);
    assert!(message(Model { stages: Stages { list: vec![stage] }, ..model }).contains("stages"));
    let sphere = SphereParams { kernel: Some(Kernel::Linear), ..SphereParams::default() };
    let sphere =
        sphere.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("points");
    assert!(message(Model::from(sphere)).contains("does not support spheres"));
}

#[test]
fn what_is_wrong_with_a_text_is_said_with_its_line() {
    let good =
        "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 1:1 \n";
    assert!(Model::from_libsvm("m", good.as_bytes()).is_ok());
    let message = |from: &str, to: &str| {
        assert!(good.contains(from));
        Model::from_libsvm("m", good.replace(from, to).as_bytes()).expect_err("broken").to_string()
    };
    for (from, to, want) in [
        (
            "epsilon_svr",
            "svm",
            "m, line 1: got `svm`, expected one of c_svc, nu_svc, one_class, epsilon_svr, nu_svr",
        ),
        ("gamma 0.5", "gamma x", "m, line 3: got `x`, expected a number after `gamma`"),
        (
            "gamma 0.5\n",
            "",
            "m, line 6: got a header without it, expected `gamma`, which this kernel requires",
        ),
        (
            "gamma 0.5",
            "gamma -1",
            "m, line 7: got a header without it, expected kernel parameters in their range",
        ),
        ("rho 0.5", "rho 0.5 1", "m, line 7: got 2 numbers after `rho`, expected 1"),
        ("rho 0.5", "rho nan", "m, line 6: got `nan`, expected finite numbers"),
        ("rbf", "wavelet", "expected `kernel_type` linear, polynomial, rbf, sigmoid or precomputed"),
        ("total_sv 1", "total_sv 2", "m, line 8: got 1 support vectors, expected 2, the `total_sv`"),
        ("1 1:1 ", "1 2:1 1:1 ", "m, line 8: got `1:1`, expected increasing indices from 1 to 2147483647"),
        ("1 1:1 ", "1 0:1 ", "m, line 8: got `0:1`, expected increasing indices from 1 to 2147483647"),
        ("1 1:1 ", "1 1:inf ", "m, line 8: got `1:inf`, expected `index:value`"),
        ("1 1:1 ", "inf 1:1 ", "m, line 8: got `inf`, expected a finite coefficient"),
        ("nr_class 2", "nr_class 3", "m, line 7: got 1 numbers after `rho`, expected 3"),
        ("nr_class 2", "colour 2", "m, line 4: got `colour`, expected a header line of a LIBSVM model"),
        ("SV\n1 1:1 \n", "", "m, line 7: got the end of the file, expected `SV` and what follows it"),
    ] {
        let got = message(from, to);
        assert!(got.contains(want), "{got}\n  wanted {want}");
    }
    let twice = THREE.replace("label 7 -2 3", "label 7 7 3");
    let got = Model::from_libsvm("m", twice.as_bytes()).expect_err("broken").to_string();
    assert!(got.contains("got label 7 twice"), "{got}");
    assert!(Model::from_libsvm("m", b"svm_type \xff").is_err());
    assert!(Model::load_libsvm("/nonexistent/model").is_err());
    // An index as large as LIBSVM's costs no memory to speak of.
    let far = good.replace("1:1 ", "2147483647:1 ");
    let model = Model::from_libsvm("m", far.as_bytes()).expect("LIBSVM reads it, too");
    let f = model.decision(dense(&[1.0, 1.0], 1).view(), Exec::one()).expect("any width");
    assert::all_close(&f, &[(-1.0f64).exp() - 0.5; 2], 1e-12);
}
