//! numpy arrays as points and back.
//!
//! Dense rows are looked at where they are: predicting copies nothing, nor do fits that end before their call does. Fits
//! that may end later own their points: their rows are copied once, in their own float type. Sparse rows are copied, because
//! the library counts columns in u32.

use mercer::data::table::{Column, Kind};
use mercer::data::{Csr, Data, ImageShape, Labels, Points, Table, Targets, View};
use mercer::num::lend;
use numpy::{
    IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::words::raise;

/// Height, width, channels.
pub(crate) type Shape = Option<(usize, usize, usize)>;

/// Values, columns and row starts of sparse rows, and the number of columns.
type Sparse<'py> =
    (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u64>, usize);

/// Rows as Python gives them.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    /// Contiguous rows.
    F64(PyReadonlyArray2<'py, f64>),
    /// Contiguous rows.
    F32(PyReadonlyArray2<'py, f32>),
    /// `(data, indices, indptr, columns)`, indices rising within a row.
    Sparse(Sparse<'py>),
    /// `(names, columns, kinds)` of a table.
    Table((Vec<String>, Vec<Cells<'py>>, Vec<Option<String>>)),
}

/// A column of a table.
#[derive(FromPyObject)]
pub(crate) enum Cells<'py> {
    /// Numbers; NaN is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Texts; None is missing.
    Text(Vec<Option<String>>),
}

fn table_of(names: &[String], columns: &[Cells<'_>], kinds: &[Option<String>]) -> PyResult<Points> {
    let column = |cells: &Cells<'_>| match cells {
        Cells::Numbers(values) => Ok(Column::Numbers(flat(values.as_slice())?.to_vec())),
        Cells::Text(texts) => Ok(Column::text(texts.iter().map(Option::as_deref))),
    };
    let columns = columns.iter().map(column).collect::<PyResult<_>>()?;
    let kind = |word: &Option<String>| word.as_deref().map(str::parse::<Kind>).transpose().map_err(raise);
    let kinds = kinds.iter().map(kind).collect::<PyResult<_>>()?;
    let table = Table::new(names.to_vec(), columns).and_then(|table| table.with_kinds(kinds));
    Ok(Points::table(table.map_err(raise)?))
}

/// What is looked at while Python's lock is free.
pub(crate) enum Seen<'a> {
    Here(View<'a>),
    Copied(Points),
}

impl Seen<'_> {
    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Seen::Here(view) => *view,
            Seen::Copied(points) => points.view(),
        }
    }
}

fn image_of(shape: Shape) -> Option<ImageShape> {
    shape.map(|(height, width, channels)| ImageShape { height, width, channels })
}

impl Rows<'_> {
    /// The rows where they are.
    pub(crate) fn seen(&self, shape: Shape) -> PyResult<Seen<'_>> {
        let (n, d, data) = match self {
            Rows::F64(x) => (x.shape()[0], x.shape()[1], Data::F64(flat(x.as_slice())?)),
            Rows::F32(x) => (x.shape()[0], x.shape()[1], Data::F32(flat(x.as_slice())?)),
            Rows::Sparse(_) | Rows::Table(_) => return Ok(Seen::Copied(self.points(shape)?)),
        };
        let image = image_of(shape);
        if let Some(image) = image.filter(|image| image.len() != d) {
            let got = format!("image shape: got {} values, expected {d}", image.len());
            return Err(PyValueError::new_err(got));
        }
        Ok(Seen::Here(View { n, d, data, image }))
    }

    /// Number of rows and columns; none of a table, which has columns that are not numbers yet.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        match self {
            Rows::F64(x) => Some((x.shape()[0], x.shape()[1])),
            Rows::F32(x) => Some((x.shape()[0], x.shape()[1])),
            Rows::Sparse((_, _, start, d)) => Some((start.len().saturating_sub(1), *d)),
            Rows::Table(_) => None,
        }
    }

    /// Hands the rows to work that drops them before its call ends: dense ones where they are, others as a copy. See
    /// [`lend`] for what happens to work that keeps them.
    pub(crate) fn lend<R>(&self, shape: Shape, work: impl FnOnce(Points) -> PyResult<R>) -> PyResult<R> {
        let checked = |points: mercer::Result<Points>| {
            let points = points.map_err(raise)?;
            match image_of(shape) {
                Some(image) => points.with_image(image).map_err(raise),
                None => Ok(points),
            }
        };
        match self {
            Rows::F64(x) => {
                let d = x.shape()[1];
                lend(flat(x.as_slice())?, |lent| work(checked(Points::lent(lent, d))?))
            }
            Rows::F32(x) => {
                let d = x.shape()[1];
                lend(flat(x.as_slice())?, |lent| work(checked(Points::lent_f32(lent, d))?))
            }
            Rows::Sparse(_) | Rows::Table(_) => work(self.points(shape)?),
        }
    }

    /// A copy of the rows.
    pub(crate) fn points(&self, shape: Shape) -> PyResult<Points> {
        let points = match self {
            Rows::F64(x) => Points::dense(flat(x.as_slice())?.to_vec(), x.shape()[1]),
            Rows::F32(x) => Points::dense_f32(flat(x.as_slice())?.to_vec(), x.shape()[1]),
            Rows::Sparse((value, column, start, d)) => {
                let csr = Csr {
                    start: flat(start.as_slice())?.iter().map(|&s| s as usize).collect(),
                    column: flat(column.as_slice())?.to_vec(),
                    value: flat(value.as_slice())?.to_vec(),
                };
                Points::sparse(csr, *d)
            }
            Rows::Table((names, columns, kinds)) => Ok(table_of(names, columns, kinds)?),
        };
        match image_of(shape) {
            Some(image) => points.and_then(|p| p.with_image(image)),
            None => points,
        }
        .map_err(raise)
    }
}

/// What is to be predicted, as Python gives it.
#[derive(FromPyObject)]
pub(crate) enum Answers<'py> {
    /// Names of the classes, and each row's.
    Classes((Vec<String>, PyReadonlyArray1<'py, u32>)),
    /// Numbers.
    Reals(PyReadonlyArray1<'py, f64>),
}

impl Answers<'_> {
    pub(crate) fn targets(answers: Option<&Self>) -> PyResult<Targets> {
        Ok(match answers {
            None => Targets::None,
            Some(Answers::Reals(y)) => Targets::Reals(flat(y.as_slice())?.to_vec()),
            Some(Answers::Classes((names, rows))) => {
                let of_row = flat(rows.as_slice())?.to_vec();
                if let Some(bad) = of_row.iter().find(|&&k| k as usize >= names.len()) {
                    let words = format!("class {bad}: must be below {}", names.len());
                    return Err(PyValueError::new_err(words));
                }
                Targets::Classes(Labels { names: names.clone(), of_row })
            }
        })
    }
}

/// A slice of an array, which must be contiguous.
pub(crate) fn flat<T>(slice: Result<&[T], impl std::fmt::Display>) -> PyResult<&[T]> {
    slice.map_err(|e| PyValueError::new_err(format!("array: {e}")))
}

/// Values row by row as an array of so many columns.
pub(crate) fn table<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    values.into_pyarray(py).reshape([rows, columns])
}

/// Points as an array, or as `(data, indices, indptr, columns)`; nothing for points that are no numbers.
pub(crate) fn given<'py>(py: Python<'py>, points: View<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match points.data {
        Data::F64(x) => Some(table(py, x.to_vec(), points.d)?.into_any()),
        Data::F32(x) => Some(table(py, x.to_vec(), points.d)?.into_any()),
        Data::Csr { start, column, value } => {
            let run = start[0]..start[points.n];
            let starts: Vec<u64> = start.iter().map(|s| (s - run.start) as u64).collect();
            let parts = (
                value[run.clone()].to_vec().into_pyarray(py),
                column[run].to_vec().into_pyarray(py),
                starts.into_pyarray(py),
                points.d,
            );
            Some(parts.into_pyobject(py)?.into_any())
        }
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => None,
    })
}
