//! `mercer tour`: everything there is, shown on data that is made on the spot.

use std::time::Instant;

use clap::Args;
use mercer::data::{Dataset, median_distance2, toy};
use mercer::kernel::Kernel;
use mercer::report::{DataInfo, KernelCheck, Tour as Report};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::Done;

/// Points of the tour.
const ROWS: usize = 400;

/// See what Mercer does: no files, no arguments, a few seconds
#[derive(Debug, Args)]
pub(crate) struct Tour {}

impl Command for Tour {
    const PATH: &'static [&'static str] = &["tour"];

    fn run(self, context: &Context) -> Done {
        let start = Instant::now();
        let (points, targets) = toy::banana(ROWS, context.seed);
        let data = Dataset::new(points, targets)?;
        let gamma = median_distance2(&data.points, context.seed).map_or(1.0, |median| 1.0 / median);
        // Two digits are as many as the guess deserves.
        let kernel = Kernel::parse(&format!("rbf(gamma={gamma:.2})"))?;
        context.show(&Report {
            data: DataInfo::new("made on the spot", &data, false),
            kernels: Kernel::ALL.len(),
            check: KernelCheck::on(&kernel, "the tour", &data, context.seed, context.par)?,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}
