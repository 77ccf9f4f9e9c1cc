//! Reductions to one size, to several sizes, or to the smallest size that satisfies a condition.

use super::job::Job;
use super::{Reduced, ReducedSetParams, Size};
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::watch::Watch;

/// Approximates an expansion with fewer centres.
pub fn reduce(
    psi: &Expansion,
    params: &ReducedSetParams,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Reduced> {
    params.check()?;
    match params.size {
        Size::Error(most) => {
            let norm2 = psi.norm2(exec)?;
            let mut enough = |small: &Expansion| Ok(psi.relative_errors(&norm2, small, exec)?.0 <= most);
            reduce_until(psi, params, &mut enough, exec, watch)
        }
        size => Job::new(psi, params, &[size], exec)?.build(size, params.descent, watch),
    }
}

/// Sets of several sizes, each with its own number of steps of phase two; shared work is done once. The size and the
/// steps in `params` are ignored.
pub fn reduce_path(
    psi: &Expansion,
    params: &ReducedSetParams,
    wanted: &[(Size, Option<usize>)],
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Vec<Reduced>> {
    for &(size, descent) in wanted {
        ReducedSetParams { size, descent, ..params.clone() }.check()?;
    }
    let sizes: Vec<Size> = wanted.iter().map(|(size, _)| *size).collect();
    let mut job = Job::new(psi, params, &sizes, exec)?;
    let one = |&(size, descent): &(Size, Option<usize>)| match size {
        Size::Error(_) => reduce(psi, &ReducedSetParams { size, descent, ..params.clone() }, exec, watch),
        _ => job.build(size, descent, watch),
    };
    wanted.iter().map(one).collect()
}

/// Approximates an expansion with as few centres as satisfy the caller's condition, which is shown one set after the
/// other. The size in `params` is ignored. If no smaller set satisfies it, the expansion is returned unchanged.
pub fn reduce_until(
    psi: &Expansion,
    params: &ReducedSetParams,
    enough: &mut dyn FnMut(&Expansion) -> Result<bool>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Reduced> {
    ReducedSetParams { size: Size::Vectors(1), ..params.clone() }.check()?;
    let mut job = Job::new(psi, params, &[], exec)?;
    let sizes = job.groups.iter().map(|g| g.psi.len());
    let most = if params.blocks.is_empty() { sizes.max() } else { Some(sizes.sum()) }.unwrap_or(0);
    let (mut too_few, mut size) = (0, 1);
    let mut found = loop {
        if size >= most {
            break job.unchanged()?;
        }
        let now = job.build(Size::Vectors(size), params.descent, watch)?;
        if enough(&now.expansion)? {
            break now;
        }
        (too_few, size) = (size, size * 2);
    };
    let mut good = size.min(most);
    // Accurate to a tenth: the last vectors are not worth another descent.
    while good - too_few > 1 + good / 10 {
        let middle = usize::midpoint(too_few, good);
        let now = job.build(Size::Vectors(middle), params.descent, watch)?;
        if enough(&now.expansion)? {
            (found, good) = (now, middle);
        } else {
            too_few = middle;
        }
    }
    Ok(found)
}
