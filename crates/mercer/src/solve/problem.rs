//! The one quadratic problem behind every machine.
//!
//! ```text
//! minimise    1/2 beta' (K + diag(shift)) beta + linear' beta
//! subject to  lower <= beta <= upper,   sum of beta over each group = what it is at the start
//! ```
//!
//! Labels are absorbed into the variables: a classifier's variable is `beta_i = y_i alpha_i` in the box `[0, C]` or
//! `[-C, 0]`, and its linear term `-y_i`. Regression has two variables per row, one for each side of the tube:
//! variable `side * n + row` belongs to row `row` of K, so both share a row and K is not duplicated.

use crate::error::{Error, Result};
use crate::gram::Rows;

/// Which variables share an equality constraint. A step moves two variables of one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Groups {
    /// One constraint over all variables.
    #[default]
    One,
    /// One for each side (nu-regression).
    BySide,
    /// One per distinct value, at most four: the group of every row, on every side (nu-classification: by class).
    ByRow(Vec<u8>),
}

/// A diagonal added to K: squared slack, Huber's loss, or a kernel that is not quite positive.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Shift {
    /// Nothing.
    #[default]
    None,
    /// The same for every variable.
    Same(f64),
    /// One for each variable.
    Each(Vec<f64>),
}

/// A quadratic problem. See the module's text for the symbols.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// K, n x n.
    pub rows: &'a dyn Rows,
    /// The linear term; its length divided by n is the number of sides.
    pub linear: Vec<f64>,
    /// Lower bounds; may be minus infinity.
    pub lower: Vec<f64>,
    /// Upper bounds; may be infinity.
    pub upper: Vec<f64>,
    /// The equality constraints.
    pub groups: Groups,
    /// Added to the diagonal.
    pub shift: Shift,
    /// A feasible starting point, which also sets the sums; without it 0, clipped to the box.
    pub start: Option<Vec<f64>>,
}

/// Maximum number of groups.
pub(super) const MAX_GROUPS: usize = 4;

impl<'a> Problem<'a> {
    /// The problem of a two-class machine with labels of +1 and -1: variable i in `[0, c_i]` or `[-c_i, 0]` by its
    /// label, sum 0.
    ///
    /// With `y_i beta_i = alpha_i` this is C-classification (Cortes and Vapnik 1995); `c` may be infinite.
    pub fn classify(rows: &'a dyn Rows, labels: &[f64], c: &[f64]) -> Self {
        let side = |positive: bool| -> Vec<f64> {
            labels
                .iter()
                .zip(c)
                .map(|(&y, &c)| match (y > 0.0) == positive {
                    true if positive => c,
                    true => -c,
                    false => 0.0,
                })
                .collect()
        };
        Problem {
            rows,
            linear: labels.iter().map(|y| -y).collect(),
            lower: side(false),
            upper: side(true),
            groups: Groups::One,
            shift: Shift::None,
            start: None,
        }
    }

    /// The problem of regression with a tube of half-width `epsilon` (Vapnik 1995): two sides, sum 0. Row r's
    /// coefficient is the sum of its two variables.
    pub fn regress(rows: &'a dyn Rows, targets: &[f64], epsilon: f64, c: &[f64]) -> Self {
        let both = |up: fn(f64) -> f64, down: fn(f64) -> f64| -> Vec<f64> {
            c.iter().map(|&c| up(c)).chain(c.iter().map(|&c| down(c))).collect()
        };
        Problem {
            rows,
            linear: targets.iter().map(|y| epsilon - y).chain(targets.iter().map(|y| -epsilon - y)).collect(),
            lower: both(|_| 0.0, |c| -c),
            upper: both(|c| c, |_| 0.0),
            groups: Groups::One,
            shift: Shift::None,
            start: None,
        }
    }

    /// Number of variables per row.
    pub fn sides(&self) -> usize {
        self.linear.len().checked_div(self.rows.len()).unwrap_or(1).max(1)
    }

    /// Number of groups.
    pub(super) fn group_count(&self) -> usize {
        match &self.groups {
            Groups::One => 1,
            Groups::BySide => self.sides(),
            Groups::ByRow(of) => of.iter().map(|&g| usize::from(g) + 1).max().unwrap_or(1),
        }
    }

    /// The group of a variable.
    pub(super) fn group(&self, variable: usize) -> usize {
        match &self.groups {
            Groups::One => 0,
            Groups::BySide => variable / self.rows.len(),
            Groups::ByRow(of) => usize::from(of[variable % self.rows.len()]),
        }
    }

    /// The value that a variable's entry of the diagonal is increased by.
    pub(super) fn shift(&self, variable: usize) -> f64 {
        match &self.shift {
            Shift::None => 0.0,
            Shift::Same(s) => *s,
            Shift::Each(s) => s[variable],
        }
    }

    /// Sets [`Problem::start`] to a point in the box whose groups have these sums: variables are moved from the point
    /// of the box nearest 0 towards their other bound, in order of index, as LIBSVM does.
    ///
    /// Fails if a sum lies outside what the box allows.
    pub fn start_at_sums(&mut self, sums: &[f64]) -> Result<()> {
        self.check()?;
        if sums.len() != self.group_count() {
            return Err(Error::shape(
                "sums to start at",
                sums.len(),
                format!("{} groups", self.group_count()),
            ));
        }
        let mut beta: Vec<f64> =
            self.lower.iter().zip(&self.upper).map(|(&lo, &up)| 0.0_f64.clamp(lo, up)).collect();
        for (g, &want) in sums.iter().enumerate() {
            let members: Vec<usize> = (0..beta.len()).filter(|&v| self.group(v) == g).collect();
            let mut missing = want - members.iter().map(|&v| beta[v]).sum::<f64>();
            for &v in &members {
                let moved = (beta[v] + missing).clamp(self.lower[v], self.upper[v]);
                missing -= moved - beta[v];
                beta[v] = moved;
            }
            // A difference within rounding is accepted; a larger one means that the box does not allow the sum.
            if missing.abs() > 1e-9 * want.abs().max(1.0) {
                return Err(Error::param(
                    format!("sum of group {g}"),
                    want,
                    format!("within what the bounds allow (missed by {missing})"),
                ));
            }
        }
        self.start = Some(beta);
        Ok(())
    }

    /// Sets [`Problem::start`] to a feasible point near a guess, such as the solution of the same rows with other
    /// bounds.
    ///
    /// Each group keeps the sum of the current start (0 without one). A guess with another sum is scaled if both sums
    /// have the same sign, clipped to the box, and shifted evenly by the remaining difference. A feasible guess is
    /// used unchanged; if no feasible point is near, the current start stays.
    pub fn start_near(&mut self, mut guess: Vec<f64>) -> Result<()> {
        if guess.len() != self.linear.len() {
            return Err(Error::shape("variables to start near", guess.len(), self.linear.len()));
        }
        self.check()?;
        let nearest = |v: usize| 0.0_f64.clamp(self.lower[v], self.upper[v]);
        for g in 0..self.group_count() {
            let members: Vec<usize> = (0..guess.len()).filter(|&v| self.group(v) == g).collect();
            let sum = |beta: &dyn Fn(usize) -> f64| members.iter().map(|&v| beta(v)).sum::<f64>();
            let want = sum(&|v| self.start.as_ref().map_or_else(|| nearest(v), |start| start[v]));
            let size = 1.0 + sum(&|v| guess[v].abs());
            let got = sum(&|v| guess[v]);
            let near = |got: f64| (got - want).abs() <= 1e-9 * size;
            let factor = if got * want > 0.0 && !near(got) { want / got } else { 1.0 };
            let clipped = |v: usize| (guess[v] * factor).clamp(self.lower[v], self.upper[v]);
            let mut now: Vec<f64> = members.iter().map(|&v| clipped(v)).collect();
            let mut missing = want - now.iter().sum::<f64>();
            // First towards 0, which keeps coefficients sparse, then towards the far bound.
            for far in [false, true] {
                if near(want - missing) {
                    break;
                }
                let room = |at: usize| {
                    let v = members[at];
                    let bound = if missing > 0.0 { self.upper[v] } else { self.lower[v] };
                    let room = if far { bound } else { nearest(v) } - now[at];
                    if room * missing > 0.0 { room } else { 0.0 }
                };
                let rooms: Vec<f64> = (0..now.len()).map(room).collect();
                let all: f64 = rooms.iter().sum();
                if all != 0.0 && all.is_finite() {
                    let share = (missing / all).min(1.0);
                    now.iter_mut().zip(&rooms).for_each(|(beta, room)| *beta += share * room);
                    missing = want - now.iter().sum::<f64>();
                }
            }
            if !near(want - missing) || now.iter().any(|beta| !beta.is_finite()) {
                return Ok(());
            }
            let inside = |v: usize, beta: f64| beta.clamp(self.lower[v], self.upper[v]);
            members.iter().zip(now).for_each(|(&v, beta)| guess[v] = inside(v, beta));
        }
        self.start = Some(guess);
        Ok(())
    }

    /// Checks lengths, order of bounds, finiteness, and feasibility of the start.
    pub(super) fn check(&self) -> Result<()> {
        let n = self.rows.len();
        let total = self.linear.len();
        if n == 0 || total == 0 || !total.is_multiple_of(n) {
            return Err(Error::shape("variables", total, format!("a multiple of {n} rows, at least one")));
        }
        if total > u32::MAX as usize / 2 {
            return Err(Error::shape("variables", total, format!("at most {}", u32::MAX / 2)));
        }
        let same = |what: &str, got: usize| {
            if got == total {
                Ok(())
            } else {
                Err(Error::shape(what, got, format!("{total}, one per variable")))
            }
        };
        same("lower bounds", self.lower.len())?;
        same("upper bounds", self.upper.len())?;
        if let Shift::Each(s) = &self.shift {
            same("shifts", s.len())?;
        }
        if let Some(start) = &self.start {
            same("start", start.len())?;
        }
        if let Groups::ByRow(of) = &self.groups
            && of.len() != n
        {
            return Err(Error::shape("groups", of.len(), format!("{n}, one per row")));
        }
        if self.group_count() > MAX_GROUPS {
            return Err(Error::param("groups", self.group_count(), format!("at most {MAX_GROUPS}")));
        }
        for v in 0..total {
            let (lo, up, q) = (self.lower[v], self.upper[v], self.linear[v]);
            if !q.is_finite() {
                return Err(Error::param(format!("linear[{v}]"), q, "finite"));
            }
            if lo.is_nan() || up.is_nan() || lo > up || lo == f64::INFINITY || up == f64::NEG_INFINITY {
                return Err(Error::param(format!("bounds[{v}]"), format!("[{lo}, {up}]"), "lower <= upper"));
            }
            let s = self.shift(v);
            if !s.is_finite() || s < 0.0 {
                return Err(Error::param(format!("shift[{v}]"), s, "finite and not negative"));
            }
            if let Some(start) = &self.start
                && !(start[v] >= lo && start[v] <= up && start[v].is_finite())
            {
                return Err(Error::param(format!("start[{v}]"), start[v], format!("within [{lo}, {up}]")));
            }
        }
        Ok(())
    }
}
