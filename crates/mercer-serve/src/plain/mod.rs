//! The plain door: `POST /v1/models/NAME/predict` with rows as people have them, and predictions in the same form.

mod form;
mod read;
mod write;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Response, header};

pub use form::Form;
pub use read::rows;
pub(crate) use read::{check_rows, finite, read_cells, sequences};

use crate::app::App;
use crate::error::Refusal;
use crate::models::Served;
use crate::outputs::{Output, WARNING, Wanted};
use crate::shell;
use crate::v2::{Reply, done, find_output};

/// `POST /v1/models/NAME/predict`.
pub(crate) async fn predict(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    done(predicted(&app, &name, None, query.as_deref(), &headers, body).await)
}

/// `POST /v1/models/NAME/versions/VERSION/predict`.
pub(crate) async fn predict_version(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    done(predicted(&app, &name, Some(&version), query.as_deref(), &headers, body).await)
}

async fn predicted(
    app: &Arc<App>,
    name: &str,
    version: Option<&str>,
    query: Option<&str>,
    headers: &HeaderMap,
    body: Body,
) -> Reply {
    let (served, stats) = app.registry.find(name, version)?;
    let _clock = app.metrics.clock();
    let outputs = asked(&served, query)?;
    let body = shell::body(headers, body, &app.limits, &app.room).await?;
    let given = Form::of_type(headers.get(header::CONTENT_TYPE), &body)?;
    let form = Form::accepted(headers.get(header::ACCEPT), given)?;
    // Files of any size are parsed here: not on a thread that serves sockets, unless they are small.
    let rows = if body.len() <= SMALL {
        rows(&served, given, &body, &app.limits, app.exec)?
    } else {
        let (own, served) = (Arc::clone(app), Arc::clone(&served));
        let read = move || rows(&served, given, &body, &own.limits, own.exec);
        let failed =
            || Refusal::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "the rows could not be read");
        shell::aside(read).await.ok_or_else(failed)??
    };
    let wanted: Wanted = outputs.iter().copied().collect();
    let warnings = rows.warnings();
    let answer = app.batcher.ask(&served, &stats, rows, wanted).await?;
    let (kind, bytes) = if answer.rows.len() <= FEW_ROWS {
        write::answer(&served, &answer, &outputs, form)?
    } else {
        let served = Arc::clone(&served);
        let write = move || write::answer(&served, &answer, &outputs, form);
        let failed = || {
            Refusal::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "the response could not be written")
        };
        shell::aside(write).await.ok_or_else(failed)??
    };
    let mut response = shell::asset(kind, app.room.holding(bytes));
    if let Ok(version) = HeaderValue::from_str(&served.version) {
        response.headers_mut().insert("x-model-version", version);
    }
    for warning in warnings {
        response.headers_mut().append(WARNING, warning);
    }
    Ok(response)
}

/// Bytes of a body that is parsed at once, and rows whose predictions are written at once.
const SMALL: usize = 64 << 10;
const FEW_ROWS: usize = 1000;

/// The outputs that `?output=label,probability` asks for; else the label, and features where there is none.
fn asked(served: &Served, query: Option<&str>) -> Result<Vec<Output>, Refusal> {
    let mut all = Vec::new();
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let text = |text| {
            shell::decoded(text).ok_or_else(|| Refusal::bad(format!("`{text}` is not percent-encoded UTF-8")))
        };
        let (key, value) = (text(key)?, text(value)?);
        if key != "output" {
            return Err(Refusal::bad(format!("unknown parameter `{key}`, expected `output`")));
        }
        for name in value.split(',').filter(|name| !name.is_empty()) {
            let output = find_output(name, &served.outputs)?;
            if !all.contains(&output) {
                all.push(output);
            }
        }
    }
    if all.is_empty() {
        let first = [Output::Label, Output::Features];
        all.extend(first.into_iter().find(|output| served.outputs.contains(output)));
    }
    Ok(all)
}
