//! Inference responses: written by hand into one buffer, since this is what every request costs.

use std::io::Write as _;

use axum::body::Body;
use axum::http::{HeaderValue, Response};
use bytes::Bytes;
use mercer::data::Targets;

use super::HEADER_LENGTH;
use crate::batch::Answer;
use crate::models::Served;
use crate::outputs::Output;
use crate::shell::{self, Room};

/// The response with all outputs asked for.
pub(super) fn infer(
    served: &Served,
    answer: &Answer,
    id: Option<&str>,
    asked: &[(Output, bool)],
    room: &Room,
) -> Response<Body> {
    let mut json = Vec::with_capacity(256 + 24 * answer.rows.len());
    let mut binary = Vec::new();
    json.extend_from_slice(b"{\"model_name\":");
    text(&mut json, &served.name);
    json.extend_from_slice(b",\"model_version\":");
    text(&mut json, &served.version);
    if let Some(id) = id {
        json.extend_from_slice(b",\"id\":");
        text(&mut json, id);
    }
    json.extend_from_slice(b",\"outputs\":[");
    for (i, (output, as_bytes)) in asked.iter().enumerate() {
        if i > 0 {
            json.push(b',');
        }
        one(&mut json, &mut binary, answer, *output, *as_bytes);
    }
    json.extend_from_slice(b"]}");
    if binary.is_empty() && !asked.iter().any(|(_, binary)| *binary) {
        return shell::asset("application/json", room.holding(Bytes::from(json)));
    }
    let length = json.len();
    json.append(&mut binary);
    let mut response = shell::asset("application/octet-stream", room.holding(Bytes::from(json)));
    response.headers_mut().insert(HEADER_LENGTH, HeaderValue::from(length));
    response
}

fn one(json: &mut Vec<u8>, binary: &mut Vec<u8>, answer: &Answer, output: Output, as_bytes: bool) {
    let rows = &answer.rows;
    let values = answer.computed.values(output, rows);
    let classes = match (&answer.computed.prediction.targets, output) {
        (Targets::Classes(labels), Output::Label) => Some(labels),
        _ => None,
    };
    let datatype = match output {
        Output::Rejected => "BOOL",
        _ if classes.is_some() => "BYTES",
        _ => "FP64",
    };
    let _ = write!(
        json,
        "{{\"name\":\"{}\",\"datatype\":\"{datatype}\",\"shape\":[{}",
        output.name(),
        rows.len()
    );
    if !matches!(output, Output::Label | Output::Rejected) {
        let _ = write!(json, ",{}", if rows.is_empty() { 0 } else { values.len() / rows.len() });
    }
    json.push(b']');
    let rejected = answer.computed.prediction.rejected.get(rows.clone()).unwrap_or_default();
    if as_bytes {
        let before = binary.len();
        if let Some(labels) = classes {
            for i in rows.clone() {
                let name = labels.name_of(i).as_bytes();
                binary.extend_from_slice(&(name.len() as u32).to_le_bytes());
                binary.extend_from_slice(name);
            }
        } else if output == Output::Rejected {
            binary.extend(rejected.iter().map(|r| u8::from(*r)));
        } else {
            binary.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        }
        let _ = write!(json, ",\"parameters\":{{\"binary_data_size\":{}}}}}", binary.len() - before);
        return;
    }
    json.extend_from_slice(b",\"data\":[");
    let mut first = true;
    let mut part = |json: &mut Vec<u8>| {
        if !std::mem::take(&mut first) {
            json.push(b',');
        }
    };
    if let Some(labels) = classes {
        for i in rows.clone() {
            part(json);
            text(json, labels.name_of(i));
        }
    } else if output == Output::Rejected {
        for rejected in rejected {
            part(json);
            json.extend_from_slice(if *rejected { b"true" } else { b"false" });
        }
    } else {
        for value in values {
            part(json);
            // Finite, as all outputs are: the shortest text that reads back the same.
            let _ = serde_json::to_writer(&mut *json, value);
        }
    }
    json.extend_from_slice(b"]}");
}

fn text(json: &mut Vec<u8>, text: &str) {
    // Writing to memory does not fail, and any text can be written.
    let _ = serde_json::to_writer(json, text);
}
