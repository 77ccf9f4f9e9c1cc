//! Expansions as vectors of feature space: inner products, norms, sums, and selections.

use super::Expansion;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::{Mat, product};

impl Expansion {
    /// `Psi_o . Psi'_p` for all pairs of outputs (k x k'), without offsets. Both must have the same kernel.
    pub fn inner(&self, other: &Expansion, exec: Exec) -> Result<Vec<f64>> {
        self.same_kernel(other)?;
        let (m, k) = (self.len(), self.outputs());
        let (n, l) = (other.len(), other.outputs());
        let mut out = vec![0.0; k * l];
        if m == 0 || n == 0 {
            return Ok(out);
        }
        // Evaluated in blocks: the kernel matrix between two large expansions may not fit into memory.
        let half = other.inner_at(self.centres.view(), exec)?;
        product::tn(&mut out, Mat::new(&self.coef, m, k), Mat::new(&half, m, l), exec.threads());
        Ok(out)
    }

    /// `|Psi_o|^2` of each output, clamped at 0 where the kernel is positive definite.
    pub fn norm2(&self, exec: Exec) -> Result<Vec<f64>> {
        let (k, all) = (self.outputs(), self.inner(self, exec)?);
        let positive = self.kernel.definiteness() == crate::kernel::Definiteness::Positive;
        Ok((0..k).map(|o| if positive { all[o * k + o].max(0.0) } else { all[o * k + o] }).collect())
    }

    /// `|Psi_o - Psi'_o|^2` output by output, clamped at 0.
    pub fn distance2_to(&self, other: &Expansion, exec: Exec) -> Result<Vec<f64>> {
        if self.outputs() != other.outputs() {
            return Err(Error::shape("outputs of the other expansion", other.outputs(), self.outputs()));
        }
        self.distance2_by(&self.norm2(exec)?, other, exec)
    }

    /// The same where [`Expansion::norm2`], the most expensive part for a large expansion, is known.
    pub(crate) fn distance2_by(&self, own: &[f64], other: &Expansion, exec: Exec) -> Result<Vec<f64>> {
        let (k, cross, theirs) = (self.outputs(), self.inner(other, exec)?, other.norm2(exec)?);
        Ok((0..k).map(|o| (own[o] - 2.0 * cross[o * k + o] + theirs[o]).max(0.0)).collect())
    }

    /// `Psi + Psi'`, offsets added. Centres are concatenated, not merged.
    pub fn sum(&self, other: &Expansion) -> Result<Expansion> {
        self.same_kernel(other)?;
        if self.outputs() != other.outputs() {
            return Err(Error::shape("outputs of the other expansion", other.outputs(), self.outputs()));
        }
        let centres = self.centres.concat(&other.centres)?;
        let coef = [self.coef.as_slice(), &other.coef].concat();
        let offset = self.offset.iter().zip(&other.offset).map(|(a, b)| a + b).collect();
        Ok(Self::trimmed(self.kernel.clone(), centres, coef, offset))
    }

    /// `factor Psi`, offsets scaled as well.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Expansion {
        let times = |v: &[f64]| v.iter().map(|c| factor * c).collect::<Vec<_>>();
        Self::trimmed(self.kernel.clone(), self.centres.clone(), times(&self.coef), times(&self.offset))
    }

    /// Removes the centres whose coefficients all have absolute values of at most `tol`.
    #[must_use]
    pub fn pruned(&self, tol: f64) -> Expansion {
        let k = self.outputs();
        let mut coef = self.coef.clone();
        for line in coef.chunks_mut(k).filter(|line| line.iter().all(|c| c.abs() <= tol)) {
            line.fill(0.0);
        }
        Self::trimmed(self.kernel.clone(), self.centres.clone(), coef, self.offset.clone())
    }

    /// Selects outputs, with the centres they need.
    pub fn select(&self, outputs: &[usize]) -> Result<Expansion> {
        let k = self.outputs();
        if let Some(&bad) = outputs.iter().find(|&&o| o >= k) {
            return Err(Error::param("output", bad, format!("below {k}")));
        }
        let coef = self.coef.chunks(k).flat_map(|line| outputs.iter().map(|&o| line[o])).collect();
        let offset = outputs.iter().map(|&o| self.offset[o]).collect();
        Expansion::new(self.kernel.clone(), self.centres.clone(), coef, offset)
    }

    /// The same coefficients with other offsets.
    pub fn with_offset(&self, offset: Vec<f64>) -> Result<Expansion> {
        if offset.len() != self.outputs() {
            return Err(Error::shape("offsets", offset.len(), self.outputs()));
        }
        if let Some(bad) = offset.iter().find(|v| !v.is_finite()) {
            return Err(Error::Unsupported(format!(
                "an offset of {bad}: the outputs are too large for 64-bit numbers"
            )));
        }
        Ok(Expansion { offset, ..self.clone() })
    }

    pub(super) fn same_kernel(&self, other: &Expansion) -> Result<()> {
        if self.kernel == other.kernel {
            return Ok(());
        }
        Err(Error::shape("kernel of the other expansion", &other.kernel, &self.kernel))
    }
}
