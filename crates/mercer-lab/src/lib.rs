//! A local web app: everything the command does, live in the browser.
//!
//! [`serve`] opens a free port of this machine with a secret in its address, and serves a page of five rooms until it is told
//! to stop. It stands on the HTTP shell of `mercer-serve` and holds no mathematics: every number comes from the library,
//! every report from `mercer-report`. The page is plain ES modules under `assets/`, embedded in the program; nothing is
//! fetched from elsewhere.
//!
//! | module | holds |
//! |---|---|
//! | `server` | port, secret, table of addresses, the end |
//! | `jobs` | long work: progress, cancelling, events that a page can read again from the start |
//! | `rooms` | what each room asks of the library |
//! | `assets` | the files of the page |

#![forbid(unsafe_code)]

mod assets;
mod jobs;
mod reply;
mod rooms;
mod server;
mod state;

pub use server::{Failure, Settings, serve};
