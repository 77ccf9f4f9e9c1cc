//! Traversal of pairs of rows in any storage format.

use crate::data::Row;

/// A row, or a range of its columns. Columns are numbered from `base`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Span<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    Sparse {
        base: usize,
        d: usize,
        column: &'a [u32],
        value: &'a [f64],
    },
    /// Not numbers: sequences, row numbers.
    Other(Row<'a>),
}

impl<'a> Span<'a> {
    pub(super) fn of(row: Row<'a>) -> Self {
        match row {
            Row::F32(x) => Span::F32(x),
            Row::F64(x) => Span::F64(x),
            Row::Sparse { d, column, value } => Span::Sparse { base: 0, d, column, value },
            other => Span::Other(other),
        }
    }

    pub(super) fn len(self) -> usize {
        match self {
            Span::F32(x) => x.len(),
            Span::F64(x) => x.len(),
            Span::Sparse { d, .. } => d,
            Span::Other(_) => 0,
        }
    }

    /// The columns `from .. to`, clipped to those present.
    pub(super) fn columns(self, from: usize, to: usize) -> Self {
        let (from, to) = (from.min(self.len()), to.min(self.len()));
        match self {
            Span::F32(x) => Span::F32(&x[from..to.max(from)]),
            Span::F64(x) => Span::F64(&x[from..to.max(from)]),
            Span::Sparse { base, column, value, .. } => {
                let place = |c: usize| column.partition_point(|&have| (have as usize) < base + c);
                let run = place(from)..place(to.max(from));
                let d = to.max(from) - from;
                Span::Sparse { base: base + from, d, column: &column[run.clone()], value: &value[run] }
            }
            other @ Span::Other(_) => other,
        }
    }

    /// Dense values; empty for rows that are not numbers.
    pub(super) fn to_f64(self) -> Vec<f64> {
        let mut out = vec![0.0; self.len()];
        each(self, |i, v| out[i] = v);
        out
    }

    /// Passes this to `f` as a row; copies only a sparse row that was cut.
    pub(super) fn as_row<R>(self, f: impl FnOnce(Row<'_>) -> R) -> R {
        match self {
            Span::F32(x) => f(Row::F32(x)),
            Span::F64(x) => f(Row::F64(x)),
            Span::Sparse { base: 0, d, column, value } => f(Row::Sparse { d, column, value }),
            Span::Sparse { .. } => f(Row::F64(&self.to_f64())),
            Span::Other(row) => f(row),
        }
    }
}

/// The next entry of a row: its column, and its value.
struct Cursor<'a> {
    span: Span<'a>,
    at: usize,
}

impl Cursor<'_> {
    #[inline]
    fn peek(&self) -> Option<(usize, f64)> {
        match self.span {
            Span::F32(x) => x.get(self.at).map(|&v| (self.at, f64::from(v))),
            Span::F64(x) => x.get(self.at).map(|&v| (self.at, v)),
            Span::Sparse { base, column, value, .. } => {
                column.get(self.at).map(|&c| (c as usize - base, value[self.at]))
            }
            Span::Other(_) => None,
        }
    }
}

/// Calls `f(i, x_i)` for each stored entry.
pub(super) fn each(x: Span<'_>, mut f: impl FnMut(usize, f64)) {
    let mut x = Cursor { span: x, at: 0 };
    while let Some((i, v)) = x.peek() {
        f(i, v);
        x.at += 1;
    }
}

/// Calls `f(i, x_i, y_i)` for each column that is stored in x or in y; entries that are not stored are 0.
pub(super) fn pairs(x: Span<'_>, y: Span<'_>, mut f: impl FnMut(usize, f64, f64)) {
    match (x, y) {
        (Span::F64(x), Span::F64(y)) if x.len() == y.len() => {
            for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
                f(i, x, y);
            }
        }
        (Span::F32(x), Span::F32(y)) if x.len() == y.len() => {
            for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
                f(i, f64::from(x), f64::from(y));
            }
        }
        _ => {
            let (mut x, mut y) = (Cursor { span: x, at: 0 }, Cursor { span: y, at: 0 });
            loop {
                match (x.peek(), y.peek()) {
                    (Some((i, a)), Some((j, b))) if i == j => {
                        f(i, a, b);
                        x.at += 1;
                        y.at += 1;
                    }
                    (Some((i, a)), other) if other.is_none_or(|(j, _)| i < j) => {
                        f(i, a, 0.0);
                        x.at += 1;
                    }
                    (_, Some((j, b))) => {
                        f(j, 0.0, b);
                        y.at += 1;
                    }
                    _ => break,
                }
            }
        }
    }
}

/// Whether both rows are numbers.
pub(super) fn numbers(x: Span<'_>, y: Span<'_>) -> bool {
    !matches!(x, Span::Other(_)) && !matches!(y, Span::Other(_))
}

/// `x . y`
pub(super) fn dot(x: Span<'_>, y: Span<'_>) -> f64 {
    let mut sum = if numbers(x, y) { 0.0 } else { f64::NAN };
    pairs(x, y, |_, x, y| sum += x * y);
    sum
}

/// `|x - y|^2`
pub(super) fn distance2(x: Span<'_>, y: Span<'_>) -> f64 {
    let mut sum = if numbers(x, y) { 0.0 } else { f64::NAN };
    pairs(x, y, |_, x, y| sum += (x - y) * (x - y));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_rows_are_walked_in_step() {
        let x = Span::Sparse { base: 0, d: 5, column: &[1, 4], value: &[2.0, 3.0] };
        let y = Span::F32(&[1.0, 1.0, 0.0, 0.0, 2.0]);
        assert_eq!(dot(x, y), 8.0);
        assert_eq!(distance2(x, y), 1.0 + 1.0 + 1.0);
        assert_eq!(dot(x.columns(1, 3), y.columns(1, 3)), 2.0);
        assert_eq!(dot(x.columns(2, 5).columns(1, 3), y.columns(3, 5)), 6.0);
        assert_eq!(x.columns(3, 5).to_f64(), [0.0, 3.0]);
        assert_eq!(dot(x.columns(9, 12), y.columns(9, 12)), 0.0);
        assert!(dot(x, Span::Other(Row::Number(3))).is_nan());
    }
}
