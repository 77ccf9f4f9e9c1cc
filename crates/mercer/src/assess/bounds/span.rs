//! The span estimate: leaving out each row without training again (Vapnik and Chapelle 2000).
//!
//! Where leaving out row p changes neither which rows are on the margin nor which are on their bound, the output at p
//! of the machine without it is
//!
//! ```text
//! y_p f^p(x_p) = y_p f(x_p) - alpha_p S_p^2
//! ```
//!
//! S_p being the distance in feature space from x_p to the affine hull of the rows on the margin, p left out. With the
//! bordered matrix `G = [K 1; 1' 0]` of those rows: `S_p^2 = 1 / (G^-1)_pp` for p on the margin, and
//! `K_pp - v' G^-1 v`, `v = (k(x_i, x_p), 1)`, for p on its bound. Rows without a coefficient stay right. Distances in an
//! affine hull do not change when all points are moved alike, so the code works on the matrix centred at the mean of the
//! rows on the margin, `K_c + s 1 1'`: it is as well conditioned as the hull lets it be, and a row that lies in the hull
//! of the others gets S = 0, as it should. Cost: m^3 / 3 + m^2 (m + s) for m rows on the margin and s on their bounds.

use serde::Serialize;

use super::trained::TrainedMachine;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::factor;

/// More rows on the margin than this need more memory than the estimate is worth.
const MOST: usize = 8000;

/// The span estimate of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Span {
    /// Rows that the machine without them would get wrong.
    pub errors: usize,
    /// Rows of the machine.
    pub rows: usize,
    /// Their share: an estimate of the error of leaving one out.
    pub rate: f64,
    /// `y f` at each row of the machine without that row.
    pub left_out: Vec<f64>,
    /// S^2 at each row with a coefficient, with the row's number in the sample.
    pub spans: Vec<(u32, f64)>,
    /// What it rests on.
    pub assumes: &'static str,
}

/// The span estimate of a machine.
pub fn span(machine: &TrainedMachine<'_>, exec: Exec) -> Result<Span> {
    let support = machine.support();
    let (free, bounded): (Vec<usize>, Vec<usize>) = support.iter().partition(|&&i| !machine.bounded[i]);
    if free.len() > MOST {
        let why = format!("the span of {} rows on the margin: at most {MOST}", free.len());
        return Err(Error::Unsupported(why));
    }
    let order: Vec<usize> = free.iter().chain(&bounded).copied().collect();
    let spans = spans(machine, &order, free.len(), exec)?;
    let mut left_out: Vec<f64> = machine.label.iter().zip(&machine.output).map(|(y, f)| y * f).collect();
    for (&p, s2) in order.iter().zip(&spans) {
        // The shift helps a row in training only.
        left_out[p] += machine.coef[p].abs() * (machine.shift[p] - s2);
    }
    let errors = left_out.iter().filter(|m| **m <= 0.0).count();
    Ok(Span {
        errors,
        rows: machine.len(),
        rate: errors as f64 / machine.len().max(1) as f64,
        left_out,
        spans: order.iter().zip(spans).map(|(&p, s2)| (machine.index[p], s2)).collect(),
        assumes: "leaving a row out changes neither which rows are on the margin nor which are on their bounds",
    })
}

/// S^2 of each row of `order`, whose first m are on the margin.
fn spans(machine: &TrainedMachine<'_>, order: &[usize], m: usize, exec: Exec) -> Result<Vec<f64>> {
    let total = order.len();
    let mut k = machine.values(order, exec)?;
    for (i, &p) in order.iter().enumerate() {
        k[i * total + i] += machine.shift[p];
    }
    if m < 2 {
        // Nothing to span: no hull is further from a row than the farthest of the others.
        let far = |p: usize| {
            let to = |q: usize| k[p * total + p] + k[q * total + q] - 2.0 * k[p * total + q];
            (0..total).filter(|&q| q != p).map(to).fold(0.0, f64::max)
        };
        return Ok((0..total).map(far).collect());
    }
    // Values relative to the mean of the rows on the margin.
    let mean: Vec<f64> = k.chunks(total).map(|line| line[..m].iter().sum::<f64>() / m as f64).collect();
    let grand = mean[..m].iter().sum::<f64>() / m as f64;
    let centred = |p: usize, q: usize| k[p * total + q] - mean[p] - mean[q] + grand;
    let scale = (0..m).map(|i| centred(i, i)).sum::<f64>() / m as f64;
    let mut a = vec![0.0; m * m];
    for (i, line) in a.chunks_mut(m).enumerate() {
        line.iter_mut().enumerate().for_each(|(j, v)| *v = centred(i, j) + scale);
    }
    // Right sides: the identity, then the rows on their bounds.
    let mut right = vec![0.0; m * total];
    for (i, line) in right.chunks_mut(total).enumerate() {
        line[i] = 1.0;
        line[m..].iter_mut().enumerate().for_each(|(j, v)| *v = centred(i, m + j));
    }
    let (solved, _) = factor::solve_spd(&a, m, &right, total)?;
    let border = 1.0 / (scale * (m * m) as f64);
    let own = |p: usize| {
        let inverse = solved[p * total + p] - border;
        if inverse > 0.0 { 1.0 / inverse } else { 0.0 }
    };
    let outside = |p: usize| {
        let inside: f64 = (0..m).map(|i| right[i * total + p] * solved[i * total + p]).sum();
        (centred(p, p) - inside).max(0.0)
    };
    Ok((0..m).map(own).chain((m..total).map(outside)).collect())
}
