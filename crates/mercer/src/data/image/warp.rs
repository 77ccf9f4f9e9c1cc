//! Warps of images, affine or by a displacement field, with linear interpolation between the four nearest pixels.
//!
//! The source of each pixel is the same for every image, so a table of sources is computed once and applied to all
//! rows. Maps that send pixels onto pixels (whole shifts, mirrors, quarter turns) are plain copies, exact to the bit.

use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// An affine map of the plane about the frame's centre: the result at `p` is the image at `matrix (p - centre) +
/// centre + offset`, with p = (x, y).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Affine {
    pub(super) matrix: [[f64; 2]; 2],
    pub(super) offset: [f64; 2],
}

/// The table of sources.
#[derive(Debug)]
pub(super) struct Warp {
    shape: ImageShape,
    background: f64,
    sources: Sources,
}

/// Index that represents the background.
const GROUND: u32 = u32::MAX;

#[derive(Debug)]
enum Sources {
    /// The pixel to copy, or [`GROUND`].
    Copy(Vec<u32>),
    Blend(Vec<Blend>),
}

/// Up to four pixels and their weights, and the weight of the background beyond the frame.
#[derive(Debug, Clone, Copy, Default)]
struct Blend {
    pixel: [u32; 4],
    weight: [f64; 4],
    beyond: f64,
}

impl Warp {
    pub(super) fn new(shape: ImageShape, affine: Affine, background: f64) -> Self {
        let (cx, cy) = ((shape.width - 1) as f64 / 2.0, (shape.height - 1) as f64 / 2.0);
        let Affine { matrix: [[a, b], [c, d]], offset: [ox, oy] } = affine;
        Warp::from(shape, background, |_, x, y| {
            let (x, y) = (x - cx, y - cy);
            (a * x + b * y + cx + ox, c * x + d * y + cy + oy)
        })
    }

    /// Pixel p of the result is the one at displacement `field[p]`, in x and y.
    pub(super) fn moved(shape: ImageShape, field: &[[f64; 2]], background: f64) -> Self {
        Warp::from(shape, background, |p, x, y| (x + field[p][0], y + field[p][1]))
    }

    fn from(shape: ImageShape, background: f64, source: impl Fn(usize, f64, f64) -> (f64, f64)) -> Self {
        let blends: Vec<Blend> = (0..shape.height * shape.width)
            .map(|p| {
                let (x, y) = source(p, (p % shape.width) as f64, (p / shape.width) as f64);
                Blend::at(shape, x, y)
            })
            .collect();
        let copies: Option<Vec<u32>> = blends.iter().map(Blend::as_copy).collect();
        let sources = copies.map_or(Sources::Blend(blends), Sources::Copy);
        Warp { shape, background, sources }
    }
}

impl Blend {
    fn at(shape: ImageShape, x: f64, y: f64) -> Self {
        let (left, top) = (x.floor(), y.floor());
        let (right_part, low_part) = (x - left, y - top);
        let mut blend = Blend::default();
        for (k, (dx, dy)) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].into_iter().enumerate() {
            let wx = if dx == 0.0 { 1.0 - right_part } else { right_part };
            let wy = if dy == 0.0 { 1.0 - low_part } else { low_part };
            let (px, py) = (left + dx, top + dy);
            if px >= 0.0 && py >= 0.0 && px < shape.width as f64 && py < shape.height as f64 {
                blend.pixel[k] = py as u32 * shape.width as u32 + px as u32;
                blend.weight[k] = wx * wy;
            } else {
                blend.beyond += wx * wy;
            }
        }
        blend
    }

    /// The single source pixel, if one has all the weight.
    fn as_copy(&self) -> Option<u32> {
        if self.beyond == 1.0 {
            return Some(GROUND);
        }
        self.weight.iter().position(|&w| w == 1.0).map(|k| self.pixel[k])
    }
}

impl RowMap for Warp {
    fn dim_out(&self) -> usize {
        self.shape.len()
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        let channels = self.shape.channels;
        match &self.sources {
            Sources::Copy(from) => {
                for (out, &from) in out.chunks_exact_mut(channels).zip(from) {
                    if from == GROUND {
                        out.fill(self.background);
                    } else {
                        out.copy_from_slice(&x[from as usize * channels..][..channels]);
                    }
                }
            }
            Sources::Blend(from) => {
                for (out, Blend { pixel, weight, beyond }) in out.chunks_exact_mut(channels).zip(from) {
                    for (c, out) in out.iter_mut().enumerate() {
                        let blend: f64 =
                            pixel.iter().zip(weight).map(|(&p, w)| w * x[p as usize * channels + c]).sum();
                        *out = blend + beyond * self.background;
                    }
                }
            }
        }
    }
}
