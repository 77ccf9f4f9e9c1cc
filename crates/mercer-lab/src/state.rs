//! What all requests share: files, data sets and models that pages have brought or made, and the jobs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use mercer::Exec;
use mercer::data::Dataset;
use mercer::model::Model;
use mercer_serve::error::Refusal;
use mercer_serve::shell::{Limits, Room};
use tokio::sync::{Semaphore, watch};

use crate::jobs::Jobs;
use crate::reply::Reply;
use crate::rooms::digits::Digits;

/// The state of a server.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) exec: Exec,
    pub(crate) seed: u64,
    pub(crate) limits: Limits,
    /// The memory of bodies.
    pub(crate) bodies: Room,
    pub(crate) jobs: Jobs,
    /// Models that were trained here, as files.
    pub(crate) folder: tempfile::TempDir,
    /// The digits and their machines, once they are trained.
    pub(crate) digits: OnceLock<Digits>,
    /// Whether the server is about to end.
    pub(crate) stopping: watch::Receiver<bool>,
    /// Live requests that compute at the same time.
    pub(crate) room: Semaphore,
    store: Mutex<Store>,
}

/// What pages have brought or made, by number.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) files: Vec<Arc<Given>>,
    pub(crate) sets: Vec<Arc<Set>>,
    pub(crate) models: Vec<Arc<Kept>>,
}

/// A file as it was brought.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) from: From,
}

/// Where a file's bytes are.
#[derive(Debug)]
pub(crate) enum From {
    Page(Bytes),
    Disk(PathBuf),
}

/// A file that was read as data.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) id: usize,
    pub(crate) file: Arc<Given>,
    /// The flags of the command that read it in the same way.
    pub(crate) flags: String,
    pub(crate) data: Dataset,
}

/// A model, and what is known of how it came about.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) id: usize,
    pub(crate) name: String,
    pub(crate) model: Model,
    /// Its data, and the rows that it was trained and judged on.
    pub(crate) set: Option<Arc<Set>>,
    pub(crate) train: Vec<usize>,
    pub(crate) held: Vec<usize>,
    /// A page about its training.
    pub(crate) report: Option<String>,
    /// The same by the command and in Python.
    pub(crate) command: String,
    pub(crate) python: String,
}

impl Lab {
    /// A state without data.
    pub(crate) fn new(exec: Exec, seed: u64, stopping: watch::Receiver<bool>) -> std::io::Result<Self> {
        let limits = Limits { body: 512 << 20, ..Limits::default() };
        Ok(Lab {
            exec,
            seed,
            limits,
            bodies: Room::within(exec.memory()),
            jobs: Jobs::default(),
            folder: tempfile::tempdir()?,
            digits: OnceLock::new(),
            stopping,
            room: Semaphore::new(exec.threads().max(2)),
            store: Mutex::default(),
        })
    }

    /// What pages have brought or made.
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file by its number.
    pub(crate) fn file(&self, id: usize) -> Result<Arc<Given>, Refusal> {
        self.store().files.get(id).cloned().ok_or_else(|| missing("file", id))
    }

    /// A data set by its number.
    pub(crate) fn set(&self, id: usize) -> Result<Arc<Set>, Refusal> {
        self.store().sets.get(id).cloned().ok_or_else(|| missing("data set", id))
    }

    /// A model by its number.
    pub(crate) fn model(&self, id: usize) -> Result<Arc<Kept>, Refusal> {
        self.store().models.get(id).cloned().ok_or_else(|| missing("model", id))
    }

    /// Keeps a model under the next number.
    pub(crate) fn keep(&self, make: impl FnOnce(usize) -> Kept) -> Arc<Kept> {
        let mut store = self.store();
        let kept = Arc::new(make(store.models.len()));
        store.models.push(Arc::clone(&kept));
        kept
    }

    /// Computes away from the threads that read and write sockets.
    pub(crate) async fn compute(
        self: Arc<Self>,
        work: impl FnOnce(&Arc<Lab>) -> Reply + Send + 'static,
    ) -> Reply {
        let lab = Arc::clone(&self);
        let _place = self.room.acquire().await;
        tokio::task::spawn_blocking(move || work(&lab))
            .await
            .unwrap_or_else(|_| Err(Refusal::bad("an internal error ended this request; please report it")))
    }
}

fn missing(what: &str, id: usize) -> Refusal {
    Refusal::missing(format!(
        "there is no {what} {id}: the server was started again, or the address is of another one"
    ))
}
