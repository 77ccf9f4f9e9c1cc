//! Values of training rows against centres, block by block: kept while they fit into the memory budget, otherwise
//! recomputed in every pass. Rows are points in memory, those of a matrix, or read from a source.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::data::View;
use crate::data::io::Source;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::{self, Columns, Rows};
use crate::kernel::Kernel;
use crate::num::{Buffer, Real};
use crate::solve::large::{Block, Design, Values, Visit, piece};
use crate::watch::{Step, Watch};

/// Maximum size of a block in bytes.
const BLOCK: usize = 64 << 20;

/// Approximate size of a run of values in bytes.
const RUN: usize = 4 << 20;

/// The floating-point type of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model::learners) enum Digits {
    Single,
    Double,
}

impl Digits {
    pub(in crate::model::learners) fn bytes(self) -> usize {
        match self {
            Digits::Single => 4,
            Digits::Double => 8,
        }
    }

    pub(in crate::model::learners) fn rounding(self) -> f64 {
        match self {
            Digits::Single => f64::from(f32::EPSILON),
            Digits::Double => f64::EPSILON,
        }
    }
}

pub(in crate::model::learners) enum Kept {
    Single(Buffer<f32>),
    Double(Buffer<f64>),
}

impl Kept {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Kept::Single(values) => 4 * values.len(),
            Kept::Double(values) => 8 * values.len(),
        }
    }

    fn values(&self) -> Values<'_> {
        match self {
            Kept::Single(values) => Values::Single(values),
            Kept::Double(values) => Values::Double(values),
        }
    }
}

/// The values of a block, and the targets of a source.
pub(in crate::model::learners) type Computed = (Kept, Vec<f64>);

/// Source of the values.
#[derive(Clone, Copy)]
pub(in crate::model::learners) enum From<'a> {
    /// A kernel between points and centres.
    Points { kernel: &'a Kernel, points: View<'a>, centres: View<'a> },
    /// The columns of a matrix at the centres.
    Matrix { rows: &'a dyn Rows, centres: &'a [u32] },
    /// A kernel between rows that are read, with their targets if these are needed, and centres.
    Source { kernel: &'a Kernel, source: &'a dyn Source, centres: View<'a>, labelled: bool },
}

impl From<'_> {
    fn size(&self) -> (usize, usize) {
        match self {
            From::Points { points, centres, .. } => (points.n, centres.n),
            From::Matrix { rows, centres } => (rows.len(), centres.len()),
            From::Source { source, centres, .. } => (source.rows(), centres.n),
        }
    }
}

/// Centres prepared for products, in the type of the values.
enum Ready<'a> {
    Single(Columns<'a, f32>),
    Double(Columns<'a, f64>),
    /// A matrix contains its values.
    None,
}

/// The blocks.
pub(in crate::model::learners) struct Blocks<'a> {
    from: From<'a>,
    ready: Ready<'a>,
    /// The targets of each row; empty if the source has them.
    targets: &'a [f64],
    weight: &'a [f64],
    rows: usize,
    centres: usize,
    digits: Digits,
    /// Rows of a block.
    high: usize,
    kept: Arc<Vec<Computed>>,
    exec: Exec,
}

impl<'a> Blocks<'a> {
    /// Blocks, of which those that fit into `room` bytes are kept.
    pub(in crate::model::learners) fn new(
        from: From<'a>,
        about: (&'a [f64], &'a [f64]),
        digits: Digits,
        room: usize,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let mut blocks = Self::again(from, about, digits, room, Arc::default(), exec)?;
        let count = blocks.rows.div_ceil(blocks.high);
        // The values of a matrix are available: they are copied once, whatever the budget.
        let keep = match from {
            From::Matrix { .. } => count,
            From::Points { .. } | From::Source { .. } => {
                (room / (blocks.high * (blocks.centres * digits.bytes() + 8)).max(1)).min(count)
            }
        };
        let mut kept = Vec::new();
        // If not all blocks fit, the room of one is left for those that every pass computes.
        for b in 0..if keep == count { count } else { keep.saturating_sub(1) } {
            if watch(&Step::new("kernel values", b as u64, Some(keep as u64))).is_break() {
                return Err(Error::Cancelled);
            }
            kept.push(blocks.computed(b)?);
        }
        blocks.kept = Arc::new(kept);
        Ok(blocks)
    }

    /// Blocks that reuse those kept by others with the same arguments.
    pub(super) fn again(
        from: From<'a>,
        (targets, weight): (&'a [f64], &'a [f64]),
        digits: Digits,
        room: usize,
        kept: Arc<Vec<Computed>>,
        exec: Exec,
    ) -> Result<Self> {
        let (rows, centres) = from.size();
        let line = centres * digits.bytes();
        // Rows read from a source need memory besides the values.
        let read = if let From::Source { source, .. } = from { source.columns() * 16 + 16 } else { 0 };
        let step = run_of(centres, digits);
        let high = BLOCK.min(room / 4) / (line + read).max(1) / step * step;
        let high = high.clamp(step, 8192);
        let ready = match (from, digits) {
            (From::Matrix { .. }, _) => Ready::None,
            (From::Points { kernel, centres, .. } | From::Source { kernel, centres, .. }, Digits::Single) => {
                Ready::Single(Columns::new(kernel, centres, exec)?)
            }
            (From::Points { kernel, centres, .. } | From::Source { kernel, centres, .. }, Digits::Double) => {
                Ready::Double(Columns::new(kernel, centres, exec)?)
            }
        };
        Ok(Blocks { from, ready, targets, weight, rows, centres, digits, high, kept, exec })
    }

    /// The values that are kept.
    pub(super) fn into_kept(self) -> Arc<Vec<Computed>> {
        self.kept
    }

    /// The share of rows whose values are kept.
    pub(super) fn kept(&self) -> f64 {
        ((self.kept.len() * self.high).min(self.rows)) as f64 / self.rows.max(1) as f64
    }

    fn run(&self, block: usize) -> Range<usize> {
        block * self.high..self.rows.min((block + 1) * self.high)
    }

    fn computed(&self, block: usize) -> Result<Computed> {
        let run = self.run(block);
        let step = run_of(self.centres, self.digits);
        let ready = |rows: View<'_>| {
            Ok::<_, Error>(match &self.ready {
                Ready::Single(columns) => Kept::Single(columns.cross(rows, step, self.exec)?),
                Ready::Double(columns) => Kept::Double(columns.cross(rows, step, self.exec)?),
                Ready::None => Kept::Double(Buffer::stale(0)),
            })
        };
        match self.from {
            From::Points { points, .. } => Ok((ready(points.slice(run))?, Vec::new())),
            From::Matrix { rows, centres } => {
                let kept = match self.digits {
                    Digits::Single => Kept::Single(copied(rows, centres, run, self.exec)),
                    Digits::Double => Kept::Double(copied(rows, centres, run, self.exec)),
                };
                Ok((kept, Vec::new()))
            }
            From::Source { source, labelled, .. } => {
                let (points, targets) = source.read(run.clone())?;
                if points.len() != run.len() || labelled && targets.len() != run.len() {
                    let got = format!("{} rows and {} targets", points.len(), targets.len());
                    return Err(Error::shape("a block of the source", got, format!("{} of each", run.len())));
                }
                Ok((ready(points.view())?, if labelled { targets } else { Vec::new() }))
            }
        }
    }

    /// The centres' own matrix, where the rows are those of a matrix.
    pub(super) fn own_of_matrix<T: Real>(&self) -> Option<Buffer<T>> {
        let From::Matrix { rows, centres } = self.from else { return None };
        let part = gram::exact(rows.subset(centres).as_ref(), self.exec);
        let mut out = Buffer::stale(part.len());
        out.iter_mut().zip(&part).for_each(|(o, v)| *o = T::of(*v));
        Some(out)
    }
}

/// Number of rows whose values are computed together on one thread: whole pieces, for any number of blocks and
/// threads.
fn run_of(centres: usize, digits: Digits) -> usize {
    let line = (centres * digits.bytes()).max(1);
    let most = 1 << (RUN / line).clamp(1, 1024).ilog2();
    piece(centres, digits.bytes()).max(most)
}

/// Values of a matrix at its centres.
fn copied<T: Real>(rows: &dyn Rows, centres: &[u32], run: Range<usize>, exec: Exec) -> Buffer<T> {
    let m = centres.len();
    let mut out = Buffer::stale(run.len() * m);
    let mut line = vec![0.0; rows.len()];
    for (i, to) in run.zip(out.chunks_mut(m.max(1))) {
        line.fill(0.0);
        rows.apply(&[i as u32], &[1.0], &mut line, exec);
        to.iter_mut().zip(centres).for_each(|(to, &c)| *to = T::of(line[c as usize]));
    }
    out
}

impl Design for Blocks<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn centres(&self) -> usize {
        self.centres
    }

    fn visit(&self, call: &mut Visit<'_>) -> Result<()> {
        let wide = self.targets.len() / self.rows.max(1);
        for b in 0..self.rows.div_ceil(self.high) {
            let run = self.run(b);
            let fresh;
            let (values, read): (&Kept, Cow<'_, [f64]>) = if let Some((values, targets)) = self.kept.get(b) {
                (values, Cow::Borrowed(targets))
            } else {
                fresh = self.computed(b)?;
                (&fresh.0, Cow::Borrowed(&fresh.1))
            };
            call(&Block {
                first: run.start,
                values: values.values(),
                targets: if read.is_empty() {
                    &self.targets[run.start * wide..run.end * wide]
                } else {
                    &read
                },
                weight: self.weight.get(run).unwrap_or_default(),
            })?;
        }
        Ok(())
    }
}
