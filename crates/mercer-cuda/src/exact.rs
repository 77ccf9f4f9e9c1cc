//! What must hold in f64: outputs, violations, thresholds and objectives of solved problems.

use std::sync::Arc;

use mercer::solve::{Problem, Solution, Threshold};
use mercer::watch::{Info, Note, Stop};
use rayon::prelude::*;

use crate::batch::{Batch, group, groups, shift};
use crate::driver::{Gpu, Outcome};
use crate::machines::Host;
use crate::memory::Memory;
use crate::rows::Part;
use crate::state::{CONVERGED, Machine};
use crate::values::Pair;

/// An error of f32 rows below this share of the tolerance is let be.
pub(crate) const NEGLIGIBLE: f64 = 0.1;

/// The error that rows of f32 bring into an output, over the length of the coefficients: see `solve` of the library.
const F32_NOISE: f64 = 8.0 * (f32::EPSILON / 2.0) as f64;

/// The size of the error that f32 rows have brought into a gradient since it was last exact.
pub(crate) fn noise(part: &Part, beta: &[f64], anchor: &[f64]) -> f64 {
    let scale = (0..part.len()).map(|p| part.kept.diag[part.row(p) as usize].abs()).fold(0.0, f64::max);
    let moved: f64 = beta.iter().zip(anchor).map(|(b, a)| (b - a) * (b - a)).sum();
    F32_NOISE * scale * moved.sqrt()
}

/// `f = K (sum of each row's variables)` with values in f64, by the device.
pub(crate) fn outputs(gpu: &Arc<Gpu>, part: &Part, beta: &[f64], f: &mut [f64]) -> Outcome<()> {
    let n = f.len();
    f.fill(0.0);
    let sum = |r: usize| (r..beta.len()).step_by(n).map(|v| beta[v]).sum::<f64>();
    let (rows, coef): (Vec<u32>, Vec<f64>) =
        (0..n).map(|r| (part.row(r), sum(r))).filter(|&(_, c)| c != 0.0).unzip();
    if rows.is_empty() {
        return Ok(());
    }
    let kept = &part.kept;
    let numbers = Memory::of(gpu, &rows)?;
    let own = part.index.as_ref().map(|index| Memory::of(gpu, index)).transpose()?;
    let a = (kept.loaded.side(own.as_ref()), n);
    let b = (kept.loaded.side(Some(&numbers)), rows.len());
    let (coef, total) = (Memory::of(gpu, &coef)?, Memory::filled(gpu, 8 * n, 0)?);
    Pair { gpu, map: &kept.map, like: &kept.packed, a, b }.sums(&coef, 1, &total, true)?;
    total.read(0, f)
}

/// The gradient of a variable.
fn gradient(problem: &Problem<'_>, beta: &[f64], f: &[f64], v: usize) -> f64 {
    f[v % f.len()] + problem.linear[v] + shift(problem, v) * beta[v]
}

/// The largest violation of the optimality conditions.
pub(crate) fn gap(problem: &Problem<'_>, beta: &[f64], f: &[f64]) -> f64 {
    let mut bracket = vec![(f64::INFINITY, f64::NEG_INFINITY); groups(problem)];
    for (v, &b) in beta.iter().enumerate() {
        let (lowest, highest) = &mut bracket[group(problem, v)];
        let g = gradient(problem, beta, f, v);
        if b < problem.upper[v] {
            *lowest = lowest.min(g);
        }
        if b > problem.lower[v] {
            *highest = highest.max(g);
        }
    }
    let width = |(low, high): (f64, f64)| {
        if low.is_finite() && high.is_finite() { (high - low).max(0.0) } else { 0.0 }
    };
    bracket.into_iter().map(width).fold(0.0, f64::max)
}

fn thresholds(problem: &Problem<'_>, beta: &[f64], f: &[f64]) -> Vec<Threshold> {
    let mut found = vec![(f64::NEG_INFINITY, f64::INFINITY, 0.0, 0_usize); groups(problem)];
    for (v, &b) in beta.iter().enumerate() {
        let (lo, hi, sum, count) = &mut found[group(problem, v)];
        let g = gradient(problem, beta, f, v);
        match (b < problem.upper[v], b > problem.lower[v]) {
            (true, true) => (*sum, *count) = (*sum + g, *count + 1),
            (true, false) => *hi = hi.min(g),
            (false, true) => *lo = lo.max(g),
            (false, false) => {}
        }
    }
    let of = |(lo, hi, sum, count): (f64, f64, f64, usize)| Threshold {
        lo,
        hi,
        free: (count > 0).then(|| sum / count as f64),
    };
    found.into_iter().map(of).collect()
}

/// The solutions of a batch from what the device left.
pub(crate) fn solutions(
    batch: &Batch<'_>,
    machines: &[Machine],
    host: &Host,
    cancelled: bool,
) -> Vec<Solution> {
    let one = |m: usize| {
        let (problem, at, state) = (&batch.problems[m], &machines[m], &host.state[m]);
        let (row0, var0) = (at.row0 as usize, at.var0 as usize);
        let beta = &host.beta[var0..var0 + at.total as usize];
        let f = &host.f[row0..row0 + at.n as usize];
        let term =
            |(v, &b): (usize, &f64)| b * (problem.linear[v] + 0.5 * (f[v % f.len()] + shift(problem, v) * b));
        let objective: f64 = beta.iter().enumerate().map(term).sum();
        let mut info = Info::default();
        info.stop = match state.done {
            CONVERGED => Stop::Converged,
            _ if cancelled => Stop::Cancelled,
            _ => Stop::Limit,
        };
        info.iterations = state.iterations as u64;
        info.gap = gap(problem, beta, f);
        info.objective = Some(objective);
        Solution {
            beta: beta.to_vec(),
            output: f.to_vec(),
            objective,
            thresholds: thresholds(problem, beta, f),
            unbounded: None,
            info,
        }
    };
    (0..machines.len()).into_par_iter().map(one).collect()
}

/// Puts what the whole batch cost into the first solution, and into all how it went. `room`: rows that could be kept, of how
/// many.
pub(crate) fn finished(
    mut found: Vec<Solution>,
    values: u64,
    turns: usize,
    (room, rows): (usize, usize),
    seconds: f64,
) -> Vec<Solution> {
    let share = seconds / found.len().max(1) as f64;
    let kept = if room < rows { format!(", room for {room} of {rows} rows") } else { String::new() };
    let corrected = if turns > 0 { format!(", corrected in f64 {turns} times") } else { String::new() };
    let note = format!("working sets on the device{kept}{corrected}");
    for (m, solution) in found.iter_mut().enumerate() {
        solution.info.kernel_values = if m == 0 { values } else { 0 };
        solution.info.seconds = share;
        solution.info.notes = vec![Note::from(note.clone())];
    }
    found
}
