//! `mercer kernel geometry`: the shape of the surface onto which a kernel maps input space.

use clap::Args;
use mercer::kernel::Kernel;
use mercer_report::Geometry;

use crate::commands::Command;
use crate::commands::kernel::line;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;

/// Curvature of the surface onto which a kernel maps input space
///
/// The metric tensor at a point, and for functions of the dot product and of the difference also the Christoffel
/// symbols, the Riemann tensor and the scalar curvature.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer kernel geometry 'poly(degree=2, coef0=1)' --at 1,2
  mercer kernel geometry 'rbf(gamma=0.5)' --at 0,0,0 --format json")]
pub(crate) struct ShapeAt {
    /// The kernel, for example 'poly(degree=2, coef0=1)'
    #[arg(value_name = "LINE", allow_hyphen_values = true, value_parser = line)]
    kernel: Kernel,

    /// The point: its coordinates with commas between them
    #[arg(
        long,
        value_name = "X1,X2,...",
        required = true,
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    at: Vec<f64>,
}

impl Command for ShapeAt {
    const PATH: &'static [&'static str] = &["kernel", "geometry"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none())
    }

    fn run(self, context: &Context) -> Done {
        context.show(&Geometry::new(&self.kernel, self.at)?)
    }
}
