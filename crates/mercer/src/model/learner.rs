//! The learners by name: one table for every surface that lets people choose.
//!
//! A [`Learner`] is one learner's parameters behind one type: made by name, told by parameter name, fitted to a
//! [`Body`]. What its parameters are called and may be stands in the learner's own table.

mod table;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::is_precomputed;
use crate::kernel::{Definiteness, Kernel};
use crate::model::param::{Allowed, ParamSpec, written};
use crate::model::persist::saved_params;
use crate::model::svc::Kind;
use crate::model::{
    BayesPointParams, Body, BoostKind, BoostParams, ClusterParams, KfdForm, KfdParams, KnnParams, Loss,
    LpMachineParams, NetworkParams, OneClassParams, OnlineRule, ParzenParams, PerceptronParams, RidgeParams,
    Sample, SphereParams, SvcParams, SvrParams, Task,
};
use crate::watch::{Stop, Watch, noting};

/// A learner and its parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Learner {
    /// Support vector classification.
    Svc(SvcParams),
    /// Support vector regression.
    Svr(SvrParams),
    /// Kernel ridge regression; on classes, the least-squares machine.
    Ridge(RidgeParams),
    /// A one-class hyperplane.
    OneClass(OneClassParams),
    /// A sphere in feature space.
    Sphere(SphereParams),
    /// A Fisher discriminant.
    Kfd(KfdParams),
    /// Boosted hypotheses.
    Boost(BoostParams),
    /// A network of radial basis functions.
    Network(NetworkParams),
    /// A linear-programming machine.
    LpMachine(LpMachineParams),
    /// A machine that learns row by row.
    Perceptron(PerceptronParams),
    /// A Bayes point machine.
    BayesPoint(BayesPointParams),
    /// Parzen windows.
    Parzen(ParzenParams),
    /// Nearest neighbours.
    Knn(KnnParams),
    /// Kernel k-means.
    Cluster(ClusterParams),
}

/// The same for every learner's parameters.
macro_rules! each {
    ($learner:expr, $p:ident => $answer:expr) => {
        match $learner {
            Learner::Svc($p) => $answer,
            Learner::Svr($p) => $answer,
            Learner::Ridge($p) => $answer,
            Learner::OneClass($p) => $answer,
            Learner::Sphere($p) => $answer,
            Learner::Kfd($p) => $answer,
            Learner::Boost($p) => $answer,
            Learner::Network($p) => $answer,
            Learner::LpMachine($p) => $answer,
            Learner::Perceptron($p) => $answer,
            Learner::BayesPoint($p) => $answer,
            Learner::Parzen($p) => $answer,
            Learner::Knn($p) => $answer,
            Learner::Cluster($p) => $answer,
        }
    };
}

/// A row of [`Learner::ALL`].
#[derive(Debug, Clone, Copy)]
pub struct LearnerEntry {
    /// Its name.
    pub name: &'static str,
    /// What it can be used for; the first is what it is best known for.
    pub tasks: &'static [Task],
    /// One line about it.
    pub doc: &'static str,
    /// The parameters that make a difference to it, of those its table has.
    pub params: &'static [&'static str],
    make: fn() -> Learner,
}

/// How notes about kernels that may be indefinite begin.
const INDEFINITE: &str = "the kernel may not be positive definite";

const SVC: &[&str] = &[
    "shift",
    "multi",
    "ties",
    "class_weights",
    "probability",
    "folds",
    "seed",
    "virtual_vectors",
    "virtual_kernel",
    "virtual_rounds",
    "virtual_union",
];
/// For all losses of a regression.
const SVR: &[&str] = &["virtual_vectors", "virtual_rounds"];
const SOLVER: &[&str] = &["kernel", "tol", "max_iter", "shrinking", "memory"];

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

    /// The learner that made a model, with its parameters; none where it is not one of [`Learner::ALL`]: features, and
    /// machines behind them.
    pub fn of(body: &Body) -> Option<Self> {
        Some(match body {
            Body::Svc(m) => Learner::Svc(m.params.clone()),
            Body::Svr(m) => Learner::Svr(m.params.clone()),
            Body::Ridge(m) => Learner::Ridge(m.params.clone()),
            Body::OneClass(m) => Learner::OneClass(m.params.clone()),
            Body::Sphere(m) => Learner::Sphere(m.params.clone()),
            Body::Function(m) => m.learner.clone(),
            Body::Kpca(_) | Body::Layered(_) => return None,
        })
    }

    /// Its row in [`Learner::ALL`].
    pub fn entry(&self) -> &'static LearnerEntry {
        let name = match self {
            Learner::Svc(p) => match p.kind {
                Kind::C => "svc",
                Kind::Nu => "nu-svc",
                Kind::Hard => "hard-margin",
            },
            Learner::Svr(p) => match p.loss {
                Loss::Epsilon => "svr",
                Loss::Nu => "nu-svr",
                Loss::Huber => "huber",
                Loss::Laplace => "laplace",
                Loss::Squared => "ridge",
            },
            Learner::Ridge(_) => "ridge",
            Learner::OneClass(_) => "one-class",
            Learner::Sphere(_) => "sphere",
            Learner::Kfd(p) => match p.form {
                KfdForm::Closed => "kfd",
                KfdForm::Sparse => "kfd-sparse",
                KfdForm::Linear => "kfd-lp",
                KfdForm::Greedy => "kfd-greedy",
            },
            Learner::Boost(p) => match p.kind {
                BoostKind::AdaBoost => "adaboost",
                BoostKind::ArcGv => "arc-gv",
                BoostKind::Regularised => "adaboost-reg",
                BoostKind::Program => "lpboost",
            },
            Learner::Network(_) => "rbf-network",
            Learner::LpMachine(_) => "lp-machine",
            Learner::Perceptron(p) => match p.rule {
                OnlineRule::Perceptron => "perceptron",
                OnlineRule::Adatron => "adatron",
            },
            Learner::BayesPoint(_) => "bayes-point",
            Learner::Parzen(_) => "parzen",
            Learner::Knn(_) => "knn",
            Learner::Cluster(_) => "kmeans",
        };
        Self::find(name).expect("all of these are in the table")
    }

    /// Names, ranges and defaults of its parameters.
    pub fn table(&self) -> &'static [ParamSpec] {
        match self {
            Learner::Svc(_) => SvcParams::TABLE,
            Learner::Svr(_) => SvrParams::TABLE,
            Learner::Ridge(_) => RidgeParams::TABLE,
            Learner::OneClass(_) => OneClassParams::TABLE,
            Learner::Sphere(_) => SphereParams::TABLE,
            Learner::Kfd(_) => KfdParams::TABLE,
            Learner::Boost(_) => BoostParams::TABLE,
            Learner::Network(_) => NetworkParams::TABLE,
            Learner::LpMachine(_) => LpMachineParams::TABLE,
            Learner::Perceptron(_) => PerceptronParams::TABLE,
            Learner::BayesPoint(_) => BayesPointParams::TABLE,
            Learner::Parzen(_) => ParzenParams::TABLE,
            Learner::Knn(_) => KnnParams::TABLE,
            Learner::Cluster(_) => ClusterParams::TABLE,
        }
    }

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        each!(self, p => p.check())
    }

    /// All parameters as they are written in files. Fails for custom kernels, which are code.
    pub(super) fn params(&self) -> Result<Value> {
        each!(self, p => saved_params(p))
    }

    /// The same learner with the parameters of a file.
    pub(super) fn with_params(mut self, written: &Value) -> Result<Self> {
        each!(&mut self, p => {
            *p = serde_json::from_value(written.clone())
                .map_err(|e| Error::Unsupported(format!("the learner's parameters: {e}")))?;
        });
        Ok(self)
    }

    /// Sets a parameter by the name it has in the table. Fails where it would be without effect.
    ///
    /// ```
    /// use mercer::model::Learner;
    /// let mut learner = Learner::find("svc")?.learner();
    /// learner.set("c", 10.0.into())?;
    /// let refused = learner.set("nu", 0.2.into()).unwrap_err();
    /// assert_eq!(refused.to_string(), "nu = 0.2: must be left out: it has no meaning for svc, but for nu-svc, nu-svr, one-class, sphere, lpboost, parzen");
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, value: Value) -> Result<()> {
        let entry = self.entry();
        let shown = match &value {
            Value::String(word) => word.clone(),
            other => other.as_f64().map_or_else(|| other.to_string(), |v| v.to_string()),
        };
        if !entry.takes(name) {
            let others: Vec<&str> = Self::ALL.iter().filter(|e| e.takes(name)).map(|e| e.name).collect();
            let allowed =
                format!("left out: it has no meaning for {}, but for {}", entry.name, others.join(", "));
            return Err(Error::param(name, shown, allowed));
        }
        let spec = ParamSpec::find(self.table(), name).expect("what an entry takes is in its table");
        let number = matches!(
            spec.allowed,
            Allowed::Above(_)
                | Allowed::AboveOrInf(_)
                | Allowed::AtLeast(_)
                | Allowed::UpTo(..)
                | Allowed::Within(..)
                | Allowed::Between(..)
                | Allowed::Whole(_)
        );
        let number = number || matches!(spec.allowed, Allowed::WholeOrNone(_)) && !value.is_null();
        // As files write it, and as other languages call it.
        let infinite = value.as_str().is_some_and(|word| word.eq_ignore_ascii_case("inf"));
        let known = if infinite { Some(f64::INFINITY) } else { value.as_f64() };
        if number && !known.is_some_and(|v| spec.allowed.holds(v)) {
            let only = "; only svc takes inf, which is the hard margin";
            let more = if infinite && name == "c" { only } else { "" };
            return Err(Error::param(name, shown, format!("{}{more}", spec.allowed)));
        }
        let whole = matches!(spec.allowed, Allowed::Whole(_) | Allowed::WholeOrNone(_));
        // Numbers of things are written without a point, whatever the caller's language calls them.
        let value = if infinite { written(f64::INFINITY) } else { value };
        let value = match value.as_f64().filter(|v| whole && value.is_f64() && *v < 2f64.powi(53)) {
            Some(number) => Value::from(number as u64),
            None => value,
        };
        each!(self, p => set(p, name, value))
    }

    /// A parameter by name, as it is written in files.
    pub fn get(&self, name: &str) -> Option<Value> {
        let all = each!(self, p => serde_json::to_value(p));
        all.ok()?.get(name).cloned()
    }

    /// What makes this fit differ from the learner's usual one: its own parameters, and others that were changed.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        let entry = self.entry();
        let usual = entry.learner();
        let quiet = [
            "kernel",
            "tol",
            "max_iter",
            "shrinking",
            "memory",
            "method",
            "seed",
            "folds",
            "kind",
            "loss",
            "form",
            "rule",
        ];
        // How errors count is worth a word only where it is not the usual way.
        let own = |name: &str| entry.params.contains(&name) && name != "slack";
        let told = |name: &str| own(name) || self.get(name) != usual.get(name);
        let names = self.table().iter().map(|spec| spec.name).filter(|n| !quiet.contains(n));
        let mut all: Vec<_> =
            names.filter(|n| told(n)).filter_map(|n| self.get(n).map(|value| (n, value))).collect();
        if matches!(self, Learner::Svc(p) if p.kind == Kind::Hard) {
            all.retain(|(name, _)| *name != "c");
            all.insert(0, ("c", written(f64::INFINITY)));
        }
        all
    }

    /// The kernel asked for.
    pub fn kernel(&self) -> Option<&Kernel> {
        each!(self, p => p.kernel.as_ref())
    }

    /// Asks for a kernel. Unlike [`Learner::set`], this takes custom ones too.
    pub fn set_kernel(&mut self, kernel: Kernel) {
        each!(self, p => p.kernel = Some(kernel));
    }

    /// Whether its problem has one optimum only under kernels that are conditionally positive definite. Others take the
    /// kernel's functions as they are.
    fn needs_definite(&self) -> bool {
        !matches!(self, Learner::LpMachine(_) | Learner::Network(_) | Learner::Boost(_))
    }

    /// Fits. Where the watcher broke, the model says so, whatever phase of the fit it was. A kernel that may not be
    /// positive definite is told in the model's notes.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Body> {
        let (fitted, broken) = noting(watch, |watch| self.fitted(sample, exec, watch));
        let mut body = fitted?;
        if broken {
            body.info_mut().stop = Stop::Cancelled;
        }
        let unknown = |k: &Kernel| !is_precomputed(k) && k.definiteness() == Definiteness::Unknown;
        let notes = &mut body.info_mut().notes;
        let told = notes.iter().any(|note| note.starts_with(INDEFINITE));
        let shifted = matches!(self, Learner::Svc(p) if p.shift != 0.0);
        if self.needs_definite() && self.kernel().is_some_and(unknown) && !told && !shifted {
            notes.push(format!("{INDEFINITE}: the result may not be the best one"));
        }
        Ok(body)
    }

    fn fitted(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Body> {
        Ok(match self {
            Learner::Svc(p) => Body::Svc(p.fit(sample, exec, watch)?),
            Learner::Svr(p) => Body::Svr(p.fit(sample, exec, watch)?),
            Learner::Ridge(p) => Body::Ridge(p.fit(sample, exec, watch)?),
            Learner::OneClass(p) => Body::OneClass(p.fit(sample, exec, watch)?),
            Learner::Sphere(p) => Body::Sphere(p.fit(sample, exec, watch)?),
            Learner::Kfd(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::Boost(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::Network(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::LpMachine(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::Perceptron(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::BayesPoint(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::Parzen(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::Knn(p) => Body::Function(p.fit(sample, exec, watch)?),
            Learner::Cluster(p) => Body::Function(p.fit(sample, exec, watch)?),
        })
    }

    /// Whether [`Learner::resume`] can continue the fit of this body: it was broken off, and its learner keeps checkpoints.
    pub fn can_resume(from: &Body) -> bool {
        match from {
            Body::Svc(m) => m.checkpoint.is_some(),
            Body::Svr(m) => m.checkpoint.is_some(),
            Body::OneClass(m) => m.checkpoint.is_some(),
            Body::Sphere(m) => m.checkpoint.is_some(),
            _ => false,
        }
    }

    /// Goes on with the fit of a body that was broken off, on the same sample. Fails if it was not broken off.
    pub fn resume(&self, sample: Sample<'_>, from: &Body, exec: Exec, watch: &mut Watch<'_>) -> Result<Body> {
        let done = || {
            Error::Unsupported("this model's training came to its end: there is nothing to go on with".into())
        };
        Ok(match (self, from) {
            (Learner::Svc(p), Body::Svc(m)) => {
                Body::Svc(p.resume(sample, m.checkpoint.as_ref().ok_or_else(done)?, exec, watch)?)
            }
            (Learner::Svr(p), Body::Svr(m)) => {
                Body::Svr(p.resume(sample, m.checkpoint.as_ref().ok_or_else(done)?, exec, watch)?)
            }
            (Learner::OneClass(p), Body::OneClass(m)) => {
                Body::OneClass(p.resume(sample, m.checkpoint.as_ref().ok_or_else(done)?, exec, watch)?)
            }
            (Learner::Sphere(p), Body::Sphere(m)) => {
                Body::Sphere(p.resume(sample, m.checkpoint.as_ref().ok_or_else(done)?, exec, watch)?)
            }
            _ => return Err(done()),
        })
    }
}

impl LearnerEntry {
    /// The learner with its default parameters.
    pub fn learner(&self) -> Learner {
        (self.make)()
    }

    /// Whether a parameter makes a difference to it.
    pub fn takes(&self, name: &str) -> bool {
        let (svc, svr, solver) = match (self.make)() {
            Learner::Svc(_) => (true, false, true),
            Learner::Svr(_) => (false, true, true),
            Learner::OneClass(_) | Learner::Sphere(_) => (false, false, true),
            _ => (false, false, false),
        };
        let listed = |applies: bool, names: &[&str]| applies && names.contains(&name);
        self.params.contains(&name) || listed(svc, SVC) || listed(svr, SVR) || listed(solver, SOLVER)
    }
}

/// Sets a field of a parameter struct through its written form, so that names and types are those of files.
fn set<P: Serialize + DeserializeOwned>(params: &mut P, name: &str, value: Value) -> Result<()> {
    let mut all = serde_json::to_value(&*params).map_err(|e| Error::Unsupported(e.to_string()))?;
    let shown = value.to_string();
    all[name] = value;
    *params = serde_json::from_value(all).map_err(|e| Error::param(name, shown, format!("valid: {e}")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_of_every_learner_refuse_what_is_not_whole() {
        let mut tried = 0;
        for entry in Learner::ALL {
            let mut learner = entry.learner();
            let whole =
                |spec: &&ParamSpec| matches!(spec.allowed, Allowed::Whole(_) | Allowed::WholeOrNone(_));
            for spec in learner.table().iter().filter(whole).filter(|spec| entry.takes(spec.name)) {
                for bad in
                    [json!(2.7), json!(-1), json!(-1.0), json!("3"), json!(true), json!("inf"), json!(1e300)]
                {
                    let refused = learner.set(spec.name, bad.clone());
                    let told = refused.expect_err("not a whole number").to_string();
                    assert!(told.starts_with(spec.name), "{} {} {bad}: {told}", entry.name, spec.name);
                }
                assert_eq!(learner, entry.learner(), "{}: {}", entry.name, spec.name);
                learner.set(spec.name, json!(7.0)).expect("a whole number, as other languages write it");
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
            for name in entry.params.iter().chain(SOLVER.iter().filter(|n| entry.takes(n))) {
                let spec = ParamSpec::find(learner.table(), name);
                assert!(spec.is_some(), "{} has no {name}", entry.name);
                let same = learner.get(name).expect("a parameter");
                learner.set(name, same.clone()).expect("its own value");
                assert_eq!(learner.get(name), Some(same));
            }
        }
    }

    #[test]
    fn values_outside_their_range_and_without_effect_are_refused() {
        let mut learner = Learner::find("nu-svc").expect("known").learner();
        let refused = |l: &mut Learner, name: &str, v: Value| l.set(name, v).expect_err("wrong").to_string();
        assert_eq!(
            refused(&mut learner, "nu", json!(1.5)),
            "nu = 1.5: must be a number above 0 and at most 1"
        );
        assert!(refused(&mut learner, "c", json!(1.0)).contains("no meaning for nu-svc"));
        assert!(refused(&mut learner, "banana", json!(1.0)).contains("no meaning"));
        learner.set("multi", json!("one_vs_rest")).expect("a word of its table");
        assert!(learner.set("multi", json!("all_vs_all")).is_err());
    }
}
