//! Draws what a classifier has learned of two bent clouds: `cargo run --release -p mercer-report --example regions > regions.svg`.
//! The README's picture.
#![expect(clippy::print_stdout, reason = "a program's output is its purpose")]

use mercer::data::{Dataset, toy};
use mercer::model::{Model, Sample, SvcParams};
use mercer::{Exec, watch};
use mercer_report::svg::{Learned, learned};

fn main() -> mercer::Result<()> {
    let (points, targets) = toy::banana(240, 7);
    let params = SvcParams { c: 3.0, kernel: Some("rbf(gamma=1/2)".parse()?), ..SvcParams::default() };
    let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut watch::silent())?;
    let model = Model::from(machine);
    let data = Dataset::new(points, targets)?;
    let picture = learned(
        &model,
        Learned::training("Two classes, their border and its margin", &model, &data),
        Exec::default(),
    )?;
    println!("{}", picture.standalone());
    Ok(())
}
