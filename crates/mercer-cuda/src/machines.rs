//! A batch of quadratic problems on the device: see `kernels/4_choose.cu` for the rounds.
//!
//! Cost of a round: the values of rows that no machine had in its working set before (n d multiply-adds each), and a pass over
//! the kept rows that changed. Rows are kept in f32 while they fit; then the one that was not used for longest goes. Where f32
//! rows could matter at the tolerance asked, the gradient is computed anew in f64 and solving goes on, as on the CPU.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use mercer::solve::{Groups, Problem, Shift, Solution};
use mercer::watch::{Step, Watch};
use rayon::prelude::*;

use crate::batch::{Arrays, Batch, group, shift};
use crate::driver::{Gpu, Outcome, Trouble};
use crate::exact;
use crate::memory::{Memory, bytes_of};
use crate::sizes::{SMALL, set_size, store};
use crate::state::{Machine, State, Work};
use crate::trace;
use crate::values::{Block, argument};

/// Rounds that are asked for before the host looks.
const ROUNDS: usize = 8;
/// Rounds without progress after which the CPU takes over.
const PATIENCE: usize = 4000;
/// What machines are solved to, as a share of the tolerance: objectives then agree with those of the CPU to more digits.
pub(crate) const FINER: f64 = 0.3;
/// Turns of recomputing the gradient in f64.
const TURNS: usize = 8;
/// Bytes that the values of working sets may take together.
const MOST_VALUES: usize = 2 << 30;
/// Rows that a block of the gradients' update has, and variables of a block that ranks them.
const SPAN: usize = 64;
const RANKED: usize = 1024;
/// Bins of a machine's two lists.
const BINS: usize = 2 * 2048;

impl Batch<'_> {
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
                    run.fetch()?;
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

/// The variables on the host.
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

/// A batch while it is solved.
pub(crate) struct Run<'a> {
    pub(crate) batch: &'a Batch<'a>,
    pub(crate) gpu: &'a Arc<Gpu>,
    work: Work,
    /// Machines that advance together.
    together: usize,
    /// Variables of the largest machine.
    most: usize,
    two_groups: bool,
    /// Whether the values of sets are kept in 16 bits.
    short: bool,
    counters: Memory,
    pub(crate) state: Memory,
    pub(crate) f: Memory,
    beta: Memory,
    rounds: usize,
    pub(crate) host: Host,
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
        let exec = batch.params.exec;
        let many = |values: &[f64]| Memory::of_many(gpu, bytes_of(values), exec);
        // A machine's share of an array each.
        let join = |of: &(dyn Fn(&Problem<'_>, &mut [f64]) + Sync)| -> Vec<f64> {
            let mut all = vec![0.0; total];
            let mut rest = all.as_mut_slice();
            let mut parts = Vec::with_capacity(problems.len());
            for problem in problems {
                let (part, after) = rest.split_at_mut(problem.linear.len());
                parts.push((problem, part));
                rest = after;
            }
            parts.into_par_iter().for_each(|(problem, part)| of(problem, part));
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
            join(&|p, part| part.copy_from_slice(&at(p)))
        } else {
            vec![0.0; total]
        };
        let shifted = problems.iter().any(|p| p.shift != Shift::None);
        let grouped = problems.iter().any(|p| p.groups != Groups::One);
        let mut work = Work { q: q as i32, n: n as i32, ..Work::default() };
        work.machine = keep(Memory::of(gpu, machines)?);
        work.lower = keep(many(&join(&|p, part| part.copy_from_slice(&p.lower)))?);
        work.upper = keep(many(&join(&|p, part| part.copy_from_slice(&p.upper)))?);
        work.linear = keep(many(&join(&|p, part| part.copy_from_slice(&p.linear)))?);
        if shifted {
            let each = |p: &Problem<'_>, part: &mut [f64]| {
                part.iter_mut().enumerate().for_each(|(v, to)| *to = shift(p, v));
            };
            work.shift = keep(many(&join(&each))?);
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
        let beta = many(&start)?;
        work.beta = beta.pointer();
        let states = vec![State::new(FINER * batch.params.tol); machines.len()];
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
            short: batch.is_short(),
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

    /// Iterates until every machine is done.
    fn rounds(&mut self, watch: &mut Watch<'_>) -> Outcome<End> {
        let all = self.batch.problems.len();
        for from in (0..all).step_by(self.together) {
            let count = self.together.min(all - from);
            if watch(&Step::new("solve", 0, None)).is_break() {
                return Ok(End::Cancelled);
            }
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
        // Variables a thread: as many as keep all warps of a block busy.
        let (each, solver, bytes) = match (self.short, q > SMALL, self.two_groups) {
            (false, false, false) => (2, "solve_two_one", SET_BYTES),
            (false, false, true) => (2, "solve_two_two", SET_BYTES),
            (false, true, false) => (4, "solve_four_one", SET_BYTES),
            (false, true, true) => (4, "solve_four_two", SET_BYTES),
            (true, _, false) => (2, "solve_unit_one", UNIT_BYTES),
            (true, _, true) => (2, "solve_unit_two", UNIT_BYTES),
        };
        let gather = if self.short { "gather_set_u16" } else { "gather_set_f32" };
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
            gpu.launch(gather, (q, count), 256, 0, &mut [argument(&mut work)])?;
            gpu.launch(solver, (count, 1), q / each, bytes * q, &mut [argument(&mut work)])?;
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
}

/// Shared memory of a variable while its set is solved.
const SET_BYTES: usize = 2 * 8 + 5 * 4;
/// The same with values of 16 bits.
const UNIT_BYTES: usize = 4 * 4;
