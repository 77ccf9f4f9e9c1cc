//! The bound on the risk by the VC dimension (Vapnik 1995; Schoelkopf 1997, equations 1.5 and 1.6).
//!
//! ```text
//! R  <=  R_emp + sqrt( (h (log(2 l / h) + 1) - log(eta / 4)) / l )      with a probability of at least 1 - eta
//! ```
//!
//! The term increases in h up to h = 2 l, beyond which the formula is not valid. Its value there exceeds 1, so larger
//! h are treated as 2 l. For a machine, h is its `R^2 |w|^2` (see the radius-margin bound).

use serde::Serialize;

use crate::error::{Error, Result};

/// Components of the risk bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VcBound {
    /// h.
    pub dimension: f64,
    /// Training error.
    pub training_error: f64,
    /// The confidence term.
    pub confidence: f64,
    /// The bound, the sum of both; vacuous above 1.
    pub risk: f64,
    /// It holds with a probability of at least 1 - eta.
    pub eta: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// The risk bound for a VC dimension h and a training error on l rows.
///
/// ```
/// let bound = mercer::assess::bounds::vc_bound(10.0, 10_000, 0.01, 0.05)?;
/// assert!((bound.confidence - 0.09507).abs() < 1e-5 && bound.risk == 0.01 + bound.confidence);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn vc_bound(h: f64, rows: usize, training_error: f64, eta: f64) -> Result<VcBound> {
    if !(eta > 0.0 && eta <= 1.0) {
        return Err(Error::param("eta", eta, "a number above 0 and at most 1"));
    }
    if h.is_nan() || h < 0.0 {
        return Err(Error::param("h", h, "a number of at least 0"));
    }
    if rows == 0 {
        return Err(Error::shape("training rows", 0, "at least 1"));
    }
    let confidence = confidence(h, rows as f64, eta);
    Ok(VcBound {
        dimension: h,
        training_error,
        confidence,
        risk: training_error + confidence,
        eta,
        assumes: "rows drawn independently, and h fixed before they were seen; R^2|w|^2 is found on them",
    })
}

/// The confidence term.
fn confidence(h: f64, l: f64, eta: f64) -> f64 {
    // h log(1/h) tends to 0 with h.
    let h = h.clamp(1e-12, 2.0 * l);
    ((h * ((2.0 * l / h).ln() + 1.0) - (eta / 4.0).ln()) / l).sqrt()
}
