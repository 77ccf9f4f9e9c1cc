//! The service beside those of others: requests per second, latency, memory.
//!
//! One Gaussian machine on USPS, trained by Mercer and by scikit-learn with the same C and gamma, served by `mercer serve`
//! (whole, and compressed ten times), by MLServer and by an application on FastAPI. `oha` is the load: first as fast as 1, 16
//! or 256 connections can ask, then at 80 % of that rate with latencies counted from when a request should have been sent
//! (its clock ticks every millisecond: it sends what is due in bursts).
//! Every side runs alone, on the cores that it shares with the load. A row's seconds are those per request.

mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use mercer::data::{Dataset, Points};
use mercer::model::{CompressParams, Goal, Model, Sample, SvcParams};
use mercer::reduce::reduced_set::Size;
use mercer::watch::silent;
use mercer::{Exec, kernel::Kernel};
use serde_json::{Value, json};

use crate::Args;
use crate::report::Report;
use crate::sets::{self, Set, Split};
use server::Server;

/// What the peers are installed from.
const PINS: [&str; 7] = [
    "scikit-learn==1.9.1",
    "mlserver==1.7.1",
    "mlserver-sklearn==1.7.1",
    "fastapi==0.115.14",
    "uvicorn==0.54.0",
    "uvloop==0.23.0",
    "httptools==0.9.0",
];
const OHA: &str = "1.16.0";

/// Seconds of a run of the load; `--budget` makes it shorter.
const SECONDS: u32 = 4;
/// Connections, and rows per request.
const CASES: [(usize, usize); 6] = [(1, 1), (16, 1), (256, 1), (1, 64), (16, 64), (256, 64)];

/// A server that is asked.
struct Side {
    name: &'static str,
    start: Box<dyn Fn(u16) -> Result<Command>>,
    /// The path of predictions, and of a page that is there when it is ready.
    path: &'static str,
    ready: &'static str,
    form: Form,
}

/// How rows are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The Open Inference Protocol.
    Tensor,
    /// The same, with an output asked for by name.
    Label,
    /// The same, as bytes.
    Bytes,
    /// `{"rows": [[...]]}`.
    Rows,
}

/// What a run of the load saw.
struct Seen {
    /// Requests that got their predictions, and how many of them per second.
    requests: f64,
    rate: f64,
    p50: f64,
    p99: f64,
}

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("serve");
    let tools = Tools::ready(args)?;
    let split = Set::named("usps").load()?;
    let folder = sets::scratch()?.join("service");
    std::fs::create_dir_all(&folder)?;
    let models = models(&split, &folder, args, &mut report)?;
    tools.fit(&split, &folder)?;
    agreement(&tools, &models, &split, &folder, args, &mut report)?;
    let sides = sides(&tools, &folder);
    let wanted = |side: &&Side| side.name.starts_with("mercer") || args.wants_peer(side.name);
    let mut seen: Vec<(&str, String, Seen)> = Vec::new();
    for side in sides.iter().filter(wanted) {
        let server = Server::start(side)?;
        for (connections, rows) in CASES {
            let case = format!("{connections} connections, {rows} rows per request");
            if !args.wants(&case) {
                continue;
            }
            let body = body(side.form, &split.test.points, rows)?;
            let file = folder.join("body");
            std::fs::write(&file, &body.0)?;
            let before = server.cpu();
            let full = tools.load(&server.address(side.path), &file, body.1, connections, None)?;
            let spent = (server.cpu() - before) / full.requests;
            let steady =
                tools.load(&server.address(side.path), &file, body.1, connections, Some(0.8 * full.rate))?;
            let label = format!("{}, {case}", side.name);
            report.note(&label, "requests per second", full.rate, "1/s");
            report.note(&label, "processor time of the server per request", 1e6 * spent, "us");
            report.note(&label, "at 80 % of it: median latency", 1e3 * steady.p50, "ms");
            report.note(&label, "at 80 % of it: 99th percentile", 1e3 * steady.p99, "ms");
            eprintln!(
                "bench: {label}: {:.0}/s, {:.0} us of processor, p50 {:.2} ms, p99 {:.2} ms",
                full.rate,
                1e6 * spent,
                1e3 * steady.p50,
                1e3 * steady.p99
            );
            seen.push((side.name, case, full));
        }
        report.note(side.name, "resident memory after the load", server.memory(), "MB");
    }
    for (peer, case, theirs) in seen.iter().filter(|(name, ..)| !name.starts_with("mercer")) {
        for (name, _, ours) in seen.iter().filter(|(name, at, _)| name.starts_with("mercer") && at == case) {
            report.row(&format!("{name}, {case}"), peer, 1.0 / theirs.rate, 1.0 / ours.rate);
        }
    }
    Ok(report)
}

/// The whole machine and a tenth of it, as files. They are kept: the same data give the same files.
fn models(split: &Split, folder: &Path, args: &Args, report: &mut Report) -> Result<[Model; 2]> {
    let (whole, small) = (folder.join("usps.mercer"), folder.join("small.mercer"));
    let set = Set::named("usps");
    if !whole.exists() || !small.exists() {
        let exec = Exec::new(args.threads);
        let train = Dataset::new(
            Points::dense(split.train.points.view().to_f64()?, split.train.dim())?,
            split.train.targets.clone(),
        )?;
        let params =
            SvcParams { kernel: Some(Kernel::Rbf { gamma: set.gamma }), c: set.c, ..SvcParams::default() };
        let model =
            Model::from(params.fit(Sample::new(&train.points, &train.targets), exec, &mut silent())?);
        let params = CompressParams { goal: Goal::Size(Size::Ratio(10.0)), ..CompressParams::default() };
        model.compress(&params, Some(&train), exec, &mut silent())?.model.save(&small)?;
        model.save(&whole)?;
    }
    let models = [Model::read(&whole)?, Model::read(&small)?];
    for (name, model) in ["mercer", "mercer, compressed"].iter().zip(&models) {
        report.note(name, "centres", model.machine.expansion.len() as f64, "");
    }
    Ok(models)
}

/// How often the models predict what scikit-learn's predicts.
fn agreement(
    tools: &Tools,
    models: &[Model; 2],
    split: &Split,
    folder: &Path,
    args: &Args,
    report: &mut Report,
) -> Result<()> {
    let rows = sets::hand_out(&split.test, "service-test")?;
    let out = folder.join("labels.txt");
    tools.python(&["predict"], &[folder, &rows, &out])?;
    let theirs: Vec<String> = std::fs::read_to_string(&out)?.lines().map(str::to_owned).collect();
    let points = Points::dense(split.test.points.view().to_f64()?, split.test.dim())?;
    for (name, model) in ["mercer", "mercer, compressed"].iter().zip(models) {
        let targets = model.predict(points.view(), Exec::new(args.threads))?;
        let labels = targets.classes()?;
        let same =
            theirs.iter().enumerate().filter(|(i, label)| labels.name_of(*i) == label.as_str()).count();
        let share = 100.0 * same as f64 / theirs.len() as f64;
        if share < 95.0 {
            bail!(
                "{name} predicts what scikit-learn predicts in {share:.1} % of the rows only: not the same model"
            );
        }
        report.note(name, "rows predicted as by scikit-learn", share, "%");
    }
    Ok(())
}

fn sides(tools: &Tools, folder: &Path) -> Vec<Side> {
    let ours = |file: &str| {
        let (program, file) = (tools.mercer.clone(), folder.join(file));
        move |port: u16| {
            let mut command = Command::new(&program);
            command
                .arg("serve")
                .arg(format!("usps={}", file.display()))
                .args(["--listen", &format!("127.0.0.1:{port}")]);
            Ok(command)
        }
    };
    let mercer = |name, file: &str, form| Side {
        name,
        start: Box::new(ours(file)),
        path: "/v2/models/usps/infer",
        ready: "/v2/health/ready",
        form,
    };
    let (bin, own) = (tools.venv.join("bin"), folder.to_owned());
    let mlserver = move |port: u16| {
        let settings = json!({
            "debug": false, "host": "127.0.0.1", "http_port": port, "grpc_port": port + 1, "metrics_port": port + 2,
            // In the same process: a worker of its own costs more than it gains on few cores.
            "parallel_workers": 0,
        });
        let home = own.join("mlserver");
        std::fs::write(home.join("settings.json"), settings.to_string())?;
        let mut command = Command::new(bin.join("mlserver"));
        command.arg("start").arg(".").current_dir(home);
        Ok(command)
    };
    let (python, script, own) = (tools.venv.join("bin/python"), tools.script.clone(), folder.to_owned());
    let fastapi = move |port: u16| {
        let mut command = Command::new(&python);
        command.arg(&script).arg("fastapi").arg(&own).arg(port.to_string());
        Ok(command)
    };
    vec![
        mercer("mercer", "usps.mercer", Form::Label),
        mercer("mercer, compressed", "small.mercer", Form::Label),
        mercer("mercer, compressed, binary", "small.mercer", Form::Bytes),
        Side {
            name: "MLServer",
            start: Box::new(mlserver),
            path: "/v2/models/usps/infer",
            ready: "/v2/models/usps/ready",
            form: Form::Tensor,
        },
        Side {
            name: "FastAPI",
            start: Box::new(fastapi),
            path: "/predict",
            ready: "/ready",
            form: Form::Rows,
        },
    ]
}

/// A request of so many rows, and the length of its JSON where bytes follow it.
fn body(form: Form, points: &Points, rows: usize) -> Result<(Vec<u8>, Option<usize>)> {
    let (d, all) = (points.dim(), points.view().to_f64()?);
    let values = &all[..rows * d];
    let tensor = json!({ "name": "rows", "shape": [rows, d], "datatype": "FP64" });
    let mut with_data = tensor.clone();
    with_data["data"] = json!(values);
    let label = json!([{ "name": "label" }]);
    let value = match form {
        Form::Tensor => json!({ "inputs": [with_data] }),
        Form::Label => json!({ "inputs": [with_data], "outputs": label }),
        Form::Rows => json!({ "rows": values.chunks(d).collect::<Vec<_>>() }),
        Form::Bytes => {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            let mut tensor = tensor;
            tensor["parameters"] = json!({ "binary_data_size": bytes.len() });
            let head = json!({ "inputs": [tensor], "outputs": label }).to_string();
            let length = head.len();
            return Ok(([head.into_bytes(), bytes].concat(), Some(length)));
        }
    };
    Ok((value.to_string().into_bytes(), None))
}

/// Programs that the comparison needs; made where they are not there.
struct Tools {
    mercer: PathBuf,
    oha: PathBuf,
    venv: PathBuf,
    script: PathBuf,
    /// Seconds of a run of the load.
    seconds: u32,
}

impl Tools {
    fn ready(args: &Args) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("bench lies in the workspace")?;
        let target = root.join("target");
        let cargo = || {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.current_dir(root).stdout(Stdio::null());
            cargo
        };
        done(cargo().args(["build", "--locked", "--release", "--package", "mercer-cli"]))?;
        let oha = target.join("tools/bin/oha");
        if !oha.exists() {
            eprintln!("bench: building oha, the load");
            let install = [
                "install",
                "oha",
                "--locked",
                "--version",
                OHA,
                "--no-default-features",
                "--features",
                "rustls",
            ];
            // Half the time of its own profile, and the server is what is measured.
            let profile =
                [("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")];
            done(cargo().envs(profile).args(install).arg("--root").arg(target.join("tools")))?;
        }
        let venv = target.join("serve-peers");
        let stamp = venv.join("installed");
        let wanted = PINS.join("\n");
        if std::fs::read_to_string(&stamp).ok().as_deref() != Some(wanted.as_str()) {
            eprintln!("bench: installing {}", PINS.join(", "));
            done(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            done(Command::new(venv.join("bin/python")).args(pip).args(PINS).stdout(Stdio::null()))?;
            std::fs::write(&stamp, wanted)?;
        }
        let script = root.join("bench/peers/service.py");
        let seconds = SECONDS.min(args.budget as u32).max(1);
        Ok(Tools { mercer: target.join("release/mercer"), oha, venv, script, seconds })
    }

    fn python(&self, words: &[&str], paths: &[&Path]) -> Result<()> {
        done(Command::new(self.venv.join("bin/python")).arg(&self.script).args(words).args(paths))
    }

    /// Trains scikit-learn's machine.
    fn fit(&self, split: &Split, folder: &Path) -> Result<()> {
        if folder.join("machine.joblib").exists() {
            return Ok(());
        }
        let set = Set::named("usps");
        let rows = sets::hand_out(&split.train, "service-train")?;
        let labels = rows.with_extension("labels.npy");
        let (c, gamma) = (set.c.to_string(), set.gamma.to_string());
        let paths: [&Path; 5] = [&rows, &labels, Path::new(&c), Path::new(&gamma), folder];
        self.python(&["fit"], &paths)
    }

    /// One run of the load: as fast as it goes, or at a rate.
    fn load(
        &self,
        url: &str,
        body: &Path,
        header: Option<usize>,
        connections: usize,
        rate: Option<f64>,
    ) -> Result<Seen> {
        let json = self.sent(url, body, header, connections, rate)?;
        let statuses = json["statusCodeDistribution"].as_object().context("statuses")?;
        if statuses.keys().any(|status| status != "200") || statuses.is_empty() {
            bail!("{url}: statuses {statuses:?}, errors {}", json["errorDistribution"]);
        }
        let number =
            |value: &Value, what: &str| value.as_f64().with_context(|| format!("oha gave no {what}"));
        // Its own rate counts requests that it gave up, too.
        let requests = number(&statuses["200"], "count")?;
        Ok(Seen {
            requests,
            rate: requests / number(&json["summary"]["total"], "duration")?,
            p50: number(&json["latencyPercentiles"]["p50"], "median")?,
            p99: number(&json["latencyPercentiles"]["p99"], "99th percentile")?,
        })
    }

    /// Sends requests for some seconds; what oha says of them.
    fn sent(
        &self,
        url: &str,
        body: &Path,
        header: Option<usize>,
        connections: usize,
        rate: Option<f64>,
    ) -> Result<Value> {
        let mut oha = Command::new(&self.oha);
        oha.args(["--no-tui", "--output-format", "json", "-m", "POST", "-z", &format!("{}s", self.seconds)]);
        // What is under way at the end is waited for: a slow server would seem faster by what it never did.
        oha.args(["-w", "-t", "60s"]);
        oha.args(["-c", &connections.to_string(), "-D"]).arg(body);
        match header {
            None => oha.args(["-T", "application/json"]),
            Some(length) => {
                let length = format!("Inference-Header-Content-Length: {length}");
                oha.args(["-T", "application/octet-stream", "-H", &length])
            }
        };
        if let Some(rate) = rate {
            oha.args(["-q", &format!("{}", rate.max(1.0) as u64), "--latency-correction"]);
        }
        let output = oha.arg(url).output().context("oha cannot be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text)
            .with_context(|| format!("oha said {text} {}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn done(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
