//! `x -> by x + add`; nothing is fitted.

use super::prelude::*;
use crate::data::stage::columns::Columns;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Scale {
    by: f64,
    add: f64,
}

impl Scale {
    fn columns(&self, at: Frame) -> Columns {
        Columns::scale(at.d, self.by, self.add)
    }
}

impl Line for Scale {
    const ENTRY: Entry = Entry {
        name: "scale",
        args: &[
            arg("by", "1", "a number", "the factor, such as 1/255"),
            arg("add", "0", "a number", "added after"),
        ],
        doc: "x -> by x + add",
        example: "scale(by=1/255)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        Ok(Asked::Ready(Scale { by: args.real("by")?, add: args.real("add")? }))
    }
}

impl Kind for Scale {
    fn describe(&self, _at: Frame) -> String {
        format!("scale: every value times {} plus {}", self.by, self.add)
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        Some(Box::new(self.columns(at)))
    }

    fn inverse(&self, at: Frame) -> Option<Box<dyn RowMap>> {
        Some(Box::new(self.columns(at).undo(&[])?))
    }
}
