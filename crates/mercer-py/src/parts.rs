//! Models from the parts that another library has fitted.

use mercer::data::Points;
use mercer::expansion::Expansion;
use mercer::kernel::Kernel;
use mercer::model::svc::{Machine, Sides};
use mercer::model::{
    Body, KpcaModel, KpcaParams, Loss, Model, OneClassModel, OneClassParams, SvcModel, SvcParams, SvrModel,
    SvrParams,
};
use mercer::watch::Info;
use mercer::{Error, Par, Result};

fn info() -> Info {
    let mut info = Info::default();
    info.notes.push("read from a model of scikit-learn".into());
    info
}

/// A machine with support vectors: `coef` is m x outputs, signs as the library has them.
pub(crate) fn machine(
    kind: &str,
    kernel: Kernel,
    centres: Points,
    coef: Vec<f64>,
    offset: Vec<f64>,
    classes: Vec<String>,
    support: Vec<u32>,
) -> Result<Model> {
    let expansion = Expansion::new(kernel.clone(), centres, coef, offset)?;
    let kernel = Some(kernel);
    let outputs = expansion.outputs();
    let one = || match outputs {
        1 => Ok(()),
        more => Err(Error::shape("outputs", more, 1)),
    };
    let body = match kind {
        "svc" => {
            let k = classes.len() as u32;
            let pairs =
                (0..k).flat_map(|a| (a + 1..k).map(move |b| Sides { positive: b, negative: Some(a) }));
            let machines: Vec<Machine> = pairs.map(of_sides).collect();
            if machines.len() != outputs {
                return Err(Error::shape("outputs", outputs, format!("{}, one a pair", machines.len())));
            }
            let params = SvcParams { kernel, ..SvcParams::default() };
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
        "svr" => {
            one()?;
            let params = SvrParams { kernel, loss: Loss::Epsilon, ..SvrParams::default() };
            let epsilon = Some(params.epsilon);
            let (noise, checkpoint, bounded) = (None, None, 0);
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
        "one-class" => {
            one()?;
            let params = OneClassParams { kernel, ..OneClassParams::default() };
            let (checkpoint, bounded) = (None, 0);
            Body::OneClass(OneClassModel { expansion, params, support, bounded, checkpoint, info: info() })
        }
        other => return Err(Error::param("kind", other, "svc, svr or one-class")),
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
    let (n, k, par) = (points.len(), values.len(), Par::default());
    let share = vec![1.0 / n as f64; n];
    let mean = Expansion::new(kernel.clone(), points.clone(), share, vec![0.0])?;
    let plain = Expansion::new(kernel.clone(), points, axes, vec![0.0; k])?;
    // V_k . (Phi(x) - mean): the offset is -V_k . mean; V_k's coefficients sum to 0 already.
    let along = plain.evaluate(mean.centres().view(), par)?;
    let mut offset = vec![0.0; k];
    along.chunks(k).for_each(|row| offset.iter_mut().zip(row).for_each(|(o, v)| *o -= v / n as f64));
    let mean2 = mean.evaluate(mean.centres().view(), par)?.iter().sum::<f64>() / n as f64;
    let centres = plain.centres().clone();
    let expansion = Expansion::new(kernel.clone(), centres, plain.coef().to_vec(), offset)?;
    let params = KpcaParams { kernel: Some(kernel), components: Some(k as u64), ..KpcaParams::default() };
    let mean = Some(mean);
    Ok(Body::Kpca(KpcaModel { expansion, mean, mean2, values, total, rows: n, params, info: info() }).into())
}
