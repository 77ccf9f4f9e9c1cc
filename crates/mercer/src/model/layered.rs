//! A machine behind kernel features: the multi-layer machine of Schoelkopf, Smola and Mueller 1996 (section 4.7).
//!
//! `x -> (f_1(x), ..., f_k(x)) -> machine`: the features are an expansion (kernel principal components, an empirical kernel
//! map, the outputs of other machines), the machine sees them as points, and it may itself be layered.

use serde_json::{Value, json};

use crate::data::{Bundle, Points, Tensor, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::model::Body;
use crate::model::common::outputs;
use crate::model::persist::{Persist, Read, restored_body, store_body};

/// Layers beyond this are refused: nobody means it, and it keeps every recursion shallow.
const MAX_LAYERS: usize = 16;

/// Features and the machine that sees them.
///
/// ```
/// use mercer::data::{Labels, Points, Targets};
/// use mercer::kernel::Kernel;
/// use mercer::model::{Body, KpcaParams, Layered, Model, Sample, SvcParams};
/// use mercer::{Exec, watch};
///
/// let points = Points::dense(vec![0.0, 0.1, 1.0, 1.1, 5.0, 5.2], 1)?;
/// let labels = Labels { names: vec!["low".into(), "high".into()], of_row: vec![0, 0, 0, 0, 1, 1] };
/// let targets = Targets::Classes(labels);
/// let kpca = KpcaParams { components: Some(2), ..KpcaParams::default() };
/// let kpca = kpca.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
/// let seen = Points::dense(kpca.transform(points.view(), Exec::one())?, 2)?;
/// let svc = SvcParams { kernel: Some(Kernel::Linear), ..SvcParams::default() };
/// let svc = svc.fit(Sample::new(&seen, &targets), Exec::one(), &mut watch::silent())?;
/// let model = Model::from(Body::Layered(Layered::new(kpca.features()?, Body::Svc(svc))?));
/// assert_eq!(model.predict(points.view(), Exec::one())?, targets);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layered {
    /// The features.
    pub features: Expansion,
    /// The machine behind them.
    pub then: Box<Body>,
}

impl Layered {
    /// Fails unless the machine sees as many columns as there are features.
    pub fn new(features: Expansion, then: Body) -> Result<Self> {
        let centres = then.entry().centres();
        if !centres.is_empty() && centres.dim() != features.outputs() {
            return Err(Error::shape("columns the machine sees", centres.dim(), features.outputs()));
        }
        let made = Layered { features, then: Box::new(then) };
        if made.depth() > MAX_LAYERS {
            return Err(Error::param("layers", made.depth(), format!("at most {MAX_LAYERS}")));
        }
        Ok(made)
    }

    fn depth(&self) -> usize {
        let mut now = self;
        let mut depth = 1;
        while let Body::Layered(next) = now.then.as_ref() {
            (now, depth) = (next, depth + 1);
        }
        depth
    }

    /// The features of points, as points.
    pub fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        Points::dense(outputs(&self.features, points, exec)?, self.features.outputs())
    }
}

/// What the names of the inner machine's tensors begin with.
const THEN: &str = "then.";

impl Persist for Layered {
    const TAG: &'static str = "layered";

    fn store(&self, bundle: &mut Bundle) -> Result<Value> {
        let features = self.features.store("features", bundle)?;
        let mut inner = Bundle::default();
        let (tag, body) = store_body(&self.then, &mut inner)?;
        for (name, Tensor { shape, values }) in inner.tensors {
            bundle.put(format!("{THEN}{name}"), &shape, values);
        }
        Ok(json!({ "features": features, "learner": tag, "body": body }))
    }

    fn restore(meta: &Value, bundle: &Bundle) -> Read<Self> {
        // Depth first: recursion must not go as deep as a file says.
        let mut depth = 0;
        let mut now = meta;
        while now["learner"] == Self::TAG {
            (now, depth) = (&now["body"], depth + 1);
            if depth >= MAX_LAYERS {
                return Err(format!("more than {MAX_LAYERS} layers"));
            }
        }
        let features = Expansion::restore("features", &meta["features"], bundle)?;
        let mut inner = Bundle::default();
        for (name, tensor) in &bundle.tensors {
            if let Some(name) = name.strip_prefix(THEN) {
                inner.tensors.insert(name.to_owned(), tensor.clone());
            }
        }
        Layered::new(features, restored_body(meta, &inner)?).map_err(|e| e.to_string())
    }
}
