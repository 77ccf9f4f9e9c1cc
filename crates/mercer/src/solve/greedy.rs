//! Least squares on few columns, selected greedily: each time the column that reduces the objective most.
//!
//! ```text
//! minimise over a subset S of m columns   sum_i w_i sum_o (y_io - (A_S a_o)_i - b_o)^2 + lambda sum_o |a_o|^2
//! ```
//!
//! With class codes as targets this is Fisher's discriminant on few centres (Mika, Smola and Schoelkopf 2001; Xu,
//! Zhang and Li 2001: least squares and Fisher's criterion have the same direction). Columns, each extended by a row
//! of `sqrt(lambda)` of its own, are orthogonalised as they are selected. Candidate j would reduce the objective by
//! `sum_o (A_j' r_o)^2 / (|A_j|^2 + lambda - sum_t (q_t' A_j)^2)`; a new q changes numerator and denominator for all
//! candidates by its products with them, a rank-one update.
//!
//! The directions q are never formed. Their products with the candidates are a row of a Cholesky factor of the
//! candidates' Gram matrix, of which only the rows of selected columns are needed. These are computed in blocks for
//! the candidates that are best at the time, most of which are selected soon. Cost: n p per column for p candidates,
//! as f32 matrix products, and p m^2 in all.

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::num::{Mat, product};
use crate::watch::{Info, Step, Stop, Watch};

/// A greedy fit. See the module's head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GreedyProblem<'a> {
    /// The matrix whose columns are chosen.
    pub rows: &'a dyn Rows,
    /// n x k targets, row by row.
    pub target: &'a [f64],
    /// k.
    pub outputs: usize,
    /// A weight a row.
    pub weight: &'a [f64],
    /// lambda, positive.
    pub lambda: f64,
    /// Columns that may be selected.
    pub candidates: &'a [u32],
    /// m, the maximum number of columns.
    pub size: usize,
}

/// The selected columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GreedySolution {
    /// The columns in the order of selection.
    pub chosen: Vec<u32>,
    /// The objective after each selection, starting with none; in f32 precision.
    pub objective: Vec<f64>,
    /// Statistics of the run.
    pub info: Info,
}

/// A candidate is linearly dependent on the selected columns, within f32 precision, if less than this fraction of its
/// squared norm remains.
const DEPENDENT: f64 = 1e-5;
/// The watcher is called once per this many columns.
const TOLD: usize = 10;
/// Number of candidates whose products with all others are computed together.
const BLOCK: usize = 32;

/// Selects columns until there are enough, or until all remaining ones are linearly dependent.
pub(crate) fn greedy(
    problem: &GreedyProblem<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<GreedySolution> {
    let (n, k) = (problem.rows.len(), problem.outputs);
    if problem.target.len() != n * k || problem.weight.len() != n {
        return Err(Error::shape("targets of a greedy fit", problem.target.len(), n * k));
    }
    let mut pool = Pool::new(problem, exec);
    let mut chosen: Vec<u32> = Vec::new();
    let mut objective = vec![pool.cost.max(0.0)];
    let mut info = Info { kernel_values: (n * problem.candidates.len()) as u64, ..Info::default() };
    while chosen.len() < problem.size {
        if chosen.len().is_multiple_of(TOLD) {
            let told = Step::new("greedy", chosen.len() as u64, Some(problem.size as u64));
            if watch(&told.centres(chosen.len())).is_break() {
                info.stop = Stop::Cancelled;
                break;
            }
        }
        let Some(best) = pool.best() else {
            info.note(format!("no more than {} columns are independent", chosen.len()));
            break;
        };
        pool.take(best, exec);
        chosen.push(problem.candidates[best]);
        objective.push(pool.cost.max(0.0));
    }
    info.iterations = chosen.len() as u64;
    info.objective = objective.last().copied();
    Ok(GreedySolution { chosen, objective, info })
}

/// The candidates with their current gains.
struct Pool {
    /// n, k and the number of candidates.
    n: usize,
    k: usize,
    p: usize,
    /// p x n: the columns, each row times the square root of its weight.
    columns: Vec<f32>,
    /// Products of a candidate with all others, computed on demand.
    products: Vec<Vec<f32>>,
    /// Products of each direction so far with all candidates.
    factor: Vec<Vec<f64>>,
    /// The candidates' remaining squared norms, and the original ones.
    left: Vec<f64>,
    whole: Vec<f64>,
    /// p x k products with the residuals.
    gain: Vec<f64>,
    used: Vec<bool>,
    /// The objective.
    cost: f64,
}

impl Pool {
    /// The candidates after projecting out the constant, which is not penalised.
    fn new(problem: &GreedyProblem<'_>, exec: Exec) -> Self {
        let (n, k, p) = (problem.rows.len(), problem.outputs, problem.candidates.len());
        let root: Vec<f64> = problem.weight.iter().map(|w| w.sqrt()).collect();
        let mut columns = vec![0.0f32; p * n];
        problem.rows.block(problem.candidates, &mut columns, exec);
        for column in columns.chunks_mut(n.max(1)) {
            column.iter_mut().zip(&root).for_each(|(a, r)| *a *= *r as f32);
        }
        let square = |a: &[f32]| a.iter().map(|a| f64::from(*a).powi(2)).sum::<f64>();
        let left: Vec<f64> = columns.chunks(n.max(1)).map(|a| problem.lambda + square(a)).collect();
        // Targets and the constant together: one product with all candidates.
        let length = problem.weight.iter().sum::<f64>().sqrt();
        let right: Vec<f32> = (0..n)
            .flat_map(|i| {
                let targets = problem.target[i * k..(i + 1) * k].iter().map(move |y| (i, *y));
                targets.chain([(i, 1.0 / length)])
            })
            .map(|(i, v)| (root[i] * v) as f32)
            .collect();
        let mut onto = vec![0.0f32; p * (k + 1)];
        product::nn(&mut onto, Mat::new(&columns, p, n), Mat::new(&right, n, k + 1), exec.threads());
        let gain = onto.chunks(k + 1).flat_map(|line| line[..k].iter().map(|g| f64::from(*g))).collect();
        let constant: Vec<f64> = onto.chunks(k + 1).map(|line| f64::from(line[k])).collect();
        let weighted = |i: usize, o: usize| problem.weight[i] * problem.target[i * k + o];
        let means: Vec<f64> = (0..k).map(|o| (0..n).map(|i| weighted(i, o)).sum::<f64>() / length).collect();
        let cost = (0..n * k).map(|at| weighted(at / k, at % k) * problem.target[at]).sum();
        let (products, used) = (vec![Vec::new(); p], vec![false; p]);
        let whole = left.clone();
        let mut pool = Pool { n, k, p, columns, products, factor: Vec::new(), left, whole, gain, used, cost };
        pool.direction(constant, &means);
        pool
    }

    /// The decrease of the objective if this candidate is selected.
    fn worth(&self, j: usize) -> f64 {
        self.gain[j * self.k..(j + 1) * self.k].iter().map(|g| g * g).sum::<f64>() / self.left[j]
    }

    /// Candidates that are linearly independent of the selected columns.
    fn able(&self) -> impl Iterator<Item = usize> {
        (0..self.p).filter(|&j| !self.used[j] && self.left[j] > DEPENDENT * self.whole[j])
    }

    /// The candidate with the largest decrease.
    fn best(&self) -> Option<usize> {
        self.able().max_by(|&a, &b| self.worth(a).total_cmp(&self.worth(b)).then(b.cmp(&a)))
    }

    /// Adds a candidate as the next direction.
    fn take(&mut self, best: usize, exec: Exec) {
        if self.products[best].is_empty() {
            self.compute(best, exec);
        }
        self.used[best] = true;
        let norm = self.left[best].sqrt();
        let mut line: Vec<f64> = self.products[best].iter().map(|v| f64::from(*v)).collect();
        for earlier in &self.factor {
            let share = earlier[best];
            line.iter_mut().zip(earlier).for_each(|(v, e)| *v -= share * e);
        }
        line.iter_mut().for_each(|v| *v /= norm);
        let step: Vec<f64> = self.gain[best * self.k..(best + 1) * self.k].iter().map(|g| g / norm).collect();
        self.products[best] = Vec::new();
        self.direction(line, &step);
    }

    /// Updates norms and residual products by a new direction, given by its products with candidates and targets.
    fn direction(&mut self, line: Vec<f64>, step: &[f64]) {
        for ((left, gain), v) in self.left.iter_mut().zip(self.gain.chunks_mut(self.k)).zip(&line) {
            *left -= v * v;
            gain.iter_mut().zip(step).for_each(|(g, s)| *g -= v * s);
        }
        self.cost -= step.iter().map(|s| s * s).sum::<f64>();
        self.factor.push(line);
    }

    /// Computes products with all candidates, for one of them and for the best of those that have none yet.
    fn compute(&mut self, first: usize, exec: Exec) {
        let (n, p) = (self.n, self.p);
        let mut others: Vec<(f64, usize)> = self
            .able()
            .filter(|&j| j != first && self.products[j].is_empty())
            .map(|j| (self.worth(j), j))
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let block: Vec<usize> = [first].into_iter().chain(others.iter().map(|o| o.1)).take(BLOCK).collect();
        let some: Vec<f32> =
            block.iter().flat_map(|&j| self.columns[j * n..(j + 1) * n].iter().copied()).collect();
        let mut out = vec![0.0f32; block.len() * p];
        let (few, all) = (Mat::new(&some, block.len(), n), Mat::new(&self.columns, p, n));
        product::nt(&mut out, few, all, exec.threads());
        block.iter().zip(out.chunks(p)).for_each(|(&j, line)| self.products[j] = line.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Matrix;
    use crate::num::factor;
    use crate::watch::silent;
    use mercer_testkit::{assert::close, reference, toy};

    /// The least objective with an offset on some columns, by its normal equations.
    fn plain(k: &[f64], n: usize, some: &[u32], y: &[f64], w: &[f64], lambda: f64) -> f64 {
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
        errors + lambda * x[..m - 1].iter().map(|v| v * v).sum::<f64>()
    }

    #[test]
    fn every_step_is_the_best_one_and_the_objective_that_of_least_squares() {
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
        let found = greedy(&problem, Exec::one(), &mut silent()).expect("rows");
        for step in 0..6 {
            let before = &found.chosen[..step];
            let best = all
                .iter()
                .filter(|j| !before.contains(j))
                .map(|&j| plain(&k, n, &[before, &[j]].concat(), &y, &w, 0.05))
                .fold(f64::INFINITY, f64::min);
            close(found.objective[step + 1], best, 1e-4 * best);
        }
        let cost = plain(&k, n, &found.chosen, &y, &w, 0.05);
        close(*found.objective.last().expect("steps"), cost, 1e-5 * cost);
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
        let found = greedy(&problem, Exec::one(), &mut silent()).expect("rows");
        assert!(found.chosen.len() <= 2, "{:?}", found.chosen);
        assert!(found.info.notes[0].contains("independent"));
    }
}
