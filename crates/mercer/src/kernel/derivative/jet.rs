//! Jets: a value with its first and second derivatives in both arguments, and the rules of calculus for them.

use super::Product;
use crate::kernel::coordinates::Coordinates;
use crate::kernel::dot::Profile;
use crate::kernel::families::local::Local;
use crate::kernel::families::with_coordinates;
use crate::kernel::families::with_profile;
use crate::kernel::rows::Span;
use crate::kernel::{Kernel, columns, widths};

/// `k(x, y)` with its derivatives; matrices are d x d, row by row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Second {
    /// `k`
    pub value: f64,
    /// `dk/dx_i`
    pub x: Vec<f64>,
    /// `dk/dy_i`
    pub y: Vec<f64>,
    /// `d^2 k/dx_i dx_j`
    pub xx: Vec<f64>,
    /// `d^2 k/dx_i dy_j`
    pub xy: Vec<f64>,
}

impl Second {
    fn constant(value: f64, d: usize) -> Self {
        Second { value, x: vec![0.0; d], y: vec![0.0; d], xx: vec![0.0; d * d], xy: vec![0.0; d * d] }
    }

    fn dim(&self) -> usize {
        self.x.len()
    }

    fn add(&mut self, other: &Second) {
        self.value += other.value;
        let pairs = [
            (&mut self.x, &other.x),
            (&mut self.y, &other.y),
            (&mut self.xx, &other.xx),
            (&mut self.xy, &other.xy),
        ];
        for (a, b) in pairs {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        }
    }

    fn times(&self, other: &Second) -> Second {
        let (a, b, d) = (self, other, self.dim());
        let mut out = Second::constant(a.value * b.value, d);
        for i in 0..d {
            out.x[i] = a.value * b.x[i] + b.value * a.x[i];
            out.y[i] = a.value * b.y[i] + b.value * a.y[i];
            for j in 0..d {
                let at = i * d + j;
                out.xx[at] = a.value * b.xx[at] + b.value * a.xx[at] + a.x[i] * b.x[j] + b.x[i] * a.x[j];
                out.xy[at] = a.value * b.xy[at] + b.value * a.xy[at] + a.x[i] * b.y[j] + b.x[i] * a.y[j];
            }
        }
        out
    }

    /// `f(k)`, given f, f' and f'' at k.
    fn through(mut self, [value, slope, curve]: [f64; 3]) -> Second {
        let d = self.dim();
        self.value = value;
        for i in 0..d {
            for j in 0..d {
                let at = i * d + j;
                self.xx[at] = slope * self.xx[at] + curve * self.x[i] * self.x[j];
                self.xy[at] = slope * self.xy[at] + curve * self.x[i] * self.y[j];
            }
        }
        self.x.iter_mut().chain(&mut self.y).for_each(|g| *g *= slope);
        self
    }

    /// The same on columns `from ..` of d columns.
    fn placed(&self, from: usize, d: usize) -> Second {
        let mut out = Second::constant(self.value, d);
        let own = self.dim();
        for i in 0..own {
            out.x[from + i] = self.x[i];
            out.y[from + i] = self.y[i];
            for j in 0..own {
                out.xx[(from + i) * d + from + j] = self.xx[i * own + j];
                out.xy[(from + i) * d + from + j] = self.xy[i * own + j];
            }
        }
        out
    }
}

/// f, f', f'' of the power.
pub(in crate::kernel) fn power(k: f64, degree: u32) -> [f64; 3] {
    let n = f64::from(degree);
    let lower = |by: i32| if (degree as i32) < by { 0.0 } else { k.powi(degree as i32 - by) };
    [k.powi(degree as i32), n * lower(1), n * (n - 1.0) * lower(2)]
}

/// The jet of a kernel that is twice differentiable.
pub(super) fn of(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Second {
    let d = x.len();
    match kernel {
        Kernel::Sum(kernels) => kernels.iter().fold(Second::constant(0.0, d), |mut sum, k| {
            sum.add(&of(k, x, y));
            sum
        }),
        Kernel::Product(kernels) => {
            kernels.iter().fold(Second::constant(1.0, d), |product, k| product.times(&of(k, x, y)))
        }
        Kernel::Scaled { factor, of: inner } => {
            let jet = of(inner, x, y);
            let value = factor * jet.value;
            jet.through([value, *factor, 0.0])
        }
        Kernel::Power { degree, of: inner } => {
            let jet = of(inner, x, y);
            let outer = power(jet.value, *degree);
            jet.through(outer)
        }
        Kernel::Normalised(inner) => {
            let at_x = unit(inner, x);
            // The normalising factor of y depends on the second argument only.
            let mut at_y = unit(inner, y);
            std::mem::swap(&mut at_y.x, &mut at_y.y);
            at_y.xx.fill(0.0);
            of(inner, x, y).times(&at_x).times(&at_y)
        }
        Kernel::Columns { from, to, of: inner } => {
            let (from, to) = ((*from as usize).min(d), (*to as usize).min(d));
            of(inner, x.columns(from, to), y.columns(from, to)).placed(from, d)
        }
        Kernel::Subvector { size, step, degree, of: inner } => {
            let mut sum = Second::constant(0.0, d);
            for (from, to) in columns::runs(d, *size, *step) {
                let jet = of(inner, x.columns(from, to), y.columns(from, to));
                let outer = power(jet.value, *degree);
                sum.add(&jet.through(outer).placed(from, d));
            }
            sum
        }
        Kernel::Local { .. } => {
            Local::of(kernel, d).map_or(Second::constant(f64::NAN, d), |local| local.second(x, y))
        }
        Kernel::RbfWidths { gamma } => {
            let jet = widths::logarithm(*gamma, x, y);
            let value = jet.value.exp();
            jet.through([value; 3])
        }
        leaf => {
            let (x, y) = (x.to_f64(), y.to_f64());
            with_profile!(leaf, f => profile(f, &x, &y), else {
                with_coordinates!(leaf, c => coordinates(&c, &x, &y), else Second::constant(f64::NAN, d))
            })
        }
    }
}

/// `k(x, x)^(-1/2)` as a function of the first argument.
fn unit(kernel: &Kernel, x: Span<'_>) -> Second {
    let mut own = of(kernel, x, x);
    let d = own.dim();
    // Of h(x) = k(x, x): the slope is k_x + k_y, the curvature k_xx + k_xy + k_yx + k_yy, and k is symmetric.
    for i in 0..d {
        own.x[i] += own.y[i];
    }
    let curve = |i: usize, j: usize| own.xx[i * d + j] * 2.0 + own.xy[i * d + j] + own.xy[j * d + i];
    own.xx = (0..d * d).map(|at| curve(at / d, at % d)).collect();
    own.xy.fill(0.0);
    own.y.fill(0.0);
    let h = own.value;
    if h > 0.0 {
        let root = h.sqrt();
        own.through([1.0 / root, -0.5 / (h * root), 0.75 / (h * h * root)])
    } else {
        Second::constant(0.0, d)
    }
}

fn profile<P: Profile>(f: P, x: &[f64], y: &[f64]) -> Second {
    let d = x.len();
    let sum = |term: fn(f64, f64) -> f64| x.iter().zip(y).map(|(&x, &y)| term(x, y)).sum::<f64>();
    let s = if P::RADIAL { sum(|x, y| (x - y) * (x - y)) } else { sum(|x, y| x * y) };
    let [value, slope, curve, _] = f.derivatives(s);
    let mut jet = Second::constant(s, d);
    for i in 0..d {
        let away = 2.0 * (x[i] - y[i]);
        (jet.x[i], jet.y[i]) = if P::RADIAL { (away, -away) } else { (y[i], x[i]) };
        (jet.xx[i * d + i], jet.xy[i * d + i]) = if P::RADIAL { (2.0, -2.0) } else { (0.0, 1.0) };
    }
    jet.through([value, slope, curve])
}

fn coordinates<C: Coordinates>(c: &C, x: &[f64], y: &[f64]) -> Second {
    let d = x.len();
    let terms: Vec<_> = (0..d).map(|i| c.term(i, x[i], y[i])).collect();
    if !C::PRODUCT {
        let mut jet = Second::constant(terms.iter().map(|t| t.value).sum(), d);
        for (i, term) in terms.iter().enumerate() {
            (jet.x[i], jet.y[i]) = (term.x, term.y);
            (jet.xx[i * d + i], jet.xy[i * d + i]) = (term.xx, term.xy);
        }
        let outer = c.outer(jet.value);
        return jet.through(outer);
    }
    let mut all = Product::default();
    for term in &terms {
        all.push(term.value);
    }
    let mut jet = Second::constant(all.value(), d);
    for (i, a) in terms.iter().enumerate() {
        let rest = all.taken(a.value);
        (jet.x[i], jet.y[i]) = (rest.value() * a.x, rest.value() * a.y);
        for (j, b) in terms.iter().enumerate() {
            let at = i * d + j;
            (jet.xx[at], jet.xy[at]) = if i == j {
                (rest.value() * a.xx, rest.value() * a.xy)
            } else {
                let both = rest.without(b.value);
                (both * a.x * b.x, both * a.x * b.y)
            };
        }
    }
    jet
}
