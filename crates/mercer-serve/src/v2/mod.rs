//! The Open Inference Protocol, version 2, over HTTP, with its binary tensor extension.

mod columns;
mod half;
mod metadata;
mod numbers;
mod request;
mod response;
mod tensor;

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Refusal;
use crate::outputs::{Output, WARNING, Wanted};
use crate::shell;

pub(crate) use numbers::{MOST_DIMENSIONS, Numbers};
pub use request::{Request, parse};
pub(crate) use request::{check_depth, without_mark};
pub use tensor::{Datatype, Flat, Tensor};

/// What handlers return: an error is a response too.
pub(crate) type Reply = Result<Response<Body>, Refusal>;

/// `GET /v2`.
pub(crate) async fn server() -> Response<Body> {
    json_response(&json!({
        "name": "mercer",
        "version": env!("CARGO_PKG_VERSION"),
        "extensions": ["binary_tensor_data", "model_repository"],
    }))
}

/// `GET /v2/health/live`.
pub(crate) async fn live() -> Response<Body> {
    json_response(&json!({ "live": true }))
}

/// `GET /v2/health/ready`.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    let ready = !app.stopping();
    let mut response = json_response(&json!({ "ready": ready }));
    if !ready {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

/// `GET /v2/models/NAME`.
pub(crate) async fn model(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response<Body> {
    done(described(&app, &name, None))
}

/// `GET /v2/models/NAME/versions/VERSION`.
pub(crate) async fn model_version(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
) -> Response<Body> {
    done(described(&app, &name, Some(&version)))
}

fn described(app: &App, name: &str, version: Option<&str>) -> Reply {
    let (served, _) = app.registry.find(name, version)?;
    let versions: Vec<String> =
        app.registry.entries().get(name).map(|e| e.versions.keys().cloned().collect()).unwrap_or_default();
    Ok(json_response(&metadata::of(&served, &versions)))
}

/// `GET /v2/models/NAME/ready`.
pub(crate) async fn model_ready(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response<Body> {
    done(is_ready(&app, &name, None))
}

/// `GET /v2/models/NAME/versions/VERSION/ready`.
pub(crate) async fn model_version_ready(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
) -> Response<Body> {
    done(is_ready(&app, &name, Some(&version)))
}

fn is_ready(app: &App, name: &str, version: Option<&str>) -> Reply {
    let (served, _) = app.registry.find(name, version)?;
    Ok(json_response(&json!({ "name": served.name, "ready": true })))
}

/// `POST /v2/models/NAME/infer`.
pub(crate) async fn infer(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    request: axum::extract::Request,
) -> Response<Body> {
    done(inferred(&app, &name, None, request).await)
}

/// `POST /v2/models/NAME/versions/VERSION/infer`.
pub(crate) async fn infer_version(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
    request: axum::extract::Request,
) -> Response<Body> {
    done(inferred(&app, &name, Some(&version), request).await)
}

async fn inferred(
    app: &Arc<App>,
    name: &str,
    version: Option<&str>,
    request: axum::extract::Request,
) -> Reply {
    let (served, stats) = app.registry.find(name, version)?;
    let _clock = app.metrics.clock();
    let (Parts { headers, .. }, body) = request.into_parts();
    let body = shell::body(&headers, body, &app.limits, &app.room).await?;
    let header = match headers.get(HEADER_LENGTH) {
        None => None,
        Some(value) => {
            Some(value.to_str().ok().and_then(|text| text.trim().parse::<usize>().ok()).ok_or_else(|| {
                Refusal::bad(
                    "Inference-Header-Content-Length is not a number, expected the bytes of the JSON header",
                )
            })?)
        }
    };
    let (length, own, model) = (body.len(), Arc::clone(app), Arc::clone(&served));
    let read = move || {
        let mut request = parse(&body, header, own.limits.depth)?;
        let asked = asked(&model.outputs, &request)?;
        let rows = columns::rows(&model, &mut request, &own.limits, own.exec)?;
        Ok::<_, Refusal>((request.id.map(Cow::into_owned), asked, rows))
    };
    let (id, asked, rows) = aside(length, read).await??;
    let wanted: Wanted = asked.iter().map(|(output, _)| *output).collect();
    let (warnings, count) = (rows.warnings(), rows.len());
    let answer = app.batcher.ask(&served, &stats, rows, wanted).await?;
    let room = app.room.clone();
    let write = move || response::infer(&served, &answer, id.as_deref(), &asked, &room);
    let mut response = aside(count * PER_ROW, write).await?;
    for warning in warnings {
        response.headers_mut().append(WARNING, warning);
    }
    Ok(response)
}

/// Bytes of a body that are parsed or written at once, and about those of a row.
const SMALL: usize = 256 << 10;
const PER_ROW: usize = 64;

/// Work at once where it is short, else away from the other connections of this thread.
async fn aside<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    if bytes <= SMALL {
        return Ok(work());
    }
    shell::aside(work).await.ok_or_else(|| {
        Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the request could not be read: see the log of the server",
        )
    })
}

/// The header with the length of the JSON that stands before binary tensors.
pub(crate) const HEADER_LENGTH: &str = "inference-header-content-length";

/// Outputs in the order asked for, and whether each is wanted in binary form. Without any, all but those that cost much
/// more than a prediction.
fn asked(offered: &[Output], request: &Request<'_>) -> Result<Vec<(Output, bool)>, Refusal> {
    let binary = request.parameters.binary_data_output;
    let Some(outputs) = request.outputs.as_ref().filter(|outputs| !outputs.is_empty()) else {
        let all = offered.iter().copied().filter(|output| *output != Output::Denoised);
        return Ok(all.map(|output| (output, binary)).collect());
    };
    let mut all: Vec<(Output, bool)> = Vec::new();
    for output in outputs {
        let found = find_output(&output.name, offered)?;
        if all.iter().any(|(other, _)| *other == found) {
            return Err(Refusal::bad(format!("the output `{}` is requested twice", output.name)));
        }
        all.push((found, output.parameters.binary_data.unwrap_or(binary)));
    }
    Ok(all)
}

/// An output that a model has.
pub(crate) fn find_output(name: &str, offered: &[Output]) -> Result<Output, Refusal> {
    Output::find(name).filter(|output| offered.contains(output)).ok_or_else(|| {
        let names: Vec<&str> = offered.iter().map(|output| output.name()).collect();
        Refusal::bad(format!("the model has no output `{name}`; it has {}", names.join(", ")))
    })
}

/// `POST /v2/repository/index`.
pub(crate) async fn index(State(app): State<Arc<App>>, body: Body) -> Response<Body> {
    let body = match shell::body(&HeaderMap::new(), body, &app.limits, &app.room).await {
        Ok(body) => body,
        Err(refusal) => return refusal.response(),
    };
    let only_ready = serde_json::from_slice::<Value>(&body).is_ok_and(|body| body["ready"] == true);
    let mut list = Vec::new();
    for (name, entry) in app.registry.entries().iter() {
        for version in entry.versions.keys() {
            let reason = entry.problem.as_deref().unwrap_or_default();
            list.push(json!({ "name": name, "version": version, "state": "READY", "reason": reason }));
        }
        if entry.versions.is_empty() && !only_ready {
            let reason = entry.problem.as_deref().unwrap_or("unloaded");
            list.push(json!({ "name": name, "version": "", "state": "UNAVAILABLE", "reason": reason }));
        }
    }
    json_response(&Value::Array(list))
}

/// `POST /v2/repository/models/NAME/load`.
pub(crate) async fn load(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response<Body> {
    done(control(&app, move |app| app.registry.load(&name)).await)
}

/// `POST /v2/repository/models/NAME/unload`.
pub(crate) async fn unload(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response<Body> {
    done(control(&app, move |app| app.registry.unload(&name)).await)
}

async fn control(app: &Arc<App>, act: impl FnOnce(&App) -> Result<(), Refusal> + Send + 'static) -> Reply {
    if !app.control {
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "models are loaded and unloaded only on this machine or with a token",
        ));
    }
    let own = Arc::clone(app);
    // Files are read here: not on a thread that serves sockets.
    match tokio::task::spawn_blocking(move || act(&own)).await {
        Ok(done) => done.map(|()| json_response(&json!({}))),
        Err(error) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}

/// A JSON response.
pub(crate) fn json_response(value: &Value) -> Response<Body> {
    shell::asset("application/json", Bytes::from(value.to_string()))
}

/// A reply as a response.
pub(crate) fn done(reply: Reply) -> Response<Body> {
    reply.unwrap_or_else(|refusal| refusal.response())
}
