//! Stages, image transformations, splits and toy sets: what every one of them must keep to, and each against slow
//! obvious code.

mod contract;
mod filter;
mod fourier;
mod parts;
mod scale;
mod split;
mod tables;
mod toy;
mod transform;

use mercer::data::{Csr, ImageShape, Points, Stage};
use mercer::{Exec, Result};
use mercer_testkit::toy as kit;

/// n images of noise in [0, 1) with most pixels zero, two channels where asked.
fn images(n: usize, shape: ImageShape, seed: u64) -> Points {
    let values = kit::uniforms(n, shape.len(), -1.5, 1.0, seed).into_iter().map(|v| v.max(0.0)).collect();
    Points::dense(values, shape.len())
        .and_then(|p| p.with_image(shape))
        .expect("as many values as the shape says")
}

/// One image from rows of pixels.
fn image(rows: &[&[f64]]) -> Points {
    let shape = ImageShape::grey(rows.len(), rows[0].len());
    Points::dense(rows.concat(), shape.len()).and_then(|p| p.with_image(shape)).expect("rows of one length")
}

fn values(points: &Points) -> Vec<f64> {
    points.view().to_f64().expect("rows of numbers")
}

fn fit(line: &str, points: &Points) -> Stage {
    line.parse::<mercer::data::Recipe>().and_then(|r| r.fit(points.view(), mercer::Exec::one())).expect(line)
}

fn run(line: &str, points: &Points) -> Result<Vec<f64>> {
    Ok(values(&fit(line, points).apply(points.view(), Exec::one())?))
}

/// The same numbers as f32 points.
fn narrow(points: &Points) -> Points {
    let narrow = values(points).into_iter().map(|v| v as f32).collect();
    with_shape_of(Points::dense_f32(narrow, points.dim()), points)
}

/// The same numbers as sparse points.
fn sparse(points: &Points) -> Points {
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in values(points).chunks(points.dim()) {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(j as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    with_shape_of(Points::sparse(csr, points.dim()), points)
}

fn with_shape_of(points: Result<Points>, like: &Points) -> Points {
    let points = points.expect("the same sizes");
    match like.view().image {
        Some(shape) => points.with_image(shape).expect("the same sizes"),
        None => points,
    }
}
