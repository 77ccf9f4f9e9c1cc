//! Receiver operating characteristics of a linear and a Gaussian machine on the same test rows: writes `roc.svg`.

use mercer::assess::roc_curve;
use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::{Axis, Chart, Look, Series};

/// Trains both machines and draws their curves.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::by_name("disc", 400, 1)?;
    let (fresh, truth) = toy::by_name("disc", 1000, 2)?;
    let truth = truth.classes()?;
    let mut series = vec![Series::new("chance", Look::Dashed, vec![(0.0, 0.0), (1.0, 1.0)])];
    for (name, kernel) in [("linear", Kernel::Linear), ("Gaussian", Kernel::Rbf { gamma: 0.5 })] {
        let params = SvcParams { kernel: Some(kernel), ..SvcParams::default() };
        let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
        let scores = machine.decision(fresh.view(), Exec::default())?;
        // A positive decision value means the second class.
        let positive: Vec<bool> = (0..truth.len()).map(|i| truth.name_of(i) == machine.classes()[1]).collect();
        let curve = roc_curve(&scores, &positive);
        let line = curve.points.iter().map(|p| (p[0], p[1])).collect();
        series.push(Series::line(&format!("{name}, area {:.2}", curve.area), line));
    }
    let (x, y) = (Axis::new("false positive rate"), Axis::new("true positive rate"));
    let picture = Chart { square: true, ..Chart::new("ROC curves on test rows", x, y, series) }.draw();
    std::fs::write("roc.svg", picture.standalone()).map_err(|e| Error::io("roc.svg", e))
}
