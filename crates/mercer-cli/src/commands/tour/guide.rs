//! What all stops of the tour have in common: settings, and the digits in two parts.

use mercer::data::{Dataset, ImageShape, digits, split};
use mercer::model::{Machine, Model, Sample, SvcParams};
use mercer::{Exec, Result};
use mercer_report::html::{Ink, Tile, Tiles};

use crate::context::Context;
use crate::progress::Progress;

/// Settings and data.
pub(super) struct Guide<'a> {
    pub(super) context: &'a Context,
    pub(super) exec: Exec,
    pub(super) seed: u64,
    /// Digits to learn from.
    pub(super) train: Dataset,
    /// Digits to be tested on.
    pub(super) test: Dataset,
}

impl<'a> Guide<'a> {
    pub(super) fn new(context: &'a Context) -> Result<Self> {
        let all = digits();
        let fold = split::holdout_of(all.len(), &all.targets, 1.0 / 3.0, context.seed)?;
        Ok(Guide {
            context,
            exec: context.exec,
            seed: context.seed,
            train: all.gather(&fold.train),
            test: all.gather(&fold.test),
        })
    }

    /// A toy set.
    pub(super) fn toy(&self, name: &str, rows: usize) -> Result<Dataset> {
        let (points, targets) = mercer::data::toy::by_name(name, rows, self.seed)?;
        Dataset::new(points, targets)
    }

    /// A classifier.
    pub(super) fn svc(&self, params: &SvcParams, data: &Dataset) -> Result<Machine> {
        let sample = Sample::new(&data.points, &data.targets);
        params.fit(sample, self.exec, &mut Progress::new(self.context).watch())
    }

    /// The same as a whole model.
    pub(super) fn classifier(&self, params: &SvcParams, data: &Dataset) -> Result<Model> {
        self.svc(params, data).map(Model::from)
    }

    /// Pixels of a row of some digits.
    pub(super) fn pixels(data: &Dataset, row: usize) -> Vec<f64> {
        data.points.row(row).to_f64()
    }

    /// Digits side by side.
    pub(super) fn tiles(tiles: Vec<Tile>) -> Tiles {
        Tiles { shape: ImageShape::grey(8, 8), ink: Ink::Levels(0.0, 16.0), tiles }
    }
}
