//! The centre of mass of version space, by a billiard.
//!
//! ```text
//! version space:  all w with y_i w . Phi(x_i) > 0 for every row, |w| <= 1
//! ```
//!
//! A ball moves in a straight line and is reflected at the rows' hyperplanes and at the unit sphere; the mean of its
//! path tends to the centre of mass (Rujan 1997; Rujan and Marchand 2000; Herbrich, Graepel and Campbell 2001), the
//! Bayes point: an approximation of the majority vote of all consistent classifiers. Position and direction are sums
//! of images of rows, so only K is needed; a reflection at row i changes one coefficient. Cost per bounce: n.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::{Mat, product};
use crate::watch::{Step, Stop, Watch};

/// The mean of the path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Centre {
    /// Coefficients, one per row.
    pub coef: Vec<f64>,
    /// Number of reflections at hyperplanes and at the sphere.
    pub bounces: u64,
    /// Length of the path.
    pub length: f64,
    /// Why it stopped.
    pub stop: Stop,
}

/// Number of bounces after which outputs are recomputed from the coefficients, to remove accumulated rounding.
const ANEW: u64 = 64;
/// The watcher is called once per this many bounces.
const TOLD: u64 = 256;

struct Ball {
    /// Coefficients of the position, and its outputs on all rows.
    at: Vec<f64>,
    at_f: Vec<f64>,
    /// The same for the direction.
    to: Vec<f64>,
    to_f: Vec<f64>,
}

impl Ball {
    fn dot(a: &[f64], f: &[f64]) -> f64 {
        a.iter().zip(f).map(|(a, f)| a * f).sum()
    }

    fn anew(&mut self, k: &[f64], exec: Exec) {
        let n = self.at.len();
        for (coef, out) in [(&self.at, &mut self.at_f), (&self.to, &mut self.to_f)] {
            product::nn(out, Mat::new(k, n, n), Mat::new(coef, n, 1), exec.threads());
        }
    }
}

/// Runs the billiard from coefficients that separate the rows of the n x n matrix `k`. Fails if they do not separate
/// them.
pub(crate) fn billiard(
    k: &[f64],
    y: &[f64],
    start: &[f64],
    bounces: u64,
    seed: u64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Centre> {
    let n = y.len();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let to = (0..n).map(|_| rng.random::<f64>() - 0.5).collect();
    let mut ball = Ball { at: start.to_vec(), at_f: vec![0.0; n], to, to_f: vec![0.0; n] };
    ball.anew(k, exec);
    if ball.at_f.iter().zip(y).any(|(f, y)| f * y <= 0.0) {
        return Err(Error::Unsupported("a billiard needs a start that separates the rows".into()));
    }
    // Start half way to the sphere with unit speed.
    for (coef, f, length) in [(&mut ball.at, &mut ball.at_f, 0.5), (&mut ball.to, &mut ball.to_f, 1.0)] {
        let norm = Ball::dot(coef, f).max(f64::MIN_POSITIVE).sqrt() / length;
        coef.iter_mut().for_each(|v| *v /= norm);
        f.iter_mut().for_each(|v| *v /= norm);
    }
    let mut sum = vec![0.0; n];
    let (mut length, mut done, mut stop) = (0.0, 0, Stop::Converged);
    let mut last = usize::MAX;
    while done < bounces {
        if done.is_multiple_of(ANEW) && done > 0 {
            ball.anew(k, exec);
        }
        if done.is_multiple_of(TOLD) && watch(&Step::new("billiard", done, Some(bounces))).is_break() {
            stop = Stop::Cancelled;
            break;
        }
        let (ww, wv, vv) = (
            Ball::dot(&ball.at, &ball.at_f),
            Ball::dot(&ball.at, &ball.to_f),
            Ball::dot(&ball.to, &ball.to_f).max(f64::MIN_POSITIVE),
        );
        // Time until the sphere is hit: |w + t v|^2 = 1.
        let mut time = (-wv + (wv * wv - vv * (ww - 1.0)).max(0.0).sqrt()) / vv;
        let mut wall = n;
        for i in (0..n).filter(|&i| i != last) {
            let towards = y[i] * ball.to_f[i];
            if towards < 0.0 {
                let t = (y[i] * ball.at_f[i]).max(0.0) / -towards;
                if t < time {
                    (time, wall) = (t, i);
                }
            }
        }
        let time = time.max(0.0);
        for j in 0..n {
            sum[j] += time * (ball.at[j] + 0.5 * time * ball.to[j]);
            ball.at[j] += time * ball.to[j];
            ball.at_f[j] += time * ball.to_f[j];
        }
        length += time * vv.sqrt();
        if wall == n {
            // Reflection at the sphere: v - 2 (w . v) / |w|^2 w.
            let (ww, wv) =
                (Ball::dot(&ball.at, &ball.at_f).max(f64::MIN_POSITIVE), Ball::dot(&ball.at, &ball.to_f));
            let by = 2.0 * wv / ww;
            for j in 0..n {
                ball.to[j] -= by * ball.at[j];
                ball.to_f[j] -= by * ball.at_f[j];
            }
            last = usize::MAX;
        } else {
            let by = 2.0 * ball.to_f[wall] / k[wall * n + wall].max(f64::MIN_POSITIVE);
            ball.to[wall] -= by;
            ball.to_f.iter_mut().zip(&k[wall * n..(wall + 1) * n]).for_each(|(f, k)| *f -= by * k);
            last = wall;
        }
        done += 1;
    }
    if length <= 0.0 || sum.iter().any(|v| !v.is_finite()) {
        return Err(Error::Unsupported("the version space is too small: allow training errors".into()));
    }
    sum.iter_mut().for_each(|v| *v /= length);
    Ok(Centre { coef: sum, bounces: done, length, stop })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::assert::close;

    #[test]
    fn the_path_fills_a_wedge() {
        // Two rows in the plane: version space is the sector between 0 and 90 degrees, its centre of mass on the diagonal.
        let k = [1.0, 0.0, 0.0, 1.0];
        let found =
            billiard(&k, &[1.0, 1.0], &[0.3, 0.1], 20_000, 1, Exec::one(), &mut silent()).expect("separated");
        // Centre of mass of a quarter disc: 4 / (3 pi) along both axes.
        let want = 4.0 / (3.0 * std::f64::consts::PI);
        close(found.coef[0], want, 0.02);
        close(found.coef[1], want, 0.02);
        let e = billiard(&k, &[1.0, -1.0], &[0.3, 0.1], 10, 1, Exec::one(), &mut silent());
        assert!(e.expect_err("not separated").to_string().contains("separates"));
    }
}
