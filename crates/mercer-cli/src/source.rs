//! Data as a command line names it: a file and how to read it. Every command that takes data takes these options.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use mercer::data::io::{Format, LabelColumn, ReadOptions, Storage, TargetKind, read, read_from};
use mercer::data::{Dataset, ImageShape};

use crate::failure::Failure;

/// How a file is read. Without any of these, what the file holds decides.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading the data")]
pub(crate) struct Reading {
    /// Format of the file, if its content should not decide: libsvm, csv, tsv, sequences, fasta, npy, npz, idx
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,

    /// Label column: its name, its number (from 1; -1 is the last), or `none`
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    label: Option<LabelColumn>,

    /// A file with one label a row
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// What labels are: auto, classes, reals or none
    #[arg(long, value_name = "KIND")]
    targets: Option<TargetKind>,

    /// Whether the first line of a table is a header
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    header: Option<bool>,

    /// What separates a table's fields
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,

    /// Number of columns, where the file does not tell (LIBSVM text)
    #[arg(long, value_name = "D")]
    columns: Option<usize>,

    /// How points are kept in memory: auto, f32, f64 or sparse
    #[arg(long, value_name = "KIND")]
    storage: Option<Storage>,

    /// Height and width of rows that are images, for example 16x16 (and channels: 32x32x3)
    #[arg(long, value_name = "HxW", value_parser = image_shape)]
    image: Option<ImageShape>,

    /// Which array of an NPZ archive holds the points
    #[arg(long, value_name = "NAME")]
    array: Option<String>,

    /// The letters of sequences, in order
    #[arg(long, value_name = "LETTERS")]
    alphabet: Option<String>,
}

impl Reading {
    /// Reads a file, or standard input where the file is `-`.
    pub(crate) fn read(&self, file: &Path) -> Result<Dataset, Failure> {
        let options = ReadOptions {
            format: self.from,
            targets: self.targets.unwrap_or_default(),
            label: self.label.clone().unwrap_or_default(),
            labels: self.labels.clone(),
            header: self.header,
            delimiter: self.delimiter,
            columns: self.columns,
            storage: self.storage.unwrap_or_default(),
            array: self.array.clone(),
            alphabet: self.alphabet.clone(),
            ..ReadOptions::default()
        };
        let data = if file == Path::new("-") {
            read_from("standard input", io::stdin().lock(), &options)
        } else {
            read(file, &options)
        };
        let mut data = data?;
        if let Some(shape) = self.image {
            data.points = data.points.with_image(shape)?;
        }
        Ok(data)
    }
}

/// The name to show for a file.
pub(crate) fn name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".into() } else { file.display().to_string() }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("expected yes or no".into()),
    }
}

fn image_shape(text: &str) -> Result<ImageShape, String> {
    let sides: Option<Vec<usize>> =
        text.split('x').map(|side| side.parse().ok().filter(|&s| s > 0)).collect();
    match sides.as_deref() {
        Some(&[height, width]) => Ok(ImageShape::grey(height, width)),
        Some(&[height, width, channels]) => Ok(ImageShape { height, width, channels }),
        _ => Err("expected height and width, for example 16x16".into()),
    }
}
