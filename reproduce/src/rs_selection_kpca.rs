//! Ten digit machines with fewer of their own support vectors, removed by the kernel PCA criterion (Schoelkopf et al. 1999,
//! Table II), and by the optimal greedy removal that the paper set aside for its cost.

use mercer::Result;
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Share};

use crate::Experiment;
use crate::data::USPS;
use crate::lab::Lab;
use crate::outcome::Row;
use crate::reduced::{by_size, uncompressed};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "rs-selection-kpca",
    shows: "Half of the support vectors can be removed without loss if the rest are readjusted",
    paper: "Schoelkopf et al. 1999, Table II",
    notes: &[
        "Equal fractions are removed from each machine; sizes are averages. Thresholds are recomputed on the training \
              digits.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 40,
    full: None,
    run,
};

const PAPER: [(usize, f64); 9] = [
    (50, 17.6),
    (75, 7.0),
    (100, 5.5),
    (125, 4.5),
    (150, 4.5),
    (175, 4.5),
    (200, 4.5),
    (225, 4.2),
    (250, 4.3),
];

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let ten = lab.ten_machines()?;
    let mut rows = uncompressed(lab, &ten)?;
    let kinds = [
        ("kernel PCA criterion", ReducedSetMethod::Components),
        ("optimal greedy removal", ReducedSetMethod::Greedy),
    ];
    for (g, (group, method)) in kinds.into_iter().enumerate() {
        lab.step(group, g, kinds.len())?;
        let set = ReducedSetParams { method, share: Share::Each, ..ReducedSetParams::default() };
        let tries = by_size(lab, group, &PAPER, method == ReducedSetMethod::Components);
        rows.extend(lab.tried(&ten, &set, &tries)?);
    }
    Ok(rows)
}
