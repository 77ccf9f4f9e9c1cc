//! The geometry of the surface onto which a kernel maps input space.
//!
//! The map `Phi` sends the d-dimensional input space to a surface in feature space, whose metric tensor is determined
//! by the kernel (Burges 1999; Schoelkopf et al. 1999, eq. 23): `g_mn = (1/2) d_m d_n k(x, x) - [d_ym d_yn k(x,
//! y)]_{y=x}`, which for a symmetric k is `d_xm d_yn k(x, y)` at y = x. For functions of the dot product, `k(x, y) =
//! f(x.y)` with derivatives taken at `s = |x|^2`,
//!
//! ```text
//! g_mn        = f' d_mn + f'' x_m x_n                                               (eq. 24)
//! g^mn        = d_mn / f' - x_m x_n (f''/f') / (f' + s f'')                          (eq. 25)
//! Gamma^a_bc  = A (x_b d_ac + x_c d_ab) + B x_a x_b x_c
//! R_nab^m     = A (d_na d_mb - d_nb d_ma) + C (x_a x_n d_mb - x_b x_n d_ma) + B (x_b x_m d_na - x_a x_m d_nb)
//! A = f''/f',  B = (f''' f' - 2 f''^2) / (f' (f' + s f'')),  C = 2 (f'''/f' - A^2) - B - A^2 - A B s
//! ```
//!
//! with `R_nab^m = d_a Gamma^m_bn - d_b Gamma^m_an + Gamma^m_ar Gamma^r_bn - Gamma^m_br Gamma^r_an`. For
//! translation-invariant kernels the metric is the same everywhere, so the surface is flat: both tensors are 0.

use crate::data::Row;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::dot::Profile;
use crate::kernel::families::algebra::unit;
use crate::kernel::families::with_profile;

/// With more columns a tensor of fourth order does not fit in memory.
const MAX_COLUMNS: usize = 40;

impl Kernel {
    /// For functions of the dot product alone: f and its first three derivatives at `t = x.y`. `None` for other kernels.
    pub fn dot_derivatives(&self, t: f64) -> Option<[f64; 4]> {
        self.derivatives(t, false)
    }

    /// For functions of the distance alone: f and its first three derivatives at `s = |x - y|^2`. `None` for other kernels.
    pub fn radial_derivatives(&self, s: f64) -> Option<[f64; 4]> {
        self.derivatives(s, true)
    }

    fn derivatives(&self, s: f64, radial: bool) -> Option<[f64; 4]> {
        let product = |a: [f64; 4], b: [f64; 4]| {
            [
                a[0] * b[0],
                a[1] * b[0] + a[0] * b[1],
                a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2],
                a[3] * b[0] + 3.0 * (a[2] * b[1] + a[1] * b[2]) + a[0] * b[3],
            ]
        };
        match self {
            Kernel::Sum(kernels) => kernels.iter().try_fold([0.0; 4], |sum, kernel| {
                let f = kernel.derivatives(s, radial)?;
                Some(std::array::from_fn(|i| sum[i] + f[i]))
            }),
            Kernel::Product(kernels) => kernels.iter().try_fold([1.0, 0.0, 0.0, 0.0], |all, kernel| {
                Some(product(all, kernel.derivatives(s, radial)?))
            }),
            Kernel::Scaled { factor, of } => Some(of.derivatives(s, radial)?.map(|v| factor * v)),
            Kernel::Power { degree, of } => {
                let f = of.derivatives(s, radial)?;
                Some((1..*degree).fold(f, |all, _| product(all, f)))
            }
            // The self-value of a function of the distance is constant.
            Kernel::Normalised(of) if radial => {
                let own = unit(of.derivatives(0.0, true)?[0]);
                Some(of.derivatives(s, true)?.map(|v| v * own * own))
            }
            leaf => with_profile!(leaf, f => of_kind(f, s, radial), else None),
        }
    }

    /// The metric tensor at x, d x d, row by row. Fails for kernels without second derivative.
    ///
    /// ```
    /// use mercer::data::Row;
    /// use mercer::kernel::Kernel;
    /// let metric = Kernel::Rbf { gamma: 0.5 }.metric(Row::F64(&[1.0, 2.0]))?;
    /// assert_eq!(metric, [1.0, 0.0, 0.0, 1.0]); // 2 gamma, everywhere: the surface of a Gaussian is flat
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn metric(&self, x: Row<'_>) -> Result<Vec<f64>> {
        let d = x.to_f64().len();
        let xy = self.second_derivatives(x, x)?.xy;
        Ok((0..d * d).map(|at| 0.5 * (xy[at] + xy[at % d * d + at / d])).collect())
    }

    /// The inverse of the metric tensor, for functions of the dot product (eq. 25).
    pub fn inverse_metric(&self, x: Row<'_>) -> Result<Vec<f64>> {
        let (x, shape) = self.shape(x)?;
        let d = x.len();
        let fall = shape.a / (shape.slope + shape.s * shape.curve);
        Ok(tensor(d, 2, |i| delta(i[0], i[1]) / shape.slope - fall * x[i[0]] * x[i[1]]))
    }

    /// Volume on the surface per unit volume of input space: the square root of the metric's determinant.
    pub fn volume(&self, x: Row<'_>) -> Result<f64> {
        let mut metric = self.metric(x)?;
        let d = x.to_f64().len();
        // Elimination without pivoting is stable for a positive semidefinite matrix.
        let mut root = 1.0;
        for i in 0..d {
            let pivot = metric[i * d + i];
            if pivot <= 0.0 {
                return Ok(0.0);
            }
            root *= pivot.sqrt();
            for j in i + 1..d {
                let factor = metric[j * d + i] / pivot;
                for k in i + 1..d {
                    metric[j * d + k] -= factor * metric[i * d + k];
                }
            }
        }
        Ok(root)
    }

    /// Christoffel symbols of the second kind, `Gamma^a_bc` at `[(a d + b) d + c]`: for functions of the dot product and for
    /// translation-invariant kernels.
    pub fn christoffel(&self, x: Row<'_>) -> Result<Vec<f64>> {
        if self.flat() {
            return Ok(vec![0.0; x.to_f64().len().pow(3)]);
        }
        let (x, shape) = self.shape(x)?;
        Ok(tensor(x.len(), 3, |i| {
            let [a, b, c] = [i[0], i[1], i[2]];
            shape.a * (x[b] * delta(a, c) + x[c] * delta(a, b)) + shape.b * x[a] * x[b] * x[c]
        }))
    }

    /// The Riemann curvature tensor, `R_nab^m` at `[((n d + a) d + b) d + m]`: for functions of the dot product and for
    /// translation-invariant kernels.
    pub fn riemann(&self, x: Row<'_>) -> Result<Vec<f64>> {
        if self.flat() {
            let d = x.to_f64().len();
            few_columns(d)?;
            return Ok(vec![0.0; d.pow(4)]);
        }
        let (x, shape) = self.shape(x)?;
        let Shape { s, a: big_a, b: big_b, bend, .. } = shape;
        let big_c = 2.0 * (bend - big_a * big_a) - big_b - big_a * big_a - big_a * big_b * s;
        Ok(tensor(x.len(), 4, |i| {
            let [n, a, b, m] = [i[0], i[1], i[2], i[3]];
            big_a * (delta(n, a) * delta(m, b) - delta(n, b) * delta(m, a))
                + big_c * (x[a] * x[n] * delta(m, b) - x[b] * x[n] * delta(m, a))
                + big_b * (x[b] * x[m] * delta(n, a) - x[a] * x[m] * delta(n, b))
        }))
    }

    /// The scalar curvature `g^nb R_nab^a`, with the sign that makes a sphere positive.
    pub fn scalar_curvature(&self, x: Row<'_>) -> Result<f64> {
        if self.flat() {
            return Ok(0.0);
        }
        let (riemann, inverse) = (self.riemann(x)?, self.inverse_metric(x)?);
        let d = x.to_f64().len();
        let mut sum = 0.0;
        for n in 0..d {
            for b in 0..d {
                let ricci: f64 = (0..d).map(|a| riemann[((n * d + a) * d + b) * d + a]).sum();
                sum += inverse[n * d + b] * ricci;
            }
        }
        Ok(sum)
    }

    fn flat(&self) -> bool {
        self.translation_invariant() && self.smoothness() == 2
    }

    /// The numbers all tensors of a function of the dot product are made of.
    fn shape(&self, x: Row<'_>) -> Result<(Vec<f64>, Shape)> {
        let x = x.to_f64();
        few_columns(x.len())?;
        let s = x.iter().map(|v| v * v).sum();
        let Some([_, slope, curve, third]) = self.dot_derivatives(s) else {
            return Err(Error::Unsupported(format!(
                "kernel `{self}` is not a function of the dot product alone"
            )));
        };
        let along = slope + s * curve;
        if slope <= 0.0 || along <= 0.0 {
            return Err(Error::Unsupported(format!(
                "kernel `{self}`: the metric is singular or indefinite at |x|^2 = {s}"
            )));
        }
        let b = (third * slope - 2.0 * curve * curve) / (slope * along);
        Ok((x, Shape { s, slope, curve, a: curve / slope, b, bend: third / slope }))
    }
}

struct Shape {
    s: f64,
    slope: f64,
    curve: f64,
    a: f64,
    b: f64,
    bend: f64,
}

fn of_kind<P: Profile>(f: P, s: f64, radial: bool) -> Option<[f64; 4]> {
    (P::RADIAL == radial).then(|| f.derivatives(s))
}

fn few_columns(d: usize) -> Result<()> {
    if d > MAX_COLUMNS {
        return Err(Error::param("columns", d, format!("at most {MAX_COLUMNS} for tensors of curvature")));
    }
    Ok(())
}

fn delta(i: usize, j: usize) -> f64 {
    if i == j { 1.0 } else { 0.0 }
}

/// All components of a tensor, the last index running fastest.
fn tensor(d: usize, order: u32, component: impl Fn([usize; 4]) -> f64) -> Vec<f64> {
    (0..d.pow(order))
        .map(|at| {
            let mut index = [0; 4];
            let mut rest = at;
            for place in index[..order as usize].iter_mut().rev() {
                *place = rest % d;
                rest /= d;
            }
            component(index)
        })
        .collect()
}

#[cfg(test)]
mod tests;
