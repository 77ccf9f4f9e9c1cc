//! The header of a table: whether there is one, and the names in it.

use std::collections::{HashMap, HashSet};

use super::dialect::{Dialect, text_of};
use super::records::Record;
use super::table::Given;
use super::text::{is_not_finite, line_fault, shown};
use crate::error::Result;
use crate::watch::Note;

/// Maximum number of columns named in a note.
const NAMED: usize = 8;

/// Whether the first record holds names.
pub(super) fn is_header(first: &Record, rest: &[Record], dialect: &Dialect) -> bool {
    // `inf` and 1e999 are numbers that are refused later, not names.
    let number =
        |field: &[u8]| dialect.number(field).is_some() || is_not_finite(field) && !dialect.is_missing(field);
    let text = |field: &[u8]| !number(field) && !dialect.is_missing(field);
    let second = rest.first();
    let named = || first.fields().filter(|f| !f.is_empty());
    if named().count() > 0 && named().all(text) && 2 * named().count() >= first.len() {
        // One row of one word is a row of text, not a header without rows.
        if first.len() == 1 && !second.is_some_and(|s| s.fields().any(number)) {
            return false;
        }
        // Names of columns do not come back as their values: most values of categories do.
        let back = |at: usize| rest.iter().any(|r| r.len() > at && r.field(at) == first.field(at));
        let numbers = || rest.iter().any(|r| r.fields().any(number));
        return numbers() || (0..first.len()).filter(|&at| back(at)).count() * 2 < first.len();
    }
    let Some(second) = second.filter(|s| s.len() == first.len()) else { return false };
    first.fields().zip(second.fields()).any(|(a, b)| text(a) && number(b))
}

/// Whether every row has one field more than the header, and not only an empty one behind a delimiter at its end: R writes
/// tables so, a row's name before its values.
pub(super) fn has_row_names(sample: &[Record]) -> bool {
    let (header, rows) = (&sample[0], &sample[1..]);
    let filled = |r: &Record| !r.field(r.len() - 1).is_empty();
    rows.len() > 1 && rows.iter().all(|r| r.len() == header.len() + 1) && rows.iter().any(filled)
}

/// The columns' names in a header, and a note on those that were changed. Several columns without a name and several of one
/// name are numbered, as pandas does.
pub(super) fn names_of(
    header: &Record,
    width: usize,
    row_names: bool,
    given: &Given<'_>,
) -> Result<(Vec<String>, Option<Note>)> {
    // A name of one letter takes two strings' worth of memory.
    given.budget.check(given.name, Some(header.line), header.len(), 64)?;
    let own = header.fields().take(width).map(|f| text_of(f).into_owned());
    let mut names: Vec<String> = row_names.then(String::new).into_iter().chain(own).collect();
    if names.iter().filter(|name| name.is_empty()).count() > 1 {
        let unnamed = names.iter_mut().enumerate().filter(|(_, name)| name.is_empty());
        unnamed.for_each(|(at, name)| *name = format!("Unnamed: {at}"));
    }
    let renamed = rename_twins(&mut names);
    let note = (!renamed.is_empty()).then(|| {
        let shown: Vec<String> = renamed.iter().take(NAMED).map(|name| shown(name.as_bytes())).collect();
        let more = if renamed.len() > NAMED { ", ..." } else { "" };
        let have = match renamed.len() {
            1 => "1 column has".to_owned(),
            count => format!("{count} columns have"),
        };
        let text = format!("{have} a name that another column has: renamed to {}{more}", shown.join(", "));
        Note::warning(text)
    });
    Ok((names, note))
}

/// Numbers names that occurred before: `a`, `a.1`, `a.2`. Returns the new names.
fn rename_twins(names: &mut [String]) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    if taken.len() == names.len() {
        return Vec::new();
    }
    // How often a name occurred, and the last number that it was given.
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut renamed = Vec::new();
    for name in names {
        let Some(last) = seen.get_mut(name) else {
            seen.insert(name.clone(), 0);
            continue;
        };
        let free = loop {
            *last += 1;
            let free = format!("{name}.{last}");
            if taken.insert(free.clone()) {
                break free;
            }
        };
        *name = free;
        renamed.push(name.clone());
    }
    renamed
}

/// Refuses duplicated names: columns are matched by name.
pub(super) fn check_names(source: &str, line: u64, names: &[String]) -> Result<()> {
    let Some((first, second)) = same_name(names) else { return Ok(()) };
    let name = shown(names[first].as_bytes());
    let got = format!("column name {name} twice, in columns {} and {}", first + 1, second + 1);
    Err(line_fault(source, line, Some(got), "a different name for each column"))
}

/// The first two columns of one name.
fn same_name(names: &[String]) -> Option<(usize, usize)> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by(|&a, &b| names[a].cmp(&names[b]).then(a.cmp(&b)));
    let twins = order.windows(2).filter(|w| names[w[0]] == names[w[1]]);
    twins.map(|w| (w[0], w[1])).min_by_key(|&(_, second)| second)
}
