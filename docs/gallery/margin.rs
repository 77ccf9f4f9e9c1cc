//! The decision boundary of a support vector machine, its margin and its support vectors: writes `margin.svg`.

use mercer::data::{Dataset, toy};
use mercer::prelude::*;
use mercer_report::svg::{Learned, learned};

/// Trains on two crescents and draws the machine.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::banana(240, 7);
    let params = SvcParams { c: 3.0, kernel: Some("rbf(gamma=1/2)".parse()?), ..SvcParams::default() };
    let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
    let model = Model::from(machine);
    let data = Dataset::new(points, targets)?;
    let shown = Learned::training("Decision boundary (line), margin (dashed), support vectors (circles)", &model, &data);
    let picture = learned(&model, shown, Exec::default())?;
    std::fs::write("margin.svg", picture.standalone()).map_err(|e| Error::io("margin.svg", e))
}
