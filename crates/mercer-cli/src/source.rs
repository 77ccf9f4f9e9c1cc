//! Data as a command line names it: a file and how to read it. Every command that takes data takes these options.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use mercer::data::io::{
    Encoding, Format, LabelColumn, Missing, ReadOptions, Storage, TargetKind, read, read_bytes, read_stream,
};
use mercer::data::table::ColumnKinds;
use mercer::data::{Dataset, ImageShape, Targets};
use mercer::model::{Model, Task};
use mercer::{Error, Exec};

use crate::failure::Failure;

/// How a file is read. Without any of these, what the file holds decides.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading the data")]
pub(crate) struct Reading {
    /// Format of the file, overriding detection by content: libsvm, csv, tsv, jsonl, xlsx, parquet, arrow, sequences, fasta,
    /// npy, npz, idx, png, pnm, jpeg, bmp, gif, tiff, webp
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,

    /// Label column: its name, its number (from 1; -1 is the last), or `none`
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    label: Option<LabelColumn>,

    /// File with one label per row
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// Type of the labels: auto, classes, reals or none
    #[arg(long, value_name = "KIND")]
    targets: Option<TargetKind>,

    /// Whether the first line of a table is a header
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    header: Option<bool>,

    /// Encoding of text: utf-8, utf-16 or latin-1 [default: by the byte order mark, otherwise utf-8, or latin-1 where the text looks like it]
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<Encoding>,

    /// Sheet of an Excel workbook [default: the first]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,

    /// Field delimiter of a table
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,

    /// Types of table columns: age=number,zip=category,size=ordered(small<large); also yes/no, date, text,
    /// identifier. A number alone: the number of columns of LIBSVM text
    #[arg(long, value_name = "KINDS")]
    columns: Option<Columns>,

    /// Columns of a table to ignore
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Treatment of missing values in a table: fill, rows (drop rows with gaps) or refuse [default: fill]
    #[arg(long, value_name = "HOW")]
    missing: Option<Missing>,

    /// Words that mean a missing value [default: an empty field, NA, N/A, NaN, null, none, ?, -, #N/A
    /// and the like]
    #[arg(long, value_name = "WORDS", value_delimiter = ',', allow_hyphen_values = true)]
    missing_values: Option<Vec<String>>,

    /// Storage of points in memory: auto, f32, f64 or sparse
    #[arg(long, value_name = "KIND")]
    storage: Option<Storage>,

    /// Height and width of rows that are images, for example 16x16 (and channels: 32x32x3); pictures are resized to it
    #[arg(long, value_name = "HxW", value_parser = image_shape)]
    image: Option<ImageShape>,

    /// Convert colour pictures to grey
    #[arg(long)]
    grey: bool,

    /// Array of an NPZ archive that holds the points
    #[arg(long, value_name = "NAME")]
    array: Option<String>,

    /// Alphabet of sequences, in order
    #[arg(long, value_name = "LETTERS")]
    alphabet: Option<String>,
}

/// What `--columns` takes.
#[derive(Debug, Clone)]
enum Columns {
    Count(usize),
    Kinds(ColumnKinds),
}

impl FromStr for Columns {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.trim().parse() {
            Ok(count) => Ok(Columns::Count(count)),
            Err(_) => text.parse().map(Columns::Kinds),
        }
    }
}

impl Reading {
    /// Files that are read besides the data.
    pub(crate) fn files(&self) -> Option<&Path> {
        self.labels.as_deref()
    }

    /// Reads a file, or standard input where the file is `-`.
    pub(crate) fn read(&self, file: &Path, exec: Exec) -> Result<Dataset, Failure> {
        let options = self.options(exec);
        Ok(Source::new(file, &options)?.read(self, &options)?)
    }

    /// Reads training data. The task determines the type of labels if no option does.
    pub(crate) fn read_for(&self, file: &Path, task: Option<Task>, exec: Exec) -> Result<Dataset, Failure> {
        let options = self.options_for(task, exec);
        let source = Source::new(file, &options)?;
        let data = source.read(self, &options)?;
        if !matches!(task, Some(Task::Novelty | Task::Clustering))
            || self.label.is_some()
            || self.labels.is_some()
        {
            return Ok(data);
        }
        // The last column of a table is only a guess at the label, and no label is needed here.
        let guessed = data.target_from.as_ref().is_some_and(|from| from.guessed);
        let words =
            matches!(&data.targets, Targets::Classes(l) if l.names.iter().any(|n| n.parse::<f64>().is_err()));
        if guessed && !words {
            return Ok(source.read(self, &ReadOptions { label: LabelColumn::None, ..options })?);
        }
        Ok(data)
    }

    /// The options of data to learn from.
    fn options_for(&self, task: Option<Task>, exec: Exec) -> ReadOptions {
        let mut options = self.options(exec);
        if self.targets.is_none() {
            options.targets = match task {
                Some(Task::Classification) => TargetKind::Classes,
                Some(Task::Regression) => TargetKind::Reals,
                Some(Task::Novelty | Task::Clustering | Task::Features) | None => TargetKind::Auto,
            };
        }
        options
    }

    /// The same for rows that are read in blocks; none where what is asked for needs them all at once.
    pub(crate) fn options_for_blocks(&self, task: Option<Task>, exec: Exec) -> Option<ReadOptions> {
        self.image.is_none().then(|| self.options_for(task, exec))
    }

    /// Whether the user declared that labels are classes.
    pub(crate) fn insists_on_classes(&self) -> bool {
        self.targets == Some(TargetKind::Classes)
    }

    /// Reads data for a model: its own number of columns and their order, with labels or without.
    pub(crate) fn read_by(&self, file: &Path, model: &Model, exec: Exec) -> Result<Dataset, Failure> {
        self.read_with(file, model, self.options(exec))
    }

    /// The same for predictions: rows need no label, and some columns are copied as they are.
    pub(crate) fn read_to_predict(
        &self,
        file: &Path,
        model: &Model,
        copy: &[String],
        exec: Exec,
    ) -> Result<Dataset, Failure> {
        let options = ReadOptions { keep_unlabelled: true, copy: copy.to_vec(), ..self.options(exec) };
        self.read_with(file, model, options)
    }

    /// The same in blocks, for a file whose rows would take more than so many bytes in memory; false for others.
    pub(crate) fn read_to_predict_in_blocks(
        &self,
        file: &Path,
        model: &Model,
        most: u64,
        exec: Exec,
        call: &mut dyn FnMut(Dataset) -> mercer::Result<()>,
    ) -> mercer::Result<bool> {
        if self.image.is_some() || !std::fs::metadata(file).is_ok_and(|about| about.is_file()) {
            return Ok(false);
        }
        let options = ReadOptions { keep_unlabelled: true, ..self.options(exec) };
        model.read_rows_in_blocks(file, options, most, exec, call)
    }

    fn read_with(&self, file: &Path, model: &Model, options: ReadOptions) -> Result<Dataset, Failure> {
        let source = Source::new(file, &options)?;
        Ok(model.read_rows(options, |options| source.read(self, options))?)
    }

    fn options(&self, exec: Exec) -> ReadOptions {
        ReadOptions {
            format: self.from,
            targets: self.targets.unwrap_or_default(),
            label: self.label.clone().unwrap_or_default(),
            labels: self.labels.clone(),
            header: self.header,
            delimiter: self.delimiter,
            columns: match &self.columns {
                Some(Columns::Count(count)) => Some(*count),
                _ => None,
            },
            kinds: match &self.columns {
                Some(Columns::Kinds(kinds)) => kinds.clone(),
                _ => ColumnKinds::default(),
            },
            ignore: self.ignore.clone(),
            missing: self.missing.unwrap_or_default(),
            missing_values: self.missing_values.clone(),
            storage: self.storage.unwrap_or_default(),
            array: self.array.clone(),
            encoding: self.encoding,
            sheet: self.sheet.clone(),
            resize: self.image.map(|shape| (shape.height, shape.width)),
            grey: self.grey,
            alphabet: self.alphabet.clone(),
            memory: Some(exec.memory()),
            ..ReadOptions::default()
        }
    }
}

/// A file; or what can be read only once, standard input, a pipe or a device, and is kept: a reading may have to begin
/// again with another label column.
struct Source<'a> {
    file: &'a Path,
    once: Option<Vec<u8>>,
}

impl<'a> Source<'a> {
    fn new(file: &'a Path, options: &ReadOptions) -> Result<Self, Failure> {
        let once = if file == Path::new("-") {
            Some(read_stream(&name(file), io::stdin().lock(), options)?)
        } else if std::fs::metadata(file).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
            let stream = File::open(file).map_err(|e| Error::io(file, e))?;
            Some(read_stream(&name(file), stream, options)?)
        } else {
            None
        };
        Ok(Source { file, once })
    }

    fn read(&self, reading: &Reading, options: &ReadOptions) -> mercer::Result<Dataset> {
        let mut data = match &self.once {
            Some(bytes) => read_bytes(&name(self.file), bytes, options),
            None => read(self.file, options),
        }?;
        if let Some(shape) = reading.image {
            // Pictures were resized to it, and know their own channels.
            let size = |shape: ImageShape| (shape.height, shape.width);
            let own = data.points.image().filter(|own| size(*own) == size(shape));
            let fits = own.is_some_and(|own| shape.channels == 1 || own.channels == shape.channels);
            if !fits {
                data.points = data.points.with_image(shape)?;
            }
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
