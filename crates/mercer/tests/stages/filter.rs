//! Image stages against slow obvious code.

use mercer::Exec;
use mercer::data::{ImageShape, Points};
use mercer_testkit::assert::{all_close, close};
use mercer_testkit::toy as kit;

use crate::{fit, image, images, run, values};

/// The pixel at row i, column j, the nearest one where that is beyond the frame.
fn at(x: &[f64], s: ImageShape, i: i64, j: i64, c: usize) -> f64 {
    let inside = |v: i64, len: usize| v.clamp(0, len as i64 - 1) as usize;
    x[(inside(i, s.height) * s.width + inside(j, s.width)) * s.channels + c]
}

/// Every pixel of every channel of every image through a function of its place.
fn by_pixel(points: &Points, s: ImageShape, f: impl Fn(&[f64], i64, i64, usize) -> f64) -> Vec<f64> {
    let mut out = Vec::new();
    for x in values(points).chunks(points.dim()) {
        for i in 0..s.height as i64 {
            for j in 0..s.width as i64 {
                out.extend((0..s.channels).map(|c| f(x, i, j, c)));
            }
        }
    }
    out
}

#[test]
fn smoothing_is_the_two_dimensional_sum() {
    for (shape, sigma) in [
        (ImageShape::grey(16, 16), 0.75f64),
        (ImageShape { height: 5, width: 3, channels: 2 }, 1.3),
        (ImageShape::grey(1, 4), 2.0),
    ] {
        let points = images(4, shape, 1);
        let reach = (4.0 * sigma).ceil() as i64;
        let bell = |a: i64, b: i64| (-((a * a + b * b) as f64) / (2.0 * sigma * sigma)).exp();
        let window = || (-reach..=reach).flat_map(|a| (-reach..=reach).map(move |b| (a, b)));
        let total: f64 = window().map(|(a, b)| bell(a, b)).sum();
        let want = by_pixel(&points, shape, |x, i, j, c| {
            window().map(|(a, b)| bell(a, b) / total * at(x, shape, i + a, j + b, c)).sum()
        });
        all_close(&run(&format!("smooth({sigma})"), &points).expect("images"), &want, 1e-13);
    }
    let points = images(2, ImageShape::grey(6, 6), 2);
    assert_eq!(run("smooth(0)", &points).expect("images"), values(&points));
}

#[test]
fn a_flat_image_stays_flat_under_smoothing() {
    let flat =
        Points::dense(vec![-1.0; 64], 64).and_then(|p| p.with_image(ImageShape::grey(8, 8))).expect("8 x 8");
    all_close(&run("smooth(0.75)", &flat).expect("images"), &[-1.0; 64], 1e-14);
}

#[test]
fn downsampling_is_the_mean_over_the_area() {
    for (shape, (h, w)) in [
        (ImageShape::grey(12, 8), (4, 2)),
        (ImageShape::grey(7, 5), (3, 4)),
        (ImageShape { height: 5, width: 9, channels: 2 }, (5, 2)),
    ] {
        let points = images(3, shape, 4);
        let small = ImageShape { height: h, width: w, ..shape };
        // Each pixel cut into h x w equal ones, of which the new pixels hold whole numbers.
        let want = by_pixel(&points, small, |x, i, j, c| {
            let mut sum = 0.0;
            for a in 0..shape.height {
                for b in 0..shape.width {
                    let fine = (i as usize * shape.height + a, j as usize * shape.width + b);
                    sum += at(x, shape, (fine.0 / h) as i64, (fine.1 / w) as i64, c);
                }
            }
            sum / (shape.height * shape.width) as f64
        });
        all_close(&run(&format!("downsample({h}, {w})"), &points).expect("images"), &want, 1e-13);
    }
    let points = images(2, ImageShape::grey(6, 5), 2);
    all_close(&run("downsample(6, 5)", &points).expect("images"), &values(&points), 1e-15);
    assert!(
        "downsample(7, 5)"
            .parse::<mercer::data::Recipe>()
            .expect("a line")
            .fit(points.view(), mercer::Exec::one())
            .is_err()
    );
}

#[test]
fn edges_are_absolute_slopes_in_four_directions() {
    for shape in [ImageShape::grey(6, 5), ImageShape { height: 4, width: 7, channels: 2 }] {
        let points = images(3, shape, 6);
        let slope = |x: &[f64], i: i64, j: i64, c: usize, (dx, dy): (i64, i64)| {
            let length = ((dx * dx + dy * dy) as f64).sqrt();
            (at(x, shape, i + dy, j + dx, c) - at(x, shape, i - dy, j - dx, c)).abs() / (2.0 * length)
        };
        for keep in [true, false] {
            let wide = ImageShape { channels: shape.channels * (4 + usize::from(keep)), ..shape };
            let want = by_pixel(&points, wide, |x, i, j, c| {
                let (c, map) = (c / (4 + usize::from(keep)), c % (4 + usize::from(keep)));
                match map + usize::from(!keep) {
                    0 => at(x, shape, i, j, c),
                    map => slope(x, i, j, c, [(1, 0), (0, 1), (1, 1), (1, -1)][map - 1]),
                }
            });
            all_close(&run(&format!("edges({keep})"), &points).expect("images"), &want, 1e-14);
        }
    }
    // A ramp to the right has slope 1 across, 0 down and 1/sqrt 2 along both diagonals.
    let ramp = image(&[&[0.0, 1.0, 2.0], &[0.0, 1.0, 2.0], &[0.0, 1.0, 2.0]]);
    let middle = &run("edges(false)", &ramp).expect("images")[16..20];
    all_close(middle, &[1.0, 0.0, 0.5f64.sqrt(), 0.5f64.sqrt()], 1e-15);
}

#[test]
fn silhouettes_tell_figure_from_ground() {
    let white = image(&[&[1.0, 0.9, 0.2], &[0.0, 0.4, 1.0]]);
    assert_eq!(run("silhouette(0.5, background=1)", &white).expect("images"), [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
    let black = image(&[&[-1.0, 1.0, -0.5], &[0.2, -0.1, 0.0]]);
    assert_eq!(run("silhouette", &black).expect("images"), [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
}

/// Mass, centre in x and y, and covariances, from grey values above a background.
fn moments(x: &[f64], s: ImageShape, background: f64) -> [f64; 5] {
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        (0..x.len()).map(|p| (x[p] - background).abs() * f((p % s.width) as f64, (p / s.width) as f64)).sum()
    };
    let mass = sum(&|_, _| 1.0);
    let (cx, cy) = (sum(&|x, _| x) / mass, sum(&|_, y| y) / mass);
    [mass, cx, cy, sum(&|x, y| (x - cx) * (y - cy)) / mass, sum(&|_, y| (y - cy).powi(2)) / mass]
}

#[test]
fn centring_brings_the_mass_within_half_a_pixel() {
    let shape = ImageShape::grey(12, 9);
    for seed in 0..20 {
        // A blob in a corner, on background -1.
        let blob = kit::uniforms(1, 12, 0.0, 2.0, seed);
        let mut x = vec![-1.0; shape.len()];
        for (p, v) in blob.iter().enumerate() {
            x[(p / 3 + (seed as usize % 4)) * 9 + p % 3 + (seed as usize % 5)] += v;
        }
        let points = Points::dense(x.clone(), shape.len()).and_then(|p| p.with_image(shape)).expect("12 x 9");
        let stage = fit("centre-mass", &points);
        let once = stage.apply(points.view(), Exec::one()).expect("images");
        let [mass, cx, cy, ..] = moments(&values(&once), shape, -1.0);
        assert!((cx - 4.0).abs() <= 0.5 + 1e-9 && (cy - 5.5).abs() <= 0.5 + 1e-9, "{cx} {cy}");
        close(mass, moments(&x, shape, -1.0)[0], 1e-13);
        assert_eq!(stage.apply(once.view(), Exec::one()).expect("images"), once, "a centred image stays");
        let (mut a, mut b) = (x, values(&once));
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        assert_eq!(a, b, "values move and do not change");
    }
}

#[test]
fn the_binary_mass_counts_pixels() {
    // One bright pixel at the right outweighs two dim ones at the left; counted, it does not.
    let x = image(&[&[0.6, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0]]);
    let bright = |line: &str| run(line, &x).expect("images").iter().position(|&v| v == 100.0);
    assert_eq!(bright("centre-mass"), Some(4));
    // Centre at (0 + 1 + 8) / 3 = 3: one pixel to the right, where the bright one leaves the frame.
    assert_eq!(bright("centre-mass(threshold=0.005)"), None);
    assert_eq!(bright("centre-mass(threshold=0.5)"), Some(4));
    let empty = image(&[&[0.0, 0.0], &[0.0, 0.0]]);
    assert_eq!(run("centre-mass", &empty).expect("images"), [0.0; 4]);
}

#[test]
fn deskewing_takes_out_the_slant() {
    let shape = ImageShape::grey(15, 21);
    for slant in [-0.8, -0.3, 0.0, 0.25, 0.7] {
        // A soft upright stroke, leaning.
        let x: Vec<f64> = (0..shape.len())
            .map(|p| {
                let (x, y) = ((p % 21) as f64 - 10.0, (p / 21) as f64 - 7.0);
                if y.abs() > 5.0 { -1.0 } else { -1.0 + 2.0 * (-0.5 * (x - slant * y).powi(2)).exp() }
            })
            .collect();
        let points =
            Points::dense(x.clone(), shape.len()).and_then(|p| p.with_image(shape)).expect("15 x 21");
        let out = run("deskew(background=-1)", &points).expect("images");
        let (before, after) = (moments(&x, shape, -1.0), moments(&out, shape, -1.0));
        close(before[3] / before[4], slant, 1e-2);
        close(after[3] / after[4], 0.0, 1e-2);
        close(after[0], before[0], 1e-3);
        close(after[1], before[1], 1e-2);
    }
    // A flat stroke has no slant to speak of, an empty image has none.
    let flat = image(&[&[0.0, 0.0, 0.0], &[1.0, 2.0, 1.0], &[0.0, 0.0, 0.0]]);
    assert_eq!(run("deskew", &flat).expect("images"), values(&flat));
}
