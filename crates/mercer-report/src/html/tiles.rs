//! Rows of small images with captions.

use std::fmt::Write as _;

use super::png::{Ink, data_uri};
use crate::svg::escape;
use mercer::data::ImageShape;

/// Images side by side, as many in a line as there is room for.
#[derive(Debug, Clone, PartialEq)]
pub struct Tiles {
    /// Shape of all images.
    pub shape: ImageShape,
    /// How values become colours.
    pub ink: Ink,
    /// The images.
    pub tiles: Vec<Tile>,
}

/// An image and what stands below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// Its pixels, row by row.
    pub pixels: Vec<f64>,
    /// What stands below it: a class, a coefficient.
    pub caption: String,
    /// Whether it stands out, as a mistake does.
    pub marked: bool,
}

impl Tile {
    /// An image that does not stand out.
    pub fn new(pixels: Vec<f64>, caption: impl Into<String>) -> Self {
        Tile { pixels, caption: caption.into(), marked: false }
    }
}

impl Tiles {
    /// As an element of a page. An image with too few pixels for its shape is left out.
    pub(super) fn element(&self) -> String {
        let mut out = String::from("<div class=\"tiles\">");
        for tile in self.tiles.iter().filter(|t| t.pixels.len() == self.shape.len() && !self.shape.is_empty())
        {
            let (class, caption) =
                (if tile.marked { " class=\"marked\"" } else { "" }, escape(&tile.caption));
            let uri = data_uri(&tile.pixels, self.shape, self.ink);
            let _ = write!(
                out,
                "<div{class}><img src=\"{uri}\" alt=\"{caption}\" width=\"{}\" height=\"{}\"><span>{caption}</span></div>",
                self.shape.width, self.shape.height
            );
        }
        out + "</div>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_does_not_fit_is_left_out() {
        let shape = ImageShape::grey(2, 2);
        let marked = Tile { marked: true, ..Tile::new(vec![1.0; 4], "a < b") };
        let tiles =
            Tiles { shape, ink: Ink::Levels(0.0, 1.0), tiles: vec![marked, Tile::new(vec![1.0; 3], "no")] };
        let text = tiles.element();
        assert_eq!(text.matches("<img").count(), 1);
        assert!(text.contains("a &lt; b") && text.contains("marked") && !text.contains(">no<"));
    }
}
