//! Long work on a thread of its own, while the calling thread stays Python's.
//!
//! The caller gives up the interpreter's lock and looks at signals every few milliseconds, so Ctrl-C is heard at once
//! whatever the library is doing; the work itself ends at its next step. Callbacks run on the calling thread, never on one
//! that Python does not know.
//!
//! Work on rows that lie in Python's memory (`to_the_end`) is waited for whatever happens: it is work that ends
//! soon after it is told to stop. All other work may go on by itself for a while after an interrupt.
//!
//! Work on little data is over before another thread would have begun: it stays on the calling thread, without the lock, and
//! signals are looked at from its steps.
//!
//! Work in a process that was forked runs on threads of its own: a fork copies rayon's pool without its threads, and
//! whoever hands work to that copy waits for ever.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mercer::Exec;
use mercer::watch::{Step, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::words::raise;

/// Interval of checking signals and reporting steps.
const TICK: Duration = Duration::from_millis(15);
/// How long a cancelled computation is waited for; after that it ends by itself.
const GRACE: Duration = Duration::from_millis(20);

/// What both threads see.
struct Shared {
    stop: AtomicBool,
    latest: Mutex<Option<Step>>,
}

/// The first process that worked here: rayon's own pool has its threads there, and only there.
static FIRST: OnceLock<u32> = OnceLock::new();
/// The pool of a process that was forked from it, and which process that is.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads to work on in this process; none stands for rayon's own pool.
///
/// The lock is taken while Python's is held: a fork from Python cannot come in between and copy it locked.
pub(crate) fn pool(_lock: Python<'_>) -> PyResult<Option<Arc<ThreadPool>>> {
    let here = std::process::id();
    if *FIRST.get_or_init(|| here) == here {
        return Ok(None);
    }
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((process, pool)) = &*forked
        && *process == here
    {
        return Ok(Some(Arc::clone(pool)));
    }
    // A pool of the parent process: its threads do not exist here, so it cannot be shut down.
    std::mem::forget(forked.take());
    let made = ThreadPoolBuilder::new().thread_name(|i| format!("mercer {i}")).build();
    let made = Arc::new(made.map_err(|e| PyRuntimeError::new_err(format!("no threads for the work: {e}")))?);
    *forked = Some((here, Arc::clone(&made)));
    Ok(Some(made))
}

/// Does work without Python's lock, on threads that this process has.
pub(crate) fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(py)?;
    Ok(py.detach(|| on(pool.as_deref(), work)))
}

pub(crate) fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// So many threads, half of the memory; 0 means as many threads as the machine has. Counting them takes as long as a small
/// prediction, so that is done once.
pub(crate) fn exec(threads: usize) -> Exec {
    static ALL: OnceLock<usize> = OnceLock::new();
    Exec::new(if threads == 0 { *ALL.get_or_init(|| Exec::new(0).threads()) } else { threads })
}

/// Does work that is over soon and tells its steps, on the calling thread. For work that may take long, or with a
/// callback, use [`watched`]. Returns when the work has ended, if `to_the_end`.
pub(crate) fn brief<T: Send + 'static>(
    py: Python<'_>,
    is_brief: bool,
    to_the_end: bool,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut Watch<'_>) -> mercer::Result<T> + Send + 'static,
) -> PyResult<T> {
    if !is_brief || callback.is_some() || pool(py)?.is_some() {
        return watching(py, callback, to_the_end, work);
    }
    let (mut interrupt, mut last) = (None, Instant::now());
    let done = py.detach(|| {
        let mut watch = |_: &Step| {
            if last.elapsed() < TICK {
                return ControlFlow::Continue(());
            }
            last = Instant::now();
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method itself is not general enough over the token's lifetime"
            )]
            let signals = Python::attach(|py| py.check_signals());
            match signals {
                Ok(()) => ControlFlow::Continue(()),
                Err(raised) => {
                    interrupt = Some(raised);
                    ControlFlow::Break(())
                }
            }
        };
        catch_unwind(AssertUnwindSafe(|| work(&mut watch)))
    });
    match (interrupt, done) {
        (Some(interrupt), _) => Err(interrupt),
        (None, Ok(done)) => done.map_err(raise),
        (None, Err(_)) => Err(broken()),
    }
}

fn broken() -> PyErr {
    PyRuntimeError::new_err("internal error: please report the call")
}

/// Does work that may take long. `callback(phase, done, total, gap, centres)` hears of its steps, at most one a tick and
/// the last one surely; if it answers with something true, the work stops and what there is by then is returned.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut Watch<'_>) -> mercer::Result<T> + Send + 'static,
) -> PyResult<T> {
    watching(py, callback, false, work)
}

/// The same; with `to_the_end` an interrupt, or an error of the callback, waits until the work has stopped.
fn watching<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    to_the_end: bool,
    work: impl FnOnce(&mut Watch<'_>) -> mercer::Result<T> + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared { stop: AtomicBool::new(false), latest: Mutex::new(None) });
    let (send, mut receive) = mpsc::channel();
    let (theirs, threads) = (Arc::clone(&shared), pool(py)?);
    let tells = callback.is_some();
    let worker = std::thread::Builder::new().name("mercer".into()).spawn(move || {
        let mut watch = |step: &Step| {
            if tells && let Ok(mut latest) = theirs.latest.lock() {
                *latest = Some(step.clone());
            }
            if theirs.stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        // After an interrupt the result is not needed.
        let _ = send.send(on(threads.as_deref(), || work(&mut watch)));
    });
    worker.map_err(|e| PyRuntimeError::new_err(format!("no thread for the work: {e}")))?;

    let tell = || -> PyResult<bool> {
        let latest = shared.latest.lock().ok().and_then(|mut latest| latest.take());
        let (Some(callback), Some(step)) = (callback, latest) else { return Ok(false) };
        callback.call1((step.phase, step.done, step.total, step.gap, step.centres))?.is_truthy()
    };
    let mut stopping = false;
    loop {
        match wait(py, &mut receive, TICK) {
            Ok(done) => {
                if !stopping {
                    tell()?;
                }
                return done.map_err(raise);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(broken());
            }
        }
        match py.check_signals().and_then(|()| Ok(!stopping && tell()?)) {
            Ok(false) => {}
            Ok(true) => {
                stopping = true;
                shared.stop.store(true, Ordering::Relaxed);
            }
            Err(interrupt) => {
                shared.stop.store(true, Ordering::Relaxed);
                while let Err(RecvTimeoutError::Timeout) = wait(py, &mut receive, GRACE)
                    && to_the_end
                {}
                return Err(interrupt);
            }
        }
    }
}

fn wait<T: Send>(
    py: Python<'_>,
    receive: &mut Receiver<mercer::Result<T>>,
    time: Duration,
) -> Result<mercer::Result<T>, RecvTimeoutError> {
    py.detach(move || receive.recv_timeout(time))
}
