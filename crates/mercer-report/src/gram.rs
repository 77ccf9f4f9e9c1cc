//! What `mercer kernel gram` says of a matrix.

use std::path::PathBuf;

use serde::Serialize;

use crate::{Align, Page, Report, Table, Tone, bytes, count, number, seconds};
use mercer::kernel::Kernel;

/// Matrices of no more rows than this are shown whole.
const SMALL: usize = 8;

/// A Gram matrix that was computed.
#[derive(Debug, Clone, Serialize)]
pub struct GramInfo {
    /// The kernel, as its line is printed.
    pub kernel: String,
    /// Rows and columns.
    pub rows: usize,
    /// Bytes its values take.
    pub bytes: usize,
    /// Whether rows and columns were centred in feature space.
    pub centred: bool,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Mean of all values.
    pub mean: f64,
    /// Sum of the diagonal.
    pub trace: f64,
    /// Seconds the values took.
    pub seconds: f64,
    /// Where it was written.
    pub file: Option<PathBuf>,
    /// The values, row by row, where they are few.
    pub values: Option<Vec<Vec<f64>>>,
}

impl GramInfo {
    /// Facts of an n x n matrix that took so many seconds.
    pub fn new(kernel: &Kernel, values: &[f64], n: usize, seconds: f64) -> Self {
        let ends = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], &v| [a.min(v), b.max(v)]);
        GramInfo {
            kernel: kernel.to_string(),
            rows: n,
            bytes: size_of_val(values),
            centred: false,
            min: ends[0],
            max: ends[1],
            mean: values.iter().sum::<f64>() / values.len().max(1) as f64,
            trace: (0..n).map(|i| values[i * n + i]).sum(),
            seconds,
            file: None,
            values: (n <= SMALL).then(|| values.chunks(n.max(1)).map(<[f64]>::to_vec).collect()),
        }
    }
}

impl Report for GramInfo {
    fn write(&self, page: &mut Page) {
        page.title(&self.kernel, if self.centred { "centred in feature space" } else { "" });
        page.blank();
        let mut facts = vec![
            ("matrix", format!("{0} x {0}, {1}", count(self.rows), bytes(self.bytes))),
            ("values", format!("{} to {}, mean {}", number(self.min), number(self.max), number(self.mean))),
            ("trace", number(self.trace)),
            ("took", seconds(self.seconds)),
        ];
        facts.extend(self.file.as_ref().map(|file| ("written to", file.display().to_string())));
        page.facts(facts);
        if let Some(values) = &self.values {
            page.blank();
            page.table(&matrix(values));
        }
    }
}

/// Numbers in rows and columns.
pub(crate) fn matrix(rows: &[Vec<f64>]) -> Table {
    let width = rows.first().map_or(0, Vec::len);
    let mut table = (0..width).fold(Table::new(), |table, _| table.column("", Align::Right));
    for row in rows {
        table.toned_row(row.iter().map(|&v| (number(v), Tone::Plain)));
    }
    table
}
