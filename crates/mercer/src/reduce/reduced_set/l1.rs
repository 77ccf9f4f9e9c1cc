//! Centres selected by an L1 penalty on the coefficients (Schoelkopf et al. 1999, eq. 66 and 70).
//!
//! ```text
//! minimise  sum_o |Psi^o - sum_i b_io Phi(x_i)|^2 + lambda sum_i c_i max_o |b_io|
//! ```
//!
//! For one output this is the L1 penalty. For several, only the largest coefficient of a centre is penalised: a
//! kernel value computed for one output costs nothing for the others. Solved by block coordinate descent instead of
//! the paper's quadratic program: the minimum over one row is `v - P(v)`, v the unpenalised minimum and P the
//! projection on the L1 ball of radius `lambda c_i / 2 K_ii`. Every lambda is warm-started from its neighbour. Cost
//! per update: n k.

use crate::data::Points;
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::num::{Buffer, Mat, product};

/// Maximum number of sweeps per lambda, and the relative change that ends them.
const SWEEPS: usize = 400;
const TOL: f64 = 1e-5;
/// Ratio of consecutive values of lambda on the path.
const STEP: f64 = 0.8;

/// The weights of the penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weighting {
    /// `c_i = 1`.
    Equal,
    /// `c_i = mean |a| / |a_i|`: small coefficients are penalised more.
    #[default]
    Inverse,
}

/// A path over decreasing lambda, from the largest, where all coefficients are zero.
#[derive(Debug)]
pub(super) struct Path {
    gram: Buffer<f64>,
    /// `Psi . Phi(x_i)` minus that of the current solution, n x k.
    rest: Vec<f64>,
    right: Vec<f64>,
    beta: Vec<f64>,
    cost: Vec<f64>,
    n: usize,
    k: usize,
    /// The smallest lambda at which all coefficients are zero.
    pub largest: f64,
    /// The last lambda that was solved.
    at: f64,
}

impl Path {
    /// `pool` are the centres, followed by other candidates.
    pub(super) fn new(psi: &Expansion, pool: &Points, weighting: Weighting, exec: Exec) -> Result<Self> {
        let (own, n, k) = (psi.len(), pool.len(), psi.outputs());
        let gram = gram::square::<f64>(psi.kernel(), pool.view(), exec)?;
        let left: Vec<f64> = gram.chunks(n.max(1)).flat_map(|line| &line[..own]).copied().collect();
        let mut right = vec![0.0; n * k];
        product::nn(&mut right, Mat::new(&left, n, own), Mat::new(psi.coef(), own, k), exec.threads());
        let mut size: Vec<f64> =
            psi.coef().chunks(k).map(|line| line.iter().fold(0.0, |m: f64, c| m.max(c.abs()))).collect();
        let mean = size.iter().sum::<f64>() / own.max(1) as f64;
        // A candidate without a coefficient is penalised like the smallest coefficient.
        let smallest = size.iter().copied().fold(f64::INFINITY, f64::min);
        size.resize(n, smallest);
        let cost: Vec<f64> = match weighting {
            Weighting::Equal => vec![1.0; n],
            Weighting::Inverse => size.iter().map(|s| mean / s).collect(),
        };
        // A row stays zero while the sum of its |gradient| is below its penalty.
        let largest = right
            .chunks(k)
            .zip(&cost)
            .map(|(r, c)| 2.0 * r.iter().map(|v| v.abs()).sum::<f64>() / c)
            .fold(0.0, f64::max);
        Ok(Path {
            gram,
            rest: right.clone(),
            right,
            beta: vec![0.0; n * k],
            cost,
            n,
            k,
            largest,
            at: f64::INFINITY,
        })
    }

    /// Restarts from the end where all coefficients are zero.
    fn reset(&mut self) {
        self.beta.fill(0.0);
        self.rest.copy_from_slice(&self.right);
        self.at = f64::INFINITY;
    }

    /// The centres with a non-zero coefficient at this lambda.
    pub(super) fn solve(&mut self, lambda: f64) -> Vec<usize> {
        self.at = lambda;
        let scale = self.right.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        for _ in 0..SWEEPS {
            let mut largest: f64 = 0.0;
            for i in 0..self.n {
                largest = largest.max(self.visit(i, lambda));
            }
            if largest <= TOL * scale {
                break;
            }
        }
        self.chosen()
    }

    /// The centres with a non-zero coefficient now.
    fn chosen(&self) -> Vec<usize> {
        let k = self.k;
        (0..self.n).filter(|&i| self.beta[i * k..(i + 1) * k].iter().any(|b| *b != 0.0)).collect()
    }

    /// Minimises over row i; returns the size of the gradient's violation before.
    fn visit(&mut self, i: usize, lambda: f64) -> f64 {
        let (n, k) = (self.n, self.k);
        let own = self.gram[i * n + i];
        if own <= 0.0 {
            return 0.0;
        }
        let old = &self.beta[i * k..(i + 1) * k];
        let mut row: Vec<f64> =
            self.rest[i * k..(i + 1) * k].iter().zip(old).map(|(r, b)| r / own + b).collect();
        shrink(&mut row, lambda * self.cost[i] / (2.0 * own));
        let change: Vec<f64> = row.iter().zip(old).map(|(new, old)| new - old).collect();
        let most = change.iter().fold(0.0, |m: f64, c| m.max(c.abs()));
        if most == 0.0 {
            return 0.0;
        }
        self.beta[i * k..(i + 1) * k].copy_from_slice(&row);
        let column = &self.gram[i * n..(i + 1) * n];
        if k == 1 {
            let c = change[0];
            self.rest.iter_mut().zip(column).for_each(|(r, v)| *r -= c * v);
        } else {
            for (line, v) in self.rest.chunks_mut(k).zip(column) {
                line.iter_mut().zip(&change).for_each(|(r, c)| *r -= c * v);
            }
        }
        most * own
    }
}

/// The minimiser of `|b - v|^2 / 2 + radius max |b|`: v without its projection on the L1 ball.
fn shrink(v: &mut [f64], radius: f64) {
    let sum: f64 = v.iter().map(|v| v.abs()).sum();
    if sum <= radius {
        v.fill(0.0);
        return;
    }
    // The level at which values are soft-thresholded: sum max(0, |v| - level) = radius.
    let mut sizes: Vec<f64> = v.iter().map(|v| v.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let (mut above, mut level) = (0.0, 0.0);
    for (i, s) in sizes.iter().enumerate() {
        above += s;
        let here = (above - radius) / (i + 1) as f64;
        if here < *s {
            level = here;
        }
    }
    v.iter_mut().for_each(|v| *v = v.clamp(-level, level));
}

/// The centres of each path at the common lambda at which they number `total` together, or the nearest smaller
/// number. The lambda is returned last.
pub(super) fn at_size(paths: &mut [&mut Path], total: usize) -> (Vec<Vec<usize>>, f64) {
    let mut above = paths.iter().fold(0.0, |m: f64, p| m.max(p.largest));
    let solve = |paths: &mut [&mut Path], lambda: f64| -> Vec<Vec<usize>> {
        use rayon::prelude::*;
        paths.par_iter_mut().map(|p| p.solve(lambda)).collect()
    };
    let count = |sets: &[Vec<usize>]| sets.iter().map(Vec::len).sum::<usize>();
    // Continue from the last size if it was smaller, else from zero.
    let mut best: Vec<Vec<usize>> = paths.iter().map(|p| p.chosen()).collect();
    let known = paths.first().map_or(f64::INFINITY, |p| p.at);
    if known.is_finite() && count(&best) <= total && paths.iter().all(|p| p.at == known) {
        above = known;
    } else {
        paths.iter_mut().for_each(|p| p.reset());
        best.iter_mut().for_each(Vec::clear);
    }
    let mut chosen = above;
    let mut below = above * STEP;
    // Decrease lambda until the set is too large, then bisect.
    while below > 1e-12 * chosen.max(above) {
        let sets = solve(paths, below);
        if count(&sets) > total {
            break;
        }
        (best, chosen, above) = (sets, below, below);
        below *= STEP;
    }
    for _ in 0..12 {
        if count(&best) == total || above <= below {
            break;
        }
        let middle = (above * below).sqrt();
        let sets = solve(paths, middle);
        if count(&sets) > total {
            below = middle;
        } else {
            (best, chosen, above) = (sets, middle, middle);
        }
    }
    (best, chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, toy};

    fn psi(k: usize) -> Expansion {
        let centres = Points::dense(toy::normals(15, 3, 1), 3).expect("rows");
        let kernel = "rbf(gamma=0.4)".parse().expect("a kernel");
        Expansion::new(kernel, centres, toy::normals(15, k, 2), vec![0.0; k]).expect("fits")
    }

    #[test]
    fn the_path_starts_at_nothing_and_ends_at_the_expansion() {
        for k in [1, 3] {
            for weighting in [Weighting::Equal, Weighting::Inverse] {
                let psi = psi(k);
                let mut path = Path::new(&psi, psi.centres(), weighting, Exec::one()).expect("numbers");
                assert!(path.solve(path.largest * 1.0001).is_empty());
                assert!(!path.solve(path.largest * 0.99).is_empty());
                let mut last = 0;
                for _ in 0..60 {
                    last = path.solve(path.largest * 1e-9).len();
                }
                assert_eq!(last, 15);
                for (got, want) in path.beta.iter().zip(psi.coef()) {
                    close(*got, *want, 1e-2);
                }
            }
        }
    }

    #[test]
    fn the_answer_is_a_minimum() {
        let psi = psi(3);
        let mut path = Path::new(&psi, psi.centres(), Weighting::Equal, Exec::one()).expect("numbers");
        let lambda = path.largest * 0.2;
        for _ in 0..20 {
            path.solve(lambda);
        }
        let value = |beta: &[f64]| -> f64 {
            let mut sum = 0.0;
            for i in 0..15 {
                let row = &beta[i * 3..i * 3 + 3];
                sum += lambda * row.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
                for o in 0..3 {
                    sum -= 2.0 * path.right[i * 3 + o] * row[o];
                    sum += (0..15).map(|j| path.gram[i * 15 + j] * row[o] * beta[j * 3 + o]).sum::<f64>();
                }
            }
            sum
        };
        let best = value(&path.beta);
        for seed in 0..40 {
            let mut moved = path.beta.clone();
            moved.iter_mut().zip(toy::normals(15, 3, 100 + seed)).for_each(|(b, v)| *b += 1e-3 * v);
            assert!(value(&moved) > best - 1e-9, "seed {seed}");
        }
        assert!(path.beta.chunks(3).any(|row| row.iter().all(|b| *b == 0.0)), "no row is zero");
    }
}
