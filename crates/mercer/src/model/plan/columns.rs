//! Default preprocessing of columns, and the effect of rounding on kernels of distances.

use super::{Choices, Scaling, Wishes, short};
use crate::data::stage::Recipe;
use crate::data::{Data, Dataset, Points, Summary};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Takes};
use crate::watch::Note;

/// Columns are scaled if their ranges differ by more than this factor.
const RATIO: f64 = 5.0;
/// Sparse rows of at least so many columns whose entries that are not 0 are at most this share, none negative, are counts:
/// words of a text.
const SPARSE: f64 = 0.25;
const WORDS: usize = 30;
/// Ratio of squared norms up to which rows count as equally long.
const ALIKE: f64 = 1.01;
/// Change of a kernel value by rounding from which a note is added.
const INEXACT: f64 = 1e-3;

/// The stages that scale columns, and whether the scaling is open to search.
pub(super) fn scaling(
    wishes: &Wishes,
    data: &Dataset,
    summary: &Summary,
    precomputed: bool,
    choices: &mut Choices,
) -> Result<(Vec<Recipe>, bool)> {
    let none = |choices: &mut Choices, why: &str| {
        choices.chosen("scaling", "none", why);
        Ok((Vec::new(), false))
    };
    if let Scaling::Given(recipes) = &wishes.scaling {
        let line: Vec<String> = recipes.iter().map(ToString::to_string).collect();
        choices.asked("scaling", if line.is_empty() { "none".into() } else { line.join(" | ") });
        if precomputed && !recipes.is_empty() {
            return Err(Error::param("scaling", line.join(" | "), "none under a precomputed kernel"));
        }
        return Ok((recipes.clone(), false));
    }
    if precomputed {
        return none(choices, "the values are kernel values");
    }
    if matches!(data.points.view().data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. }) {
        return none(choices, "the rows are not numbers");
    }
    if data.points.image().is_some() {
        return none(choices, "pixels share one scale");
    }
    if histograms(wishes) {
        return none(choices, "the kernel expects unscaled histograms");
    }
    // Ranges of words differ because some are rare, and scaling rare words up to frequent ones would amplify noise.
    if let Data::Csr { start, value, .. } = data.points.view().data
        && summary.density <= SPARSE
        && data.points.dim() >= WORDS
        && value.iter().all(|v| *v >= 0.0)
    {
        let lengths = start.windows(2).map(|w| value[w[0]..w[1]].iter().map(|v| v * v).sum::<f64>());
        let (low, high) = lengths
            .filter(|l| *l > 0.0)
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), l| (low.min(l), high.max(l)));
        if high <= ALIKE * low {
            return none(choices, "sparse rows of one length, such as words of texts");
        }
        choices.chosen("scaling", "rows of length 1", "sparse counts, such as words of texts");
        return Ok((vec![Recipe::parse("unit")?], true));
    }
    let range = |c: &&crate::data::Column| c.spread.max - c.spread.min;
    let moving = || summary.each.iter().filter(|c| c.spread.max > c.spread.min);
    let wide = moving().max_by(|a, b| range(a).total_cmp(&range(b)));
    let narrow = moving().min_by(|a, b| range(a).total_cmp(&range(b)));
    let (Some(wide), Some(narrow)) = (wide, narrow) else { return none(choices, "no column varies") };
    if range(&wide) <= RATIO * range(&narrow) {
        choices.chosen("scaling", "none", "the columns' ranges are similar");
        return Ok((Vec::new(), true));
    }
    let name = |j: usize| {
        let given = data.column_names.as_ref().and_then(|names| names.get(j));
        given.map_or_else(|| format!("column {}", j + 1), |name| format!("`{name}`"))
    };
    let recipe = Recipe::parse("standard")?;
    let why = format!(
        "ranges differ: {} spans {}, {} only {}",
        name(wide.column),
        short(range(&wide)),
        name(narrow.column),
        short(range(&narrow))
    );
    choices.chosen("scaling", "mean 0, deviation 1", why);
    Ok((vec![recipe], true))
}

/// A note on the rounding of a kernel of distances on rows that are far apart, if it is too large.
///
/// Squared distances come from inner products of rows around their mean, so an offset common to all rows does no
/// harm; but the distance of two rows that are close together and far from the mean loses digits by cancellation.
///
/// ```
/// use mercer::model::inexact;
/// use mercer::{data::Points, kernel::Kernel};
/// let rbf = Kernel::Rbf { gamma: 1.0 };
/// let apart = Points::dense(vec![1e8, 1e8 + 1.0, -1e8, -1e8 - 1.0], 1)?;
/// assert!(inexact(&rbf, &apart).is_some());
/// let offset = Points::dense(vec![1e8, 1e8 + 1.0, 1e8 + 2.0], 1)?;
/// assert!(inexact(&rbf, &offset).is_none());
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn inexact(kernel: &Kernel, points: &Points) -> Option<Note> {
    fn farthest<T: Copy + Into<f64>>(x: &[T], d: usize) -> f64 {
        let rows = || x.chunks(d.max(1));
        let n = rows().len() as f64;
        let mut mean = vec![0.0; d];
        rows().for_each(|row| mean.iter_mut().zip(row).for_each(|(m, &v)| *m += v.into() / n));
        let length = |row: &[T]| row.iter().zip(&mean).map(|(&v, m)| (v.into() - m).powi(2)).sum::<f64>();
        rows().map(length).fold(0.0, f64::max)
    }
    let steepest = steepest(kernel);
    if steepest == 0.0 {
        return None;
    }
    let view = points.view();
    let far: f64 = match view.data {
        Data::F32(x) => farthest(x, view.d),
        Data::F64(x) => farthest(x, view.d),
        Data::Csr { start, value, .. } => {
            let length = |w: &[usize]| value[w[0]..w[1]].iter().map(|v| v * v).sum::<f64>();
            start.windows(2).map(length).fold(0.0, f64::max)
        }
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => return None,
    };
    let lost = 2.0 * f64::EPSILON * far;
    if !far.is_finite() {
        return Some(Note::warning(
            "squared distances between rows are too large for 64-bit numbers: rows that lie far apart count as infinitely \
             far; scale the columns, or train without those rows",
        ));
    }
    (steepest * lost > INEXACT).then(|| {
        Note::warning(format!(
            "the kernel may be inexact: rows lie up to {} from their mean, where rounding changes squared distances by {}, and \
             {kernel} varies within {}; scale the columns, or train without the rows that lie apart",
            short(far.sqrt()),
            short(lost),
            short(1.0 / steepest)
        ))
    })
}

/// The largest derivative of a kernel with respect to the squared distance, relative to its largest value.
fn steepest(kernel: &Kernel) -> f64 {
    match kernel {
        Kernel::Rbf { gamma } => *gamma,
        Kernel::InverseMultiquadric { c } | Kernel::Multiquadric { c } => 0.5 / (c * c),
        Kernel::RadialPower { power } => power.abs(),
        Kernel::Power { degree, of } => f64::from(*degree) * steepest(of),
        other => other.children().iter().map(steepest).fold(0.0, f64::max),
    }
}

/// Whether the requested kernel, or a part of it, requires non-negative values.
fn histograms(wishes: &Wishes) -> bool {
    fn any(kernel: &Kernel) -> bool {
        kernel.entry().is_some_and(|entry| entry.takes == Takes::Histograms)
            || kernel.children().iter().any(any)
    }
    wishes.kernel.as_deref().and_then(|line| Kernel::parse(line).ok()).is_some_and(|kernel| any(&kernel))
}
