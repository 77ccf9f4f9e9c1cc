//! Derivatives of a kernel in its arguments.
//!
//! The first derivative is accumulated in place, without allocation, so that the gradient of an expansion is a loop
//! over its centres; for functions of dot products [`Kernel::map_derivative`] is faster. Second derivatives are jets:
//! a value with its gradients and mixed second derivatives, carried through algebra by the rules for sums, products
//! and powers.

mod jet;

use crate::data::Row;
use crate::error::{Error, Result};
use crate::kernel::coordinates::Coordinates;
use crate::kernel::dot::Profile;
use crate::kernel::families::algebra::unit;
use crate::kernel::families::local::Local;
use crate::kernel::families::with_coordinates;
use crate::kernel::families::with_profile;
use crate::kernel::rows::{self, Span};
use crate::kernel::{Kernel, columns, sequence, widths};

pub use jet::Second;
pub(super) use jet::power;

impl Kernel {
    /// How often the kernel is differentiable in its arguments: 0, 1 (for kernels with kinks, almost everywhere) or 2
    /// times.
    pub fn smoothness(&self) -> u8 {
        match self {
            Kernel::Precomputed => 0,
            leaf if sequence::is(leaf) => 0,
            Kernel::Custom(custom) => u8::from(custom.0.has_gradient()),
            _ => with_coordinates!(self, c => c.smooth(), else {
                self.children().iter().map(Kernel::smoothness).min().unwrap_or(2)
            }),
        }
    }

    /// Whether [`Kernel::gradient`] exists.
    pub fn has_gradient(&self) -> bool {
        self.smoothness() >= 1
    }

    /// Writes `dk(x, y)/dx` to `out`, one value per column of x, and returns `k(x, y)`. Where a kernel has a kink
    /// (equal coordinates, for the Laplacian), the derivative is taken as 0 there.
    ///
    /// ```
    /// use mercer::data::Row;
    /// use mercer::kernel::Kernel;
    /// let mut out = [0.0; 2];
    /// let kernel = Kernel::Poly { degree: 2, scale: 1.0, coef0: 0.0 };
    /// kernel.gradient(Row::F64(&[1.0, 2.0]), Row::F64(&[3.0, 1.0]), &mut out)?;
    /// assert_eq!(out, [2.0 * 5.0 * 3.0, 2.0 * 5.0 * 1.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn gradient(&self, x: Row<'_>, y: Row<'_>, out: &mut [f64]) -> Result<f64> {
        if !self.has_gradient() {
            return Err(Error::Unsupported(format!("kernel `{self}` has no derivative")));
        }
        let d = Span::of(x).len();
        if out.len() != d {
            return Err(Error::shape("values of a gradient", out.len(), format!("{d}, one per column")));
        }
        out.fill(0.0);
        self.add_gradient(1.0, x, y, out);
        Ok(self.value(x, y))
    }

    /// `out += weight dk(x, y)/dx`, without allocation and unchecked: call [`Kernel::has_gradient`] once before the
    /// loop. A kernel without a gradient adds NaN.
    pub fn add_gradient(&self, weight: f64, x: Row<'_>, y: Row<'_>, out: &mut [f64]) {
        self.add_gradient_of(weight, Span::of(x), Span::of(y), out);
    }

    fn add_gradient_of(&self, weight: f64, x: Span<'_>, y: Span<'_>, out: &mut [f64]) {
        match self {
            Kernel::Sum(kernels) => kernels.iter().for_each(|k| k.add_gradient_of(weight, x, y, out)),
            Kernel::Product(kernels) => {
                for (i, kernel) in kernels.iter().enumerate() {
                    let others = kernels.iter().enumerate().filter(|(j, _)| *j != i);
                    let rest: f64 = others.map(|(_, k)| k.value_of(x, y)).product();
                    kernel.add_gradient_of(weight * rest, x, y, out);
                }
            }
            Kernel::Scaled { factor, of } => of.add_gradient_of(weight * factor, x, y, out),
            Kernel::Power { degree, of } => {
                let slope = f64::from(*degree) * of.value_of(x, y).powi(*degree as i32 - 1);
                of.add_gradient_of(weight * slope, x, y, out);
            }
            Kernel::Normalised(of) => {
                let own = of.value_of(x, x);
                let unit_both = unit(own) * unit(of.value_of(y, y));
                if unit_both > 0.0 {
                    of.add_gradient_of(weight * unit_both, x, y, out);
                    // k(x, x) has the slope 2 dk(x, y)/dx at y = x.
                    of.add_gradient_of(-weight * unit_both * of.value_of(x, y) / own, x, x, out);
                }
            }
            Kernel::Columns { from, to, of } => {
                let (from, to) = ((*from as usize).min(out.len()), (*to as usize).min(out.len()));
                of.add_gradient_of(weight, x.columns(from, to), y.columns(from, to), &mut out[from..to]);
            }
            Kernel::Subvector { size, step, degree, of } => {
                for (from, to) in columns::runs(out.len(), *size, *step) {
                    let (x, y) = (x.columns(from, to), y.columns(from, to));
                    let slope = f64::from(*degree) * of.value_of(x, y).powi(*degree as i32 - 1);
                    of.add_gradient_of(weight * slope, x, y, &mut out[from..to]);
                }
            }
            Kernel::Custom(custom) if custom.0.has_gradient() => {
                let mut own = vec![0.0; out.len()];
                x.as_row(|x| y.as_row(|y| custom.0.gradient(x, y, &mut own)));
                out.iter_mut().zip(own).for_each(|(out, g)| *out += weight * g);
            }
            Kernel::Local { .. } => match Local::of(self, out.len()) {
                Some(local) => local.add_gradient(weight, x, y, out),
                None => out.fill(f64::NAN),
            },
            Kernel::RbfWidths { gamma } => widths::add_gradient(*gamma, weight, x, y, out),
            leaf => with_profile!(leaf, f => profile(f, weight, x, y, out), else {
                with_coordinates!(leaf, c => coordinates(&c, weight, x, y, out), else out.fill(f64::NAN));
            }),
        }
    }

    /// Value, gradients and second derivatives at (x, y); fails for kernels that have none.
    pub fn second_derivatives(&self, x: Row<'_>, y: Row<'_>) -> Result<Second> {
        if self.smoothness() < 2 {
            return Err(Error::Unsupported(format!("kernel `{self}` has no second derivative")));
        }
        let (x, y) = (Span::of(x), Span::of(y));
        if x.len() != y.len() || !rows::numbers(x, y) {
            return Err(Error::shape("columns of the second point", y.len(), x.len()));
        }
        Ok(jet::of(self, x, y))
    }
}

fn profile<P: Profile>(f: P, weight: f64, x: Span<'_>, y: Span<'_>, out: &mut [f64]) {
    if P::RADIAL {
        let slope = 2.0 * weight * f.derivatives(rows::distance2(x, y))[1];
        rows::pairs(x, y, |i, x, y| out[i] += slope * (x - y));
    } else {
        let slope = weight * f.derivatives(rows::dot(x, y))[1];
        rows::each(y, |i, y| out[i] += slope * y);
    }
}

fn coordinates<C: Coordinates>(c: &C, weight: f64, x: Span<'_>, y: Span<'_>, out: &mut [f64]) {
    if C::PRODUCT {
        let mut all = Product::default();
        rows::pairs(x, y, |i, x, y| all.push(c.part(i, x, y)));
        rows::pairs(x, y, |i, x, y| {
            let term = c.term(i, x, y);
            out[i] += weight * all.without(term.value) * term.x;
        });
    } else {
        let mut sum = 0.0;
        rows::pairs(x, y, |i, x, y| sum += c.part(i, x, y));
        let slope = weight * c.outer(sum)[1];
        rows::pairs(x, y, |i, x, y| out[i] += slope * c.term(i, x, y).x);
    }
}

/// A product from which single factors can be divided out again, even zeros.
#[derive(Clone, Copy)]
struct Product {
    rest: f64,
    zeros: u32,
}

impl Default for Product {
    fn default() -> Self {
        Product { rest: 1.0, zeros: 0 }
    }
}

impl Product {
    fn push(&mut self, factor: f64) {
        if factor == 0.0 {
            self.zeros += 1;
        } else {
            self.rest *= factor;
        }
    }

    fn taken(mut self, factor: f64) -> Self {
        if factor == 0.0 {
            self.zeros -= 1;
        } else {
            self.rest /= factor;
        }
        self
    }

    fn value(self) -> f64 {
        if self.zeros == 0 { self.rest } else { 0.0 }
    }

    fn without(self, factor: f64) -> f64 {
        self.taken(factor).value()
    }
}
