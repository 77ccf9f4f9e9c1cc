//! What a comparison found: rows with a peer, and context for figures that are no peer's.

use serde::Serialize;

/// A whole comparison.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) name: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) context: Vec<Context>,
}

/// One case against one peer.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) peer: String,
    pub(crate) peer_s: f64,
    pub(crate) mercer_s: f64,
    /// `peer_s / mercer_s`: above 1, Mercer is faster.
    pub(crate) ratio: f64,
}

/// A figure beside the rows: a rate, a peak of memory, a count.
#[derive(Debug, Serialize)]
pub(crate) struct Context {
    pub(crate) case: String,
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
}

impl Report {
    pub(crate) fn new(name: &str) -> Self {
        Report { name: name.to_owned(), rows: Vec::new(), context: Vec::new() }
    }

    pub(crate) fn row(&mut self, case: &str, peer: &str, peer_s: f64, mercer_s: f64) {
        let (case, peer) = (case.to_owned(), peer.to_owned());
        self.rows.push(Row { case, peer, peer_s, mercer_s, ratio: peer_s / mercer_s });
    }

    pub(crate) fn note(&mut self, case: &str, what: impl Into<String>, value: f64, unit: &str) {
        self.context.push(Context { case: case.to_owned(), what: what.into(), value, unit: unit.to_owned() });
    }

    /// Two tables.
    pub(crate) fn text(&self) -> String {
        let mut out =
            format!("{}: best of several alternating runs; ratio above 1: Mercer is faster\n\n", self.name);
        let rows = self.rows.iter().map(|r| {
            [
                r.case.clone(),
                r.peer.clone(),
                seconds(r.peer_s),
                seconds(r.mercer_s),
                format!("{:.2}", r.ratio),
            ]
        });
        if !self.rows.is_empty() {
            out += &table(["case", "peer", "peer s", "mercer s", "ratio"], rows, 2);
            out.push('\n');
        }
        let context =
            self.context.iter().map(|c| [c.case.clone(), c.what.clone(), number(c.value), c.unit.clone()]);
        out += &table(["case", "context", "", ""], context, 2);
        out
    }
}

/// Four decimals; six for what is over in milliseconds.
fn seconds(value: f64) -> String {
    if value < 0.01 { format!("{value:.6}") } else { format!("{value:.4}") }
}

/// Three or more digits that mean something.
fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-3 {
        return format!("{value:.1e}");
    }
    let before_point = value.abs().clamp(0.1, 100.0).log10().ceil() as i32;
    let digits = if value.abs() >= 100.0 { 0 } else { (3 - before_point) as usize };
    format!("{value:.digits$}")
}

/// Columns as wide as their widest entry; from `right` on aligned to the right.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>, right: usize) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width: [usize; N] =
        std::array::from_fn(|c| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row
            .iter()
            .zip(width)
            .enumerate()
            .map(|(c, (cell, w))| if c >= right { format!("{cell:>w$}") } else { format!("{cell:<w$}") });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_has_the_agreed_names_and_no_others() {
        let mut report = Report::new("gram");
        report.row("7291x256 f32", "scikit-learn", 0.4, 0.1);
        report.note("7291x256 f32", "mercer", 160.0, "GFLOP/s");
        let json = serde_json::to_value(&report).expect("plain data");
        let keys =
            |v: &serde_json::Value| v.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&json), ["context", "name", "rows"]);
        assert_eq!(keys(&json["rows"][0]), ["case", "mercer_s", "peer", "peer_s", "ratio"]);
        assert_eq!(json["rows"][0]["ratio"], 4.0);
    }

    #[test]
    fn tables_line_up() {
        let rows = [["a".to_owned(), "1.5".to_owned()], ["long".to_owned(), "22.25".to_owned()]];
        assert_eq!(table(["x", "y"], rows.into_iter(), 1), "x         y\na       1.5\nlong  22.25\n");
        assert_eq!([0.054, 1.5, 99.04, 231.7].map(number), ["0.0540", "1.50", "99.0", "232"]);
    }
}
