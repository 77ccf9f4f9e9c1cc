//! Virtual support vectors: what is known of the problem, built in by training again (Schoelkopf 1997, section 4.2.1).
//!
//! A machine's support vectors hold all there is to know of its solution, so it is enough to transform those:
//!
//! ```text
//! train;   S = support vectors;   train again on  S + { L x : x in S, L in the set };   once more if asked
//! ```
//!
//! Each machine goes on with its own support vectors, or all with those of all. The second run starts from the first
//! one's coefficients, which stay feasible. Cost: a second fit on (1 + transformations) times the support vectors.

use std::collections::HashSet;
use std::time::Instant;

use super::checkpoint::{Checkpoint, Fitted};
use super::fit::Plan;
use super::{Kind, SvcParams, finished};
use crate::data::{Data, Labels, Points, Targets, Transformations};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::is_precomputed;
use crate::model::Sample;
use crate::model::common::kernel_or_default;
use crate::model::{Learner, Machine};
use crate::watch::{Info, Step, Stop, Watch};

/// The rows of a further run, and where they come from.
struct Rows {
    points: Points,
    labels: Labels,
    weights: Option<Vec<f64>>,
    /// The training row that each is, or is made from.
    origin: Vec<u32>,
    /// The rows each machine sees; none: all see all.
    only: Option<Vec<Vec<usize>>>,
}

/// Both runs.
pub(super) fn fit(
    params: &SvcParams,
    sample: Sample<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    let clock = Instant::now();
    params.check()?;
    sample.check()?;
    let set = &params.virtual_vectors;
    let kernel = kernel_or_default(params.kernel.as_ref(), &sample)?;
    if is_precomputed(&kernel) {
        let why = "virtual vectors need points: there is nothing to transform under a precomputed kernel";
        return Err(Error::Unsupported(why.into()));
    }
    if params.probability {
        // Copies of one row on both sides of a fold would make the machine look surer than it is.
        let allowed = "false with virtual vectors: calibrate by cross-validation over the whole fit";
        return Err(Error::param("probability", true, allowed));
    }
    set.check_points(sample.points.view())?;
    let plain = SvcParams { virtual_vectors: Transformations::default(), ..params.clone() };
    let first = SvcParams { kernel: Some(kernel.clone()), ..plain.clone() };
    let again = SvcParams { kernel: Some(params.virtual_kernel.clone().unwrap_or(kernel)), ..plain };
    let plan = Plan::new(&first, sample, None, exec)?;
    let (mut fitted, mut notes) = plan.train(watch)?;
    let labels = plan.labels.clone();
    let mut rows = Rows {
        points: sample.points.clone(),
        labels,
        weights: sample.weights.map(<[f64]>::to_vec),
        origin: (0..sample.points.len() as u32).collect(),
        only: None,
    };
    let mut work = work_of(&fitted);
    let machines = plan.machines.clone();
    drop(plan);
    for round in 1..=params.virtual_rounds {
        let cancelled = fitted.iter().any(|f| f.info.stop == Stop::Cancelled);
        let step =
            Step::new("virtual support vectors", u64::from(round), Some(u64::from(params.virtual_rounds)));
        if cancelled || watch(&step).is_break() {
            notes.push(format!("stopped before run {} on virtual vectors", round + 1).into());
            fitted.iter_mut().for_each(|f| f.info.stop = Stop::Cancelled);
            break;
        }
        let (next, place) = virtual_rows(params, &rows, &fitted, exec)?;
        let held = place.iter().filter(|p| p.is_some()).count();
        let made = next.points.len() - held;
        let note = format!(
            "{held} support vectors and {made} made from them: {} rows in run {}",
            next.points.len(),
            round + 1
        );
        notes.push(note.into());
        // Coefficients are a start only under the kernel they were found with.
        let same = params.kind == Kind::C && (params.virtual_kernel.is_none() || round > 1);
        let start = same.then(|| Checkpoint {
            rows: next.points.len(),
            sides: machines.clone(),
            machines: fitted.iter().map(|f| moved(f, &place)).collect(),
        });
        let targets = Targets::Classes(next.labels.clone());
        let sample = Sample { weights: next.weights.as_deref(), ..Sample::new(&next.points, &targets) };
        let mut plan = Plan::new(&again, sample, start.as_ref(), exec)?;
        plan.only.clone_from(&next.only);
        let (now, note) = plan.train(watch)?;
        drop(plan);
        (fitted, rows) = (now, next);
        notes.extend(note);
        work.push(work_of(&fitted).remove(0));
    }
    let targets = Targets::Classes(rows.labels.clone());
    let sample = Sample { weights: rows.weights.as_deref(), ..Sample::new(&rows.points, &targets) };
    let last = if work.len() > 1 { &again } else { &first };
    let plan = Plan::new(last, sample, None, exec)?;
    let mut model = finished(&plan, &fitted, notes, clock, exec)?;
    // Row numbers are those of the training rows; what there is cannot be gone on from, as the rows are not kept.
    let named = |list: &mut Vec<u32>| list.iter_mut().for_each(|r| *r = rows.origin[*r as usize]);
    named(&mut model.support);
    for machine in &mut model.parts {
        named(&mut machine.free);
        named(&mut machine.bounded);
    }
    model.checkpoint = None;
    let mut kept = params.clone();
    if !params.virtual_vectors.all_of_images() {
        // Code is not kept in a file, and the model does not need it any more.
        model.info.note(format!("trained with `{}`, which the model does not keep", params.virtual_vectors));
        kept.virtual_vectors = Transformations::default();
    }
    model.learner = Learner::Svc(kept);
    let before = &work[..work.len() - 1];
    model.info.iterations += before.iter().map(|w| w.0).sum::<u64>();
    model.info.kernel_values += before.iter().map(|w| w.1).sum::<u64>();
    Ok(model)
}

/// Steps and kernel values of a run.
fn work_of(fitted: &[Fitted]) -> Vec<(u64, u64)> {
    let sum = |of: fn(&Info) -> u64| fitted.iter().map(|f| of(&f.info)).sum::<u64>();
    vec![(sum(|i| i.iterations), sum(|i| i.kernel_values))]
}

/// Support vectors, then the same under each transformation; and where each of the old rows is among them.
fn virtual_rows(
    params: &SvcParams,
    rows: &Rows,
    fitted: &[Fitted],
    exec: Exec,
) -> Result<(Rows, Vec<Option<u32>>)> {
    let mut place: Vec<Option<u32>> = vec![None; rows.points.len()];
    fitted.iter().flat_map(|f| &f.support).for_each(|&r| place[r as usize] = Some(0));
    let held: Vec<usize> = (0..place.len()).filter(|&r| place[r].is_some()).collect();
    held.iter().enumerate().for_each(|(p, &r)| place[r] = Some(p as u32));
    let (points, source) = unlike(&rows.points.gather(&held), &params.virtual_vectors, exec)?;
    let from: Vec<usize> = source.iter().map(|&p| held[p]).collect();
    let only = (!params.virtual_union).then(|| {
        let own = |f: &Fitted| {
            let mut has = vec![false; held.len()];
            f.support.iter().filter_map(|&r| place[r as usize]).for_each(|p| has[p as usize] = true);
            (0..from.len()).filter(|&i| has[source[i]]).collect()
        };
        fitted.iter().map(own).collect()
    });
    let next = Rows {
        points,
        labels: Labels {
            names: rows.labels.names.clone(),
            of_row: from.iter().map(|&r| rows.labels.of_row[r]).collect(),
        },
        weights: rows.weights.as_ref().map(|w| from.iter().map(|&r| w[r]).collect()),
        origin: from.iter().map(|&r| rows.origin[r]).collect(),
        only,
    };
    Ok((next, place))
}

/// Points and all that transformations make of them, without what is there already; and which point each comes from.
pub(in crate::model) fn unlike(
    points: &Points,
    set: &Transformations,
    exec: Exec,
) -> Result<(Points, Vec<usize>)> {
    let n = points.len();
    let all = points.concat(&set.apply(points.view(), exec)?)?;
    let mut seen = HashSet::with_capacity(all.len());
    // The vectors themselves stay, even where two are equal.
    let mut new = |i: usize| bytes(&all, i).is_none_or(|key| seen.insert(key)) || i < n;
    let keep: Vec<usize> = (0..all.len()).filter(|&i| new(i)).collect();
    let source = keep.iter().map(|&i| i % n).collect();
    Ok((if keep.len() == all.len() { all } else { all.gather(&keep) }, source))
}

/// A row as its bits; none where it has no numbers.
fn bytes(points: &Points, i: usize) -> Option<Vec<u64>> {
    let view = points.view();
    let row = i * view.d..(i + 1) * view.d;
    match view.data {
        Data::F32(x) => Some(x[row].iter().map(|v| u64::from(v.to_bits())).collect()),
        Data::F64(x) => Some(x[row].iter().map(|v| v.to_bits()).collect()),
        _ => None,
    }
}

/// A machine's state with its rows where they are now, to go on from.
fn moved(f: &Fitted, place: &[Option<u32>]) -> Fitted {
    let support = f.support.iter().filter_map(|&r| place[r as usize]).collect();
    Fitted { support, info: Info { stop: Stop::Limit, ..f.info.clone() }, ..f.clone() }
}
