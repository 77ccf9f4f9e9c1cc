//! Edge maps in four directions (Schoelkopf 1997, App. A).
//!
//! "Four one-dimensional differential operators (vertical, horizontal, and two diagonal ones) were applied to the
//! images, followed by taking the modulus." The paper does not say which operators: here they are central differences
//! a pixel of distance, `|v(p + e) - v(p - e)| / (2 |e|)` with `e` = (1, 0), (0, 1), (1, 1), (1, -1), and the edge
//! pixels repeated beyond the frame.

use std::f64::consts::SQRT_2;

use super::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Edges {
    keep: bool,
}

/// Steps in x and y, and their length.
const DIRECTIONS: [(isize, isize, f64); 4] = [(1, 0, 1.0), (0, 1, 1.0), (1, 1, SQRT_2), (1, -1, SQRT_2)];

impl Edges {
    /// Channels that come from one: its four maps, and itself where it is kept.
    fn maps(&self) -> usize {
        DIRECTIONS.len() + usize::from(self.keep)
    }

    fn slopes(&self, from: ImageShape, x: &[f64], out: &mut [f64]) {
        let ImageShape { height, width, channels } = from;
        let inside = |at: usize, step: isize, len: usize| at.saturating_add_signed(step).min(len - 1);
        let mut to = out.iter_mut();
        let mut put = |v: f64| *to.next().expect("as many values as the maps have") = v;
        for i in 0..height {
            for j in 0..width {
                for c in 0..channels {
                    let at = |i: usize, j: usize| x[(i * width + j) * channels + c];
                    if self.keep {
                        put(at(i, j));
                    }
                    for (dx, dy, length) in DIRECTIONS {
                        let ahead = at(inside(i, dy, height), inside(j, dx, width));
                        let behind = at(inside(i, -dy, height), inside(j, -dx, width));
                        put((ahead - behind).abs() / (2.0 * length));
                    }
                }
            }
        }
    }
}

impl Line for Edges {
    const ENTRY: Entry = Entry {
        name: "edges",
        args: &[arg("keep", "true", "true or false", "keep the image as the first channel")],
        image: true,
        doc: "absolute gradients in four directions as additional channels",
        example: "edges",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        Ok(Asked::Ready(Edges { keep: args.flag("keep")? }))
    }
}

impl Kind for Edges {
    fn describe(&self, _at: Frame) -> String {
        format!("edges: four directions{}", if self.keep { " and the image" } else { "" })
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        let run = move |x: &[f64], out: &mut [f64]| self.slopes(at.shape(), x, out);
        Some(Box::new(Each { d_out: at.d * self.maps(), on_sparse: OnSparse::Rows, run }))
    }

    fn output(&self, at: Frame) -> Frame {
        let channels = at.shape().channels * self.maps();
        Frame::of(ImageShape { channels, ..at.shape() })
    }

    fn is_valid(&self, at: Frame) -> bool {
        at.d.checked_mul(self.maps()).is_some()
    }
}
