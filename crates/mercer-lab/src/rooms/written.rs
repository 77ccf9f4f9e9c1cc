//! What was done in the lab, written down: the same by the command, and in Python.

use std::fmt::Write as _;

use mercer::data::io::Format;
use mercer::data::split::Fold;
use mercer::data::{Data, Targets};
use mercer::model::{Model, Plan, Task};
use serde_json::Value;

use crate::state::{From, Kept, Set};

/// Command lines and a script that make a model again.
pub(super) struct Written {
    pub(super) command: String,
    pub(super) python: String,
}

/// The command lines and the script of a training. `held` is the share of rows that was asked for.
pub(super) fn written(
    model: &Model,
    set: &Set,
    plan: &Plan<'_>,
    fold: &Fold,
    held: f64,
    seed: u64,
) -> Written {
    let files = Files::of(set, !fold.test.is_empty());
    let seeded = if seed == 0 { String::new() } else { format!(" --seed {seed}") };
    let mut lines = Vec::new();
    if let Some(test) = &files.test {
        lines.push(format!(
            "mercer data split {} {} {} --test {held}{seeded}{}",
            quoted(&files.source),
            quoted(&files.train),
            quoted(test),
            set.flags
        ));
    }
    let (learner, kernel) = (&model.machine.learner, model.machine.expansion.kernel().to_string());
    let entry = learner.entry();
    let mut line = format!("mercer train {} --learner {}", quoted(&files.train), entry.name);
    if entry.takes("kernel") {
        let _ = write!(line, " --kernel {}", quoted(&kernel));
    }
    line.push_str(" --auto off");
    let usual = entry.learner();
    let mut parameters = Vec::new();
    for param in
        learner.table().iter().filter(|p| entry.takes(p.name) && !matches!(p.name, "kernel" | "seed"))
    {
        let (now, before) = (learner.get(param.name), usual.get(param.name));
        let Some(now) = now.filter(|now| Some(now) != before.as_ref()) else { continue };
        let text = now.as_str().map_or_else(|| now.to_string(), ToOwned::to_owned);
        let _ = match param.name {
            "c" => write!(line, " -c {text}"),
            name => write!(line, " --set {}", quoted(&format!("{name}={text}"))),
        };
        parameters.push((param.name, now));
    }
    let recipes: Vec<String> = plan.recipes.iter().map(ToString::to_string).collect();
    let table = set.data.points.as_table().is_some();
    if !table && !matches!(set.data.points.view().data, Data::Sequences { .. }) {
        let how = if recipes.is_empty() { "none".to_owned() } else { recipes.join(" | ") };
        let _ = write!(line, " --scale {}", quoted(&how));
    }
    let _ = write!(line, "{}{seeded} -o {}", files.flags, quoted(&files.model));
    lines.push(line);
    if let Some(test) = &files.test
        && set.data.targets != Targets::None
    {
        lines.push(format!("mercer evaluate {} {}{}", quoted(test), quoted(&files.model), files.flags));
    }
    let recipes = if table { Vec::new() } else { recipes };
    let python = python(model, set, &files, &kernel, &parameters, &recipes);
    Written { command: lines.join("\n"), python }
}

/// The line that compresses a model, behind those that made it.
pub(super) fn compressed(kept: &Kept, vectors: usize) -> String {
    let stem = kept.name.trim_end_matches(".mercer");
    let small = quoted(&format!("{stem}-{vectors}.mercer"));
    let Some(set) = &kept.set else { return kept.command.clone() };
    let files = Files::of(set, !kept.held.is_empty());
    format!(
        "{}\nmercer compress {} {}{} --vectors {vectors} -o {small}",
        kept.command,
        quoted(&kept.name),
        quoted(&files.train),
        files.flags
    )
}

/// The files of a training, and the flags with which those to train and to test on are read.
struct Files {
    source: String,
    train: String,
    test: Option<String>,
    model: String,
    flags: String,
}

impl Files {
    fn of(set: &Set, split: bool) -> Self {
        let source = match &set.file.from {
            From::Disk(path) => path.display().to_string(),
            From::Page(_) => set.file.name.clone(),
        };
        let stem = stem(&set.file.name);
        let model = format!("{stem}.mercer");
        if !split {
            return Files { train: source.clone(), source, test: None, model, flags: set.flags.clone() };
        }
        let data = &set.data;
        let end = match (data.format, data.points.view().data) {
            (_, Data::Sequences { .. }) => Format::Sequences.info().extensions[0],
            (Some(Format::Libsvm), _) => "svm",
            _ => "csv",
        };
        // What a reader found out from all rows is said for the part of them, which may look otherwise.
        let mut flags = String::new();
        if end == "csv" {
            let label = match &data.targets {
                Targets::None => "none",
                _ => data.target_name.as_deref().unwrap_or("label"),
            };
            let _ = write!(flags, " --label {}", quoted(label));
        }
        match &data.targets {
            Targets::Classes(labels) if labels.names.iter().all(|name| name.parse::<f64>().is_ok()) => {
                flags.push_str(" --targets classes");
            }
            Targets::Reals(_) => flags.push_str(" --targets reals"),
            _ => {}
        }
        if let Some(shape) = data.points.image().filter(|shape| end == "csv" && shape.channels == 1) {
            let _ = write!(flags, " --image {}x{}", shape.height, shape.width);
        }
        let [train, test] = ["train", "test"].map(|part| format!("{stem}-{part}.{end}"));
        Files { source, train, test: Some(test), model, flags }
    }
}

/// A file's name without its extensions.
pub(super) fn stem(name: &str) -> String {
    let name = ["gz", "bz2", "xz", "zst"]
        .iter()
        .find_map(|end| name.strip_suffix(end)?.strip_suffix('.'))
        .unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.to_owned(),
    }
}

/// A script that reads the rows, predicts them with the downloaded model, and trains the machine again where an estimator of
/// the package does the same.
fn python(
    model: &Model,
    set: &Set,
    files: &Files,
    kernel: &str,
    parameters: &[(&str, Value)],
    recipes: &[String],
) -> String {
    let mut imports = vec!["import mercer".to_owned()];
    let with_targets = set.data.targets != Targets::None;
    let rows = files.test.as_ref().unwrap_or(&files.train);
    let comma = files.test.is_some() || matches!(set.data.format, Some(Format::Csv));
    let named = files.test.is_some() || set.data.column_names.is_some();
    let frame = comma && named;
    let mut text = String::new();
    let x = |name: &str| match (&set.data.targets, set.data.target_name.as_deref()) {
        (Targets::None, _) => name.to_owned(),
        (_, target) => format!("{name}.drop(columns={})", python_text(target.unwrap_or("label"))),
    };
    let target = python_text(set.data.target_name.as_deref().unwrap_or("label"));
    let sparse = matches!(set.data.format, Some(Format::Libsvm));
    if sparse {
        imports.push("from sklearn.datasets import load_svmlight_file".into());
        let _ =
            writeln!(text, "X, y = load_svmlight_file({}, n_features={})", python_text(rows), set.data.dim());
    } else if frame && !matches!(set.data.points.view().data, Data::Sequences { .. }) {
        imports.push("import pandas as pd".into());
        let separator = if files.test.is_some() { "" } else { ", sep=None, engine=\"python\"" };
        let _ = writeln!(text, "rows = pd.read_csv({}{separator})", python_text(rows));
        let _ = writeln!(text, "X = {}", x("rows"));
    } else {
        text.push_str("# X: the rows to predict, as an array\n");
    }
    let _ = writeln!(
        text,
        "model = mercer.load({})  # the model downloaded from the lab\npredicted = model.predict(X)",
        python_text(&files.model)
    );
    let class = match model.machine.learner.entry().name {
        "svc" => "SVC",
        "nu-svc" => "NuSVC",
        "svr" => "SVR",
        "nu-svr" => "NuSVR",
        "one-class" => "OneClassSVM",
        _ => "",
    };
    let scaler = match recipes {
        [] => Some(None),
        [one] if one == "standard" => Some(Some("StandardScaler()")),
        _ => None,
    };
    let known = |name: &&(&str, Value)| matches!(name.0, "c" | "nu" | "epsilon" | "tol");
    let all_known = parameters.iter().all(|one| known(&one));
    if let (Some(scaler), false, true, true) = (scaler, class.is_empty(), all_known, frame && !sparse) {
        let mut arguments = vec![format!("kernel={}", python_text(kernel))];
        for (name, value) in parameters {
            arguments.push(format!("{}={value}", if *name == "c" { "C" } else { name }));
        }
        let machine = format!("mercer.{class}({})", arguments.join(", "));
        let machine = match scaler {
            Some(scaler) => {
                imports.push("from sklearn.pipeline import make_pipeline".into());
                imports.push("from sklearn.preprocessing import StandardScaler".into());
                format!("make_pipeline({scaler}, {machine})")
            }
            None => machine,
        };
        text.push_str("\n# or retrain the machine\n");
        if files.test.is_some() {
            let _ = writeln!(text, "train = pd.read_csv({})", python_text(&files.train));
        } else {
            text.push_str("train = rows\n");
        }
        let fit = if with_targets && model.task() != Task::Novelty {
            format!("{}, train[{target}]", x("train"))
        } else {
            x("train")
        };
        let _ = writeln!(text, "machine = {machine}.fit({fit})");
    }
    format!("{}\n\n{text}", imports.join("\n"))
}

/// A word of a command line as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/=,:+@%".contains(c);
    // A file may be called like a flag.
    let word = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A text of Python.
pub(crate) fn python_text(text: &str) -> String {
    // JSON's escapes are Python's too.
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell_and_python() {
        assert_eq!(quoted("mine.csv"), "mine.csv");
        assert_eq!(quoted("it's mine.csv"), r"'it'\''s mine.csv'");
        assert_eq!(quoted("-x.csv"), "./-x.csv");
        assert_eq!(quoted(""), "''");
        assert_eq!(python_text("a\"b\\c\n"), r#""a\"b\\c\n""#);
        assert_eq!(
            (stem("a.b.csv.gz"), stem("plain"), stem(".csv")),
            ("a.b".into(), "plain".into(), ".csv".into())
        );
    }
}
