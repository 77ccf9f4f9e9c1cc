//! The bytes that requests may hold at the same time: each body has a limit of its own, but a thousand of them together
//! would take all memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use bytes::Bytes;

use crate::error::Refusal;

/// What a request becomes while it is computed may be so many times larger than its bytes.
const GROWTH: u64 = 16;

/// Counts the bytes of bodies and responses that are in memory.
#[derive(Debug, Clone)]
pub struct Room(Arc<Counter>);

#[derive(Debug)]
struct Counter {
    used: AtomicUsize,
    most: usize,
}

/// A share of the room, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    room: Room,
    bytes: usize,
}

impl Room {
    /// Room for requests in a process that may use so much memory.
    pub fn within(memory: u64) -> Self {
        let most = usize::try_from(memory / GROWTH).unwrap_or(usize::MAX);
        Room(Arc::new(Counter { used: AtomicUsize::new(0), most }))
    }

    /// No bytes so far.
    pub(super) fn share(&self) -> Share {
        Share { room: self.clone(), bytes: 0 }
    }

    /// Bytes that are counted until their last copy is gone, such as a response until its client has read it. They exist
    /// already, so they are never refused; requests that come while too much is held are.
    pub fn holding(&self, bytes: Bytes) -> Bytes {
        if bytes.len() <= SMALL {
            return bytes;
        }
        let mut share = self.share();
        share.take(bytes.len());
        share.of(bytes)
    }
}

/// Bytes that are not worth counting: with those of all connections they are few. Such requests are refused only where so
/// many times more than there is room for is held.
const SMALL: usize = 16 << 10;
const RESERVE: usize = 4;

impl Share {
    /// So many bytes, if there is room for them, or nobody else has any: a single request may always be as large as its own
    /// limit.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), Refusal> {
        let (own, more) = (self.bytes, bytes.saturating_sub(self.bytes));
        let most = self.room.0.most;
        let (before, most) = if bytes <= SMALL {
            // A large response that is read slowly must not lock out all who ask for little.
            (self.room.0.used.load(Ordering::Relaxed), most.saturating_mul(RESERVE))
        } else {
            (self.take(more), most)
        };
        if before.saturating_add(more) > most && before > own {
            return Err(Refusal::later(
                StatusCode::SERVICE_UNAVAILABLE,
                "the requests under way take all the memory that this server has for them",
            ));
        }
        Ok(())
    }

    /// Counts more bytes; what was counted before, for all.
    fn take(&mut self, more: usize) -> usize {
        self.bytes += more;
        self.room.0.used.fetch_add(more, Ordering::Relaxed)
    }

    /// The bytes for which this share was taken, which it stays with.
    pub(super) fn of(self, bytes: Bytes) -> Bytes {
        if self.bytes == 0 {
            return bytes;
        }
        Bytes::from_owner(Held { bytes, _share: self })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_and_given_back_with_the_last_copy() {
        let room = Room::within(GROWTH * 100_000);
        let mut first = room.share();
        first.grow_to(300_000).expect("nobody else has any");
        assert!(room.share().grow_to(SMALL + 1).is_err_and(|refusal| refusal.retry_after.is_some()));
        room.share().grow_to(SMALL).expect("little");
        first.grow_to(300_001).expect("still alone");
        let bytes = first.of(Bytes::from(vec![1; 300_001]));
        let part = bytes.slice(5..6);
        drop(bytes);
        assert!(room.share().grow_to(SMALL + 1).is_err());
        drop(part);
        let (mut one, mut two) = (room.share(), room.share());
        one.grow_to(60_000).expect("there is room");
        two.grow_to(40_000).expect("there is room");
        assert!(two.grow_to(40_001).is_err());
        drop((one, two));
        let response = room.holding(Bytes::from(vec![0; 400_001]));
        assert!(room.share().grow_to(SMALL).is_err(), "nor even little, where so much is held");
        drop(response);
        assert_eq!(room.0.used.load(Ordering::Relaxed), 0);
        room.share().grow_to(100_000).expect("all is given back");
    }
}
