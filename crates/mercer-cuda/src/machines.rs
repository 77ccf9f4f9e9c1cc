//! A batch of quadratic problems on the device: see `kernels/4_choose.cu` for the rounds.
//!
//! Cost of a round: the values of rows that no machine had in its working set before (n d multiply-adds each), and a pass over
//! the kept rows that changed. Rows are kept in f32 while they fit; then the one that was not used for longest goes. Where f32
//! rows could matter at the tolerance asked, the gradient is computed anew in f64 and solving goes on, as on the CPU.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use mercer::solve::{Groups, Method, Params, Problem, Shift, Solution};
use mercer::watch::{Step, Watch};

use crate::back_end::BackEnd;
use crate::driver::{Gpu, Outcome, Trouble};
use crate::exact;
use crate::memory::Memory;
use crate::rows::Part;
use crate::state::{CONVERGED, LIMIT, Machine, State, Work};
use crate::trace;
use crate::values::{Block, argument};

/// Rounds that are asked for before the host looks.
const ROUNDS: usize = 8;
/// Rounds without progress after which the CPU takes over.
const PATIENCE: usize = 4000;
/// Turns of recomputing the gradient in f64.
const TURNS: usize = 8;
/// Variables of a working set where few machines leave most of the device idle: what a block has threads for, four each.
const LARGE: usize = 1024;
/// The same where many machines advance together, so that their values fit into the L2 cache, and where very many do.
const MEDIUM: usize = 512;
const SMALL: usize = 256;
/// Machines that are many, and very many.
const MANY: usize = 12;
const VERY_MANY: usize = 80;
/// Rows are all kept where that takes no more than so many bytes.
const SMALL_STORE: usize = 8 << 30;
/// Bytes that the values of working sets may take together.
const MOST_VALUES: usize = 2 << 30;
/// Rows that a block of the gradients' update has, and variables of a block that ranks them.
const SPAN: usize = 64;
const RANKED: usize = 1024;
/// Bins of a machine's two lists.
const BINS: usize = 2 * 2048;

/// Problems that the device can solve together.
pub(crate) struct Batch<'a> {
    pub(crate) problems: &'a [Problem<'a>],
    pub(crate) params: &'a Params,
    pub(crate) parts: Vec<Arc<Part>>,
}

/// The batch as arrays, machine after machine.
struct Arrays {
    machines: Vec<Machine>,
    /// The data's row at each place of the store's order: rows that the same machines see lie together.
    order: Vec<u32>,
    /// The place of each machine's rows.
    index: Vec<u32>,
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
            if parts.first().is_some_and(|first| !Arc::ptr_eq(&first.kept, &part.kept)) || !taken(problem) {
                return None;
            }
            parts.push(part);
        }
        Some(Batch { problems, params, parts })
    }

    fn arrays(&self) -> Arrays {
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
        let mut class: HashMap<u64, usize> = HashMap::new();
        let mut count: Vec<usize> = Vec::new();
        let of: Vec<usize> = seen
            .iter()
            .map(|&s| {
                if s == 0 {
                    return usize::MAX;
                }
                let next = class.len();
                let c = *class.entry(s).or_insert(next);
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
        let mut index = Vec::with_capacity(self.parts.iter().map(|part| part.len()).sum());
        let (mut machines, mut var0) = (Vec::with_capacity(self.parts.len()), 0);
        for (problem, part) in self.problems.iter().zip(&self.parts) {
            let total = problem.linear.len();
            let most = self.params.max_iter.unwrap_or(10_000_000.max(100 * total as u64));
            machines.push(Machine {
                row0: index.len() as i64,
                var0,
                most: i64::try_from(most).unwrap_or(i64::MAX),
                n: part.len() as i32,
                total: total as i32,
                groups: groups(problem) as i32,
                pad: 0,
            });
            var0 += total as i64;
            index.extend((0..part.len()).map(|p| place[part.row(p) as usize]));
        }
        Arrays { machines, order, index }
    }

    /// Solves all of them; none where the CPU should: no progress in f32.
    pub(crate) fn solve(&self, gpu: &Arc<Gpu>, watch: &mut Watch<'_>) -> Outcome<Option<Vec<Solution>>> {
        let clock = Instant::now();
        let arrays = trace::host("arrays", || self.arrays());
        let mut run = trace::host("run new", || Run::new(self, &arrays, gpu))?;
        let cancelled;
        let mut turn = 0;
        let mut last = f64::INFINITY;
        loop {
            match trace::host("rounds", || run.rounds(watch))? {
                End::Stuck => return Ok(None),
                End::Cancelled => {
                    cancelled = true;
                    break;
                }
                End::Done => {}
            }
            trace::host("fetch", || run.fetch())?;
            let worst = trace::host("recheck", || run.recheck(&arrays))?;
            let Some(worst) = worst else {
                cancelled = false;
                break;
            };
            turn += 1;
            if turn > TURNS || worst > 0.5 * last {
                return Ok(None);
            }
            last = worst;
        }
        run.fetch()?;
        let values = run.rows_computed()? as u64 * arrays.order.len() as u64;
        trace::count("rows computed", values as f64 / arrays.order.len() as f64);
        trace::count("turns", turn as f64);
        let found =
            trace::host("solutions", || exact::solutions(self, &arrays.machines, &run.host, cancelled));
        let room = (run.work.capacity as usize, arrays.order.len());
        let seconds = clock.elapsed().as_secs_f64();
        Ok(Some(exact::finished(found, values, turn, room, seconds)))
    }
}

/// What the host has of the variables.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) f: Vec<f64>,
    pub(crate) beta: Vec<f64>,
    /// The variables when `f` was last exact.
    pub(crate) anchor: Vec<f64>,
    pub(crate) state: Vec<State>,
}

/// What is asked of the device.
#[derive(Clone, Copy)]
enum Phase {
    /// The brackets of gradients that were just written.
    Brackets,
    Round,
}

enum End {
    Done,
    Cancelled,
    Stuck,
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

/// A batch while it is solved.
struct Run<'a> {
    batch: &'a Batch<'a>,
    gpu: &'a Arc<Gpu>,
    work: Work,
    /// Machines that advance together.
    together: usize,
    /// Variables of the largest machine.
    most: usize,
    two_groups: bool,
    counters: Memory,
    state: Memory,
    f: Memory,
    beta: Memory,
    rounds: usize,
    host: Host,
    /// Everything else that `work` has the address of.
    _held: Vec<Memory>,
}

impl<'a> Run<'a> {
    fn new(batch: &'a Batch<'a>, arrays: &Arrays, gpu: &'a Arc<Gpu>) -> Outcome<Self> {
        let problems = batch.problems;
        let machines = &arrays.machines;
        let total: usize = problems.iter().map(|p| p.linear.len()).sum();
        let rows = arrays.index.len();
        let n = arrays.order.len();
        let most = machines.iter().map(|m| m.total as usize).max().unwrap_or(1);
        let (q, inner) = set_size(machines.len(), most);
        let mut held = Vec::new();
        let mut keep = |memory: Memory| {
            let at = memory.pointer();
            held.push(memory);
            at
        };
        let join = |of: fn(&'a Problem<'a>) -> &'a [f64]| -> Vec<f64> {
            let mut all = Vec::with_capacity(total);
            problems.iter().for_each(|p| all.extend_from_slice(of(p)));
            all
        };
        let begun = problems.iter().any(|p| {
            p.start.is_some() || p.lower.iter().any(|&lo| lo > 0.0) || p.upper.iter().any(|&up| up < 0.0)
        });
        let start = if begun {
            let at = |p: &Problem<'_>| {
                p.start.clone().unwrap_or_else(|| {
                    p.lower.iter().zip(&p.upper).map(|(&lo, &up)| 0.0_f64.clamp(lo, up)).collect()
                })
            };
            problems.iter().flat_map(at).collect()
        } else {
            vec![0.0; total]
        };
        let shifted = problems.iter().any(|p| p.shift != Shift::None);
        let grouped = problems.iter().any(|p| p.groups != Groups::One);
        let mut work = Work { q: q as i32, n: n as i32, ..Work::default() };
        work.machine = keep(Memory::of(gpu, machines)?);
        work.lower = keep(Memory::of(gpu, &join(|p| &p.lower))?);
        work.upper = keep(Memory::of(gpu, &join(|p| &p.upper))?);
        work.linear = keep(Memory::of(gpu, &join(|p| &p.linear))?);
        if shifted {
            let of = |p: &'a Problem<'a>| (0..p.linear.len()).map(move |v| shift(p, v));
            let all: Vec<f64> = problems.iter().flat_map(of).collect();
            work.shift = keep(Memory::of(gpu, &all)?);
        }
        if grouped {
            let of = |p: &Problem<'_>| (0..p.linear.len()).map(|v| group(p, v) as u8).collect::<Vec<_>>();
            let all: Vec<u8> = problems.iter().flat_map(of).collect();
            work.group = keep(Memory::of(gpu, &all)?);
        }
        work.mark = keep(Memory::filled(gpu, total, 0)?);
        work.key_up = keep(Memory::room(gpu, 4 * total)?);
        work.key_low = keep(Memory::room(gpu, 4 * total)?);
        work.index = keep(Memory::of(gpu, &arrays.index)?);
        work.order = keep(Memory::of(gpu, &arrays.order)?);
        let widest = machines.iter().map(|m| m.n as usize).max().unwrap_or(1);
        work.parts = widest.div_ceil(SPAN) as i32;
        work.inner = inner;
        work.part = keep(Memory::room(gpu, machines.len() * work.parts as usize * 2 * 16)?);
        work.hist = keep(Memory::filled(gpu, machines.len() * BINS * 4, 0)?);
        let sets = machines.len() * q;
        work.set = keep(Memory::filled(gpu, 4 * sets, 0)?);
        work.change_slot = keep(Memory::room(gpu, 4 * sets)?);
        work.change = keep(Memory::room(gpu, 8 * sets)?);
        work.slot = keep(Memory::filled(gpu, 4 * n, 0xff)?);
        work.need = keep(Memory::filled(gpu, n + 64, 0)?);
        work.fresh_rows = keep(Memory::room(gpu, 4 * n)?);
        work.fresh_slots = keep(Memory::room(gpu, 4 * n)?);
        let stride = n.next_multiple_of(32);
        let (store, capacity) = store(gpu, n, stride, q, machines.len())?;
        work.store = keep(store);
        work.stride = stride as i64;
        work.capacity = capacity as i32;
        // All machines at once where their sets have room together.
        let together = if capacity >= n { machines.len() } else { (capacity / q).clamp(1, machines.len()) };
        let together = together.min(MOST_VALUES / (4 * q * q));
        work.stamp = keep(Memory::filled(gpu, 4 * capacity, 0xff)?);
        work.owner = keep(Memory::room(gpu, 4 * capacity)?);
        work.local = keep(Memory::room(gpu, 4 * q * q * together)?);
        let counters = Memory::filled(gpu, 64, 0)?;
        work.counters = counters.pointer();
        let f = Memory::filled(gpu, 8 * rows, 0)?;
        work.f = f.pointer();
        let beta = Memory::of(gpu, &start)?;
        work.beta = beta.pointer();
        let states = vec![State::new(batch.params.tol); machines.len()];
        let state = Memory::of(gpu, &states)?;
        work.state = state.pointer();
        let anchor = if begun { start.clone() } else { vec![0.0; total] };
        let host = Host { f: vec![0.0; rows], beta: start, anchor, state: states };
        let mut run = Run {
            batch,
            gpu,
            work,
            together,
            most,
            two_groups: machines.iter().any(|m| m.groups > 1),
            counters,
            state,
            f,
            beta,
            rounds: 0,
            host,
            _held: held,
        };
        if begun {
            for m in 0..machines.len() {
                run.recompute(arrays, m)?;
            }
            run.f.write(0, &run.host.f)?;
        }
        Ok(run)
    }

    /// A machine's `f` from its variables, exact, on the host.
    fn recompute(&mut self, arrays: &Arrays, m: usize) -> Outcome<()> {
        let at = &arrays.machines[m];
        let (row0, var0, n) = (at.row0 as usize, at.var0 as usize, at.n as usize);
        let beta = &self.host.beta[var0..var0 + at.total as usize];
        let f = &mut self.host.f[row0..row0 + n];
        exact::outputs(self.gpu, &self.batch.parts[m], beta, f)
    }

    /// Goes on until every machine is done.
    fn rounds(&mut self, watch: &mut Watch<'_>) -> Outcome<End> {
        let all = self.batch.problems.len();
        for from in (0..all).step_by(self.together) {
            let count = self.together.min(all - from);
            self.launch(from, count, Phase::Brackets)?;
            let (mut best, mut since) = ((usize::MAX, f64::INFINITY), self.rounds);
            loop {
                let rounds = if trace::is_on() { 1 } else { ROUNDS };
                for _ in 0..rounds {
                    trace::host("launching", || self.launch(from, count, Phase::Round))?;
                }
                self.rounds += rounds;
                let before: i64 = self.host.state[from..from + count].iter().map(|s| s.iterations).sum();
                let states = &mut self.host.state[from..from + count];
                self.state.read(from * size_of::<State>(), states)?;
                trace::count("rounds", rounds as f64);
                trace::count("steps", (states.iter().map(|s| s.iterations).sum::<i64>() - before) as f64);
                let open = states.iter().filter(|state| state.done == 0);
                trace::count("variables changed", open.map(|s| f64::from(s.changed)).sum());
                if states.iter().all(|state| state.done != 0) {
                    break;
                }
                let gap = states.iter().filter(|s| s.done == 0).map(|s| s.gap).fold(0.0, f64::max);
                let open = states.iter().filter(|s| s.done == 0).count();
                if !gap.is_finite() {
                    return Ok(End::Stuck);
                }
                // Fewer machines are progress too.
                if open < best.0 || gap < 0.999 * best.1 {
                    (best, since) = ((open, gap), self.rounds);
                } else if self.rounds - since > PATIENCE {
                    return Ok(End::Stuck);
                }
                let iterations: i64 = self.host.state.iter().map(|s| s.iterations).sum();
                if let ControlFlow::Break(()) = watch(&Step::new("solve", iterations as u64, None).gap(gap)) {
                    return Ok(End::Cancelled);
                }
            }
        }
        let mut failed = [0_i32; 6];
        self.counters.read(0, &mut failed)?;
        if failed[4] != 0 {
            return Err(Trouble::Memory);
        }
        Ok(End::Done)
    }

    /// Asks for one round of some machines, or for what comes before the first.
    fn launch(&mut self, from: usize, count: usize, phase: Phase) -> Outcome<()> {
        let (gpu, q) = (self.gpu, self.work.q as usize);
        let mut work = self.work;
        work.machine += (from * size_of::<Machine>()) as u64;
        work.state += (from * size_of::<State>()) as u64;
        work.set += (4 * from * q) as u64;
        work.change_slot += (4 * from * q) as u64;
        work.change += (8 * from * q) as u64;
        work.part += (from * work.parts as usize * 2 * 16) as u64;
        work.hist += (from * BINS * 4) as u64;
        let kept = &self.batch.parts[0].kept;
        let mut block = Block::new(
            (kept.loaded.side(None), work.n as usize),
            (kept.loaded.side(None), work.n as usize),
            &kept.packed,
            work.store,
            work.stride as usize,
        );
        block.a.rows = work.fresh_rows;
        block.b.rows = work.order;
        block.count = work.counters;
        block.place = work.fresh_slots;
        // Four variables a thread in large sets, else two.
        let (each, solver) = match (q > MEDIUM, self.two_groups) {
            (false, false) => (2, "solve_two_one"),
            (false, true) => (2, "solve_two_two"),
            (true, false) => (4, "solve_four_one"),
            (true, true) => (4, "solve_four_two"),
        };
        let ranks = self.most.div_ceil(RANKED);
        // SAFETY: all these functions take `Work` alone, whose addresses belong to memory that `self` holds; the grids are
        // those their comments ask for.
        unsafe {
            if let Phase::Brackets = phase {
                return gpu.launch(
                    "add_changes",
                    (work.parts as usize, count),
                    256,
                    0,
                    &mut [argument(&mut work)],
                );
            }
            gpu.launch("rank_variables", (ranks, count), 256, 0, &mut [argument(&mut work)])?;
            gpu.launch("choose_set", (count, 1), 1024, 0, &mut [argument(&mut work)])?;
            gpu.launch("assign_slots", (1, 1), 1024, 0, &mut [argument(&mut work)])?;
            block.launch(gpu, &kept.map, kept.packed.is_bytes(), false)?;
            gpu.launch("gather_set", (q, count), 256, 0, &mut [argument(&mut work)])?;
            gpu.launch(solver, (count, 1), q / each, SET_BYTES * q, &mut [argument(&mut work)])?;
            gpu.launch("add_changes", (work.parts as usize, count), 256, 0, &mut [argument(&mut work)])
        }
    }

    /// Copies variables and gradients to the host.
    fn fetch(&mut self) -> Outcome<()> {
        self.f.read(0, &mut self.host.f)?;
        self.beta.read(0, &mut self.host.beta)?;
        self.state.read(0, &mut self.host.state)
    }

    fn rows_computed(&self) -> Outcome<i32> {
        let mut counters = [0_i32; 6];
        self.counters.read(0, &mut counters)?;
        Ok(counters[5])
    }

    /// Computes gradients anew in f64 where rounding of the rows could matter, and lets those machines go on that do not meet
    /// the tolerance then: the largest violation of these, or none if all are done.
    fn recheck(&mut self, arrays: &Arrays) -> Outcome<Option<f64>> {
        let tol = self.batch.params.tol;
        let mut worst: Option<f64> = None;
        for m in 0..self.batch.problems.len() {
            let state = self.host.state[m];
            if state.done == LIMIT {
                continue;
            }
            let at = arrays.machines[m];
            let (row0, var0, total) = (at.row0 as usize, at.var0 as usize, at.total as usize);
            let vars = var0..var0 + total;
            let noise = exact::noise(
                &self.batch.parts[m],
                &self.host.beta[vars.clone()],
                &self.host.anchor[vars.clone()],
            );
            if state.done == CONVERGED && noise <= exact::NEGLIGIBLE * tol {
                continue;
            }
            self.recompute(arrays, m)?;
            self.host.anchor[vars.clone()].copy_from_slice(&self.host.beta[vars.clone()]);
            let f = &self.host.f[row0..row0 + at.n as usize];
            let gap = exact::gap(&self.batch.problems[m], &self.host.beta[vars], f);
            let mut now = State { gap, done: CONVERGED, idle: 0, changed: 0, ..state };
            if gap > tol * (1.0 + 1e-6) {
                (now.done, now.target) = (0, 0.7 * tol);
                worst = Some(worst.unwrap_or(0.0).max(gap));
            }
            self.f.write(8 * row0, f)?;
            self.host.state[m] = now;
            self.state.write(m * size_of::<State>(), &[now])?;
        }
        Ok(worst)
    }
}

/// Shared memory of a variable while its set is solved.
const SET_BYTES: usize = 2 * 8 + 3 * 4;

/// Variables of each working set, and how exactly it is solved as a share of the violation there is: large sets take few
/// rounds, and need not be solved as far.
fn set_size(machines: usize, most: usize) -> (usize, f64) {
    let size = match machines {
        ..MANY => LARGE,
        ..VERY_MANY => MEDIUM,
        _ => SMALL,
    };
    // Whole warps of two variables a thread.
    let size = if most < size { most.next_multiple_of(64).min(size) } else { size };
    (if size > MEDIUM { LARGE } else { size }, if size > MEDIUM { 0.3 } else { 0.1 })
}

/// How many rows to keep, from the most that is wanted to the least that works; none: not even that fits.
fn sizes(n: usize, line: usize, free: usize, least: usize) -> Vec<usize> {
    let most = n.min((free / 10 * 8) / line).min((SMALL_STORE / line).max(n.div_ceil(2)));
    std::iter::successors(Some(most), |rows| Some(rows / 2))
        .take_while(|&rows| rows >= least.max(1))
        .collect()
}

/// Room for rows: all of them where that is little, else half of them or what there is.
fn store(gpu: &Arc<Gpu>, n: usize, stride: usize, q: usize, machines: usize) -> Outcome<(Memory, usize)> {
    let line = 4 * stride;
    let free = gpu.free.saturating_sub(gpu.used.load(Ordering::Relaxed));
    // One machine's set must fit, and two are better than one after the other.
    let least = n.min(q * machines.min(2));
    for rows in sizes(n, line, free, least) {
        match Memory::room(gpu, rows * line) {
            Ok(memory) => return Ok((memory, rows)),
            Err(Trouble::Memory) => {}
            Err(trouble) => return Err(trouble),
        }
    }
    Err(Trouble::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_sets_are_whole_warps_and_smaller_where_machines_are_many() {
        assert_eq!((set_size(1, 50_000).0, set_size(45, 12_000).0, set_size(325, 1200).0), (1024, 512, 256));
        assert_eq!((set_size(1, 1).0, set_size(1, 65).0, set_size(3, 700).0), (64, 128, 1024));
        for most in [1, 40, 64, 300, 511, 513, 1000, 5000] {
            for machines in [1, 11, 12, 79, 80, 1000] {
                let (q, _) = set_size(machines, most);
                assert!(q % if q > MEDIUM { 128 } else { 64 } == 0 && q <= LARGE, "{machines}, {most}: {q}");
            }
        }
    }

    #[test]
    fn the_store_shrinks_with_the_memory_and_is_given_up_where_no_set_fits() {
        let line = |n: usize| 4 * n.next_multiple_of(32);
        // All rows where they are few; half of them on a large device; what there is on a small one.
        assert_eq!(sizes(20_000, line(20_000), 100 << 30, 448)[0], 20_000);
        assert_eq!(sizes(300_000, line(300_000), 400 << 30, 448)[0], 150_000);
        let small = sizes(300_000, line(300_000), 10 << 30, 448);
        assert!(small[0] < 7200 && small.iter().all(|&rows| rows >= 448) && small.len() > 3, "{small:?}");
        assert!(sizes(300_000, line(300_000), 100 << 20, 448).is_empty());
    }
}
