//! Reports as one HTML page: what was trained, how it does, what it is made of, with pictures.

mod columns;
mod verdict;

use crate::explain::short;
use crate::html::{Figure, Ink, Page, Section, Table, Tile, Tiles};
use crate::svg::{
    Axis, Chart, Learned, Look, NamedCurve, Series, confusion, learned, precision_recall, progress, roc,
};
use crate::train::TRIED;
use crate::{Align, Evaluated, Explained, Trained, count, number, percent, seconds};
use mercer::assess::{ClassEvaluation, Curve, Evaluation, RealEvaluation, mistakes};
use mercer::data::{Dataset, ImageShape};
use mercer::error::Result;
use mercer::exec::Exec;
use mercer::model::{Explanation, MachineFacts, Model, Task};
use mercer::watch::Stop;

/// Classes drawn with a curve each; of more, the worst.
const CURVES: usize = 6;
/// Classes of a confusion matrix that can still be read.
const CELLS: usize = 30;
/// Images of support vectors shown.
const IMAGES: usize = 40;

/// The page of a training: what was chosen and why, the way to the optimum, and the model drawn where it can be.
///
/// `gaps` are the solver's steps with the gap left, as a watcher saw them.
pub fn trained_page(
    report: &Trained,
    model: &Model,
    data: &Dataset,
    gaps: &[(f64, f64)],
    exec: Exec,
) -> Result<Page> {
    let sampled = on_a_sample(report, model, data, exec)?;
    let mut choices = Section::new("Chosen settings", "");
    let row = |c: &mercer::model::Choice| {
        vec![c.what.clone(), c.value.clone(), c.why.clone().unwrap_or_else(|| "as asked".into())]
    };
    choices.tables.push(Table {
        columns: left(&["", "", "why"]),
        rows: report.choices.iter().map(row).collect(),
        ..Table::default()
    });
    let mut course = Section::new("The fit", "");
    let info = model.info();
    course.facts = facts([("time", seconds(info.seconds))]);
    let (word, n) = centres(model);
    course.facts.push((word.into(), count(n)));
    if info.iterations > 0 {
        course.facts.push(("iterations".into(), count(info.iterations as usize)));
    }
    if solved(model) && info.gap.is_finite() {
        course.facts.push(("largest violation of the optimality conditions".into(), number(info.gap)));
    }
    if gaps.len() > 1 {
        let tol = report.model.params["tol"].as_f64();
        course.figures.push(Figure::svg(
            progress(gaps, tol),
            "Largest violation of the optimality conditions over iterations.",
        ));
    }
    let mut sections = vec![choices, course];
    sections.extend(held_out(report));
    sections.extend(picture(model, Learned::training("Decision function", model, data), exec)?);
    sections.extend(images(model));
    match (&report.training, &sampled) {
        (Some(all), _) => sections.extend(evaluation(all, "On the training rows")),
        (None, Some(some)) => {
            let title = format!("On {} of {} training rows", count(TRIED), count(report.rows));
            sections.extend(evaluation(some, &title));
        }
        (None, None) => {}
    }
    let mut next = Section::new("Next", "");
    let file = report.file.display();
    next.commands = vec![
        (format!("mercer predict NEW {file}"), "predicts new rows".into()),
        (format!("mercer evaluate TEST {file}"), "evaluate on labelled rows".into()),
        (format!("mercer explain {file} {}", report.source), "describes the model".into()),
    ];
    sections.push(next);
    let intro = format!(
        "`{}`, trained to {} on {} rows and {} columns of `{}`.",
        file,
        model.task().verb(),
        count(report.rows),
        count(report.columns),
        report.source
    );
    let tried = report.training.as_ref().or(sampled.as_ref());
    let verdict = tried.map(|e| verdict::verdict(e, data, true)).unwrap_or_default();
    Ok(Page { title: format!("{file}"), intro, verdict, sections, ..Page::default() })
}

/// How a finished model does on rows drawn evenly from a larger training set, which was not tried as a whole.
fn on_a_sample(report: &Trained, model: &Model, data: &Dataset, exec: Exec) -> Result<Option<Evaluation>> {
    if report.training.is_some() || model.info().stop == Stop::Cancelled || data.len() <= TRIED {
        return Ok(None);
    }
    let rows: Vec<usize> = (0..TRIED).map(|i| i * data.len() / TRIED).collect();
    Evaluation::new(model, &data.gather(&rows), exec).map(Some)
}

/// Errors on held-out rows by the number of centres, where they were measured.
fn held_out(report: &Trained) -> Option<Section> {
    let table = report.held_out_rows();
    let first = table.first()?;
    let mut section = Section::new(
        "Error on held-out rows",
        format!("{} rows were held out from training.", count(first.rows)),
    );
    let rows =
        table.iter().map(|p| vec![count(p.centres), p.shown.clone(), count(p.passes), seconds(p.seconds)]);
    section.tables.push(Table {
        columns: first_left(&["centres", "error", "passes", "time"]),
        rows: rows.collect(),
        ..Table::default()
    });
    if table.len() > 1 {
        let points: Vec<(f64, f64)> = table.iter().map(|p| (p.centres as f64, p.error)).collect();
        let series = vec![
            Series::line("held-out error", points.clone()).colour(0),
            Series::dots("", points).colour(0),
        ];
        let title = "Held-out error by the number of centres";
        let chart = Chart::new(title, Axis::new("centres").log(), Axis::new(first.axis), series);
        section.figures.push(Figure::svg(chart.draw(), "Held-out error falls with the number of centres."));
    }
    Some(section)
}

/// The page of an evaluation: a verdict, numbers, who is taken for whom, curves, the predictions drawn where they can be,
/// and the wrong rows.
pub fn evaluated_page(report: &Evaluated, model: &Model, data: &Dataset, exec: Exec) -> Result<Page> {
    let mut sections = evaluation(&report.evaluation, "Accuracy of the predictions");
    sections.extend(picture(model, Learned::fresh("Rows and predictions", data), exec)?);
    if matches!(report.evaluation, Evaluation::Classification(_) | Evaluation::Regression(_)) {
        let found = mistakes(model, data, IMAGES, exec)?;
        sections.push(columns::mistaken(model.task(), &found, Some(data)));
    }
    let intro = format!("`{}`, predicted by the model `{}`.", report.source, report.model);
    let verdict = verdict::verdict(&report.evaluation, data, false);
    Ok(Page { title: report.source.clone(), intro, verdict, sections, ..Page::default() })
}

/// The page of an explanation: machines, the rows and columns that matter, labels to check, images of the centres. `test`
/// holds the rows that importances and mistakes are about.
pub fn explained_page(
    report: &Explained,
    model: &Model,
    data: Option<&Dataset>,
    test: Option<&Dataset>,
    exec: Exec,
) -> Result<Page> {
    let e = &report.explanation;
    let mut about = Section::new("The model", "");
    about.facts = facts([
        ("kernel", e.model.kernel.clone()),
        ("learner", e.learner.into()),
        ("centres", count(e.model.centres)),
        ("columns", count(e.model.columns)),
    ]);
    about.facts.extend(
        e.radius2
            .map(|r| (format!("squared radius of {} in feature space", crate::explain::ball(e)), number(r))),
    );
    about.tables.extend(machines(e));
    let mut sections = Vec::new();
    sections.extend(report.importances.as_ref().map(columns::important));
    sections.extend(report.dependences.as_ref().and_then(columns::dependent));
    sections.extend(report.mistakes.as_ref().map(|found| columns::mistaken(model.task(), found, test)));
    sections.push(about);
    if let Some(data) = data {
        sections.extend(picture(model, Learned::training("Decision function", model, data), exec)?);
    }
    sections.extend(weights(e));
    sections.extend(images(model));
    sections.extend(suspects(e));
    let intro = format!("`{}`: {}, trained to {}.", report.file, e.learner, e.model.task.verb());
    let verdict = match report.importances.as_ref().map(|found| (found, &found.columns[..])) {
        Some((found, [first, ..])) if first.rise > 0.0 => {
            let others = found.columns.iter().filter(|c| c.rise > 2.0 * c.spread && c.rise > 0.0).count();
            format!(
                "`{}` matters most: {} if its values are shuffled. {} of {} {} matter.",
                first.column.replace('`', "'"),
                columns::rise_of(found, first.rise),
                count(others),
                count(found.columns.len()),
                if found.image.is_some() { "squares" } else { "columns" }
            )
        }
        _ => String::new(),
    };
    Ok(Page { title: report.file.clone(), intro, verdict, sections, ..Page::default() })
}

fn facts<const N: usize>(all: [(&str, String); N]) -> Vec<(String, String)> {
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn left(heads: &[&str]) -> Vec<(String, Align)> {
    heads.iter().map(|head| ((*head).to_owned(), Align::Left)).collect()
}

fn heads(heads: &[(&str, Align)]) -> Vec<(String, Align)> {
    heads.iter().map(|(head, align)| ((*head).to_owned(), *align)).collect()
}

/// How targets stand in a table: numbers below each other, names from the left.
fn targets(task: Task) -> Align {
    if task == Task::Regression { Align::Right } else { Align::Left }
}

fn first_left(heads: &[&str]) -> Vec<(String, Align)> {
    let align = |i: usize| if i == 0 { Align::Left } else { Align::Right };
    heads.iter().enumerate().map(|(i, head)| ((*head).to_owned(), align(i))).collect()
}

/// Whether a model is a machine whose solver knows how far from the optimum it is.
fn solved(model: &Model) -> bool {
    model.machine.has_support_vectors()
}

/// What the points are called that a model is made of, and how many there are.
fn centres(model: &Model) -> (&'static str, usize) {
    let m = &model.machine;
    if keeps_rows(model) { ("support vectors", m.support.len()) } else { ("centres", m.expansion.len()) }
}

/// Whether what the model consists of are training rows. A linear machine keeps one vector of weights and the numbers of
/// its support vectors; after a compression the centres are no rows any more.
fn keeps_rows(model: &Model) -> bool {
    model.machine.has_support_vectors() && !model.machine.support.is_empty()
}

/// The model over its columns, where there are few enough to draw.
fn picture(model: &Model, with: Learned<'_>, exec: Exec) -> Result<Option<Section>> {
    let drawable = matches!((with.data.dim(), model.task()), (1, Task::Regression) | (2, _));
    if !drawable
        || !with.data.points.view().is_numbers()
        || model.columns().is_some_and(|d| d != with.data.dim())
    {
        return Ok(None);
    }
    let mut section = Section::new("The picture", "");
    let caption = match (model.task(), with.circled.is_empty()) {
        (Task::Regression, _) => "The function and the rows.",
        (_, true) => "Regions of the predictions, and the rows with their true labels.",
        (_, false) => &format!("Regions of the predictions and the rows; {} are circled.", centres(model).0),
    };
    section.figures.push(Figure::svg(learned(model, with, exec)?, caption));
    Ok(Some(section))
}

fn evaluation(e: &Evaluation, heading: &str) -> Vec<Section> {
    match e {
        Evaluation::Classification(e) => classes(e, heading),
        Evaluation::Regression(e) => vec![reals(e, heading)],
        Evaluation::Clustering(e) => {
            let mut section = Section::new(heading, "");
            let sizes: Vec<String> = e.sizes.iter().map(|n| count(*n)).collect();
            section.facts = facts([
                ("rows", count(e.rows)),
                ("rows per cluster", sizes.join(", ")),
                ("mean squared distance", number(e.distance)),
            ]);
            vec![section]
        }
        Evaluation::Novelty(e) => {
            let mut section = Section::new(heading, "");
            section.facts = facts([
                ("rows", count(e.rows)),
                ("outside", count(e.outside)),
                ("share outside", percent(e.outside as f64 / e.rows.max(1) as f64)),
            ]);
            if let Some(curve) = &e.roc {
                let curves = [NamedCurve { name: "inliers", points: &curve.points, area: curve.area }];
                section.figures.push(Figure::svg(roc(&curves), "Inliers against outliers."));
            }
            vec![section]
        }
    }
}

fn classes(e: &ClassEvaluation, heading: &str) -> Vec<Section> {
    let mut section = Section::new(heading, "");
    let [low, high] = e.interval;
    section.facts = facts([
        ("error", percent(e.error)),
        ("wrong", format!("{} of {}", count(e.wrong.len()), count(e.rows))),
        ("95 % confidence interval", format!("{} to {}", percent(low), percent(high))),
        ("always the most frequent class", percent(e.baseline)),
    ]);
    if e.classes.len() <= CELLS {
        let caption =
            "Rows are true classes, columns are predicted classes; the diagonal counts correct predictions.";
        section.figures.push(Figure::svg(confusion(&e.classes, &e.confusion), caption));
    }
    // Where there are two classes, both have the same curve.
    let mut worst: Vec<usize> = if e.roc.len() == 2 { vec![1] } else { (0..e.roc.len()).collect() };
    worst.retain(|&c| !e.roc[c].area.is_nan());
    worst.sort_by(|&a, &b| e.roc[a].area.total_cmp(&e.roc[b].area));
    worst.truncate(CURVES);
    let named = |curves: &'_ [Curve]| -> Vec<(usize, Curve)> {
        worst.iter().map(|&c| (c, curves[c].clone())).collect()
    };
    let (all_roc, all_pr) = (named(&e.roc), named(&e.pr));
    let draw = |curves: &[(usize, Curve)], with: fn(&[NamedCurve<'_>]) -> crate::svg::Svg| {
        let list: Vec<NamedCurve<'_>> = curves
            .iter()
            .map(|(c, curve)| NamedCurve { name: &e.classes[*c], points: &curve.points, area: curve.area })
            .collect();
        with(&list)
    };
    if !worst.is_empty() {
        let caption = "True positive rate over false positive rate; the number is the area under the curve (1 = perfect).";
        section.figures.push(Figure::svg(draw(&all_roc, roc), caption));
        let caption = "Precision over recall for each class; the number is the area under the curve (average precision).";
        section.figures.push(Figure::svg(draw(&all_pr, precision_recall), caption));
    }
    let share = |v: f64| if v.is_nan() { "-".to_owned() } else { format!("{v:.3}") };
    let row = |(k, (name, s)): (usize, (&String, &mercer::assess::ClassScores))| {
        let area = |curves: &[Curve]| share(curves.get(k).map_or(f64::NAN, |c| c.area));
        vec![
            name.clone(),
            count(s.rows),
            share(s.precision),
            share(s.recall),
            share(s.f1),
            area(&e.roc),
            area(&e.pr),
        ]
    };
    section.tables.push(Table {
        columns: first_left(&["class", "rows", "precision", "recall", "F1", "ROC area", "PR area"]),
        rows: e.classes.iter().zip(&e.scores).enumerate().map(row).collect(),
        ..Table::default()
    });
    vec![section]
}

fn reals(e: &RealEvaluation, heading: &str) -> Section {
    let mut section = Section::new(heading, "");
    section.facts = facts([
        ("RMSE", number(e.rmse)),
        ("always the mean", number(e.baseline)),
        ("MAE", number(e.mae)),
        ("R^2", if e.r2.is_nan() { "-".into() } else { format!("{:.3}", e.r2) }),
    ]);
    let points: Vec<(f64, f64)> = e.pairs.iter().map(|p| (p[0], p[1])).collect();
    let low = e.pairs.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let high = e.pairs.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    if low < high {
        let same = Series::new("", Look::Dashed, vec![(low, low), (high, high)]).colour(7);
        let chart = Chart::new(
            "Predictions against targets",
            Axis::new("target"),
            Axis::new("prediction"),
            vec![same, Series::dots("", points)],
        );
        let caption = "One dot per row. On the dashed line, prediction and target are equal.";
        section.figures.push(Figure::svg(Chart { square: true, ..chart }.draw(), caption));
    }
    section
}

/// What a column of the machines' table shows, where there is something.
type Cell<'a> = &'a dyn Fn(&MachineFacts) -> Option<String>;

/// The machines with what is known of them; nothing where nothing is.
fn machines(e: &Explanation) -> Option<Table> {
    let columns: [(&str, Cell<'_>); 6] = [
        ("rows", &|m| m.rows.map(count)),
        ("free", &|m| m.free.map(count)),
        ("bounded", &|m| m.bounded.map(count)),
        ("|w|^2", &|m| m.norm2.map(number)),
        ("margin", &|m| m.margin.map(number)),
        ("R^2|w|^2", &|m| m.capacity.map(number)),
    ];
    // What no machine of this learner has needs no column.
    let columns: Vec<&(&str, Cell<'_>)> =
        columns.iter().filter(|(_, cell)| e.machines.iter().any(|m| cell(m).is_some())).collect();
    let heads: Vec<&str> = std::iter::once("").chain(columns.iter().map(|(head, _)| *head)).collect();
    let row = |m: &MachineFacts| {
        let name = if m.name.is_empty() { "the machine".into() } else { m.name.clone() };
        let cells = columns.iter().map(|(_, cell)| cell(m).unwrap_or_else(|| "-".into()));
        std::iter::once(name).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = e.machines.iter().map(row).collect();
    let table = Table { columns: first_left(&heads), rows, ..Table::default() };
    (!columns.is_empty()).then_some(table)
}

fn weights(e: &Explanation) -> Option<Section> {
    let mut section = Section::new("Largest weights", "");
    if !e.columns.is_empty() {
        let row = |c: &mercer::model::ColumnWeight| {
            vec![c.name.clone().unwrap_or_else(|| (c.column + 1).to_string()), number(c.weight)]
        };
        section.tables.push(Table {
            caption: "Columns".into(),
            columns: first_left(&["column", "weight"]),
            rows: e.columns.iter().map(row).collect(),
        });
    }
    if !e.influential.is_empty() {
        let row = |i: &mercer::model::Influence| {
            let class = i
                .class
                .clone()
                .unwrap_or_else(|| if i.machine.is_some() { "the rest".into() } else { String::new() });
            vec![
                count(i.row + 1),
                number(i.coef),
                class,
                i.machine.clone().unwrap_or_default(),
                short(e.model.task, i.target.as_deref().unwrap_or("")),
                crate::explain::values(i, 6),
            ]
        };
        section.tables.push(Table {
            caption: "Rows with the largest coefficients: positive ones support the first class of their machine, negative ones the other".into(),
            columns: heads(&[
                ("row", Align::Right),
                ("coefficient", Align::Right),
                ("supports", Align::Left),
                ("machine", Align::Left),
                ("target", targets(e.model.task)),
                ("values", Align::Left),
            ]),
            rows: e.influential.iter().map(row).collect(),
        });
    }
    (!section.tables.is_empty()).then_some(section)
}

fn suspects(e: &Explanation) -> Option<Section> {
    let count_all = e.suspect_count.filter(|&n| n > 0)?;
    let text = format!("{} rows are contradicted by the model; the furthest first.", count(count_all));
    let mut section = Section::new("To check", text);
    let targets = targets(e.model.task);
    let row = |s: &mercer::model::Suspect| {
        vec![
            count(s.row + 1),
            short(e.model.task, s.given.as_deref().unwrap_or("")),
            short(e.model.task, &s.answer),
            number(s.by),
        ]
    };
    section.tables.push(Table {
        columns: heads(&[
            ("row", Align::Right),
            ("given", targets),
            ("predicted", targets),
            ("by", Align::Right),
        ]),
        rows: e.suspects.iter().map(row).collect(),
        ..Table::default()
    });
    Some(section)
}

/// The centres as images, where rows are images, the heaviest first.
fn images(model: &Model) -> Option<Section> {
    let f = &model.machine.expansion;
    let shape = f.centres().image()?;
    let k = f.outputs();
    let weight = |j: usize| f.coef()[j * k..(j + 1) * k].iter().map(|c| c.abs()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..f.len()).collect();
    order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
    order.truncate(IMAGES);
    let classes = model.classes();
    let tile = |&j: &usize| {
        let coef = &f.coef()[j * k..(j + 1) * k];
        let (o, side, class) = model.machine.vote_of(coef);
        let caption = match (class.and_then(|c| classes.get(c as usize)), side) {
            (Some(class), _) => format!("{class}: {}", number(coef[o])),
            (None, Some(s)) => format!("not {}: {}", classes[s.positive as usize], number(coef[o])),
            (None, None) => number(coef[o]),
        };
        Tile::new(f.centres().row(j).to_f64(), caption)
    };
    let tiles = tiled(shape, order.iter().map(tile).collect());
    let heading = if keeps_rows(model) { "Support vectors" } else { "Centres" };
    let mut section = Section::new(heading, "");
    section.figures.push(Figure::tiles(
        tiles,
        "Those with the largest coefficients: the class that each supports, and its coefficient.",
    ));
    Some(section)
}

/// Images on the levels of all of them.
fn tiled(shape: ImageShape, tiles: Vec<Tile>) -> Tiles {
    Tiles { shape, ink: Ink::levels(tiles.iter().flat_map(|tile| &tile.pixels)), tiles }
}
