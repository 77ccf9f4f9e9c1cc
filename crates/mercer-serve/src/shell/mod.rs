//! The HTTP shell: connections, limits, tokens, TLS, request ids, logs and a graceful stop.
//!
//! It knows nothing of models: an application hands it a [`Router`](axum::Router), and gets a server that can be left alone. A second
//! application can stand on the same shell.

mod connection;
mod eager;
mod guard;
mod lanes;
mod limits;
mod log;
mod page;
mod patient;
mod rest;
mod room;
#[cfg(feature = "tls")]
mod tls;
mod tokens;
mod watched;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use connection::{Counts, Shell};
pub(crate) use guard::decoded;
pub use lanes::{Lanes, aside};
pub use limits::{Limits, body};
pub use log::{LogFormat, LogLevel, start_log};
pub use page::{asset, document, escape, html};
pub use room::Room;
pub use tokens::Tokens;

/// How a server listens, and whom it lets in.
#[derive(Debug, Clone)]
pub struct Access {
    /// The address.
    pub listen: SocketAddr,
    /// A file with a bearer token per line.
    pub tokens: Option<PathBuf>,
    /// Certificate chain and key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether to listen beyond this machine without tokens or without TLS.
    pub insecure: bool,
    /// How long a stop waits for requests that were accepted.
    pub grace: Duration,
    /// Whether every request gets a line in the log.
    pub log_requests: bool,
}

impl Access {
    /// Listens on this machine only, for everybody on it.
    pub fn local(listen: SocketAddr) -> Self {
        let grace = Duration::from_secs(30);
        Access { listen, tokens: None, tls: None, insecure: false, grace, log_requests: false }
    }

    /// Whether whoever can connect may also load and unload models: those on this machine, or with a token.
    pub fn trusted(&self) -> bool {
        self.listen.ip().is_loopback() || self.tokens.is_some()
    }

    /// Whether only this machine reaches the server, and needs no token; unless the user said that it may be open.
    fn private(&self) -> bool {
        self.listen.ip().is_loopback() && self.tokens.is_none() && !self.insecure
    }

    /// Fails where strangers could ask or read along and nobody said that they may.
    pub fn check(&self) -> Result<(), String> {
        if self.listen.ip().is_loopback() || self.insecure {
            return Ok(());
        }
        let missing = match (&self.tokens, &self.tls) {
            (Some(_), Some(_)) => return Ok(()),
            (None, None) => "without a token and without TLS",
            (None, Some(_)) => "without a token",
            (Some(_), None) => "without TLS: tokens and rows could be read in transit",
        };
        Err(format!("{} is reachable from other machines {missing}", self.listen))
    }
}
