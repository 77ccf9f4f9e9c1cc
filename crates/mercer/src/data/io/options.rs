//! Options of readers and writers; defaults depend on the content of the file.

use std::path::PathBuf;
use std::str::FromStr;

use super::Format;
use super::encoding::Encoding;
use super::labels::TargetKind;
use crate::data::ImageShape;
use crate::data::table::{ColumnKinds, Kind};
use crate::error::Error;

/// What may be asked of a reader.
///
/// ```
/// use mercer::data::io::{LabelColumn, ReadOptions, Storage};
/// let options = ReadOptions { label: LabelColumn::Number(1), storage: Storage::F32, ..ReadOptions::default() };
/// let data = mercer::data::io::read_bytes("digits.csv", b"7,0.5,1\n1,0,0.25\n", &options)?;
/// assert_eq!((data.dim(), data.points.kind()), (2, "dense f32"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; by default detected from content.
    pub format: Option<Format>,
    /// What labels become. By itself: labels that are not all numbers are classes; numbers that are not all whole are
    /// reals; whole numbers are classes if at most 20 different ones occur, or at most the square root of the number of
    /// rows, else reals.
    pub targets: TargetKind,
    /// Which column of a table, or which array of an archive, is the label.
    pub label: LabelColumn,
    /// A file with one label per row: text, NPY or IDX. Without it, [`read`](super::read) finds
    /// `train-labels-idx1-ubyte` beside `train-images-idx3-ubyte` and `x.labels.npy` beside `x.npy`.
    pub labels: Option<PathBuf>,
    /// Whether a table's first line is a header; by default detected.
    pub header: Option<bool>,
    /// The encoding of text; `None`: by the byte order mark, UTF-16 where every other byte is 0, else UTF-8.
    pub encoding: Option<Encoding>,
    /// Field delimiter of a table (a blank means any run of blanks); by default detected.
    pub delimiter: Option<char>,
    /// Number of columns. LIBSVM text is as wide as its largest index, so that a test file may need its training file's
    /// number here; all other formats must have exactly as many.
    pub columns: Option<usize>,
    /// Kinds of columns of a table, by name, or by number from 1 without a header. Other kinds are detected from the
    /// values; with any kind given, the points are a [`Table`](crate::data::Table).
    pub kinds: ColumnKinds,
    /// The kinds of the columns of a model that the data are for, in its order: as [`ReadOptions::kinds`], but columns
    /// need not be there. Without a header, they go by place.
    pub model_kinds: Vec<(String, Option<Kind>)>,
    /// Columns of a table that are ignored, by name or by number from 1.
    pub ignore: Vec<String>,
    /// Treatment of missing values of features.
    pub missing: Missing,
    /// How missing values are written, in any case; none: an empty field, NA, N/A, NaN, null, none, ?, -, a point, errors
    /// of formulas such as #N/A, and a few more.
    pub missing_values: Option<Vec<String>>,
    /// Whether rows without a label are kept. Then, if there are any, no row has a target; else they are left out. With
    /// columns to copy, the label column is copied too, behind them.
    pub keep_unlabelled: bool,
    /// Columns of a table to copy verbatim to [`Dataset::copied`](crate::data::Dataset::copied).
    pub copy: Vec<String>,
    /// How the points are kept in memory.
    pub storage: Storage,
    /// Which array of an NPZ archive holds the points.
    pub array: Option<String>,
    /// Which sheet of a workbook is read; none: the first with two rows and two columns.
    pub sheet: Option<String>,
    /// Height and width to which pictures are resized; `None`: unchanged.
    pub resize: Option<(usize, usize)>,
    /// The shape of the pictures that a model was trained on: where `resize` is `None`, pictures are brought to it.
    pub model_image: Option<ImageShape>,
    /// Whether pictures in colour become grey.
    pub grey: bool,
    /// The letters of sequences, in order; else DNA, RNA, protein or whatever occurs.
    pub alphabet: Option<String>,
    /// The letters that a model knows, in its order: symbols of a file to predict on must mean the same. Codes for uncertain
    /// letters may occur beside those of DNA, RNA and proteins; other letters are refused. Filled in where a
    /// model reads its own rows.
    pub model_alphabet: Option<Vec<u8>>,
    /// Bytes that the data may take in memory; by itself 16 times the file's own, packed as it is, and beyond that
    /// [`ReadOptions::memory`].
    pub max_bytes: Option<u64>,
    /// Bytes that reading may use beyond a multiple of the file's own, as [`Exec::memory`](crate::Exec::memory); none:
    /// half of the memory.
    pub memory: Option<u64>,
}

/// What may be asked of a writer.
///
/// ```
/// use mercer::data::io::{Format, WriteOptions};
/// let options = WriteOptions { format: Some(Format::Csv), ..WriteOptions::default() };
/// assert_eq!(options.memory, None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// The format; by default from the file name.
    pub format: Option<Format>,
    /// Bytes that writing may use beyond a multiple of the data, as [`Exec::memory`](crate::Exec::memory); none: half
    /// of the memory.
    pub memory: Option<u64>,
}

/// How points are kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Storage {
    /// By what they are: f32 where the file's own type is exact in it, sparse where less than a quarter of LIBSVM
    /// text's values are there, else dense f64.
    #[default]
    Auto,
    /// Dense f32.
    F32,
    /// Dense f64.
    F64,
    /// Compressed sparse rows.
    Sparse,
}

impl FromStr for Storage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Storage::Auto),
            "f32" => Ok(Storage::F32),
            "f64" => Ok(Storage::F64),
            "sparse" => Ok(Storage::Sparse),
            _ => Err(Error::param("storage", text, "auto, f32, f64 or sparse")),
        }
    }
}

/// What happens to missing values of a table's features. Those of the label are never filled: see
/// [`ReadOptions::keep_unlabelled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// Kept as missing, for the stage `table` to fill.
    #[default]
    Auto,
    /// The same, and so does text in a column that is known to be of numbers.
    Fill,
    /// The row is left out.
    Rows,
    /// An error.
    Refuse,
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "fill" => Ok(Missing::Fill),
            "rows" => Ok(Missing::Rows),
            "refuse" => Ok(Missing::Refuse),
            _ => Err(Error::param("missing", text, "fill, rows or refuse")),
        }
    }
}

/// Which column is the label.
///
/// ```
/// use mercer::data::io::LabelColumn;
/// assert_eq!("-1".parse(), Ok(LabelColumn::Number(-1)));
/// assert_eq!("species".parse(), Ok(LabelColumn::Name("species".into())));
/// assert_eq!("none".parse(), Ok(LabelColumn::None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LabelColumn {
    /// The column whose name is a target's: label, class, target, species, outcome and the like, or y unless x or z are
    /// columns too; else the only one that holds no numbers, if it is the last, or the first of a table without a header;
    /// else the last that is not an identifier, date or free text, which is a guess ([`TargetFrom::guessed`](crate::data::TargetFrom::guessed)). None in a table of one
    /// column, in one whose header is `x1, x2, ...`, and in NPY and IDX files.
    #[default]
    Auto,
    /// None: all columns are features.
    None,
    /// The column of this name.
    Name(String),
    /// The column of this number: from 1, or from -1 backwards.
    Number(i64),
}

impl FromStr for LabelColumn {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "auto" => LabelColumn::Auto,
            "none" => LabelColumn::None,
            "first" => LabelColumn::Number(1),
            "last" => LabelColumn::Number(-1),
            _ => text.parse().map_or_else(|_| LabelColumn::Name(text.to_owned()), LabelColumn::Number),
        })
    }
}
