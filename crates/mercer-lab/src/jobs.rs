//! Long work: a thread each, progress, a mark that cancels, and events that can be read again from the start.
//!
//! Events that matter (results, cells of a heat map, the end) are kept in order for as long as the server runs; of progress
//! only the latest is. So a page that was closed and opened again loses nothing.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use bytes::Bytes;
use http_body_util::channel::Channel;
use mercer::watch::Step;
use mercer_serve::shell;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Minimum time between progress events.
const EVERY: Duration = Duration::from_millis(60);
/// A browser opens six connections to a server, for all its pages. Where more pages than this listen, streams are short and
/// pages come back, so that none of them waits for ever.
const MANY: usize = 3;
const SHORT: Duration = Duration::from_millis(400);
/// Something is sent at least so often, so that pages that have gone are noticed.
const ALIVE: Duration = Duration::from_secs(10);

/// One piece of long work.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: usize,
    /// What it is: `train`, `tune`, ...
    pub(crate) kind: &'static str,
    /// What a page shows.
    pub(crate) title: String,
    cancel: AtomicBool,
    /// Whether its thread is running; it stops shortly after a cancellation.
    working: AtomicBool,
    log: Mutex<Log>,
    news: watch::Sender<u64>,
    since: Instant,
}

#[derive(Debug, Default)]
struct Log {
    kept: Vec<Value>,
    progress: Option<Value>,
    version: u64,
    ended: Option<&'static str>,
}

impl Job {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores an event and notifies listeners.
    pub(crate) fn tell(&self, event: Value) {
        let mut log = self.log();
        if log.ended.is_some() {
            return;
        }
        log.kept.push(event);
        log.version += 1;
        self.news.send_replace(log.version);
    }

    fn progress(&self, step: &Step) {
        let mut log = self.log();
        log.progress = Some(json!({
            "event": "progress", "phase": step.phase, "done": step.done, "total": step.total,
            "gap": step.gap.filter(|gap| gap.is_finite()), "centres": step.centres,
            "seconds": self.since.elapsed().as_secs_f64(),
        }));
        log.version += 1;
        self.news.send_replace(log.version);
    }

    /// Cancels it. Its result is dropped from here on, so pages are notified at once; the thread ends at the next
    /// step of its work.
    pub(crate) fn cancel(&self) {
        self.cancel.store(true, Ordering::SeqCst);
        let seconds = self.since.elapsed().as_secs_f64();
        self.end("cancelled", json!({ "event": "cancelled", "seconds": seconds }));
    }

    /// Whether it was cancelled.
    pub(crate) fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Whether it failed or was cancelled.
    pub(crate) fn stopped_early(&self) -> bool {
        self.cancelled() || matches!(self.log().ended, Some("failed" | "cancelled"))
    }

    /// The watcher of its work.
    pub(crate) fn watch(&self) -> impl FnMut(&Step) -> ControlFlow<()> + Send {
        let mut last: Option<Instant> = None;
        move |step: &Step| {
            if let Some(scored) = step.scored {
                let score = scored.score.filter(|score| score.is_finite());
                self.tell(json!({ "event": "score", "setting": scored.setting, "fold": scored.fold, "score": score }));
            }
            if last.is_none_or(|last| last.elapsed() >= EVERY) {
                last = Some(Instant::now());
                self.progress(step);
            }
            if self.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    fn end(&self, how: &'static str, event: Value) {
        let mut log = self.log();
        if log.ended.is_some() {
            return;
        }
        log.ended = Some(how);
        log.kept.push(event);
        log.version += 1;
        self.news.send_replace(log.version);
    }

    /// What a list of jobs shows.
    pub(crate) fn facts(&self) -> Value {
        let log = self.log();
        json!({
            "id": self.id, "kind": self.kind, "title": self.title, "state": log.ended.unwrap_or("running"),
            "working": self.working.load(Ordering::SeqCst), "seconds": self.since.elapsed().as_secs_f64(),
        })
    }

    /// Events from a number on, the latest progress if it is newer than what was seen, and whether that is all.
    fn since(&self, from: usize, seen: &mut u64) -> (Vec<(usize, Value)>, Option<Value>, bool) {
        let log = self.log();
        let kept = log.kept.iter().cloned().enumerate().skip(from).collect();
        let progress = log.progress.clone().filter(|_| log.version > *seen && log.ended.is_none());
        *seen = log.version;
        (kept, progress, log.ended.is_some())
    }
}

/// All jobs of a server.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    all: Mutex<Vec<Arc<Job>>>,
    streams: Arc<AtomicUsize>,
}

/// How work ends: facts for the page, or words.
pub(crate) type Ended = Result<Value, mercer::Error>;

impl Jobs {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts work on a thread of its own.
    pub(crate) fn start(
        &self,
        kind: &'static str,
        title: String,
        work: impl FnOnce(&Job) -> Ended + Send + 'static,
    ) -> Arc<Job> {
        let job = {
            let mut all = self.all();
            let job = Arc::new(Job {
                id: all.len(),
                kind,
                title,
                cancel: AtomicBool::new(false),
                working: AtomicBool::new(true),
                log: Mutex::default(),
                news: watch::Sender::new(0),
                since: Instant::now(),
            });
            all.push(Arc::clone(&job));
            job
        };
        let own = Arc::clone(&job);
        let run = move || {
            let ended = catch_unwind(AssertUnwindSafe(|| work(&own)));
            own.working.store(false, Ordering::SeqCst);
            let seconds = own.since.elapsed().as_secs_f64();
            match ended {
                Ok(Err(mercer::Error::Cancelled)) => {
                    own.end("cancelled", json!({ "event": "cancelled", "seconds": seconds }));
                }
                Ok(Ok(_)) if own.cancelled() => {
                    own.end("cancelled", json!({ "event": "cancelled", "seconds": seconds }));
                }
                Ok(Ok(result)) => {
                    own.end("done", json!({ "event": "done", "result": result, "seconds": seconds }));
                }
                Ok(Err(error)) => {
                    own.end("failed", json!({ "event": "failed", "message": error.to_string() }));
                }
                Err(_) => {
                    let message = "an internal error ended this job; please report it";
                    own.end("failed", json!({ "event": "failed", "message": message }));
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name(format!("job {}", job.id)).spawn(run) {
            job.working.store(false, Ordering::SeqCst);
            job.end("failed", json!({ "event": "failed", "message": format!("no thread: {error}") }));
        }
        job
    }

    /// A job by its number.
    pub(crate) fn get(&self, id: usize) -> Option<Arc<Job>> {
        self.all().get(id).cloned()
    }

    /// The latest job of some kind.
    pub(crate) fn find(&self, wanted: impl Fn(&Job) -> bool) -> Option<Arc<Job>> {
        self.all().iter().rev().find(|job| wanted(job)).cloned()
    }

    /// What is known of all, in their order.
    pub(crate) fn list(&self) -> Vec<Value> {
        self.all().iter().map(|job| job.facts()).collect()
    }

    /// Asks all to stop.
    pub(crate) fn cancel_all(&self) {
        self.all().iter().for_each(|job| job.cancel());
    }

    /// Events of a job from a number on, as server-sent events.
    pub(crate) fn stream(
        &self,
        job: Arc<Job>,
        from: usize,
        mut stopping: watch::Receiver<bool>,
    ) -> Response<Body> {
        let (mut out, body) = Channel::<Bytes, std::convert::Infallible>::new(8);
        let streams = Arc::clone(&self.streams);
        streams.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(async move {
            let (mut at, mut seen, begun) = (from, 0, Instant::now());
            let mut news = job.news.subscribe();
            let mut text = String::from("retry: 100\n\n");
            loop {
                let (kept, progress, ended) = job.since(at, &mut seen);
                for (number, event) in kept {
                    at = number + 1;
                    let _ = write!(text, "id: {at}\ndata: {event}\n\n");
                }
                if let Some(progress) = progress {
                    let _ = write!(text, "data: {progress}\n\n");
                }
                if out.send_data(Bytes::from(std::mem::take(&mut text))).await.is_err() || ended {
                    break;
                }
                let crowded = streams.load(Ordering::SeqCst) > MANY;
                let left = if crowded { SHORT.saturating_sub(begun.elapsed()) } else { ALIVE };
                tokio::select! {
                    _ = news.changed() => {}
                    _ = stopping.wait_for(|stop| *stop) => break,
                    () = tokio::time::sleep(left) => {
                        if crowded {
                            break;
                        }
                        text.push_str(": alive\n\n");
                    }
                }
            }
            streams.fetch_sub(1, Ordering::SeqCst);
        });
        shell::asset("text/event-stream", Body::new(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(job: &Job) -> Value {
        let begun = Instant::now();
        loop {
            let mut seen = 0;
            let (kept, _, ended) = job.since(0, &mut seen);
            if ended {
                return kept.last().cloned().expect("an end").1;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "the job does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn events_are_kept_in_order_and_the_end_is_told() {
        let jobs = Jobs::default();
        let job = jobs.start("test", "a title".into(), |job| {
            (0..3).for_each(|k| job.tell(json!({ "event": "k", "k": k })));
            Ok(json!(7))
        });
        assert_eq!(ended(&job)["result"], 7);
        let (kept, ..) = job.since(1, &mut 0);
        assert_eq!(kept.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(kept[0].1["k"], 1);
        assert_eq!(jobs.list()[0]["state"], "done");
    }

    #[test]
    fn a_cancelled_job_stops_and_says_so() {
        let jobs = Jobs::default();
        let job = jobs.start("test", String::new(), |job| {
            let mut watch = job.watch();
            while watch(&Step::new("turn", 1, None)).is_continue() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(mercer::Error::Cancelled)
        });
        job.cancel();
        assert_eq!(ended(&job)["event"], "cancelled");
    }

    #[test]
    fn a_job_that_fails_or_panics_says_why() {
        let jobs = Jobs::default();
        let job = jobs.start("test", String::new(), |_| Err(mercer::Error::Unsupported("no way".into())));
        assert_eq!(ended(&job)["message"], "no way");
        let job = jobs.start("test", String::new(), |_| panic!("on purpose"));
        assert_eq!(ended(&job)["event"], "failed");
    }
}
