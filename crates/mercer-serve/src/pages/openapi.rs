//! The description of all addresses, in the form of OpenAPI 3.1.

use serde_json::{Map, Value, json};

use crate::app::ROUTES;
use crate::outputs::Output;
use crate::v2::{Datatype, MOST_DIMENSIONS};

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
            "responses": refusals(),
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
    let mut responses = json!({
        "200": { "description": "Done", "content": content(path) },
        "default": { "$ref": "#/components/responses/Refused" },
    });
    if path.ends_with("/infer") || path.ends_with("/predict") {
        for status in ["429", "503"] {
            responses[status] = json!({ "$ref": "#/components/responses/Later" });
        }
    }
    let mut operation = json!({
        "summary": summary(path),
        "operationId": format!("{}{}", method.to_lowercase(), path.replace(['/', '{', '}', '.'], "_")),
        "parameters": parameters,
        "responses": responses,
    });
    if path.ends_with("/infer") {
        let request = json!({ "$ref": "#/components/schemas/InferRequest" });
        if let Some(parameters) = operation["parameters"].as_array_mut() {
            parameters.push(json!({
                "name": "Inference-Header-Content-Length", "in": "header", "schema": { "type": "integer", "minimum": 0 },
                "description": "Bytes of the JSON in front of binary tensors.",
            }));
        }
        operation["requestBody"] = json!({
            "required": true,
            "content": {
                "application/json": { "schema": request },
                "application/octet-stream": {},
            },
        });
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
    let schema = |name: &str| json!({ "schema": { "$ref": format!("#/components/schemas/{name}") } });
    match path {
        "/metrics" => json!({ "text/plain": { "schema": { "type": "string" } } }),
        "/v2/repository/index" => json!({ "application/json": schema("Index") }),
        path if path.ends_with("/predict") => json!({
            "application/json": schema("Predictions"),
            "application/x-ndjson": {},
            "text/csv": {},
            "text/tab-separated-values": {},
            "application/x-npy": {},
        }),
        path if path.ends_with("/infer") => {
            json!({ "application/json": schema("InferResponse"), "application/octet-stream": {} })
        }
        path if path.ends_with("{name}") || path.ends_with("{version}") => {
            json!({ "application/json": schema("Model") })
        }
        _ => json!({ "application/json": { "schema": { "type": "object" } } }),
    }
}

fn rows() -> Value {
    let array = json!({ "type": "array", "minItems": 1 });
    json!({
        "application/json": { "schema": { "oneOf": [array, { "type": "object", "minProperties": 1 }] } },
        "application/x-ndjson": {},
        "text/csv": {},
        "text/tab-separated-values": {},
        "application/x-npy": {},
        "text/plain": {},
        "image/*": {},
    })
}

/// What requests are refused with.
fn refusals() -> Value {
    let content = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } });
    json!({
        "Refused": { "description": "What is wrong, in words", "content": content },
        "Later": {
            "description": "The queue is full, or the server takes no requests at the moment",
            "headers": { "Retry-After": { "schema": { "type": "integer" }, "description": "Seconds" } },
            "content": content,
        },
    })
}

fn schemas() -> Value {
    let text = json!({ "type": "string" });
    let object = json!({ "type": "object" });
    let names: Vec<&str> = Datatype::ALL.iter().map(|(name, _)| *name).collect();
    let datatype = json!({ "type": "string", "enum": names });
    let shape = |least: i64| {
        let side = json!({ "type": "integer", "minimum": least });
        json!({ "type": "array", "minItems": 1, "maxItems": MOST_DIMENSIONS, "items": side })
    };
    let tensor = |data: Value| {
        json!({
            "type": "object",
            "required": ["name", "shape", "datatype"],
            "properties": {
                "name": text, "shape": shape(0), "datatype": datatype, "parameters": object, "data": data,
            },
        })
    };
    let described = json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "shape", "datatype"],
            "properties": { "name": text, "shape": shape(-1), "datatype": datatype },
        },
    });
    let tensors =
        |name: &str| json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{name}") } });
    let mut inputs = tensors("Tensor");
    inputs["minItems"] = json!(1);
    json!({
        "Error": { "type": "object", "required": ["error"], "properties": { "error": text } },
        "Tensor": tensor(json!({ "type": "array", "description": "Values in the order of rows, flat or nested" })),
        "Output": tensor(json!({ "type": "array" })),
        "InferRequest": {
            "type": "object",
            "required": ["inputs"],
            "properties": {
                "id": text,
                "parameters": object,
                "inputs": inputs,
                "outputs": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": { "name": text, "parameters": object },
                    },
                },
            },
        },
        "InferResponse": {
            "type": "object",
            "required": ["model_name", "model_version", "outputs"],
            "properties": { "model_name": text, "model_version": text, "id": text, "outputs": tensors("Output") },
        },
        "Model": {
            "type": "object",
            "required": ["name", "versions", "platform", "inputs", "outputs"],
            "properties": {
                "name": text,
                "versions": { "type": "array", "items": text },
                "platform": text,
                "inputs": described,
                "outputs": described,
                "parameters": object,
            },
        },
        "Index": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "version", "state", "reason"],
                "properties": {
                    "name": text,
                    "version": text,
                    "state": { "type": "string", "enum": ["READY", "UNAVAILABLE"] },
                    "reason": text,
                },
            },
        },
        "Predictions": {
            "type": "object",
            "properties": {
                "predictions": { "type": "array" },
                "columns": { "type": "array", "items": text },
                "values": { "type": "array", "items": { "type": "array", "items": { "type": "number" } } },
            },
        },
    })
}
