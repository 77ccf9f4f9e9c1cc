//! Passes over the stored values, column by column.

use crate::data::{Column, Data, Spread, View};

/// How a column's values follow each other.
#[derive(Debug, Clone, Copy)]
enum Order {
    Open,
    Rising,
    Falling,
    Neither,
}

/// What one column has shown so far.
#[derive(Debug, Clone)]
pub(super) struct Track {
    pub(super) entries: usize,
    pub(super) min: f64,
    pub(super) max: f64,
    sum: f64,
    whole: bool,
    order: Order,
    last: f64,
    pub(super) answers: bool,
}

impl Default for Track {
    fn default() -> Self {
        Track {
            entries: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum: 0.0,
            whole: true,
            order: Order::Open,
            last: f64::NAN,
            answers: true,
        }
    }
}

impl Track {
    fn see(&mut self, v: f64, answer: f64) {
        if self.entries > 0 {
            self.order = match self.order {
                Order::Open | Order::Rising if v > self.last => Order::Rising,
                Order::Open | Order::Falling if v < self.last => Order::Falling,
                _ => Order::Neither,
            };
        }
        self.entries += 1;
        self.last = v;
        self.min = self.min.min(v);
        self.max = self.max.max(v);
        self.sum += v;
        self.whole &= v.fract() == 0.0;
        self.answers &= v == answer;
    }

    /// Whole numbers, all different: in order, or a shuffled run without a gap.
    pub(super) fn numbers_rows(&self, n: usize, view: &View<'_>, column: usize) -> bool {
        if !self.whole || self.entries != n {
            return false;
        }
        if matches!(self.order, Order::Rising | Order::Falling) {
            return true;
        }
        if self.max - self.min != (n - 1) as f64 {
            return false;
        }
        let mut seen = vec![false; n];
        (0..n).all(|i| {
            let at = (value(view, i, column) - self.min) as usize;
            !std::mem::replace(&mut seen[at], true)
        })
    }
}

/// One pass over the values, and a second for the spread.
pub(super) struct Scan {
    /// The columns that are tracked, in order; all of them when `None`.
    held: Option<Vec<u32>>,
    track: Vec<Track>,
    squares: Vec<f64>,
    pub(super) nonzero: usize,
    pub(super) zero_rows: usize,
    pub(super) first_zero_row: Option<usize>,
}

impl Scan {
    pub(super) fn new(view: &View<'_>, answers: &[f64]) -> Self {
        // A file may declare four billion columns and contain three values.
        let held = match view.data {
            Data::Csr { start, column, .. } => {
                let mut held = column[start[0]..start[view.n]].to_vec();
                held.sort_unstable();
                held.dedup();
                (held.len() < view.d).then_some(held)
            }
            _ => None,
        };
        let width = held.as_ref().map_or(view.d, Vec::len);
        let place = |column: usize| match &held {
            Some(held) => held.partition_point(|&c| (c as usize) < column),
            None => column,
        };
        let mut track = vec![Track::default(); width];
        let (mut nonzero, mut row_nonzero) = (0, vec![false; view.n]);
        each_entry(view, |i, j, v| {
            if v != 0.0 {
                nonzero += 1;
                row_nonzero[i] = true;
            }
            track[place(j)].see(v, answers.get(i).copied().unwrap_or(f64::NAN));
        });
        let mut squares = vec![0.0; width];
        let mean: Vec<f64> = track.iter().map(|t| t.sum / view.n.max(1) as f64).collect();
        each_entry(view, |_, j, v| {
            let p = place(j);
            squares[p] += (v - mean[p]).powi(2);
        });
        for ((square, track), mean) in squares.iter_mut().zip(&track).zip(&mean) {
            *square += (view.n - track.entries) as f64 * mean.powi(2);
        }
        let zero_rows = row_nonzero.iter().filter(|&&r| !r).count();
        let first_zero_row = row_nonzero.iter().position(|&r| !r);
        Scan { held, track, squares, nonzero, zero_rows, first_zero_row }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = (usize, &Track)> {
        self.track
            .iter()
            .enumerate()
            .map(|(p, track)| (self.held.as_ref().map_or(p, |held| held[p] as usize), track))
    }

    pub(super) fn spreads(&self, n: usize) -> Vec<Column> {
        self.columns()
            .zip(&self.squares)
            .map(|((column, t), square)| {
                let zero = t.entries < n;
                let spread = Spread {
                    min: if zero { t.min.min(0.0) } else { t.min },
                    max: if zero { t.max.max(0.0) } else { t.max },
                    mean: t.sum / n as f64,
                    std: (square / n as f64).sqrt(),
                };
                let kind = match (spread.min, spread.max) {
                    (min, max) if min == max => "constant",
                    (0.0, 1.0) if t.whole => "0/1",
                    _ if t.whole => "whole number",
                    _ => "number",
                };
                Column { column, kind, spread }
            })
            .filter(|_| n > 0)
            .collect()
    }
}

/// Calls with row, column and value of each stored value.
fn each_entry(view: &View<'_>, mut see: impl FnMut(usize, usize, f64)) {
    let d = view.d;
    match view.data {
        Data::F32(x) => {
            for (i, row) in x.chunks_exact(d.max(1)).enumerate() {
                row.iter().enumerate().for_each(|(j, &v)| see(i, j, f64::from(v)));
            }
        }
        Data::F64(x) => {
            for (i, row) in x.chunks_exact(d.max(1)).enumerate() {
                row.iter().enumerate().for_each(|(j, &v)| see(i, j, v));
            }
        }
        Data::Csr { start, column, value } => {
            for i in 0..view.n {
                for p in start[i]..start[i + 1] {
                    see(i, column[p] as usize, value[p]);
                }
            }
        }
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {}
    }
}

fn value(view: &View<'_>, i: usize, j: usize) -> f64 {
    match view.data {
        Data::F32(x) => f64::from(x[i * view.d + j]),
        Data::F64(x) => x[i * view.d + j],
        Data::Csr { start, column, value } => {
            let row = start[i]..start[i + 1];
            column[row.clone()].binary_search(&(j as u32)).map_or(0.0, |p| value[row.start + p])
        }
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => f64::NAN,
    }
}
