//! `mercer reproduce`: an experiment of the papers, their numbers beside ours.

use std::path::PathBuf;

use clap::Args;
use mercer_reproduce::{ALL, Lab, List, Settings};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::progress::Progress;

/// Reproduce a paper's experiment and compare its numbers with Mercer's
///
/// Seeds are fixed; numbers worse than the paper's are shown as they are. The data sets are not distributed with Mercer:
/// they are read from the folder that MERCER_DATA names, otherwise from data/local.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct Reproduce {
    /// Name of the experiment; `list` shows all, and where to get their data
    #[arg(value_name = "NAME", required_unless_present = "list")]
    name: Option<String>,

    /// List all experiments
    #[arg(long, conflicts_with_all = ["name", "full"])]
    list: bool,

    /// Use all of the paper's data where the default is a part; may take long
    #[arg(long)]
    full: bool,

    /// Also write numbers and pictures as one HTML page
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    report: Option<PathBuf>,
}

fn after_help() -> String {
    let list =
        ALL.iter().map(|e| format!("  {:14} {}", e.name, e.shows)).collect::<Vec<_>>().join("\n") + "\n";
    format!(
        "Experiments:\n{list}\nExample:\n  MERCER_DATA=~/data mercer reproduce usps-kernels --format json"
    )
}

impl Command for Reproduce {
    const PATH: &'static [&'static str] = &["reproduce"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().writes(&self.report))
    }

    fn run(self, context: &Context) -> Done {
        let Some(name) = self.name.filter(|name| name != "list") else {
            return context.show(&List);
        };
        let experiment = mercer_reproduce::find(&name)?;
        let settings = Settings { full: self.full, exec: context.exec, ..Settings::default() };
        let mut watch = Progress::new(context).watch();
        let outcome = mercer_reproduce::run(experiment, &mut Lab::new(settings, &mut watch))?;
        // The bar must be gone before the table comes.
        drop(watch);
        context.show(&outcome)?;
        match &self.report {
            Some(file) => context.write_page(file, outcome.page(), &[]),
            None => Ok(()),
        }
    }
}
