//! The fixed-point iteration for kernels of the distance (Schoelkopf et al. 1999, eq. 48-50; Mika et al. 1999).
//!
//! With `k(x, y) = f(|x - y|^2)` the distance to Psi is smallest where `v(z) = Psi . Phi(z)` is largest, and there
//!
//! ```text
//! z = sum_i c_i f'(|z - x_i|^2) x_i / sum_i c_i f'(|z - x_i|^2)
//! ```
//!
//! All vectors and all their starts step together: one matrix product for the distances, one map, one product for the
//! sums (`2 p m d` multiply-adds per step), in f32 while the tolerance allows. A step that decreases v is halved, and
//! a start whose denominator vanishes stops. So v never falls below its initial value, and no value is NaN.

use rayon::prelude::*;

use super::PreimageParams;
use super::starts::{self, Starts};
use super::target::{Candidates, Target};
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::num::{Mat, Real, product};
use crate::watch::{Step, Watch};

/// Points and centres per tile: their kernel values stay in the second-level cache.
const POINTS: usize = 128;
const CENTRES: usize = 512;
/// Number of halvings of a step after which a start counts as converged.
const HALVINGS: u32 = 6;
/// Below this tolerance the last steps are taken in f64.
const SINGLE: f64 = 3e-6;

pub(super) fn run(
    target: &Target<'_>,
    params: &PreimageParams,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Candidates> {
    let (p, d) = (target.len(), target.d);
    let Starts { kinds, points } = starts::make(target, params, exec)?;
    let mut walkers: Vec<Walker> = points
        .chunks(d)
        .map(|z| {
            // Relative to the centres' mean, where f32 loses the fewest digits.
            let z: Vec<f64> = z.iter().zip(&target.mean).map(|(z, m)| z - m).collect();
            Walker { at: z.clone(), best: z, value: f64::NEG_INFINITY, steps: 0, halved: 0, done: false }
        })
        .collect();
    let rough = params.tol.max(SINGLE);
    Iteration::<f32>::new(target).run(&mut walkers, p, rough, params.max_iter, exec, watch);
    if params.tol < SINGLE {
        walkers.iter_mut().for_each(Walker::again);
        Iteration::<f64>::new(target).run(&mut walkers, p, params.tol, params.max_iter, exec, watch);
    }
    let merit: Vec<f64> = walkers.iter().map(|w| w.value).collect();
    let won = starts::winners(&merit, p);
    let chosen = || won.iter().enumerate().map(|(o, &s)| &walkers[s * p + o]);
    // An increase seen in f32 may not exist in f64; then the start itself is better.
    let exact = |points: &[f64]| -> Result<Vec<f64>> {
        target.inner(crate::data::Points::dense(points.to_vec(), d)?.view(), exec)
    };
    let mut found: Vec<f64> =
        chosen().flat_map(|w| w.best.iter().zip(&target.mean).map(|(z, m)| z + m)).collect();
    let begun: Vec<f64> = won
        .iter()
        .enumerate()
        .flat_map(|(o, &s)| points[(s * p + o) * d..(s * p + o + 1) * d].iter().copied())
        .collect();
    let (after, before) = (exact(&found)?, exact(&begun)?);
    let mut steps: Vec<u32> = chosen().map(|w| w.steps).collect();
    for o in (0..p).filter(|&o| before[o] > after[o]) {
        found[o * d..(o + 1) * d].copy_from_slice(&begun[o * d..(o + 1) * d]);
        steps[o] = 0;
    }
    Ok(Candidates { points: found, steps, start: won.iter().map(|&s| kinds[s]).collect() })
}

/// One start of one vector.
struct Walker {
    /// The next point to evaluate.
    at: Vec<f64>,
    /// The best point so far and v at it.
    best: Vec<f64>,
    value: f64,
    steps: u32,
    halved: u32,
    done: bool,
}

impl Walker {
    /// Prepares more steps from the best point, whose value must be recomputed.
    fn again(&mut self) {
        self.at.clone_from(&self.best);
        (self.value, self.halved, self.done) = (f64::NEG_INFINITY, 0, false);
    }

    /// Processes v and the next point from the evaluation at `at`.
    fn advance(&mut self, value: f64, next: Option<&[f64]>, small: f64, noise: f64) {
        if !value.is_finite() || value < self.value - noise {
            self.halved += 1;
            self.done = self.halved > HALVINGS;
            self.at.iter_mut().zip(&self.best).for_each(|(a, b)| *a = 0.5 * (*a + b));
            return;
        }
        self.steps += 1;
        self.halved = 0;
        let moved = if self.value.is_finite() { distance(&self.at, &self.best) } else { f64::INFINITY };
        self.value = self.value.max(value);
        self.best.copy_from_slice(&self.at);
        let Some(next) = next else {
            self.done = true;
            return;
        };
        if moved <= small || distance(next, &self.at) <= small {
            self.done = true;
        }
        self.at.copy_from_slice(next);
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// At a point: v, the sum of the weights, and the sum of their absolute values.
type Head = (f64, f64, f64);

/// Centres and coefficients prepared in one float type.
struct Iteration<'a, T> {
    kernel: &'a Kernel,
    /// f' = -gamma f: the kernel values are the weights.
    gaussian: bool,
    x: Vec<T>,
    x_sq: Vec<T>,
    /// p x m: the coefficients of each vector contiguously.
    coef: Vec<T>,
    size: Vec<f64>,
    d: usize,
    spread: f64,
}

impl<'a, T: Real> Iteration<'a, T> {
    fn new(target: &Target<'a>) -> Self {
        let (m, d) = (target.centres(), target.d);
        let x: Vec<T> = target.x.iter().enumerate().map(|(i, &v)| T::of(v - target.mean[i % d])).collect();
        let x_sq = x.chunks(d).map(|r| T::of(r.iter().map(|v| v.f64().powi(2)).sum())).collect();
        let coef: Vec<T> = target.coef.iter().map(|&c| T::of(c)).collect();
        let size = coef.chunks(m).map(|c| c.iter().map(|v| v.f64().abs()).sum()).collect();
        let kernel = target.psi.kernel();
        let gaussian = matches!(kernel, Kernel::Rbf { .. });
        Iteration { kernel, gaussian, x, x_sq, coef, size, d, spread: target.spread }
    }

    fn run(
        &self,
        walkers: &mut [Walker],
        p: usize,
        tol: f64,
        most: usize,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) {
        let d = self.d;
        let small = tol * self.spread;
        for step in 0..most {
            let active: Vec<usize> = (0..walkers.len()).filter(|&w| !walkers[w].done).collect();
            let finished = (walkers.len() - active.len()) as u64;
            if active.is_empty()
                || watch(&Step::new("pre-images", finished, Some(walkers.len() as u64))).is_break()
            {
                break;
            }
            let look = |rows: &[usize]| {
                let mut sums = vec![T::ZERO; rows.len() * d];
                let mut heads = vec![(0.0, 0.0, 0.0); rows.len()];
                self.look(rows, walkers, p, &mut sums, &mut heads);
                (sums, heads)
            };
            let seen: Vec<(Vec<T>, Vec<Head>)> = if exec.threads() == 1 {
                active.chunks(POINTS).map(look).collect()
            } else {
                active.par_chunks(POINTS).map(look).collect()
            };
            let mut next = vec![0.0; d];
            for (rows, (sums, heads)) in active.chunks(POINTS).zip(seen) {
                for (r, &w) in rows.iter().enumerate() {
                    let (value, below, weight) = heads[r];
                    let noise = 8.0 * T::EPSILON.f64() * self.size[w % p];
                    let sum = &sums[r * d..(r + 1) * d];
                    next.iter_mut().zip(sum).for_each(|(n, s)| *n = s.f64() / below);
                    // A vanishing denominator would move the point arbitrarily far.
                    let good =
                        below.abs() > 1e3 * T::EPSILON.f64() * weight && next.iter().all(|v| v.is_finite());
                    walkers[w].advance(value, good.then_some(next.as_slice()), small, noise);
                    if step + 1 == most {
                        walkers[w].done = true;
                    }
                }
            }
        }
    }

    /// For some walkers: the weighted sums of centres, and v, the sum of the weights and of their absolute values.
    fn look(&self, rows: &[usize], walkers: &[Walker], p: usize, sums: &mut [T], heads: &mut [Head]) {
        let (d, m, n) = (self.d, self.x_sq.len(), rows.len());
        let z: Vec<T> = rows.iter().flat_map(|&w| walkers[w].at.iter().map(|&v| T::of(v))).collect();
        let z_sq: Vec<T> = rows.iter().map(|&w| T::of(walkers[w].at.iter().map(|v| v * v).sum())).collect();
        let mut tile = vec![T::ZERO; n * CENTRES];
        let (mut slope, mut unused) = if self.gaussian {
            (Vec::new(), Vec::new())
        } else {
            (vec![T::ZERO; n * CENTRES], vec![T::ZERO; n * CENTRES])
        };
        for from in (0..m).step_by(CENTRES) {
            let cols = CENTRES.min(m - from);
            let x = Mat::new(&self.x[from * d..(from + cols) * d], cols, d);
            let x_sq = &self.x_sq[from..from + cols];
            let tile = &mut tile[..n * cols];
            product::nt(tile, Mat::new(&z, n, d), x, 1);
            if !self.gaussian {
                let (slope, unused) = (&mut slope[..n * cols], &mut unused[..n * cols]);
                self.kernel.map_derivative(tile, &z_sq, x_sq, slope, unused);
            }
            self.kernel.map(tile, &z_sq, x_sq);
            for (r, &w) in rows.iter().enumerate() {
                let coef = &self.coef[w % p * m + from..w % p * m + from + cols];
                let line = &mut tile[r * cols..(r + 1) * cols];
                let head = &mut heads[r];
                if self.gaussian {
                    let (sum, size) = weigh(line, coef);
                    *head = (head.0 + sum, head.1 + sum, head.2 + size);
                } else {
                    let (value, _) = weigh(line, coef);
                    line.copy_from_slice(&slope[r * cols..(r + 1) * cols]);
                    let (sum, size) = weigh(line, coef);
                    *head = (head.0 + value, head.1 + sum, head.2 + size);
                }
            }
            product::add_nn(sums, T::ONE, Mat::new(tile, n, cols), x, 1);
        }
    }
}

/// Multiplies a row by coefficients; returns the sum and the sum of absolute values, in eight lanes.
fn weigh<T: Real>(line: &mut [T], coef: &[T]) -> (f64, f64) {
    T::mul_all(line, coef);
    let (mut sum, mut size) = ([T::ZERO; 8], [T::ZERO; 8]);
    let (whole, rest) = line.as_chunks::<8>();
    for v in whole {
        for l in 0..8 {
            sum[l] += v[l];
            size[l] += Real::max(v[l], -v[l]);
        }
    }
    let mut out = (sum.iter().map(|v| v.f64()).sum::<f64>(), size.iter().map(|v| v.f64()).sum::<f64>());
    for v in rest {
        out = (out.0 + v.f64(), out.1 + v.f64().abs());
    }
    out
}
