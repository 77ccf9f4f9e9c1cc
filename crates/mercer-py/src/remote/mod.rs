//! Long work whose parts are done by Python, on other machines: the library's thread asks, the calling thread
//! answers.
//!
//! What Python does for the library runs on the thread that called, so that Ctrl-C and exceptions of a cluster reach
//! the caller unchanged. If the caller leaves, the next question ends the work.

pub(crate) mod search;
pub(crate) mod shard;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mercer::Error;
use mercer::watch::{Step, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::run::{on, pool};
use crate::words::raise;

/// How often signals are looked at and steps are told.
const TICK: Duration = Duration::from_millis(15);

/// Something to be done on the calling thread.
type Job = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

enum Message<T> {
    Job(Job),
    Done(mercer::Result<T>),
}

/// The thread that called, as the library's thread sees it.
pub(crate) struct Caller(Box<dyn Fn(Job) -> bool + Send + Sync>);

impl Caller {
    /// Has something done on the calling thread, and waits for it. If that fails, the work is over.
    pub(crate) fn ask<R: Send + 'static>(
        &self,
        call: impl FnOnce(Python<'_>) -> PyResult<R> + Send + 'static,
    ) -> mercer::Result<R> {
        let (send, receive) = mpsc::channel();
        let job: Job = Box::new(move |py| {
            // The library's thread waits for it.
            let _ = send.send(call(py)?);
            Ok(())
        });
        if !(self.0)(job) {
            return Err(Error::Cancelled);
        }
        receive.recv().map_err(|_| Error::Cancelled)
    }
}

/// Tells the library's thread to stop when the caller leaves, whatever the reason.
struct Leaving(Arc<AtomicBool>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does work that asks the calling thread. `callback` hears of its steps as in [`crate::run::watched`].
pub(crate) fn asking<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Caller, &mut Watch<'_>) -> mercer::Result<T> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let _leaving = Leaving(Arc::clone(&stop));
    let latest: Arc<Mutex<Option<Step>>> = Arc::default();
    let (send, mut receive) = mpsc::channel();
    let (stopped, told, threads) = (Arc::clone(&stop), Arc::clone(&latest), pool(py)?);
    let worker = std::thread::Builder::new().name("mercer".into()).spawn(move || {
        let jobs = send.clone();
        let caller = Caller(Box::new(move |job| jobs.send(Message::Job(job)).is_ok()));
        let mut watch = |step: &Step| {
            if let Ok(mut latest) = told.lock() {
                *latest = Some(step.clone());
            }
            if stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // After an interrupt the result is not needed.
        let _ = send.send(Message::Done(on(threads.as_deref(), || work(&caller, &mut watch))));
    });
    worker.map_err(|e| PyRuntimeError::new_err(format!("no thread for the work: {e}")))?;
    let tell = || -> PyResult<bool> {
        let latest = latest.lock().ok().and_then(|mut latest| latest.take());
        let (Some(callback), Some(step)) = (callback, latest) else { return Ok(false) };
        callback.call1((step.phase, step.done, step.total, step.gap, step.centres))?.is_truthy()
    };
    let mut stopping = false;
    loop {
        let heard = {
            let receive = &mut receive;
            py.detach(move || receive.recv_timeout(TICK))
        };
        match heard {
            Ok(Message::Done(done)) => {
                if !stopping {
                    tell()?;
                }
                return done.map_err(raise);
            }
            Ok(Message::Job(job)) => job(py)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("internal error: please report the call"));
            }
        }
        py.check_signals()?;
        if !stopping && tell()? {
            stopping = true;
            stop.store(true, Ordering::Relaxed);
        }
    }
}
