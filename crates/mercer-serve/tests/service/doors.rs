//! Tables with text, sequences, LIBSVM's text, pictures, and the pages for people.

use mercer::data::io::{ReadOptions, read_bytes};
use mercer::model::{Model, Plan, Query, Wishes};
use mercer::watch::silent;
use mercer::{Exec, data::Dataset};
use serde_json::json;

use crate::client::Server;

fn trained(name: &str, text: &str) -> Model {
    let data = read_bytes(name, text.as_bytes(), &ReadOptions::default()).expect("data");
    let plan = Plan::new(&data, &Wishes::default(), Exec::one()).expect("a plan");
    plan.fit(Exec::one(), &mut silent()).expect("a fit")
}

fn people() -> String {
    let mut text = String::from("age,colour,label\n");
    for i in 0..40 {
        let (age, colour) = (20 + i, ["red", "blue", "green"][i % 3]);
        let label = if colour == "red" || age > 45 { "yes" } else { "no" };
        text.extend([&age.to_string(), ",", colour, ",", label, "\n"]);
    }
    text
}

#[test]
fn tables_with_text_and_missing_values_come_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = trained("people.csv", &people());
    model.save(folder.path().join("people.mercer")).expect("saved");
    let server = Server::of(folder.path());
    let rows = "age,colour\n30,red\n31,blue\n,green\n";
    let read = |options: &ReadOptions| read_bytes("rows.csv", rows.as_bytes(), options);
    let data: Dataset = model.read_rows(ReadOptions::default(), read).expect("rows");
    let query = Query { decision: true, ..Query::default() };
    let want = model.predict_data(&data, &query, Exec::one()).expect("classes");
    let (labels, values) = (want.targets.classes().expect("classes").clone(), want.decision.expect("asked"));
    let names: Vec<&str> = (0..3).map(|i| labels.name_of(i)).collect();
    let path = "/v1/models/people/predict?output=label,decision";
    let of_json = |body: &str| {
        let reply = server.post(path, "application/json", body).fine().json();
        let values: Vec<Vec<f64>> = serde_json::from_value(reply["values"].clone()).expect("rows");
        let labels: Vec<String> = serde_json::from_value(reply["predictions"].clone()).expect("labels");
        (labels, values.concat())
    };
    let objects =
        r#"[{"colour":"red","age":30},{"age":31,"colour":"blue","id":7},{"colour":"green","age":null}]"#;
    let arrays = "[[30,\"red\"],\n[31,\"blue\"],\n[null,\"green\"]]";
    for body in [objects, arrays, &format!("{{\"rows\":{objects}}}"), &format!("{{\"instances\":{arrays}}}")]
    {
        let (got, decision) = of_json(body);
        assert_eq!(
            (got, decision),
            (names.iter().map(ToString::to_string).collect(), values.clone()),
            "{body}"
        );
    }
    let csv = server.post(path, "text/csv", rows).fine();
    assert_eq!(
        csv.text().lines().skip(1).map(|line| line.split(',').next().expect("a cell")).collect::<Vec<_>>(),
        names
    );
    // A tensor per column, in any order; and one of texts.
    let about = server.get("/v2/models/people").fine().json();
    assert_eq!(about["inputs"][0], json!({ "name": "age", "datatype": "FP64", "shape": [-1, 1] }));
    assert_eq!(about["inputs"][1]["datatype"], "BYTES");
    let columns = json!({ "inputs": [
        { "name": "colour", "shape": [3, 1], "datatype": "BYTES", "data": ["red", "blue", "green"] },
        { "name": "age", "shape": [3], "datatype": "FP64", "data": [30, 31, null] },
    ] });
    let texts = json!({ "inputs": [
        { "name": "rows", "shape": [3, 2], "datatype": "BYTES", "data": ["30", "red", "31", "blue", null, "green"] },
    ] });
    for request in [columns, texts] {
        let reply = server.infer("people", &request).fine();
        assert_eq!(
            (reply.texts("label"), reply.numbers("decision")),
            (names.iter().map(ToString::to_string).collect(), values.clone())
        );
    }
    let why = server.post(path, "application/json", r#"[{"age":30}]"#).refused(400);
    assert!(why.contains("colour"), "{why}");
    let why = server.post(path, "application/json", r#"[{"age":"old","colour":"red"}]"#).refused(400);
    assert!(why.contains("age") && why.contains("old"), "{why}");
}

#[test]
fn libsvm_models_and_text_are_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\nSV\n\
                1 1:1 3:2\n-1 2:1\n";
    std::fs::write(folder.path().join("old.model"), text).expect("written");
    let server = Server::of(folder.path());
    let reply = server
        .post("/v1/models/old/predict?output=label,decision", "text/plain", "0 1:1 3:2\n0 2:1\n")
        .fine();
    assert_eq!(
        reply.text().lines().skip(1).filter_map(|line| line.split(',').next()).collect::<Vec<_>>(),
        ["1", "-1"]
    );
    let tensor = json!({ "name": "x", "shape": [2, 3], "datatype": "INT32", "data": [[1, 0, 2], [0, 1, 0]] });
    assert_eq!(server.infer("old", &json!({ "inputs": [tensor] })).fine().texts("label"), ["1", "-1"]);
}

#[test]
fn sequences_come_as_texts() {
    let folder = tempfile::tempdir().expect("a folder");
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../mercer-cli/tests/golden/v2");
    std::fs::copy(golden.join("sequences.mercer"), folder.path().join("dna.mercer")).expect("copied");
    let server = Server::of(folder.path());
    let about = server.get("/v2/models/dna").fine().json();
    assert_eq!(about["inputs"][0]["datatype"], "BYTES");
    let text = std::fs::read_to_string(golden.join("letters.txt")).expect("letters");
    let words: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().last()).take(4).collect();
    let tensor = json!({ "name": "rows", "shape": [4], "datatype": "BYTES", "data": words });
    let reply = server.infer("dna", &json!({ "inputs": [tensor] })).fine();
    let plain =
        server.post("/v1/models/dna/predict", "application/json", json!(words).to_string()).fine().json();
    assert_eq!(json!(reply.texts("label")), plain["predictions"]);
    // Letters mean the same whatever occurs beside them, and what is refused is refused at every door in the same words.
    let letters = [words[0].to_lowercase(), "N".repeat(words[0].len()), words[1].to_owned()];
    let model = Model::load(golden.join("sequences.mercer")).expect("a model");
    let one = |text: &str| {
        let line = format!("x\t{text}\n");
        let read = |options: &ReadOptions| read_bytes("request", line.as_bytes(), options);
        let data = model.read_rows(ReadOptions::default(), read)?;
        Ok::<_, mercer::Error>(model.decision(data.points.view(), Exec::one()).expect("values"))
    };
    let want: Vec<f64> = letters.iter().flat_map(|text| one(text).expect("values")).collect();
    assert_eq!(want[0], one(words[0]).expect("a value")[0], "in lower case");
    let tensor = json!({ "name": "rows", "shape": [3], "datatype": "BYTES", "data": letters });
    assert_eq!(server.infer("dna", &json!({ "inputs": [tensor] })).fine().numbers("decision"), want);
    let path = "/v1/models/dna/predict?output=decision";
    let cells = |reply: &crate::client::Reply| -> Vec<f64> {
        reply
            .text()
            .lines()
            .skip(1)
            .flat_map(|line| line.split(','))
            .map(|v| v.parse().expect("a number"))
            .collect()
    };
    let tabs = letters.iter().map(|text| format!("x\t{text}\n")).collect::<Vec<_>>().concat();
    let fasta = letters.iter().map(|text| format!(">id\n{text}\n")).collect::<Vec<_>>().concat();
    for body in [letters.join("\n"), tabs, fasta] {
        assert_eq!(cells(&server.post(path, "text/plain", &body).fine()), want, "{body}");
    }
    let json_rows = server.send(
        "POST",
        path,
        &[("content-type", "application/json"), ("accept", "text/csv")],
        json!(letters).to_string().as_bytes(),
    );
    assert_eq!(cells(&json_rows.fine()), want);
    for text in ["ACGU", "!!", ""] {
        let tensor = json!({ "name": "rows", "shape": [1], "datatype": "BYTES", "data": [text] });
        let why = server.infer("dna", &json!({ "inputs": [tensor] })).refused(400);
        assert_eq!(server.post(path, "application/json", json!([text]).to_string()).refused(400), why);
        let plain = server.post(path, "text/plain", format!("x\t{text}\n")).refused(400);
        let told = |words: &str| words.split_once("got ").map(|(_, rest)| rest.to_owned());
        // The others do not look like sequences where they stand alone.
        if text == "ACGU" {
            assert_eq!(told(&plain), told(&why), "{text}");
            assert_eq!(plain, one(text).expect_err("refused").to_string());
        }
    }
}

#[test]
fn pages_escape_names_and_let_in_no_script() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = trained("people.csv", &people());
    model.save(folder.path().join("<script>alert(1).mercer")).expect("saved");
    let server = Server::of(folder.path());
    let page = server.get("/").fine();
    assert!(!page.text().contains("<script>alert") && page.text().contains("&lt;script&gt;alert(1)"));
    let policy = crate::client::header(&page.head, "content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
    for (path, kind) in
        [("/docs", "text/html"), ("/assets/models.js", "text/javascript"), ("/assets/style.css", "text/css")]
    {
        let reply = server.get(path).fine();
        assert!(
            crate::client::header(&reply.head, "content-type").is_some_and(|k| k.starts_with(kind)),
            "{path}"
        );
        assert!(
            !reply.text().contains("http://") && !reply.text().contains("https://"),
            "{path} names another site"
        );
    }
    let all = server.get("/openapi.json").fine().json();
    for (path, methods) in all["paths"].as_object().expect("paths") {
        let address = path.replace("{name}", "none").replace("{version}", "1");
        for method in methods.as_object().expect("methods").keys() {
            let reply = server.send(&method.to_uppercase(), &address, &[], b"");
            assert!(reply.status != 405 && !reply.text().contains("nothing at"), "{method} {address}");
        }
    }
}
