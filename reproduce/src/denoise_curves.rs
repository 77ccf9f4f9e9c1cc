//! A half circle and a square in the plane, cleaned of noise (Schoelkopf et al. 1999, Fig. 7).
//!
//! Points drawn along a curve with noise are brought back from four kernel components, from one linear component, and by
//! a principal curve (Hastie and Stuetzle 1989): a polygon through local means of the points that project onto it, with a
//! span that shrinks. The paper shows pictures; here the number is the root mean square distance from the curve as a multiple
//! of the noise, with the setting of each method that is best on the training points themselves, as the paper chose.

use mercer::Result;
use mercer::data::Points;
use mercer::kernel::Kernel;
use mercer_report::html::Figure;
use mercer_report::svg::{Layer, Plane};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Experiment;
use crate::components::{normal, plain};
use crate::lab::Lab;
use crate::outcome::{Better, Row};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "denoise-curves",
    shows: "Four kernel components follow a half circle and a closed square; one linear component cannot",
    paper: "Schoelkopf et al. 1999, Fig. 7",
    notes: &[
        "The paper shows figures without numbers: here, the root-mean-square distance from the curve itself, as a \
         multiple of the noise.",
        "Widths and spans are the best of several on the same points, as in the paper.",
    ],
    needs: &[],
    needs_full: &[],
    seconds: 3,
    full: None,
    run,
};

const ROWS: usize = 300;
const NOISE: f64 = 0.06;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (c, (name, corners)) in [("half circle", arc()), ("square", square())].into_iter().enumerate() {
        lab.step(name, c, 2)?;
        let points = about(&corners)?;
        let raw = points.view().to_f64()?;
        let mut add = |setting: &str, points: &[f64]| {
            rows.push(plain(
                name,
                setting,
                "distance",
                None,
                distance(points, &corners) / NOISE,
                Better::Lower,
            ));
        };
        add("as they are", &raw);
        let linear = lab.components(Kernel::Linear, &points, 1, true)?;
        let linear = lab.restored(&linear, &points, 1)?;
        add("linear, 1 component", &linear);
        let mut best: Option<Vec<f64>> = None;
        for width in [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2] {
            let model = lab.components(Kernel::Rbf { gamma: 1.0 / width }, &points, 4, true)?;
            let back = lab.restored(&model, &points, 4)?;
            if best.as_ref().is_none_or(|b| distance(&back, &corners) < distance(b, &corners)) {
                best = Some(back);
            }
        }
        let kernel = best.expect("widths were tried");
        add("kernel, 4 components", &kernel);
        let mut best: Option<Vec<f64>> = None;
        for span in [0.05, 0.1, 0.2, 0.3] {
            let back = principal_curve(&raw, span, name == "square");
            if best.as_ref().is_none_or(|b| distance(&back, &corners) < distance(b, &corners)) {
                best = Some(back);
            }
        }
        let curve = best.expect("spans were tried");
        add("principal curve", &curve);
        for (words, found) in
            [("linear, 1 component", &linear), ("kernel, 4 components", &kernel), ("principal curve", &curve)]
        {
            draw(lab, &format!("{name}, {words}"), &raw, found);
        }
    }
    Ok(rows)
}

/// The points, and where they were brought.
fn draw(lab: &mut Lab<'_>, title: &str, points: &[f64], found: &[f64]) {
    let pairs = |v: &[f64]| v.chunks(2).map(|p| (p[0], p[1])).collect::<Vec<_>>();
    let (before, after) = (pairs(points), pairs(found));
    let (x, y) = (Plane::range(before.iter().map(|p| p.0)), Plane::range(before.iter().map(|p| p.1)));
    let layers = vec![Layer::Points { at: before, class: 1 }, Layer::Points { at: after, class: 0 }];
    let names = vec!["where they are brought".into(), "points".into()];
    let plane = Plane { names, ..Plane::new(title, x, y, layers) };
    lab.draw(Figure::svg(plane.draw(), format!("{title}.")));
}

/// Corners of a polygon, as pairs.
type Polygon = Vec<[f64; 2]>;

fn arc() -> Polygon {
    (0..=60).map(|i| std::f64::consts::PI * f64::from(i) / 60.0).map(|a| [a.cos(), a.sin()]).collect()
}

fn square() -> Polygon {
    vec![[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8], [-0.8, -0.8]]
}

/// Points along a polygon, with noise.
fn about(corners: &Polygon) -> Result<Points> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let lengths: Vec<f64> =
        corners.windows(2).map(|s| (s[1][0] - s[0][0]).hypot(s[1][1] - s[0][1])).collect();
    let total: f64 = lengths.iter().sum();
    let mut values = Vec::new();
    for _ in 0..ROWS {
        let mut along = total * rng.random::<f64>();
        let side = lengths
            .iter()
            .position(|l| {
                along -= l;
                along < 0.0
            })
            .unwrap_or(lengths.len() - 1);
        let t = ((along + lengths[side]) / lengths[side]).clamp(0.0, 1.0);
        let at = |c: usize| corners[side][c] + t * (corners[side + 1][c] - corners[side][c]);
        values.extend([at(0) + NOISE * normal(&mut rng), at(1) + NOISE * normal(&mut rng)]);
    }
    Points::dense(values, 2)
}

/// The place along a polygon that is nearest to a point, and the distance.
fn nearest(corners: &[[f64; 2]], p: [f64; 2]) -> (f64, [f64; 2], f64) {
    let mut best = (0.0, corners[0], f64::INFINITY);
    let mut before = 0.0;
    for s in corners.windows(2) {
        let (dx, dy) = (s[1][0] - s[0][0], s[1][1] - s[0][1]);
        let length2 = dx * dx + dy * dy;
        let t = if length2 > 0.0 {
            (((p[0] - s[0][0]) * dx + (p[1] - s[0][1]) * dy) / length2).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let at = [s[0][0] + t * dx, s[0][1] + t * dy];
        let off = (p[0] - at[0]).hypot(p[1] - at[1]);
        if off < best.2 {
            best = (before + t * length2.sqrt(), at, off);
        }
        before += length2.sqrt();
    }
    best
}

/// Root mean square distance of points from a polygon.
fn distance(points: &[f64], corners: &Polygon) -> f64 {
    let sum: f64 = points.chunks(2).map(|p| nearest(corners, [p[0], p[1]]).2.powi(2)).sum();
    (sum / (points.len() / 2) as f64).sqrt()
}

/// The points on a principal curve through them. A closed one begins as a circle, an open one along the points' longest
/// direction.
fn principal_curve(points: &[f64], span: f64, closed: bool) -> Vec<f64> {
    let n = points.len() / 2;
    let mean = |c: usize| points.iter().skip(c).step_by(2).sum::<f64>() / n as f64;
    let (mx, my) = (mean(0), mean(1));
    let about = |p: &[f64]| (p[0] - mx, p[1] - my);
    let sum = |f: &dyn Fn(f64, f64) -> f64| points.chunks(2).map(|p| f(about(p).0, about(p).1)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    let turn = 0.5 * (2.0 * xy).atan2(xx - yy);
    let mut place: Vec<f64> = points
        .chunks(2)
        .map(|p| {
            let (x, y) = about(p);
            if closed { y.atan2(x) } else { x * turn.cos() + y * turn.sin() }
        })
        .collect();
    let mut curve: Vec<[f64; 2]> = Vec::new();
    for round in 0..20 {
        // The span is annealed: wide first, as asked at the end.
        let span = span * (1.0 + 2.0 * (1.0 - f64::from(round) / 20.0).powi(2));
        let reach = ((span * n as f64 / 2.0) as usize).max(2);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| place[a].total_cmp(&place[b]));
        let local = |i: usize| -> [f64; 2] {
            let at = |k: isize| order[k.rem_euclid(n as isize) as usize];
            let (i, reach) = (i as isize, reach as isize);
            let (from, to) = if closed {
                (i - reach, i + reach)
            } else {
                ((i - reach).max(0), (i + reach).min(n as isize - 1))
            };
            let (mut x, mut y, mut w) = (0.0, 0.0, 0.0);
            for k in from..=to {
                let weight = 1.0 - ((k - i) as f64 / (reach + 1) as f64).abs();
                let p = at(k);
                (x, y, w) = (x + weight * points[2 * p], y + weight * points[2 * p + 1], w + weight);
            }
            [x / w, y / w]
        };
        curve = (0..n).map(local).collect();
        if closed {
            curve.push(curve[0]);
        }
        place = points.chunks(2).map(|p| nearest(&curve, [p[0], p[1]]).0).collect();
    }
    points.chunks(2).flat_map(|p| nearest(&curve, [p[0], p[1]]).1).collect()
}
