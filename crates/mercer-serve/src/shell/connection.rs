//! Connections: accepted within a limit, served by a router, and let finish when the server stops.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower_service::Service as _;

use super::eager::Eager;
use super::lanes::Lanes;
use super::patient::Patient;
use super::rest::Rest;
use super::{Access, Limits, Tokens, guard};

/// How long requests are taken after the word to stop: on a busy connection the next one comes sooner.
const LINGER: Duration = Duration::from_millis(250);

/// What a shell counts.
#[derive(Debug, Default)]
pub struct Counts {
    /// Connections that are open.
    pub open: AtomicUsize,
    /// Connections that were accepted.
    pub accepted: AtomicU64,
    /// Connections that were refused, because too many were open.
    pub refused: AtomicU64,
    /// Requests whose response has each status, from 100 to 599.
    pub statuses: Statuses,
}

/// A counter per status.
#[derive(Debug)]
pub struct Statuses([AtomicU64; 500]);

impl Default for Statuses {
    fn default() -> Self {
        Statuses([const { AtomicU64::new(0) }; 500])
    }
}

impl Statuses {
    fn add(&self, status: u16) {
        if let Some(count) = self.0.get(usize::from(status).wrapping_sub(100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Statuses that occurred, with how often.
    pub fn seen(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        (100..).zip(counts).filter(|(_, count)| *count > 0)
    }
}

/// Who asks, who answers, and the word to stop.
type Client = (SocketAddr, Router, watch::Receiver<bool>);

/// A server that can be run.
pub struct Shell {
    access: Access,
    limits: Limits,
    tokens: Option<Tokens>,
    #[cfg(feature = "tls")]
    tls: Option<super::tls::Tls>,
    counts: Arc<Counts>,
    /// Whether it was told to stop: responses then say that their connection ends.
    draining: AtomicBool,
    /// The start of request ids: they differ between runs of the server.
    run: u64,
    next: AtomicU64,
}

impl std::fmt::Debug for Shell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell")
            .field("access", &self.access)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Shell {
    /// Reads tokens and certificates. Fails where they cannot be used, or where strangers would be let in.
    pub fn new(access: Access, limits: Limits) -> Result<Self, String> {
        access.check()?;
        let tokens = access.tokens.as_deref().map(Tokens::read).transpose()?;
        #[cfg(feature = "tls")]
        let tls = access.tls.as_ref().map(|(chain, key)| super::tls::Tls::read(chain, key)).transpose()?;
        #[cfg(not(feature = "tls"))]
        if access.tls.is_some() {
            return Err("this build has no TLS; build it with `--features tls`".into());
        }
        let limits = Limits { connections: allowed(limits.connections), ..limits };
        let run = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(Shell {
            access,
            limits,
            tokens,
            #[cfg(feature = "tls")]
            tls,
            counts: Arc::default(),
            draining: AtomicBool::new(false),
            run: run.as_micros() as u64,
            next: AtomicU64::new(0),
        })
    }

    /// What it counts while it runs.
    pub fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// Opens the port.
    pub async fn bind(&self) -> std::io::Result<TcpListener> {
        TcpListener::bind(self.access.listen).await
    }

    /// Serves until `stop` is done, then finishes the requests that were accepted. False where some took longer than
    /// the time they are given.
    ///
    /// For a moment after `stop` it goes on, and its responses end their connections: a connection that is closed while a
    /// request is on its way loses that request.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        app: Router,
        lanes: &Lanes,
        stop: impl Future<Output = ()>,
    ) -> bool {
        let (stopping, stopped) = watch::channel(false);
        let room = Arc::new(Semaphore::new(self.limits.connections));
        let linger = tokio::time::sleep(Duration::MAX);
        tokio::pin!(stop, linger);
        loop {
            let draining = self.draining.load(Ordering::Relaxed);
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stop, if !draining => {
                    self.draining.store(true, Ordering::Relaxed);
                    linger.as_mut().reset(tokio::time::Instant::now() + LINGER);
                    continue;
                }
                () = &mut linger, if draining => break,
            };
            let (socket, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, usually: others must close first.
                    tracing::warn!("a connection could not be accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            };
            self.counts.accepted.fetch_add(1, Ordering::Relaxed);
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(turn_away(socket));
                continue;
            };
            let _ = socket.set_nodelay(true);
            let socket = match socket.into_std() {
                Ok(socket) => socket,
                Err(error) => {
                    tracing::warn!("a connection could not be served: {error}");
                    continue;
                }
            };
            let (shell, app, stopped) = (Arc::clone(&self), app.clone(), stopped.clone());
            lanes.spawn(socket, move |socket, eager| async move {
                shell.counts.open.fetch_add(1, Ordering::Relaxed);
                shell.greeted(socket, eager, (peer, app, stopped)).await;
                shell.counts.open.fetch_sub(1, Ordering::Relaxed);
                drop(place);
            });
        }
        drop(listener);
        let _ = stopping.send(true);
        drop(stopped);
        // Every connection holds a receiver: once they are gone, all is done.
        tokio::time::timeout(self.access.grace, stopping.closed()).await.is_ok()
    }

    /// A connection, after the greetings of TLS where it has any.
    async fn greeted(self: &Arc<Self>, socket: tokio::net::TcpStream, eager: Eager, client: Client) {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            let greeting = tokio::time::timeout(self.limits.head_time, tls.acceptor().accept(socket)).await;
            if let Ok(Ok(socket)) = greeting {
                self.connection(socket, eager, client).await;
            }
            return;
        }
        self.connection(socket, eager, client).await;
    }

    async fn connection(
        self: &Arc<Self>,
        socket: impl AsyncRead + AsyncWrite + Unpin,
        eager: Eager,
        (peer, app, mut stopped): Client,
    ) {
        let answer = hyper::service::service_fn(|request: Request<hyper::body::Incoming>| {
            let (shell, app) = (Arc::clone(self), app.clone());
            async move { Ok::<_, std::convert::Infallible>(shell.answer(app, request, peer).await) }
        });
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(self.limits.head_time);
        let socket = Patient::new(socket, self.limits.body_time, eager);
        let connection = server.serve_connection(TokioIo::new(socket), answer);
        tokio::pin!(connection);
        // What goes wrong on a connection is the client's own doing, and it is told where it can be.
        tokio::select! {
            _ = &mut connection => return,
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }

    async fn answer(
        &self,
        mut app: Router,
        request: Request<hyper::body::Incoming>,
        peer: SocketAddr,
    ) -> Response<Body> {
        let start = self
            .access
            .log_requests
            .then(|| (Instant::now(), request.method().clone(), request.uri().clone()));
        let given = request.headers().get("x-request-id").filter(|id| id.len() <= 128).cloned();
        let id = given.unwrap_or_else(|| self.new_id());
        // A client that asks before it sends its body sends none after a refusal.
        let asks_first = request.headers().contains_key(header::EXPECT);
        let (parts, body) = request.into_parts();
        let (body, rest) = Rest::of(body);
        let request = Request::from_parts(parts, body);
        let checked = guard::check(
            request.uri().path(),
            request.version(),
            request.headers(),
            self.tokens.as_ref(),
            self.access.private(),
        );
        let mut response = match checked {
            Ok(()) => match app.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(refusal) => refusal.response(),
        };
        if let Some(rest) = rest.filter(|_| !response.status().is_success() && !asks_first) {
            rest.drop_some().await;
        }
        self.counts.statuses.add(response.status().as_u16());
        if let Some((start, method, uri)) = start {
            tracing::info!(
                %peer,
                %method,
                path = uri.path(),
                status = response.status().as_u16(),
                ms = start.elapsed().as_secs_f64() * 1e3,
                id = id.to_str().unwrap_or_default(),
                "request"
            );
        } else if response.status().is_server_error() {
            tracing::warn!(%peer, status = response.status().as_u16(), id = id.to_str().unwrap_or_default(), "request failed");
        }
        response.headers_mut().insert("x-request-id", id);
        if self.draining.load(Ordering::Relaxed) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    fn new_id(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        HeaderValue::from_str(&format!("{:x}-{number:x}", self.run))
            .unwrap_or_else(|_| HeaderValue::from_static("0"))
    }
}

/// Open files that are left for all but connections: models, certificates, threads.
const OTHER_FILES: usize = 64;

/// As many connections as the system lets a process have: beyond its open files nobody could be told that there are too
/// many, and no model could be read.
fn allowed(wanted: usize) -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    let Some(most) = files.map(|files| files.saturating_sub(OTHER_FILES).max(1)) else { return wanted };
    if wanted > most {
        tracing::warn!(
            "at most {most} connections instead of {wanted}: the system limits open files (ulimit -n)"
        );
    }
    wanted.min(most)
}

/// One connection too many: told so, without waiting for what it asks.
async fn turn_away(mut socket: tokio::net::TcpStream) {
    const WORDS: &str = "{\"error\":\"too many connections\"}";
    let text = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: \
         1\r\nconnection: close\r\n\r\n{WORDS}",
        WORDS.len()
    );
    let write = async {
        let _ = socket.write_all(text.as_bytes()).await;
        let _ = socket.shutdown().await;
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), write).await;
}
