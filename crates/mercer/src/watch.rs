//! Progress and cancelling: a closure that receives each step and decides whether to continue.
//!
//! The command's bar, Python's callback and Ctrl-C, the web page's stream and its cancel button are four such
//! closures. The library itself prints nothing. [`silent`] ignores all steps.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use mercer::prelude::*;
//!
//! let (points, targets) = mercer::data::toy::banana(1000, 1);
//! let mut steps = 0;
//! // Stops the fit after its first step: what was reached is returned, and says so.
//! let mut once = |_: &watch::Step| {
//!     steps += 1;
//!     ControlFlow::Break(())
//! };
//! let params = SvcParams { c: 1e4, ..SvcParams::default() };
//! let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut once)?;
//! assert!(steps > 0 && machine.info.stop == watch::Stop::Cancelled);
//! # Ok::<(), Error>(())
//! ```

use std::borrow::Borrow;
use std::fmt;
use std::ops::{ControlFlow, Deref};

use serde::{Deserialize, Serialize};

use crate::exec::Exec;

/// One step of long work.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// What is being done, in a word or two: `solve`, `machine 3 of 45`.
    pub phase: String,
    /// How much of it is done.
    pub done: u64,
    /// Out of how much, where that is known.
    pub total: Option<u64>,
    /// How far from the optimum, where the solver knows.
    pub gap: Option<f64>,
    /// Support vectors so far.
    pub centres: Option<usize>,
    /// What a setting of a search has just reached.
    pub scored: Option<Scored>,
}

/// The score of one setting of a search on one fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The setting's place in its stage.
    pub setting: usize,
    /// The fold.
    pub fold: usize,
    /// The score; none where the setting could not be fitted.
    pub score: Option<f64>,
}

impl Step {
    /// A step of a phase.
    pub fn new(phase: impl Into<String>, done: u64, total: Option<u64>) -> Self {
        Step { phase: phase.into(), done, total, ..Step::default() }
    }

    /// The same with the gap to the optimum.
    #[must_use]
    pub fn gap(mut self, gap: f64) -> Self {
        self.gap = Some(gap);
        self
    }

    /// The same with a score.
    #[must_use]
    pub fn scored(mut self, setting: usize, fold: usize, score: Option<f64>) -> Self {
        self.scored = Some(Scored { setting, fold, score });
        self
    }

    /// The same with the number of support vectors.
    #[must_use]
    pub fn centres(mut self, centres: usize) -> Self {
        self.centres = Some(centres);
        self
    }
}

/// What watches long work. Break to cancel.
pub type Watch<'a> = dyn FnMut(&Step) -> ControlFlow<()> + Send + 'a;

/// A watcher that lets everything go on.
pub fn silent() -> impl FnMut(&Step) -> ControlFlow<()> + Send {
    |_| ControlFlow::Continue(())
}

/// Calls with a watcher that goes on breaking once it broke, and says whether it did: work of several phases must neither go
/// on with the next one nor call itself complete.
pub(crate) fn noting<T>(watch: &mut Watch<'_>, call: impl FnOnce(&mut Watch<'_>) -> T) -> (T, bool) {
    let mut broken = false;
    let mut noted = |step: &Step| {
        broken = broken || watch(step).is_break();
        if broken { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let answer = call(&mut noted);
    (answer, broken)
}

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The tolerance was reached.
    #[default]
    Converged,
    /// The limit of iterations was reached first: the answer is what there was.
    Limit,
    /// The watcher broke off: the answer is what there was.
    Cancelled,
}

/// How a fit went: kept in the model, shown by every surface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Info {
    /// How it ended.
    pub stop: Stop,
    /// Steps of the solver, over all machines.
    pub iterations: u64,
    /// Largest violation of the optimality conditions left; infinite if it was never measured.
    #[serde(deserialize_with = "null_is_infinite")]
    pub gap: f64,
    /// Objective reached, where there is one (the sum over machines).
    pub objective: Option<f64>,
    /// Kernel values computed.
    pub kernel_values: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// The device that did the work, or a part of it; none: the CPU did all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Errors on held-out rows by the number of centres, where they were measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_out: Vec<HeldOut>,
    /// Decisions taken on the way, in words: which path was chosen and why.
    pub notes: Vec<Note>,
}

/// What a fit with so many centres reaches on rows that it has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Number of centres.
    pub centres: usize,
    /// Number of held-out rows.
    pub rows: usize,
    /// The share of wrong classes, or the mean square of errors.
    pub error: f64,
    /// Passes over all rows.
    pub passes: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Something that a reader or a fit tells beside its result. In JSON and in files it is its text.
#[derive(Debug, Clone, Eq)]
pub struct Note {
    /// What weight it has. Files do not keep it: notes that were read are plain.
    pub kind: NoteKind,
    /// The words.
    pub text: String,
}

/// What a [`Note`] is for. Nothing is decided by its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NoteKind {
    /// A decision taken on the way.
    #[default]
    Plain,
    /// Something that changes what may be expected of the result.
    Warning,
    /// A file no longer belongs to one that it was written with.
    OtherRun,
}

impl Note {
    /// A note that changes what may be expected of the result.
    pub fn warning(text: impl Into<String>) -> Self {
        Note { kind: NoteKind::Warning, text: text.into() }
    }
}

/// Two notes are the same if they say the same: a model that was saved and read again equals itself.
impl PartialEq for Note {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Note { kind: NoteKind::Plain, text }
    }
}

impl From<&str> for Note {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Deref for Note {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Borrow<str> for Note {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl Serialize for Note {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Note {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Note::from)
    }
}

impl Info {
    /// Adds a note.
    pub fn note(&mut self, note: impl Into<Note>) {
        self.notes.push(note.into());
    }

    /// Tells the device of a call if it has answered since it had answered `before` times. Where other calls use the
    /// device at the same time, their answers count too.
    pub(crate) fn computed_on(&mut self, exec: Exec, before: u64) {
        let device = exec.device();
        if self.device.is_none() && device.answered() > before {
            self.device = Some(device.name().to_owned());
        }
        if let Some(device) = &self.device {
            let note = format!("computed on device {device}");
            self.note(note);
        }
    }
}

/// JSON has no infinity and writes null for it.
fn null_is_infinite<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(from).map(|gap| gap.unwrap_or(f64::INFINITY))
}
