//! Machines on given centres, trained in the primal (Keerthi, Chapelle and DeCoste 2006), and the threshold alone.
//!
//! ```text
//! minimise over beta, b   1/2 beta' K beta + C sum_i v_i l_i(f_i)^2,     f = A beta + b
//! ```
//!
//! with `A_ij = k(x_i, z_j)`, K the matrix of the centres z, and l_i the loss: the distance of f_i from its margin on
//! the wrong side, `max(0, 1 - y_i f_i)`, or from the tube, `max(0, |y_i - f_i| - epsilon)`. With the rows' own
//! columns as A and the identity as K this is a linear machine. Solved by Newton's method; the active set is the rows
//! with a loss. Cost per step: m^2 times the number of rows with a loss. About ten steps are usual.

use crate::error::Result;
use crate::exec::Exec;
use crate::num::{Mat, factor, product};

/// Maximum number of Newton steps, and the relative decrease of the objective below which they stop.
const STEPS: usize = 100;
const TOL: f64 = 1e-10;
/// Maximum number of halvings of a Newton step.
const CUTS: u32 = 30;
/// Penalty on the offset's square, relative to K's trace. It keeps the offset determined when no row has a loss.
const RIDGE: f64 = 1e-10;
/// Rows per product of a Newton step: their weighted copies are all that is copied of the values.
const BLOCK: usize = 4096;

/// The loss of a row's output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BasisLoss {
    /// Hinge loss: zero on the correct side of the margin; targets are 1 and -1.
    Hinge,
    /// Epsilon-insensitive loss: zero within this distance of the target.
    Tube(f64),
}

impl BasisLoss {
    /// The value that the output is pulled to, or `None` where the loss is zero.
    pub(crate) fn pull(self, f: f64, y: f64) -> Option<f64> {
        match self {
            BasisLoss::Hinge => (y * f < 1.0).then_some(y),
            BasisLoss::Tube(epsilon) => {
                ((f - y).abs() > epsilon).then_some(if f > y { y + epsilon } else { y - epsilon })
            }
        }
    }
}

/// A machine on given centres.
#[derive(Debug, Clone, Copy)]
pub struct BasisProblem<'a> {
    /// Kernel values of n rows against m centres.
    pub values: &'a [f64],
    /// Kernel values of the centres.
    pub gram: &'a [f64],
    /// One target per row.
    pub target: &'a [f64],
    /// One weight per row.
    pub weight: &'a [f64],
    /// C.
    pub c: f64,
    /// The loss.
    pub loss: BasisLoss,
    /// Twice the penalty on the offset's square: 0 for a free offset, infinity for no offset.
    pub offset_cost: f64,
}

/// Returns the coefficients followed by the offset; `start` is the initial guess.
pub(crate) fn fit_basis(problem: &BasisProblem<'_>, start: &[f64], exec: Exec) -> Result<Vec<f64>> {
    Ok(fit_basis_within(problem, start, STEPS as u64, exec)?.0)
}

/// Returns the coefficients followed by the offset, the number of Newton steps taken, and whether they converged.
/// `start` is the initial guess.
pub fn fit_basis_within(
    problem: &BasisProblem<'_>,
    start: &[f64],
    most: u64,
    exec: Exec,
) -> Result<(Vec<f64>, u64, bool)> {
    let n = problem.target.len();
    let m = start.len().saturating_sub(1);
    let mut at = start.to_vec();
    let mut out = outputs(problem, &at, n, m, exec);
    let mut value = objective(problem, &at, &out, m);
    for done in 0..most {
        let active: Vec<(usize, f64)> = (0..n)
            .filter(|&i| problem.weight[i] > 0.0)
            .filter_map(|i| problem.loss.pull(out[i], problem.target[i]).map(|t| (i, t)))
            .collect();
        let next = newton(problem, &active, m, exec)?;
        let mut step = 1.0;
        let mut taken = false;
        for _ in 0..CUTS {
            let trial: Vec<f64> = at.iter().zip(&next).map(|(a, b)| a + step * (b - a)).collect();
            let now = outputs(problem, &trial, n, m, exec);
            let reached = objective(problem, &trial, &now, m);
            if reached < value {
                taken = value - reached > TOL * value;
                (at, out, value) = (trial, now, reached);
                break;
            }
            step *= 0.5;
        }
        if !taken {
            return Ok((at, done + 1, true));
        }
    }
    Ok((at, most, false))
}

fn outputs(problem: &BasisProblem<'_>, at: &[f64], n: usize, m: usize, exec: Exec) -> Vec<f64> {
    let mut out = vec![0.0; n];
    if m > 0 {
        product::nn(&mut out, Mat::new(problem.values, n, m), Mat::new(&at[..m], m, 1), exec.threads());
    }
    out.iter_mut().for_each(|f| *f += at[m]);
    out
}

fn objective(problem: &BasisProblem<'_>, at: &[f64], out: &[f64], m: usize) -> f64 {
    let quadratic: f64 = problem
        .gram
        .chunks(m.max(1))
        .zip(at)
        .map(|(line, b)| b * line.iter().zip(at).map(|(k, c)| k * c).sum::<f64>())
        .sum();
    let rows = out.iter().zip(problem.target).zip(problem.weight);
    let losses: f64 =
        rows.filter_map(|((f, y), v)| problem.loss.pull(*f, *y).map(|t| v * (t - f).powi(2))).sum();
    let offset = if at[m] == 0.0 { 0.0 } else { problem.offset_cost * at[m] * at[m] };
    0.5 * (quadratic + offset) + problem.c * losses
}

/// The exact minimum for a fixed active set.
fn newton(problem: &BasisProblem<'_>, active: &[(usize, f64)], m: usize, exec: Exec) -> Result<Vec<f64>> {
    let w = m + 1;
    let (mut hessian, mut slope) = (vec![0.0; w * w], vec![0.0; w]);
    let (mut square, mut sums) = (vec![0.0; w * w], vec![0.0; w]);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for block in active.chunks(BLOCK) {
        left.clear();
        right.clear();
        for &(i, target) in block {
            let root = (2.0 * problem.c * problem.weight[i]).sqrt();
            left.extend(problem.values[i * m..(i + 1) * m].iter().map(|v| root * v));
            left.push(root);
            right.push(root * target);
        }
        let rows = block.len();
        product::tn(&mut square, Mat::new(&left, rows, w), Mat::new(&left, rows, w), exec.threads());
        product::tn(&mut sums, Mat::new(&left, rows, w), Mat::new(&right, rows, 1), exec.threads());
        hessian.iter_mut().zip(&square).for_each(|(h, s)| *h += s);
        slope.iter_mut().zip(&sums).for_each(|(a, s)| *a += s);
    }
    let trace: f64 = (0..m).map(|j| problem.gram[j * m + j]).sum::<f64>().max(1.0);
    for j in 0..m {
        let line = &problem.gram[j * m..(j + 1) * m];
        hessian[j * w..j * w + m].iter_mut().zip(line).for_each(|(h, k)| *h += k);
    }
    if problem.offset_cost.is_infinite() {
        (0..m).for_each(|j| hessian[m * w + j] = 0.0);
        (0..m).for_each(|j| hessian[j * w + m] = 0.0);
        (hessian[w * w - 1], slope[m]) = (1.0, 0.0);
    } else {
        hessian[w * w - 1] += RIDGE * trace + problem.offset_cost;
    }
    Ok(factor::solve_spd(&hessian, w, &slope, 1)?.0)
}

/// The shift of the outputs with the smallest sum of hinge losses: the threshold that training itself gives. Each row
/// is its output, whether its class is positive, and its weight. Returns the middle of the interval of minimisers, or
/// `None` if one class has no rows.
pub(crate) fn hinge_shift(rows: &[(f64, bool, f64)]) -> Option<f64> {
    // As the shift grows, positive rows lose their loss at 1 - f and negative ones get one at -1 - f: the slope rises by the
    // row's weight at each, and the minimum is where it passes zero.
    let mut kinks: Vec<(f64, f64)> =
        rows.iter().map(|&(f, positive, v)| (if positive { 1.0 - f } else { -1.0 - f }, v)).collect();
    kinks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let side = |wanted: bool| rows.iter().filter(|r| r.1 == wanted).map(|r| r.2).sum::<f64>();
    let (positive, negative) = (side(true), side(false));
    if positive <= 0.0 || negative <= 0.0 {
        return None;
    }
    let mut slope = -positive;
    for (i, &(at, v)) in kinks.iter().enumerate() {
        slope += v;
        if slope.abs() <= 1e-12 * positive {
            return Some(kinks.get(i + 1).map_or(at, |next| f64::midpoint(at, next.0)));
        }
        if slope > 0.0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, toy};

    #[test]
    fn the_shift_has_the_smallest_loss() {
        for seed in 0..20 {
            let f = toy::normals(30, 2, seed);
            let rows: Vec<(f64, bool, f64)> = f
                .chunks(2)
                .enumerate()
                .map(|(i, f)| (2.0 * f[0], f[0] + f[1] > 0.3, 1.0 + (i % 3) as f64))
                .collect();
            let loss = |b: f64| -> f64 {
                rows.iter().map(|&(f, p, v)| v * (1.0 - (f + b) * if p { 1.0 } else { -1.0 }).max(0.0)).sum()
            };
            let b = hinge_shift(&rows).expect("both sides");
            for h in [1e-3, 0.1, 1.0] {
                assert!(loss(b) <= loss(b + h) + 1e-12 && loss(b) <= loss(b - h) + 1e-12, "seed {seed}");
            }
        }
        // Flat between the margins: the middle.
        close(hinge_shift(&[(3.0, true, 1.0), (-2.0, false, 1.0)]).expect("both sides"), -0.5, 1e-12);
        assert_eq!(hinge_shift(&[(3.0, true, 1.0)]), None);
    }

    #[test]
    fn a_machine_on_a_basis_is_a_minimum_of_its_objective() {
        let (n, m) = (40, 5);
        let x = toy::normals(n, 2, 1);
        let k = |a: &[f64], b: &[f64]| (-0.5 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp();
        let z: Vec<f64> = x[..2 * m].to_vec();
        let values: Vec<f64> = x.chunks(2).flat_map(|x| z.chunks(2).map(move |z| k(x, z))).collect();
        let gram: Vec<f64> = z.chunks(2).flat_map(|a| z.chunks(2).map(move |b| k(a, b))).collect();
        let sign: Vec<f64> = x.chunks(2).map(|x| if x[0] * x[1] > 0.1 { 1.0 } else { -1.0 }).collect();
        let real: Vec<f64> = x.chunks(2).map(|x| x[0].sin()).collect();
        let weight: Vec<f64> = (0..n).map(|i| 0.5 + (i % 2) as f64).collect();
        let losses = [(&sign, BasisLoss::Hinge), (&real, BasisLoss::Tube(0.1))];
        let costs = [0.0, 2.0, f64::INFINITY];
        for ((target, loss), offset_cost) in losses.into_iter().flat_map(|l| costs.map(|c| (l, c))) {
            let (values, gram, weight) = (&values, &gram, &weight);
            let problem = BasisProblem { values, gram, target, weight, c: 3.0, loss, offset_cost };
            let at = fit_basis(&problem, &[0.0; 6], Exec::one()).expect("definite");
            let value = |at: &[f64]| objective(&problem, at, &outputs(&problem, at, n, m, Exec::one()), m);
            let best = value(&at);
            assert!(best < value(&[0.0; 6]));
            assert!(offset_cost.is_finite() || at[m] == 0.0);
            for i in 0..m + usize::from(offset_cost.is_finite()) {
                for h in [1e-4, -1e-4, 0.1, -0.1] {
                    let mut moved = at.clone();
                    moved[i] += h;
                    assert!(value(&moved) >= best - 1e-9 * best, "{loss:?} {i} {h}");
                }
            }
        }
    }
}
