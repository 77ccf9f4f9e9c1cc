//! Threads that read and write sockets, each with its own reactor and its own connections.
//!
//! A connection stays on its thread. On a runtime whose threads share their tasks, every request of a lone client wakes a second
//! thread, which finds nothing to do: two more switches of threads and three more system calls per request.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::eager::Eager;

/// Threads per lane for work that would hold up its connections, such as large bodies.
const ASIDE: usize = 64;

/// Threads for connections. They end with this value.
#[derive(Debug)]
pub struct Lanes {
    all: Vec<Lane>,
    end: watch::Sender<bool>,
    /// Whether a thread may look for work while others have some.
    spare: bool,
}

#[derive(Debug)]
struct Lane {
    handle: Handle,
    open: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Lanes {
    /// So many threads, at least one.
    pub fn start(threads: usize) -> std::io::Result<Self> {
        let (end, ended) = watch::channel(false);
        let spare = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
        let mut lanes = Lanes { all: Vec::new(), end, spare };
        for i in 0..threads.max(1) {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .max_blocking_threads(ASIDE)
                .build()?;
            let (handle, mut ended) = (runtime.handle().clone(), ended.clone());
            let run = move || {
                runtime.block_on(async { drop(ended.wait_for(|ended| *ended).await) });
                runtime.shutdown_timeout(Duration::from_millis(500));
            };
            let thread = Some(std::thread::Builder::new().name(format!("http-{i}")).spawn(run)?);
            lanes.all.push(Lane { handle, open: Arc::default(), thread });
        }
        Ok(lanes)
    }

    /// Hands a connection to the thread that has the fewest.
    pub(super) fn spawn<F: Future<Output = ()> + Send + 'static>(
        &self,
        socket: std::net::TcpStream,
        serve: impl FnOnce(TcpStream, Eager) -> F + Send + 'static,
    ) {
        let Some(lane) = self.all.iter().min_by_key(|lane| lane.open.load(Ordering::Relaxed)) else { return };
        let open = Arc::clone(&lane.open);
        open.fetch_add(1, Ordering::Relaxed);
        let eager = Eager::new(self.spare.then(|| Arc::clone(&open)));
        lane.handle.spawn(async move {
            // It is this thread's reactor that watches the socket from here on.
            match TcpStream::from_std(socket) {
                Ok(socket) => serve(socket, eager).await,
                Err(error) => tracing::warn!("a connection could not be served: {error}"),
            }
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        let _ = self.end.send(true);
        for thread in self.all.iter_mut().filter_map(|lane| lane.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// Work that takes long, away from the connections of this thread.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
