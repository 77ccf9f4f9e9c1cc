//! Combines sets found group by group into one expansion with the best coefficients.

use std::collections::BTreeMap;

use super::job::{Chosen, Job};
use super::{Block, Share};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::expansion::Expansion;
use crate::num::factor;

impl Job<'_> {
    /// The best coefficients on the chosen centres, all outputs in one expansion.
    pub(super) fn joined(&self, chosen: Vec<Chosen>) -> Result<Expansion> {
        let (k, kernel) = (self.whole.outputs(), self.whole.kernel().clone());
        if !self.params.blocks.is_empty() {
            return self.in_blocks(&chosen);
        }
        if self.params.share == Share::Pooled {
            let rows: Option<Vec<&Vec<usize>>> = chosen.iter().map(|c| c.rows.as_ref()).collect();
            let centres = match rows {
                Some(rows) => {
                    let mut all: Vec<usize> = rows.into_iter().flatten().copied().collect();
                    all.sort_unstable();
                    all.dedup();
                    self.pool.gather(&all)
                }
                None => concat(chosen.iter().map(|c| &c.points), self.whole)?,
            };
            return self.whole.on_centres(centres, self.exec);
        }
        let mut parts = Vec::with_capacity(chosen.len());
        for (group, chosen) in self.groups.iter().zip(chosen) {
            let small = group.psi.on_centres(chosen.points.clone(), self.exec)?;
            // Zero coefficients have been removed from the expansion: use its own centres.
            let rows = chosen.rows.filter(|rows| rows.len() == small.len());
            parts.push((group, small, rows));
        }
        let offset = self.whole.offset().to_vec();
        if parts.iter().all(|(_, _, rows)| rows.is_some()) {
            // A centre kept by several outputs is stored once.
            let mut lines: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            for (group, small, rows) in &parts {
                let own = group.outputs.len();
                for (row, coef) in rows.iter().flatten().zip(small.coef().chunks(own)) {
                    let line = lines.entry(*row).or_insert_with(|| vec![0.0; k]);
                    group.outputs.iter().zip(coef).for_each(|(&o, c)| line[o] = *c);
                }
            }
            let keep: Vec<usize> = lines.keys().copied().collect();
            let coef = lines.into_values().flatten().collect();
            return Expansion::new(kernel, self.pool.gather(&keep), coef, offset);
        }
        let centres = concat(parts.iter().map(|(_, small, _)| small.centres()), self.whole)?;
        let mut coef = Vec::with_capacity(centres.len() * k);
        for (group, small, _) in &parts {
            for line in small.coef().chunks(group.outputs.len()) {
                let mut wide = vec![0.0; k];
                group.outputs.iter().zip(line).for_each(|(&o, c)| wide[o] = *c);
                coef.extend(wide);
            }
        }
        Expansion::new(kernel, centres, coef, offset)
    }

    /// Each output on the centres of all its blocks. The blocks of an output were reduced separately; fitted together
    /// they are more accurate.
    fn in_blocks(&self, chosen: &[Chosen]) -> Result<Expansion> {
        let whole = self.whole;
        let (k, kernel) = (whole.outputs(), whole.kernel());
        let kept: Option<Vec<&Vec<usize>>> = chosen.iter().map(|c| c.rows.as_ref()).collect();
        let centres = match kept {
            Some(rows) => self.pool.gather(&rows.into_iter().flatten().copied().collect::<Vec<_>>()),
            None => concat(chosen.iter().map(|c| &c.points), whole)?,
        };
        let m = centres.len();
        let (own, right) = whole.normal_equations(&centres, self.exec)?;
        let mut coef = vec![0.0; m * k];
        for o in 0..k {
            let mut used = Vec::new();
            let mut from = 0;
            for (group, chosen) in self.groups.iter().zip(chosen) {
                let to = from + chosen.points.len();
                if group.outputs.contains(&o) {
                    used.extend(from..to);
                }
                from = to;
            }
            let gram: Vec<f64> =
                used.iter().flat_map(|&i| used.iter().map(move |&j| i * m + j)).map(|p| own[p]).collect();
            let part: Vec<f64> = used.iter().map(|&i| right[i * k + o]).collect();
            let (beta, _) = factor::solve_spd(&gram, used.len(), &part, 1)?;
            used.iter().zip(beta).for_each(|(&i, b)| coef[i * k + o] = b);
        }
        Expansion::new(kernel.clone(), centres, coef, whole.offset().to_vec())
    }
}

/// New points, marked as images if the old ones are.
pub(super) fn shaped(z: Vec<f64>, d: usize, like: &Expansion) -> Result<Points> {
    let points = Points::dense(z, d)?;
    match like.centres().image() {
        Some(shape) => points.with_image(shape),
        None => Ok(points),
    }
}

fn concat<'p>(parts: impl Iterator<Item = &'p Points>, whole: &Expansion) -> Result<Points> {
    let mut all: Option<Points> = None;
    for part in parts.filter(|p| !p.is_empty()) {
        // New points are dense; old ones stored with them must be, too.
        let part = part.to_dense()?;
        all = Some(match all {
            None => part,
            Some(all) => all.concat(&part)?,
        });
    }
    Ok(all.unwrap_or_else(|| whole.centres().gather(&[])))
}

/// Checks that the blocks contain every coefficient once.
pub(super) fn blocks(blocks: &[Block], whole: &Expansion) -> Result<Vec<Block>> {
    let (n, k) = (whole.len(), whole.outputs());
    let mut seen = vec![0_u8; n * k];
    for block in blocks {
        for (&i, &o) in block.centres.iter().flat_map(|i| block.outputs.iter().map(move |o| (i, o))) {
            if i >= n || o >= k || seen[i * k + o] > 0 {
                return Err(Error::param(
                    "blocks",
                    format!("centre {i}, output {o}"),
                    "each coefficient once",
                ));
            }
            seen[i * k + o] = 1;
        }
    }
    match (0..n * k).find(|&p| whole.coef()[p] != 0.0 && seen[p] == 0) {
        Some(p) => {
            Err(Error::param("blocks", format!("no block has coefficient {p}"), "each coefficient once"))
        }
        None => Ok(blocks.to_vec()),
    }
}
