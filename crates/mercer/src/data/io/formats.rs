//! The one table of formats.

use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use super::source::{Compression, Input};
use super::{ReadOptions, idx, json_lines, libsvm, npy, npz, picture, sequences, table, table_write};
use crate::data::Dataset;
use crate::error::{Error, Result};

/// A format of data files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// LIBSVM or svmlight text.
    Libsvm,
    /// Comma-separated values; read with any delimiter.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// JSON lines.
    JsonLines,
    /// A sheet of an Excel workbook.
    Xlsx,
    /// Parquet.
    Parquet,
    /// An Arrow file or stream.
    Arrow,
    /// `class<TAB>sequence` lines.
    Sequences,
    /// FASTA.
    Fasta,
    /// A NumPy array.
    Npy,
    /// A NumPy archive of arrays.
    Npz,
    /// IDX arrays.
    Idx,
    /// A PNG picture.
    Png,
    /// A PGM or PPM picture.
    Pnm,
    /// A JPEG picture.
    Jpeg,
    /// A BMP picture.
    Bmp,
    /// A GIF picture, its first frame.
    Gif,
    /// A TIFF picture.
    Tiff,
    /// A WebP picture.
    Webp,
}

/// A row of [`FORMATS`].
#[derive(Debug)]
pub struct FormatInfo {
    /// The format.
    pub format: Format,
    /// Its name, as a user writes it.
    pub name: &'static str,
    /// Its file extensions, the main one first; `.gz`, `.bz2`, `.xz` or `.zst` may follow.
    pub extensions: &'static [&'static str],
    /// One line about it.
    pub doc: &'static str,
    pub(super) reader: fn(&mut Input<'_>, &ReadOptions) -> Result<Dataset>,
    pub(super) writer: Option<Writer>,
}

/// Writes a data set; the name is for messages.
pub(super) type Writer = fn(&mut dyn Write, &Dataset, &str, u64) -> Result<()>;

#[cfg(feature = "xlsx")]
use super::xlsx::read as read_xlsx;

#[cfg(not(feature = "xlsx"))]
fn read_xlsx(input: &mut Input<'_>, _: &ReadOptions) -> Result<Dataset> {
    Err(super::source::absent(&input.name, "Excel workbooks", "xlsx"))
}

#[cfg(feature = "parquet")]
use super::arrow::{read_arrow, read_parquet};
#[cfg(feature = "parquet")]
const WRITE_PARQUET: Option<Writer> = Some(super::arrow::write_parquet);
#[cfg(feature = "parquet")]
const WRITE_ARROW: Option<Writer> = Some(super::arrow::write_arrow);

#[cfg(not(feature = "parquet"))]
const WRITE_PARQUET: Option<Writer> = None;
#[cfg(not(feature = "parquet"))]
const WRITE_ARROW: Option<Writer> = None;

#[cfg(not(feature = "parquet"))]
fn read_parquet(input: &mut Input<'_>, _: &ReadOptions) -> Result<Dataset> {
    Err(super::source::absent(&input.name, "Parquet files", "parquet"))
}

#[cfg(not(feature = "parquet"))]
fn read_arrow(input: &mut Input<'_>, _: &ReadOptions) -> Result<Dataset> {
    Err(super::source::absent(&input.name, "Arrow files", "parquet"))
}

/// Every format that can be read, and which of them can be written.
pub const FORMATS: &[FormatInfo] = &[
    FormatInfo {
        format: Format::Libsvm,
        name: "libsvm",
        extensions: &["svm", "libsvm", "svmlight"],
        doc: "LIBSVM/svmlight text: `label index:value ...`, indices from 1, zeros omitted",
        reader: libsvm::read,
        writer: Some(libsvm::write),
    },
    FormatInfo {
        format: Format::Csv,
        name: "csv",
        extensions: &["csv", "data"],
        doc: "fields separated by commas, tabs, semicolons or spaces; one label column; with or without a header",
        reader: table::read,
        writer: Some(table_write::write_csv),
    },
    FormatInfo {
        format: Format::Tsv,
        name: "tsv",
        extensions: &["tsv"],
        doc: "as csv, separated by tabs",
        reader: table::read_tsv,
        writer: Some(table_write::write_tsv),
    },
    FormatInfo {
        format: Format::JsonLines,
        name: "jsonl",
        extensions: &["jsonl", "ndjson"],
        doc: "JSON lines: an object or an array per line, keys are columns",
        reader: json_lines::read,
        writer: Some(json_lines::write),
    },
    FormatInfo {
        format: Format::Xlsx,
        name: "xlsx",
        extensions: &["xlsx", "xlsm"],
        doc: "a sheet of an Excel workbook, the first one unless --sheet names another",
        reader: read_xlsx,
        writer: None,
    },
    FormatInfo {
        format: Format::Parquet,
        name: "parquet",
        extensions: &["parquet"],
        doc: "Parquet: columns of numbers, text, booleans, dates and times",
        reader: read_parquet,
        writer: WRITE_PARQUET,
    },
    FormatInfo {
        format: Format::Arrow,
        name: "arrow",
        extensions: &["arrow", "feather"],
        doc: "Arrow files and streams, Feather: as parquet",
        reader: read_arrow,
        writer: WRITE_ARROW,
    },
    FormatInfo {
        format: Format::Sequences,
        name: "sequences",
        extensions: &["seq"],
        doc: "`class<TAB>letters` lines: DNA, RNA, protein or any alphabet",
        reader: sequences::read,
        writer: Some(sequences::write),
    },
    FormatInfo {
        format: Format::Fasta,
        name: "fasta",
        extensions: &["fasta", "fa", "fna", "faa"],
        doc: "FASTA: `>id class` (or `class=...` in the header), then letters",
        reader: sequences::read_fasta,
        writer: Some(sequences::write_fasta),
    },
    FormatInfo {
        format: Format::Npy,
        name: "npy",
        extensions: &["npy"],
        doc: "a NumPy array of numbers, rows first; labels in `x.labels.npy`, next to `x.npy`",
        reader: npy::read,
        writer: Some(npy::write),
    },
    FormatInfo {
        format: Format::Npz,
        name: "npz",
        extensions: &["npz"],
        doc: "a NumPy archive: X and y, data and target, x_train and y_train, or the first that fit",
        reader: npz::read,
        writer: None,
    },
    FormatInfo {
        format: Format::Idx,
        name: "idx",
        extensions: &["idx", "idx3-ubyte", "idx1-ubyte"],
        doc: "IDX arrays such as MNIST's; the labels file next to an images file is found",
        reader: idx::read,
        writer: None,
    },
    FormatInfo {
        format: Format::Png,
        name: "png",
        extensions: &["png"],
        doc: "one row per picture, values from 0 to 255; a folder of pictures is a data set, its subfolders are classes",
        reader: picture::read_png,
        writer: Some(picture::write_png),
    },
    FormatInfo {
        format: Format::Pnm,
        name: "pnm",
        extensions: &["pgm", "ppm", "pnm"],
        doc: "PGM and PPM pictures, as text or bytes: as png",
        reader: picture::read_pnm,
        writer: Some(picture::write_pnm),
    },
    FormatInfo {
        format: Format::Jpeg,
        name: "jpeg",
        extensions: &["jpg", "jpeg"],
        doc: "JPEG pictures: as png",
        reader: picture::read_photo,
        writer: None,
    },
    FormatInfo {
        format: Format::Bmp,
        name: "bmp",
        extensions: &["bmp"],
        doc: "BMP pictures: as png",
        reader: picture::read_photo,
        writer: None,
    },
    FormatInfo {
        format: Format::Gif,
        name: "gif",
        extensions: &["gif"],
        doc: "GIF pictures, their first frame: as png",
        reader: picture::read_photo,
        writer: None,
    },
    FormatInfo {
        format: Format::Tiff,
        name: "tiff",
        extensions: &["tif", "tiff"],
        doc: "TIFF pictures: as png",
        reader: picture::read_photo,
        writer: None,
    },
    FormatInfo {
        format: Format::Webp,
        name: "webp",
        extensions: &["webp"],
        doc: "WebP pictures: as png",
        reader: picture::read_photo,
        writer: None,
    },
];

impl Format {
    /// The format's row in [`FORMATS`].
    pub fn info(self) -> &'static FormatInfo {
        // The table is in the order of the enum; a test holds them together.
        &FORMATS[self as usize]
    }

    /// The format that a path's extension stands for, a compression's extension aside.
    ///
    /// ```
    /// use mercer::data::io::Format;
    /// assert_eq!(Format::of_path("a/train.svm.xz".as_ref()), Some(Format::Libsvm));
    /// assert_eq!(Format::of_path("notes.txt".as_ref()), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = match Compression::of_path(path) {
            Some(c) => name.strip_suffix(c.extension())?.strip_suffix('.')?,
            None => name.as_str(),
        };
        let ends_with = |e: &str| name.strip_suffix(e).is_some_and(|rest| rest.ends_with(['.', '-']));
        FORMATS.iter().find(|row| row.extensions.iter().any(|e| ends_with(e))).map(|row| row.format)
    }
}

impl Format {
    /// Whether files in this format are pictures.
    pub(super) fn is_picture(self) -> bool {
        use Format::{Bmp, Gif, Jpeg, Png, Pnm, Tiff, Webp};
        matches!(self, Png | Pnm | Jpeg | Bmp | Gif | Tiff | Webp)
    }
}

impl FormatInfo {
    /// Whether files in this format can be written.
    pub fn writable(&self) -> bool {
        self.writer.is_some()
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.info().name)
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = |row: &&FormatInfo| row.name == text || row.extensions.contains(&text);
        FORMATS.iter().find(named).map(|row| row.format).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|row| row.name).collect();
            Error::param("format", text, format!("one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_are_read_back() {
        for (at, row) in FORMATS.iter().enumerate() {
            assert_eq!(row.format as usize, at);
            assert_eq!(row.format.info().name, row.name);
            assert_eq!(row.name.parse::<Format>().expect("its own name"), row.format);
            for extension in row.extensions {
                assert_eq!(Format::of_path(format!("a.{extension}.gz").as_ref()), Some(row.format));
            }
        }
        let wrong = "xls".parse::<Format>().expect_err("no such format").to_string();
        assert!(wrong.starts_with("format = xls: must be one of libsvm, csv, tsv"), "{wrong}");
    }
}
