//! `mercer train`, `mercer novelty` and `mercer cluster`: a model from data; what nobody said is chosen from the data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mercer::assess::{Tuning, tune};
use mercer::data::io::same_place;
use mercer::data::{Dataset, Stages};
use mercer::model::{Learner, LearnerEntry, Model, Plan, Scaling, Task, Wishes};
use mercer::param::{Param, written};
use mercer::watch::{Step, Stop, Watch};
use mercer_report::{Trained, trained_page};
use serde_json::{Value, json};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::progress::Progress;
use crate::saver::Saver;
use crate::source::{self, Reading};
use crate::{interrupt, model};

/// Learn a model from data
///
/// Everything but the data can be left out. The task follows from the labels, columns are scaled where their ranges
/// differ much, and the kernel is a Gaussian as wide as the median distance between rows; what was chosen is printed with
/// its reason. Ctrl-C stops the training and keeps what there is, in MODEL or, if that exists, in MODEL.partial. A long
/// training also writes checkpoints to MODEL.partial, in case it is killed. --resume continues from either.
#[derive(Debug, Args)]
#[command(after_help = after_help(None))]
pub(crate) struct Train {
    /// What the model is for
    #[arg(long, value_name = "classify|regress|novelty", hide_possible_values = true)]
    task: Option<TaskName>,

    #[command(flatten)]
    training: Training,
}

impl Command for Train {
    const PATH: &'static [&'static str] = &["train"];

    fn files(&self) -> Result<Files, Failure> {
        self.training.files()
    }

    fn run(self, context: &Context) -> Done {
        self.training.run(self.task.map(Task::from), context)
    }
}

/// Learn what is usual, to find what is not
///
/// The same as `mercer train --task novelty`: labels are not needed and not looked at. `mercer predict` then answers 1
/// for rows like those learned from and -1 for others, and `mercer explain MODEL DATA` shows the rows least like the rest.
#[derive(Debug, Args)]
#[command(after_help = after_help(Some(Task::Novelty)))]
pub(crate) struct Novelty {
    #[command(flatten)]
    training: Training,
}

impl Command for Novelty {
    const PATH: &'static [&'static str] = &["novelty"];

    fn files(&self) -> Result<Files, Failure> {
        self.training.files()
    }

    fn run(self, context: &Context) -> Done {
        self.training.run(Some(Task::Novelty), context)
    }
}

/// Find rows that belong together
///
/// Kernel k-means: each cluster is the mean of its rows' images, and the best of several starts is kept. Labels are not needed
/// and not looked at. `mercer predict` then answers with the number of the nearest cluster.
#[derive(Debug, Args)]
#[command(after_help = after_help(Some(Task::Clustering)))]
pub(crate) struct Cluster {
    /// How many clusters
    #[arg(long, short = 'n', value_name = "N", default_value_t = 2)]
    clusters: u64,

    #[command(flatten)]
    training: Training,
}

impl Command for Cluster {
    const PATH: &'static [&'static str] = &["cluster"];

    fn files(&self) -> Result<Files, Failure> {
        self.training.files()
    }

    fn run(mut self, context: &Context) -> Done {
        self.training.learner.get_or_insert_with(|| "kmeans".into());
        self.training.set.push(("clusters".into(), self.clusters.to_string()));
        self.training.run(Some(Task::Clustering), context)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TaskName {
    Classify,
    Regress,
    Novelty,
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::Classify => Task::Classification,
            TaskName::Regress => Task::Regression,
            TaskName::Novelty => Task::Novelty,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Multiclass {
    Ovo,
    Ovr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Slack {
    Linear,
    Squared,
}

/// A factor of C for one class, or for all by their rows.
#[derive(Debug, Clone, PartialEq)]
enum ClassWeight {
    Balanced,
    Of(String, f64),
}

/// A number, or the word `auto`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum OrAuto {
    Auto,
    Value(f64),
}

impl OrAuto {
    fn value(self) -> Option<f64> {
        match self {
            OrAuto::Auto => None,
            OrAuto::Value(value) => Some(value),
        }
    }
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
struct Training {
    /// The data; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// Where the model goes [default: the data's name with .mercer]
    #[arg(long, short, value_name = "MODEL")]
    out: Option<PathBuf>,

    /// Go on with a training that was stopped, on the same data
    #[arg(long, value_name = "MODEL", conflicts_with_all = SETTINGS)]
    resume: Option<PathBuf>,

    /// Replace an existing MODEL if interrupted, and an existing MODEL.partial when starting over
    #[arg(long)]
    force: bool,

    /// Seconds between checkpoints to MODEL.partial during a long training; 0 disables them
    #[arg(long, value_name = "S", default_value_t = SAVE_EVERY, value_parser = seconds)]
    save_every: f64,

    /// Also write an HTML page with pictures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Which learner: see below
    #[arg(long, value_name = "NAME", help_heading = "Learning")]
    learner: Option<String>,

    /// The kernel: auto, rbf, linear, 'poly(degree=3)', ...: see `mercer kernel list`
    #[arg(long, short, value_name = "LINE", allow_hyphen_values = true, help_heading = "Learning")]
    kernel: Option<String>,

    /// The Gaussian's gamma; auto is 1 / the median squared distance
    #[arg(long, value_name = "G|auto", allow_negative_numbers = true, value_parser = or_auto, help_heading = "Learning")]
    gamma: Option<OrAuto>,

    /// Cost of errors; inf is the hard margin; auto searches for it, and for the kernel unless that is given, by cross-validation
    #[arg(long, short, value_name = "C|auto", allow_negative_numbers = true, value_parser = or_auto, help_heading = "Learning")]
    c: Option<OrAuto>,

    /// Seconds that such a search may take [default: 60]
    #[arg(long, value_name = "S", requires = "c", allow_negative_numbers = true, help_heading = "Learning")]
    search_seconds: Option<f64>,

    #[arg(long, value_name = "NU", allow_negative_numbers = true, help = about("nu"), help_heading = "Learning")]
    nu: Option<f64>,

    #[arg(long, value_name = "E", allow_negative_numbers = true, help = about("epsilon"), help_heading = "Learning")]
    epsilon: Option<f64>,

    #[arg(long, value_name = "D", allow_negative_numbers = true, help = about("delta"), help_heading = "Learning")]
    delta: Option<f64>,

    #[arg(long, value_name = "L", allow_negative_numbers = true, help = about("lambda"), help_heading = "Learning")]
    lambda: Option<f64>,

    /// A parameter of the learner by its name, such as centres=50; may be given again: see docs/learners.md
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true, value_parser = setting, help_heading = "Learning")]
    set: Vec<(String, String)>,

    /// Multi-class method: one-vs-one (ovo) or one-vs-rest (ovr) [default: ovo]
    #[arg(long, value_name = "ovo|ovr", hide_possible_values = true, help_heading = "Learning")]
    multiclass: Option<Multiclass>,

    /// Factor of C for a class, or `balanced`: classes weigh the same; may be given again
    #[arg(long, value_name = "NAME=W", allow_hyphen_values = true, value_parser = class_weight, help_heading = "Learning")]
    class_weight: Vec<ClassWeight>,

    /// Also learn probabilities of the classes, by cross-validation
    #[arg(long = "proba", alias = "probability", help_heading = "Learning")]
    probability: bool,

    /// Retrain on virtual support vectors made by label-preserving transformations, such as shift=1,rotate=10; for
    /// images (--image HxW)
    #[arg(long = "virtual", value_name = "LINE", help_heading = "Prior knowledge")]
    virtual_vectors: Option<String>,

    /// The kernel of the training on moved support vectors [default: the same]
    #[arg(
        long,
        value_name = "LINE",
        requires = "virtual_vectors",
        allow_hyphen_values = true,
        help_heading = "Prior knowledge"
    )]
    virtual_kernel: Option<String>,

    /// Trainings on moved support vectors, each from the one before [default: 1]
    #[arg(long, value_name = "N", requires = "virtual_vectors", help_heading = "Prior knowledge")]
    virtual_rounds: Option<u32>,

    /// Let each machine see the support vectors of all machines, not only its own: slower, sometimes better
    #[arg(long, requires = "virtual_vectors", help_heading = "Prior knowledge")]
    virtual_union: bool,

    /// What is done to columns first: auto, none, minmax, standard, unit, or a line of stages such as
    /// 'minmax(0, 1) | unit'
    #[arg(long, value_name = "HOW", help_heading = "Learning")]
    scale: Option<String>,

    /// Learn on the features of components from `mercer pca fit`; both go into one model
    #[arg(long, value_name = "MODEL", conflicts_with = "scale", help_heading = "Learning")]
    features: Option<PathBuf>,

    #[arg(long, value_name = "linear|squared", help = about("slack"), hide_possible_values = true, help_heading = "Solving")]
    slack: Option<Slack>,

    #[arg(long, value_name = "S", allow_negative_numbers = true, help = about("shift"), help_heading = "Solving")]
    shift: Option<f64>,

    #[arg(long, value_name = "T", allow_negative_numbers = true, help = about("tol"), help_heading = "Solving")]
    tol: Option<f64>,

    #[arg(long, value_name = "N", help = about("max_iter"), help_heading = "Solving")]
    max_iter: Option<u64>,

    /// Disable shrinking
    #[arg(long, help_heading = "Solving")]
    no_shrinking: bool,

    #[command(flatten)]
    reading: Reading,
}

/// Seconds between two saves of a training, where nobody says.
const SAVE_EVERY: f64 = 10.0;

/// Seconds a search for C may take, where nobody says.
const SEARCH: f64 = 60.0;

/// What a training that goes on has been told before.
const SETTINGS: [&str; 25] = [
    "set",
    "learner",
    "kernel",
    "gamma",
    "c",
    "search_seconds",
    "nu",
    "epsilon",
    "delta",
    "lambda",
    "multiclass",
    "class_weight",
    "probability",
    "scale",
    "features",
    "slack",
    "shift",
    "tol",
    "max_iter",
    "no_shrinking",
    "targets",
    "virtual_vectors",
    "virtual_kernel",
    "virtual_rounds",
    "virtual_union",
];

impl Training {
    fn run(self, task: Option<Task>, context: &Context) -> Done {
        let out = self.place()?;
        if let Some(from) = &self.resume {
            return self.go_on(from, &out, task, context);
        }
        if let Some(partial) = model::partial(&out).filter(|partial| partial.exists() && !self.force) {
            let resumes = model::read(&partial, context.exec).is_ok_and(|model| model.machine.can_resume());
            let force = "--force starts over and replaces it";
            return Err(Failure::usage(
                format!("{} holds an unfinished training", partial.display()),
                if resumes {
                    format!("--resume {} continues it; {force}", partial.display())
                } else {
                    force.to_owned()
                },
            ));
        }
        let wishes = self.wishes(task, context)?;
        let implied = wishes.learner.as_deref().map(Learner::find).transpose()?.map(|entry| entry.tasks);
        let task = task.or(match implied {
            Some([only]) => Some(*only),
            _ => None,
        });
        let data = match &wishes.features {
            Some(model) => model.arrange(self.reading.read_for(&self.file, task, context.exec)?)?,
            None => self.reading.read_for(&self.file, task, context.exec)?,
        };
        let mut plan = Plan::new(&data, &wishes, context.exec)?;
        let stopped = self.c == Some(OrAuto::Auto) && self.search(&mut plan, context)?;
        let saver = self.saver(&out, None);
        let (model, gaps) = watched(&plan, context, |watch| saver.fit(&plan, context, watch))?;
        self.finish(&data, &plan, &model, &gaps, &saver, context)?;
        if stopped { Err(Failure::search_interrupted()) } else { Ok(()) }
    }

    /// Where the model goes.
    fn place(&self) -> Result<PathBuf, Failure> {
        match (&self.out, &self.resume) {
            (Some(out), _) => Ok(out.clone()),
            (None, Some(from)) => Ok(model::whole(from)),
            (None, None) => model::file_for(&self.file),
        }
    }

    fn files(&self) -> Result<Files, Failure> {
        let out = self.place()?;
        let files = Files::none().reads([&self.file]).reads(&self.features).reads(self.reading.files());
        let partial = model::partial(&out);
        // A training that goes on may end in the file it came from.
        let own = |from: &&PathBuf| {
            [Some(&out), partial.as_ref()].into_iter().flatten().any(|p| same_place(p, from))
        };
        let files = files.reads(self.resume.as_ref().filter(|from| !own(from)));
        Ok(files.writes([&out]).writes(&partial).writes(&self.report))
    }

    fn saver<'a>(&self, out: &Path, from: Option<&'a Model>) -> Saver<'a> {
        Saver::new(out, from, self.save_every)
    }

    /// Lets cross-validation choose C and, unless it was given, the kernel. Whether Ctrl-C ended it: what was found so far
    /// is trained then.
    fn search(&self, plan: &mut Plan<'_>, context: &Context) -> Result<bool, Failure> {
        let kernels = match (self.kernel.as_deref(), self.gamma.and_then(OrAuto::value)) {
            (None | Some("auto"), None) => vec!["auto".to_owned()],
            (Some("rbf"), None) => vec!["rbf".to_owned()],
            // A whole kernel, or a width: only C is open.
            _ => plan.learner.kernel().map(ToString::to_string).into_iter().collect(),
        };
        let tuning = Tuning {
            kernels,
            two_stage: true,
            race: true,
            seed: context.seed,
            seconds: Some(self.search_seconds.unwrap_or(SEARCH)),
            ..Tuning::default()
        };
        let found = tune(plan, &tuning, context.exec, &mut Progress::new(context).watch())?;
        interrupt::again();
        Ok(found.stopped)
    }

    fn go_on(&self, from: &Path, out: &Path, task: Option<Task>, context: &Context) -> Done {
        let before = model::read(from, context.exec)?;
        if let Some(task) = task.filter(|&task| task != before.task()) {
            return Err(Failure::usage(
                format!("{} was trained to {}, not to {}", from.display(), before.task().verb(), task.verb()),
                "leave --task out: the model knows",
            ));
        }
        let data = self.reading.read_by(&self.file, &before, context.exec)?;
        let plan = Plan::resuming(&before, &data, context.exec)?;
        let saver = self.saver(out, Some(&before));
        let (model, gaps) = watched(&plan, context, |watch| saver.fit(&plan, context, watch))?;
        self.finish(&data, &plan, &model, &gaps, &saver, context)
    }

    fn finish(
        &self,
        data: &Dataset,
        plan: &Plan<'_>,
        model: &Model,
        gaps: &[(f64, f64)],
        saver: &Saver<'_>,
        context: &Context,
    ) -> Done {
        let stopped = model.info().stop == Stop::Cancelled;
        let resumed = |file: &Path| self.resume.as_ref().is_some_and(|from| same_place(from, file));
        let out = if stopped {
            model::place_of_interrupted(&saver.out, self.force || resumed(&saver.out))
        } else {
            saver.out.clone()
        };
        model.save(&out)?;
        // What was saved on the way, or gone on from, is in the model now.
        let over = |partial: &&PathBuf| **partial != out && (saver.saved() || resumed(partial));
        if let Some(partial) = saver.partial.as_ref().filter(over) {
            let _ = std::fs::remove_file(partial);
        }
        let trained = Trained::new(source::name(&self.file), data, plan, model, out.clone(), context.exec)?;
        context.tell(&trained)?;
        if let Some(file) = &self.report {
            context.write_page(file, &trained_page(&trained, model, data, gaps, context.exec)?)?;
        }
        if !stopped {
            return Ok(());
        }
        let kept =
            if out == saver.out { String::new() } else { format!("; {} is as it was", saver.out.display()) };
        Err(Failure::Interrupted {
            message: format!("interrupted: the model so far is in {}{kept}", out.display()),
            hint: model::after_interruption(model, &self.file, &out),
        })
    }

    fn wishes(&self, task: Option<Task>, context: &Context) -> Result<Wishes, Failure> {
        let scaling = scaling(self.scale.as_deref())?;
        let mut params: Vec<(&'static str, Value)> = Vec::new();
        let numbers = [
            ("c", self.c.and_then(OrAuto::value)),
            ("nu", self.nu),
            ("epsilon", self.epsilon),
            ("delta", self.delta),
            ("lambda", self.lambda),
            ("shift", self.shift),
            ("tol", self.tol),
        ];
        params.extend(numbers.into_iter().filter_map(|(name, v)| v.map(|v| (name, written(v)))));
        params.extend(self.max_iter.map(|n| ("max_iter", json!(n))));
        params.extend(self.multiclass.map(|multi| {
            let word = if multi == Multiclass::Ovr { "one_vs_rest" } else { "one_vs_one" };
            ("multi", json!(word))
        }));
        params.extend(self.slack.map(|slack| {
            let word = if slack == Slack::Squared { "squared" } else { "linear" };
            ("slack", json!(word))
        }));
        params.extend(weights(&self.class_weight)?.map(|weights| ("class_weights", weights)));
        if self.probability {
            params.push(("probability", json!(true)));
        }
        params.extend(self.virtual_vectors.as_ref().map(|line| ("virtual_vectors", json!(line))));
        params.extend(self.virtual_kernel.as_ref().map(|line| ("virtual_kernel", json!(line))));
        params.extend(self.virtual_rounds.map(|n| ("virtual_rounds", json!(n))));
        if self.virtual_union {
            params.push(("virtual_union", json!(true)));
        }
        if self.no_shrinking {
            params.push(("shrinking", json!(false)));
        }
        params.extend(passed_along(context));
        params.extend(settings(self.learner.as_deref(), &self.set)?);
        Ok(Wishes {
            task,
            learner: self.learner.clone(),
            kernel: self.kernel.clone(),
            gamma: self.gamma.and_then(OrAuto::value),
            scaling,
            features: self.features.as_deref().map(|file| model::read(file, context.exec)).transpose()?,
            params,
            classes: self.reading.insists_on_classes(),
            seed: context.seed,
        })
    }
}

/// What `--scale` asks for.
pub(super) fn scaling(line: Option<&str>) -> Result<Scaling, Failure> {
    Ok(match line {
        None | Some("auto") => Scaling::Auto,
        Some("none") => Scaling::Given(Vec::new()),
        // LIBSVM's range, because most who ask for it come from there.
        Some("minmax") => Scaling::Given(Stages::parse("minmax(-1, 1)")?),
        Some(line) => Scaling::Given(Stages::parse(line)?),
    })
}

/// A learner and scaling, and what every surface passes along.
pub(super) fn wishes_for(learner: Option<String>, scaling: Scaling, context: &Context) -> Wishes {
    Wishes { learner, scaling, params: passed_along(context), seed: context.seed, ..Wishes::default() }
}

fn passed_along(context: &Context) -> Vec<(&'static str, Value)> {
    vec![("seed", json!(context.seed))]
}

/// Runs a training under a bar that is gone afterwards; returns also the gap by the solver's steps.
fn watched(
    plan: &Plan<'_>,
    context: &Context,
    train: impl FnOnce(&mut Watch<'_>) -> mercer::Result<Model>,
) -> Result<(Model, Vec<(f64, f64)>), Failure> {
    let mut bar = Progress::new(context).until(tol_of(&plan.learner)).watch();
    let mut gaps: Vec<(f64, f64)> = Vec::new();
    // Each machine counts its steps from 0.
    let (mut before, mut last) = (0, 0);
    let model = train(&mut |step: &Step| {
        if let Some(gap) = step.gap.filter(|gap| gap.is_finite() && *gap > 0.0) {
            if step.done < last {
                before += last;
            }
            last = step.done;
            gaps.push(((before + step.done) as f64, gap));
        }
        bar(step)
    })?;
    drop(bar);
    Ok((model, thinned(gaps)))
}

/// At most about a thousand of the points: nobody sees more.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len() / 1000 + 1;
    points.into_iter().step_by(every).collect()
}

fn tol_of(learner: &Learner) -> f64 {
    learner.get("tol").and_then(|tol| tol.as_f64()).unwrap_or(1e-3)
}

fn weights(all: &[ClassWeight]) -> Result<Option<Value>, Failure> {
    let mut given = BTreeMap::new();
    for weight in all {
        match weight {
            ClassWeight::Of(name, w) => {
                given.insert(name.clone(), *w);
            }
            ClassWeight::Balanced if all.len() > 1 => {
                return Err(Failure::usage(
                    "--class-weight balanced and a class's own weight exclude each other",
                    "give one or the other",
                ));
            }
            ClassWeight::Balanced => return Ok(Some(json!("balanced"))),
        }
    }
    Ok((!given.is_empty()).then(|| json!({ "given": given })))
}

fn class_weight(text: &str) -> Result<ClassWeight, String> {
    if text == "balanced" {
        return Ok(ClassWeight::Balanced);
    }
    let wrong = || "expected NAME=WEIGHT, for example rare=10, or balanced".to_owned();
    let (name, weight) = text.rsplit_once('=').ok_or_else(wrong)?;
    Ok(ClassWeight::Of(name.to_owned(), weight.parse().map_err(|_| wrong())?))
}

fn setting(text: &str) -> Result<(String, String), String> {
    let parts =
        text.split_once('=').ok_or_else(|| "expected NAME=VALUE, for example centres=50".to_owned())?;
    Ok((parts.0.trim().to_owned(), parts.1.trim().to_owned()))
}

/// Parameters by name, as values of the kinds that the learner's table wants.
fn settings(
    learner: Option<&str>,
    given: &[(String, String)],
) -> Result<Vec<(&'static str, Value)>, Failure> {
    let Some(learner) = learner else {
        if let Some((name, _)) = given.first() {
            return Err(Failure::usage(
                format!("--set {name} needs --learner"),
                "name the learner that takes it",
            ));
        }
        return Ok(Vec::new());
    };
    let entry = Learner::find(learner)?;
    let table = entry.learner().table();
    let mut out = Vec::new();
    for (name, value) in given {
        if name == "memory" {
            return Err(Failure::usage(
                format!("{learner} has no parameter memory"),
                "--memory SIZE is the memory of the whole run",
            ));
        }
        let names = || table.iter().map(|s| s.name).filter(|n| entry.takes(n)).collect::<Vec<_>>().join(", ");
        let spec = Param::find(table, name).filter(|_| entry.takes(name)).ok_or_else(|| {
            Failure::usage(
                format!("{learner} has no parameter {name}"),
                format!("its parameters are {}", names()),
            )
        })?;
        let value = match value.parse::<f64>() {
            _ if value == "true" || value == "false" => json!(value == "true"),
            Ok(number) if number.fract() == 0.0 && number.abs() < 1e15 => json!(number as i64),
            Ok(number) => written(number),
            Err(_) => json!(value.replace('-', "_")),
        };
        out.push((spec.name, value));
    }
    Ok(out)
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|s| *s >= 0.0 && s.is_finite());
    number.ok_or_else(|| "expected a number of seconds".into())
}

fn or_auto(text: &str) -> Result<OrAuto, String> {
    match text {
        "auto" => Ok(OrAuto::Auto),
        _ => text.parse().map(OrAuto::Value).map_err(|_| "expected a number or auto".into()),
    }
}

/// A parameter's line from the learners' tables, with the learners that take it.
fn about(name: &str) -> String {
    let takers = || Learner::ALL.iter().filter(|entry| entry.takes(name));
    let spec = takers().find_map(|entry| Param::find(entry.learner().table(), name));
    let Some(spec) = spec else { return String::new() };
    let doc = spec.doc.split(" (").next().unwrap_or(spec.doc);
    let mut doc = doc.chars();
    let doc: String = doc.next().into_iter().flat_map(char::to_uppercase).chain(doc).collect();
    // What nearly all learners take needs no list.
    let names: Vec<&str> = takers().map(|entry| entry.name).collect();
    if names.len() > 6 { doc } else { format!("{doc} ({})", names.join(", ")) }
}

fn after_help(task: Option<Task>) -> String {
    let rows = Learner::ALL.iter().filter(|entry| task.is_none_or(|task| entry.tasks.contains(&task)));
    let line = |entry: &LearnerEntry| format!("  {:14} {}\n", entry.name, entry.doc);
    let list: String = rows.map(line).collect();
    let examples = match task {
        Some(Task::Clustering) => {
            "  mercer cluster flowers.csv -n 3 -o groups.mercer
  mercer cluster rings.csv -n 2 --gamma 8 --set start=spectral
  mercer predict new.csv groups.mercer"
        }
        Some(_) => {
            "  mercer novelty sensors.csv -o usual.mercer --nu 0.01
  mercer predict today.csv usual.mercer | grep -n -- -1"
        }
        None => {
            "  mercer train iris.csv
  mercer train train.svm -c 10 --gamma 0.5 --proba -o digits.mercer
  mercer train houses.csv --label price --learner huber
  mercer train iris.csv --learner kfd-greedy --set centres=20
  mercer train digits.csv --features digits.pca        (a machine behind components)
  mercer train digits.svm --image 16x16 --virtual shift=1,rotate=10
  mercer train big.svm --resume big.mercer            (after Ctrl-C)"
        }
    };
    format!("Learners:\n{list}\nExamples:\n{examples}")
}
