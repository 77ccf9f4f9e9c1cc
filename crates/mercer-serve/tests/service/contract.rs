//! Every learner and every kind of model file, by both protocols, in every form, with every output, for one row, some rows and
//! more than a batch: to the last bit what the library predicts.

use std::path::Path;

use mercer::data::Points;
use mercer::model::{Model, Query, Rejection};
use mercer::{Exec, Result};
use serde_json::{Value, json};

use crate::client::{Reply, Server, f64s};
use crate::kinds::{Rows, npy, served};

/// What the library says of an output: names, or numbers by row.
#[derive(Debug, PartialEq)]
enum Want {
    Names(Vec<String>),
    Bits(Vec<u64>),
}

fn bits(values: &[f64]) -> Want {
    Want::Bits(values.iter().map(|v| v.to_bits()).collect())
}

/// An output by the library, each asked for alone.
fn by_library(model: &Model, output: &str, points: &Points) -> Result<Want> {
    let (view, exec) = (points.view(), Exec::one());
    Ok(match output {
        "label" => match model.predict(view, exec)? {
            mercer::data::Targets::Reals(y) => bits(&y),
            targets => {
                let labels = targets.classes()?;
                Want::Names((0..labels.len()).map(|i| labels.name_of(i).to_owned()).collect())
            }
        },
        "decision" | "features" => bits(&model.decision(view, exec)?),
        "score" => bits(&model.class_scores(view, exec)?),
        "probability" => bits(&model.probabilities(view, exec)?.values),
        "distance" => bits(&model.cluster_distances(view, exec)?),
        "rejected" => {
            let query = Query { reject: Rejection::Own, ..Query::default() };
            let flags = model.predict_rows(view, &query, exec)?.rejected;
            bits(&flags.iter().map(|flag| f64::from(u8::from(*flag))).collect::<Vec<_>>())
        }
        other => panic!("an output that the contract does not know: {other}"),
    })
}

/// An output of an inference response in JSON.
fn of_json(output: &Value) -> Want {
    let data = output["data"].as_array().expect("data");
    match output["datatype"].as_str().expect("a datatype") {
        "BYTES" => Want::Names(data.iter().map(|v| v.as_str().expect("text").to_owned()).collect()),
        "BOOL" => bits(&data.iter().map(|v| f64::from(u8::from(v == true))).collect::<Vec<_>>()),
        _ => bits(&data.iter().map(|v| v.as_f64().expect("a number")).collect::<Vec<_>>()),
    }
}

/// An output of a binary inference response.
fn of_bytes(output: &Value, mut bytes: &[u8]) -> Want {
    match output["datatype"].as_str().expect("a datatype") {
        "BYTES" => {
            let mut names = Vec::new();
            while let Some((length, rest)) = bytes.split_at_checked(4) {
                let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
                names.push(String::from_utf8(rest[..length].to_vec()).expect("text"));
                bytes = &rest[length..];
            }
            Want::Names(names)
        }
        "BOOL" => bits(&bytes.iter().map(|b| f64::from(*b)).collect::<Vec<_>>()),
        _ => bits(&f64s(bytes)),
    }
}

/// A response of the plain door to a single output.
fn of_plain(reply: &Reply, kind: &str, want: &Want) -> Want {
    let names = matches!(want, Want::Names(_));
    let number = |cell: &str| cell.parse::<f64>().unwrap_or_else(|e| panic!("{cell}: {e}"));
    match kind {
        "application/json" => {
            let json = reply.json();
            if let Want::Names(_) = want {
                return Want::Names(serde_json::from_value(json["predictions"].clone()).expect("names"));
            }
            // Numbers as labels stand among the predictions, all else among the values.
            let part = if json["values"].is_array() { &json["values"] } else { &json["predictions"] };
            let flat = |v: &Value| v.as_array().cloned().unwrap_or_else(|| vec![v.clone()]);
            let rows = part.as_array().expect("rows");
            bits(&rows.iter().flat_map(flat).map(|v| v.as_f64().expect("a number")).collect::<Vec<_>>())
        }
        "application/x-ndjson" => {
            let lines = reply.text().lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
            let cells: Vec<Value> = lines
                .flat_map(|line| match line {
                    Value::Object(cells) => cells.into_iter().map(|(_, v)| v).collect(),
                    Value::Array(cells) => cells,
                    other => vec![other],
                })
                .collect();
            let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            if names {
                return Want::Names(cells.iter().map(text).collect());
            }
            bits(&cells.iter().map(|v| v.as_f64().expect("a number")).collect::<Vec<_>>())
        }
        "application/x-npy" => {
            let header = u16::from_le_bytes([reply.body[8], reply.body[9]]) as usize;
            let (about, body) = reply.body.split_at(10 + header);
            let about = String::from_utf8_lossy(about).into_owned();
            if !names {
                assert!(about.contains("'<f8'"), "{about}");
                return bits(&f64s(body));
            }
            let width = about.split("<U").nth(1).and_then(|rest| rest.split('\'').next()).expect("a width");
            let letters = |cell: &[u8]| {
                let codes =
                    cell.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("four bytes")));
                codes.take_while(|code| *code != 0).filter_map(char::from_u32).collect()
            };
            Want::Names(
                body.chunks_exact(4 * width.parse::<usize>().expect("a number")).map(letters).collect(),
            )
        }
        _ => {
            let apart = if kind == "text/csv" { ',' } else { '\t' };
            let cells = reply.text().lines().skip(1).flat_map(|line| line.split(apart));
            if names {
                return Want::Names(cells.map(str::to_owned).collect());
            }
            bits(&cells.map(number).collect::<Vec<_>>())
        }
    }
}

const FORMS: [&str; 5] = [
    "application/json",
    "application/x-ndjson",
    "application/x-npy",
    "text/csv",
    "text/tab-separated-values",
];

fn body(kind: &str, rows: &Rows) -> Vec<u8> {
    let lines = |open: &str, apart: &str, close: &str| -> Vec<u8> {
        let line = |row: &[f64]| {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            format!("{open}{}{close}\n", cells.join(apart))
        };
        rows.x.chunks(rows.d).map(line).collect::<String>().into_bytes()
    };
    match kind {
        "application/json" => json!(rows.x.chunks(rows.d).collect::<Vec<_>>()).to_string().into_bytes(),
        "application/x-ndjson" => lines("[", ",", "]"),
        "application/x-npy" => npy(&rows.x, rows.d),
        "text/csv" => lines("", ",", ""),
        _ => lines("", "\t", ""),
    }
}

/// The outputs of a model by the inference protocol: JSON both flat and nested, and bytes.
fn inferred(
    server: &Server,
    name: &str,
    rows: &Rows,
    outputs: &[String],
    single: bool,
) -> Vec<(String, Want)> {
    let n = rows.x.len() / rows.d;
    let datatype = if single { "FP32" } else { "FP64" };
    let asked: Vec<Value> = outputs.iter().map(|output| json!({ "name": output })).collect();
    let nested: Vec<&[f64]> = rows.x.chunks(rows.d).collect();
    let mut all = Vec::new();
    for data in [json!(rows.x), json!(nested)] {
        let tensor = json!({ "name": "rows", "shape": [n, rows.d], "datatype": datatype, "data": data });
        let reply = server.infer(name, &json!({ "inputs": [tensor], "outputs": asked })).fine().json();
        for output in reply["outputs"].as_array().expect("outputs") {
            all.push((output["name"].as_str().expect("a name").to_owned(), of_json(output)));
        }
    }
    let bytes: Vec<u8> = if single {
        rows.x.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect()
    } else {
        rows.x.iter().flat_map(|v| v.to_le_bytes()).collect()
    };
    let head = json!({
        "inputs": [{ "name": "rows", "shape": [n, rows.d], "datatype": datatype,
                     "parameters": { "binary_data_size": bytes.len() } }],
        "outputs": asked,
        "parameters": { "binary_data_output": true },
    })
    .to_string();
    let length = head.len().to_string();
    let headers = [("inference-header-content-length", length.as_str())];
    let path = format!("/v2/models/{name}/infer");
    let reply = server.send("POST", &path, &headers, &[head.as_bytes(), &bytes].concat()).fine();
    let (json, parts) = reply.binary();
    for (output, part) in json["outputs"].as_array().expect("outputs").iter().zip(parts) {
        all.push((output["name"].as_str().expect("a name").to_owned(), of_bytes(output, part)));
    }
    all
}

#[test]
fn every_model_gives_every_output_by_every_door_as_the_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = served(folder.path());
    let server = Server::of(folder.path());
    let mut compared = 0;
    for (name, model) in &models {
        let about = server.get(&format!("/v2/models/{name}")).fine().json();
        let offered = about["outputs"].as_array().expect("outputs").iter();
        let offered: Vec<String> = offered
            .filter_map(|o| o["name"].as_str())
            .filter(|o| *o != "denoised")
            .map(str::to_owned)
            .collect();
        for n in [1, 6, 40] {
            let rows = Rows::fresh(model, n);
            let points = Points::dense(rows.x.clone(), rows.d).expect("whole rows");
            let narrow: Vec<f32> = rows.x.iter().map(|v| *v as f32).collect();
            let narrow = Points::dense_f32(narrow, rows.d).expect("whole rows");
            let want = |points: &Points| -> Vec<(String, Want)> {
                let one = |output: &String| {
                    let want =
                        by_library(model, output, points).unwrap_or_else(|e| panic!("{name} {output}: {e}"));
                    (output.clone(), want)
                };
                offered.iter().map(one).collect()
            };
            let (wide_want, narrow_want) = (want(&points), want(&narrow));
            for (single, want) in [(false, &wide_want), (true, &narrow_want)] {
                for (output, got) in inferred(&server, name, &rows, &offered, single) {
                    let (_, want) = want.iter().find(|(name, _)| *name == output).expect("asked for");
                    assert_eq!(&got, want, "{name} {output} {n} rows, f32: {single}");
                    compared += 1;
                }
            }
            for (output, want) in &wide_want {
                let path = format!("/v1/models/{name}/predict?output={output}");
                // The form of the request and that of the response are independent.
                for (given, accepted) in FORMS.iter().zip(FORMS.iter().cycle().skip(n % 5)) {
                    let headers = [("content-type", *given), ("accept", *accepted)];
                    let reply = server.send("POST", &path, &headers, &body(given, &rows)).fine();
                    let got = of_plain(&reply, accepted, want);
                    assert_eq!(&got, want, "{name} {output} {n} rows, {given} to {accepted}");
                    compared += 1;
                }
            }
        }
    }
    assert!(models.len() > 40 && compared > 3000, "{} models, {compared} outputs", models.len());
    assert!(server.stop());
}

/// Files of other formats than Mercer's own are served as what they hold.
#[test]
fn every_format_of_model_files_is_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = served(folder.path());
    let formats = ["mercer", "json", "model"].map(|ending| {
        let has = |(name, _): &&(String, Model)| {
            Path::new(folder.path()).join(format!("{name}.{ending}")).is_file()
        };
        models.iter().filter(has).count()
    });
    assert!(formats.iter().all(|count| *count > 0), "{formats:?}");
}
