//! The map that makes a hyperplane invariant (Schoelkopf 1997, section 4.2.2).
//!
//! A plane `w.x + b` changes least under transformations L_t if w is short in the metric of the tangents
//! `t_j = d/dt L_t x_j`. Training on `B x` in place of x finds such a plane:
//!
//! ```text
//! C = (1/n) sum_j sum_L t_j t_j',    C_lambda = (1 - lambda) C + lambda 1,    B = C_lambda^(-1/2) = S D^(-1/2) S'
//! ```
//!
//! lambda = 1 changes nothing, lambda near 0 insists on invariance. Without the leading S, which no dot product and no
//! distance sees, rows of `D^(-1/2) S'` that belong to small eigenvalues of C can be dropped (eq. 4.14). Cost: two
//! transformations of all rows and n d^2 a group, then 9 d^3.

use super::linear::Linear;
use super::prelude::*;
use crate::data::image::{Transform, background};
use crate::data::stage::Stage;
use crate::data::transformations::Transformations;
use crate::num::product::Algebra;
use crate::num::{Mat, eigen};

/// Rows whose tangents are summed at a time.
const BATCH: usize = 2048;

impl Stage {
    /// The invariance of the transformations given, by forward differences `L x - x`: for points of any kind.
    ///
    /// `drop` of the directions in which points move least are left out.
    ///
    /// ```
    /// use mercer::Exec;
    /// use mercer::data::{Points, Stage, Transformations};
    ///
    /// // What is the same along the first axis should not be told apart by it.
    /// let set = Transformations::default().with_fn("along", |row| row[0] += 1.0);
    /// let points = Points::dense(vec![0.0, 0.0, 1.0, 1.0], 2)?;
    /// let stage = Stage::invariant(points.view(), &set, 0.25, 0, Exec::one())?;
    /// let out = stage.apply(points.view(), Exec::one())?.view().to_f64()?;
    /// assert!((out[2] - 1.0).abs() < 1e-12 && (out[3] - 2.0).abs() < 1e-12);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn invariant(
        points: View<'_>,
        set: &Transformations,
        lambda: f64,
        drop: usize,
        exec: Exec,
    ) -> Result<Self> {
        check(lambda, drop, points.d)?;
        let mut c = vec![0.0; points.d * points.d];
        for t in 0..set.len() {
            add_tangents(&mut c, points, exec, |part| {
                Ok((
                    set.apply_one(t, part, exec)?.view().to_f64_within(exec.memory())?,
                    part.to_f64_within(exec.memory())?,
                    1.0,
                ))
            })?;
        }
        let linear = from_covariance(c, points, lambda, drop, exec)?;
        Stage { at: Frame { d: points.d, image: points.image }, op: Op::Linear(linear) }.checked()
    }
}

impl Line for Linear {
    const ENTRY: Entry = Entry {
        name: "invariant",
        args: &[
            arg(
                "lambda",
                "0.4",
                "a number above 0 and at most 1",
                "strength: 1 has no effect, near 0 enforces invariance",
            ),
            arg("drop", "0", "a whole number", "directions omitted, those in which images move least"),
            arg("shift", "1", "pixels from 0 to 90", "finite-difference step for shifts; 0 ignores shifts"),
            arg("rotate", "0", "degrees from 0 to 90", "the same for rotations"),
            arg("thickness", "0", "pixels from 0 to 90", "the same for the width of strokes"),
        ],
        image: true,
        doc: "reduces the weight of directions in which small shifts move images: B = ((1 - lambda) C + lambda)^(-1/2)",
        example: "invariant(lambda=0.4)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let (lambda, drop) = (args.real("lambda")?, args.count("drop")?);
        args.need("lambda", lambda > 0.0 && lambda <= 1.0)?;
        let mut steps = [0.0; 3];
        for (step, key) in steps.iter_mut().zip(["shift", "rotate", "thickness"]) {
            *step = args.real(key)?;
            args.need(key, (0.0..=90.0).contains(step))?;
        }
        Ok(Asked::fit(move |on| of_groups(on.points, lambda, drop, steps, on.exec)))
    }
}

/// A step, and what it does to images.
type Group = (f64, fn(f64) -> Transform);

/// The same for one-parameter groups of images, by central differences of these steps; 0: not this group.
fn of_groups(
    points: View<'_>,
    lambda: f64,
    drop: usize,
    [shift, rotate, thickness]: [f64; 3],
    exec: Exec,
) -> Result<Linear> {
    check(lambda, drop, points.d)?;
    let ground = background(points)?;
    let groups: [Group; 4] = [
        (shift, |t| Transform::Shift { dx: t, dy: 0.0 }),
        (shift, |t| Transform::Shift { dx: 0.0, dy: t }),
        (rotate, |t| Transform::Rotate { degrees: t }),
        (thickness, |t| Transform::Thickness { pixels: t }),
    ];
    let mut c = vec![0.0; points.d * points.d];
    for (step, group) in groups.into_iter().filter(|(step, _)| *step != 0.0) {
        add_tangents(&mut c, points, exec, |part| {
            let moved = |t: f64| -> Result<Vec<f64>> {
                group(t).apply(part, ground, exec)?.view().to_f64_within(exec.memory())
            };
            // Angles count by the arc they make at the edge of the frame: a pixel is a pixel.
            let unit = match group(step) {
                Transform::Rotate { degrees } => {
                    let half = part.image.map_or(1.0, |s| 0.5 * s.height.max(s.width) as f64);
                    2.0 * degrees.to_radians() * half
                }
                _ => 2.0 * step,
            };
            Ok((moved(step)?, moved(-step)?, unit))
        })?;
    }
    from_covariance(c, points, lambda, drop, exec)
}

fn check(lambda: f64, drop: usize, d: usize) -> Result<()> {
    if !(lambda > 0.0 && lambda <= 1.0) {
        return Err(Error::param("lambda of the invariance", lambda, "a number above 0 and at most 1"));
    }
    if drop >= d {
        return Err(Error::param("drop", drop, format!("below {d}, the number of columns")));
    }
    Ok(())
}

/// `c += (1/n) sum_j t_j t_j'` with t the difference of two versions of the points over a step.
fn add_tangents(
    c: &mut [f64],
    points: View<'_>,
    exec: Exec,
    versions: impl Fn(View<'_>) -> Result<(Vec<f64>, Vec<f64>, f64)>,
) -> Result<()> {
    if matches!(points.data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. }) {
        return Err(Error::shape("points of an invariance", points.kind(), "rows of numbers"));
    }
    let (n, d) = (points.n, points.d);
    for at in (0..n).step_by(BATCH) {
        let part = points.slice(at..(at + BATCH).min(n));
        let (mut there, here, step) = versions(part)?;
        there.iter_mut().zip(&here).for_each(|(a, b)| *a = (*a - b) / step);
        let tangents = Mat::new(&there, part.n, d);
        f64::product_tn(c, d, true, 1.0 / n as f64, tangents, tangents, exec.threads());
    }
    Ok(())
}

/// B, or the rows of `D^(-1/2) S'` that stay.
fn from_covariance(c: Vec<f64>, points: View<'_>, lambda: f64, drop: usize, exec: Exec) -> Result<Linear> {
    let d = points.d;
    let (values, vectors) = eigen::all(c.into(), d, exec.threads())?;
    let kept = d - drop;
    let mut scaled = vectors[..kept * d].to_vec();
    for (row, value) in scaled.chunks_mut(d).zip(&values) {
        let size = ((1.0 - lambda) * value.max(0.0) + lambda).sqrt();
        row.iter_mut().for_each(|v| *v /= size);
    }
    let matrix = if drop == 0 {
        let mut b = vec![0.0; d * d];
        let (s, t) = (Mat::new(&vectors, d, d), Mat::new(&scaled, d, d));
        f64::product_tn(&mut b, d, false, 1.0, s, t, exec.threads());
        b
    } else {
        scaled
    };
    Ok(Linear { outputs: kept, invariance: points.image.map(|_| lambda), matrix, offset: vec![0.0; kept] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    fn of_groups(points: View<'_>, lambda: f64, drop: usize, steps: [f64; 3], exec: Exec) -> Result<Stage> {
        let linear = super::of_groups(points, lambda, drop, steps, exec)?;
        Stage { at: Frame { d: points.d, image: points.image }, op: Op::Linear(linear) }.checked()
    }

    fn images(n: usize) -> Points {
        let x = toy::normals(n, 36, 3);
        Points::dense(x, 36).expect("whole rows").with_image(ImageShape::grey(6, 6)).expect("6 x 6")
    }

    /// B C_lambda B = 1 and B is symmetric, with C by the definition.
    #[test]
    fn the_map_is_the_inverse_root_of_the_tangents() {
        let (points, lambda) = (images(20), 0.3);
        let stage = of_groups(points.view(), lambda, 0, [1.0, 0.0, 0.0], Exec::one()).expect("images");
        let ground = background(points.view()).expect("numbers");
        let mut c = vec![0.0; 36 * 36];
        for (dx, dy) in [(1.0, 0.0), (0.0, 1.0)] {
            let moved = |s: f64| {
                let shift = Transform::Shift { dx: s * dx, dy: s * dy };
                shift
                    .apply(points.view(), ground, Exec::one())
                    .expect("images")
                    .view()
                    .to_f64()
                    .expect("numbers")
            };
            let (plus, minus) = (moved(1.0), moved(-1.0));
            let t: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a - b) / 2.0).collect();
            for row in t.chunks(36) {
                (0..36 * 36).for_each(|p| c[p] += row[p / 36] * row[p % 36] / 20.0);
            }
        }
        (0..36 * 36).for_each(|p| c[p] = (1.0 - lambda) * c[p] + if p / 36 == p % 36 { lambda } else { 0.0 });
        let Op::Linear(Linear { matrix, .. }) = &stage.op else { panic!("a linear map") };
        let unit: Vec<f64> = (0..36 * 36).map(|p| f64::from(u8::from(p / 36 == p % 36))).collect();
        let back = reference::product(matrix, &reference::product(&c, matrix, 36, 36, 36), 36, 36, 36);
        assert::all_close(&back, &unit, 1e-10);
        let turned: Vec<f64> = (0..36 * 36).map(|p| matrix[p % 36 * 36 + p / 36]).collect();
        assert::all_close(&turned, matrix, 1e-12);
        assert_eq!(stage.apply(points.view(), Exec::one()).expect("images").image(), points.image());
    }

    /// Distances under the map without the leading S are those under B; dropped directions only shorten them.
    #[test]
    fn small_directions_can_be_dropped() {
        let points = images(20);
        let distance = |stage: &Stage| -> f64 {
            let x = stage.apply(points.view(), Exec::one()).expect("images");
            let (k, x) = (x.dim(), x.view().to_f64().expect("numbers"));
            (0..k).map(|j| (x[j] - x[k + j]).powi(2)).sum::<f64>()
        };
        let at = |drop| of_groups(points.view(), 0.4, drop, [1.0, 10.0, 0.0], Exec::one()).expect("images");
        let (whole, one, half) = (distance(&at(0)), distance(&at(1)), distance(&at(18)));
        assert!(whole > one && one > half && half > 0.0, "{whole} {one} {half}");
        assert_eq!(at(18).apply(points.view(), Exec::one()).expect("images").dim(), 18);
        assert!(of_groups(points.view(), 0.4, 36, [1.0, 0.0, 0.0], Exec::one()).is_err());
        assert!(of_groups(points.view(), 0.0, 0, [1.0, 0.0, 0.0], Exec::one()).is_err());
        // lambda = 1 changes nothing.
        let none = of_groups(points.view(), 1.0, 0, [1.0, 0.0, 0.0], Exec::one()).expect("images");
        let x = none.apply(points.view(), Exec::one()).expect("images").view().to_f64().expect("numbers");
        assert::all_close(&x, &points.view().to_f64().expect("numbers"), 1e-12);
    }
}
