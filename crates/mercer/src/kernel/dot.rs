//! Kernels that are functions of `(x.y, |x|^2, |y|^2)`: one elementwise map over a tile of dot products.
//!
//! A leaf is a [`Profile`], a function of one number: of `x.y`, or of the squared distance `|x|^2 + |y|^2 - 2 x.y`. Algebra
//! works on runs of a row, with scratch on the stack, so that nothing is allocated however deep it nests.

use mercer_num::Real;

use crate::kernel::families::with_profile;
use crate::kernel::rows::{self, Span};
use crate::kernel::{Combine, Form, Kernel};

/// A function of one number, with what block routines and derivatives need from it.
pub(super) trait Profile: Copy {
    /// Whether the argument is the squared distance rather than the dot product.
    const RADIAL: bool;

    /// f and its first three derivatives.
    fn derivatives(&self, s: f64) -> [f64; 4];

    /// f over a slice.
    fn map<T: Real>(&self, s: &mut [T]);

    /// The first derivative over a slice.
    fn slope<T: Real>(&self, s: &mut [T]);

    /// f over the dot products of one row, of squared norm `p`, with points of squared norms `q`.
    fn map_dots<T: Real>(&self, t: &mut [T], p: T, q: &[T]) {
        if Self::RADIAL {
            T::distance_all(t, p, q);
        }
        self.map(t);
    }
}

fn profile_value<P: Profile>(p: P, x: Span<'_>, y: Span<'_>) -> f64 {
    let s = if P::RADIAL { rows::distance2(x, y) } else { rows::dot(x, y) };
    p.derivatives(s)[0]
}

/// The value of a leaf by its definition; `None` for other kernels.
pub(super) fn value(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Option<f64> {
    with_profile!(kernel, p => Some(profile_value(p, x, y)), else None)
}

/// Number of elements of a row that algebra processes at once.
const RUN: usize = 128;

impl Kernel {
    /// From dot products to kernel values, in place. `tile` is `row_sq.len()` x `col_sq.len()`, row by row, and holds `x_i . y_j`;
    /// `row_sq` and `col_sq` are the squared norms. For kernels of [`Form::Dot`]. Squared distances are clamped at 0.
    ///
    /// ```
    /// use mercer::kernel::Kernel;
    /// let mut tile = [2.0_f32, 0.0];
    /// Kernel::Rbf { gamma: 0.5 }.map(&mut tile, &[2.0], &[2.0, 1.0]);
    /// assert_eq!(tile[0], 1.0);
    /// assert!((tile[1] - (-1.5_f32).exp()).abs() < 1e-7);
    /// ```
    ///
    /// # Panics
    /// If the sizes disagree, or the kernel is of another form.
    pub fn map<T: Real>(&self, tile: &mut [T], row_sq: &[T], col_sq: &[T]) {
        assert_eq!(tile.len(), row_sq.len() * col_sq.len(), "tile of rows x columns");
        assert_eq!(self.form(), Form::Dot, "kernel `{self}` is not a function of dot products");
        if col_sq.is_empty() {
            return;
        }
        // Chosen once: a leaf maps whole rows in place, while algebra needs the dot products again for every part.
        let leaf = with_profile!(self, _p => true, else false);
        for (row, &p) in tile.chunks_mut(col_sq.len()).zip(row_sq) {
            if leaf {
                with_profile!(self, f => f.map_dots(row, p, col_sq), else ());
                continue;
            }
            for (run, q) in row.chunks_mut(RUN).zip(col_sq.chunks(RUN)) {
                // A copy, because the run is overwritten by the first part's values.
                let mut dots = [T::ZERO; RUN];
                let dots = &mut dots[..run.len()];
                dots.copy_from_slice(run);
                self.run(dots, p, q, run);
            }
        }
    }

    /// The partial derivatives of `k(x_i, y_j)`, by the dot product `x_i . y_j` and by `|x_i|^2`, both tiles of the shape of
    /// `dots`. Then `dk/dx_i = d_dot y_j + 2 d_row x_i`, so that the gradient of an expansion is two matrix products.
    /// For kernels of [`Form::Dot`].
    ///
    /// # Panics
    /// If the sizes disagree, or the kernel is of another form.
    pub fn map_derivative<T: Real>(
        &self,
        dots: &[T],
        row_sq: &[T],
        col_sq: &[T],
        d_dot: &mut [T],
        d_row: &mut [T],
    ) {
        let size = row_sq.len() * col_sq.len();
        assert!(dots.len() == size && d_dot.len() == size && d_row.len() == size, "tiles of rows x columns");
        assert_eq!(self.form(), Form::Dot, "kernel `{self}` is not a function of dot products");
        if col_sq.is_empty() {
            return;
        }
        let m = col_sq.len();
        for (i, &p) in row_sq.iter().enumerate() {
            for from in (0..m).step_by(RUN) {
                let to = (from + RUN).min(m);
                let at = i * m + from..i * m + to;
                let mut value = [T::ZERO; RUN];
                let jet = Jet {
                    value: &mut value[..to - from],
                    d_dot: &mut d_dot[at.clone()],
                    d_row: &mut d_row[at.clone()],
                };
                self.run_jet(&dots[at], p, &col_sq[from..to], jet);
            }
        }
    }

    /// `out = k(t, p, q)`, at most `RUN` elements.
    fn run<T: Real>(&self, t: &[T], p: T, q: &[T], out: &mut [T]) {
        match self.run_parts(out, |part, out| part.run(t, p, q, out)) {
            Some((Combine::Normalise, of)) => {
                let mut scratch = [T::ZERO; RUN];
                let scratch = &mut scratch[..t.len()];
                // Not divided by the square roots of the self-values: those are 0 where a feature vector is, and 0 / 0 is not 0.
                of.run_unit(p, q, scratch);
                T::mul_all(out, scratch);
            }
            Some(_) => {}
            None => {
                out.copy_from_slice(t);
                with_profile!(self, f => f.map_dots(out, p, q), else ());
            }
        }
    }

    /// `out = k(q, q, q)`: the values k(x, x).
    fn run_self<T: Real>(&self, q: &[T], out: &mut [T]) {
        match self.run_parts(out, |part, out| part.run_self(q, out)) {
            Some((Combine::Normalise, _)) => {
                for v in out {
                    // A unit vector's self-value is 1 by definition; computing it again would give 1 only up to rounding.
                    *v = if *v > T::ZERO { T::ONE } else { T::ZERO };
                }
            }
            Some(_) => {}
            None => with_profile!(self, f => self_values(f, q, out), else ()),
        }
    }

    /// Evaluates an operation's first part and combines the others, up to the division of [`Combine::Normalise`].
    /// Returns the operation and its first part, or None for leaves.
    fn run_parts<T: Real>(
        &self,
        out: &mut [T],
        run: impl Fn(&Kernel, &mut [T]),
    ) -> Option<(Combine, &Kernel)> {
        let (combine, parts) = self.parts()?;
        let (first, more) = parts.split_first()?;
        run(first, out);
        for part in more {
            let mut scratch = [T::ZERO; RUN];
            let scratch = &mut scratch[..out.len()];
            run(part, scratch);
            combine.join(out, scratch);
        }
        combine.finish(out, &[], &[]);
        Some((combine, first))
    }

    /// `out = (k(p, p, p) k(q, q, q))^(-1/2)`, 0 where a self-value is not positive.
    fn run_unit<T: Real>(&self, p: T, q: &[T], out: &mut [T]) {
        self.run_self(q, out);
        let mut row = [T::ZERO];
        self.run_self(&[p], &mut row);
        let infinity = T::of(f64::INFINITY);
        for v in out.iter_mut().chain(&mut row) {
            // The inverse square root of infinity is 0, which spares a branch in the vector code.
            if *v <= T::ZERO {
                *v = infinity;
            }
        }
        T::rsqrt_all(out);
        T::rsqrt_all(&mut row);
        T::affine_all(out, row[0], T::ZERO);
    }

    fn run_jet<T: Real>(&self, t: &[T], p: T, q: &[T], mut jet: Jet<'_, T>) {
        let n = t.len();
        match self {
            Kernel::Sum(kernels) | Kernel::Product(kernels) => {
                let mut scratch = [[T::ZERO; RUN]; 3];
                for (i, kernel) in kernels.iter().enumerate() {
                    if i == 0 {
                        kernel.run_jet(t, p, q, jet.reborrow());
                        continue;
                    }
                    let [value, d_dot, d_row] = &mut scratch;
                    let mut next =
                        Jet { value: &mut value[..n], d_dot: &mut d_dot[..n], d_row: &mut d_row[..n] };
                    kernel.run_jet(t, p, q, next.reborrow());
                    if matches!(self, Kernel::Sum(_)) {
                        T::add_all(jet.value, next.value);
                        T::add_all(jet.d_dot, next.d_dot);
                        T::add_all(jet.d_row, next.d_row);
                    } else {
                        for e in 0..n {
                            let (v, w) = (jet.value[e], next.value[e]);
                            // The derivatives before the value, which they use.
                            jet.d_dot[e] = jet.d_dot[e] * w + next.d_dot[e] * v;
                            jet.d_row[e] = jet.d_row[e] * w + next.d_row[e] * v;
                            jet.value[e] = v * w;
                        }
                    }
                }
            }
            Kernel::Scaled { factor, of } => {
                of.run_jet(t, p, q, jet.reborrow());
                let factor = T::of(*factor);
                for part in [jet.value, jet.d_dot, jet.d_row] {
                    T::affine_all(part, factor, T::ZERO);
                }
            }
            Kernel::Power { degree, of } => {
                of.run_jet(t, p, q, jet.reborrow());
                let mut scratch = [T::ZERO; RUN];
                let slope = &mut scratch[..n];
                slope.copy_from_slice(jet.value);
                // k^(d-1) serves twice: times k it is the value, times d the outer derivative.
                T::powi_all(slope, degree - 1);
                T::mul_all(jet.value, slope);
                T::affine_all(slope, T::of(f64::from(*degree)), T::ZERO);
                T::mul_all(jet.d_dot, slope);
                T::mul_all(jet.d_row, slope);
            }
            Kernel::Normalised(of) => {
                of.run_jet(t, p, q, jet.reborrow());
                let mut scratch = [T::ZERO; RUN];
                let unit = &mut scratch[..n];
                of.run_unit(p, q, unit);
                // h(p) = k(p, p, p) has the slope k_dot + k_row + k_column, and the last two are equal.
                let mut own = [[T::ZERO]; 3];
                let [value, d_dot, d_row] = &mut own;
                of.run_jet(&[p], p, &[p], Jet { value, d_dot, d_row });
                let [[h], [h_dot], [h_row]] = own;
                let half = T::of(0.5);
                let fall = if h > T::ZERO { half * (h_dot + h_row + h_row) / h } else { T::ZERO };
                for e in 0..n {
                    jet.d_row[e] = (jet.d_row[e] - fall * jet.value[e]) * unit[e];
                    jet.d_dot[e] *= unit[e];
                    jet.value[e] *= unit[e];
                }
            }
            leaf => {
                jet.value.copy_from_slice(t);
                jet.d_dot.copy_from_slice(t);
                with_profile!(leaf, f => leaf_jet(f, p, q, &mut jet), else ());
            }
        }
    }
}

fn self_values<T: Real, P: Profile>(f: P, q: &[T], out: &mut [T]) {
    if P::RADIAL {
        // Every point has distance 0 from itself; from its norms the distance would be 0 only up to rounding.
        out.fill(T::of(f.derivatives(0.0)[0]));
    } else {
        out.copy_from_slice(q);
        f.map(out);
    }
}

/// Value and slope of a leaf, where `jet.value` and `jet.d_dot` hold the dot products.
fn leaf_jet<T: Real, P: Profile>(f: P, p: T, q: &[T], jet: &mut Jet<'_, T>) {
    f.map_dots(jet.value, p, q);
    if P::RADIAL {
        T::distance_all(jet.d_dot, p, q);
        f.slope(jet.d_dot);
        jet.d_row.copy_from_slice(jet.d_dot);
        // |x - y|^2 has the derivative -2 by x.y and 1 by |x|^2.
        T::affine_all(jet.d_dot, T::of(-2.0), T::ZERO);
    } else {
        f.slope(jet.d_dot);
        jet.d_row.fill(T::ZERO);
    }
}

/// Values with their derivatives by the dot product and by the row's squared norm.
struct Jet<'a, T> {
    value: &'a mut [T],
    d_dot: &'a mut [T],
    d_row: &'a mut [T],
}

impl<T> Jet<'_, T> {
    fn reborrow(&mut self) -> Jet<'_, T> {
        Jet { value: self.value, d_dot: self.d_dot, d_row: self.d_row }
    }
}
