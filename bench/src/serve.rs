//! Mercer's side of a comparison: the same line protocol as `peers/serve.py`.

use std::hint::black_box;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use mercer::data::Points;
use mercer::data::io::{self, ReadOptions, Storage};
use mercer::num::product::{self, Mat};
use mercer::num::{Buffer, Real};
use mercer::{Exec, gram, kernel::Kernel};
use serde_json::{Value, json};

use crate::components::Components;
use crate::machine::Machine;
use crate::memory;

/// What this side holds between requests: the same rows in both types.
#[derive(Default)]
struct Held {
    f32: Option<Points>,
    f64: Option<Points>,
    machine: Machine,
    components: Components,
}

/// Answers requests until the input ends.
pub(crate) fn run() -> Result<()> {
    let (mut held, mut out) = (Held::default(), std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let answer = serde_json::from_str(&line?).map_err(Into::into).and_then(|r: Value| held.answer(&r));
        writeln!(out, "{}", answer.unwrap_or_else(|error| json!({"error": format!("{error:#}")})))?;
        out.flush()?;
    }
    Ok(())
}

impl Held {
    fn answer(&mut self, request: &Value) -> Result<Value> {
        let single = request["dtype"] == "float32";
        match request["do"].as_str().context("a request without `do`")? {
            verb if verb.starts_with("kpca_") => self.components.answer(request),
            "svr_load" => self.machine.load_numbers(request),
            "svr_fit" => self.machine.regress(request),
            "load" if request.get("test_x").is_some() => self.machine.load(request),
            "fit" => self.machine.fit(request),
            "learn" => self.machine.learn(request),
            "learn_file" => Machine::learn_file(request),
            "answer" => self.machine.answer(),
            "digits" => self.machine.digits(request),
            "predict" => self.machine.predict(request),
            "objective" => self.machine.objective(),
            "load" => self.load(Path::new(text(request, "x")?)),
            "gram" if single => gram::<f32>(held(self.f32.as_ref())?, number(request, "gamma")?),
            "gram" => gram::<f64>(held(self.f64.as_ref())?, number(request, "gamma")?),
            "local" => local(held(self.f32.as_ref())?, request),
            "product" if single => product::<f32>(held(self.f32.as_ref())?),
            "product" => product::<f64>(held(self.f64.as_ref())?),
            other => bail!("cannot `{other}`"),
        }
    }

    fn load(&mut self, path: &Path) -> Result<Value> {
        let read = |storage| io::read(path, &ReadOptions { storage, ..ReadOptions::default() });
        self.f32 = Some(read(Storage::F32)?.points);
        self.f64 = Some(read(Storage::F64)?.points);
        Ok(json!({}))
    }
}

/// The whole symmetric Gaussian matrix, its memory included.
fn gram<T: Real>(points: &Points, gamma: f64) -> Result<Value> {
    let kernel: Kernel = format!("rbf(gamma={gamma})").parse()?;
    let (k, answer) = timed(|| gram::square::<T>(&kernel, points.view(), exec()));
    Ok(with_check(answer, k?.get(1).map_or(f64::NAN, |&v| v.f64())))
}

/// The whole symmetric matrix of an image-local kernel on the first rows, its memory included.
fn local(points: &Points, request: &Value) -> Result<Value> {
    let [n, p, side] = ["n", "p", "side"].map(|name| number(request, name).map(|v| v as usize));
    let kernel: Kernel = format!("local(p={}, height={side}, width={side})", p?, side = side?).parse()?;
    let rows = points.view().slice(0..n?.min(points.len()));
    let (k, answer) = timed(|| gram::square::<f32>(&kernel, rows, exec()));
    Ok(with_check(answer, k?.get(1).map_or(f64::NAN, |&v| f64::from(v))))
}

/// A general product of two different matrices into memory that is there: the rate of our own products.
fn product<T: Real>(points: &Points) -> Result<Value> {
    let (n, d) = (points.len(), points.dim());
    let a: Vec<T> = points.view().to_f64()?.into_iter().map(T::of).collect();
    let (b, mut out) = (a.clone(), Buffer::<T>::stale(n * n));
    out.fill(T::ONE);
    let ((), answer) =
        timed(|| product::nt(&mut out, Mat::new(&a, n, d), Mat::new(&b, n, d), exec().threads()));
    black_box(&out);
    Ok(answer)
}

/// The threads this side was started with, the same as every peer's.
pub(crate) fn exec() -> Exec {
    let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|t| t.parse().ok());
    Exec::new(threads.unwrap_or(0))
}

pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Value) {
    memory::reset_peak();
    let start = Instant::now();
    let result = black_box(work());
    let seconds = start.elapsed().as_secs_f64();
    (result, json!({"seconds": seconds, "peak_mb": memory::peak_mb()}))
}

fn with_check(mut answer: Value, check: f64) -> Value {
    answer["check"] = json!(check);
    answer
}

fn held(points: Option<&Points>) -> Result<&Points> {
    points.context("nothing was loaded")
}

pub(crate) fn text<'a>(request: &'a Value, name: &str) -> Result<&'a str> {
    request[name].as_str().with_context(|| format!("a request without `{name}`"))
}

pub(crate) fn number(request: &Value, name: &str) -> Result<f64> {
    request[name].as_f64().with_context(|| format!("a request without `{name}`"))
}
