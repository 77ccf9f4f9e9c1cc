//! `mercer completions`: what a shell needs to complete commands and options.

use clap::Args;
use clap_complete::Shell;

use crate::args;
use crate::commands::Command;
use crate::context::{self, Context};
use crate::failure::{Done, Failure};
use crate::files::Files;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer completions bash > ~/.local/share/bash-completion/completions/mercer
  mercer completions zsh > ~/.zfunc/_mercer
  mercer completions fish > ~/.config/fish/completions/mercer.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Command for Completions {
    const PATH: &'static [&'static str] = &["completions"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none())
    }

    fn run(self, _: &Context) -> Done {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut args::command(), "mercer", &mut script);
        context::print(&String::from_utf8_lossy(&script), false)
    }
}
