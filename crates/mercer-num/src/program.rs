//! Linear and convex quadratic programs, by an interior-point method (Clarabel, Goulart and Chen 2024).
//!
//! ```text
//! minimise    1/2 x' P x + q' x
//! subject to  each line of `equal`    sum_j a_j x_j  = right
//!             each line of `at_most`  sum_j a_j x_j <= right
//! ```
//!
//! Linear-programming machines, sparse Fisher discriminants and LPBoost are such programs, with few dense columns and
//! many that have one entry. Cost: about twenty steps with a sparse factorisation each; with n rows and m dense
//! columns about n m^2 per step.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT,
    ZeroConeT,
};

use crate::Fault;

/// One constraint: its entries by variable, and its right-hand side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    /// Variables and their factors; a variable at most once.
    pub entries: Vec<(usize, f64)>,
    /// The right-hand side.
    pub right: f64,
}

impl Line {
    /// A constraint from its parts.
    pub fn new(entries: Vec<(usize, f64)>, right: f64) -> Self {
        Line { entries, right }
    }
}

/// A program. See the module's head.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// q, one number a variable.
    pub linear: Vec<f64>,
    /// The diagonal of P; empty where there is none.
    pub diagonal: Vec<f64>,
    /// Entries of P above its diagonal: row, column, value, with row < column.
    pub above: Vec<(usize, usize, f64)>,
    /// Equality constraints.
    pub equal: Vec<Line>,
    /// Inequality constraints (upper bounds).
    pub at_most: Vec<Line>,
}

/// The solution of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The variables.
    pub x: Vec<f64>,
    /// Multipliers of the equalities.
    pub equal: Vec<f64>,
    /// Multipliers of the upper bounds, not negative.
    pub at_most: Vec<f64>,
    /// The objective.
    pub objective: f64,
    /// The largest of the relative primal residual, dual residual and duality gap, if rounding errors stopped the
    /// method before its tolerance; otherwise 0.
    pub inexact: f64,
}

/// A solution with residuals and gap below this is usable.
const USABLE: f64 = 1e-3;

impl Program {
    /// Solves the program. Fails if there is no minimum, or if rounding errors prevent a usable solution.
    ///
    /// ```
    /// use mercer_num::program::{Line, Program};
    /// // The largest x + y with x + 2 y <= 4 and x, y between 0 and 3.
    /// let bound = |j: usize, sign: f64, right: f64| Line::new(vec![(j, sign)], right);
    /// let program = Program {
    ///     linear: vec![-1.0, -1.0],
    ///     at_most: vec![
    ///         Line::new(vec![(0, 1.0), (1, 2.0)], 4.0),
    ///         bound(0, 1.0, 3.0), bound(0, -1.0, 0.0), bound(1, 1.0, 3.0), bound(1, -1.0, 0.0),
    ///     ],
    ///     ..Program::default()
    /// };
    /// let best = program.solve()?;
    /// assert!((best.x[0] - 3.0).abs() < 1e-6 && (best.x[1] - 0.5).abs() < 1e-6);
    /// assert!((best.at_most[0] - 0.5).abs() < 1e-6);
    /// # Ok::<(), mercer_num::Fault>(())
    /// ```
    pub fn solve(&self) -> Result<Optimum, Fault> {
        let n = self.linear.len();
        let mut upper = self.above.clone();
        upper.extend(self.diagonal.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(j, &v)| (j, j, v)));
        let p = matrix(n, n, &upper);
        let lines = || self.equal.iter().chain(&self.at_most);
        let entries: Vec<(usize, usize, f64)> = lines()
            .enumerate()
            .flat_map(|(i, line)| line.entries.iter().map(move |&(j, v)| (i, j, v)))
            .collect();
        let right: Vec<f64> = lines().map(|line| line.right).collect();
        if entries.iter().any(|e| !e.2.is_finite())
            || self.linear.iter().chain(&right).any(|v| !v.is_finite())
        {
            return Err(Fault::NotFinite { what: "a program" });
        }
        let a = matrix(right.len(), n, &entries);
        let cones: [SupportedConeT<f64>; 2] =
            [ZeroConeT(self.equal.len()), NonnegativeConeT(self.at_most.len())];
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .max_iter(200)
            .build()
            .map_err(|e| Fault::NoMinimum { why: e.to_string() })?;
        let mut solver = DefaultSolver::new(&p, &self.linear, &a, &right, &cones, settings)
            .map_err(|e| Fault::NoMinimum { why: e.to_string() })?;
        solver.solve();
        let found = &solver.solution;
        let finite = || found.x.iter().chain(&found.z).all(|v| v.is_finite());
        let inexact = match found.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => 0.0,
            // Rounding errors stopped the method: the residuals and the gap decide whether the solution is usable.
            SolverStatus::InsufficientProgress
            | SolverStatus::MaxIterations
            | SolverStatus::NumericalError
                if finite() =>
            {
                let gap = (found.obj_val - found.obj_val_dual).abs() / (1.0 + found.obj_val.abs());
                gap.max(found.r_prim).max(found.r_dual)
            }
            other => return Err(Fault::NoMinimum { why: format!("{other:?}") }),
        };
        if inexact.is_nan() || inexact > USABLE {
            let why = format!("{:?}, a share of {inexact:.0e} is left open", found.status);
            return Err(Fault::NoMinimum { why });
        }
        let (equal, at_most) = found.z.split_at(self.equal.len());
        Ok(Optimum {
            x: found.x.clone(),
            equal: equal.to_vec(),
            at_most: at_most.iter().map(|z| z.max(0.0)).collect(),
            objective: found.obj_val,
            inexact,
        })
    }
}

/// A matrix in the solver's form.
fn matrix(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> CscMatrix<f64> {
    let pick = |f: fn(&(usize, usize, f64)) -> usize| entries.iter().map(f).collect::<Vec<usize>>();
    CscMatrix::new_from_triplets(
        rows,
        cols,
        pick(|e| e.0),
        pick(|e| e.1),
        entries.iter().map(|e| e.2).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::assert::close;

    #[test]
    fn a_quadratic_program_and_its_multipliers() {
        // The point of x + y = 1 nearest (2, 0), with x <= 0.9: (0.9, 0.1).
        let program = Program {
            linear: vec![-2.0, 0.0],
            diagonal: vec![1.0, 1.0],
            equal: vec![Line::new(vec![(0, 1.0), (1, 1.0)], 1.0)],
            at_most: vec![Line::new(vec![(0, 1.0)], 0.9)],
            ..Program::default()
        };
        let best = program.solve().expect("convex");
        close(best.x[0], 0.9, 1e-6);
        close(best.x[1], 0.1, 1e-6);
        // P x + q + A' z = 0 tells the multipliers.
        close(best.x[1] + best.equal[0], 0.0, 1e-6);
        close(best.x[0] - 2.0 + best.equal[0] + best.at_most[0], 0.0, 1e-6);
    }

    #[test]
    fn a_program_without_a_minimum_is_told() {
        let down = Program {
            linear: vec![-1.0],
            at_most: vec![Line::new(vec![(0, -1.0)], 0.0)],
            ..Program::default()
        };
        assert!(down.solve().expect_err("unbounded").to_string().contains("without a minimum"));
        let never = Program {
            linear: vec![0.0],
            at_most: vec![Line::new(vec![(0, 1.0)], -1.0), Line::new(vec![(0, -1.0)], -1.0)],
            ..Program::default()
        };
        assert!(never.solve().is_err());
        let bad = Program { linear: vec![f64::NAN], ..Program::default() };
        assert!(bad.solve().is_err());
    }
}
