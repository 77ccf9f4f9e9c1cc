//! `mercer data toy`: a small generated set to try things on.

use std::path::PathBuf;

use clap::Args;
use mercer::data::io::write;
use mercer::data::{Dataset, noise, toy};
use mercer_report::Written;

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;

/// Generate a small data set
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct Toy {
    /// Name of the data set
    #[arg(value_name = "NAME")]
    name: String,

    /// File to write; its extension gives the format
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 400)]
    rows: u32,

    /// Standard deviation of Gaussian noise added to every value
    #[arg(long, value_name = "LEVEL", default_value_t = 0.0)]
    noise: f64,
}

fn after_help() -> String {
    let line = |toy: &toy::Toy| format!("  {:12} {}\n", toy.name, toy.doc);
    let list: String = toy::ALL.iter().map(line).collect();
    format!("Sets:\n{list}\nExample:\n  mercer data toy banana banana.csv && mercer data info banana.csv")
}

impl Command for Toy {
    const PATH: &'static [&'static str] = &["data", "toy"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().writes_data([&self.output]))
    }

    fn run(self, context: &Context) -> Done {
        let (points, targets) = toy::by_name(&self.name, self.rows as usize, context.seed)?;
        let points = match self.noise {
            0.0 => points,
            level => noise::gaussian(&points, level, context.seed)?,
        };
        let data = Dataset::new(points, targets)?;
        write(&self.output, &data)?;
        context.tell(&Written::new(self.output, &data))
    }
}
