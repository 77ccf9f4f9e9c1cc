//! Vectors restricted to a parametric family: shifted copies of an image, points of a curve, meaningful inputs
//! (Schoelkopf, Smola and Mueller 1996, section 4.5).
//!
//! The family computes points `z(p)` for parameters p and pulls gradients back, `dE/dp = J' dE/dz`. Vectors are found
//! one by one where the gain is largest, and then optimised together, as without a family, but over the parameters.
//! Cost: as for construction, plus that of the family.

use super::construct::Construction;
use super::descend::Descent;
use super::{Reduced, ReducedSetMethod, Report, gradient};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::solve::lbfgs::{self, LbfgsParams};
use crate::watch::{Watch, silent};

/// Points that are functions of parameters.
pub trait PointFamily {
    /// Number of parameters per point.
    fn parameters(&self) -> usize;

    /// The point for these parameters.
    fn point(&self, parameters: &[f64], point: &mut [f64]);

    /// Adds to `slope` the gradient with respect to the parameters: the transposed Jacobian times `by_point`.
    fn pull(&self, parameters: &[f64], by_point: &[f64], slope: &mut [f64]);
}

/// Number of starts that descend.
const FINAL: usize = 8;
/// Maximum number of steps of one vector's descent, and the step length in parameters that ends it.
const STEPS: usize = 100;
const TOL: f64 = 1e-7;

/// Writes an expansion with `size` points of a family; also returns their parameters. `starts` are initial
/// parameters, row by row; `steps` is the number of steps of phase two.
///
/// ```
/// use mercer::reduce::reduced_set::{PointFamily, reduce_within};
/// use mercer::{data::Points, expansion::Expansion, kernel::Kernel, Exec};
///
/// /// Points of the unit circle.
/// struct Circle;
/// impl PointFamily for Circle {
///     fn parameters(&self) -> usize {
///         1
///     }
///     fn point(&self, p: &[f64], z: &mut [f64]) {
///         (z[0], z[1]) = (p[0].cos(), p[0].sin());
///     }
///     fn pull(&self, p: &[f64], g: &[f64], slope: &mut [f64]) {
///         slope[0] += -p[0].sin() * g[0] + p[0].cos() * g[1];
///     }
/// }
///
/// let centres = Points::dense(vec![0.0, 1.1, 0.1, 0.9, -1.0, 0.0], 2)?;
/// let psi = Expansion::new(Kernel::Rbf { gamma: 1.0 }, centres, vec![1.0, 1.0, -1.5], vec![0.0])?;
/// let starts = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
/// let (small, angles) =
///     reduce_within(&psi, &Circle, &starts, 2, 100, Exec::one(), &mut mercer::watch::silent())?;
/// assert!(small.report.error < 0.1 && angles.len() == 2);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn reduce_within(
    psi: &Expansion,
    family: &dyn PointFamily,
    starts: &[f64],
    size: usize,
    steps: usize,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<(Reduced, Vec<f64>)> {
    let (q, d) = (family.parameters(), psi.centres().dim());
    if size == 0 {
        return Err(Error::param("vectors", 0, "at least 1"));
    }
    if q == 0 || starts.is_empty() || !starts.len().is_multiple_of(q) {
        return Err(Error::shape("parameters to start from", starts.len(), format!("a multiple of {q}")));
    }
    if psi.is_empty() {
        let report = Report { method: ReducedSetMethod::Gradient, ..Report::default() };
        return Ok((Reduced { expansion: psi.clone(), report }, Vec::new()));
    }
    let points = |p: &[f64]| {
        let mut z = vec![0.0; p.len() / q * d];
        p.chunks(q).zip(z.chunks_mut(d)).for_each(|(p, z)| family.point(p, z));
        z
    };
    let back = |p: &[f64], by_point: &[f64], slope: &mut [f64]| {
        slope.fill(0.0);
        let rows = p.chunks(q).zip(by_point.chunks(d)).zip(slope.chunks_mut(q));
        rows.for_each(|((p, g), s)| family.pull(p, g, s));
    };
    let kernel = psi.kernel().clone();
    let mut grown = Construction::new(psi.clone(), true, 1, 0, exec)?;
    let mut found: Vec<f64> = Vec::new();
    let params = LbfgsParams { tol: TOL, max_iter: STEPS, ..LbfgsParams::default() };
    while found.len() < size * q && !grown.exhausted {
        let known = grown.known()?;
        let gains = |p: &[f64]| known.gains(&kernel, &grown.all, &grown.coef, &points(p), exec);
        let best = |p: &[f64], keep: usize| -> Result<Vec<f64>> {
            let gains = gains(p)?;
            let mut order: Vec<usize> = (0..gains.len()).collect();
            order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
            Ok(order.iter().take(keep).flat_map(|&i| &p[i * q..(i + 1) * q]).copied().collect())
        };
        let mut p = best(starts, FINAL)?;
        let scale = gains(&p)?.into_iter().fold(f64::MIN_POSITIVE, f64::max);
        let mut at = |_: &[usize], p: &[f64], f: &mut [f64], g: &mut [f64]| {
            let z = points(p);
            let mut slope = vec![0.0; z.len()];
            if gradient::evaluate(&kernel, &grown.all, &grown.coef, &known, &z, f, &mut slope, exec).is_err()
            {
                f.fill(f64::NAN);
            }
            f.iter_mut().chain(&mut slope).for_each(|v| *v /= scale);
            back(p, &slope, g);
        };
        lbfgs::minimise(&mut p, q, &params, &mut at, &mut silent());
        let p = best(&p, 1)?;
        let before = grown.rest.len();
        grown.accept(&points(&p), exec)?;
        if grown.rest.len() > before {
            found.extend(p);
        }
    }
    let rest = grown.rest.clone();
    let norm2 = psi.norm2(exec)?;
    if steps > 0 && !found.is_empty() {
        let look = Descent::new(psi, norm2.iter().sum(), exec)?;
        let mut at = |_: &[usize], p: &[f64], f: &mut [f64], g: &mut [f64]| match look.at(&points(p), exec) {
            Ok((value, slope)) => {
                f[0] = value;
                back(p, &slope, g);
            }
            Err(_) => f[0] = f64::NAN,
        };
        let unknowns = found.len();
        let params = LbfgsParams { max_iter: steps, ..params };
        lbfgs::minimise(&mut found, unknowns, &params, &mut at, watch);
    }
    let expansion = psi.on_centres(Points::dense(points(&found), d)?, exec)?;
    let (error, error_by_output) = psi.relative_errors(&norm2, &expansion, exec)?;
    let path = rest.iter().map(|r| (r / rest[0].max(f64::MIN_POSITIVE)).sqrt()).collect();
    let (before, after) = (psi.len(), expansion.len());
    let report = Report {
        method: ReducedSetMethod::Gradient,
        before,
        after,
        error,
        error_by_output,
        path,
        ..Report::default()
    };
    Ok((Reduced { expansion, report }, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, toy};

    /// A bump on twelve columns, at any place and of any height.
    struct Bumps;

    impl PointFamily for Bumps {
        fn parameters(&self) -> usize {
            2
        }

        fn point(&self, p: &[f64], z: &mut [f64]) {
            z.iter_mut().enumerate().for_each(|(j, z)| *z = p[1] * (-(j as f64 - p[0]).powi(2) / 4.0).exp());
        }

        fn pull(&self, p: &[f64], g: &[f64], slope: &mut [f64]) {
            for (j, g) in g.iter().enumerate() {
                let (off, bump) = (j as f64 - p[0], (-(j as f64 - p[0]).powi(2) / 4.0).exp());
                slope[0] += g * p[1] * bump * off / 2.0;
                slope[1] += g * bump;
            }
        }
    }

    #[test]
    fn vectors_stay_in_the_family_and_find_what_is_there() {
        let truth = [2.3, 1.0, 6.8, 1.4, 9.1, 0.8];
        let mut centres = vec![0.0; 36];
        truth.chunks(2).zip(centres.chunks_mut(12)).for_each(|(p, z)| Bumps.point(p, z));
        let kernel = "rbf(gamma=0.5)".parse().expect("a kernel");
        let points = Points::dense(centres, 12).expect("rows");
        let psi = Expansion::new(kernel, points, vec![1.0, -0.7, 0.9], vec![0.0]).expect("fits");
        let starts: Vec<f64> = (0..12).flat_map(|j| [f64::from(j), 1.0]).collect();
        let run = |size, steps| {
            reduce_within(&psi, &Bumps, &starts, size, steps, Exec::one(), &mut silent()).expect("a set")
        };
        let (small, p) = run(3, 300);
        assert!(small.report.error < 1e-3, "{}", small.report.error);
        let mut places: Vec<f64> = p.chunks(2).map(|p| p[0]).collect();
        places.sort_by(f64::total_cmp);
        [2.3, 6.8, 9.1].iter().zip(&places).for_each(|(want, got)| close(*got, *want, 0.05));
        let mut z = vec![0.0; 12];
        for (p, row) in p.chunks(2).zip(small.expansion.centres().view().to_f64().expect("dense").chunks(12))
        {
            Bumps.point(p, &mut z);
            z.iter().zip(row).for_each(|(a, b)| close(*a, *b, 1e-12));
        }
        assert!(run(1, 0).0.report.error > run(2, 0).0.report.error);
        assert!(run(2, 0).0.report.error >= run(2, 300).0.report.error);
        assert!(reduce_within(&psi, &Bumps, &[1.0], 1, 0, Exec::one(), &mut silent()).is_err());
    }

    #[test]
    fn the_slope_by_the_parameters_is_right() {
        let (p, g) = (toy::normals(1, 2, 3), toy::normals(1, 12, 4));
        let value = |p: &[f64]| {
            let mut z = vec![0.0; 12];
            Bumps.point(p, &mut z);
            z.iter().zip(&g).map(|(z, g)| z * g).sum::<f64>()
        };
        let mut slope = vec![0.0; 2];
        Bumps.pull(&p, &g, &mut slope);
        for i in 0..2 {
            let moved = |h: f64| {
                let mut p = p.clone();
                p[i] += h;
                value(&p)
            };
            close(slope[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-7);
        }
    }
}
