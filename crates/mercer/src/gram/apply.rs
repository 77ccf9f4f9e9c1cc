//! Sums of kernel values against many centres without holding the values: `out_i += sum_j k(x_i, c_j) coef_j`, all
//! outputs at once. This is what evaluating an expansion and correcting a solver's gradient both are.
//!
//! Cost: n m d multiply-adds for the kernel values and n m k for the outputs; memory: one tile a thread.

use rayon::prelude::*;

use crate::data::View;
use crate::error::Result;
use crate::exec::Exec;
use crate::gram::block::block;
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
    coef: Vec<Vec<T>>,
    k: usize,
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
        let layout = Layout::of(kernel, centres).with(points);
        let cut = |i: usize| i..(i + CENTRES).min(centres.n);
        let starts: Vec<usize> = (0..centres.n).step_by(CENTRES).collect();
        let ready = |&i: &usize| Side::new(kernel, centres.slice(cut(i)), &layout, exec);
        let side = if exec.threads() == 1 {
            starts.iter().map(ready).collect::<Result<_>>()?
        } else {
            starts.par_iter().map(ready).collect::<Result<_>>()?
        };
        let coef = (0..centres.n).step_by(CENTRES).map(|i| {
            let r = cut(i);
            coef[r.start * k..r.end * k].iter().map(|&c| T::of(c)).collect()
        });
        Ok(Centres { kernel: kernel.clone(), layout, side, coef: coef.collect(), k })
    }

    /// `out[i * k + o] += sum_j k(x_i, c_j) coef[j * k + o]` for all points, sums over tiles in f64.
    pub fn apply(&self, points: View<'_>, out: &mut [f64], exec: Exec) -> Result<()> {
        let k = self.k;
        // Without centres the sums are 0, however many outputs there are: coefficients cannot tell their number.
        if self.side.is_empty() || points.n == 0 {
            return Ok(());
        }
        assert_eq!(out.len(), points.n * k);
        let work = |first: usize, out: &mut [f64]| -> Result<()> {
            let rows = out.len() / k;
            let x = Side::<T>::new(&self.kernel, points.slice(first..first + rows), &self.layout, exec)?;
            let mut values = vec![T::ZERO; rows * CENTRES];
            let mut sums = vec![T::ZERO; rows * k];
            for (side, coef) in self.side.iter().zip(&self.coef) {
                let values = &mut values[..rows * side.len()];
                block(&self.kernel, &x, side, values, Exec::one());
                product::nn(&mut sums, Mat::new(values, rows, side.len()), Mat::new(coef, side.len(), k), 1);
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
}
