//! What is known so far: a file with a line for each method on each split, so that a run that was interrupted continues.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// What a method reached on a split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) error: f64,
    pub(super) seconds: f64,
}

impl Outcome {
    pub(super) fn of(answer: &Value) -> Result<Self> {
        let number = |name: &str| answer[name].as_f64().with_context(|| format!("an answer without {name}"));
        Ok(Outcome { error: number("error")?, seconds: number("seconds")? })
    }
}

/// The outcomes so far. Several threads add to it.
pub(super) struct Journal {
    path: PathBuf,
    outcomes: Mutex<HashMap<String, Outcome>>,
}

impl Journal {
    pub(super) fn open(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut outcomes = HashMap::new();
        // A line that was cut short is run again.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if let (Some(key), Ok(outcome)) = (line["key"].as_str(), Outcome::of(&line)) {
                outcomes.insert(key.to_owned(), outcome);
            }
        }
        if !outcomes.is_empty() {
            let (known, path) = (outcomes.len(), path.display());
            eprintln!("bench: {known} outcomes are known from {path}; delete it to begin again");
        }
        Journal { path, outcomes: Mutex::new(outcomes) }
    }

    pub(super) fn get(&self, set: &str, split: usize, method: &str) -> Option<Outcome> {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.get(&key(set, split, method)).copied()
    }

    pub(super) fn add(&self, set: &str, split: usize, method: &str, outcome: Outcome) -> Result<()> {
        let key = key(set, split, method);
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
        // One write for a line: a kill leaves whole lines.
        let line = json!({"key": key, "error": outcome.error, "seconds": outcome.seconds});
        file.write_all(format!("{line}\n").as_bytes())?;
        outcomes.insert(key, outcome);
        Ok(())
    }
}

fn key(set: &str, split: usize, method: &str) -> String {
    format!("{set} {split} {method}")
}
