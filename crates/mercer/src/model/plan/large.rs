//! Selection of the learner for large data where an exact machine would take too long.
//!
//! Decided by a count and not by time, so that the same data gives the same learner everywhere: the multiply-adds of
//! all kernel values of an exact machine, `n^2 (d + 20)`; the map of a value costs about as much as twenty.

use serde_json::json;

use super::{Choice, Plan, Wishes, short};
use crate::data::io::Source;
use crate::data::{Data, Points, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::is_precomputed;
use crate::kernel::Kernel;
use crate::model::{LargeParams, Learner, Model};
use crate::watch::{Note, Watch};

/// Multiply-adds up to which machines are exact: minutes on two cores.
const MOST: f64 = 3e12;
/// Cost of the map of a kernel value, in multiply-adds.
const VALUE: f64 = 20.0;
/// Number of centres of the large machine.
const CENTRES: u64 = 2000;
/// Number of halvings of that number, for estimating the gain from more centres.
const PATH: u64 = 2;

impl Plan<'_> {
    /// Selects `large` instead of an exact machine if neither a learner nor its parameters were given and the kernel
    /// values of an exact one would cost more than a fixed number of multiply-adds. The kernel does not change;
    /// lambda follows from C. Returns whether it was selected.
    pub fn enlarge(&mut self, wishes: &Wishes) -> Result<bool> {
        self.enlarge_for(wishes, self.points.len())
    }

    /// The same for a plan made from a sample of this many rows.
    pub fn enlarge_for(&mut self, wishes: &Wishes, rows: usize) -> Result<bool> {
        let open = wishes.learner.is_none()
            && wishes.params.iter().all(|(name, _)| *name == "seed")
            && wishes.features.is_none();
        let exact = matches!(self.learner, Learner::Svc(_) | Learner::Svr(_));
        let cost = cost(&self.points, rows);
        let kernel = self.learner.kernel().cloned();
        let Some(kernel) = kernel.filter(|k| !is_precomputed(k) && *k != Kernel::Linear) else {
            return Ok(false);
        };
        if !open || !exact || cost <= MOST {
            return Ok(false);
        }
        let c = self.learner.get("c").and_then(|c| c.as_f64()).unwrap_or(1.0);
        // The default C of a regression is proportional to the deviation of the targets; squared errors do not need
        // this.
        let lambda: f64 = format!("{:.1e}", spread(&self.data.targets) / c).parse().unwrap_or(1.0);
        let mut learner =
            Learner::Large(LargeParams { centres: CENTRES, path: PATH, ..LargeParams::default() });
        learner.set_kernel(kernel);
        learner.set("lambda", json!(lambda))?;
        learner.set("seed", json!(wishes.seed))?;
        learner.check()?;
        let why = format!(
            "the kernel values of an exact machine on {rows} rows would take up to {} multiply-adds, above the limit of {}; \
             --exact trains it anyway",
            short(cost),
            short(MOST)
        );
        self.notes
            .push(Note::from(format!("large data: {CENTRES} centres instead of an exact machine; {why}")));
        self.choices.retain(|choice| choice.what != "epsilon");
        for choice in &mut self.choices {
            match choice.what.as_str() {
                "learner" => (choice.value, choice.why) = ("large".into(), Some(why.clone())),
                "c" => {
                    let from = format!("from C = {}: the scale of the errors divided by it", short(c));
                    *choice = Choice { what: "lambda".into(), value: short(lambda), why: Some(from) };
                }
                _ => {}
            }
        }
        let more = "twice as many lower the error and double the time: --learner large --set centres=N";
        self.choices.push(Choice {
            what: "centres".into(),
            value: CENTRES.to_string(),
            why: Some(more.into()),
        });
        self.learner = learner;
        Ok(true)
    }

    /// Fits on all rows of a source behind this plan's stages, block by block: the plan was made from a sample of them. Only
    /// for `large` and its forms, and for components on landmarks.
    pub fn fit_source(&self, source: &dyn Source, exec: Exec, watch: &mut Watch<'_>) -> Result<Model> {
        let mut machine = match &self.learner {
            Learner::Large(params) => params.fit_source(source, exec, watch)?,
            Learner::Kpca(params) => params.fit_source(source, exec, watch)?,
            other => {
                return Err(Error::Unsupported(format!(
                    "{} needs all rows in memory; large, large-logistic and large-hinge read them in blocks",
                    other.entry().name
                )));
            }
        };
        machine.info.note(format!(
            "{} rows read in blocks; scaling and settings were found on a sample of {}",
            source.rows(),
            self.data.len()
        ));
        self.model(machine)
    }
}

/// The multiply-adds of all kernel values between this many rows like these.
fn cost(points: &Points, rows: usize) -> f64 {
    let view = points.view();
    let wide = match view.data {
        Data::Csr { start, .. } => (start[view.n] - start[0]) as f64 / (view.n as f64).max(1.0),
        _ => view.d as f64,
    };
    (rows as f64).powi(2) * (wide + VALUE)
}

/// The standard deviation of numbers, and 1 for classes.
fn spread(targets: &Targets) -> f64 {
    let Targets::Reals(y) = targets else { return 1.0 };
    let n = y.len().max(1) as f64;
    let mean = y.iter().sum::<f64>() / n;
    let std = (y.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
    if std > 0.0 && std.is_finite() { std } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Labels};
    use crate::exec::Exec;

    fn data(n: usize, numbers: bool) -> Dataset {
        let points = Points::dense_f32((0..n).map(|i| (i % 997) as f32).collect(), 1).expect("rows");
        let targets = if numbers {
            Targets::Reals((0..n).map(|i| (i % 7) as f64).collect())
        } else {
            let of_row = (0..n as u32).map(|i| i % 2).collect();
            Targets::Classes(Labels { names: vec!["a".into(), "b".into()], of_row })
        };
        Dataset::new(points, targets).expect("a target per row")
    }

    #[test]
    fn a_count_decides_and_what_was_asked_for_stays() {
        // 21 n^2 is 2.1e12 and 3.4e12.
        for (n, numbers, want) in [(316_000, false, false), (400_000, false, true), (400_000, true, true)] {
            let data = data(n, numbers);
            let wishes = Wishes { seed: 3, ..Wishes::default() };
            let mut plan = Plan::new(&data, &wishes, Exec::one()).expect("a plan");
            let exact = plan.learner.clone();
            assert_eq!(plan.enlarge(&wishes).expect("a learner"), want, "{n}");
            assert_eq!(plan.learner.entry().name == "large", want);
            assert_eq!(plan.choices.iter().any(|c| c.what == "learner" && c.value == "large"), want);
            if want {
                assert_eq!(plan.learner.kernel(), exact.kernel());
                // C = 1 of classes, and the deviation of numbers: both are lambda 1.
                assert_eq!(plan.learner.get("lambda"), Some(json!(1.0)));
                assert_eq!(plan.learner.get("seed"), Some(json!(3)));
                assert!(plan.choices.iter().all(|c| c.what != "c" && c.what != "epsilon"));
                assert!(plan.notes.iter().any(|note| note.contains("2000 centres")));
            }
            let asked = [
                Wishes { learner: Some(exact.entry().name.into()), ..Wishes::default() },
                Wishes { params: vec![("c", json!(2.0))], ..Wishes::default() },
                Wishes { kernel: Some("linear".into()), ..Wishes::default() },
            ];
            for wishes in asked {
                let mut plan = Plan::new(&data, &wishes, Exec::one()).expect("a plan");
                assert!(!plan.enlarge(&wishes).expect("a learner"));
                assert_eq!(plan.learner.entry().name, exact.entry().name);
            }
        }
    }
}
