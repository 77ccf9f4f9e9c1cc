//! Spectral clustering of two rings, which no straight line separates: writes `clusters.svg`.

use mercer::data::toy;
use mercer::model::spectral;
use mercer::prelude::*;
use mercer_report::svg::Plane;

/// Clusters the rings by the Gaussian similarity of their points.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, targets) = toy::rings(400, 2, 1);
    let similar = mercer::gram::square::<f64>(&Kernel::Rbf { gamma: 100.0 }, points.view(), Exec::default())?;
    let found = spectral(&similar, 2, 10, 0, Exec::default(), &mut watch::silent())?;
    let truth = targets.classes()?;
    let same = (0..points.len()).filter(|&i| found[i] == truth.of_row[i]).count();
    let agree = same.max(points.len() - same);
    let at: Vec<(f64, f64)> = (0..points.len()).map(|i| points.row(i).to_f64()).map(|p| (p[0], p[1])).collect();
    let title = format!("Spectral clusters of two rings: {agree} of {} points as generated", points.len());
    let picture = Plane::scatter(&title, &at, &found, &["cluster 1".into(), "cluster 2".into()]).draw();
    std::fs::write("clusters.svg", picture.standalone()).map_err(|e| Error::io("clusters.svg", e))
}
