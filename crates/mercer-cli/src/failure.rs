//! How a run that fails ends: what is said, and with which code.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use mercer::Error;

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
    /// Ctrl-C was pressed, and what there is to say has been said.
    Interrupted,
    /// Nobody reads what we print any more.
    Pipe,
    /// Printing failed otherwise.
    Output(io::Error),
}

impl Failure {
    /// The command line parses and makes no sense.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    /// Says what is wrong on standard error and gives the code to end with.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Clap(error) => {
                // Help goes to standard output with code 0, wrong usage to standard error with 2. A reader that has
                // gone away is no reason to complain.
                let _ = error.print();
                if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
            }
            Failure::Usage { message, hint } => {
                say(&message, hint.as_deref());
                ExitCode::from(2)
            }
            Failure::Interrupted => ExitCode::from(interrupt::CODE),
            Failure::Library(error) if matches!(*error, Error::Cancelled) => {
                say("interrupted: nothing was written", None);
                ExitCode::from(interrupt::CODE)
            }
            Failure::Library(error) => {
                say(&error.to_string(), hint(&error).as_deref());
                let usage = matches!(*error, Error::Param { .. } | Error::Kernel { .. });
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

fn say(message: &str, hint: Option<&str>) {
    let mut err = io::stderr().lock();
    let colour = err.is_terminal() && crate::context::colours_wanted();
    let (red, cyan, off) = if colour { ("\u{1b}[1;31m", "\u{1b}[36m", "\u{1b}[0m") } else { ("", "", "") };
    // If standard error is closed there is nobody left to tell.
    let _ = writeln!(err, "{red}error:{off} {message}");
    if let Some(hint) = hint {
        let _ = writeln!(err, "{cyan}hint:{off} {hint}");
    }
}

/// What to try, where the error's kind tells.
fn hint(error: &Error) -> Option<String> {
    match error {
        Error::Kernel { .. } => {
            Some("`mercer kernel list` shows every kernel and how its line is written".into())
        }
        Error::ModelFile { .. } => {
            Some("a model comes from `mercer train`; `mercer data info FILE` looks at data".into())
        }
        Error::Shape { what, got, .. } if what == "targets" && got == "none" => {
            Some("--label COLUMN or --labels FILE says where the answers are".into())
        }
        Error::Shape { what, got, .. } if what == "targets" && got == "class labels" => {
            Some("--targets reals reads the labels as numbers".into())
        }
        Error::Shape { what, got, .. } if what == "targets" && got == "real numbers" => {
            Some("--targets classes reads the numbers as names of classes".into())
        }
        Error::Shape { what, got, .. } if what == "classes" && got.ends_with("different numbers") => Some(
            "--targets reals or --learner svr learns amounts; --targets classes insists on classes".into(),
        ),
        Error::Shape { what, .. } if what.starts_with("columns of the points") => Some(
            "the model was trained on other columns; --label says which one is the label, or `none`".into(),
        ),
        Error::Unsupported(why) if why.contains("without probabilities") => {
            Some("`mercer train ... --probability` makes a model that has them".into())
        }
        Error::Param { name, .. } if name == "kind" => {
            Some("the classes overlap: `--learner svc` allows errors at a cost".into())
        }
        Error::Param { name, got, .. } if name == "c" && got == "inf" => {
            Some("`--learner hard-margin` allows no errors at all".into())
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
            alike.first().map(|name| format!("there is `{name}` beside it"))
        }
        _ => None,
    }
}
