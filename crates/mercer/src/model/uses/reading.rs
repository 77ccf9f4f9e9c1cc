//! Reading data for a model: its columns in their order, with or without labels.
//!
//! The command and the service share this code, so that both accept and refuse the same rows.

use std::path::Path;

use crate::data::io::{Format, LabelColumn, ReadOptions, TargetKind, beginning, each_block, is_beyond};
use crate::data::{Data, Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::{Model, Task};
use crate::watch::Note;

impl Model {
    /// Reads rows for this model. `read` reads the source with given options, and is called again with another label
    /// column where the first guess does not fit the model. Columns are then matched by name: see [`Model::arrange`].
    ///
    /// ```
    /// use mercer::data::io::{ReadOptions, read_bytes};
    /// use mercer::data::{Labels, Points, Targets};
    /// use mercer::model::{Model, Sample, SvcParams};
    /// use mercer::{Exec, watch};
    /// let points = Points::dense(vec![0.0, 0.1, 5.0, 5.2], 1)?;
    /// let targets = Targets::Classes(Labels::new(["low", "low", "high", "high"]));
    /// let svc = SvcParams::default().fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// let model = Model::from(svc);
    /// // One column and no label, or one column and a label.
    /// for text in ["4.9\n0.2\n", "4.9,high\n0.2,low\n"] {
    ///     let read = |options: &ReadOptions| read_bytes("rows.csv", text.as_bytes(), options);
    ///     let data = model.read_rows(ReadOptions::default(), read)?;
    ///     assert_eq!((data.len(), data.dim()), (2, 1));
    /// }
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn read_rows(
        &self,
        options: ReadOptions,
        read: impl Fn(&ReadOptions) -> Result<Dataset>,
    ) -> Result<Dataset> {
        self.arrange(self.read_settled(options, read)?.0)
    }

    /// The same for a file whose rows would take more than so many bytes in memory: calls with one block of rows after the
    /// other. False, and no call, for smaller files and for formats that are not read in blocks.
    pub fn read_rows_in_blocks(
        &self,
        path: &Path,
        options: ReadOptions,
        most: u64,
        exec: Exec,
        call: &mut dyn FnMut(Dataset) -> Result<()>,
    ) -> Result<bool> {
        if !is_beyond(path, &options, most)? {
            return Ok(false);
        }
        // The first rows tell which column is the label.
        let (data, mut options) = self.read_settled(options, |options| beginning(path, options, exec))?;
        if data.format == Some(Format::Libsvm) {
            options.columns = options.columns.or(self.columns());
        }
        each_block(path, &options, exec, &mut |data| call(self.arrange(data)?))?;
        Ok(true)
    }

    fn read_settled(
        &self,
        mut options: ReadOptions,
        read: impl Fn(&ReadOptions) -> Result<Dataset>,
    ) -> Result<(Dataset, ReadOptions)> {
        options.model_kinds = self.column_kinds();
        if let Data::Sequences { alphabet, .. } = self.entry().centres().view().data {
            options.model_alphabet = Some(alphabet.to_vec());
        }
        if options.targets == TargetKind::Auto {
            options.targets = match self.task() {
                Task::Classification => TargetKind::Classes,
                Task::Regression => TargetKind::Reals,
                Task::Novelty | Task::Clustering | Task::Features => TargetKind::Auto,
            };
        }
        let both = |options: &ReadOptions| -> Result<(Dataset, ReadOptions)> {
            Ok((read(options)?, options.clone()))
        };
        let first = self.read_fitting(options.clone(), both);
        let Some(shape) = self.image().filter(|_| options.resize.is_none()) else { return first };
        let other = match &first {
            Ok((data, _)) => data.points.image().is_some_and(|own| own != shape),
            // Pictures of several sizes are refused unless they are brought to one.
            Err(_) => true,
        };
        if !other {
            return first;
        }
        let shaped = ReadOptions { model_image: Some(shape), ..options };
        match self.read_fitting(shaped, both) {
            Ok((mut data, options)) if data.points.image() == Some(shape) => {
                let text = format!(
                    "pictures are brought to {} x {} pixels, as the model was trained with",
                    shape.height, shape.width
                );
                data.notes.push(Note::warning(text));
                Ok((data, options))
            }
            _ => first,
        }
    }

    /// The shape of the pictures that the model was trained on.
    fn image(&self) -> Option<ImageShape> {
        match self.stages.list.first() {
            Some(stage) => stage.input_image(),
            None => self.entry().centres().image(),
        }
    }

    fn read_fitting(
        &self,
        mut options: ReadOptions,
        read: impl Fn(&ReadOptions) -> Result<(Dataset, ReadOptions)>,
    ) -> Result<(Dataset, ReadOptions)> {
        if options.label != LabelColumn::Auto || options.labels.is_some() || options.columns.is_some() {
            return read(&options);
        }
        let without = |options: &ReadOptions| ReadOptions { label: LabelColumn::None, ..options.clone() };
        if let Some(target) = &self.names.target {
            let named = ReadOptions { label: LabelColumn::Name(target.clone()), ..options.clone() };
            match read(&named) {
                Ok(found) => return Ok(found),
                // A file to predict on need not have the column; one without a header cannot.
                Err(Error::Param { .. } | Error::Unused { .. }) => match read(&without(&options)) {
                    // With names in common, a column that is not there is named.
                    Ok(found) if self.takes(&found.0) || self.shares_names(&found.0) => return Ok(found),
                    // What is wrong with a cell is no reason to look for another label.
                    Err(Error::Data(fault)) => return Err(Error::Data(fault)),
                    _ => {}
                },
                Err(other) => return Err(other),
            }
        }
        let Some(d) = self.columns() else { return read(&options) };
        let first = read(&options);
        match &first {
            Ok((data, _)) if data.dim() == d => return first,
            // LIBSVM text is as wide as its largest index: the model knows better.
            Ok((data, _)) if data.dim() < d && data.format == Some(Format::Libsvm) => {
                options.columns = Some(d);
                return read(&options);
            }
            _ => {}
        }
        match read(&without(&options)) {
            Ok(found) if found.0.dim() == d => Ok(found),
            _ => first,
        }
    }

    /// Whether data and the model know a column by the same name.
    fn shares_names(&self, data: &Dataset) -> bool {
        data.column_names.iter().flatten().any(|name| self.names.columns.contains(name))
    }
}
