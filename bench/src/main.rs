//! Mercer beside its peers, each comparison in one run: `cargo xtask bench NAME`.
//!
//! Every side is a process of its own that answers one request at a time, so that runs alternate on the same machine
//! in the same minute and peak memory is each side's own. What is printed is the best of several runs and the ratio
//! `peer_s / mercer_s`: above 1, Mercer is faster.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command's output is its purpose")]

mod campaign;
mod cold;
mod components;
mod cuda;
mod dask;
mod defaults;
mod denoise;
mod gram;
mod growth;
mod growth_of_large;
mod kpca;
mod large;
mod large_sets;
mod learners;
mod local_kernel;
mod machine;
mod made;
mod memory;
mod others;
mod package;
mod photographs;
mod python;
mod reduced_set;
mod report;
mod rounds;
mod scaling;
mod serve;
mod service;
mod sets;
mod side;
mod svm;
mod tune;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};

use report::Report;

/// Mercer beside its peers, in one run on this machine.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", version)]
struct Args {
    /// Which comparison; `list` names them.
    name: String,
    /// A table for people, or one JSON object.
    #[arg(long, default_value = "text")]
    format: Format,
    /// Only these cases, by a part of their name.
    #[arg(long, alias = "only")]
    set: Vec<String>,
    /// Only these peers, by a part of their name.
    #[arg(long)]
    peer: Vec<String>,
    /// Best of how many runs.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
    /// A side that has used this many seconds on a case is not asked again.
    #[arg(long, default_value_t = 30.0)]
    budget: f64,
    /// A peer that needs more than this many seconds for one fit is stopped, and the report says so (large; at most 120
    /// without --full).
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    limit: f64,
    /// Also compares objectives with LIBSVM's at a hundredth of the tolerance (svm).
    #[arg(long)]
    exact: bool,
    /// Also the cases that take minutes: 50000 rows (kpca), searches (defaults), 540000 digits and 10^7 rows (large).
    #[arg(long)]
    full: bool,
    /// Another commit as one more side: its build of this program (svm, kpca) or its wheel (python).
    #[arg(long, value_name = "FILE")]
    before: Option<std::path::PathBuf>,
    /// Threads each side may use; 0 means as many as the machine has.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Jobs side by side, each with its own threads (defaults).
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// The file that keeps outcomes, so that a run continues where one was interrupted (defaults)
    /// [default: target/bench/defaults.jsonl].
    #[arg(long, value_name = "FILE")]
    journal: Option<std::path::PathBuf>,
    /// Seconds per search (defaults).
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    search_seconds: f64,
    /// Starts nothing that would end later than this; the journal keeps the rest for another run (defaults).
    #[arg(long, value_name = "SECONDS")]
    stop_after: Option<f64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

type Bench = (&'static str, &'static str, fn(&Args) -> Result<Report>);

/// Every comparison there is.
const ALL: [Bench; 18] = [
    ("gram", "the whole Gaussian matrix of 7291 rows: numpy, scikit-learn, the product rate", gram::run),
    (
        "svm",
        "support vector machines of every kind on real and made-up sets: scikit-learn, oneDAL, LIBSVM",
        svm::run,
    ),
    ("kpca", "kernel principal components and denoising: scikit-learn", kpca::run),
    ("denoise", "how well noisy digits are restored: scikit-learn at its best", denoise::run),
    ("photographs", "how well noisy photographs are restored: scikit-image's denoisers", photographs::run),
    ("local-kernel", "image-local kernel values: numpy, scipy", local_kernel::run),
    ("tune", "a search for C and gamma by cross-validation: scikit-learn's GridSearchCV", tune::run),
    (
        "defaults",
        "errors without tuning, on all numeric sets: scikit-learn's defaults, boosted trees, searches (--full)",
        defaults::run,
    ),
    ("python", "the Python package: scikit-learn, oneDAL, and what Python costs over Rust", package::run),
    ("learners", "k-means and linear discriminants: the same answers as scikit-learn's", learners::run),
    (
        "cold",
        "whole processes, from file to model and to answers: svm-train, scripts of scikit-learn",
        cold::run,
    ),
    (
        "dask",
        "clusters of 1, 2, 4, .. workers: a learner for large data, a search; scikit-learn's",
        dask::run,
    ),
    ("cuda", "an NVIDIA device beside the CPU: fits, predictions, the whole matrix", cuda::run),
    ("scaling", "what fits gain from threads: 1, 2, 4, .. beside a matrix product", scaling::run),
    (
        "large",
        "many rows on few centres: scikit-learn's Nystroem and RBFSampler with linear machines, boosted trees; growth",
        large::run,
    ),
    ("growth", "how the time of a fit grows with rows and with support vectors", growth::run),
    (
        "reduced-set",
        "compressed machines: the time to make them, their speed, LIBSVM's own predictions",
        reduced_set::run,
    ),
    ("serve", "the prediction service: MLServer and FastAPI with scikit-learn", service::run),
];

impl Args {
    fn threads(&self) -> usize {
        mercer::Exec::new(self.threads).threads()
    }

    fn wants(&self, case: &str) -> bool {
        self.set.is_empty() || self.set.iter().any(|s| case.contains(s.as_str()))
    }

    fn wants_peer(&self, label: &str) -> bool {
        self.peer.is_empty() || self.peer.iter().any(|p| label.contains(p.as_str()))
    }
}

fn main() -> ExitCode {
    // The driver starts this program again as Mercer's side.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.first().map(String::as_str) {
        Some("--serve") => serve::run(),
        Some("--campaign") => campaign::run(&words[1..]),
        _ => run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let args = Args::parse();
    if args.name == "list" {
        for (name, what, _) in ALL {
            println!("{name:<12} {what}");
        }
        return Ok(());
    }
    let Some((_, _, bench)) = ALL.iter().find(|(name, ..)| *name == args.name) else {
        bail!("there is no comparison `{}`; `cargo xtask bench list` names them", args.name);
    };
    let load = memory::load_average();
    let mut report = bench(&args)?;
    if let Some(load) = load {
        report.note(
            "machine",
            "load of other processes at the start; figures are good only near 0",
            load,
            "cores",
        );
    }
    match args.format {
        Format::Text => print!("{}", report.text()),
        Format::Json => println!("{}", serde_json::to_string_pretty(&report)?),
    }
    Ok(())
}
