//! The stops on novelty detection.

use mercer::Result;
use mercer::data::Dataset;
use mercer::model::{Model, OneClassParams, Sample};
use mercer_report::html::{Figure, Section, Tile};
use mercer_report::svg::{Learned, learned};
use mercer_report::{Stop, count, percent};

use super::guide::Guide;
use crate::progress::Progress;

/// Nearer to the decision boundary than this, a point lies on it as far as the solver knows.
const OFF: f64 = 1e-3;

fn one_class(guide: &Guide<'_>, nu: f64, data: &Dataset) -> Result<Model> {
    let params = OneClassParams { nu, ..OneClassParams::default() };
    let sample = Sample::new(&data.points, &data.targets);
    let model = params.fit(sample, guide.exec, &mut Progress::new(guide.context).watch())?;
    Ok(Model::from(model))
}

/// Where points of two shapes are to be expected.
pub(super) fn shapes(guide: &Guide<'_>) -> Result<Stop> {
    let mut section = Section::new(
        "Novelty detection",
        "Without labels: a hyperplane in feature space that separates the points from the origin encloses the region where \
         most points lie. At most the fraction nu of them, here a tenth, lies outside.",
    );
    let mut outside = Vec::new();
    for (name, caption) in [("half-circle", "Half a circle."), ("square", "The edges of a square.")] {
        let data = guide.toy(name, 200)?;
        let params = OneClassParams {
            nu: 0.1,
            kernel: Some(mercer::kernel::Kernel::Rbf { gamma: 4.0 }),
            ..OneClassParams::default()
        };
        let sample = Sample::new(&data.points, &data.targets);
        let model = params.fit(sample, guide.exec, &mut Progress::new(guide.context).watch())?;
        let model = Model::from(model);
        let f = model.decision(data.points.view(), guide.exec)?;
        outside.push(f.iter().filter(|v| **v < -OFF).count() as f64 / f.len() as f64);
        let picture = learned(&model, Learned::training(caption, &model, &data), guide.exec)?;
        section.figures.push(Figure::svg(
            picture,
            format!("{caption} The line is the decision boundary; darker is further inside."),
        ));
    }
    section.commands = vec![(
        "mercer train DATA --task novelty --nu 0.1 -o MODEL".into(),
        "trains a novelty detector".into(),
    )];
    let seen = format!("{} of a half circle's points are outliers", percent(outside[0]));
    Ok(Stop::new("Novelty", seen, "mercer train DATA --task novelty -o MODEL", section)
        .fact("outside_half_circle", outside[0])
        .fact("outside_square", outside[1]))
}

/// The digits that look least like the others of their class.
pub(super) fn outliers(guide: &Guide<'_>) -> Result<Stop> {
    const EACH: usize = 3;
    let labels = guide.train.targets.classes()?;
    let (mut odd, mut usual) = (Vec::new(), Vec::new());
    for class in 0..labels.names.len() {
        let rows: Vec<usize> = (0..labels.len()).filter(|&i| labels.of_row[i] as usize == class).collect();
        let data = guide.train.gather(&rows);
        let f = one_class(guide, 0.05, &data)?.decision(data.points.view(), guide.exec)?;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| f[a].total_cmp(&f[b]));
        let tile = |&at: &usize| Tile::new(Guide::pixels(&data, at), labels.names[class].clone());
        odd.extend(order.iter().take(EACH).map(tile));
        usual.extend(order.iter().rev().take(EACH).map(tile));
    }
    let mut section = Section::new(
        "Outliers among the digits",
        "A one-class machine per digit finds the most unusual images: slips of the pen, wrong labels, rare ways of writing.",
    );
    section.facts = vec![("digits".into(), count(labels.len()))];
    section.figures = vec![
        Figure::tiles(Guide::tiles(odd), "The three most unusual images per class, with their labels."),
        Figure::tiles(Guide::tiles(usual), "The three most typical images per class."),
    ];
    section.commands = vec![
        ("mercer train DATA --task novelty --nu 0.05 -o MODEL".into(), "trains a novelty detector".into()),
        ("mercer predict DATA MODEL --decision".into(), "decision values; outliers are below 0".into()),
    ];
    let seen = format!("the most unusual of {} digits, without labels", count(labels.len()));
    Ok(Stop::new("Outliers", seen, "mercer predict DATA MODEL --decision", section)
        .fact("digits", labels.len()))
}
