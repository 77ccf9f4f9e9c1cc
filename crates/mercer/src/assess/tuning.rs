//! A search around a plan: the default space of settings, and the plan updated with the result.
//!
//! Gaussians with gamma from a hundredth to a hundred times its default, polynomials of degree 1 to 5 and sigmoids on
//! dot products scaled to about 1, and C over four decades around the learner's default. The plan's own setting is
//! among them and is evaluated first. For sequences: the kernels of [`sequence_kernels`].

use crate::assess::search::{
    Found, KernelFamily, SearchAxis, SearchParams, Space, by_factors, nearest, search_by,
};
use crate::assess::units::Hands;
use crate::assess::validate::Splits;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::is_precomputed;
use crate::kernel::{Kernel, default_gamma, sequence_kernels};
use crate::model::{Choice, Learner, Plan};
use crate::watch::Watch;

/// Default number of values per axis, odd so that the default is in the middle; and of the first of two stages.
const VALUES: usize = 9;
const COARSE: usize = 5;
/// The kernels that `auto` compares.
const AUTO: [&str; 3] = ["rbf", "poly", "linear"];

/// Options of a search. All of them are optional.
#[derive(Debug, Clone, Default)]
pub struct Tuning {
    /// `rbf`, `poly`, `linear`, `sigmoid`, `auto` (the first three; for sequences [`sequence_kernels`]), or a
    /// kernel's whole line. Empty: the plan's own family, and for sequences without a kernel `auto`.
    pub kernels: Vec<String>,
    /// Values of parameters, by name; `gamma` is the Gaussian's.
    pub axes: Vec<(String, Vec<f64>)>,
    /// Cross-validation splits; `None`: five folds.
    pub splits: Option<Splits>,
    /// Metric.
    pub metric: Option<String>,
    /// Two stages, coarse to fine, instead of one.
    pub two_stage: bool,
    /// See [`SearchParams::median`].
    pub median: bool,
    /// See [`SearchParams::race`].
    pub race: bool,
    /// See [`SearchParams::seed`].
    pub seed: u64,
    /// See [`SearchParams::seconds`].
    pub seconds: Option<f64>,
    /// See [`SearchParams::checkpoint`].
    pub checkpoint: Option<std::path::PathBuf>,
}

impl Tuning {
    /// The search that this describes, on a plan's data.
    pub fn params(&self, plan: &Plan<'_>) -> Result<SearchParams> {
        let count = if self.two_stage { COARSE } else { VALUES };
        let space = Space { families: self.families(plan, count)?, axes: self.axes(plan, count)? };
        // An unknown parameter is reported by its first value.
        space.settings()?.first().map_or(Ok(()), |first| space.learner(&plan.learner, first).map(drop))?;
        Ok(SearchParams {
            start: Some(self.start(plan, &space)?),
            stages: if self.two_stage { 2 } else { 1 },
            splits: self.splits.clone().unwrap_or_else(Splits::usual),
            metric: self.metric.as_deref().map(crate::assess::metric::find).transpose()?,
            median: self.median,
            race: self.race,
            seed: self.seed,
            seconds: self.seconds,
            checkpoint: self.checkpoint.clone(),
            ..SearchParams::new(space)
        })
    }

    /// The plan's own setting, placed in the space.
    fn start(&self, plan: &Plan<'_>, space: &Space) -> Result<Learner> {
        let mut start = plan.learner.clone();
        let names: Vec<&str> = self.kernels.iter().map(|name| name.trim()).collect();
        let asked = |any: &[&str]| names.is_empty() || names.iter().any(|name| any.contains(name));
        let there =
            |kernel: &Kernel| space.families.iter().flat_map(|f| &f.kernels).any(|(_, k)| k == kernel);
        let gammas = self.axes.iter().find(|(name, _)| name == "gamma").map(|(_, values)| sorted(values));
        let own = plan.learner.kernel();
        let kernel = match (own, gammas) {
            (Some(Kernel::Rbf { gamma }), Some(gammas)) if asked(&["rbf", "gaussian", "auto"]) => {
                Some(Kernel::Rbf { gamma: gammas[nearest(&gammas, *gamma)] })
            }
            (Some(own), _) if there(own) => None,
            (Some(Kernel::Poly { .. }), _) if asked(&["poly"]) => None,
            (Some(Kernel::Sigmoid { .. }), _) if asked(&["sigmoid"]) => None,
            // A kernel other than the plan's was requested.
            _ => space
                .families
                .first()
                .and_then(|f| f.kernels.get(f.kernels.len() / 2))
                .map(|(_, k)| k.clone()),
        };
        if let Some(kernel) = kernel {
            start.set_kernel(kernel);
        }
        for axis in &space.axes {
            let now = start.get(&axis.name).and_then(|v| v.as_f64());
            let value = axis.values[now.map_or(axis.values.len() / 2, |v| nearest(&axis.values, v))];
            if now != Some(value) {
                start = SearchAxis { values: vec![value], ..axis.clone() }.applied(&start, value)?;
            }
        }
        Ok(start)
    }

    fn families(&self, plan: &Plan<'_>, count: usize) -> Result<Vec<KernelFamily>> {
        let gammas = self.axes.iter().find(|(name, _)| name == "gamma").map(|(_, values)| values.clone());
        let own = plan.learner.kernel();
        let mut names: Vec<String> = Vec::new();
        let sequences = sequence_kernels(plan.points().view());
        let searched = if self.kernels.is_empty() && plan.open.kernel {
            &["auto".to_owned()]
        } else {
            &self.kernels[..]
        };
        for name in searched {
            match name.trim() {
                "auto" if !sequences.is_empty() => names.extend(sequences.iter().map(ToString::to_string)),
                // For numbers without a requested kernel, the plan's own family is searched.
                "auto" if self.kernels.is_empty() => {}
                "auto" => names.extend(AUTO.map(String::from)),
                other => names.push(other.to_owned()),
            }
        }
        if names.is_empty() {
            match own {
                Some(Kernel::Rbf { .. }) | None => names.push("rbf".into()),
                Some(kernel) if gammas.is_none() => return Ok(vec![KernelFamily::one(kernel.clone())]),
                Some(_) => {}
            }
        }
        names.dedup();
        if gammas.is_some() && !names.iter().any(|n| n == "rbf") {
            return Err(Error::unused("gamma", "given", "no Gaussian kernel is searched"));
        }
        let scale = || dot_scale(plan);
        names
            .iter()
            .map(|name| match name.as_str() {
                "rbf" | "gaussian" => {
                    let middle = match (plan.usual, own) {
                        (Some((gamma, _)), _) => gamma,
                        (None, Some(Kernel::Rbf { gamma })) => *gamma,
                        _ => default_gamma(plan.points().view()).unwrap_or(1.0),
                    };
                    let usual = || {
                        let mut values = by_factors(middle / 100.0, middle * 100.0, count);
                        values[count / 2] = middle;
                        // The plan's own value replaces its neighbour on the grid.
                        if let Some(Kernel::Rbf { gamma }) = own {
                            let at = nearest(&values, *gamma);
                            values[at] = *gamma;
                        }
                        values
                    };
                    Ok(KernelFamily::rbf(&gammas.clone().unwrap_or_else(usual)))
                }
                "poly" => Ok(KernelFamily::poly(1..=5, scale()?)),
                "linear" => Ok(KernelFamily::one(Kernel::Linear)),
                "sigmoid" => {
                    let scale = scale()?;
                    Ok(KernelFamily::sigmoid(&by_factors(scale / 10.0, scale * 10.0, count), -1.0))
                }
                line => Ok(KernelFamily::one(line.parse()?)),
            })
            .collect()
    }

    fn axes(&self, plan: &Plan<'_>, count: usize) -> Result<Vec<SearchAxis>> {
        let entry = plan.learner.entry();
        let given = self.axes.iter().filter(|(name, _)| name != "gamma");
        let mut axes: Vec<SearchAxis> =
            given.map(|(name, values)| SearchAxis { name: name.clone(), values: sorted(values) }).collect();
        if let Some((name, _)) = self.axes.iter().find(|(_, values)| values.is_empty()) {
            return Err(Error::shape(format!("values of {name}"), 0, "at least 1"));
        }
        let asked = |name: &str| self.axes.iter().any(|(n, _)| n == name);
        // A parameter of the learner itself: search around its current value.
        let set = |name: &str| plan.learner.get(name).and_then(|v| v.as_f64());
        for name in ["c", "lambda", "nu"] {
            if !entry.params.contains(&name) || asked(name) {
                continue;
            }
            let mut values = match (name, set(name)) {
                ("c", middle) => {
                    let middle = plan.usual.map(|(_, c)| c).or(middle).unwrap_or(1.0);
                    by_factors(0.1 * middle, 1000.0 * middle, count)
                }
                ("lambda", _) => by_factors(1e-6, 10.0, count),
                _ => vec![0.02, 0.05, 0.1, 0.2, 0.3, 0.5],
            };
            // The plan's own value replaces its neighbour on the grid.
            if let Some(usual) = set(name).filter(|v| v.is_finite()) {
                let at = nearest(&values, usual);
                values[at] = usual;
            }
            axes.insert(0, SearchAxis { name: name.to_owned(), values });
        }
        Ok(axes)
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// One over the mean squared norm of the rows, which scales dot products to about 1.
fn dot_scale(plan: &Plan<'_>) -> Result<f64> {
    let view = plan.points().view();
    Kernel::Linear.check_points(view)?;
    let mut own = vec![0.0; view.n];
    Kernel::Linear.diag(view, &mut own);
    let mean = own.iter().sum::<f64>() / view.n.max(1) as f64;
    Ok(if mean > 0.0 { format!("{:.1e}", 1.0 / mean).parse().unwrap_or(1.0 / mean) } else { 1.0 })
}

/// Searches around a plan and updates the plan with the result: its kernel and parameters, and the reason for them.
///
/// ```
/// use mercer::assess::{Tuning, tune};
/// use mercer::data::{Dataset, toy};
/// use mercer::model::{Plan, Wishes};
/// use mercer::{Exec, watch};
///
/// let (points, targets) = toy::banana(100, 1);
/// let data = Dataset::new(points, targets)?;
/// let mut plan = Plan::new(&data, &Wishes::default(), Exec::one())?;
/// let tuning = Tuning { two_stage: true, ..Tuning::default() };
/// let found = tune(&mut plan, &tuning, Exec::one(), &mut watch::silent())?;
/// let model = plan.fit(Exec::one(), &mut watch::silent())?;
/// assert_eq!(Some(model.machine.expansion.kernel()), found.learner.kernel());
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn tune(plan: &mut Plan<'_>, tuning: &Tuning, exec: Exec, watch: &mut Watch<'_>) -> Result<Found> {
    tune_by(None, plan, tuning, exec, watch)
}

/// The same, its fits done by somebody else where there are [`Hands`]: see [`search_by`].
pub fn tune_by(
    hands: Option<&dyn Hands>,
    plan: &mut Plan<'_>,
    tuning: &Tuning,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    if plan.is_layered() {
        let why = "settings of a machine on another model's features cannot be searched: the features were fitted on all rows";
        return Err(Error::Unsupported(why.into()));
    }
    if plan.learner.kernel().is_some_and(is_precomputed) {
        return Err(Error::Unsupported(
            "a precomputed kernel has no parameters to search: pass points".into(),
        ));
    }
    let params = tuning.params(plan)?;
    let found = search_by(hands, plan.data(), &plan.recipes, &plan.learner, &params, exec, watch)?;
    adopt(plan, &found);
    Ok(found)
}

fn adopt(plan: &mut Plan<'_>, found: &Found) {
    let same = plan.learner == found.learner;
    plan.learner = found.learner.clone();
    let stage = found.stages.get(found.home);
    let searched = stage.map_or(0, |s| s.cells.iter().filter(|c| !c.open).count());
    let best = format!("the best of {searched} settings by {} on {} folds", found.metric.name, found.folds);
    let why = match found.rows {
        Some(rows) => {
            format!(
                "the best setting by {} on {rows} of the rows: the time limit was reached",
                found.metric.name
            )
        }
        None if found.best.open && same => "the usual one: the search ended before any was scored".into(),
        None => best,
    };
    let mut told = |what: &str, value: String| {
        plan.choices.retain(|c| c.what != what);
        plan.choices.push(Choice { what: what.into(), value, why: Some(why.clone()) });
    };
    told("kernel", found.best.setting.kernel.to_string());
    if let Some(stage) = stage {
        for (axis, value) in stage.space.axes.iter().zip(&found.best.setting.values) {
            told(&axis.name, value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Points, Targets, toy};
    use crate::model::Wishes;
    use crate::watch::silent;

    fn plan<'a>(data: &'a Dataset, learner: &str) -> Plan<'a> {
        let wishes = Wishes { learner: Some(learner.into()), ..Wishes::default() };
        Plan::new(data, &wishes, Exec::one()).expect("a plan")
    }

    #[test]
    fn what_nobody_says_is_searched_by_learner() {
        let (points, targets) = toy::banana(80, 1);
        let data = Dataset::new(points, targets).expect("whole");
        let names = |learner: &str, tuning: &Tuning| -> Vec<String> {
            let space = tuning.params(&plan(&data, learner)).expect("a space").space;
            space.axes.iter().map(|a| a.name.clone()).collect()
        };
        assert_eq!(names("svc", &Tuning::default()), ["c"]);
        assert_eq!(names("nu-svc", &Tuning::default()), ["nu"]);
        assert_eq!(names("ridge", &Tuning::default()), ["lambda"]);
        let asked = Tuning { axes: vec![("shift".into(), vec![0.1, 0.0])], ..Tuning::default() };
        assert_eq!(names("svc", &asked), ["c", "shift"]);
        let all =
            Tuning { kernels: vec!["auto".into(), "sigmoid".into(), "laplacian(gamma=1)".into()], ..asked };
        let space = all.params(&plan(&data, "svc")).expect("a space").space;
        let kinds: Vec<&str> = space.families.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(kinds[..4], ["rbf", "poly", "linear", "sigmoid"]);
        assert_eq!(space.axes[1].values, [0.0, 0.1]);
        let wrong = Tuning { kernels: vec!["linear".into()], axes: vec![("gamma".into(), vec![1.0])], ..all };
        assert!(wrong.params(&plan(&data, "svc")).is_err());
    }

    #[test]
    fn a_regression_is_tuned_too() {
        let x: Vec<f64> = (0..90).map(|i| f64::from(i) / 9.0).collect();
        let y = x.iter().map(|x| x.sin()).collect();
        let data = Dataset::new(Points::dense(x, 1).expect("rows"), Targets::Reals(y)).expect("whole");
        let mut plan = plan(&data, "svr");
        let tuning = Tuning { two_stage: true, race: true, ..Tuning::default() };
        let found = tune(&mut plan, &tuning, Exec::new(2), &mut silent()).expect("found");
        assert!(found.best.score.mean < 0.2, "{}", found.best.score.mean);
        assert_eq!(plan.learner, found.learner);
        let told = plan.choices.iter().find(|c| c.what == "c").expect("a choice");
        assert!(told.why.as_ref().is_some_and(|w| w.contains("rmse")), "{told:?}");
    }
}
