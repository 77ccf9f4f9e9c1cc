//! Reading rows for a model: its own columns in their order, with labels or without.
//!
//! The command and the service read through this, so that both take and refuse the same rows.

use crate::data::Dataset;
use crate::data::io::{Format, LabelColumn, ReadOptions, TargetKind};
use crate::error::{Error, Result};
use crate::model::{Model, Task};

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
        mut options: ReadOptions,
        read: impl Fn(&ReadOptions) -> Result<Dataset>,
    ) -> Result<Dataset> {
        options.model_kinds = self.column_kinds();
        if options.targets == TargetKind::Auto {
            options.targets = match self.task() {
                Task::Classification => TargetKind::Classes,
                Task::Regression => TargetKind::Reals,
                Task::Novelty | Task::Clustering | Task::Features => TargetKind::Auto,
            };
        }
        self.arrange(self.read_fitting(options, read)?)
    }

    fn read_fitting(
        &self,
        mut options: ReadOptions,
        read: impl Fn(&ReadOptions) -> Result<Dataset>,
    ) -> Result<Dataset> {
        if options.label != LabelColumn::Auto || options.labels.is_some() || options.columns.is_some() {
            return read(&options);
        }
        let without = |options: &ReadOptions| ReadOptions { label: LabelColumn::None, ..options.clone() };
        if let Some(target) = &self.names.target {
            let named = ReadOptions { label: LabelColumn::Name(target.clone()), ..options.clone() };
            match read(&named) {
                Ok(data) => return Ok(data),
                // A file to predict on need not have the column; one without a header cannot.
                Err(Error::Param { .. }) => match read(&without(&options)) {
                    // With names in common, a column that is not there is named.
                    Ok(data) if self.takes(&data) || self.shares_names(&data) => return Ok(data),
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
            Ok(data) if data.dim() == d => return first,
            // LIBSVM text is as wide as its largest index: the model knows better.
            Ok(data) if data.dim() < d && data.format == Some(Format::Libsvm) => {
                options.columns = Some(d);
                return read(&options);
            }
            _ => {}
        }
        match read(&without(&options)) {
            Ok(data) if data.dim() == d => Ok(data),
            _ => first,
        }
    }

    /// Whether data and the model know a column by the same name.
    fn shares_names(&self, data: &Dataset) -> bool {
        data.column_names.iter().flatten().any(|name| self.names.columns.contains(name))
    }
}
