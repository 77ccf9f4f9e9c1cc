//! A two-class machine with its training rows, the input of all bounds in this folder.
//!
//! ```text
//! f(x) = sum_i c_i k(x_i, x) + b,   c_i = y_i alpha_i;    y_i f(x_i) + s_i alpha_i = 1 for rows on the margin
//! ```
//!
//! where s is what training added to the kernel matrix's diagonal (`shift`, squared slack). A machine with a linear
//! kernel stores one weight vector and no coefficients; these are recovered by another fit with the same parameters.

use crate::data::{Labels, Points};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::{self, KernelRows, Rows};
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::Sample;
use crate::model::svc::{Kind, Slack, SvcParams};
use crate::watch::Watch;

/// Allowed distance of margin rows from the margin, absolute and in tolerances, before the data is refused as not the
/// training data.
const OFF: (f64, f64) = (0.05, 20.0);

/// A two-class machine and its training rows.
#[derive(Debug)]
pub struct TrainedMachine<'a> {
    /// The sample's rows that the machine was trained on.
    pub index: Vec<u32>,
    /// y: +1 for the class of f > 0, else -1.
    pub label: Vec<f64>,
    /// c; 0 for rows that are not support vectors.
    pub coef: Vec<f64>,
    /// Whether a row's coefficient is at its bound.
    pub bounded: Vec<bool>,
    /// s, what training added to the diagonal.
    pub shift: Vec<f64>,
    /// f at the rows.
    pub output: Vec<f64>,
    /// b.
    pub offset: f64,
    source: Source<'a>,
}

/// Source of kernel values.
#[derive(Debug)]
enum Source<'a> {
    Points(Kernel, Points),
    Gram(&'a dyn Rows),
}

impl<'a> TrainedMachine<'a> {
    /// All machines of a classifier, with the sample it was fitted on (the same rows in the same order, after all
    /// stages).
    ///
    /// Fails if the sample is not the training sample, as far as this can be detected: by the number of rows, or by
    /// margin rows that are not on the margin.
    pub fn all(
        model: &Machine,
        sample: Sample<'a>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<TrainedMachine<'a>>> {
        let labels = by_model(model, sample.targets.classes()?)?;
        let params = model.svc().ok_or_else(|| {
            Error::Unsupported(format!("a model of kind {} is not a support vector classifier", model.kind()))
        })?;
        if model.expansion.len() == model.support.len() {
            return of_expansion(model, params, sample, &labels, exec);
        }
        if *model.expansion.kernel() != Kernel::Linear || model.support.is_empty() {
            let why = "this model no longer has the coefficients of its training rows: it was compressed, or read \
                       from a file in another format";
            return Err(Error::Unsupported(why.into()));
        }
        // The same kernel under another name, whose machines keep their coefficients.
        let plain = Kernel::Poly { degree: 1, scale: 1.0, coef0: 0.0 };
        let params = SvcParams { kernel: Some(plain), probability: false, ..params.clone() };
        let again = params.fit(sample, exec, watch)?;
        of_expansion(&again, &params, sample, &labels, exec)
    }

    /// n, the number of the machine's rows.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Indices, among the machine's rows, of its support vectors.
    pub fn support(&self) -> Vec<usize> {
        (0..self.len()).filter(|&i| self.coef[i] != 0.0).collect()
    }

    /// The share of misclassified rows.
    pub fn training_error(&self) -> f64 {
        self.training_errors() as f64 / self.len().max(1) as f64
    }

    /// The number of misclassified rows.
    pub fn training_errors(&self) -> usize {
        self.label.iter().zip(&self.output).filter(|(y, f)| **y * **f <= 0.0).count()
    }

    /// |w|^2, in the feature space in which the machine has no errors where the diagonal was shifted.
    pub fn norm2(&self) -> f64 {
        self.support()
            .into_iter()
            .map(|i| self.coef[i] * (self.output[i] - self.offset + self.shift[i] * self.coef[i]))
            .sum::<f64>()
            .max(0.0)
    }

    /// Calls a function with the kernel matrix of the machine's rows.
    pub fn on_rows<T>(&self, exec: Exec, call: impl FnOnce(&dyn Rows) -> Result<T>) -> Result<T> {
        match &self.source {
            Source::Points(kernel, points) => call(&KernelRows::new(kernel, points, exec)?),
            // The whole matrix needs no copy.
            Source::Gram(rows) if self.len() == rows.len() => call(*rows),
            Source::Gram(rows) => call(rows.subset(&self.index).as_ref()),
        }
    }

    /// Kernel values in f64 between some of the machine's rows, given by index, row by row.
    pub fn values(&self, places: &[usize], exec: Exec) -> Result<Vec<f64>> {
        match &self.source {
            Source::Points(kernel, points) => {
                Ok(gram::square::<f64>(kernel, points.gather(places).view(), exec)?.to_vec())
            }
            Source::Gram(rows) => {
                let keep: Vec<u32> = places.iter().map(|&p| self.index[p]).collect();
                Ok(gram::exact(rows.subset(&keep).as_ref(), exec))
            }
        }
    }
}

/// The labels with the model's numbering of classes.
fn by_model(model: &Machine, labels: &Labels) -> Result<Labels> {
    let classes = model.classes();
    let place: Vec<Option<u32>> =
        labels.names.iter().map(|name| classes.iter().position(|c| c == name).map(|p| p as u32)).collect();
    let of = |&class: &u32| {
        let known = place[class as usize];
        known.ok_or_else(|| {
            let allowed = format!("one of the model's, {}", classes.join(", "));
            Error::param("class", &labels.names[class as usize], allowed)
        })
    };
    let of_row = labels.of_row.iter().map(of).collect::<Result<_>>()?;
    Ok(Labels { names: classes.clone(), of_row })
}

fn of_expansion<'a>(
    model: &Machine,
    params: &SvcParams,
    sample: Sample<'a>,
    labels: &Labels,
    exec: Exec,
) -> Result<Vec<TrainedMachine<'a>>> {
    let (n, k) = (sample.points.len(), model.outputs());
    let by_class = params.weights_of(labels)?;
    let mut coef = vec![0.0; n];
    let mut machines = Vec::with_capacity(k);
    for (o, (machine, sides)) in model.parts.iter().zip(model.sides()).enumerate() {
        coef.fill(0.0);
        for (&row, line) in model.support.iter().zip(model.expansion.coef().chunks(k)) {
            *coef.get_mut(row as usize).ok_or_else(|| other(n, machine.rows))? = line[o];
        }
        let sees = |class: u32| {
            class == sides.positive || k == 1 || sides.negative.is_none_or(|negative| negative == class)
        };
        let index: Vec<u32> = (0..n as u32)
            .filter(|&i| sees(labels.of_row[i as usize]) && sample.weight(i as usize) > 0.0)
            .collect();
        if index.len() != machine.rows {
            return Err(other(index.len(), machine.rows));
        }
        let at: Vec<usize> = index.iter().map(|&i| i as usize).collect();
        let source = match sample.gram {
            Some(rows) => Source::Gram(rows),
            None => Source::Points(model.expansion.kernel().clone(), sample.points.gather(&at)),
        };
        let mut bounded = vec![false; n];
        machine.bounded.iter().filter(|&&r| (r as usize) < n).for_each(|&r| bounded[r as usize] = true);
        let weight = |i: usize| sample.weight(i) * by_class[labels.of_row[i] as usize];
        let mut trained = TrainedMachine {
            label: at.iter().map(|&i| if labels.of_row[i] == sides.positive { 1.0 } else { -1.0 }).collect(),
            coef: at.iter().map(|&i| coef[i]).collect(),
            bounded: at.iter().map(|&i| bounded[i]).collect(),
            shift: at.iter().map(|&i| added(params, weight(i))).collect(),
            output: vec![model.expansion.offset()[o]; at.len()],
            offset: model.expansion.offset()[o],
            index,
            source,
        };
        trained.evaluate(exec)?;
        trained.check(params.tol)?;
        machines.push(trained);
    }
    Ok(machines)
}

/// The value that training adds to the diagonal for a row of this weight.
fn added(params: &SvcParams, weight: f64) -> f64 {
    match (params.kind, params.slack) {
        (Kind::C, Slack::Squared) => params.shift + 1.0 / (params.c * weight),
        _ => params.shift,
    }
}

fn other(got: usize, rows: usize) -> Error {
    Error::shape("rows of the machine in this data", got, format!("{rows}, those it was trained on"))
}

impl TrainedMachine<'_> {
    /// Adds `K c` to the outputs, in f64.
    fn evaluate(&mut self, exec: Exec) -> Result<()> {
        let support: Vec<u32> = self.support().into_iter().map(|i| i as u32).collect();
        let coef: Vec<f64> = support.iter().map(|&i| self.coef[i as usize]).collect();
        let mut output = std::mem::take(&mut self.output);
        self.on_rows(exec, |rows| {
            rows.apply(&support, &coef, &mut output, exec);
            Ok(())
        })?;
        self.output = output;
        Ok(())
    }

    /// Fails if rows that should lie on the margin do not.
    fn check(&self, tol: f64) -> Result<()> {
        let free = self.support().into_iter().filter(|&i| !self.bounded[i]);
        let off = |i: usize| (self.label[i] * (self.output[i] + self.shift[i] * self.coef[i]) - 1.0).abs();
        let (mut all, mut astray) = (0, 0);
        for i in free {
            all += 1;
            astray += usize::from(off(i) > OFF.0 + OFF.1 * tol);
        }
        if 2 * astray > all {
            let got = format!("{astray} of {all} not on the margin");
            return Err(Error::shape(
                "support vectors by their row numbers in this data",
                got,
                "the training data",
            ));
        }
        Ok(())
    }
}
