//! How good a model is: metrics, curves, and a whole evaluation on labelled data. Floor 8.

mod classes;
mod curve;
mod evaluation;
pub mod metric;
mod search;
mod trials;
mod tuning;
mod validate;

pub use classes::{ClassScores, per_class};
pub use curve::{Curve, pr_curve, roc_curve};
pub use evaluation::{ClassEvaluation, Evaluation, NoveltyEvaluation, RealEvaluation, interval};
pub use search::{Axis, Cell, Family, Flat, Found, SearchParams, Setting, Space, Stage, by_factors, search};
pub use trials::{Told, Trials};
pub use tuning::{Tuning, tune};
pub use validate::{Score, Splits, cross_validate, usual_metric};
