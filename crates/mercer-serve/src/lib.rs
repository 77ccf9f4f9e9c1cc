//! Prediction service: models over HTTP.
//!
//! [`serve`] loads models, opens a port and serves until it is told to stop. Clients speak the Open Inference Protocol
//! (version 2, with binary tensors), or send rows as CSV, JSON, JSON lines, NPY or pictures to the plain door. The service holds no
//! mathematics: every prediction is one call of the library, for the rows of all requests that wait at the same time.
//!
//! `shell` is the part that knows nothing of models: connections, limits, tokens, TLS, logs. `docs/serve.md` is the page for
//! people.

#![forbid(unsafe_code)]

mod app;
mod batch;
pub mod error;
mod metrics;
pub mod models;
mod outputs;
mod pace;
mod pages;
pub mod plain;
mod server;
pub mod shell;
pub mod v2;

pub use batch::Batching;
pub use models::Place;
pub use outputs::Output;
pub use server::{Failure, Settings, Summary, serve};
