//! Gaussian smoothing of images; the filter is in `data::image`, where transformations use it too.

use super::prelude::*;
use crate::data::image;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Smooth {
    sigma: f64,
}

impl Line for Smooth {
    const ENTRY: Entry = Entry {
        name: "smooth",
        args: &[arg("sigma", "", "a number from 0 to 100", "width of the Gaussian in pixels")],
        image: true,
        doc: "Gaussian smoothing, edge pixels repeated, window of 4 sigma to each side",
        example: "smooth(sigma=0.75)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let sigma = args.real("sigma")?;
        args.need("sigma", (0.0..=100.0).contains(&sigma))?;
        Ok(Asked::Ready(Smooth { sigma }))
    }
}

impl Kind for Smooth {
    fn describe(&self, _at: Frame) -> String {
        format!("smooth: Gaussian of {} pixels, edge pixels repeated", self.sigma)
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        Some(Box::new(image::Smooth::new(at.shape(), self.sigma)))
    }

    fn is_valid(&self, _at: Frame) -> bool {
        (0.0..=100.0).contains(&self.sigma)
    }
}
