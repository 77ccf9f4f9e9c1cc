//! Uses of a fitted model: prediction with columns matched by name, explanation, compression.

mod columns;
mod compress;
mod explain;
mod prediction;
mod reading;

pub use compress::{CompressParams, Compressed, CompressionFacts, Goal};
pub use explain::{ColumnWeight, Explanation, Influence, MachineFacts, Suspect};
pub use prediction::{Prediction, Query, Rejection};
