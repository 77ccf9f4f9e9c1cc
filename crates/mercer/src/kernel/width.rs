//! The default width of the Gaussian kernel.

use crate::data::{Data, View};

/// The default gamma of a Gaussian: `1 / (d var)`, with the variance over all values. scikit-learn calls this rule
/// `scale`. Learners, plans, searches and suggestions all use this function.
///
/// `None` where rows are not numbers, or where all values are the same.
///
/// ```
/// use mercer::data::Points;
/// use mercer::kernel::default_gamma;
/// let points = Points::dense(vec![-1.0, 1.0, 1.0, -1.0], 2)?;
/// assert_eq!(default_gamma(points.view()), Some(0.5));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn default_gamma(points: View<'_>) -> Option<f64> {
    let moments =
        |values: &mut dyn Iterator<Item = f64>| values.fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
    let (sum, squares) = match points.data {
        Data::F32(x) => moments(&mut x.iter().map(|&v| f64::from(v))),
        Data::F64(x) => moments(&mut x.iter().copied()),
        Data::Csr { start, value, .. } => moments(&mut value[start[0]..start[points.n]].iter().copied()),
        Data::RowNumbers(_) | Data::Sequences { .. } | Data::Table { .. } => return None,
    };
    let all = points.n as f64 * points.d as f64;
    let variance = squares / all - (sum / all).powi(2);
    // Treat a variance within rounding error of 0 as a constant.
    (variance > 1e-12 * squares / all).then(|| 1.0 / (points.d as f64 * variance))
}
