//! What is done with a fitted model beside predicting: columns matched by name, looking inside, making it small.

mod columns;
mod compress;
mod explain;

pub use compress::{CompressParams, Compressed, Compression, Goal};
pub use explain::{ColumnWeight, Explanation, Influence, MachineFacts, Suspect};
