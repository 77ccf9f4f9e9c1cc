//! From feature space back: vectors there to points here. Floor 6.
//!
//! [`preimage`] finds points whose images are nearest to given vectors of feature space; [`reduced_set`] writes
//! such vectors with fewer points; [`similar`] takes the noise out of photographs by components of similar squares.

mod clipped;
pub mod preimage;
pub mod reduced_set;
pub mod similar;
