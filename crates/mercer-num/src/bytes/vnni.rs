//! Blocks by AVX-512 VNNI: twelve rows by thirty-two columns at once, four columns of bytes an instruction and lane.

use std::arch::x86_64::{
    __m512i, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_storeu_si512,
};
use std::ops::Range;

use super::{Bytes, Finish, PANEL, ROWS};
use crate::{Floats, Real};

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
pub(super) fn block<T: Real>(
    out: &mut [T],
    a: &Bytes,
    rows: Range<usize>,
    b: &Bytes,
    columns: Range<usize>,
    finish: &Finish,
) {
    let (panels, wide) = (b.panels(), columns.len());
    let mut sums = [[0i32; PANEL]; ROWS];
    for panel in columns.start / PANEL..columns.end.div_ceil(PANEL) {
        let own = (panel * PANEL).max(columns.start)..((panel + 1) * PANEL).min(columns.end);
        let right = &panels[panel * PANEL * b.width..][..PANEL * b.width];
        let mut i = rows.start;
        while i < rows.end {
            let high = ROWS.min(rows.end - i);
            let left = &a.values[i * a.width..(i + high) * a.width];
            match high {
                12 => strip::<12>(left, right, a.width, &mut sums),
                8..12 => {
                    strip::<8>(left, right, a.width, &mut sums);
                    for r in 8..high {
                        strip::<1>(&left[r * a.width..], right, a.width, &mut sums[r..]);
                    }
                }
                4..8 => {
                    strip::<4>(left, right, a.width, &mut sums);
                    for r in 4..high {
                        strip::<1>(&left[r * a.width..], right, a.width, &mut sums[r..]);
                    }
                }
                _ => {
                    for r in 0..high {
                        strip::<1>(&left[r * a.width..], right, a.width, &mut sums[r..]);
                    }
                }
            }
            for (r, sums) in sums[..high].iter().enumerate() {
                let at = (i - rows.start + r) * wide + own.start - columns.start;
                let sums = &sums[own.start - panel * PANEL..own.end - panel * PANEL];
                let out = &mut out[at..at + own.len()];
                write(out, sums, finish, finish.row(a, i + r), b, own.start);
            }
            i += high;
        }
    }
}

/// Sums of H rows with the 32 columns of a panel.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn strip<const H: usize>(left: &[u8], right: &[u8], width: usize, sums: &mut [[i32; PANEL]]) {
    assert!(
        left.len() >= H * width && right.len() >= PANEL * width && width.is_multiple_of(4) && sums.len() >= H
    );
    let mut sum: [[__m512i; 2]; H] = [[_mm512_setzero_si512(); 2]; H];
    let (left, right) = (left.as_ptr(), right.as_ptr());
    for word in 0..width / 4 {
        // SAFETY: a panel has 128 bytes a word, and there are width / 4 words.
        let (low, high) = unsafe {
            let at = right.add(word * 4 * PANEL);
            (_mm512_loadu_si512(at.cast()), _mm512_loadu_si512(at.add(64).cast()))
        };
        for r in 0..H {
            // SAFETY: row r begins at r * width and has width bytes.
            let four = unsafe { left.add(r * width + word * 4).cast::<i32>().read_unaligned() };
            let four = _mm512_set1_epi32(four);
            sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], four, low);
            sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], four, high);
        }
    }
    for (sum, out) in sum.iter().zip(sums) {
        // SAFETY: a line of sums has 32 integers, two registers.
        unsafe {
            _mm512_storeu_si512(out.as_mut_ptr().cast(), sum[0]);
            _mm512_storeu_si512(out.as_mut_ptr().add(16).cast(), sum[1]);
        }
    }
}

/// The values of one row against columns from `first`.
#[inline(always)]
fn write<T: Real>(out: &mut [T], sums: &[i32], finish: &Finish, row: (i32, f64), b: &Bytes, first: usize) {
    // Distances are one rounding from an integer, also in f32; dot products with an offset go through f64.
    match (T::floats(out), finish.distance) {
        (Floats::F32(out), true) => {
            let factor = finish.factor as f32;
            let squares = &b.square[first..first + sums.len()];
            for ((out, &sum), &square) in out.iter_mut().zip(sums).zip(squares) {
                *out = (row.0 + square - 2 * sum) as f32 * factor;
            }
        }
        (Floats::F32(out), false) if finish.per_sum == 0.0 => {
            let factor = finish.factor as f32;
            out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = (row.0 + sum) as f32 * factor);
        }
        (Floats::F32(out), _) => {
            for (j, (out, &sum)) in out.iter_mut().zip(sums).enumerate() {
                *out = finish.value(sum, row, finish.column(b, first + j));
            }
        }
        (Floats::F64(out), _) => {
            for (j, (out, &sum)) in out.iter_mut().zip(sums).enumerate() {
                *out = finish.value(sum, row, finish.column(b, first + j));
            }
        }
    }
}
