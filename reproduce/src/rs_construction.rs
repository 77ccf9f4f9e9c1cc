//! Ten digit machines with 10 to 250 constructed vectors each (Schoelkopf et al. 1998, Table 1; 1999, Table IV), before and
//! after the joint descent over all vectors, and with one set of vectors shared by all ten.

use mercer::Result;
use mercer::model::CompressParams;
use mercer::reduce::reduced_set::{Method, ReducedSetParams, Share};

use crate::Experiment;
use crate::data::USPS;
use crate::lab::Lab;
use crate::outcome::Row;
use crate::reduced::{Try, sizes, uncompressed};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "rs-construction",
    shows: "Ten times fewer vectors, made for the purpose, do nearly as well as all support vectors",
    paper: "Schoelkopf et al. 1999, Table IV",
    notes: &[
        "Vectors are those of each machine, on average; a set shared by all ten counts once a machine that uses it.",
        "Thresholds are recomputed on the training digits, as in the paper: those with the smallest sum of the machine's own \
         hinge losses.",
        "One by one means that every vector goes to where it lowers the error most, the earlier ones staying where they are.",
        "Coefficients trained anew are those of a machine trained on the given vectors, by squared hinge losses on the \
         training digits; everywhere else they are the nearest in feature space.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 60,
    full: None,
    run,
};

const FIRST: [(usize, f64); 9] =
    [(10, 7.1), (15, 6.4), (20, 5.6), (25, 5.1), (50, 5.0), (100, 4.8), (150, 4.7), (200, 4.9), (250, 4.6)];
const SECOND: [(usize, Option<f64>); 3] = [(10, None), (25, Some(4.7)), (50, None)];

/// Steps of phase two, for a machine's own set and for a shared one, which costs ten times as much a step.
const STEPS: usize = 300;
const SHARED_STEPS: usize = 100;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let ten = lab.ten_machines()?;
    let mut rows = uncompressed(lab, &ten)?;
    let base =
        ReducedSetParams { share: Share::Each, method: Method::FixedPoint, ..ReducedSetParams::default() };
    let a_machine = |group, n, descent, paper| Try {
        group,
        setting: format!("{n} a machine"),
        vectors: n,
        descent,
        paper,
    };
    let mut tries = Vec::new();
    for &(n, paper) in sizes(lab, &FIRST) {
        tries.push(a_machine("one by one", n, Some(0), Some(paper)));
    }
    for &(n, paper) in sizes(lab, &SECOND) {
        tries.push(a_machine("after phase two", n, Some(STEPS), paper));
    }
    lab.step("vectors for each machine", 0, 5)?;
    rows.extend(lab.tried(&ten, &base, &tries)?);
    lab.step("coefficients anew", 1, 5)?;
    let anew = |set: &ReducedSetParams| CompressParams {
        set: set.clone(),
        retrain: true,
        ..CompressParams::default()
    };
    let mut tries = Vec::new();
    for &(n, _) in sizes(lab, &SECOND) {
        tries.push(a_machine("phase two, coefficients trained anew", n, Some(STEPS), None));
    }
    rows.extend(lab.compressed(&ten, &anew(&base), &tries)?.0);
    lab.step("the older method", 2, 5)?;
    let older = ReducedSetParams { method: Method::Gradient, ..base.clone() };
    rows.extend(lab.tried(
        &ten,
        &older,
        &[a_machine("Burges' method, both phases", 25, Some(STEPS), Some(5.0))],
    )?);
    lab.step("each machine's vectors for all", 3, 5)?;
    let pooled = ReducedSetParams { share: Share::Pooled, ..base.clone() };
    let setting = "ten times 25, used by all".to_owned();
    let one = Try { group: "shared by all ten", setting, vectors: 25, descent: Some(STEPS), paper: None };
    rows.extend(lab.tried(&ten, &pooled, &[one])?);
    lab.step("one set for all", 4, 5)?;
    let shared = ReducedSetParams { share: Share::All, ..base };
    let tries: Vec<Try> = sizes(lab, &[25, 100, 250])
        .iter()
        .map(|&n| Try {
            group: "shared by all ten",
            setting: format!("{n} for all"),
            vectors: n,
            descent: Some(SHARED_STEPS),
            paper: None,
        })
        .collect();
    rows.extend(lab.tried(&ten, &shared, &tries)?);
    let last = tries.last().map(|t| Try { group: "shared, coefficients trained anew", ..t.clone() });
    rows.extend(lab.compressed(&ten, &anew(&shared), last.as_slice())?.0);
    Ok(rows)
}
