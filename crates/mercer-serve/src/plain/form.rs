//! The forms of rows and predictions, by content type; what has none, or one that says nothing, is told by its content.

use axum::http::{HeaderValue, StatusCode};
use mercer::data::io::Format;

use crate::error::Refusal;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON array of rows.
    Json,
    /// A JSON array or object per line.
    JsonLines,
    /// A table, parted by commas or semicolons.
    Csv,
    /// A table, parted by tabs.
    Tsv,
    /// An array of NumPy.
    Npy,
    /// Any other format of the readers, told by its content.
    Other,
}

impl Form {
    /// The form of a body.
    pub fn of_type(kind: Option<&HeaderValue>, body: &[u8]) -> Result<Self, Refusal> {
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Ok(match kind.as_str() {
            "application/json" | "text/json" => Form::Json,
            "application/jsonl"
            | "application/jsonlines"
            | "application/x-jsonlines"
            | "application/x-ndjson"
            | "application/ndjson" => Form::JsonLines,
            "text/csv" | "application/csv" => Form::Csv,
            "text/tab-separated-values" => Form::Tsv,
            "application/x-npy" | "application/npy" => Form::Npy,
            // What clients send where nobody says what it is.
            "" | "text/plain" | "application/octet-stream" | "application/x-www-form-urlencoded" => {
                Self::sniffed(body)
            }
            other if other.starts_with("image/") => Form::Other,
            other => {
                return Err(Refusal::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    format!(
                        "content type `{other}` is not supported; expected text/csv, text/tab-separated-values, \
                         application/json, application/x-ndjson, application/x-npy, image/png or text/plain"
                    ),
                ));
            }
        })
    }

    fn sniffed(body: &[u8]) -> Self {
        let text = body.trim_ascii();
        if text.starts_with(b"\x93NUMPY") {
            return Form::Npy;
        }
        let json = text.starts_with(b"[") || text.starts_with(b"{");
        if json && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok() {
            return Form::Json;
        }
        Form::Other
    }

    /// The form of the response: what the client accepts, else the form of the rows.
    pub fn accepted(accept: Option<&HeaderValue>, given: Form) -> Result<Self, Refusal> {
        let like = if given == Form::Other { Form::Csv } else { given };
        let accept = accept.and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
        // The first of those that are preferred most.
        let mut best: Option<(f64, Form)> = None;
        for part in accept.split(',') {
            let mut words = part.split(';');
            let kind = words.next().unwrap_or_default().trim().to_ascii_lowercase();
            let weight =
                words.find_map(|word| word.trim().strip_prefix("q=")?.parse::<f64>().ok()).unwrap_or(1.0);
            let form = match kind.as_str() {
                "*/*" | "" => Some(like),
                "text/*" => Some(if matches!(like, Form::Csv | Form::Tsv) { like } else { Form::Csv }),
                "application/*" => {
                    Some(if matches!(like, Form::Csv | Form::Tsv) { Form::Json } else { like })
                }
                kind => Self::ALL.iter().copied().find(|form| form.kind().split(';').next() == Some(kind)),
            };
            if let Some(form) = form.filter(|_| weight > best.map_or(0.0, |(most, _)| most)) {
                best = Some((weight, form));
            }
        }
        if let Some((_, form)) = best {
            return Ok(form);
        }
        let kinds: Vec<&str> = Self::ALL.iter().map(|form| form.kind()).collect();
        Err(Refusal::new(
            StatusCode::NOT_ACCEPTABLE,
            format!("predictions cannot be written as `{accept}`; expected {}", kinds.join(", ")),
        ))
    }

    const ALL: &'static [Form] = &[Form::Json, Form::JsonLines, Form::Csv, Form::Tsv, Form::Npy];

    /// The content type of a response.
    pub fn kind(self) -> &'static str {
        match self {
            Form::Json => "application/json",
            Form::JsonLines => "application/x-ndjson",
            Form::Csv | Form::Other => "text/csv; charset=utf-8",
            Form::Tsv => "text/tab-separated-values; charset=utf-8",
            Form::Npy => "application/x-npy",
        }
    }

    /// The reader's format; none: told by content.
    pub(super) fn format(self) -> Option<Format> {
        match self {
            Form::Json | Form::JsonLines => Some(Format::JsonLines),
            Form::Csv => Some(Format::Csv),
            Form::Tsv => Some(Format::Tsv),
            Form::Npy => Some(Format::Npy),
            Form::Other => None,
        }
    }
}
