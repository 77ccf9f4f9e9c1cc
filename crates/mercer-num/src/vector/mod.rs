//! Elementwise mathematics over slices, compiled for several instruction sets and chosen at run time.
//!
//! Everything here is branch-free per element, so that the compiler turns each loop into vector code. NaN inputs give
//! NaN. Accuracy, checked by the tests: `exp` 1.1 units in the last place, `ln` and `tanh` 3, `cos` 2 of 1, `powf` that of `exp`
//! times the size of `e ln x`. Seen on one core of a 2023 server, values in cache: f32 `exp` 4.7 G values/s, f64 1.6
//! G (the standard library's: 0.4 and 0.2).

mod fold;
mod lanes;
mod map;
mod pair;
mod scalar;
mod symbol;
mod window;

pub use fold::{LANES, Parts, products};
pub use symbol::Symbols;
pub use window::{Frame, Windows};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Elementwise maps over slices of one float type: a part of [`crate::Real`], so that generic code can call
/// `T::exp_all(x)`.
pub trait Vector: sealed::Sealed + Sized {
    /// `x = e^x`. Results below twice the smallest normal number are 0.
    fn exp_all(x: &mut [Self]);
    /// `x = ln x`. Of 0 it is minus infinity, of a negative number NaN; subnormal numbers count as 0.
    fn ln_all(x: &mut [Self]);
    /// `x = tanh x`.
    fn tanh_all(x: &mut [Self]);
    /// `x = x^n` by repeated multiplication.
    fn powi_all(x: &mut [Self], n: u32);
    /// `x = x^e` for positive x: `e^(e ln x)`, or products and roots where e allows.
    fn powf_all(x: &mut [Self], e: Self);
    /// `x = sqrt x`.
    fn sqrt_all(x: &mut [Self]);
    /// `x = 1 / sqrt x`.
    fn rsqrt_all(x: &mut [Self]);
    /// `x = s x + c`.
    fn affine_all(x: &mut [Self], s: Self, c: Self);
    /// `x += y`.
    fn add_all(x: &mut [Self], y: &[Self]);
    /// `x *= y`.
    fn mul_all(x: &mut [Self], y: &[Self]);
    /// `t = max(0, a + b - 2 t)`: from dot products to squared distances, a and b being squared norms.
    fn distance_all(t: &mut [Self], a: Self, b: &[Self]);
    /// `t = e^(-gamma max(0, a + b - 2 t))` in one pass.
    fn gauss_all(t: &mut [Self], a: Self, b: &[Self], gamma: Self);
    /// `out[j] = x . y_j` for rows y_j of the length of x, one after the other.
    fn dots(x: &[Self], y: &[Self], out: &mut [Self]);
    /// `out[j] = |x - y_j|^2`.
    fn squares(x: &[Self], y: &[Self], out: &mut [Self]);
    /// `out[j] = sum_i |x_i - y_ji|`.
    fn manhattan(x: &[Self], y: &[Self], out: &mut [Self]);
    /// `out[j] = sum_i (x_i - y_ji)^2 / (x_i + y_ji)`, terms whose divisor is not positive left out.
    fn chi_squares(x: &[Self], y: &[Self], out: &mut [Self]);
    /// `out[j] = sum_i 2 x_i y_ji / (x_i + y_ji)`, terms whose divisor is not positive left out.
    fn harmonic_means(x: &[Self], y: &[Self], out: &mut [Self]);
}

/// `x = cos x`, within two units in the last place of 1; NaN and infinities give NaN.
///
/// ```
/// let mut x = [0.0, 1.0, -100.0, f64::INFINITY];
/// mercer_num::vector::cos_all(&mut x);
/// assert!(x[0] == 1.0 && (x[1] - 1.0_f64.cos()).abs() < 1e-15 && (x[2] - 100.0_f64.cos()).abs() < 1e-15 && x[3].is_nan());
/// ```
pub fn cos_all(x: &mut [f64]) {
    map::cos(x);
}

macro_rules! vector {
    ($t:ident) => {
        impl Vector for $t {
            fn exp_all(x: &mut [Self]) {
                map::$t::exp(x);
            }
            fn ln_all(x: &mut [Self]) {
                map::$t::ln(x);
            }
            fn tanh_all(x: &mut [Self]) {
                map::$t::tanh(x);
            }
            fn powi_all(x: &mut [Self], n: u32) {
                map::$t::powi(x, n);
            }
            fn powf_all(x: &mut [Self], e: Self) {
                map::$t::powf(x, e);
            }
            fn sqrt_all(x: &mut [Self]) {
                map::$t::sqrt(x);
            }
            fn rsqrt_all(x: &mut [Self]) {
                map::$t::rsqrt(x);
            }
            fn affine_all(x: &mut [Self], s: Self, c: Self) {
                map::$t::affine(x, s, c);
            }
            fn add_all(x: &mut [Self], y: &[Self]) {
                map::$t::add(x, y);
            }
            fn mul_all(x: &mut [Self], y: &[Self]) {
                map::$t::mul(x, y);
            }
            fn distance_all(t: &mut [Self], a: Self, b: &[Self]) {
                map::$t::distance(t, a, b);
            }
            fn gauss_all(t: &mut [Self], a: Self, b: &[Self], gamma: Self) {
                map::$t::gauss(t, a, b, gamma);
            }
            fn dots(x: &[Self], y: &[Self], out: &mut [Self]) {
                pair::$t::dots(x, y, out);
            }
            fn squares(x: &[Self], y: &[Self], out: &mut [Self]) {
                pair::$t::squares(x, y, out);
            }
            fn manhattan(x: &[Self], y: &[Self], out: &mut [Self]) {
                pair::$t::manhattan(x, y, out);
            }
            fn chi_squares(x: &[Self], y: &[Self], out: &mut [Self]) {
                pair::$t::chi_squares(x, y, out);
            }
            fn harmonic_means(x: &[Self], y: &[Self], out: &mut [Self]) {
                pair::$t::harmonic_means(x, y, out);
            }
        }
    };
}
vector!(f32);
vector!(f64);

#[cfg(test)]
mod tests;
