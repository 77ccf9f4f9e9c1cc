//! Scaling and linear maps.

use mercer::Exec;
use mercer::data::{ImageShape, Points, Recipe, Stage};
use mercer_testkit::assert::{all_close, close};
use mercer_testkit::{reference, toy as kit};

use crate::{fit, images, narrow, run, sparse, values};

fn column(x: &[f64], d: usize, j: usize) -> Vec<f64> {
    x.chunks(d).map(|row| row[j]).collect()
}

fn mean_std(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (mean, (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64).sqrt())
}

#[test]
fn minmax_maps_ranges_and_parks_constants() {
    let d = 4;
    let mut x = kit::normals(50, d, 1);
    x.iter_mut().skip(2).step_by(d).for_each(|v| *v = 7.5);
    let points = Points::dense(x.clone(), d).expect("50 x 4");
    let out = run("minmax(-1, 3)", &points).expect("dense");
    for j in [0, 1, 3] {
        let (from, to) = (column(&x, d, j), column(&out, d, j));
        let least = from.iter().copied().fold(f64::INFINITY, f64::min);
        let most = from.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let want: Vec<f64> = from.iter().map(|v| -1.0 + 4.0 * (v - least) / (most - least)).collect();
        all_close(&to, &want, 1e-14);
    }
    assert!(column(&out, d, 2).iter().all(|&v| v == 0.0));
    // Away from 0 the nearest end is taken, and a constant column stays parked when it moves later.
    let stage = fit("minmax(2, 3)", &points);
    let later = Points::dense(vec![0.0, 0.0, 99.0, 0.0], d).expect("one row");
    assert_eq!(values(&stage.apply(later.view(), Exec::one()).expect("4 columns"))[2], 2.0);
}

#[test]
fn minmax_keeps_zeros_where_it_can() {
    let points = sparse(&images(20, ImageShape::grey(5, 5), 3));
    assert!(fit("minmax(0, 1)", &points).keeps_sparse());
    assert!(!fit("minmax(-1, 1)", &points).keeps_sparse());
    // A range that is symmetric about 0 goes to a symmetric one: zeros stay.
    let points = Points::dense(vec![-2.0, 2.0, 0.5], 1).expect("three rows");
    assert!(fit("minmax(-1, 1)", &points).keeps_sparse());
}

#[test]
fn wide_sparse_points_are_not_made_dense_by_accident() {
    let csr =
        mercer::data::Csr { start: (0..=1000).collect(), column: vec![0; 1000], value: vec![1.0; 1000] };
    let wide = Points::sparse(csr, 4_000_000_000).expect("valid rows");
    let stage = Recipe::parse("scale(by=1, add=1)")
        .and_then(|r| r.fit(wide.view(), mercer::Exec::one()))
        .expect("numbers");
    let message = stage.apply(wide.view(), Exec::one()).expect_err("4e12 values").to_string();
    assert!(message.contains("(1000 x 4000000000 values)"), "{message}");
}

#[test]
fn standard_has_mean_0_and_deviation_1() {
    let d = 3;
    let mut x = kit::normals(200, d, 2);
    for row in x.chunks_mut(d) {
        row[0] = 1e8 + 1e-3 * row[0];
        row[1] = 0.1;
    }
    let out = run("standard", &Points::dense(x, d).expect("200 x 3")).expect("dense");
    let (mean, std) = mean_std(&column(&out, d, 0));
    // The spacing of numbers near 1e8 is 1.5e-8, a hundred-thousandth of this column's deviation.
    close(mean, 0.0, 1e-4);
    close(std, 1.0, 1e-4);
    assert!(column(&out, d, 1).iter().all(|&v| v == 0.0), "a constant column is centred, not blown up");
    let (mean, std) = mean_std(&column(&out, d, 2));
    close(mean, 0.0, 1e-13);
    close(std, 1.0, 1e-13);
}

#[test]
fn standard_on_sparse_points_divides_and_says_so() {
    let dense = images(30, ImageShape::grey(3, 4), 5);
    let points = sparse(&dense);
    let stage = fit("standard", &points);
    assert!(stage.keeps_sparse() && stage.describe().contains("not centred"), "{}", stage.describe());
    assert!(!fit("standard", &dense).keeps_sparse());
    assert!(!fit("standard(centre=true)", &points).keeps_sparse());
    let d = points.dim();
    let (x, out) = (values(&dense), values(&stage.apply(points.view(), Exec::one()).expect("sparse")));
    for j in 0..d {
        let (_, std) = mean_std(&column(&x, d, j));
        let want: Vec<f64> = column(&x, d, j).iter().map(|v| v / std).collect();
        all_close(&column(&out, d, j), &want, 1e-13);
    }
    let centred = fit("standard(centre=true)", &points).apply(points.view(), Exec::one()).expect("sparse");
    all_close(&values(&centred), &run("standard", &dense).expect("dense"), 1e-13);
}

#[test]
fn per_channel_shares_one_range() {
    let shape = ImageShape { height: 3, width: 2, channels: 2 };
    let x = kit::normals(10, shape.len(), 4);
    let points = Points::dense(x.clone(), shape.len()).and_then(|p| p.with_image(shape)).expect("images");
    let out = run("standard(per=channel)", &points).expect("dense");
    for c in 0..2 {
        let pick = |x: &[f64]| x.iter().copied().skip(c).step_by(2).collect::<Vec<f64>>();
        let (mean, std) = mean_std(&pick(&x));
        let want: Vec<f64> = pick(&x).iter().map(|v| (v - mean) / std).collect();
        all_close(&pick(&out), &want, 1e-13);
    }
    // Rows that are no images are one channel.
    let plain = Points::dense(vec![0.0, 10.0, 5.0, 20.0], 2).expect("two rows");
    assert_eq!(run("minmax(per=channel)", &plain).expect("dense"), [0.0, 0.5, 0.25, 1.0]);
}

#[test]
fn unit_rows_and_signed_powers() {
    let points =
        Points::dense(vec![3.0, -4.0, 0.0, 0.0, 3e200, 4e200, 3e-200, -4e-200], 2).expect("four rows");
    all_close(&run("unit", &points).expect("dense"), &[0.6, -0.8, 0.0, 0.0, 0.6, 0.8, 0.6, -0.8], 1e-15);
    let points = Points::dense(vec![4.0, -9.0, 0.0, 0.25], 2).expect("two rows");
    all_close(&run("power(0.5)", &points).expect("dense"), &[2.0, -3.0, 0.0, 0.5], 1e-15);
    all_close(&run("power(2)", &points).expect("dense"), &[16.0, -81.0, 0.0, 0.0625], 1e-15);
    all_close(&run("scale(1/4, 1)", &points).expect("dense"), &[2.0, -1.25, 1.0, 1.0625], 1e-15);
}

#[test]
fn fitting_refuses_what_cannot_be_measured() {
    let recipe = Recipe::parse("standard").expect("a stage");
    let bad = Points::dense(vec![0.0, 1.0, 2.0, f64::NAN], 2).expect("two rows");
    let message = recipe.fit(bad.view(), mercer::Exec::one()).expect_err("NaN").to_string();
    assert_eq!(message, "row 2, column 2: got NaN, expected a finite number");
    assert!(recipe.fit(bad.view().slice(0..0), mercer::Exec::one()).is_err());
    let huge = Points::dense(vec![-1e308, 1e308], 1).expect("two rows");
    assert!(recipe.fit(huge.view(), mercer::Exec::one()).is_err());
}

#[test]
fn a_linear_map_is_a_product() {
    let (n, d, k) = (37, 19, 23);
    let (x, a, b) = (kit::normals(n, d, 1), kit::normals(k, d, 2), kit::normals(1, k, 3));
    let a_turned: Vec<f64> = (0..d * k).map(|p| a[(p % k) * d + p / k]).collect();
    let mut want = reference::product(&x, &a_turned, n, d, k);
    want.chunks_mut(k).for_each(|row| row.iter_mut().zip(&b).for_each(|(v, b)| *v += b));
    let stage = Stage::linear(a.clone(), d, Some(b)).expect("k x d");
    assert_eq!((stage.input_dim(), stage.output_dim(), stage.keeps_sparse()), (d, k, false));
    let points = Points::dense(x, d).expect("n x d");
    for exec in [Exec::one(), Exec::new(3)] {
        let out = |p: &Points| stage.apply(p.view(), exec).expect("d columns");
        all_close(&values(&out(&points)), &want, 1e-13);
        all_close(&values(&out(&sparse(&points))), &want, 1e-13);
        assert_eq!(out(&narrow(&points)).kind(), "dense f32");
        all_close(&values(&out(&narrow(&points))), &want, 1e-5);
        assert_eq!(stage.apply(points.view().slice(0..0), exec).expect("no rows").dim(), k);
    }
    assert!(Stage::linear(a.clone(), d + 1, None).is_err());
    assert!(Stage::linear(a.clone(), d, Some(vec![0.0])).is_err());
    assert!(Stage::linear(vec![f64::INFINITY], 1, None).is_err());
    // A square map of images gives images.
    let eye = Stage::linear(vec![1.0, 0.0, 0.0, 1.0], 2, None).expect("2 x 2");
    let image = images(3, ImageShape::grey(1, 2), 1);
    assert_eq!(eye.apply(image.view(), Exec::one()).expect("images"), image);
}
