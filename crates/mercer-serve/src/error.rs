//! What a request is refused with: a status, and words in the protocol's shape, `{"error": "..."}`.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};

/// A refused request.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong, in words.
    pub message: String,
    /// After how many seconds it is worth asking again.
    pub retry_after: Option<u32>,
}

impl Refusal {
    /// A refusal with a status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal { status, message: message.into(), retry_after: None }
    }

    /// The request is wrong.
    pub fn bad(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    /// There is no such thing.
    pub fn missing(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, message)
    }

    /// The request is larger than a limit allows.
    pub fn too_large(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// The same request may succeed later.
    pub fn later(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal { status, message: message.into(), retry_after: Some(1) }
    }

    /// The response.
    pub fn response(&self) -> Response<Body> {
        let body = serde_json::json!({ "error": shortened(&self.message, LONGEST) }).to_string();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Characters of a message. It may quote what was sent, which may be megabytes.
const LONGEST: usize = 4000;

/// A text of so many characters at most.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

impl From<mercer::Error> for Refusal {
    fn from(error: mercer::Error) -> Self {
        let status = match &error {
            mercer::Error::Memory { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            mercer::Error::Io { .. } | mercer::Error::ModelFile { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Refusal::new(status, error.to_string())
    }
}
