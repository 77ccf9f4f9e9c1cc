//! What is left of a body when a request is refused before it was read.
//!
//! Many clients send the head and the body one after the other. Where a server refuses by the head alone and closes, they see a
//! broken connection instead of the words of the refusal. So a little of what is left is read and dropped first.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming, SizeHint};

/// Bytes that are read and dropped, and the time they may take.
const MOST: usize = 1 << 20;
const TIME: Duration = Duration::from_secs(1);

/// A body that can be taken back from whoever was to read it.
pub(super) struct Rest(Arc<Mutex<Option<Incoming>>>);

struct Lent(Arc<Mutex<Option<Incoming>>>);

impl Rest {
    /// A body for a reader, and what it will leave; nothing where there is no body.
    pub(super) fn of(body: Incoming) -> (Body, Option<Self>) {
        if body.is_end_stream() {
            return (Body::empty(), None);
        }
        let shared = Arc::new(Mutex::new(Some(body)));
        (Body::new(Lent(Arc::clone(&shared))), Some(Rest(shared)))
    }

    /// Reads and drops what the reader has left, within limits.
    pub(super) async fn drop_some(self) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut left) = left.filter(|body| !body.is_end_stream()) else { return };
        // So much is not worth reading.
        if left.size_hint().lower() > MOST as u64 {
            return;
        }
        let read = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = left.frame().await {
                bytes += frame.data_ref().map_or(0, Bytes::len);
                if bytes > MOST {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(TIME, read).await;
    }
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(body) = slot.as_mut() else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            *slot = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}
