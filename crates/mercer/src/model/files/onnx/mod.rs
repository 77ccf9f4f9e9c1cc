//! Models as ONNX files, for onnxruntime and other runtimes.
//!
//! The file contains the whole model: the input `X` (N x columns, f32) passes through the stages; outputs are `label`
//! (integers if all class names are integers, else strings) and `decision`, with `probability` where the model has
//! probabilities; regressions have the single output `prediction`. Decisions are those of [`Model::decision`],
//! probabilities those of [`Model::probabilities`], all in f32.
//!
//! If ONNX supports the kernel, one-vs-one classifiers use the standard operator `SVMClassifier`, and regressions and
//! one-class machines `SVMRegressor`. These compute in f32. Where coefficients are so large that rounding could
//! exceed 1e-5, and for all other models, the file uses elementary operators in f64.

mod classes;
mod graph;
mod kernel;
mod proto;
mod stage;

use graph::{Graph, Name};
use kernel::Pair;
use proto::{Attribute, Element, Message, value_info};

use crate::data::Data;
use crate::error::{Error, Result};
use crate::expansion::Expansion;
use crate::model::files::by_class;
use crate::model::svc::Ties;
use crate::model::{Machine, Model, Readout, Role, Task};

/// Versions of the format, of the standard operators and of the machine learning operators.
const VERSIONS: (i64, i64, i64) = (8, 17, 3);
const ML: &str = "ai.onnx.ml";
/// Largest sum of coefficients, each times its kernel value, for which f32 is accurate to 1e-5.
const FINE: f64 = 50.0;
/// Runtimes refuse files of 2 GiB and more.
const MOST: usize = (1 << 31) - (1 << 20);

/// The model as the bytes of an ONNX file. Fails for kernels, stages and points that ONNX has no operators for: sequences,
/// precomputed and custom kernels, image stages.
///
/// ```
/// use mercer::data::toy;
/// use mercer::model::{Model, Sample, SvcParams, onnx};
/// let (points, targets) = toy::banana(60, 1);
/// let svc = SvcParams::default().fit(Sample::new(&points, &targets), mercer::Exec::one(), &mut mercer::watch::silent())?;
/// let bytes = onnx::write(&Model::from(svc))?;
/// assert!(bytes.windows(13).any(|w| w == b"SVMClassifier"));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn write(model: &Model) -> Result<Vec<u8>> {
    let f = &model.machine.expansion;
    let centres = f.centres().view();
    if matches!(centres.data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. }) {
        return Err(Error::Unsupported(format!("a model on {} cannot be exported to ONNX", centres.kind())));
    }
    if f.len().saturating_mul(centres.d).saturating_mul(8) > MOST {
        let size = format!("{} centres of {} columns", f.len(), centres.d);
        return Err(Error::Unsupported(format!("{size} are more than an ONNX file can hold, 2 GiB")));
    }
    let columns = model.stages.list.first().map_or(centres.d, crate::data::Stage::input_dim);
    let mut g = Graph::default();
    let mut x = g.cast("X", Element::Double);
    for stage in &model.stages.list {
        x = stage::apply(&mut g, stage, &x)?;
    }
    let machine = Machines { x, d: centres.d, centres: centres.to_f64()?, f };
    if !model.layers.is_empty() {
        return Err(Error::Unsupported("models with kernel PCA features cannot be exported to ONNX".into()));
    }
    let m = &model.machine;
    let outputs = match (&m.role, &m.readout) {
        (Role::Features(_), _) => {
            return Err(Error::Unsupported(
                "models with kernel PCA features cannot be exported to ONNX".into(),
            ));
        }
        (_, Readout::Votes(_) | Readout::Nearest(_)) => {
            return Err(Error::Unsupported(format!("{} models cannot be converted to ONNX", model.kind())));
        }
        (Role::Classes(_), _) => classifier(&mut g, &machine, m)?,
        (Role::Numbers, _) => regression(&mut g, &machine)?,
        (Role::Novelty, Readout::Ball(ball)) => {
            let values = machine.plain(&mut g)?;
            let itself = Pair { x: machine.x.clone(), centres: None, d: machine.d };
            let own = kernel::block(&mut g, machine.f.kernel(), &itself)?;
            let twice = g.affine(&values, -2.0, ball.norm2);
            let distance = g.op("Add", &[&own, &twice]);
            let zero = g.number(0.0);
            let distance = g.op("Max", &[&distance, &zero]);
            let f = g.affine(&distance, -1.0, ball.radius2);
            novelty(&mut g, model, &f)
        }
        (Role::Novelty, _) => {
            let f = machine.single(&mut g)?;
            novelty(&mut g, model, &f)
        }
        (Role::Clusters(_), _) => {
            let f = machine.plain(&mut g)?;
            let (constant, element) = classes::names(&mut g, &m.classes());
            let label = classes::label(&mut g, m, &f, &constant);
            told(&mut g, &label, element, &f, m.outputs())
        }
    };
    finished(model, &g, &value_info("X", Element::Float, Some(columns)), &outputs)
}

/// Points behind the stages and the expansion on them.
struct Machines<'a> {
    x: Name,
    d: usize,
    centres: Vec<f64>,
    f: &'a Expansion,
}

impl Machines<'_> {
    /// All outputs by elementary operators, N x outputs.
    fn plain(&self, g: &mut Graph) -> Result<Name> {
        let (m, k) = (self.f.len(), self.f.outputs());
        let offset = g.doubles(&[1, k], self.f.offset());
        if m == 0 {
            let sum = g.sum(&self.x, 1);
            let none = g.op("Sub", &[&sum, &sum]);
            return Ok(g.op("Add", &[&none, &offset]));
        }
        let pair = Pair { x: self.x.clone(), centres: Some(self.centres.clone()), d: self.d };
        let block = kernel::block(g, self.f.kernel(), &pair)?;
        let coef = g.doubles(&[m, k], self.f.coef());
        let f = g.op("MatMul", &[&block, &coef]);
        Ok(g.op("Add", &[&f, &offset]))
    }

    /// Whether ONNX's operators support the kernel and f32 is accurate enough.
    fn standard(&self) -> Option<(&'static str, [f32; 3], f64)> {
        let standard = kernel::standard(self.f.kernel())?;
        let k = self.f.outputs();
        let mut own = vec![0.0; self.f.len()];
        self.f.kernel().diag(self.f.centres().view(), &mut own);
        let most = own.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let mut sums = self.f.offset().iter().map(|b| b.abs()).collect::<Vec<_>>();
        for (line, own) in self.f.coef().chunks(k).zip(&own) {
            sums.iter_mut().zip(line).for_each(|(s, c)| *s += c.abs() * (own.abs() * most).sqrt());
        }
        (!self.f.is_empty() && sums.iter().all(|s| *s <= FINE)).then_some(standard)
    }

    /// The one output of a machine, N x 1.
    fn single(&self, g: &mut Graph) -> Result<Name> {
        let Some((name, params, factor)) = self.standard() else { return self.plain(g) };
        let out = g.cast(&self.x, Element::Float);
        let f = format!("{out}f");
        let [kernel, params] = kernel::attributes(name, params);
        let attributes = [
            kernel,
            params,
            ("support_vectors", Attribute::Floats(self.centres.iter().map(|v| *v as f32).collect())),
            ("coefficients", Attribute::Floats(self.f.coef().iter().map(|c| (factor * c) as f32).collect())),
            ("n_supports", Attribute::Int(self.f.len() as i64)),
            ("rho", Attribute::Floats(vec![self.f.offset()[0] as f32])),
        ];
        g.node(ML, "SVMRegressor", &[&out], &[&f], &attributes);
        Ok(g.cast(&f, Element::Double))
    }

    /// Label and outputs of a one-vs-one classifier by ONNX's operator, if its votes and ties are the same.
    fn pairs(&self, g: &mut Graph, m: &Machine) -> Option<(Name, Name)> {
        let names = m.classes();
        let k = names.len();
        let voted = m.sides().iter().all(|sides| sides.negative.is_some());
        // Least-squares machines have a coefficient for every row: too many for this form.
        if !voted || m.parts.is_empty() || (k > 2 && m.ties() != Ties::First) {
            return None;
        }
        let (name, params, factor) = self.standard()?;
        let lines = by_class(k, self.f, factor);
        let all: Vec<&(usize, Vec<f64>)> = lines.iter().flatten().collect();
        let coef = (0..k - 1).flat_map(|j| all.iter().map(move |(_, line)| line[j] as f32));
        let centre = |row: usize| self.centres[row * self.d..(row + 1) * self.d].iter().map(|v| *v as f32);
        let labels = match classes::numbers(&names) {
            Some(numbers) => ("classlabels_ints", Attribute::Ints(numbers)),
            None => ("classlabels_strings", Attribute::Strings(names.clone())),
        };
        let x = g.cast(&self.x, Element::Float);
        let (label, scores) = (format!("{x}label"), format!("{x}scores"));
        let [kernel, params] = kernel::attributes(name, params);
        let attributes = [
            kernel,
            params,
            labels,
            ("support_vectors", Attribute::Floats(all.iter().flat_map(|(row, _)| centre(*row)).collect())),
            ("coefficients", Attribute::Floats(coef.collect())),
            ("vectors_per_class", Attribute::Ints(lines.iter().map(|l| l.len() as i64).collect())),
            ("rho", Attribute::Floats(self.f.offset().iter().map(|b| -b as f32).collect())),
            ("post_transform", Attribute::Text("NONE")),
        ];
        g.node(ML, "SVMClassifier", &[&x], &[&label, &scores], &attributes);
        let scores = g.cast(&scores, Element::Double);
        // There a positive score means the first class of a pair, here the second. With two classes there are two
        // scores, the first with our sign.
        let f = if k == 2 { g.pick(&scores, &[0], 1) } else { g.affine(&scores, -1.0, 0.0) };
        Some((label, f))
    }
}

fn classifier(g: &mut Graph, machine: &Machines<'_>, m: &Machine) -> Result<Vec<Message>> {
    let names = m.classes();
    let (label, element, f) = if let Some((label, f)) = machine.pairs(g, m) {
        let whole = classes::numbers(&names).is_some();
        (label, if whole { Element::Int64 } else { Element::String }, f)
    } else {
        let f = machine.plain(g)?;
        let (constant, element) = classes::names(g, &names);
        (classes::label(g, m, &f, &constant), element, f)
    };
    let mut outputs = told(g, &label, element, &f, m.outputs());
    if let Some(p) = classes::probabilities(g, m, &f) {
        outputs.push(numbers(g, &p, "probability", names.len()));
    }
    Ok(outputs)
}

fn regression(g: &mut Graph, machine: &Machines<'_>) -> Result<Vec<Message>> {
    let f = if machine.f.outputs() == 1 { machine.single(g)? } else { machine.plain(g)? };
    Ok(vec![numbers(g, &f, "prediction", machine.f.outputs())])
}

fn novelty(g: &mut Graph, model: &Model, f: &str) -> Vec<Message> {
    let (constant, element) = classes::names(g, &model.classes());
    let label = classes::by_sign(g, f, &constant);
    told(g, &label, element, f, 1)
}

/// The outputs `label` and `decision`.
fn told(g: &mut Graph, label: &str, element: Element, f: &str, machines: usize) -> Vec<Message> {
    g.call(label, "label");
    vec![value_info("label", element, None), numbers(g, f, "decision", machines)]
}

/// An output of numbers.
fn numbers(g: &mut Graph, value: &str, name: &str, columns: usize) -> Message {
    let value = g.cast(value, Element::Float);
    g.call(&value, name);
    value_info(name, Element::Float, Some(columns))
}

/// The whole file.
fn finished(model: &Model, g: &Graph, input: &Message, outputs: &[Message]) -> Result<Vec<u8>> {
    if g.len() > MOST {
        return Err(Error::Unsupported(format!(
            "{} bytes are more than an ONNX file can hold, 2 GiB",
            g.len()
        )));
    }
    let task = match model.task() {
        Task::Classification => "classification",
        Task::Regression => "regression",
        Task::Novelty => "novelty",
        Task::Clustering => "clustering",
        Task::Features => "features",
    };
    let facts = [("task", task.to_owned()), ("learner", model.kind().to_owned())];
    let facts = facts.into_iter().chain([("kernel", model.machine.expansion.kernel().to_string())]);
    let (format, standard, learning) = VERSIONS;
    let opset = |domain: &str, version: i64| Message::new().text(1, domain).int(2, version);
    let file = Message::new()
        .int(1, format)
        .text(2, "mercer")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, &g.message(input, outputs))
        .message(8, &opset("", standard))
        .message(8, &opset(ML, learning));
    let file =
        facts.fold(file, |m, (key, value)| m.message(14, &Message::new().text(1, key).text(2, &value)));
    Ok(file.bytes())
}
