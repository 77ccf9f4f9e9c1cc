//! Commands that look at kernels.

pub(crate) mod check;
pub(crate) mod geometry;
pub(crate) mod gram;
pub(crate) mod list;

use mercer::kernel::Kernel;

/// A kernel from its line, for clap: the message says what is wrong with the line.
fn line(text: &str) -> Result<Kernel, String> {
    Kernel::parse(text).map_err(|error| match error {
        mercer::Error::Kernel { why, .. } => why,
        other => other.to_string(),
    })
}
