//! Data larger than memory: rows in blocks, from a source that can be read again.
//!
//! [`Outside::open`] scans a file once and draws a seeded sample of its rows, on which stages are fitted and settings
//! chosen. [`Outside::source`] then gives all rows, after the stages, in blocks: arrays (NPY, IDX) are read where
//! they are; text (CSV, LIBSVM, also compressed) is converted once, on all threads, to numbers in a file without a
//! name, which the system removes with the process, however that ends. Files are read, never mapped: one that is cut
//! off is an error, not a signal.
//!
//! Memory: the sample and some blocks, whatever the number of rows.

mod array;
mod libsvm;
mod sample;
mod store;
mod table;
mod text;

use std::ops::Range;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::limits::Budget;
use super::source::Input;
use super::{Format, ReadOptions, TargetKind, sniff};
use crate::data::{Dataset, Points, Stages, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::watch::Watch;
use array::ArrayFile;
use text::Text;

/// Rows that can be read in blocks, as often as needed.
///
/// ```
/// use std::ops::Range;
/// use mercer::data::Points;
/// use mercer::data::io::Source;
/// use mercer::model::LargeParams;
/// use mercer::{Exec, Result, watch};
///
/// /// Squares of numbers that nobody keeps.
/// struct Squares;
/// impl Source for Squares {
///     fn rows(&self) -> usize {
///         3000
///     }
///     fn columns(&self) -> usize {
///         1
///     }
///     fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
///         let x: Vec<f64> = rows.map(|i| i as f64 / 1000.0).collect();
///         let y = x.iter().map(|x| x * x).collect();
///         Ok((Points::dense(x, 1)?, y))
///     }
/// }
///
/// let params = LargeParams { centres: 20, lambda: 1e-3, ..LargeParams::default() };
/// let machine = params.fit_source(&Squares, Exec::one(), &mut watch::silent())?;
/// let two = machine.decision(Points::dense(vec![2.0], 1)?.view(), Exec::one())?[0];
/// assert!((two - 4.0).abs() < 0.05, "{two}");
/// # Ok::<(), mercer::Error>(())
/// ```
pub trait Source: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// Names of the classes; none: targets are numbers.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// Some rows and a target for each: a number, or the number of its class.
    fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)>;
}

/// Different rows of n, in the order drawn.
pub(crate) fn drawn(n: usize, many: usize, seed: u64) -> Vec<usize> {
    // A shuffle of all rows would take more memory than the rows drawn.
    if n <= 1 << 20 {
        let mut order = crate::data::split::shuffle(n, seed);
        order.truncate(many);
        return order;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut there = std::collections::HashSet::new();
    let mut out = Vec::with_capacity(many.min(n));
    while out.len() < many.min(n) {
        let row = rng.random_range(0..n);
        if there.insert(row) {
            out.push(row);
        }
    }
    out
}

/// Rows of a source in any order, with their targets.
pub(crate) fn gathered(source: &dyn Source, rows: &[usize]) -> Result<(Points, Vec<f64>)> {
    /// Rows that are nearer than this are read in one piece.
    const NEAR: usize = 64;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|&p| rows[p]);
    let (mut parts, mut targets) = (Vec::<Points>::new(), Vec::new());
    let mut begin = 0;
    while begin < order.len() {
        let first = rows[order[begin]];
        let mut end = begin + 1;
        while end < order.len()
            && rows[order[end]] - rows[order[end - 1]] <= NEAR
            && rows[order[end]] - first < 1 << 16
        {
            end += 1;
        }
        let last = rows[order[end - 1]];
        let (some, y) = source.read(first..last + 1)?;
        let places: Vec<usize> = order[begin..end].iter().map(|&p| rows[p] - first).collect();
        targets.extend(places.iter().filter_map(|&i| y.get(i)));
        parts.push(some.gather(&places));
        begin = end;
    }
    // Joined in pairs: one after the other would copy the first ones again and again.
    while parts.len() > 1 {
        let join = |pair: &[Points]| match pair {
            [a, b] => a.concat(b),
            one => Ok(one[0].clone()),
        };
        parts = parts.chunks(2).map(join).collect::<Result<_>>()?;
    }
    let Some(points) = parts.pop() else { return Err(Error::shape("rows to read", 0, "at least 1")) };
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &p)| back[p] = at);
    let y = if targets.len() == back.len() { back.iter().map(|&at| targets[at]).collect() } else { targets };
    Ok((points.gather(&back), y))
}

/// A source behind stages.
struct Staged {
    source: Box<dyn Source + Send>,
    stages: Stages,
    columns: usize,
    exec: Exec,
}

impl Source for Staged {
    fn rows(&self) -> usize {
        self.source.rows()
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
        let (points, targets) = self.source.read(rows)?;
        Ok((self.stages.apply(points.view(), self.exec)?, targets))
    }
}

/// A file whose rows take more memory than they may.
struct Beyond {
    format: Format,
    bytes: u64,
    /// None for text.
    file: Option<Box<ArrayFile>>,
}

impl Beyond {
    fn of(path: &Path, options: &ReadOptions, most: u64) -> Result<Option<Self>> {
        let about = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if !about.is_file() || about.len() == 0 {
            return Ok(None);
        }
        let mut input = Input::open(path, Budget::of(options))?;
        if sniff::bytes_format(&input.head).is_none() {
            input.in_encoding(options.encoding)?;
        }
        let format = match options.format {
            Some(format) => format,
            None => sniff::format_of(&input)?,
        };
        match format {
            Format::Npy | Format::Idx => {
                let found = ArrayFile::open(path, format, options, most)?;
                Ok(found.map(|(file, bytes)| Beyond { format, bytes, file: Some(Box::new(file)) }))
            }
            Format::Csv | Format::Tsv | Format::Libsvm
                if options.labels.is_none() && options.copy.is_empty() =>
            {
                let bytes = text::bytes_in_memory(&mut input, format, about.len(), most)?;
                let bytes = bytes.filter(|bytes| *bytes > most);
                Ok(bytes.map(|bytes| Beyond { format, bytes, file: None }))
            }
            _ => Ok(None),
        }
    }
}

/// Whether a file can be read in blocks and its rows would take more than this many bytes in memory.
pub(crate) fn is_beyond(path: &Path, options: &ReadOptions, most: u64) -> Result<bool> {
    Ok(Beyond::of(path, options, most)?.is_some())
}

/// The first rows of such a file.
pub(crate) fn beginning(path: &Path, options: &ReadOptions, exec: Exec) -> Result<Dataset> {
    let mut first = None;
    let read = each_block(path, options, exec, &mut |data| {
        first = Some(data);
        // This error is never shown.
        Err(Error::Cancelled)
    });
    match (first, read) {
        (Some(data), _) => Ok(data),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => {
            Err(super::source::fault(&path.display().to_string(), Some("no rows"), "at least one row"))
        }
    }
}

/// Calls with the rows of such a file, block by block.
pub(crate) fn each_block(
    path: &Path,
    options: &ReadOptions,
    exec: Exec,
    call: &mut dyn FnMut(Dataset) -> Result<()>,
) -> Result<()> {
    let Some(beyond) = Beyond::of(path, options, 0)? else {
        return Err(Error::Unsupported(format!("{}: rows cannot be read in blocks", path.display())));
    };
    match beyond.file {
        Some(file) => file.each_block(exec, call),
        None => text::each_block(path, beyond.format, options, exec, call),
    }
}

/// How a file gives its rows.
enum How {
    Array(Box<ArrayFile>),
    Text(Box<Text>),
}

/// A file whose rows do not fit into the memory given.
///
/// ```
/// use mercer::data::Stages;
/// use mercer::data::io::{Outside, ReadOptions};
/// use mercer::{Exec, watch};
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("many.csv");
/// let lines: String = (0..5000).map(|i| format!("{i},{},{}\n", i % 7, i % 2)).collect();
/// std::fs::write(&file, lines)?;
/// let (options, exec) = (ReadOptions::default(), Exec::one());
/// assert!(Outside::open(&file, &options, 1 << 30, exec, 0, &mut watch::silent())?.is_none());
/// let outside = Outside::open(&file, &options, 1 << 10, exec, 0, &mut watch::silent())?.expect("too large");
/// assert_eq!((outside.rows(), outside.sample().dim()), (5000, 2));
/// let source = outside.source(&Stages::default(), folder.path(), exec, &mut watch::silent())?;
/// let (points, targets) = source.read(4998..5000)?;
/// assert_eq!(points.view().to_f64()?, [4998.0, 0.0, 4999.0, 1.0]);
/// assert_eq!(targets, [0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Outside {
    how: How,
    sample: Dataset,
    rows: usize,
    bytes: u64,
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside")
            .field("rows", &self.rows)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Outside {
    /// Scans a file whose rows would take more than this many bytes in memory and draws a sample; `None` for smaller
    /// files, and for formats that are not read in blocks.
    pub fn open(
        path: &Path,
        options: &ReadOptions,
        most: u64,
        exec: Exec,
        seed: u64,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Self>> {
        let Some(beyond) = Beyond::of(path, options, most)? else { return Ok(None) };
        let (how, sample, rows) = if let Some(file) = beyond.file {
            let (sample, rows) = (file.sample(exec, seed)?, file.rows());
            (How::Array(file), sample, rows)
        } else {
            let (text, sample, rows) = Text::survey(path, beyond.format, options, exec, seed, watch)?;
            (How::Text(Box::new(text)), sample, rows)
        };
        Ok(Some(Outside { how, sample, rows, bytes: beyond.bytes }))
    }

    /// Rows of the file.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes that they would take in memory, about.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Rows drawn from the whole file, in its order, with some of every class and of every kind of cell.
    pub fn sample(&self) -> &Dataset {
        &self.sample
    }

    /// Whether its rows are converted, and not read where they are.
    pub fn is_converted(&self) -> bool {
        matches!(self.how, How::Text(_))
    }

    /// All rows after stages that were fitted on the sample. Converted data is stored in a folder.
    pub fn source(
        &self,
        stages: &Stages,
        folder: &Path,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Box<dyn Source + Send>> {
        match &self.how {
            How::Text(text) => Ok(Box::new(text.converted(stages, self.rows, folder, exec, watch)?)),
            How::Array(file) => {
                let source: Box<dyn Source + Send> = Box::new(file.again()?);
                if stages.is_empty() {
                    return Ok(source);
                }
                let columns = stages.apply(source.read(0..1)?.0.view(), exec)?.dim();
                Ok(Box::new(Staged { source, stages: stages.clone(), columns, exec }))
            }
        }
    }
}

/// The numbers of targets and the names of their classes.
fn numbered(targets: &Targets) -> (Vec<f64>, Vec<String>) {
    match targets {
        Targets::None => (Vec::new(), Vec::new()),
        Targets::Reals(y) => (y.clone(), Vec::new()),
        Targets::Classes(labels) => {
            (labels.of_row.iter().map(|&c| f64::from(c)).collect(), labels.names.clone())
        }
    }
}

/// What targets are, where their kind is known.
fn kind_of(targets: &Targets) -> TargetKind {
    match targets {
        Targets::None => TargetKind::None,
        Targets::Reals(_) => TargetKind::Reals,
        Targets::Classes(_) => TargetKind::Classes,
    }
}
