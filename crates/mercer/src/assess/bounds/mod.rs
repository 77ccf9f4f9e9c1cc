//! Estimates and bounds of the error without a held-out set, and most of them without retraining.
//!
//! One file per method. Each result is a struct with the number and `assumes`, the assumptions under which it holds.
//! [`Bounds`] computes all of them for a fitted model.

mod alignment;
mod auto_c;
mod bootstrap;
mod eigen_capacity;
mod kernel_choice;
mod least_squares;
mod radius_margin;
mod separating_c;
mod span;
mod summary;
mod support;
mod trained;
mod vc;

pub use alignment::{Alignment, alignment};
pub use auto_c::{AutoC, CRule, CStep, ChosenC};
pub use bootstrap::{Answers, Bootstrap, BootstrapError, BootstrapInterval, bootstrap_interval};
pub use eigen_capacity::{EigenCapacity, eigen_capacity, gram_eigenvalues};
pub use kernel_choice::{KernelChoice, KernelTried, choose_kernel};
pub use least_squares::{LeaveOneOut, ridge_leave_one_out};
pub use radius_margin::{RadiusMargin, of_radius, radius_margin};
pub use separating_c::{SeparatingC, separating_c};
pub use span::{Span, span};
pub use summary::{Bounds, MachineBounds};
pub use support::{SupportCount, TwoOfThree, support_count, two_of_three};
pub use trained::TrainedMachine;
pub use vc::{VcBound, vc_bound};

#[cfg(test)]
mod tests;
