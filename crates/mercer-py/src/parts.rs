//! Models from the parts that another library has fitted.

use mercer::data::Points;
use mercer::expansion::Expansion;
use mercer::kernel::Kernel;
use mercer::model::svc::{Machine, Sides};
use mercer::model::{Body, KpcaModel, KpcaParams, Learner, Loss, Model, OneClassModel, SvcModel, SvrModel};
use mercer::watch::Info;
use mercer::{Error, Exec, Result};

fn info() -> Info {
    let mut info = Info::default();
    info.notes.push("fitted by scikit-learn".into());
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
    let body = match learner {
        Learner::Svc(params) => {
            let k = classes.len() as u32;
            let pairs =
                (0..k).flat_map(|a| (a + 1..k).map(move |b| Sides { positive: b, negative: Some(a) }));
            let machines: Vec<Machine> = pairs.map(of_sides).collect();
            if machines.len() != outputs {
                return Err(Error::shape("outputs", outputs, format!("{}, one a pair", machines.len())));
            }
            Body::Svc(SvcModel {
                classes,
                expansion,
                machines,
                support,
                params,
                reject: None,
                checkpoint: None,
                info: info(),
            })
        }
        Learner::Svr(params) => {
            one()?;
            // Where nu is given the width of the tube is found, and not told.
            let epsilon = (params.loss == Loss::Epsilon).then_some(params.epsilon);
            let (noise, checkpoint, bounded) = (None, None, at_bound(expansion.coef(), params.c));
            Body::Svr(SvrModel {
                expansion,
                params,
                epsilon,
                noise,
                support,
                bounded,
                checkpoint,
                info: info(),
            })
        }
        Learner::OneClass(params) => {
            one()?;
            // LIBSVM's variables go from 0 to 1.
            let (checkpoint, bounded) = (None, at_bound(expansion.coef(), 1.0));
            Body::OneClass(OneClassModel { expansion, params, support, bounded, checkpoint, info: info() })
        }
        other => {
            let allowed = "svc, nu-svc, svr, nu-svr or one-class";
            return Err(Error::param("learner", other.entry().name, allowed));
        }
    };
    Ok(body.into())
}

fn of_sides(sides: Sides) -> Machine {
    let (free, bounded) = (Vec::new(), Vec::new());
    Machine { sides, rows: 0, free, bounded, objective: 0.0, margin: None, sigmoid: None }
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
    let mean = Some(mean);
    Ok(Body::Kpca(KpcaModel { expansion, mean, mean2, values, total, rows: n, params, info: info() }).into())
}
