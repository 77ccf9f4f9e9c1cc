//! The jobs of a search, done elsewhere: a unit is one kernel on one fold, with all settings that share its kernel matrix.
//!
//! A search poses [`Unit`]s to [`Hands`], which may be processes on other machines; each of them has the data and a [`Judge`].
//! A unit's scores depend on nothing but the unit: so a search ends in the same table wherever its units were done, and in
//! whatever order, as long as the kernel matrix fits into the memory of those who do them.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::metric::{self, Metric};
use super::trials::{Shared, Trials};
use super::validate::Splits;
use crate::data::Dataset;
use crate::data::split::Fold;
use crate::data::stage::Recipe;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Learner;
use crate::watch::Watch;

/// Kernel matrices that a judge keeps between units, at most.
const HELD: usize = 4;

/// What all units of a search share besides the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitFrame {
    /// Stages, fitted inside the folds.
    pub recipes: Vec<Recipe>,
    /// How rows are divided.
    pub splits: Splits,
    /// Seed of the division.
    pub seed: u64,
    /// The name of the metric.
    pub metric: String,
}

/// Settings that differ in their cost alone, on one fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// The learner: see [`Learner::written`].
    pub learner: Value,
    /// C, or nu, of each setting, in the order in which they are trained one from the other.
    pub costs: Vec<f64>,
    /// The number of the fold.
    pub fold: usize,
}

/// Told the scores of a unit by its number: one per cost, or why there is none.
pub type UnitTold<'a> = dyn FnMut(usize, Vec<Result<f64>>) -> Result<()> + 'a;

/// Somebody who does the units of a search.
pub trait Hands: Sync {
    /// Does all units, in any order, and tells each as soon as it is done. Calls the watcher now and then, and returns
    /// [`Error::Cancelled`] if it breaks.
    fn run(
        &self,
        frame: &UnitFrame,
        units: &[Unit],
        told: &mut UnitTold<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<()>;
}

/// Data, folds and a metric: what units are judged on. Units may be judged side by side.
#[derive(Debug)]
pub struct Judge {
    data: Dataset,
    recipes: Vec<Recipe>,
    folds: Vec<Fold>,
    metric: &'static Metric,
    held: Mutex<Vec<(Kernel, Arc<Shared>)>>,
}

impl Judge {
    /// A judge for the units of one search.
    pub fn new(data: Dataset, frame: &UnitFrame) -> Result<Self> {
        let folds = frame.splits.folds(&data, frame.seed)?;
        let metric = metric::find(&frame.metric)?;
        Ok(Judge { data, recipes: frame.recipes.clone(), folds, metric, held: Mutex::default() })
    }

    /// The scores of a unit, one per cost. `workers` units run side by side and share the threads and the memory of `exec`.
    pub fn scores(
        &self,
        unit: &Unit,
        workers: usize,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Result<f64>>> {
        let learner = Learner::of_written(&unit.learner)?;
        let fold = self
            .folds
            .get(unit.fold)
            .ok_or_else(|| Error::param("fold", unit.fold, format!("below {}", self.folds.len())))?;
        let workers = workers.max(1);
        let trials = Trials::new(&self.data, &self.recipes, &self.folds, self.metric, exec)?;
        let cells: Vec<(usize, f64)> = unit.costs.iter().copied().enumerate().collect();
        let shared = self.shared(&learner, workers, exec);
        let own = exec.with_threads((exec.threads() / workers).max(1));
        let own = own.with_memory(exec.memory() / workers as u64);
        trials.job(&learner, &cells, fold, &shared, workers, own, watch)
    }

    /// The place of a kernel's matrix. The oldest ones go where there are too many for the memory given.
    fn shared(&self, learner: &Learner, workers: usize, exec: Exec) -> Arc<Shared> {
        let Some(kernel) = learner.kernel() else { return Arc::default() };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = held.iter().position(|(own, _)| own == kernel) {
            let found = held.remove(at);
            held.push(found);
        } else {
            let bytes = (self.data.len() as u64).pow(2).saturating_mul(4).max(1);
            let room = usize::try_from(exec.memory() / 4 / bytes).unwrap_or(HELD);
            let most = room.clamp(1, HELD.max(workers));
            let over = (held.len() + 1).saturating_sub(most);
            held.drain(..over);
            held.push((kernel.clone(), Arc::default()));
        }
        held.last().map(|(_, shared)| Arc::clone(shared)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::search::{
        KernelFamily, SearchAxis, SearchParams, Space, by_factors, search, search_by,
    };
    use crate::data::{Points, Targets, toy};
    use crate::watch::{Step, silent};

    /// Hands in this process, that begin with the last unit; some units fail.
    struct Backwards {
        data: Dataset,
        fail: bool,
    }

    impl Hands for Backwards {
        fn run(
            &self,
            frame: &UnitFrame,
            units: &[Unit],
            told: &mut UnitTold<'_>,
            watch: &mut Watch<'_>,
        ) -> Result<()> {
            let wrong = |e: serde_json::Error| Error::Unsupported(e.to_string());
            let frame = serde_json::from_value(serde_json::to_value(frame).map_err(wrong)?).map_err(wrong)?;
            let judge = Judge::new(self.data.clone(), &frame)?;
            for (u, unit) in units.iter().enumerate().rev() {
                if watch(&Step::new("units", u as u64, None)).is_break() {
                    return Err(Error::Cancelled);
                }
                let text = serde_json::to_string(unit).map_err(wrong)?;
                let unit: Unit = serde_json::from_str(&text).map_err(wrong)?;
                if self.fail && u % 7 == 3 {
                    told(u, unit.costs.iter().map(|_| Err(Error::Unsupported("no".into()))).collect())?;
                } else {
                    told(u, judge.scores(&unit, 2, Exec::new(2), &mut silent())?)?;
                }
            }
            Ok(())
        }
    }

    fn curve() -> Dataset {
        let x: Vec<f64> = (0..90).map(|i| f64::from(i) / 9.0).collect();
        let y = x.iter().map(|x| x.sin()).collect();
        Dataset::new(Points::dense(x, 1).expect("rows"), Targets::Reals(y)).expect("whole")
    }

    #[test]
    fn units_done_elsewhere_give_the_table_of_one_machine() {
        let (points, targets) = toy::banana(120, 2);
        let banana = Dataset::new(points, targets).expect("whole");
        let recipes = [Recipe::parse("standard").expect("a stage")];
        let axis = |name: &str, from, to| SearchAxis { name: name.into(), values: by_factors(from, to, 4) };
        for (data, learner, name, recipes) in [
            (&banana, "svc", "c", &[][..]),
            (&banana, "svc", "c", &recipes[..]),
            (&banana, "ridge", "lambda", &[][..]),
            (&curve(), "svr", "c", &recipes[..]),
        ] {
            let space = Space {
                families: vec![
                    KernelFamily::rbf(&by_factors(0.01, 100.0, 4)),
                    KernelFamily::poly(1..=2, 0.5),
                ],
                axes: vec![axis(name, 0.01, 100.0)],
            };
            let base = Learner::find(learner).expect("known").learner();
            for race in [false, true] {
                let params = SearchParams { stages: 2, race, ..SearchParams::new(space.clone()) };
                let here = search(data, recipes, &base, &params, Exec::new(2), &mut silent()).expect("found");
                let hands = Backwards { data: data.clone(), fail: false };
                let hands: Option<&dyn Hands> = Some(&hands);
                let there = search_by(hands, data, recipes, &base, &params, Exec::one(), &mut silent());
                let there = there.expect("found");
                assert_eq!(format!("{:?}", here.stages), format!("{:?}", there.stages), "{learner}");
                assert_eq!(here.learner, there.learner);
            }
        }
    }

    #[test]
    fn a_unit_that_fails_is_a_setting_that_failed_and_a_break_is_a_break() {
        let (points, targets) = toy::banana(80, 2);
        let data = Dataset::new(points, targets).expect("whole");
        let space = Space {
            families: vec![KernelFamily::rbf(&by_factors(0.01, 100.0, 4))],
            axes: vec![SearchAxis { name: "c".into(), values: vec![1.0, 10.0] }],
        };
        let base = Learner::find("svc").expect("known").learner();
        let hands = Backwards { data: data.clone(), fail: true };
        let params = SearchParams::new(space);
        let by =
            |watch: &mut Watch<'_>| search_by(Some(&hands), &data, &[], &base, &params, Exec::one(), watch);
        let found = by(&mut silent()).expect("others were fitted");
        let failed = found.stages[0].cells.iter().filter(|c| c.failed.as_deref() == Some("no")).count();
        assert!(failed > 0 && failed < 8, "{failed}");
        let mut at_once = |_: &Step| std::ops::ControlFlow::Break(());
        assert!(matches!(by(&mut at_once), Err(Error::Cancelled)));
        let timed = SearchParams { seconds: Some(1.0), ..params.clone() };
        let refused = search_by(Some(&hands), &data, &[], &base, &timed, Exec::one(), &mut silent());
        assert!(refused.expect_err("no limit of time").to_string().contains("seconds"));
    }

    #[test]
    fn every_learner_is_written_and_read_back() {
        for entry in Learner::ALL {
            let mut learner = entry.learner();
            learner.set_kernel(Kernel::Rbf { gamma: 1.0 / 3.0 });
            let text = serde_json::to_string(&learner.written().expect("plain")).expect("written");
            let again: Value = serde_json::from_str(&text).expect("read");
            assert_eq!(Learner::of_written(&again).expect("known"), learner, "{}", entry.name);
        }
        assert!(Learner::of_written(&Value::Null).is_err());
    }
}
