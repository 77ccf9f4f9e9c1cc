//! Gaussians of different widths: vectors whose widths are optimised in phase two (an open question of Schoelkopf et
//! al. 1998).
//!
//! Under `rbf_widths` a row's last column is its width, 0 for the kernel's own: an expansion under `rbf` is one with
//! a column of zeros, and every method that follows a derivative optimises widths like coordinates. Vectors are first
//! constructed at one width, by fixed-point iteration; widths become free when all vectors move together.

use crate::data::Points;
use crate::error::{Error, Result};
use crate::expansion::Expansion;
use crate::kernel::Kernel;

/// The same function with a width column: a Gaussian expansion whose points get one more column, of zeros. An
/// expansion that has one is returned unchanged.
///
/// ```
/// use mercer::reduce::reduced_set::with_widths;
/// use mercer::{data::Points, expansion::Expansion, kernel::Kernel, Exec};
/// let f = Expansion::new(Kernel::Rbf { gamma: 0.5 }, Points::dense(vec![0.0, 1.0], 1)?, vec![1.0, -2.0], vec![0.0])?;
/// let wide = with_widths(&f)?;
/// let (x, padded) = (Points::dense(vec![0.3], 1)?, Points::dense(vec![0.3, 0.0], 2)?);
/// let (before, after) = (f.evaluate(x.view(), Exec::one())?, wide.evaluate(padded.view(), Exec::one())?);
/// assert!((before[0] - after[0]).abs() < 1e-6);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn with_widths(psi: &Expansion) -> Result<Expansion> {
    let gamma = match *psi.kernel() {
        Kernel::Rbf { gamma } => gamma,
        Kernel::RbfWidths { .. } => return Ok(psi.clone()),
        ref other => {
            return Err(Error::Unsupported(format!(
                "widths can be optimised under `rbf`, not under `{other}`"
            )));
        }
    };
    let d = psi.centres().dim();
    let centres = Points::dense(padded(&psi.centres().view().to_f64()?, d), d + 1)?;
    Expansion::new(Kernel::RbfWidths { gamma }, centres, psi.coef().to_vec(), psi.offset().to_vec())
}

/// The same function without the width column, if all widths are those of the kernel.
pub(super) fn at_one_width(psi: &Expansion) -> Result<Option<Expansion>> {
    let (&Kernel::RbfWidths { gamma }, d) = (psi.kernel(), psi.centres().dim()) else { return Ok(None) };
    let rows = psi.centres().view().to_f64()?;
    if d < 2 || rows.chunks(d).any(|row| row[d - 1] != 0.0) {
        return Ok(None);
    }
    let centres = Points::dense(rows.chunks(d).flat_map(|row| &row[..d - 1]).copied().collect(), d - 1)?;
    Expansion::new(Kernel::Rbf { gamma }, centres, psi.coef().to_vec(), psi.offset().to_vec()).map(Some)
}

/// Rows of d columns, each followed by a zero.
pub(super) fn padded(rows: &[f64], d: usize) -> Vec<f64> {
    rows.chunks(d).flat_map(|row| row.iter().copied().chain([0.0])).collect()
}
