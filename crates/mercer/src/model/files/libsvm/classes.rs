//! One-vs-one classifiers, whose coefficients LIBSVM stores by class.
//!
//! A support vector of class c has one coefficient for every other class o, in the order of classes: the one that it
//! has in the machine of c and o. Centres are grouped by class.

use super::exchangeable;
use super::text::{Machine as Kind, Text};
use crate::error::{Error, Fault, Result};
use crate::expansion::Expansion;
use crate::model::svc::{self, SvcParams};
use crate::model::{Calibration, Learner, Machine, Part, Role, Sigmoid};
use crate::reduce::reduced_set::Block;
use crate::watch::Info;

/// Maximum number of coefficients of a classifier, machines times centres: 2 GiB.
const MOST: usize = 1 << 28;

/// The pairs of k classes in the order of LIBSVM and of this library: (0, 1), (0, 2), ..., (1, 2), ...
fn pairs(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |i| (i + 1..k).map(move |j| (i, j)))
}

/// The index of a pair i < j among [`pairs`].
fn place(i: usize, j: usize, k: usize) -> usize {
    i * (2 * k - i - 1) / 2 + j - i - 1
}

/// Which of a centre's coefficients belongs to another class.
fn column(own: usize, other: usize) -> usize {
    if other < own { other } else { other - 1 }
}

pub(super) fn read(source: &str, text: Text, info: Info) -> Result<Machine> {
    let (k, m) = (text.classes, text.centres.len());
    let machines = text.rho.len();
    let fault = |got: String, expected: String| {
        let source = Some(source.to_owned());
        Error::from(Fault { source, got: Some(got), expected, ..Fault::default() })
    };
    if k < 2 {
        return Err(fault(format!("`nr_class` {k}"), "at least 2 classes".into()));
    }
    if m.saturating_mul(machines) > MOST {
        return Err(fault(
            format!("{m} support vectors in {machines} machines"),
            format!("at most {MOST} coefficients"),
        ));
    }
    // Two classes are sorted, so that a positive output means the later one as everywhere else. With more classes
    // LIBSVM's order is kept, because it decides ties between votes.
    let mut order: Vec<usize> = (0..k).collect();
    if k == 2 {
        order.sort_by_key(|&i| text.label[i]);
    }
    let mut rank = vec![0; k];
    order.iter().enumerate().for_each(|(r, &i)| rank[i] = r);

    let mut coef = vec![0.0; m * machines];
    let mut offset = vec![0.0; machines];
    let mut sigmoid = vec![None; machines];
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.counts.iter().scan(0, |at, c| {
            *at += c;
            Some(*at)
        }))
        .collect();
    for (p, (i, j)) in pairs(k).enumerate() {
        let (first, second) = (rank[i].min(rank[j]), rank[i].max(rank[j]));
        let q = place(first, second, k);
        // LIBSVM's positive class is i, ours the second.
        let sign = if rank[i] == second { 1.0 } else { -1.0 };
        offset[q] = -sign * text.rho[p];
        if let (Some(&a), Some(&b)) = (text.prob_a.get(p), text.prob_b.get(p)) {
            sigmoid[q] = Some(Sigmoid { a, b: sign * b });
        }
        for (own, other) in [(i, j), (j, i)] {
            for r in starts[own]..starts[own + 1] {
                coef[r * machines + q] = sign * text.coef[r * (k - 1) + column(own, other)];
            }
        }
    }
    let params = SvcParams {
        kernel: Some(text.kernel.clone()),
        kind: if text.machine == Kind::NuSvc { svc::Kind::Nu } else { svc::Kind::C },
        probability: !text.prob_a.is_empty(),
        ..SvcParams::default()
    };
    let role = Role::Classes(order.iter().map(|&i| text.label[i].to_string()).collect());
    let expansion = Expansion::new(text.kernel, text.centres, coef, offset)?;
    let sigmoids: Option<Vec<Sigmoid>> = sigmoid.into_iter().collect();
    Ok(Machine {
        readout: params.readout(k),
        calibration: sigmoids.map_or(Calibration::None, Calibration::Sigmoids),
        parts: vec![Part::default(); machines],
        ..Machine::new(expansion, role, Learner::Svc(params), info)
    })
}

/// A one-vs-one classifier as text.
pub(super) fn write(model: &Machine) -> Result<Text> {
    if let Some(pairs) = differences(model)? {
        return written(Kind::CSvc, &model.classes(), &pairs);
    }
    model.check_pairs()?;
    let nu = model.svc().is_some_and(|p| p.kind == svc::Kind::Nu);
    let kind = if nu { Kind::NuSvc } else { Kind::CSvc };
    let mut text = written(kind, &model.classes(), &model.expansion)?;
    if let Calibration::Sigmoids(sigmoids) = &model.calibration {
        text.prob_a = sigmoids.iter().map(|s| s.a).collect();
        text.prob_b = sigmoids.iter().map(|s| -s.b).collect();
    }
    Ok(text)
}

/// A machine for large data with an output per class as one-vs-one machines, the differences of two outputs each: the
/// class with the largest output wins against every other. Probabilities are dropped, since LIBSVM couples pairwise
/// probabilities in its own way.
fn differences(model: &Machine) -> Result<Option<Expansion>> {
    let (k, f) = (model.classes().len(), &model.expansion);
    if !matches!(model.learner, Learner::Large(_)) || k < 3 || f.outputs() != k {
        return Ok(None);
    }
    let of = |line: &[f64]| pairs(k).map(|(i, j)| line[j] - line[i]).collect::<Vec<f64>>();
    let coef = f.coef().chunks(k).flat_map(of).collect();
    Expansion::new(f.kernel().clone(), f.centres().clone(), coef, of(f.offset())).map(Some)
}

/// One-vs-one machines as text, labels in the order of names: outputs there have the opposite sign.
fn written(machine: Kind, names: &[String], f: &Expansion) -> Result<Text> {
    let (kernel, factor) = exchangeable(f.kernel())?;
    let k = names.len();
    let label = names.iter().map(|name| label(name)).collect::<Result<Vec<i32>>>()?;
    let mut sorted = label.clone();
    sorted.sort_unstable();
    if let Some([twice, ..]) = sorted.windows(2).find(|w| w[0] == w[1]) {
        return Err(Error::param(
            "class name",
            twice,
            "different numbers for different classes in LIBSVM's files",
        ));
    }
    let lines = by_class(k, f, factor);
    let rows: Vec<usize> = lines.iter().flatten().map(|(j, _)| *j).collect();
    Ok(Text {
        machine,
        kernel,
        classes: k,
        rho: f.offset().to_vec(),
        label,
        prob_a: Vec::new(),
        prob_b: Vec::new(),
        density: Vec::new(),
        counts: lines.iter().map(Vec::len).collect(),
        coef: lines.iter().flatten().flat_map(|(_, line)| line).copied().collect(),
        centres: f.centres().gather(&rows),
    })
}

/// One-vs-one machines in the layout of LIBSVM and ONNX: for each class, the indices of its centres with a
/// coefficient for every other class, times a factor. Signs are theirs: positive for the class that comes first.
pub(in crate::model) fn by_class(k: usize, f: &Expansion, factor: f64) -> Vec<Vec<(usize, Vec<f64>)>> {
    let machines = f.outputs();
    // One row per class for which a centre has coefficients. A training row has them only in the machines of its own
    // class; other centres (of a collapsed linear machine or a reduced set) may belong to several classes.
    let mut lines: Vec<Vec<(usize, Vec<f64>)>> = vec![Vec::new(); k];
    for (j, own) in f.coef().chunks(machines).enumerate() {
        let mut left = own.to_vec();
        while left.iter().any(|c| *c != 0.0) {
            let in_use =
                |c: usize| (0..k).filter(|&o| o != c && left[place(c.min(o), c.max(o), k)] != 0.0).count();
            // In a machine for two classes, the sign of a coefficient determines its class.
            let positive = |c: usize| (0..c).filter(|&o| left[place(o, c, k)] > 0.0).count();
            let class = (0..k).max_by_key(|&c| (in_use(c), positive(c), k - c)).unwrap_or(0);
            let mut line = vec![0.0; k - 1];
            for other in (0..k).filter(|&o| o != class) {
                let at = &mut left[place(class.min(other), class.max(other), k)];
                line[column(class, other)] = -factor * *at;
                *at = 0.0;
            }
            lines[class].push((j, line));
        }
    }
    lines
}

impl Machine {
    /// The same one-vs-one machines with every centre in the machines of one class only, as in LIBSVM's files, and
    /// each class's centres and machines.
    pub(in crate::model) fn by_class(&self) -> Result<(Expansion, Vec<Block>)> {
        let (k, f) = (self.classes().len(), &self.expansion);
        self.check_pairs()?;
        let (machines, lines) = (f.outputs(), by_class(k, f, -1.0));
        let (mut rows, mut coef, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        for (class, lines) in lines.iter().enumerate() {
            let others = || (0..k).filter(move |&o| o != class);
            blocks.push(Block {
                centres: (rows.len()..rows.len() + lines.len()).collect(),
                outputs: others().map(|o| place(class.min(o), class.max(o), k)).collect(),
            });
            for (row, line) in lines {
                rows.push(*row);
                let mut wide = vec![0.0; machines];
                others().for_each(|o| wide[place(class.min(o), class.max(o), k)] = line[column(class, o)]);
                coef.extend(wide);
            }
        }
        let whole = Expansion::new(f.kernel().clone(), f.centres().gather(&rows), coef, f.offset().to_vec())?;
        Ok((whole, blocks))
    }

    /// Fails unless there is an output for every pair of classes.
    fn check_pairs(&self) -> Result<()> {
        if self.sides().iter().all(|sides| sides.negative.is_some()) {
            return Ok(());
        }
        let why = match self.svc() {
            Some(_) => {
                "LIBSVM supports only one-vs-one for several classes: fit with multi = one_vs_one to export the model"
            }
            None => {
                "LIBSVM supports only one-vs-one for several classes; this model has one output per class"
            }
        };
        Err(Error::Unsupported(why.into()))
    }
}

fn label(name: &str) -> Result<i32> {
    // `001`, `+1` and `1.0` would be read back as `1`, a different class name.
    let number = name.parse::<i32>().ok().filter(|v| v.to_string() == name);
    let allowed =
        "a whole number written without sign +, leading zeros or point: LIBSVM's files have no other names";
    number.ok_or_else(|| Error::param("class name", name, allowed))
}
