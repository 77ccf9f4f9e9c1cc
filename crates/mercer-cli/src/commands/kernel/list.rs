//! `mercer kernel list`: what kernels there are.

use clap::Args;
use mercer_report::{KernelFacts, KernelList};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;

/// List all kernels, or describe one with its parameters
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer kernel list
  mercer kernel list poly")]
pub(crate) struct List {
    /// A kernel's name, for its parameters, ranges and examples
    name: Option<String>,
}

impl Command for List {
    const PATH: &'static [&'static str] = &["kernel", "list"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none())
    }

    fn run(self, context: &Context) -> Done {
        match self.name {
            Some(name) => context.show(&KernelFacts::named(&name)?),
            None => context.show(&KernelList::all()),
        }
    }
}
