//! Fewer pixels: each new pixel is the mean over the area it covers, so the image's mean stays what it was.

use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// Area averages from one shape to a smaller one.
#[derive(Debug)]
pub(in crate::data) struct Downsample {
    from: ImageShape,
    to: ImageShape,
    rows: Vec<Span>,
    columns: Vec<Span>,
}

/// The old pixels under a new one along an axis: the first, and the weight of each.
#[derive(Debug)]
struct Span {
    first: usize,
    weights: Vec<f64>,
}

impl Downsample {
    pub(in crate::data) fn new(from: ImageShape, height: usize, width: usize) -> Self {
        let to = ImageShape { height, width, ..from };
        Downsample { from, to, rows: spans(from.height, height), columns: spans(from.width, width) }
    }
}

/// Pixel i of `to` covers `[i, i + 1) * from / to`. In whole numbers, so that nothing is lost between neighbours.
fn spans(from: usize, to: usize) -> Vec<Span> {
    (0..to)
        .map(|i| {
            let (start, end) = (i * from, (i + 1) * from);
            let first = start / to;
            let covered = |j: usize| ((j + 1) * to).min(end) - (j * to).max(start);
            let weights = (first..end.div_ceil(to)).map(|j| covered(j) as f64 / from as f64).collect();
            Span { first, weights }
        })
        .collect()
}

impl RowMap for Downsample {
    fn dim_out(&self) -> usize {
        self.to.len()
    }

    fn run(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        let channels = self.from.channels;
        let stride = self.from.width * channels;
        for (rows, out) in self.rows.iter().zip(out.chunks_exact_mut(self.to.width * channels)) {
            scratch.clear();
            scratch.resize(stride, 0.0);
            for (row, w) in x.chunks_exact(stride).skip(rows.first).zip(&rows.weights) {
                scratch.iter_mut().zip(row).for_each(|(to, from)| *to += w * from);
            }
            for (columns, out) in self.columns.iter().zip(out.chunks_exact_mut(channels)) {
                out.fill(0.0);
                let pixels = scratch.chunks_exact(channels).skip(columns.first);
                for (pixel, w) in pixels.zip(&columns.weights) {
                    out.iter_mut().zip(pixel).for_each(|(to, from)| *to += w * from);
                }
            }
        }
    }
}
