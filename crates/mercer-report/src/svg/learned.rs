//! What a model has learned, where it can be drawn: a curve over one column, regions or contours over two.

use super::{Axis, Chart, Grid, Layer, Line, Look, Plane, Series, Svg};
use mercer::data::{Dataset, Points};
use mercer::error::{Error, Result};
use mercer::exec::Exec;
use mercer::model::{Model, Task};

/// Nodes of a grid along each axis: fine enough that lines look smooth.
const NODES: usize = 120;
/// Places along a curve.
const STEPS: usize = 300;

/// What a model is drawn with.
#[derive(Debug, Clone, Copy)]
pub struct Learned<'a> {
    /// Points shown, with one or two columns, as they come from a file: the model applies its stages.
    pub data: &'a Dataset,
    /// Rows of those points to circle: the support vectors, where these are the training points. See
    /// [`Learned::training`].
    pub circled: &'a [u32],
    /// What is shown, in a few words.
    pub title: &'a str,
}

impl<'a> Learned<'a> {
    /// A model with the points it was trained on: support vectors are circled.
    pub fn training(title: &'a str, model: &'a Model, data: &'a Dataset) -> Self {
        let m = &model.machine;
        // Where every row is a centre, circles say nothing.
        let circled: &[u32] =
            if m.has_support_vectors() || m.support.len() < data.len() { &m.support } else { &[] };
        Learned { data, circled, title }
    }

    /// A model with points it has not seen.
    pub fn fresh(title: &'a str, data: &'a Dataset) -> Self {
        Learned { data, circled: &[], title }
    }
}

/// The picture of a model: for two columns regions of classes, with the margin where there are two of them, the border
/// of what is like the data, or contours of a function or of the first
/// feature; for one column a curve with its tube. Fails on points of more
/// columns.
pub fn learned(model: &Model, with: Learned<'_>, exec: Exec) -> Result<Svg> {
    match (with.data.dim(), model.task()) {
        (1, Task::Regression) => curve(model, with, exec),
        (2, task) => plane(model, with, task, exec),
        (d, _) => Err(Error::shape("columns of points to draw", d, "2, or 1 for regression")),
    }
}

fn curve(model: &Model, with: Learned<'_>, exec: Exec) -> Result<Svg> {
    let x = with.data.points.view().to_f64()?;
    let (low, high) = Plane::range(x.iter().copied());
    let steps: Vec<f64> = (0..STEPS).map(|i| low + (high - low) * i as f64 / (STEPS - 1) as f64).collect();
    let f = model.decision(Points::dense(steps.clone(), 1)?.view(), exec)?;
    let line: Vec<(f64, f64)> = steps.iter().copied().zip(f.iter().copied()).collect();
    let mut series = Vec::new();
    if let Some(epsilon) = model.machine.fact("epsilon").filter(|e| *e > 0.0) {
        let lower = line.iter().map(|(x, f)| (*x, f - epsilon)).collect();
        let upper = f.iter().map(|f| f + epsilon).collect();
        series.push(Series::new("tube", Look::Band(upper), lower).colour(0));
    }
    if let Ok(y) = with.data.targets.reals() {
        let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
        let circled =
            with.circled.iter().filter_map(|&i| points.get(i as usize).copied()).collect::<Vec<_>>();
        series.push(Series::dots("data", points).colour(1));
        if !circled.is_empty() {
            let name = if model.machine.has_support_vectors() { "support vectors" } else { "centres" };
            series.push(Series::new(name, Look::Rings, circled).colour(7));
        }
    }
    series.push(Series::line("prediction", line).colour(0));
    Ok(Chart::new(with.title, Axis::new("x"), Axis::new("y"), series).draw())
}

fn plane(model: &Model, with: Learned<'_>, task: Task, exec: Exec) -> Result<Svg> {
    let values = with.data.points.view().to_f64()?;
    let points: Vec<(f64, f64)> = values.chunks(2).map(|p| (p[0], p[1])).collect();
    let (x, y) = (Plane::range(points.iter().map(|p| p.0)), Plane::range(points.iter().map(|p| p.1)));
    let nodes = Points::dense(Grid::nodes(x, y, NODES, NODES), 2)?;
    let outputs = model.decision(nodes.view(), exec)?;
    let k = model.outputs();
    let grid = |values: Vec<f64>| Grid::new(x, y, NODES, values);
    let mut layers = Vec::new();
    let mut names = Vec::new();
    match task {
        Task::Classification if k == 1 => {
            let f = grid(outputs);
            layers.push(Layer::Region { grid: f.map(|v| -v), class: 0 });
            layers.push(Layer::Region { grid: f.clone(), class: 1 });
            layers.push(Layer::Levels { grid: f.clone(), levels: vec![-1.0, 1.0], line: Line::Margin });
            layers.push(Layer::Levels { grid: f, levels: vec![0.0], line: Line::Edge });
        }
        Task::Classification | Task::Clustering => {
            let scores = model.machine.scores_of(&outputs)?;
            let classes = model.classes().len();
            for class in 0..classes {
                let ahead = |line: &[f64]| {
                    let others = (0..classes).filter(|c| *c != class).map(|c| line[c]);
                    line[class] - others.fold(f64::NEG_INFINITY, f64::max)
                };
                let f = grid(scores.chunks(classes).map(ahead).collect());
                layers.push(Layer::Region { grid: f.clone(), class });
                layers.push(Layer::Levels { grid: f, levels: vec![0.0], line: Line::Edge });
            }
        }
        Task::Novelty => {
            let f = grid(outputs);
            let most = f.range().1.max(0.0);
            let levels: Vec<f64> = (0..5).map(|i| most * f64::from(i) / 5.0).collect();
            layers.push(Layer::Shades { grid: f.clone(), levels, class: 0 });
            layers.push(Layer::Levels { grid: f, levels: vec![0.0], line: Line::Edge });
        }
        Task::Regression | Task::Features => {
            layers.extend(contours(&grid(outputs.iter().step_by(k).copied().collect()), 10));
        }
    }
    let scatter = match &with.data.targets {
        mercer::data::Targets::Classes(labels) if task == Task::Classification => {
            // Classes are told by name: those of the data may stand in another order than the model's.
            names = model.classes();
            let place =
                |i: usize| names.iter().position(|n| n == labels.name_of(i)).unwrap_or(names.len()) as u32;
            Plane::scatter("", &points, &(0..points.len()).map(place).collect::<Vec<_>>(), &[])
        }
        _ if task == Task::Novelty => Plane::scatter("", &points, &vec![1; points.len()], &[]),
        _ => Plane::scatter("", &points, &[], &[]),
    };
    layers.extend(scatter.layers);
    let circled = with.circled.iter().filter_map(|&i| points.get(i as usize).copied()).collect();
    layers.push(Layer::Circles { at: circled });
    Ok(Plane { names, ..Plane::new(with.title, x, y, layers) }.draw())
}

/// About so many contour lines with shades: one colour above 0, another below, where there is both.
fn contours(f: &Grid, about: usize) -> Vec<Layer> {
    let (low, high) = f.range();
    if low >= high {
        return Vec::new();
    }
    let levels: Vec<f64> = (1..=about).map(|i| low + (high - low) * i as f64 / (about + 1) as f64).collect();
    let (below, above): (Vec<f64>, Vec<f64>) = levels.iter().partition(|l| **l < 0.0);
    let minus = Layer::Shades { grid: f.map(|v| -v), levels: below.iter().map(|l| -l).collect(), class: 1 };
    let plus = Layer::Shades { grid: f.clone(), levels: above, class: 0 };
    vec![minus, plus, Layer::Levels { grid: f.clone(), levels, line: Line::Thin }]
}

#[cfg(test)]
mod tests {
    use super::super::well_formed;
    use super::*;
    use mercer::data::toy;
    use mercer::model::{OneClassParams, RidgeParams, Sample, SvcParams, SvrParams};
    use mercer::watch::silent;

    fn data(name: &str) -> Dataset {
        let (points, targets) = toy::by_name(name, 90, 1).expect("a toy set");
        Dataset::new(points, targets).expect("as many targets as points")
    }

    #[test]
    fn each_kind_of_model_has_its_picture() {
        let exec = Exec::one();
        let fit = |data: &Dataset| {
            let sample = Sample::new(&data.points, &data.targets);
            Model::from(SvcParams::default().fit(sample, exec, &mut silent()).expect("a fit"))
        };
        let banana = data("banana");
        let two = learned(&fit(&banana), Learned::training("two", &fit(&banana), &banana), exec)
            .expect("a picture");
        assert!(two.inline().contains("margin") && two.inline().contains("<circle"));
        let clusters = data("clusters");
        let three =
            learned(&fit(&clusters), Learned::fresh("three", &clusters), exec).expect("a picture").inline();
        assert!(three.contains("k2 fill") && !three.contains("margin") && !three.contains("<circle"));
        let ring = data("ring");
        let sample = Sample::new(&ring.points, &ring.targets);
        let novel = OneClassParams { nu: 0.1, ..OneClassParams::default() }.fit(sample, exec, &mut silent());
        let novel = Model::from(novel.expect("a fit"));
        let like =
            learned(&novel, Learned::training("like", &novel, &ring), exec).expect("a picture").inline();
        assert!(like.contains("shade") && like.contains("edge"));
        let sinc = data("sinc");
        let sample = Sample::new(&sinc.points, &sinc.targets);
        let svr = Model::from(SvrParams::default().fit(sample, exec, &mut silent()).expect("a fit"));
        let tube = learned(&svr, Learned::training("tube", &svr, &sinc), exec).expect("a picture").inline();
        assert!(tube.contains(">tube<") && tube.contains("support vectors"));
        for svg in [two.inline(), three, like, tube] {
            assert!(well_formed(&svg) && !svg.contains("NaN"));
        }
        assert!(learned(&svr, Learned::fresh("no", &banana), exec).is_err());
    }

    #[test]
    fn a_function_of_the_plane_has_contours() {
        let (points, _) = toy::banana(40, 2);
        let values = points.view().to_f64().expect("numbers");
        let targets = mercer::data::Targets::Reals(values.chunks(2).map(|p| p[0] * p[1]).collect());
        let sample = Sample::new(&points, &targets);
        let ridge = RidgeParams::default().fit(sample, Exec::one(), &mut silent()).expect("a fit");
        let model = Model::from(ridge);
        let data = Dataset::new(points.clone(), targets.clone()).expect("a target a point");
        let svg = learned(&model, Learned::fresh("f", &data), Exec::one()).expect("a picture").inline();
        assert!(svg.contains("thin") && svg.contains("k1 shade"));
    }
}
