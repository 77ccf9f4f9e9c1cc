//! Compressed models: smaller, nearly the same answers, whole in every other respect.

use mercer::data::{Dataset, Labels, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::svc::{Multi, Wanted};
use mercer::model::{
    Body, CompressParams, Goal, KpcaParams, Model, OneClassParams, Sample, SphereParams, SvcParams, SvrParams,
};
use mercer::reduce::reduced_set::{ReducedSetParams, Share, Size};
use mercer::{Par, watch::silent};
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
    Model::from(Body::Svc(params.fit(sample, Par::one(), &mut silent()).expect("a fit")))
}

fn ratio(r: f64) -> CompressParams {
    CompressParams { goal: Goal::Size(Size::Ratio(r)), ..CompressParams::default() }
}

#[test]
fn a_classifier_keeps_its_answers_probabilities_and_reject_rule() {
    let data = classes(300, 1);
    let mut whole = svc(&data, true);
    let labels = data.targets.classes().expect("classes");
    whole.set_reject(data.points.view(), Some(labels), Wanted::Rejected(0.1), Par::one()).expect("a rule");
    let small = whole.compress(&ratio(5.0), Some(&data), Par::one(), &mut silent()).expect("smaller");
    assert!(small.about.set.after * 4 <= small.about.set.before, "{:?}", small.about);
    assert!(small.about.agreement > 0.95, "{}", small.about.agreement);
    assert_eq!(small.about.notes.len(), 2);
    small.model.probabilities(data.points.view(), Par::one()).expect("fitted anew");
    let rejected = small.model.predict_or_reject(data.points.view(), Par::one()).expect("a rule");
    let share = rejected.iter().filter(|r| r.is_none()).count() as f64 / 300.0;
    assert!((0.05..=0.1).contains(&share), "{share}");
    assert!(small.model.info().notes.iter().any(|n| n.starts_with("compressed from")));
    // Without data what needs labels is gone, and that is said.
    let bare = whole.compress(&ratio(5.0), None, Par::one(), &mut silent()).expect("smaller");
    assert!(bare.about.notes.len() == 3 && bare.about.notes[1].contains("dropped"), "{:?}", bare.about.notes);
    assert!(bare.model.probabilities(data.points.view(), Par::one()).is_err());
    assert!(bare.about.agreement > 0.8);
}

#[test]
fn an_agreement_asked_for_is_reached_by_every_share() {
    let data = classes(200, 2);
    let whole = svc(&data, false);
    for share in [Share::All, Share::Each, Share::Pooled] {
        let set = ReducedSetParams { share, ..ReducedSetParams::default() };
        let params = CompressParams { goal: Goal::Agreement(0.97), set, ..CompressParams::default() };
        let small = whole.compress(&params, Some(&data), Par::new(2), &mut silent()).expect("smaller");
        assert!(small.about.agreement >= 0.97 && small.about.set.after < small.about.set.before);
    }
}

#[test]
fn a_compressed_model_is_saved_and_read_like_any_other() {
    let data = classes(150, 3);
    let small =
        svc(&data, true).compress(&ratio(4.0), Some(&data), Par::one(), &mut silent()).expect("smaller");
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
        Body::Svr(svr.fit(sample(), Par::one(), quiet).expect("a fit")),
        Body::OneClass(one.fit(sample(), Par::one(), quiet).expect("a fit")),
        Body::Sphere(sphere.fit(sample(), Par::one(), quiet).expect("a fit")),
        Body::Kpca(kpca.fit(sample(), Par::one(), quiet).expect("a fit")),
    ];
    for body in models {
        let whole = Model::from(body);
        let small = whole.compress(&ratio(5.0), Some(&data), Par::one(), quiet).expect("smaller");
        assert!(small.about.set.after * 4 <= small.about.set.before, "{}: {:?}", whole.kind(), small.about);
        assert!(small.about.agreement > 0.9, "{}: {}", whole.kind(), small.about.agreement);
        let outside = |m: &Model| {
            m.decision(data.points.view(), Par::one()).expect("rows").iter().filter(|f| **f <= 0.0).count()
        };
        if ["one-class", "sphere"].contains(&whole.kind()) {
            assert_eq!(outside(&whole), outside(&small.model), "{}", whole.kind());
        }
    }
}
