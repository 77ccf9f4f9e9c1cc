//! Outputs that only some models have, pictures, texts as bytes, missing values, and what readers warn of.

use mercer::data::{Dataset, ImageShape, Points, Targets, toy};
use mercer::kernel::Kernel;
use mercer::model::{KpcaParams, Model, Query, Rejection, Sample, SvcParams, Wanted};
use mercer::reduce::preimage::PreimageParams;
use mercer::watch::silent;
use mercer::{Exec, data::io};
use serde_json::json;

use crate::client::{Server, f64s, header};

fn rbf(gamma: f64) -> Kernel {
    Kernel::Rbf { gamma }
}

#[test]
fn denoised_rows_are_those_of_the_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let (points, _) = toy::three_clusters(60, 3);
    let kpca = KpcaParams { kernel: Some(rbf(0.8)), components: Some(3), ..KpcaParams::default() };
    let machine =
        kpca.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("components");
    let model = Model::from(machine);
    model.save(folder.path().join("m.mercer")).expect("saved");
    let rows = toy::three_clusters(4, 5).0;
    let components = model.machine.components().expect("components");
    let back = PreimageParams::default();
    let found = components.denoise(rows.view(), 3, &back, Exec::one(), &mut silent()).expect("pre-images");
    let want = found.points.view().to_f64().expect("numbers");
    let x = rows.view().to_f64().expect("numbers");
    assert_ne!(x, want);
    let server = Server::of(folder.path());
    let tensor = json!({ "name": "rows", "shape": [4, 2], "datatype": "FP64", "data": x });
    let request = json!({ "inputs": [tensor], "outputs": [{ "name": "denoised" }, { "name": "features" }] });
    let reply = server.infer("m", &request).fine();
    assert_eq!(reply.numbers("denoised"), want);
    assert_eq!(reply.numbers("features"), model.decision(rows.view(), Exec::one()).expect("features"));
    // It costs more than all else, so nobody gets it unasked.
    let reply = server.infer("m", &json!({ "inputs": [request["inputs"][0]] })).fine();
    assert_eq!(reply.json()["outputs"].as_array().map(Vec::len), Some(1));
    let csv = x.chunks(2).map(|row| format!("{},{}\n", row[0], row[1])).collect::<Vec<_>>().concat();
    let reply = server.post("/v1/models/m/predict?output=denoised", "text/csv", csv).fine();
    let cells = reply.text().lines().skip(1).flat_map(|line| line.split(','));
    assert_eq!(cells.map(|cell| cell.parse().expect("a number")).collect::<Vec<f64>>(), want);
}

#[test]
fn rejected_rows_are_those_of_the_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let (points, targets) = toy::banana(100, 3);
    let svc = SvcParams { kernel: Some(rbf(0.8)), ..SvcParams::default() };
    let svc = svc.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
    let mut model = Model::from(svc);
    let plain = folder.path().join("plain.mercer");
    model.save(&plain).expect("saved");
    model.set_reject(points.view(), None, Wanted::Rejected(0.3), Exec::one()).expect("a rule");
    model.save(folder.path().join("m.mercer")).expect("saved");
    let rows = points.gather(&(0..20).collect::<Vec<_>>());
    let query = Query { reject: Rejection::Own, ..Query::default() };
    let want = model.predict_rows(rows.view(), &query, Exec::one()).expect("classes").rejected;
    assert!(want.contains(&true) && want.contains(&false));
    let server = Server::of(folder.path());
    let x = rows.view().to_f64().expect("numbers");
    let tensor = json!({ "name": "rows", "shape": [20, 2], "datatype": "FP64", "data": x });
    let reply = server.infer("m", &json!({ "inputs": [tensor], "outputs": [{ "name": "rejected" }] })).fine();
    assert_eq!(
        (reply.output("rejected")["datatype"].clone(), reply.output("rejected")["data"].clone()),
        (json!("BOOL"), json!(want))
    );
    let binary = json!([{ "name": "rejected", "parameters": { "binary_data": true } }]);
    let reply = server.infer("m", &json!({ "inputs": [tensor], "outputs": binary })).fine();
    let bytes: Vec<u8> = want.iter().map(|rejected| u8::from(*rejected)).collect();
    assert_eq!(reply.binary().1[0], bytes);
    let csv = x.chunks(2).map(|row| format!("{},{}\n", row[0], row[1])).collect::<Vec<_>>().concat();
    let reply = server.post("/v1/models/m/predict?output=label,rejected", "text/csv", csv).fine();
    let last = reply.text().lines().skip(1).map(|line| line.rsplit(',').next().expect("a cell") == "1");
    assert_eq!(last.collect::<Vec<_>>(), want);
    // A model without a rule does not offer it.
    let why = server
        .infer("plain", &json!({ "inputs": [tensor], "outputs": [{ "name": "rejected" }] }))
        .refused(400);
    assert!(why.contains("no output `rejected`"), "{why}");
}

#[test]
fn pictures_are_rows_of_a_model_of_images() {
    let folder = tempfile::tempdir().expect("a folder");
    // Light above and dark below, or the other way.
    let image = |i: usize| {
        (0..16).map(move |p| if (p < 8) == i.is_multiple_of(2) { 200 + i % 7 } else { 10 + i % 5 } as f64)
    };
    let points = Points::dense((0..40).flat_map(image).collect(), 16).expect("rows");
    let points = points.with_image(ImageShape::grey(4, 4)).expect("images");
    let labels = mercer::data::Labels::new((0..40).map(|i| if i % 2 == 0 { "above" } else { "below" }));
    let svc = SvcParams { kernel: Some(rbf(1e-5)), ..SvcParams::default() };
    let targets = Targets::Classes(labels);
    let svc = svc.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
    let model = Model::from(svc);
    model.save(folder.path().join("m.mercer")).expect("saved");
    let server = Server::of(folder.path());
    for row in 0..2 {
        let one = Dataset::new(points.gather(&[row]), Targets::None).expect("a row");
        let file = folder.path().join("one.png");
        io::write(&file, &one).expect("a picture");
        let png = std::fs::read(&file).expect("bytes");
        assert!(png.starts_with(b"\x89PNG"));
        // Pixels are read as f32, by the command too.
        let read = |options: &io::ReadOptions| io::read_bytes("one.png", &png, options);
        let data = model.read_rows(io::ReadOptions::default(), read).expect("a picture");
        let query = Query { decision: true, ..Query::NOTHING };
        let want = model.predict_data(&data, &query, Exec::one()).expect("a value").decision.expect("asked");
        for kind in ["image/png", "application/octet-stream"] {
            let reply = server.post("/v1/models/m/predict?output=label,decision", kind, &png).fine();
            let line = reply.text().lines().nth(1).expect("a row").to_owned();
            assert_eq!(line, format!("{},{}", ["above", "below"][row], want[0]), "{kind}");
        }
    }
    server.post("/v1/models/m/predict", "image/png", b"\x89PNG\r\n\x1a\nbroken").refused(400);
}

#[test]
fn texts_as_bytes_are_texts_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../mercer-cli/tests/golden/v2");
    std::fs::copy(golden.join("sequences.mercer"), folder.path().join("dna.mercer")).expect("copied");
    let server = Server::of(folder.path());
    let text = std::fs::read_to_string(golden.join("letters.txt")).expect("letters");
    let words: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().last()).take(4).collect();
    let json_form = json!({ "name": "rows", "shape": [4], "datatype": "BYTES", "data": words });
    let want = server.infer("dna", &json!({ "inputs": [json_form] })).fine();
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| [&(word.len() as u32).to_le_bytes(), word.as_bytes()].concat())
        .collect();
    let send = |size: usize, bytes: &[u8]| {
        let head = json!({
            "inputs": [{ "name": "rows", "shape": [4], "datatype": "BYTES", "parameters": { "binary_data_size": size } }],
            "parameters": { "binary_data_output": true },
        })
        .to_string();
        let length = head.len().to_string();
        let headers = [("inference-header-content-length", length.as_str())];
        server.send("POST", "/v2/models/dna/infer", &headers, &[head.as_bytes(), bytes].concat())
    };
    let reply = send(bytes.len(), &bytes).fine();
    let (json, parts) = reply.binary();
    let outputs = json["outputs"].as_array().expect("outputs");
    let at = |name: &str| parts[outputs.iter().position(|o| o["name"] == name).expect(name)];
    assert_eq!(f64s(at("decision")), want.numbers("decision"));
    let mut labels = at("label");
    for label in want.texts("label") {
        let (length, rest) = labels.split_at(4);
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        assert_eq!(&rest[..length], label.as_bytes());
        labels = &rest[length..];
    }
    // Lengths that lie, and texts that are none.
    let mut lies = bytes.clone();
    lies[0] = 255;
    assert!(send(lies.len(), &lies).refused(400).contains("a string of 255 bytes"));
    let mut broken = bytes.clone();
    broken[4] = 0xff;
    assert!(send(broken.len(), &broken).refused(400).contains("UTF-8"));
    send(bytes.len() - 1, &bytes).refused(400);
}

#[test]
fn missing_values_are_filled_as_by_the_library_in_every_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let (points, targets) = toy::banana(60, 3);
    let svc = SvcParams { kernel: Some(rbf(0.8)), ..SvcParams::default() };
    let svc = svc.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
    let mut model = Model::from(svc);
    model.names.columns = vec!["a".into(), "b".into()];
    model.save(folder.path().join("m.mercer")).expect("saved");
    let csv = "a,b\n1,2\n,3\n";
    let read = |options: &io::ReadOptions| io::read_bytes("rows.csv", csv.as_bytes(), options);
    let data = model.read_rows(io::ReadOptions::default(), read).expect("rows");
    let query = Query { decision: true, ..Query::NOTHING };
    let want = model.predict_data(&data, &query, Exec::one()).expect("values").decision.expect("asked");
    let server = Server::of(folder.path());
    for (kind, body) in [
        ("application/json", "[[1, 2], [null, 3]]"),
        ("application/json", r#"[{"a": 1, "b": 2}, {"b": 3, "a": null}]"#),
        ("application/json", r#"{"rows": [[1, 2], [null, 3]]}"#),
        ("application/x-ndjson", "[1, 2]\n[null, 3]\n"),
        ("text/csv", csv),
    ] {
        let headers = [("content-type", kind), ("accept", "application/json")];
        let path = "/v1/models/m/predict?output=decision";
        let reply = server.send("POST", path, &headers, body.as_bytes()).fine();
        let values: Vec<Vec<f64>> = serde_json::from_value(reply.json()["values"].clone()).expect("rows");
        assert_eq!(values.concat(), want, "{body}");
        let warning = header(&reply.head, "x-mercer-warning").expect("a warning");
        assert!(warning.contains("1 missing values are filled"), "{body}: {warning}");
    }
    // The inference protocol says null for NaN, which is no number of a matrix.
    let tensor = json!({ "name": "x", "shape": [1, 2], "datatype": "FP64", "data": [null, 3] });
    server.infer("m", &json!({ "inputs": [tensor] })).refused(400);
}

#[test]
fn readers_warn_in_a_header() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::from("age,colour,label\n");
    for i in 0..40 {
        let (age, colour) = (20 + i, ["red", "blue"][i % 2]);
        let (age, label) = (age.to_string(), if age > 40 { "yes" } else { "no" });
        text.extend([age.as_str(), ",", colour, ",", label, "\n"]);
    }
    let data = io::read_bytes("people.csv", text.as_bytes(), &io::ReadOptions::default()).expect("data");
    let plan =
        mercer::model::Plan::new(&data, &mercer::model::Wishes::default(), Exec::one()).expect("a plan");
    let model = plan.fit(Exec::one(), &mut silent()).expect("a fit");
    model.save(folder.path().join("people.mercer")).expect("saved");
    let server = Server::of(folder.path());
    let path = "/v1/models/people/predict";
    let plain = server.post(path, "text/csv", "age,colour\n30,red\n").fine();
    assert_eq!(header(&plain.head, "x-mercer-warning"), None);
    // A colour that the model has never seen.
    let reply = server.post(path, "text/csv", "age,colour\n30,caf\u{e9}\n").fine();
    let warning = header(&reply.head, "x-mercer-warning").expect("a warning").to_owned();
    assert!(warning.contains("colour"), "{warning}");
    let texts = |colour: &str| {
        json!({ "inputs": [
        { "name": "age", "shape": [1], "datatype": "FP64", "data": [30] },
        { "name": "colour", "shape": [1], "datatype": "BYTES", "data": [colour] },
    ] })
    };
    assert!(header(&server.infer("people", &texts("violet")).fine().head, "x-mercer-warning").is_some());
    assert!(header(&server.infer("people", &texts("red")).fine().head, "x-mercer-warning").is_none());
}
