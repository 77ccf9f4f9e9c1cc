//! What the experiments on components have in common: fits, reconstructions, noise.

use mercer::data::{Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::{KpcaParams, Machine, Sample};
use mercer::reduce::preimage::PreimageParams;
use mercer::{Error, Result};
use rand::{Rng, RngExt};

use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

impl Lab<'_> {
    /// So many components, or as many as there are.
    pub(crate) fn components(
        &mut self,
        kernel: Kernel,
        points: &Points,
        count: usize,
        centred: bool,
    ) -> Result<Machine> {
        let most = if kernel == Kernel::Linear { points.dim() } else { points.len() };
        let components = (count < most).then_some(count as u64);
        let params = KpcaParams { kernel: Some(kernel), components, centred, ..KpcaParams::default() };
        let exec = self.exec();
        let sample = Sample::new(points, &Targets::None);
        match self.watched(|watch| params.fit(sample, exec, watch)) {
            // Fewer than asked for: all there are.
            Err(Error::Param { name, .. }) if name == "components" => {
                let all = KpcaParams { components: None, ..params };
                self.watched(|watch| all.fit(sample, exec, watch))
            }
            other => other,
        }
    }

    /// Points brought back from their first components, row by row.
    pub(crate) fn restored(&mut self, model: &Machine, points: &Points, used: usize) -> Result<Vec<f64>> {
        let (exec, params) = (self.exec(), PreimageParams { max_iter: 500, ..PreimageParams::default() });
        let used = used.min(model.outputs());
        let kpca = model.components()?;
        self.watched(|watch| kpca.denoise(points.view(), used, &params, exec, watch))?.points.view().to_f64()
    }
}

/// A standard normal number.
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Mean squared distance of rows of d numbers.
pub(crate) fn mean_squared(a: &[f64], b: &[f64], d: usize) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / (a.len() / d) as f64
}

/// The middle of some numbers.
pub(crate) fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// A ratio or another number without a unit, in the paper's own setting.
pub(crate) fn plain(
    group: impl Into<String>,
    setting: impl Into<String>,
    quantity: &'static str,
    paper: Option<f64>,
    mercer: f64,
    better: Better,
) -> Row {
    let (group, setting) = (group.into(), setting.into());
    Row { group, setting, quantity, paper, mercer, unit: Unit::One, better, chosen: Chosen::Paper }
}
