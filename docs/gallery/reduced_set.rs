//! A machine and its reduced set: the same decision boundary from eight constructed centres. Writes `reduced_set.svg`.

use mercer::data::{Dataset, toy};
use mercer::model::{CompressParams, Goal};
use mercer::prelude::*;
use mercer::reduce::reduced_set::Size;
use mercer_report::svg::{Grid, Layer, Line, Plane};

const NODES: usize = 120;

/// Compresses a machine and draws both boundaries, with the new centres circled.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::banana(240, 7);
    let params = SvcParams { c: 3.0, kernel: Some(Kernel::Rbf { gamma: 0.5 }), ..SvcParams::default() };
    let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
    let model = Model::from(machine);
    let data = Dataset::new(points, targets)?;
    let smaller = CompressParams { goal: Goal::Size(Size::Vectors(8)), ..CompressParams::default() };
    let small = model.compress(&smaller, Some(&data), Exec::default(), &mut watch::silent())?.model;
    let labels = data.targets.classes()?;
    let place = |points: &Points, i: usize| {
        let p = points.row(i).to_f64();
        (p[0], p[1])
    };
    let places: Vec<(f64, f64)> = (0..data.len()).map(|i| place(&data.points, i)).collect();
    let (x, y) = (Plane::range(places.iter().map(|p| p.0)), Plane::range(places.iter().map(|p| p.1)));
    let nodes = Points::dense(Grid::nodes(x, y, NODES, NODES), 2)?;
    let mut layers: Vec<Layer> = (0..2)
        .map(|class| {
            let mine = places.iter().zip(&labels.of_row).filter(|(_, c)| **c as usize == class);
            Layer::Points { at: mine.map(|(p, _)| *p).collect(), class }
        })
        .collect();
    for (model, line) in [(&model, Line::Edge), (&small, Line::Margin)] {
        let values = model.decision(nodes.view(), Exec::default())?;
        layers.push(Layer::Levels { grid: Grid::new(x, y, NODES, values), levels: vec![0.0], line });
    }
    let centres = small.machine.expansion.centres();
    layers.push(Layer::Circles { at: (0..centres.len()).map(|i| place(centres, i)).collect() });
    let title = format!(
        "Boundary of {} support vectors (line) and of {} centres (dashed, circled)",
        model.machine.expansion.len(),
        centres.len()
    );
    let picture = Plane::new(&title, x, y, layers).draw();
    std::fs::write("reduced_set.svg", picture.standalone()).map_err(|e| Error::io("reduced_set.svg", e))
}
