//! One-class regions for three values of nu, the bound on the fraction of outliers: writes `one_class.svg`.

use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::{Grid, Layer, Line, Plane};

const NODES: usize = 120;

/// Draws nested regions around points without labels.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::half_circle(250, 1);
    let at: Vec<(f64, f64)> = (0..points.len()).map(|i| points.row(i).to_f64()).map(|p| (p[0], p[1])).collect();
    let (x, y) = (Plane::range(at.iter().map(|p| p.0)), Plane::range(at.iter().map(|p| p.1)));
    let nodes = Points::dense(Grid::nodes(x, y, NODES, NODES), 2)?;
    let mut layers = vec![Layer::Points { at, class: 0 }];
    for (nu, line) in [(0.02, Line::Margin), (0.2, Line::Edge), (0.5, Line::Thin)] {
        let params = OneClassParams { nu, kernel: Some(Kernel::Rbf { gamma: 4.0 }), ..OneClassParams::default() };
        let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
        let values = machine.decision(nodes.view(), Exec::default())?;
        layers.push(Layer::Levels { grid: Grid::new(x, y, NODES, values), levels: vec![0.0], line });
    }
    let picture = Plane::new("One-class regions: nu 0.02 (dashed), 0.2 (thick), 0.5 (thin)", x, y, layers).draw();
    std::fs::write("one_class.svg", picture.standalone()).map_err(|e| Error::io("one_class.svg", e))
}
