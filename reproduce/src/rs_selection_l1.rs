//! Ten digit machines with those of their support vectors that keep a coefficient under an L1 penalty (Schoelkopf et al.
//! 1999, Table III), and one set for all ten by the penalty on the largest coefficient of a vector.

use mercer::Result;
use mercer::model::CompressParams;
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Share, Weighting};

use crate::Experiment;
use crate::data::USPS;
use crate::lab::Lab;
use crate::outcome::Row;
use crate::reduced::{Try, by_size, uncompressed};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "rs-selection-l1",
    shows: "A penalty on the coefficients selects support vectors for one machine or for ten at once",
    paper: "Schoelkopf et al. 1999, Table III",
    notes: &[
        "One lambda for all machines, found for the wanted average size; coefficients and thresholds are then recomputed.",
        "Retrained: coefficients by the machines' own losses squared on the training digits, on the same vectors.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 60,
    full: None,
    run,
};

const PAPER: [(usize, f64); 7] =
    [(50, 28.5), (74, 10.8), (101, 5.9), (126, 5.3), (151, 4.5), (174, 4.3), (200, 4.3)];

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let ten = lab.ten_machines()?;
    let mut rows = uncompressed(lab, &ten)?;
    let base = ReducedSetParams {
        method: ReducedSetMethod::Penalty,
        share: Share::Each,
        ..ReducedSetParams::default()
    };
    let kinds = [("cost mean |a| / |a_i|", Weighting::Inverse), ("cost 1", Weighting::Equal)];
    for (g, (group, weighting)) in kinds.into_iter().enumerate() {
        lab.step(group, g, kinds.len() + 1)?;
        let tries = by_size(lab, group, &PAPER, weighting == Weighting::Inverse);
        let set = ReducedSetParams { weighting, ..base.clone() };
        let params = CompressParams { set, ..CompressParams::default() };
        let (found, machines) = lab.compressed(&ten, &params, &tries)?;
        rows.extend(found);
        if weighting == Weighting::Inverse {
            let group = "cost mean |a| / |a_i|, coefficients retrained";
            rows.extend(ten.retrained(lab, group, &tries, &machines)?);
        }
    }
    lab.step("one set for all", kinds.len(), kinds.len() + 1)?;
    let set = ReducedSetParams { share: Share::All, ..base };
    let setting = "570 in all".to_owned();
    let one = Try { group: "one set for all ten", setting, vectors: 570, descent: None, paper: Some(5.5) };
    rows.extend(lab.tried(&ten, &set, &[one])?);
    Ok(rows)
}
