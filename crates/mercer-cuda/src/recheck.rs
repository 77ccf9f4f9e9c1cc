//! What is checked after the rounds: gradients in f64, and the violation by them.

use rayon::prelude::*;

use crate::batch::Arrays;
use crate::driver::Outcome;
use crate::exact;
use crate::machines::{FINER, Run};
use crate::state::{CONVERGED, LIMIT, State};

impl Run<'_> {
    /// A machine's `f` from its variables, exact, on the host.
    pub(crate) fn recompute(&mut self, arrays: &Arrays, m: usize) -> Outcome<()> {
        let at = &arrays.machines[m];
        let (row0, var0, n) = (at.row0 as usize, at.var0 as usize, at.n as usize);
        let beta = &self.host.beta[var0..var0 + at.total as usize];
        let f = &mut self.host.f[row0..row0 + n];
        exact::outputs(self.gpu, &self.batch.parts[m], beta, f)
    }

    /// Recomputes gradients in f64 where rounding of the rows could matter, and continues machines that do not
    /// satisfy the tolerance then: the largest violation of these, or none if all are done.
    pub(crate) fn recheck(&mut self, arrays: &Arrays) -> Outcome<Option<f64>> {
        let tol = self.batch.params.tol;
        let mut worst: Option<f64> = None;
        let noises: Vec<f64> = (0..self.batch.problems.len())
            .into_par_iter()
            .map(|m| {
                let at = &arrays.machines[m];
                let vars = at.var0 as usize..at.var0 as usize + at.total as usize;
                exact::noise(&self.batch.parts[m], &self.host.beta[vars.clone()], &self.host.anchor[vars])
            })
            .collect();
        for (m, noise) in noises.into_iter().enumerate() {
            let state = self.host.state[m];
            if state.done == LIMIT || state.done == CONVERGED && noise <= exact::NEGLIGIBLE * tol {
                continue;
            }
            let at = arrays.machines[m];
            let (row0, var0, total) = (at.row0 as usize, at.var0 as usize, at.total as usize);
            let vars = var0..var0 + total;
            self.recompute(arrays, m)?;
            self.host.anchor[vars.clone()].copy_from_slice(&self.host.beta[vars.clone()]);
            let f = &self.host.f[row0..row0 + at.n as usize];
            let gap = exact::gap(&self.batch.problems[m], &self.host.beta[vars], f);
            let mut now = State { gap, done: CONVERGED, idle: 0, changed: 0, ..state };
            if gap > tol * (1.0 + 1e-6) {
                (now.done, now.target) = (0, 0.7 * FINER * tol);
                worst = Some(worst.unwrap_or(0.0).max(gap));
            }
            self.f.write(8 * row0, f)?;
            self.host.state[m] = now;
            self.state.write(m * size_of::<State>(), &[now])?;
        }
        Ok(worst)
    }
}
