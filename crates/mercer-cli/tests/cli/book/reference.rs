//! The pages under `docs/reference`, generated from the tables of the program. `MERCER_BLESS=1` (or `cargo xtask book`)
//! writes them; without it the test compares.

use std::fmt::Write as _;

use mercer::assess::metric::{self, Better, Measure};
use mercer::data::Recipe;
use mercer::data::image::Transform;
use mercer::data::io::FORMATS;
use mercer::model::{Learner, Task};
use mercer::param::Param;
use serde_json::Value;

use super::docs;
use crate::run::Folder;

/// Sections of help that many commands share: shown once.
const SHARED: [&str; 2] = ["Reading the data:", "Global options:"];

#[test]
fn reference_pages_are_up_to_date() {
    let pages = [
        ("kernels", kernels()),
        ("learners", learners()),
        ("stages", stages()),
        ("metrics", metrics()),
        ("formats", formats()),
        ("commands", commands()),
        ("experiments", experiments()),
    ];
    let mut stale = Vec::new();
    for (name, text) in pages {
        let file = docs().join(format!("reference/{name}.md"));
        if std::env::var_os("MERCER_BLESS").is_some() {
            std::fs::write(&file, &text).expect("a writable checkout");
        } else if std::fs::read_to_string(&file).unwrap_or_default() != text {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "docs/reference: {stale:?} differ from the program: run `cargo xtask book`");
}

/// A cell of a table: no line breaks, no bars.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn page(title: &str, intro: &str) -> String {
    format!("# {title}\n\n{intro} This page is generated from the program's own tables.\n")
}

fn row(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|c| cell(c)).collect();
    writeln!(out, "| {} |", cells.join(" | ")).expect("a string");
}

fn heads(out: &mut String, names: &[&str]) {
    writeln!(out, "\n| {} |\n|{}", names.join(" | "), "---|".repeat(names.len())).expect("a string");
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn params<'a>(out: &mut String, table: impl Iterator<Item = &'a Param>) {
    heads(out, &["parameter", "default", "allowed", ""]);
    for param in table {
        let default = param.default.map_or_else(|| "must be given".to_owned(), str::to_owned);
        row(out, &[code(param.name), default, param.allowed.to_string(), param.doc.into()]);
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn kernels() -> String {
    let listed = Folder::new().mercer("kernel list --format json").fine().json();
    let mut out = page(
        "Kernels",
        "Every kernel with its formula, its parameters and lines to copy. A kernel is written as one line: `mercer train --kernel 'rbf(gamma=0.5)'`, `SVC(kernel=\"rbf(gamma=0.5)\")`, `\"rbf(gamma=0.5)\".parse::<Kernel>()`. The theory is in [kernels and feature spaces](../theory/kernels.md).",
    );
    let all = listed["kernels"].as_array().expect("a list");
    for (algebra, title) in [(false, "Kernels of points"), (true, "Kernels made of kernels")] {
        writeln!(out, "\n## {title}").expect("a string");
        for kernel in all.iter().filter(|k| k["algebra"] == algebra) {
            let words = |key: &str| -> Vec<String> {
                let list = kernel[key].as_array().map(Vec::as_slice).unwrap_or_default();
                list.iter().filter_map(|v| v.as_str().map(code)).collect()
            };
            let aliases = words("aliases");
            let also =
                if aliases.is_empty() { String::new() } else { format!(" Also {}.", aliases.join(", ")) };
            writeln!(
                out,
                "\n### {}\n\n```text\n{}\n```\n\n{}{also} Positive definite: {}.",
                text(kernel, "name"),
                text(kernel, "formula"),
                text(kernel, "doc"),
                text(kernel, "definiteness").replacen("positive", "yes", 1),
            )
            .expect("a string");
            let table = kernel["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
            if !table.is_empty() {
                heads(&mut out, &["parameter", "default", "allowed", ""]);
            }
            for param in table {
                let default = param["default"].as_str().unwrap_or("must be given").to_owned();
                row(
                    &mut out,
                    &[
                        code(text(param, "name")),
                        default,
                        text(param, "range").into(),
                        text(param, "doc").into(),
                    ],
                );
            }
            writeln!(out, "\nExamples: {}", words("examples").join(", ")).expect("a string");
        }
    }
    out
}

fn learners() -> String {
    let mut out = page(
        "Learners and their parameters",
        "`mercer train --learner NAME --set PARAMETER=VALUE` fits any of these; several parameters have flags of their own. [Learners, explained](../learners.md) says when to use which.",
    );
    heads(&mut out, &["learner", "for", ""]);
    for entry in Learner::ALL {
        let tasks: Vec<&str> = entry.tasks.iter().map(|t| task(*t)).collect();
        row(&mut out, &[format!("[`{0}`](#{0})", entry.name), tasks.join(", "), entry.doc.into()]);
    }
    for entry in Learner::ALL {
        writeln!(out, "\n## {}\n\n{}.", entry.name, capital(entry.doc)).expect("a string");
        let learner = entry.learner();
        params(&mut out, learner.table().iter().filter(|param| entry.takes(param.name)));
    }
    out
}

fn task(task: Task) -> &'static str {
    match task {
        Task::Classification => "classes",
        Task::Regression => "numbers",
        Task::Novelty => "novelty",
        Task::Clustering => "clusters",
        Task::Features => "features",
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn stages() -> String {
    let mut out = page(
        "Stages and transformations",
        "Stages are fitted on training rows, stored in the model and applied to every new row: `--scale 'minmax(0, 1) | unit'`. [Stages, explained](../stages.md) has their formulas.",
    );
    writeln!(out, "\n## Stages").expect("a string");
    for entry in Recipe::ALL {
        let rows = match (entry.image, entry.sequence, entry.table) {
            (true, ..) => "images",
            (_, true, _) => "sequences",
            (.., true) => "tables",
            _ => "numbers",
        };
        writeln!(
            out,
            "\n### {}\n\n{}. For {rows}; example: `{}`",
            entry.name,
            capital(entry.doc),
            entry.example
        )
        .expect("a string");
        if !entry.args.is_empty() {
            params(&mut out, entry.args.iter());
        }
    }
    writeln!(out, "\n## Transformations of images\n\nLabel-preserving transformations for `--virtual` and the stage `invariant`.").expect("a string");
    heads(&mut out, &["transformation", "argument", "as a set", ""]);
    for entry in Transform::ALL {
        let args = entry.args.unwrap_or_default();
        let args: Vec<String> = args.iter().map(|p| format!("{} ({})", p.name, p.allowed)).collect();
        row(&mut out, &[code(entry.name), args.join("; "), entry.set.into(), entry.doc.into()]);
    }
    out
}

fn metrics() -> String {
    let mut out =
        page("Metrics", "What cross-validation, searches and reports measure: `mercer tune --metric NAME`.");
    heads(&mut out, &["metric", "for", "better", ""]);
    for metric in metric::ALL {
        let of = match metric.measure {
            Measure::Classes(_) => "predicted classes",
            Measure::Ranking(_) => "decision values of two classes",
            Measure::Probabilities(_) => "probabilities",
            Measure::Reals(_) => "numbers",
        };
        let better = if metric.better == Better::Lower { "lower" } else { "higher" };
        row(&mut out, &[code(metric.name), of.into(), better.into(), metric.doc.into()]);
    }
    out
}

fn formats() -> String {
    let mut out = page(
        "File formats",
        "Every command reads these, recognised by content; `--from NAME` overrides that. `.gz`, `.bz2`, `.xz` and `.zst` may follow any extension. [Formats, explained](../formats.md) has the details.",
    );
    heads(&mut out, &["format", "extensions", "written", ""]);
    for info in FORMATS {
        let ends: Vec<String> =
            info.extensions.iter().map(|e| code(&format!(".{}", e.trim_start_matches('.')))).collect();
        let written = if info.writable() { "yes" } else { "" };
        row(&mut out, &[code(info.name), ends.join(", "), written.into(), info.doc.into()]);
    }
    out
}

fn commands() -> String {
    let mut out = page(
        "Commands",
        "The help of every command. The options that all commands share, and those of commands that read data, are at the end.",
    );
    let folder = Folder::new();
    let screen = folder.mercer("").fine().out;
    let names = screen.lines().filter_map(|line| line.strip_prefix("  mercer "));
    let names: Vec<&str> = names.map(|rest| rest.split("  ").next().unwrap_or_default().trim()).collect();
    let mut shared = vec![String::new(); SHARED.len()];
    for name in names {
        let help = folder.mercer(&format!("{name} --help")).fine().out;
        let mut own = String::new();
        let mut into = None;
        for line in help.lines() {
            if !line.starts_with(' ') && !line.is_empty() {
                into = SHARED.iter().position(|s| line == *s);
                if let Some(at) = into {
                    shared[at].clear();
                }
            }
            let text = into.map_or(&mut own, |at| &mut shared[at]);
            writeln!(text, "{}", line.trim_end()).expect("a string");
        }
        writeln!(out, "\n## mercer {name}\n\n```text\n{}\n```", own.trim()).expect("a string");
    }
    for text in shared {
        writeln!(
            out,
            "\n## {}\n\n```text\n{}\n```",
            text.lines().next().unwrap_or_default().trim_end_matches(':'),
            text.trim()
        )
        .expect("a string");
    }
    out
}

fn experiments() -> String {
    let mut out = page(
        "Experiments of the papers",
        "`mercer reproduce NAME` runs one of these and prints the paper's numbers next to Mercer's; [the page of the experiments](../../reproduce/README.md) says what is known to differ and where the data come from. The results below are those of the last recorded runs (`cargo xtask experiments`); every number that falls short of the paper's is listed.",
    );
    heads(&mut out, &["name", "shows", "paper", "seconds", "in full", "reached"]);
    for experiment in mercer_reproduce::ALL {
        let full = experiment.full.map_or(String::new(), |s| s.to_string());
        let reached = recorded(experiment.name).map_or("not recorded".to_owned(), |rows| {
            let compared: Vec<bool> = rows.iter().filter_map(reaches).collect();
            let met = compared.iter().filter(|met| **met).count();
            if compared.is_empty() {
                "nothing to compare".into()
            } else {
                format!("{met} of {}", compared.len())
            }
        });
        let cells = [
            code(experiment.name),
            capital(experiment.shows.trim_end_matches('.')),
            experiment.paper.into(),
            experiment.seconds.to_string(),
            full,
            reached,
        ];
        row(&mut out, &cells);
    }
    out.push_str(
        "\nReached: numbers that are at least as good as the paper's, with no tolerance, among those for which the paper has a number and one direction is better.\n",
    );
    for experiment in mercer_reproduce::ALL {
        let rows = recorded(experiment.name).unwrap_or_default();
        let short: Vec<&Value> = rows.iter().filter(|row| reaches(row) == Some(false)).collect();
        if experiment.notes.is_empty() && short.is_empty() {
            continue;
        }
        writeln!(out, "\n## {}\n", experiment.name).expect("a string");
        for note in experiment.notes {
            writeln!(out, "- {note}").expect("a string");
        }
        if !short.is_empty() {
            writeln!(out, "\nFalls short of the paper:").expect("a string");
            heads(&mut out, &["number", "paper", "Mercer"]);
            for found in short {
                let unit = if found["unit"] == "%" { " %" } else { "" };
                let number = |key: &str| {
                    let value = found[key].as_f64().unwrap_or(f64::NAN);
                    // At most three digits behind the point, without trailing zeros.
                    format!("{}{unit}", (value * 1000.0).round() / 1000.0)
                };
                let label = found["label"].as_str().unwrap_or_default().to_owned();
                row(&mut out, &[label, number("paper"), number("mercer")]);
            }
        }
    }
    out
}

/// The rows of the recorded run of an experiment.
fn recorded(name: &str) -> Option<Vec<Value>> {
    let file = docs().join(format!("../reproduce/runs/{name}.json"));
    let run: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).expect("the JSON of a run");
    assert_eq!(run["name"], name, "reproduce/runs/{name}.json is of another experiment");
    Some(run["rows"].as_array().expect("rows").clone())
}

/// Whether a number is at least as good as the paper's; None where the paper has none, or neither direction is better.
fn reaches(row: &Value) -> Option<bool> {
    let (paper, mercer) = (row["paper"].as_f64()?, row["mercer"].as_f64()?);
    match row["better"].as_str()? {
        "lower" => Some(mercer <= paper),
        "higher" => Some(mercer >= paper),
        _ => None,
    }
}

#[test]
fn a_number_reaches_the_papers_if_it_is_as_good() {
    let row = |paper: Value, mercer: f64, better: &str| {
        reaches(&serde_json::json!({"paper": paper, "mercer": mercer, "better": better}))
    };
    assert_eq!(row(4.0.into(), 4.0, "lower"), Some(true));
    assert_eq!(row(4.0.into(), 4.01, "lower"), Some(false));
    assert_eq!(row(4.0.into(), 4.0, "higher"), Some(true));
    assert_eq!(row(4.0.into(), 3.99, "higher"), Some(false));
    assert_eq!((row(Value::Null, 1.0, "lower"), row(4.0.into(), 4.0, "near")), (None, None));
}
