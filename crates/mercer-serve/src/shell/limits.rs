//! What a client may send, and how long it may take.

use std::io::Read;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Bytes, BytesMut};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http_body_util::BodyExt as _;
use mercer::Exec;

use super::room::{Room, Share};
use crate::error::Refusal;

/// Limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Rows of a request.
    pub rows: usize,
    /// Connections at once.
    pub connections: usize,
    /// Requests that wait for a worker.
    pub queue: usize,
    /// Time for the head of a request, and between two requests of a connection.
    pub head_time: Duration,
    /// Time for a body.
    pub body_time: Duration,
    /// Nested arrays and objects of a JSON body.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 64 << 20,
            rows: 100_000,
            connections: 1024,
            queue: 4096,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_mins(1),
            depth: 16,
        }
    }
}

impl Limits {
    /// What reading a body may use beyond a multiple of its bytes: a small one may unpack to a large one.
    pub(crate) fn reading(&self, exec: Exec) -> Exec {
        exec.with_memory(exec.memory().min((self.body as u64).saturating_mul(4)))
    }
}

/// The whole body of a request, decompressed, within the limits; counted in the room until its last copy is gone.
pub async fn body(headers: &HeaderMap, body: Body, limits: &Limits, room: &Room) -> Result<Bytes, Refusal> {
    let too_large = || {
        Refusal::too_large(format!("the body has more than {} bytes, the limit of this server", limits.body))
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|bytes| bytes > limits.body) {
        return Err(too_large());
    }
    let mut share = room.share();
    let read = async {
        let mut body = body;
        let mut first: Option<Bytes> = None;
        let mut rest = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|e| Refusal::bad(format!("the body ends early: {e}")))?;
            let Ok(data) = frame.into_data() else { continue };
            let held = first.as_ref().map_or(0, Bytes::len).max(rest.len()) + data.len();
            if held > limits.body {
                return Err(too_large());
            }
            share.grow_to(held)?;
            // A body in one piece, as small ones are, is never copied.
            match first.take() {
                None if rest.is_empty() => first = Some(data),
                None => rest.extend_from_slice(&data),
                Some(begin) => {
                    // What a header promises is not reserved before it is there.
                    rest.reserve((begin.len() + data.len()).max(declared.unwrap_or(0).min(1 << 20)));
                    rest.extend_from_slice(&begin);
                    rest.extend_from_slice(&data);
                }
            }
        }
        Ok(first.unwrap_or_else(|| rest.freeze()))
    };
    let read = match tokio::time::timeout(limits.body_time, read).await {
        Ok(read) => read?,
        Err(_) => {
            return Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                format!("the body took longer than {} seconds", limits.body_time.as_secs_f64()),
            ));
        }
    };
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    let Some(coding) = codings.next() else { return Ok(share.of(read)) };
    if codings.next().is_some() {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "several headers `Content-Encoding`, expected one",
        ));
    }
    let coding = coding.to_str().unwrap_or("?").trim().to_ascii_lowercase();
    if matches!(coding.as_str(), "" | "identity") {
        return Ok(share.of(read));
    }
    let (most, read_length) = (limits.body, read.len());
    let unpack = move || unpacked(&coding, &read, most, share);
    let (bytes, share) = if read_length <= SMALL {
        unpack()?
    } else {
        let failed = || Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the body could not be decompressed");
        super::aside(unpack).await.ok_or_else(failed)??
    };
    if bytes.len() > limits.body { Err(too_large()) } else { Ok(share.of(bytes.into())) }
}

/// Bytes of a body that are decompressed at once.
const SMALL: usize = 64 << 10;

/// What a compressed body holds, up to one byte more than the limit, and its share of the room.
fn unpacked(coding: &str, body: &[u8], most: usize, mut share: Share) -> Result<(Vec<u8>, Share), Refusal> {
    let mut packed: Box<dyn Read + '_> = match coding {
        "gzip" | "x-gzip" => Box::new(MultiGzDecoder::new(body)),
        "deflate" => Box::new(ZlibDecoder::new(body)),
        other => {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("content encoding `{other}` is not supported; expected gzip, deflate or identity"),
            ));
        }
    };
    let mut bytes = Vec::new();
    loop {
        // In pieces: a few bytes may become many, which need room.
        let piece = SMALL.min(most + 1 - bytes.len());
        match packed.by_ref().take(piece as u64).read_to_end(&mut bytes) {
            Ok(0) => return Ok((bytes, share)),
            Ok(_) => share.grow_to(body.len() + bytes.len())?,
            Err(e) => {
                return Err(Refusal::bad(format!(
                    "the body is not valid {coding}, its content encoding: {e}"
                )));
            }
        }
    }
}
