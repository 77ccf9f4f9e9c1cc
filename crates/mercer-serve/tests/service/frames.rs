//! Rows in objects, as data frames and other servers' clients write them; and forms of JSON that only look like requests.

use serde_json::{Value, json};

use crate::client::{Server, header};
use crate::kinds::{Rows, served};
use crate::malformed::banana;

#[test]
fn values_of_every_model_are_matched_by_the_names_of_their_columns() {
    let (made, folder) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut all = Vec::new();
    for (name, mut model) in served(made.path()) {
        let d = Rows::fresh(&model, 1).d;
        model.names.columns = (0..d).map(|j| format!("column {}", (b'a' + j as u8) as char)).collect();
        model.save(folder.path().join(format!("{name}.mercer"))).expect("saved");
        all.push((name, model));
    }
    let server = Server::of(folder.path());
    let mut turned_rows = 0;
    for (name, model) in &all {
        let Rows { x, d } = Rows::fresh(model, 3);
        let post = |body: &Value| {
            let reply =
                server.post(&format!("/v1/models/{name}/predict"), "application/json", body.to_string());
            assert_eq!(header(&reply.head, "x-mercer-warning"), None, "{name}");
            reply.fine().text().to_owned()
        };
        let rows: Vec<&[f64]> = x.chunks(d).collect();
        let want = post(&json!(rows));
        let back = |row: &&[f64]| row.iter().rev().copied().collect::<Vec<_>>();
        let names: Vec<&String> = model.names.columns.iter().rev().collect();
        let turned: Vec<Vec<f64>> = rows.iter().map(back).collect();
        assert_eq!(post(&json!({ "columns": names, "index": [0, 1, 2], "data": turned })), want, "{name}");
        assert_eq!(post(&json!({ "columns": model.names.columns, "data": rows })), want, "{name}");
        for key in ["rows", "instances", "data"] {
            assert_eq!(post(&json!({ key: rows, "signature_name": "x" })), want, "{name} {key}");
        }
        turned_rows += usize::from(post(&json!(turned)) != want);
    }
    assert!(turned_rows > 20, "the order of columns matters to {turned_rows} of {} models", all.len());
}

#[test]
fn objects_that_are_no_rows_are_refused_with_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut model = banana(folder.path(), "m", 1);
    model.names.columns = vec!["a".into(), "b".into()];
    model.save(folder.path().join("m.mercer")).expect("saved");
    let server = Server::of(folder.path());
    for (body, words) in [
        (r#"{"rows":[[1,2]],"data":[[1,2]]}"#, "rows under both `rows` and `data`"),
        (r#"{"rows":[[1,2]],"rows":[[1,2]]}"#, "rows under both `rows` and `rows`"),
        (r#"{"columns":["b","a"],"data":[[1]]}"#, "row 1: got 1 values, but `columns` has 2 names"),
        (r#"{"columns":["b","a"],"data":[[1,2],{"a":1}]}"#, "row 2: expected an array"),
        (r#"{"columns":["b","a"],"data":[1,2]}"#, "row 1: expected an array"),
        (r#"{"columns":["b","b"],"data":[[1,2]]}"#, "twice"),
        (r#"{"columns":["b"],"data":[[1]]}"#, "no column `a`"),
        (r#"{"columns":[1,2],"data":[[1,2]]}"#, "`columns` is not an array of names"),
        (r#"{"columns":["a","b"],"columns":["b","a"],"data":[[1,2]]}"#, "`columns` occurs twice"),
        (r#"{"columns":[],"data":[[]]}"#, "`columns` has no names"),
        (r#"{"columns":["a","b"],"data":[]}"#, "no rows"),
        ("[[]]", "arrays without values"),
        ("{}", "objects without keys"),
    ] {
        let why = server.post("/v1/models/m/predict", "application/json", body).refused(400);
        assert!(why.contains(words), "{body}: {why}");
    }
}

#[test]
fn inference_requests_are_objects_and_what_is_not_supported_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    let tensor = r#""name":"x","shape":[1,2],"datatype":"FP64","data":[1,2]"#;
    for (body, words) in [
        ("[null,{},[]]".to_owned(), "expected an object"),
        (format!("[null,{{}},[{{{tensor}}}],null]"), "expected an object"),
        (r#"{"inputs":[["x",[1,2],"FP64",{},[1,2]]]}"#.into(), "expected an object"),
        (format!(r#"{{"inputs":[{{{tensor}}}],"outputs":[["label",{{}}]]}}"#), "expected an object"),
        (format!(r#"{{"inputs":[{{{tensor}}}],"parameters":[true]}}"#), "expected an object"),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"fp64","data":[1,2]}]}"#.into(),
            "unknown datatype `fp64`, expected BOOL, UINT8",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,1e999]}]}"#.into(),
            "input `x`: number out of range at line 1 column 8 of its data",
        ),
        (
            format!(r#"{{"inputs":[{{{tensor},"parameters":{{"shared_memory_region":"r"}}}}]}}"#),
            "input `x`: shared memory is not supported",
        ),
        (
            format!(
                r#"{{"inputs":[{{{tensor}}}],"outputs":[{{"name":"label","parameters":{{"shared_memory_region":"r"}}}}]}}"#
            ),
            "output `label`: shared memory is not supported",
        ),
        (
            format!(
                r#"{{"inputs":[{{{tensor}}}],"outputs":[{{"name":"label","parameters":{{"classification":2}}}}]}}"#
            ),
            "output `label`: the classification extension is not supported",
        ),
    ] {
        let why = server.post("/v2/models/m/infer", "application/json", &body).refused(400);
        assert!(why.contains(words), "{body}: {why}");
    }
    let body = format!(
        r#"{{"parameters":{{"x":1}},"id":"i","inputs":[{{{tensor},"parameters":null}}],"outputs":[{{"parameters":{{}},"name":"label"}}]}}"#
    );
    assert_eq!(server.post("/v2/models/m/infer", "application/json", &body).fine().texts("label").len(), 1);
}
