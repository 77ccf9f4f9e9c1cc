//! `mercer man`: manual pages.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man as Page;
use mercer::Error;
use mercer::data::io::write_atomic;

use crate::args::{self, Format};
use crate::commands::Command;
use crate::context::{self, Context};
use crate::failure::{Done, Failure};
use crate::files::Files;

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer man | man -l -
  mercer man -o ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// A folder for all pages: mercer.1, mercer-train.1, ...
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Command for Man {
    const PATH: &'static [&'static str] = &["man"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().fills(&self.out))
    }

    fn run(self, context: &Context) -> Done {
        let mut root = args::plain_command();
        // Names such as `mercer-train`, and the options that all commands share.
        root.build();
        let Some(folder) = self.out else {
            return context::print(&page(&root)?, false);
        };
        std::fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
        let pages = write(&root, "mercer", &folder)?;
        if context.quiet {
            return Ok(());
        }
        let facts = serde_json::json!({ "folder": folder.display().to_string(), "pages": pages });
        match context.format {
            Format::Json => context::print(&format!("{facts:#}\n"), false),
            Format::Text => context::print(&format!("{pages} pages in {}\n", folder.display()), false),
        }
    }
}

fn page(command: &clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    Page::new(command.clone()).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes a command's page and those of the commands below it; returns how many.
fn write(command: &clap::Command, name: &str, folder: &Path) -> Result<usize, Failure> {
    let file = folder.join(format!("{name}.1"));
    let text = page(command)?;
    write_atomic(&file, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(&file, e)))?;
    let mut pages = 1;
    for below in command.get_subcommands() {
        pages += write(below, &format!("{name}-{}", below.get_name()), folder)?;
    }
    Ok(pages)
}
