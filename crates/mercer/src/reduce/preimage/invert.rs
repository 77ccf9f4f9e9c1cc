//! Inversion of kernels that are monotone functions of one number.

use crate::kernel::Kernel;

/// A kernel as a function f of the dot product or of the squared distance, strictly monotone on the range in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inverse<'a> {
    kernel: &'a Kernel,
    pub radial: bool,
    lo: f64,
    hi: f64,
    at_lo: f64,
    at_hi: f64,
}

/// Arguments are searched up to this multiple of the data's range.
const BEYOND: f64 = 64.0;

impl<'a> Inverse<'a> {
    /// None if the kernel is not such a function. `size2` is the largest squared norm, or squared distance, of the
    /// data.
    pub(super) fn new(kernel: &'a Kernel, size2: f64) -> Option<Self> {
        let radial = super::radial(kernel);
        let far = BEYOND * size2.max(1e-12);
        let (lo, hi) = if radial { (0.0, far) } else { (-far, far) };
        let f = |t: f64| if radial { kernel.radial_derivatives(t) } else { kernel.dot_derivatives(t) };
        let (at_lo, at_hi) = (f(lo)?[0], f(hi)?[0]);
        let rises = at_hi > at_lo;
        // Sampling at many arguments detects a function that is not monotone.
        let steady = (0..=400).map(|i| lo + (hi - lo) * f64::from(i) / 400.0).filter_map(f).all(|f| {
            let slope = if rises { f[1] } else { -f[1] };
            slope >= 0.0
        });
        (steady && at_lo != at_hi && at_lo.is_finite() && at_hi.is_finite()).then_some(Inverse {
            kernel,
            radial,
            lo,
            hi,
            at_lo,
            at_hi,
        })
    }

    fn f(&self, t: f64) -> [f64; 4] {
        let f = if self.radial { self.kernel.radial_derivatives(t) } else { self.kernel.dot_derivatives(t) };
        f.unwrap_or([f64::NAN; 4])
    }

    /// The argument for a value; values out of range give the nearest end. Bisection, then Newton's method while it
    /// improves.
    pub(super) fn argument(&self, value: f64) -> f64 {
        let rises = self.at_hi > self.at_lo;
        let below = |v: f64| if rises { v < value } else { v > value };
        if !below(self.at_lo) || value.is_nan() {
            return self.lo;
        }
        if below(self.at_hi) {
            return self.hi;
        }
        let (mut lo, mut hi) = (self.lo, self.hi);
        for _ in 0..60 {
            let middle = 0.5 * (lo + hi);
            if below(self.f(middle)[0]) {
                lo = middle;
            } else {
                hi = middle;
            }
            if hi - lo <= 1e-9 * (hi.abs() + lo.abs()) {
                break;
            }
        }
        let mut t = 0.5 * (lo + hi);
        let mut off = (self.f(t)[0] - value).abs();
        for _ in 0..8 {
            let [at, slope, ..] = self.f(t);
            let next = t - (at - value) / slope;
            let after = (self.f(next)[0] - value).abs();
            if !next.is_finite() || after.is_nan() || after >= off || next < self.lo || next > self.hi {
                break;
            }
            (t, off) = (next, after);
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::assert::close;

    #[test]
    fn arguments_come_back_and_folded_kernels_are_refused() {
        let rbf = Kernel::Rbf { gamma: 0.3 };
        let cubic = Kernel::Poly { degree: 3, scale: 0.5, coef0: 1.0 };
        for kernel in [rbf, cubic, Kernel::Linear, Kernel::InverseMultiquadric { c: 0.7 }] {
            let inverse = Inverse::new(&kernel, 1.5).expect("monotone");
            for t in [0.01, 0.4, 1.3, 3.0] {
                close(inverse.argument(inverse.f(t)[0]), t, 1e-12);
            }
            if !inverse.radial {
                close(inverse.argument(inverse.f(-1.1)[0]), -1.1, 1e-9);
            }
            assert!(inverse.argument(f64::NAN).is_finite() && inverse.argument(1e9).is_finite());
        }
        assert!(Inverse::new(&Kernel::Poly { degree: 2, scale: 1.0, coef0: 0.0 }, 1.0).is_none());
        assert!(Inverse::new(&Kernel::Laplacian { gamma: 1.0 }, 1.0).is_none());
    }
}
