//! From f32 rows to a solution that is optimal in f64.
//!
//! With f32 rows the gradient is exact up to `E (beta - beta_0)`, where E is the rounding of the rows and beta_0 the
//! point at which `f` was last computed in f64. Each turn solves on f32 rows and then recomputes `f` in f64. Every
//! turn starts from an exact gradient, so the error decreases with the changes of the coefficients: this is iterative
//! refinement of linear systems, applied to a quadratic problem. Where a turn does not reduce the violation (the
//! matrix is so nearly singular that f32 values have the wrong sign), the solve is finished on f64 rows.

use super::{Engine, Job, Outcome, working};
use crate::exec::Exec;
use crate::gram::RowCache;
use crate::solve::state::State;

/// A rounding error below this fraction of the tolerance is ignored.
const NEGLIGIBLE: f64 = 0.1;

/// A turn must reduce the violation to this fraction of the last one, or f64 rows are used.
const PROGRESS: f64 = 0.3;

/// Number of rows whose f is computed in f64 to measure the error.
const SAMPLE: usize = 48;

/// Solves and checks until the tolerance holds in f64.
pub(super) fn run(state: &mut State<'_>, engine: &mut Engine<'_>, job: &mut Job<'_, '_>) -> Outcome {
    let exec = job.params.exec;
    let mut last = f64::INFINITY;
    for turn in 0.. {
        let outcome = engine.solve(state, job);
        match outcome {
            Outcome::Converged | Outcome::Stalled | Outcome::RunsAway => {}
            _ => return outcome,
        }
        if outcome == Outcome::Converged && job.gap <= job.tol() && negligible(state, job, exec) {
            return outcome;
        }
        recompute(state, job);
        if job.gap <= job.tol() {
            job.notes.push(match turn {
                0 => "optimality checked in f64".into(),
                _ => format!("optimality checked in f64, after {turn} corrections").into(),
            });
            return Outcome::Converged;
        }
        if outcome != Outcome::Converged || job.gap > PROGRESS * last {
            break;
        }
        last = job.gap;
    }

    job.notes.push("f32 rows are not precise enough: finished on f64 rows".into());
    job.exact = true;
    let mut cache = RowCache::<f64>::new(state.n, job.params.exec.budget() / 4 * 3, working::LEAST_ROOM);
    let rows = state.problem.rows;
    loop {
        let before = job.gap;
        let outcome = working::solve(state, &mut cache, job, |wanted, out| {
            for (&r, out) in wanted.iter().zip(out.chunks_mut(rows.len())) {
                out.fill(0.0);
                rows.apply(&[r], &[1.0], out, exec);
            }
        });
        recompute(state, job);
        match outcome {
            _ if job.gap <= job.tol() => return Outcome::Converged,
            Outcome::Converged if job.gap < 0.9 * before => {}
            _ => return outcome,
        }
    }
}

fn recompute(state: &mut State<'_>, job: &mut Job<'_, '_>) {
    job.kernel_values += (state.support_count() * state.n) as u64;
    state.recompute(job.params.exec);
    job.gap = state.gap();
}

/// Whether f32 rounding is negligible: by an estimate first, and by a measured sample where the estimate does not
/// decide.
fn negligible(state: &State<'_>, job: &mut Job<'_, '_>, exec: Exec) -> bool {
    let (tol, guess) = (job.params.tol, job.noise(state, None));
    if guess <= NEGLIGIBLE * tol {
        job.notes.push(format!("f32 rows suffice: their rounding moves outputs by about {guess:.0e}").into());
        return true;
    }
    let (n, (support, coef)) = (state.n, state.support());
    if guess > 20.0 * tol || support.len() < 8 * SAMPLE {
        return false;
    }
    let at: Vec<u32> = (0..SAMPLE).map(|s| (s * n / SAMPLE) as u32).collect();
    let mut exactly = [0.0; SAMPLE];
    state.problem.rows.apply_at(&support, &coef, &at, &mut exactly, exec);
    let square: f64 = exactly.iter().zip(&at).map(|(e, &i)| (e - state.f[i as usize]).powi(2)).sum();
    job.kernel_values += (SAMPLE * support.len()) as u64;
    // Six standard deviations: a normal error exceeds them once in five hundred million outputs.
    let worst = 6.0 * (square / SAMPLE as f64).sqrt();
    // A violation is the difference of two outputs.
    let fine = worst <= NEGLIGIBLE * tol || job.gap + std::f64::consts::SQRT_2 * worst <= tol;
    if fine {
        job.notes
            .push(format!("f32 rows suffice: {SAMPLE} outputs in f64 put their error at {worst:.0e}").into());
    }
    fine
}
