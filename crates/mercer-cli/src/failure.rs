//! Failures: messages and exit codes.

use std::char::ParseCharError;
use std::io::{self, IsTerminal as _, Write as _};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use mercer::Error;
use mercer::error::Mismatch;
use mercer_report::visible;

use crate::interrupt;

/// What every command returns.
pub(crate) type Done = Result<(), Failure>;

/// Why a run failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line does not parse, or asks for help.
    Clap(clap::Error),
    /// The command line parses and makes no sense.
    Usage {
        /// What is wrong.
        message: String,
        /// What to try, if there is something.
        hint: Option<String>,
    },
    /// The library refused.
    Library(Box<Error>),
    /// Ctrl-C was pressed, and the partial result has been saved.
    Interrupted {
        /// Where it is.
        message: String,
        /// How to go on.
        hint: String,
    },
    /// The reader of standard output has closed it.
    Pipe,
    /// Printing failed otherwise.
    Output(io::Error),
}

impl Failure {
    /// The command line parses and makes no sense.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    /// Ctrl-C ended a search; the best of what it had tried was taken.
    pub(crate) fn search_interrupted() -> Self {
        Failure::Interrupted {
            message: "interrupted: the search was not finished, and the best setting so far was used".into(),
            hint: "--seconds or --search-seconds limit a search; `tune --checkpoint FILE` can be continued"
                .into(),
        }
    }

    /// Prints the error to standard error and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Clap(error) => {
                // Help goes to standard output with code 0, wrong usage to standard error with 2. A reader that has
                // gone away is no reason to complain.
                if !error.use_stderr() {
                    let _ = error.print();
                    return ExitCode::SUCCESS;
                }
                let mut err = io::stderr().lock();
                let text = error.render();
                // The words of the command line are in it: names of files that a stranger chose, perhaps.
                let text = if err.is_terminal() && crate::context::colours_wanted() {
                    without_controls(&text.ansi().to_string())
                } else {
                    without_controls(&text.to_string())
                };
                let _ = err.write_all(what_is_allowed(&error, text).as_bytes());
                ExitCode::from(2)
            }
            Failure::Usage { message, hint } => {
                say(&message, hint.as_deref());
                ExitCode::from(2)
            }
            Failure::Interrupted { message, hint } => {
                say(&message, Some(&hint));
                ExitCode::from(interrupt::CODE)
            }
            Failure::Library(error) if matches!(*error, Error::Cancelled) => {
                say("interrupted: nothing was written", None);
                ExitCode::from(interrupt::CODE)
            }
            Failure::Library(error) => {
                say(&error.to_string(), hint(&error).as_deref());
                let usage = matches!(
                    *error,
                    Error::Param { .. }
                        | Error::Unused { .. }
                        | Error::Missing { .. }
                        | Error::NotSeparable(_)
                        | Error::Kernel { .. }
                );
                ExitCode::from(if usage { 2 } else { 1 })
            }
            Failure::Pipe => ExitCode::SUCCESS,
            Failure::Output(error) => {
                say(&format!("standard output: {error}"), None);
                ExitCode::FAILURE
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Library(Box::new(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Failure::Pipe } else { Failure::Output(error) }
    }
}

/// Says on standard error what the run goes on in spite of.
pub(crate) fn warn(message: &str) {
    let _ = writeln!(io::stderr().lock(), "warning: {}", visible(message));
}

/// Says on standard error what a run is about to do.
pub(crate) fn note(message: &str) {
    let _ = writeln!(io::stderr().lock(), "note: {}", visible(message));
}

/// Prints an error, and what to do about it, to standard error.
pub(crate) fn say(message: &str, hint: Option<&str>) {
    let mut err = io::stderr().lock();
    let colour = err.is_terminal() && crate::context::colours_wanted();
    let (red, cyan, off) = if colour { ("\u{1b}[1;31m", "\u{1b}[36m", "\u{1b}[0m") } else { ("", "", "") };
    // If standard error is closed, the message is dropped.
    let _ = writeln!(err, "{red}error:{off} {}", visible(message));
    if let Some(hint) = hint {
        let _ = writeln!(err, "{cyan}hint:{off} {}", visible(hint));
    }
}

/// Replaces what the standard library says of a number or character it cannot parse by what would have been right.
fn what_is_allowed(error: &clap::Error, text: String) -> String {
    let Some(source) = std::error::Error::source(error) else { return text };
    let allowed = if let Some(fault) = source.downcast_ref::<ParseIntError>() {
        match fault.kind() {
            IntErrorKind::PosOverflow => "must be a smaller number",
            IntErrorKind::NegOverflow => "must be a larger number",
            _ => "must be a whole number, such as 10",
        }
    } else if source.is::<ParseFloatError>() {
        "must be a number, such as 0.5 or 1e-3"
    } else if source.is::<ParseCharError>() {
        "must be a single character, such as ;"
    } else {
        return text;
    };
    text.replacen(&source.to_string(), allowed, 1)
}

/// A page of text with its lines and colours, and nothing else that drives a terminal.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, part) in text.split("\u{1b}[").enumerate() {
        let colour =
            part.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|&at| part[at..].starts_with('m'));
        if i > 0 {
            out.push_str(if colour.is_some() { "\u{1b}[" } else { "\\u{1b}[" });
        }
        let lines: Vec<_> = part.split('\n').map(visible).collect();
        out.push_str(&lines.join("\n"));
    }
    out
}

/// A hint, if the kind of the error suggests one.
fn hint(error: &Error) -> Option<String> {
    match error {
        Error::Memory { .. } => Some(
            "--memory SIZE raises the limit; fewer columns, or sparse data with smaller indices, need less"
                .into(),
        ),
        Error::Kernel { .. } => {
            Some("`mercer kernel list` shows every kernel and how its line is written".into())
        }
        Error::ModelFile { .. } => {
            Some("`mercer train` makes a model; `mercer data info FILE` describes data".into())
        }
        Error::Shape { kind: Mismatch::NoTargets, .. } => {
            Some("--label COLUMN or --labels FILE names the target column".into())
        }
        Error::Numeric(mercer::num::Fault::NotPositiveDefinite { .. }) => Some(
            "the kernel is not positive definite on these rows, or rounding makes it so: --lambda or another kernel may \
             help, and columns in the millions need --scale standard"
                .into(),
        ),
        Error::Numeric(mercer::num::Fault::NotFinite { .. }) => Some(
            "values or kernel parameters are too large to compute with: --scale standard scales the columns"
                .into(),
        ),
        Error::Shape { kind: Mismatch::ClassTargets, .. } => {
            Some("--targets reals reads the labels as numbers".into())
        }
        Error::Shape { kind: Mismatch::RealTargets, .. } => {
            Some("--targets classes reads the numbers as names of classes".into())
        }
        Error::Shape { kind: Mismatch::Amounts, .. } => {
            Some("--targets reals or --learner svr fits quantities; --targets classes fits classes".into())
        }
        Error::Shape { kind: Mismatch::Columns, .. } => Some(
            "the model was trained on other columns; --label says which one is the label, or `none`".into(),
        ),
        Error::NoProbabilities => Some("train with `mercer train ... --proba`".into()),
        Error::NotSeparable(_) => {
            Some("the classes overlap: `--learner svc` with a finite -c allows errors at a cost".into())
        }
        Error::Missing { name, .. } if name == "c" => {
            Some("pass the C that the model was trained with: -c C".into())
        }
        Error::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
            let wanted = path.file_name()?.to_string_lossy().to_lowercase();
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(".".as_ref());
            let names = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
            let mut alike: Vec<String> = names
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .filter(|name| {
                    let name = name.to_lowercase();
                    name != wanted && (name.starts_with(&wanted) || wanted.starts_with(&name))
                })
                .collect();
            alike.sort();
            alike.first().map(|name| format!("there is `{name}` in the same folder"))
        }
        _ => None,
    }
}
