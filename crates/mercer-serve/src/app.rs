//! The application: what handlers share, and the table of addresses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode, Uri};
use axum::routing::{get, post};
use mercer::Exec;

use crate::batch::Batcher;
use crate::error::Refusal;
use crate::metrics::{self, Metrics};
use crate::models::Registry;
use crate::shell::{self, Counts, Limits, Room};
use crate::{pages, plain, v2};

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) registry: Registry,
    pub(crate) batcher: Arc<Batcher>,
    pub(crate) limits: Limits,
    /// The memory of bodies and responses.
    pub(crate) room: Room,
    pub(crate) exec: Exec,
    pub(crate) metrics: Metrics,
    pub(crate) counts: Arc<Counts>,
    /// Whether clients may load and unload models.
    pub(crate) control: bool,
    pub(crate) stopping: AtomicBool,
}

impl App {
    /// Whether the server is about to end.
    pub(crate) fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

/// All addresses. `pages/openapi.rs` describes them, and a test compares the two.
pub(crate) const ROUTES: &[(&str, &str)] = &[
    ("GET", "/v2"),
    ("GET", "/v2/health/live"),
    ("GET", "/v2/health/ready"),
    ("GET", "/v2/models/{name}"),
    ("GET", "/v2/models/{name}/ready"),
    ("POST", "/v2/models/{name}/infer"),
    ("GET", "/v2/models/{name}/versions/{version}"),
    ("GET", "/v2/models/{name}/versions/{version}/ready"),
    ("POST", "/v2/models/{name}/versions/{version}/infer"),
    ("GET", "/v2/repository/index"),
    ("POST", "/v2/repository/index"),
    ("POST", "/v2/repository/models/{name}/load"),
    ("POST", "/v2/repository/models/{name}/unload"),
    ("POST", "/v1/models/{name}/predict"),
    ("POST", "/v1/models/{name}/versions/{version}/predict"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
];

/// The router.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v2", get(v2::server))
        .route("/v2/", get(v2::server))
        .route("/v2/health/live", get(v2::live))
        .route("/v2/health/ready", get(v2::ready))
        .route("/v2/models/{name}", get(v2::model))
        .route("/v2/models/{name}/ready", get(v2::model_ready))
        .route("/v2/models/{name}/infer", post(v2::infer))
        .route("/v2/models/{name}/versions/{version}", get(v2::model_version))
        .route("/v2/models/{name}/versions/{version}/ready", get(v2::model_version_ready))
        .route("/v2/models/{name}/versions/{version}/infer", post(v2::infer_version))
        .route("/v2/repository/index", post(v2::index).get(v2::index))
        .route("/v2/repository/models/{name}/load", post(v2::load))
        .route("/v2/repository/models/{name}/unload", post(v2::unload))
        .route("/v1/models/{name}/predict", post(plain::predict))
        .route("/v1/models/{name}/versions/{version}/predict", post(plain::predict_version))
        .route("/metrics", get(measured))
        .route("/openapi.json", get(pages::openapi))
        .route("/", get(pages::models))
        .route("/docs", get(pages::docs))
        .route("/assets/{file}", get(pages::asset))
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
        .with_state(app)
}

async fn measured(State(app): State<Arc<App>>) -> Response<Body> {
    shell::asset("text/plain; version=0.0.4; charset=utf-8", metrics::page(&app))
}

async fn unknown(uri: Uri) -> Response<Body> {
    Refusal::missing(format!("nothing at `{}`; GET /openapi.json lists all addresses", uri.path())).response()
}

async fn not_allowed(uri: Uri) -> Response<Body> {
    let message =
        format!("`{}` does not support this method; GET /openapi.json lists all addresses", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message).response()
}
