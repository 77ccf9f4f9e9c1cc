//! Model assessment: metrics, curves, evaluation on labelled data, cross-validation, search, bounds. Floor 8.

pub mod bounds;
mod classes;
mod compare;
mod curve;
mod dependence;
mod distribution;
mod evaluation;
mod importance;
mod large;
pub mod metric;
mod mistakes;
mod quick;
mod search;
mod thorough;
mod trials;
mod tuning;
mod units;
mod validate;

pub use classes::{ClassScores, per_class};
pub use compare::{
    Comparison, McNemar, PairedT, SupportOverlap, mcnemar, paired_t, shared_by, support_overlap,
};
pub use curve::{Curve, pr_curve, roc_curve};
pub use dependence::{Dependence, Dependences, Place, dependence};
pub use evaluation::{
    ClassEvaluation, ClusterEvaluation, Evaluation, NoveltyEvaluation, RealEvaluation, interval,
};
pub use importance::{Importance, Importances, importance};
pub use large::{LargeChoice, choose_large};
pub use mistakes::{Mistake, Mistakes, mistakes};
pub use quick::{Quick, quick};
pub use search::{
    Cell, Flat, Found, KernelFamily, SearchAxis, SearchParams, SearchStage, Setting, Space, by_factors,
    search, search_by,
};
pub use thorough::{Expected, Thorough, thorough};
pub use tuning::{Tuning, tune, tune_by};
pub use units::{Hands, Judge, Unit, UnitFrame, UnitTold};
pub use validate::{Score, Splits, cross_validate, usual_metric};
