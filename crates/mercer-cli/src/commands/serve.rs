//! `mercer serve`: models over HTTP.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mercer_report::visible;
use mercer_serve::shell::{Access, Limits, LogFormat, LogLevel, start_log};
use mercer_serve::{Batching, Place, Settings};

use crate::commands::Command;
use crate::context::{self, Context};
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::{interrupt, memory};

/// Serve models over HTTP
///
/// Clients speak the Open Inference Protocol (v2, with binary tensors), or send CSV, JSON, JSON lines, NPY or pictures to
/// /v1/models/NAME/predict. A browser shows the models at /. Files and folders are watched: a new version is loaded,
/// checked and swapped in without losing a request; a broken file leaves the old version in place. Ctrl-C or SIGTERM
/// finishes the requests that were accepted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer serve iris.mercer
  mercer serve models/ --listen 127.0.0.1:9000
  mercer serve digits=usps.mercer old=libsvm.model
  mercer serve models/ --listen 0.0.0.0:8000 --tokens tokens.txt --insecure   (behind a proxy with TLS)
  curl --data-binary @new.csv -H 'content-type: text/csv' http://127.0.0.1:8000/v1/models/iris/predict")]
pub(crate) struct Serve {
    /// Models: files, folders of them, or NAME=FILE
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<PathBuf>,

    /// Address and port to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    listen: String,

    /// File with one bearer token per line; read again when it changes
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    tokens: Option<PathBuf>,

    /// Certificate chain in PEM; read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Access")]
    tls_cert: Option<PathBuf>,

    /// Key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Access")]
    tls_key: Option<PathBuf>,

    /// Listen beyond this machine without tokens or without TLS; allow pages of other names
    #[arg(long, help_heading = "Access")]
    insecure: bool,

    /// Maximum rows per batch; in batches of up to 32, rows get the same predictions as alone to the last bit
    #[arg(long, value_name = "ROWS", default_value_t = 32, help_heading = "Speed",
          value_parser = clap::value_parser!(u32).range(1..))]
    batch_rows: u32,

    /// Maximum time a request waits for others to join its batch, in milliseconds; 0 takes only those that wait already
    #[arg(long, value_name = "MS", default_value_t = 0.0, help_heading = "Speed")]
    batch_wait: f64,

    /// Threads that predict [default: --threads]
    #[arg(long, value_name = "N", help_heading = "Speed", value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,

    /// Threads that read and write connections [default: --threads]
    #[arg(long, value_name = "N", help_heading = "Speed", value_parser = clap::value_parser!(u16).range(1..))]
    io_threads: Option<u16>,

    /// Interval between checks of the files, in seconds; 0 disables them
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    watch: f64,

    /// Maximum size of a request body
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = memory::parse, help_heading = "Limits")]
    max_body: u64,

    /// Maximum rows per request
    #[arg(long, value_name = "ROWS", default_value_t = 100_000, help_heading = "Limits")]
    max_rows: usize,

    /// Maximum simultaneous connections; further ones get status 503
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = "Limits")]
    max_connections: usize,

    /// Maximum queued requests; further ones get status 429
    #[arg(long, value_name = "N", default_value_t = 4096, help_heading = "Limits")]
    max_queue: usize,

    /// Time limit in seconds for the request head, and between requests on a connection
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, help_heading = "Limits")]
    head_timeout: f64,

    /// Time limit in seconds for the request body, and for a response to make progress
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, help_heading = "Limits")]
    body_timeout: f64,

    /// Seconds to finish accepted requests after a stop signal
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, help_heading = "Limits")]
    grace: f64,

    /// Format of the log on standard error
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "text|json",
        hide_possible_values = true,
        help_heading = "Log"
    )]
    log: Log,

    /// Log one line per request, without its rows
    #[arg(long, help_heading = "Log")]
    log_requests: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Log {
    #[default]
    Text,
    Json,
}

impl Command for Serve {
    const PATH: &'static [&'static str] = &["serve"];

    fn files(&self) -> Result<Files, Failure> {
        let places = self.models.iter().map(|model| Place::new(model).path().to_owned());
        Ok(Files::none().reads(places).reads(&self.tokens).reads(&self.tls_cert).reads(&self.tls_key))
    }

    fn run(self, context: &Context) -> Done {
        let listen = address(&self.listen)?;
        for model in &self.models {
            let place = Place::new(model);
            if let Err(error) = std::fs::metadata(place.path()) {
                return Err(mercer::Error::io(place.path(), error).into());
            }
        }
        let access = Access {
            listen,
            tokens: self.tokens.clone(),
            tls: self.tls_cert.clone().zip(self.tls_key.clone()),
            insecure: self.insecure,
            grace: seconds("--grace", self.grace)?,
            log_requests: self.log_requests,
        };
        access.check().map_err(|why| {
            Failure::usage(why, "pass --tokens with --tls-cert and --tls-key, or --insecure to listen anyway")
        })?;
        if access.tls.is_some() && !cfg!(feature = "tls") {
            return Err(Failure::usage(
                "this build has no TLS",
                "build it with `cargo build --release --features tls`, or put a proxy with TLS in front",
            ));
        }
        let threads = context.exec.threads();
        let settings = Settings {
            places: self.models.iter().map(|model| Place::new(model)).collect(),
            access,
            limits: Limits {
                body: usize::try_from(self.max_body).unwrap_or(usize::MAX),
                rows: self.max_rows,
                connections: self.max_connections.max(1),
                queue: self.max_queue.max(1),
                head_time: seconds("--head-timeout", self.head_timeout)?,
                body_time: seconds("--body-timeout", self.body_timeout)?,
                ..Limits::default()
            },
            batching: Batching {
                rows: self.batch_rows as usize,
                wait: seconds("--batch-wait", self.batch_wait / 1e3)?,
                workers: self.workers.map_or(threads, usize::from),
                queue: self.max_queue.max(1),
            },
            look: Some(seconds("--watch", self.watch)?).filter(|every| !every.is_zero()),
            io_threads: self.io_threads.map_or(threads, usize::from),
            exec: context.exec,
        };
        let level = if context.quiet { LogLevel::Warn } else { LogLevel::Info };
        start_log(if self.log == Log::Json { LogFormat::Json } else { LogFormat::Text }, level);
        interrupt::be_quiet();
        interrupt::listen(true);
        let scheme = if self.tls_cert.is_some() { "https" } else { "http" };
        let (quiet, json) = (context.quiet, context.format == crate::args::Format::Json);
        let started = |address: SocketAddr, models: Vec<String>| {
            let line = if json {
                serde_json::json!({ "address": format!("{scheme}://{address}"), "models": models })
                    .to_string()
            } else {
                let names = if models.is_empty() { "no models yet".into() } else { models.join(", ") };
                format!("listening on {scheme}://{address}: {}", visible(&names))
            };
            if !quiet || json {
                // If standard error is closed, notes are dropped.
                let _ = context::print(&format!("{line}\n"), false);
            }
        };
        let ended =
            mercer_serve::serve(settings, interrupt::asked, started).map_err(|failure| match failure {
                mercer_serve::Failure::Model(error) => Failure::from(error),
                other => Failure::usage(other.to_string(), "`mercer serve --help` lists all settings"),
            })?;
        if ended.all_answered {
            return Ok(());
        }
        Err(Failure::Interrupted {
            message: "stopped before all accepted requests were answered".into(),
            hint: "--grace sets a longer time limit".into(),
        })
    }
}

/// An address with a port; a name stands for the first address it has.
fn address(text: &str) -> Result<SocketAddr, Failure> {
    let text = if text.starts_with(':') { format!("127.0.0.1{text}") } else { text.to_owned() };
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        Failure::usage(
            format!("--listen {text}: not an address with a port"),
            "write it as 127.0.0.1:8000, [::1]:8000 or localhost:8000",
        )
    })
}

fn seconds(flag: &str, value: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(value).ok().filter(|time| time.as_secs() <= 86_400).ok_or_else(|| {
        Failure::usage(format!("{flag} {value}: not a time"), "give a number from 0 to 86400 seconds")
    })
}
