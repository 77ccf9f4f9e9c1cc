//! Fewer pixels: each new pixel is the mean over the area it covers, so the image's mean stays what it was.

use super::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Downsample {
    height: usize,
    width: usize,
}

impl Line for Downsample {
    const ENTRY: Entry = Entry {
        name: "downsample",
        args: &[
            arg("height", "", "a whole number, at most the images' height", "rows of pixels"),
            arg("width", "", "a whole number, at most the images' width", "columns of pixels"),
        ],
        image: true,
        doc: "fewer pixels, each the mean of the area it covers",
        example: "downsample(4, 3)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let (height, width) = (args.count("height")?, args.count("width")?);
        args.need("height", height > 0)?;
        args.need("width", width > 0)?;
        Ok(Asked::Ready(Downsample { height, width }))
    }
}

impl Kind for Downsample {
    fn describe(&self, _at: Frame) -> String {
        format!("downsample: area means, {} x {} pixels", self.height, self.width)
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        let (from, to) = (at.shape(), self.output(at).shape());
        let (rows, columns) = (spans(from.height, to.height), spans(from.width, to.width));
        Some(Box::new(Areas { from, to, rows, columns }))
    }

    fn output(&self, at: Frame) -> Frame {
        Frame::of(ImageShape { height: self.height, width: self.width, ..at.shape() })
    }

    fn is_valid(&self, at: Frame) -> bool {
        let shape = at.shape();
        (1..=shape.height).contains(&self.height) && (1..=shape.width).contains(&self.width)
    }
}

/// Area averages from one shape to a smaller one.
struct Areas {
    from: ImageShape,
    to: ImageShape,
    rows: Vec<Span>,
    columns: Vec<Span>,
}

/// The old pixels under a new one along an axis: the first, and the weight of each.
struct Span {
    first: usize,
    weights: Vec<f64>,
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

impl RowMap for Areas {
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
