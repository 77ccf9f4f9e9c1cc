//! The table of stages: one row each, read by the parser, by help and by the tests that every stage must pass.

use super::recipe::Recipe;
use crate::data::call::arg;
use crate::param::Param;

/// A row of the table of stages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, in the order in which they may be given without names.
    pub args: &'static [Param],
    /// Whether it works on images only.
    pub image: bool,
    /// Whether it works on sequences only; the others work on numbers.
    pub sequence: bool,
    /// What it does, in a line.
    pub doc: &'static str,
    /// A line that makes one.
    pub example: &'static str,
}

const PER: Param = arg(
    "per",
    "column",
    "column or channel",
    "what shares one range: a column, or all pixels of a channel (all values where rows are no images)",
);
const BACKGROUND: Param = arg(
    "background",
    "auto",
    "a number or auto",
    "the value of empty pixels; auto: the smallest in training",
);

impl Recipe {
    /// The table of all stages that can be written in a line.
    pub const ALL: &'static [Entry] = &[
        Entry {
            name: "scale",
            args: &[
                arg("by", "1", "a number", "the factor, such as 1/255"),
                arg("add", "0", "a number", "added after"),
            ],
            image: false,
            sequence: false,
            doc: "x -> by x + add",
            example: "scale(by=1/255)",
        },
        Entry {
            name: "minmax",
            args: &[
                arg("lo", "0", "a number", "where the smallest value goes"),
                arg("hi", "1", "a number above lo", "where the largest goes"),
                PER,
            ],
            image: false,
            sequence: false,
            doc: "training range to [lo, hi]; what was constant becomes the value of [lo, hi] nearest 0",
            example: "minmax(-1, 1)",
        },
        Entry {
            name: "standard",
            args: &[
                arg(
                    "centre",
                    "auto",
                    "true, false or auto",
                    "whether the mean is subtracted; auto: unless fitted on sparse points",
                ),
                PER,
            ],
            image: false,
            sequence: false,
            doc: "mean 0 and standard deviation 1; what was constant is only centred",
            example: "standard",
        },
        Entry {
            name: "unit",
            args: &[],
            image: false,
            sequence: false,
            doc: "rows to length 1; rows of zeros stay",
            example: "unit",
        },
        Entry {
            name: "power",
            args: &[arg("p", "", "a number above 0", "the exponent")],
            image: false,
            sequence: false,
            doc: "x -> sign(x) |x|^p",
            example: "power(0.5)",
        },
        Entry {
            name: "smooth",
            args: &[arg("sigma", "", "a number from 0 to 100", "width of the Gaussian in pixels")],
            image: true,
            sequence: false,
            doc: "Gaussian smoothing, edge pixels repeated, window of 4 sigma to each side",
            example: "smooth(sigma=0.75)",
        },
        Entry {
            name: "centre-mass",
            args: &[
                arg(
                    "threshold",
                    "none",
                    "a number from 0 to below 1, or none",
                    "weigh figure and ground as 1 and 0, told apart at this share of the training range; none: weigh grey values",
                ),
                BACKGROUND,
            ],
            image: true,
            sequence: false,
            doc: "centre of mass to the frame's centre, by whole pixels",
            example: "centre-mass",
        },
        Entry {
            name: "downsample",
            args: &[
                arg("height", "", "a whole number, at most the images' height", "rows of pixels"),
                arg("width", "", "a whole number, at most the images' width", "columns of pixels"),
            ],
            image: true,
            sequence: false,
            doc: "fewer pixels, each the mean of the area it covers",
            example: "downsample(4, 3)",
        },
        Entry {
            name: "edges",
            args: &[arg("keep", "true", "true or false", "whether the image stays, as the first channel")],
            image: true,
            sequence: false,
            doc: "absolute slopes in four directions, as further channels",
            example: "edges",
        },
        Entry {
            name: "silhouette",
            args: &[
                arg(
                    "threshold",
                    "0.5",
                    "a number from 0 to below 1",
                    "share of the training range that tells figure from ground",
                ),
                BACKGROUND,
            ],
            image: true,
            sequence: false,
            doc: "1 for figure, 0 for ground",
            example: "silhouette(threshold=0.5)",
        },
        Entry {
            name: "invariant",
            args: &[
                arg("lambda", "0.4", "a number above 0 and at most 1", "1 changes nothing, near 0 insists"),
                arg("drop", "0", "a whole number", "directions left out, those in which images move least"),
                arg("shift", "1", "pixels from 0 to 90", "step of the difference; 0: shifts do not count"),
                arg("rotate", "0", "degrees from 0 to 90", "the same for rotations"),
                arg("thickness", "0", "pixels from 0 to 90", "the same for the width of strokes"),
            ],
            image: true,
            sequence: false,
            doc: "directions in which small shifts move images count less: B = ((1 - lambda) C + lambda)^(-1/2)",
            example: "invariant(lambda=0.4)",
        },
        Entry {
            name: "deskew",
            args: &[BACKGROUND],
            image: true,
            sequence: false,
            doc: "slant taken out by the shear that the moments show, at most two pixels a row",
            example: "deskew",
        },
        Entry {
            name: "one-hot",
            args: &[],
            image: false,
            sequence: true,
            doc: "letters as unit vectors: a channel a letter, a pixel a place of an image one pixel high",
            example: "one-hot",
        },
        Entry {
            name: "log-odds",
            args: &[],
            image: false,
            sequence: true,
            doc: "letters as scores ln P(letter at place | class) - ln P(letter at place): a channel a class",
            example: "log-odds",
        },
    ];
}
