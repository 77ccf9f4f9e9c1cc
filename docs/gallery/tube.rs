//! Support vector regression: the curve, its epsilon tube and the support vectors on its edge. Writes `tube.svg`.

use mercer::data::{Dataset, toy};
use mercer::prelude::*;
use mercer_report::svg::{Learned, learned};

/// Fits sin(x)/x with noise and draws the machine.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::sinc(150, 1);
    let kernel = Some(Kernel::Rbf { gamma: 0.2 });
    let params = SvrParams { epsilon: 0.15, c: 10.0, kernel, ..SvrParams::default() };
    let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
    let model = Model::from(machine);
    let data = Dataset::new(points, targets)?;
    let picture = learned(&model, Learned::training("Regression within a tube", &model, &data), Exec::default())?;
    std::fs::write("tube.svg", picture.standalone()).map_err(|e| Error::io("tube.svg", e))
}
