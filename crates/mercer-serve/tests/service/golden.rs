//! The golden files of every version, as they lie: each is served, and predicts what the command predicts.

use std::path::{Path, PathBuf};

use crate::client::Server;

#[test]
fn golden_models_of_every_version_are_served() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mercer-cli/tests/golden");
    let mut served = 0;
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
            let reply = server.post(&format!("/v1/models/{name}/predict{output}"), kind, rows);
            assert_eq!(reply.status, 200, "{name}: {}", reply.text());
            same(&name, &wanted, reply.text());
            served += 1;
        }
    }
    assert!(served >= 58, "only {served} golden models");
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
