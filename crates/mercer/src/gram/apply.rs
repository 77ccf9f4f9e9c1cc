//! Kernel expansions against many centres without storing kernel values: `out_i += sum_j k(x_i, c_j) coef_j`, all
//! outputs at once. Both evaluating an expansion and correcting a solver's gradient have this form.
//!
//! Cost: n m d multiply-adds for the kernel values and n m k for the outputs, fewer where groups of centres have no
//! coefficients for most of the outputs (see [`pattern`]); memory: one tile per thread.
//!
//! Up to [`FEW`](crate::exec::FEW) points are computed one by one. A matrix product packs the centres first, which
//! costs more than it saves for a few rows, and its order of summation depends on the number of rows. So a point in a
//! small batch has bit-identical outputs whichever points are beside it.

use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::data::{Data, Points, View};
use crate::error::Result;
use crate::exec::{Exec, FEW};
use crate::gram::block::{block, row_by_row};
use crate::gram::door::{self, Sum};
use crate::gram::pattern;
use crate::gram::side::{Layout, Side};
use crate::kernel::Kernel;
use crate::num::{Mat, Real, narrow, product};

/// `out[i * k + o] += sum_j k(x_i, c_j) coef[j * k + o]` for all points, with values of type T, on the call's device
/// if it accepts them, else on the CPU.
pub fn apply<T: Real>(
    kernel: &Kernel,
    centres: View<'_>,
    coef: &[f64],
    points: View<'_>,
    out: &mut [f64],
    exec: Exec,
) -> Result<()> {
    if !exec.device().is_cpu() && centres.n > 0 && points.n > 0 {
        super::block::check(kernel, points, centres, exec.memory())?;
        let sum = Sum { kernel, centres, coef, exact: size_of::<T>() == size_of::<f64>() };
        if let Some(done) = door::ask(exec, |device| device.apply(&sum, points, out, exec)) {
            return done;
        }
    }
    Centres::<T>::new(kernel, centres, coef, points, exec)?.apply(points, out, exec)
}

/// Centres prepared for products, with their coefficients (m x k, row by row).
#[derive(Debug, Clone)]
pub struct Centres<T> {
    kernel: Kernel,
    layout: Layout,
    side: Vec<Side<T>>,
    /// Byte centres converted to floats, for points that are not on their grid; created on first use.
    floats: OnceLock<Vec<Option<Side<T>>>>,
    coef: Vec<Coef<T>>,
    k: usize,
}

/// Coefficients of one group of centres, by output.
#[derive(Debug, Clone)]
struct Coef<T> {
    values: Vec<T>,
    /// The outputs they belong to; `None`: all.
    outputs: Option<Vec<u32>>,
}

impl<T: Real> Coef<T> {
    /// The number of those outputs.
    fn wide(&self, k: usize) -> usize {
        self.outputs.as_ref().map_or(k, Vec::len)
    }

    /// Adds sums over the group's centres to the rows of all outputs.
    fn add(&self, sums: &[T], out: &mut [f64], k: usize) {
        match &self.outputs {
            None => out.iter_mut().zip(sums).for_each(|(o, s)| *o += s.f64()),
            Some(outputs) => {
                for (out, sums) in out.chunks_mut(k).zip(sums.chunks(outputs.len().max(1))) {
                    outputs.iter().zip(sums).for_each(|(&o, s)| out[o as usize] += s.f64());
                }
            }
        }
    }
}

/// Centres kept ready between calls, prepared on first use for each kind of points.
#[derive(Debug, Clone)]
pub struct Kept<T>(Arc<[OnceLock<Centres<T>>; 2]>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Arc::default())
    }
}

impl<T: Real> Kept<T> {
    /// [`apply`] with centres that are prepared by the first call. They must be the same in every call.
    pub fn apply(&self, sum: &Sum<'_>, points: View<'_>, out: &mut [f64], exec: Exec) -> Result<()> {
        let Sum { kernel, centres, coef, .. } = *sum;
        if !exec.device().is_cpu() {
            return apply::<T>(kernel, centres, coef, points, out, exec);
        }
        // The layout also depends on whether points are sparse: see `Layout::with`.
        let kept = &self.0[usize::from(matches!(points.data, Data::Csr { .. }))];
        let ready = if let Some(ready) = kept.get() {
            super::block::check_columns(points, centres)?;
            kernel.check_points_within(points, exec.memory())?;
            ready
        } else {
            let new = Centres::new(kernel, centres, coef, points, exec)?;
            kept.get_or_init(|| new)
        };
        ready.apply(points, out, exec)
    }
}

/// Maximum number of points per tile: kernel values of 256 points against 576 centres fit into the second-level
/// cache, and 576 centres are two whole tiles of a block.
const POINTS: usize = 256;
const CENTRES: usize = 576;
/// Numbers of outputs for which a product that keeps a few rows by a few outputs in registers is faster than one that packs
/// its operands first: 256 values of 576 centres, f32 with AVX-512, take 5 microseconds instead of 35 for two outputs and 15
/// instead of 35 for ten, but 39 instead of 43 for 21 and 79 instead of 56 for 45; in f64 both are equal at ten. A single
/// output needs no packing.
const NARROW: RangeInclusive<usize> = 2..=12;
/// Cost of preparing one value of a centre, and of the kernel's function per value beside the product, in multiply-adds.
const READ: usize = 8;
const VALUE: f64 = 32.0;

impl<T: Real> Centres<T> {
    /// Prepares centres for many calls with points like `points`.
    pub fn new(
        kernel: &Kernel,
        centres: View<'_>,
        coef: &[f64],
        points: View<'_>,
        exec: Exec,
    ) -> Result<Self> {
        super::block::check(kernel, points, centres, exec.memory())?;
        let k = coef.len().checked_div(centres.n).unwrap_or(0);
        let exec = exec.for_work(centres.n.saturating_mul(centres.d.max(1)).saturating_mul(READ));
        let layout = Layout::of(kernel, centres, exec).with(points);
        // Group centres that have coefficients for the same outputs, if that skips many others.
        let (order, tiles) = pattern::tiles(coef, k, CENTRES).unzip();
        let moved = order.as_ref().map(|order: &Vec<usize>| centres.gather(order));
        let centres = moved.as_ref().map_or(centres, Points::view);
        let tiles: Vec<(Range<usize>, Option<Vec<u32>>)> = match tiles {
            Some(tiles) => tiles.into_iter().map(|tile| (tile.centres, Some(tile.outputs))).collect(),
            None => {
                (0..centres.n).step_by(CENTRES).map(|i| (i..(i + CENTRES).min(centres.n), None)).collect()
            }
        };
        let ready =
            |tile: &(Range<usize>, _)| Side::new(kernel, centres.slice(tile.0.clone()), &layout, exec);
        let side = if exec.threads() == 1 {
            tiles.iter().map(ready).collect::<Result<_>>()?
        } else {
            tiles.par_iter().map(ready).collect::<Result<_>>()?
        };
        let coef = tiles.into_iter().map(|(centres, outputs)| {
            let rows: Vec<&[f64]> = match &order {
                Some(order) => order[centres].iter().map(|&j| &coef[j * k..(j + 1) * k]).collect(),
                None => coef[centres.start * k..centres.end * k].chunks(k.max(1)).collect(),
            };
            let wide = outputs.as_ref().map_or(k, Vec::len);
            let mut values = Vec::with_capacity(wide * rows.len());
            let mut add = |o: usize| values.extend(rows.iter().map(|row| T::of(row[o])));
            match &outputs {
                Some(outputs) => outputs.iter().for_each(|&o| add(o as usize)),
                None => (0..k).for_each(add),
            }
            Coef { values, outputs }
        });
        let (kernel, coef, floats) = (kernel.clone(), coef.collect(), OnceLock::new());
        Ok(Centres { kernel, layout, side, floats, coef, k })
    }

    /// `out[i * k + o] += sum_j k(x_i, c_j) coef[j * k + o]` for all points, with sums over tiles in f64.
    pub fn apply(&self, points: View<'_>, out: &mut [f64], exec: Exec) -> Result<()> {
        let k = self.k;
        // Without centres the sums are 0; the number of outputs is then unknown and not needed.
        if self.side.is_empty() || points.n == 0 {
            return Ok(());
        }
        assert_eq!(out.len(), points.n * k);
        if points.n <= FEW {
            return self.apply_few(points, out, exec);
        }
        let most = self.side.iter().map(Side::len).max().unwrap_or(0);
        let each = self.side.first().map_or(0.0, Side::cost) + VALUE + k as f64;
        let centres: usize = self.side.iter().map(Side::len).sum();
        let exec = exec.for_work((points.n as f64 * centres as f64 * each) as usize);
        let work = |first: usize, out: &mut [f64]| -> Result<()> {
            let rows = out.len() / k;
            let x = Side::<T>::new(&self.kernel, points.slice(first..first + rows), &self.layout, exec)?;
            let mut values = vec![T::ZERO; rows * most];
            let mut sums = vec![T::ZERO; rows * k];
            for (at, (side, coef)) in self.side.iter().zip(&self.coef).enumerate() {
                let values = &mut values[..rows * side.len()];
                let side = if x.is_bytes() { side } else { self.floats(at).unwrap_or(side) };
                block(&self.kernel, &x, side, values, Exec::one());
                let wide = coef.wide(k);
                let sums = &mut sums[..rows * wide];
                let (values, by) =
                    (Mat::new(values, rows, side.len()), Mat::new(&coef.values, wide, side.len()));
                // Which of the two depends on the number of outputs alone, never on the number of points.
                if NARROW.contains(&wide) {
                    narrow::dots(sums, values, by);
                } else {
                    product::nt(sums, values, by, 1);
                }
                coef.add(sums, out, k);
            }
            Ok(())
        };
        if exec.threads() == 1 {
            return out.chunks_mut(POINTS * k).enumerate().try_for_each(|(p, out)| work(p * POINTS, out));
        }
        // Equal shares for all threads: with 39 full tiles and a small one, one of two threads would be idle for a
        // tile.
        let rounds = points.n.div_ceil(POINTS * exec.threads());
        let high = points.n.div_ceil(rounds * exec.threads());
        out.par_chunks_mut(high * k).enumerate().try_for_each(|(p, out)| work(p * high, out))
    }

    /// [`Centres::apply`] point by point.
    fn apply_few(&self, points: View<'_>, out: &mut [f64], exec: Exec) -> Result<()> {
        let ready = |rows| Side::<T>::new(&self.kernel, points.slice(rows), &self.layout, exec);
        let all = ready(0..points.n)?;
        // A point off the centres' grid would convert the whole batch to floats, so each point is then prepared
        // alone.
        let x = if points.n > 1 && self.layout.grid.is_some() && !all.is_bytes() {
            (0..points.n).map(|i| ready(i..i + 1)).collect::<Result<_>>()?
        } else {
            vec![all]
        };
        let high = points.n / x.len();
        let most = self.side.iter().map(Side::len).max().unwrap_or(0);
        let mut values = vec![T::ZERO; high * most];
        let mut sums = vec![T::ZERO; self.k];
        for (at, (side, coef)) in self.side.iter().zip(&self.coef).enumerate() {
            for (x, out) in x.iter().zip(out.chunks_mut(high * self.k)) {
                let side = if x.is_bytes() { side } else { self.floats(at).unwrap_or(side) };
                let values = &mut values[..high * side.len()];
                row_by_row(&self.kernel, x, side, values);
                for (values, out) in values.chunks(side.len()).zip(out.chunks_mut(self.k)) {
                    let sums = &mut sums[..coef.wide(self.k)];
                    T::dots(values, &coef.values, sums);
                    coef.add(sums, out, self.k);
                }
            }
        }
        Ok(())
    }

    /// Byte centres converted to floats.
    fn floats(&self, at: usize) -> Option<&Side<T>> {
        self.floats.get_or_init(|| self.side.iter().map(Side::floats).collect())[at].as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Csr;
    use mercer_testkit::toy;

    /// Centres with coefficients for some outputs alone, in few and many rows, dense and sparse, f32 and f64, beside the
    /// plain double sum.
    #[test]
    fn coefficients_of_some_outputs_make_the_sums_of_all() {
        let (m, d, classes) = (700, 5, 7);
        let sides: Vec<(usize, usize)> =
            (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b))).collect();
        let k = sides.len();
        let mut coef = toy::normals(m * k, 1, 3);
        for (j, line) in coef.chunks_mut(k).enumerate() {
            let of = j * 31 % classes;
            line.iter_mut().zip(&sides).filter(|(_, s)| s.0 != of && s.1 != of).for_each(|(c, _)| *c = 0.0);
        }
        assert!(pattern::tiles(&coef, k, CENTRES).is_some());
        let (x, y) = (toy::normals(m, d, 4), toy::normals(300, d, 5));
        let kernel = Kernel::Rbf { gamma: 0.2 };
        let gauss =
            |a: &[f64], b: &[f64]| (-0.2 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp();
        let centres = Points::dense(x.clone(), d).expect("whole rows");
        for n in [1, 2, 31, 32, 33, 300] {
            let mut want = vec![0.0; n * k];
            for (y, want) in y.chunks(d).zip(want.chunks_mut(k)) {
                for (x, coef) in x.chunks(d).zip(coef.chunks(k)) {
                    want.iter_mut().zip(coef).for_each(|(w, c)| *w += c * gauss(x, y));
                }
            }
            let some = y[..n * d].to_vec();
            let csr = Csr {
                start: (0..=n).map(|i| d * i).collect(),
                column: (0..n * d).map(|i| (i % d) as u32).collect(),
                value: some.clone(),
            };
            let single = some.iter().map(|v| *v as f32).collect();
            let kinds = [
                Points::dense(some, d).expect("whole rows"),
                Points::sparse(csr, d).expect("rows in order"),
                Points::dense_f32(single, d).expect("whole rows"),
            ];
            for points in kinds {
                for exec in [Exec::one(), Exec::new(2)] {
                    let far =
                        |out: &[f64]| out.iter().zip(&want).map(|(o, w)| (o - w).abs()).fold(0.0, f64::max);
                    let (mut exact, mut rough) = (vec![0.0; n * k], vec![0.0; n * k]);
                    apply::<f64>(&kernel, centres.view(), &coef, points.view(), &mut exact, exec)
                        .expect("numbers");
                    apply::<f32>(&kernel, centres.view(), &coef, points.view(), &mut rough, exec)
                        .expect("numbers");
                    let rounded = matches!(points.view().data, Data::F32(_));
                    assert!(far(&exact) < if rounded { 2e-5 } else { 1e-12 }, "{n}: {}", far(&exact));
                    assert!(far(&rough) < 1e-4, "{n}: {}", far(&rough));
                }
            }
        }
    }
}
