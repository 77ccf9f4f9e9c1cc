//! A server from its settings: models, workers, port; and its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mercer::Exec;

use crate::app::{App, router};
use crate::batch::{Batcher, Batching};
use crate::metrics::Metrics;
use crate::models::{Place, Registry};
use crate::shell::{Access, Lanes, Limits, Room, Shell};

/// What a server is told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Files and folders of models.
    pub places: Vec<Place>,
    /// Where it listens, and for whom.
    pub access: Access,
    /// What clients may send.
    pub limits: Limits,
    /// How requests are gathered.
    pub batching: Batching,
    /// How often files are looked at; none: never.
    pub look: Option<Duration>,
    /// Threads that read and write sockets.
    pub io_threads: usize,
    /// Threads of a large prediction, and memory.
    pub exec: Exec,
}

/// Why a server did not run.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A model cannot be served.
    #[error(transparent)]
    Model(#[from] mercer::Error),
    /// The settings do not allow it.
    #[error("{0}")]
    Settings(String),
    /// The port cannot be opened.
    #[error("{address}: {source}")]
    Port {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// Threads cannot be started.
    #[error("threads cannot be started: {0}")]
    Threads(std::io::Error),
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Whether all requests that were accepted were answered.
    pub all_answered: bool,
}

/// Serves until `stop` says so. `started` is called once, with the address and the names of the models, when requests are
/// accepted.
pub fn serve(
    settings: Settings,
    stop: impl Fn() -> bool + Send + Sync,
    started: impl FnOnce(SocketAddr, Vec<String>),
) -> Result<Summary, Failure> {
    let Settings { places, access, limits, batching, look, io_threads, exec } = settings;
    let (control, address) = (access.trusted(), access.listen);
    let shell = Arc::new(Shell::new(access, limits).map_err(Failure::Settings)?);
    let registry = Registry::open(places, exec)?;
    let batcher = Arc::new(Batcher::new(Batching { queue: limits.queue, ..batching }, exec));
    let app = Arc::new(App {
        registry,
        batcher: Arc::clone(&batcher),
        limits,
        room: Room::within(exec.memory()),
        exec,
        metrics: Metrics::default(),
        counts: shell.counts(),
        control,
        stopping: AtomicBool::new(false),
    });
    let lanes = Lanes::start(io_threads).map_err(Failure::Threads)?;
    // This thread accepts connections.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::Threads)?;
    let workers = batcher.start().map_err(Failure::Threads)?;
    let ended = AtomicBool::new(false);
    let all_answered = std::thread::scope(|scope| {
        if let Some(every) = look {
            let (app, ended) = (&app, &ended);
            scope.spawn(move || app.registry.watch(every, || ended.load(Ordering::SeqCst)));
        }
        let done: Result<bool, Failure> = runtime.block_on(async {
            let listener = shell.bind().await.map_err(|source| Failure::Port { address, source })?;
            let address = listener.local_addr().unwrap_or(address);
            started(address, app.registry.entries().keys().cloned().collect());
            let stopped = async {
                while !stop() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                app.stopping.store(true, Ordering::SeqCst);
                tracing::info!("stopping: accepted requests are finished");
            };
            Ok(Arc::clone(&shell).serve(listener, router(Arc::clone(&app)), &lanes, stopped).await)
        });
        ended.store(true, Ordering::SeqCst);
        done
    });
    batcher.close();
    for worker in workers {
        let _ = worker.join();
    }
    drop(lanes);
    Ok(Summary { all_answered: all_answered? })
}
