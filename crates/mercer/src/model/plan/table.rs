//! Default preprocessing of tables: each column is encoded by its kind, then numbers are standardised.

use super::{Choices, Scaling, Wishes};
use crate::data::stage::Recipe;
use crate::data::{Dataset, Points, Stage, Stages};
use crate::error::Result;
use crate::exec::Exec;
use crate::watch::Note;

/// Maximum number of columns named in a note.
const NAMED: usize = 8;

/// A table as numbers.
pub(super) struct Coded {
    stage: Stage,
    points: Points,
    /// Notes on its columns.
    pub(super) notes: Vec<Note>,
}

/// The numbers of a table; `None` for other points.
pub(super) fn coded(data: &Dataset, exec: Exec) -> Result<Option<Coded>> {
    let Some(table) = data.points.as_table() else { return Ok(None) };
    let stage = Recipe::parse("table")?.fit(data.points.view(), exec)?;
    let points = stage.apply(data.points.view(), exec)?;
    let mut notes = Vec::new();
    let columns = stage.coded_columns().unwrap_or_default();
    let ignored: Vec<String> = columns
        .iter()
        .filter(|c| c.outputs.is_empty())
        .map(|c| format!("`{}` ({})", c.name, c.coding))
        .collect();
    if !ignored.is_empty() {
        let more = ignored.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
        let list = ignored.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
        notes.push(format!("columns that are ignored: {list}{rest}").into());
    }
    for (name, found) in table.names().iter().zip(table.kinds()).filter(|(_, found)| !found.odd.is_empty()) {
        let odd = found.odd.join("`, `");
        let text = format!("column `{name}` is a {}: `{odd}` counts as missing", found.kind.name());
        notes.push(text.into());
    }
    Ok(Some(Coded { stage, points, notes }))
}

/// The stages of a table.
pub(super) fn table_scaling(
    wishes: &Wishes,
    data: &Dataset,
    coded: &Coded,
    choices: &mut Choices,
) -> Result<Vec<Recipe>> {
    let columns = coded.stage.coded_columns().unwrap_or_default();
    let used = columns.iter().filter(|c| !c.outputs.is_empty()).count();
    let numbers = coded.points.dim();
    let end = if numbers == 1 { "" } else { "s" };
    let value = format!("{used} of {} as {numbers} column{end} of numbers", columns.len());
    choices.chosen("columns", value, kinds_of(&columns.iter().map(|c| c.kind).collect::<Vec<_>>()));
    if let Scaling::Given(recipes) = &wishes.scaling {
        let line: Vec<String> = recipes.iter().map(ToString::to_string).collect();
        choices.asked("scaling", if line.is_empty() { "none".into() } else { line.join(" | ") });
        return Stages::recipes_for(data.points.view(), recipes.clone());
    }
    let table = Recipe::parse("table")?;
    let scaled = Recipe::parse("standard(indicators=keep)")?;
    // Columns that the scaling would not change; if it changes none, it is omitted.
    let fitted = scaled.fit(coded.points.view(), Exec::one())?;
    let moves =
        fitted.to_parts().tensors.iter().any(|t| t.name == "std" && t.values.iter().any(|s| *s != 1.0));
    if !moves {
        choices.chosen("scaling", "none", "all columns are 0 and 1");
        return Ok(vec![table]);
    }
    choices.chosen("scaling", "mean 0, deviation 1", "columns of 0 and 1 stay as they are");
    Ok(vec![table, scaled])
}

/// How many columns there are of each kind, in words.
fn kinds_of(kinds: &[&'static str]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for kind in kinds {
        match counts.iter_mut().find(|(k, _)| k == kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((kind, 1)),
        }
    }
    counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
}
