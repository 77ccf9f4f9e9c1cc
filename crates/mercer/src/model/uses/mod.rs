//! What is done with a fitted model: predicting, with columns matched by name; looking inside; making it small.

mod columns;
mod compress;
mod explain;
mod prediction;
mod reading;

pub use compress::{CompressParams, Compressed, CompressionFacts, Goal};
pub use explain::{ColumnWeight, Explanation, Influence, MachineFacts, Suspect};
pub use prediction::{Prediction, Query, Rejection};
