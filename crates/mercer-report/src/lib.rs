//! What people and programs read: plain structs of facts, shown as text, JSON, SVG or HTML.
//!
//! A report computes nothing that the library could; it chooses words, rounds numbers and lines things up. Surfaces
//! print what comes out of here and add nothing.
#![forbid(unsafe_code)]

mod bounds;
mod components;
mod compress;
mod convert;
mod data_info;
mod evaluate;
mod explain;
mod geometry;
mod gram;
pub mod html;
mod json;
mod kernel_check;
mod kernel_list;
mod number;
mod pages;
mod picture;
mod predict;
mod regions;
mod scatter;
pub mod svg;
mod text;
mod tour;
mod train;
mod trial;
mod tune;
mod validated;
mod written;

use serde::Serialize;

pub use bounds::{Bounded, Compared};
pub use components::{Denoised, FittedComponents, components_page, contour_maps, denoised_page, drives};
pub use compress::{CompressReport, TradeOff, Weight, centre_images, compressed_page};
pub use convert::Converted;
pub use data_info::DataInfo;
pub use evaluate::Evaluated;
pub use explain::Explained;
pub use geometry::Geometry;
pub use gram::GramInfo;
pub use json::json;
pub use kernel_check::{KernelCheck, Sight};
pub use kernel_list::{KernelFacts, KernelList, ParameterFacts};
pub use number::{bytes, count, number, percent, seconds};
pub use pages::{evaluated_page, explained_page, trained_page};
pub use picture::picture;
pub use predict::{Answer, Copied, Predicted, Predictions};
pub use regions::regions;
pub use scatter::scatter;
pub use text::{Align, Page, Table, Tone, clean, visible};
pub use tour::{Stop, Tour};
pub use train::Trained;
pub use trial::Trial;
pub use tune::{Tuned, TunedCell, TunedStage, tuned_page};
pub use validated::CrossValidated;
pub use written::Written;

/// Something that can be shown.
///
/// ```
/// use mercer_report::{Page, Report, json, text};
/// #[derive(serde::Serialize)]
/// struct Greeting { name: String }
/// impl Report for Greeting {
///     fn write(&self, page: &mut Page) {
///         page.line(&format!("Hello, {}.", self.name));
///     }
/// }
/// let greeting = Greeting { name: "reader".into() };
/// assert_eq!(text(&greeting, false), "Hello, reader.\n");
/// assert_eq!(json(&greeting), "{\n  \"name\": \"reader\"\n}\n");
/// ```
pub trait Report: Serialize {
    /// Writes it for people.
    fn write(&self, page: &mut Page);
}

/// Several reports of one kind: one below the other.
impl<R: Report> Report for Vec<R> {
    fn write(&self, page: &mut Page) {
        for report in self {
            report.write(page);
        }
    }
}

/// A report for people, with colours or without.
pub fn text(report: &impl Report, colour: bool) -> String {
    let mut page = Page::new(colour);
    report.write(&mut page);
    page.finish()
}
