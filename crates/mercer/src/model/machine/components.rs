//! Kernel principal components: features, reconstructions, pre-images, moments.

use super::{Machine, Role};
use crate::data::{Data, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::{Expansion, Precision};
use crate::model::common::{finite_rows, outputs};
use crate::num::{Mat, product};
use crate::reduce::preimage::{PreimageParams, Preimages, Target, preimages};
use crate::watch::Watch;

/// What a kernel PCA stores besides the expansion, which is `V_k . (Phi(x) - mean)` for axes of unit norm.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The mean in feature space, if it was subtracted.
    pub mean: Option<Expansion>,
    /// The mean's squared norm.
    pub mean2: f64,
    /// Eigenvalues of the (centred) kernel matrix in descending order; negative ones for indefinite kernels. For
    /// sparse axes n times the variance.
    pub values: Vec<f64>,
    /// The trace of that matrix: the sum of all its eigenvalues.
    pub total: f64,
    /// n, the number of rows it was fitted on.
    pub rows: usize,
    /// Whether features are scaled to unit variance on the training rows.
    pub whiten: bool,
}

/// The components of a machine whose role is [`Role::Features`].
#[derive(Debug, Clone, Copy)]
pub struct Components<'a> {
    /// `V_k . (Phi(x) - mean)`, with centring absorbed.
    pub expansion: &'a Expansion,
    /// The mean and the eigenvalues.
    pub features: &'a Features,
}

impl Machine {
    /// The components of a kernel PCA. Fails for other machines.
    pub fn components(&self) -> Result<Components<'_>> {
        match &self.role {
            Role::Features(features) => Ok(Components { expansion: &self.expansion, features }),
            _ => Err(Error::Unsupported(format!("a model of kind {} has no components", self.kind()))),
        }
    }
}

/// Number of points mapped back at a time: their coefficients are a matrix of centres x points.
const BATCH: usize = 4096;
/// Number of unit vectors processed together.
const UNITS: usize = 256;

impl Components<'_> {
    /// k, the number of components.
    pub fn count(&self) -> usize {
        self.features.values.len()
    }

    /// Fraction of the variance explained by each component.
    pub fn shares(&self) -> Vec<f64> {
        self.features.values.iter().map(|v| v.abs() / self.features.total.max(f64::MIN_POSITIVE)).collect()
    }

    /// The factor of each feature: 1, or the one that makes its variance on the training rows 1.
    pub(super) fn scale(&self) -> Vec<f64> {
        let unit =
            |v: &f64| if self.features.whiten { (self.features.rows as f64 / v.abs()).sqrt() } else { 1.0 };
        self.features.values.iter().map(unit).collect()
    }

    /// The features as one expansion, scaled if they are whitened, as input of another machine.
    pub fn layer(&self) -> Result<Expansion> {
        let (scale, f) = (self.scale(), self.expansion);
        let times = |v: &[f64]| v.iter().zip(scale.iter().cycle()).map(|(v, s)| v * s).collect::<Vec<_>>();
        Expansion::new(f.kernel().clone(), f.centres().clone(), times(f.coef()), times(f.offset()))
    }

    /// Features of new points, n x k row by row: the machine's decision values.
    pub fn transform(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        self.transform_in(points, self.precision(), exec)
    }

    /// [`Components::transform`] with kernel values in a float type of choice.
    pub fn transform_in(&self, points: View<'_>, precision: Precision, exec: Exec) -> Result<Vec<f64>> {
        let mut out = match self.expansion.centres().view().data {
            Data::RowNumbers(_) => outputs(self.expansion, points, exec)?,
            _ => finite_rows(self.expansion.evaluate_in(points, precision, exec)?, self.count())?,
        };
        out.iter_mut().zip(self.scale().iter().cycle()).for_each(|(v, s)| *v *= s);
        Ok(out)
    }

    /// The float type for features: f32 in large models if features stay accurate to about 1e-5 of their standard
    /// deviation.
    ///
    /// Rounding of the kernel values, of size eps each, moves feature k by eps |a_k| = eps / sqrt(lambda_k); its
    /// standard deviation is sqrt(lambda_k / n).
    pub fn precision(&self) -> Precision {
        const LARGE: usize = 1 << 18;
        const ENOUGH: f64 = 3e-5;
        let least = self.features.values.iter().fold(f64::INFINITY, |m, v| m.min(v.abs()));
        let (n, size) = (self.features.rows as f64, self.expansion.len() * self.expansion.centres().dim());
        // The mean of k(x, x) on the training rows.
        let scale = self.features.total.abs() / n + self.features.mean2;
        let error = f64::from(f32::EPSILON) * scale * n.sqrt() / least;
        if size >= LARGE && error <= ENOUGH { Precision::F32 } else { Precision::F64 }
    }

    /// `mean + sum_k beta_k V_k` for each row of features, one output per row. Rows with fewer features than
    /// components use the first ones.
    ///
    /// Under an indefinite kernel, components with negative eigenvalues enter with their sign.
    pub fn reconstruct(&self, features: &[f64], used: usize, exec: Exec) -> Result<Expansion> {
        let k = self.count();
        if used == 0 || used > k {
            return Err(Error::param("components used", used, format!("from 1 to {k}")));
        }
        if features.is_empty() || !features.len().is_multiple_of(used) {
            return Err(Error::shape("features", features.len(), format!("rows of {used}")));
        }
        let (n, m) = (features.len() / used, self.expansion.len());
        let scale = self.scale();
        let unit: Vec<f64> = features
            .iter()
            .enumerate()
            .map(|(p, v)| v / scale[p % used] * self.features.values[p % used].signum())
            .collect();
        let mut coef = vec![0.0; m * n];
        let axes = Mat { values: self.expansion.coef(), rows: m, cols: used, stride: k };
        product::nt(&mut coef, axes, Mat::new(&unit, n, used), exec.threads());
        let (kernel, centres) = (self.expansion.kernel(), self.expansion.centres());
        let Some(mean) = &self.features.mean else {
            return Expansion::new(kernel.clone(), centres.clone(), coef, vec![0.0; n]);
        };
        if mean.centres() == centres {
            for (line, c) in coef.chunks_mut(n).zip(mean.coef()) {
                line.iter_mut().for_each(|v| *v += c);
            }
            return Expansion::new(kernel.clone(), centres.clone(), coef, vec![0.0; n]);
        }
        let spread = mean.coef().iter().flat_map(|&c| std::iter::repeat_n(c, n)).collect();
        let mean = Expansion::new(kernel.clone(), mean.centres().clone(), spread, vec![0.0; n])?;
        Expansion::new(kernel.clone(), centres.clone(), coef, vec![0.0; n])?.sum(&mean)
    }

    /// `|mean + sum_k beta_k V_k|^2` for each row of features: axes are orthonormal, and their offsets are `-V_k . mean`.
    fn lengths(&self, features: &[f64], used: usize) -> Vec<f64> {
        let (scale, offset) = (self.scale(), self.expansion.offset());
        let length = |line: &[f64]| -> f64 {
            let parts = line.iter().enumerate().map(|(k, v)| {
                let beta = v / scale[k];
                self.features.values[k].signum() * (beta * beta - 2.0 * beta * offset[k])
            });
            self.features.mean2 + parts.sum::<f64>()
        };
        features.chunks(used).map(length).collect()
    }

    /// `|P_n Phi(x) - Phi(x)|^2` for each point and each number of components from 0 to k (n x (k + 1)): the
    /// reconstruction error in feature space.
    pub fn losses(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let k = self.count();
        let beta = outputs(self.expansion, points, exec)?;
        let start = if let Some(mean) = &self.features.mean {
            mean.distance2(points, exec)?
        } else {
            let mut own = vec![0.0; points.n];
            self.expansion.kernel().diag(points, &mut own);
            own
        };
        let mut out = Vec::with_capacity(points.n * (k + 1));
        for (mut left, line) in start.into_iter().zip(beta.chunks(k)) {
            out.push(left);
            for (b, v) in line.iter().zip(&self.features.values) {
                left -= v.signum() * b * b;
                out.push(left);
            }
        }
        Ok(out)
    }

    /// The moment `1/n sum_i prod_p V_{j_p} . Phi~(x_i)` of the points in feature space along some axes (Schoelkopf, Smola
    /// and Mueller 1996, eq. 35): two of the same give a variance, three a skewness.
    pub fn moment(&self, points: View<'_>, axes: &[usize], exec: Exec) -> Result<f64> {
        let k = self.count();
        if let Some(&bad) = axes.iter().find(|&&j| j >= k) {
            return Err(Error::param("axis", bad, format!("below {k}")));
        }
        let beta = outputs(self.expansion, points, exec)?;
        let sum: f64 = beta.chunks(k).map(|line| axes.iter().map(|&j| line[j]).product::<f64>()).sum();
        Ok(sum / points.n.max(1) as f64)
    }

    /// Pre-images of the reconstructions from the first `used` features: from features back to input space.
    pub fn decode(
        &self,
        features: &[f64],
        used: usize,
        params: &PreimageParams,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Preimages> {
        self.back(features, used, None, params, exec, watch)
    }

    /// Points projected onto the first `used` components and mapped back, which removes what the components do not
    /// represent, such as noise. The search starts at the points themselves.
    pub fn denoise(
        &self,
        points: View<'_>,
        used: usize,
        params: &PreimageParams,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Preimages> {
        let k = self.count();
        if used == 0 || used > k {
            return Err(Error::param("components used", used, format!("from 1 to {k}")));
        }
        let features = self.transform(points, exec)?;
        let first: Vec<f64> = features.chunks(k).flat_map(|line| line[..used].iter().copied()).collect();
        self.back(&first, used, Some(points), params, exec, watch)
    }

    fn back(
        &self,
        features: &[f64],
        used: usize,
        starts: Option<View<'_>>,
        params: &PreimageParams,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Preimages> {
        let mut all: Option<Preimages> = None;
        for (at, part) in features.chunks((BATCH * used).max(1)).enumerate() {
            let psi = self.reconstruct(part, used, exec)?;
            let rows = at * BATCH..at * BATCH + psi.outputs();
            let target =
                Target::new(&psi, Some(self.lengths(part, used)), starts.map(|s| s.slice(rows)), exec)?;
            let found = target.solve(params, exec, watch)?;
            all = Some(match all {
                None => found,
                Some(before) => before.with(&found)?,
            });
        }
        let mut found = all.ok_or_else(|| Error::shape("rows of features", 0, "at least 1"))?;
        if let Some(shape) = self.expansion.centres().image() {
            found.points = found.points.with_image(shape)?;
        }
        Ok(found)
    }

    /// A point that visualises an axis: the pre-image of `V_k`, which maximises the feature among points of its norm.
    pub fn show_axis(
        &self,
        axis: usize,
        params: &PreimageParams,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Points> {
        let one = self.expansion.select(&[axis])?;
        Ok(preimages(&one, None, params, exec, watch)?.points)
    }

    /// `V_k . Phi(e_i)` of some axes for every unit vector e_i of input space, d x axes row by row: what each input alone
    /// does to a feature (Schoelkopf et al. 1999, Fig. 8). Under the linear kernel these are the axes themselves.
    pub fn responses(&self, axes: &[usize], exec: Exec) -> Result<Vec<f64>> {
        let some = self.expansion.select(axes)?;
        let d = some.centres().dim();
        let mut out = Vec::with_capacity(d * axes.len());
        for from in (0..d).step_by(UNITS) {
            let rows = UNITS.min(d - from);
            let mut unit = vec![0.0; rows * d];
            (0..rows).for_each(|r| unit[r * d + from + r] = 1.0);
            out.extend(some.evaluate(Points::dense(unit, d)?.view(), exec)?);
        }
        // Offsets result from centring; an axis itself has none.
        let offset = some.offset().iter().cycle();
        out.iter_mut().zip(offset).for_each(|(v, b)| *v -= b);
        Ok(out)
    }
}
