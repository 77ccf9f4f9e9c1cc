//! Sparse programs on a sample, one per output: shared by linear-programming machines and sparse discriminants.

use crate::error::Result;
use crate::model::learners::given::Given;
use crate::solve::sparse::{Cost, KernelColumns, SparseParams, SparseProblem, solve_sparse};
use crate::watch::{Info, Stop, Watch};

/// Outputs that are sparse sums of columns of one kernel matrix.
pub(in crate::model) struct Programs<'a> {
    /// The rows in use.
    pub(in crate::model) rows: &'a [u32],
    /// Their weights.
    pub(in crate::model) weight: &'a [f64],
    /// Targets, output by output.
    pub(in crate::model) targets: &'a [Vec<f64>],
    /// Groups whose means must equal their targets, per output; empty: none.
    pub(in crate::model) groups: &'a [Vec<u32>],
    /// The loss.
    pub(in crate::model) cost: Cost,
    /// The penalty on coefficients.
    pub(in crate::model) c: f64,
    /// Fraction of c by which a column that was left out may violate its constraint.
    pub(in crate::model) tol: f64,
}

impl Programs<'_> {
    /// Coefficients of the rows in use, n x k; k offsets; and the statistics of all programs together.
    pub(in crate::model) fn solve(
        &self,
        given: &Given<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>, Info)> {
        let (n, k) = (self.rows.len(), self.targets.len());
        given.on_rows(|all| {
            let part = (n != all.len()).then(|| all.subset(self.rows));
            let columns = KernelColumns { rows: part.as_deref().unwrap_or(all), exec: given.exec };
            let params = SparseParams { tol: self.tol, ..SparseParams::default() };
            let (mut coef, mut offset) = (vec![0.0; n * k], vec![0.0; k]);
            let mut info = Info { objective: Some(0.0), ..Info::default() };
            for (o, target) in self.targets.iter().enumerate() {
                let group = self.groups.get(o).map_or(&[][..], Vec::as_slice);
                let problem =
                    SparseProblem { target, weight: self.weight, cost: self.cost, group, c: self.c };
                let found = solve_sparse(&columns, &problem, &params, watch)?;
                found.coef.iter().for_each(|&(j, a)| coef[j as usize * k + o] = a);
                offset[o] = found.offset;
                info.iterations += found.info.iterations;
                info.gap = info.gap.max(found.info.gap);
                info.objective = info.objective.zip(found.info.objective).map(|(a, b)| a + b);
                info.notes.extend(found.info.notes);
                if found.info.stop != Stop::Converged {
                    info.stop = found.info.stop;
                }
                if found.info.stop == Stop::Cancelled {
                    break;
                }
            }
            Ok((coef, offset, info))
        })
    }
}
