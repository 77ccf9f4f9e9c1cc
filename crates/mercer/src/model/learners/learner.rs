//! Learners by name: constructed by name, configured by parameter names, fitted to a [`Machine`].

use serde_json::Value;

use super::kfd::KfdForm;
use super::{FEATURES, Learner};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::is_precomputed;
use crate::kernel::{Definiteness, Kernel};
use crate::model::svc::Kind;
use crate::model::{Machine, Sample, Task};
use crate::param::{Param, written};
use crate::watch::{Note, Stop, Watch, noting};

/// Methods of every parameter struct, implemented by `params!`.
pub(in crate::model) trait Declared {
    /// Its rows.
    fn table(&self) -> &'static [Param];
    /// Fails if a parameter is outside its range.
    fn check(&self) -> Result<()>;
    /// All parameters as JSON for files. Fails for custom kernels, which cannot be saved.
    fn to_json(&self) -> Result<Value>;
    /// Sets all parameters from JSON.
    fn read_json(&mut self, written: Value) -> serde_json::Result<()>;
    /// The kernel parameter.
    fn kernel(&self) -> Option<&Kernel>;
    /// Sets the kernel parameter.
    fn set_kernel(&mut self, kernel: Kernel);
}

/// A row of [`Learner::ALL`].
#[derive(Debug, Clone, Copy)]
pub struct LearnerEntry {
    /// Its name.
    pub name: &'static str,
    /// Its tasks; the first is the main one.
    pub tasks: &'static [Task],
    /// One line about it.
    pub doc: &'static str,
    /// Its main parameters, which are always shown.
    pub params: &'static [&'static str],
    /// Parameters of its table that do not affect it: those of other forms.
    pub(super) not: &'static [&'static str],
    pub(super) make: fn() -> Learner,
}

impl Learner {
    /// The row of a learner's name.
    ///
    /// ```
    /// use mercer::model::Learner;
    /// assert_eq!(Learner::find("nu-svr")?.params, ["c", "nu"]);
    /// assert!(Learner::find("forest").is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn find(name: &str) -> Result<&'static LearnerEntry> {
        Self::ALL.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|entry| entry.name).collect();
            Error::param("learner", name, format!("one of {}", names.join(", ")))
        })
    }

    /// The learner of a name with its default parameters: one of [`Learner::ALL`], or kernel PCA.
    pub(in crate::model) fn any(name: &str) -> Result<Self> {
        if name == FEATURES.name { Ok(FEATURES.learner()) } else { Ok(Self::find(name)?.learner()) }
    }

    /// Its row in [`Learner::ALL`].
    pub fn entry(&self) -> &'static LearnerEntry {
        let row = self.form().and_then(|form| Self::ALL.iter().find(|entry| entry.name == form));
        row.unwrap_or(&FEATURES)
    }

    /// Names, ranges and defaults of its parameters.
    pub fn table(&self) -> &'static [Param] {
        self.declared().table()
    }

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        self.declared().check()
    }

    /// All parameters as JSON for files. Fails for custom kernels, which cannot be saved.
    pub(in crate::model) fn params(&self) -> Result<Value> {
        self.declared().to_json()
    }

    /// The same learner with the parameters of a file.
    pub(in crate::model) fn with_params(mut self, written: &Value) -> Result<Self> {
        let wrong = |e| Error::Unsupported(format!("the learner's parameters: {e}"));
        self.declared_mut().read_json(written.clone()).map_err(wrong)?;
        Ok(self)
    }

    /// Its name and all its parameters as one value, for another process. Fails for custom kernels, which cannot be
    /// serialised.
    ///
    /// ```
    /// use mercer::model::Learner;
    /// let mut learner = Learner::find("nu-svc")?.learner();
    /// learner.set("nu", 0.1.into())?;
    /// assert_eq!(Learner::of_written(&learner.written()?)?, learner);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn written(&self) -> Result<Value> {
        Ok(serde_json::json!({"name": self.entry().name, "params": self.params()?}))
    }

    /// Reads what [`Learner::written`] has written.
    pub fn of_written(written: &Value) -> Result<Self> {
        let name = written["name"].as_str().unwrap_or_default();
        Self::any(name)?.with_params(&written["params"])
    }

    /// Sets a parameter by its name in the table. Fails if the learner does not use it.
    ///
    /// ```
    /// use mercer::model::Learner;
    /// let mut learner = Learner::find("svc")?.learner();
    /// learner.set("c", 10.0.into())?;
    /// let refused = learner.set("nu", 0.2.into()).unwrap_err();
    /// assert_eq!(refused.to_string(), "nu = 0.2: svc does not take `nu`; it is used by nu-svc, nu-svr, one-class, sphere, lpboost, parzen");
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, value: Value) -> Result<()> {
        let entry = self.entry();
        let shown = match &value {
            Value::String(word) => word.clone(),
            other => other.as_f64().map_or_else(|| other.to_string(), |v| v.to_string()),
        };
        if name == "memory" {
            let allowed =
                "set for the whole call (`--memory`, `Exec::with_memory`): learners have no such parameter";
            return Err(Error::param(name, shown, allowed));
        }
        if !entry.takes(name) {
            let others: Vec<&str> = Self::ALL.iter().filter(|e| e.takes(name)).map(|e| e.name).collect();
            let used = match others.as_slice() {
                [] => "no learner has it".to_owned(),
                others => format!("it is used by {}", others.join(", ")),
            };
            let why = format!("{} does not take `{name}`; {used}", entry.name);
            return Err(Error::unused(name, shown, why));
        }
        let spec = Param::find(self.table(), name).expect("what an entry takes is in its table");
        let number = spec.allowed.is_number() && !(spec.allowed.is_none_too() && value.is_null());
        // As files write it, and as other languages call it.
        let infinite = value.as_str().is_some_and(|word| word.eq_ignore_ascii_case("inf"));
        let known = if infinite { Some(f64::INFINITY) } else { value.as_f64() };
        if number && !known.is_some_and(|v| spec.allowed.holds(v)) {
            let only = "; only svc takes inf, which is the hard margin";
            let more = if infinite && name == "c" { only } else { "" };
            return Err(Error::param(name, shown, format!("{}{more}", spec.allowed)));
        }
        let value = if infinite { written(f64::INFINITY) } else { value };
        let whole = spec.allowed.is_whole();
        // Integer parameters are stored as integers, whatever type the caller uses.
        let value = match value.as_f64().filter(|v| whole && value.is_f64() && *v < 2f64.powi(53)) {
            Some(number) => Value::from(number as u64),
            None => value,
        };
        let mut all = self.params()?;
        all[name] = value;
        self.declared_mut().read_json(all).map_err(|e| Error::param(name, shown, format!("valid: {e}")))
    }

    /// A parameter by name, as it is written in files.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.params().ok()?.get(name).cloned()
    }

    /// Its main parameters, and all others that differ from their defaults.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        let entry = self.entry();
        let usual = entry.learner();
        let quiet = [
            "kernel",
            "tol",
            "max_iter",
            "shrinking",
            "method",
            "seed",
            "folds",
            "kind",
            "loss",
            "form",
            "rule",
        ];
        // The slack is mentioned only where it is not the default.
        let own = |name: &str| entry.params.contains(&name) && name != "slack";
        let told = |name: &str| own(name) || self.get(name) != usual.get(name);
        let names = self.table().iter().map(|spec| spec.name).filter(|n| !quiet.contains(n));
        let mut all: Vec<_> =
            names.filter(|n| told(n)).filter_map(|n| self.get(n).map(|value| (n, value))).collect();
        if self.is_hard_margin() {
            all.retain(|(name, _)| *name != "c");
            all.insert(0, ("c", written(f64::INFINITY)));
        }
        all
    }

    fn is_hard_margin(&self) -> bool {
        matches!(self, Learner::Svc(p) if p.kind == Kind::Hard)
    }

    /// The kernel parameter.
    pub fn kernel(&self) -> Option<&Kernel> {
        self.declared().kernel()
    }

    /// Sets the kernel. Unlike [`Learner::set`], this accepts custom ones.
    pub fn set_kernel(&mut self, kernel: Kernel) {
        self.declared_mut().set_kernel(kernel);
    }

    /// Whether a fit that is cancelled leaves a model that predicts. Fits in closed form have none before their end.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// assert!(Learner::find("svc")?.learner().keeps_partial());
    /// assert!(!Learner::find("ridge")?.learner().keeps_partial());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn keeps_partial(&self) -> bool {
        match self {
            Learner::Kfd(params) => params.form != KfdForm::Closed,
            Learner::Ridge(_) | Learner::BayesPoint(_) | Learner::Kpca(_) => false,
            _ => true,
        }
    }

    /// Whether it requires a conditionally positive definite kernel for a unique optimum and does not check this
    /// itself. Other learners accept any kernel functions.
    fn needs_definite(&self) -> bool {
        let own = matches!(self, Learner::Svc(_));
        !own && !matches!(self, Learner::LpMachine(_) | Learner::Network(_) | Learner::Boost(_))
    }

    /// Fits. If the watcher cancelled in any phase, the machine is marked so. A note is added if the kernel may not
    /// be positive definite.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        self.told(exec, watch, |watch| self.fitted(sample, exec, watch))
    }

    /// Fits from the solution of another fit of this learner on the same rows; parameters, weights and targets may
    /// differ. Support vector machines then need fewer iterations if C changed little, and more if nu did; they
    /// converge to the same optimum within their tolerance. Other learners, and machines whose centres are not rows
    /// of the sample, start from scratch.
    pub fn fit_near(
        &self,
        sample: Sample<'_>,
        near: &Machine,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        self.told(exec, watch, |watch| match (self, &near.learner) {
            (Learner::Svc(params), Learner::Svc(_)) => params.fit_near(sample, near, exec, watch),
            (Learner::Svr(params), Learner::Svr(_)) => params.fit_near(sample, near, exec, watch),
            (Learner::OneClass(params), Learner::OneClass(_)) => params.fit_near(sample, near, exec, watch),
            (Learner::Sphere(params), Learner::Sphere(_)) => params.fit_near(sample, near, exec, watch),
            _ => self.fitted(sample, exec, watch),
        })
    }

    fn told(
        &self,
        exec: Exec,
        watch: &mut Watch<'_>,
        fit: impl FnOnce(&mut Watch<'_>) -> Result<Machine>,
    ) -> Result<Machine> {
        let before = exec.device().answered();
        let (fitted, broken) = noting(watch, fit);
        let mut machine = fitted?;
        machine.info.computed_on(exec, before);
        if broken {
            machine.info.stop = Stop::Cancelled;
        }
        let unknown = |k: &Kernel| !is_precomputed(k) && k.definiteness() == Definiteness::Unknown;
        if self.needs_definite() && self.kernel().is_some_and(unknown) {
            let note = "the kernel may not be positive definite: the result may be a local optimum";
            machine.info.note(Note::warning(note));
        }
        Ok(machine)
    }

    /// Resumes the fit of an interrupted machine on the same sample. Fails if that fit was complete.
    pub fn resume(
        &self,
        sample: Sample<'_>,
        from: &Machine,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let resumed = from.checkpoint.as_ref().and_then(|at| self.resumed(sample, at, exec, watch));
        resumed.unwrap_or_else(|| {
            Err(Error::Unsupported("this model's training is complete: there is nothing to resume".into()))
        })
    }
}

impl LearnerEntry {
    /// The learner with its default parameters.
    pub fn learner(&self) -> Learner {
        (self.make)()
    }

    /// Whether a parameter affects it.
    pub fn takes(&self, name: &str) -> bool {
        Param::find(self.learner().table(), name).is_some() && !self.not.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Loss, SvrParams};
    use serde_json::json;

    #[test]
    fn whole_numbers_of_every_learner_refuse_what_is_not_whole() {
        let mut tried = 0;
        for entry in Learner::ALL {
            let mut learner = entry.learner();
            let whole = |param: &&Param| param.allowed.is_whole() && entry.takes(param.name);
            for param in learner.table().iter().filter(whole) {
                let wrong = [json!(2.7), json!(-1), json!("3"), json!(true), json!("inf"), json!(1e300)];
                for bad in wrong {
                    let told =
                        learner.set(param.name, bad.clone()).expect_err("not a whole number").to_string();
                    assert!(told.starts_with(param.name), "{} {} {bad}: {told}", entry.name, param.name);
                }
                assert_eq!(learner, entry.learner(), "{}: {}", entry.name, param.name);
                learner.set(param.name, json!(7.0)).expect("a whole number, as other languages write it");
                learner = entry.learner();
                tried += 1;
            }
        }
        assert!(tried > 30, "{tried}");
    }

    #[test]
    fn every_learner_is_found_again_and_takes_what_it_says() {
        for entry in Learner::ALL {
            let mut learner = entry.learner();
            assert_eq!(learner.entry().name, entry.name);
            for name in learner.table().iter().map(|param| param.name).filter(|name| entry.takes(name)) {
                let spec = Param::find(learner.table(), name);
                assert!(spec.is_some(), "{} has no {name}", entry.name);
                let same = learner.get(name).expect("a parameter");
                learner.set(name, same.clone()).expect("its own value");
                assert_eq!(learner.get(name), Some(same));
            }
        }
    }

    #[test]
    fn squared_loss_of_a_regression_refuses_parameters_of_ridge() {
        let squared = SvrParams { loss: Loss::Squared, ..SvrParams::default() };
        let mut learner = Learner::Svr(squared);
        assert_eq!(learner.entry().name, "svr");
        let refused = learner.set("lambda", json!(0.5)).expect_err("not its own").to_string();
        assert!(refused.contains("svr does not take `lambda`"), "{refused}");
        learner.set("c", json!(3.0)).expect("its own");
        assert_eq!(learner.get("loss"), Some(json!("squared")));
    }

    #[test]
    fn values_outside_their_range_and_without_effect_are_refused() {
        let mut learner = Learner::find("nu-svc").expect("known").learner();
        let refused = |l: &mut Learner, name: &str, v: Value| l.set(name, v).expect_err("wrong").to_string();
        assert_eq!(
            refused(&mut learner, "nu", json!(1.5)),
            "nu = 1.5: must be a number above 0 and at most 1"
        );
        assert!(refused(&mut learner, "c", json!(1.0)).contains("nu-svc does not take `c`"));
        let unknown = refused(&mut learner, "banana", json!(1.0));
        assert!(unknown.contains("nu-svc does not take `banana`; no learner has it"), "{unknown}");
        learner.set("multi", json!("one_vs_rest")).expect("a word of its table");
        assert!(learner.set("multi", json!("all_vs_all")).is_err());
    }

    #[test]
    fn a_memory_budget_is_no_parameter() {
        let mut learner = Learner::find("svc").expect("known").learner();
        let refused = learner.set("memory", json!(1000)).expect_err("not a parameter").to_string();
        assert!(refused.contains("--memory"), "{refused}");
        assert!(Learner::find("knn").expect("known").learner().with_params(&json!({"memory": 1})).is_err());
    }

    #[test]
    fn a_fit_near_another_ends_at_its_own_optimum() {
        use crate::data::{Targets, toy};
        use crate::watch::silent;

        let changed = [
            ("svc", "c", 1.0, 1.4),
            ("nu-svc", "nu", 0.3, 0.33),
            ("svr", "c", 2.0, 2.5),
            ("nu-svr", "nu", 0.4, 0.44),
            ("huber", "c", 2.0, 2.5),
            ("laplace", "c", 2.0, 2.5),
            ("one-class", "nu", 0.3, 0.34),
            ("sphere", "nu", 0.3, 0.34),
        ];
        for (name, param, first, second) in changed {
            let (points, classes) = toy::noisy_disc(150, 3);
            let (curve, numbers) = toy::sinc(150, 3);
            let (points, targets) = match name {
                "svc" | "nu-svc" => (points, classes),
                "one-class" | "sphere" => (points, Targets::None),
                _ => (curve, numbers),
            };
            let with = |value: f64| {
                let mut learner = Learner::find(name).expect("known").learner();
                learner.set_kernel(Kernel::Rbf { gamma: 0.8 });
                learner.set("tol", json!(1e-6)).expect("a tolerance");
                learner.set(param, json!(value)).expect("in range");
                learner
            };
            let sample = Sample::new(&points, &targets);
            let before = with(first).fit(sample, Exec::one(), &mut silent()).expect(name);
            let cold = with(second).fit(sample, Exec::one(), &mut silent()).expect(name);
            let warm = with(second).fit_near(sample, &before, Exec::one(), &mut silent()).expect(name);
            assert_eq!(warm.info.stop, Stop::Converged, "{name}");
            let outputs = |m: &Machine| m.decision(points.view(), Exec::one()).expect("numbers");
            mercer_testkit::assert::all_close(&outputs(&warm), &outputs(&cold), 1e-3);
            let (near, from_0) = (warm.info.iterations, cold.info.iterations);
            assert!(param == "nu" || near < from_0, "{name}: {near} iterations near, {from_0} from 0");
            // A machine of other rows is nothing to start from.
            let few = points.gather(&(0..40).collect::<Vec<_>>());
            let labels = match &targets {
                Targets::None => Targets::None,
                other => other.gather(&(0..40).collect::<Vec<_>>()),
            };
            let other = with(first).fit_near(Sample::new(&few, &labels), &cold, Exec::one(), &mut silent());
            assert!(other.is_ok(), "{name}");
        }
    }
}
