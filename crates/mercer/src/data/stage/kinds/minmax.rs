//! Maps the training range to `[lo, hi]`. Columns constant in training become the value of `[lo, hi]` nearest 0.

use super::prelude::*;
use crate::data::stage::columns::{Columns, Stats};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Minmax {
    lo: f64,
    hi: f64,
    #[serde(skip)]
    min: Vec<f64>,
    #[serde(skip)]
    max: Vec<f64>,
}

impl Minmax {
    fn columns(&self, at: Frame) -> Columns {
        Columns::minmax(at.d, self.lo, self.hi, &self.min, &self.max)
    }
}

impl Line for Minmax {
    const ENTRY: Entry = Entry {
        name: "minmax",
        args: &[
            arg("lo", "0", "a number", "lower end of the new range"),
            arg("hi", "1", "a number above lo", "upper end of the new range"),
            PER,
        ],
        doc: "training range to [lo, hi]; constant columns become the value of [lo, hi] nearest 0",
        example: "minmax(-1, 1)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let (lo, hi) = (args.real("lo")?, args.real("hi")?);
        args.need("hi", hi > lo && (hi - lo).is_finite())?;
        let per = Per::read(args)?;
        Ok(Asked::fit(move |on| {
            let Stats { min, max, .. } = Stats::of(on.points, per.groups(on), on.exec)?;
            Ok(Minmax { lo, hi, min, max })
        }))
    }
}

impl Kind for Minmax {
    fn describe(&self, at: Frame) -> String {
        let Minmax { lo, hi, min, max } = self;
        let constant = min.iter().zip(max).filter(|(a, b)| a == b).count();
        format!("minmax: {} to [{lo}, {hi}]; {constant} constant", Per::words(min.len(), at.d))
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        Some(Box::new(self.columns(at)))
    }

    fn inverse(&self, at: Frame) -> Option<Box<dyn RowMap>> {
        Some(Box::new(self.columns(at).undo(&self.min)?))
    }

    fn arrays(&mut self, _at: Frame) -> Vec<Array<'_>> {
        vec![Array::new("min", &mut self.min), Array::new("max", &mut self.max)]
    }

    fn is_valid(&self, at: Frame) -> bool {
        let Minmax { lo, hi, min, max } = self;
        let ranges = || min.iter().zip(max).all(|(a, b)| a <= b && (b - a).is_finite());
        hi > lo && (hi - lo).is_finite() && Columns::fit_in(at.d, min, max) && ranges()
    }
}
