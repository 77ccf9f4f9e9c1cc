//! From feature space back: vectors there to points here. Floor 6.
//!
//! [`preimage`] finds points whose images are nearest to given vectors of feature space.

pub mod preimage;
