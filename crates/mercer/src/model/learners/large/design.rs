//! Values of training rows against centres, block by block: kept while they fit into the memory given, else computed in every
//! pass.

use crate::data::View;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::{self, Rows};
use crate::kernel::Kernel;
use crate::num::{Buffer, Real};
use crate::solve::large::{Design, Values, Visit};
use crate::watch::{Step, Watch};

/// Bytes of a block, at most.
const BLOCK: usize = 64 << 20;

/// Which numbers values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digits {
    Single,
    Double,
}

impl Digits {
    pub(super) fn bytes(self) -> usize {
        match self {
            Digits::Single => 4,
            Digits::Double => 8,
        }
    }

    pub(super) fn rounding(self) -> f64 {
        match self {
            Digits::Single => f64::from(f32::EPSILON),
            Digits::Double => f64::EPSILON,
        }
    }
}

enum Kept {
    Single(Buffer<f32>),
    Double(Buffer<f64>),
}

impl Kept {
    fn values(&self) -> Values<'_> {
        match self {
            Kept::Single(values) => Values::Single(values),
            Kept::Double(values) => Values::Double(values),
        }
    }
}

/// Where values come from.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    /// A kernel between points and centres.
    Points { kernel: &'a Kernel, points: View<'a>, centres: View<'a> },
    /// The columns of a matrix at the centres.
    Matrix { rows: &'a dyn Rows, centres: &'a [u32] },
}

/// The blocks.
pub(super) struct Blocks<'a> {
    from: From<'a>,
    rows: usize,
    centres: usize,
    digits: Digits,
    /// Rows of a block.
    high: usize,
    kept: Vec<Kept>,
    exec: Exec,
}

impl<'a> Blocks<'a> {
    /// Blocks of which those are kept that fit into `room` bytes.
    pub(super) fn new(
        from: From<'a>,
        digits: Digits,
        room: usize,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let (rows, centres) = match from {
            From::Points { points, centres, .. } => (points.n, centres.n),
            From::Matrix { rows, centres } => (rows.len(), centres.len()),
        };
        let line = centres * digits.bytes();
        let high = (BLOCK.min(room / 4) / line.max(1)).clamp(16, 8192).min(rows.max(1));
        let mut blocks = Blocks { from, rows, centres, digits, high, kept: Vec::new(), exec };
        let count = rows.div_ceil(high);
        // A matrix has its values at hand: they are copied once, whatever the room.
        let keep = match from {
            From::Matrix { .. } => count,
            From::Points { .. } => (room / (high * line).max(1)).min(count),
        };
        // One block alone gains nothing that computing it again would not.
        for b in 0..if keep == count { count } else { keep.saturating_sub(1) } {
            if watch(&Step::new("kernel values", b as u64, Some(keep as u64))).is_break() {
                return Err(Error::Cancelled);
            }
            let block = blocks.computed(b)?;
            blocks.kept.push(block);
        }
        Ok(blocks)
    }

    /// The share of rows whose values are kept.
    pub(super) fn kept(&self) -> f64 {
        ((self.kept.len() * self.high).min(self.rows)) as f64 / self.rows.max(1) as f64
    }

    fn computed(&self, block: usize) -> Result<Kept> {
        Ok(match self.digits {
            Digits::Single => Kept::Single(self.values(block)?),
            Digits::Double => Kept::Double(self.values(block)?),
        })
    }

    fn values<T: Real>(&self, block: usize) -> Result<Buffer<T>> {
        let run = block * self.high..self.rows.min((block + 1) * self.high);
        match self.from {
            From::Points { kernel, points, centres } => {
                gram::cross::<T>(kernel, points.slice(run), centres, self.exec)
            }
            From::Matrix { rows, centres } => {
                let m = centres.len();
                let mut out = Buffer::stale(run.len() * m);
                let mut line = vec![0.0; rows.len()];
                for (i, to) in run.zip(out.chunks_mut(m.max(1))) {
                    line.fill(0.0);
                    rows.apply(&[i as u32], &[1.0], &mut line, self.exec);
                    to.iter_mut().zip(centres).for_each(|(to, &c)| *to = T::of(line[c as usize]));
                }
                Ok(out)
            }
        }
    }

    /// The centres' own matrix.
    pub(super) fn own<T: Real>(&self) -> Result<Buffer<T>> {
        match self.from {
            From::Points { kernel, centres, .. } => gram::square::<T>(kernel, centres, self.exec),
            From::Matrix { rows, centres } => {
                let part = gram::exact(rows.subset(centres).as_ref(), self.exec);
                let mut out = Buffer::stale(part.len());
                out.iter_mut().zip(&part).for_each(|(o, v)| *o = T::of(*v));
                Ok(out)
            }
        }
    }
}

impl Design for Blocks<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn centres(&self) -> usize {
        self.centres
    }

    fn visit(&self, call: &mut Visit<'_>) -> Result<()> {
        for b in 0..self.rows.div_ceil(self.high) {
            match self.kept.get(b) {
                Some(kept) => call(b * self.high, kept.values())?,
                None => call(b * self.high, self.computed(b)?.values())?,
            }
        }
        Ok(())
    }
}
