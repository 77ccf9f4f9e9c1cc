//! Transformations of images.

use mercer::Exec;
use mercer::data::image::{Axis, Transform, apply_all, background};
use mercer::data::{ImageShape, Points, Transformation, Transformations, View};
use mercer_testkit::assert::{all_close, close};

use crate::{image, images, narrow, sparse, values};

fn apply(line: &str, points: &Points, ground: f64) -> Vec<f64> {
    let transform: Transform = line.parse().expect(line);
    values(&transform.apply(points.view(), ground, Exec::one()).expect(line))
}

/// Images with a frame of zeros `edge` pixels wide.
fn framed(n: usize, shape: ImageShape, edge: usize, seed: u64) -> Points {
    let mut x = values(&images(n, shape, seed));
    for (p, v) in x.iter_mut().enumerate() {
        let pixel = p % shape.len() / shape.channels;
        let (i, j) = (pixel / shape.width, pixel % shape.width);
        let inside = |at: usize, len: usize| at >= edge && at + edge < len;
        if !inside(i, shape.height) || !inside(j, shape.width) {
            *v = 0.0;
        }
    }
    Points::dense(x, shape.len()).and_then(|p| p.with_image(shape)).expect("as many values")
}

const SHAPES: [ImageShape; 2] =
    [ImageShape { height: 12, width: 9, channels: 1 }, ImageShape { height: 10, width: 11, channels: 2 }];

#[test]
fn nothing_is_exactly_nothing() {
    for shape in SHAPES {
        let points = images(3, shape, 1);
        for line in [
            "shift(0, 0)",
            "rotate(0)",
            "rotate(360)",
            "scale(1)",
            "thickness(0)",
            "affine(1, 0, 0, 1)",
            "elastic(0)",
        ] {
            assert_eq!(apply(line, &points, 5.0), values(&points), "{line}");
        }
    }
}

#[test]
fn there_and_back() {
    for shape in SHAPES {
        let points = framed(4, shape, 3, 2);
        for pair in [
            ["shift(2, 0)", "shift(-2, 0)"],
            ["shift(-1, 3)", "shift(1, -3)"],
            ["mirror", "mirror"],
            ["mirror(vertical)", "mirror(vertical)"],
            ["rotate(180)", "rotate(-180)"],
        ] {
            let mut now = points.clone();
            for line in pair {
                now = line.parse::<Transform>().expect(line).apply(now.view(), 0.0, Exec::one()).expect(line);
            }
            assert_eq!(now, points, "{pair:?}");
        }
    }
    let square = images(2, ImageShape { height: 7, width: 7, channels: 2 }, 3);
    for turn in ["rotate(90)", "rotate(-90)"] {
        let mut now = square.clone();
        for _ in 0..4 {
            now = turn.parse::<Transform>().expect(turn).apply(now.view(), 0.0, Exec::one()).expect(turn);
        }
        assert_eq!(now, square);
    }
}

#[test]
fn directions_are_as_told() {
    let x = image(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]]);
    assert_eq!(apply("shift(1, 0)", &x, 0.0), [0.0, 1.0, 2.0, 0.0, 4.0, 5.0, 0.0, 7.0, 8.0]);
    assert_eq!(apply("shift(0, -1)", &x, -1.0), [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, -1.0, -1.0, -1.0]);
    assert_eq!(apply("rotate(90)", &x, 0.0), [3.0, 6.0, 9.0, 2.0, 5.0, 8.0, 1.0, 4.0, 7.0]);
    assert_eq!(apply("mirror", &x, 0.0), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0, 9.0, 8.0, 7.0]);
    assert_eq!(apply("mirror(vertical)", &x, 0.0), [7.0, 8.0, 9.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    let half = image(&[&[0.0, 4.0, 8.0]]);
    assert_eq!(apply("shift(0.25, 0)", &half, 0.0), [0.0, 3.0, 7.0]);
    // Twice as large: from the centre half a pixel a pixel.
    assert_eq!(apply("scale(2)", &half, 0.0), [2.0, 4.0, 6.0]);
}

/// The definition: for each pixel where it comes from, and a weighted sum over all pixels.
fn slow(x: &[f64], s: ImageShape, ground: f64, source: impl Fn(f64, f64) -> (f64, f64)) -> Vec<f64> {
    let (cx, cy) = ((s.width as f64 - 1.0) / 2.0, (s.height as f64 - 1.0) / 2.0);
    let mut out = Vec::new();
    for p in 0..s.height * s.width {
        let (sx, sy) = source((p % s.width) as f64 - cx, (p / s.width) as f64 - cy);
        for c in 0..s.channels {
            let (mut sum, mut weight) = (0.0, 0.0);
            for q in 0..s.height * s.width {
                let hat = |a: f64, b: f64| (1.0 - (a - b).abs()).max(0.0);
                let w = hat(sx + cx, (q % s.width) as f64) * hat(sy + cy, (q / s.width) as f64);
                sum += w * x[q * s.channels + c];
                weight += w;
            }
            out.push(sum + (1.0 - weight) * ground);
        }
    }
    out
}

#[test]
fn warps_are_their_definition() {
    for shape in SHAPES {
        let points = images(1, shape, 4);
        let x = values(&points);
        let (sin, cos) = 17.0f64.to_radians().sin_cos();
        let turned = slow(&x, shape, -0.5, |x, y| (x * cos - y * sin, x * sin + y * cos));
        all_close(&apply("rotate(17)", &points, -0.5), &turned, 1e-12);
        let moved = slow(&x, shape, 2.0, |x, y| (x - 0.3, y + 1.6));
        all_close(&apply("shift(0.3, -1.6)", &points, 2.0), &moved, 1e-12);
        let smaller = slow(&x, shape, 1.0, |x, y| (x / 0.7, y / 0.7));
        all_close(&apply("scale(0.7)", &points, 1.0), &smaller, 1e-12);
    }
}

#[test]
fn mass_stays_where_nothing_leaves() {
    let shape = ImageShape::grey(16, 16);
    let points = framed(5, shape, 5, 5);
    let mass = |x: &[f64]| x.chunks(shape.len()).map(|i| i.iter().sum::<f64>()).collect::<Vec<f64>>();
    let want = mass(&values(&points));
    for line in ["shift(1.5, -0.75)", "shift(3, 3)", "mirror", "rotate(90)"] {
        all_close(&mass(&apply(line, &points, 0.0)), &want, 1e-12);
    }
    // A turn resamples: a smooth blob keeps its mass to the accuracy of linear interpolation.
    let bell =
        |p: usize| (-0.125 * (((p % 16) as f64 - 8.0).powi(2) + ((p / 16) as f64 - 7.0).powi(2))).exp();
    let blob =
        Points::dense((0..256).map(bell).collect(), 256).and_then(|p| p.with_image(shape)).expect("16 x 16");
    close(apply("rotate(10)", &blob, 0.0).iter().sum(), values(&blob).iter().sum(), 1e-2);
}

#[test]
fn thickness_is_dilation_by_a_disc() {
    // A ramp rises by the radius; beyond the frame there is nothing to come in.
    let ramp: Vec<f64> = (0..9 * 9).map(|p| 0.1 * (p % 9) as f64).collect();
    let ramp = Points::dense(ramp, 81).and_then(|p| p.with_image(ImageShape::grey(9, 9))).expect("9 x 9");
    let out = apply("thickness(0.7)", &ramp, 0.0);
    all_close(&out[..6], &[0.07, 0.17, 0.27, 0.37, 0.47, 0.57], 1e-12);
    close(out[8], 0.8, 1e-12);

    for shape in SHAPES {
        let points = images(3, shape, 6);
        let x = values(&points);
        let (thick, thin) = (apply("thickness(0.5)", &points, 0.0), apply("thickness(-0.5)", &points, 0.0));
        assert!(thick.iter().zip(&x).all(|(a, b)| a >= b) && thick != x);
        assert!(thin.iter().zip(&x).all(|(a, b)| a <= b) && thin != x);
        // No value passes the largest of a pixel's neighbours: one step of half a pixel reaches one pixel.
        let stride = shape.width * shape.channels;
        for (p, &v) in thick.iter().enumerate() {
            let (image, at) = (p / shape.len(), p % shape.len());
            let (i, j) = (at / stride, at % stride / shape.channels);
            let near = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)].iter().filter_map(|&(di, dj)| {
                let (i, j) = (i.checked_add_signed(di)?, j.checked_add_signed(dj)?);
                (i < shape.height && j < shape.width)
                    .then(|| x[image * shape.len() + i * stride + j * shape.channels + at % shape.channels])
            });
            assert!(v <= near.fold(f64::NEG_INFINITY, f64::max) + 1e-15);
        }
        // Dark ink on white is the negative of white ink on black.
        let negative = Points::dense(x.iter().map(|v| 1.0 - v).collect(), shape.len());
        let negative = negative.and_then(|p| p.with_image(shape)).expect("as many values");
        let want: Vec<f64> = thick.iter().map(|v| 1.0 - v).collect();
        all_close(&apply("thickness(0.5)", &negative, 1.0), &want, 1e-12);
    }
}

#[test]
fn kinds_threads_and_slices() {
    let set = Transform::parse_set(
        "shift=1, rotate=10, scale=1.1, mirror=both, thickness, shear, elastic=1, deskew",
    )
    .expect("a set");
    for shape in SHAPES {
        let points = images(7, shape, 7);
        for transform in &set {
            let go = |p: &Points, exec| transform.apply(p.view(), 0.0, exec).expect("images");
            let want = go(&points, Exec::one());
            assert_eq!(go(&points, Exec::new(3)), want);
            assert_eq!(want.view().image, Some(shape));
            let thin = go(&sparse(&points), Exec::new(3));
            assert_eq!((thin.kind(), values(&thin)), ("sparse", values(&want)));
            let small = go(&narrow(&points), Exec::new(3));
            assert_eq!(small.kind(), "dense f32");
            all_close(&values(&small), &values(&want), 1e-6);
            let part = transform.apply(points.view().slice(2..4), 0.0, Exec::one()).expect("images");
            assert_eq!(part, want.gather(&[2, 3]));
        }
        let all = apply_all(&set, points.view(), 0.0, Exec::new(2)).expect("images");
        assert_eq!(all.len(), set.len() * 7);
        for (t, transform) in set.iter().enumerate() {
            let rows: Vec<usize> = (t * 7..(t + 1) * 7).collect();
            assert_eq!(all.gather(&rows), transform.apply(points.view(), 0.0, Exec::one()).expect("images"));
        }
        assert_eq!(apply_all(&[], points.view(), 0.0, Exec::one()).expect("nothing to do").len(), 0);
    }
}

#[test]
fn sets_are_read() {
    let set = |line: &str| Transform::parse_set(line).expect(line);
    let shift = |dx, dy| Transform::Shift { dx, dy };
    assert_eq!(set("shift=1"), [shift(1.0, 0.0), shift(-1.0, 0.0), shift(0.0, 1.0), shift(0.0, -1.0)]);
    assert_eq!(set("rotate=10"), [Transform::Rotate { degrees: 10.0 }, Transform::Rotate { degrees: -10.0 }]);
    assert_eq!(set("mirror"), [Transform::Mirror { axis: Axis::Horizontal }]);
    assert_eq!(set("jitter=1").len(), 8);
    assert_eq!(set(" shift(1, 0) ,shift=1 , deskew ").len(), 6);
    for entry in Transform::ALL {
        assert!(!set(entry.set).is_empty());
        for transform in set(entry.set) {
            assert_eq!(transform.to_string().parse::<Transform>().expect("its own print"), transform);
            let json = serde_json::to_string(&transform).expect("a line");
            assert_eq!(serde_json::from_str::<Transform>(&json).expect("its own JSON"), transform);
        }
    }
    for (line, part) in [
        ("shfit=1", "transformation = `shfit`: must be one of shift, jitter"),
        ("", "must be one of"),
        ("mirror=", "mirror = "),
        ("affine", "affine = nothing: must be written like affine(1, 0.1, 0, 1)"),
        ("affine(1, 1, 1, 1)", "affine determinant = 0: must be a number of size 0.0001 to 10000"),
        ("elastic=0", "elastic = 0: must be a whole number from 1 to 1000"),
        ("elastic(seed=-1)", "elastic seed = -1"),
        ("elastic(1, 0)", "elastic sigma = 0"),
        ("shift=x", "shift = x"),
        ("shift=1,", "must be one of"),
        ("jitter=1.5", "jitter = 1.5: must be a whole number from 1 to 10"),
        ("jitter(1)", "written as a set, jitter=1"),
        ("scale=0", "scale factor = 0: must be a number from 0.01 to 100"),
        ("thickness=99", "thickness pixels = 99"),
        ("mirror=up", "mirror = up"),
        ("deskew=1", "deskew = 1"),
        ("shift(1", "written as name"),
        ("mirror(up)", "mirror axis = up: must be horizontal or vertical"),
    ] {
        let message = Transform::parse_set(line).expect_err(line).to_string();
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn the_background_is_the_smallest_value() {
    let points = image(&[&[-0.5, 1.0], &[0.25, 0.5]]);
    assert_eq!(background(points.view()).expect("numbers"), -0.5);
    let positive = image(&[&[0.5, 1.0], &[0.25, 0.5]]);
    assert_eq!(background(positive.view()).expect("numbers"), 0.25);
    let holed = sparse(&image(&[&[0.5, 1.0], &[0.0, 0.5]]));
    assert_eq!(background(holed.view()).expect("numbers"), 0.0);
    assert!(background(points.view().slice(0..0)).is_err());
    let plain = Points::dense(vec![0.0; 4], 2).expect("two rows");
    assert!(Transform::Deskew.apply(plain.view(), 0.0, Exec::one()).is_err());
    assert!(Transform::Deskew.apply(points.view(), f64::NAN, Exec::one()).is_err());
    assert!(Transform::Shift { dx: f64::NAN, dy: 0.0 }.apply(points.view(), 0.0, Exec::one()).is_err());
}

#[test]
fn affine_maps_are_what_they_are_made_of() {
    for shape in SHAPES {
        let points = framed(3, shape, 2, 8);
        all_close(
            &apply("affine(1, 0, 0, 1, 2, -1)", &points, 0.5),
            &apply("shift(2, -1)", &points, 0.5),
            1e-12,
        );
        all_close(&apply("affine(1.2, 0, 0, 1.2)", &points, 0.5), &apply("scale(1.2)", &points, 0.5), 1e-12);
        all_close(&apply("affine(-1)", &points, 0.5), &apply("mirror", &points, 0.5), 1e-12);
        // Counter-clockwise as seen, y downwards.
        let (s, c) = 20f64.to_radians().sin_cos();
        let turn = format!("affine({c}, {s}, {}, {c})", -s);
        all_close(&apply(&turn, &points, 0.5), &apply("rotate(20)", &points, 0.5), 1e-12);
        let mut slanted = Transform::parse_set("shear=0.3").expect("a set");
        let right = slanted.remove(0).apply(points.view(), 0.0, Exec::one()).expect("images");
        assert_ne!(values(&right), values(&points));
    }
    // Upwards is to the right under the first of a shear.
    let stroke = image(&[&[0.0, 1.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 1.0, 0.0]]);
    let right = Transform::parse_set("shear=1").expect("a set")[0];
    let right = values(&right.apply(stroke.view(), 0.0, Exec::one()).expect("images"));
    assert_eq!(right, [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn elastic_fields_are_their_seeds() {
    let shape = ImageShape::grey(20, 20);
    let points = framed(2, shape, 5, 9);
    let run = |line: &str| apply(line, &points, 0.0);
    assert_eq!(run("elastic(1, 4, 7)"), run("elastic(1, 4, 7)"));
    assert_ne!(run("elastic(1, 4, 7)"), run("elastic(1, 4, 8)"));
    // Half the way, nearly half the change; and the mass is nearly kept, for nothing leaves the frame.
    let change = |line: &str| run(line).iter().zip(values(&points)).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let (little, more) = (change("elastic(0.01, 4, 7)"), change("elastic(0.02, 4, 7)"));
    assert!((more / little - 2.0).abs() < 0.02, "{little} {more}");
    let mass = |x: Vec<f64>| x.iter().sum::<f64>();
    let (before, after) = (mass(values(&points)), mass(run("elastic(0.5, 4, 7)")));
    assert!((after / before - 1.0).abs() < 0.1, "{before} {after}");
}

#[test]
fn combinations_run_from_left_to_right() {
    let points = framed(5, SHAPES[0], 2, 10);
    let set = Transformations::parse("shift=1*rotate=10, mirror").expect("a set");
    assert_eq!((set.len(), set.name(1)), (9, "shift(dx=1, dy=0) * rotate(degrees=-10)".to_owned()));
    let all = set.apply(points.view(), Exec::new(2)).expect("images");
    let first: Transform = "shift(1, 0)".parse().expect("one");
    let second: Transform = "rotate(-10)".parse().expect("one");
    let shifted = first.apply(points.view(), 0.0, Exec::one()).expect("images");
    let want = second.apply(shifted.view(), 0.0, Exec::one()).expect("images");
    assert_eq!(all.gather(&[5, 6, 7, 8, 9]), want);
    assert_eq!(set.apply_one(1, points.view(), Exec::one()).expect("images"), want);
    assert_eq!(set.apply(points.view().slice(0..0), Exec::one()).expect("nothing").len(), 0);
}

#[test]
fn sets_are_written_as_they_are_read() {
    let set = Transformations::parse(" shift=1 ,thickness,background=-1").expect("a set");
    assert_eq!((set.len(), set.background()), (6, Some(-1.0)));
    assert_eq!(set.to_string(), "shift=1, thickness, background=-1");
    assert_eq!(set, Transformations::parse("shift=1, thickness=0.5").expect("a set").with_background(-1.0));
    let json = serde_json::to_string(&set).expect("a line");
    assert_eq!(serde_json::from_str::<Transformations>(&json).expect("its own JSON"), set);
    let none = serde_json::to_string(&Transformations::default()).expect("a line");
    assert!(serde_json::from_str::<Transformations>(&none).expect("none").is_empty());
    for (line, part) in [
        ("", "must be one of"),
        ("shift=1*", "must be one of"),
        ("background=x", "background = x"),
        ("jitter=10*jitter=10*jitter=10", "at most 100000 transformations"),
    ] {
        let message = Transformations::parse(line).expect_err(line).to_string();
        assert!(message.contains(part), "{line}: {message}");
    }
    // What comes in is the smallest value, unless one is given.
    let dark = image(&[&[-1.0, 1.0], &[0.5, 0.5]]);
    let right = |line: &str| {
        let set = Transformations::parse(line).expect(line);
        values(&set.apply(dark.view(), Exec::one()).expect("images"))
    };
    assert_eq!(right("shift(1, 0)"), [-1.0, -1.0, -1.0, 0.5]);
    assert_eq!(right("shift(1, 0), background=0"), [0.0, -1.0, 0.0, 0.5]);
}

struct Reversed;

impl Transformation for Reversed {
    fn name(&self) -> &'static str {
        "reversed"
    }

    fn apply(&self, points: View<'_>, _par: Exec) -> mercer::Result<Points> {
        Ok(points.gather(&(0..points.n).rev().collect::<Vec<_>>()))
    }
}

struct Half;

impl Transformation for Half {
    fn name(&self) -> &'static str {
        "half"
    }

    fn apply(&self, points: View<'_>, _par: Exec) -> mercer::Result<Points> {
        Ok(points.gather(&(0..points.n / 2).collect::<Vec<_>>()))
    }
}

#[test]
fn functions_of_the_program_stand_beside_the_others() {
    let rows = Points::dense(vec![1.0, 2.0, 3.0, 4.0], 2).expect("two rows");
    let set = Transformations::default()
        .with(Reversed)
        .with_fn("twice", |row| row.iter_mut().for_each(|v| *v *= 2.0));
    assert_eq!(set.to_string(), "custom(reversed), custom(twice)");
    let want = [3.0, 4.0, 1.0, 2.0, 2.0, 4.0, 6.0, 8.0];
    for points in [rows.clone(), narrow(&rows), sparse(&rows)] {
        let out = set.apply(points.view(), Exec::one()).expect("rows");
        assert_eq!((out.kind(), values(&out)), (points.kind(), want.to_vec()));
    }
    assert!(serde_json::to_string(&set).is_err(), "code cannot be saved");
    assert!(set == set.clone() && set != Transformations::default().with(Reversed));
    let message = Transformations::default().with(Half).apply(rows.view(), Exec::one());
    let message = message.expect_err("one row of two").to_string();
    assert!(message.contains("half") && message.contains("1 rows of 2 columns"), "{message}");
    let images = Transformations::parse("shift=1").expect("a set").with(Reversed);
    assert!(images.apply(rows.view(), Exec::one()).is_err(), "rows that are no images");
}
