//! Contour lines of a kernel principal component over the plane: writes `components.svg`.

use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::{Grid, Layer, Line, Plane};

const NODES: usize = 120;
/// Contour lines drawn.
const LEVELS: usize = 11;

/// Draws the first component of three clusters: it is constant across directions in which they do not vary.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::by_name("clusters", 120, 1)?;
    let labels = targets.classes()?;
    let places: Vec<(f64, f64)> = (0..points.len()).map(|i| points.row(i).to_f64()).map(|p| (p[0], p[1])).collect();
    let (x, y) = (Plane::range(places.iter().map(|p| p.0)), Plane::range(places.iter().map(|p| p.1)));
    let params = KpcaParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), components: Some(2), ..KpcaParams::default() };
    let machine = params.fit(Sample::new(&points, &Targets::None), Exec::default(), &mut watch::silent())?;
    let nodes = Points::dense(Grid::nodes(x, y, NODES, NODES), 2)?;
    let features = machine.decision(nodes.view(), Exec::default())?;
    let grid = Grid::new(x, y, NODES, features.chunks(2).map(|f| f[0]).collect());
    let (low, high) = grid.range();
    let levels = (1..=LEVELS).map(|i| low + (high - low) * i as f64 / (LEVELS + 1) as f64).collect();
    let mut layers = vec![Layer::Levels { grid, levels, line: Line::Thin }];
    layers.extend((0..3).map(|class| {
        let mine = places.iter().zip(&labels.of_row).filter(|(_, c)| **c as usize == class);
        Layer::Points { at: mine.map(|(p, _)| *p).collect(), class }
    }));
    let picture = Plane::new("First kernel principal component of three clusters", x, y, layers).draw();
    std::fs::write("components.svg", picture.standalone()).map_err(|e| Error::io("components.svg", e))
}
