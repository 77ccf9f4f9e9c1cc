//! How the solver converges: the largest violation of the optimality conditions over iterations. Writes `convergence.svg`.

use std::ops::ControlFlow;

use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::progress;

/// Watches one training and draws it.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::by_name("disc", 1200, 1)?;
    let params = SvcParams { c: 1000.0, ..SvcParams::default() };
    let mut seen = Vec::new();
    let machine = params.fit(Sample::new(&points, &targets), Exec::default(), &mut |step| {
        seen.extend(step.gap.map(|gap| (step.done as f64, gap)));
        ControlFlow::Continue(())
    })?;
    seen.push((machine.info.iterations as f64, machine.info.gap));
    let picture = progress(&seen, Some(params.tol));
    std::fs::write("convergence.svg", picture.standalone()).map_err(|e| Error::io("convergence.svg", e))
}
