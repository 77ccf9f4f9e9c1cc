//! `mercer lab`: the local web app.

use std::path::PathBuf;
use std::process::{Command as Process, Stdio};

use clap::Args;
use mercer_lab::Settings;

use crate::args::Format;
use crate::commands::Command;
use crate::context::{self, Context};
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::interrupt;

/// Open the lab in a browser
///
/// A local web app with five rooms: a playground for points of the plane, your own data from a look at it to a compressed model,
/// digits to draw, pre-images from feature space, and kernel components. It listens on this machine only, with a secret
/// in its address, and fetches nothing from elsewhere. Press Ctrl-C to stop it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer lab
  mercer lab iris.csv
  mercer lab iris.mercer --no-open --port 8765")]
pub(crate) struct Lab {
    /// Data or models to open
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,

    /// Port of the loopback address; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

impl Command for Lab {
    const PATH: &'static [&'static str] = &["lab"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().reads(&self.files))
    }

    fn run(self, context: &Context) -> Done {
        let settings =
            Settings { port: self.port, opened: self.files, exec: context.exec, seed: context.seed };
        interrupt::be_quiet();
        interrupt::listen(true);
        let json = context.format == Format::Json;
        let started = |address: &str| {
            let line = if json {
                serde_json::json!({ "address": address }).to_string()
            } else {
                format!("The lab is open at {address}\nPress Ctrl-C to stop it.")
            };
            // If standard error is closed, notes are dropped. The address is always printed, since the lab cannot be
            // opened without it.
            let _ = context::print(&format!("{line}\n"), false);
            if !self.no_open && !browse(address) && !json {
                let _ = context::print("No browser could be started: open the address manually.\n", false);
            }
        };
        mercer_lab::serve(&settings, interrupt::asked, started).map_err(|failure| match failure {
            mercer_lab::Failure::File(error) => Failure::from(error),
            other => Failure::usage(other.to_string(), "`mercer lab --help` lists all settings"),
        })
    }
}

/// Asks the system to show an address. Whether something was started that could.
fn browse(address: &str) -> bool {
    let mut command = if cfg!(target_os = "macos") {
        Process::new("open")
    } else if cfg!(windows) {
        let mut start = Process::new("cmd");
        start.args(["/c", "start", ""]);
        start
    } else {
        Process::new("xdg-open")
    };
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}
