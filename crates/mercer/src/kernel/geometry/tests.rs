//! Tensors against finite differences, closed forms and an explicit map.

use mercer_testkit::{assert, toy};

use crate::data::Row;
use crate::kernel::Kernel;

fn kernel(line: &str) -> Kernel {
    line.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// `d T / d x_i` for a tensor that depends on a point, by central differences.
fn slope(x: &[f64], i: usize, tensor: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let h = 1e-5;
    let moved = |by: f64| {
        let mut x = x.to_vec();
        x[i] += by;
        tensor(&x)
    };
    moved(h).iter().zip(moved(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
}

const DOT_KERNELS: [&str; 7] = [
    "linear",
    "poly(degree=2)",
    "poly(degree=3, coef0=0.7)",
    "poly(degree=2, scale=0.5, coef0=1)",
    "linear + 0.3*poly(degree=4, scale=0.4)",
    "poly(degree=2, coef0=1) * (linear + poly(degree=3, coef0=0.2))",
    "(linear + poly(degree=2, coef0=0.5))^2",
];

#[test]
fn derivatives_of_dot_product_functions() {
    for line in DOT_KERNELS.into_iter().chain(["sigmoid(scale=0.5, shift=-0.2, amplitude=1.3)"]) {
        let k = kernel(line);
        for t in [-0.8, 0.3, 1.7] {
            let exact = k.dot_derivatives(t).expect("a function of the dot product");
            let h = 1e-5;
            let (up, down) = (k.dot_derivatives(t + h), k.dot_derivatives(t - h));
            let (up, down) = (up.expect("same kernel"), down.expect("same kernel"));
            for order in 0..3 {
                assert::close((up[order] - down[order]) / (2.0 * h), exact[order + 1], 1e-7);
            }
            assert::close(exact[0], k.value(Row::F64(&[t]), Row::F64(&[1.0])), 1e-13);
        }
    }
    let radial = ["rbf(gamma=0.7)", "radial_power(power=-0.3)", "2*multiquadric + rbf(gamma=0.2)^3"];
    for line in radial.into_iter().chain(["normalised(3*rbf(gamma=0.7) * inverse_multiquadric(c=2))"]) {
        let k = kernel(line);
        let (s, h) = (1.3, 1e-5);
        let at = |s| k.radial_derivatives(s).expect("a function of the distance");
        for order in 0..3 {
            let slope = (at(s + h)[order] - at(s - h)[order]) / (2.0 * h);
            assert::close(slope, at(s)[order + 1], 1e-7);
        }
        assert::close(at(s)[0], k.value(Row::F64(&[s.sqrt()]), Row::F64(&[0.0])), 1e-13);
    }
    assert!(kernel("linear").radial_derivatives(0.5).is_none());
    assert!(kernel("rbf(gamma=1)").dot_derivatives(0.5).is_none());
    assert!(kernel("normalised(linear)").dot_derivatives(0.5).is_none());
    assert!(kernel("linear + rbf(gamma=1)").dot_derivatives(0.5).is_none());
}

/// Equation 23 as it is printed, by finite differences of the kernel.
#[test]
fn the_metric_is_the_length_of_small_steps() {
    let x = [0.4, -0.7, 1.1];
    let radial = ["rbf(gamma=0.7)", "inverse_multiquadric(c=1.3)", "fourier(q=0.4)", "bspline(order=2)"];
    let others = ["normalised(poly(degree=2, coef0=1))", "rbf(gamma=0.3) * linear", "additive_chi2 + linear"];
    for line in DOT_KERNELS.into_iter().chain(radial).chain(others) {
        let k = kernel(line);
        // Histogram kernels need positive coordinates.
        let x = if line.contains("chi2") { x.map(f64::abs) } else { x };
        let metric = k.metric(Row::F64(&x)).expect("a smooth kernel");
        let length2 = |step: &[f64]| {
            let h = 1e-3;
            let at = |sign: f64| x.iter().zip(step).map(|(x, s)| x + sign * h * s).collect::<Vec<_>>();
            let (a, b) = (at(-0.5), at(0.5));
            let (a, b) = (Row::F64(&a), Row::F64(&b));
            (k.value(b, b) - 2.0 * k.value(a, b) + k.value(a, a)) / (h * h)
        };
        for step in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.3, -1.0, 0.5]] {
            let want: f64 = (0..9).map(|at| metric[at] * step[at / 3] * step[at % 3]).sum();
            assert::close(length2(&step), want, 1e-5);
        }
    }
}

#[test]
fn the_metric_is_that_of_the_explicit_map() {
    // (x.y)^2 in two dimensions: Phi = (x1^2, sqrt(2) x1 x2, x2^2), so g = J'J.
    let (a, b) = (0.8, -0.3);
    let r = std::f64::consts::SQRT_2;
    let j = [[2.0 * a, 0.0], [r * b, r * a], [0.0, 2.0 * b]];
    let want: Vec<f64> = (0..4).map(|at| (0..3).map(|i| j[i][at / 2] * j[i][at % 2]).sum()).collect();
    assert::all_close(&kernel("poly(degree=2)").metric(Row::F64(&[a, b])).expect("smooth"), &want, 1e-14);
    let volume = kernel("poly(degree=2)").volume(Row::F64(&[a, b])).expect("smooth");
    assert::close(volume, (want[0] * want[3] - want[1] * want[2]).sqrt(), 1e-14);
}

#[test]
fn the_inverse_is_the_inverse() {
    let x = toy::normals(1, 4, 3);
    for line in DOT_KERNELS {
        let k = kernel(line);
        let (g, inverse) = (k.metric(Row::F64(&x)), k.inverse_metric(Row::F64(&x)));
        let (g, inverse) = (g.expect("smooth"), inverse.expect("regular"));
        let one = mercer_testkit::reference::product(&g, &inverse, 4, 4, 4);
        let want: Vec<f64> = (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect();
        assert::all_close(&one, &want, 1e-12);
    }
}

#[test]
fn christoffel_symbols_are_the_metric_s_slopes() {
    let x = [0.9, -0.4, 0.6];
    let d = 3;
    for line in DOT_KERNELS {
        let k = kernel(line);
        let slopes: Vec<Vec<f64>> =
            (0..d).map(|i| slope(&x, i, |x| k.metric(Row::F64(x)).expect("smooth"))).collect();
        let inverse = k.inverse_metric(Row::F64(&x)).expect("regular");
        let want: Vec<f64> = (0..d * d * d)
            .map(|at| {
                let (a, b, c) = (at / 9, at / 3 % 3, at % 3);
                let first = |m: usize| slopes[b][c * d + m] + slopes[c][m * d + b] - slopes[m][b * d + c];
                (0..d).map(|m| 0.5 * inverse[a * d + m] * first(m)).sum()
            })
            .collect();
        assert::all_close(&k.christoffel(Row::F64(&x)).expect("regular"), &want, 1e-7);
    }
}

#[test]
fn curvature_is_that_of_the_christoffel_symbols() {
    let x = [0.9, -0.4, 0.6];
    let d = 3;
    for line in DOT_KERNELS {
        let k = kernel(line);
        let symbols = |x: &[f64]| k.christoffel(Row::F64(x)).expect("regular");
        let gamma = symbols(&x);
        let slopes: Vec<Vec<f64>> = (0..d).map(|i| slope(&x, i, symbols)).collect();
        let at = |m: usize, b: usize, n: usize| (m * d + b) * d + n;
        let want: Vec<f64> = (0..d.pow(4))
            .map(|place| {
                let (n, a, b, m) = (place / 27, place / 9 % 3, place / 3 % 3, place % 3);
                let pairs = (0..d).map(|r| {
                    gamma[at(m, a, r)] * gamma[at(r, b, n)] - gamma[at(m, b, r)] * gamma[at(r, a, n)]
                });
                slopes[a][at(m, b, n)] - slopes[b][at(m, a, n)] + pairs.sum::<f64>()
            })
            .collect();
        assert::all_close(&k.riemann(Row::F64(&x)).expect("regular"), &want, 1e-7);
    }
}

/// The closed form for `(x.y + c)^p`.
#[test]
fn curvature_of_polynomials() {
    for (degree, c) in [(1, 0.0), (1, 0.7), (2, 0.0), (2, 1.3), (3, 0.5), (5, 0.0)] {
        for d in [2, 3, 4] {
            let x = toy::normals(1, d, 5 + d as u64);
            let s: f64 = x.iter().map(|v| v * v).sum();
            let p = f64::from(degree);
            let k = Kernel::Poly { degree, scale: 1.0, coef0: c };
            let e = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
            let want: Vec<f64> = (0..d.pow(4))
                .map(|at| {
                    let (n, a, b, m) = (at / d.pow(3), at / d.pow(2) % d, at / d % d, at % d);
                    let first = (e(n, a) * e(m, b) - e(n, b) * e(m, a)) / (s + c);
                    let second = (x[a] * x[n] * e(m, b) - x[b] * x[n] * e(m, a)) / (s + c).powi(2);
                    let third = (x[b] * x[m] * e(n, a) - x[a] * x[m] * e(n, b)) / ((s + c) * (s + c / p));
                    (p - 1.0) * (first - second - third)
                })
                .collect();
            let got = k.riemann(Row::F64(&x)).expect("regular");
            let largest = got.iter().fold(0.0_f64, |l, v| l.max(v.abs()));
            if degree == 1 || (d == 2 && c == 0.0) {
                assert!(largest < 1e-13 / s, "flat: {k}, {d} dimensions, {largest:e}");
                assert::all_close(&got, &want, 1e-13 / s);
            } else {
                assert!(largest > 1e-3, "bent: {k}, {d} dimensions, {largest:e}");
                assert::close_to_scale(&got, &want, 1e-12);
            }
        }
    }
}

#[test]
fn scalar_curvature_is_twice_that_of_gauss() {
    let k = kernel("poly(degree=2, coef0=1)");
    // At the origin Phi = (1, r x1, r x2, x1^2, r x1 x2, x2^2), r the root of 2, has the metric 2 I and the normal parts
    // P_11 = (2, 0, 0), P_12 = (0, r, 0), P_22 = (0, 0, 2): K = (P_11.P_22 - |P_12|^2) / det g = -1/2.
    assert::close(k.scalar_curvature(Row::F64(&[0.0, 0.0])).expect("regular"), -1.0, 1e-14);
    let x = [0.9, -0.4];
    let (g, riemann) = (k.metric(Row::F64(&x)), k.riemann(Row::F64(&x)));
    let (g, riemann) = (g.expect("smooth"), riemann.expect("regular"));
    // R_1212 = g_1m R_212^m, at n = 1, a = 0, b = 1 counted from 0.
    let lowered: f64 = (0..2).map(|m| g[m] * riemann[8 + 2 + m]).sum();
    let gauss = lowered / (g[0] * g[3] - g[1] * g[2]);
    assert::close(k.scalar_curvature(Row::F64(&x)).expect("regular"), 2.0 * gauss, 1e-12);
    assert_eq!(kernel("rbf(gamma=2)").scalar_curvature(Row::F64(&x)).expect("flat"), 0.0);
}

#[test]
fn what_has_no_geometry_says_so() {
    let x = Row::F64(&[1.0, 2.0]);
    let message = |r: crate::Result<Vec<f64>>| r.expect_err("no geometry").to_string();
    assert!(message(kernel("laplacian(gamma=1)").metric(x)).contains("no second derivative"));
    assert!(message(kernel("normalised(linear)").riemann(x)).contains("not a function of the dot product"));
    assert!(message(kernel("poly(degree=2)").christoffel(Row::F64(&[0.0, 0.0]))).contains("singular"));
    assert!(message(kernel("linear").riemann(Row::F64(&[0.1; 41]))).contains("at most 40"));
}
