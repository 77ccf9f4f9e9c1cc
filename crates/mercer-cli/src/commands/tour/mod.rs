//! `mercer tour`: what Mercer does, shown on data that comes with it, in one page of pictures.
//!
//! The tour is the list [`STOPS`]. To add one, write a function that learns something and returns a
//! [`Stop`], and name it there.

mod components;
mod compress;
mod digits;
mod guide;
mod kernels;
mod novelty;
mod plane;
mod regression;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use mercer::Result;
use mercer::data::io::write_atomic;
use mercer_report::{Stop, Tour as Report};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use guide::Guide;

/// The stops, in order.
const STOPS: &[fn(&Guide<'_>) -> Result<Stop>] = &[
    digits::data,
    kernels::kernels,
    plane::borders,
    digits::classify,
    digits::probabilities,
    digits::reject,
    compress::compress,
    novelty::shapes,
    novelty::outliers,
    components::components,
    components::denoising,
    regression::regression,
    plane::learning,
];

/// Tour Mercer on built-in data: a few seconds, one page of figures
#[derive(Debug, Args)]
pub(crate) struct Tour {
    /// HTML page to write
    #[arg(short, long, value_name = "FILE", default_value = "mercer-tour.html")]
    out: PathBuf,
}

impl Command for Tour {
    const PATH: &'static [&'static str] = &["tour"];

    fn files(&self) -> std::result::Result<Files, Failure> {
        Ok(Files::none().writes([&self.out]))
    }

    fn run(self, context: &Context) -> Done {
        let start = Instant::now();
        let guide = Guide::new(context)?;
        let mut stops = Vec::new();
        for stop in STOPS {
            let begun = Instant::now();
            let stop = stop(&guide)?;
            stops.push(Stop { seconds: begun.elapsed().as_secs_f64(), ..stop });
        }
        let report = Report { stops, page: self.out, seconds: start.elapsed().as_secs_f64() };
        write_atomic(&report.page, |out| {
            out.write_all(report.html().as_bytes()).map_err(|e| mercer::Error::io(&report.page, e))
        })?;
        context.show(&report)
    }
}
