//! The fused passes of a pair-wise solver over a gradient, its flags and rows of a matrix.
//!
//! A step along a pair of variables changes every entry of the gradient, and the next pair is selected from all
//! entries: both are bound by memory, so they are fused into one pass. Gradients are f64; the matrix's rows f32, or
//! f64 where the last digits are asked for. Each lane keeps the value and index of its own best entry, so the loops
//! have no branches. All instruction sets perform the same operations in the same order, so results are bit-identical
//! on every machine.

mod isa;
#[cfg(target_arch = "x86_64")]
mod x86;

use isa::{Isa, LANES, Plain};

use crate::dispatch::{Level, level};
pub use isa::Element;

/// Places lanes cannot name: no candidate was seen.
const NOWHERE: u32 = u32::MAX;

/// The entry that a step should increase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lowest {
    /// The smallest gradient among the entries looked at; infinite if there are none.
    pub value: f64,
    /// Where it is; meaningless if there are none.
    pub at: usize,
}

/// The entry to pair with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partner {
    /// Where the best partner is; `None` if no entry rises above the floor.
    pub at: Option<usize>,
    /// How far the highest entry rises above the floor; 0 if none does.
    pub rise: f32,
}

/// Calls a pass compiled for what this machine has.
macro_rules! on_this_machine {
    ($inner:ident<$t:ident>($($arg:ident: $ty:ty),*) -> $ret:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            fn avx512<$t: Element>($($arg: $ty),*) -> $ret {
                // SAFETY: the features are this function's own.
                unsafe { $inner::<x86::Avx512, $t>($($arg),*) }
            }
            #[target_feature(enable = "avx2,fma")]
            fn avx2<$t: Element>($($arg: $ty),*) -> $ret {
                // SAFETY: the features are this function's own.
                unsafe { $inner::<x86::Avx2, $t>($($arg),*) }
            }
            match level() {
                // SAFETY: `level` has just seen that this machine has these instructions.
                Level::Avx512 => return unsafe { avx512::<$t>($($arg),*) },
                // SAFETY: as above.
                Level::Avx2 => return unsafe { avx2::<$t>($($arg),*) },
                Level::Plain => {}
            }
        }
        // SAFETY: arrays need no instruction set.
        unsafe { $inner::<Plain, $t>($($arg),*) }
    }};
}

/// `gradient += t * (row_i - row_j)`, then the lowest of the entries whose flags have a bit of `up`. Ties go to the
/// lowest place.
///
/// # Panics
/// If the slices differ in length.
pub fn step<T: Element>(
    gradient: &mut [f64],
    row_i: &[T],
    row_j: &[T],
    t: f64,
    flags: &[u8],
    up: u8,
) -> Lowest {
    on_this_machine!(step_on<T>(gradient: &mut [f64], row_i: &[T], row_j: &[T], t: f64, flags: &[u8], up: u8) -> Lowest)
}

/// The lowest of the entries whose flags have a bit of `up`, as [`step`] finds it but without a step.
///
/// # Panics
/// If the slices differ in length.
pub fn lowest(gradient: &[f64], flags: &[u8], up: u8) -> Lowest {
    assert_eq!(gradient.len(), flags.len(), "slices of one length");
    let mut best = Lowest { value: f64::INFINITY, at: usize::MAX };
    for (at, (&value, &flag)) in gradient.iter().zip(flags).enumerate() {
        if flag & up != 0 && value < best.value {
            best = Lowest { value, at };
        }
    }
    best
}

/// `sum += sum_p coef[p] rows[p]`, rows streamed eight at a time.
///
/// # Panics
/// If a row is shorter than `sum`, or there are not as many coefficients as rows.
pub fn accumulate<T: Element>(sum: &mut [f64], rows: &[&[T]], coef: &[f64]) {
    assert_eq!(rows.len(), coef.len(), "a coefficient a row");
    for (rows, coef) in rows.chunks(8).zip(coef.chunks(8)) {
        // The last few are padded with a row of coefficient 0.
        let eight: [&[T]; 8] = std::array::from_fn(|p| &rows.get(p).unwrap_or(&rows[0])[..sum.len()]);
        let coef: [f64; 8] = std::array::from_fn(|p| coef.get(p).copied().unwrap_or(0.0));
        accumulate_eight(sum, &eight, &coef);
    }
}

fn accumulate_eight<T: Element>(sum: &mut [f64], rows: &[&[T]; 8], coef: &[f64; 8]) {
    on_this_machine!(accumulate_on<T>(sum: &mut [f64], rows: &[&[T]; 8], coef: &[f64; 8]) -> ());
}

/// The partner of second order (Fan, Chen and Lin 2005): among entries whose flags have a bit of `low` and whose
/// gradient g is above `floor`, the place of the largest `(g - floor)^2 / max(own + diag - 2 row, tau)`. Scores are
/// f32, which is enough for ranking; the step itself is computed in f64.
///
/// # Panics
/// If the slices differ in length.
#[expect(clippy::too_many_arguments, reason = "an inner loop's own view of the problem")]
pub fn partner<T: Element>(
    gradient: &[f64],
    row: &[T],
    diag: &[f32],
    own: f32,
    tau: f32,
    floor: f64,
    flags: &[u8],
    low: u8,
) -> Partner {
    on_this_machine!(partner_on<T>(gradient: &[f64], row: &[T], diag: &[f32], own: f32, tau: f32, floor: f64, flags: &[u8], low: u8) -> Partner)
}

#[inline(always)]
unsafe fn step_on<I: Isa, T: Element>(
    gradient: &mut [f64],
    row_i: &[T],
    row_j: &[T],
    t: f64,
    flags: &[u8],
    up: u8,
) -> Lowest {
    let n = gradient.len();
    assert!(row_i.len() == n && row_j.len() == n && flags.len() == n, "slices of one length");
    let (g_chunks, g_rest) = gradient.as_chunks_mut::<LANES>();
    let (i_chunks, i_rest) = row_i.as_chunks::<LANES>();
    let (j_chunks, j_rest) = row_j.as_chunks::<LANES>();
    let (f_chunks, f_rest) = flags.as_chunks::<LANES>();
    let (mut lows, mut places) = ([f64::INFINITY; LANES], [NOWHERE; LANES]);
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let step = I::d_splat(t);
        let none = I::d_splat(f64::INFINITY);
        let mut low = none;
        let mut at = I::p_splat(NOWHERE);
        for (c, (((g, ki), kj), f)) in
            g_chunks.iter_mut().zip(i_chunks).zip(j_chunks).zip(f_chunks).enumerate()
        {
            let v = I::d_add(I::d_load(g), I::d_mul(step, T::minus::<I>(ki, kj)));
            I::d_store(v, g);
            // The new low comes from a minimum, not from the mask, which takes longer to form.
            let open = I::d_pick(I::flagged(*f, up), v, none);
            at = I::p_pick(I::d_less(open, low), I::p_splat(c as u32), at);
            low = I::d_min(open, low);
        }
        I::d_store(low, &mut lows);
        I::p_store(at, &mut places);
    }
    let mut best = Lowest { value: f64::INFINITY, at: usize::MAX };
    for (l, (&value, &chunk)) in lows.iter().zip(&places).enumerate() {
        let at = if chunk == NOWHERE { usize::MAX } else { chunk as usize * LANES + l };
        if value < best.value || (value == best.value && at < best.at) {
            best = Lowest { value, at };
        }
    }
    let done = n - g_rest.len();
    for (l, g) in g_rest.iter_mut().enumerate() {
        *g += t * (i_rest[l].f64() - j_rest[l].f64());
        if f_rest[l] & up != 0 && *g < best.value {
            best = Lowest { value: *g, at: done + l };
        }
    }
    best
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "as its caller")]
unsafe fn partner_on<I: Isa, T: Element>(
    gradient: &[f64],
    row: &[T],
    diag: &[f32],
    own: f32,
    tau: f32,
    floor: f64,
    flags: &[u8],
    low: u8,
) -> Partner {
    let n = gradient.len();
    assert!(row.len() == n && diag.len() == n && flags.len() == n, "slices of one length");
    let (g_chunks, g_rest) = gradient.as_chunks::<LANES>();
    let (r_chunks, r_rest) = row.as_chunks::<LANES>();
    let (d_chunks, d_rest) = diag.as_chunks::<LANES>();
    let (f_chunks, f_rest) = flags.as_chunks::<LANES>();
    let (mut scores, mut places, mut rises) = ([0.0_f32; LANES], [NOWHERE; LANES], [0.0_f32; LANES]);
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let (floor, own, tau) = (I::d_splat(floor), I::s_splat(own), I::s_splat(tau));
        let zero = I::s_splat(0.0);
        let (mut top, mut high) = (zero, zero);
        let mut at = I::p_splat(NOWHERE);
        for (c, (((g, r), d), f)) in g_chunks.iter().zip(r_chunks).zip(d_chunks).zip(f_chunks).enumerate() {
            let rise = I::narrow(I::d_sub(I::d_load(g), floor));
            let rise = I::s_max(I::s_pick(I::flagged(*f, low), rise, zero), zero);
            high = I::s_max(high, rise);
            let r = T::narrowed::<I>(r);
            let bend = I::s_max(I::s_sub(I::s_add(own, I::s_load(d)), I::s_add(r, r)), tau);
            let score = I::s_div(I::s_mul(rise, rise), bend);
            at = I::p_pick(I::s_more(score, top), I::p_splat(c as u32), at);
            top = I::s_max(score, top);
        }
        I::s_store(top, &mut scores);
        I::s_store(high, &mut rises);
        I::p_store(at, &mut places);
    }
    let (mut score, mut at) = (0.0_f32, usize::MAX);
    for (l, (&s, &chunk)) in scores.iter().zip(&places).enumerate() {
        let place = if chunk == NOWHERE { usize::MAX } else { chunk as usize * LANES + l };
        if s > score || (s == score && place < at) {
            (score, at) = (s, place);
        }
    }
    let mut high = rises.iter().fold(0.0_f32, |a, &b| if b > a { b } else { a });
    let done = n - g_rest.len();
    for (l, g) in g_rest.iter().enumerate() {
        let rise = (g - floor) as f32;
        if f_rest[l] & low == 0 || rise <= 0.0 {
            continue;
        }
        high = if rise > high { rise } else { high };
        let r = r_rest[l].f64() as f32;
        let bend = (own + d_rest[l]) - (r + r);
        let s = rise * rise / if bend > tau { bend } else { tau };
        if s > score {
            (score, at) = (s, done + l);
        }
    }
    Partner { at: (at != usize::MAX).then_some(at), rise: high }
}

#[inline(always)]
unsafe fn accumulate_on<I: Isa, T: Element>(sum: &mut [f64], rows: &[&[T]; 8], coef: &[f64; 8]) {
    let n = sum.len();
    let chunks = rows.map(|row| row[..n].as_chunks::<LANES>());
    let (sums, rest) = sum.as_chunks_mut::<LANES>();
    for (c, sum) in sums.iter_mut().enumerate() {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            // Two sums of four: half the wait for each addition.
            let mut odd = I::d_splat(0.0);
            let mut even = I::d_load(sum);
            for p in [0, 2, 4, 6] {
                even = I::d_add(even, I::d_mul(I::d_splat(coef[p]), T::widened::<I>(&chunks[p].0[c])));
                odd = I::d_add(odd, I::d_mul(I::d_splat(coef[p + 1]), T::widened::<I>(&chunks[p + 1].0[c])));
            }
            I::d_store(I::d_add(even, odd), sum);
        }
    }
    for (l, sum) in rest.iter_mut().enumerate() {
        let (mut even, mut odd) = (*sum, 0.0);
        for p in [0, 2, 4, 6] {
            even += coef[p] * chunks[p].1[l].f64();
            odd += coef[p + 1] * chunks[p + 1].1[l].f64();
        }
        *sum = even + odd;
    }
}

#[cfg(test)]
mod tests;
