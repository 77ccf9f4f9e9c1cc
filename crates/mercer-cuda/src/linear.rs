//! Linear systems in a matrix that the device keeps: preconditioned conjugate gradients, all right-hand sides side by side.
//!
//! ```text
//! (K + D) x = b,      preconditioner  B' M^-1 B + D  with  B = K on some rows, M = B on the same columns
//! ```
//!
//! Its inverse is `D^-1 - D^-1 B' (M + B D^-1 B')^-1 B D^-1` (Woodbury). The inner matrix is factored on the device. A product with
//! K streams the matrix once for all right-hand sides. Values are f32 in the iteration; the residual is computed in f64 values and
//! solved for again until it satisfies the tolerance.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use mercer::solve::{Solved, System};
use mercer::watch::{Info, Note, Step, Stop, Watch};

use crate::driver::{Gpu, Outcome};
use crate::factor::{Factor, TILE, Times};
use crate::memory::{Memory, Plain};
use crate::rows::Part;
use crate::trace;
use crate::values::{Block, MOST_SCRATCH, Pair, Side, Values, argument, launch_times};

/// Rows below which the CPU's factor is as fast.
const FEW: usize = 4096;
/// Rows of the preconditioner: at most so many, whole tiles of its factor.
const RANK: usize = 6144;
/// Rounds of refinement, products in each, and products between two looks.
const ROUNDS: usize = 8;
const PRODUCTS: usize = 2000;
const LOOK: usize = 8;

/// Mirrors `Gradients` of `kernels/7_linear.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Gradients {
    shift: u64,
    x: u64,
    r: u64,
    z: u64,
    p: u64,
    q: u64,
    scaled: u64,
    low: u64,
    state: u64,
    goal: u64,
    n: i32,
    pad: i32,
}

// SAFETY: numbers in a fixed layout.
unsafe impl Plain for Gradients {}

/// The preconditioner on the device: B and its transpose, and the factor of the inner matrix.
struct Near {
    m: usize,
    wide: (Memory, usize),
    tall: (Memory, usize),
    inner: Factor,
}

/// Solves a system; none where the CPU should.
pub(crate) fn solve(
    part: &Part,
    system: &System<'_>,
    gpu: &Arc<Gpu>,
    watch: &mut Watch<'_>,
) -> Outcome<Option<Solved>> {
    let clock = Instant::now();
    let (n, k) = (part.len(), system.right.len());
    let fine = |v: &f64| v.is_finite();
    let positive = system.shift.iter().all(|&s| s > 0.0 && s.is_finite());
    let whole_right = system.right.iter().all(|b| b.len() == n && b.iter().all(fine));
    if part.index.is_some()
        || !gpu.fast_f64
        || n < FEW
        || k == 0
        || !positive
        || !whole_right
        || system.shift.len() != n
    {
        return Ok(None);
    }
    let Some(whole) = trace::host("whole matrix", || part.kept.whole(gpu)) else { return Ok(None) };
    let shift = Memory::of(gpu, system.shift)?;
    let Some(near) = trace::host("preconditioner", || Near::new(part, &shift, gpu))? else {
        return Ok(None);
    };
    let room = |numbers: usize| Memory::filled(gpu, 8 * numbers, 0);
    let (x, r, z, p, q) = (room(n * k)?, room(n * k)?, room(n * k)?, room(n * k)?, room(n * k)?);
    let (scaled, low) = (room(n * k)?, room(n * k)?);
    let (state, goal) = (room(3 * k)?, room(k)?);
    let (inside, turned) = (room(near.m * k)?, room(near.m * k)?);
    let mut g = Gradients {
        shift: shift.pointer(),
        x: x.pointer(),
        r: r.pointer(),
        z: z.pointer(),
        p: p.pointer(),
        q: q.pointer(),
        scaled: scaled.pointer(),
        low: low.pointer(),
        state: state.pointer(),
        goal: goal.pointer(),
        n: n as i32,
        pad: 0,
    };
    // SAFETY: all these functions take `Gradients`, whose addresses belong to the memory above; a block for each vector.
    let run = |name: &'static str, g: &mut Gradients| unsafe {
        gpu.launch(name, (k, 1), 1024, 0, &mut [argument(g)])
    };
    let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let scale: Vec<f64> = system.right.iter().map(|b| length(b)).collect();
    let mut found = vec![0.0; n * k];
    let mut rest: Vec<f64> = system.right.concat();
    let relative = |rest: &[f64]| -> f64 {
        let of = |(r, s): (&[f64], &f64)| if *s > 0.0 { length(r) / s } else { 0.0 };
        rest.chunks(n).zip(&scale).map(of).fold(0.0, f64::max)
    };
    let (mut now, mut done, mut cancelled) = (relative(&rest), 0_u64, false);
    for _ in 0..ROUNDS {
        if now <= system.tol || cancelled {
            break;
        }
        // Slightly below the tolerance, and never below what f32 resolves: each right-hand side on its own.
        let aim = |(r, s): (&[f64], &f64)| {
            let wanted = (0.3 * system.tol * s).max(1e-6 * length(r));
            wanted * wanted
        };
        goal.write(0, &rest.chunks(n).zip(&scale).map(aim).collect::<Vec<f64>>())?;
        r.write(0, &rest)?;
        run("cg_begin", &mut g)?;
        for turn in 0..PRODUCTS {
            near.apply(gpu, (&scaled, &inside, &turned, &low), n, k)?;
            let mut first = i32::from(turn == 0);
            // SAFETY: as above, with one number more.
            unsafe { gpu.launch("cg_turn", (k, 1), 1024, 0, &mut [argument(&mut g), argument(&mut first)]) }?;
            launch_times(gpu, Values::Narrow(&whole.values, whole.stride), &p, &q, (n, n), k)?;
            run("cg_forward", &mut g)?;
            done += 1;
            if turn % LOOK == LOOK - 1 {
                let mut states = vec![0.0; 3 * k];
                trace::host("gradients", || state.read(0, &mut states))?;
                if states.chunks(3).all(|s| s[2] != 0.0) {
                    break;
                }
                let of = |(s, scale): (&[f64], &f64)| s[1].sqrt() / scale.max(f64::MIN_POSITIVE);
                let gap = states.chunks(3).zip(&scale).map(of).fold(0.0, f64::max);
                if let ControlFlow::Break(()) = watch(&Step::new("solve", done, None).gap(gap)) {
                    cancelled = true;
                    break;
                }
            }
        }
        let mut change = vec![0.0; n * k];
        x.read(0, &mut change)?;
        let better: Vec<f64> = found.iter().zip(&change).map(|(a, b)| a + b).collect();
        let exact = trace::host("residual", || product(part, gpu, &better, k))?;
        let residual: Vec<f64> = (0..n * k)
            .map(|at| system.right[at / n][at % n] - exact[at] - system.shift[at % n] * better[at])
            .collect();
        let after = relative(&residual);
        if !after.is_finite() || after > 0.5 * now && !cancelled {
            return Ok(None);
        }
        if after < now {
            (found, rest, now) = (better, residual, after);
        }
    }
    if now > system.tol && !cancelled {
        return Ok(None);
    }
    let note = format!("conjugate gradients on the device, preconditioner of rank {}", near.m);
    let mut info = Info::default();
    info.stop = if cancelled { Stop::Cancelled } else { Stop::Converged };
    info.iterations = done;
    info.gap = now;
    info.kernel_values = (n as u64).pow(2);
    info.seconds = clock.elapsed().as_secs_f64();
    info.notes = vec![Note::from(note)];
    Ok(Some((found.chunks(n).map(<[f64]>::to_vec).collect(), info)))
}

/// `K x` with values in f64, some rows at a time.
fn product(part: &Part, gpu: &Arc<Gpu>, x: &[f64], k: usize) -> Outcome<Vec<f64>> {
    let (n, kept) = (part.len(), &part.kept);
    let stride = n.next_multiple_of(32);
    let high = (gpu.left() / 4).min(MOST_SCRATCH) / (8 * stride);
    let high = (high / 128 * 128).clamp(128, n.next_multiple_of(128));
    // Products read the padding too.
    let scratch = Memory::filled(gpu, 8 * high * stride, 0)?;
    let (x, sums) = (Memory::of(gpu, x)?, Memory::room(gpu, 8 * high * k)?);
    let mut out = vec![0.0; n * k];
    let pair = Pair {
        gpu,
        map: &kept.map,
        like: &kept.packed,
        a: (kept.loaded.side(None), n),
        b: (kept.loaded.side(None), n),
    };
    for from in (0..n).step_by(high) {
        let rows = high.min(n - from);
        let block = Block::new((pair.part(from), rows), pair.b, &kept.packed, scratch.pointer(), stride);
        block.launch(gpu, &kept.map, kept.packed.is_bytes(), true)?;
        launch_times(gpu, Values::Wide(&scratch, stride), &x, &sums, (rows, n), k)?;
        let mut some = vec![0.0; rows * k];
        sums.read(0, &mut some)?;
        for (to, some) in out.chunks_mut(n).zip(some.chunks(rows)) {
            to[from..from + rows].copy_from_slice(some);
        }
    }
    Ok(out)
}

impl Near {
    /// None where the inner matrix cannot be inverted.
    fn new(part: &Part, shift: &Memory, gpu: &Arc<Gpu>) -> Outcome<Option<Self>> {
        let (n, kept) = (part.len(), &part.kept);
        let m = RANK.min(n / 4);
        // Rows at even distances, in an order that no pattern of the data shares: a stride near the golden section.
        let rows: Vec<u32> =
            (0..m).map(|i| ((i as f64 * 0.618_033_988_749_895).fract() * n as f64) as u32).collect();
        let mut rows: Vec<u32> = rows.into_iter().map(|r| r.min(n as u32 - 1)).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.truncate(rows.len() / TILE * TILE);
        let m = rows.len();
        let numbers = Memory::of(gpu, &rows)?;
        let (some, all) = ((kept.loaded.side(Some(&numbers)), m), (kept.loaded.side(None), n));
        let values = |a: (Side, usize), b: (Side, usize), high: usize| -> Outcome<(Memory, usize)> {
            let stride = b.1.next_multiple_of(32);
            let out = Memory::filled(gpu, 4 * high * stride, 0)?;
            let block = Block::new(a, b, &kept.packed, out.pointer(), stride);
            block.launch(gpu, &kept.map, kept.packed.is_bytes(), false)?;
            Ok((out, stride))
        };
        let (wide, tall) = (values(some, all, m)?, values(all, some, n)?);
        let inner = Factor::room(gpu, m)?;
        {
            let columns = n.next_multiple_of(16);
            let over = Memory::room(gpu, 8 * m * columns)?;
            let (mut from, mut stride) = (wide.0.pointer(), wide.1 as i64);
            let (mut at, mut to, mut long, mut all) =
                (shift.pointer(), over.pointer(), columns as i64, n as i32);
            // SAFETY: arguments in the function's order; m rows of n columns, and of `columns` on the other side.
            unsafe {
                gpu.launch(
                    "factor_rows",
                    (columns.div_ceil(256), m),
                    256,
                    0,
                    &mut [
                        argument(&mut from),
                        argument(&mut stride),
                        argument(&mut at),
                        argument(&mut to),
                        argument(&mut long),
                        argument(&mut all),
                    ],
                )
            }?;
            let (a, c) = ((to, columns), (inner.l.pointer(), m));
            Times { lower: 1, ..Times::new(a, a, c, (m, m, columns)) }.launch(gpu)?;
        }
        let (own, high) = values(some, some, m)?;
        let (mut from, mut stride, mut to, mut long, mut all) =
            (own.pointer(), high as i64, inner.l.pointer(), m as i64, m as i32);
        // SAFETY: arguments in the function's order; m rows and columns on both sides.
        unsafe {
            gpu.launch(
                "factor_add",
                (m.div_ceil(256), m),
                256,
                0,
                &mut [
                    argument(&mut from),
                    argument(&mut stride),
                    argument(&mut to),
                    argument(&mut long),
                    argument(&mut all),
                ],
            )
        }?;
        // Rows that are alike make it singular.
        let size = rows.iter().map(|&r| kept.diag[r as usize].abs()).fold(0.0, f64::max);
        if !inner.run(gpu, 1e-6 * size)? {
            return Ok(None);
        }
        Ok(Some(Near { m, wide, tall, inner }))
    }

    /// `low = B' inner^-1 B scaled`.
    fn apply(
        &self,
        gpu: &Arc<Gpu>,
        (scaled, inside, turned, low): (&Memory, &Memory, &Memory, &Memory),
        n: usize,
        k: usize,
    ) -> Outcome<()> {
        let m = self.m;
        launch_times(gpu, Values::Narrow(&self.wide.0, self.wide.1), scaled, inside, (m, n), k)?;
        self.inner.solve(gpu, false, inside, turned, k)?;
        self.inner.solve(gpu, true, turned, inside, k)?;
        launch_times(gpu, Values::Narrow(&self.tall.0, self.tall.1), inside, low, (n, m), k)
    }
}
