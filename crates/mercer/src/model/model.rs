//! A whole model: what happens to points first, and the machine that then sees them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data::{Data, LabelType, Labels, Points, Stages, Targets, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::model::common::widened;
use crate::model::persist::{Persist, saved_params};
use crate::model::svc::{self, Probabilities};
use crate::model::{
    FunctionModel, KpcaModel, Layered, OneClassModel, RidgeModel, SphereModel, SvcModel, SvrModel,
};
use crate::watch::Info;

/// A fitted model with everything that predicting needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What happens to points before the machine sees them.
    pub stages: Stages,
    /// The machine.
    pub body: Body,
    /// Whether points may have more or fewer columns than the centres, which are then zeros: LIBSVM's files do not say
    /// how many columns there were.
    pub any_columns: bool,
    /// What columns and target were called, where the training file said.
    pub names: Names,
}

/// What the training data called its columns and its target, and of what type the class labels were.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Names {
    /// The columns in order; empty where they had no names.
    pub columns: Vec<String>,
    /// The target.
    pub target: Option<String>,
    /// The type of the class labels, where a program with types gave them; none for data from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelType>,
}

/// The machine inside a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// Support vector classification.
    Svc(SvcModel),
    /// Support vector regression.
    Svr(SvrModel),
    /// Kernel ridge regression, or a least-squares machine.
    Ridge(RidgeModel),
    /// A one-class hyperplane.
    OneClass(OneClassModel),
    /// A sphere in feature space.
    Sphere(SphereModel),
    /// A function of one of the other learners.
    Function(FunctionModel),
    /// Kernel principal components.
    Kpca(KpcaModel),
    /// A machine behind kernel features.
    Layered(Layered),
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Predicts a class.
    Classification,
    /// Predicts a number.
    Regression,
    /// Tells points like the data from others.
    Novelty,
    /// Tells which points belong together.
    Clustering,
    /// Turns points into features.
    Features,
}

impl Task {
    /// What a model of this kind does: `classify`, `regress`, `find novelties`, `find clusters`, `extract features`.
    pub fn verb(self) -> &'static str {
        match self {
            Task::Classification => "classify",
            Task::Regression => "regress",
            Task::Novelty => "find novelties",
            Task::Clustering => "find clusters",
            Task::Features => "extract features",
        }
    }
}

/// A model in plain words and numbers, for reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// The learner: see [`Model::kind`].
    pub kind: &'static str,
    /// What it is for.
    pub task: Task,
    /// The kernel's line.
    pub kernel: String,
    /// Points the machine is written with.
    pub centres: usize,
    /// Columns of the centres.
    pub columns: usize,
    /// Outputs a point.
    pub outputs: usize,
    /// The classes' names, where there are classes.
    pub classes: Vec<String>,
    /// The stages, a line each.
    pub stages: Vec<String>,
    /// What only this learner knows, by name.
    pub facts: Vec<(&'static str, Value)>,
    /// The parameters it was fitted with; null where a custom kernel cannot be written.
    pub params: Value,
    /// How the fit went.
    pub info: Info,
}

impl From<Body> for Model {
    fn from(body: Body) -> Self {
        Model { stages: Stages::default(), body, any_columns: false, names: Names::default() }
    }
}

impl Body {
    /// The expansion all outputs come from: a machine's f, a sphere's centre.
    pub fn expansion(&self) -> &Expansion {
        match self {
            Body::Svc(m) => &m.expansion,
            Body::Svr(m) => &m.expansion,
            Body::Ridge(m) => &m.expansion,
            Body::OneClass(m) => &m.expansion,
            Body::Sphere(m) => &m.centre,
            Body::Function(m) => &m.expansion,
            Body::Kpca(m) => &m.expansion,
            Body::Layered(m) => m.then.expansion(),
        }
    }

    /// Decision values a point.
    pub(super) fn outputs(&self) -> usize {
        match self.machine() {
            Body::Function(m) => m.outputs(),
            other => other.expansion().outputs(),
        }
    }

    /// The machine itself: behind all features, where there are some.
    pub fn machine(&self) -> &Body {
        match self {
            Body::Layered(m) => m.then.machine(),
            other => other,
        }
    }

    fn machine_mut(&mut self) -> &mut Body {
        match self {
            Body::Layered(m) => m.then.machine_mut(),
            other => other,
        }
    }

    /// The expansion that points meet first: its centres have their columns.
    pub fn entry(&self) -> &Expansion {
        match self {
            Body::Layered(m) => &m.features,
            other => other.expansion(),
        }
    }

    pub(super) fn entry_mut(&mut self) -> &mut Expansion {
        match self {
            Body::Svc(m) => &mut m.expansion,
            Body::Svr(m) => &mut m.expansion,
            Body::Ridge(m) => &mut m.expansion,
            Body::OneClass(m) => &mut m.expansion,
            Body::Sphere(m) => &mut m.centre,
            Body::Function(m) => &mut m.expansion,
            Body::Kpca(m) => &mut m.expansion,
            Body::Layered(m) => &mut m.features,
        }
    }

    pub(super) fn decision(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        match self {
            Body::Svc(m) => m.decision(points, exec),
            Body::Svr(m) => m.predict(points, exec),
            Body::Ridge(m) => m.decision(points, exec),
            Body::OneClass(m) => m.decision(points, exec),
            Body::Sphere(m) => m.decision(points, exec),
            Body::Function(m) => m.decision(points, exec),
            Body::Kpca(m) => m.transform(points, exec),
            Body::Layered(m) => m.then.decision(m.apply(points, exec)?.view(), exec),
        }
    }

    pub(super) fn predict(&self, points: View<'_>, exec: Exec) -> Result<Targets> {
        match self {
            Body::Svc(m) => m.predict_labels(points, exec).map(Targets::Classes),
            Body::Svr(m) => m.predict(points, exec).map(Targets::Reals),
            Body::Ridge(m) => m.predict(points, exec),
            Body::OneClass(_) | Body::Sphere(_) => {
                let inside = self.decision(points, exec)?.into_iter().map(|v| u32::from(v > 0.0)).collect();
                Ok(Targets::Classes(Labels { names: novelty_names(), of_row: inside }))
            }
            Body::Function(m) => m.predict(points, exec),
            Body::Kpca(_) => Err(Error::Unsupported(
                "kernel principal components predict nothing: their outputs are features".into(),
            )),
            Body::Layered(m) => m.then.predict(m.apply(points, exec)?.view(), exec),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Body::Svc(_) => SvcModel::TAG,
            Body::Svr(_) => SvrModel::TAG,
            Body::Ridge(_) => RidgeModel::TAG,
            Body::OneClass(_) => OneClassModel::TAG,
            Body::Sphere(_) => SphereModel::TAG,
            Body::Function(m) => m.learner.entry().name,
            Body::Kpca(_) => KpcaModel::TAG,
            Body::Layered(m) => m.then.kind(),
        }
    }

    fn task(&self) -> Task {
        match self {
            Body::Svc(_) => Task::Classification,
            Body::Ridge(m) if m.names.is_some() => Task::Classification,
            Body::Svr(_) | Body::Ridge(_) => Task::Regression,
            Body::OneClass(_) | Body::Sphere(_) => Task::Novelty,
            Body::Function(m) => m.task(),
            Body::Kpca(_) => Task::Features,
            Body::Layered(m) => m.then.task(),
        }
    }

    fn classes(&self) -> Vec<String> {
        match self {
            Body::Svc(m) => m.classes.clone(),
            Body::Ridge(m) => m.names.clone().unwrap_or_default(),
            Body::Function(m) => m.names(),
            Body::Svr(_) | Body::Kpca(_) => Vec::new(),
            Body::OneClass(_) | Body::Sphere(_) => novelty_names(),
            Body::Layered(m) => m.then.classes(),
        }
    }

    fn info(&self) -> &Info {
        match self {
            Body::Svc(m) => &m.info,
            Body::Svr(m) => &m.info,
            Body::Ridge(m) => &m.info,
            Body::OneClass(m) => &m.info,
            Body::Sphere(m) => &m.info,
            Body::Function(m) => &m.info,
            Body::Kpca(m) => &m.info,
            Body::Layered(m) => m.then.info(),
        }
    }

    pub(super) fn info_mut(&mut self) -> &mut Info {
        match self {
            Body::Svc(m) => &mut m.info,
            Body::Svr(m) => &mut m.info,
            Body::Ridge(m) => &mut m.info,
            Body::OneClass(m) => &mut m.info,
            Body::Sphere(m) => &mut m.info,
            Body::Function(m) => &mut m.info,
            Body::Kpca(m) => &mut m.info,
            Body::Layered(m) => m.then.info_mut(),
        }
    }

    /// What only this learner knows, and what it was fitted with.
    fn facts(&self) -> (Vec<(&'static str, Value)>, Result<Value>) {
        match self {
            Body::Svc(m) => {
                let support =
                    |rows: fn(&svc::Machine) -> usize| m.machines.iter().map(rows).collect::<Vec<_>>();
                let mut facts = vec![("machines", json!(m.machines.len()))];
                // A model from elsewhere, or a compressed one, does not know its training rows.
                if !m.support.is_empty() {
                    facts.push(("support_vectors", json!(m.support.len())));
                }
                if m.machines.iter().any(|m| m.free.len() + m.bounded.len() > 0) {
                    facts.push(("free_per_machine", json!(support(|m| m.free.len()))));
                    facts.push(("bounded_per_machine", json!(support(|m| m.bounded.len()))));
                }
                let told = m.machines.iter().all(|m| m.sigmoid.is_some());
                facts.push(("probabilities", json!(told)));
                facts.extend(m.reject.map(|r| ("reject", json!(r))));
                (facts, saved_params(&m.params))
            }
            Body::Svr(m) => {
                let mut facts = vec![("loss", json!(m.params.loss.name()))];
                facts.extend((!m.support.is_empty()).then(|| ("bounded", json!(m.bounded))));
                facts.extend(m.epsilon.map(|e| ("epsilon", json!(e))));
                facts.extend(m.noise.map(|s| ("noise", json!(s))));
                (facts, saved_params(&m.params))
            }
            Body::Ridge(m) => (Vec::new(), saved_params(&m.params)),
            Body::OneClass(m) => {
                let mut facts = vec![("rho", json!(m.rho()))];
                facts.extend((!m.support.is_empty()).then(|| ("bounded", json!(m.bounded))));
                (facts, saved_params(&m.params))
            }
            Body::Sphere(m) => {
                let mut facts = vec![("radius2", json!(m.radius2))];
                facts.extend((!m.support.is_empty()).then(|| ("bounded", json!(m.bounded))));
                (facts, saved_params(&m.params))
            }
            Body::Function(m) => {
                (m.facts.iter().map(|(name, v)| (*name, json!(v))).collect(), m.learner.params())
            }
            Body::Kpca(m) => {
                let facts = vec![
                    ("components", json!(m.components())),
                    ("values", json!(m.values)),
                    ("share", json!(m.shares().iter().sum::<f64>())),
                    ("rows", json!(m.rows)),
                ];
                (facts, saved_params(&m.params))
            }
            Body::Layered(m) => {
                let (mut facts, params) = m.then.facts();
                facts.push(("features", json!(m.features.outputs())));
                facts.push(("features_kernel", json!(m.features.kernel().to_string())));
                facts.push(("features_centres", json!(m.features.len())));
                (facts, params)
            }
        }
    }
}

/// What the note of a model begins with that another library fitted and whose parameters were not told.
pub(super) const READ_FROM: &str = "read from a ";
/// The parameters that files of other libraries hold.
pub(super) const IN_FILES: [&str; 4] = ["kernel", "kind", "loss", "probability"];

/// LIBSVM's and scikit-learn's names for a point unlike the data, and for one like it.
fn novelty_names() -> Vec<String> {
    vec!["-1".into(), "1".into()]
}

impl Model {
    /// The learner's name: `svc`, `svr`, `ridge`, `one-class`, `sphere`, `kpca`, `kfd`, ...; of a machine behind features, the machine's.
    pub fn kind(&self) -> &'static str {
        self.body.kind()
    }

    /// What it is for.
    pub fn task(&self) -> Task {
        self.body.task()
    }

    /// The classes' names in order; those of novelty are `-1` (unlike the data) and `1`. Empty for regression.
    pub fn classes(&self) -> Vec<String> {
        self.body.classes()
    }

    /// k, the number of decision values a point.
    pub fn outputs(&self) -> usize {
        self.body.outputs()
    }

    /// How the fit went.
    pub fn info(&self) -> &Info {
        self.body.info()
    }

    /// Class names or numbers for new points, as they come from a file: stages are applied here.
    ///
    /// Under a precomputed kernel a point is the row of its kernel values against all training points.
    pub fn predict(&self, points: View<'_>, exec: Exec) -> Result<Targets> {
        let (body, points) = self.fitting(points, exec)?;
        body.predict(points.view(), exec)
    }

    /// The outputs behind [`Model::predict`], n x k row by row.
    pub fn decision(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let (body, points) = self.fitting(points, exec)?;
        body.decision(points.view(), exec)
    }

    /// A score for each point and class, n x classes row by row: the larger, the likelier. Fails for regression.
    pub fn class_scores(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let (body, points) = self.fitting(points, exec)?;
        let outputs = body.decision(points.view(), exec)?;
        match body.machine() {
            Body::Svc(m) => Ok(m.scores_of(&outputs)),
            Body::Kpca(_) => Err(Error::Unsupported("components have no classes".into())),
            Body::Svr(_) => Err(Error::Unsupported("a regression has no classes".into())),
            Body::Ridge(m) if m.names.is_none() => {
                Err(Error::Unsupported("a regression has no classes".into()))
            }
            Body::Function(m) if m.task() == Task::Regression => {
                Err(Error::Unsupported("a regression has no classes".into()))
            }
            // One output: positive for the second class, as in all machines for two.
            _ if self.outputs() == 1 => Ok(outputs.into_iter().flat_map(|f| [-f, f]).collect()),
            _ => Ok(outputs),
        }
    }

    /// Probabilities of all classes. Fails unless this is a classifier fitted with `probability`.
    pub fn probabilities(&self, points: View<'_>, exec: Exec) -> Result<Probabilities> {
        let (body, points) = self.fitting(points, exec)?;
        let (body, points) = behind(body.as_ref(), points, exec)?;
        match body {
            Body::Svc(m) => m.probabilities(points.view(), exec),
            Body::Function(m) => m.probabilities(points.view(), exec),
            _ => Err(Error::Unsupported(format!("a model of kind {} has no probabilities", self.kind()))),
        }
    }

    /// Squared distances of new points to the means of all clusters, n x clusters. Fails unless this is a clustering.
    pub fn cluster_distances(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let (body, points) = self.fitting(points, exec)?;
        let (body, points) = behind(body.as_ref(), points, exec)?;
        match body {
            Body::Function(m) => m.cluster_distances(points.view(), exec),
            _ => Err(Error::Unsupported(format!("a model of kind {} has no clusters", self.kind()))),
        }
    }

    /// [`Model::predict`] as numbers of [`Model::classes`], with nothing where the reject rule says that the two largest
    /// outputs are too near each other. Fails unless this is a support vector classifier.
    pub fn predict_or_reject(&self, points: View<'_>, exec: Exec) -> Result<Vec<Option<u32>>> {
        let (body, points) = self.fitting(points, exec)?;
        let (body, points) = behind(body.as_ref(), points, exec)?;
        match body {
            Body::Svc(m) => m.predict_or_reject(points.view(), exec),
            _ => Err(Error::Unsupported(format!("a model of kind {} has no reject rule", self.kind()))),
        }
    }

    /// Makes the reject rule of [`Model::predict_or_reject`] and keeps it. Without labels only a share of rows to reject
    /// can be asked for. Fails unless this is a support vector classifier.
    pub fn set_reject(
        &mut self,
        points: View<'_>,
        labels: Option<&Labels>,
        wanted: svc::Wanted,
        exec: Exec,
    ) -> Result<svc::Reject> {
        let (body, points) = self.fitting(points, exec)?;
        let (body, points) = behind(body.as_ref(), points, exec)?;
        let Body::Svc(machine) = body else {
            return Err(Error::Unsupported(format!("a model of kind {} has no reject rule", self.kind())));
        };
        let rule = match (labels, wanted) {
            (Some(labels), _) => machine.clone().set_reject(points.view(), labels, wanted, exec)?,
            (None, svc::Wanted::Rejected(_)) => {
                let gaps = machine.gaps(points.view(), exec)?;
                svc::Reject::fit(&gaps, &vec![true; gaps.len()], wanted)?
            }
            (None, svc::Wanted::Error(_)) => {
                return Err(Error::shape("labels to make the reject rule on", "none", "one a row"));
            }
        };
        if let Body::Svc(machine) = self.body.machine_mut() {
            machine.reject = Some(rule);
        }
        Ok(rule)
    }

    /// Points after the stages and a machine whose centres have as many columns.
    pub(super) fn fitting<'a>(&'a self, points: View<'a>, exec: Exec) -> Result<(Cow<'a, Body>, Ready<'a>)> {
        let points = if self.stages.is_empty() {
            Ready::As(points)
        } else {
            Ready::New(self.stages.apply(points, exec)?)
        };
        let centres = self.body.entry().centres().view();
        let view = points.view();
        let numbers = !matches!(view.data, Data::Sequences { .. } | Data::RowNumbers(_));
        let precomputed = matches!(centres.data, Data::RowNumbers(_));
        if view.d == centres.d || !numbers || precomputed {
            return Ok((Cow::Borrowed(&self.body), points));
        }
        let sparse = matches!(view.data, Data::Csr { .. });
        if view.d < centres.d && (sparse || self.any_columns) {
            let wide = widened(view, centres.d)?;
            return Ok((Cow::Borrowed(&self.body), Ready::New(wide)));
        }
        if view.d > centres.d && self.any_columns {
            let mut body = self.body.clone();
            let f = body.entry_mut();
            let wide = widened(f.centres().view(), view.d)?;
            *f = Expansion::new(f.kernel().clone(), wide, f.coef().to_vec(), f.offset().to_vec())?;
            return Ok((Cow::Owned(body), points));
        }
        Err(Error::shape("columns of the points", view.d, centres.d))
    }

    /// The model in plain words and numbers.
    pub fn describe(&self) -> Description {
        let f = self.body.expansion();
        let (facts, params) = self.body.facts();
        Description {
            kind: self.kind(),
            task: self.task(),
            kernel: f.kernel().to_string(),
            centres: f.len(),
            columns: f.centres().dim(),
            outputs: self.outputs(),
            classes: self.classes(),
            stages: self.stages.list.iter().map(crate::data::Stage::describe).collect(),
            facts,
            params: self.known(params.unwrap_or(Value::Null)),
            info: self.info().clone(),
        }
    }

    /// Whether the parameters it was fitted with are known. Of a model that another library fitted and wrote, only those
    /// are that its file holds; the others are the defaults of this library, and no facts.
    pub fn params_known(&self) -> bool {
        !self.info().notes.iter().any(|note| note.starts_with(READ_FROM))
    }

    /// Parameters without those that nobody knows.
    fn known(&self, params: Value) -> Value {
        match params {
            Value::Object(all) if !self.params_known() => {
                Value::Object(all.into_iter().filter(|(name, _)| IN_FILES.contains(&name.as_str())).collect())
            }
            params => params,
        }
    }
}

/// The machine behind all features, and the points as it sees them.
fn behind<'a>(body: &'a Body, points: Ready<'a>, exec: Exec) -> Result<(&'a Body, Ready<'a>)> {
    match body {
        Body::Layered(m) => behind(&m.then, Ready::New(m.apply(points.view(), exec)?), exec),
        other => Ok((other, points)),
    }
}

/// Points as they came, or made anew.
pub(super) enum Ready<'a> {
    As(View<'a>),
    New(Points),
}

impl Ready<'_> {
    pub(super) fn view(&self) -> View<'_> {
        match self {
            Ready::As(view) => *view,
            Ready::New(points) => points.view(),
        }
    }
}
