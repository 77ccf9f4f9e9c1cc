//! Least squares on few columns, chosen one by one: each time the one that helps most.
//!
//! ```text
//! minimise over a subset S of m columns   sum_i w_i sum_o (y_io - (A_S a_o)_i - b_o)^2 + lambda sum_o |a_o|^2
//! ```
//!
//! On codes of classes this is Fisher's discriminant on few centres (Mika, Smola and Schoelkopf 2001; Xu, Zhang and Li 2001:
//! least squares and Fisher's criterion have one direction). Columns, each with a row of `sqrt(lambda)` of its own, are made
//! orthogonal as they come: what candidate j would gain is `sum_o (A_j' r_o)^2 / (|A_j|^2 + lambda - sum_t (q_t' A_j)^2)`, and a
//! new q changes numerator and denominator of all candidates by its products with them, a rank-one update. Cost: n p a column
//! for p candidates, in f32 to choose; what is chosen is made orthogonal in f64, n m^2 in all.

use crate::error::{Error, Result};
use crate::gram::Rows;
use crate::num::{Mat, product};
use crate::par::Par;
use crate::watch::{Info, Step, Stop, Watch};

/// A greedy fit. See the module's head.
#[derive(Clone, Copy)]
pub struct GreedyProblem<'a> {
    /// The matrix whose columns are chosen.
    pub rows: &'a dyn Rows,
    /// n x k targets, row by row.
    pub target: &'a [f64],
    /// k.
    pub outputs: usize,
    /// A weight a row.
    pub weight: &'a [f64],
    /// lambda, above 0.
    pub lambda: f64,
    /// Columns that may be chosen.
    pub candidates: &'a [u32],
    /// m, the most columns.
    pub size: usize,
}

impl std::fmt::Debug for GreedyProblem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GreedyProblem")
            .field("n", &self.rows.len())
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// Columns chosen and what they weigh.
#[derive(Debug, Clone, PartialEq)]
pub struct GreedySolution {
    /// The columns in the order in which they were chosen.
    pub chosen: Vec<u32>,
    /// m x k coefficients.
    pub coef: Vec<f64>,
    /// k offsets.
    pub offset: Vec<f64>,
    /// The objective after each column, beginning with none.
    pub objective: Vec<f64>,
    /// How it went.
    pub info: Info,
}

/// A candidate with less of itself left than this share depends on what was chosen, as far as f32 can tell.
const DEPENDENT: f64 = 1e-5;
/// The watcher hears of every so many columns.
const TOLD: usize = 10;

/// Chooses columns until there are enough, or none is left that is not a sum of others.
pub fn greedy(problem: &GreedyProblem<'_>, par: Par, watch: &mut Watch<'_>) -> Result<GreedySolution> {
    let (n, k, p) = (problem.rows.len(), problem.outputs, problem.candidates.len());
    if problem.target.len() != n * k || problem.weight.len() != n {
        return Err(Error::shape("targets of a greedy fit", problem.target.len(), n * k));
    }
    let w = problem.weight;
    let total: f64 = w.iter().sum();
    let mut pool = vec![0.0f32; p * n];
    problem.rows.block(problem.candidates, &mut pool, par);

    let mut q: Vec<Vec<f64>> = vec![vec![1.0 / total.sqrt(); n]];
    let mut upper: Vec<Vec<f64>> = Vec::new();
    let mut onto: Vec<Vec<f64>> = Vec::new();
    let mut chosen: Vec<u32> = Vec::new();
    let mut left: Vec<f64> = pool
        .chunks(n.max(1))
        .map(|a| problem.lambda + a.iter().zip(w).map(|(a, w)| w * f64::from(*a).powi(2)).sum::<f64>())
        .collect();
    let whole = left.clone();
    let weighted: Vec<f32> =
        problem.target.iter().enumerate().map(|(at, r)| (w[at / k] * r) as f32).collect();
    let mut gain = vec![0.0f32; p * k];
    product::nn(&mut gain, Mat::new(&pool, p, n), Mat::new(&weighted, n, k), par.threads());
    let mut gain: Vec<f64> = gain.into_iter().map(f64::from).collect();
    let mut used = vec![false; p];
    let mut cost: f64 = (0..n * k).map(|at| w[at / k] * problem.target[at].powi(2)).sum();
    let mut objective = Vec::new();
    let mut info = Info { kernel_values: (n * p) as u64, ..Info::default() };
    let mut products = vec![0.0f32; p];
    loop {
        // The newest direction: what it takes from the residuals, and from every candidate.
        let newest = q.last().expect("the constant is there from the start");
        let wq: Vec<f64> = newest.iter().zip(w).map(|(q, w)| q * w).collect();
        // Products with the targets, not with the residuals: directions are orthogonal only together with their rows of
        // sqrt(lambda), where targets are zero and residuals are not.
        let step: Vec<f64> =
            (0..k).map(|o| (0..n).map(|i| wq[i] * problem.target[i * k + o]).sum()).collect();
        let direction: Vec<f32> = wq.iter().map(|v| *v as f32).collect();
        product::nn(&mut products, Mat::new(&pool, p, n), Mat::new(&direction, n, 1), par.threads());
        for (j, &v) in products.iter().enumerate() {
            let v = f64::from(v);
            left[j] -= v * v;
            gain[j * k..(j + 1) * k].iter_mut().zip(&step).for_each(|(g, s)| *g -= v * s);
        }
        cost -= step.iter().map(|s| s * s).sum::<f64>();
        objective.push(cost.max(0.0));
        onto.push(step);

        if chosen.len().is_multiple_of(TOLD) {
            let told =
                Step::new("greedy", chosen.len() as u64, Some(problem.size as u64)).centres(chosen.len());
            if watch(&told).is_break() {
                info.stop = Stop::Cancelled;
                break;
            }
        }
        if chosen.len() >= problem.size {
            break;
        }
        let worth = |j: usize| gain[j * k..(j + 1) * k].iter().map(|g| g * g).sum::<f64>() / left[j];
        let able = (0..p).filter(|&j| !used[j] && left[j] > DEPENDENT * whole[j]);
        let Some(best) = able.max_by(|&a, &b| worth(a).total_cmp(&worth(b)).then(b.cmp(&a))) else {
            info.notes.push(format!("no more than {} columns are independent", chosen.len()));
            break;
        };
        used[best] = true;
        let mut column = vec![0.0; n];
        problem.rows.apply(&[problem.candidates[best]], &[1.0], &mut column, par);
        let square: f64 = column.iter().zip(w).map(|(a, w)| w * a * a).sum::<f64>() + problem.lambda;
        let mut line = vec![0.0; q.len()];
        let mut rest = column.clone();
        // Products with the columns' own parts only: the rows of sqrt(lambda) of earlier columns are zero in this one.
        for (c, q) in line.iter_mut().zip(&q) {
            *c = column.iter().zip(q).zip(w).map(|((a, q), w)| w * a * q).sum();
            rest.iter_mut().zip(q).for_each(|(r, q)| *r -= *c * q);
        }
        let norm2 = square - line.iter().map(|c| c * c).sum::<f64>();
        if norm2 <= f64::EPSILON * square {
            continue;
        }
        let norm = norm2.sqrt();
        rest.iter_mut().for_each(|r| *r /= norm);
        line.push(norm);
        upper.push(line);
        q.push(rest);
        chosen.push(problem.candidates[best]);
    }
    let (coef, offset) = back(&upper, &onto, k, total);
    info.iterations = chosen.len() as u64;
    info.objective = objective.last().copied();
    Ok(GreedySolution { chosen, coef, offset, objective, info })
}

/// Coefficients of the columns from those of the orthogonal ones.
fn back(upper: &[Vec<f64>], onto: &[Vec<f64>], k: usize, total: f64) -> (Vec<f64>, Vec<f64>) {
    let m = upper.len();
    let mut coef = vec![0.0; m * k];
    let mut offset = vec![0.0; k];
    for o in 0..k {
        for t in (0..m).rev() {
            let later: f64 = (t + 1..m).map(|s| upper[s][t + 1] * coef[s * k + o]).sum();
            coef[t * k + o] = (onto[t + 1][o] - later) / upper[t][t + 1];
        }
        let constant = onto[0][o] - (0..m).map(|s| upper[s][0] * coef[s * k + o]).sum::<f64>();
        offset[o] = constant / total.sqrt();
    }
    (coef, offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Matrix;
    use crate::num::factor;
    use crate::watch::silent;
    use mercer_testkit::{assert::close, reference, toy};

    /// Regularised least squares with an offset on some columns, by its normal equations.
    fn plain(k: &[f64], n: usize, some: &[u32], y: &[f64], w: &[f64], lambda: f64) -> (Vec<f64>, f64) {
        let m = some.len() + 1;
        let at = |i: usize, j: usize| if j + 1 == m { 1.0 } else { k[i * n + some[j] as usize] };
        let mut a = vec![0.0; m * m];
        let mut b = vec![0.0; m];
        for i in 0..n {
            for p in 0..m {
                (0..m).for_each(|q| a[p * m + q] += w[i] * at(i, p) * at(i, q));
                b[p] += w[i] * at(i, p) * y[i];
            }
        }
        (0..m - 1).for_each(|j| a[j * m + j] += lambda);
        let (x, _) = factor::solve_spd(&a, m, &b, 1).expect("definite");
        let errors: f64 =
            (0..n).map(|i| w[i] * (y[i] - (0..m).map(|j| at(i, j) * x[j]).sum::<f64>()).powi(2)).sum();
        let cost = errors + lambda * x[..m - 1].iter().map(|v| v * v).sum::<f64>();
        (x, cost)
    }

    #[test]
    fn every_step_is_the_best_one_and_the_answer_is_least_squares() {
        let n = 30;
        let x = toy::normals(n, 2, 8);
        let k = reference::gram(&x, &x, 2, |a, b| {
            (-a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
        });
        let y: Vec<f64> = x.chunks(2).map(|x| (3.0 * x[0]).sin() + x[1]).collect();
        let w: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let matrix = Matrix::new(k.clone(), n).expect("symmetric");
        let all: Vec<u32> = (0..n as u32).collect();
        let problem = GreedyProblem {
            rows: &matrix,
            target: &y,
            outputs: 1,
            weight: &w,
            lambda: 0.05,
            candidates: &all,
            size: 6,
        };
        let found = greedy(&problem, Par::one(), &mut silent()).expect("rows");
        for step in 0..6 {
            let before = &found.chosen[..step];
            let best = all
                .iter()
                .filter(|j| !before.contains(j))
                .map(|&j| plain(&k, n, &[before, &[j]].concat(), &y, &w, 0.05).1)
                .fold(f64::INFINITY, f64::min);
            close(found.objective[step + 1], best, 1e-4 * best);
        }
        let (want, cost) = plain(&k, n, &found.chosen, &y, &w, 0.05);
        close(*found.objective.last().expect("steps"), cost, 1e-8);
        for (got, want) in found.coef.iter().chain(&found.offset).zip(&want) {
            close(*got, *want, 1e-7);
        }
    }

    #[test]
    fn repeated_rows_are_not_chosen_twice() {
        let k: Vec<f64> = (0..36).map(|at| if at / 6 % 2 == at % 6 % 2 { 1.0 } else { 0.2 }).collect();
        let matrix = Matrix::new(k, 6).expect("symmetric");
        let y = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        let problem = GreedyProblem {
            rows: &matrix,
            target: &y,
            outputs: 1,
            weight: &[1.0; 6],
            lambda: 1e-9,
            candidates: &[0, 1, 2, 3, 4, 5],
            size: 6,
        };
        let found = greedy(&problem, Par::one(), &mut silent()).expect("rows");
        assert!(found.chosen.len() <= 2, "{:?}", found.chosen);
        assert!(found.info.notes[0].contains("independent"));
    }
}
