//! Batches: requests that wait at the same time become one matrix product.
//!
//! Workers are threads of their own, apart from those that read and write sockets. A worker takes the oldest request and
//! whatever else waits for the same model with rows of the same kind, up to a number of rows. By default it never waits for more:
//! while a worker computes, requests gather by themselves, and a client that is alone waits for nobody. A request whose
//! prediction is shorter than the way to a worker and back is computed at once, where it was read.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use mercer::data::{Data, Points, View};
use mercer::exec::FEW;
use mercer::{Exec, Result};
use tokio::sync::oneshot;

use crate::error::Refusal;
use crate::models::{Served, Stats};
use crate::outputs::{Computed, Rows, Wanted, compute};

/// Rows from which on a worker that is alone uses all threads.
const MANY: usize = 64;

/// How requests are gathered.
#[derive(Debug, Clone, Copy)]
pub struct Batching {
    /// Rows of a batch, at most; a single request may have more. Up to [`mercer::exec::FEW`] rows are predicted as each of them
    /// alone, to the last bit.
    pub rows: usize,
    /// How long the first request of a batch waits for others.
    pub wait: Duration,
    /// Threads that compute.
    pub workers: usize,
    /// Requests that may wait.
    pub queue: usize,
}

/// What a request gets: its rows of what was computed for the batch.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What was computed.
    pub computed: Arc<Computed>,
    /// The rows of this request.
    pub rows: Range<usize>,
}

struct Job {
    served: Arc<Served>,
    stats: Arc<Stats>,
    rows: Rows,
    wanted: Wanted,
    reply: oneshot::Sender<std::result::Result<Answer, Refusal>>,
}

/// The queue and what it counts.
#[derive(Debug)]
pub(crate) struct Batcher {
    batching: Batching,
    exec: Exec,
    queue: Mutex<VecDeque<Job>>,
    more: Condvar,
    closed: AtomicBool,
    busy: AtomicUsize,
    waiting: AtomicUsize,
    /// Batches by their number of rows: at most 1, 2, 4, ...
    pub sizes: [AtomicU64; 16],
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("model", &self.served.name).finish_non_exhaustive()
    }
}

impl Batcher {
    /// A queue without workers.
    pub(crate) fn new(batching: Batching, exec: Exec) -> Self {
        Batcher {
            batching,
            exec,
            queue: Mutex::default(),
            more: Condvar::new(),
            closed: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            sizes: Default::default(),
        }
    }

    /// How it gathers.
    pub(crate) fn batching(&self) -> Batching {
        self.batching
    }

    /// Starts the workers. They end after [`Batcher::close`], when nothing waits any more.
    pub(crate) fn start(self: &Arc<Self>) -> std::io::Result<Vec<std::thread::JoinHandle<()>>> {
        let one = |i| {
            let batcher = Arc::clone(self);
            std::thread::Builder::new().name(format!("predict-{i}")).spawn(move || batcher.work())
        };
        (0..self.batching.workers.max(1)).map(one).collect()
    }

    /// Lets the workers end.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        drop(self.lock());
        self.more.notify_all();
    }

    /// Requests that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Computes something for the rows of a request, together with others.
    pub(crate) async fn ask(
        &self,
        served: &Arc<Served>,
        stats: &Arc<Stats>,
        rows: Rows,
        wanted: Wanted,
    ) -> std::result::Result<Answer, Refusal> {
        let (reply, answer) = oneshot::channel();
        let job = Job { served: Arc::clone(served), stats: Arc::clone(stats), rows, wanted, reply };
        if self.at_once(&job) {
            self.guarded(vec![job], usize::MAX);
            return answer.await.unwrap_or_else(|_| Err(failed()));
        }
        {
            let mut queue = self.lock();
            if queue.len() >= self.batching.queue {
                let message =
                    format!("{} requests are already waiting, the limit of this server", queue.len());
                return Err(Refusal::later(StatusCode::TOO_MANY_REQUESTS, message));
            }
            if self.closed.load(Ordering::SeqCst) {
                return Err(Refusal::later(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"));
            }
            queue.push_back(job);
            self.waiting.store(queue.len(), Ordering::Relaxed);
        }
        self.more.notify_one();
        answer.await.unwrap_or_else(|_| Err(failed()))
    }

    /// Whether a request need not wait for a worker: nobody asked for batches that wait, rows are predicted as they would be
    /// in any batch, and it is known that they take a short time.
    fn at_once(&self, job: &Job) -> bool {
        let rows = job.rows.len();
        self.batching.wait.is_zero()
            && rows <= FEW
            && steady(job)
            && job.served.pace.is_short(job.wanted, rows)
            && !self.closed.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(batch) = self.next() {
            let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
            self.guarded(batch, busy);
            self.busy.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// What the library promises never to do must not take a thread away from all other requests.
    fn guarded(&self, batch: Vec<Job>, busy: usize) {
        let run = std::panic::AssertUnwindSafe(|| self.run(batch, busy));
        if std::panic::catch_unwind(run).is_err() {
            tracing::error!("a prediction panicked; its requests are answered with status 500");
        }
    }

    /// The next batch; none when the queue is closed and empty.
    fn next(&self) -> Option<Vec<Job>> {
        let mut queue = self.lock();
        let first = loop {
            if let Some(job) = queue.pop_front() {
                break job;
            }
            if self.closed.load(Ordering::SeqCst) {
                return None;
            }
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
        };
        let mut rows = first.rows.len();
        let mut batch = vec![first];
        let end = (!self.batching.wait.is_zero()).then(|| Instant::now() + self.batching.wait);
        loop {
            gather(&mut batch, &mut rows, &mut queue, self.batching.rows);
            let left = end.map_or(Duration::ZERO, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() || rows >= self.batching.rows || self.closed.load(Ordering::SeqCst) {
                break;
            }
            queue = self.more.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.waiting.store(queue.len(), Ordering::Relaxed);
        if !queue.is_empty() {
            self.more.notify_one();
        }
        Some(batch)
    }

    fn run(&self, batch: Vec<Job>, busy: usize) {
        let rows: usize = batch.iter().map(|job| job.rows.len()).sum();
        let size = rows.max(1).next_power_of_two().ilog2() as usize;
        self.sizes[size.min(self.sizes.len() - 1)].fetch_add(1, Ordering::Relaxed);
        batch[0].stats.batches.fetch_add(1, Ordering::Relaxed);
        let exec = if rows >= MANY && busy == 1 { self.exec } else { self.exec.with_threads(1) };
        let model = &batch[0].served.model;
        let wanted = batch.iter().fold(Wanted::default(), |all, job| all.or(job.wanted));
        let begun = Instant::now();
        let together = if let [job] = batch.as_slice() {
            compute(model, job.rows.points().view(), wanted, exec)
        } else {
            let views: Vec<View<'_>> = batch.iter().map(|job| job.rows.points().view()).collect();
            joined(&views).and_then(|points| compute(model, points.view(), wanted, exec))
        };
        match together {
            Ok(computed) => {
                if rows <= FEW && steady(&batch[0]) {
                    batch[0].served.pace.note(wanted, rows, begun.elapsed());
                }
                let computed = Arc::new(computed);
                let mut start = 0;
                for job in batch {
                    let rows = start..start + job.rows.len();
                    start = rows.end;
                    job.count(true);
                    // Whoever has gone away gets nothing.
                    let _ = job.reply.send(Ok(Answer { computed: Arc::clone(&computed), rows }));
                }
            }
            Err(error) if batch.len() == 1 => {
                batch.into_iter().for_each(|job| job.refuse(&error));
            }
            // One bad row must not fail its neighbours.
            Err(_) => {
                for job in batch {
                    match compute(&job.served.model, job.rows.points().view(), job.wanted, exec) {
                        Ok(computed) => {
                            job.count(true);
                            let rows = 0..job.rows.len();
                            let _ = job.reply.send(Ok(Answer { computed: Arc::new(computed), rows }));
                        }
                        Err(error) => job.refuse(&error),
                    }
                }
            }
        }
    }
}

impl Job {
    fn count(&self, good: bool) {
        let stats = &self.stats;
        stats.requests.fetch_add(1, Ordering::Relaxed);
        stats.rows.fetch_add(self.rows.len() as u64, Ordering::Relaxed);
        if !good {
            stats.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn refuse(self, error: &mercer::Error) {
        self.count(false);
        let status = match error {
            mercer::Error::Memory { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        };
        let _ = self.reply.send(Err(Refusal::new(status, error.to_string())));
    }
}

/// Where a request fails without words of its own.
fn failed() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the prediction failed: see the log of the server")
}

/// Whether every row of a model takes about the same time: rows of numbers and of tables, but not sequences, which may be long.
fn steady(job: &Job) -> bool {
    matches!(job.rows.points().view().data, Data::F32(_) | Data::F64(_) | Data::Table { .. })
}

/// Takes from the queue what can be computed with the batch.
fn gather(batch: &mut Vec<Job>, rows: &mut usize, queue: &mut VecDeque<Job>, most: usize) {
    let Some(kind) = kind(&batch[0]) else { return };
    let fits = |job: &Job, rows: usize| {
        rows + job.rows.len() <= most
            && Arc::ptr_eq(&job.served.model, &batch[0].served.model)
            && self::kind(job) == Some(kind)
    };
    let mut taken = Vec::new();
    let mut i = 0;
    while i < queue.len() && *rows < most {
        if fits(&queue[i], *rows) {
            let Some(job) = queue.remove(i) else { break };
            *rows += job.rows.len();
            taken.push(job);
        } else {
            i += 1;
        }
    }
    batch.extend(taken);
}

/// What rows that become one matrix must have in common; none for rows that stay alone.
fn kind(job: &Job) -> Option<(bool, usize)> {
    let view = job.rows.points().view();
    match view.data {
        Data::F32(_) => Some((true, view.d)),
        Data::F64(_) => Some((false, view.d)),
        _ => None,
    }
}

/// Dense rows of one kind, one after the other.
fn joined(views: &[View<'_>]) -> Result<Points> {
    let d = views[0].d;
    if let Data::F32(_) = views[0].data {
        let parts = views.iter().filter_map(|view| if let Data::F32(x) = view.data { Some(x) } else { None });
        return Points::dense_f32(parts.collect::<Vec<_>>().concat(), d);
    }
    let parts = views.iter().filter_map(|view| if let Data::F64(x) = view.data { Some(x) } else { None });
    Points::dense(parts.collect::<Vec<_>>().concat(), d)
}
