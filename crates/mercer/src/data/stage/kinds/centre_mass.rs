//! Centring by mass: the image moves by whole pixels until its centre of mass is nearest the frame's centre.
//!
//! Whole pixels leave every value as it was; what moves out is lost and what moves in is background. Schoelkopf (1997,
//! App. A) weighs the binarised image, MNIST's makers the grey values: [`Mass`] does either.

use super::prelude::*;
use crate::data::image::Mass;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct CentreMass {
    background: f64,
    /// Figure is what is further than this from the background, and weighs 1; None: grey values weigh.
    level: Option<f64>,
}

impl Line for CentreMass {
    const ENTRY: Entry = Entry {
        name: "centre-mass",
        args: &[
            arg(
                "threshold",
                "none",
                "a number from 0 to below 1, or none",
                "weight figure and ground by 1 and 0, with this fraction of the training range as the threshold; none: weight by grey values",
            ),
            BACKGROUND,
        ],
        image: true,
        doc: "centre of mass to the frame's centre, by whole pixels",
        example: "centre-mass",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let threshold = args.real_or("threshold", "none")?;
        args.need("threshold", (0.0..1.0).contains(&threshold.unwrap_or(0.0)))?;
        Ok(match (threshold, args.real_or("background", "auto")?) {
            (None, Some(background)) => Asked::Ready(CentreMass { background, level: None }),
            (threshold, background) => Asked::fit(move |on| {
                let (least, range) = range(on.points)?;
                let level = threshold.map(|share| share * range);
                Ok(CentreMass { background: background.unwrap_or(least), level })
            }),
        })
    }
}

impl Kind for CentreMass {
    fn describe(&self, _at: Frame) -> String {
        let ground = self.background;
        match self.level {
            None => format!("centre-mass: centre of mass to the frame's centre, background {ground}"),
            Some(level) => {
                format!("centre-mass: figure further than {level} from background {ground} to the frame's centre")
            }
        }
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        let mass = Mass { background: self.background, level: self.level };
        let run = move |x: &[f64], out: &mut [f64]| centre(mass, at.shape(), x, out);
        Some(Box::new(Each { d_out: at.d, on_sparse: OnSparse::Rows, run }))
    }

    fn is_valid(&self, _at: Frame) -> bool {
        self.level.is_none_or(|level| level >= 0.0)
    }
}

fn centre(mass: Mass, shape: ImageShape, x: &[f64], out: &mut [f64]) {
    let ImageShape { height, width, channels } = shape;
    let moments = mass.moments(x, shape);
    if moments.mass <= 0.0 {
        out.copy_from_slice(x);
        return;
    }
    let right = whole((width - 1) as f64 / 2.0 - moments.x);
    let down = whole((height - 1) as f64 / 2.0 - moments.y);
    out.fill(mass.background);
    let (columns, from_column, to_column) = overlap(width, right);
    let (rows, from_row, to_row) = overlap(height, down);
    for i in 0..rows {
        let from = ((from_row + i) * width + from_column) * channels;
        let to = ((to_row + i) * width + to_column) * channels;
        out[to..to + columns * channels].copy_from_slice(&x[from..from + columns * channels]);
    }
}

/// The nearest whole number, halves towards zero, so that a centred image does not move again.
fn whole(way: f64) -> isize {
    // The slack swallows the rounding in the moments, which could push a half over its edge.
    ((way.abs() - 0.5 - 1e-9).ceil().max(0.0) * way.signum()) as isize
}

/// How many of `len` pixels stay in the frame when moved by `way`, the first that does, and where it goes.
fn overlap(len: usize, way: isize) -> (usize, usize, usize) {
    let by = way.unsigned_abs().min(len);
    if way >= 0 { (len - by, 0, by) } else { (len - by, by, 0) }
}
