//! Ten digit machines with 10 to 250 constructed vectors each (Schoelkopf et al. 1998, Table 1; 1999, Table IV), before and
//! after the joint descent over all vectors, and with one set of vectors shared by all ten.

use mercer::Result;
use mercer::model::{CompressParams, Machine, Model};
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Share};
use mercer_report::centre_images;
use mercer_report::html::Figure;
use mercer_report::svg::{Axis, Chart, Series};

use crate::Experiment;
use crate::data::USPS;
use crate::lab::Lab;
use crate::outcome::Row;
use crate::reduced::{Try, sizes, uncompressed, vectors};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "rs-construction",
    shows: "Ten times fewer constructed vectors are nearly as accurate as all support vectors",
    paper: "Schoelkopf et al. 1999, Table IV",
    notes: &[
        "Vectors are those of each machine, on average; a set shared by all ten counts once for each machine that uses it.",
        "Thresholds are recomputed on the training digits, as in the paper: those with the smallest sum of the machine's own \
         hinge losses.",
        "One width per vector: the joint descent optimises widths as well (an open question of Schoelkopf et al. 1998).",
        "One by one: every vector is placed where it lowers the error most, with the earlier ones fixed.",
        "Coefficients retrained are those of a machine trained on the given vectors, by squared hinge losses on the \
         training digits; everywhere else they are the nearest in feature space.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 55,
    full: None,
    run,
};

const FIRST: [(usize, f64); 9] =
    [(10, 7.1), (15, 6.4), (20, 5.6), (25, 5.1), (50, 5.0), (100, 4.8), (150, 4.7), (200, 4.9), (250, 4.6)];
const SECOND: [(usize, Option<f64>); 3] = [(10, None), (25, Some(4.7)), (50, None)];

/// Steps of phase two, for a machine's own set and for a shared one, which costs ten times as much a step.
const STEPS: usize = 300;
const SHARED_STEPS: usize = 100;

/// Sets up to this size are also tried with a width a vector.
const WIDTHS: usize = 25;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let ten = lab.ten_machines()?;
    let mut rows = uncompressed(lab, &ten)?;
    let base = ReducedSetParams {
        share: Share::Each,
        method: ReducedSetMethod::FixedPoint,
        ..ReducedSetParams::default()
    };
    let a_machine = |group, n, descent, paper| Try {
        group,
        setting: format!("{n} per machine"),
        vectors: n,
        descent,
        paper,
    };
    let mut first = Vec::new();
    for &(n, paper) in sizes(lab, &FIRST) {
        first.push(a_machine("one by one", n, Some(0), Some(paper)));
    }
    let mut second = Vec::new();
    for &(n, paper) in sizes(lab, &SECOND) {
        second.push(a_machine("after phase two", n, Some(STEPS), paper));
    }
    lab.step("vectors for each machine", 0, 5)?;
    let params = CompressParams { set: base.clone(), ..CompressParams::default() };
    let (found, mut machines) = lab.compressed(&ten, &params, &[first.clone(), second.clone()].concat())?;
    draw(lab, &found, &machines, first.len());
    rows.extend(found);
    let mut moved = machines.split_off(first.len());
    lab.step("widths optimised", 1, 5)?;
    let widths = CompressParams { widths: true, ..params.clone() };
    let free: Vec<Try> = second
        .iter()
        .filter(|t| t.vectors <= WIDTHS)
        .map(|t| Try { group: "after phase two, one width per vector", paper: None, ..t.clone() })
        .collect();
    rows.extend(lab.compressed(&ten, &widths, &free)?.0);
    lab.step("the older method", 2, 5)?;
    let older = ReducedSetParams { method: ReducedSetMethod::Gradient, ..base.clone() };
    let burges = a_machine("Burges' method, both phases", 25, Some(STEPS), Some(5.0));
    rows.extend(lab.tried(&ten, &older, &[burges])?);
    lab.step("each machine's vectors for all", 3, 5)?;
    let pooled = ReducedSetParams { share: Share::Pooled, ..base.clone() };
    let setting = "ten times 25, used by all".to_owned();
    let one = Try { group: "shared by all ten", setting, vectors: 25, descent: Some(STEPS), paper: None };
    rows.extend(lab.tried(&ten, &pooled, &[one])?);
    lab.step("one set for all", 4, 5)?;
    let shared =
        CompressParams { set: ReducedSetParams { share: Share::All, ..base }, ..CompressParams::default() };
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
    let (found, machines) = lab.compressed(&ten, &shared, &tries)?;
    rows.extend(found);
    second.extend(tries);
    moved.extend(machines);
    let open: Vec<Try> = second.iter().map(|t| Try { paper: None, ..t.clone() }).collect();
    rows.extend(ten.retrained(lab, "after phase two, coefficients retrained", &open, &moved)?);
    Ok(rows)
}

/// Vectors of a machine in the picture of them (Schoelkopf et al. 1999, Fig. 11).
const SHOWN: usize = 20;

/// The error by size, and the vectors of the machines of 20.
fn draw(lab: &mut Lab<'_>, rows: &[Row], machines: &[Machine], first: usize) {
    let errors: Vec<f64> = rows.iter().filter(|r| r.quantity == "test error").map(|r| r.mercer).collect();
    let paper: Vec<Option<f64>> =
        rows.iter().filter(|r| r.quantity == "test error").map(|r| r.paper).collect();
    let sizes: Vec<f64> = machines.iter().map(|m| vectors(&m.expansion)).collect();
    let line = |from: usize, to: usize| (from..to).map(|i| (sizes[i], errors[i])).collect::<Vec<_>>();
    let theirs = (0..first).filter_map(|i| paper[i].map(|p| (sizes[i], p))).collect();
    let series = vec![
        Series::line("one by one", line(0, first)),
        Series::line("after phase two", line(first, sizes.len())),
        Series::line("the paper, one by one", theirs),
    ];
    let axes = (Axis::new("vectors per machine").log(), Axis::new("test error, per cent"));
    lab.draw(Figure::svg(Chart::new("Error by size", axes.0, axes.1, series).draw(), "Error by size."));
    let shown = machines.iter().min_by_key(|m| (vectors(&m.expansion) - SHOWN as f64).abs() as usize);
    if let Some(figure) = shown.and_then(|m| centre_images(&Model::from(m.clone()))) {
        lab.draw(figure);
    }
}
