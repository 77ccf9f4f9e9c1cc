//! The command `mercer`: parses, calls the library, prints what `mercer-report` made, and ends with 0 (done),
//! 1 (wrong data or model), 2 (wrong usage) or 130 (interrupted).

mod args;
mod clock;
mod commands;
mod context;
mod failure;
mod files;
mod interrupt;
mod libsvm;
mod memory;
mod model;
mod progress;
mod rows;
mod safe_csv;
mod saver;
mod source;

use std::process::ExitCode;

use crate::context::Context;
use crate::failure::Done;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// A decoder of another crate that panics on a damaged file is an error in words, without the panic's own message.
fn quiet_decoders() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !mercer::data::io::in_decoder() {
            usual(panic);
        }
    }));
}

fn run() -> Done {
    quiet_decoders();
    let matches = args::command().try_get_matches().map_err(libsvm::translated)?;
    let mut words = Vec::new();
    let mut at = &matches;
    while let Some((word, below)) = at.subcommand() {
        words.push(word);
        at = below;
    }
    let Some(entry) = commands::ALL.iter().find(|entry| entry.path == words) else {
        // Without arguments, list what the program can do.
        return context::print(&args::command().render_help().ansi().to_string(), context::stdout_colour());
    };
    let context = Context::new(&args::Global::of(at)?)?;
    (entry.run)(at, &context)
}
