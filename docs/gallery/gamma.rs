//! What gamma does to a decision boundary: too smooth, right, too detailed. Writes `gamma.svg`.

use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::{Grid, Layer, Line, Plane};

const X: (f64, f64) = (-2.6, 2.6);
const Y: (f64, f64) = (-2.2, 2.2);
const NODES: usize = 120;

/// Draws the boundaries of three machines on the same points.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::banana(160, 3);
    let labels = targets.classes()?;
    let mut layers: Vec<Layer> = (0..2)
        .map(|class| {
            let rows = (0..points.len()).filter(|&i| labels.of_row[i] as usize == class);
            let at = rows.map(|i| points.row(i).to_f64()).map(|p| (p[0], p[1])).collect();
            Layer::Points { at, class }
        })
        .collect();
    let nodes = Points::dense(Grid::nodes(X, Y, NODES, NODES), 2)?;
    for (gamma, line) in [(0.02, Line::Margin), (1.0, Line::Edge), (60.0, Line::Thin)] {
        let params = SvcParams { c: 10.0, kernel: Some(Kernel::Rbf { gamma }), ..SvcParams::default() };
        let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
        let values = machine.decision(nodes.view(), Exec::default())?;
        layers.push(Layer::Levels { grid: Grid::new(X, Y, NODES, values), levels: vec![0.0], line });
    }
    let title = "Decision boundaries: gamma 0.02 (dashed), 1 (thick), 60 (thin)";
    let picture = Plane::new(title, X, Y, layers).draw();
    std::fs::write("gamma.svg", picture.standalone()).map_err(|e| Error::io("gamma.svg", e))
}
