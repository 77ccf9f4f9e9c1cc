//! Converted rows on disk: numbers one after the other, sparse rows with the places where they begin, and targets. The files
//! have no name, so that nothing of them outlives the process.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Source;
use crate::data::{Csr, Data, ImageShape, Points};
use crate::error::{Error, Result};

/// Bytes of an entry of a sparse row: its column and its value.
const ENTRY: u64 = 12;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    F64,
    Sparse,
}

/// A file that is read from any place.
#[derive(Debug)]
struct Place(Mutex<File>);

impl Place {
    fn read(&self, from: u64, bytes: u64, folder: &Path) -> Result<Vec<u8>> {
        let mut out = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        let mut file = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.read_exact(&mut out))
            .map_err(|e| Error::io(folder, e))?;
        Ok(out)
    }
}

/// Rows that were converted, in files without a name.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    kind: Kind,
    columns: usize,
    image: Option<ImageShape>,
    rows: usize,
    values: Place,
    /// Where each sparse row begins, counted in entries.
    starts: Option<Place>,
    targets: Option<Place>,
    classes: Vec<String>,
}

/// Writes a [`Store`].
pub(super) struct Writer {
    folder: PathBuf,
    kind: Option<(Kind, usize, Option<ImageShape>)>,
    rows: usize,
    entries: u64,
    values: BufWriter<File>,
    starts: BufWriter<File>,
    targets: BufWriter<File>,
    labelled: bool,
}

impl Writer {
    /// An empty store in a folder.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let file = || {
            let file = tempfile::tempfile_in(folder).map_err(|e| Error::io(folder, e))?;
            Ok::<_, Error>(BufWriter::with_capacity(1 << 20, file))
        };
        let (values, mut starts, targets) = (file()?, file()?, file()?);
        starts.write_all(&0_u64.to_le_bytes()).map_err(|e| Error::io(folder, e))?;
        let folder = folder.to_owned();
        Ok(Writer { folder, kind: None, rows: 0, entries: 0, values, starts, targets, labelled: true })
    }

    /// Takes rows of numbers of one kind, with a target each or none at all.
    pub(super) fn push(&mut self, points: &Points, targets: &[f64]) -> Result<()> {
        let view = points.view();
        let kind = match view.data {
            Data::F32(_) => Kind::F32,
            Data::F64(_) => Kind::F64,
            Data::Csr { .. } => Kind::Sparse,
            _ => return Err(Error::shape("rows to convert", view.kind(), "rows of numbers")),
        };
        let own = *self.kind.get_or_insert((kind, view.d, view.image));
        if own != (kind, view.d, view.image) {
            let got = format!("{} of {} columns after {} of {}", view.kind(), view.d, self.rows, own.1);
            return Err(Error::shape("rows to convert", got, "rows of one kind"));
        }
        let Writer { folder, values, starts, .. } = self;
        let refused = |e: std::io::Error| Error::io(&*folder, e);
        match view.data {
            Data::F32(x) => bytes(values, x, f32::to_le_bytes).map_err(refused)?,
            Data::F64(x) => bytes(values, x, f64::to_le_bytes).map_err(refused)?,
            Data::Csr { start, column, value } => {
                let run = start[0]..start[view.n];
                for (c, v) in column[run.clone()].iter().zip(&value[run]) {
                    values.write_all(&c.to_le_bytes()).map_err(refused)?;
                    values.write_all(&v.to_le_bytes()).map_err(refused)?;
                }
                for end in &start[1..=view.n] {
                    let end = self.entries + (end - start[0]) as u64;
                    starts.write_all(&end.to_le_bytes()).map_err(refused)?;
                }
                self.entries += (start[view.n] - start[0]) as u64;
            }
            _ => {}
        }
        bytes(&mut self.targets, targets, f64::to_le_bytes).map_err(|e| Error::io(&self.folder, e))?;
        self.labelled &= targets.len() == view.n;
        self.rows += view.n;
        Ok(())
    }

    /// The store, with the names of its classes.
    pub(super) fn finish(self, classes: Vec<String>) -> Result<Store> {
        let Some((kind, columns, image)) = self.kind else {
            return Err(Error::shape("rows to convert", 0, "at least 1"));
        };
        let folder = self.folder;
        let place = |writer: BufWriter<File>| {
            let file = writer.into_inner().map_err(|e| Error::io(&folder, e.into_error()))?;
            Ok::<_, Error>(Place(Mutex::new(file)))
        };
        let (values, starts, targets) = (place(self.values)?, place(self.starts)?, place(self.targets)?);
        Ok(Store {
            kind,
            columns,
            image,
            rows: self.rows,
            values,
            starts: (kind == Kind::Sparse).then_some(starts),
            targets: self.labelled.then_some(targets),
            classes,
            folder,
        })
    }
}

fn bytes<T: Copy, const N: usize>(
    out: &mut impl Write,
    values: &[T],
    of: impl Fn(T) -> [u8; N],
) -> std::io::Result<()> {
    let mut piece = Vec::with_capacity(N * 4096);
    for some in values.chunks(4096) {
        piece.clear();
        some.iter().for_each(|v| piece.extend_from_slice(&of(*v)));
        out.write_all(&piece)?;
    }
    Ok(())
}

/// Numbers from bytes.
fn numbers<T, const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|b| of(*b)).collect()
}

impl Source for Store {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
        let (first, n, d) = (rows.start as u64, rows.len() as u64, self.columns as u64);
        let dense = |each: u64| self.values.read(first * d * each, n * d * each, &self.folder);
        let points = match (self.kind, &self.starts) {
            (Kind::Sparse, Some(starts)) => {
                let starts = starts.read(first * 8, (n + 1) * 8, &self.folder)?;
                let starts: Vec<u64> = numbers(&starts, u64::from_le_bytes);
                let (from, to) = (starts[0], starts[starts.len() - 1]);
                let entries = self.values.read(from * ENTRY, (to - from) * ENTRY, &self.folder)?;
                let mut csr = Csr { start: Vec::with_capacity(starts.len()), ..Csr::default() };
                csr.start.extend(starts.iter().map(|s| (s - from) as usize));
                for entry in entries.as_chunks::<{ ENTRY as usize }>().0 {
                    let [a, b, c, d, value @ ..] = *entry;
                    csr.column.push(u32::from_le_bytes([a, b, c, d]));
                    csr.value.push(f64::from_le_bytes(value));
                }
                Points::sparse(csr, self.columns)?
            }
            (Kind::F32, _) => Points::dense_f32(numbers(&dense(4)?, f32::from_le_bytes), self.columns)?,
            _ => Points::dense(numbers(&dense(8)?, f64::from_le_bytes), self.columns)?,
        };
        let points = match self.image {
            Some(image) => points.with_image(image)?,
            None => points,
        };
        let targets = match &self.targets {
            Some(place) => numbers(&place.read(first * 8, n * 8, &self.folder)?, f64::from_le_bytes),
            None => Vec::new(),
        };
        Ok((points, targets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_any_run_and_of_any_kind() {
        let folder = tempfile::tempdir().expect("a folder");
        let values: Vec<f64> = (0..60).map(|i| f64::from(i % 7) * 0.5).collect();
        let dense = Points::dense(values.clone(), 3).expect("rows");
        let single = Points::dense_f32(values.iter().map(|v| *v as f32).collect(), 3).expect("rows");
        let mut csr = Csr { start: vec![0], ..Csr::default() };
        for row in values.chunks(3) {
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                csr.column.push(j as u32);
                csr.value.push(v);
            }
            csr.start.push(csr.column.len());
        }
        let sparse = Points::sparse(csr, 3).expect("rows");
        let y: Vec<f64> = (0..20).map(f64::from).collect();
        for points in [dense, single, sparse] {
            let mut writer = Writer::new(folder.path()).expect("a place");
            for run in [0..7, 7..8, 8..20] {
                let places: Vec<usize> = run.clone().collect();
                writer.push(&points.gather(&places), &y[run]).expect("rows of one kind");
            }
            let other = Points::dense(vec![1.0; 4], 4).expect("a row");
            assert!(writer.push(&other, &[1.0]).is_err());
            let store = writer.finish(Vec::new()).expect("a store");
            assert_eq!((store.rows(), store.columns()), (20, 3));
            for run in [0..20, 3..9, 19..20, 5..5] {
                let (got, targets) = store.read(run.clone()).expect("rows");
                let places: Vec<usize> = run.clone().collect();
                assert_eq!(got, points.gather(&places));
                assert_eq!(targets, y[run]);
            }
            assert!(store.read(19..21).is_err(), "beyond the end");
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "files have no names");
        let nowhere = folder.path().join("not there");
        assert!(Writer::new(&nowhere).err().is_some_and(|e| e.to_string().contains("not there")));
    }
}
