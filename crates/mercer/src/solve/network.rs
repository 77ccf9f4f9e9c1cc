//! Networks of Gaussians: weights for given centres, and training of centres and width.
//!
//! ```text
//! f_o(x) = sum_j a_jo exp(-gamma |x - c_j|^2) + b_o
//!
//! minimise   1/2 sum_i w_i sum_o (f_o(x_i) - y_io)^2 + 1/2 lambda |a|^2
//! ```
//!
//! For given centres, a solves a linear system (Poggio and Girosi 1990). Centres and width are then optimised by
//! gradient descent with a at its optimum throughout, so the gradient is the partial derivative for fixed a (Raetsch,
//! Onoda and Mueller 2001 train their networks this way). Alternatively the outputs pass through a logistic function
//! before they are compared with targets of 0 and 1, as in back-propagation networks; then a is found by descent too.
//! Cost per evaluation: n m (d + m).

use crate::error::Result;
use crate::exec::Exec;
use crate::num::vector::Vector;
use crate::num::{Mat, factor, product};
use crate::solve::lbfgs::{LbfgsParams, minimise};
use crate::watch::Watch;

/// Rows, targets and regularisation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NetworkProblem<'a> {
    /// n x d points.
    pub x: &'a [f64],
    /// d.
    pub dim: usize,
    /// n x k targets.
    pub target: &'a [f64],
    /// k.
    pub outputs: usize,
    /// One weight per row.
    pub weight: &'a [f64],
    /// lambda, non-negative.
    pub lambda: f64,
}

/// Centres, width and weights of a network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Network {
    /// m x d.
    pub centres: Vec<f64>,
    /// gamma.
    pub gamma: f64,
    /// m x k.
    pub coef: Vec<f64>,
    /// k.
    pub offset: Vec<f64>,
    /// The objective.
    pub objective: f64,
    /// n x k: outputs minus targets.
    pub residual: Vec<f64>,
    /// Number of steps.
    pub steps: u32,
}

/// Step length at which the descent stops; the first step is a thousand times as long, a tenth of a width.
const TOL: f64 = 1e-4;
/// The same for weights of logistic outputs: gradients are small where outputs saturate, so only the number of steps
/// ends the descent.
const FLAT: f64 = 1e-9;
/// Largest factor by which the width may change.
const WIDER: f64 = 1e3;

/// Weights for given values of m units, `(coef, offset)`: ridge regression with an unpenalised offset.
pub(crate) fn weights(
    values: &[f64],
    m: usize,
    problem: &NetworkProblem<'_>,
    exec: Exec,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (n, k) = (problem.weight.len(), problem.outputs);
    let total: f64 = problem.weight.iter().sum();
    let mut mean = vec![0.0; m];
    let mut level = vec![0.0; k];
    for (i, w) in problem.weight.iter().enumerate() {
        mean.iter_mut().zip(&values[i * m..(i + 1) * m]).for_each(|(s, v)| *s += w / total * v);
        level.iter_mut().zip(&problem.target[i * k..(i + 1) * k]).for_each(|(s, y)| *s += w / total * y);
    }
    let mut centred = vec![0.0; n * m];
    let mut pull = vec![0.0; n * k];
    for (i, w) in problem.weight.iter().enumerate() {
        let root = w.sqrt();
        (0..m).for_each(|j| centred[i * m + j] = root * (values[i * m + j] - mean[j]));
        (0..k).for_each(|o| pull[i * k + o] = root * (problem.target[i * k + o] - level[o]));
    }
    let mut a = vec![0.0; m * m];
    product::tn(&mut a, Mat::new(&centred, n, m), Mat::new(&centred, n, m), exec.threads());
    let trace = (0..m).map(|j| a[j * m + j]).sum::<f64>() / m.max(1) as f64;
    // Without weight decay, a tiny ridge approximates the pseudo-inverse: directions that no row sees get no weight.
    let least = problem.lambda.max(1e-10 * trace).max(f64::MIN_POSITIVE);
    (0..m).for_each(|j| a[j * m + j] += least);
    let mut right = vec![0.0; m * k];
    product::tn(&mut right, Mat::new(&centred, n, m), Mat::new(&pull, n, k), exec.threads());
    let (coef, _) = factor::solve_spd(&a, m, &right, k)?;
    let offset = (0..k).map(|o| level[o] - (0..m).map(|j| mean[j] * coef[j * k + o]).sum::<f64>()).collect();
    Ok((coef, offset))
}

/// Optimises centres and width by at most `steps` steps; 0 only computes the weights.
pub(crate) fn adapt(
    problem: &NetworkProblem<'_>,
    centres: &[f64],
    gamma: f64,
    move_width: bool,
    steps: usize,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Network> {
    let d = problem.dim;
    let m = centres.len() / d;
    let mut at = centres.to_vec();
    at.push(0.0);
    let mut failed = None;
    let mut taken = 0;
    if steps > 0 {
        // Centres are measured in units of the width, so that one step length suits both.
        let unit = (0.5 / gamma).sqrt();
        at[..m * d].iter_mut().for_each(|c| *c /= unit);
        let params = LbfgsParams { max_iter: steps, tol: TOL, ..LbfgsParams::default() };
        let mut evaluate = |_: &[usize], points: &[f64], values: &mut [f64], gradients: &mut [f64]| {
            for ((at, value), out) in
                points.chunks(m * d + 1).zip(values).zip(gradients.chunks_mut(m * d + 1))
            {
                let moved: Vec<f64> = at[..m * d].iter().map(|c| c * unit).collect();
                let width =
                    if move_width { gamma * at[m * d].clamp(-WIDER.ln(), WIDER.ln()).exp() } else { gamma };
                match slope(problem, &moved, width, move_width, out, exec) {
                    Ok(objective) => *value = objective,
                    Err(e) => {
                        failed = Some(e);
                        *value = f64::INFINITY;
                        out.fill(0.0);
                    }
                }
                out[..m * d].iter_mut().for_each(|g| *g *= unit);
            }
        };
        taken = minimise(&mut at, m * d + 1, &params, &mut evaluate, watch)[0].steps;
        at[..m * d].iter_mut().for_each(|c| *c *= unit);
    }
    if let Some(e) = failed.filter(|_| at.iter().any(|v| !v.is_finite())) {
        return Err(e);
    }
    let gamma = if move_width { gamma * at[m * d].clamp(-WIDER.ln(), WIDER.ln()).exp() } else { gamma };
    at.truncate(m * d);
    let phi = units(problem, &at, gamma, exec);
    let (coef, offset) = weights(&phi, m, problem, exec)?;
    let (objective, residual) = objective(problem, &phi, &coef, &offset);
    Ok(Network { centres: at, gamma, coef, offset, objective, residual, steps: taken })
}

/// `exp(-gamma |x_i - c_j|^2)`, n x m.
fn units(problem: &NetworkProblem<'_>, centres: &[f64], gamma: f64, exec: Exec) -> Vec<f64> {
    let (n, d) = (problem.weight.len(), problem.dim);
    let m = centres.len() / d;
    let norms = |x: &[f64]| x.chunks(d).map(|x| x.iter().map(|v| v * v).sum::<f64>()).collect::<Vec<f64>>();
    let (xx, cc) = (norms(problem.x), norms(centres));
    let mut phi = vec![0.0; n * m];
    product::nt(&mut phi, Mat::new(problem.x, n, d), Mat::new(centres, m, d), exec.threads());
    for (line, xx) in phi.chunks_mut(m.max(1)).zip(&xx) {
        line.iter_mut().zip(&cc).for_each(|(v, cc)| *v = -gamma * (xx + cc - 2.0 * *v).max(0.0));
    }
    f64::exp_all(&mut phi);
    phi
}

/// The objective and the residuals.
fn objective(problem: &NetworkProblem<'_>, phi: &[f64], coef: &[f64], offset: &[f64]) -> (f64, Vec<f64>) {
    let (n, k) = (problem.weight.len(), problem.outputs);
    let m = coef.len() / k;
    let mut f = vec![0.0; n * k];
    product::nn(&mut f, Mat::new(phi, n, m), Mat::new(coef, m, k), 1);
    for (line, y) in f.chunks_mut(k).zip(problem.target.chunks(k)) {
        line.iter_mut().zip(y).zip(offset).for_each(|((f, y), b)| *f += b - y);
    }
    let errors: f64 =
        f.chunks(k).zip(problem.weight).map(|(e, w)| w * e.iter().map(|e| e * e).sum::<f64>()).sum();
    (0.5 * errors + 0.5 * problem.lambda * coef.iter().map(|a| a * a).sum::<f64>(), f)
}

/// The objective at its optimal weights, and its gradient with respect to the centres and, where the width is
/// trained, ln gamma.
fn slope(
    problem: &NetworkProblem<'_>,
    centres: &[f64],
    gamma: f64,
    move_width: bool,
    out: &mut [f64],
    exec: Exec,
) -> Result<f64> {
    let (n, d, k) = (problem.weight.len(), problem.dim, problem.outputs);
    let m = centres.len() / d;
    let phi = units(problem, centres, gamma, exec);
    let (coef, offset) = weights(&phi, m, problem, exec)?;
    let (value, error) = objective(problem, &phi, &coef, &offset);
    // Gradient with respect to a unit's value at a row, w_i sum_o e_io a_jo, times the value itself.
    let weighted: Vec<f64> =
        error.chunks(k).zip(problem.weight).flat_map(|(e, w)| e.iter().map(move |e| w * e)).collect();
    let mut pull = vec![0.0; n * m];
    product::nt(&mut pull, Mat::new(&weighted, n, k), Mat::new(&coef, m, k), exec.threads());
    pull.iter_mut().zip(&phi).for_each(|(p, v)| *p *= v);
    // sum_i pull_ij 2 gamma (x_i - c_j), and for ln gamma sum_ij pull_ij ln phi_ij.
    product::tn(&mut out[..m * d], Mat::new(&pull, n, m), Mat::new(problem.x, n, d), exec.threads());
    for j in 0..m {
        let sum: f64 = (0..n).map(|i| pull[i * m + j]).sum();
        (0..d).for_each(|p| out[j * d + p] = 2.0 * gamma * (out[j * d + p] - sum * centres[j * d + p]));
    }
    let by_width = |(p, v): (&f64, &f64)| if *v > 0.0 { p * v.ln() } else { 0.0 };
    out[m * d] = if move_width { pull.iter().zip(&phi).map(by_width).sum() } else { 0.0 };
    Ok(value)
}

/// Weights for logistic outputs and targets of 0 and 1, with squared errors and weight decay: `(coef, offset,
/// steps)`.
///
/// Starts from least squares on targets of -2 and 2. Far from 0 the logistic function is flat, and the first steps
/// from zero would carry rows on the wrong side so far out that they stay there.
pub(crate) fn logistic_weights(
    values: &[f64],
    m: usize,
    problem: &NetworkProblem<'_>,
    steps: usize,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<(Vec<f64>, Vec<f64>, u32)> {
    let (n, k) = (problem.weight.len(), problem.outputs);
    let apart: Vec<f64> = problem.target.iter().map(|y| 4.0 * y - 2.0).collect();
    let (mut at, offset) = weights(values, m, &NetworkProblem { target: &apart, ..*problem }, exec)?;
    at.extend(offset);
    let params = LbfgsParams { max_iter: steps, tol: FLAT, ..LbfgsParams::default() };
    let mut evaluate = |_: &[usize], points: &[f64], out: &mut [f64], gradients: &mut [f64]| {
        for ((at, value), grad) in points.chunks((m + 1) * k).zip(out).zip(gradients.chunks_mut((m + 1) * k))
        {
            let (coef, offset) = at.split_at(m * k);
            let mut f = vec![0.0; n * k];
            product::nn(&mut f, Mat::new(values, n, m), Mat::new(coef, m, k), exec.threads());
            let mut cost = 0.0;
            for ((line, y), w) in f.chunks_mut(k).zip(problem.target.chunks(k)).zip(problem.weight) {
                for ((f, y), b) in line.iter_mut().zip(y).zip(offset) {
                    let p = 1.0 / (1.0 + (-(*f + b)).exp());
                    cost += 0.5 * w * (p - y) * (p - y);
                    *f = w * (p - y) * p * (1.0 - p);
                }
            }
            *value = cost + 0.5 * problem.lambda * coef.iter().map(|a| a * a).sum::<f64>();
            product::tn(&mut grad[..m * k], Mat::new(values, n, m), Mat::new(&f, n, k), exec.threads());
            grad[..m * k].iter_mut().zip(coef).for_each(|(g, a)| *g += problem.lambda * a);
            (0..k).for_each(|o| grad[m * k + o] = f.iter().skip(o).step_by(k).sum());
        }
    };
    let end = minimise(&mut at, (m + 1) * k, &params, &mut evaluate, watch);
    let offset = at.split_off(m * k);
    Ok((at, offset, end[0].steps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::{assert::close, toy};

    fn problem<'a>(x: &'a [f64], target: &'a [f64], weight: &'a [f64]) -> NetworkProblem<'a> {
        NetworkProblem { x, dim: 2, target, outputs: 2, weight, lambda: 0.01 }
    }

    #[test]
    fn the_slope_is_the_difference_quotient() {
        let x = toy::normals(30, 2, 1);
        let y: Vec<f64> = x.chunks(2).flat_map(|x| [x[0].sin(), x[0] * x[1]]).collect();
        let w: Vec<f64> = (0..30).map(|i| 0.5 + (i % 3) as f64).collect();
        let problem = problem(&x, &y, &w);
        let centres = toy::normals(4, 2, 2);
        let mut g = vec![0.0; 9];
        slope(&problem, &centres, 0.7, true, &mut g, Exec::one()).expect("definite");
        let mut scratch = vec![0.0; 9];
        let mut at = |c: &[f64], gamma: f64| {
            slope(&problem, c, gamma, true, &mut scratch, Exec::one()).expect("definite")
        };
        for j in 0..8 {
            let step = 1e-5;
            let (mut up, mut down) = (centres.clone(), centres.clone());
            up[j] += step;
            down[j] -= step;
            close(g[j], (at(&up, 0.7) - at(&down, 0.7)) / (2.0 * step), 1e-5);
        }
        let step = 1e-5f64;
        close(
            g[8],
            (at(&centres, 0.7 * step.exp()) - at(&centres, 0.7 * (-step).exp())) / (2.0 * step),
            1e-5,
        );
    }

    #[test]
    fn moving_lowers_the_objective() {
        let x = toy::normals(60, 2, 3);
        let y: Vec<f64> = x.chunks(2).flat_map(|x| [(2.0 * x[0]).sin(), x[1]]).collect();
        let w = vec![1.0; 60];
        let problem = problem(&x, &y, &w);
        let centres = toy::normals(6, 2, 4);
        let still = adapt(&problem, &centres, 0.5, true, 0, Exec::one(), &mut silent()).expect("rows");
        let moved = adapt(&problem, &centres, 0.5, false, 30, Exec::one(), &mut silent()).expect("rows");
        let both = adapt(&problem, &centres, 0.5, true, 30, Exec::one(), &mut silent()).expect("rows");
        assert!(moved.objective < 0.8 * still.objective && both.objective < 0.8 * still.objective);
        assert_eq!((still.gamma, moved.gamma), (0.5, 0.5));
        assert_ne!(both.gamma, 0.5);
    }

    #[test]
    fn logistic_outputs_reach_their_targets() {
        let x = toy::normals(40, 2, 5);
        let y: Vec<f64> = x
            .chunks(2)
            .flat_map(|x| [f64::from(u8::from(x[0] > 0.0)), f64::from(u8::from(x[1] > 0.5))])
            .collect();
        let w = vec![1.0; 40];
        let problem = NetworkProblem { lambda: 1e-4, ..problem(&x, &y, &w) };
        let (coef, offset, _) =
            logistic_weights(&x, 2, &problem, 200, Exec::one(), &mut silent()).expect("definite");
        let right = (0..80).filter(|&at| {
            let (i, o) = (at / 2, at % 2);
            let f = x[i * 2] * coef[o] + x[i * 2 + 1] * coef[2 + o] + offset[o];
            (f > 0.0) == (y[at] > 0.5)
        });
        assert!(right.count() >= 78);
    }
}
