//! Whole processes: from a file to a written model, and from model and file to written answers.
//!
//! What a person at a terminal waits for: start, reading, learning, writing, all in fresh memory. `svm-train` and
//! `svm-predict` read LIBSVM's text, so Mercer reads the same text beside them; scripts of scikit-learn, with and without
//! oneDAL, read `.npy` files, which is the fastest they can have, and Mercer reads those beside them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use mercer::data::Dataset;
use mercer::data::io;

use crate::Args;
use crate::python::Python;
use crate::report::Report;
use crate::sets::{self, Set, Split};

const SETS: [&str; 6] = ["usps", "letter", "mnist10k", "mnist60k", "a9a", "ijcnn1"];
/// `svm-train` uses one core: more rows than this take it an hour.
const MOST_FOR_LIBSVM: usize = 50_000;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn", "scikit-learn-intelex"])?;
    let mercer = command()?;
    let mut report = Report::new("cold");
    for set in SETS.map(Set::named).into_iter().filter(|s| args.wants(s.name)) {
        match set.load() {
            Ok(split) => one(set, &split, &python, &mercer, args, &mut report)?,
            Err(error) => eprintln!("bench: left out {error:#}"),
        }
    }
    Ok(report)
}

/// The command of this checkout, built as this program is.
fn command() -> Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name("mercer");
    if !beside.exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("bench lies in the workspace")?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .current_dir(root)
            .args(["build", "--release", "-p", "mercer-cli"])
            .status()?;
        if !built.success() {
            bail!("the command could not be built");
        }
    }
    Ok(beside)
}

/// A process to be timed: what it is called, and how it is started.
struct Run {
    label: String,
    start: Command,
    seconds: f64,
    spent: f64,
}

impl Run {
    fn new(label: &str, program: &Path, args: &[&str]) -> Self {
        let mut start = Command::new(program);
        start.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Run { label: label.to_owned(), start, seconds: f64::INFINITY, spent: 0.0 }
    }

    fn once(&mut self) -> Result<()> {
        let clock = Instant::now();
        let status = self.start.status().with_context(|| format!("{} cannot be started", self.label))?;
        let seconds = clock.elapsed().as_secs_f64();
        if !status.success() {
            bail!("{}: {:?} ended with {status}", self.label, self.start);
        }
        self.seconds = self.seconds.min(seconds);
        self.spent += seconds;
        Ok(())
    }
}

/// Runs take turns; the first of `runs` is Mercer's.
fn compare(case: &str, mut runs: Vec<Run>, args: &Args, report: &mut Report) -> Result<()> {
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"] {
        let threads = args.threads().to_string();
        runs.iter_mut().for_each(|run| {
            run.start.env(variable, &threads);
        });
    }
    for _ in 0..args.repeats.max(1) {
        for run in runs.iter_mut().filter(|run| run.spent < args.budget) {
            run.once()?;
        }
    }
    for run in &runs[1..] {
        report.row(case, &run.label, run.seconds, runs[0].seconds);
    }
    Ok(())
}

fn one(
    set: &Set,
    split: &Split,
    python: &Python,
    mercer: &Path,
    args: &Args,
    report: &mut Report,
) -> Result<()> {
    eprintln!("bench: {}", set.name);
    let [c, gamma] = [set.c, set.gamma].map(|v| v.to_string());
    let threads = args.threads().to_string();
    let at = |name: &str| -> Result<String> { Ok(sets::scratch()?.join(name).display().to_string()) };
    let numbers = |data: &Dataset, part: &str| sets::hand_out(data, &format!("{}-{part}", set.name));
    let (x, test) = (numbers(&split.train, "train")?, numbers(&split.test, "test")?);
    let labels = |path: &Path| path.with_extension("labels.npy").display().to_string();
    let (y, test_y, x, test) =
        (labels(&x), labels(&test), x.display().to_string(), test.display().to_string());

    let (model, answers) =
        (at(&format!("{}-cold.mercer", set.name))?, at(&format!("{}-cold.csv", set.name))?);
    let learn = |file: &str, labels: Option<&str>| -> Run {
        let mut line =
            vec!["train", file, "-o", &model, "-c", &c, "-g", &gamma, "--scale", "none", "--quiet"];
        line.extend(["--threads", &threads]);
        line.extend(labels.iter().flat_map(|l| ["--labels", l]));
        Run::new("mercer", mercer, &line)
    };
    let ask = |file: &str| {
        Run::new("mercer", mercer, &["predict", file, &model, "-o", &answers, "--threads", &threads])
    };

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/cold.py").display().to_string();
    let pickle = |engine: &str| at(&format!("{}-cold-{engine}.pickle", set.name));
    let told = at(&format!("{}-cold-python.csv", set.name))?;
    let engines: Vec<(&str, &str)> = [("scikit-learn script", "sklearn"), ("oneDAL script", "onedal")]
        .into_iter()
        .filter(|(label, _)| {
            args.wants_peer(label)
                && (split.train.len() <= MOST_FOR_LIBSVM || *label != "scikit-learn script")
        })
        .collect();
    let (mut learning, mut asking) = (vec![learn(&x, Some(&y))], vec![ask(&test)]);
    for (label, engine) in &engines {
        let file = pickle(engine)?;
        let interpreter = python.program();
        learning.push(Run::new(label, &interpreter, &[&script, engine, "train", &x, &y, &file, &c, &gamma]));
        asking.push(Run::new(
            label,
            &interpreter,
            &[&script, engine, "predict", &test, &test_y, &file, &told],
        ));
    }
    compare(&format!("{}, npy to model", set.name), learning, args, report)?;
    compare(&format!("{}, npy to answers", set.name), asking, args, report)?;

    if split.train.len() > MOST_FOR_LIBSVM || !args.wants_peer("svm-train") {
        return Ok(());
    }
    let text = |data: &Dataset, part: &str| -> Result<String> {
        let path = at(&format!("{}-{part}.svm", set.name))?;
        io::write(Path::new(&path), data)?;
        Ok(path)
    };
    let (x, test) = (text(&split.train, "train")?, text(&split.test, "test")?);
    let (theirs, told) = (at(&format!("{}-cold.model", set.name))?, at(&format!("{}-cold.out", set.name))?);
    let train = ["-q", "-m", "4000", "-c", &c, "-g", &gamma, &x, &theirs];
    if let Err(error) = compare(
        &format!("{}, text to model", set.name),
        vec![learn(&x, None), Run::new("svm-train", Path::new("svm-train"), &train)],
        args,
        report,
    ) {
        eprintln!("bench: without svm-train (on Debian: apt-get install libsvm-tools): {error:#}");
        return Ok(());
    }
    let predict = Run::new("svm-predict", Path::new("svm-predict"), &["-q", &test, &theirs, &told]);
    compare(&format!("{}, text to answers", set.name), vec![ask(&test), predict], args, report)
}
