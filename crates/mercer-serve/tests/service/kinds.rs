//! Every kind of model, over every door: bit for bit what the library predicts.

use mercer::data::{Dataset, Points, Targets, toy};
use mercer::kernel::Kernel;
use mercer::model::svc::Multi;
use mercer::model::{
    KpcaParams, Learner, Model, Plan, Query, Sample, Scaling, SvcParams, Task, Wanted, Wishes,
};
use mercer::watch::silent;
use mercer::{Exec, Result};
use serde_json::json;

use crate::client::{Server, f64s};

fn data(task: Task, n: usize, seed: u64) -> Dataset {
    let (points, targets) = match task {
        Task::Regression => {
            let (x, y) = toy::sinc(n, seed);
            let wide = x.view().to_f64().expect("numbers").iter().flat_map(|&v| [v, 0.1 * v * v]).collect();
            (Points::dense(wide, 2).expect("whole rows"), y)
        }
        Task::Classification => toy::banana(n, seed),
        _ => (toy::three_clusters(n, seed).0, Targets::None),
    };
    Dataset::new(points, targets).expect("a target a row")
}

fn fit(learner: &Learner, data: &Dataset) -> Result<Model> {
    let mut learner = learner.clone();
    // Classes that overlap have a hard margin under a narrow kernel only.
    let gamma = if learner.entry().name == "hard-margin" { 50.0 } else { 0.8 };
    learner.set_kernel(Kernel::Rbf { gamma });
    if learner.entry().takes("rounds") {
        learner.set("rounds", 15.into()).expect("a number");
    }
    learner.fit(Sample::new(&data.points, &data.targets), Exec::one(), &mut silent()).map(Model::from)
}

/// All learners, with all that they are for; and features, and probabilities.
fn models() -> Vec<(String, Model)> {
    let mut all = Vec::new();
    for entry in Learner::ALL {
        for &task in entry.tasks {
            let name = format!("{}-{}", entry.name, task.verb().replace(' ', "-"));
            let model = fit(&entry.learner(), &data(task, 60, 3)).unwrap_or_else(|e| panic!("{name}: {e}"));
            all.push((name, model));
        }
    }
    let set = data(Task::Features, 60, 3);
    let sample = Sample::new(&set.points, &set.targets);
    let kernel = Some(Kernel::Rbf { gamma: 0.8 });
    let kpca = KpcaParams { kernel: kernel.clone(), components: Some(3), ..KpcaParams::default() };
    all.push(("kpca".into(), kpca.fit(sample, Exec::one(), &mut silent()).expect("components").into()));
    let (points, targets) = toy::three_clusters(60, 3);
    let svc = SvcParams { kernel, probability: true, ..SvcParams::default() };
    let svc = svc.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
    all.push(("probability".into(), svc.into()));
    all
}

/// New rows for a model.
pub(crate) struct Rows {
    pub(crate) x: Vec<f64>,
    pub(crate) d: usize,
}

impl Rows {
    pub(crate) fn fresh(model: &Model, n: usize) -> Self {
        let d = model.columns().unwrap_or_else(|| model.entry().centres().dim());
        let x = data(model.task(), n * d.div_ceil(2), 4).points.view().to_f64().expect("numbers");
        Rows { x: x[..n * d].to_vec(), d }
    }
}

/// [`models`] and those that are more than a machine: with a reject rule, behind stages, behind features, of several forms of
/// kernels and multi-class methods; and in all formats of model files. They are written into a folder.
pub(crate) fn served(folder: &std::path::Path) -> Vec<(String, Model)> {
    let mut all = models();
    let exec = Exec::one();
    let (points, targets) = toy::three_clusters(60, 3);
    let named = Dataset::new(points.clone(), targets.clone()).expect("a target a row");
    let svc = |kernel: &str, multi| {
        let kernel = Some(kernel.parse().expect("a kernel"));
        let svc = SvcParams { kernel, multi, ..SvcParams::default() };
        Model::from(svc.fit(Sample::new(&points, &targets), exec, &mut silent()).expect("a fit"))
    };
    for kernel in ["linear", "poly(degree=3)", "sigmoid", "laplacian(gamma=0.5)"] {
        let name = kernel.split('(').next().expect("a name");
        all.push((format!("{name}-one"), svc(kernel, Multi::OneVsOne)));
        all.push((format!("{name}-rest"), svc(kernel, Multi::OneVsRest)));
    }
    let mut choosy = svc("rbf(gamma=0.8)", Multi::OneVsOne);
    choosy.set_reject(points.view(), None, Wanted::Rejected(0.3), exec).expect("a rule");
    all.push(("reject".into(), choosy));
    let kpca =
        KpcaParams { kernel: Some(Kernel::Rbf { gamma: 0.8 }), components: Some(3), ..KpcaParams::default() };
    let parts = kpca.fit(Sample::new(&points, &Targets::None), exec, &mut silent()).expect("components");
    let stages = Scaling::Given(vec!["standard".parse().expect("a stage")]);
    for (name, wishes) in [
        ("scaled", Wishes { scaling: stages, ..Wishes::default() }),
        ("layered", Wishes { features: Some(parts.into()), ..Wishes::default() }),
    ] {
        let plan = Plan::new(&named, &wishes, exec).expect("a plan");
        all.push((name.into(), plan.fit(exec, &mut silent()).expect("a fit")));
    }
    for (name, model) in &all {
        model.save(folder.join(format!("{name}.mercer"))).expect("saved");
    }
    for of in ["svc-classify", "svr-regress", "one-class-find-novelties", "reject"] {
        let model = &all.iter().find(|(name, _)| name == of).unwrap_or_else(|| panic!("{of}")).1;
        let (text, name) = (format!("{of}-text"), format!("{of}-json"));
        let mut more = Vec::new();
        model.save_json(folder.join(format!("{name}.json"))).expect("saved");
        more.push((name.clone(), Model::read(folder.join(format!("{name}.json"))).expect("JSON")));
        if of != "reject" {
            let path = folder.join(format!("{text}.model"));
            model.save_libsvm(&path).expect("saved");
            more.push((text, Model::read(&path).expect("LIBSVM's text")));
        }
        all.extend(more);
    }
    all
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn every_learner_predicts_over_http_what_it_predicts_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = models();
    assert!(models.len() > 20);
    for (name, model) in &models {
        model.save(folder.path().join(format!("{name}.mercer"))).expect("saved");
    }
    let server = Server::of(folder.path());
    for (name, model) in &models {
        let task = model.task();
        let rows = data(task, 5, 4).points;
        let x = rows.view().to_f64().expect("numbers");
        let narrow: Vec<f32> = x.iter().map(|v| *v as f32).collect();
        let narrow_rows = Points::dense_f32(narrow.clone(), 2).expect("two columns");
        let features = task == Task::Features;
        let query = Query { predictions: !features, decision: true, ..Query::NOTHING };
        let want = model.predict_rows(rows.view(), &query, Exec::one()).expect(name);
        let narrow_want = model.predict_rows(narrow_rows.view(), &query, Exec::one()).expect(name);
        let (decision, narrow_decision) =
            (want.decision.expect("asked"), narrow_want.decision.expect("asked"));
        let output = if features { "features" } else { "decision" };

        // Metadata name what is there.
        let about = server.get(&format!("/v2/models/{name}")).fine().json();
        assert_eq!(about["inputs"][0]["shape"], json!([-1, 2]), "{name}");
        let offered: Vec<&str> =
            about["outputs"].as_array().expect("outputs").iter().filter_map(|o| o["name"].as_str()).collect();
        assert!(offered.contains(&output), "{name}: {offered:?}");

        // JSON, flat and nested, with all outputs.
        let tensor = json!({ "name": "rows", "shape": [5, 2], "datatype": "FP64", "data": x });
        let nested: Vec<&[f64]> = x.chunks(2).collect();
        let nested = json!({ "name": "rows", "shape": [5, 2], "datatype": "FP64", "data": nested });
        for tensor in [&tensor, &nested] {
            let reply = server.infer(name, &json!({ "id": "a", "inputs": [tensor] })).fine();
            assert_eq!(bits(&reply.numbers(output)), bits(&decision), "{name}");
            assert_eq!(reply.json()["id"], "a");
            match &want.targets {
                Targets::Classes(labels) => {
                    let names: Vec<&str> = (0..5).map(|i| labels.name_of(i)).collect();
                    assert_eq!(reply.texts("label"), names, "{name}");
                }
                Targets::Reals(y) => assert_eq!(bits(&reply.numbers("label")), bits(y), "{name}"),
                Targets::None => assert!(features, "{name}"),
            }
            if offered.contains(&"probability") {
                let want = model.probabilities(rows.view(), Exec::one()).expect(name).values;
                assert_eq!(bits(&reply.numbers("probability")), bits(&want), "{name}");
            }
            if offered.contains(&"score") {
                let want = model.class_scores(rows.view(), Exec::one()).expect(name);
                assert_eq!(bits(&reply.numbers("score")), bits(&want), "{name}");
            }
            if offered.contains(&"distance") {
                let want = model.cluster_distances(rows.view(), Exec::one()).expect(name);
                assert_eq!(bits(&reply.numbers("distance")), bits(&want), "{name}");
            }
        }

        // Binary, in both precisions, both ways.
        let wide_bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
        let narrow_bytes: Vec<u8> = narrow.iter().flat_map(|v| v.to_le_bytes()).collect();
        for (datatype, bytes, want) in
            [("FP64", &wide_bytes, &decision), ("FP32", &narrow_bytes, &narrow_decision)]
        {
            let head = json!({
                "inputs": [{ "name": "rows", "shape": [5, 2], "datatype": datatype,
                             "parameters": { "binary_data_size": bytes.len() } }],
                "outputs": [{ "name": output, "parameters": { "binary_data": true } }],
            })
            .to_string();
            let length = head.len().to_string();
            let body = [head.as_bytes(), bytes].concat();
            let headers = [("inference-header-content-length", length.as_str())];
            let reply = server.send("POST", &format!("/v2/models/{name}/infer"), &headers, &body).fine();
            let (json, parts) = reply.binary();
            assert_eq!(json["outputs"][0]["shape"], json!([5, model.outputs()]), "{name}");
            assert_eq!(bits(&f64s(parts[0])), bits(want), "{name} {datatype}");
        }

        // The plain door: JSON rows, CSV, JSON lines, NPY.
        let path = format!("/v1/models/{name}/predict?output={output}");
        let rows: Vec<&[f64]> = x.chunks(2).collect();
        let reply = server.post(&path, "application/json", json!(rows).to_string()).fine().json();
        let values: Vec<Vec<f64>> = serde_json::from_value(reply["values"].clone()).expect("rows");
        assert_eq!(bits(&values.concat()), bits(&decision), "{name}");
        let csv = rows.iter().map(|row| format!("{},{}\n", row[0], row[1])).collect::<Vec<_>>().concat();
        let reply = server.post(&path, "text/csv", &csv).fine();
        let values = cells(reply.text());
        assert_eq!(bits(&values), bits(&decision), "{name}: {}", reply.text());
        let npy = npy(&x, 2);
        let reply = server.post(&path, "application/x-npy", &npy).fine();
        assert_eq!(bits(&f64s(&reply.body[128..])), bits(&decision), "{name}");
        let lines = rows.iter().map(|row| format!("[{},{}]\n", row[0], row[1])).collect::<Vec<_>>().concat();
        let reply = server.post(&path, "application/x-ndjson", &lines).fine();
        let values: Vec<f64> = reply.text().lines().flat_map(numbers_of).collect();
        assert_eq!(bits(&values), bits(&decision), "{name}: {}", reply.text());

        // Labels by every form of the plain door.
        let Targets::Classes(labels) = &want.targets else { continue };
        let names: Vec<&str> = (0..5).map(|i| labels.name_of(i)).collect();
        let path = format!("/v1/models/{name}/predict");
        for (kind, body) in [
            ("application/json", json!(rows).to_string().into_bytes()),
            ("text/csv", csv.clone().into_bytes()),
            ("application/x-ndjson", lines.into_bytes()),
            ("application/x-npy", npy),
        ] {
            let headers = [("content-type", kind), ("accept", "application/json")];
            let reply = server.send("POST", &path, &headers, &body).fine().json();
            assert_eq!(reply["predictions"], json!(names), "{name} {kind}");
        }
    }
}

/// The numbers of an object, in their order.
fn numbers_of(line: &str) -> Vec<f64> {
    let inside = line.trim_matches(['{', '}']);
    inside.split(',').filter_map(|pair| pair.rsplit(':').next()?.trim().parse().ok()).collect()
}

/// The numbers of a table behind its header.
fn cells(text: &str) -> Vec<f64> {
    text.lines()
        .skip(1)
        .flat_map(|line| line.split(','))
        .map(|cell| cell.parse().expect("a number"))
        .collect()
}

pub(crate) fn npy(values: &[f64], d: usize) -> Vec<u8> {
    let shape = format!("({}, {d})", values.len() / d);
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    out
}

#[test]
fn rows_gathered_from_many_clients_are_predicted_as_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let set = data(Task::Classification, 200, 3);
    let svc = SvcParams { kernel: Some(Kernel::Rbf { gamma: 0.8 }), ..SvcParams::default() };
    let svc = svc.fit(Sample::new(&set.points, &set.targets), Exec::one(), &mut silent()).expect("a fit");
    let model = Model::from(svc);
    model.save(folder.path().join("m.mercer")).expect("saved");
    let mut settings = crate::client::settings(folder.path());
    settings.batching.wait = std::time::Duration::from_millis(2);
    settings.batching.workers = 1;
    let server = Server::start(settings);
    let fresh = data(Task::Classification, 80, 5).points;
    let alone: Vec<f64> = (0..80)
        .flat_map(|i| model.decision(fresh.view().slice(i..i + 1), Exec::one()).expect("a value"))
        .collect();
    std::thread::scope(|scope| {
        for client in 0..8 {
            let (server, fresh, alone) = (&server, &fresh, &alone);
            scope.spawn(move || {
                for i in (client * 10)..(client * 10 + 10) {
                    let x = fresh.row(i).to_f64();
                    let tensor = json!({ "name": "rows", "shape": [1, 2], "datatype": "FP64", "data": x });
                    let reply = server.infer("m", &json!({ "inputs": [tensor] })).fine();
                    let got = reply.numbers("decision")[0];
                    assert_eq!(got.to_bits(), alone[i].to_bits(), "{got} {}", alone[i]);
                }
            });
        }
    });
    let metrics = server.get("/metrics").fine();
    let count = |name: &str| -> f64 {
        let line = metrics.text().lines().find(|line| line.starts_with(name)).expect(name);
        line.rsplit(' ').next().expect("a value").parse().expect("a number")
    };
    assert_eq!(count("mercer_model_rows_total{model=\"m\"}"), 80.0);
    assert!(count("mercer_model_batches_total{model=\"m\"}") < 80.0, "{}", metrics.text());
}
