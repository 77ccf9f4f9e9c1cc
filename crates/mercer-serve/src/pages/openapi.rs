//! The description of all addresses, in the form of OpenAPI 3.1.

use serde_json::{Map, Value, json};

use crate::app::ROUTES;
use crate::outputs::Output;

/// The document.
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    for (method, path) in ROUTES {
        let entry = paths.entry(*path).or_insert_with(|| json!({}));
        entry[method.to_lowercase()] = operation(method, path);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Mercer",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Predictions of kernel models: the Open Inference Protocol (v2) and a plain interface (v1).",
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas(),
        },
        "security": [{}, { "token": [] }],
    })
}

fn operation(method: &str, path: &str) -> Value {
    let parameters: Vec<Value> = ["name", "version"]
        .into_iter()
        .filter(|name| path.contains(&format!("{{{name}}}")))
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    let mut operation = json!({
        "summary": summary(path),
        "operationId": format!("{}{}", method.to_lowercase(), path.replace(['/', '{', '}', '.'], "_")),
        "parameters": parameters,
        "responses": {
            "200": { "description": "Done", "content": content(path) },
            "default": {
                "description": "What went wrong",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
            },
        },
    });
    if path.ends_with("/infer") {
        let request = json!({ "$ref": "#/components/schemas/InferRequest" });
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": request } } });
    }
    if path.ends_with("/predict") {
        let names: Vec<&str> = Output::ALL.iter().map(|output| output.name()).collect();
        let output = json!({
            "name": "output", "in": "query", "schema": { "type": "string" },
            "description": format!("Outputs, separated by commas: {}. Default: label, or features.", names.join(", ")),
        });
        if let Some(parameters) = operation["parameters"].as_array_mut() {
            parameters.push(output);
        }
        operation["requestBody"] = json!({ "required": true, "content": rows() });
    }
    operation
}

fn summary(path: &str) -> &'static str {
    match path.trim_start_matches("/v2/models/{name}").trim_start_matches("/versions/{version}") {
        "" => "Inputs and outputs of a model",
        "/ready" => "Whether a model is ready",
        "/infer" => "Predict tensors",
        "/v2" => "Name, version and extensions of the server",
        "/v2/health/live" => "Whether the server runs",
        "/v2/health/ready" => "Whether the server takes requests",
        "/v2/repository/index" => "All models with their versions and states",
        "/v2/repository/models/{name}/load" => "Load or reload a model",
        "/v2/repository/models/{name}/unload" => "Unload a model",
        "/metrics" => "Counters for Prometheus",
        "/openapi.json" => "This document",
        _ => "Predict rows of CSV, JSON, JSON lines, NPY or a picture",
    }
}

fn content(path: &str) -> Value {
    match path {
        "/metrics" => json!({ "text/plain": {} }),
        path if path.ends_with("/predict") => rows(),
        _ => json!({ "application/json": {} }),
    }
}

fn rows() -> Value {
    let row = json!({ "oneOf": [{ "type": "array" }, { "type": "object" }] });
    json!({
        "application/json": { "schema": { "type": "array", "items": row } },
        "application/x-ndjson": {},
        "text/csv": {},
        "application/x-npy": {},
        "image/png": {},
    })
}

fn schemas() -> Value {
    let tensor = json!({
        "type": "object",
        "required": ["name", "shape", "datatype"],
        "properties": {
            "name": { "type": "string" },
            "shape": { "type": "array", "items": { "type": "integer" } },
            "datatype": { "type": "string" },
            "parameters": { "type": "object" },
            "data": { "type": "array" },
        },
    });
    json!({
        "Error": { "type": "object", "required": ["error"], "properties": { "error": { "type": "string" } } },
        "Tensor": tensor,
        "InferRequest": {
            "type": "object",
            "required": ["inputs"],
            "properties": {
                "id": { "type": "string" },
                "parameters": { "type": "object" },
                "inputs": { "type": "array", "items": { "$ref": "#/components/schemas/Tensor" } },
                "outputs": { "type": "array", "items": { "type": "object", "required": ["name"] } },
            },
        },
    })
}
