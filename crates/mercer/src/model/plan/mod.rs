//! From data and a few settings to a fit: settings not given are chosen from the data, each with a reason.
//!
//! The task follows from the targets; columns are standardised where their ranges differ much; the Gaussian's width
//! follows from the variance of the values; C and epsilon of a regression follow from the standard deviation s of the
//! targets: `C = s` and `epsilon = s / 10` correspond to 1 and 0.1 on targets of deviation 1. Cost: one pass over the
//! data. Settings that are still open are listed ([`Plan::open`]), so that estimates which need fits can determine
//! them.

mod columns;
mod large;
mod table;
mod target;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::data::stage::Recipe;
use crate::data::{Dataset, Finding, Points, Stages, Summary, TargetFacts, Targets};
use crate::error::{Error, Mismatch, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{Matrix, is_precomputed};
use crate::kernel::{Kernel, default_gamma, default_sequence_kernel};
use crate::model::{KfdForm, Learner, Machine, Model, Names, Sample, Task};
use crate::watch::{Note, NoteKind, Watch};
pub use columns::inexact;
use columns::scaling;
use table::{coded, table_scaling};
use target::target;

/// Number of distinct numbers above which they are not accepted as classes unless requested.
const MOST_NUMBERS: usize = 200;
/// The same where they look measured: some are fractions, or there are fewer than two rows for each of them.
const MOST_MEASURED: usize = 20;
/// Default upper bound on the share of outliers in novelty detection.
const OUTLIERS: f64 = 0.05;

/// The settings given by the user; all are optional.
///
/// ```
/// use mercer::prelude::*;
/// let (points, targets) = mercer::data::toy::banana(60, 1);
/// let data = Dataset::new(points, targets)?;
/// let settings = Wishes { learner: Some("nu-svc".into()), params: vec![("nu", 0.2.into())], ..Wishes::default() };
/// let model = Plan::new(&data, &settings, Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
/// assert_eq!(model.machine.learner.entry().name, "nu-svc");
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// What the model is for.
    pub task: Option<Task>,
    /// A name of [`Learner::ALL`].
    pub learner: Option<String>,
    /// A kernel's line; `rbf` alone, or `auto`: a Gaussian with its width chosen from the data.
    pub kernel: Option<String>,
    /// The Gaussian's gamma.
    pub gamma: Option<f64>,
    /// Preprocessing of columns.
    pub scaling: Scaling,
    /// Components whose features replace the columns as the machine's input, for a model with two layers.
    pub features: Option<Model>,
    /// Further parameters, by the names of the learner's table.
    pub params: Vec<(&'static str, Value)>,
    /// Whether labels are classes, for any number of classes and even if they are numbers.
    pub classes: bool,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// Preprocessing of columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scaling {
    /// Standardised if their ranges differ much.
    #[default]
    Auto,
    /// These stages.
    Given(Vec<Recipe>),
}

/// A setting chosen before the fit, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The setting: `task`, `kernel`, `scaling`, a parameter.
    pub what: String,
    /// Its value.
    pub value: String,
    /// The reason; `None` if the user gave it.
    pub why: Option<String>,
}

/// Settings not given by the user, which a constant or a rule of the plan has determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Open {
    /// Scaling of the columns: other scalings are possible.
    pub scaling: bool,
    /// The kernel: the Gaussian's gamma, or which kernel compares sequences.
    pub kernel: bool,
    /// C.
    pub c: bool,
}

/// A fit that is ready to run.
///
/// ```
/// use mercer::prelude::*;
/// let (points, targets) = mercer::data::toy::banana(60, 1);
/// let data = Dataset::new(points, targets)?;
/// let plan = Plan::new(&data, &Wishes::default(), Exec::one())?;
/// assert!(plan.choices.iter().any(|choice| choice.what == "kernel")); // each with its reason
/// let model = plan.fit(Exec::one(), &mut watch::silent())?;
/// assert_eq!(model.task(), Task::Classification);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The task of the model.
    pub task: Task,
    /// The learner with all its parameters.
    pub learner: Learner,
    /// The stages' recipes, for fitting them on parts of the data.
    pub recipes: Vec<Recipe>,
    /// Fitted on the data.
    pub stages: Stages,
    /// The choices, in order.
    pub choices: Vec<Choice>,
    /// Possible problems of the data; empty for resumed fits.
    pub findings: Vec<Finding>,
    /// Notes for the model.
    pub notes: Vec<Note>,
    /// Settings not given by the user.
    pub open: Open,
    /// Gamma and C before [`Plan::settle`] replaced them: the middle of a search.
    pub usual: Option<(f64, f64)>,
    data: &'a Dataset,
    points: Cow<'a, Points>,
    gram: Option<Matrix>,
    /// The features on which the machine is trained.
    layer: Option<Expansion>,
}

impl<'a> Plan<'a> {
    /// Makes all choices. Fails on settings that contradict each other, the data, or a parameter's range.
    ///
    /// ```
    /// use mercer::data::{Dataset, toy};
    /// use mercer::model::{Plan, Wishes};
    /// use mercer::{Exec, watch};
    ///
    /// let (points, targets) = toy::banana(60, 0);
    /// let data = Dataset::new(points, targets)?;
    /// let plan = Plan::new(&data, &Wishes::default(), Exec::one())?;
    /// let model = plan.fit(Exec::one(), &mut watch::silent())?;
    /// assert_eq!(model.kind(), "svc");
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn new(data: &'a Dataset, wishes: &Wishes, exec: Exec) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::shape("training rows", 0, "at least 1"));
        }
        let mut choices = Choices(Vec::new());
        let (task, mut learner) = learner(wishes, &data.targets, &mut choices)?;
        choices.0.insert(0, target(data, task));
        let precomputed = wishes.kernel.as_deref().map(str::trim) == Some("precomputed");
        let coded = match wishes.features {
            None => coded(data, exec)?,
            Some(_) => None,
        };
        let summary = Summary::new(&data.points, &data.targets);
        let layer = wishes.features.as_ref().map(|model| layer(model, wishes, &mut choices)).transpose()?;
        let (recipes, free) = match (&layer, &coded) {
            (Some(_), _) => (Vec::new(), false),
            (None, Some(coded)) => (table_scaling(wishes, data, coded, &mut choices)?, false),
            (None, None) => scaling(wishes, data, &summary, precomputed, &mut choices)?,
        };
        let (stages, points) = if let (Some(model), Some(layer)) = (&wishes.features, &layer) {
            let seen = model.decision(data.points.view(), exec)?;
            (model.stages.clone(), Cow::Owned(Points::dense(seen, layer.outputs())?))
        } else if recipes.is_empty() {
            (Stages::default(), Cow::Borrowed(&data.points))
        } else {
            let labels = data.targets.classes().ok();
            let (stages, points) = Stages::fit_with(&recipes, data.points.view(), labels, exec)?;
            (stages, Cow::Owned(points))
        };
        let (kernel, usual) = kernel(wishes, &points, &mut choices)?;
        let (gram, points) = if is_precomputed(&kernel) {
            let matrix = Matrix::new(points.view().to_f64_within(exec.memory())?, points.len())?;
            (Some(matrix), Cow::Owned(Points::row_numbers((0..points.len() as u32).collect())))
        } else {
            (None, points)
        };
        let mut notes: Vec<Note> = inexact(&kernel, &points).into_iter().collect();
        notes.extend(coded.iter().flat_map(|coded| coded.notes.iter().cloned()));
        learner.set_kernel(kernel);
        parameters(wishes, &summary.targets, data.len(), &mut learner, &mut choices)?;
        let findings = if precomputed { Vec::new() } else { summary.findings };
        let c = learner.entry().params.contains(&"c") && !wishes.params.iter().any(|(name, _)| *name == "c");
        let open = Open { scaling: free, kernel: usual, c };
        let choices = choices.0;
        Ok(Plan {
            task,
            learner,
            recipes,
            stages,
            choices,
            findings,
            notes,
            open,
            usual: None,
            data,
            points,
            gram,
            layer,
        })
    }

    /// A plan that resumes a model's interrupted fit: its stages and parameters, on the same data.
    pub fn resuming(model: &Model, data: &'a Dataset, exec: Exec) -> Result<Self> {
        if !model.layers.is_empty() || model.task() == Task::Features {
            return Err(Error::Unsupported("kernel PCA fits cannot be resumed".into()));
        }
        let kernel = model.machine.expansion.kernel().clone();
        let (points, gram) = if is_precomputed(&kernel) {
            let n = data.len();
            let matrix = Matrix::new(data.points.view().to_f64_within(exec.memory())?, n)?;
            (Cow::Owned(Points::row_numbers((0..n as u32).collect())), Some(matrix))
        } else if model.stages.is_empty() {
            (Cow::Borrowed(&data.points), None)
        } else {
            (Cow::Owned(model.stages.apply(data.points.view(), exec)?), None)
        };
        let mut learner = model.machine.learner.clone();
        // Keep the kernel that was chosen by default in the first fit.
        learner.set_kernel(kernel);
        let stages = model.stages.clone();
        Ok(Plan {
            task: model.task(),
            learner,
            recipes: Vec::new(),
            stages,
            choices: vec![
                target(data, model.task()),
                Choice {
                    what: "task".into(),
                    value: model.task().verb().into(),
                    why: Some("the model's".into()),
                },
            ],
            findings: Vec::new(),
            notes: Vec::new(),
            open: Open::default(),
            usual: None,
            data,
            points,
            gram,
            layer: None,
        })
    }

    /// Replaces the stages and the learner's parameters, with a reason.
    pub fn settle(&mut self, recipes: Vec<Recipe>, learner: Learner, why: &str, exec: Exec) -> Result<()> {
        if recipes != self.recipes {
            let labels = self.data.targets.classes().ok();
            let (stages, points) = Stages::fit_with(&recipes, self.data.points.view(), labels, exec)?;
            (self.stages, self.points, self.recipes) = (stages, Cow::Owned(points), recipes);
        }
        if let Some(kernel) = learner.kernel() {
            self.notes.retain(|note| note.kind != NoteKind::Warning);
            self.notes.extend(inexact(kernel, &self.points));
        }
        let line: Vec<String> = self.recipes.iter().map(ToString::to_string).collect();
        let line = if line.is_empty() { "none".into() } else { line.join(" | ") };
        for choice in self.choices.iter_mut().filter(|choice| choice.why.is_some()) {
            let value = match choice.what.as_str() {
                "scaling" => Some(line.clone()),
                "kernel" => learner.kernel().map(ToString::to_string),
                name @ ("c" | "lambda" | "nu") => learner.get(name).as_ref().map(shown),
                _ => None,
            };
            if let Some(value) = value {
                let why = if choice.what == "kernel" { why } else { "chosen together with the kernel" };
                (choice.value, choice.why) = (value, Some(why.to_owned()));
            }
        }
        let before = self.learner.get("c").and_then(|c| c.as_f64());
        self.usual = default_gamma(self.points.view()).map(two_digits).zip(before);
        self.learner = learner;
        Ok(())
    }

    /// Fits. If the watcher cancels, the model is the current state, with a checkpoint.
    pub fn fit(&self, exec: Exec, watch: &mut Watch<'_>) -> Result<Model> {
        self.model(self.learner.fit(self.sample(), exec, watch)?)
    }

    /// Resumes an interrupted model.
    pub fn resume(&self, from: &Model, exec: Exec, watch: &mut Watch<'_>) -> Result<Model> {
        self.model(self.learner.resume(self.sample(), &from.machine, exec, watch)?)
    }

    /// The machine's input: the points after all stages, and after features if there are any.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The data.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Whether the machine is trained on another model's features.
    pub fn is_layered(&self) -> bool {
        self.layer.is_some()
    }

    pub(super) fn sample(&self) -> Sample<'_> {
        let sample = Sample::new(&self.points, &self.data.targets);
        match &self.gram {
            Some(gram) => sample.with_gram(gram),
            None => sample,
        }
    }

    pub(super) fn model(&self, mut machine: Machine) -> Result<Model> {
        machine.info.notes.extend(self.notes.iter().cloned());
        let model = match &self.layer {
            Some(features) => Model::from(machine).behind(features.clone())?,
            None => Model::from(machine),
        };
        let names = Names {
            columns: self.data.column_names.clone().unwrap_or_default(),
            target: self.data.target_name.clone(),
            ..Names::default()
        };
        Ok(Model { stages: self.stages.clone(), names, ..model })
    }
}

/// The choices so far.
struct Choices(Vec<Choice>);

impl Choices {
    fn asked(&mut self, what: &str, value: impl Into<String>) {
        self.0.push(Choice { what: what.into(), value: value.into(), why: None });
    }

    fn chosen(&mut self, what: &str, value: impl Into<String>, why: impl Into<String>) {
        self.0.push(Choice { what: what.into(), value: value.into(), why: Some(why.into()) });
    }
}

fn learner(wishes: &Wishes, targets: &Targets, choices: &mut Choices) -> Result<(Task, Learner)> {
    let asked = wishes.learner.as_deref().map(Learner::find).transpose()?;
    let by_targets = match targets {
        Targets::Classes(_) => Task::Classification,
        Targets::Reals(_) => Task::Regression,
        Targets::None => Task::Novelty,
    };
    let task = match (wishes.task, asked) {
        (Some(task), _) => task,
        (None, Some(entry)) if entry.tasks.contains(&by_targets) => by_targets,
        (None, Some(entry)) => entry.tasks[0],
        (None, None) => by_targets,
    };
    match (wishes.task, asked) {
        (Some(task), _) => choices.asked("task", task.verb()),
        (None, Some(entry)) => {
            choices.chosen("task", task.verb(), format!("the task of {}", entry.name));
        }
        (None, None) => {
            let why = match targets {
                Targets::Classes(labels) => {
                    format!("the targets are {} classes", labels.names.len())
                }
                Targets::Reals(_) => "the targets are numbers".into(),
                Targets::None => "there are no targets".into(),
            };
            choices.chosen("task", task.verb(), why);
        }
    }
    match (task, targets) {
        (Task::Classification, Targets::Reals(_) | Targets::None) => {
            targets.classes()?;
        }
        (Task::Regression, Targets::Classes(_) | Targets::None) => {
            targets.reals()?;
        }
        _ => {}
    }
    let entry = match asked {
        Some(entry) if !entry.tasks.contains(&task) => {
            let for_it: Vec<&str> =
                Learner::ALL.iter().filter(|e| e.tasks.contains(&task)).map(|e| e.name).collect();
            let allowed = format!("one of {} to {}", for_it.join(", "), task.verb());
            return Err(Error::param("learner", entry.name, allowed));
        }
        Some(entry) => {
            choices.asked("learner", entry.name);
            entry
        }
        None => {
            let entry = Learner::ALL.iter().find(|e| e.tasks.contains(&task)).expect("one for each task");
            choices.chosen("learner", entry.name, entry.doc);
            entry
        }
    };
    if let (Task::Classification, Targets::Classes(labels), false) = (task, targets, wishes.classes) {
        let (classes, rows) = (labels.names.len(), labels.of_row.len());
        let numbers: Vec<f64> = labels.names.iter().filter_map(|name| name.trim().parse().ok()).collect();
        let (most, what) = if numbers.iter().any(|x| x.fract() != 0.0) {
            (MOST_MEASURED, "different numbers, some of them fractions".to_owned())
        } else if rows < 2 * classes {
            (MOST_MEASURED, format!("different numbers in {rows} rows"))
        } else {
            (MOST_NUMBERS, "different numbers".to_owned())
        };
        if classes > most && numbers.len() == classes {
            let got = format!("{classes} {what}");
            let expected = format!("at most {most}; are these quantities?");
            return Err(Error::mismatch(Mismatch::Amounts, "classes", got, expected));
        }
    }
    if task == Task::Classification
        && let Targets::Classes(labels) = targets
        && labels.counts().iter().filter(|&&rows| rows > 0).count() < 2
    {
        let names = labels.names.iter().zip(labels.counts()).filter(|(_, rows)| *rows > 0);
        let got = names.map(|(name, _)| format!("1, `{name}`")).next().unwrap_or_else(|| "0".into());
        let expected =
            "at least 2; --label COLUMN selects another target, --task novelty learns a single class";
        return Err(Error::shape("classes", got, expected));
    }
    Ok((task, entry.learner()))
}

/// The features of components on which a machine is trained.
fn layer(model: &Model, wishes: &Wishes, choices: &mut Choices) -> Result<Expansion> {
    let Some(kpca) = model.machine.components().ok().filter(|_| model.layers.is_empty()) else {
        let allowed = "components: `mercer pca fit` finds some";
        return Err(Error::param("features", format!("a model of kind {}", model.kind()), allowed));
    };
    if wishes.scaling != Scaling::Auto {
        return Err(Error::unused("scaling", "given", "the components have their own scaling"));
    }
    if wishes.kernel.as_deref().map(str::trim) == Some("precomputed") {
        return Err(Error::param("kernel", "precomputed", "another: features are not kernel values"));
    }
    let line = format!("{} components of {}", kpca.count(), kpca.expansion.kernel());
    choices.asked("features", line);
    kpca.layer()
}

/// The kernel, and whether it is the default.
fn kernel(wishes: &Wishes, points: &Points, choices: &mut Choices) -> Result<(Kernel, bool)> {
    let line = wishes.kernel.as_deref().map(str::trim);
    let gaussian = matches!(line, None | Some("auto" | "rbf" | "gaussian" | "gauss"));
    if let (Some(gamma), false) = (wishes.gamma, gaussian) {
        let why = "not used with a whole kernel; write it into the kernel's line";
        return Err(Error::unused("gamma", gamma, why));
    }
    if let Some(line) = line.filter(|_| !gaussian) {
        let kernel: Kernel = line.parse()?;
        choices.asked("kernel", kernel.to_string());
        return Ok((kernel, false));
    }
    if let Some(gamma) = wishes.gamma {
        let kernel = Kernel::Rbf { gamma };
        kernel.check(None)?;
        choices.asked("kernel", kernel.to_string());
        return Ok((kernel, false));
    }
    if wishes.features.is_some() && line.is_none() {
        choices.chosen("kernel", Kernel::Linear.to_string(), "the features are nonlinear already");
        return Ok((Kernel::Linear, false));
    }
    if let Some(kernel) = default_sequence_kernel(points.view()) {
        if let Some(gaussian) = line.filter(|line| *line != "auto") {
            let allowed =
                format!("a kernel for sequences, such as `{kernel}`; without one, {kernel} is used");
            return Err(Error::param("kernel", gaussian, allowed));
        }
        let why = match &kernel {
            Kernel::Normalised(of) if matches!(**of, Kernel::WeightedDegree { .. }) => {
                "all sequences have the same length: compares words at the same or nearly the same position"
            }
            _ => "sequences of different lengths: counts common words at any position",
        };
        choices.chosen("kernel", kernel.to_string(), why);
        return Ok((kernel, true));
    }
    let (gamma, why) = match default_gamma(points.view()) {
        Some(gamma) => (two_digits(gamma), "gamma = 1 / (columns x variance of all values)"),
        None => (1.0, "all values are equal: the width has no effect"),
    };
    let kernel = Kernel::Rbf { gamma };
    choices.chosen("kernel", kernel.to_string(), why);
    Ok((kernel, true))
}

fn parameters(
    wishes: &Wishes,
    targets: &TargetFacts,
    rows: usize,
    learner: &mut Learner,
    choices: &mut Choices,
) -> Result<()> {
    let entry = learner.entry();
    // Programs weigh the sum of all errors against the coefficients: with the same weights more rows give ever more
    // centres.
    let more = (rows as f64 / FEW_ROWS).max(1.0);
    let sparse = match learner {
        Learner::Kfd(params) => matches!(params.form, KfdForm::Sparse | KfdForm::Linear),
        Learner::LpMachine(_) => true,
        _ => false,
    };
    let silent = ["seed"];
    let given = |name: &str| wishes.params.iter().any(|(n, _)| *n == name);
    for (name, value) in &wishes.params {
        // Settings that every surface passes are ignored by learners that do not use them.
        if silent.contains(name) && !entry.takes(name) {
            continue;
        }
        learner.set(name, value.clone())?;
        if !silent.contains(name) {
            let what = if *name == "multi" { "multiclass" } else { name };
            choices.asked(&what.replace('_', " "), shown(value));
        }
    }
    let spread = match targets {
        TargetFacts::Reals(spread) if !spread.std.is_finite() => {
            let got = format!("values from {:e} to {:e}", spread.min, spread.max);
            return Err(Error::shape("targets", got, "values whose sum of squares is finite"));
        }
        TargetFacts::Reals(spread) if spread.std > 0.0 => Some(spread.std),
        _ => None,
    };
    for (name, factor) in [("c", 1.0), ("epsilon", 0.1), ("delta", 1.0)] {
        if !entry.params.contains(&name) || given(name) {
            continue;
        }
        if let (Learner::Svr(_), Some(std)) = (&*learner, spread) {
            let value = two_digits(factor * std);
            learner.set(name, json!(value))?;
            let why = match factor {
                1.0 => "the targets' standard deviation".to_owned(),
                _ => format!("{factor} of the targets' standard deviation"),
            };
            choices.chosen(name, short(value), why);
        } else if name == "c" && sparse && more > 1.0 {
            let value = learner.get("c").and_then(|c| c.as_f64()).map_or(1.0, |c| two_digits(c / more));
            learner.set("c", json!(value))?;
            choices.chosen("c", short(value), MANY_ROWS);
        } else if name == "c" {
            let usual = learner.get("c").as_ref().map_or_else(String::new, shown);
            choices.chosen("c", usual, c_reason(learner));
        }
    }
    if entry.params.contains(&"nu") && !given("nu") {
        let (value, why) = match learner {
            Learner::OneClass(_) | Learner::Sphere(_) | Learner::Parzen(_) => {
                (OUTLIERS, "upper bound on the fraction of outliers")
            }
            Learner::Boost(_) => (0.1, "upper bound on the fraction of rows below the margin"),
            _ => (
                0.5,
                "the usual starting value; bounds the fractions of margin errors and of support vectors",
            ),
        };
        learner.set("nu", json!(value))?;
        choices.chosen("nu", value.to_string(), why);
    }
    if entry.params.contains(&"lambda") && !given("lambda") {
        let usual = learner.get("lambda");
        match usual.as_ref().and_then(Value::as_f64) {
            Some(lambda) if sparse && more > 1.0 => {
                let value = two_digits(lambda * more);
                learner.set("lambda", json!(value))?;
                choices.chosen("lambda", short(value), MANY_ROWS);
            }
            _ => {
                let usual = usual.as_ref().map_or_else(String::new, shown);
                choices.chosen(
                    "lambda",
                    usual,
                    "the usual starting value; smaller values fit the training rows more closely",
                );
            }
        }
    }
    Ok(())
}

/// Number of rows up to which sparse programs have their usual default.
const FEW_ROWS: f64 = 500.0;
/// The reason for another default with more rows.
const MANY_ROWS: &str = "the usual starting value for 500 rows, scaled to the number of rows";

/// Rounds to two digits.
fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// The reason for the default of C.
fn c_reason(learner: &Learner) -> &'static str {
    match learner {
        Learner::Boost(_) => "the usual starting value; larger values ignore hard rows sooner",
        _ => "the usual starting value; larger values fit the training rows more closely",
    }
}

/// A parameter's value in words.
fn shown(value: &Value) -> String {
    match value {
        Value::String(word) => word.replace('_', " "),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Object(weights) => {
            let inner = weights.values().find_map(Value::as_object).unwrap_or(weights);
            let list: Vec<String> = inner.iter().map(|(name, w)| format!("{name}={}", shown(w))).collect();
            list.join(", ")
        }
        other => other.as_f64().map_or_else(|| other.to_string(), |v| v.to_string()),
    }
}

/// A number in a reason: three digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    if (1e-3..1e7).contains(&rounded.abs()) || rounded == 0.0 {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

#[cfg(test)]
mod tests;
