//! Kernel-target alignment: how well a kernel matches the targets before training (Cristianini, Shawe-Taylor,
//! Elisseeff, Kandola 2002).
//!
//! ```text
//! alignment = <K, T> / (|K| |T|)        T_ij = z_i . z_j, Frobenius product and norms
//! ```
//!
//! z is y for numbers and for classes +1 and -1; for k classes, the corners of a simplex, so that T is 1 within a
//! class and `-1 / (k - 1)` between two. The alignment after centring K and T in feature space follows the error more
//! closely (Cortes, Mohri and Rostamizadeh 2012). Cost: one pass over the n^2 kernel values.

use serde::Serialize;

use crate::data::Targets;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;

/// The alignment of a kernel with targets, each from -1 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alignment {
    /// Of the uncentred matrices.
    pub plain: f64,
    /// Of the centred ones.
    pub centred: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// The alignment of a kernel matrix with the targets of its rows.
///
/// ```
/// use mercer::assess::bounds::alignment;
/// use mercer::data::{Labels, Targets};
/// use mercer::gram::Matrix;
///
/// let ideal = Matrix::new(vec![1.0, -1.0, -1.0, 1.0], 2)?;
/// let targets = Targets::Classes(Labels::new(["a", "b"]));
/// assert!((alignment(&ideal, &targets, mercer::Exec::one())?.plain - 1.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn alignment(rows: &dyn Rows, targets: &Targets, exec: Exec) -> Result<Alignment> {
    let n = rows.len();
    let code = code(targets)?;
    let k = code.len();
    if targets.len() != Some(n) || n == 0 {
        return Err(Error::shape("targets", targets.len().unwrap_or(0), format!("{n}, one per row")));
    }
    let centred: Vec<Vec<f64>> = code
        .iter()
        .map(|z| {
            let mean = z.iter().sum::<f64>() / n as f64;
            z.iter().map(|v| v - mean).collect()
        })
        .collect();
    let [mut across, mut across_centred, mut squares, mut all, mut row_sums2] = [0.0; 5];
    let numbers: Vec<u32> = (0..n as u32).collect();
    let mut block = vec![0.0f32; 256.min(n) * n];
    for chunk in numbers.chunks(256) {
        let block = &mut block[..chunk.len() * n];
        rows.block(chunk, block, exec);
        for (&i, line) in chunk.iter().zip(block.chunks(n)) {
            let with = |z: &[f64]| line.iter().zip(z).map(|(v, z)| f64::from(*v) * z).sum::<f64>();
            for o in 0..k {
                across += code[o][i as usize] * with(&code[o]);
                across_centred += centred[o][i as usize] * with(&centred[o]);
            }
            let sum: f64 = line.iter().map(|v| f64::from(*v)).sum();
            squares += line.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
            all += sum;
            row_sums2 += sum * sum;
        }
    }
    // |HKH|^2 = |K|^2 - 2 n sum of squared row means + (n times the grand mean)^2.
    let m = n as f64;
    let squares_centred = (squares - 2.0 * row_sums2 / m + (all / m).powi(2)).max(0.0);
    let cosine = |across: f64, k2: f64, z: &[Vec<f64>]| {
        let below = k2.sqrt() * target_norm(z);
        if below > 0.0 { (across / below).clamp(-1.0, 1.0) } else { 0.0 }
    };
    Ok(Alignment {
        plain: cosine(across, squares, &code),
        centred: cosine(across_centred, squares_centred, &centred),
        assumes: "nothing; larger values suggest a better kernel, as a rule of thumb only",
    })
}

/// The Frobenius norm of Z Z', which equals that of Z' Z.
fn target_norm(z: &[Vec<f64>]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    z.iter().flat_map(|a| z.iter().map(move |b| dot(a, b).powi(2))).sum::<f64>().sqrt()
}

/// The columns of Z.
fn code(targets: &Targets) -> Result<Vec<Vec<f64>>> {
    match targets {
        Targets::Reals(y) => Ok(vec![y.clone()]),
        Targets::None => Err(Error::no_targets("real numbers or class labels")),
        Targets::Classes(labels) => {
            let k = labels.names.len();
            if k == 2 {
                return Ok(vec![labels.of_row.iter().map(|&c| f64::from(c) * 2.0 - 1.0).collect()]);
            }
            let (k, classes) = (k.max(2) as f64, 0..k as u32);
            let (own, other) = (((k - 1.0) / k).sqrt(), -1.0 / (k * (k - 1.0)).sqrt());
            let column =
                |class: u32| labels.of_row.iter().map(|&c| if c == class { own } else { other }).collect();
            Ok(classes.map(column).collect())
        }
    }
}
