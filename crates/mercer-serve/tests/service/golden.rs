//! The golden files of every version, as they lie: each is served, and predicts what the command predicts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::Server;

#[test]
fn golden_models_of_every_version_are_served() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mercer-cli/tests/golden");
    let (mut served, mut as_tensors) = (0, 0);
    for folder in ["v1", "v2", "v2-later"].map(|version| golden.join(version)) {
        let server = Server::of(&folder);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
        files.sort();
        for model in files.iter().filter(|path| path.extension().is_some_and(|e| e == "mercer")) {
            let name = model.file_stem().expect("a name").to_string_lossy().into_owned();
            let (data, expected) = files
                .iter()
                .find_map(|data| {
                    let expected = folder.join(format!("{name}.{}.csv", data.file_name()?.to_str()?));
                    expected.is_file().then(|| (data.clone(), expected))
                })
                .unwrap_or_else(|| panic!("{name} has no expected output"));
            let wanted = std::fs::read_to_string(&expected).expect("a golden file");
            // Their labels stand first, without a name: the command is told so, and a client sends rows alone.
            let mut rows = std::fs::read_to_string(&data).expect("data");
            if data.ends_with("images.csv") {
                let line = |line: &str| line.split_once(',').expect("a label").1.to_owned() + "\n";
                rows = rows.lines().map(line).collect();
            }
            let kind = if data.extension().is_some_and(|e| e == "csv") { "text/csv" } else { "text/plain" };
            let output = match wanted.starts_with("prediction") {
                true if name.contains("probability") => "?output=label,probability",
                true => "?output=label,decision",
                false => "?output=features",
            };
            let reply = server.post(&format!("/v1/models/{name}/predict{output}"), kind, &rows);
            assert_eq!(reply.status, 200, "{name}: {}", reply.text());
            same(&name, &wanted, reply.text());
            as_tensors += usize::from(protocol(&server, &name, &rows, kind, reply.text()));
            served += 1;
        }
    }
    assert!(served >= 96 && as_tensors >= 60, "only {served} golden models, {as_tensors} of them as tensors");
}

/// The same rows by the inference protocol give the same values, of the types and shapes that the metadata say. False where
/// rows are no table of numbers.
fn protocol(server: &Server, name: &str, rows: &str, kind: &str, plain: &str) -> bool {
    let about = server.get(&format!("/v2/models/{name}")).fine().json();
    let (input, columns) = (&about["inputs"][0], &about["parameters"]["columns"]);
    if kind != "text/csv" || input["datatype"] != "FP64" || about["inputs"][1].is_object() {
        return false;
    }
    let lines: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
    let d = input["shape"][1].as_u64().expect("a width") as usize;
    let named = lines[0].iter().any(|cell| cell.parse::<f64>().is_err());
    let place = |k: usize| {
        let name = columns[k].as_str()?;
        lines[0].iter().position(|cell| *cell == name)
    };
    let places: Vec<usize> = (0..d).map(|k| place(k).filter(|_| named).unwrap_or(k)).collect();
    let values: Vec<f64> = lines[usize::from(named)..]
        .iter()
        .flat_map(|line| places.iter().map(|k| line[*k].parse::<f64>().expect("a number")))
        .collect();
    let tensor =
        json!({ "name": input["name"], "shape": [values.len() / d, d], "datatype": "FP64", "data": values });
    let reply = server.infer(name, &json!({ "inputs": [tensor] })).fine();
    for output in reply.json()["outputs"].as_array().expect("outputs") {
        let offered = about["outputs"].as_array().expect("outputs");
        let offer =
            offered.iter().find(|one| one["name"] == output["name"]).expect("an output that is offered");
        assert_eq!(offer["datatype"], output["datatype"], "{name}");
        let sides = |one: &Value| one["shape"].as_array().expect("a shape").clone();
        let (said, is) = (sides(offer), sides(output));
        let fits = said.len() == is.len() && said.iter().zip(&is).all(|(said, is)| *said == -1 || said == is);
        assert!(fits, "{name}: {said:?} was said, {is:?} came");
    }
    let first: Vec<&str> =
        plain.lines().skip(1).map(|line| line.split(',').next().expect("a cell")).collect();
    if offered(&about, "label") {
        for (got, want) in reply.output("label")["data"].as_array().expect("labels").iter().zip(&first) {
            match got.as_f64() {
                Some(value) => assert_eq!(Ok(value), want.parse::<f64>(), "{name}"),
                None => assert_eq!(got, want, "{name}"),
            }
        }
    } else {
        let all = reply.numbers("features");
        let width = all.len() / first.len();
        let got: Vec<f64> = all.into_iter().step_by(width).collect();
        let want: Vec<f64> = first.iter().map(|cell| cell.parse().expect("a number")).collect();
        assert_eq!(got, want, "{name}");
    }
    true
}

fn offered(about: &Value, output: &str) -> bool {
    about["outputs"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == output))
}

/// Labels the same, numbers to nine digits: sums round differently on other processors.
fn same(name: &str, wanted: &str, got: &str) {
    assert_eq!(wanted.lines().count(), got.lines().count(), "rows of {name}");
    let wanted_has_labels = wanted.starts_with("prediction");
    for (wanted, got) in wanted.lines().zip(got.lines()).skip(1) {
        let (w, g): (Vec<&str>, Vec<&str>) = (wanted.split(',').collect(), got.split(',').collect());
        // The command copies the label behind components.
        assert!(w.len() == g.len() || !wanted_has_labels && w.len() == g.len() + 1, "{name}: {got}");
        for (w, g) in w.iter().zip(&g) {
            match (w.parse::<f64>(), g.parse::<f64>()) {
                (Ok(a), Ok(b)) => assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{name}: {w} became {g}"),
                _ => assert_eq!(w, g, "{name}"),
            }
        }
    }
}
