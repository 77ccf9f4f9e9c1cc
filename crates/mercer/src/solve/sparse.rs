//! L1-regularised fits by column generation: a loss plus the sum of absolute coefficients.
//!
//! ```text
//! minimise    sum_i loss_i(y_i - f_i) + c sum_j |a_j|,     f = A a + b
//! subject to  sum over each group of w_i (y_i - f_i) = 0              (where there are groups)
//! ```
//!
//! with losses `w xi^2`, `w |xi|` or, for targets of 1 and -1, `w max(0, 1 - y f)`. These are the sparse and the
//! linear sparse Fisher discriminant (Mika, Raetsch and Mueller 2001; the groups are the classes) and the
//! linear-programming machine (Mangasarian 2000; Graepel et al. 1999). The dual has a variable per row and a
//! constraint per column,
//!
//! ```text
//! maximise    y'v - sum_i u_i^2 / (4 w_i),   v_i = u_i + w_i lambda_group(i),   sum v = 0,   |A_j' v| <= c
//! ```
//!
//! (the quadratic term for squared losses, else a box on u; lambda for groups only). Most columns can therefore be
//! left out: solve with a few, add those whose constraint is violated most, and repeat until none is violated
//! (Demiriz, Bennett and Shawe-Taylor 2002). Each constraint is written as `A_j' v = s_j`, `|s_j| <= c`, so that a
//! column appears in the program once; its coefficient is the multiplier of the equality. Columns whose coefficient
//! has become zero are removed once they are more than half of those kept: a constraint that does not bind does not
//! change the optimum, and a removed column can be added again. Cost per round: n m^2 for m columns kept, and one
//! product with all columns.

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::solve::program::{Line, Optimum, Program};
use crate::watch::{Info, Step, Stop, Watch};

/// The loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Squared error.
    Squared,
    /// Absolute error.
    Absolute,
    /// Hinge loss; targets are 1 and -1.
    Hinge,
}

/// Columns of n numbers each.
pub(crate) trait Columns {
    /// Number of columns.
    fn count(&self) -> usize;

    /// Column j.
    fn column(&self, j: usize, out: &mut [f64]);

    /// The product of every column with v.
    fn products(&self, v: &[f64], out: &mut [f64]);
}

/// The columns of a kernel matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelColumns<'a> {
    /// The matrix.
    pub rows: &'a dyn Rows,
    /// Threads.
    pub exec: Exec,
}

impl Columns for KernelColumns<'_> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.rows.apply(&[j as u32], &[1.0], out, self.exec);
    }

    fn products(&self, v: &[f64], out: &mut [f64]) {
        // Under the hinge loss most of v is 0: the kernel values of those rows are not needed.
        let some: Vec<u32> = (0u32..).zip(v).filter(|(_, v)| **v != 0.0).map(|(i, _)| i).collect();
        let coef: Vec<f64> = some.iter().map(|&i| v[i as usize]).collect();
        out.fill(0.0);
        self.rows.apply(&some, &coef, out, self.exec);
    }
}

/// A sparse fit; see the module's documentation.
#[derive(Debug, Clone)]
pub(crate) struct SparseProblem<'a> {
    /// y.
    pub target: &'a [f64],
    /// w, a factor of each row's loss, positive.
    pub weight: &'a [f64],
    /// The loss.
    pub cost: Cost,
    /// The group of each row, counted from 0; empty: no groups.
    pub group: &'a [u32],
    /// c, the penalty on absolute coefficients.
    pub c: f64,
}

/// Parameters of a sparse fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SparseParams {
    /// Fraction of c by which a column that was left out may violate its constraint.
    pub tol: f64,
    /// Number of columns added per round.
    pub batch: usize,
    /// Maximum number of rounds.
    pub max_iter: usize,
}

impl Default for SparseParams {
    fn default() -> Self {
        SparseParams { tol: 1e-3, batch: 10, max_iter: 500 }
    }
}

/// The result of a sparse fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SparseSolution {
    /// The non-zero coefficients with their columns, in ascending order.
    pub coef: Vec<(u32, f64)>,
    /// b.
    pub offset: f64,
    /// Statistics of the run; the gap is the largest violation as a fraction of c.
    pub info: Info,
}

/// Maximum number of multiply-adds of one step of any program solved. More takes minutes, and is reached where too
/// small a penalty needs thousands of columns on thousands of rows.
const WORK: f64 = 6e9;

/// Coefficients below this fraction of the largest are zeros that the interior point method has not reached.
const ZERO: f64 = 1e-6;

/// Solves the problem.
pub(crate) fn solve_sparse(
    columns: &dyn Columns,
    problem: &SparseProblem<'_>,
    params: &SparseParams,
    watch: &mut Watch<'_>,
) -> Result<SparseSolution> {
    let n = problem.target.len();
    let mut kept = Kept::new(columns, problem)?;
    let mut products = vec![0.0; columns.count()];
    let mut info = Info::default();
    if let Some(apart) = between(problem) {
        // The constraint on the groups' means is infeasible without a column that separates them.
        columns.products(&apart, &mut products);
        let first = most(products.iter().map(|p| p.abs()).enumerate().filter(|p| p.1 > 1e-14));
        if first.is_empty() {
            return Err(Error::shape("classes in feature space", "one mean for both", "two that differ"));
        }
        kept.add(&first[..first.len().min(params.batch.max(1))]);
    }
    let mut good: Option<(usize, Optimum)> = None;
    let (mut pruned_at, mut spent) = (f64::INFINITY, 0.0);
    loop {
        let mut best = match (kept.master.solve(), good.take()) {
            (Ok(best), _) => best,
            (Err(_), Some((few, best))) if kept.of.len() > few + 1 => {
                // Columns of one batch may be equal up to rounding: keep the first one alone.
                kept.truncate(few + 1);
                good = Some((few, best));
                continue;
            }
            (Err(_), Some((few, best))) => {
                kept.truncate(few);
                info.stop = Stop::Limit;
                info.note(format!("columns beyond {few} are too similar to distinguish"));
                return Ok(kept.answer(&best, info));
            }
            (Err(fault), None) => return Err(fault.into()),
        };
        let v: Vec<f64> = (0..n)
            .map(|i| best.x[i] + group_of(problem, i).map_or(0.0, |g| kept.share[i] * best.x[n + g]))
            .collect();
        columns.products(&v, &mut products);
        spent += n as f64 * (kept.of.len() as f64).powi(2);
        let over = products.iter().map(|p| p.abs() / problem.c - 1.0).enumerate();
        let late = most(over.filter(|&(j, over)| over > params.tol && !kept.of.contains(&j)));
        info.gap = late.first().map_or(0.0, |l| l.1);
        info.iterations += 1;
        info.objective = Some(-best.objective);
        let step = Step::new("column generation", info.iterations, None).gap(info.gap).centres(kept.of.len());
        info.stop = if late.is_empty() {
            Stop::Converged
        } else if watch(&step).is_break() {
            Stop::Cancelled
        } else if info.iterations as usize >= params.max_iter {
            Stop::Limit
        } else if spent > WORK {
            info.note(format!("{} columns after {} rounds, not finished", kept.of.len(), info.iterations));
            Stop::Limit
        } else {
            // Columns are removed only after the optimum has decreased, so the method cannot cycle.
            let objective = -best.objective;
            if best.inexact == 0.0 && objective < pruned_at - 1e-9 * objective.abs() && kept.prune(&mut best)
            {
                pruned_at = objective;
            }
            good = Some((kept.of.len(), best));
            kept.add(&late[..late.len().min(params.batch.max(1))]);
            continue;
        };
        // Residuals of earlier rounds do not matter; those of the last one do.
        if best.inexact > 0.0 {
            info.note(format!("the program was solved only to a relative gap of {:.0e}", best.inexact));
            if info.stop == Stop::Converged {
                info.stop = Stop::Limit;
            }
        }
        return Ok(kept.answer(&best, info));
    }
}

/// The columns in the restricted program.
struct Kept<'a> {
    columns: &'a dyn Columns,
    problem: &'a SparseProblem<'a>,
    of: Vec<usize>,
    /// Each row's share of its group's weight; empty without groups.
    share: Vec<f64>,
    /// The mean subtracted from each column.
    means: Vec<f64>,
    /// The centred columns.
    centred: Vec<Vec<f64>>,
    master: Program,
    /// Number of variables, upper bounds and equalities before the first column.
    first: (usize, usize, usize),
}

impl<'a> Kept<'a> {
    fn new(columns: &'a dyn Columns, problem: &'a SparseProblem<'a>) -> Result<Self> {
        let share = shares(problem)?;
        let master = master(problem, &share);
        let first = (master.linear.len(), master.at_most.len(), master.equal.len());
        Ok(Kept {
            columns,
            problem,
            of: Vec::new(),
            share,
            means: Vec::new(),
            centred: Vec::new(),
            master,
            first,
        })
    }

    /// Adds the constraints of columns.
    ///
    /// The sum of v is zero, so a constant added to a column changes only the offset. Columns are centred because
    /// those of a flat kernel are nearly constant, and would otherwise be indistinguishable in floating point.
    fn add(&mut self, late: &[(usize, f64)]) {
        let n = self.problem.target.len();
        let mut column = vec![0.0; n];
        for &(j, _) in late {
            self.columns.column(j, &mut column);
            let mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|a| *a -= mean);
            self.of.push(j);
            self.means.push(mean);
            self.condition(&column);
            self.centred.push(column.clone());
        }
    }

    /// Removes columns without a coefficient from the program and its optimum, if they are the majority.
    fn prune(&mut self, best: &mut Optimum) -> bool {
        let all = &best.equal[self.first.2..];
        let largest = all.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let used: Vec<bool> = all.iter().map(|a| a.abs() > ZERO * largest).collect();
        let left = used.iter().filter(|used| **used).count();
        if left == 0 || 2 * left >= used.len() {
            return false;
        }
        let some = |at: usize| used.get(at).copied().unwrap_or(false);
        let mut at = 0..;
        best.equal.retain(|_| at.next().is_some_and(|at| at < self.first.2 || some(at - self.first.2)));
        let mut at = 0..;
        self.of.retain(|_| at.next().is_some_and(some));
        let mut at = 0..;
        self.means.retain(|_| at.next().is_some_and(some));
        let mut centred = std::mem::take(&mut self.centred);
        let mut at = 0..;
        centred.retain(|_| at.next().is_some_and(some));
        self.master = master(self.problem, &self.share);
        centred.iter().for_each(|column| self.condition(column));
        self.centred = centred;
        true
    }

    /// A column's product with v as a variable, and its bounds.
    fn condition(&mut self, column: &[f64]) {
        let (n, master) = (column.len(), &mut self.master);
        let mut sums = vec![0.0; self.first.0 - n];
        for (i, &a) in column.iter().enumerate() {
            if let Some(g) = group_of(self.problem, i) {
                sums[g] += self.share[i] * a;
            }
        }
        // The product becomes a variable of its own, so that both of its bounds share one dense line.
        let product = master.linear.len();
        master.linear.push(0.0);
        // Only the squared loss has a quadratic term, and it does not apply to products.
        if !master.diagonal.is_empty() {
            master.diagonal.push(0.0);
        }
        let rows = column.iter().copied().enumerate().filter(|(_, a)| *a != 0.0);
        let groups = sums.into_iter().enumerate().map(|(g, s)| (n + g, s));
        master.equal.push(Line::new(rows.chain(groups).chain([(product, -1.0)]).collect(), 0.0));
        for sign in [1.0, -1.0] {
            master.at_most.push(Line::new(vec![(product, sign)], self.problem.c));
        }
    }

    fn truncate(&mut self, to: usize) {
        self.of.truncate(to);
        self.means.truncate(to);
        self.centred.truncate(to);
        let (variables, bounds, equalities) = self.first;
        self.master.linear.truncate(variables + to);
        self.master.diagonal.truncate(variables + to);
        self.master.at_most.truncate(bounds + 2 * to);
        self.master.equal.truncate(equalities + to);
    }

    fn answer(&self, best: &Optimum, info: Info) -> SparseSolution {
        let all = &best.equal[self.first.2..];
        let largest = all.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let mut coef = Vec::new();
        let mut offset = best.equal[0];
        for ((&j, mean), &a) in self.of.iter().zip(&self.means).zip(all) {
            if a.abs() > ZERO * largest {
                coef.push((j as u32, a));
                // The program saw centred columns; their means belong to the offset.
                offset -= a * mean;
            }
        }
        coef.sort_by_key(|c| c.0);
        SparseSolution { coef, offset, info }
    }
}

/// Sorted by descending value.
fn most(all: impl Iterator<Item = (usize, f64)>) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = all.collect();
    // Ties by number, so that the same data always give the same columns.
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

/// The mean over the second group minus that over the first, where there are groups.
fn between(problem: &SparseProblem<'_>) -> Option<Vec<f64>> {
    let rows = || problem.group.iter().zip(problem.weight);
    let size = |g: u32| rows().filter(|(h, _)| **h == g).map(|(_, w)| w).sum::<f64>();
    let (first, second) = (size(0), size(1));
    let sign = |g: u32| if g == 0 { -1.0 / first } else { f64::from(u8::from(g == 1)) / second };
    (second > 0.0).then(|| rows().map(|(&g, w)| w * sign(g)).collect())
}

fn group_of(problem: &SparseProblem<'_>, row: usize) -> Option<usize> {
    problem.group.get(row).map(|&g| g as usize)
}

/// Each row's share of its group's weight: this gives the groups' variables the same scale as those of rows, for any
/// number of rows.
fn shares(problem: &SparseProblem<'_>) -> Result<Vec<f64>> {
    let n = problem.target.len();
    if n == 0 || problem.weight.len() != n || !(problem.group.is_empty() || problem.group.len() == n) {
        return Err(Error::shape("rows of a sparse fit", problem.weight.len(), n));
    }
    let mut sums = vec![0.0; problem.group.iter().max().map_or(0, |&g| g as usize + 1)];
    let rows = || problem.group.iter().map(|&g| g as usize).zip(problem.weight);
    rows().for_each(|(g, w)| sums[g] += w);
    Ok(rows().map(|(g, w)| w / sums[g]).collect())
}

/// The program without columns; the boxes come first among its upper bounds.
fn master(problem: &SparseProblem<'_>, share: &[f64]) -> Program {
    let n = problem.target.len();
    let groups = problem.group.iter().max().map_or(0, |&g| g as usize + 1);
    let mut linear: Vec<f64> = problem.target.iter().map(|y| -y).collect();
    let mut sum: Vec<(usize, f64)> = (0..n).map(|i| (i, 1.0)).collect();
    for g in 0..groups {
        let rows = || (0..n).filter(move |&i| problem.group[i] as usize == g);
        linear.push(-rows().map(|i| share[i] * problem.target[i]).sum::<f64>());
        sum.push((n + g, rows().map(|i| share[i]).sum()));
    }
    let mut program = Program { linear, equal: vec![Line::new(sum, 0.0)], ..Program::default() };
    if problem.cost == Cost::Squared {
        program.diagonal = problem.weight.iter().map(|w| 0.5 / w).collect();
        program.diagonal.resize(n + groups, 0.0);
        return program;
    }
    for (i, (&y, &w)) in problem.target.iter().zip(problem.weight).enumerate() {
        let (low, high) = match problem.cost {
            Cost::Hinge if y > 0.0 => (0.0, w),
            Cost::Hinge => (-w, 0.0),
            _ => (-w, w),
        };
        program.at_most.push(Line::new(vec![(i, 1.0)], high));
        program.at_most.push(Line::new(vec![(i, -1.0)], -low));
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Matrix;
    use crate::watch::silent;
    use mercer_testkit::{assert::close, reference, toy};

    fn problem(n: usize) -> (Matrix, Vec<f64>, Vec<f64>) {
        let x = toy::normals(n, 2, 5);
        let k = reference::gram(&x, &x, 2, |a, b| {
            (-0.5 * a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
        });
        let y = x.chunks(2).map(|x| if x[0] * x[1] > 0.0 { 1.0 } else { -1.0 }).collect();
        (Matrix::new(k.clone(), n).expect("symmetric"), k, y)
    }

    fn primal(k: &[f64], y: &[f64], cost: Cost, c: f64, a: &[f64], b: f64) -> f64 {
        let n = y.len();
        let f = |i: usize| (0..n).map(|j| k[i * n + j] * a[j]).sum::<f64>() + b;
        let errors: f64 = (0..n)
            .map(|i| match cost {
                Cost::Squared => (y[i] - f(i)).powi(2),
                Cost::Absolute => (y[i] - f(i)).abs(),
                Cost::Hinge => (1.0 - y[i] * f(i)).max(0.0),
            })
            .sum();
        errors + c * a.iter().map(|a| a.abs()).sum::<f64>()
    }

    #[test]
    fn the_primal_objective_is_the_dual_one_and_no_near_answer_is_better() {
        let n = 40;
        let (matrix, k, y) = problem(n);
        let columns = KernelColumns { rows: &matrix, exec: Exec::one() };
        let weight = vec![1.0; n];
        for cost in [Cost::Squared, Cost::Absolute, Cost::Hinge] {
            let problem = SparseProblem { target: &y, weight: &weight, cost, group: &[], c: 1.5 };
            let params = SparseParams { tol: 1e-7, batch: 3, ..SparseParams::default() };
            let found = solve_sparse(&columns, &problem, &params, &mut silent()).expect("a program");
            let mut a = vec![0.0; n];
            found.coef.iter().for_each(|&(j, c)| a[j as usize] = c);
            let at = |a: &[f64], b: f64| primal(&k, &y, cost, 1.5, a, b);
            let best = at(&a, found.offset);
            close(best, found.info.objective.expect("solved"), 1e-5 * best);
            assert!(!found.coef.is_empty() && found.coef.len() < n / 2, "{}", found.coef.len());
            for j in 0..n {
                for by in [-1e-2, 1e-2] {
                    let mut near = a.clone();
                    near[j] += by;
                    assert!(at(&near, found.offset) > best - 1e-6, "{cost:?} {j}");
                }
            }
            assert!(at(&a, found.offset + 1e-2).min(at(&a, found.offset - 1e-2)) > best - 1e-6);
        }
    }

    #[test]
    fn columns_come_and_go_and_the_optimum_is_that_of_all_of_them() {
        let n = 150;
        let (matrix, k, y) = problem(n);
        // One label in four is wrong: many columns are tried and given up.
        let y: Vec<f64> = y.iter().enumerate().map(|(i, y)| if i % 4 == 1 { -y } else { *y }).collect();
        let columns = KernelColumns { rows: &matrix, exec: Exec::one() };
        let weight = vec![1.0; n];
        let group: Vec<u32> = y.iter().map(|&y| u32::from(y > 0.0)).collect();
        for (cost, group) in
            [(Cost::Absolute, &group[..]), (Cost::Absolute, &[]), (Cost::Hinge, &[]), (Cost::Squared, &[])]
        {
            let problem = SparseProblem { target: &y, weight: &weight, cost, group, c: 0.5 };
            let solved = |batch: usize| {
                let params = SparseParams { tol: 1e-6, batch, ..SparseParams::default() };
                solve_sparse(&columns, &problem, &params, &mut silent()).expect("a program")
            };
            // All columns at once are never pruned.
            let (few, whole) = (solved(4), solved(n));
            assert_eq!((few.info.stop, whole.info.stop), (Stop::Converged, Stop::Converged), "{cost:?}");
            let value = |found: &SparseSolution| {
                let mut a = vec![0.0; n];
                found.coef.iter().for_each(|&(j, c)| a[j as usize] = c);
                primal(&k, &y, cost, 0.5, &a, found.offset)
            };
            close(value(&few), value(&whole), 1e-5 * value(&whole));
        }
    }

    #[test]
    fn groups_have_their_means_on_their_targets() {
        let n = 40;
        let (matrix, k, y) = problem(n);
        let columns = KernelColumns { rows: &matrix, exec: Exec::one() };
        let group: Vec<u32> = y.iter().map(|&y| u32::from(y > 0.0)).collect();
        let weight = vec![1.0; n];
        for cost in [Cost::Squared, Cost::Absolute] {
            let problem = SparseProblem { target: &y, weight: &weight, cost, group: &group, c: 0.3 };
            let found =
                solve_sparse(&columns, &problem, &SparseParams::default(), &mut silent()).expect("a program");
            for (g, want) in [(0, -1.0), (1, 1.0)] {
                let of: Vec<f64> = (0..n)
                    .filter(|&i| group[i] == g)
                    .map(|i| {
                        found.coef.iter().map(|&(j, c)| c * k[i * n + j as usize]).sum::<f64>() + found.offset
                    })
                    .collect();
                close(of.iter().sum::<f64>() / of.len() as f64, want, 1e-4);
            }
        }
    }
}
