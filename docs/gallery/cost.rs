//! Test error and number of support vectors over C, on labels of which one in ten is wrong: writes `cost.svg`.

use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::{Axis, Chart, Series};

/// Trains for seven values of C and draws both curves.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::by_name("disc", 400, 1)?;
    let (fresh, truth) = toy::by_name("disc", 800, 2)?;
    let truth = truth.classes()?;
    let (mut errors, mut vectors) = (Vec::new(), Vec::new());
    for exponent in -2..=4 {
        let c = 10f64.powi(exponent);
        let params = SvcParams { c, ..SvcParams::default() };
        let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
        let found = machine.labels(fresh.view(), Exec::default())?;
        let wrong = (0..truth.len()).filter(|&i| found.name_of(i) != truth.name_of(i)).count();
        errors.push((c, 100.0 * wrong as f64 / truth.len() as f64));
        vectors.push((c, 100.0 * machine.support.len() as f64 / points.len() as f64));
    }
    let series = vec![Series::line("support vectors", vectors), Series::line("test error", errors)];
    let (x, y) = (Axis::new("C").log(), Axis::new("per cent of rows").range(0.0, 100.0));
    let picture = Chart::new("Test error and support vectors over C", x, y, series).draw();
    std::fs::write("cost.svg", picture.standalone()).map_err(|e| Error::io("cost.svg", e))
}
