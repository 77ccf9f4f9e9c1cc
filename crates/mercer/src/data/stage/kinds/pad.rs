//! Columns of zeros behind those that are there.

use super::prelude::*;
use crate::data::stage::Stage;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Pad {
    columns: usize,
}

impl Stage {
    /// Adds columns of zeros after the d existing ones, for kernels that store values with a point.
    pub fn pad(d: usize, columns: usize) -> Result<Self> {
        Stage { at: Frame { d, image: None }, op: Op::Pad(Pad { columns }) }.checked()
    }
}

impl Kind for Pad {
    fn name(&self) -> Option<&'static str> {
        Some("pad")
    }

    fn describe(&self, at: Frame) -> String {
        format!("pad: {} columns and {} of zeros", at.d, self.columns)
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        let run = |x: &[f64], out: &mut [f64]| out[..x.len()].copy_from_slice(x);
        Some(Box::new(Each { d_out: at.d + self.columns, on_sparse: OnSparse::Entries, run }))
    }

    fn output(&self, at: Frame) -> Frame {
        Frame { d: at.d + self.columns, image: None }
    }

    fn is_valid(&self, at: Frame) -> bool {
        self.columns > 0 && at.d.checked_add(self.columns).is_some()
    }
}
