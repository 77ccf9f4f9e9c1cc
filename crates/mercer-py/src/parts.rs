//! Models from the parts that another library has fitted.

use mercer::data::Points;
use mercer::expansion::Expansion;
use mercer::kernel::Kernel;
use mercer::model::svc::Multi;
use mercer::model::{Features, KpcaParams, Learner, Loss, Machine, Model, Part, Readout, Role};
use mercer::watch::Info;
use mercer::{Error, Exec, Result};

fn info() -> Info {
    let mut info = Info::default();
    info.note("fitted by scikit-learn");
    info
}

/// Of so many coefficients those at their bound.
fn at_bound(coef: &[f64], bound: f64) -> usize {
    coef.iter().filter(|c| c.abs() >= bound * (1.0 - 1e-9)).count()
}

/// A machine with support vectors and the parameters it was fitted with: `coef` is m x outputs, signs as the library has
/// them.
pub(crate) fn machine(
    learner: Learner,
    kernel: Kernel,
    centres: Points,
    coef: Vec<f64>,
    offset: Vec<f64>,
    classes: Vec<String>,
    support: Vec<u32>,
) -> Result<Model> {
    let expansion = Expansion::new(kernel, centres, coef, offset)?;
    let outputs = expansion.outputs();
    let one = || match outputs {
        1 => Ok(()),
        more => Err(Error::shape("outputs", more, 1)),
    };
    let (role, facts, readout, parts) = match &learner {
        Learner::Svc(params) => {
            let k = classes.len();
            let (machines, each) = match params.multi {
                _ if k < 3 => (1, "for two classes"),
                Multi::OneVsOne => (k * (k - 1) / 2, "per pair of classes"),
                Multi::OneVsRest => (k, "per class"),
            };
            if machines != outputs {
                return Err(Error::shape("outputs", outputs, format!("{machines}, one {each}")));
            }
            (Role::Classes(classes), Vec::new(), params.readout(k), vec![Part::default(); machines])
        }
        Learner::Svr(params) => {
            one()?;
            // Where nu is given the width of the tube is found, and not told.
            let epsilon = (params.loss == Loss::Epsilon).then_some(("epsilon", params.epsilon));
            let bounded = ("bounded", at_bound(expansion.coef(), params.c) as f64);
            let facts = std::iter::once(bounded).chain(epsilon).collect();
            (Role::Numbers, facts, Readout::Plain, Vec::new())
        }
        Learner::OneClass(_) => {
            one()?;
            // LIBSVM's variables go from 0 to 1.
            let bounded = ("bounded", at_bound(expansion.coef(), 1.0) as f64);
            (Role::Novelty, vec![bounded], Readout::Plain, Vec::new())
        }
        Learner::Ridge(_) => {
            one()?;
            (Role::Numbers, Vec::new(), Readout::Plain, Vec::new())
        }
        other => {
            let allowed = "svc, nu-svc, svr, nu-svr, ridge or one-class";
            return Err(Error::param("learner", other.entry().name, allowed));
        }
    };
    let machine = Machine::new(expansion, role, learner, info());
    Ok(Machine { readout, facts, parts, support, ..machine }.into())
}

/// Components whose axes have unit length, centred on the mean of the rows' images.
pub(crate) fn components(
    kernel: Kernel,
    points: Points,
    axes: Vec<f64>,
    values: Vec<f64>,
    total: f64,
) -> Result<Model> {
    let (n, k, exec) = (points.len(), values.len(), Exec::default());
    let share = vec![1.0 / n as f64; n];
    let mean = Expansion::new(kernel.clone(), points.clone(), share, vec![0.0])?;
    let plain = Expansion::new(kernel.clone(), points, axes, vec![0.0; k])?;
    // V_k . (Phi(x) - mean): the offset is -V_k . mean; V_k's coefficients sum to 0 already.
    let along = plain.evaluate(mean.centres().view(), exec)?;
    let mut offset = vec![0.0; k];
    along.chunks(k).for_each(|row| offset.iter_mut().zip(row).for_each(|(o, v)| *o -= v / n as f64));
    let mean2 = mean.evaluate(mean.centres().view(), exec)?.iter().sum::<f64>() / n as f64;
    let centres = plain.centres().clone();
    let expansion = Expansion::new(kernel.clone(), centres, plain.coef().to_vec(), offset)?;
    let params = KpcaParams { kernel: Some(kernel), components: Some(k as u64), ..KpcaParams::default() };
    let features = Features { mean: Some(mean), mean2, values, total, rows: n, whiten: false };
    Ok(Machine::new(expansion, Role::Features(features), Learner::Kpca(params), info()).into())
}
