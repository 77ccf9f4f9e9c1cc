//! The log: lines of text or of JSON on standard error. Rows never appear in it.

use tracing::Level;

/// The form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The least that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogLevel {
    /// What failed.
    Error,
    /// What is wrong and does not stop the server.
    Warn,
    /// Also models that are loaded, and requests where they are asked for.
    #[default]
    Info,
}

/// Starts the log of this process. A second call changes nothing.
pub fn start_log(format: LogFormat, level: LogLevel) {
    let level = match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
    };
    let log = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(false);
    // Fails where a log runs already: that one stays.
    let _ = match format {
        LogFormat::Text => tracing::subscriber::set_global_default(log.finish()),
        LogFormat::Json => tracing::subscriber::set_global_default(log.json().flatten_event(true).finish()),
    };
}
