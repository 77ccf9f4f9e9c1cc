//! What is said after a search: the table of scores, the best setting, how flat the optimum is.

use std::path::PathBuf;

use serde::Serialize;

use crate::html::{self, Figure, Section};
use crate::svg::{Heat, brief, tick};
use crate::{Align, Page, Report, Table, Tone, count, number, percent, seconds};
use mercer::assess::metric::Better;
use mercer::assess::{Cell, Flat, Found, SearchStage};
use mercer::model::{Choice, Plan};

/// Rows of a text table before it is cut to the best.
const MOST: usize = 14;
const COLUMNS: usize = 12;
const BEST: usize = 10;

/// A search that came to its end.
#[derive(Debug, Clone, Serialize)]
pub struct Tuned {
    /// The data.
    pub source: String,
    /// Its rows.
    pub rows: usize,
    /// Its columns without the target.
    pub features: usize,
    /// Target and task, and how they were found.
    pub choices: Vec<Choice>,
    /// The learner.
    pub learner: String,
    /// What settings were judged by.
    pub metric: String,
    /// Whether less of it is better.
    pub lower_is_better: bool,
    /// Folds each setting was judged on.
    pub folds: usize,
    /// The settings, stage by stage.
    pub stages: Vec<TunedStage>,
    /// The best one.
    pub best: TunedCell,
    /// What would have been used without a search.
    pub default: Option<TunedCell>,
    /// Where the best one was judged on so many rows only: how many.
    pub judged_rows: Option<usize>,
    /// How flat the optimum is.
    pub flat: Flat,
    /// Scores that were known from before.
    pub known: usize,
    /// Whether time ran out first.
    pub late: bool,
    /// Whether it was interrupted first.
    pub stopped: bool,
    /// What is good to know about the scores.
    pub notes: Vec<String>,
    /// Wall-clock seconds of the search.
    pub seconds: f64,
    /// The model trained with the best setting on all rows, where one was written.
    pub file: Option<PathBuf>,
}

/// The settings of a stage.
#[derive(Debug, Clone, Serialize)]
pub struct TunedStage {
    /// Its settings.
    pub cells: Vec<TunedCell>,
}

/// One setting.
#[derive(Debug, Clone, Serialize)]
pub struct TunedCell {
    /// The kernel's family and its number there.
    pub family: String,
    /// The kernel.
    pub kernel: String,
    /// The number that the family's kernels differ in.
    pub parameter: Option<(String, f64)>,
    /// The learner's parameters that were searched.
    pub params: Vec<(String, f64)>,
    /// The mean score over folds; null where it was dropped before it had seen any.
    pub mean: Option<f64>,
    /// The mean's standard error.
    pub error: Option<f64>,
    /// The scores fold by fold.
    pub folds: Vec<Option<f64>>,
    /// Whether it was dropped, failed, or was not come to, before it had seen all folds.
    pub open: bool,
    /// Why it could not be fitted.
    pub failed: Option<String>,
}

impl TunedCell {
    fn new(stage: &SearchStage, cell: &Cell) -> Self {
        let there = |v: f64| (!v.is_nan()).then_some(v);
        let family = &stage.space.families[cell.setting.family];
        TunedCell {
            family: family.name.clone(),
            kernel: cell.setting.kernel.to_string(),
            parameter: family.parameter.map(|name| (name.to_owned(), family.kernels[cell.setting.at].0)),
            params: (stage.space.axes.iter().zip(&cell.setting.values))
                .map(|(axis, v)| (axis.name.clone(), *v))
                .collect(),
            mean: there(cell.score.mean),
            error: there(cell.score.error),
            folds: cell.score.folds.iter().map(|v| there(*v)).collect(),
            open: cell.open,
            failed: cell.failed.clone(),
        }
    }
}

impl Tuned {
    /// The same with what the plan settled before the search: the target and the task.
    #[must_use]
    pub fn on(mut self, plan: &Plan<'_>) -> Self {
        let first = plan.choices.iter().filter(|c| matches!(c.what.as_str(), "target" | "task"));
        (self.choices, self.features) = (first.cloned().collect(), plan.data().dim());
        self
    }

    /// What a search found, on data of this name.
    pub fn new(source: impl Into<String>, rows: usize, found: &Found, file: Option<PathBuf>) -> Self {
        let stages: Vec<TunedStage> = found
            .stages
            .iter()
            .map(|stage| TunedStage { cells: stage.cells.iter().map(|c| TunedCell::new(stage, c)).collect() })
            .collect();
        let best = TunedCell::new(&found.stages[found.home], &found.best);
        Tuned {
            source: source.into(),
            rows,
            features: 0,
            choices: Vec::new(),
            learner: found.learner.entry().name.to_owned(),
            metric: found.metric.name.to_owned(),
            lower_is_better: found.metric.better == Better::Lower,
            folds: found.folds,
            stages,
            best,
            default: found.default.as_ref().map(|cell| TunedCell::new(&found.stages[0], cell)),
            judged_rows: found.rows,
            flat: found.flat.clone(),
            known: found.known,
            late: found.late,
            stopped: found.stopped,
            notes: found.notes.clone(),
            seconds: found.seconds,
            file,
        }
    }

    fn shown(&self, value: f64) -> String {
        match self.metric.as_str() {
            "error" | "accuracy" | "balanced-error" => percent(value),
            _ => number((value * 1e4).round() / 1e4),
        }
    }

    fn setting(cell: &TunedCell) -> String {
        let params: Vec<String> =
            cell.params.iter().map(|(name, v)| format!("{name} = {}", brief(*v))).collect();
        if params.is_empty() {
            cell.kernel.clone()
        } else {
            format!("{}, {}", cell.kernel, params.join(", "))
        }
    }

    /// A family's cells as a table: the kernel's number down, the first parameter across. None where there is more to it.
    fn grid(&self, stage: &TunedStage, family: &str) -> Option<Grid> {
        let cells: Vec<&TunedCell> = stage.cells.iter().filter(|c| c.family == family).collect();
        // The default, where it is of no family that was searched, is no table.
        if cells.len() == 1 && stage.cells.len() > 1 {
            return None;
        }
        let name = cells.first()?.params.first()?.0.clone();
        if cells.iter().any(|c| c.params.len() != 1) {
            return None;
        }
        let distinct = |of: &dyn Fn(&TunedCell) -> f64| {
            let mut values: Vec<f64> = cells.iter().map(|c| of(c)).collect();
            values.sort_by(f64::total_cmp);
            values.dedup_by(|a, b| a == b || a.is_nan() && b.is_nan());
            values
        };
        let down = |c: &TunedCell| c.parameter.as_ref().map_or(f64::NAN, |p| p.1);
        let (rows, columns) = (distinct(&down), distinct(&|c| c.params[0].1));
        let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        let cell = |r: f64, v: f64| {
            cells
                .iter()
                .find(|c| same(down(c), r) && c.params[0].1 == v)
                .and_then(|c| c.mean.filter(|_| !c.open))
        };
        let values =
            rows.iter().map(|&r| columns.iter().map(|&v| cell(r, v).unwrap_or(f64::NAN)).collect()).collect();
        let place = (self.best.family == family).then(|| {
            let r = rows.iter().position(|&r| same(r, down(&self.best)))?;
            Some((r, columns.iter().position(|&v| v == self.best.params[0].1)?))
        });
        let parameter = cells[0].parameter.as_ref().map_or(family, |p| &p.0).to_owned();
        Some(Grid { parameter, name, rows, columns, values, best: place.flatten() })
    }

    fn families(stage: &TunedStage) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for cell in &stage.cells {
            if !names.contains(&cell.family) {
                names.push(cell.family.clone());
            }
        }
        names
    }

    fn verdict(&self) -> Vec<(&'static str, String)> {
        let b = &self.best;
        let mut facts = vec![("best", Self::setting(b))];
        if let Some(mean) = b.mean {
            let error = b.error.map_or(String::new(), |e| format!(" +- {}", self.shown(e)));
            let on = match self.judged_rows {
                Some(rows) => format!("{} folds of {} rows", self.folds, count(rows)),
                None => format!("{} folds", self.folds),
            };
            facts.push(("scores", format!("{} {}{error}, the mean of {on}", self.metric, self.shown(mean))));
        } else {
            facts.push(("scores", "not scored: the search ended first".to_owned()));
        }
        if let Some((default, mean)) =
            self.default.as_ref().and_then(|d| Some((d, d.mean.filter(|_| !d.open)?)))
        {
            facts.push((
                "default",
                format!("{}: {} {}", Self::setting(default), self.metric, self.shown(mean)),
            ));
        }
        let ranges: Vec<String> = (self.flat.ranges.iter())
            .filter(|(_, low, high)| low < high)
            .map(|(name, low, high)| format!("{name} from {} to {}", brief(*low), brief(*high)))
            .collect();
        let many = match self.flat.settings {
            0 => "unknown: no setting was scored on all rows".to_owned(),
            1 => "no other setting is within one standard error".to_owned(),
            n => format!("{} of {} settings within one standard error", count(n), count(self.flat.of)),
        };
        let line = if ranges.is_empty() { many } else { format!("{many}: {}", ranges.join(", ")) };
        facts.push(("flatness", line));
        facts
    }

    /// The settings of all stages, the best first.
    fn ranked(&self) -> Vec<&TunedCell> {
        let mut cells: Vec<&TunedCell> =
            self.stages.iter().flat_map(|s| &s.cells).filter(|c| !c.open).collect();
        let sign = if self.lower_is_better { 1.0 } else { -1.0 };
        let value = |c: &TunedCell| c.mean.map_or(f64::INFINITY, |m| sign * m);
        cells.sort_by(|a, b| value(a).total_cmp(&value(b)));
        cells
    }
}

/// Scores over two numbers.
struct Grid {
    parameter: String,
    name: String,
    rows: Vec<f64>,
    columns: Vec<f64>,
    values: Vec<Vec<f64>>,
    best: Option<(usize, usize)>,
}

impl Report for Tuned {
    fn write(&self, page: &mut Page) {
        let settings: usize = self.stages.iter().map(|s| s.cells.len()).sum();
        let what = format!(
            "{} settings of {} on {} folds of {} rows, {}",
            count(settings),
            self.learner,
            self.folds,
            count(self.rows),
            seconds(self.seconds)
        );
        page.title(&self.source, &what);
        if !self.choices.is_empty() {
            page.blank();
            let told = |c: &Choice| match &c.why {
                Some(why) => format!("{} ({why})", c.value),
                None => format!("{} (as given)", c.value),
            };
            let facts = self.choices.iter().map(|c| (c.what.as_str(), told(c)));
            page.facts(facts.chain([("features", count(self.features))]));
        }
        if let Some(stage) = self.stages.last() {
            for family in Self::families(stage) {
                let grid = self.grid(stage, &family);
                let Some(grid) = grid.filter(|g| g.rows.len() <= MOST && g.columns.len() <= COLUMNS) else {
                    continue;
                };
                page.blank();
                page.line(&format!(
                    "{family}: {} by {} (down) and {} (across)",
                    self.metric, grid.parameter, grid.name
                ));
                let mut table = Table::new().column("", Align::Right);
                for c in &grid.columns {
                    table = table.column(&brief(*c), Align::Right);
                }
                for (r, line) in grid.values.iter().enumerate() {
                    let head = if grid.rows[r].is_nan() { String::new() } else { brief(grid.rows[r]) };
                    let cells = line.iter().enumerate().map(|(c, v)| {
                        let text = if v.is_nan() { "-".into() } else { self.shown(*v) };
                        (text, if grid.best == Some((r, c)) { Tone::Good } else { Tone::Plain })
                    });
                    table.toned_row(std::iter::once((head, Tone::Quiet)).chain(cells));
                }
                page.table(&table);
            }
        }
        page.blank();
        page.line("Best settings");
        let mut table = Table::new().column("setting", Align::Left).column(&self.metric, Align::Right);
        table = table.column("+-", Align::Right);
        for cell in self.ranked().into_iter().take(BEST) {
            let shown = |v: Option<f64>| v.map_or("-".into(), |v| self.shown(v));
            table.row([Self::setting(cell), shown(cell.mean), shown(cell.error)]);
        }
        page.table(&table);
        page.blank();
        page.facts(self.verdict());
        page.blank();
        let dropped =
            self.stages.iter().flat_map(|s| &s.cells).filter(|c| c.open && c.failed.is_none()).count();
        if dropped > 0 && !self.late && !self.stopped {
            page.remark(
                Tone::Quiet,
                '-',
                &format!("{} settings that could not win were dropped early", count(dropped)),
            );
        }
        if self.known > 0 {
            page.remark(
                Tone::Quiet,
                '-',
                &format!("{} scores were read from the checkpoint", count(self.known)),
            );
        }
        for note in &self.notes {
            page.remark(Tone::Warn, '!', note);
        }
        if self.late || self.stopped {
            let why = if self.stopped { "interrupted" } else { "time limit reached" };
            let what = match (self.judged_rows, self.best.open) {
                (Some(rows), _) => {
                    format!("the best on {} of {} rows", count(rows), count(self.rows))
                }
                (None, true) => "the default, not scored".to_owned(),
                (None, false) => "the best setting tried".to_owned(),
            };
            page.remark(Tone::Warn, '!', &format!("{why}: {what}"));
        }
        match &self.file {
            Some(file) => {
                page.remark(Tone::Good, '✓', &format!("{}: trained on all rows", file.display()));
            }
            None => page.remark(Tone::Quiet, '-', "-o MODEL trains it on all rows"),
        }
    }
}

/// The page of a search: heat maps and the best settings.
pub fn tuned_page(report: &Tuned) -> html::Page {
    let mut best = Section::new("The best setting", "");
    best.facts = report.verdict().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mut sections = vec![best];
    for (s, stage) in report.stages.iter().enumerate() {
        let heading = match report.stages.len() {
            1 => "All settings".to_owned(),
            _ => format!("Stage {}", s + 1),
        };
        let mut section = Section::new(heading, "");
        for family in Tuned::families(stage) {
            let Some(grid) = report.grid(stage, &family) else { continue };
            let share = matches!(report.metric.as_str(), "error" | "accuracy" | "balanced-error");
            let heat = Heat {
                title: format!("{family}: {}", report.metric),
                along: (grid.name.clone(), grid.parameter.clone()),
                columns: grid.columns.iter().map(|v| tick(*v)).collect(),
                rows: grid.rows.iter().map(|v| if v.is_nan() { String::new() } else { tick(*v) }).collect(),
                values: grid.values,
                write: if share { |v| format!("{:.1}", 100.0 * v) } else { brief },
                lower: report.lower_is_better,
                mark: grid.best.filter(|_| s + 1 == report.stages.len()),
            };
            let unit = if share { ", per cent" } else { "" };
            let caption = format!(
                "{family}: {}{unit}, the mean of {} folds; darker is better.",
                report.metric, report.folds
            );
            section.figures.push(Figure::svg(heat.draw(), caption));
        }
        if !section.figures.is_empty() {
            sections.push(section);
        }
    }
    html::Page {
        title: format!("Settings for {}", report.source),
        intro: format!(
            "{} settings of `{}`, scored by cross-validation.",
            count(report.stages.iter().map(|s| s.cells.len()).sum()),
            report.learner
        ),
        verdict: match report.best.mean {
            Some(mean) => {
                let error =
                    report.best.error.map_or_else(String::new, |e| format!(" +- {}", report.shown(e)));
                let default = report.default.as_ref().and_then(|d| d.mean.filter(|_| !d.open));
                let default = default.map_or_else(String::new, |mean| {
                    format!(" The default setting scores {}.", report.shown(mean))
                });
                format!(
                    "Best setting: {}. Cross-validated {} on {} rows: {}{error}.{default}",
                    Tuned::setting(&report.best),
                    report.metric,
                    count(report.judged_rows.unwrap_or(report.rows)),
                    report.shown(mean)
                )
            }
            None => "No setting was scored: the search ended first.".into(),
        },
        sections,
        ..html::Page::default()
    }
}
