//! What a model is made of.

use serde::Serialize;
use serde_json::Value;

use crate::{Align, Page, Report, Table, Tone, count, number, percent, seconds};
use mercer::assess::Importances;
use mercer::model::{Explanation, Machine, MachineFacts, Task};

/// Machines shown one by one; of more, only the extremes are.
const MACHINES: usize = 12;

/// A model explained, with the names of where it came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// The model's file.
    pub file: String,
    /// The data it was explained on.
    pub source: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// Which columns matter, where held-out rows were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importances: Option<Importances>,
}

/// Of what the squared radius is that is told: the radius of a set is that of the smallest sphere around it.
pub(super) fn ball(explanation: &Explanation) -> &'static str {
    match (explanation.model.kind, explanation.radius_of_centres) {
        ("sphere", _) => "the model's sphere",
        (_, true) => "the centres",
        (_, false) => "the data",
    }
}

impl Report for Explained {
    fn write(&self, page: &mut Page) {
        let (e, model) = (&self.explanation, &self.explanation.model);
        page.title(&self.file, &format!("{}, to {}", e.learner, model.task.verb()));
        page.blank();
        let mut facts = vec![("kernel", model.kernel.clone())];
        facts.extend(settings(&e.settings).map(|line| ("with", line)));
        if !e.settings_known {
            facts.push(("fitted with", "parameters that the file it was read from does not hold".into()));
        }
        facts.extend(model.stages.iter().map(|stage| ("first", stage.clone())));
        facts.push(("columns", count(model.columns)));
        facts.push(("centres", count(model.centres)));
        if !model.classes.is_empty() && model.task == Task::Classification {
            facts.push(("classes", model.classes.join(", ")));
        }
        if let (Some(support), true) = (&e.support_per_class, model.classes.len() <= MACHINES) {
            let by: Vec<String> =
                model.classes.iter().zip(support).map(|(c, n)| format!("{c}: {}", count(*n))).collect();
            facts.push(("of class", by.join(", ")));
        }
        facts.extend(
            e.radius2.map(|r| ("radius^2", format!("{}, of {} in feature space", number(r), ball(e)))),
        );
        // The bounded rows and the tube stand elsewhere already.
        let shown = |name: &str| Machine::FACTS.contains(&name) && !["bounded", "epsilon"].contains(&name);
        for (name, value) in model.facts.iter().filter(|f| shown(f.0)) {
            let value = value.as_f64().map_or_else(|| value.to_string(), number);
            facts.push(("found", format!("{} {value}", name.replace('_', " "))));
        }
        if model.info.iterations > 0 {
            let info = &model.info;
            facts.push((
                "trained",
                format!(
                    "{} steps in {}, gap {}",
                    count(info.iterations as usize),
                    seconds(info.seconds),
                    number(info.gap)
                ),
            ));
        }
        page.facts(facts);
        for note in &model.info.notes {
            page.remark(Tone::Quiet, '·', note);
        }
        coding(e, page);
        important(self.importances.as_ref(), page);
        machines(&e.machines, page);
        influential(e, page);
        columns(e, page);
        suspects(e, page);
        if self.source.is_none() {
            page.blank();
            let line = format!("mercer explain {} DATA", self.file);
            page.command(&line, "also which rows matter and which labels look wrong");
        }
    }
}

/// The parameters worth a word, as `c = 1, nu = 0.5`.
fn settings(all: &[(&'static str, Value)]) -> Option<String> {
    let shown = |(name, value): &(&str, Value)| {
        let value = match value {
            Value::String(word) => word.replace('_', " "),
            other => other.as_f64().map_or_else(|| other.to_string(), number),
        };
        format!("{} = {value}", name.replace('_', " "))
    };
    (!all.is_empty()).then(|| all.iter().map(shown).collect::<Vec<_>>().join(", "))
}

/// What becomes of each column of a table.
fn coding(e: &Explanation, page: &mut Page) {
    const SHOWN: usize = 40;
    if e.coding.is_empty() {
        return;
    }
    let mut table = Table::new()
        .column("column", Align::Left)
        .column("kind", Align::Left)
        .column("as", Align::Right)
        .column("coding", Align::Left);
    for c in e.coding.iter().take(SHOWN) {
        table.row([c.name.clone(), c.kind.into(), count(c.outputs.len()), c.coding.clone()]);
    }
    if e.coding.len() > SHOWN {
        table.toned_row([(format!("{} more", count(e.coding.len() - SHOWN)), Tone::Quiet)]);
    }
    page.blank();
    page.table(&table);
}

/// Columns by their importance.
fn important(found: Option<&Importances>, page: &mut Page) {
    const SHOWN: usize = 30;
    let Some(found) = found else { return };
    page.heading("Which columns matter");
    page.remark(Tone::Quiet, '·', &rise_in_words(found));
    let mut table =
        Table::new().column("column", Align::Left).column("rise", Align::Right).column("+-", Align::Right);
    for c in found.columns.iter().take(SHOWN) {
        table.row([c.column.clone(), rise(found, c.rise), rise(found, c.spread)]);
    }
    if found.columns.len() > SHOWN {
        table.toned_row([(format!("{} more", count(found.columns.len() - SHOWN)), Tone::Quiet)]);
    }
    page.table(&table);
}

/// What importance is, and by what it was measured.
pub(super) fn rise_in_words(found: &Importances) -> String {
    let error = if found.metric == "error" { percent(found.error) } else { number(found.error) };
    format!(
        "Rise of the {} ({error} on {} rows) if the values of a column are shuffled, mean of {} times",
        if found.metric == "error" { "error rate" } else { "root mean squared error" },
        count(found.rows),
        found.repeats
    )
}

/// A rise of the error as it is shown.
pub(super) fn rise(found: &Importances, value: f64) -> String {
    if found.metric == "error" { format!("{:.1} points", 100.0 * value) } else { number(value) }
}

/// What a column of the machines' table shows, where there is something.
type Cell<'a> = &'a dyn Fn(&MachineFacts) -> Option<String>;

fn machines(all: &[MachineFacts], page: &mut Page) {
    let known = |f: fn(&MachineFacts) -> bool| all.iter().any(f);
    if !known(|m| m.norm2.is_some()) && !known(|m| m.free.is_some()) {
        return;
    }
    page.heading(if all.len() == 1 { "The machine" } else { "The machines" });
    let shown = &all[..all.len().min(MACHINES)];
    let whole = |n: Option<usize>| n.map(count);
    let real = |v: Option<f64>| v.map(number);
    let columns: [(&str, Cell<'_>); 6] = [
        ("rows", &|m| whole(m.rows)),
        ("free", &|m| whole(m.free)),
        ("bounded", &|m| whole(m.bounded)),
        ("|w|^2", &|m| real(m.norm2)),
        ("margin", &|m| real(m.margin)),
        ("R^2|w|^2", &|m| real(m.capacity)),
    ];
    // What no machine of this learner has needs no column.
    let columns: Vec<&(&str, Cell<'_>)> =
        columns.iter().filter(|(_, cell)| shown.iter().any(|m| cell(m).is_some())).collect();
    let named = shown.iter().any(|m| !m.name.is_empty());
    let mut table = Table::new();
    if named {
        table = table.column("", Align::Left);
    }
    for (head, _) in &columns {
        table = table.column(head, Align::Right);
    }
    for m in shown {
        let name = named.then(|| m.name.clone());
        let cells = columns.iter().map(|(_, cell)| cell(m).unwrap_or_else(|| "-".into()));
        table.row(name.into_iter().chain(cells));
    }
    page.table(&table);
    if all.len() > shown.len() {
        page.paragraph(&format!("and {} more: --format json has them all", count(all.len() - shown.len())));
    }
    for m in all.iter().take(MACHINES) {
        if let Some(margin) = m.certificate {
            let text = format!(
                "{}: separated without error by a margin of {}; no plane does better than {}.",
                m.name,
                number(margin.width),
                number(margin.at_most)
            );
            page.remark(Tone::Good, '✓', &text);
        }
    }
}

fn influential(e: &Explanation, page: &mut Page) {
    if e.influential.is_empty() {
        return;
    }
    page.heading("Rows that weigh most");
    let mut table = Table::new()
        .column("row", Align::Right)
        .column("coefficient", Align::Right)
        .column("target", Align::Left);
    for i in &e.influential {
        let what = i.name.iter().chain(&i.target).cloned().collect::<Vec<_>>().join(", ");
        table.row([count(i.row + 1), number(i.coef), what]);
    }
    page.table(&table);
}

fn columns(e: &Explanation, page: &mut Page) {
    if e.columns.is_empty() {
        return;
    }
    page.heading("Columns that weigh most");
    let most = e.columns.iter().map(|c| c.weight.abs()).fold(0.0, f64::max);
    let mut table =
        Table::new().column("column", Align::Left).column("weight", Align::Right).column("", Align::Left);
    for c in &e.columns {
        let name = c.name.clone().unwrap_or_else(|| (c.column + 1).to_string());
        let bar = "█".repeat(((c.weight.abs() / most * 24.0).round() as usize).max(1));
        table.row([name, number(c.weight), bar]);
    }
    page.table(&table);
}

fn suspects(e: &Explanation, page: &mut Page) {
    let (Some(count_all), Some(rows)) = (e.suspect_count, e.rows) else { return };
    let (head, by) = match e.model.task {
        Task::Classification => ("Labels to check: the model contradicts them", "by"),
        Task::Regression => ("Targets to check: far from what the model says", "deviations"),
        Task::Clustering => ("Rows far from their cluster's mean", "times the usual"),
        Task::Novelty | Task::Features => ("Rows least like the others", "outside by"),
    };
    page.heading(head);
    if count_all == 0 {
        page.remark(Tone::Good, '✓', "None.");
        return;
    }
    let mut table = Table::new().column("row", Align::Right);
    let given = e.suspects.iter().any(|s| s.given.is_some());
    if given {
        table = table.column("given", Align::Left);
    }
    let answers = e.model.task != Task::Novelty;
    if answers {
        table = table.column("the model says", Align::Left);
    }
    table = table.column(by, Align::Right);
    for s in &e.suspects {
        let mut cells = vec![count(s.row + 1)];
        if given {
            cells.push(short(e, s.given.as_deref().unwrap_or("")));
        }
        if answers {
            cells.push(short(e, &s.answer));
        }
        cells.push(number(s.by));
        table.row(cells);
    }
    page.table(&table);
    let more = count_all - e.suspects.len();
    if more > 0 {
        let share = percent(count_all as f64 / rows as f64);
        page.paragraph(&format!("and {} more: {share} of all rows", count(more)));
    }
}

/// A target as it is told: a number in four digits, the name of a class as it is, whatever it looks like.
pub(super) fn short(e: &Explanation, text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if e.model.task == Task::Regression && value.fract() != 0.0 => number(value),
        _ => text.to_owned(),
    }
}
