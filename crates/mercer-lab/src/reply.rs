//! Requests to values and values to responses.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use mercer_serve::error::Refusal;
use mercer_serve::shell;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a request asks for, or why it is refused.
pub(crate) type Asked<T> = Result<T, Refusal>;

/// What a handler returns.
pub(crate) type Reply = Asked<Response<Body>>;

/// A request's body as what it should be.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|e| Refusal::bad(format!("the request is not understood: {e}")))
}

/// A value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Reply {
    match serde_json::to_vec(value) {
        Ok(text) => Ok(shell::asset("application/json", text)),
        Err(e) => Err(Refusal::bad(e.to_string())),
    }
}

/// Facts as JSON with planes of numbers behind them: the length of the JSON as four bytes, the JSON with blanks to a multiple
/// of four bytes, then the numbers as 32-bit floats, all little-endian. A browser views the numbers without copying.
pub(crate) fn planes(facts: &impl Serialize, numbers: &[f32]) -> Reply {
    let mut text = serde_json::to_vec(facts).map_err(|e| Refusal::bad(e.to_string()))?;
    while !text.len().is_multiple_of(4) {
        text.push(b' ');
    }
    let mut out = Vec::with_capacity(4 + text.len() + 4 * numbers.len());
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(&text);
    numbers.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    Ok(shell::asset("application/octet-stream", out))
}

/// A file to download under a name. The name is not trusted: it is sent as percent-encoded UTF-8 (RFC 6266), and with plain
/// characters only for programs that do not read the first form.
pub(crate) fn download(kind: &'static str, name: &str, body: impl Into<Body>) -> Response<Body> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let simple: String = name.chars().map(plain).collect();
    let mut exact = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            exact.push(char::from(byte));
        } else {
            let _ = write!(exact, "%{byte:02X}");
        }
    }
    let mut response = shell::asset(kind, body);
    let value = format!("attachment; filename=\"{simple}\"; filename*=UTF-8''{exact}");
    if let Ok(value) = HeaderValue::from_str(&value) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_downloads_have_plain_characters_and_are_kept() {
        let response = download("text/plain", "ü\"b\r\n<c>.csv", "x");
        assert_eq!(
            response.headers()[header::CONTENT_DISPOSITION],
            "attachment; filename=\"__b___c_.csv\"; filename*=UTF-8''%C3%BC%22b%0D%0A%3Cc%3E.csv"
        );
    }

    #[test]
    fn numbers_begin_at_a_multiple_of_four_bytes() {
        for name in ["a", "ab", "abc", "abcd"] {
            let response = planes(&name, &[1.5]).expect("a reply");
            let body = axum::body::to_bytes(response.into_body(), 100);
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            let body = runtime.block_on(body).expect("bytes");
            let length = u32::from_le_bytes([body[0], body[1], body[2], body[3]]) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(body[4 + length..], 1.5_f32.to_le_bytes());
        }
    }
}
