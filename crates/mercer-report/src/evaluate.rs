//! The report of an evaluation on labelled data.

use serde::Serialize;

use crate::{Align, Page, Report, Table, Tone, count, number, percent};
use mercer::assess::{ClassEvaluation, ClusterEvaluation, Evaluation, NoveltyEvaluation, RealEvaluation};

/// Classes shown in tables; of more, only the worst confusions are.
const CLASSES: usize = 12;
/// How many confusions those are, and how many wrong rows are named.
const NAMED: usize = 10;

/// An evaluation with the names of what was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// The data.
    pub source: String,
    /// The model's file.
    pub model: String,
    /// What was found.
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

impl Report for Evaluated {
    fn write(&self, page: &mut Page) {
        page.title(&self.source, &format!("predicted by {}", self.model));
        page.blank();
        match &self.evaluation {
            Evaluation::Classification(e) => classes(e, page),
            Evaluation::Regression(e) => reals(e, page),
            Evaluation::Novelty(e) => novelty(e, page),
            Evaluation::Clustering(e) => clusters(e, page),
        }
    }
}

fn classes(e: &ClassEvaluation, page: &mut Page) {
    let [low, high] = e.interval;
    let most = (0..e.classes.len()).max_by_key(|&c| (e.scores[c].rows, std::cmp::Reverse(c))).unwrap_or(0);
    let mut facts = vec![
        (
            "error",
            format!(
                "{} ({} of {} rows), 95 % confidence interval {} to {}",
                percent(e.error),
                count(e.wrong.len()),
                count(e.rows),
                percent(low),
                percent(high)
            ),
        ),
        ("baseline", format!("{}, always predicting {}", percent(e.baseline), e.classes[most])),
        ("balanced", format!("{}, mean over classes", percent(e.balanced_error))),
    ];
    facts.extend(e.log_loss.map(|loss| ("log loss", number(loss))));
    page.facts(facts);
    if e.classes.len() <= CLASSES {
        page.heading("Predicted (across) and true (down) classes");
        let mut table = Table::new().column("", Align::Left);
        for class in &e.classes {
            table = table.column(class, Align::Right);
        }
        for (k, (class, row)) in e.classes.iter().zip(&e.confusion).enumerate() {
            let tone = |j: usize| match (j == k, row[j]) {
                (true, _) => Tone::Good,
                (false, 0) => Tone::Quiet,
                (false, _) => Tone::Warn,
            };
            let shown = |n: usize| if n == 0 { "·".into() } else { count(n) };
            let cells = (0..row.len()).map(|j| (shown(row[j]), tone(j)));
            table.toned_row(std::iter::once((class.clone(), Tone::Strong)).chain(cells));
        }
        page.table(&table);
    } else {
        confusions(e, page);
    }
    page.heading("Class by class");
    let mut table = Table::new().column("class", Align::Left);
    for head in ["rows", "precision", "recall", "F1", "ROC area", "PR area"] {
        table = table.column(head, Align::Right);
    }
    for (k, (class, s)) in e.classes.iter().zip(&e.scores).enumerate() {
        let area = |curves: &[mercer::assess::Curve]| share(curves.get(k).map_or(f64::NAN, |c| c.area));
        let cells =
            [count(s.rows), share(s.precision), share(s.recall), share(s.f1), area(&e.roc), area(&e.pr)];
        table.row(std::iter::once(class.clone()).chain(cells));
    }
    page.table(&table);
    if !e.wrong.is_empty() {
        let rows: Vec<String> = e.wrong.iter().take(NAMED).map(|row| count(row + 1)).collect();
        let more = e.wrong.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
        page.blank();
        page.paragraph(&format!("Wrong in row{} {}{more}.", plural(e.wrong.len()), rows.join(", ")));
    }
}

fn confusions(e: &ClassEvaluation, page: &mut Page) {
    let k = e.classes.len();
    let mut pairs: Vec<(usize, usize)> = (0..k)
        .flat_map(|w| (0..k).map(move |g| (w, g)))
        .filter(|&(w, g)| w != g && e.confusion[w][g] > 0)
        .collect();
    pairs.sort_by_key(|&(w, g)| std::cmp::Reverse(e.confusion[w][g]));
    if pairs.is_empty() {
        return;
    }
    page.heading("Most frequent mistakes");
    let mut table = Table::new()
        .column("true class", Align::Left)
        .column("prediction", Align::Left)
        .column("rows", Align::Right);
    for &(w, g) in pairs.iter().take(NAMED) {
        table.row([e.classes[w].clone(), e.classes[g].clone(), count(e.confusion[w][g])]);
    }
    page.table(&table);
}

fn reals(e: &RealEvaluation, page: &mut Page) {
    page.facts([
        ("rows", count(e.rows)),
        (
            "RMSE",
            format!("{} (baseline, always predicting the mean: {})", number(e.rmse), number(e.baseline)),
        ),
        ("MAE", number(e.mae)),
        ("R^2", share(e.r2)),
        ("bias", number((1e6 * e.bias).round() / 1e6)),
        ("worst", format!("{} in row {}", number(e.worst.0), count(e.worst.1 + 1))),
    ]);
}

fn clusters(e: &ClusterEvaluation, page: &mut Page) {
    let mut facts = vec![
        ("rows", count(e.rows)),
        ("distance", format!("{}, the mean square to the nearest mean", number(e.distance))),
    ];
    facts.extend(
        e.purity.map(|p| ("purity", format!("{}, rows of their cluster's most frequent class", percent(p)))),
    );
    page.facts(facts);
    page.blank();
    let mut table = Table::new().column("cluster", Align::Left).column("rows", Align::Right);
    for (c, rows) in e.sizes.iter().enumerate() {
        table.row([(c + 1).to_string(), count(*rows)]);
    }
    page.table(&table);
}

fn novelty(e: &NoveltyEvaluation, page: &mut Page) {
    let outside = percent(e.outside as f64 / e.rows as f64);
    let mut facts = vec![
        ("rows", count(e.rows)),
        ("outside", format!("{} rows are unlike the training data, {outside}", count(e.outside))),
    ];
    facts.extend(e.roc.as_ref().map(|roc| ("ROC area", share(roc.area))));
    page.facts(facts);
    if !e.classes.is_empty() {
        page.blank();
        let mut table = Table::new().column("class", Align::Left);
        for head in ["rows", "outside", "share"] {
            table = table.column(head, Align::Right);
        }
        for (name, rows, outside) in &e.classes {
            let part = *outside as f64 / (*rows).max(1) as f64;
            table.row([name.clone(), count(*rows), count(*outside), percent(part)]);
        }
        page.table(&table);
    }
}

/// A share between 0 and 1 to three digits, or a dash where there is none.
fn share(value: f64) -> String {
    if value.is_nan() { "-".into() } else { format!("{value:.3}") }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;
    use mercer::assess::per_class;

    #[test]
    fn many_classes_show_their_worst_confusions() {
        let k = 15;
        let mut confusion = vec![0; k * k];
        (0..k).for_each(|c| confusion[c * k + c] = 9);
        confusion[3 * k + 4] = 7;
        let e = ClassEvaluation {
            rows: 142,
            classes: (0..k).map(|c| format!("c{c}")).collect(),
            error: 7.0 / 142.0,
            interval: [0.02, 0.1],
            balanced_error: 0.03,
            baseline: 0.9,
            scores: per_class(&confusion, k),
            confusion: confusion.chunks(k).map(<[usize]>::to_vec).collect(),
            roc: Vec::new(),
            pr: Vec::new(),
            log_loss: None,
            wrong: (0..12).collect(),
        };
        let evaluation = Evaluation::Classification(e);
        let page = text(&Evaluated { source: "a".into(), model: "m".into(), evaluation }, false);
        assert!(page.contains("c3          c4             7"), "{page}");
        assert!(page.contains("Wrong in rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more."), "{page}");
    }
}
