//! Pages for people: the models with a form to try a row, and the description of all addresses.

mod openapi;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Response;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Refusal;
use crate::models::{Entry, Served};
use crate::shell::{self, escape, html};

/// `GET /`: the models, what they expect, and a form for each.
pub(crate) async fn models(State(app): State<Arc<App>>) -> Response<Body> {
    let mut body = String::from("<h1>Models</h1>\n");
    let entries = app.registry.entries();
    if entries.is_empty() {
        body.push_str("<p>No model is served. Put one into the folder that the server watches.</p>\n");
    }
    for (name, entry) in entries.iter() {
        body.push_str(&model(name, entry));
    }
    body.push_str(
        "<p class=\"foot\"><a href=\"/docs\">All addresses</a> · <a href=\"/metrics\">Metrics</a></p>",
    );
    html("Mercer", "/assets/models.js", &body)
}

fn model(name: &str, entry: &Entry) -> String {
    let mut out = format!("<section><h2>{}</h2>\n", escape(name));
    if let Some(problem) = &entry.problem {
        let _ = writeln!(out, "<p class=\"problem\">{}</p>", escape(problem));
    }
    let Some(served) = &entry.latest else {
        out.push_str("<p>Not loaded.</p></section>\n");
        return out;
    };
    let model = &served.model;
    let rows = match (&served.alphabet, served.image, served.columns) {
        (Some(alphabet), ..) => format!("sequences of the letters {}", escape(alphabet)),
        (_, Some(shape), _) => format!("images of {} x {} pixels", shape.height, shape.width),
        (.., Some(d)) => format!("{d} columns"),
        (.., None) => "any number of columns".into(),
    };
    let outputs: Vec<&str> = served.outputs.iter().map(|output| output.name()).collect();
    let _ = writeln!(
        out,
        "<p>{} ({}), {} centres. Rows: {rows}. Version {}. Outputs: {}.</p>",
        escape(model.task().verb()),
        escape(model.kind()),
        model.entry().len(),
        escape(&served.version),
        outputs.join(", ")
    );
    // What the script needs to know, as data: a script in the page itself would not run.
    let about = escape(&about(name, served).to_string());
    let _ = writeln!(out, "<form class=\"try\" data-model=\"{about}\"></form></section>");
    out
}

fn about(name: &str, served: &Served) -> Value {
    let columns: Vec<Value> = served
        .model
        .column_kinds()
        .iter()
        .map(|(name, kind)| json!({ "name": name, "kind": kind.as_ref().map(ToString::to_string) }))
        .collect();
    json!({
        "name": name,
        "columns": columns,
        "width": served.columns,
        "sequences": served.alphabet.is_some(),
        "image": served.image.map(|shape| [shape.height, shape.width, shape.channels]),
        "outputs": served.outputs.iter().map(|output| output.name()).collect::<Vec<_>>(),
    })
}

/// `GET /openapi.json`.
pub(crate) async fn openapi() -> Response<Body> {
    shell::asset("application/json", openapi::document().to_string())
}

/// `GET /docs`: the same as a page.
pub(crate) async fn docs() -> Response<Body> {
    html(
        "Mercer: addresses",
        "/assets/docs.js",
        "<h1>Addresses</h1>\n<div id=\"paths\"></div>\n<p><a href=\"/\">Models</a></p>",
    )
}

/// `GET /assets/FILE`.
pub(crate) async fn asset(Path(file): Path<String>) -> Response<Body> {
    match file.as_str() {
        "style.css" => shell::asset("text/css; charset=utf-8", include_str!("style.css")),
        "models.js" => shell::asset("text/javascript; charset=utf-8", include_str!("models.js")),
        "docs.js" => shell::asset("text/javascript; charset=utf-8", include_str!("docs.js")),
        _ => Refusal::missing(format!("no file `{file}`")).response(),
    }
}
