//! `mercer kernel gram`: the matrix of all kernel values between rows.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use mercer::data::io::write;
use mercer::data::{Dataset, Points, Targets};
use mercer::gram::{Means, square};
use mercer::kernel::Kernel;
use mercer::model::inexact;
use mercer_report::{GramInfo, bytes, count};

use crate::commands::Command;
use crate::commands::kernel::line;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::source::Reading;

/// Compute the kernel matrix of a file
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer kernel gram iris.csv --kernel 'rbf(gamma=0.5)' -o gram.npy
  mercer kernel gram digits.svm.xz --kernel 'poly(degree=3, scale=1/64)' --centre -o gram.csv.gz")]
pub(crate) struct Gram {
    /// The data; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// The kernel, for example 'rbf(gamma=0.5)'
    #[arg(long, short, value_name = "LINE", allow_hyphen_values = true, value_parser = line)]
    kernel: Kernel,

    /// File for the matrix: .npy, .csv, .tsv, .svm [default: print a summary only]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Centre the points in feature space
    #[arg(long)]
    centre: bool,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Gram {
    const PATH: &'static [&'static str] = &["kernel", "gram"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().reads([&self.file]).reads(self.reading.files()).writes_data(&self.out))
    }

    fn run(self, context: &Context) -> Done {
        let data = self.reading.read(&self.file, context.exec)?;
        let n = data.len();
        let size = (n as u64).saturating_mul(n as u64).saturating_mul(8);
        if size > context.exec.memory() {
            let (size, budget) = (bytes(size as usize), bytes(context.exec.memory() as usize));
            return Err(Failure::usage(
                format!("the Gram matrix of {} rows takes {size}, more than the {budget} allowed", count(n)),
                "--memory allows more; `mercer data split` makes a smaller file",
            ));
        }
        context.warn(inexact(&self.kernel, &data.points).as_slice());
        let start = Instant::now();
        let mut gram = square::<f64>(&self.kernel, data.points.view(), context.exec)?;
        if self.centre {
            Means::of(&gram, n).centre_square(&mut gram);
        }
        let mut info = GramInfo::new(&self.kernel, &gram, n, start.elapsed().as_secs_f64());
        info.centred = self.centre;
        if let Some(out) = self.out {
            let matrix = Points::dense(gram.to_vec(), n)?;
            write(&out, &Dataset::new(matrix, Targets::None)?)?;
            info.file = Some(out);
        }
        context.show(&info)
    }
}
