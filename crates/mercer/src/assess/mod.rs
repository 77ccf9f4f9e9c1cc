//! How good a model is: metrics, curves, and a whole evaluation on labelled data. Floor 8.

mod classes;
mod curve;
mod evaluation;
pub mod metric;

pub use classes::{ClassScores, per_class};
pub use curve::{Curve, pr_curve, roc_curve};
pub use evaluation::{ClassEvaluation, Evaluation, NoveltyEvaluation, RealEvaluation, interval};
