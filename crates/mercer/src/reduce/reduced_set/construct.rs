//! Vectors built one by one (Burges 1996; Schoelkopf et al. 1998, section 4).
//!
//! With m vectors found, the residual `Psi_m = Psi - sum_j beta_j Phi(z_j)` is itself an expansion over `x` and `z`;
//! the next vector is the best single approximation of it, and all coefficients are then recomputed (eq. 16 and 17).
//! The sets are nested: the first n vectors are the set of size n. Cost per search: `rounds x starts x (n + m) x d`
//! multiply-adds in products, and m^3 / 3. A search by descent yields up to eight vectors, one by fixed points a
//! single vector.

use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::fixed_point;
use super::gradient::{self, Known};
use super::sheet::{Sheet, radial};
use crate::data::Row;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::num::{Mat, factor, product};

/// Number of starts whose fixed-point iterations run to convergence, and then descend on the gain.
const FINAL: usize = 8;
const POLISHED: usize = 3;

/// Minimum gain of a further vector from one search, as a fraction of the first one's gain.
const WORTH: f64 = 0.5;

/// A growing set.
#[derive(Debug)]
pub(super) struct Construction {
    pub psi: Expansion,
    /// The centres of Psi, followed by the vectors found.
    pub all: Sheet,
    /// The residual's coefficients on them.
    pub coef: Vec<f64>,
    /// `Psi . Phi(x_i)` at the centres, n x k.
    inner: Vec<f64>,
    own: Vec<f64>,
    /// Kernel values of each vector found: against all centres, and against the vectors before it.
    across: Vec<Vec<f64>>,
    within: Vec<Vec<f64>>,
    /// `Psi . Phi(z_j)`, m x k.
    right: Vec<f64>,
    starts: usize,
    rng: ChaCha8Rng,
    pub spread: f64,
    by_gradient: bool,
    /// `|Psi_o|^2` of each output.
    pub norm2: Vec<f64>,
    /// `|Psi_m|^2` summed over outputs, after each vector.
    pub rest: Vec<f64>,
    pub exhausted: bool,
}

impl Construction {
    pub(super) fn new(
        psi: Expansion,
        by_gradient: bool,
        starts: usize,
        seed: u64,
        exec: Exec,
    ) -> Result<Self> {
        let kernel = psi.kernel().clone();
        let kernel = &kernel;
        let (d, k) = (psi.centres().dim(), psi.outputs());
        let by_gradient = by_gradient || !radial(kernel);
        if by_gradient && !kernel.has_gradient() {
            return Err(Error::Unsupported(format!(
                "kernel `{kernel}` has no derivative, so no vectors can be constructed: use a method that selects"
            )));
        }
        let x = psi.centres().view().to_f64_within(exec.memory())?;
        let inner = psi.inner_at(psi.centres().view(), exec)?;
        let own: Vec<f64> = x.chunks(d).map(|x| kernel.value(Row::F64(x), Row::F64(x))).collect();
        let mut norm2 = vec![0.0; k];
        for (p, c) in inner.chunks(k).zip(psi.coef().chunks(k)) {
            norm2.iter_mut().zip(p.iter().zip(c)).for_each(|(n, (p, c))| *n += p * c);
        }
        Ok(Construction {
            spread: spread(&x, d),
            all: Sheet::new(kernel, x, d),
            coef: psi.coef().to_vec(),
            psi,
            inner,
            own,
            across: Vec::new(),
            within: Vec::new(),
            right: Vec::new(),
            starts: starts.max(1),
            rng: ChaCha8Rng::seed_from_u64(seed),
            by_gradient,
            rest: vec![norm2.iter().sum::<f64>().max(0.0)],
            norm2,
            exhausted: false,
        })
    }

    /// The first `size` vectors, row by row; fewer if the residual vanishes earlier.
    pub(super) fn at(&mut self, size: usize, exec: Exec) -> Result<Vec<f64>> {
        while self.across.len() < size && !self.exhausted {
            self.grow(exec)?;
        }
        let (n, d) = (self.psi.len(), self.all.d);
        let m = size.min(self.across.len());
        Ok(self.all.y[n * d..(n + m) * d].to_vec())
    }

    fn grow(&mut self, exec: Exec) -> Result<()> {
        let d = self.all.d;
        let kernel = self.psi.kernel().clone();
        let known = self.known()?;
        let mut z = self.starts_now();
        if !self.by_gradient {
            // Successive halving: all starts run a few rounds, the better ones more, the best to convergence.
            for (rounds, keep) in [(4, (z.len() / d).div_ceil(6).max(FINAL)), (10, FINAL), (40, FINAL)] {
                fixed_point::run(&self.all, &self.coef, &mut z, rounds, self.spread, exec)?;
                z = self.better(&known, &z, keep, exec)?;
            }
        }
        // The residual is orthogonal to all earlier vectors, so only the orthogonal part of a new vector reduces it.
        // The search therefore ends with a descent on the gain itself.
        if kernel.has_gradient() {
            z = self.better(&known, &z, if self.by_gradient { FINAL } else { POLISHED }, exec)?;
            gradient::run(&kernel, &self.all, &self.coef, &known, &mut z, self.spread, exec)?;
        }
        // Descents are expensive and end at several distinct points: use those whose gain is still large after the
        // first.
        let most = if self.by_gradient { FINAL } else { 1 };
        let (mut z, mut gains) = self.ranked(&known, &z, most, exec)?;
        // No search has found a vector that lowers the error; another round would end at the same points.
        if gains.first().is_none_or(|g| g.is_nan() || *g <= 0.0) {
            self.exhausted = true;
            return Ok(());
        }
        let least = WORTH * gains[0];
        while gains.first().is_some_and(|g| *g >= least) && !self.exhausted {
            self.accept(&z[..d], exec)?;
            let rest = z.split_off(d);
            (z, gains) = if rest.is_empty() {
                Default::default()
            } else {
                self.ranked(&self.known()?, &rest, most, exec)?
            };
        }
        Ok(())
    }

    /// Adds a vector and recomputes all coefficients; marks the set as finished if nothing is left to gain.
    pub(super) fn accept(&mut self, z: &[f64], exec: Exec) -> Result<()> {
        let (n, k, m) = (self.psi.len(), self.psi.outputs(), self.within.len());
        let values = self.all.look(z, exec)?.values;
        let mut inner = vec![0.0; k];
        product::nn(&mut inner, Mat::new(&values, 1, n + m), Mat::new(&self.coef, n + m, k), 1);
        let merit: f64 = inner.iter().map(|p| p * p).sum();
        // The residual is rounding error: further vectors would fit noise.
        if merit.is_nan() || merit <= 1e-24 * self.rest[0] {
            self.exhausted = true;
            return Ok(());
        }
        let own = self.psi.kernel().value(Row::F64(z), Row::F64(z));
        let mut right = vec![0.0; k];
        product::nn(&mut right, Mat::new(&values, 1, n), Mat::new(self.psi.coef(), n, k), 1);
        self.right.extend(right);
        self.across.push(values[..n].to_vec());
        self.within.push([&values[n..], &[own]].concat());
        self.all.push(z);
        let Ok((beta, _)) = factor::solve_spd(&self.gram(), m + 1, &self.right, k) else {
            // A vector outside the kernel's domain has no best coefficient: the set ends before it.
            self.right.truncate(m * k);
            self.across.pop();
            self.within.pop();
            self.all.truncate(n + m);
            self.exhausted = true;
            return Ok(());
        };
        let gained: f64 = beta.iter().zip(&self.right).map(|(b, r)| b * r).sum();
        self.rest.push((self.rest[0] - gained).max(0.0));
        self.coef.truncate(n * k);
        self.coef.extend(beta.iter().map(|b| -b));
        Ok(())
    }

    /// The vectors found, in the form needed to compute gains.
    pub(super) fn known(&self) -> Result<Known> {
        Known::new(&self.gram(), self.within.len())
    }

    /// The vectors' own kernel matrix.
    fn gram(&self) -> Vec<f64> {
        let m = self.within.len();
        let mut gram = vec![0.0; m * m];
        for (i, line) in self.within.iter().enumerate() {
            for (j, &v) in line.iter().enumerate() {
                (gram[i * m + j], gram[j * m + i]) = (v, v);
            }
        }
        gram
    }

    /// The `keep` points that reduce the error most, in descending order of gain.
    fn better(&self, known: &Known, z: &[f64], keep: usize, exec: Exec) -> Result<Vec<f64>> {
        Ok(self.ranked(known, z, keep, exec)?.0)
    }

    /// The same with their gains.
    fn ranked(&self, known: &Known, z: &[f64], keep: usize, exec: Exec) -> Result<(Vec<f64>, Vec<f64>)> {
        let d = self.all.d;
        let gains = known.gains(self.psi.kernel(), &self.all, &self.coef, z, exec)?;
        let mut order: Vec<usize> = (0..gains.len()).collect();
        order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        order.truncate(keep);
        let z = order.iter().flat_map(|&i| &z[i * d..(i + 1) * d]).copied().collect();
        Ok((z, order.iter().map(|&i| gains[i]).collect()))
    }

    /// Starting points of the next search: the centres whose images align most with the residual, and as many random
    /// ones.
    fn starts_now(&mut self) -> Vec<f64> {
        let (n, k, d) = (self.psi.len(), self.psi.outputs(), self.all.d);
        let mut inner = self.inner.clone();
        for (across, minus) in self.across.iter().zip(self.coef[n * k..].chunks(k)) {
            for (line, v) in inner.chunks_mut(k).zip(across) {
                line.iter_mut().zip(minus).for_each(|(p, c)| *p += c * v);
            }
        }
        let score: Vec<f64> = inner
            .chunks(k)
            .zip(&self.own)
            .map(|(line, own)| if *own > 0.0 { line.iter().map(|p| p * p).sum::<f64>() / own } else { 0.0 })
            .collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| score[b].total_cmp(&score[a]));
        order.truncate(self.starts.div_ceil(2));
        order.extend(index::sample(&mut self.rng, n, (self.starts / 2).min(n)));
        order.iter().flat_map(|&i| &self.all.y[i * d..(i + 1) * d]).copied().collect()
    }
}

/// Root mean square distance of rows from their mean; 1 if they are all equal.
pub(super) fn spread(x: &[f64], d: usize) -> f64 {
    let n = (x.len() / d).max(1) as f64;
    let mut mean = vec![0.0; d];
    x.chunks(d).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n));
    let off: f64 = x.chunks(d).flat_map(|row| row.iter().zip(&mean).map(|(v, m)| (v - m).powi(2))).sum();
    if off > 0.0 { (off / n).sqrt() } else { 1.0 }
}
