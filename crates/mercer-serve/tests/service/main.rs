//! The service from outside: over sockets, against the library's own predictions.

mod bytes;
mod client;
mod contract;
mod doors;
mod frames;
mod golden;
mod kinds;
mod limits;
mod malformed;
mod outputs;
mod swap;
#[cfg(feature = "tls")]
mod tls;
mod wire;
