//! The weighted degree kernel with shifts: common words at the same position, or nearly.
//!
//! `k(x, y) = sum_{k=1}^{d} b_k sum_p sum_{s=0}^{S} e_s (word_k(x, p + s) = word_k(y, p) or vice versa)` with `b_k =
//! 2 (d - k + 1) / (d (d + 1))` and `e_s = 1 / (2 (s + 1))` (Raetsch, Sonnenburg and Schoelkopf 2005). It is positive
//! definite for any S, because `1/2 + sum_{s=1}^{S} cos(s t) / (s + 1)` is never negative (Rogosinski and Szegoe
//! 1928).
//!
//! A run of r matches from a position contains one word of each length up to r, so it contributes `b_1 + .. + b_r = r
//! (2 d - r + 1) / (d (d + 1))`: one pass over the positions for each shift, for any degree.

use mercer_num::Real;

use super::Compare;
use super::lanes::{floats, panels};
use crate::kernel::Kernel;
use crate::kernel::definite::Definiteness;
use crate::kernel::table::{KernelEntry, Takes};
use crate::param::{Allowed, Param};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "weighted_degree",
    aliases: &["wd"],
    formula: "sum_k b_k sum_p sum_s (words of k letters equal at p and p+s) / (2 (s+1))",
    doc: "Sequences: common words of up to `degree` letters at the same position, or shifted by up to `shift`.",
    params: &[
        Param::new("degree", Allowed::Count(1, 1000), Some("8"), "longest word"),
        Param::new("shift", Allowed::Count(0, 10_000), Some("0"), "largest shift"),
    ],
    definiteness: "positive",
    known: Definiteness::Positive,
    takes: Takes::Sequences,
    examples: &["weighted_degree(degree=3)", "weighted_degree(degree=4, shift=3)"],
    build: |v| Kernel::WeightedDegree { degree: v[0].whole(), shift: v[1].whole() },
    ..KernelEntry::EMPTY
};

pub(super) struct Degree {
    pub(super) degree: u32,
    pub(super) shift: u32,
}

impl Compare for Degree {
    fn value(&self, x: &[u8], y: &[u8]) -> f64 {
        let d = self.degree as usize;
        let common = |x: &[u8], y: &[u8]| -> f64 {
            let n = x.len().min(y.len());
            let weight = |k: usize| 2.0 * (d - k + 1) as f64 / (d * (d + 1)) as f64;
            let words = |k: usize| (0..=n - k).filter(|&p| x[p..p + k] == y[p..p + k]).count() as f64;
            (1..=d.min(n)).map(|k| weight(k) * words(k)).sum()
        };
        let from = |row: &[u8], s: usize| s.min(row.len());
        let shifts = 0..=(self.shift as usize).min(x.len().max(y.len()));
        shifts
            .map(|s| (common(&x[from(x, s)..], y) + common(x, &y[from(y, s)..])) / (2.0 * (s as f64 + 1.0)))
            .sum()
    }

    fn block<T: Real>(&self, a: &[&[u8]], b: &[&[u8]], out: &mut [T]) {
        let (lanes, m, d) = (T::LANES, b.len(), f64::from(self.degree));
        let a: Vec<Vec<T>> = a.iter().map(|x| floats(x)).collect();
        let degree = T::of(d);
        for panel in panels::<T>(b) {
            for (i, x) in a.iter().enumerate() {
                let mut sums = vec![T::ZERO; lanes];
                for s in 0..=(self.shift as usize).min(x.len().max(panel.len)) {
                    let weight = T::of(1.0 / (2.0 * (s as f64 + 1.0) * d * (d + 1.0)));
                    T::add_runs(&x[s.min(x.len())..], &panel.symbols, degree, weight, &mut sums);
                    let y = &panel.symbols[s.min(panel.len) * lanes..];
                    T::add_runs(x, y, degree, weight, &mut sums);
                }
                panel.rows.iter().zip(&sums).for_each(|(&j, &v)| out[i * m + j] = v);
            }
        }
    }
}
