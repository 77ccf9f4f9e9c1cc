//! Cross-validation error over C and gamma as a heat map: writes `search.svg`.

use mercer::assess::{Splits, cross_validate, metric};
use mercer::data::{Dataset, toy};
use mercer::prelude::*;
use mercer_report::svg::Heat;

/// Judges a grid of settings on five folds and draws the table.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::by_name("disc", 300, 1)?;
    let data = Dataset::new(points, targets)?;
    let folds = Splits::usual().folds(&data, 0)?;
    let (costs, gammas) = ([0.1, 1.0, 10.0, 100.0, 1000.0], [0.01, 0.1, 1.0, 10.0, 100.0]);
    let mut values = Vec::new();
    for gamma in gammas {
        let mut row = Vec::new();
        for c in costs {
            let params = SvcParams { c, kernel: Some(Kernel::Rbf { gamma }), ..SvcParams::default() };
            let (learner, metric) = (Learner::Svc(params), metric::find("error")?);
            let score = cross_validate(&data, &[], &learner, &folds, metric, Exec::default(), &mut watch::silent())?;
            row.push(100.0 * score.mean);
        }
        values.push(row);
    }
    let heat = Heat {
        title: "Cross-validation error in per cent".into(),
        along: ("C".into(), "gamma".into()),
        columns: costs.map(|c| c.to_string()).to_vec(),
        rows: gammas.map(|g| g.to_string()).to_vec(),
        values,
        write: |v| format!("{v:.1}"),
        lower: true,
        mark: None,
    };
    std::fs::write("search.svg", heat.draw().standalone()).map_err(|e| Error::io("search.svg", e))
}
