//! What holds for every learner of the table, and what is known of single ones.

use mercer::assess::{Evaluation, dependence, importance, mistakes};
use mercer::data::{Csr, Dataset, Labels, Points, Targets, toy};
use mercer::gram::Matrix;
use mercer::kernel::Kernel;
use mercer::model::{
    BaseLearner, BayesPointParams, BoostKind, BoostParams, ClusterParams, ClusterStart, KnnParams, Learner,
    LpMachineParams, Machine, Model, NetworkParams, OnlineRule, ParzenParams, PerceptronParams, Place,
    Sample, Task, Weights,
};
use mercer::watch::silent;
use mercer::{Exec, Result};
use mercer_testkit::assert::close;

fn data(task: Task, n: usize, seed: u64) -> Dataset {
    let (points, targets) = match task {
        Task::Regression => {
            let (x, y) = toy::sinc(n, seed);
            let wide = x.view().to_f64().expect("numbers").iter().flat_map(|&v| [v, 0.1 * v * v]).collect();
            (Points::dense(wide, 2).expect("whole rows"), y)
        }
        Task::Classification => toy::banana(n, seed),
        _ => {
            let (x, _) = toy::three_clusters(n, seed);
            (x, Targets::None)
        }
    };
    Dataset::new(points, targets).expect("a target a row")
}

fn with_kernel(learner: &Learner, kernel: Kernel) -> Learner {
    let mut learner = learner.clone();
    learner.set_kernel(kernel);
    if learner.entry().takes("rounds") {
        learner.set("rounds", 15.into()).expect("a number");
    }
    learner
}

fn fit(learner: &Learner, data: &Dataset) -> Result<Model> {
    learner.fit(Sample::new(&data.points, &data.targets), Exec::one(), &mut silent()).map(Model::from)
}

#[test]
fn every_learner_saves_loads_predicts_evaluates_and_explains() {
    for entry in Learner::ALL {
        for &task in entry.tasks {
            let set = data(task, 60, 3);
            if entry.name == "hard-margin" {
                continue;
            }
            let learner = with_kernel(&entry.learner(), Kernel::Rbf { gamma: 0.8 });
            let name = format!("{} to {}", entry.name, task.verb());
            let model = fit(&learner, &set).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(model.task(), task, "{name}");
            let back = Model::from_bytes("memory", &model.to_bytes().expect(&name)).expect(&name);
            assert_eq!(back, model, "{name}");
            let fresh = data(task, 40, 4);
            let (a, b) = (
                model.decision(fresh.points.view(), Exec::one()).expect(&name),
                back.decision(fresh.points.view(), Exec::one()).expect(&name),
            );
            assert!(a == b && a.len() == 40 * model.outputs() && a.iter().all(|v| v.is_finite()), "{name}");
            assert_eq!(
                model.predict(fresh.points.view(), Exec::one()).expect(&name).len(),
                Some(40),
                "{name}"
            );
            match Evaluation::new(&model, &fresh, Exec::one()).expect(&name) {
                Evaluation::Classification(e) => assert!(e.error < 0.8 * e.baseline, "{name}: {}", e.error),
                Evaluation::Regression(e) => assert!(e.rmse < 0.8 * e.baseline, "{name}: {}", e.rmse),
                Evaluation::Novelty(e) => assert!(e.outside < 30, "{name}: {}", e.outside),
                Evaluation::Clustering(e) => assert_eq!(e.sizes.iter().sum::<usize>(), 40, "{name}"),
            }
            let seen = model.explain(Some(&set), Exec::one(), &mut silent()).expect(&name);
            assert_eq!(seen.learner, entry.name, "{name}");
            assert_eq!(model.describe().kind == entry.name, seen.learner == model.kind(), "{name}");
        }
    }
}

#[test]
fn every_learner_tells_which_columns_matter_how_and_where_it_is_wrong() {
    let wide = |mut set: Dataset| {
        // A column of noise, and the rows sparse.
        let values = set.points.view().to_f64().expect("numbers");
        let mut csr = Csr { start: vec![0], ..Csr::default() };
        for (i, row) in values.chunks(2).enumerate() {
            let row = [row[0], row[1], if i / 3 % 2 == 0 { 0.0 } else { 0.3 }];
            for (j, v) in row.into_iter().enumerate().filter(|(_, v)| *v != 0.0) {
                csr.column.push(j as u32);
                csr.value.push(v);
            }
            csr.start.push(csr.column.len());
        }
        set.points = Points::sparse(csr, 3).expect("rows");
        set
    };
    for entry in Learner::ALL {
        for &task in entry.tasks {
            if entry.name == "hard-margin" {
                continue;
            }
            let (set, fresh) = (wide(data(task, 60, 3)), wide(data(task, 50, 4)));
            let learner = with_kernel(&entry.learner(), Kernel::Rbf { gamma: 0.8 });
            let name = format!("{} to {}", entry.name, task.verb());
            let model = fit(&learner, &set).unwrap_or_else(|e| panic!("{name}: {e}"));
            let found = importance(&model, &fresh, 2, 0, Exec::one(), &mut silent());
            let curves = dependence(&model, &fresh, &[2, 0], 0, Exec::one(), &mut silent());
            let wrong = mistakes(&model, &fresh, 5, Exec::one());
            if task == Task::Features {
                assert!(found.is_err() && curves.is_err() && wrong.is_err(), "{name}");
                continue;
            }
            let (found, curves) = (found.expect(&name), curves.expect(&name));
            let rise = |j: usize| found.columns.iter().find(|c| c.members == [j]).expect(&name).rise;
            assert!(rise(2) < rise(0).max(rise(1)), "{name}: {found:?}");
            let [noise, first] = &curves.columns[..] else { panic!("{name}: {curves:?}") };
            assert_eq!((noise.places.len(), first.places.len()), (2, 20), "{name}");
            assert!(first.range(first.widest()) > noise.range(noise.widest()), "{name}: {curves:?}");
            assert!(first.places.iter().flat_map(|p| &p.mean).all(|v| v.is_finite()), "{name}");
            match (task, wrong) {
                (Task::Classification | Task::Regression, wrong) => {
                    let wrong = wrong.expect(&name);
                    let pairs = wrong.worst.windows(2);
                    assert!(wrong.worst.len() == wrong.count.min(5), "{name}");
                    assert!(pairs.into_iter().all(|w| w[0].by >= w[1].by), "{name}: {wrong:?}");
                }
                (_, wrong) => assert!(wrong.is_err(), "{name}"),
            }
        }
    }
}

#[test]
fn every_classifier_takes_three_classes_weights_and_a_matrix() {
    let (points, targets) = toy::three_clusters(45, 2);
    let kernel = Kernel::Rbf { gamma: 3.0 };
    let k = mercer::gram::square::<f64>(&kernel, points.view(), Exec::one()).expect("numbers").to_vec();
    let (matrix, numbers) =
        (Matrix::new(k.clone(), 45).expect("symmetric"), Points::row_numbers((0..45).collect()));
    let values = Points::dense(k, 45).expect("whole rows");
    let weight: Vec<f64> = (0..45).map(|i| if i == 7 { 0.0 } else { 1.0 }).collect();
    for entry in Learner::ALL.iter().filter(|e| e.tasks.contains(&Task::Classification)) {
        let learner = with_kernel(&entry.learner(), kernel.clone());
        let sample = Sample::new(&points, &targets).weighted(&weight);
        let body =
            learner.fit(sample, Exec::one(), &mut silent()).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        let model = Model::from(body);
        let got = model.predict(points.view(), Exec::one()).expect("points");
        let (got, want) = (got.classes().expect("classes").clone(), targets.classes().expect("classes"));
        let wrong = (0..45).filter(|&i| got.name_of(i) != want.name_of(i)).count();
        assert!(wrong <= 2, "{}: {wrong} of 45 wrong", entry.name);
        let points_needed = ["adaboost", "arc-gv", "adaboost-reg", "lpboost", "rbf-network"];
        if points_needed.contains(&entry.name) {
            continue;
        }
        let mut given = learner.clone();
        given.set_kernel(Kernel::Precomputed);
        let sample = Sample::new(&numbers, &targets).weighted(&weight).with_gram(&matrix);
        let body =
            given.fit(sample, Exec::one(), &mut silent()).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        let again = Model::from(body).predict(values.view(), Exec::one()).expect("kernel values");
        assert_eq!(again.classes().expect("classes"), &got, "{}", entry.name);
    }
}

#[test]
fn one_class_one_row_and_equal_rows_are_told_or_answered() {
    let one =
        Dataset::new(Points::dense(vec![1.0, 2.0], 2).expect("a row"), Targets::Classes(Labels::new(["a"])))
            .expect("a row");
    let same = Points::dense([1.0, 2.0].repeat(6), 2).expect("rows");
    let same =
        Dataset::new(same, Targets::Classes(Labels::new(["a", "b", "a", "b", "a", "b"]))).expect("rows");
    let twice = Points::dense(vec![0.0, 0.0, 0.0, 0.0, 3.0, 1.0, 3.0, 1.0], 2).expect("rows");
    let twice = Dataset::new(twice, Targets::Classes(Labels::new(["a", "a", "b", "b"]))).expect("rows");
    for entry in Learner::ALL.iter().filter(|e| e.tasks.contains(&Task::Classification)) {
        let mut learner = with_kernel(&entry.learner(), Kernel::Rbf { gamma: 0.5 });
        if entry.takes("neighbours") {
            learner.set("neighbours", 1.into()).expect("a number");
        }
        assert!(fit(&learner, &one).is_err(), "{}", entry.name);
        // Equal rows of both classes: an answer or words, no panic.
        if let Ok(model) = fit(&learner, &same) {
            assert!(
                model
                    .decision(same.points.view(), Exec::one())
                    .expect("points")
                    .iter()
                    .all(|v| v.is_finite())
            );
        }
        let model = fit(&learner, &twice).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        let got = model.predict(twice.points.view(), Exec::one()).expect("points");
        assert_eq!(got.classes().expect("classes").of_row, [0, 0, 1, 1], "{}", entry.name);
    }
}

fn function(fitted: Result<Machine>) -> Machine {
    fitted.expect("good data")
}

fn fact(model: &Machine, name: &str) -> f64 {
    model.facts.iter().find(|f| f.0 == name).unwrap_or_else(|| panic!("{name} is not stated")).1
}

fn errors(model: &Machine, set: &Dataset) -> usize {
    let got = model.predict(set.points.view(), Exec::one()).expect("points");
    let (got, want) = (got.classes().expect("classes"), set.targets.classes().expect("classes"));
    (0..got.len()).filter(|&i| got.name_of(i) != want.name_of(i)).count()
}

#[test]
fn margins_of_boosted_hypotheses_are_their_decision_values() {
    let set = data(Task::Classification, 80, 1);
    let sample = Sample::new(&set.points, &set.targets);
    let y: Vec<f64> =
        set.targets.classes().expect("classes").of_row.iter().map(|&c| 2.0 * f64::from(c) - 1.0).collect();
    for base in [BaseLearner::Stump, BaseLearner::Network, BaseLearner::Kernel] {
        let of = |kind: BoostKind, rounds: u64| {
            let kernel = Some(Kernel::Rbf { gamma: 1.0 });
            let params = BoostParams { kernel, kind, base, rounds, nu: 0.01, ..BoostParams::default() };
            function(params.fit(sample, Exec::one(), &mut silent()))
        };
        for kind in [BoostKind::AdaBoost, BoostKind::ArcGv, BoostKind::Regularised, BoostKind::Program] {
            let model = of(kind, 20);
            let f = model.decision(set.points.view(), Exec::one()).expect("points");
            let least = f.iter().zip(&y).map(|(f, y)| f * y).fold(f64::INFINITY, f64::min);
            close(least, fact(&model, "least_margin"), 1e-9);
            assert!(f.iter().all(|f| f.abs() <= 1.0 + 1e-9), "{base:?} {kind:?}");
        }
        if base == BaseLearner::Stump {
            let (lp, ada) = (of(BoostKind::Program, 300), of(BoostKind::AdaBoost, 300));
            assert!(fact(&lp, "least_margin") >= fact(&ada, "least_margin") - 1e-6);
            close(fact(&lp, "least_margin"), fact(&lp, "lp_margin"), 1e-4);
        }
    }
}

#[test]
fn a_machine_on_the_same_hypotheses() {
    let set = data(Task::Classification, 80, 1);
    let params = BoostParams { base: BaseLearner::Stump, rounds: 40, ..BoostParams::default() };
    let boosted = function(params.fit(Sample::new(&set.points, &set.targets), Exec::one(), &mut silent()));
    let kernel = boosted.hypothesis_kernel().expect("hypotheses");
    let k = mercer::gram::square::<f64>(&kernel, set.points.view(), Exec::one()).expect("numbers").to_vec();
    // Hypotheses of 1 and -1 whose weights sum to one: k(x, x) = 1, and never more.
    assert!((0..80).all(|i| (k[i * 80 + i] - 1.0).abs() < 1e-9) && k.iter().all(|v| v.abs() <= 1.0 + 1e-9));
    let mut learner = Learner::find("svc").expect("in the table").learner();
    learner.set_kernel(kernel);
    let machine = fit(&learner, &set).expect("a kernel like any other");
    let Evaluation::Classification(e) = Evaluation::new(&machine, &set, Exec::one()).expect("classes") else {
        panic!("a classifier")
    };
    assert!(e.error < 0.15, "{}", e.error);
}

#[test]
fn networks_place_centres_in_each_class_on_support_vectors_or_downhill() {
    let (set, fresh) = (data(Task::Classification, 150, 1), data(Task::Classification, 300, 2));
    for place in [Place::Kmeans, Place::SupportVectors, Place::Adapted] {
        for weights in [Weights::PseudoInverse, Weights::Descent] {
            let kernel = Some(Kernel::Rbf { gamma: 1.0 });
            let params = NetworkParams {
                kernel,
                place,
                weights,
                centres: 12,
                lambda: 1e-3,
                ..NetworkParams::default()
            };
            let model =
                function(params.fit(Sample::new(&set.points, &set.targets), Exec::one(), &mut silent()));
            let wrong = errors(&model, &fresh);
            assert!(wrong < 36, "{place:?} {weights:?}: {wrong} of 300");
            match place {
                Place::SupportVectors => assert_eq!(model.support.len(), model.expansion.len()),
                _ => assert_eq!(model.expansion.len(), 12),
            }
            assert_eq!(*model.expansion.kernel() == Kernel::Rbf { gamma: 1.0 }, place != Place::Adapted);
        }
    }
    let params = NetworkParams { kernel: Some(Kernel::Linear), ..NetworkParams::default() };
    assert!(params.fit(Sample::new(&set.points, &set.targets), Exec::one(), &mut silent()).is_err());
}

#[test]
fn row_by_row_and_by_a_billiard() {
    let (set, fresh) = (data(Task::Classification, 100, 1), data(Task::Classification, 300, 2));
    let sample = Sample::new(&set.points, &set.targets);
    let kernel = Some(Kernel::Rbf { gamma: 1.0 });
    let online = |rule| PerceptronParams { kernel: kernel.clone(), rule, ..PerceptronParams::default() };
    let perceptron = function(online(OnlineRule::Perceptron).fit(sample, Exec::one(), &mut silent()));
    let adatron = function(online(OnlineRule::Adatron).fit(sample, Exec::one(), &mut silent()));
    let bayes = BayesPointParams { kernel: kernel.clone(), ..BayesPointParams::default() };
    let bayes = function(bayes.fit(sample, Exec::one(), &mut silent()));
    let lp = LpMachineParams { kernel: kernel.clone(), ..LpMachineParams::default() };
    let lp = function(lp.fit(sample, Exec::one(), &mut silent()));
    for (name, model) in [("perceptron", &perceptron), ("adatron", &adatron), ("bayes", &bayes), ("lp", &lp)]
    {
        let wrong = errors(model, &fresh);
        assert!(wrong < 36, "{name}: {wrong} of 300");
    }
    assert!(lp.expansion.len() < 25 && adatron.expansion.len() < 100);
    assert!(fact(&perceptron, "updates") > 0.0 && fact(&bayes, "bounces") == 5000.0);
    // Overlapping classes without a shift have no version space under a flat kernel.
    let hard = BayesPointParams { kernel: Some(Kernel::Linear), shift: 0.0, ..BayesPointParams::default() };
    assert!(
        hard.fit(sample, Exec::one(), &mut silent())
            .expect_err("not separable")
            .to_string()
            .starts_with("shift = 0")
    );
}

#[test]
fn windows_and_neighbours_by_hand() {
    let points = Points::dense(vec![0.0, 1.0, 4.0, 5.0, 6.0], 1).expect("rows");
    let labels = Targets::Classes(Labels::new(["a", "a", "b", "b", "b"]));
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let k = |x: f64, y: f64| (-0.5 * (x - y) * (x - y)).exp();
    let parzen = ParzenParams { kernel: Some(kernel.clone()), ..ParzenParams::default() };
    let model = function(parzen.fit(Sample::new(&points, &labels), Exec::one(), &mut silent()));
    let at = Points::dense(vec![2.4, 3.0], 1).expect("rows");
    let got = model.decision(at.view(), Exec::one()).expect("points");
    for (x, got) in [2.4, 3.0].iter().zip(got) {
        let b: f64 = [4.0, 5.0, 6.0].iter().map(|c| k(*c, *x)).sum();
        close(got, (b - k(0.0, *x) - k(1.0, *x)) / 5.0, 1e-12);
    }
    let density = function(parzen.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()));
    assert_eq!(density.task(), Task::Novelty);
    let f = density.decision(points.view(), Exec::one()).expect("points");
    // nu = 0.05 of five rows: none may be outside.
    assert!(f.iter().all(|f| *f > 0.0));
    for (neighbours, want) in [(1, [0, 1]), (3, [0, 1]), (5, [1, 1])] {
        let knn = KnnParams { kernel: Some(kernel.clone()), neighbours };
        let model = function(knn.fit(Sample::new(&points, &labels), Exec::one(), &mut silent()));
        let at = Points::dense(vec![2.4, 3.0], 1).expect("rows");
        let got = model.predict(at.view(), Exec::one()).expect("points");
        assert_eq!(got.classes().expect("classes").of_row, want, "{neighbours}");
    }
    let numbers = Targets::Reals(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
    let knn = KnnParams { kernel: Some(Kernel::Linear), neighbours: 2 };
    let model = function(knn.fit(Sample::new(&points, &numbers), Exec::one(), &mut silent()));
    let got = model.predict(Points::dense(vec![5.4], 1).expect("a row").view(), Exec::one()).expect("points");
    assert_eq!(got.reals().expect("numbers"), [4.5]);
    assert!(
        KnnParams { neighbours: 6, ..knn }
            .fit(Sample::new(&points, &numbers), Exec::one(), &mut silent())
            .is_err()
    );
}

#[test]
fn rings_are_separated_by_a_gaussian_and_distances_are_those_of_feature_space() {
    let (ring, truth) = toy::ring(120, 1);
    let inner = truth.classes().expect("classes");
    // The cloud in the ring's middle, three times smaller.
    let values = ring.view().to_f64().expect("numbers");
    let shrunk = |at: usize| if inner.name_of(at / 2) == "1" { 0.3 } else { 1.0 };
    let values = values.iter().enumerate().map(|(at, v)| shrunk(at) * v).collect();
    let points = Points::dense(values, 2).expect("whole rows");
    let params =
        ClusterParams { kernel: Some(Kernel::Rbf { gamma: 6.0 }), starts: 20, ..ClusterParams::default() };
    let model = function(params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()));
    let got = model.predict(points.view(), Exec::one()).expect("points");
    let (got, want) = (&got.classes().expect("clusters").of_row, &truth.classes().expect("classes").of_row);
    let same = got.iter().zip(want).filter(|(g, w)| g == w).count();
    assert!(same.max(120 - same) >= 118, "{same} of 120");
    let linear = ClusterParams { kernel: Some(Kernel::Linear), ..ClusterParams::default() };
    let plain = function(linear.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()));
    let cut = plain.predict(points.view(), Exec::one()).expect("points");
    let same = cut.classes().expect("clusters").of_row.iter().zip(want).filter(|(g, w)| g == w).count();
    assert!(same.max(120 - same) < 100, "a line cannot part rings: {same}");
    // Distances of rows to their means sum to the inertia.
    for model in [&model, &plain] {
        let far = model.cluster_distances(points.view(), Exec::one()).expect("clusters");
        let sum: f64 = far.chunks(2).map(|line| line[0].min(line[1])).sum();
        close(sum, fact(model, "inertia"), 1e-8);
    }
    for start in [ClusterStart::Distances, ClusterStart::Online, ClusterStart::Spectral] {
        let (points, _) = toy::three_clusters(90, 5);
        let params =
            ClusterParams { start, clusters: 3, kernel: Some(Kernel::Linear), ..ClusterParams::default() };
        let model = function(params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()));
        let of = &model.predict(points.view(), Exec::one()).expect("points");
        let of = &of.classes().expect("clusters").of_row;
        assert!((0..90).all(|i| of[i] == of[i % 3]) && of[0] != of[1] && of[1] != of[2], "{start:?}");
    }
}
