//! The smallest power of ten for C without training errors (Schoelkopf 1997, section 2.2.1).
//!
//! A rule of thumb for data with little noise whose classes are expected to be separable. Cost: a fit for each power
//! tried; if none succeeds, a search for a separating hyperplane, which shows whether any C would.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::Sample;
use crate::model::svc::{Kind, Separation, SvcParams};
use crate::watch::Watch;

/// The result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeparatingC {
    /// The smallest C tried without training errors.
    pub c: Option<f64>,
    /// Every C tried, with its errors on the training rows.
    pub tried: Vec<(f64, usize)>,
    /// Whether some C separates the classes.
    pub separable: bool,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// Tries `10^n` for ascending n in a range.
pub fn separating_c(
    params: &SvcParams,
    sample: Sample<'_>,
    powers: std::ops::RangeInclusive<i32>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<SeparatingC> {
    let labels = sample.targets.classes()?;
    let mut tried = Vec::new();
    let mut found = None;
    for n in powers {
        let c = 10f64.powi(n);
        let model = SvcParams { kind: Kind::C, c, ..params.clone() }.fit(sample, exec, watch)?;
        if sample.gram.is_some() {
            return Err(Error::Unsupported("training errors are counted on points, not on a matrix".into()));
        }
        let told = model.labels(sample.points.view(), exec)?;
        let errors = (0..told.len()).filter(|&i| told.name_of(i) != labels.name_of(i)).count();
        tried.push((c, errors));
        if errors == 0 {
            found = Some(c);
            break;
        }
    }
    let separable = match found {
        Some(_) => true,
        None => {
            params.separation(sample, exec, watch)?.iter().all(|(_, s)| matches!(s, Separation::Separable(_)))
        }
    };
    Ok(SeparatingC {
        c: found,
        tried,
        separable,
        assumes: "little noise: every training row's label is right",
    })
}
