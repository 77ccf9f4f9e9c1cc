//! Mercer's side of the comparison of classifiers: the requests `peers/svm.py` answers for the others.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use mercer::assess::{Splits, cross_validate, usual_metric};
use mercer::data::io::{self, Outside, ReadOptions, Storage, TargetKind};
use mercer::data::{Csr, Data, Dataset, ImageShape, Labels, Points, Stages};
use mercer::expansion::Precision;
use mercer::gram::{self, Matrix};
use mercer::model::svc::Multi;
use mercer::model::{self, Learner, Sample, SvcParams, SvrParams, Task};
use mercer::{kernel::Kernel, watch};
use serde_json::{Value, json};

use crate::serve::{exec, number, text, timed};

/// What is held between requests.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    sets: Option<(Dataset, Dataset)>,
    model: Option<model::Machine>,
    /// Kernel values of the test rows against the training rows, for a machine that was given a matrix.
    matrix: Option<Points>,
}

impl Machine {
    /// Rows and labels from the files all sides read.
    pub(crate) fn load(&mut self, request: &Value) -> Result<Value> {
        let read = |x: &str, y: &str| -> Result<Dataset> {
            let options = ReadOptions {
                storage: Storage::F32,
                targets: if request["numbers"] == true { TargetKind::Reals } else { TargetKind::Classes },
                labels: Some(Path::new(text(request, y)?).to_path_buf()),
                ..ReadOptions::default()
            };
            let data = io::read(Path::new(text(request, x)?), &options)?;
            if request["sparse"] == true {
                Ok(Dataset::new(sparse(&data.points)?, data.targets)?)
            } else {
                Ok(data)
            }
        };
        self.sets = Some((read("x", "y")?, read("test_x", "test_y")?));
        Ok(json!({}))
    }

    /// A Gaussian machine, one against one; `rows` takes the first so many.
    pub(crate) fn fit(&mut self, request: &Value) -> Result<Value> {
        let (train, _) = self.sets.as_ref().context("nothing was loaded")?;
        let few = request["rows"].as_u64().map(|n| train.gather(&(0..n as usize).collect::<Vec<_>>()));
        let train = few.as_ref().unwrap_or(train);
        let params = SvcParams {
            kernel: Some(Kernel::Rbf { gamma: number(request, "gamma")? }),
            c: number(request, "c")?,
            tol: number(request, "tol")?,
            ..SvcParams::default()
        };
        let sample = Sample::new(&train.points, &train.targets);
        let (model, mut answer) = timed(|| params.fit(sample, exec(), &mut watch::silent()));
        let model = model?;
        answer["sv"] = json!(model.support.len());
        answer["kernel_values"] = json!(model.info.kernel_values);
        answer["iterations"] = json!(model.info.iterations);
        self.model = Some(model);
        Ok(answer)
    }

    /// Any learner by its name, kernel and parameters. Of these `folds` asks for a cross-validation instead of a fit, and
    /// `gamma` is the width of a matrix that is given.
    pub(crate) fn learn(&mut self, request: &Value) -> Result<Value> {
        let (train, test) = self.sets.as_ref().context("nothing was loaded")?;
        let mut learner = Learner::find(text(request, "learner")?)?.learner();
        let kernel: Kernel = text(request, "kernel")?.parse()?;
        learner.set_kernel(kernel.clone());
        for (name, value) in request["set"].as_object().context("a request without `set`")? {
            if name != "folds" && name != "gamma" {
                learner.set(name, value.clone())?;
            }
        }
        if let Some(folds) = request["set"]["folds"].as_u64() {
            let folds = Splits::Folds { folds: folds as usize, times: 1 }.folds(train, 0)?;
            let metric = usual_metric(&train.targets);
            let (score, mut answer) =
                timed(|| cross_validate(train, &[], &learner, &folds, metric, exec(), &mut watch::silent()));
            answer["error_percent"] = json!(100.0 * score?.mean);
            return Ok(answer);
        }
        let (given, numbers);
        let mut sample = Sample::new(&train.points, &train.targets);
        if kernel == Kernel::Precomputed {
            let gaussian = Kernel::Rbf { gamma: number(&request["set"], "gamma")? };
            given = Matrix::of(&gaussian, train.points.view(), exec())?;
            numbers = Points::row_numbers((0..train.len() as u32).collect());
            sample = Sample::new(&numbers, &train.targets).with_gram(&given);
            let cross = gram::cross::<f64>(&gaussian, test.points.view(), train.points.view(), exec())?;
            self.matrix = Some(Points::dense(cross.to_vec(), train.len())?);
        }
        let (model, mut answer) = timed(|| learner.fit(sample, exec(), &mut watch::silent()));
        let model = model?;
        answer["sv"] = json!(model.support.len());
        answer["iterations"] = json!(model.info.iterations);
        answer["notes"] = json!(model.info.notes);
        self.model = Some(model);
        Ok(answer)
    }

    /// A machine for large data on a file that is read in blocks, within so many bytes of memory.
    pub(crate) fn learn_file(request: &Value) -> Result<Value> {
        let exec = exec().with_memory(request["memory"].as_u64().context("a request without `memory`")?);
        let options = |y: &str| -> Result<ReadOptions> {
            let labels = Some(text(request, y)?.into());
            Ok(ReadOptions { labels, targets: TargetKind::Reals, ..ReadOptions::default() })
        };
        let file = Path::new(text(request, "x")?);
        let mut learner = Learner::find("large")?.learner();
        learner.set_kernel(text(request, "kernel")?.parse()?);
        for (name, value) in request["set"].as_object().context("a request without `set`")? {
            learner.set(name, value.clone())?;
        }
        let Learner::Large(params) = learner else { bail!("large is not in the table") };
        let options_of_rows = options("y")?;
        let (model, mut answer) = timed(|| -> Result<_> {
            let mut watch = watch::silent();
            let outside = Outside::open(file, &options_of_rows, 0, exec, 0, &mut watch)?;
            let outside = outside.context("rows cannot be read in blocks")?;
            let folder = file.parent().context("a file without a folder")?;
            let source = outside.source(&Stages::default(), folder, exec, &mut watch)?;
            Ok(params.fit_source(source.as_ref(), exec, &mut watch)?)
        });
        let model = model?;
        answer["iterations"] = json!(model.info.iterations);
        let test = io::read(Path::new(text(request, "test_x")?), &options("test_y")?)?;
        let told = model.decision(test.points.view(), exec)?;
        let squares: f64 = told.iter().zip(test.targets.reals()?).map(|(a, b)| (a - b).powi(2)).sum();
        answer["mse"] = json!(squares / told.len() as f64);
        Ok(answer)
    }

    /// What the test rows are, and how well that was told.
    pub(crate) fn answer(&self) -> Result<Value> {
        let (_, test) = self.sets.as_ref().context("nothing was loaded")?;
        let model = self.model.as_ref().context("nothing was fitted")?;
        let rows = self.matrix.as_ref().unwrap_or(&test.points).view();
        if model.has_probabilities() {
            let (told, mut answer) = timed(|| model.probabilities(rows, exec()));
            let (told, truth) = (told?, test.targets.classes()?);
            let best = |row: &[f64]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
            let classes = model.classes();
            let lines = told.values.chunks(classes.len()).enumerate();
            let wrong = lines.filter(|(i, row)| classes[best(row)] != truth.name_of(*i)).count();
            answer["error_percent"] = json!(100.0 * wrong as f64 / test.len() as f64);
            return Ok(answer);
        }
        let (told, mut answer) = timed(|| {
            let values = model.decision_in(rows, Precision::F32, exec())?;
            model.predicted(&values, exec())
        });
        let told = told?;
        if model.task() == Task::Novelty {
            let labels = told.classes()?;
            let out = (0..labels.len()).filter(|&i| labels.name_of(i) == "-1").count();
            answer["outside_percent"] = json!(100.0 * out as f64 / labels.len() as f64);
        } else if let (Ok(told), Ok(truth)) = (told.reals(), test.targets.reals()) {
            let squares: f64 = told.iter().zip(truth).map(|(a, b)| (a - b).powi(2)).sum();
            answer["mse"] = json!(squares / told.len() as f64);
        } else {
            let (told, truth) = (told.classes()?, test.targets.classes()?);
            let wrong = (0..told.len()).filter(|&i| told.name_of(i) != truth.name_of(i)).count();
            answer["error_percent"] = json!(100.0 * wrong as f64 / told.len() as f64);
        }
        Ok(answer)
    }

    /// Rows and numbers to regress on.
    pub(crate) fn load_numbers(&mut self, request: &Value) -> Result<Value> {
        let options = ReadOptions {
            storage: Storage::F32,
            targets: TargetKind::Reals,
            labels: Some(Path::new(text(request, "y")?).to_path_buf()),
            ..ReadOptions::default()
        };
        let data = io::read(Path::new(text(request, "x")?), &options)?;
        self.sets = Some((data.clone(), data));
        Ok(json!({}))
    }

    /// A Gaussian regression with an insensitive zone.
    pub(crate) fn regress(&mut self, request: &Value) -> Result<Value> {
        let (train, _) = self.sets.as_ref().context("nothing was loaded")?;
        let params = SvrParams {
            kernel: Some(Kernel::Rbf { gamma: number(request, "gamma")? }),
            c: number(request, "c")?,
            epsilon: number(request, "epsilon")?,
            tol: number(request, "tol")?,
            ..SvrParams::default()
        };
        let sample = Sample::new(&train.points, &train.targets);
        let (model, mut answer) = timed(|| params.fit(sample, exec(), &mut watch::silent()));
        let model = model?;
        answer["sv"] = json!(model.support.len());
        self.model = Some(model);
        Ok(answer)
    }

    /// Ten machines on square images, one against the rest, by the lines of a kernel and of transformations, if any.
    pub(crate) fn digits(&self, request: &Value) -> Result<Value> {
        let (train, test) = self.sets.as_ref().context("nothing was loaded")?;
        let side = number(request, "side")? as usize;
        let points = train.points.clone().with_image(ImageShape::grey(side, side))?;
        let params = SvcParams {
            kernel: Some(text(request, "kernel")?.parse()?),
            c: number(request, "c")?,
            multi: Multi::OneVsRest,
            virtual_vectors: text(request, "virtual")?.to_owned().try_into()?,
            ..SvcParams::default()
        };
        let sample = Sample::new(&points, &train.targets);
        let (model, mut answer) = timed(|| params.fit(sample, exec(), &mut watch::silent()));
        let (model, truth) = (model?, test.targets.classes()?);
        let told = model.labels(test.points.view(), exec())?;
        let wrong = (0..told.len()).filter(|&i| told.name_of(i) != truth.name_of(i)).count();
        answer["error_percent"] = json!(100.0 * wrong as f64 / told.len().max(1) as f64);
        Ok(answer)
    }

    /// Labels of the test rows, written for the driver to compare.
    pub(crate) fn predict(&self, request: &Value) -> Result<Value> {
        let (_, test) = self.sets.as_ref().context("nothing was loaded")?;
        let model = self.model.as_ref().context("nothing was fitted")?;
        let precision = if request["dtype"] == "float64" { Precision::F64 } else { Precision::F32 };
        let (classes, mut answer) = timed(|| {
            model.decision_in(test.points.view(), precision, exec()).map(|outputs| model.classes_of(&outputs))
        });
        let labels = Labels { names: model.classes(), of_row: classes? };
        let truth = test.targets.classes()?;
        let wrong = (0..labels.len()).filter(|&i| labels.name_of(i) != truth.name_of(i)).count();
        answer["error_percent"] = json!(100.0 * wrong as f64 / labels.len() as f64);
        let numbers: Vec<f64> =
            (0..labels.len()).map(|i| labels.name_of(i).parse()).collect::<Result<_, _>>()?;
        let points = Points::dense(numbers, 1)?;
        io::write(Path::new(text(request, "out")?), &Dataset::new(points, mercer::data::Targets::None)?)?;
        Ok(answer)
    }

    /// Each pair's dual objective, as the machine has it.
    pub(crate) fn objective(&self) -> Result<Value> {
        let model = self.model.as_ref().context("nothing was fitted")?;
        let classes = model.classes();
        let number = |class: u32| -> Result<i64> { Ok(classes[class as usize].parse::<f64>()? as i64) };
        let mut pairs = BTreeMap::new();
        for (part, sides) in model.parts.iter().zip(model.sides()) {
            let (a, b) = (number(sides.negative.context("one against one")?)?, number(sides.positive)?);
            pairs.insert(format!("{},{}", a.min(b), a.max(b)), part.objective);
        }
        Ok(json!({ "objective": pairs }))
    }
}

/// The same rows without their zeros.
fn sparse(points: &Points) -> Result<Points> {
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in points.view().to_f64()?.chunks(points.dim().max(1)) {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(c as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    Ok(Points::sparse(csr, points.dim())?)
}

/// Labels that a side has written.
pub(crate) fn labels(path: &Path) -> Result<Vec<f64>> {
    let data = io::read(
        path,
        &ReadOptions { storage: Storage::F64, targets: TargetKind::None, ..ReadOptions::default() },
    )?;
    match data.points.view().data {
        Data::F64(values) => Ok(values.to_vec()),
        _ => anyhow::bail!("{} holds no numbers", path.display()),
    }
}
