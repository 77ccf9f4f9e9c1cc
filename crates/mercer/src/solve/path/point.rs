//! The result of a path: pieces on which the solution is linear in C.

use super::walk::Place;
use crate::error::{Error, Result};
use crate::watch::Stop;

/// From one breakpoint to the next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) c: f64,
    pub(super) offset: f64,
    pub(super) offset_slope: f64,
    /// Sum of |beta| at `c`.
    pub(super) mass: f64,
    /// Rows that are neither zero nor exactly at their bound, with beta at `c` and its slope.
    pub(super) moving: Vec<(u32, f64, f64)>,
    /// Rows that have changed their set since the previous piece.
    pub(super) changes: Vec<(u32, Place)>,
}

/// All solutions between two values of C.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub(super) labels: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) pieces: Vec<Piece>,
    /// The last C that was reached.
    pub(super) end: f64,
    /// Sum of |beta| there.
    pub(super) end_mass: f64,
    /// Why it stopped: the largest C, the limit of breakpoints, or cancelled.
    pub stop: Stop,
    /// How often the problem was solved again because of rounding or ties.
    pub resolved: usize,
    /// The largest KKT violation seen at a breakpoint.
    pub violation: f64,
}

/// The solution at one C.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPoint {
    /// C.
    pub c: f64,
    /// beta.
    pub beta: Vec<f64>,
    /// b.
    pub offset: f64,
    /// Whether a row is on its bound.
    pub bounded: Vec<bool>,
}

impl Path {
    /// The values of C where a row changes its set, ascending, from the smallest C to the last one reached.
    pub fn breakpoints(&self) -> Vec<f64> {
        self.pieces.iter().map(|p| p.c).chain([self.end]).collect()
    }

    /// The solution at a C between the first and the last breakpoint.
    pub fn at(&self, c: f64) -> Result<PathPoint> {
        let start = self.pieces[0].c;
        if !(start..=self.end).contains(&c) {
            return Err(Error::param("c", c, format!("from {start} to {}", self.end)));
        }
        let last = self.pieces.partition_point(|p| p.c <= c).max(1) - 1;
        let n = self.labels.len();
        let mut place = vec![Place::Idle; n];
        for (row, now) in self.pieces[..=last].iter().flat_map(|p| &p.changes) {
            place[*row as usize] = *now;
        }
        let piece = &self.pieces[last];
        let mut bounded: Vec<bool> = place.iter().map(|p| *p == Place::Bounded).collect();
        let bound = |i: usize| c * self.weights[i] * self.labels[i];
        let mut beta: Vec<f64> = (0..n).map(|i| if bounded[i] { bound(i) } else { 0.0 }).collect();
        for &(row, from, slope) in &piece.moving {
            let i = row as usize;
            let value = (self.labels[i] * (from + slope * (c - piece.c))).clamp(0.0, c * self.weights[i]);
            beta[i] = self.labels[i] * value;
            bounded[i] = value >= c * self.weights[i];
        }
        Ok(PathPoint { c, beta, offset: piece.offset + piece.offset_slope * (c - piece.c), bounded })
    }

    /// The C at which the C-machine equals the nu-machine with this nu, up to scaling by its margin: `nu = sum |beta|
    /// / (C sum v)`, which decreases in C.
    pub fn c_of_nu(&self, nu: f64) -> Result<f64> {
        let total: f64 = self.weights.iter().sum();
        let share = |c: f64, mass: f64| mass / (c * total);
        let ends: Vec<(f64, f64)> =
            self.pieces.iter().map(|p| (p.c, p.mass)).chain([(self.end, self.end_mass)]).collect();
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        let (most, least) = (share(first.0, first.1), share(last.0, last.1));
        if !(nu >= least && nu <= most) {
            return Err(Error::param("nu", nu, format!("from {least} to {most} on this path")));
        }
        let k = ends.partition_point(|&(c, mass)| share(c, mass) > nu).clamp(1, ends.len() - 1);
        let ((c0, m0), (c1, m1)) = (ends[k - 1], ends[k]);
        // The sum of |beta| is linear between breakpoints: m0 + s (c - c0) = nu total c.
        let slope = if c1 > c0 { (m1 - m0) / (c1 - c0) } else { 0.0 };
        let below = nu * total - slope;
        let c = if below.abs() > f64::MIN_POSITIVE { (m0 - slope * c0) / below } else { c0 };
        Ok(if c.is_finite() { c.clamp(c0, c1) } else { c0 })
    }
}
