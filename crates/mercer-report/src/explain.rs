//! The report of an explanation.

use serde::Serialize;
use serde_json::Value;

use crate::{Align, Page, Report, Table, Tone, count, number, percent, seconds};
use mercer::assess::{Dependence, Dependences, Importances, Mistakes};
use mercer::model::{Explanation, Influence, Machine, MachineFacts, Task};

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
    /// How predictions depend on the columns that matter most, where held-out rows were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependences: Option<Dependences>,
    /// The held-out rows that are predicted wrongly with the most confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistakes: Option<Mistakes>,
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
            facts.push(("fitted with", "parameters that the file does not contain".into()));
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
                    "{} iterations in {}, gap {}",
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
        if let Some(found) = &self.dependences {
            dependent(found, page);
        }
        if let Some(found) = &self.mistakes {
            mistaken(e, found, page);
        }
        machines(&e.machines, page);
        influential(e, page);
        columns(e, page);
        suspects(e, page);
        if self.source.is_none() {
            page.blank();
            let line = format!("mercer explain {} DATA", self.file);
            page.command(&line, "also list influential rows and suspicious labels");
        }
    }
}

/// The main parameters, as `c = 1, nu = 0.5`.
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
    let rows = count(found.rows);
    let what = match found.metric {
        "error" => format!("Rise of the error rate ({} on {rows} rows)", percent(found.error)),
        "changed" => format!("Fraction of predictions on {rows} rows that change"),
        _ => format!("Rise of the root mean squared error ({} on {rows} rows)", number(found.error)),
    };
    format!("{what} when the values of a column are shuffled, mean of {} repeats", found.repeats)
}

/// A increase of the error as it is shown.
pub(super) fn rise(found: &Importances, value: f64) -> String {
    match found.metric {
        "error" => format!("{:.1} points", 100.0 * value),
        "changed" => percent(value),
        _ => number(value),
    }
}

/// What is drawn over the values of a column, in words.
pub(super) fn response_in_words(found: &Dependences, output: usize) -> String {
    let name = found.outputs.get(output).map_or("", String::as_str);
    match found.response {
        "probability" => format!("mean probability of {name}"),
        "share" => format!("fraction of rows predicted as {name}"),
        _ => "mean prediction".into(),
    }
}

/// A mean prediction as it is shown.
pub(super) fn mean(found: &Dependences, value: f64) -> String {
    if found.response == "prediction" { number(value) } else { percent(value) }
}

/// The output whose curve is told where there is room for one: of two classes the second, else the one that changes most.
pub(super) fn told(found: &Dependences, curve: &Dependence) -> usize {
    if found.outputs.len() == 2 { 1 } else { curve.widest() }
}

/// The curve of each column in a line: from which value to which, the prediction at both ends, and its shape.
fn dependent(found: &Dependences, page: &mut Page) {
    if found.columns.is_empty() && found.skipped.is_empty() {
        return;
    }
    page.heading("Partial dependence on these columns");
    let text = format!(
        "Partial dependence: all {} rows get the same value of a column, and predictions are averaged",
        count(found.rows)
    );
    page.remark(Tone::Quiet, '·', &text);
    for curve in &found.columns {
        let output = told(found, curve);
        page.blank();
        page.paragraph(&format!("{}: {}", curve.column, response_in_words(found, output)));
        let at = |i: usize| mean(found, curve.places[i].mean[output]);
        if curve.numeric && curve.places.len() > 3 {
            let last = curve.places.len() - 1;
            let end = |i: usize| number(curve.places[i].number.unwrap_or(f64::NAN));
            let values: Vec<f64> = curve.places.iter().map(|p| p.mean[output]).collect();
            let line =
                format!("{} at {} {} {} at {}", at(0), end(0), sparkline(&values), at(last), end(last));
            page.remark(Tone::Plain, ' ', &line);
            continue;
        }
        let mut table = Table::new().column("", Align::Left).column("", Align::Right).column("", Align::Left);
        for (i, place) in curve.places.iter().enumerate() {
            let value = place.number.map_or_else(|| place.value.clone(), number);
            // Shares have a zero; of other predictions the bars show the differences.
            let (low, high) = if found.response == "prediction" { ends(curve, output) } else { (0.0, 1.0) };
            let bar = if high > low { (place.mean[output] - low) / (high - low) } else { 0.0 };
            let length = (bar * 24.0).round().max(1.0) as usize;
            table.row([format!("  {value}"), at(i), "█".repeat(length)]);
        }
        page.table(&table);
    }
    for (column, why) in &found.skipped {
        page.remark(Tone::Quiet, '·', &format!("{column}: no curve, {why}"));
    }
}

fn ends(curve: &Dependence, output: usize) -> (f64, f64) {
    let of = || curve.places.iter().map(|p| p.mean[output]);
    (of().fold(f64::INFINITY, f64::min), of().fold(f64::NEG_INFINITY, f64::max))
}

/// Numbers as a line of blocks, the smallest lowest.
fn sparkline(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let step = |v: &f64| if high > low { ((v - low) / (high - low) * 7.0).round() as usize } else { 0 };
    values.iter().map(|v| BLOCKS[step(v).min(7)]).collect()
}

/// What the last column of the table of mistakes is called.
pub(super) fn measure(found: &Mistakes) -> &'static str {
    match found.measure {
        "probability" => "probability",
        "margin" => "margin",
        _ => "off by",
    }
}

/// How many rows are wrong, in words.
pub(super) fn wrong_in_words(found: &Mistakes) -> String {
    match found.measure {
        "error" => format!("The largest errors on {} rows", count(found.rows)),
        _ if found.count == 0 => format!("None of {} rows is predicted wrongly", count(found.rows)),
        how => format!(
            "{} of {} rows {} predicted wrongly; first those where the model is most confident (largest {how})",
            count(found.count),
            count(found.rows),
            if found.count == 1 { "is" } else { "are" }
        ),
    }
}

fn mistaken(e: &Explanation, found: &Mistakes, page: &mut Page) {
    page.heading(if found.measure == "error" { "Largest errors" } else { "Confident mistakes" });
    page.remark(Tone::Quiet, '·', &wrong_in_words(found));
    if found.worst.is_empty() {
        return;
    }
    let named = found.worst.iter().any(|m| m.name.is_some());
    let mut table = Table::new().column("row", Align::Right);
    if named {
        table = table.column("name", Align::Left);
    }
    table = table
        .column("true", Align::Left)
        .column("predicted", Align::Left)
        .column(measure(found), Align::Right);
    for m in &found.worst {
        let name = named.then(|| m.name.clone().unwrap_or_default());
        let by = m.by.map_or_else(|| "unknown class".into(), number);
        let cells = [short(e.model.task, &m.given), short(e.model.task, &m.predicted), by];
        table.row(std::iter::once(count(m.row + 1)).chain(name).chain(cells));
    }
    page.table(&table);
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
                "{}: separated without error by a margin of {}; no hyperplane exceeds {}.",
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
    page.heading("Rows with the largest coefficients");
    let has = |f: fn(&Influence) -> bool| e.influential.iter().any(f);
    let (classes, machines) =
        (has(|i| i.class.is_some()), has(|i| i.machine.is_some()) && e.machines.len() > 1);
    let mut table = Table::new().column("row", Align::Right).column("coefficient", Align::Right);
    if classes {
        table = table.column("supports", Align::Left);
    }
    if machines {
        table = table.column("in", Align::Left);
    }
    let known = has(|i| i.target.is_some() || i.name.is_some());
    if known {
        table = table.column("target", Align::Left);
    }
    if has(|i| !i.values.is_empty()) {
        table = table.column("values", Align::Left);
    }
    for i in &e.influential {
        let what = known.then(|| i.name.iter().chain(&i.target).cloned().collect::<Vec<_>>().join(", "));
        let class = classes.then(|| i.class.clone().unwrap_or_else(|| "the rest".into()));
        let machine = machines.then(|| i.machine.clone().unwrap_or_default());
        let first = [count(i.row + 1), number(i.coef)];
        table.row(first.into_iter().chain(class).chain(machine).chain(what).chain([values(i, 3)]));
    }
    page.table(&table);
}

/// The first values of a row in a few words.
pub(super) fn values(i: &Influence, most: usize) -> String {
    let one = |(name, value): &(String, String)| {
        let value = match value.parse::<f64>() {
            Ok(v) if value.len() > 6 => number(v),
            _ => value.clone(),
        };
        format!("{name} {value}")
    };
    let shown: Vec<String> = i.values.iter().take(most).map(one).collect();
    let more = if i.values.len() > most { ", .." } else { "" };
    shown.join(", ") + more
}

fn columns(e: &Explanation, page: &mut Page) {
    if e.columns.is_empty() {
        return;
    }
    page.heading("Columns with the largest weights");
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
        Task::Regression => ("Targets to check: far from the model's prediction", "deviations"),
        Task::Clustering => ("Rows far from their cluster's mean", "times the usual"),
        Task::Novelty | Task::Features => ("Most unusual rows", "outside by"),
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
        table = table.column("predicted", Align::Left);
    }
    table = table.column(by, Align::Right);
    for s in &e.suspects {
        let mut cells = vec![count(s.row + 1)];
        if given {
            cells.push(short(e.model.task, s.given.as_deref().unwrap_or("")));
        }
        if answers {
            cells.push(short(e.model.task, &s.answer));
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
pub(super) fn short(task: Task, text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if task == Task::Regression && value.fract() != 0.0 => number(value),
        _ => text.to_owned(),
    }
}
