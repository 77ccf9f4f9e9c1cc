//! Sums of kernel values against many centres without holding the values: `out_i += sum_j k(x_i, c_j) coef_j`, all
//! outputs at once. This is what evaluating an expansion and correcting a solver's gradient both are.
//!
//! Cost: n m d multiply-adds for the kernel values and n m k for the outputs; memory: one tile a thread.
//!
//! Up to [`FEW`](crate::exec::FEW) points are computed one by one: a matrix product packs the centres first, which costs more than it gains for
//! a few rows, and how it sums depends on the number of rows. So a point among few has the same outputs, to the last bit,
//! whichever points are beside it.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::data::{Data, View};
use crate::error::Result;
use crate::exec::{Exec, FEW};
use crate::gram::block::{block, row_by_row};
use crate::gram::door::{self, Sum};
use crate::gram::side::{Layout, Side};
use crate::kernel::Kernel;
use crate::num::{Mat, Real, product};

/// `out[i * k + o] += sum_j k(x_i, c_j) coef[j * k + o]` for all points, with values of type T: on the device of the call
/// if it takes them, else on the CPU.
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

/// Centres made ready, with their coefficients (m x k, row by row).
#[derive(Debug, Clone)]
pub struct Centres<T> {
    kernel: Kernel,
    layout: Layout,
    side: Vec<Side<T>>,
    /// Centres that are bytes as floats, for points that are not on their grid; made when the first such point comes.
    floats: OnceLock<Vec<Option<Side<T>>>>,
    /// Coefficients of each side, one output after the other.
    coef: Vec<Vec<T>>,
    k: usize,
}

/// Centres that stay ready between calls: made when they are first needed, for each kind of points they meet.
#[derive(Debug, Clone)]
pub struct Kept<T>(Arc<[OnceLock<Centres<T>>; 2]>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Arc::default())
    }
}

impl<T: Real> Kept<T> {
    /// [`apply`] with centres that are ready after the first call. They must be the same in every call.
    pub fn apply(&self, sum: &Sum<'_>, points: View<'_>, out: &mut [f64], exec: Exec) -> Result<()> {
        let Sum { kernel, centres, coef, .. } = *sum;
        if !exec.device().is_cpu() {
            return apply::<T>(kernel, centres, coef, points, out, exec);
        }
        // What a layout depends on beside the centres: see `Layout::with`.
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

/// Most points a tile has: kernel values of 256 points against 576 centres stay in the second-level cache,
/// and 576 centres are two whole tiles of a block.
const POINTS: usize = 256;
const CENTRES: usize = 576;

impl<T: Real> Centres<T> {
    /// Centres ready for many calls; `points` are like those to come.
    pub fn new(
        kernel: &Kernel,
        centres: View<'_>,
        coef: &[f64],
        points: View<'_>,
        exec: Exec,
    ) -> Result<Self> {
        super::block::check(kernel, points, centres, exec.memory())?;
        let k = coef.len().checked_div(centres.n).unwrap_or(0);
        let layout = Layout::of(kernel, centres, exec).with(points);
        let cut = |i: usize| i..(i + CENTRES).min(centres.n);
        let starts: Vec<usize> = (0..centres.n).step_by(CENTRES).collect();
        let ready = |&i: &usize| Side::new(kernel, centres.slice(cut(i)), &layout, exec);
        let side = if exec.threads() == 1 {
            starts.iter().map(ready).collect::<Result<_>>()?
        } else {
            starts.par_iter().map(ready).collect::<Result<_>>()?
        };
        let coef = starts.iter().map(|&i| {
            let outputs = (0..k).flat_map(|o| cut(i).map(move |j| T::of(coef[j * k + o])));
            outputs.collect()
        });
        let (kernel, coef, floats) = (kernel.clone(), coef.collect(), OnceLock::new());
        Ok(Centres { kernel, layout, side, floats, coef, k })
    }

    /// `out[i * k + o] += sum_j k(x_i, c_j) coef[j * k + o]` for all points, sums over tiles in f64.
    pub fn apply(&self, points: View<'_>, out: &mut [f64], exec: Exec) -> Result<()> {
        let k = self.k;
        // Without centres the sums are 0, however many outputs there are: coefficients cannot tell their number.
        if self.side.is_empty() || points.n == 0 {
            return Ok(());
        }
        assert_eq!(out.len(), points.n * k);
        if points.n <= FEW {
            return self.apply_few(points, out, exec);
        }
        let work = |first: usize, out: &mut [f64]| -> Result<()> {
            let rows = out.len() / k;
            let x = Side::<T>::new(&self.kernel, points.slice(first..first + rows), &self.layout, exec)?;
            let mut values = vec![T::ZERO; rows * CENTRES];
            let mut sums = vec![T::ZERO; rows * k];
            for (at, (side, coef)) in self.side.iter().zip(&self.coef).enumerate() {
                let values = &mut values[..rows * side.len()];
                let side = if x.is_bytes() { side } else { self.floats(at).unwrap_or(side) };
                block(&self.kernel, &x, side, values, Exec::one());
                product::nt(&mut sums, Mat::new(values, rows, side.len()), Mat::new(coef, k, side.len()), 1);
                out.iter_mut().zip(&sums).for_each(|(o, s)| *o += s.f64());
            }
            Ok(())
        };
        if exec.threads() == 1 {
            return out.chunks_mut(POINTS * k).enumerate().try_for_each(|(p, out)| work(p * POINTS, out));
        }
        // Equal shares for all threads: with 39 full tiles and a bit, one of two threads would wait for the other.
        let rounds = points.n.div_ceil(POINTS * exec.threads());
        let high = points.n.div_ceil(rounds * exec.threads());
        out.par_chunks_mut(high * k).enumerate().try_for_each(|(p, out)| work(p * high, out))
    }

    /// [`Centres::apply`], each point by itself.
    fn apply_few(&self, points: View<'_>, out: &mut [f64], exec: Exec) -> Result<()> {
        let ready = |rows| Side::<T>::new(&self.kernel, points.slice(rows), &self.layout, exec);
        let all = ready(0..points.n)?;
        // A point that is not on the grid of the centres makes floats of those beside it: then each is looked at alone.
        let x = if points.n > 1 && self.layout.grid.is_some() && !all.is_bytes() {
            (0..points.n).map(|i| ready(i..i + 1)).collect::<Result<_>>()?
        } else {
            vec![all]
        };
        let high = points.n / x.len();
        let mut values = vec![T::ZERO; high * CENTRES.min(self.side[0].len())];
        let mut sums = vec![T::ZERO; self.k];
        for (at, (side, coef)) in self.side.iter().zip(&self.coef).enumerate() {
            for (x, out) in x.iter().zip(out.chunks_mut(high * self.k)) {
                let side = if x.is_bytes() { side } else { self.floats(at).unwrap_or(side) };
                let values = &mut values[..high * side.len()];
                row_by_row(&self.kernel, x, side, values);
                for (values, out) in values.chunks(side.len()).zip(out.chunks_mut(self.k)) {
                    T::dots(values, coef, &mut sums);
                    out.iter_mut().zip(&sums).for_each(|(o, s)| *o += s.f64());
                }
            }
        }
        Ok(())
    }

    /// Centres that are bytes, as floats.
    fn floats(&self, at: usize) -> Option<&Side<T>> {
        self.floats.get_or_init(|| self.side.iter().map(Side::floats).collect())[at].as_ref()
    }
}
