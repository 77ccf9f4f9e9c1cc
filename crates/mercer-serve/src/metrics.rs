//! Counters, and the page on which Prometheus reads them.
//!
//! They are atomic numbers written as text: no registry, no lock, nothing to pay for on the way of a request but an addition.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::app::App;

/// Bounds of the latency histogram, in microseconds.
const BOUNDS: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    5_000_000,
];

/// What is counted for all requests.
#[derive(Debug)]
pub(crate) struct Metrics {
    start: Instant,
    buckets: [AtomicU64; 15],
    total: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics { start: Instant::now(), buckets: Default::default(), total: AtomicU64::new(0) }
    }
}

/// Measures a request until it is dropped.
#[derive(Debug)]
pub(crate) struct Clock<'a> {
    metrics: &'a Metrics,
    start: Instant,
}

impl Metrics {
    /// Starts to measure a request.
    pub(crate) fn clock(&self) -> Clock<'_> {
        Clock { metrics: self, start: Instant::now() }
    }
}

impl Drop for Clock<'_> {
    fn drop(&mut self) {
        let micros = self.start.elapsed().as_micros() as u64;
        let at = BOUNDS.iter().position(|bound| micros <= *bound).unwrap_or(BOUNDS.len());
        self.metrics.buckets[at].fetch_add(1, Ordering::Relaxed);
        self.metrics.total.fetch_add(micros, Ordering::Relaxed);
    }
}

/// The page.
pub(crate) fn page(app: &App) -> String {
    let mut out = String::new();
    let head = |out: &mut String, name: &str, kind: &str, help: &str| {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    };
    let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
    head(&mut out, "mercer_http_responses_total", "counter", "Responses by status.");
    for (status, count) in app.counts.statuses.seen() {
        let _ = writeln!(out, "mercer_http_responses_total{{status=\"{status}\"}} {count}");
    }
    let counts = &app.counts;
    for (name, kind, help, value) in [
        ("mercer_connections_open", "gauge", "Open connections.", counts.open.load(Ordering::Relaxed) as u64),
        ("mercer_connections_accepted_total", "counter", "Accepted connections.", get(&counts.accepted)),
        (
            "mercer_connections_refused_total",
            "counter",
            "Connections beyond the limit.",
            get(&counts.refused),
        ),
        ("mercer_queue_requests", "gauge", "Requests that wait for a worker.", app.batcher.waiting() as u64),
        ("mercer_uptime_seconds", "gauge", "Seconds since the start.", app.metrics.start.elapsed().as_secs()),
        ("mercer_resident_bytes", "gauge", "Resident memory of the process.", resident().unwrap_or(0)),
        (
            "mercer_batch_max_rows",
            "gauge",
            "Setting: maximum rows per batch.",
            app.batcher.batching().rows as u64,
        ),
    ] {
        head(&mut out, name, kind, help);
        let _ = writeln!(out, "{name} {value}");
    }
    head(&mut out, "mercer_batch_wait_seconds", "gauge", "Setting: how long a batch waits for more rows.");
    let _ = writeln!(out, "mercer_batch_wait_seconds {}", app.batcher.batching().wait.as_secs_f64());
    for (name, help, of) in [
        ("mercer_model_requests_total", "Requests computed, by model.", 0),
        ("mercer_model_rows_total", "Rows computed, by model.", 1),
        ("mercer_model_failures_total", "Requests that the model rejected.", 2),
        ("mercer_model_batches_total", "Batches computed, by model.", 3),
    ] {
        head(&mut out, name, "counter", help);
        for (model, entry) in app.registry.entries().iter() {
            let stats = &entry.stats;
            let value = get([&stats.requests, &stats.rows, &stats.failures, &stats.batches][of]);
            let _ = writeln!(out, "{name}{{model=\"{}\"}} {value}", label(model));
        }
    }
    head(&mut out, "mercer_model_ready", "gauge", "1 where a version of the model is served.");
    for (model, entry) in app.registry.entries().iter() {
        let version = entry.latest.as_ref().map(|served| served.version.as_str()).unwrap_or_default();
        let ready = u8::from(entry.latest.is_some());
        let _ =
            writeln!(out, "mercer_model_ready{{model=\"{}\",version=\"{version}\"}} {ready}", label(model));
    }
    let bounds = (0..).map(|i| (1u64 << i).to_string());
    histogram(&mut out, "mercer_batch_rows", "Batches by rows.", &app.batcher.sizes, bounds, None);
    let bounds = BOUNDS.iter().map(|bound| (*bound as f64 / 1e6).to_string());
    let sum = get(&app.metrics.total) as f64 / 1e6;
    let help = "Time of prediction requests, with reading and writing.";
    histogram(&mut out, "mercer_request_seconds", help, &app.metrics.buckets, bounds, Some(sum));
    out
}

fn histogram(
    out: &mut String,
    name: &str,
    help: &str,
    counts: &[AtomicU64],
    bounds: impl Iterator<Item = String>,
    sum: Option<f64>,
) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} histogram");
    let mut all = 0;
    let last = counts.len() - 1;
    for (i, (count, bound)) in counts.iter().zip(bounds.chain([String::new()])).enumerate() {
        all += count.load(Ordering::Relaxed);
        let bound = if i == last { "+Inf" } else { &bound };
        let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {all}");
    }
    if let Some(sum) = sum {
        let _ = writeln!(out, "{name}_sum {sum}");
    }
    let _ = writeln!(out, "{name}_count {all}");
}

/// A name as a label's value.
fn label(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Resident memory, where the system tells it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
