//! Rows to length 1; rows of zeros stay.

use super::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Unit {}

impl Line for Unit {
    const ENTRY: Entry = Entry {
        name: "unit",
        doc: "rows scaled to length 1; rows of zeros are unchanged",
        example: "unit",
        ..Entry::NUMBERS
    };

    fn read(_args: &Args) -> Result<Asked<Self>> {
        Ok(Asked::Ready(Unit {}))
    }
}

impl Kind for Unit {
    fn describe(&self, _at: Frame) -> String {
        "unit: every row scaled to length 1".to_owned()
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        Some(Box::new(Each { d_out: at.d, on_sparse: OnSparse::Entries, run: to_unit }))
    }
}

fn to_unit(x: &[f64], out: &mut [f64]) {
    // Relative to the largest value, so that no square overflows or vanishes.
    let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        out.copy_from_slice(x);
        return;
    }
    let norm = x.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt();
    out.iter_mut().zip(x).for_each(|(to, v)| *to = v / largest / norm);
}
