//! The radius-margin bound: the radius of the data relative to the margin (Vapnik 1995; Schoelkopf 1997, section
//! 2.6.1).
//!
//! ```text
//! h  <  R^2 |w|^2 + 1        VC dimension of planes with a margin of at least 1 / |w| on data in a ball of radius R
//! leave-one-out error  <=  R^2 |w|^2 / l
//! ```
//!
//! R is the radius of the smallest sphere around the rows in feature space, a quadratic problem of its own (equations
//! 2.42 to 2.46 there). Where training added to the diagonal (squared slack), both are computed in the space where
//! the machine has no errors, and R^2 is then an upper bound, too large by at most the largest shift. Cost: one
//! enclosing sphere.

use serde::Serialize;

use super::trained::TrainedMachine;
use crate::error::Result;
use crate::exec::Exec;
use crate::model::enclosing_radius2;
use crate::watch::Watch;

/// Radius and margin of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RadiusMargin {
    /// R^2.
    pub radius2: f64,
    /// |w|^2.
    pub norm2: f64,
    /// R^2 |w|^2: the estimate of the VC dimension.
    pub capacity: f64,
    /// `R^2 |w|^2 / l`, at most 1: the bound on the leave-one-out error.
    pub rate: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// The radius-margin bound of a machine.
pub fn radius_margin(
    machine: &TrainedMachine<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<RadiusMargin> {
    let (radius2, _) = machine.on_rows(exec, |rows| enclosing_radius2(rows, exec, watch))?;
    let shift = machine.shift.iter().copied().fold(0.0, f64::max);
    Ok(of_radius(radius2 + shift, machine.norm2(), machine.len()))
}

/// The same from its two numbers: one sphere serves all machines on the same rows.
pub fn of_radius(radius2: f64, norm2: f64, rows: usize) -> RadiusMargin {
    let capacity = radius2 * norm2;
    RadiusMargin {
        radius2,
        norm2,
        capacity,
        rate: (capacity / rows.max(1) as f64).min(1.0),
        assumes: "no training errors, and a plane through the sphere's centre; with errors an index, not a bound",
    }
}
