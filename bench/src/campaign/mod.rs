//! Minutes of mixed load on the service: `cargo xtask campaign serve [--minutes 10]`.
//!
//! Good clients in three forms, and malformed, oversized, slow and cut requests beside them; the model is replaced every few
//! seconds, sometimes by a broken file; twice the server is told to stop (SIGTERM) and started again. Asked for: every value
//! is one that the library gives, bit for bit; no good request fails; resident memory stays flat; no file or socket leaks.

mod clients;
mod http;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mercer::data::{Points, toy};
use mercer::kernel::Kernel;
use mercer::model::{Model, Sample, SvcParams};
use mercer::{Exec, watch};

use clients::Dice;

/// Bytes of a body that the server takes.
const LARGEST: usize = 1 << 20;
/// Seconds between two models, and between two looks at the server.
const SWAP: u64 = 3;
const LOOK: u64 = 5;
/// What resident memory may grow by over the last server's life, in bytes: buffers of connections and of the allocator.
const GROWTH: f64 = 16e6;

/// What all threads share.
pub(crate) struct Campaign {
    port: u16,
    rows: Vec<[f64; 2]>,
    /// Label and decision value of each row, by each version of the model.
    expected: Vec<Vec<(String, f64)>>,
    over: AtomicBool,
    stopping: AtomicBool,
    stops: AtomicUsize,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    failures: Mutex<Vec<String>>,
}

impl Campaign {
    fn over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// How often a server was told to stop.
    fn stops(&self) -> usize {
        self.stops.load(Ordering::SeqCst)
    }

    /// Whether a server was told to stop and the next does not listen yet.
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn count(&self, what: &'static str) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += 1;
    }

    fn fail(&self, why: String) {
        eprintln!("campaign: {why}");
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    }
}

/// Runs it; the arguments are those behind `campaign`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let minutes = match args {
        [name] if name == "serve" => 10.0,
        [name, flag, minutes] if name == "serve" && flag == "--minutes" => minutes
            .parse::<f64>()
            .ok()
            .filter(|m| *m > 0.0 && *m < 1e5)
            .context("--minutes takes a number")?,
        _ => bail!("usage: cargo xtask campaign serve [--minutes 10]"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("bench lies in the workspace")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--locked", "--release", "--package", "mercer-cli"];
    if !Command::new(cargo).current_dir(root).args(build).status()?.success() {
        bail!("the command cannot be built");
    }
    let folder = root.join("target/campaign");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(folder.join("models"))?;
    let (campaign, files) = prepared()?;
    place(&folder, &files[0])?;
    let program = root.join("target/release/mercer");
    let samples = std::thread::scope(|scope| -> Result<Vec<Sampled>> {
        let end = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
        let mut server = Server::start(&program, &folder, campaign.port)?;
        let quiet = server.files();
        for seed in 0..6 {
            let campaign = &campaign;
            scope.spawn(move || clients::good(campaign, 100 + seed));
        }
        for seed in 0..4 {
            let campaign = &campaign;
            scope.spawn(move || clients::bad(campaign, 200 + seed));
        }
        scope.spawn(|| swap(&campaign, &folder, &files));
        let outcome = drive(&campaign, (&program, &folder, &files[0]), &mut server, end, minutes);
        campaign.over.store(true, Ordering::SeqCst);
        let samples = outcome?;
        // Clients end within a second or, where they drip, as soon as they look.
        std::thread::sleep(Duration::from_secs(6));
        let left = server.files();
        if left > quiet {
            campaign.fail(format!("{left} open files and sockets after the load, {quiet} before"));
        }
        println!("open files and sockets: {quiet} before the load, {left} after");
        server.stop(&campaign)?;
        Ok(samples)
    })?;
    flat(&campaign, &samples);
    let counts = campaign.counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    counts.iter().for_each(|(what, count)| println!("{what}: {count}"));
    let failures = campaign.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failures.is_empty() {
        println!("campaign serve: {minutes} minutes without a failure");
        return Ok(());
    }
    bail!("{} failures, the first: {}", failures.len(), failures[0]);
}

/// Three versions of a model as bytes, rows, and what each version predicts for them.
fn prepared() -> Result<(Campaign, Vec<Vec<u8>>)> {
    let fresh = toy::banana(64, 9).0.view().to_f64()?;
    let rows: Vec<[f64; 2]> = fresh.chunks(2).map(|row| [row[0], row[1]]).collect();
    let (mut expected, mut files) = (Vec::new(), Vec::new());
    for (seed, gamma) in [(1, 0.8), (2, 0.5), (3, 1.2)] {
        let (points, targets) = toy::banana(300, seed);
        let svc = SvcParams { kernel: Some(Kernel::Rbf { gamma }), ..SvcParams::default() };
        let svc = svc.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
        let model = Model::from(svc);
        let predicted = rows.iter().map(|row| -> Result<(String, f64)> {
            let one = Points::dense(row.to_vec(), 2)?;
            let targets = model.predict(one.view(), Exec::one())?;
            let label = targets.classes()?.name_of(0).to_owned();
            Ok((label, model.decision(one.view(), Exec::one())?[0]))
        });
        expected.push(predicted.collect::<Result<_>>()?);
        files.push(model.to_bytes()?);
    }
    let campaign = Campaign {
        port: std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port(),
        rows,
        expected,
        over: AtomicBool::new(false),
        stopping: AtomicBool::new(false),
        stops: AtomicUsize::new(0),
        counts: Mutex::default(),
        failures: Mutex::default(),
    };
    Ok((campaign, files))
}

/// Puts a file in place of the model, whole.
fn place(folder: &Path, bytes: &[u8]) -> Result<()> {
    let new = folder.join("new");
    std::fs::write(&new, bytes)?;
    std::fs::rename(new, folder.join("models/m.mercer"))?;
    Ok(())
}

/// Replaces the model every few seconds; a broken file now and then, which must change nothing.
fn swap(campaign: &Campaign, folder: &Path, files: &[Vec<u8>]) {
    let mut dice = Dice::new(7);
    let mut turn = 0;
    let mut last = Instant::now();
    while !campaign.over() {
        std::thread::sleep(Duration::from_millis(100));
        // A server that starts with a broken file has no model to fall back on.
        if last.elapsed() < Duration::from_secs(SWAP) || campaign.is_stopping() {
            continue;
        }
        last = Instant::now();
        turn += 1;
        let mut bytes = files[turn % files.len()].clone();
        if turn % 5 == 4 {
            let at = bytes.len() / 2 + dice.below(bytes.len() / 2);
            bytes[at] ^= 1;
            campaign.count("broken files");
        } else {
            campaign.count("new models");
        }
        if let Err(error) = place(folder, &bytes) {
            campaign.fail(format!("the campaign cannot replace a model: {error}"));
        }
    }
}

/// Resident memory at a moment of a server's life.
struct Sampled {
    life: usize,
    resident: f64,
}

/// Looks at the server until the end; stops it and starts it again after a sixth and a third of the time.
fn drive(
    campaign: &Campaign,
    (program, folder, whole): (&Path, &Path, &[u8]),
    server: &mut Server,
    end: Instant,
    minutes: f64,
) -> Result<Vec<Sampled>> {
    let begin = Instant::now();
    let share = |part: f64| begin + Duration::from_secs_f64(60.0 * minutes * part);
    let stops = [share(1.0 / 6.0), share(1.0 / 3.0)];
    let mut samples = Vec::new();
    let mut looked = Instant::now();
    while Instant::now() < end {
        std::thread::sleep(Duration::from_millis(100));
        if stops.get(campaign.stops()).is_some_and(|at| Instant::now() > *at) {
            campaign.stopping.store(true, Ordering::SeqCst);
            campaign.stops.fetch_add(1, Ordering::SeqCst);
            server.stop(campaign)?;
            // The next server must not meet a broken file first.
            place(folder, whole)?;
            *server = Server::start(program, folder, campaign.port)?;
            campaign.stopping.store(false, Ordering::SeqCst);
            println!("told to stop and started again");
        }
        if let Some(status) = server.child.try_wait()? {
            bail!("the server ended by itself: {status}");
        }
        if looked.elapsed() >= Duration::from_secs(LOOK) {
            looked = Instant::now();
            let (life, resident) = (campaign.stops(), server.resident());
            println!(
                "{:4.0} s: resident {:.1} MB, {} open files and sockets",
                begin.elapsed().as_secs_f64(),
                resident / 1e6,
                server.files()
            );
            samples.push(Sampled { life, resident });
        }
    }
    Ok(samples)
}

/// Memory at the end of the last life beside that after its first quarter.
fn flat(campaign: &Campaign, samples: &[Sampled]) {
    let life = samples.last().map_or(0, |last| last.life);
    let last: Vec<f64> = samples.iter().filter(|s| s.life == life).map(|s| s.resident).collect();
    if last.len() < 8 {
        println!("resident memory: too short to tell");
        return;
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let quarter = last.len() / 4;
    let (early, late) = (mean(&last[quarter..2 * quarter]), mean(&last[last.len() - quarter..]));
    println!("resident memory: {:.1} MB early, {:.1} MB late", early / 1e6, late / 1e6);
    if late > early + GROWTH {
        campaign.fail(format!("resident memory grew from {:.1} to {:.1} MB", early / 1e6, late / 1e6));
    }
}

struct Server {
    child: Child,
}

impl Server {
    fn start(program: &Path, folder: &Path, port: u16) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg("serve").arg(folder.join("models")).args(["--listen", &format!("127.0.0.1:{port}")]);
        command.args(["--watch", "0.2", "--max-body", &LARGEST.to_string(), "--quiet"]);
        command.args(["--head-timeout", "2", "--body-timeout", "2", "--threads", "2"]);
        let log = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("log"))?;
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
        let mut server = Server { child };
        let start = Instant::now();
        while http::connect(port).is_err() {
            if server.child.try_wait()?.is_some() || start.elapsed() > Duration::from_mins(1) {
                bail!("the server does not start: see {}", folder.join("log").display());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(100));
        Ok(server)
    }

    /// SIGTERM; it must end well.
    fn stop(&mut self, campaign: &Campaign) -> Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                if !status.success() {
                    campaign.fail(format!("the server was told to stop and ended with {status}"));
                }
                return Ok(());
            }
            if start.elapsed() > Duration::from_secs(40) {
                bail!("the server does not stop");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn resident(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
    }

    fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
