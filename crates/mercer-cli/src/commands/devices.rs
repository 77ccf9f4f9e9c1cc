//! `mercer devices`: what could compute, and why something cannot.

use std::fmt::Write as _;

use clap::Args;
use mercer_cuda::{Found, Seen};
use mercer_report::{bytes, visible};

use crate::args::Format;
use crate::commands::Command;
use crate::context::{self, Context};
use crate::failure::{Done, Failure};
use crate::files::Files;

/// List the devices that can compute
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer devices
  mercer train digits.csv --device cuda --out digits.mercer

With --device auto, the default, the first NVIDIA device takes calls that compute enough to be worth
starting it; the rest runs on the CPU. With --device cuda it takes everything it supports: kernels
that depend on dot products or distances, and the training of support vector machines.")]
pub(crate) struct Devices {}

impl Command for Devices {
    const PATH: &'static [&'static str] = &["devices"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none())
    }

    fn run(self, context: &Context) -> Done {
        let found = mercer_cuda::found();
        let text = match context.format {
            Format::Json => format!("{:#}\n", facts(&found, context.exec.threads())),
            Format::Text => lines(&found, context.exec.threads()),
        };
        context::print(&text, false)
    }
}

fn lines(found: &Found, threads: usize) -> String {
    let mut text = format!("cpu      {threads} threads\n");
    for seen in &found.devices {
        let Seen { number, name, memory, capability, multiprocessors, why_not } = seen;
        let _ = write!(
            text,
            "cuda:{number:<3} {}, {}, compute capability {}.{}, {multiprocessors} multiprocessors",
            visible(name),
            bytes(usize::try_from(*memory).unwrap_or(usize::MAX)),
            capability.0,
            capability.1
        );
        let _ = match why_not {
            Some(why) => writeln!(text, "\n         cannot be used: {}", visible(why)),
            None => writeln!(text),
        };
    }
    if let Some((major, minor)) = found.driver {
        let _ = writeln!(text, "\nThe NVIDIA driver supports CUDA {major}.{minor}.");
    }
    if let Some(why) = &found.why {
        let _ = writeln!(text, "\nNo NVIDIA device is used: {}.", visible(why));
    }
    text
}

fn facts(found: &Found, threads: usize) -> serde_json::Value {
    let one = |seen: &Seen| {
        serde_json::json!({
            "device": format!("cuda:{}", seen.number),
            "name": seen.name,
            "memory": seen.memory,
            "compute_capability": format!("{}.{}", seen.capability.0, seen.capability.1),
            "multiprocessors": seen.multiprocessors,
            "why_not": seen.why_not,
        })
    };
    serde_json::json!({
        "cpu_threads": threads,
        "devices": found.devices.iter().map(one).collect::<Vec<_>>(),
        "driver": found.driver.map(|(major, minor)| format!("{major}.{minor}")),
        "why_none": found.why,
    })
}
