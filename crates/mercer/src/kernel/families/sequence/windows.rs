//! Matches within a window, then correlations of windows: locality-improved and codon-improved kernels.
//!
//! `k(x, y) = (sum_p win_p)^d2` with `win_p = (sum_{j=-l}^{l} w_j match_{p+j})^d1`, weights w rising to the window's
//! centre and summing to one (Zien et al. 2000; Mueller et al. 2001, Sec. VII-A). It equals the image-local kernel on
//! an image with a single row, whose pixels are letters.
//!
//! The codon-improved kernel also counts matches shifted by three positions: to `match_q` it adds c times the dot
//! product of `x_q + x_{q+3}` and `y_q + y_{q+3}`, letters being unit vectors. Counting shifted matches alone would
//! not be positive definite; this is, because it is a sum of dot products.
//!
//! Centres p are positions that both sequences have. Positions of a window beyond an end match nothing.

use mercer_num::Real;
use mercer_num::vector::Frame;

use super::Compare;
use super::lanes::{floats, panels};
use crate::kernel::Kernel;
use crate::kernel::definite::Definiteness;
use crate::kernel::table::{KernelEntry, Takes};
use crate::param::{Allowed, Param};

const P: Param = Param::new("p", Allowed::Count(1, 1023), None, "window length, odd");
const D1: Param = Param::new("d1", Allowed::Count(1, 100), Some("2"), "power of the matches in a window");
const D2: Param = Param::new("d2", Allowed::Count(1, 100), Some("2"), "power of the sum over windows");

pub(in crate::kernel) const LOCALITY: KernelEntry = KernelEntry {
    name: "locality_improved",
    aliases: &["locality"],
    formula: "(sum_p (sum_j w_j match_{p+j})^d1)^d2, w a triangle of sum 1",
    doc: "Sequences: matches within a window around each position, then correlations between windows.",
    params: &[P, D1, D2],
    definiteness: "positive",
    known: Definiteness::Positive,
    takes: Takes::Sequences,
    examples: &["locality_improved(p=5)", "locality_improved(p=3, d1=3, d2=1)"],
    build: |v| Kernel::LocalityImproved { diameter: v[0].whole(), inner: v[1].whole(), outer: v[2].whole() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const CODON: KernelEntry = KernelEntry {
    name: "codon_improved",
    aliases: &["codon"],
    formula: "locality_improved of match_q + weight (x_q + x_{q+shift}).(y_q + y_{q+shift})",
    doc: "Sequences: locality_improved that also counts matches shifted by one codon (three positions).",
    params: &[
        P,
        D1,
        D2,
        Param::new("shift", Allowed::Count(1, 1 << 20), Some("3"), "positions to shift by"),
        Param::new("weight", Allowed::Above(0.0), Some("0.5"), "weight of the shifted matches"),
    ],
    definiteness: "positive",
    known: Definiteness::Positive,
    takes: Takes::Sequences,
    examples: &["codon_improved(p=5)", "codon_improved(p=3, d1=1, d2=3, shift=2, weight=1)"],
    build: |v| Kernel::CodonImproved {
        diameter: v[0].whole(),
        inner: v[1].whole(),
        outer: v[2].whole(),
        shift: v[3].whole(),
        weight: v[4].real(),
    },
    ..KernelEntry::EMPTY
};

/// Both kernels; the plain one has codon weight 0.
pub(super) struct Windows {
    pub(super) diameter: u32,
    pub(super) inner: u32,
    pub(super) outer: u32,
    pub(super) shift: u32,
    pub(super) weight: f64,
}

impl Windows {
    /// Sum of the triangle's weights.
    fn mass(&self) -> f64 {
        let reach = f64::from(self.diameter / 2);
        (reach + 1.0) * (reach + 1.0)
    }

    /// Pairs of offsets in x and y whose matches count, with their weights.
    fn matches(&self) -> Vec<(usize, usize, f64)> {
        let (s, c) = (self.shift as usize, self.weight);
        if c == 0.0 {
            return vec![(0, 0, 1.0)];
        }
        vec![(0, 0, 1.0 + c), (s, s, c), (0, s, c), (s, 0, c)]
    }
}

impl Compare for Windows {
    fn value(&self, x: &[u8], y: &[u8]) -> f64 {
        let (n, reach) = (x.len().min(y.len()), self.diameter as usize / 2);
        let matches = self.matches();
        let at = |q: usize| -> f64 {
            let same = |&&(i, j, _): &&(usize, usize, f64)| {
                x.get(q + i).is_some_and(|a| y.get(q + j).is_some_and(|b| a == b))
            };
            matches.iter().filter(same).map(|m| m.2).sum()
        };
        let window = |p: usize| -> f64 {
            let places = p.saturating_sub(reach)..(p + reach + 1).min(n);
            let sum: f64 = places.map(|q| (reach + 1 - q.abs_diff(p)) as f64 * at(q)).sum();
            (sum / self.mass()).powi(self.inner as i32)
        };
        (0..n).map(window).sum::<f64>().powi(self.outer as i32)
    }

    fn block<T: Real>(&self, a: &[&[u8]], b: &[&[u8]], out: &mut [T]) {
        let (lanes, m) = (T::LANES, b.len());
        let longest = a.iter().map(|x| x.len()).max().unwrap_or(0);
        let frame = |width| Frame { height: 1, width, channels: 1, diameter: self.diameter as usize };
        let mut z = vec![T::ZERO; longest * lanes];
        let mut scratch = vec![T::ZERO; frame(longest).scratch(lanes)];
        let mut sums = vec![T::ZERO; lanes];
        let matches: Vec<(usize, usize, T)> =
            self.matches().into_iter().map(|(i, j, w)| (i, j, T::of(w / self.mass()))).collect();
        let a: Vec<Vec<T>> = a.iter().map(|x| floats(x)).collect();
        for panel in panels::<T>(b) {
            for (i, x) in a.iter().enumerate() {
                let n = x.len().min(panel.len);
                let z = &mut z[..n * lanes];
                z.fill(T::ZERO);
                for &(dx, dy, weight) in &matches {
                    let (x, y) = (&x[dx.min(x.len())..], &panel.symbols[dy.min(panel.len) * lanes..]);
                    T::add_matches(x, y, weight, z);
                }
                T::windows_of(z, frame(n), self.inner, &mut scratch, &mut sums);
                T::powi_all(&mut sums, self.outer);
                panel.rows.iter().zip(&sums).for_each(|(&j, &v)| out[i * m + j] = v);
            }
        }
    }
}
