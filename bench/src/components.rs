//! Mercer's side of the comparison of kernel PCA: the requests `peers/kpca.py` answers for the others.

use std::path::Path;

use anyhow::{Context, Result, bail};
use mercer::data::io::{self, ReadOptions, Storage};
use mercer::data::{Points, Targets};
use mercer::expansion::Precision;
use mercer::kernel::Kernel;
use mercer::model::{KpcaParams, Machine, Sample};
use mercer::num::{Mat, product};
use mercer::reduce::preimage::{PreimageMethod, PreimageParams};
use mercer::solve::eigen::Operator;
use mercer::watch::silent;
use serde_json::{Value, json};

use crate::serve::{exec, number, text, timed};

/// What is held between requests.
#[derive(Debug, Default)]
pub(crate) struct Components {
    x: Option<Points>,
    test: Option<Points>,
    model: Option<Machine>,
}

impl Components {
    pub(crate) fn answer(&mut self, request: &Value) -> Result<Value> {
        match request["do"].as_str().unwrap_or_default() {
            "kpca_load" => self.load(request),
            "kpca_fit" => self.fit(request),
            "kpca_transform" => self.transform(),
            "kpca_denoise" => self.denoise(request),
            "kpca_steps" => self.steps(request),
            "kpca_floor" => self.floor(),
            "kpca_residual" => self.residual(),
            other => bail!("cannot `{other}`"),
        }
    }

    fn load(&mut self, request: &Value) -> Result<Value> {
        // The fit works in f64, as the peer does; rows of f32 are for fits beyond memory.
        let storage = if request["dtype"] == "float32" { Storage::F32 } else { Storage::F64 };
        let read = |path: &str| io::read(Path::new(path), &ReadOptions { storage, ..ReadOptions::default() });
        self.x = Some(read(text(request, "x")?)?.points);
        if let Some(path) = request["test_x"].as_str() {
            self.test = Some(read(path)?.points);
        }
        Ok(json!({}))
    }

    fn params(request: &Value) -> Result<KpcaParams> {
        Ok(KpcaParams {
            kernel: Some(Kernel::Rbf { gamma: number(request, "gamma")? }),
            components: request["components"].as_u64(),
            tol: request["tol"].as_f64().unwrap_or(KpcaParams::default().tol),
            ..KpcaParams::default()
        })
    }

    fn fitted(&self, params: &KpcaParams, exec: mercer::Exec) -> Result<Machine> {
        let x = self.x.as_ref().context("nothing was loaded")?;
        Ok(params.fit(Sample::new(x, &Targets::None), exec, &mut silent())?)
    }

    fn fit(&mut self, request: &Value) -> Result<Value> {
        let params = Self::params(request)?;
        let exec = request["memory"].as_u64().map_or(exec(), |bytes| exec().with_memory(bytes));
        self.model = None;
        let (model, mut answer) = timed(|| self.fitted(&params, exec));
        let model = model?;
        answer["values"] = json!(model.components()?.features.values.iter().take(2000).collect::<Vec<_>>());
        answer["gap"] = json!(model.info.gap);
        answer["note"] = json!(model.info.notes);
        self.model = Some(model);
        Ok(answer)
    }

    fn transform(&self) -> Result<Value> {
        let (model, test) = (self.model.as_ref().context("no fit")?, self.test.as_ref().context("no rows")?);
        let (features, mut answer) = timed(|| model.decision(test.view(), exec()));
        // How far that is from f64 throughout, in standard deviations of each feature.
        let exact = model.decision_in(test.view(), Precision::F64, exec())?;
        let found = model.components()?.features;
        let spread: Vec<f64> = found.values.iter().map(|v| (v / found.rows as f64).sqrt()).collect();
        let features = features?;
        let off = features.iter().zip(&exact).zip(spread.iter().cycle()).map(|((a, b), s)| (a - b).abs() / s);
        answer["off"] = json!(off.fold(0.0, f64::max));
        Ok(answer)
    }

    fn denoise(&mut self, request: &Value) -> Result<Value> {
        let params = Self::params(request)?;
        let used = params.components.context("a number of components")? as usize;
        let test = self.test.as_ref().context("no rows")?;
        let (done, mut answer) = timed(|| {
            let model = self.fitted(&params, exec())?;
            let kpca = model.components()?;
            let back = kpca.denoise(test.view(), used, &PreimageParams::default(), exec(), &mut silent())?;
            anyhow::Ok((model, back))
        });
        let (model, back) = done?;
        answer["steps"] = json!(back.steps.iter().copied().max());
        self.model = Some(model);
        Ok(answer)
    }

    /// So many steps of the fixed point over all rows; a tolerance that nothing reaches keeps all of them going.
    fn steps(&self, request: &Value) -> Result<Value> {
        let (model, test) = (self.model.as_ref().context("no fit")?, self.test.as_ref().context("no rows")?);
        let params = PreimageParams {
            method: PreimageMethod::FixedPoint,
            tol: 3e-6,
            max_iter: number(request, "steps")? as usize,
            ..PreimageParams::default()
        };
        let kpca = model.components()?;
        let (back, answer) =
            timed(|| kpca.denoise(test.view(), kpca.count(), &params, exec(), &mut silent()));
        back?;
        Ok(answer)
    }

    /// The arithmetic a step cannot do without: rows against centres, and weights against centres.
    fn floor(&self) -> Result<Value> {
        let (model, test) = (self.model.as_ref().context("no fit")?, self.test.as_ref().context("no rows")?);
        let single =
            |p: &Points| -> Result<Vec<f32>> { Ok(p.view().to_f64()?.iter().map(|&v| v as f32).collect()) };
        let centres = model.expansion.centres();
        let (x, z) = (single(centres)?, single(test)?);
        let (m, n, d) = (centres.len(), test.len(), centres.dim());
        let (mut k, mut sums) = (vec![0.0_f32; n * m], vec![0.0_f32; n * d]);
        let threads = exec().threads();
        let ((), answer) = timed(|| {
            product::nt(&mut k, Mat::new(&z, n, d), Mat::new(&x, m, d), threads);
            product::nn(&mut sums, Mat::new(&k, n, m), Mat::new(&x, m, d), threads);
        });
        Ok(answer)
    }

    /// The largest `|K v - lambda v| / lambda` with kernel values and sums in f64: one pass over the centred matrix.
    fn residual(&self) -> Result<Value> {
        let (model, x) = (self.model.as_ref().context("no fit")?, self.x.as_ref().context("no rows")?);
        let (n, k) = (x.len(), model.outputs());
        let values = &model.components()?.features.values;
        let exact = Exact { kernel: model.expansion.kernel(), x };
        // Unit eigenvectors are the unit axes' coefficients times the root of the eigenvalue.
        let mut v = vec![0.0; k * n];
        for (i, line) in model.expansion.coef().chunks(k).enumerate() {
            line.iter().enumerate().for_each(|(c, a)| v[c * n + i] = a * values[c].sqrt());
        }
        let mut out = vec![0.0; k * n];
        exact.apply(&v, &mut out, exec());
        let mut worst = 0.0_f64;
        for (c, lambda) in values.iter().enumerate() {
            let (v, out) = (&v[c * n..(c + 1) * n], &mut out[c * n..(c + 1) * n]);
            let mean = out.iter().sum::<f64>() / n as f64;
            let off: f64 = out.iter().zip(v).map(|(o, v)| (o - mean - lambda * v).powi(2)).sum();
            worst = worst.max(off.sqrt() / lambda);
        }
        Ok(json!({ "residual": worst }))
    }
}

/// The kernel matrix in f64, computed batch by batch.
struct Exact<'a> {
    kernel: &'a Kernel,
    x: &'a Points,
}

impl Operator for Exact<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn apply(&self, v: &[f64], out: &mut [f64], exec: mercer::Exec) {
        let (n, k) = (self.x.len(), v.len() / self.x.len());
        for at in (0..n).step_by(1024) {
            let rows = 1024.min(n - at);
            let part = self.x.view().slice(at..at + rows);
            let values = mercer::gram::cross::<f64>(self.kernel, part, self.x.view(), exec)
                .expect("the model was fitted on these");
            let mut some = vec![0.0; k * rows];
            product::nt(&mut some, Mat::new(v, k, n), Mat::new(&values, rows, n), exec.threads());
            for c in 0..k {
                out[c * n + at..c * n + at + rows].copy_from_slice(&some[c * rows..(c + 1) * rows]);
            }
        }
    }
}
