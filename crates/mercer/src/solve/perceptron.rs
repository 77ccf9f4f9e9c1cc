//! Two online learners: the perceptron and the Adatron.
//!
//! ```text
//! perceptron   y_i f(x_i) <= 0:  a_i += y_i, b += y_i R^2           (Rosenblatt 1958; in a kernel's space Aizerman et al. 1964)
//! Adatron      a_i += eta_i (1 - y_i f(x_i)), kept within [0, C],    coefficients y_i a_i       (Friess, Cristianini and Campbell 1998)
//! ```
//!
//! The perceptron returns the mean of its coefficients over all steps, which reduces the influence of the last
//! updates (Freund and Schapire 1999). The Adatron converges to the maximum-margin machine, or with finite C to a
//! soft-margin one. Its offset is part of the kernel (k + 1), because updating one coefficient at a time cannot keep
//! a sum constant. Cost per pass: n^2.

use crate::watch::{Step, Stop, Watch};

/// Coefficients, with their signs, and an offset.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Learned {
    /// One per row.
    pub coef: Vec<f64>,
    /// The offset.
    pub offset: f64,
    /// Number of updates.
    pub updates: u64,
    /// Passes over the rows.
    pub passes: u64,
    /// Largest change in the last pass; for the perceptron, number of errors in it.
    pub left: f64,
    /// Why it stopped.
    pub stop: Stop,
}

/// The perceptron on the n x n matrix `k`, with rows in the given order in each pass; at most this many passes, or
/// until a pass has no errors. With `averaged`, returns the mean over all steps.
pub(crate) fn perceptron(
    k: &[f64],
    y: &[f64],
    order: &[usize],
    passes: u64,
    averaged: bool,
    watch: &mut Watch<'_>,
) -> Learned {
    let n = y.len();
    // An offset is a constant added to the kernel; the constant is scaled to the kernel's own values.
    let scale = ((0..n).map(|i| k[i * n + i]).sum::<f64>() / n.max(1) as f64).max(f64::MIN_POSITIVE);
    let (mut coef, mut offset) = (vec![0.0; n], 0.0);
    let (mut sum, mut sum_offset, mut steps) = (vec![0.0; n], 0.0, 0.0);
    let mut f = vec![0.0; n];
    let (mut updates, mut done) = (0, 0);
    let (mut left, mut stop) = (0.0, Stop::Limit);
    while done < passes {
        left = 0.0;
        for &i in order {
            if y[i] * (f[i] + offset) <= 0.0 {
                coef[i] += y[i];
                offset += y[i] * scale;
                f.iter_mut().zip(&k[i * n..(i + 1) * n]).for_each(|(f, k)| *f += y[i] * k);
                // An update counts in every later step. Summing each with its step number gives the mean at the end
                // without summing n coefficients per step.
                sum[i] += y[i] * steps;
                sum_offset += y[i] * scale * steps;
                updates += 1;
                left += 1.0;
            }
            steps += 1.0;
        }
        done += 1;
        if left == 0.0 {
            stop = Stop::Converged;
            break;
        }
        if watch(&Step::new("perceptron", done, Some(passes))).is_break() {
            stop = Stop::Cancelled;
            break;
        }
    }
    if averaged && steps > 0.0 {
        coef.iter_mut().zip(&sum).for_each(|(a, s)| *a -= s / steps);
        offset -= sum_offset / steps;
    }
    Learned { coef, offset, updates, passes: done, left, stop }
}

/// The kernel Adatron until no coefficient changes by more than `tol` in a pass, at most this many passes. Without
/// `offset` the kernel is used unchanged.
pub(crate) fn adatron(
    k: &[f64],
    y: &[f64],
    upper: &[f64],
    offset: bool,
    tol: f64,
    passes: u64,
    watch: &mut Watch<'_>,
) -> Learned {
    let n = y.len();
    let scale = if offset { (0..n).map(|i| k[i * n + i]).sum::<f64>() / n.max(1) as f64 } else { 0.0 };
    let mut alpha = vec![0.0; n];
    let mut f = vec![0.0; n];
    let (mut updates, mut done, mut left) = (0, 0, f64::INFINITY);
    let mut stop = Stop::Limit;
    while done < passes {
        left = 0.0;
        for i in 0..n {
            let step = (1.0 - y[i] * f[i]) / (k[i * n + i] + scale).max(f64::MIN_POSITIVE);
            let new = (alpha[i] + step).clamp(0.0, upper[i]);
            let by = new - alpha[i];
            if by != 0.0 {
                alpha[i] = new;
                f.iter_mut().zip(&k[i * n..(i + 1) * n]).for_each(|(f, k)| *f += by * y[i] * (k + scale));
                updates += 1;
                left = f64::max(left, by.abs());
            }
        }
        done += 1;
        if left <= tol {
            stop = Stop::Converged;
            break;
        }
        if watch(&Step::new("adatron", done, Some(passes)).gap(left)).is_break() {
            stop = Stop::Cancelled;
            break;
        }
    }
    let coef: Vec<f64> = alpha.iter().zip(y).map(|(a, y)| a * y).collect();
    let offset = scale * coef.iter().sum::<f64>();
    Learned { coef, offset, updates, passes: done, left, stop }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::{reference, toy};

    fn data(n: usize) -> (Vec<f64>, Vec<f64>) {
        let mut x = toy::normals(n, 2, 12);
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        (0..n).for_each(|i| x[i * 2] += 4.0 * y[i] + 2.0);
        (reference::gram(&x, &x, 2, |a, b| a[0] * b[0] + a[1] * b[1]), y)
    }

    fn output(k: &[f64], m: &Learned, i: usize) -> f64 {
        let n = m.coef.len();
        (0..n).map(|j| m.coef[j] * k[i * n + j]).sum::<f64>() + m.offset
    }

    #[test]
    fn separable_rows_are_separated() {
        let (k, y) = data(40);
        let order: Vec<usize> = (0..40).collect();
        for averaged in [false, true] {
            let found = perceptron(&k, &y, &order, 200, averaged, &mut silent());
            assert_eq!(found.stop, Stop::Converged);
            assert!((0..40).filter(|&i| y[i] * output(&k, &found, i) > 0.0).count() >= 39, "{averaged}");
        }
    }

    #[test]
    fn the_adatron_meets_the_conditions_of_the_largest_margin() {
        let (k, y) = data(40);
        let found = adatron(&k, &y, &[1e6; 40], true, 1e-10, 100_000, &mut silent());
        assert_eq!(found.stop, Stop::Converged);
        for i in 0..40 {
            let (f, a) = (y[i] * output(&k, &found, i), y[i] * found.coef[i]);
            assert!(a >= 0.0 && f > 1.0 - 1e-6 && (a < 1e-9 || f < 1.0 + 1e-6), "{a} {f}");
        }
        let soft = adatron(&k, &y, &[0.01; 40], true, 1e-10, 100_000, &mut silent());
        assert!(soft.coef.iter().all(|a| a.abs() <= 0.01));
    }
}
