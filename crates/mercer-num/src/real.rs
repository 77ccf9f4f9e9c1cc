//! The two float types, behind one sealed trait.

use std::fmt::{Debug, Display};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
pub trait Real:
    sealed::Sealed
    + crate::bytes::Gridded
    + crate::narrow::Narrow
    + crate::product::Algebra
    + crate::tiles::Transpose
    + crate::triangular::Factor
    + crate::vector::Vector
    + crate::vector::Symbols
    + Copy
    + Send
    + Sync
    + Default
    + Debug
    + Display
    + PartialOrd
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next number.
    const EPSILON: Self;
    /// The nearest value of this type.
    fn of(value: f64) -> Self;
    /// The same value as f64.
    fn f64(self) -> f64;
    /// The larger of the two.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// The same slice, if this type is f32.
    fn same_f32(x: &[f32]) -> Option<&[Self]>;
    /// The same slice, if this type is f64.
    fn same_f64(x: &[f64]) -> Option<&[Self]>;
    /// The same slice for writing, with its type.
    fn floats(x: &mut [Self]) -> Floats<'_>;
}

/// Values of one of the two types, for writing.
#[derive(Debug)]
pub enum Floats<'a> {
    /// In single precision.
    F32(&'a mut [f32]),
    /// In double precision.
    F64(&'a mut [f64]),
}

macro_rules! real {
    ($t:ty, $same32:expr, $same64:expr, $floats:expr) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = <$t>::EPSILON;
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            fn same_f32(x: &[f32]) -> Option<&[Self]> {
                $same32(x)
            }
            fn same_f64(x: &[f64]) -> Option<&[Self]> {
                $same64(x)
            }
            fn floats(x: &mut [Self]) -> Floats<'_> {
                $floats(x)
            }
        }
    };
}
real!(f32, Some, |_| None, Floats::F32);
real!(f64, |_| None, Some, Floats::F64);
