//! Problems that are solved together: which the device takes, and how their rows and variables lie in its memory.

use std::collections::HashMap;
use std::sync::Arc;

use mercer::solve::{Groups, Method, Params, Problem, Shift};
use rayon::prelude::*;

use crate::back_end::BackEnd;
use crate::rows::Part;
use crate::state::Machine;

/// Kinds of rows that are looked through before a table is used.
const FEW: usize = 32;

/// Problems that the device can solve together.
pub(crate) struct Batch<'a> {
    pub(crate) problems: &'a [Problem<'a>],
    pub(crate) params: &'a Params,
    pub(crate) parts: Vec<Arc<Part>>,
}

/// The batch as arrays, machine after machine.
pub(crate) struct Arrays {
    pub(crate) machines: Vec<Machine>,
    /// The data's row at each place of the store's order: rows that the same machines see lie together.
    pub(crate) order: Vec<u32>,
    /// The place of each machine's rows.
    pub(crate) index: Vec<u32>,
}

impl<'a> Batch<'a> {
    /// None: some problem is not on rows of this device, or of a kind that only the CPU solves.
    pub(crate) fn new(back_end: &BackEnd, problems: &'a [Problem<'a>], params: &'a Params) -> Option<Self> {
        if params.method != Method::Auto || problems.is_empty() {
            return None;
        }
        let mut parts: Vec<Arc<Part>> = Vec::with_capacity(problems.len());
        for problem in problems {
            let owner = problem.rows.owner().filter(|owner| owner.device == params.exec.device())?;
            let part = back_end.register.get(owner.key)?;
            if parts.first().is_some_and(|first| !Arc::ptr_eq(&first.kept, &part.kept)) {
                return None;
            }
            parts.push(part);
        }
        if !problems.par_iter().all(taken) {
            return None;
        }
        Some(Batch { problems, params, parts })
    }

    /// Whether the values of working sets may be rounded to 16 bits while a set is solved, and steps to f32: what that brings
    /// into a gradient must stay below the tolerance. Gradients are updated with the rows themselves afterwards.
    pub(crate) fn is_short(&self) -> bool {
        let most =
            |p: &Problem<'_>| p.lower.iter().chain(&p.upper).fold(0.0_f64, |most, b| most.max(b.abs()));
        let largest = self.problems.par_iter().map(most).reduce(|| 0.0, f64::max);
        let plain = self.problems.iter().all(|p| p.shift == Shift::None);
        plain && self.parts[0].kept.map.is_unit() && largest / 65536.0 <= 0.5 * self.params.tol
    }

    pub(crate) fn arrays(&self) -> Arrays {
        let n = self.parts[0].kept.packed.n;
        // Rows that are seen by the same machines have the same number here.
        let mut seen = vec![0_u64; n];
        for (m, part) in self.parts.iter().enumerate() {
            let mark =
                |s: &mut u64| *s = (s.rotate_left(9) ^ (m as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            match &part.index {
                None => seen.iter_mut().for_each(mark),
                Some(index) => index.iter().for_each(|&r| mark(&mut seen[r as usize])),
            }
        }
        let (mut few, mut class): (Vec<u64>, HashMap<u64, usize>) = (Vec::with_capacity(FEW), HashMap::new());
        let mut count: Vec<usize> = Vec::new();
        let of: Vec<usize> = seen
            .iter()
            .map(|&s| {
                if s == 0 {
                    return usize::MAX;
                }
                // Few kinds of rows are the rule: looking through them costs less than hashing.
                let c = if let Some(c) = few.iter().position(|&f| f == s) {
                    c
                } else {
                    let next = few.len() + class.len();
                    if few.len() < FEW && class.is_empty() {
                        few.push(s);
                        next
                    } else {
                        *class.entry(s).or_insert(next)
                    }
                };
                if c == count.len() {
                    count.push(0);
                }
                count[c] += 1;
                c
            })
            .collect();
        let mut next: Vec<usize> = count
            .iter()
            .scan(0, |at, c| {
                *at += c;
                Some(*at - c)
            })
            .collect();
        let mut order = vec![0; count.iter().sum()];
        let mut place = vec![0_u32; n];
        for (r, &c) in of.iter().enumerate().filter(|&(_, &c)| c != usize::MAX) {
            order[next[c]] = r as u32;
            place[r] = next[c] as u32;
            next[c] += 1;
        }
        let mut index = vec![0_u32; self.parts.iter().map(|part| part.len()).sum()];
        let mut rest = index.as_mut_slice();
        let mut runs = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (run, after) = rest.split_at_mut(part.len());
            runs.push((part, run));
            rest = after;
        }
        runs.into_par_iter().for_each(|(part, run)| {
            run.iter_mut().enumerate().for_each(|(p, to)| *to = place[part.row(p) as usize]);
        });
        let (mut machines, mut row0, mut var0) = (Vec::with_capacity(self.parts.len()), 0, 0);
        for (problem, part) in self.problems.iter().zip(&self.parts) {
            let total = problem.linear.len();
            let most = self.params.max_iter.unwrap_or(10_000_000.max(100 * total as u64));
            machines.push(Machine {
                row0,
                var0,
                most: i64::try_from(most).unwrap_or(i64::MAX),
                n: part.len() as i32,
                total: total as i32,
                groups: groups(problem) as i32,
                pad: 0,
            });
            row0 += part.len() as i64;
            var0 += total as i64;
        }
        Arrays { machines, order, index }
    }
}

/// Whether the device solves problems of this kind.
fn taken(problem: &Problem<'_>) -> bool {
    let bounded = problem.lower.iter().chain(&problem.upper).all(|b| b.is_finite());
    let bends = match &problem.shift {
        Shift::None => false,
        Shift::Same(s) => *s > 0.0,
        Shift::Each(s) => s.iter().all(|&s| s > 0.0),
    };
    (bounded || bends) && problem.sides() <= 2 && groups(problem) <= 2
}

/// Number of groups.
pub(crate) fn groups(problem: &Problem<'_>) -> usize {
    match &problem.groups {
        Groups::One => 1,
        Groups::BySide => problem.sides(),
        Groups::ByRow(of) => of.iter().map(|&g| usize::from(g) + 1).max().unwrap_or(1),
    }
}

/// The group of a variable.
pub(crate) fn group(problem: &Problem<'_>, v: usize) -> usize {
    let n = problem.rows.len();
    match &problem.groups {
        Groups::One => 0,
        Groups::BySide => v / n,
        Groups::ByRow(of) => usize::from(of[v % n]),
    }
}

/// What a variable adds to the diagonal.
pub(crate) fn shift(problem: &Problem<'_>, v: usize) -> f64 {
    match &problem.shift {
        Shift::None => 0.0,
        Shift::Same(s) => *s,
        Shift::Each(s) => s[v],
    }
}
