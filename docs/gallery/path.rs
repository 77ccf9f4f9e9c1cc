//! The regularisation path: all solutions of a two-class machine between two values of C from one walk. Writes `path.svg`.

use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::{Axis, Chart, Look, Series};

/// Follows the coefficients of twelve rows over C.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::banana(80, 1);
    let sample = Sample::new(&points, &targets);
    let params = SvcParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), ..SvcParams::default() };
    let path = params.path(sample, [0.05, 10.0], Exec::default(), &mut watch::silent())?;
    // Between breakpoints every coefficient is linear in C, so the breakpoints are all that a figure needs.
    let costs = path.breakpoints();
    let solutions = costs.iter().map(|&c| path.numbers().at(c)).collect::<mercer::Result<Vec<_>>>()?;
    let mut series: Vec<Series> = (0..points.len())
        .step_by(points.len() / 12)
        .map(|row| {
            let coefficients = solutions.iter().map(|s| (s.c, s.beta[row].abs())).collect();
            Series::new("", Look::Line, coefficients)
        })
        .collect();
    series.push(Series::new("bound", Look::Dashed, costs.iter().map(|&c| (c, c)).collect()));
    let title = format!("Coefficients of twelve rows over C: {} breakpoints", costs.len());
    let picture = Chart::new(&title, Axis::new("C").log(), Axis::new("|coefficient|"), series).draw();
    std::fs::write("path.svg", picture.standalone()).map_err(|e| Error::io("path.svg", e))
}
