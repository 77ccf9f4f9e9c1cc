//! Following the path: directions, events, and recovery from degenerate points.

use super::point::{Path, Piece};
use super::{PathParams, PathProblem};
use crate::error::Result;
use crate::watch::{Step, Stop, Watch};

/// Steps shorter than this fraction of C do not count as progress: several rows change at a tie.
const NONE: f64 = 1e-13;
/// Rates of change below this fraction of the largest are rounding errors.
const FLAT: f64 = 1e-11;
/// Number of steps between exact recomputations of f.
const CHECK: usize = 16;
/// The first step, relative to C, across a degenerate point; doubled until it succeeds.
const LEAP: f64 = 1e-7;

/// The set that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// R: zero coefficient.
    Idle,
    /// E: on the margin.
    Free,
    /// L: at its bound.
    Bounded,
}

pub(super) struct Walk<'a> {
    pub(super) problem: &'a PathProblem<'a>,
    pub(super) params: &'a PathParams,
    pub(super) n: usize,
    pub(super) c: f64,
    pub(super) beta: Vec<f64>,
    /// f at the rows, including offset and shift.
    pub(super) f: Vec<f64>,
    pub(super) offset: f64,
    pub(super) place: Vec<Place>,
    /// Rows on the margin, in the order they joined.
    pub(super) free: Vec<usize>,
    /// `K_L (v y)_L`.
    pub(super) pull: Vec<f64>,
    /// Rows of K in f64, computed on demand.
    pub(super) rows: Vec<Option<Box<[f64]>>>,
    pub(super) pieces: Vec<Piece>,
    /// The sets as of the last recorded piece.
    pub(super) recorded: Vec<Place>,
    pub(super) resolved: usize,
    pub(super) violation: f64,
}

/// Derivatives with respect to C.
struct Direction {
    /// d beta of the rows on the margin.
    beta: Vec<f64>,
    offset: f64,
    f: Vec<f64>,
}

/// The next row to change its set.
#[derive(Clone, Copy)]
struct Event {
    step: f64,
    row: usize,
    to: Place,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        problem: &'a PathProblem<'a>,
        params: &'a PathParams,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let n = problem.labels.len();
        let mut walk = Walk {
            problem,
            params,
            n,
            c: params.c_min,
            beta: vec![0.0; n],
            f: vec![0.0; n],
            offset: 0.0,
            place: vec![Place::Idle; n],
            free: Vec::new(),
            pull: vec![0.0; n],
            rows: vec![None; n],
            pieces: Vec::new(),
            recorded: vec![Place::Idle; n],
            resolved: 0,
            violation: 0.0,
        };
        walk.solve(watch)?;
        Ok(walk)
    }

    pub(super) fn run(mut self, watch: &mut Watch<'_>) -> Result<Path> {
        // Paths have about as many breakpoints as rows in practice, and exponentially many in the worst case.
        let most = self.params.max_breakpoints.unwrap_or(10_000.max(50 * self.n));
        let (mut stop, mut ties, mut since, mut leap) = (Stop::Converged, 0, 0, LEAP);
        while self.c < self.params.c_max {
            if self.pieces.len() >= most {
                stop = Stop::Limit;
                break;
            }
            let step = Step::new("path", self.pieces.len() as u64, None).centres(self.free.len());
            if watch(&step).is_break() {
                stop = Stop::Cancelled;
                break;
            }
            let before = self.c;
            // Without a row on the margin nothing determines the offset, so there is no direction to follow.
            let sound = if self.free.is_empty() { self.cross_gap() } else { self.advance() };
            ties = if self.c - before > NONE * self.c { 0 } else { ties + 1 };
            since += 1;
            // Some ties are normal: rows that meet the margin at the same C join it one after the other.
            let mut astray = !sound || ties > 20 + 3 * self.free.len();
            if !astray && since >= CHECK {
                since = 0;
                astray = !self.mend();
            }
            if astray {
                self.leap(leap, watch)?;
                // A leap that lands beside the same degenerate point must not repeat for ever.
                (leap, ties, since) = (leap * 2.0, 0, 0);
            } else if self.c > before * (1.0 + LEAP) {
                leap = LEAP;
            }
        }
        if !self.mend() {
            self.violation = self.violation.max(self.violated());
        }
        if self.pieces.is_empty() {
            let moving = self.free.iter().map(|&i| (i as u32, self.beta[i], 0.0)).collect();
            self.record(moving, 0.0);
        }
        let mass = self.mass();
        Ok(Path {
            labels: self.problem.labels.to_vec(),
            weights: self.problem.weights.to_vec(),
            end: self.c,
            end_mass: mass,
            pieces: self.pieces,
            stop,
            resolved: self.resolved,
            violation: self.violation,
        })
    }

    fn direction(&mut self) -> Option<Direction> {
        let right: Vec<f64> = self.free.iter().map(|&i| -self.pull[i]).collect();
        let bounded = (0..self.n).filter(|&i| self.place[i] == Place::Bounded);
        let sum = -bounded.map(|i| self.v(i) * self.y(i)).sum::<f64>();
        let (beta, offset) = self.bordered(&right, sum)?;
        let mut f: Vec<f64> = self.pull.iter().map(|p| p + offset).collect();
        let rows: Vec<(usize, f64)> = self.free.iter().copied().zip(beta.iter().copied()).collect();
        self.apply(&rows, &mut f);
        Some(Direction { beta, offset, f })
    }

    /// The first row that changes its set along a direction.
    fn next_event(&self, along: &Direction) -> Option<Event> {
        let mut first: Option<Event> = None;
        let mut offer = |step: f64, row: usize, to: Place| {
            if step.is_finite() && first.is_none_or(|e| step < e.step) {
                first = Some(Event { step: step.max(0.0), row, to });
            }
        };
        let fastest = along.beta.iter().fold(0.0, |m: f64, q| m.max(q.abs()));
        for (&i, q) in self.free.iter().zip(&along.beta) {
            let (alpha, rate) = (self.y(i) * self.beta[i], self.y(i) * q);
            if rate < -FLAT * fastest {
                // The coefficient runs towards 0.
                offer(alpha / -rate, i, Place::Idle);
            } else if rate > self.v(i) * (1.0 + FLAT) {
                // The bound moves too, at rate v: the coefficient must outrun it to reach it.
                offer((self.c * self.v(i) - alpha) / (rate - self.v(i)), i, Place::Bounded);
            }
        }
        // The scale of the terms that `along.f` is summed from: smaller rates are rounding errors of that sum.
        let size = self.pull.iter().fold(along.offset.abs(), |m, p| m.max(p.abs()));
        for i in 0..self.n {
            let (m, rate) = (self.y(i) * self.f[i] - 1.0, self.y(i) * along.f[i]);
            match self.place[i] {
                Place::Idle if rate < -FLAT * size => offer(m / -rate, i, Place::Free),
                Place::Bounded if rate > FLAT * size => offer(-m / rate, i, Place::Free),
                _ => {}
            }
        }
        first
    }

    /// Advances to the next breakpoint; false if the direction could not be computed.
    fn advance(&mut self) -> bool {
        let Some(along) = self.direction() else { return false };
        let event = self.next_event(&along);
        let left = self.params.c_max - self.c;
        let step = event.map_or(left, |e| e.step.min(left));
        // A piece of no length would be recorded again at the same C by the next event.
        if step > NONE * self.c {
            let moving = self.free.iter().zip(&along.beta).map(|(&i, q)| (i as u32, self.beta[i], *q));
            self.record(moving.collect(), along.offset);
        }
        for (&i, q) in self.free.iter().zip(&along.beta) {
            self.beta[i] += step * q;
        }
        self.f.iter_mut().zip(&along.f).for_each(|(f, r)| *f += step * r);
        self.offset += step * along.offset;
        // Not c + left, which may round to just below the end.
        self.c = if step < left { self.c + step } else { self.params.c_max };
        for i in 0..self.n {
            if self.place[i] == Place::Bounded {
                self.beta[i] = self.c * self.v(i) * self.y(i);
            }
        }
        if let Some(event) = event
            && event.step <= left
        {
            self.put(event.row, event.to);
        }
        true
    }

    /// Moves a row to a set.
    fn put(&mut self, row: usize, to: Place) {
        let was = self.place[row];
        let unit = self.v(row) * self.y(row);
        // `pull` sums over the rows at their bounds only: one column joins or leaves, whatever the other change is.
        let by = f64::from(u8::from(to == Place::Bounded)) - f64::from(u8::from(was == Place::Bounded));
        if by != 0.0 {
            // Taken out, because `apply` borrows all of `self` for the rows of K.
            let mut pull = std::mem::take(&mut self.pull);
            self.apply(&[(row, by * unit)], &mut pull);
            self.pull = pull;
        }
        if was == Place::Free {
            self.free.retain(|&i| i != row);
        }
        self.place[row] = to;
        match to {
            Place::Idle => self.beta[row] = 0.0,
            Place::Bounded => self.beta[row] = self.c * unit,
            Place::Free => self.free.push(row),
        }
    }

    /// The interval of offsets allowed at some C while no row is on the margin: the lines that bound it, with their
    /// slopes and rows.
    pub(super) fn bracket(&self, c: f64) -> [(f64, f64, usize); 2] {
        let mut low = (f64::NEG_INFINITY, 0.0, usize::MAX);
        let mut high = (f64::INFINITY, 0.0, usize::MAX);
        for i in 0..self.n {
            let line = self.y(i) - c * self.pull[i];
            // A positive row at its bound and a zero negative one must not have outputs above their margins.
            if (self.y(i) > 0.0) == (self.place[i] == Place::Bounded) {
                if line < high.0 {
                    high = (line, -self.pull[i], i);
                }
            } else if line > low.0 {
                low = (line, -self.pull[i], i);
            }
        }
        [low, high]
    }

    /// With no row on the margin, advances to the C where the interval of offsets closes, by Newton's method on its
    /// length, which is concave in C.
    fn cross_gap(&mut self) -> bool {
        let mut to = self.params.c_max;
        let [mut low, mut high] = self.bracket(to);
        let mut closed = false;
        for _ in 0..self.n + 10 {
            let gap = high.0 - low.0;
            if gap >= -1e-12 * high.0.abs().max(low.0.abs()).max(1.0) {
                break;
            }
            closed = true;
            let next = to - gap / (high.1 - low.1);
            // The lines that bound the interval at a larger C may not bound it here; those at the root do.
            if !(next >= self.c && next < to) {
                return false;
            }
            to = next;
            [low, high] = self.bracket(to);
        }
        if !(low.0.is_finite() && high.0.is_finite()) {
            return false;
        }
        // Any offset in the interval is optimal; its middle is furthest from both rows that bound it.
        let offset = f64::midpoint(low.0, high.0);
        let step = to - self.c;
        if step > NONE * self.c {
            self.record(Vec::new(), (offset - self.offset) / step);
        }
        self.c = to;
        for i in 0..self.n {
            if self.place[i] == Place::Bounded {
                self.beta[i] = to * self.v(i) * self.y(i);
            }
        }
        self.offset = offset;
        self.recompute();
        if closed {
            // Where the interval closes both of its rows meet the margin.
            self.put(low.2, Place::Free);
            self.put(high.2, Place::Free);
        }
        true
    }

    /// Solves the problem again at a slightly larger C.
    fn leap(&mut self, by: f64, watch: &mut Watch<'_>) -> Result<()> {
        let (c, beta, offset, place) = (self.c, self.beta.clone(), self.offset, self.place.clone());
        self.c = (self.c * (1.0 + by)).min(self.params.c_max);
        self.resolved += 1;
        // The coefficients may be wrong after a degenerate point, but a feasible start is all that is needed.
        self.beta.iter_mut().zip(self.problem.weights).for_each(|(b, v)| *b = b.clamp(-c * v, c * v));
        let sum = self.beta.iter().sum::<f64>();
        if sum.abs() > 1e-9 * self.mass().max(1e-300) {
            self.beta.fill(0.0);
        }
        self.solve(watch)?;
        let step = self.c - c;
        if step > NONE * c {
            let now = (self.c, self.offset, self.place.clone());
            // Rows that stay at 0 or at their bound need no slope: the piece knows them by their place.
            let stays = |i: usize| place[i] == now.2[i] && place[i] != Place::Free;
            let moving: Vec<(u32, f64, f64)> = (0..self.n)
                .filter(|&i| !stays(i))
                .map(|i| (i as u32, beta[i], (self.beta[i] - beta[i]) / step))
                .collect();
            // The piece begins at the old C, so it is recorded with the old state, which is exchanged again below.
            (self.c, self.place) = (c, place);
            let mass = beta.iter().map(|b| b.abs()).sum();
            let slope = (now.1 - offset) / step;
            self.offset = offset;
            self.record_with(moving, slope, mass);
            (self.c, self.offset, self.place) = now;
        }
        Ok(())
    }

    fn record(&mut self, moving: Vec<(u32, f64, f64)>, offset_slope: f64) {
        let mass = self.mass();
        self.record_with(moving, offset_slope, mass);
    }

    /// Starts a new piece here.
    fn record_with(&mut self, moving: Vec<(u32, f64, f64)>, offset_slope: f64, mass: f64) {
        let changes: Vec<(u32, Place)> = (0..self.n)
            .filter(|&i| self.place[i] != self.recorded[i])
            .map(|i| (i as u32, self.place[i]))
            .collect();
        self.recorded.copy_from_slice(&self.place);
        self.pieces.push(Piece { c: self.c, offset: self.offset, offset_slope, mass, moving, changes });
    }
}
