//! What a model can be asked for, by name, and how it is computed: one call of the library for all rows of a batch.

use axum::http::HeaderValue;
use mercer::data::{Dataset, Points, Targets, View};
use mercer::model::{Model, Prediction, Query, Rejection, Task};
use mercer::reduce::preimage::PreimageParams;
use mercer::watch::{self, Note, NoteKind};
use mercer::{Exec, Result};

use crate::error::shortened;

/// A named output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// The class, the cluster, 1 or -1 for novelty, or the number.
    Label,
    /// Decision values.
    Decision,
    /// Probabilities of the classes.
    Probability,
    /// A score for each class.
    Score,
    /// Kernel principal components.
    Features,
    /// Squared distances to the means of the clusters.
    Distance,
    /// Whether the model's reject rule rejects the row.
    Rejected,
    /// The pre-image of the row's projection onto the components.
    Denoised,
}

impl Output {
    /// All of them.
    pub const ALL: &'static [Output] = &[
        Output::Label,
        Output::Decision,
        Output::Probability,
        Output::Score,
        Output::Features,
        Output::Distance,
        Output::Rejected,
        Output::Denoised,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Output::Label => "label",
            Output::Decision => "decision",
            Output::Probability => "probability",
            Output::Score => "score",
            Output::Features => "features",
            Output::Distance => "distance",
            Output::Rejected => "rejected",
            Output::Denoised => "denoised",
        }
    }

    /// The output of a name.
    pub fn find(name: &str) -> Option<Output> {
        Output::ALL.iter().copied().find(|output| output.name() == name)
    }

    /// Values per row; 0 where the number of columns is not known before.
    pub fn width(self, model: &Model) -> usize {
        match self {
            Output::Label | Output::Rejected => 1,
            Output::Decision | Output::Features => model.outputs(),
            Output::Probability | Output::Score | Output::Distance => model.classes().len(),
            Output::Denoised => model.columns().unwrap_or(0),
        }
    }
}

/// Outputs that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wanted(u16);

impl Wanted {
    /// The same and one more.
    #[must_use]
    pub(crate) fn with(self, output: Output) -> Self {
        Wanted(self.0 | 1 << output as u16)
    }

    /// Whether an output is wanted.
    pub(crate) fn has(self, output: Output) -> bool {
        self.0 & (1 << output as u16) != 0
    }

    /// A number below 2 to the power of the number of outputs.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// What either wants.
    #[must_use]
    pub(crate) fn or(self, other: Wanted) -> Self {
        Wanted(self.0 | other.0)
    }
}

impl FromIterator<Output> for Wanted {
    fn from_iter<I: IntoIterator<Item = Output>>(outputs: I) -> Self {
        outputs.into_iter().fold(Wanted::default(), Wanted::with)
    }
}

/// What a model can be asked for.
pub(crate) fn offered(model: &Model) -> Vec<Output> {
    let mut all = match model.task() {
        Task::Features => vec![Output::Features],
        Task::Regression => vec![Output::Label, Output::Decision],
        Task::Classification | Task::Novelty => vec![Output::Label, Output::Decision, Output::Score],
        Task::Clustering => vec![Output::Label, Output::Decision, Output::Score, Output::Distance],
    };
    if model.machine.has_probabilities() {
        all.push(Output::Probability);
    }
    if model.machine.reject.is_some() {
        all.push(Output::Rejected);
    }
    let numbers = model.entry().centres().view().is_numbers();
    if model.task() == Task::Features && numbers && model.stages.is_empty() && model.layers.is_empty() {
        all.push(Output::Denoised);
    }
    all.sort();
    all
}

/// Warnings that a response has room for, and their characters: clients take heads of a few kilobytes.
const MOST_WARNINGS: usize = 8;
const LONGEST_WARNING: usize = 400;

/// The header of a warning.
pub(crate) const WARNING: &str = "x-mercer-warning";

/// Rows of a request.
#[derive(Debug, Clone)]
pub enum Rows {
    /// Points whose columns are the model's, in order.
    Points(Points),
    /// Data that a reader gave, arranged for the model.
    Data(Box<Dataset>),
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.points().len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a reader warns of, as headers of the response say it.
    pub(crate) fn warnings(&self) -> Vec<HeaderValue> {
        let Rows::Data(data) = self else { return Vec::new() };
        let warnings = data.notes.iter().filter(|note| note.kind == NoteKind::Warning);
        let text = |note: &Note| {
            let text = shortened(&note.text, LONGEST_WARNING).escape_default().to_string();
            HeaderValue::from_str(&text).ok()
        };
        warnings.filter_map(text).take(MOST_WARNINGS).collect()
    }

    /// The points.
    pub fn points(&self) -> &Points {
        match self {
            Rows::Points(points) => points,
            Rows::Data(data) => &data.points,
        }
    }
}

/// What was computed for some rows.
#[derive(Debug, Clone)]
pub(crate) struct Computed {
    /// Predictions, decision values, scores, probabilities, rejected rows.
    pub prediction: Prediction,
    /// Squared distances, rows x clusters.
    pub distance: Option<Vec<f64>>,
    /// Denoised rows.
    pub denoised: Option<Vec<f64>>,
}

/// Computes what is wanted.
pub(crate) fn compute(model: &Model, points: View<'_>, wanted: Wanted, exec: Exec) -> Result<Computed> {
    let query = Query {
        predictions: wanted.has(Output::Label),
        decision: wanted.has(Output::Decision) || wanted.has(Output::Features),
        scores: wanted.has(Output::Score),
        probabilities: wanted.has(Output::Probability),
        reject: if wanted.has(Output::Rejected) { Rejection::Own } else { Rejection::Never },
    };
    let prediction = if query == Query::NOTHING {
        Prediction {
            rows: points.n,
            targets: Targets::None,
            decision: None,
            scores: None,
            probabilities: None,
            rejected: Vec::new(),
            reject: None,
        }
    } else {
        model.predict_rows(points, &query, exec)?
    };
    let distance = wanted.has(Output::Distance).then(|| model.cluster_distances(points, exec)).transpose()?;
    let denoised = wanted.has(Output::Denoised).then(|| denoise(model, points, exec)).transpose()?;
    Ok(Computed { prediction, distance, denoised })
}

/// As `mercer denoise --model` does it: by all components.
fn denoise(model: &Model, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
    let components = model.machine.components()?;
    let (used, back) = (components.count(), PreimageParams::default());
    let found = components.denoise(points, used, &back, exec, &mut watch::silent())?;
    found.points.view().to_f64_within(exec.memory())
}

impl Computed {
    /// The values of an output in some rows; labels and rejected rows are no values.
    pub(crate) fn values(&self, output: Output, rows: &std::ops::Range<usize>) -> &[f64] {
        let found = &self.prediction;
        let all: Option<&[f64]> = match output {
            Output::Label => match &found.targets {
                Targets::Reals(values) => Some(values),
                _ => None,
            },
            Output::Decision | Output::Features => found.decision.as_deref(),
            Output::Score => found.scores.as_deref(),
            Output::Probability => found.probabilities.as_ref().map(|p| p.values.as_slice()),
            Output::Distance => self.distance.as_deref(),
            Output::Denoised => self.denoised.as_deref(),
            Output::Rejected => None,
        };
        let Some(all) = all else { return &[] };
        let width = all.len().checked_div(found.rows).unwrap_or(0);
        &all[rows.start * width..rows.end * width]
    }
}
