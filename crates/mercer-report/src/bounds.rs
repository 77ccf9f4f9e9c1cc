//! Errors estimated and bounded from the training data alone, and two models side by side.

use serde::Serialize;

use crate::{Align, Page, Report, Table, Tone, count, number, percent};
use mercer::assess::Comparison;
use mercer::assess::bounds::{Bounds, MachineBounds};

/// Machines shown one by one.
const MACHINES: usize = 12;
/// Chances below this are taken for more than chance.
const RARE: f64 = 0.05;

/// Bounds with the names of where they came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bounded {
    /// The model's file.
    pub model: String,
    /// The data.
    pub source: String,
    /// What was found.
    #[serde(flatten)]
    pub bounds: Bounds,
}

impl Report for Bounded {
    fn write(&self, page: &mut Page) {
        page.title(&self.model, &format!("error bounds of {} from its training data", self.source));
        if let Some(loo) = &self.bounds.leave_one_out {
            page.blank();
            let error = match loo.errors {
                Some(errors) => {
                    format!("{}: {} of {} rows", percent(loo.error), count(errors), count(loo.rows.len()))
                }
                None => format!("{}, root mean square", number(loo.error)),
            };
            page.facts([("left out", error)]);
            page.remark(Tone::Quiet, '·', &format!("Assumes {}.", loo.assumes));
        }
        machines(&self.bounds.machines, page);
        let alignment = &self.bounds.alignment;
        page.blank();
        page.facts([(
            "alignment",
            format!(
                "{} of kernel and targets, {} centred (1 = perfect alignment)",
                number(alignment.plain),
                number(alignment.centred)
            ),
        )]);
    }
}

fn machines(all: &[MachineBounds], page: &mut Page) {
    let Some(first) = all.first() else { return };
    page.heading("Expected error per machine");
    let mut table = Table::new().column("", Align::Left);
    for head in ["rows", "trained", "span", "SVs", "R^2|w|^2", "risk", "axes"] {
        table = table.column(head, Align::Right);
    }
    for m in all.iter().take(MACHINES) {
        let void = |share: f64| if share >= 1.0 { "-".to_owned() } else { percent(share) };
        table.row([
            m.name.clone(),
            count(m.rows),
            percent(m.training_errors as f64 / m.rows.max(1) as f64),
            percent(m.span.rate),
            void(m.support.rate),
            number(m.radius_margin.capacity),
            void(m.vc.risk),
            m.eigen.as_ref().map_or_else(|| "-".into(), |e| count(e.dimensions)),
        ]);
    }
    page.table(&table);
    if all.len() > MACHINES {
        page.paragraph(&format!("and {} more: --format json has them all", count(all.len() - MACHINES)));
    }
    page.blank();
    let sure = percent(1.0 - first.vc.eta);
    let mut facts = vec![
        ("trained", "errors on the training rows".to_owned()),
        ("span", format!("estimate of the leave-one-out error. Assumes: {}", first.span.assumes)),
        (
            "SVs",
            format!(
                "bound on the leave-one-out error by support vectors. Assumes: {}",
                first.support.assumes
            ),
        ),
        ("R^2|w|^2", format!("capacity; smaller is better. Assumes: {}", first.radius_margin.assumes)),
        (
            "risk",
            format!(
                "risk bound from that capacity at confidence {sure}; - means no bound. Assumes: {}",
                first.vc.assumes
            ),
        ),
    ];
    facts.extend(first.eigen.as_ref().map(|e| {
        ("axes", format!("number of dimensions in which the data exceed the margin. Assumes: {}", e.assumes))
    }));
    page.facts(facts);
}

/// A comparison with the names of what was compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The models' files.
    pub models: [String; 2],
    /// The data.
    pub source: String,
    /// What was found.
    #[serde(flatten)]
    pub comparison: Comparison,
}

impl Report for Compared {
    fn write(&self, page: &mut Page) {
        let c = &self.comparison;
        let [first, second] = &self.models;
        page.title(&self.source, &format!("predicted by {first} and by {second}"));
        page.blank();
        let shown = |e: f64| if c.mcnemar.is_some() { percent(e) } else { number(e) };
        let mut facts = vec![
            ("rows", count(c.rows)),
            ("first", format!("{} {}", c.measure, shown(c.errors[0]))),
            ("second", format!("{} {}", c.measure, shown(c.errors[1]))),
        ];
        facts.extend(c.agree.map(|a| ("agree", format!("on {} of the rows", percent(a)))));
        facts.extend(c.mcnemar.as_ref().map(|m| {
            (
                "only one",
                format!(
                    "errors: {} rows by the first, {} by the second",
                    count(m.only_first),
                    count(m.only_second)
                ),
            )
        }));
        facts.extend(c.support.as_ref().map(|s| {
            (
                "SVs",
                format!(
                    "{} shared: {} of the first's {}, {} of the second's {}",
                    count(s.both),
                    percent(s.of_first),
                    count(s.first),
                    percent(s.of_second),
                    count(s.second)
                ),
            )
        }));
        page.facts(facts);
        page.blank();
        let (p, test, assumes) = match (&c.mcnemar, &c.paired) {
            (Some(m), _) => (m.p, "McNemar's exact test", m.assumes),
            (None, Some(t)) => (t.p, "a paired t-test on the squared errors", "rows drawn independently"),
            (None, None) => return,
        };
        let better = if c.errors[0] < c.errors[1] { first } else { second };
        let verdict = if p < RARE {
            format!("{better} is significantly better: p = {} ({test}).", number(p))
        } else {
            format!("No significant difference: p = {} ({test}).", number(p))
        };
        page.remark(
            if p < RARE { Tone::Good } else { Tone::Plain },
            if p < RARE { '✓' } else { '·' },
            &verdict,
        );
        page.remark(Tone::Quiet, '·', &format!("Assumes: {assumes}."));
    }
}
