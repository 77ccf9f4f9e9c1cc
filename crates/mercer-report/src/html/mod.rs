//! One page that holds everything it shows: no scripts, nothing fetched, light and dark, narrow and wide.
//!
//! ```
//! use mercer_report::html::{Figure, Section, page};
//! use mercer_report::svg::spectrum;
//! let mut section = Section::new("Eigenvalues", "How the points spread: see `mercer kernel check`.");
//! section.figures.push(Figure::svg(spectrum("Spectrum", "eigenvalue", &[3.0, 1.0], false), "Two are enough."));
//! let text = page("A report", &[section]);
//! assert!(text.starts_with("<!doctype html>") && !text.contains("<script"));
//! ```

mod page;
mod png;
mod tiles;

pub use page::{Figure, Page, Section, Table, facts, page};
pub use png::{Ink, sheet};
pub use tiles::{Tile, Tiles};
