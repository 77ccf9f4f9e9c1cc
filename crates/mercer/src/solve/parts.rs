//! A start for large problems: parts of the rows, solved side by side.
//!
//! Where most support vectors end at their upper bound, rounds of [`working`](super::working) load them by the thousand, and
//! the steps of each round run on one thread. So the rows are dealt out to parts whose matrices are small, and each part is
//! solved alone as if the others moved with it: with P parts, on a multiple of its matrix. P times is the multiple with which
//! the sum of all parts cannot be worse (Ma et al. 2015, "Adding vs. averaging in distributed primal-dual optimization");
//! a quarter of it leaves fewer variables between their bounds. One product then gives the gradient of all rows, and the
//! rounds continue from there. (Measured on a9a: 7,200 rows are computed in 20,000 steps after it, instead of 17,000 in
//! 30,000.)
//!
//! The parts depend on the rows alone, so the result does not depend on the number of threads.

use std::ops::ControlFlow;

use mercer_num::Buffer;
use rayon::prelude::*;

use super::choose::scatter;
use super::newton;
use super::pair::{Direct, Rule};
use super::state::State;
use super::{Groups, Job, Method, Shift};
use crate::gram::RowCache;

/// Problems of fewer rows are solved as they are, and parts have at most so many rows.
const LEAST: usize = 16_384;
const PART: usize = 2048;

/// The multiple of its matrix that a part is solved on, as a share of the number of parts.
const SHARE: f64 = 0.25;

/// A part is solved to this fraction of its violation, in at most so many steps per row.
const INNER: f64 = 0.1;
const STEPS: u64 = 20;

/// The first part tells whether the others are worth it: this share of its rows must be support vectors, and this share of
/// those at their bounds. Of few support vectors, parts find several times too many.
const SUPPORT: f64 = 0.2;
const BOUNDED: f64 = 0.5;

/// The new values of a part's variables, and the steps they took.
struct Solved {
    beta: Vec<f64>,
    steps: u64,
}

/// Moves the variables towards the solution where that is likely to pay.
pub(super) fn start(state: &mut State<'_>, job: &mut Job<'_, '_>) {
    let (problem, n) = (state.problem, state.n);
    let plain = problem.start.is_none()
        && problem.groups == Groups::One
        && problem.shift == Shift::None
        && state.bounded
        && state.total == n;
    let own = problem.rows.whole().is_none() && problem.rows.owner().is_none() && !problem.rows.shared();
    let room = PART * PART * size_of::<f32>() * job.params.exec.threads() <= job.params.exec.budget() / 8;
    if n >= LEAST && plain && own && room && job.params.method == Method::Auto && !job.exact {
        from_parts(state, job, PART);
    }
}

/// The same for any number of rows, in parts of at most `most`.
fn from_parts(state: &mut State<'_>, job: &mut Job<'_, '_>, most: usize) {
    let (problem, exec) = (state.problem, job.params.exec);
    let parts = deal(&problem.linear, state.n.div_ceil(most).next_power_of_two());
    // A power of two: bounds are the same numbers after multiplying and dividing.
    let times = (parts.len() as f64 * SHARE).max(1.0);
    let (tol, left) = ((INNER * state.gap()).max(job.params.tol), job.left() / parts.len() as u64);
    let now = &*state;
    let solve = |rows: &Vec<u32>| {
        let m = rows.len();
        let mut whole = Buffer::stale(m * m);
        problem.rows.subset(rows).fill(&mut whole, exec.with_threads(1));
        let mut p = now.local(Some(rows));
        for values in [&mut p.beta, &mut p.lower, &mut p.upper] {
            values.iter_mut().for_each(|v| *v *= times);
        }
        let rule = Rule { tol, limit: left.min(STEPS * m as u64), every: u64::MAX };
        let run = newton::run(&mut p, &mut Direct { values: &whole, n: m }, &rule, &mut |_| {
            ControlFlow::Continue(())
        });
        Solved { beta: p.beta.iter().map(|b| b / times).collect(), steps: run.iterations }
    };
    let (first, others) = parts.split_first().expect("at least one part");
    let count = |job: &mut Job<'_, '_>, rows: &[u32], solved: &Solved| {
        job.iterations += solved.steps;
        job.kernel_values += (rows.len() * (rows.len() + 1) / 2) as u64;
    };
    let sample = solve(first);
    count(job, first, &sample);
    let support = sample.beta.iter().filter(|b| **b != 0.0).count() as f64;
    let at_bound = |(&b, &r): (&f64, &u32)| b == problem.lower[r as usize] || b == problem.upper[r as usize];
    let bounded =
        sample.beta.iter().zip(first).filter(|&(b, r)| *b != 0.0 && at_bound((b, r))).count() as f64;
    if support < SUPPORT * first.len() as f64 || bounded < BOUNDED * support {
        return;
    }
    let solved: Vec<Solved> = if exec.threads() == 1 {
        others.iter().map(solve).collect()
    } else {
        others.par_iter().map(solve).collect()
    };
    others.iter().zip(&solved).for_each(|(rows, solved)| count(job, rows, solved));
    for (rows, solved) in parts.iter().zip([&sample].into_iter().chain(&solved)) {
        rows.iter().zip(&solved.beta).for_each(|(&r, &beta)| state.beta[r as usize] = beta);
    }
    add_rows(state, job);
    // Together the parts went too far. At 0 the objective is 0.
    if state.objective() >= 0.0 {
        state.beta.fill(0.0);
        state.f.fill(0.0);
        return;
    }
    job.notes.push(format!("begun from {} parts solved side by side", parts.len()).into());
}

/// Deals the rows out to so many parts: each has its share of both signs of the linear term, in an order that does not follow
/// the data's.
fn deal(linear: &[f64], count: usize) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..linear.len() as u32).collect();
    order.sort_unstable_by_key(|&r| (linear[r as usize] < 0.0, scatter(r)));
    let part = |p: usize| {
        let mut rows: Vec<u32> = order.iter().skip(p).step_by(count).copied().collect();
        rows.sort_unstable();
        rows
    };
    (0..count).map(part).collect()
}

/// Computes f from the variables, on f32 rows that are not kept.
fn add_rows(state: &mut State<'_>, job: &mut Job<'_, '_>) {
    let (n, exec) = (state.n, job.params.exec);
    let (rows, coef) = state.support();
    let batch = RowCache::<f32>::batch(n, exec);
    let mut values = Buffer::<f32>::stale(batch * n);
    for (rows, coef) in rows.chunks(batch).zip(coef.chunks(batch)) {
        let values = &mut values[..rows.len() * n];
        state.problem.rows.block(rows, values, exec);
        state.add(&values.chunks(n).collect::<Vec<_>>(), coef, exec);
    }
    job.kernel_values += (rows.len() * n) as u64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::exec::Exec;
    use crate::gram::KernelRows;
    use crate::kernel::Kernel;
    use crate::solve::{Params, Problem};
    use crate::watch::silent;
    use mercer_testkit::toy;

    const N: usize = 1500;

    /// Two classes whose centres are so far apart, sorted by class.
    fn clouds(apart: f64) -> (Points, Vec<f64>) {
        let labels: Vec<f64> = (0..N).map(|i| if i < N / 3 { 1.0 } else { -1.0 }).collect();
        let mut x = toy::normals(N, 2, 7);
        x.chunks_mut(2).zip(&labels).for_each(|(row, y)| row[0] += 0.5 * apart * y);
        (Points::dense(x, 2).expect("whole rows"), labels)
    }

    fn begun(apart: f64, threads: usize, look: impl Fn(&State<'_>, &Problem<'_>)) -> Vec<f64> {
        let (points, labels) = clouds(apart);
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let rows = KernelRows::new(&kernel, &points, Exec::one()).expect("rows");
        let problem = Problem::classify(&rows, &labels, &[2.0; N]);
        let params = Params::new(1e-3, None, true, Exec::new(threads));
        let mut watch = silent();
        let mut job = Job {
            params: &params,
            watch: &mut watch,
            keep: None,
            max_iter: 1_000_000,
            iterations: 0,
            gap: f64::INFINITY,
            kernel_values: 0,
            cancelled: false,
            exact: false,
            notes: Vec::new(),
        };
        let mut state = State::new(&problem);
        from_parts(&mut state, &mut job, 200);
        look(&state, &problem);
        state.beta
    }

    #[test]
    fn overlapping_classes_begin_near_the_solution() {
        let beta = begun(1.0, 1, |state, problem| {
            let (best, _) = {
                let solved =
                    crate::solve::solve(problem, &Params::default(), &mut silent()).expect("a solve");
                (solved.objective, solved.info.iterations)
            };
            // The start has most of what there is to gain, obeys all constraints, and its f is K beta.
            assert!(
                state.objective() < 0.6 * best && state.objective() > best,
                "{} {best}",
                state.objective()
            );
            assert!(state.beta.iter().sum::<f64>().abs() < 1e-9);
            let inside = |v: usize| state.beta[v] >= problem.lower[v] && state.beta[v] <= problem.upper[v];
            assert!((0..N).all(inside));
            let mut exact = vec![0.0; N];
            let (rows, coef) = state.support();
            problem.rows.apply(&rows, &coef, &mut exact, Exec::one());
            assert!(exact.iter().zip(&state.f).all(|(a, b)| (a - b).abs() < 1e-4));
        });
        let bounded = beta.iter().filter(|b| b.abs() == 2.0).count();
        assert!(bounded > N / 4, "{bounded}");
        // The same bits on any number of threads.
        assert!(beta == begun(1.0, 3, |_, _| ()));
    }

    #[test]
    fn few_support_vectors_are_left_to_the_rounds() {
        let beta = begun(8.0, 2, |state, _| assert!(state.f.iter().all(|&f| f == 0.0)));
        assert!(beta.iter().all(|&b| b == 0.0));
    }

    #[test]
    fn every_part_has_its_share_of_both_classes() {
        let (_, labels) = clouds(0.0);
        let parts = deal(&labels, 8);
        let mut all = parts.concat();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..N as u32));
        for rows in &parts {
            let positive = rows.iter().filter(|&&r| (r as usize) < N / 3).count();
            assert!(rows.is_sorted() && rows.len().abs_diff(N / 8) <= 1 && positive.abs_diff(N / 24) <= 1);
        }
    }
}
