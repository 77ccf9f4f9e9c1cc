//! Points: n rows of one kind behind one type, with a view that is cheap to copy.
//!
//! Dense rows in f32 or f64, compressed sparse rows, sequences of symbols, row numbers of a precomputed matrix, or a
//! table of columns that are not all numbers.
//! Image shape travels along as metadata. No other crate's array type appears here.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::table::Table;
use super::values::Values;
use crate::error::{Error, Result};
use crate::exec::{Exec, half_of_ram, room_for_table};
use crate::num::Lent;

/// Height, width and channels of rows that are images, stored row by row (channel last).
///
/// ```
/// use mercer::prelude::*;
/// let digits = Points::dense(vec![0.0; 2 * 64], 64)?.with_image(ImageShape::grey(8, 8))?;
/// assert_eq!(digits.len(), 2);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageShape {
    /// Rows of pixels.
    pub height: usize,
    /// Columns of pixels.
    pub width: usize,
    /// Values a pixel.
    pub channels: usize,
}

impl ImageShape {
    /// An image of one value a pixel.
    pub fn grey(height: usize, width: usize) -> Self {
        ImageShape { height, width, channels: 1 }
    }

    /// Values an image.
    pub fn len(self) -> usize {
        // Sizes come from files and command lines: one that overflows fits no row.
        self.height.saturating_mul(self.width).saturating_mul(self.channels)
    }

    /// Whether there is no pixel.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Columns of sparse points are numbered in 32 bits.
const MOST_COLUMNS: usize = 1 << 32;

/// Compressed sparse rows; column numbers rise within a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Csr {
    /// `start[i] .. start[i + 1]` are row i's entries; n + 1 numbers.
    pub start: Vec<usize>,
    /// Column of each entry.
    pub column: Vec<u32>,
    /// Value of each entry.
    pub value: Vec<f64>,
}

/// Sequences of symbols over an alphabet, not necessarily of one length.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequences {
    /// The letters; a symbol is a letter's place in here.
    pub alphabet: Vec<u8>,
    /// `start[i] .. start[i + 1]` are row i's symbols; n + 1 numbers.
    pub start: Vec<usize>,
    /// The symbols.
    pub symbol: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq)]
enum Store {
    F32(Values<f32>),
    F64(Values<f64>),
    Csr(Csr),
    Sequences(Sequences),
    RowNumbers(Vec<u32>),
    Table(Table),
}

/// n points.
///
/// ```
/// use mercer::prelude::*;
/// let points = Points::dense(vec![1.0, 2.0, 3.0, 4.0], 2)?; // two rows of two columns
/// assert_eq!((points.len(), points.dim()), (2, 2));
/// assert_eq!(points.row(1).to_f64(), [3.0, 4.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    n: usize,
    d: usize,
    store: Store,
    image: Option<ImageShape>,
}

/// A borrowed run of rows; cheap to copy.
///
/// ```
/// use mercer::prelude::*;
/// let points = Points::dense(vec![1.0, 2.0, 3.0], 1)?;
/// let view: View<'_> = points.view();
/// assert_eq!(view.to_f64()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Number of rows.
    pub n: usize,
    /// Number of columns (for sequences, the longest length; for row numbers, 1).
    pub d: usize,
    /// The rows.
    pub data: Data<'a>,
    /// Shape of a row, where rows are images.
    pub image: Option<ImageShape>,
}

/// What a view looks at.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Dense rows, one after the other.
    F32(&'a [f32]),
    /// Dense rows, one after the other.
    F64(&'a [f64]),
    /// Sparse rows. `start` has n + 1 numbers, which point into the whole `column` and `value`.
    Csr {
        /// Row starts.
        start: &'a [usize],
        /// Columns of all entries.
        column: &'a [u32],
        /// Values of all entries.
        value: &'a [f64],
    },
    /// Sequences. `start` has n + 1 numbers, which point into the whole `symbol`.
    Sequences {
        /// The letters.
        alphabet: &'a [u8],
        /// Row starts.
        start: &'a [usize],
        /// All symbols.
        symbol: &'a [u8],
    },
    /// Row numbers of a precomputed matrix.
    RowNumbers(&'a [u32]),
    /// A table: the rows from `first` on. No kernel takes it; the stage `table` makes numbers of it.
    Table {
        /// The whole table.
        table: &'a Table,
        /// The first row of the view.
        first: usize,
    },
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// A dense row.
    F32(&'a [f32]),
    /// A dense row.
    F64(&'a [f64]),
    /// A sparse row: columns rise.
    Sparse {
        /// Number of columns of the whole set.
        d: usize,
        /// Columns.
        column: &'a [u32],
        /// Values.
        value: &'a [f64],
    },
    /// A sequence.
    Sequence(&'a [u8]),
    /// A row number of a precomputed matrix.
    Number(u32),
    /// A row of a table.
    Cells {
        /// The whole table.
        table: &'a Table,
        /// The row's number in it.
        row: usize,
    },
}

impl Points {
    /// Dense f64 points from n*d values, row by row.
    pub fn dense(values: Vec<f64>, d: usize) -> Result<Self> {
        let n = rows_of(values.len(), d)?;
        Ok(Points { n, d, store: Store::F64(values.into()), image: None })
    }

    /// Dense f32 points from n*d values, row by row.
    pub fn dense_f32(values: Vec<f32>, d: usize) -> Result<Self> {
        let n = rows_of(values.len(), d)?;
        Ok(Points { n, d, store: Store::F32(values.into()), image: None })
    }

    /// Dense f64 points from n*d values that somebody lends: see [`lend`](crate::num::lend). Copies of the points hold values
    /// of their own.
    pub fn lent(values: Lent<f64>, d: usize) -> Result<Self> {
        let n = rows_of(values.len(), d)?;
        Ok(Points { n, d, store: Store::F64(Values::Lent(values)), image: None })
    }

    /// Dense f32 points from n*d values that somebody lends.
    pub fn lent_f32(values: Lent<f32>, d: usize) -> Result<Self> {
        let n = rows_of(values.len(), d)?;
        Ok(Points { n, d, store: Store::F32(Values::Lent(values)), image: None })
    }

    /// Sparse points with d columns. Row starts must rise, columns must rise within a row and lie below d.
    pub fn sparse(csr: Csr, d: usize) -> Result<Self> {
        let n = starts_ok(&csr.start, csr.column.len())?;
        if d > MOST_COLUMNS {
            return Err(Error::shape("columns of sparse points", d, format!("at most {MOST_COLUMNS}")));
        }
        if csr.value.len() != csr.column.len() {
            return Err(Error::shape("sparse values", csr.value.len(), csr.column.len()));
        }
        for row in csr.start.windows(2) {
            let columns = &csr.column[row[0]..row[1]];
            if columns.windows(2).any(|c| c[0] >= c[1]) || columns.last().is_some_and(|&c| c as usize >= d) {
                return Err(Error::shape(
                    "sparse columns",
                    "unsorted or too large ones",
                    format!("increasing numbers below {d}"),
                ));
            }
        }
        Ok(Points { n, d, store: Store::Csr(csr), image: None })
    }

    /// Sequences of symbols.
    pub fn sequences(sequences: Sequences) -> Result<Self> {
        let n = starts_ok(&sequences.start, sequences.symbol.len())?;
        if let Some(&s) = sequences.symbol.iter().find(|&&s| s as usize >= sequences.alphabet.len()) {
            return Err(Error::shape(
                "symbol",
                s,
                format!("a place in an alphabet of {}", sequences.alphabet.len()),
            ));
        }
        let d = sequences.start.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        Ok(Points { n, d, store: Store::Sequences(sequences), image: None })
    }

    /// Row numbers of a precomputed kernel matrix.
    pub fn row_numbers(numbers: Vec<u32>) -> Self {
        Points { n: numbers.len(), d: 1, store: Store::RowNumbers(numbers), image: None }
    }

    /// A table of columns that are not all numbers. Stage `table` makes numbers of it.
    pub fn table(table: Table) -> Self {
        Points { n: table.rows(), d: table.columns().len(), store: Store::Table(table), image: None }
    }

    /// The table, where the points are one.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.store {
            Store::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The same points, each an image of this shape.
    pub fn with_image(mut self, shape: ImageShape) -> Result<Self> {
        if shape.len() != self.d {
            let got = format!("{} x {} x {}", shape.height, shape.width, shape.channels);
            return Err(Error::shape("image shape", got, format!("{} values", self.d)));
        }
        self.image = Some(shape);
        Ok(self)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Number of columns (for sequences, the longest length).
    pub fn dim(&self) -> usize {
        self.d
    }

    /// Shape of a row, where rows are images.
    pub fn image(&self) -> Option<ImageShape> {
        self.image
    }

    /// All rows.
    pub fn view(&self) -> View<'_> {
        let data = match &self.store {
            Store::F32(x) => Data::F32(x),
            Store::F64(x) => Data::F64(x),
            Store::Csr(c) => Data::Csr { start: &c.start, column: &c.column, value: &c.value },
            Store::Sequences(s) => {
                Data::Sequences { alphabet: &s.alphabet, start: &s.start, symbol: &s.symbol }
            }
            Store::RowNumbers(r) => Data::RowNumbers(r),
            Store::Table(table) => Data::Table { table, first: 0 },
        };
        View { n: self.n, d: self.d, data, image: self.image }
    }

    /// One row.
    pub fn row(&self, i: usize) -> Row<'_> {
        self.view().row(i)
    }

    /// Copies of some rows, in the order asked.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Self {
        self.view().gather(rows)
    }

    /// These rows, then the other's. Both must be of one kind and width; dense rows in f32 and in f64 together are f64.
    pub fn concat(&self, other: &Points) -> Result<Self> {
        let (Points { n, d, .. }, m) = (self, other.n);
        let same_width = matches!(self.store, Store::Sequences(_)) || *d == other.d;
        if !same_width {
            return Err(Error::columns("columns of the points to append", other.d, d));
        }
        let store = match (&self.store, &other.store) {
            (Store::F32(a), Store::F32(b)) => Store::F32([&**a, &**b].concat().into()),
            (Store::F64(a), Store::F64(b)) => Store::F64([&**a, &**b].concat().into()),
            (Store::F32(a), Store::F64(b)) => {
                Store::F64(Values::Own(a.iter().copied().map(f64::from).chain(b.iter().copied()).collect()))
            }
            (Store::F64(a), Store::F32(b)) => {
                Store::F64(Values::Own(a.iter().copied().chain(b.iter().copied().map(f64::from)).collect()))
            }
            (Store::RowNumbers(a), Store::RowNumbers(b)) => Store::RowNumbers([a.as_slice(), b].concat()),
            (Store::Csr(a), Store::Csr(b)) => Store::Csr(Csr {
                start: joined(&a.start, &b.start),
                column: [a.column.as_slice(), &b.column].concat(),
                value: [a.value.as_slice(), &b.value].concat(),
            }),
            (Store::Sequences(a), Store::Sequences(b)) if a.alphabet == b.alphabet => {
                Store::Sequences(Sequences {
                    alphabet: a.alphabet.clone(),
                    start: joined(&a.start, &b.start),
                    symbol: [a.symbol.as_slice(), &b.symbol].concat(),
                })
            }
            (Store::Table(a), Store::Table(b)) => Store::Table(a.concat(b)?),
            _ => return Err(Error::shape("points to append", other.kind(), self.kind())),
        };
        let image = if self.image == other.image { self.image } else { None };
        Ok(Points { n: n + m, d: (*d).max(other.d), store, image })
    }

    /// The same numbers as dense f64. Fails for sequences, row numbers and tables.
    pub fn to_dense(&self) -> Result<Self> {
        let values = self.view().to_f64()?;
        Ok(Points { n: self.n, d: self.d, store: Store::F64(values.into()), image: self.image })
    }

    /// What the rows are, in words.
    pub fn kind(&self) -> &'static str {
        self.view().kind()
    }

    /// The first row and column (from 0) that hold a NaN or an infinity.
    pub fn first_not_finite(&self) -> Option<(usize, usize)> {
        self.first_not_finite_on(Exec::one())
    }

    /// The same on several threads.
    pub(crate) fn first_not_finite_on(&self, exec: Exec) -> Option<(usize, usize)> {
        match &self.store {
            Store::F32(x) => first(x, exec, |v| !v.is_finite()).map(|p| (p / self.d, p % self.d)),
            Store::F64(x) => first(x, exec, |v| !v.is_finite()).map(|p| (p / self.d, p % self.d)),
            Store::Csr(c) => first(&c.value, exec, |v| !v.is_finite())
                .map(|p| (c.start.partition_point(|&s| s <= p) - 1, c.column[p] as usize)),
            // Missing values of a table are no numbers that went wrong.
            Store::Sequences(_) | Store::RowNumbers(_) | Store::Table(_) => None,
        }
    }
}

/// The first value that is wanted. Nearly always there is none, so whole pieces are looked at without a branch.
fn first<T: Copy + Sync>(x: &[T], exec: Exec, wanted: impl Fn(T) -> bool + Sync) -> Option<usize> {
    const LOOK: usize = 1 << 14;
    let holds = |piece: &[T]| piece.iter().fold(false, |any, &v| any | wanted(v));
    let piece = if exec.threads() == 1 || x.len() < MANY_VALUES {
        x.chunks(LOOK).position(holds)
    } else {
        x.par_chunks(LOOK).position_first(holds)
    }?;
    x[piece * LOOK..].iter().position(|&v| wanted(v)).map(|p| piece * LOOK + p)
}

impl<'a> View<'a> {
    /// One row.
    pub fn row(&self, i: usize) -> Row<'a> {
        assert!(i < self.n, "row {i} of {}", self.n);
        let d = self.d;
        match self.data {
            Data::F32(x) => Row::F32(&x[i * d..(i + 1) * d]),
            Data::F64(x) => Row::F64(&x[i * d..(i + 1) * d]),
            Data::Csr { start, column, value } => {
                let r = start[i]..start[i + 1];
                Row::Sparse { d, column: &column[r.clone()], value: &value[r] }
            }
            Data::Sequences { start, symbol, .. } => Row::Sequence(&symbol[start[i]..start[i + 1]]),
            Data::RowNumbers(r) => Row::Number(r[i]),
            Data::Table { table, first } => Row::Cells { table, row: first + i },
        }
    }

    /// A run of rows.
    #[must_use]
    pub fn slice(&self, rows: std::ops::Range<usize>) -> View<'a> {
        assert!(rows.start <= rows.end && rows.end <= self.n, "rows {rows:?} of {}", self.n);
        let d = self.d;
        let data = match self.data {
            Data::F32(x) => Data::F32(&x[rows.start * d..rows.end * d]),
            Data::F64(x) => Data::F64(&x[rows.start * d..rows.end * d]),
            Data::Csr { start, column, value } => {
                Data::Csr { start: &start[rows.start..=rows.end], column, value }
            }
            Data::Sequences { alphabet, start, symbol } => {
                Data::Sequences { alphabet, start: &start[rows.start..=rows.end], symbol }
            }
            Data::RowNumbers(r) => Data::RowNumbers(&r[rows.clone()]),
            Data::Table { table, first } => Data::Table { table, first: first + rows.start },
        };
        View { n: rows.len(), data, ..*self }
    }

    /// Copies of some rows, in the order asked.
    pub fn gather(&self, rows: &[usize]) -> Points {
        let d = self.d;
        let store = match self.data {
            Data::F32(x) => Store::F32(gathered(rows, x, d).into()),
            Data::F64(x) => Store::F64(gathered(rows, x, d).into()),
            Data::Csr { start, column, value } => {
                let pick = |i: usize| start[i]..start[i + 1];
                Store::Csr(Csr {
                    start: starts(rows.iter().map(|&i| start[i + 1] - start[i])),
                    column: rows.iter().flat_map(|&i| &column[pick(i)]).copied().collect(),
                    value: rows.iter().flat_map(|&i| &value[pick(i)]).copied().collect(),
                })
            }
            Data::Sequences { alphabet, start, symbol } => Store::Sequences(Sequences {
                alphabet: alphabet.to_vec(),
                start: starts(rows.iter().map(|&i| start[i + 1] - start[i])),
                symbol: rows.iter().flat_map(|&i| &symbol[start[i]..start[i + 1]]).copied().collect(),
            }),
            Data::RowNumbers(r) => Store::RowNumbers(rows.iter().map(|&i| r[i]).collect()),
            Data::Table { table, first } => Store::Table(table.gather(&rows.iter().map(|i| first + i))),
        };
        Points { n: rows.len(), d, store, image: self.image }
    }

    /// The same on several threads: for many dense rows.
    pub(crate) fn gather_on(&self, rows: &[usize], exec: Exec) -> Points {
        let d = self.d;
        if exec.threads() == 1 || rows.len().saturating_mul(d) < MANY_VALUES {
            return self.gather(rows);
        }
        let store = match self.data {
            Data::F32(x) => Store::F32(gathered_on_threads(rows, x, d).into()),
            Data::F64(x) => Store::F64(gathered_on_threads(rows, x, d).into()),
            _ => return self.gather(rows),
        };
        Points { n: rows.len(), d, store, image: self.image }
    }

    /// Whether the rows are numbers, dense or sparse.
    pub fn is_numbers(&self) -> bool {
        matches!(self.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. })
    }

    /// Bytes that the rows take.
    pub(crate) fn bytes(&self) -> usize {
        match self.data {
            Data::F32(x) => size_of_val(x),
            Data::F64(x) => size_of_val(x),
            Data::Csr { start, .. } => 12 * (start[self.n] - start[0]) + 8 * (self.n + 1),
            Data::Sequences { start, .. } => start[self.n] - start[0] + 8 * (self.n + 1),
            Data::RowNumbers(r) => size_of_val(r),
            Data::Table { table, .. } => table.bytes(self.n),
        }
    }

    /// All values as dense f64, row by row. Fails for sequences, row numbers and tables, and where sparse rows would need more
    /// than half of the memory: see [`room`](crate::exec::room).
    pub fn to_f64(&self) -> Result<Vec<f64>> {
        self.to_f64_within(half_of_ram() as u64)
    }

    /// The same within a memory budget in bytes.
    pub fn to_f64_within(&self, memory: u64) -> Result<Vec<f64>> {
        match self.data {
            Data::F32(x) => Ok(x.iter().map(|&v| f64::from(v)).collect()),
            Data::F64(x) => Ok(x.to_vec()),
            Data::Csr { start, column, value } => {
                room_for_table("a dense copy of sparse rows", self.n, self.d, self.bytes(), memory)?;
                let mut out = vec![0.0; self.n * self.d];
                for i in 0..self.n {
                    for p in start[i]..start[i + 1] {
                        out[i * self.d + column[p] as usize] = value[p];
                    }
                }
                Ok(out)
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {
                Err(Error::shape("points", self.kind(), "rows of numbers"))
            }
        }
    }

    /// What the rows are, in words.
    pub fn kind(&self) -> &'static str {
        match self.data {
            Data::F32(_) => "dense f32",
            Data::F64(_) => "dense f64",
            Data::Csr { .. } => "sparse",
            Data::Sequences { .. } => "sequences",
            Data::RowNumbers(_) => "row numbers of a precomputed matrix",
            Data::Table { .. } => "table",
        }
    }
}

impl Row<'_> {
    /// The row as dense f64 values. Empty for sequences, row numbers and tables.
    pub fn to_f64(&self) -> Vec<f64> {
        match *self {
            Row::F32(x) => x.iter().map(|&v| f64::from(v)).collect(),
            Row::F64(x) => x.to_vec(),
            Row::Sparse { d, column, value } => {
                let mut out = vec![0.0; d];
                for (&c, &v) in column.iter().zip(value) {
                    out[c as usize] = v;
                }
                out
            }
            Row::Sequence(_) | Row::Number(_) | Row::Cells { .. } => Vec::new(),
        }
    }
}

impl<'a> From<&'a Points> for View<'a> {
    fn from(points: &'a Points) -> Self {
        points.view()
    }
}

fn rows_of(len: usize, d: usize) -> Result<usize> {
    if d == 0 || !len.is_multiple_of(d) {
        return Err(Error::shape("values", len, format!("a multiple of {d} columns, at least one column")));
    }
    Ok(len / d)
}

fn starts_ok(start: &[usize], len: usize) -> Result<usize> {
    let rising = start.windows(2).all(|w| w[0] <= w[1]);
    if !rising || start.first() != Some(&0) || start.last() != Some(&len) {
        return Err(Error::shape("row starts", "others", format!("increasing numbers from 0 to {len}")));
    }
    Ok(start.len() - 1)
}

fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut at = 0;
    std::iter::once(0)
        .chain(lengths.map(|len| {
            at += len;
            at
        }))
        .collect()
}

fn joined(a: &[usize], b: &[usize]) -> Vec<usize> {
    let end = *a.last().unwrap_or(&0);
    a.iter().copied().chain(b.iter().skip(1).map(|s| s + end)).collect()
}

/// Rows of d values, one after the other: copied as wholes, which is several times as fast as value by value.
fn gathered<T: Copy>(rows: &[usize], x: &[T], d: usize) -> Vec<T> {
    let mut out = Vec::with_capacity(rows.len() * d);
    rows.iter().for_each(|&i| out.extend_from_slice(&x[i * d..(i + 1) * d]));
    out
}

/// Number of values from which rows are copied on several threads, and number of rows that each copies at a time.
const MANY_VALUES: usize = 1 << 18;
const PIECE: usize = 64;

fn gathered_on_threads<T: Copy + Default + Send + Sync>(rows: &[usize], x: &[T], d: usize) -> Vec<T> {
    let mut out = vec![T::default(); rows.len() * d];
    out.par_chunks_mut(PIECE * d).zip(rows.par_chunks(PIECE)).for_each(|(out, rows)| {
        for (out, &i) in out.chunks_mut(d).zip(rows) {
            out.copy_from_slice(&x[i * d..(i + 1) * d]);
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_that_is_not_finite_is_found_wherever_it_is() {
        let clean = vec![0.5; 300_000];
        for at in [0, 1, 16_383, 16_384, 262_143, 299_999] {
            let mut x = clean.clone();
            (x[at], x[299_999]) = (f64::NAN, f64::INFINITY);
            let points = Points::dense(x, 3).expect("whole rows");
            for exec in [Exec::one(), Exec::new(3)] {
                assert_eq!(points.first_not_finite_on(exec), Some((at / 3, at % 3)), "{at}");
            }
        }
        let points = Points::dense(clean, 3).expect("whole rows");
        assert_eq!(points.first_not_finite_on(Exec::new(3)), None);
        assert_eq!(points.first_not_finite(), None);
    }

    #[test]
    fn rows_copied_on_threads_are_those_copied_on_one() {
        let x: Vec<f32> = (0..5000 * 60).map(|i| i as f32).collect();
        let points = Points::dense_f32(x, 60).expect("whole rows");
        let rows: Vec<usize> = (0..5000).map(|i| (i * 7 + 3) % 5000).collect();
        let (one, many) = (points.gather(&rows), points.view().gather_on(&rows, Exec::new(3)));
        assert_eq!(one, many);
        assert_eq!(sparse().view().gather_on(&[2, 0], Exec::new(3)), sparse().gather(&[2, 0]));
    }

    fn sparse() -> Points {
        let csr = Csr { start: vec![0, 2, 2, 3], column: vec![0, 3, 1], value: vec![1.0, 2.0, 3.0] };
        Points::sparse(csr, 4).expect("valid rows")
    }

    #[test]
    fn gather_slice_and_concat_agree_with_dense() {
        let points = sparse();
        let dense = points.to_dense().expect("numbers");
        let rows = [2, 0, 0];
        assert_eq!(points.gather(&rows).to_dense().expect("numbers"), dense.gather(&rows));
        assert_eq!(
            points.view().slice(1..3).to_f64().expect("numbers"),
            dense.view().slice(1..3).to_f64().expect("numbers")
        );
        let twice = points.concat(&points.gather(&[2])).expect("one kind");
        assert_eq!(twice.to_dense().expect("numbers"), dense.concat(&dense.gather(&[2])).expect("one kind"));
    }

    #[test]
    fn dense_rows_of_both_precisions_are_joined_in_the_finer_one() {
        let single = Points::dense_f32(vec![0.5, 1.0], 2).expect("one row");
        let double = Points::dense(vec![0.1, 0.2], 2).expect("one row");
        for (a, b, all) in
            [(&single, &double, [0.5, 1.0, 0.1, 0.2]), (&double, &single, [0.1, 0.2, 0.5, 1.0])]
        {
            assert_eq!(a.concat(b).expect("dense rows"), Points::dense(all.to_vec(), 2).expect("two rows"));
        }
    }

    #[test]
    fn bad_parts_are_refused() {
        assert!(Points::dense(vec![1.0; 5], 2).is_err());
        let csr = Csr { start: vec![0, 2], column: vec![3, 0], value: vec![1.0, 2.0] };
        assert!(Points::sparse(csr, 4).is_err());
        let csr = Csr { start: vec![0, 1], column: vec![4], value: vec![1.0] };
        assert!(Points::sparse(csr, 4).is_err());
        assert!(sparse().concat(&Points::row_numbers(vec![1])).is_err());
    }

    #[test]
    fn single_and_double_precision_join_to_double() {
        let (single, double) =
            (Points::dense_f32(vec![0.5, 0.1], 1).expect("rows"), Points::dense(vec![0.1], 1).expect("rows"));
        for (a, b) in [(&single, &double), (&double, &single)] {
            let both = a.concat(b).expect("numbers");
            let wanted = [a.view().to_f64().expect("numbers"), b.view().to_f64().expect("numbers")].concat();
            assert_eq!((both.kind(), both.view().to_f64().expect("numbers")), ("dense f64", wanted));
        }
        assert_eq!(single.concat(&single).expect("one kind").kind(), "dense f32");
        assert!(double.concat(&sparse()).is_err());
    }

    #[test]
    fn columns_that_are_only_claimed_are_not_allocated() {
        let claims =
            |d: usize| Points::sparse(Csr { start: vec![0, 1], column: vec![7], value: vec![1.0] }, d);
        assert!(claims(1 << 62).is_err());
        let wide = claims(1 << 32).expect("32 bits").gather(&vec![0; 4096]);
        let error = wide.view().to_f64().expect_err("128 TiB").to_string();
        assert!(error.starts_with("a dense copy of sparse rows (4096 x 4294967296 values) needs"), "{error}");
        assert!(wide.to_dense().is_err());
        let shape = ImageShape { height: usize::MAX, width: usize::MAX, channels: 3 };
        assert!(wide.with_image(shape).is_err());
    }

    #[test]
    fn not_finite_is_found_by_row_and_column() {
        let csr = Csr { start: vec![0, 2, 2, 3], column: vec![0, 3, 1], value: vec![1.0, 2.0, f64::NAN] };
        assert_eq!(Points::sparse(csr, 4).expect("valid rows").first_not_finite(), Some((2, 1)));
        assert_eq!(sparse().first_not_finite(), None);
    }
}
