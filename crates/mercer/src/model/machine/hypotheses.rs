//! The kernel of a set of hypotheses, so that other machines can be trained on what boosting has found.
//!
//! ```text
//! k(x, y) = sum_t alpha_t h_t(x) h_t(y)                    (Mueller et al. 2001, section IV-D; Raetsch et al. 2002)
//! ```

use super::{Machine, Readout};
use crate::data::{Points, Row, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::{Definiteness, Kernel, KernelFn};

/// Hypotheses with their weights.
struct HypothesisSet {
    hypotheses: Expansion,
    weight: Vec<f64>,
}

impl HypothesisSet {
    /// `sqrt(alpha_t) h_t(x)` for all points, n x T; nothing where the points do not fit.
    fn map(&self, points: View<'_>) -> Option<Vec<f64>> {
        let t = self.weight.len();
        let mut out = self.hypotheses.evaluate(points, Exec::one()).ok()?;
        for line in out.chunks_mut(t) {
            line.iter_mut()
                .zip(&self.weight)
                .for_each(|(v, w)| *v = if *v > 0.0 { w.sqrt() } else { -w.sqrt() });
        }
        Some(out)
    }
}

impl KernelFn for HypothesisSet {
    fn name(&self) -> &'static str {
        "hypotheses"
    }

    fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        let one = |row: Row<'_>| {
            let values = row.to_f64();
            let d = values.len();
            Points::dense(values, d).ok().and_then(|point| self.map(point.view()))
        };
        match (one(x), one(y)) {
            (Some(a), Some(b)) => a.iter().zip(&b).map(|(a, b)| a * b).sum(),
            _ => f64::NAN,
        }
    }

    fn block(&self, a: View<'_>, b: View<'_>, out: &mut [f64]) {
        match (self.map(a), self.map(b)) {
            (Some(p), Some(q)) => {
                let t = self.weight.len();
                let (p, q) = (crate::num::Mat::new(&p, a.n, t), crate::num::Mat::new(&q, b.n, t));
                crate::num::product::nt(out, p, q, 1);
            }
            _ => out.fill(f64::NAN),
        }
    }

    fn definiteness(&self) -> Definiteness {
        Definiteness::Positive
    }
}

impl Machine {
    /// The kernel whose features are the hypotheses of a vote for two classes, weighed as in the vote: `k(x, x) = 1`. It is
    /// code, so models with it cannot be saved. Fails unless this is such a vote.
    pub fn hypothesis_kernel(&self) -> Result<Kernel> {
        match &self.readout {
            Readout::Votes(votes) if votes.values == 1 => Ok(Kernel::custom(HypothesisSet {
                hypotheses: self.expansion.clone(),
                weight: votes.weight.iter().map(|w| w.max(0.0)).collect(),
            })),
            _ => Err(Error::Unsupported("only a vote of hypotheses for two classes has their kernel".into())),
        }
    }
}
