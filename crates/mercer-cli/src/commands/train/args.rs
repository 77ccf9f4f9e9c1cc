//! The flags of a training, and how their values are read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mercer::model::Learner;
use mercer::param::Param;

use crate::source::Reading;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Multiclass {
    Ovo,
    Ovr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Slack {
    Linear,
    Squared,
}

/// A factor of C for one class, or for all by their rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClassWeight {
    Balanced,
    Of(String, f64),
}

/// A number, or the word `auto`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OrAuto {
    Auto,
    Value(f64),
}

impl OrAuto {
    pub(super) fn value(self) -> Option<f64> {
        match self {
            OrAuto::Auto => None,
            OrAuto::Value(value) => Some(value),
        }
    }
}

/// How settings that are not given are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Auto {
    Quick,
    Good,
    Off,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(super) struct Training {
    /// The data; `-` is standard input
    #[arg(value_name = "DATA")]
    pub(super) file: PathBuf,

    /// File for the model [default: the name of the data with .mercer]
    #[arg(long, short, value_name = "MODEL")]
    pub(super) out: Option<PathBuf>,

    /// Continue an interrupted training on the same data
    #[arg(long, value_name = "MODEL", conflicts_with_all = SETTINGS)]
    pub(super) resume: Option<PathBuf>,

    /// Replace an existing MODEL if interrupted, and an existing MODEL.partial when starting over
    #[arg(long)]
    pub(super) force: bool,

    /// Seconds between checkpoints to MODEL.partial during a long training; 0 disables them
    #[arg(long, value_name = "S", default_value_t = SAVE_EVERY, value_parser = seconds)]
    pub(super) save_every: f64,

    /// Cross-validate on this many folds and print the score; no model is written
    #[arg(long, short = 'v', value_name = "K", conflicts_with_all = ["out", "resume", "report", "features"])]
    pub(super) cross_validate: Option<usize>,

    /// Also write an HTML page with pictures
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,

    /// Folder for converting text larger than half of --memory [default: that of MODEL]
    #[arg(long, value_name = "FOLDER")]
    pub(super) scratch: Option<PathBuf>,

    /// Learner: see the list below
    #[arg(long, value_name = "NAME", help_heading = "Learning")]
    pub(super) learner: Option<String>,

    /// The kernel: auto, rbf, linear, 'poly(degree=3)', ...: see `mercer kernel list`
    #[arg(long, short, value_name = "LINE", allow_hyphen_values = true, help_heading = "Learning")]
    pub(super) kernel: Option<String>,

    /// Gamma of the Gaussian kernel; auto is 1 / (columns x variance of all values)
    #[arg(long, short, value_name = "G|auto", allow_negative_numbers = true, value_parser = or_auto, help_heading = "Learning")]
    pub(super) gamma: Option<OrAuto>,

    /// Cost of errors; inf is the hard margin; auto searches for C, and for the kernel unless it is given, by cross-validation
    #[arg(long, short, value_name = "C|auto", allow_negative_numbers = true, value_parser = or_auto, help_heading = "Learning")]
    pub(super) c: Option<OrAuto>,

    /// How scaling, gamma and C are chosen if neither kernel, gamma nor C is given: quick (cross-validation of 22 settings
    /// on at most 1000 rows), good (search over kernels and scalings; reports the error to expect), off (constants)
    #[arg(
        long,
        value_name = "quick|good|off",
        default_value = "quick",
        hide_possible_values = true,
        help_heading = "Learning"
    )]
    pub(super) auto: Auto,

    /// Train an exact machine for any number of rows; otherwise, where its kernel values would take more than 3e12
    /// multiply-adds and neither a learner nor its parameters are given, `large` is trained instead
    #[arg(long, help_heading = "Learning")]
    pub(super) exact: bool,

    /// Seconds that `-c auto` and `--auto good` may search [default: 60]
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = "Learning")]
    pub(super) search_seconds: Option<f64>,

    #[arg(long, value_name = "NU", allow_negative_numbers = true, help = about("nu"), help_heading = "Learning")]
    pub(super) nu: Option<f64>,

    #[arg(long, value_name = "E", allow_negative_numbers = true, help = about("epsilon"), help_heading = "Learning")]
    pub(super) epsilon: Option<f64>,

    #[arg(long, value_name = "D", allow_negative_numbers = true, help = about("delta"), help_heading = "Learning")]
    pub(super) delta: Option<f64>,

    #[arg(long, value_name = "L", allow_negative_numbers = true, help = about("lambda"), help_heading = "Learning")]
    pub(super) lambda: Option<f64>,

    /// Parameter of the learner by name, such as centres=50; repeatable; see docs/reference/learners.md
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true, value_parser = setting, help_heading = "Learning")]
    pub(super) set: Vec<(String, String)>,

    /// Multi-class method: one-vs-one (ovo) or one-vs-rest (ovr) [default: ovo]
    #[arg(long, value_name = "ovo|ovr", hide_possible_values = true, help_heading = "Learning")]
    pub(super) multiclass: Option<Multiclass>,

    /// Factor of C for a class, or `balanced` for weights inverse to the class frequencies; repeatable
    #[arg(long, value_name = "NAME=W", allow_hyphen_values = true, value_parser = class_weight, help_heading = "Learning")]
    pub(super) class_weight: Vec<ClassWeight>,

    /// Calibrate class probabilities by cross-validation
    #[arg(long = "proba", alias = "probability", help_heading = "Learning")]
    pub(super) probability: bool,

    /// Retrain on virtual support vectors made by label-preserving transformations, such as shift=1,rotate=10; for
    /// images (--image HxW)
    #[arg(long = "virtual", value_name = "LINE", help_heading = "Prior knowledge")]
    pub(super) virtual_vectors: Option<String>,

    /// Kernel of the retraining on virtual support vectors [default: the same]
    #[arg(
        long,
        value_name = "LINE",
        requires = "virtual_vectors",
        allow_hyphen_values = true,
        help_heading = "Prior knowledge"
    )]
    pub(super) virtual_kernel: Option<String>,

    /// Number of retrainings on virtual support vectors [default: 1]
    #[arg(long, value_name = "N", requires = "virtual_vectors", help_heading = "Prior knowledge")]
    pub(super) virtual_rounds: Option<u32>,

    /// Retrain each machine on the virtual support vectors of all machines: slower, sometimes more accurate
    #[arg(long, requires = "virtual_vectors", help_heading = "Prior knowledge")]
    pub(super) virtual_union: bool,

    /// Preprocessing of columns: auto, none, minmax, standard, unit, or a line of stages such as
    /// 'minmax(0, 1) | unit'
    #[arg(long, value_name = "HOW", help_heading = "Learning")]
    pub(super) scale: Option<String>,

    /// Train on kernel PCA features from `mercer pca fit`; the model contains both
    #[arg(long, value_name = "MODEL", conflicts_with = "scale", help_heading = "Learning")]
    pub(super) features: Option<PathBuf>,

    #[arg(long, value_name = "linear|squared", help = about("slack"), hide_possible_values = true, help_heading = "Solving")]
    pub(super) slack: Option<Slack>,

    #[arg(long, value_name = "S", allow_negative_numbers = true, help = about("shift"), help_heading = "Solving")]
    pub(super) shift: Option<f64>,

    #[arg(long, value_name = "T", allow_negative_numbers = true, help = about("tol"), help_heading = "Solving")]
    pub(super) tol: Option<f64>,

    #[arg(long, value_name = "N", help = about("max_iter"), help_heading = "Solving")]
    pub(super) max_iter: Option<u64>,

    /// Disable shrinking
    #[arg(long, help_heading = "Solving")]
    pub(super) no_shrinking: bool,

    #[command(flatten)]
    pub(super) reading: Reading,
}

/// Default seconds between checkpoints of a fit.
const SAVE_EVERY: f64 = 10.0;

/// The settings of the fit that is resumed.
const SETTINGS: [&str; 25] = [
    "set",
    "learner",
    "kernel",
    "gamma",
    "c",
    "search_seconds",
    "nu",
    "epsilon",
    "delta",
    "lambda",
    "multiclass",
    "class_weight",
    "probability",
    "scale",
    "features",
    "slack",
    "shift",
    "tol",
    "max_iter",
    "no_shrinking",
    "targets",
    "virtual_vectors",
    "virtual_kernel",
    "virtual_rounds",
    "virtual_union",
];

fn class_weight(text: &str) -> Result<ClassWeight, String> {
    if text == "balanced" {
        return Ok(ClassWeight::Balanced);
    }
    let wrong = || "expected NAME=WEIGHT, for example rare=10, or balanced".to_owned();
    let (name, weight) = text.rsplit_once('=').ok_or_else(wrong)?;
    Ok(ClassWeight::Of(name.to_owned(), weight.parse().map_err(|_| wrong())?))
}

fn setting(text: &str) -> Result<(String, String), String> {
    let parts =
        text.split_once('=').ok_or_else(|| "expected NAME=VALUE, for example centres=50".to_owned())?;
    Ok((parts.0.trim().to_owned(), parts.1.trim().to_owned()))
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|s| *s >= 0.0 && s.is_finite());
    number.ok_or_else(|| "expected a number of seconds".into())
}

fn or_auto(text: &str) -> Result<OrAuto, String> {
    match text {
        "auto" => Ok(OrAuto::Auto),
        _ => text.parse().map(OrAuto::Value).map_err(|_| "expected a number or auto".into()),
    }
}

/// A parameter's line from the learners' tables, with the learners that take it.
fn about(name: &str) -> String {
    let takers = || Learner::ALL.iter().filter(|entry| entry.takes(name));
    let spec = takers().find_map(|entry| Param::find(entry.learner().table(), name));
    let Some(spec) = spec else { return String::new() };
    let doc = spec.doc.split(" (").next().unwrap_or(spec.doc);
    let mut doc = doc.chars();
    let doc: String = doc.next().into_iter().flat_map(char::to_uppercase).chain(doc).collect();
    // What nearly all learners take needs no list.
    let names: Vec<&str> = takers().map(|entry| entry.name).collect();
    if names.len() > 6 { doc } else { format!("{doc} ({})", names.join(", ")) }
}
