//! The exact reduced set under `(x.y)^2`: at most d vectors (Burges 1996).
//!
//! `Psi = sum_i a_i Phi(x_i)` acts as the symmetric matrix `S = sum_i a_i x_i x_i'`: `Psi . Phi(x) = x' S x`. Its
//! eigenvectors, in descending order of |eigenvalue|, are the vectors: n of them have the smallest error of any n
//! vectors. Cost: n d^2 + 9 d^3.

use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::num::{Mat, factor, product};

/// Whether the kernel is a multiple of `(x.y)^2`.
pub(super) fn applies(kernel: &Kernel) -> bool {
    match kernel {
        Kernel::Poly { degree: 2, coef0, .. } => *coef0 == 0.0,
        Kernel::Power { degree: 2, of } => matches!(**of, Kernel::Linear),
        Kernel::Scaled { of, .. } => applies(of),
        _ => false,
    }
}

/// The eigenvectors with non-zero eigenvalues, row by row, most important first.
pub(super) fn vectors(psi: &Expansion, exec: Exec) -> Result<Vec<f64>> {
    let (n, d) = (psi.len(), psi.centres().dim());
    let x = psi.centres().view().to_f64_within(exec.memory())?;
    let mut scaled = x.clone();
    scaled.chunks_mut(d).zip(psi.coef()).for_each(|(row, a)| row.iter_mut().for_each(|v| *v *= a));
    let mut s = vec![0.0; d * d];
    product::tn(&mut s, Mat::new(&scaled, n, d), Mat::new(&x, n, d), exec.threads());
    let (values, vectors) = factor::eigen(&s, d)?;
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    let least = 1e-13 * order.first().map_or(0.0, |&a| values[a].abs());
    order.retain(|&a| values[a].abs() > least);
    Ok(order.iter().flat_map(|&a| (0..d).map(move |i| (i, a))).map(|(i, a)| vectors[i * d + a]).collect())
}
