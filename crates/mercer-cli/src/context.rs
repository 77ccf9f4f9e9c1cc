//! The context of a command besides its own arguments: where and how to print, threads, memory, seed.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use mercer::data::Dataset;
use mercer::data::io::write_atomic;
use mercer::watch::{Note, NoteKind};
use mercer::{Error, Exec};
use mercer_report::Report;
use mercer_report::html::Page;

use crate::args::{Format, Global};
use crate::clock;
use crate::failure::{Done, Failure};

/// The settings of one run.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// How results are printed.
    pub(crate) format: Format,
    /// Results and errors only.
    pub(crate) quiet: bool,
    /// Threads, memory, device: made once, here, and passed to every call.
    pub(crate) exec: Exec,
    /// Start of all random numbers.
    pub(crate) seed: u64,
}

impl Context {
    /// The settings the options ask for.
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let device = mercer_cuda::device(global.device)
            .map_err(|why| Error::Unsupported(format!("--device {}: {why}", global.device)))?;
        let exec = Exec::new(global.threads.map_or(0, usize::from)).with_device(device);
        if global.quiet {
            crate::interrupt::be_quiet();
        }
        Ok(Context {
            format: global.format,
            quiet: global.quiet,
            exec: global.memory.map_or(exec, |bytes| exec.with_memory(bytes)),
            seed: global.seed,
        })
    }

    /// Prints a result.
    pub(crate) fn show(&self, report: &impl Report) -> Done {
        match self.format {
            Format::Text => {
                let colour = stdout_colour();
                print(&mercer_report::text(report, colour), colour)
            }
            Format::Json => print(&mercer_report::json(report), false),
        }
    }

    /// Prints warnings about the data to standard error, unless quiet.
    pub(crate) fn warn(&self, notes: &[Note]) {
        for note in notes.iter().filter(|note| note.kind != NoteKind::Plain && !self.quiet) {
            // If standard error is closed, warnings are dropped.
            crate::failure::note(note);
        }
    }

    /// Prints what was done, unless quiet.
    pub(crate) fn tell(&self, report: &impl Report) -> Done {
        if self.quiet { Ok(()) } else { self.show(report) }
    }

    /// Writes a page of a report with when and from what it was made, and says so.
    pub(crate) fn write_page(&self, file: &Path, mut page: Page, data: &[(&str, &Dataset)]) -> Done {
        page.provenance.push(("Date".into(), clock::now()));
        page.provenance.push(("Command".into(), clock::command_line()));
        data.iter().for_each(|(name, data)| page.made_from(name, data));
        if page.footer.is_empty() {
            page.footer = format!("Made by mercer {}, seed {}.", env!("CARGO_PKG_VERSION"), self.seed);
        }
        let html = page.html();
        write_atomic(file, |out| out.write_all(html.as_bytes()).map_err(|e| Error::io(file, e)))?;
        if self.quiet || self.format == Format::Json {
            return Ok(());
        }
        let name = file.display().to_string();
        print(
            &format!("\n  ✓ {}: the same with pictures, for a browser\n", mercer_report::visible(&name)),
            false,
        )
    }
}

/// Prints text, without its colours where they are not wanted.
pub(crate) fn print(text: &str, colour: bool) -> Done {
    let mut out = io::stdout().lock();
    if colour {
        out.write_all(text.as_bytes())?;
    } else {
        out.write_all(plain(text).as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

/// Whether standard output shows colours: a terminal, unless colours are disabled.
pub(crate) fn stdout_colour() -> bool {
    io::stdout().is_terminal() && colours_wanted()
}

/// Whether the environment lets colours be (<https://no-color.org>).
pub(crate) fn colours_wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Text without its terminal colours: `ESC [ digits m`, the only sequences that this program makes.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        rest = if after[end..].starts_with('m') {
            &after[end + 1..]
        } else {
            // Not one of ours: shown as what it is, and what follows stays.
            out.push_str("\\u{1b}[");
            after
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_are_taken_out() {
        assert_eq!(plain("a\u{1b}[1;36mb\u{1b}[0mc"), "abc");
        assert_eq!(plain("one\u{1b}[\ntwo\n"), "one\\u{1b}[\ntwo\n");
        assert_eq!(plain("\u{1b}[2Jm"), "\\u{1b}[2Jm");
        assert_eq!(plain("end\u{1b}["), "end\\u{1b}[");
    }
}
