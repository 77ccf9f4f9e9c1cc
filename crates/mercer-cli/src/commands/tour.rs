//! `mercer tour`: everything there is, shown on data that is made on the spot.

use std::time::Instant;

use clap::Args;
use mercer::data::{Dataset, median_distance2, split, toy};
use mercer::kernel::Kernel;
use mercer::model::{Sample, SvcParams};
use mercer::report::{DataInfo, KernelCheck, Tour as Report, Trial, regions};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::Done;
use crate::progress::Progress;

/// Points of the tour.
const ROWS: usize = 400;

/// See what Mercer does: no files, no arguments, a few seconds
#[derive(Debug, Args)]
pub(crate) struct Tour {}

impl Command for Tour {
    const PATH: &'static [&'static str] = &["tour"];

    fn run(self, context: &Context) -> Done {
        let start = Instant::now();
        let (par, seed) = (context.par, context.seed);
        let (points, targets) = toy::banana(ROWS, seed);
        let data = Dataset::new(points, targets)?;
        let gamma = median_distance2(&data.points, seed).map_or(1.0, |median| 1.0 / median);
        // Two digits are as many as the guess deserves.
        let kernel = Kernel::parse(&format!("rbf(gamma={gamma:.2})"))?;

        let fold = split::holdout_of(data.len(), &data.targets, 0.25, seed)?;
        let (train, test) = (data.gather(&fold.train), data.gather(&fold.test));
        let params =
            SvcParams { kernel: Some(kernel.clone()), memory: Some(context.memory), ..SvcParams::default() };
        let sample = Sample::new(&train.points, &train.targets);
        let model = params.fit(sample, par, &mut Progress::new(context).watch())?;
        let support: Vec<usize> = model.support.iter().map(|&i| i as usize).collect();

        context.show(&Report {
            data: DataInfo::new("made on the spot", &data, false),
            kernels: Kernel::ALL.len(),
            check: KernelCheck::on(&kernel, "the tour", &data, seed, par)?,
            trial: Trial::new(&model, train.len(), &test, par)?,
            regions: regions(&model, &train, &support, 64, 18, par)?,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}
