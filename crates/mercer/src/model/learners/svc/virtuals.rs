//! Virtual support vectors of a classifier: see [`Run`].
//!
//! Each machine is retrained on its own support vectors, or all on those of all. The second run is warm-started from
//! the first one's coefficients, which stay feasible. Cost: a second fit on (1 + transformations) times the support
//! vectors.

use std::time::Instant;

use super::checkpoint::{Fitted, SvcCheckpoint};
use super::fit::Plan;
use super::{Kind, SvcParams, finished};
use crate::data::{Targets, Transformations};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::learners::virtuals::{Run, begun, kept, stopped};
use crate::model::{Learner, Machine, Sample};
use crate::watch::{Info, Note, Stop, Watch};

/// All runs.
pub(super) fn fit(
    params: &SvcParams,
    sample: Sample<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    let clock = Instant::now();
    let (set, rounds) = (&params.virtual_vectors, params.virtual_rounds);
    let kernel = begun(params, set, sample, exec)?.kernel;
    if params.probability {
        // Copies of one row on both sides of a fold would make probabilities overconfident.
        let allowed = "false with virtual vectors: calibrate by cross-validation over the whole fit";
        return Err(Error::param("probability", true, allowed));
    }
    let plain = SvcParams { virtual_vectors: Transformations::default(), ..params.clone() };
    let first = SvcParams { kernel: Some(kernel.clone()), ..plain.clone() };
    let again = SvcParams { kernel: Some(params.virtual_kernel.clone().unwrap_or(kernel)), ..plain };
    let plan = Plan::new(&first, sample, None, exec)?;
    let (mut fitted, mut notes) = plan.train(watch)?;
    let mut run = Run::first(&sample, Targets::Classes(plan.labels.clone()));
    let mut work = vec![work_of(&fitted)];
    let machines = plan.machines.clone();
    drop(plan);
    for round in 1..=rounds {
        let cancelled = fitted.iter().any(|f| f.info.stop == Stop::Cancelled);
        if let Some(note) = stopped(cancelled, round, rounds, watch) {
            notes.push(note.into());
            fitted.iter_mut().for_each(|f| f.info.stop = Stop::Cancelled);
            break;
        }
        // The index of each old row among the support vectors.
        let mut place: Vec<Option<u32>> = vec![None; run.points.len()];
        fitted.iter().flat_map(|f| &f.support).for_each(|&r| place[r as usize] = Some(0));
        let held: Vec<usize> = (0..place.len()).filter(|&r| place[r].is_some()).collect();
        held.iter().enumerate().for_each(|(p, &r)| place[r] = Some(p as u32));
        let (next, source) = run.next(&held, set, exec)?;
        notes.push(Note::from(next.told(held.len(), round)));
        // The rows of each machine: its own support vectors and their virtual examples.
        let only = (!params.virtual_union).then(|| {
            let own = |f: &Fitted| {
                let mut has = vec![false; held.len()];
                f.support.iter().filter_map(|&r| place[r as usize]).for_each(|p| has[p as usize] = true);
                (0..source.len()).filter(|&i| has[source[i]]).collect()
            };
            fitted.iter().map(own).collect()
        });
        // Coefficients are a valid start only under the kernel they were found with.
        let same = params.kind == Kind::C && (params.virtual_kernel.is_none() || round > 1);
        let start = same.then(|| SvcCheckpoint {
            rows: next.points.len(),
            sides: machines.clone(),
            machines: fitted.iter().map(|f| moved(f, &place)).collect(),
        });
        let plan = Plan { only, ..Plan::new(&again, next.sample(), start.as_ref(), exec)? };
        let (now, note) = plan.train(watch)?;
        drop(plan);
        (fitted, run) = (now, next);
        notes.extend(note);
        work.push(work_of(&fitted));
    }
    let last = if work.len() > 1 { &again } else { &first };
    let plan = Plan::new(last, run.sample(), None, exec)?;
    let mut model = finished(&plan, &fitted, notes, clock, exec)?;
    // Row numbers refer to the training rows. The fit cannot be resumed, because its rows are not stored.
    run.named(&mut model.support);
    for part in &mut model.parts {
        run.named(&mut part.free);
        run.named(&mut part.bounded);
    }
    model.checkpoint = None;
    let virtual_vectors = kept(set, &mut model.info);
    model.learner = Learner::Svc(SvcParams { virtual_vectors, ..params.clone() });
    let before = &work[..work.len() - 1];
    model.info.iterations += before.iter().map(|w| w.0).sum::<u64>();
    model.info.kernel_values += before.iter().map(|w| w.1).sum::<u64>();
    Ok(model)
}

/// Iterations and kernel values of a run.
fn work_of(fitted: &[Fitted]) -> (u64, u64) {
    let sum = |of: fn(&Info) -> u64| fitted.iter().map(|f| of(&f.info)).sum::<u64>();
    (sum(|i| i.iterations), sum(|i| i.kernel_values))
}

/// A machine's state with its rows renumbered, as a start.
fn moved(f: &Fitted, place: &[Option<u32>]) -> Fitted {
    let support = f.support.iter().filter_map(|&r| place[r as usize]).collect();
    Fitted { support, info: Info { stop: Stop::Limit, ..f.info.clone() }, ..f.clone() }
}
