//! Slant taken out of images; the shear is in `data::image`, where transformations use it too.

use super::prelude::*;
use crate::data::image;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Deskew {
    background: f64,
}

impl Line for Deskew {
    const ENTRY: Entry = Entry {
        name: "deskew",
        args: &[BACKGROUND],
        image: true,
        doc: "removes the slant: shears by the angle computed from the moments, at most two pixels per row",
        example: "deskew",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        Ok(match args.real_or("background", "auto")? {
            Some(background) => Asked::Ready(Deskew { background }),
            None => Asked::fit(|on| Ok(Deskew { background: range(on.points)?.0 })),
        })
    }
}

impl Kind for Deskew {
    fn describe(&self, _at: Frame) -> String {
        format!("deskew: slant removed, background {}", self.background)
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        Some(Box::new(image::Deskew::new(at.shape(), self.background)))
    }
}
