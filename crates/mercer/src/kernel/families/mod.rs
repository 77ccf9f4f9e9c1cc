//! The registry of kernels. A new kernel is a file in this folder and, here, a variant of [`Kernel`], a row of
//! [`ALL`] and of [`describe`], and for a function of dot products or of coordinates a line of `with_profile` or
//! `with_coordinates`.

pub(in crate::kernel) mod algebra;
pub(in crate::kernel) mod ard;
pub(in crate::kernel) mod bspline;
pub(in crate::kernel) mod chi_squared;
pub(in crate::kernel) mod columns;
pub(in crate::kernel) mod laplacian;
pub(in crate::kernel) mod linear;
pub(in crate::kernel) mod local;
pub(in crate::kernel) mod multiquadric;
pub(in crate::kernel) mod periodic;
pub(in crate::kernel) mod poly;
pub(in crate::kernel) mod precomputed;
pub(in crate::kernel) mod rbf;
pub(in crate::kernel) mod sequence;
pub(in crate::kernel) mod sigmoid;
pub(in crate::kernel) mod widths;

use std::sync::Arc;

use serde::Deserialize;

use crate::kernel::custom::Custom;
use crate::kernel::table::{KernelEntry, Value};

pub use algebra::Combine;

/// A kernel. See [`Kernel::ALL`] for formulas and ranges.
///
/// Saved as its line: serde writes and reads what [`std::fmt::Display`] prints, so a file never holds a kernel that
/// [`Kernel::check`] would refuse.
///
/// ```
/// use mercer::prelude::*;
/// let kernel = Kernel::Rbf { gamma: 0.5 };
/// assert_eq!(kernel, "rbf(gamma=1/2)".parse()?);
/// let sum: Kernel = "2*rbf(gamma=0.5) + linear".parse()?;
/// assert_eq!(sum.to_string(), "2*rbf(gamma=0.5) + linear");
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
#[non_exhaustive]
pub enum Kernel {
    /// `x.y`
    Linear,
    /// `(scale x.y + coef0)^degree`
    Poly {
        /// Degree, at least 1.
        degree: u32,
        /// Factor of the dot product, positive.
        scale: f64,
        /// Added before the power. Negative values are allowed, but the kernel is then not positive definite.
        coef0: f64,
    },
    /// `exp(-gamma |x - y|^2)`
    Rbf {
        /// Inverse width, `1 / (2 sigma^2)`.
        gamma: f64,
    },
    /// The Gaussian whose rows each have a width of their own, in the last column: see `widths.rs`.
    RbfWidths {
        /// Inverse width of rows whose last column is 0.
        gamma: f64,
    },
    /// `exp(-gamma sum_i |x_i - y_i|)`
    Laplacian {
        /// Inverse width.
        gamma: f64,
    },
    /// `amplitude tanh(scale x.y + shift)`
    Sigmoid {
        /// Amplitude.
        amplitude: f64,
        /// Factor of the dot product.
        scale: f64,
        /// Added to it.
        shift: f64,
    },
    /// `(|x - y|^2 + c^2)^(-1/2)`
    InverseMultiquadric {
        /// Width.
        c: f64,
    },
    /// `(|x - y|^2 + c^2)^(1/2)`
    Multiquadric {
        /// Width.
        c: f64,
    },
    /// `(|x - y|^2 + 1)^power`
    RadialPower {
        /// Exponent.
        power: f64,
    },
    /// `exp(-sum_i gamma_i (x_i - y_i)^2)`, the Gaussian with one width per coordinate.
    Ard {
        /// One inverse width per coordinate; 0 ignores the coordinate.
        gammas: Arc<[f64]>,
    },
    /// `prod_i B((x_i - y_i) / width) / B(0)`, B the centred spline of degree `2 order + 1`.
    BSpline {
        /// Order; the splines are of odd degree `2 order + 1`.
        order: u32,
        /// Distance of the knots.
        width: f64,
    },
    /// `prod_i (1 - q)^2 / (1 - 2 q cos(freq (x_i - y_i)) + q^2)`, the regularised Fourier expansion.
    Fourier {
        /// How slowly the coefficients `q^j` decay.
        q: f64,
        /// Lowest frequency.
        freq: f64,
    },
    /// `prod_i sum_{j=-order}^{order} cos(j freq (x_i - y_i)) / (2 order + 1)`, the Fourier expansion cut at an order.
    Dirichlet {
        /// Highest harmonic.
        order: u32,
        /// Lowest frequency.
        freq: f64,
    },
    /// `prod_i sum_j w_j cos(j freq (x_i - y_i)) / sum_j w_j`: the translation-invariant kernel of a given spectrum.
    Spectrum {
        /// Weight of each harmonic, from the constant (j = 0) on.
        weights: Arc<[f64]>,
        /// Lowest frequency.
        freq: f64,
    },
    /// `exp(-gamma sum_i (x_i - y_i)^2 / (x_i + y_i))`, for histograms.
    ChiSquared {
        /// Inverse width.
        gamma: f64,
    },
    /// `sum_i 2 x_i y_i / (x_i + y_i)`, for histograms.
    AdditiveChiSquared,
    /// `(sum_p (sum_q w(q - p) x_q y_q)^d1 / s)^d2` over the pixels p, w a pyramid around p: correlations that are local in
    /// an image.
    Local {
        /// Diameter of the pyramid, odd.
        diameter: u32,
        /// d1, the power of each neighbourhood's sum.
        inner: u32,
        /// d2, the power of the sum over neighbourhoods.
        outer: u32,
        /// Rows of pixels; 0 with a width of 0 for square grey images.
        height: u32,
        /// Columns of pixels.
        width: u32,
    },
    /// `(sum_p (sum_j w_j match_{p+j})^d1)^d2` on sequences: matches within windows.
    LocalityImproved {
        /// Length of a window, odd.
        diameter: u32,
        /// d1, the power of the matches in a window.
        inner: u32,
        /// d2, the power of the sum over windows.
        outer: u32,
    },
    /// The locality-improved kernel in which matches shifted by a codon count too.
    CodonImproved {
        /// Length of a window, odd.
        diameter: u32,
        /// d1, the power of the matches in a window.
        inner: u32,
        /// d2, the power of the sum over windows.
        outer: u32,
        /// Shift in positions.
        shift: u32,
        /// Weight of the shifted matches.
        weight: f64,
    },
    /// `sum_u count(u in x) count(u in y)` over the words of k letters, on sequences.
    KmerSpectrum {
        /// Length of a word.
        k: u32,
    },
    /// The spectrum kernel with mismatches: a word counts for all words that differ from it in at most m letters.
    Mismatch {
        /// Length of a word.
        k: u32,
        /// Maximum number of differing letters.
        m: u32,
        /// Size of the alphabet.
        letters: u32,
    },
    /// Common words of up to `degree` letters at the same position of two sequences, or slightly shifted.
    WeightedDegree {
        /// Longest word.
        degree: u32,
        /// Largest shift.
        shift: u32,
    },
    /// A kernel on the columns `from .. to` only.
    Columns {
        /// First column, from 0.
        from: u32,
        /// One past the last column.
        to: u32,
        /// The kernel.
        of: Box<Kernel>,
    },
    /// `sum_r k(x_r, y_r)^degree` over subvectors of neighbouring columns.
    Subvector {
        /// Columns per subvector; the last one may be shorter.
        size: u32,
        /// Columns from the start of one to the start of the next.
        step: u32,
        /// Power each term is raised to.
        degree: u32,
        /// The kernel on a subvector.
        of: Box<Kernel>,
    },
    /// A given matrix of values; points are row numbers.
    Precomputed,
    /// `k_1 + k_2 + ...`
    Sum(Vec<Kernel>),
    /// `k_1 k_2 ...`
    Product(Vec<Kernel>),
    /// `factor k`
    Scaled {
        /// The factor, not 0. A negative one turns a conditionally negative definite kernel into a conditionally
        /// positive definite one.
        factor: f64,
        /// The kernel.
        of: Box<Kernel>,
    },
    /// `k^degree`
    Power {
        /// The power, at least 1.
        degree: u32,
        /// The kernel.
        of: Box<Kernel>,
    },
    /// `k(x, y) / sqrt(k(x, x) k(y, y))`; 0 where a self-value is not positive.
    Normalised(Box<Kernel>),
    /// A user-defined kernel. It cannot be saved.
    Custom(Custom),
}

/// The table.
pub(in crate::kernel) const ALL: &[KernelEntry] = &[
    linear::ENTRY,
    poly::ENTRY,
    rbf::ENTRY,
    widths::ENTRY,
    laplacian::ENTRY,
    sigmoid::ENTRY,
    multiquadric::INVERSE,
    multiquadric::MULTIQUADRIC,
    multiquadric::FAMILY,
    ard::ENTRY,
    bspline::ENTRY,
    periodic::FOURIER,
    periodic::DIRICHLET,
    periodic::SPECTRUM,
    chi_squared::EXPONENTIAL,
    chi_squared::ADDITIVE,
    local::ENTRY,
    sequence::LOCALITY,
    sequence::CODON,
    sequence::SPECTRUM,
    sequence::MISMATCH,
    sequence::WEIGHTED_DEGREE,
    columns::COLUMNS,
    columns::SUBVECTOR,
    precomputed::ENTRY,
    algebra::SUM,
    algebra::PRODUCT,
    algebra::SCALED,
    algebra::POWER,
    algebra::NORMALISED,
];

/// A kernel's name and its values in the order of its row's parameters: the inverse of `build`.
pub(in crate::kernel) fn describe(kernel: &Kernel) -> Option<(&'static KernelEntry, Vec<Value>)> {
    use Value::{Real, Whole};
    let (name, values) = match kernel {
        Kernel::Linear => ("linear", vec![]),
        Kernel::Poly { degree, scale, coef0 } => ("poly", vec![Whole(*degree), Real(*scale), Real(*coef0)]),
        Kernel::Rbf { gamma } => ("rbf", vec![Real(*gamma)]),
        Kernel::RbfWidths { gamma } => ("rbf_widths", vec![Real(*gamma)]),
        Kernel::Laplacian { gamma } => ("laplacian", vec![Real(*gamma)]),
        Kernel::Sigmoid { amplitude, scale, shift } => {
            ("sigmoid", vec![Real(*amplitude), Real(*scale), Real(*shift)])
        }
        Kernel::InverseMultiquadric { c } => ("inverse_multiquadric", vec![Real(*c)]),
        Kernel::Multiquadric { c } => ("multiquadric", vec![Real(*c)]),
        Kernel::RadialPower { power } => ("radial_power", vec![Real(*power)]),
        Kernel::Ard { gammas } => ("ard", vec![Value::List(Arc::clone(gammas))]),
        Kernel::BSpline { order, width } => ("bspline", vec![Whole(*order), Real(*width)]),
        Kernel::Fourier { q, freq } => ("fourier", vec![Real(*q), Real(*freq)]),
        Kernel::Dirichlet { order, freq } => ("dirichlet", vec![Whole(*order), Real(*freq)]),
        Kernel::Spectrum { weights, freq } => {
            ("spectrum", vec![Value::List(Arc::clone(weights)), Real(*freq)])
        }
        Kernel::ChiSquared { gamma } => ("chi2", vec![Real(*gamma)]),
        Kernel::AdditiveChiSquared => ("additive_chi2", vec![]),
        Kernel::Local { diameter, inner, outer, height, width } => {
            ("local", [diameter, inner, outer, height, width].map(|v| Whole(*v)).to_vec())
        }
        Kernel::LocalityImproved { diameter, inner, outer } => {
            ("locality_improved", [diameter, inner, outer].map(|v| Whole(*v)).to_vec())
        }
        Kernel::CodonImproved { diameter, inner, outer, shift, weight } => {
            let mut values = [diameter, inner, outer, shift].map(|v| Whole(*v)).to_vec();
            values.push(Real(*weight));
            ("codon_improved", values)
        }
        Kernel::KmerSpectrum { k } => ("kmer_spectrum", vec![Whole(*k)]),
        Kernel::Mismatch { k, m, letters } => ("mismatch", [k, m, letters].map(|v| Whole(*v)).to_vec()),
        Kernel::WeightedDegree { degree, shift } => ("weighted_degree", vec![Whole(*degree), Whole(*shift)]),
        Kernel::Columns { from, to, of } => {
            ("columns", vec![Whole(*from), Whole(*to), Value::Kernel(of.clone())])
        }
        Kernel::Subvector { size, step, degree, of } => {
            ("subvector", vec![Whole(*size), Whole(*step), Whole(*degree), Value::Kernel(of.clone())])
        }
        Kernel::Precomputed => ("precomputed", vec![]),
        Kernel::Sum(kernels) => ("sum", vec![Value::Kernels(kernels.clone())]),
        Kernel::Product(kernels) => ("product", vec![Value::Kernels(kernels.clone())]),
        Kernel::Scaled { factor, of } => ("scaled", vec![Real(*factor), Value::Kernel(of.clone())]),
        Kernel::Power { degree, of } => ("power", vec![Whole(*degree), Value::Kernel(of.clone())]),
        Kernel::Normalised(of) => ("normalised", vec![Value::Kernel(of.clone())]),
        Kernel::Custom(_) => return None,
    };
    KernelEntry::find(name).map(|entry| (entry, values))
}

/// Runs `$body` with `$leaf` bound to what the kernel's variant makes, or `$other` if it is none of these.
macro_rules! with_leaf {
    ($kernel:expr, $leaf:ident => $body:expr, else $other:expr; $($variant:pat => $made:expr,)*) => {
        match $kernel {
            $($variant => {
                let $leaf = $made;
                $body
            })*
            _ => $other,
        }
    };
}
pub(in crate::kernel) use with_leaf;

/// Runs `$body` with `$p` bound to the leaf's profile, or `$other` if the kernel is no such leaf.
macro_rules! with_profile {
    ($kernel:expr, $p:ident => $body:expr, else $other:expr) => {{
        use $crate::kernel::families::{linear, multiquadric, poly, rbf, sigmoid};
        $crate::kernel::families::with_leaf!(*$kernel, $p => $body, else $other;
            Kernel::Linear => linear::Linear,
            Kernel::Poly { degree, scale, coef0 } => poly::Poly { degree, scale, coef0 },
            Kernel::Rbf { gamma } => rbf::Rbf { gamma },
            Kernel::Sigmoid { amplitude, scale, shift } => sigmoid::Sigmoid { amplitude, scale, shift },
            Kernel::InverseMultiquadric { c } => multiquadric::PowerLaw { add: c * c, power: -0.5 },
            Kernel::Multiquadric { c } => multiquadric::PowerLaw { add: c * c, power: 0.5 },
            Kernel::RadialPower { power } => multiquadric::PowerLaw { add: 1.0, power },
        )
    }};
}
pub(in crate::kernel) use with_profile;

/// Runs `$body` with `$c` bound to a leaf of this kind, or `$other`.
macro_rules! with_coordinates {
    ($kernel:expr, $c:ident => $body:expr, else $other:expr) => {{
        use $crate::kernel::families::{ard, bspline, chi_squared, laplacian, periodic};
        $crate::kernel::families::with_leaf!($kernel, $c => $body, else $other;
            Kernel::Laplacian { gamma } => laplacian::Laplacian { gamma: *gamma },
            Kernel::Ard { gammas } => ard::Ard { gammas },
            Kernel::BSpline { order, width } => bspline::Spline::new(*order, *width),
            Kernel::Fourier { q, freq } => periodic::Periodic { shape: periodic::Fourier { q: *q }, freq: *freq },
            Kernel::Dirichlet { order, freq } => {
                periodic::Periodic { shape: periodic::Dirichlet { order: *order }, freq: *freq }
            },
            Kernel::Spectrum { weights, freq } => {
                periodic::Periodic { shape: periodic::Given::new(weights), freq: *freq }
            },
            Kernel::ChiSquared { gamma } => chi_squared::Exponential { gamma: *gamma },
            Kernel::AdditiveChiSquared => chi_squared::Additive,
        )
    }};
}
pub(in crate::kernel) use with_coordinates;
