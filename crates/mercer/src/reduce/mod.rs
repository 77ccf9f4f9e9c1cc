//! Pre-images and reduced sets: from vectors in feature space back to points. Floor 6.
//!
//! [`preimage`] finds points whose images are nearest to given vectors of feature space (denoising, visualising
//! components); [`reduced_set`] approximates expansions with fewer centres (faster prediction); [`similar`] denoises
//! photographs by principal components of similar patches.

mod clipped;
pub mod preimage;
pub mod reduced_set;
pub mod similar;
