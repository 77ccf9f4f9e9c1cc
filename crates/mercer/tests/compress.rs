//! Compressed models: smaller, nearly the same answers, whole in every other respect.

use mercer::data::{Dataset, Labels, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::svc::Multi;
use mercer::model::{
    CompressParams, Goal, KpcaParams, Model, OneClassParams, Sample, SphereParams, SvcParams, SvrParams,
    Wanted,
};
use mercer::reduce::reduced_set::{ReducedSetParams, Share, Size};
use mercer::{Exec, watch::silent};
use mercer_testkit::toy;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };

fn points(n: usize, seed: u64) -> Points {
    Points::dense(toy::normals(n, 2, seed), 2).expect("rows")
}

/// Three classes by angle.
fn classes(n: usize, seed: u64) -> Dataset {
    let points = points(n, seed);
    let class = |i: usize| {
        let x = points.row(i).to_f64();
        ["a", "b", "c"][((x[1].atan2(x[0]) + std::f64::consts::PI) / 2.1).floor().min(2.0) as usize]
    };
    let labels = Labels::new((0..n).map(class));
    Dataset::new(points, Targets::Classes(labels)).expect("fits")
}

fn svc(data: &Dataset, probability: bool) -> Model {
    let params =
        SvcParams { kernel: Some(RBF), c: 5.0, multi: Multi::OneVsRest, probability, ..SvcParams::default() };
    let sample = Sample::new(&data.points, &data.targets);
    Model::from(params.fit(sample, Exec::one(), &mut silent()).expect("a fit"))
}

fn ratio(r: f64) -> CompressParams {
    CompressParams { goal: Goal::Size(Size::Ratio(r)), ..CompressParams::default() }
}

#[test]
fn a_classifier_keeps_its_answers_probabilities_and_reject_rule() {
    let data = classes(300, 1);
    let mut whole = svc(&data, true);
    let labels = data.targets.classes().expect("classes");
    whole.set_reject(data.points.view(), Some(labels), Wanted::Rejected(0.1), Exec::one()).expect("a rule");
    let small = whole.compress(&ratio(5.0), Some(&data), Exec::one(), &mut silent()).expect("smaller");
    assert!(small.about.set.after * 4 <= small.about.set.before, "{:?}", small.about);
    assert!(small.about.agreement > 0.95, "{}", small.about.agreement);
    assert_eq!(small.about.notes.len(), 2);
    small.model.probabilities(data.points.view(), Exec::one()).expect("fitted anew");
    let rejected = small.model.predict_or_reject(data.points.view(), Exec::one()).expect("a rule");
    let share = rejected.iter().filter(|r| r.is_none()).count() as f64 / 300.0;
    assert!((0.05..=0.1).contains(&share), "{share}");
    assert!(small.model.info().notes.iter().any(|n| n.starts_with("compressed from")));
    // Without data what needs labels is gone, and that is said.
    let bare = whole.compress(&ratio(5.0), None, Exec::one(), &mut silent()).expect("smaller");
    assert!(bare.about.notes.len() == 3 && bare.about.notes[1].contains("dropped"), "{:?}", bare.about.notes);
    assert!(bare.model.probabilities(data.points.view(), Exec::one()).is_err());
    assert!(bare.about.agreement > 0.8);
}

#[test]
fn an_agreement_asked_for_is_reached_by_every_share() {
    let data = classes(200, 2);
    let whole = svc(&data, false);
    for share in [Share::All, Share::Each, Share::Pooled] {
        let set = ReducedSetParams { share, ..ReducedSetParams::default() };
        let params = CompressParams { goal: Goal::Agreement(0.97), set, ..CompressParams::default() };
        let small = whole.compress(&params, Some(&data), Exec::new(2), &mut silent()).expect("smaller");
        assert!(small.about.agreement >= 0.97 && small.about.set.after < small.about.set.before);
    }
}

#[test]
fn a_compressed_model_is_saved_and_read_like_any_other() {
    let data = classes(150, 3);
    let small =
        svc(&data, true).compress(&ratio(4.0), Some(&data), Exec::one(), &mut silent()).expect("smaller");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("small.mercer");
    small.model.save(&file).expect("written");
    assert_eq!(Model::read(&file).expect("read"), small.model);
}

#[test]
fn numbers_novelties_spheres_and_components_are_compressed_too() {
    let x = points(250, 4);
    let y: Vec<f64> = (0..250).map(|i| x.row(i).to_f64()[0].sin()).collect();
    let data = Dataset::new(x, Targets::Reals(y)).expect("fits");
    let sample = || Sample::new(&data.points, &data.targets);
    let quiet = &mut silent();
    let svr = SvrParams { kernel: Some(RBF), c: 10.0, epsilon: 0.02, ..SvrParams::default() };
    let one = OneClassParams { kernel: Some(RBF), nu: 0.3, ..OneClassParams::default() };
    let sphere = SphereParams { kernel: Some(RBF), nu: 0.3, ..SphereParams::default() };
    let kpca = KpcaParams { kernel: Some(RBF), components: Some(3), ..KpcaParams::default() };
    let models = [
        svr.fit(sample(), Exec::one(), quiet).expect("a fit"),
        one.fit(sample(), Exec::one(), quiet).expect("a fit"),
        sphere.fit(sample(), Exec::one(), quiet).expect("a fit"),
        kpca.fit(sample(), Exec::one(), quiet).expect("a fit"),
    ];
    for body in models {
        let whole = Model::from(body);
        let small = whole.compress(&ratio(5.0), Some(&data), Exec::one(), quiet).expect("smaller");
        assert!(small.about.set.after * 4 <= small.about.set.before, "{}: {:?}", whole.kind(), small.about);
        assert!(small.about.agreement > 0.9, "{}: {}", whole.kind(), small.about.agreement);
        let outside = |m: &Model| {
            m.decision(data.points.view(), Exec::one()).expect("rows").iter().filter(|f| **f <= 0.0).count()
        };
        if ["one-class", "sphere"].contains(&whole.kind()) {
            assert_eq!(outside(&whole), outside(&small.model), "{}", whole.kind());
        }
    }
}

#[test]
fn machines_of_pairs_keep_the_form_of_libsvms_files() {
    let data = classes(300, 5);
    let labels = data.targets.classes().expect("classes");
    let numbers = Labels::new(labels.of_row.iter().map(ToString::to_string).collect::<Vec<_>>());
    let data = Dataset::new(data.points.clone(), Targets::Classes(numbers)).expect("fits");
    let params = SvcParams { kernel: Some(RBF), c: 5.0, ..SvcParams::default() };
    let sample = Sample::new(&data.points, &data.targets);
    let whole = Model::from(params.fit(sample, Exec::one(), &mut silent()).expect("a fit"));
    // As a file of LIBSVM's: that is where such models come from.
    let whole = Model::from_libsvm("m", whole.to_libsvm().expect("pairs").as_bytes()).expect("read");
    let params = CompressParams { by_class: true, ..ratio(4.0) };
    let small = whole.compress(&params, Some(&data), Exec::one(), &mut silent()).expect("smaller");
    assert!(small.about.agreement > 0.9 && small.about.set.after * 3 < small.about.set.before);
    let text = small.model.to_libsvm().expect("pairs");
    // No centre is written twice, as one that serves several classes would be.
    assert!(text.contains(&format!("total_sv {}\n", small.about.set.after)), "{}", small.about.set.after);
    let back = Model::from_libsvm("small", text.as_bytes()).expect("read");
    let (a, b) = (
        back.decision(data.points.view(), Exec::one()).expect("rows"),
        small.model.decision(data.points.view(), Exec::one()).expect("rows"),
    );
    a.iter().zip(&b).for_each(|(a, b)| mercer_testkit::assert::close(*a, *b, 1e-9));
    let rest = svc(&data, false);
    let refused = rest.compress(&params, Some(&data), Exec::one(), &mut silent()).expect_err("no pairs");
    assert!(refused.to_string().contains("only one-vs-one"), "{refused}");
}

#[test]
fn coefficients_trained_anew_serve_the_data_better() {
    let data = classes(300, 6);
    let whole = svc(&data, false);
    let errors = |model: &Model| {
        let (told, want) = (
            model.predict(data.points.view(), Exec::one()).expect("rows"),
            data.targets.classes().expect("classes"),
        );
        let told = told.classes().expect("classes").clone();
        (0..300).filter(|&i| told.name_of(i) != want.name_of(i)).count()
    };
    let small = whole.compress(&ratio(12.0), Some(&data), Exec::one(), &mut silent()).expect("smaller");
    let params = CompressParams { retrain: true, ..ratio(12.0) };
    let anew = whole.compress(&params, Some(&data), Exec::one(), &mut silent()).expect("smaller");
    assert!(errors(&anew.model) <= errors(&small.model), "{} {}", errors(&anew.model), errors(&small.model));
    assert_eq!(
        small.model.retrained(&data, 0, Exec::one()).expect("labels").machine.expansion,
        anew.model.machine.expansion
    );
    assert!(
        anew.about.notes.iter().any(|n| n.contains("coefficients were retrained")),
        "{:?}",
        anew.about.notes
    );
    let moved = small.model.retrained(&data, 4, Exec::new(2)).expect("labels");
    // What moving the centres lowers; errors on few rows go either way.
    let objective = |model: &Model| {
        let f = &model.machine.expansion;
        let labels = data.targets.classes().expect("classes");
        let outputs = model.decision(data.points.view(), Exec::one()).expect("rows");
        let short = outputs.chunks(f.outputs()).zip(&labels.of_row).flat_map(|(line, own)| {
            let side = |c: usize| if labels.names[*own as usize] == model.classes()[c] { 1.0 } else { -1.0 };
            line.iter()
                .enumerate()
                .map(move |(c, f)| (1.0 - side(c) * f).max(0.0).powi(2))
                .collect::<Vec<_>>()
        });
        f.norm2(Exec::one()).expect("numbers").iter().sum::<f64>() / 2.0 + 5.0 * short.sum::<f64>()
    };
    let (before, after) = (objective(&anew.model), objective(&moved));
    assert!(after < before && after > before / 2.0, "{before} {after}");
    assert!(errors(&moved) < 20, "{}", errors(&moved));
    assert_ne!(moved.machine.expansion.centres(), small.model.machine.expansion.centres());
    let refused = whole.compress(&params, None, Exec::one(), &mut silent()).expect_err("no labels");
    assert!(refused.to_string().contains("data with targets"), "{refused}");
    // Regression, too; a one-class machine has nothing to be trained on.
    let y: Vec<f64> = (0..300).map(|i| data.points.row(i).to_f64()[0].sin()).collect();
    let reals = Dataset::new(data.points.clone(), Targets::Reals(y.clone())).expect("fits");
    let svr = SvrParams { kernel: Some(RBF), c: 10.0, epsilon: 0.02, ..SvrParams::default() };
    let sample = Sample::new(&reals.points, &reals.targets);
    let whole = Model::from(svr.fit(sample, Exec::one(), &mut silent()).expect("a fit"));
    let params = CompressParams { retrain: true, ..ratio(20.0) };
    let anew = whole.compress(&params, Some(&reals), Exec::one(), &mut silent()).expect("smaller");
    let near = whole.compress(&ratio(20.0), Some(&reals), Exec::one(), &mut silent()).expect("smaller");
    let [off, near] = [&anew, &near].map(|small| {
        let told = small.model.decision(reals.points.view(), Exec::one()).expect("rows");
        told.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 300.0
    });
    assert!(off < near && off < 0.1, "{off} {near}");
    let one = OneClassParams { kernel: Some(RBF), nu: 0.3, ..OneClassParams::default() };
    let whole = Model::from(one.fit(sample, Exec::one(), &mut silent()).expect("a fit"));
    assert!(whole.retrained(&reals, 0, Exec::one()).is_err());
}

#[test]
fn a_compressed_model_is_explained_without_rows_it_no_longer_has() {
    let data = classes(200, 7);
    let whole = svc(&data, false);
    let small = whole.compress(&ratio(5.0), Some(&data), Exec::one(), &mut silent()).expect("smaller").model;
    let (before, after) = (
        whole.explain(Some(&data), Exec::one(), &mut silent()).expect("a model"),
        small.explain(Some(&data), Exec::one(), &mut silent()).expect("a model"),
    );
    assert!(before.machines.iter().all(|m| m.free.is_some()) && before.support_per_class.is_some());
    assert!(after.machines.iter().all(|m| m.free.is_none() && m.bounded.is_none() && m.norm2.is_some()));
    assert_eq!(after.support_per_class, None);
    // What is named are places among the centres, not rows of the data.
    assert!(after.influential.iter().all(|i| i.target.is_none() && i.row < small.machine.expansion.len()));
    assert!(small.info().notes.iter().any(|n| n.starts_with("compressed from")));
}

#[test]
fn widths_of_their_own_stay_with_the_model() {
    let data = classes(200, 4);
    let whole = svc(&data, false);
    let same = whole.with_widths().expect("Gaussian");
    let outputs = |m: &Model| m.decision(data.points.view(), Exec::one()).expect("outputs");
    outputs(&same).iter().zip(outputs(&whole)).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
    let params = CompressParams { widths: true, ..ratio(8.0) };
    let small = whole.compress(&params, Some(&data), Exec::one(), &mut silent()).expect("smaller");
    let plain = whole.compress(&ratio(8.0), Some(&data), Exec::one(), &mut silent()).expect("smaller");
    assert!(
        small.about.set.error < plain.about.set.error,
        "{} {}",
        small.about.set.error,
        plain.about.set.error
    );
    assert!(small.about.agreement > 0.9, "{}", small.about.agreement);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wide.mercer");
    small.model.save(&file).expect("written");
    assert_eq!(outputs(&Model::load(&file).expect("read")), outputs(&small.model));
    let moved = small.model.retrained(&data, 2, Exec::one()).expect("trained anew");
    let wrong = |m: &Model| {
        let got = m.predict(data.points.view(), Exec::one()).expect("classes");
        let Targets::Classes(got) = got else { panic!("classes") };
        let want = data.targets.classes().expect("classes");
        got.of_row.iter().zip(&want.of_row).filter(|(a, b)| a != b).count()
    };
    assert!(wrong(&moved) <= wrong(&small.model), "{} {}", wrong(&moved), wrong(&small.model));
}
