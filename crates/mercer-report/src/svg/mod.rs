//! Pictures as SVG text.
//!
//! A picture is a plain function of numbers. It names no colour: shapes carry classes, and one style sheet gives them
//! colours for light and for dark surroundings. Classes differ by colour and by mark, and the colours can be told apart
//! with any kind of colour vision (after Okabe and Ito). All pictures are drawn for a width of 420, so that their letters
//! can still be read on a phone, and scale with the room they get.
//!
//! ```
//! use mercer_report::svg::{Axis, Chart, Series};
//! let error = Series::line("test error", vec![(1.0, 0.3), (10.0, 0.1), (100.0, 0.12)]);
//! let chart = Chart::new("Error by C", Axis::new("C").log(), Axis::new("error"), vec![error]);
//! let svg = chart.draw();
//! assert!(svg.inline().starts_with("<svg class=\"fig\""));
//! assert!(svg.standalone().contains("prefers-color-scheme: dark"));
//! ```

mod canvas;
mod chart;
mod confusion;
mod contour;
mod curves;
mod heat;
mod learned;
mod plane;
mod scale;

pub use chart::{Axis, Chart, Look, Series};
pub use confusion::confusion;
pub use contour::Grid;
pub use curves::{NamedCurve, precision_recall, progress, reliability, roc, spectrum};
pub use heat::{Heat, brief, tick};
pub use learned::{Learned, learned};
pub use plane::{Layer, Line, Plane};

pub(crate) use canvas::escape;

/// The colours and shapes of all pictures; a page that shows pictures inline needs it once.
pub const STYLE: &str = include_str!("figure.css");

/// Units a picture is wide.
pub(crate) const WIDTH: f64 = 420.0;

/// A finished picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Svg {
    title: String,
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// Width and height, of which only the ratio matters: pictures scale.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// What it shows, in a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// As an element of a page that has [`STYLE`].
    pub fn inline(&self) -> String {
        self.element("", "")
    }

    /// As a file of its own.
    pub fn standalone(&self) -> String {
        let style = format!("<style>{STYLE}</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>");
        self.element(" xmlns=\"http://www.w3.org/2000/svg\"", &style) + "\n"
    }

    fn element(&self, attributes: &str, first: &str) -> String {
        let Svg { title, width, height, body } = self;
        let title = escape(title);
        format!(
            "<svg class=\"fig\"{attributes} viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\
             <title>{title}</title>{first}{body}</svg>"
        )
    }
}

/// Whether text is well-formed XML as far as these pictures go: every element closed in order.
#[cfg(test)]
pub(crate) fn well_formed(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(1) {
        let Some((tag, _)) = tag.split_once('>') else { return false };
        let name = tag.split([' ', '/']).find(|s| !s.is_empty()).unwrap_or("");
        if tag.matches('"').count() % 2 != 0 {
            return false;
        } else if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.is_empty()
}
