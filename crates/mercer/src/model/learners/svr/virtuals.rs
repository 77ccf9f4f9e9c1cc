//! Virtual support vectors of a regression (Schoelkopf 1997, sections 4.2.1 and 4.5): retraining on transformed
//! support vectors with unchanged targets.
//!
//! As for classifiers: train, apply each transformation to the support vectors, keep their targets, and train on all
//! of them. The solution depends only on rows on or outside the tube, so it suffices to transform those. The second
//! run is warm-started from the first one's coefficients if they stay feasible. Cost: a second fit on (1 +
//! transformations) times the support vectors.

use super::{Loss, SvrParams};
use crate::data::Transformations;
use crate::error::Result;
use crate::exec::Exec;
use crate::model::learners::virtuals::{Run, begun, kept, stopped};
use crate::model::{Learner, Machine, Sample};
use crate::watch::{Note, Stop, Watch};

/// All runs.
pub(super) fn fit(
    params: &SvrParams,
    sample: Sample<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    let (set, rounds) = (&params.virtual_vectors, params.virtual_rounds);
    let given = begun(params, set, sample, exec)?;
    let kernel = Some(given.kernel.clone());
    let plain = SvrParams { kernel, virtual_vectors: Transformations::default(), ..params.clone() };
    let mut model = plain.fit_from(sample, None, exec, watch)?;
    let mut run = Run::first(&sample, sample.targets.clone());
    let (mut notes, mut work) = (Vec::new(), (0, 0));
    for round in 1..=rounds {
        if let Some(note) = stopped(model.info.stop == Stop::Cancelled, round, rounds, watch) {
            notes.push(note);
            model.info.stop = Stop::Cancelled;
            break;
        }
        if model.support.is_empty() {
            notes.push("no row has a coefficient: nothing to transform".to_owned());
            break;
        }
        let held: Vec<usize> = model.support.iter().map(|&r| r as usize).collect();
        (run, _) = run.next(&held, set, exec)?;
        notes.push(run.told(held.len(), round));
        work = (work.0 + model.info.iterations, work.1 + model.info.kernel_values);
        let start = start(&plain, &model, run.points.len());
        model = plain.fit_from(run.sample(), start.as_deref(), exec, watch)?;
    }
    // Row numbers refer to the training rows. The fit cannot be resumed, because its rows are not stored.
    run.named(&mut model.support);
    model.checkpoint = None;
    model.info.iterations += work.0;
    model.info.kernel_values += work.1;
    model.info.notes.extend(notes.into_iter().map(Note::from));
    let virtual_vectors = kept(set, &mut model.info);
    model.learner = Learner::Svr(SvrParams { virtual_vectors, ..params.clone() });
    Ok(given.timed(model))
}

/// The solver's variables on n rows of which the first are the old support vectors; `None` if the old coefficients
/// are not available or not feasible.
fn start(params: &SvrParams, old: &Machine, n: usize) -> Option<Vec<f64>> {
    let coef = old.expansion.coef();
    // A linear machine has one centre; the sums of a nu machine grow with the rows; ridge solves no quadratic
    // program.
    if coef.len() != old.support.len() || matches!(params.loss, Loss::Nu | Loss::Squared) {
        return None;
    }
    let mut up: Vec<f64> = coef.to_vec();
    up.resize(n, 0.0);
    if params.loss == Loss::Epsilon && params.epsilon > 0.0 {
        let down: Vec<f64> = up.iter().map(|c| c.min(0.0)).collect();
        up.iter_mut().for_each(|c| *c = c.max(0.0));
        up.extend(down);
    }
    Some(up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Points, Targets};
    use crate::watch::silent;
    use mercer_testkit::toy;

    /// Even functions: what is true at x is true at -x.
    fn halves(n: usize) -> (Points, Targets) {
        let x: Vec<f64> = toy::uniforms(n, 1, 0.0, 3.0, 3);
        let y = x.iter().map(|x| (2.0 * x).cos()).collect();
        (Points::dense(x, 1).expect("rows"), Targets::Reals(y))
    }

    fn mirrored() -> Transformations {
        Transformations::default().with_fn("mirror", |row| row[0] = -row[0])
    }

    fn params(loss: Loss) -> SvrParams {
        SvrParams {
            kernel: Some("rbf(gamma=2)".parse().expect("a kernel")),
            loss,
            c: 10.0,
            epsilon: 0.05,
            delta: 0.1,
            nu: 0.4,
            virtual_vectors: mirrored(),
            ..SvrParams::default()
        }
    }

    #[test]
    fn what_holds_on_one_side_is_learned_for_the_other() {
        let (points, targets) = halves(80);
        let other = Points::dense(vec![-0.5, -1.0, -1.5, -2.0], 1).expect("rows");
        for loss in [Loss::Epsilon, Loss::Nu, Loss::Laplace, Loss::Huber, Loss::Squared] {
            let (own, sample) = (params(loss), Sample::new(&points, &targets));
            let model = own.fit(sample, Exec::one(), &mut silent()).expect("a fit");
            let plain = SvrParams { virtual_vectors: Transformations::default(), ..own.clone() };
            let plain = plain.fit(sample, Exec::one(), &mut silent()).expect("a fit");
            let off = |model: &Machine| {
                let got = model.decision(other.view(), Exec::one()).expect("numbers");
                let want = [-0.5_f64, -1.0, -1.5, -2.0].map(|x| (2.0 * x).cos());
                got.iter().zip(want).map(|(g, w)| (g - w).abs()).fold(0.0, f64::max)
            };
            assert!(off(&model) < 0.15, "{}: {}", loss.name(), off(&model));
            assert!(off(&plain) > 0.3, "{}: {}", loss.name(), off(&plain));
            assert!(model.support.iter().all(|&r| (r as usize) < points.len()));
            let kept = model.learner.get("virtual_vectors");
            assert_eq!(kept, Some(serde_json::json!("")), "code is not kept");
        }
    }

    #[test]
    fn a_warm_start_ends_where_a_cold_one_does() {
        let (points, targets) = halves(60);
        for loss in [Loss::Epsilon, Loss::Laplace, Loss::Huber] {
            let own = SvrParams { tol: 1e-8, ..params(loss) };
            let warm = own.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
            let plain = SvrParams { virtual_vectors: Transformations::default(), ..own };
            let first = plain.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
            let held: Vec<usize> = first.support.iter().map(|&r| r as usize).collect();
            let run = Run::first(&Sample::new(&points, &targets), targets.clone());
            let (run, _) = run.next(&held, &mirrored(), Exec::one()).expect("rows");
            let cold = plain.fit(run.sample(), Exec::one(), &mut silent()).expect("a fit");
            let (got, want) = (
                warm.decision(points.view(), Exec::one()).expect("numbers"),
                cold.decision(points.view(), Exec::one()).expect("numbers"),
            );
            mercer_testkit::assert::all_close(&got, &want, 1e-5);
        }
    }

    #[test]
    fn rounds_and_refusals() {
        let (points, targets) = halves(30);
        let sample = Sample::new(&points, &targets);
        let twice = SvrParams { virtual_rounds: 2, ..params(Loss::Epsilon) };
        let model = twice.fit(sample, Exec::one(), &mut silent()).expect("a fit");
        assert!(model.info.notes.iter().any(|n| n.contains("run 3")), "{:?}", model.info.notes);
        let none = SvrParams { virtual_rounds: 0, ..params(Loss::Epsilon) };
        assert!(none.fit(sample, Exec::one(), &mut silent()).is_err());
        let images =
            SvrParams { virtual_vectors: "shift=1".parse().expect("a line"), ..params(Loss::Epsilon) };
        let e = images.fit(sample, Exec::one(), &mut silent()).expect_err("no images").to_string();
        assert!(e.contains("images"), "{e}");
    }
}
