//! The span estimate of the leave-one-out error, without retraining (Vapnik and Chapelle 2000).
//!
//! If leaving out row p changes neither which rows are on the margin nor which are at their bound, the machine
//! trained without p has the output at p
//!
//! ```text
//! y_p f^p(x_p) = y_p f(x_p) - alpha_p S_p^2
//! ```
//!
//! where S_p is the distance in feature space from x_p to the affine hull of the other rows on the margin. With the
//! bordered matrix `G = [K 1; 1' 0]` of those rows: `S_p^2 = 1 / (G^-1)_pp` for p on the margin, and `K_pp - v' G^-1
//! v`, `v = (k(x_i, x_p), 1)`, for p at its bound. Rows that are not support vectors stay correct. Distances in an
//! affine hull are invariant to translation, so the code uses the matrix centred at the mean of the rows on the
//! margin, `K_c + s 1 1'`: it is as well conditioned as the hull allows, and a row in the hull of the others gets S =
//! 0. Cost: m^3 / 3 + m^2 (m + s) for m rows on the margin and s at their bounds.

use serde::Serialize;

use super::trained::TrainedMachine;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::factor;

/// With more rows on the margin the estimate needs too much memory.
const MOST: usize = 8000;

/// The span estimate of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Span {
    /// Number of rows that the machine trained without them would misclassify.
    pub errors: usize,
    /// Number of rows of the machine.
    pub rows: usize,
    /// The estimated leave-one-out error rate.
    pub rate: f64,
    /// `y f` at each row, for the machine without that row.
    pub left_out: Vec<f64>,
    /// S^2 of each support vector, with its row index in the sample.
    pub spans: Vec<(u32, f64)>,
    /// Its assumptions, in words.
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
        // The shift of the diagonal acts in training only.
        left_out[p] += machine.coef[p].abs() * (machine.shift[p] - s2);
    }
    let errors = left_out.iter().filter(|m| **m <= 0.0).count();
    Ok(Span {
        errors,
        rows: machine.len(),
        rate: errors as f64 / machine.len().max(1) as f64,
        left_out,
        spans: order.iter().zip(spans).map(|(&p, s2)| (machine.index[p], s2)).collect(),
        assumes: "omitting a row changes neither which rows are on the margin nor which are at their bounds",
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
        // Without other rows there is no hull; the distance is at most that to the farthest row.
        let far = |p: usize| {
            let to = |q: usize| k[p * total + p] + k[q * total + q] - 2.0 * k[p * total + q];
            (0..total).filter(|&q| q != p).map(to).fold(0.0, f64::max)
        };
        return Ok((0..total).map(far).collect());
    }
    // Relative to the mean of the rows on the margin.
    let mean: Vec<f64> = k.chunks(total).map(|line| line[..m].iter().sum::<f64>() / m as f64).collect();
    let grand = mean[..m].iter().sum::<f64>() / m as f64;
    let centred = |p: usize, q: usize| k[p * total + q] - mean[p] - mean[q] + grand;
    let scale = (0..m).map(|i| centred(i, i)).sum::<f64>() / m as f64;
    let mut a = vec![0.0; m * m];
    for (i, line) in a.chunks_mut(m).enumerate() {
        line.iter_mut().enumerate().for_each(|(j, v)| *v = centred(i, j) + scale);
    }
    // Right-hand sides: the identity, then the rows at their bounds.
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
