//! Linear systems in a matrix that the device keeps: preconditioned conjugate gradients, all right-hand sides side by side.
//!
//! ```text
//! (K + D) x = b,      preconditioner  B' M^-1 B + D  with  B = K on some rows, M = B on the same columns
//! ```
//!
//! Its inverse is `D^-1 - D^-1 B' (M + B D^-1 B')^-1 B D^-1` (Woodbury). The inner matrix is inverted on the host. A product with
//! K streams the matrix once for all right-hand sides. Values are f32 in the iteration; the residual is computed in f64 values and
//! solved for again until it satisfies the tolerance.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use mercer::num::factor::Spd;
use mercer::solve::{Solved, System};
use mercer::watch::{Info, Note, Step, Stop, Watch};
use rayon::prelude::*;

use crate::driver::{Gpu, Outcome};
use crate::memory::{Memory, Plain};
use crate::rows::Part;
use crate::trace;
use crate::values::{Block, Pair, Side, argument, launch_times};

/// Rows below which the CPU's factor is as fast.
const FEW: usize = 4096;
/// Rows of the preconditioner.
const RANK: usize = 2048;
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

/// The preconditioner on the device: B and its transpose, and the inverse of the inner matrix.
struct Near {
    m: usize,
    wide: (Memory, usize),
    tall: (Memory, usize),
    inner: Memory,
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
    if part.index.is_some() || n < FEW || k == 0 || !positive || !whole_right || system.shift.len() != n {
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
            launch_times(gpu, (&whole.values, whole.stride), &p, &q, (n, n), k)?;
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

/// `K x` with values in f64.
fn product(part: &Part, gpu: &Arc<Gpu>, x: &[f64], k: usize) -> Outcome<Vec<f64>> {
    let (n, kept) = (part.len(), &part.kept);
    let coef: Vec<f64> = (0..n * k).map(|at| x[at % k * n + at / k]).collect();
    let (coef, total) = (Memory::of(gpu, &coef)?, Memory::filled(gpu, 8 * n * k, 0)?);
    let side = (kept.loaded.side(None), n);
    Pair { gpu, map: &kept.map, like: &kept.packed, a: side, b: side }.sums(&coef, k, &total, true)?;
    let mut out = vec![0.0; n * k];
    total.read(0, &mut out)?;
    Ok((0..n * k).map(|at| out[at % n * k + at / n]).collect())
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
        let mut inner = vec![0.0; m * m];
        {
            let over = Memory::room(gpu, 8 * m * n)?;
            let sums = Memory::room(gpu, 8 * m * m)?;
            let (mut from, mut stride) = (wide.0.pointer(), wide.1 as i64);
            let (mut at, mut to, mut columns) = (shift.pointer(), over.pointer(), n as i32);
            // SAFETY: arguments in the function's order; m rows of n columns on both sides.
            unsafe {
                gpu.launch(
                    "rows_over_shift",
                    (n.div_ceil(256), m),
                    256,
                    0,
                    &mut [
                        argument(&mut from),
                        argument(&mut stride),
                        argument(&mut at),
                        argument(&mut to),
                        argument(&mut columns),
                    ],
                )
            }?;
            launch_times(gpu, (&wide.0, wide.1), &over, &sums, (m, n), m)?;
            sums.read(0, &mut inner)?;
        }
        let (own, high) = values(some, some, m)?;
        let mut square = vec![0.0_f32; m * high];
        own.read(0, &mut square)?;
        let most = (0..m).map(|a| f64::from(square[a * high + a]).abs()).fold(0.0, f64::max);
        inner.par_chunks_mut(m).zip(square.par_chunks(high)).enumerate().for_each(|(a, (inner, square))| {
            inner.iter_mut().zip(square).for_each(|(to, v)| *to += f64::from(*v));
            // Rows that are alike make it singular.
            inner[a] += 1e-6 * most;
        });
        for a in 0..m {
            for b in 0..a {
                let mean = 0.5 * (inner[a * m + b] + inner[b * m + a]);
                (inner[a * m + b], inner[b * m + a]) = (mean, mean);
            }
        }
        let mut inverse = vec![0.0; m * m];
        (0..m).for_each(|a| inverse[a * m + a] = 1.0);
        let Ok(factor) = trace::host("factor", || Spd::new(&inner, m)) else { return Ok(None) };
        trace::host("inverse", || factor.solve(&mut inverse, m));
        if inverse.iter().any(|v| !v.is_finite()) {
            return Ok(None);
        }
        Ok(Some(Near { m, wide, tall, inner: Memory::of(gpu, &inverse)? }))
    }

    /// `low = B' inner B scaled`.
    fn apply(
        &self,
        gpu: &Arc<Gpu>,
        (scaled, inside, turned, low): (&Memory, &Memory, &Memory, &Memory),
        n: usize,
        k: usize,
    ) -> Outcome<()> {
        let m = self.m;
        let (mut wide, mut stride, mut from) = (self.wide.0.pointer(), self.wide.1 as i64, scaled.pointer());
        let (mut a, mut x, mut out) = (self.inner.pointer(), inside.pointer(), turned.pointer());
        let (mut high, mut columns, mut vectors) = (m as i32, n as i32, k as i32);
        // SAFETY: arguments in the function's order; m rows of n numbers, n for each of k vectors and m of what comes of it.
        unsafe {
            gpu.launch(
                "wide_times",
                (m.div_ceil(8), k.div_ceil(6)),
                256,
                0,
                &mut [
                    argument(&mut wide),
                    argument(&mut stride),
                    argument(&mut from),
                    argument(&mut x),
                    argument(&mut high),
                    argument(&mut columns),
                    argument(&mut vectors),
                ],
            )
        }?;
        // SAFETY: arguments in the function's order; m x m numbers, m for each of k vectors.
        unsafe {
            gpu.launch(
                "small_times",
                (m.div_ceil(8), k),
                256,
                0,
                &mut [argument(&mut a), argument(&mut x), argument(&mut out), argument(&mut high)],
            )
        }?;
        launch_times(gpu, (&self.tall.0, self.tall.1), turned, low, (n, m), k)
    }
}
