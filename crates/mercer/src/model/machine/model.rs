//! A whole model: stages, optional feature layers, and the machine.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Machine, Probabilities, Reject, Role, Wanted};
use crate::data::{Data, LabelType, Labels, Points, Stages, Targets, View};
use crate::error::{Error, Result};
use crate::exec::{Exec, FEW};
use crate::expansion::{Expansion, Precision};
use crate::model::common::{outputs, widened};
use crate::watch::Info;

/// A fitted model with everything needed for predictions.
///
/// ```
/// use mercer::prelude::*;
/// let (points, targets) = mercer::data::toy::banana(60, 1);
/// let machine = SvcParams::default().fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
/// let model = Model::from(machine);
/// let file = std::env::temp_dir().join(format!("mercer-doc-{}.mercer", std::process::id()));
/// model.save(&file)?;
/// let again = Model::read(&file)?;
/// assert_eq!(again.decision(points.view(), Exec::one())?, model.decision(points.view(), Exec::one())?);
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Names of columns and target in the training file, if it had any.
    pub names: Names,
    /// The stages applied to rows first.
    pub stages: Stages,
    /// Layers of kernel features applied after the stages: the multi-layer machines of Schoelkopf, Smola and Mueller
    /// 1996 (section 4.7). Usually none.
    pub layers: Vec<Expansion>,
    /// The machine.
    pub machine: Machine,
    /// Whether points may have more or fewer columns than the centres, whose missing columns count as zeros: LIBSVM's
    /// files do not contain the number of columns.
    pub any_columns: bool,
}

/// Maximum number of layers.
pub(in crate::model) const MAX_LAYERS: usize = 16;

/// Names of the training data's columns and target, and the type of the class labels.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Names {
    /// The columns in order; empty if they had no names.
    pub columns: Vec<String>,
    /// The target.
    pub target: Option<String>,
    /// The type of the class labels in a typed program; `None` for data from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelType>,
}

/// The task of a model.
///
/// ```
/// use mercer::prelude::*;
/// let entry = Learner::find("one-class")?;
/// assert_eq!(entry.tasks, [Task::Novelty]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Predicts a class.
    Classification,
    /// Predicts a number.
    Regression,
    /// Separates inliers from outliers.
    Novelty,
    /// Assigns points to clusters.
    Clustering,
    /// Turns points into features.
    Features,
}

impl Task {
    /// The task as a verb: `classify`, `regress`, `find novelties`, `find clusters`, `extract features`.
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

impl From<Machine> for Model {
    fn from(machine: Machine) -> Self {
        let (stages, names) = (Stages::default(), Names::default());
        Model { names, stages, layers: Vec::new(), machine, any_columns: false }
    }
}

impl Model {
    /// The same model on kernel features: rows are mapped to features first. Fails unless the numbers of features and
    /// columns agree.
    ///
    /// ```
    /// use mercer::data::{Labels, Points, Targets};
    /// use mercer::kernel::Kernel;
    /// use mercer::model::{KpcaParams, Model, Sample, SvcParams};
    /// use mercer::{Exec, watch};
    ///
    /// let points = Points::dense(vec![0.0, 0.1, 1.0, 1.1, 5.0, 5.2], 1)?;
    /// let labels = Labels { names: vec!["low".into(), "high".into()], of_row: vec![0, 0, 0, 0, 1, 1] };
    /// let targets = Targets::Classes(labels);
    /// let kpca = KpcaParams { components: Some(2), ..KpcaParams::default() };
    /// let kpca = kpca.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// let seen = Points::dense(kpca.decision(points.view(), Exec::one())?, 2)?;
    /// let svc = SvcParams { kernel: Some(Kernel::Linear), ..SvcParams::default() };
    /// let svc = svc.fit(Sample::new(&seen, &targets), Exec::one(), &mut watch::silent())?;
    /// let model = Model::from(svc).behind(kpca.components()?.layer()?)?;
    /// assert_eq!(model.predict(points.view(), Exec::one())?, targets);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn behind(mut self, features: Expansion) -> Result<Self> {
        let centres = self.entry().centres();
        if !centres.is_empty() && centres.dim() != features.outputs() {
            return Err(Error::shape("columns the machine sees", centres.dim(), features.outputs()));
        }
        if self.layers.len() == MAX_LAYERS {
            return Err(Error::param("layers", MAX_LAYERS + 1, format!("at most {MAX_LAYERS}")));
        }
        self.layers.insert(0, features);
        Ok(self)
    }

    /// The same model with its centres kept ready between predictions: see [`Expansion::prepared`]. For programs that
    /// predict few rows many times; predictions do not change.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{Model, Sample, SvcParams};
    /// use mercer::{Exec, watch};
    /// let (points, targets) = toy::banana(60, 1);
    /// let sample = Sample::new(&points, &targets);
    /// let model = Model::from(SvcParams::default().fit(sample, Exec::one(), &mut watch::silent())?);
    /// let ready = model.clone().prepared();
    /// for i in 0..60 {
    ///     let row = points.view().slice(i..i + 1);
    ///     assert_eq!(ready.decision(row, Exec::one())?, model.decision(row, Exec::one())?);
    /// }
    /// # Ok::<(), mercer::Error>(())
    /// ```
    #[must_use]
    pub fn prepared(mut self) -> Self {
        self.layers = self.layers.into_iter().map(Expansion::prepared).collect();
        self.machine.expansion = self.machine.expansion.prepared();
        self
    }

    /// The first expansion that rows enter: its centres have their columns.
    pub fn entry(&self) -> &Expansion {
        self.layers.first().unwrap_or(&self.machine.expansion)
    }

    pub(in crate::model) fn entry_mut(&mut self) -> &mut Expansion {
        self.layers.first_mut().unwrap_or(&mut self.machine.expansion)
    }

    /// The learner's name: see [`Machine::kind`].
    pub fn kind(&self) -> &'static str {
        self.machine.kind()
    }

    /// Its task.
    pub fn task(&self) -> Task {
        self.machine.task()
    }

    /// The classes' names in order: see [`Machine::classes`].
    pub fn classes(&self) -> Vec<String> {
        self.machine.classes()
    }

    /// k, the number of decision values per point.
    pub fn outputs(&self) -> usize {
        self.machine.outputs()
    }

    /// Statistics of the fit.
    pub fn info(&self) -> &Info {
        &self.machine.info
    }

    /// The training rows that are its centres, if known.
    pub fn support(&self) -> Option<&[u32]> {
        let rows = &self.machine.support;
        (!rows.is_empty() && self.layers.is_empty()).then_some(rows)
    }

    /// Class names or numbers for new points; stages are applied here.
    ///
    /// Under a precomputed kernel a point is the row of its kernel values against all training points.
    pub fn predict(&self, points: View<'_>, exec: Exec) -> Result<Targets> {
        self.machine.predicted(&self.decision_for_classes(points, exec)?, exec)
    }

    /// [`Model::decision`], or values from which the same classes follow.
    pub(in crate::model) fn decision_for_classes(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        if self.layers.is_empty() && !matches!(points.data, Data::F32(_)) {
            let (model, ready) = self.fitting(points, exec)?;
            if let Some(values) = model.machine.decision_for_classes(ready.view(), exec)? {
                return Ok(values);
            }
        }
        self.decision(points, exec)
    }

    /// The decision values behind [`Model::predict`], n x k row by row.
    ///
    /// Kernel values are f64; for f32 rows and a machine with bounded coefficients, without stages or layers, they
    /// are f32, which is twice as fast. Rows so close to the threshold of a one-class machine that rounding could
    /// turn them into outliers are recomputed in f64, so that nu's bound holds.
    pub fn decision(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let single = matches!(points.data, Data::F32(_)) && self.stages.is_empty() && self.layers.is_empty();
        let (model, points) = self.fitting(points, exec)?;
        if single && matches!(points, Ready::As(_)) && model.machine.has_bounded_coef() {
            let (machine, points) = (&model.machine, points.view());
            if machine.role != Role::Novelty {
                return machine.decision_in(points, Precision::F32, exec);
            }
            // The precision must not depend on the number of rows in small batches, whose values depend on no other
            // row.
            if points.n > FEW
                && let Some(values) = machine.decision_for_classes(points, exec)?
            {
                return Ok(values);
            }
        }
        let points = model.layered(points, exec)?;
        model.machine.decision(points.view(), exec)
    }

    /// A score for each point and class, n x classes row by row; larger means more likely. Fails for regression.
    pub fn class_scores(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        self.machine.scores_of(&self.decision(points, exec)?)
    }

    /// Probabilities of all classes. Fails unless this is a classifier fitted with them.
    pub fn probabilities(&self, points: View<'_>, exec: Exec) -> Result<Probabilities> {
        self.machine.probabilities_of(&self.decision(points, exec)?)
    }

    /// Squared distances of new points to the means of all clusters, n x clusters. Fails unless this is a clustering.
    pub fn cluster_distances(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let (model, points) = self.fitting(points, exec)?;
        let points = model.layered(points, exec)?;
        model.machine.cluster_distances(points.view(), exec)
    }

    /// [`Model::predict`] as indices of [`Model::classes`], with `None` for rejected rows. Fails unless this is a
    /// classifier.
    pub fn predict_or_reject(&self, points: View<'_>, exec: Exec) -> Result<Vec<Option<u32>>> {
        self.machine.unrejected(&self.decision(points, exec)?)
    }

    /// Determines and stores the reject rule of [`Model::predict_or_reject`]: see [`Machine::reject_rule`].
    pub fn set_reject(
        &mut self,
        points: View<'_>,
        labels: Option<&Labels>,
        wanted: Wanted,
        exec: Exec,
    ) -> Result<Reject> {
        let rule = self.machine.reject_rule(&self.decision(points, exec)?, labels, wanted)?;
        self.machine.reject = Some(rule);
        Ok(rule)
    }

    /// Points after the stages, and this model, adjusted to equal numbers of columns.
    pub(in crate::model) fn fitting<'a>(
        &'a self,
        points: View<'a>,
        exec: Exec,
    ) -> Result<(Cow<'a, Model>, Ready<'a>)> {
        let points = if self.stages.is_empty() {
            Ready::As(points)
        } else {
            Ready::New(self.stages.apply(points, exec)?)
        };
        let centres = self.entry().centres().view();
        let view = points.view();
        let numbers = !matches!(view.data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. });
        let precomputed = matches!(centres.data, Data::RowNumbers(_));
        if view.d == centres.d || !numbers || precomputed {
            return Ok((Cow::Borrowed(self), points));
        }
        let sparse = matches!(view.data, Data::Csr { .. });
        if view.d < centres.d && (sparse || self.any_columns) {
            let wide = widened(view, centres.d)?;
            return Ok((Cow::Borrowed(self), Ready::New(wide)));
        }
        if view.d > centres.d && self.any_columns {
            let mut model = self.clone();
            let f = model.entry_mut();
            let wide = widened(f.centres().view(), view.d)?;
            *f = Expansion::new(f.kernel().clone(), wide, f.coef().to_vec(), f.offset().to_vec())?;
            return Ok((Cow::Owned(model), points));
        }
        Err(Error::columns("columns of the points", view.d, centres.d))
    }

    /// Points after the stages and all layers, as the machine's input.
    pub(in crate::model) fn layered<'a>(&self, mut points: Ready<'a>, exec: Exec) -> Result<Ready<'a>> {
        for layer in &self.layers {
            points = Ready::New(Points::dense(outputs(layer, points.view(), exec)?, layer.outputs())?);
        }
        Ok(points)
    }
}

/// Points, borrowed or computed.
pub(in crate::model) enum Ready<'a> {
    As(View<'a>),
    New(Points),
}

impl Ready<'_> {
    pub(in crate::model) fn view(&self) -> View<'_> {
        match self {
            Ready::As(view) => *view,
            Ready::New(points) => points.view(),
        }
    }
}
