//! Text that a spreadsheet would run: cells of a CSV file that begin like a formula.

use std::borrow::Cow;

use crate::data::{Dataset, Points, Targets};

/// A cell that a spreadsheet shows as text: one that begins like a formula, with `=`, `+`, `-`, `@`, a tab or a carriage
/// return, and is no number, gets a `'` before it. What is written so is not read back as it was.
///
/// ```
/// use mercer::data::io::spreadsheet_safe;
/// assert_eq!(spreadsheet_safe("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
/// assert_eq!(spreadsheet_safe("-1.5"), "-1.5");
/// assert_eq!(spreadsheet_safe("iris-setosa"), "iris-setosa");
/// ```
pub fn spreadsheet_safe(text: &str) -> Cow<'_, str> {
    let begins = text.trim_start_matches(' ').starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let plain = !begins || super::text::number(text.as_bytes()).is_some() || matches!(text, "+" | "-");
    if plain { Cow::Borrowed(text) } else { Cow::Owned(format!("'{text}")) }
}

impl Dataset {
    /// The same with cells and names of classes, columns and rows that a spreadsheet takes for text: see [`spreadsheet_safe`].
    #[must_use]
    pub fn spreadsheet_safe(mut self) -> Self {
        let safe = |name: &mut String| *name = spreadsheet_safe(name).into_owned();
        if let Targets::Classes(labels) = &mut self.targets {
            labels.names.iter_mut().for_each(safe);
        }
        self.column_names.iter_mut().flatten().for_each(safe);
        self.target_name.iter_mut().for_each(safe);
        self.row_names.iter_mut().flatten().for_each(safe);
        if let Some(table) = self.points.as_table() {
            self.points = Points::table(table.map_texts(|text| spreadsheet_safe(text).into_owned()));
        }
        self
    }
}
