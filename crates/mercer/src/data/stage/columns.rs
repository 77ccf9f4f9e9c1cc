//! One affine map per column or channel, and the statistics that scaling is fitted from.

use crate::data::map::{OnSparse, RowMap, each_row};
use crate::data::points::View;
use crate::error::{Error, Fault, Result};
use crate::exec::{Exec, room_for_table};

/// `(x - shift) / width * gain + base`, each with one value a group; column j belongs to group `j mod groups`, so that
/// d groups are the columns and c groups the channels of an image.
///
/// Divided rather than multiplied by a reciprocal: ranges down to the smallest numbers stay finite.
#[derive(Debug)]
pub(super) struct Columns {
    d: usize,
    group: Vec<Affine>,
}

#[derive(Debug, Clone, Copy)]
struct Affine {
    shift: f64,
    width: f64,
    gain: f64,
    base: f64,
}

impl Affine {
    fn of(self, x: f64) -> f64 {
        (x - self.shift) / self.width * self.gain + self.base
    }
}

impl Columns {
    pub(super) fn scale(d: usize, by: f64, add: f64) -> Self {
        Columns { d, group: vec![Affine { shift: 0.0, width: 1.0, gain: by, base: add }] }
    }

    /// A column that was constant in training carries nothing: it becomes the value of [lo, hi] nearest 0, whatever
    /// it holds later.
    pub(super) fn minmax(d: usize, lo: f64, hi: f64, min: &[f64], max: &[f64]) -> Self {
        let still = Affine { shift: 0.0, width: 1.0, gain: 0.0, base: 0.0f64.clamp(lo, hi) };
        let moving = |min, max| Affine { shift: min, width: max - min, gain: hi - lo, base: lo };
        let group = min.iter().zip(max).map(|(&a, &b)| if a == b { still } else { moving(a, b) }).collect();
        Columns { d, group }
    }

    pub(super) fn standard(d: usize, mean: &[f64], std: &[f64]) -> Self {
        let one = |(&shift, &width)| Affine { shift, width, gain: 1.0, base: 0.0 };
        Columns { d, group: mean.iter().zip(std).map(one).collect() }
    }

    /// Whether two arrays of one value per group divide the columns among them.
    pub(super) fn fit_in(d: usize, a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && !a.is_empty() && d.is_multiple_of(a.len())
    }

    /// The map back; what was parked as constant returns to `still`. None where values cannot be told apart again.
    pub(super) fn undo(self, still: &[f64]) -> Option<Self> {
        let back = |(g, a): (usize, &Affine)| match a.gain {
            0.0 => still.get(g).map(|&base| Affine { shift: 0.0, width: 1.0, gain: 0.0, base }),
            gain => Some(Affine { shift: a.base, width: gain, gain: a.width, base: a.shift }),
        };
        let group = self.group.iter().enumerate().map(back).collect::<Option<_>>()?;
        Some(Columns { group, ..self })
    }
}

impl RowMap for Columns {
    fn dim_out(&self) -> usize {
        self.d
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        let g = self.group.len();
        for (x, out) in x.chunks_exact(g).zip(out.chunks_exact_mut(g)) {
            for ((x, out), affine) in x.iter().zip(out).zip(&self.group) {
                *out = affine.of(*x);
            }
        }
    }

    fn on_sparse(&self) -> OnSparse {
        let kept = self.group.iter().all(|affine| affine.of(0.0) == 0.0);
        if kept { OnSparse::Entries } else { OnSparse::Dense }
    }

    fn run_entries(&self, columns: &[u32], value: &[f64], out: &mut [f64]) {
        for ((&c, &v), out) in columns.iter().zip(value).zip(out) {
            *out = self.group[c as usize % self.group.len()].of(v);
        }
    }
}

/// Range, mean and standard deviation (over n, not n - 1) of each group of columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stats {
    pub(super) min: Vec<f64>,
    pub(super) max: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) std: Vec<f64>,
}

impl Stats {
    /// In two passes, so that a large mean does not drown the deviations. Refuses NaN, infinities and no rows.
    pub(super) fn of(view: View<'_>, groups: usize, exec: Exec) -> Result<Self> {
        if view.n == 0 {
            return Err(Error::shape("rows to fit a stage on", 0, "at least 1"));
        }
        check_finite(view)?;
        // Range, mean, deviation and a count for each column, and the same again in the stage.
        room_for_table("the ranges of all columns", 10, groups, view.bytes(), exec.memory())?;
        let values = view.n * (view.d / groups);
        let mut min = vec![f64::INFINITY; groups];
        let mut max = vec![f64::NEG_INFINITY; groups];
        let mut mean = vec![0.0; groups];
        let mut stored = vec![0usize; groups];
        each_value(view, groups, |g, v| {
            min[g] = v.min(min[g]);
            max[g] = v.max(max[g]);
            mean[g] += v;
            stored[g] += 1;
        })?;
        for g in 0..groups {
            if stored[g] < values {
                min[g] = min[g].min(0.0);
                max[g] = max[g].max(0.0);
            }
            // The mean of equal values can be off by a rounding, and they would seem to vary.
            mean[g] = if min[g] == max[g] { min[g] } else { mean[g] / values as f64 };
        }
        let mut std = vec![0.0; groups];
        each_value(view, groups, |g, v| std[g] += (v - mean[g]).powi(2))?;
        for g in 0..groups {
            let zeros = (values - stored[g]) as f64;
            std[g] = ((std[g] + zeros * mean[g].powi(2)) / values as f64).sqrt();
            if !(max[g] - min[g]).is_finite() || !std[g].is_finite() {
                return Err(Fault {
                    column: Some((g + 1).to_string()),
                    got: Some(format!("values from {:e} to {:e}", min[g], max[g])),
                    expected: "values whose sum of squares is finite".into(),
                    ..Fault::default()
                }
                .into());
            }
        }
        Ok(Stats { min, max, mean, std })
    }
}

/// The smallest value of all, and how far the largest is from it.
pub(super) fn range(view: View<'_>) -> Result<(f64, f64)> {
    check_finite(view)?;
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    each_row(view, |columns, values| {
        least = values.iter().fold(least, |m, &v| if v < m { v } else { m });
        most = values.iter().fold(most, |m, &v| if v > m { v } else { m });
        if columns.is_some_and(|c| c.len() < view.d) {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        Ok(())
    })?;
    if !(most - least).is_finite() {
        let got = format!("{least:e} to {most:e} over {} rows", view.n);
        return Err(Error::shape("values to fit a stage on", got, "a finite range and at least one row"));
    }
    Ok((least, most - least))
}

/// Each stored value with the group of its column.
fn each_value(view: View<'_>, groups: usize, mut f: impl FnMut(usize, f64)) -> Result<()> {
    each_row(view, |columns, values| {
        match columns {
            None => {
                for chunk in values.chunks_exact(groups) {
                    chunk.iter().enumerate().for_each(|(g, &v)| f(g, v));
                }
            }
            Some(columns) => columns.iter().zip(values).for_each(|(&c, &v)| f(c as usize % groups, v)),
        }
        Ok(())
    })
}

fn check_finite(view: View<'_>) -> Result<()> {
    let mut row = 0;
    each_row(view, |columns, values| {
        row += 1;
        let Some(p) = values.iter().position(|v| !v.is_finite()) else { return Ok(()) };
        let column = columns.map_or(p, |c| c[p] as usize) + 1;
        Err(Fault {
            row: Some(row),
            column: Some(column.to_string()),
            got: Some(values[p].to_string()),
            expected: "a finite number".into(),
            ..Fault::default()
        }
        .into())
    })
}
