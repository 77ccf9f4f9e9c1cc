//! From labels as a file writes them to targets: classes, real numbers, or nothing.
//!
//! The rule where nothing is asked: labels that are not all numbers are classes. Numbers that are not all whole are
//! reals. Whole numbers are classes if there are few of them: at most 20 different ones, or at most the square root of
//! the number of rows; else reals.
//!
//! A whole number has one name however it is written: `+1`, `1` and `1.0` are the class `1`. All other names are kept as
//! given.

use std::collections::HashMap;

use super::text::{is_not_finite, number, shown};
use crate::data::{Labels, Targets};

/// What the labels of a file are to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetKind {
    /// Decided by what they are: see [`ReadOptions::targets`](super::ReadOptions::targets).
    #[default]
    Auto,
    /// Class labels.
    Classes,
    /// Real numbers.
    Reals,
    /// Nothing: labels are ignored.
    None,
}

impl std::str::FromStr for TargetKind {
    type Err = crate::error::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(TargetKind::Auto),
            "classes" => Ok(TargetKind::Classes),
            "reals" => Ok(TargetKind::Reals),
            "none" => Ok(TargetKind::None),
            _ => Err(crate::error::Error::param("targets", text, "auto, classes, reals or none")),
        }
    }
}

/// This many different whole numbers are classes in a file of any length.
const FEW: usize = 20;

/// With more distinct numbers than this they cannot be classes; their names are no longer stored.
const MOST_NAMES: usize = 1 << 16;

/// Collects one label per row.
pub(super) struct Collector {
    kind: TargetKind,
    names: Option<Names>,
    reals: Option<Vec<f64>>,
    all_whole: bool,
    /// Rows that were only scanned: see [`Collector::pass`].
    passed: usize,
}

#[derive(Default)]
struct Names {
    place: HashMap<String, u32>,
    list: Vec<String>,
    list_bytes: usize,
    of_row: Vec<u32>,
}

impl Collector {
    pub(super) fn new(kind: TargetKind) -> Self {
        let (names, reals) = match kind {
            TargetKind::Auto => (true, true),
            TargetKind::Classes => (true, false),
            TargetKind::Reals => (false, true),
            TargetKind::None => (false, false),
        };
        Collector {
            kind,
            names: names.then(Names::default),
            reals: reals.then(Vec::new),
            all_whole: true,
            passed: 0,
        }
    }

    /// Scans the next row's label without keeping it; returns the number of distinct labels if this one is new.
    pub(super) fn pass(&mut self, text: &[u8]) -> Result<Option<usize>, (String, String)> {
        let count = |c: &Self| c.names.as_ref().map_or(0, |names| names.list.len());
        let before = count(self);
        self.push(text)?;
        self.passed += 1;
        if let Some(reals) = &mut self.reals {
            reals.clear();
        }
        if let Some(names) = &mut self.names {
            let last = names.of_row.len().saturating_sub(1);
            names.of_row.drain(..last);
        }
        let now = count(self);
        Ok((now > before).then_some(now))
    }

    /// Whether labels are ignored.
    pub(super) fn is_idle(&self) -> bool {
        self.kind == TargetKind::None
    }

    /// Adds the next row's label. The error says what was received and what was expected.
    pub(super) fn push(&mut self, text: &[u8]) -> Result<(), (String, String)> {
        if self.kind == TargetKind::None {
            return Ok(());
        }
        if text.is_empty() {
            return Err(("no label".into(), "a label".into()));
        }
        let value = number(text);
        if value.is_none() && self.reals.is_some() && is_not_finite(text) {
            return Err((shown(text), "a finite number or a class name".into()));
        }
        if let Some(reals) = &mut self.reals {
            match value {
                Some(value) => {
                    self.all_whole &= value.fract() == 0.0;
                    reals.push(value);
                }
                None if self.names.is_some() => self.reals = None,
                None => return Err((shown(text), "a finite number as target".into())),
            }
        }
        if let Some(names) = &mut self.names {
            let Ok(name) = std::str::from_utf8(text) else {
                return Err((shown(text), "a label in UTF-8".into()));
            };
            names.push(name, value);
            if self.reals.is_some() && names.list.len() > MOST_NAMES {
                self.names = None;
            }
        }
        Ok(())
    }

    /// Takes the next row's label where it is a number already.
    pub(super) fn push_number(&mut self, value: f64) -> Result<(), (String, String)> {
        if self.kind == TargetKind::None {
            return Ok(());
        }
        if !value.is_finite() {
            return Err((value.to_string(), "a finite number as target".into()));
        }
        if let Some(reals) = &mut self.reals {
            reals.push(value);
            if value.fract() != 0.0 {
                self.names = None;
            }
        }
        if let Some(names) = &mut self.names {
            names.push(&value.to_string(), Some(value));
            if self.reals.is_some() && names.list.len() > MOST_NAMES {
                self.names = None;
            }
        }
        Ok(())
    }

    /// Bytes held so far, nearly.
    pub(super) fn bytes(&self) -> usize {
        let names = self.names.as_ref().map_or(0, |n| n.of_row.len() * 4 + n.list_bytes);
        names + self.reals.as_ref().map_or(0, |r| r.len() * 8)
    }

    /// The targets of all rows.
    pub(super) fn finish(self) -> Targets {
        match (self.names, self.reals) {
            (None, None) => Targets::None,
            (Some(names), None) => Targets::Classes(names.into_labels()),
            (None, Some(reals)) => Targets::Reals(reals),
            (Some(names), Some(reals)) => {
                let few = FEW.max(reals.len().max(self.passed).isqrt());
                if self.all_whole && names.list.len() <= few {
                    Targets::Classes(names.into_labels())
                } else {
                    Targets::Reals(reals)
                }
            }
        }
    }
}

impl Names {
    fn push(&mut self, text: &str, value: Option<f64>) {
        // Rows of one class often follow each other.
        if let Some(&last) = self.of_row.last()
            && self.list[last as usize] == text
        {
            self.of_row.push(last);
            return;
        }
        let whole = value.and_then(|v| whole_name(text, v));
        let name = whole.as_deref().unwrap_or(text);
        let next = self.list.len() as u32;
        let place = if let Some(&place) = self.place.get(name) {
            place
        } else {
            self.list.push(name.to_owned());
            self.place.insert(name.to_owned(), next);
            // Twice the text, two string headers and a place in the map.
            self.list_bytes += 2 * name.len() + 64;
            next
        };
        self.of_row.push(place);
    }

    fn into_labels(self) -> Labels {
        let sorted = Labels::new(&self.list);
        Labels {
            names: sorted.names,
            of_row: self.of_row.iter().map(|&k| sorted.of_row[k as usize]).collect(),
        }
    }
}

/// The one name of a whole number, where the text is not that already. Codes such as `007` are names, not numbers.
fn whole_name(text: &str, value: f64) -> Option<String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() != 0.0 || value.abs() >= EXACT {
        return None;
    }
    let digits = text.trim_start_matches(['+', '-']);
    let code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    (!code).then(|| (value as i64).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: TargetKind, labels: &[&str]) -> Targets {
        let mut collector = Collector::new(kind);
        for label in labels {
            collector.push(label.as_bytes()).expect("a fine label");
        }
        collector.finish()
    }

    #[test]
    fn whole_numbers_have_one_name_and_codes_are_kept() {
        let targets = read(TargetKind::Auto, &["+1", "-1", "1", "1.0", "-1"]);
        let labels = targets.classes().expect("classes");
        assert_eq!(labels.names, ["-1", "1"]);
        assert_eq!(labels.of_row, [1, 0, 1, 1, 0]);
        let codes = read(TargetKind::Classes, &["007", "7", "+"]);
        assert_eq!(codes.classes().expect("classes").names, ["+", "007", "7"]);
    }

    #[test]
    fn the_kind_is_told_by_what_the_labels_are() {
        assert!(read(TargetKind::Auto, &["1", "2.5"]).reals().is_ok());
        assert!(read(TargetKind::Auto, &["1", "x"]).classes().is_ok());
        assert!(read(TargetKind::Reals, &["1", "2"]).reals().is_ok());
        assert_eq!(read(TargetKind::None, &["1", ""]), Targets::None);
        let many: Vec<String> = (0..21).map(|i| i.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(read(TargetKind::Auto, &many[..20]).classes().is_ok());
        assert!(read(TargetKind::Auto, &many).reals().is_ok());
        assert!(read(TargetKind::Classes, &many).classes().is_ok());
        // 21 different labels in 441 rows are classes again.
        let often: Vec<&str> = many.iter().copied().cycle().take(441).collect();
        assert!(read(TargetKind::Auto, &often).classes().is_ok());
    }

    #[test]
    fn a_target_that_is_no_number_is_refused_where_numbers_are_asked() {
        let mut collector = Collector::new(TargetKind::Reals);
        assert!(collector.push(b"1.5").is_ok());
        assert_eq!(collector.push(b"nan").expect_err("not finite").0, "`nan`");
        assert!(Collector::new(TargetKind::Auto).push(b"").is_err());
        assert!(Collector::new(TargetKind::Auto).push(b"1e999").is_err());
        assert!(Collector::new(TargetKind::Classes).push(b"inf").is_ok());
    }
}
