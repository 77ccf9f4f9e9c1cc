//! Values against the formulas, written a second time and as plainly as can be.

use mercer_testkit::{assert, toy};

use crate::data::Row;
use crate::kernel::{Definiteness, Kernel, Takes};

type Formula = fn(&[f64], &[f64]) -> f64;

fn sum(x: &[f64], y: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| term(x, y)).sum()
}

fn product(x: &[f64], y: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| term(x, y)).product()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| x * y)
}

fn distance2(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| (x - y).powi(2))
}

/// The centred spline by its recurrence, from the box on.
fn spline(degree: u32, u: f64) -> f64 {
    if degree == 0 {
        return if (-0.5..0.5).contains(&u) { 1.0 } else { 0.0 };
    }
    let (n, half) = (f64::from(degree), f64::from(degree + 1) / 2.0);
    ((half + u) * spline(degree - 1, u + 0.5) + (half - u) * spline(degree - 1, u - 0.5)) / n
}

const FORMULAS: &[(&str, Formula)] = &[
    ("linear", dot),
    ("poly(degree=3, scale=1/4, coef0=0.5)", |x, y| (dot(x, y) / 4.0 + 0.5).powi(3)),
    ("rbf(gamma=0.3)", |x, y| (-0.3 * distance2(x, y)).exp()),
    ("rbf_widths(gamma=0.3)", |x, y| {
        let (u, v) = ((-x[3]).exp(), (-y[3]).exp());
        let p = (1.0 + u) * (1.0 + v) / (2.0 * (u + v));
        p.powf(1.5) * (-0.6 * distance2(&x[..3], &y[..3]) / (u + v)).exp()
    }),
    ("laplacian(gamma=0.4)", |x, y| (-0.4 * sum(x, y, |x, y| (x - y).abs())).exp()),
    ("sigmoid(amplitude=1.04, scale=0.5, shift=-0.8)", |x, y| 1.04 * (0.5 * dot(x, y) - 0.8).tanh()),
    ("inverse_multiquadric(c=1.5)", |x, y| 1.0 / (distance2(x, y) + 2.25).sqrt()),
    ("multiquadric(c=1.5)", |x, y| (distance2(x, y) + 2.25).sqrt()),
    ("radial_power(power=-0.7)", |x, y| (distance2(x, y) + 1.0).powf(-0.7)),
    ("ard(gammas=[1, 2, 0, 0.5])", |x, y| {
        let weights = [1.0, 2.0, 0.0, 0.5];
        (-(0..4).map(|i| weights[i] * (x[i] - y[i]).powi(2)).sum::<f64>()).exp()
    }),
    ("bspline(order=0, width=3)", |x, y| product(x, y, |x, y| (1.0 - ((x - y) / 3.0).abs()).max(0.0))),
    ("bspline(order=1)", |x, y| product(x, y, |x, y| spline(3, x - y) / spline(3, 0.0))),
    ("bspline(order=2, width=0.5)", |x, y| product(x, y, |x, y| spline(5, (x - y) / 0.5) / spline(5, 0.0))),
    ("bspline(order=5)", |x, y| product(x, y, |x, y| spline(11, x - y) / spline(11, 0.0))),
    ("fourier(q=0.4, freq=2)", |x, y| {
        let series = |u: f64| 0.5 + (1..60).map(|j| 0.4_f64.powi(j) * (f64::from(j) * u).cos()).sum::<f64>();
        product(x, y, |x, y| series(2.0 * (x - y)) / series(0.0))
    }),
    ("dirichlet(order=3)", |x, y| product(x, y, |x, y| (3.5 * (x - y)).sin() / (0.5 * (x - y)).sin() / 7.0)),
    ("spectrum(weights=[1, 0.5, 0, 0.25], freq=0.7)", |x, y| {
        let weights = [1.0, 0.5, 0.0, 0.25];
        let series = |u: f64| (0..4).map(|j| weights[j] * (j as f64 * 0.7 * u).cos()).sum::<f64>();
        product(x, y, |x, y| series(x - y) / 1.75)
    }),
    ("chi2(gamma=0.6)", |x, y| (-0.6 * sum(x, y, |x, y| (x - y).powi(2) / (x + y))).exp()),
    ("additive_chi2", |x, y| sum(x, y, |x, y| 2.0 * x * y / (x + y))),
    ("local(p=3, d1=2, d2=3, height=2, width=2)", |x, y| {
        // Every window holds all four pixels: its own twice.
        let z: Vec<f64> = x.iter().zip(y).map(|(x, y)| x * y).collect();
        let all: f64 = z.iter().sum();
        (z.iter().map(|own| (own + all).powi(2)).sum::<f64>() / 100.0).powi(3)
    }),
    ("columns(from=1, to=3, linear)", |x, y| dot(&x[1..3], &y[1..3])),
    ("subvector(size=2, step=2, degree=3, linear)", |x, y| {
        dot(&x[..2], &y[..2]).powi(3) + dot(&x[2..], &y[2..]).powi(3)
    }),
    ("subvector(size=3, step=3, degree=2, linear)", |x, y| {
        dot(&x[..3], &y[..3]).powi(2) + dot(&x[3..], &y[3..]).powi(2)
    }),
    ("2*linear + rbf(gamma=1)", |x, y| 2.0 * dot(x, y) + (-distance2(x, y)).exp()),
    ("linear * rbf(gamma=1)", |x, y| dot(x, y) * (-distance2(x, y)).exp()),
    ("(linear + linear)^3", |x, y| (2.0 * dot(x, y)).powi(3)),
    ("normalised(linear)", |x, y| dot(x, y) / (dot(x, x) * dot(y, y)).sqrt()),
];

#[test]
fn values_are_the_formulas() {
    let points = toy::uniforms(6, 4, 0.05, 2.0, 1);
    for (line, formula) in FORMULAS {
        let kernel: Kernel = line.parse().unwrap_or_else(|e| panic!("{e}"));
        for x in points.chunks(4) {
            // A point with itself would be 0 / 0 in the printed form of the Dirichlet kernel.
            for y in points.chunks(4).filter(|y| *y != x) {
                let (got, want) = (kernel.value(Row::F64(x), Row::F64(y)), formula(x, y));
                assert!((got - want).abs() <= 1e-12 * want.abs().max(1e-3), "{line}: {got:e} for {want:e}");
            }
        }
    }
    // Every leaf of the table is written here.
    for entry in
        Kernel::ALL.iter().filter(|e| !e.algebra && matches!(e.takes, Takes::Numbers | Takes::Histograms))
    {
        assert!(FORMULAS.iter().any(|(line, _)| line.starts_with(entry.name)), "{}", entry.name);
    }
}

#[test]
fn self_values_of_products_are_one_in_any_dimension() {
    let x = toy::normals(1, 300, 2);
    for line in
        ["bspline(order=3)", "fourier(q=0.9)", "dirichlet(order=7)", "spectrum(weights=[0.3, 0.1, 0.7])"]
    {
        let kernel: Kernel = line.parse().unwrap_or_else(|e| panic!("{e}"));
        assert::close(kernel.value(Row::F64(&x), Row::F64(&x)), 1.0, 1e-15);
    }
}

#[test]
fn nan_is_not_hidden() {
    let (x, y) = ([f64::NAN, 1.0], [0.5, 1.0]);
    for entry in Kernel::ALL {
        for line in entry.examples {
            let kernel: Kernel = line.parse().unwrap_or_else(|e| panic!("{e}"));
            if kernel.check(Some(2)).is_ok() && !line.contains("from=1") {
                assert!(kernel.value(Row::F64(&x), Row::F64(&y)).is_nan(), "{line}");
            }
        }
    }
}

#[test]
fn definiteness_follows_the_rules() {
    use Definiteness::{Conditional, ConditionalNegative, Positive, Unknown};
    for (line, want) in [
        ("poly(degree=3)", Positive),
        ("poly(degree=3, coef0=-1)", Unknown),
        ("poly(degree=1, coef0=-1)", Conditional),
        ("sigmoid", Unknown),
        ("multiquadric", ConditionalNegative),
        ("-1*multiquadric", Conditional),
        ("-2*rbf(gamma=1)", ConditionalNegative),
        ("radial_power(power=-3)", Positive),
        ("radial_power(power=0)", Positive),
        ("radial_power(power=1)", ConditionalNegative),
        ("radial_power(power=1.5)", Unknown),
        ("linear + -1*multiquadric", Conditional),
        ("linear + multiquadric", Unknown),
        ("multiquadric + multiquadric", ConditionalNegative),
        ("linear * rbf(gamma=1)", Positive),
        ("linear * multiquadric", Unknown),
        ("linear * (-1*multiquadric)", Unknown),
        ("sigmoid^2", Unknown),
        ("linear^2", Positive),
        ("normalised(linear)", Positive),
        ("normalised(-1*multiquadric)", Unknown),
        ("subvector(size=2, step=2, degree=2, sigmoid)", Unknown),
        ("columns(from=0, to=2, multiquadric)", ConditionalNegative),
    ] {
        let kernel: Kernel = line.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(kernel.definiteness(), want, "{line}");
    }
}
