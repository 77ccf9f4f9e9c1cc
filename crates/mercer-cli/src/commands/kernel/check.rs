//! `mercer kernel check`: explains a kernel's line, and checks the kernel on data.

use std::path::PathBuf;

use clap::Args;
use mercer::kernel::Kernel;
use mercer::model::inexact;
use mercer_report::KernelCheck;

use crate::commands::Command;
use crate::commands::kernel::line;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::source::{self, Reading};

/// Explain a kernel, and check it on data
///
/// With data: kernel values between rows, eigenvalues of the kernel matrix on a sample of at most 500 rows, whether any is
/// negative, whether the kernel is too narrow or too wide, and the gamma that the median distance suggests.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer kernel check 'poly(degree=3, scale=1/256)'
  mercer kernel check 'rbf(gamma=0.5)' iris.csv")]
pub(crate) struct Check {
    /// The kernel, for example 'rbf(gamma=0.5)'
    #[arg(value_name = "LINE", allow_hyphen_values = true, value_parser = line)]
    kernel: Kernel,

    /// Data to check the kernel on; `-` is standard input
    #[arg(value_name = "DATA")]
    file: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Check {
    const PATH: &'static [&'static str] = &["kernel", "check"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().reads(&self.file).reads(self.reading.files()))
    }

    fn run(self, context: &Context) -> Done {
        let Some(file) = self.file else { return context.show(&KernelCheck::new(&self.kernel)) };
        let data = self.reading.read(&file, context.exec)?;
        context.warn(inexact(&self.kernel, &data.points).as_slice());
        let name = source::name(&file);
        context.show(&KernelCheck::on(&self.kernel, name, &data, context.seed, context.exec)?)
    }
}
