//! Text in batches of lines: surveyed once, then converted, both on all threads.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::super::labels::Collector;
use super::super::limits::Budget;
use super::super::records::{Record, delimiter_of};
use super::super::source::Input;
use super::super::table::Decided;
use super::super::{Format, LabelColumn, ReadOptions, Storage};
use super::sample::{Reservoir, size};
use super::store::{Store, Writer};
use super::{kind_of, libsvm, numbered, table};
use crate::data::{Data, Dataset, Stages};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::watch::{Note, Step, Watch};

/// Different labels whose first row is surely in a sample.
const CLASSES: usize = 1000;
/// Maximum ratio of decompressed to compressed size; beyond it the file is read like a small one.
const PACKED: u64 = 20;

/// Lines of a file that are taken together.
pub(super) enum Batch {
    Records(Vec<Record>),
    Lines(Vec<(u64, Vec<u8>)>),
}

/// The state of a file after reading its beginning.
pub(super) struct Begun {
    pub(super) name: String,
    pub(super) budget: Budget,
    /// For tables.
    pub(super) decided: Option<Decided>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        match self {
            Batch::Records(records) => records.is_empty(),
            Batch::Lines(lines) => lines.is_empty(),
        }
    }

    /// The rows as a data set; nothing where none of them counts.
    pub(super) fn parsed(&self, begun: &Begun, options: &ReadOptions) -> Result<Option<Dataset>> {
        match (self, &begun.decided) {
            (Batch::Records(records), Some(decided)) => table::parsed(records, decided, &begun.name, options),
            (Batch::Lines(lines), _) => libsvm::parsed(lines, begun, options).map(Some),
            (Batch::Records(_), None) => Ok(None),
        }
    }
}

/// Bytes of the rows in memory, as far as the first lines tell; nothing where a packed file is surely small.
pub(super) fn bytes_in_memory(
    input: &mut Input<'_>,
    format: Format,
    len: u64,
    most: u64,
) -> Result<Option<u64>> {
    let head = input.head.clone();
    let unpacked = if input.compression.is_none() {
        len
    } else if len.saturating_mul(PACKED) <= most {
        return Ok(None);
    } else {
        let mut counted = 0;
        let mut piece = vec![0; 1 << 16];
        loop {
            match input.reader.read(&mut piece) {
                Ok(0) => break counted,
                Ok(got) => counted += got as u64,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(input.failed(e)),
            }
        }
    };
    let count = |what: &dyn Fn(u8) -> bool| head.iter().filter(|b| what(**b)).count();
    let bytes = if format == Format::Libsvm {
        count(&|b| b == b':') * 12 + count(&|b| b == b'\n') * 16
    } else {
        let delimiter = delimiter_of(&head);
        (count(&|b| b == delimiter) + count(&|b| b == b'\n')) * 8
    };
    let each = bytes as f64 / head.len().max(1) as f64;
    Ok(Some((each * unpacked as f64) as u64))
}

/// A text file with its options, including what the survey has detected.
pub(super) struct Text {
    path: PathBuf,
    format: Format,
    options: ReadOptions,
    classes: Vec<String>,
}

/// Bytes of text of a batch.
fn batch_bytes(exec: Exec) -> usize {
    (exec.budget() / 64 / exec.threads()).clamp(1 << 16, 4 << 20)
}

/// Receives a group of batches, and the number of bytes read so far.
type Group<'g> = dyn FnMut(&Begun, &mut Vec<Batch>, u64) -> Result<()> + 'g;

/// Calls with groups of batches, one for each thread.
pub(super) fn groups(
    path: &Path,
    format: Format,
    options: &ReadOptions,
    exec: Exec,
    call: &mut Group<'_>,
) -> Result<()> {
    let mut input = Input::open(path, Budget::of(options))?;
    input.in_encoding(options.encoding)?;
    let (mut group, mut bytes) = (Vec::new(), 0);
    let mut take = |begun: &Begun, batch: Batch, size: usize, last: bool| {
        if !batch.is_empty() {
            group.push(batch);
        }
        bytes += size as u64;
        if group.len() >= exec.threads() || last && !group.is_empty() {
            call(begun, &mut group, bytes)?;
            group.clear();
        }
        Ok(())
    };
    match format {
        Format::Libsvm => libsvm::batches(&mut input, batch_bytes(exec), &mut take),
        Format::Tsv => {
            let options = ReadOptions { delimiter: options.delimiter.or(Some('\t')), ..options.clone() };
            table::batches(&mut input, &options, batch_bytes(exec), &mut take)
        }
        _ => table::batches(&mut input, options, batch_bytes(exec), &mut take),
    }
}

/// In order, on as many threads as there may be.
fn mapped<T: Sync, R: Send>(exec: Exec, items: &[T], one: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if exec.threads() == 1 { items.iter().map(one).collect() } else { items.par_iter().map(one).collect() }
}

/// Calls with the rows of a file, block by block.
pub(super) fn each_block(
    path: &Path,
    format: Format,
    options: &ReadOptions,
    exec: Exec,
    call: &mut dyn FnMut(Dataset) -> Result<()>,
) -> Result<()> {
    groups(path, format, options, exec, &mut |begun, group, _| {
        for data in mapped(exec, group, |batch| batch.parsed(begun, options)) {
            if let Some(mut data) = data? {
                data.format = Some(format);
                call(data)?;
            }
        }
        Ok(())
    })
}

impl Text {
    /// Scans all lines to detect labels, cells and the number of columns, and draws a sample.
    pub(super) fn survey(
        path: &Path,
        format: Format,
        options: &ReadOptions,
        exec: Exec,
        seed: u64,
        watch: &mut Watch<'_>,
    ) -> Result<(Self, Dataset, usize)> {
        let total = Input::open(path, Budget::of(options))?.len;
        let mut labels = Collector::new(options.targets);
        let mut odd = table::Odd::default();
        let mut records: Option<Reservoir<Record>> = None;
        let mut lines: Option<Reservoir<(u64, Vec<u8>)>> = None;
        let (mut columns, mut label, mut begin, mut left_out) = (0, None, None, 0_u64);
        groups(path, format, options, exec, &mut |begun, group, bytes| {
            if watch(&Step::new("survey", bytes, total)).is_break() {
                return Err(Error::Cancelled);
            }
            if let Some(decided) = &begun.decided {
                let found = mapped(exec, group, |batch| match batch {
                    Batch::Records(records) => odd.found(records, decided),
                    Batch::Lines(_) => Vec::new(),
                });
                for (batch, found) in group.iter().zip(found) {
                    let Batch::Records(rows) = batch else { continue };
                    let new = odd.take(found);
                    let sample = records.get_or_insert_with(|| {
                        Reservoir::new(
                            size(rows.first().map_or(1, |r| 2 * r.bytes() + 96), exec.budget()),
                            seed,
                        )
                    });
                    for (i, row) in rows.iter().enumerate() {
                        let Some(counts) = decided.label_of(row, &mut labels, &begun.name)? else {
                            left_out += 1;
                            continue;
                        };
                        sample.push(row, (1..=CLASSES).contains(&counts) || new.contains(&i));
                    }
                }
                label = Some(decided.label_number());
            } else {
                let parsed = mapped(exec, group, |batch| match batch {
                    Batch::Lines(lines) => libsvm::widest(lines, begun, options),
                    Batch::Records(_) => Ok(0),
                });
                for (batch, wide) in group.iter().zip(parsed) {
                    columns = columns.max(wide?);
                    let Batch::Lines(rows) = batch else { continue };
                    let sample = lines.get_or_insert_with(|| {
                        Reservoir::new(
                            size(rows.first().map_or(1, |r| 2 * r.1.len() + 64), exec.budget()),
                            seed,
                        )
                    });
                    for row in rows {
                        let first = libsvm::label_of(row, &mut labels, &begun.name)?;
                        sample.push(row, first.is_some_and(|c| c <= CLASSES));
                    }
                }
            }
            begin.get_or_insert_with(|| (begun.name.clone(), begun.budget, begun.decided.clone()));
            Ok(())
        })?;
        let Some((name, budget, decided)) = begin else {
            return Err(super::super::source::fault(
                &path.display().to_string(),
                Some("no rows"),
                "at least one row",
            ));
        };
        let mut settled = options.clone();
        let targets = labels.finish();
        settled.targets = kind_of(&targets);
        let (_, classes) = numbered(&targets);
        if let Some(label) = label {
            settled.label = label.map_or(LabelColumn::None, LabelColumn::Number);
        }
        if format == Format::Libsvm {
            settled.columns = Some(options.columns.unwrap_or(columns).max(1));
        }
        let begun = Begun { name, budget, decided };
        let (seen, sample) = match (records, lines) {
            (Some(sample), _) => (sample.seen(), Batch::Records(sample.finish())),
            (None, Some(sample)) => (sample.seen(), Batch::Lines(sample.finish())),
            (None, None) => (0, Batch::Lines(Vec::new())),
        };
        let Some(mut data) = sample.parsed(&begun, &settled)? else {
            return Err(super::super::source::fault(
                &begun.name,
                Some("no rows with a label"),
                "at least one",
            ));
        };
        // Blocks are stored as the sample is.
        settled.storage = match data.points.view().data {
            Data::Csr { .. } => Storage::Sparse,
            _ if format == Format::Libsvm => Storage::F64,
            _ => Storage::Auto,
        };
        data.notes.insert(0, format!("read as {format}, in blocks").into());
        data.format = Some(format);
        if left_out > 0 {
            data.notes.push(Note::warning(format!("{left_out} rows skipped: they have no label")));
        }
        if let Some(decided) = &begun.decided {
            data.target_from = decided.from().cloned();
        }
        let text = Text { path: path.to_owned(), format, options: settled, classes };
        Ok((text, data, usize::try_from(seen).unwrap_or(usize::MAX)))
    }

    /// All rows after stages, as numbers on disk.
    pub(super) fn converted(
        &self,
        stages: &Stages,
        rows: usize,
        folder: &Path,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Store> {
        let kinds = stages.list.first().and_then(crate::data::Stage::column_kinds).unwrap_or_default();
        let options = ReadOptions { model_kinds: kinds, ..self.options.clone() };
        let numbers: HashMap<&str, f64> =
            self.classes.iter().enumerate().map(|(i, name)| (name.as_str(), i as f64)).collect();
        let mut writer = Writer::new(folder)?;
        let mut done = 0;
        groups(&self.path, self.format, &options, exec, &mut |begun, group, _| {
            if watch(&Step::new("convert", done, Some(rows as u64))).is_break() {
                return Err(Error::Cancelled);
            }
            let parts = mapped(exec, group, |batch| {
                let Some(data) = batch.parsed(begun, &options)? else { return Ok(None) };
                let (mut y, names) = numbered(&data.targets);
                if !names.is_empty() {
                    let of = names.iter().map(|name| {
                        let known = numbers.get(name.as_str()).copied();
                        known.ok_or_else(|| self.changed(&format!("a new label `{name}`")))
                    });
                    let of: Vec<f64> = of.collect::<Result<_>>()?;
                    y.iter_mut().for_each(|c| *c = of[*c as usize]);
                }
                let points = stages.apply(data.points.view(), exec.with_threads(1))?;
                Ok::<_, Error>(Some((points, y)))
            });
            for part in parts {
                if let Some((points, y)) = part? {
                    done += points.len() as u64;
                    writer.push(&points, &y)?;
                }
            }
            Ok(())
        })?;
        if done != rows as u64 {
            return Err(self.changed(&format!("{done} rows")));
        }
        writer.finish(self.classes.clone())
    }

    /// The file is read twice; a program may write to it in between.
    fn changed(&self, got: &str) -> Error {
        let expected = "the same rows as a moment ago: the file was changed while it was read";
        super::super::source::fault(&self.path.display().to_string(), Some(got), expected)
    }
}
