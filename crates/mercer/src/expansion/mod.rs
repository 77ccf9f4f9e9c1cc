//! Kernel expansions: vectors of feature space written as weighted sums of images of points. Floor 5.
//!
//! ```text
//! Psi_o = sum_j coef_jo Phi(x_j),      f_o(x) = Psi_o . Phi(x) + offset_o = sum_j coef_jo k(x_j, x) + offset_o
//! ```
//!
//! The normal vector of a support vector machine, a kernel principal component, a Fisher direction, the mean of a cluster, the
//! centre of a sphere: all are expansions, so evaluation, norms, distances, pruning and compression are written once. Centres are
//! stored once and shared by all outputs; coefficients include labels and signs; centres whose coefficients are all zero are
//! dropped on construction. Evaluating n points on m centres costs O(n m d).

mod algebra;
mod project;
pub(crate) mod store;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::data::{Points, Row, View};
use crate::error::{Error, Fault, Result};
use crate::exec::{Exec, half_of_ram};
use crate::gram;
use crate::kernel::Kernel;
use crate::num::{Mat, product};

/// `f_o(x) = sum_j coef_jo k(x_j, x) + offset_o` for outputs o.
///
/// ```
/// use mercer::prelude::*;
/// // f(x) = 2 k(0, x) - k(1, x) + 0.5
/// let centres = Points::dense(vec![0.0, 1.0], 1)?;
/// let f = Expansion::new("rbf(gamma=1)".parse()?, centres, vec![2.0, -1.0], vec![0.5])?;
/// let at = Points::dense(vec![0.0], 1)?;
/// let value = f.evaluate(at.view(), Exec::one())?[0];
/// assert!((value - (2.0 - (-1.0_f64).exp() + 0.5)).abs() < 1e-12);
/// // |f - f| = 0 in feature space.
/// assert!(f.distance2_to(&f, Exec::one())?[0].abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    kernel: Kernel,
    centres: Points,
    coef: Vec<f64>,
    offset: Vec<f64>,
    prepared: Prepared,
}

/// Centres kept ready for evaluation between calls, in each float type. Clones share them. They do not affect
/// outputs, so expansions that differ only in them compare equal.
#[derive(Debug, Clone, Default)]
struct Prepared(Option<Arc<Ready>>);

#[derive(Debug, Default)]
struct Ready {
    single: gram::Kept<f32>,
    double: gram::Kept<f64>,
    extent: OnceLock<Extent>,
}

/// Sizes of an expansion from which the rounding of its outputs can be bounded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extent {
    /// The mean of the centres; empty if they are not dense.
    pub mean: Vec<f64>,
    /// The largest squared distance of a centre from it.
    pub length: f64,
    /// The sum of the sizes of the coefficients of each output.
    pub size: Vec<f64>,
}

impl PartialEq for Prepared {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// Float type of kernel values. Sums are always in f64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Twice as fast; relative error about 1e-6 of the sum of |coef|.
    F32,
    /// Full f64 precision.
    #[default]
    F64,
}

impl Expansion {
    /// An expansion from its parts: `coef` is m x k row by row, `offset` has k numbers.
    ///
    /// ```
    /// use mercer::{data::Points, expansion::Expansion, kernel::Kernel, Exec};
    /// let centres = Points::dense(vec![1.0, 2.0, 5.0], 1)?;
    /// let f = Expansion::new(Kernel::Linear, centres, vec![1.0, -1.0, 0.0], vec![0.5])?;
    /// assert_eq!(f.len(), 2); // the third coefficient is zero
    /// let x = Points::dense(vec![3.0], 1)?;
    /// assert_eq!(f.evaluate(x.view(), Exec::one())?, [3.0 - 6.0 + 0.5]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn new(kernel: Kernel, centres: Points, coef: Vec<f64>, offset: Vec<f64>) -> Result<Self> {
        let (m, k) = (centres.len(), offset.len());
        if k == 0 {
            return Err(Error::shape("outputs of an expansion", 0, "at least 1"));
        }
        if coef.len() != m * k {
            return Err(Error::shape("coefficients", coef.len(), format!("{m} centres x {k} outputs")));
        }
        if let Some(p) = coef.iter().chain(&offset).position(|v| !v.is_finite()) {
            let got = coef.get(p).or(offset.get(p.wrapping_sub(coef.len()))).map(f64::to_string);
            let fault = Fault {
                row: Some((p / k) as u64 + 1),
                got,
                expected: "finite coefficients".into(),
                ..Fault::default()
            };
            return Err(fault.into());
        }
        if let Some((i, j)) = centres.first_not_finite() {
            let fault = Fault {
                row: Some(i as u64 + 1),
                column: Some((j + 1).to_string()),
                expected: "finite centres".into(),
                ..Fault::default()
            };
            return Err(fault.into());
        }
        gram::check(&kernel, centres.view(), centres.view(), half_of_ram() as u64)?;
        Ok(Self::trimmed(kernel, centres, coef, offset))
    }

    /// Removes centres whose coefficients are all zero. The parts have been checked.
    fn trimmed(kernel: Kernel, centres: Points, coef: Vec<f64>, offset: Vec<f64>) -> Self {
        let k = offset.len();
        let keep: Vec<usize> =
            (0..centres.len()).filter(|&j| coef[j * k..(j + 1) * k].iter().any(|&c| c != 0.0)).collect();
        if keep.len() == centres.len() {
            return Expansion { kernel, centres, coef, offset, prepared: Prepared::default() };
        }
        let coef = keep.iter().flat_map(|&j| &coef[j * k..(j + 1) * k]).copied().collect();
        Expansion { kernel, centres: centres.gather(&keep), coef, offset, prepared: Prepared::default() }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The centres, m of them.
    pub fn centres(&self) -> &Points {
        &self.centres
    }

    /// The coefficients, m x k row by row.
    pub fn coef(&self) -> &[f64] {
        &self.coef
    }

    /// The offset of each output.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// m, the number of centres.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// Whether there are no centres: every output is constant.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
    }

    /// k, the number of outputs.
    pub fn outputs(&self) -> usize {
        self.offset.len()
    }

    /// The same expansion with its centres kept ready for products after the first evaluation, for programs that
    /// evaluate few points many times. Outputs do not change. Uses up to the memory of the centres again, for each
    /// float type that is used.
    ///
    /// ```
    /// use mercer::{data::Points, expansion::Expansion, kernel::Kernel, Exec};
    /// let centres = Points::dense(vec![1.0, 2.0], 1)?;
    /// let f = Expansion::new(Kernel::Linear, centres, vec![1.0, -1.0], vec![0.5])?.prepared();
    /// for x in [3.0, 4.0] {
    ///     let row = Points::dense(vec![x], 1)?;
    ///     assert_eq!(f.evaluate(row.view(), Exec::one())?, [0.5 - x]);
    /// }
    /// # Ok::<(), mercer::Error>(())
    /// ```
    #[must_use]
    pub fn prepared(mut self) -> Self {
        self.prepared.0.get_or_insert_default();
        self
    }

    /// Whether the centres are kept ready: then few points are worth what is computed of the centres once.
    pub(crate) fn is_prepared(&self) -> bool {
        self.prepared.0.is_some()
    }

    /// Its sizes, computed by a function unless they are kept.
    pub(crate) fn extent(&self, compute: impl FnOnce() -> Extent) -> Cow<'_, Extent> {
        match &self.prepared.0 {
            Some(ready) => Cow::Borrowed(ready.extent.get_or_init(compute)),
            None => Cow::Owned(compute()),
        }
    }

    /// All outputs at all points, n x k row by row.
    pub fn evaluate(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        self.evaluate_in(points, Precision::F64, exec)
    }

    /// [`Expansion::evaluate`] with kernel values in a float type of choice.
    pub fn evaluate_in(&self, points: View<'_>, precision: Precision, exec: Exec) -> Result<Vec<f64>> {
        let mut out: Vec<f64> = self.offset.iter().copied().cycle().take(points.n * self.outputs()).collect();
        self.add_to(points, precision, &mut out, exec)?;
        Ok(out)
    }

    /// `Psi_o . Phi(x)` for each point and output (n x k): [`Expansion::evaluate`] without the offsets.
    pub fn inner_at(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let mut out = vec![0.0; points.n * self.outputs()];
        self.add_to(points, Precision::F64, &mut out, exec)?;
        Ok(out)
    }

    /// Adds the sums of kernels at all points to `out`, block by block.
    fn add_to(&self, points: View<'_>, precision: Precision, out: &mut [f64], exec: Exec) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let centres = self.centres.view();
        if let Some(ready) = &self.prepared.0 {
            let exact = precision == Precision::F64;
            let sum = gram::Sum { kernel: &self.kernel, centres, coef: &self.coef, exact };
            return match precision {
                Precision::F32 => ready.single.apply(&sum, points, out, exec),
                Precision::F64 => ready.double.apply(&sum, points, out, exec),
            };
        }
        match precision {
            Precision::F32 => gram::apply::<f32>(&self.kernel, centres, &self.coef, points, out, exec),
            Precision::F64 => gram::apply::<f64>(&self.kernel, centres, &self.coef, points, out, exec),
        }
    }

    /// All outputs from kernel values against the centres (n x m), for precomputed kernels and shared kernel
    /// matrices.
    pub fn evaluate_values(&self, values: &[f64], exec: Exec) -> Result<Vec<f64>> {
        let (m, k) = (self.len(), self.outputs());
        let n = values.len().checked_div(m).unwrap_or(0);
        if n * m != values.len() {
            return Err(Error::shape("kernel values", values.len(), format!("a multiple of {m} centres")));
        }
        let mut out = vec![0.0; n * k];
        product::nn(&mut out, Mat::new(values, n, m), Mat::new(&self.coef, m, k), exec.threads());
        out.iter_mut().zip(self.offset.iter().cycle()).for_each(|(o, b)| *o += b);
        Ok(out)
    }

    /// The contribution of every centre to every output at one point, m x k row by row: `c_ij k(x_i, x)`. With the
    /// offset, a column sums to the output.
    ///
    /// ```
    /// use mercer::{Exec, data::Points, expansion::Expansion, kernel::Kernel};
    /// let centres = Points::dense(vec![1.0, 2.0], 1)?;
    /// let f = Expansion::new(Kernel::Linear, centres, vec![3.0, -1.0], vec![0.5])?;
    /// let at = Points::dense(vec![2.0], 1)?;
    /// assert_eq!(f.terms(at.view(), Exec::one())?, [6.0, -4.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn terms(&self, point: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        if point.n != 1 {
            return Err(Error::shape("points", point.n, 1));
        }
        let values = gram::cross::<f64>(&self.kernel, self.centres.view(), point, exec)?;
        let lines = self.coef.chunks(self.outputs()).zip(values.iter());
        Ok(lines.flat_map(|(line, value)| line.iter().map(move |c| c * value)).collect())
    }

    /// The gradient of every output at one point, k x d row by row.
    pub fn gradient(&self, x: Row<'_>) -> Result<Vec<f64>> {
        let (k, d) = (self.outputs(), self.centres.dim());
        let mut out = vec![0.0; k * d];
        let mut g = vec![0.0; d];
        for j in 0..self.len() {
            self.kernel.gradient(x, self.centres.row(j), &mut g)?;
            for (line, &c) in out.chunks_mut(d).zip(&self.coef[j * k..(j + 1) * k]) {
                line.iter_mut().zip(&g).for_each(|(o, g)| *o += c * g);
            }
        }
        Ok(out)
    }

    /// `|Phi(x) - Psi_o|^2` for each point and output (n x k), without offsets. Clamped at 0.
    pub fn distance2(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let k = self.outputs();
        let mut out = self.inner_at(points, exec)?;
        let mut own = vec![0.0; points.n];
        self.kernel.diag(points, &mut own);
        let norm2 = self.norm2(exec)?;
        for (line, own) in out.chunks_mut(k).zip(&own) {
            line.iter_mut().zip(&norm2).for_each(|(v, norm2)| *v = (own - 2.0 * *v + norm2).max(0.0));
        }
        Ok(out)
    }
}
