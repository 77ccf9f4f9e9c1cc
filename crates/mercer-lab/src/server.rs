//! Port, secret, table of addresses, and the end.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, Response, StatusCode, Uri, header};
use axum::routing::{get, post};
use bytes::Bytes;
use mercer::Exec;
use mercer_serve::error::Refusal;
use mercer_serve::shell::{self, Access, Lanes, Shell};
use tokio::sync::watch;
use tower_service::Service as _;

use crate::reply::Reply;
use crate::rooms::{back, components, data, digits, plane};
use crate::state::Lab;
use crate::{assets, rooms};

/// What a server is told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// Data files and models to begin with.
    pub opened: Vec<PathBuf>,
    /// Threads, memory, device.
    pub exec: Exec,
    /// Start of all random numbers.
    pub seed: u64,
}

/// Why a server did not run.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file cannot be opened.
    #[error(transparent)]
    File(#[from] mercer::Error),
    /// The port cannot be opened.
    #[error("{address}: {source}")]
    Port {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system does not give what is needed.
    #[error("{0}")]
    System(String),
}

/// Serves until `stop` says so. `started` is called once, with the address to open, when requests are accepted.
pub fn serve(
    settings: &Settings,
    stop: impl Fn() -> bool + Send + Sync,
    started: impl FnOnce(&str),
) -> Result<(), Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port));
    let access = Access { grace: Duration::from_secs(2), ..Access::local(address) };
    let (stopping, stopped) = watch::channel(false);
    let lab = Lab::new(settings.exec, settings.seed, stopped).map_err(|e| Failure::System(e.to_string()))?;
    let lab = Arc::new(lab);
    let room = data::open(&lab, &settings.opened)?;
    let shell = Arc::new(Shell::new(access, lab.limits).map_err(Failure::System)?);
    let secret = secret()?;
    let no_threads = |e| Failure::System(format!("threads cannot be started: {e}"));
    let lanes = Lanes::start(2).map_err(no_threads)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_threads)?;
    let served = runtime.block_on(async {
        let listener = shell.bind().await.map_err(|source| Failure::Port { address, source })?;
        let address = listener.local_addr().unwrap_or(address);
        started(&format!("http://{address}/{secret}/{room}"));
        let stopped = async {
            while !stop() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            stopping.send_replace(true);
            lab.jobs.cancel_all();
        };
        let door = Door { secret, port: address.port(), app: router(Arc::clone(&lab)) };
        Arc::clone(&shell).serve(listener, door.router(), &lanes, stopped).await;
        Ok(())
    });
    lab.jobs.cancel_all();
    served
}

/// 128 random bits as text.
fn secret() -> Result<String, Failure> {
    let mut bits = [0_u8; 16];
    getrandom::fill(&mut bits).map_err(|e| Failure::System(format!("no random numbers: {e}")))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

/// Who is let in: requests to an address of this machine by its own name, with the secret in front of the path. The shell
/// has refused pages of other sites by then.
struct Door {
    secret: String,
    port: u16,
    app: Router,
}

impl Door {
    fn router(self) -> Router {
        let door = Arc::new(self);
        Router::new().fallback(move |request: Request<Body>| {
            let door = Arc::clone(&door);
            async move {
                match door.checked(request) {
                    Ok(request) => match door.app.clone().call(request).await {
                        Ok(response) => response,
                        Err(never) => match never {},
                    },
                    Err(refusal) => refusal.response(),
                }
            }
        })
    }

    /// The request with the path behind the secret.
    fn checked(&self, mut request: Request<Body>) -> Result<Request<Body>, Refusal> {
        let refused = |words: &str| Err(Refusal::new(StatusCode::FORBIDDEN, words));
        // A page of another site may have its name point to this machine: the name is then another one.
        let host =
            request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let own =
            ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host == format!("{name}:{}", self.port));
        if !own {
            return refused("requests to this machine by another name are refused");
        }
        let path = request.uri().path();
        let (given, rest) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
        if !same(given.as_bytes(), self.secret.as_bytes()) {
            return refused("the secret is missing: open the address that `mercer lab` printed");
        }
        let behind = match request.uri().query() {
            Some(query) => format!("/{rest}?{query}"),
            None => format!("/{rest}"),
        };
        *request.uri_mut() = behind.parse::<Uri>().map_err(|_| Refusal::missing("no such address"))?;
        Ok(request)
    }
}

/// Compares to the end, so that the time taken tells nothing of how much was right.
fn same(given: &[u8], own: &[u8]) -> bool {
    let difference = own.iter().enumerate().fold(given.len() ^ own.len(), |all, (i, b)| {
        all | usize::from(given.get(i).copied().unwrap_or(0) ^ b)
    });
    std::hint::black_box(difference) == 0
}

type Shared = State<Arc<Lab>>;

/// The table of addresses.
fn router(lab: Arc<Lab>) -> Router {
    Router::new()
        .route("/", get(|| async { assets::page() }))
        .route("/assets/{*file}", get(asset))
        .route("/api/about", get(about))
        .route("/api/shape", post(shape))
        .route("/api/plane", post(plane_))
        .route("/api/components", post(components_))
        .route("/api/files/{name}", post(upload))
        .route("/api/files", get(files))
        .route("/api/sets", post(read))
        .route("/api/sets/{id}", get(set))
        .route("/api/models/{id}", get(model))
        .route("/api/models/{id}/{file}", get(model_file))
        .route("/api/jobs", get(jobs))
        .route("/api/jobs/{kind}", post(start))
        .route("/api/job/{id}/events/{from}", get(events))
        .route("/api/job/{id}/cancel", post(cancel))
        .route("/api/digits", get(digits_about))
        .route("/api/digits/vote", post(digits_vote))
        .route("/api/back", post(back_))
        .route("/api/picture/{levels}", post(picture))
        .fallback(
            |uri: Uri| async move { Refusal::missing(format!("nothing at `{}`", uri.path())).response() },
        )
        .with_state(lab)
}

fn answered(reply: Reply) -> Response<Body> {
    reply.unwrap_or_else(|refusal| refusal.response())
}

async fn body(lab: &Lab, request: Request<Body>) -> Result<Bytes, Refusal> {
    let (head, body) = request.into_parts();
    shell::body(&head.headers, body, &lab.limits, &lab.bodies).await
}

/// Reads the body and computes.
async fn computed(
    lab: Arc<Lab>,
    request: Request<Body>,
    work: impl FnOnce(&Arc<Lab>, &[u8]) -> Reply + Send + 'static,
) -> Response<Body> {
    let body = match body(&lab, request).await {
        Ok(body) => body,
        Err(refusal) => return refusal.response(),
    };
    answered(lab.compute(move |lab| work(lab, &body)).await)
}

async fn asset(Path(file): Path<String>) -> Response<Body> {
    assets::file(&file).unwrap_or_else(|| Refusal::missing(format!("no file `{file}`")).response())
}

async fn about(State(lab): Shared) -> Response<Body> {
    answered(rooms::about(&lab))
}

async fn shape(State(lab): Shared, request: Request<Body>) -> Response<Body> {
    computed(lab, request, |_, body| plane::shape(body)).await
}

async fn plane_(State(lab): Shared, request: Request<Body>) -> Response<Body> {
    computed(lab, request, |lab, body| plane::fit(lab, body)).await
}

async fn components_(State(lab): Shared, request: Request<Body>) -> Response<Body> {
    computed(lab, request, |lab, body| components::maps(lab, body)).await
}

async fn upload(State(lab): Shared, Path(name): Path<String>, request: Request<Body>) -> Response<Body> {
    let body = match body(&lab, request).await {
        Ok(body) => body,
        Err(refusal) => return refusal.response(),
    };
    // A large model is parsed here.
    answered(lab.compute(move |lab| data::upload(lab, &name, body)).await)
}

async fn files(State(lab): Shared) -> Response<Body> {
    answered(data::files(&lab))
}

async fn read(State(lab): Shared, request: Request<Body>) -> Response<Body> {
    computed(lab, request, data::read).await
}

async fn set(State(lab): Shared, Path(id): Path<usize>) -> Response<Body> {
    answered(lab.compute(move |lab| data::set(lab, id)).await)
}

async fn model(State(lab): Shared, Path(id): Path<usize>) -> Response<Body> {
    answered(lab.compute(move |lab| data::model(lab, id)).await)
}

async fn model_file(State(lab): Shared, Path((id, file)): Path<(usize, String)>) -> Response<Body> {
    answered(lab.compute(move |lab| data::download(lab, id, &file)).await)
}

async fn jobs(State(lab): Shared) -> Response<Body> {
    answered(crate::reply::json(&lab.jobs.list()))
}

async fn start(State(lab): Shared, Path(kind): Path<String>, request: Request<Body>) -> Response<Body> {
    match body(&lab, request).await {
        Ok(body) => answered(rooms::start(&lab, &kind, &body)),
        Err(refusal) => refusal.response(),
    }
}

async fn events(
    State(lab): Shared,
    Path((id, from)): Path<(usize, usize)>,
    headers: HeaderMap,
) -> Response<Body> {
    let Some(job) = lab.jobs.get(id) else {
        return Refusal::missing(format!("there is no job {id}")).response();
    };
    // A stream that was cut goes on where it was.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    lab.jobs.stream(job, last.unwrap_or(from), lab.stopping.clone())
}

async fn cancel(State(lab): Shared, Path(id): Path<usize>) -> Response<Body> {
    let Some(job) = lab.jobs.get(id) else {
        return Refusal::missing(format!("there is no job {id}")).response();
    };
    job.cancel();
    answered(crate::reply::json(&job.facts()))
}

async fn digits_about(State(lab): Shared) -> Response<Body> {
    answered(lab.compute(|lab| digits::about(lab)).await)
}

async fn digits_vote(State(lab): Shared, request: Request<Body>) -> Response<Body> {
    computed(lab, request, |lab, body| digits::vote(lab, body)).await
}

async fn back_(State(lab): Shared, request: Request<Body>) -> Response<Body> {
    computed(lab, request, |lab, body| back::denoise(lab, body)).await
}

async fn picture(State(lab): Shared, Path(level): Path<String>, request: Request<Body>) -> Response<Body> {
    computed(lab, request, move |lab, body| back::picture(lab, &level, body)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_at_this_machines_own_name_is_let_in() {
        let door = Door { secret: "abc123".into(), port: 7000, app: Router::new() };
        let ask = |host: &str, path: &str| {
            let request = Request::builder().uri(path).header(header::HOST, host).body(Body::empty());
            door.checked(request.expect("a request")).map(|request| request.uri().to_string())
        };
        assert_eq!(ask("127.0.0.1:7000", "/abc123/").expect("let in"), "/");
        assert_eq!(ask("localhost:7000", "/abc123/api/about?x=1").expect("let in"), "/api/about?x=1");
        for (host, path) in [
            ("127.0.0.1:7000", "/"),
            ("127.0.0.1:7000", "/abc12/"),
            ("127.0.0.1:7000", "/abc1234/"),
            ("127.0.0.1:7000", "/api/about"),
            ("127.0.0.1:7001", "/abc123/"),
            ("evil.example:7000", "/abc123/"),
            ("", "/abc123/"),
        ] {
            let refused = ask(host, path).expect_err("refused");
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{host} {path}");
        }
        assert_eq!(secret().expect("random").len(), 32);
        assert_ne!(secret().expect("random"), secret().expect("random"));
    }
}
