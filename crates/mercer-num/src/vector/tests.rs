//! Accuracy against the standard library, edges, and that the loops are vector code.

use mercer_testkit::toy;

use crate::vector::{Vector, cos_all};

/// Distance in units in the last place of the wanted value.
fn ulps32(got: f32, want: f64) -> f64 {
    let unit = f64::from(f32::EPSILON) * 2f64.powi(want.abs().log2().floor() as i32);
    (f64::from(got) - want).abs() / unit
}

fn ulps64(got: f64, want: f64) -> f64 {
    (got - want).abs() / (f64::EPSILON * 2f64.powi(want.abs().log2().floor() as i32))
}

fn worst32(x: &[f64], f: impl Fn(&mut [f32]), want: impl Fn(f64) -> f64) -> f64 {
    let x: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let mut got = x.clone();
    f(&mut got);
    got.iter().zip(&x).map(|(&g, &x)| ulps32(g, want(f64::from(x)))).fold(0.0, f64::max)
}

fn worst64(x: &[f64], f: impl Fn(&mut [f64]), want: impl Fn(f64) -> f64) -> f64 {
    let mut got = x.to_vec();
    f(&mut got);
    got.iter().zip(x).map(|(&g, &x)| ulps64(g, want(x))).fold(0.0, f64::max)
}

#[test]
fn exp_is_good_to_about_a_unit_in_the_last_place() {
    let x = toy::uniforms(100_003, 1, -86.0, 88.0, 1);
    assert!(worst32(&x, f32::exp_all, f64::exp) <= 1.1);
    let x = toy::uniforms(100_003, 1, -707.0, 709.7, 2);
    // The reference is itself off by up to half a unit.
    assert!(worst64(&x, f64::exp_all, f64::exp) <= 1.5);
    let near: Vec<f64> = toy::normals(10_001, 1, 3).iter().map(|v| 1e-3 * v).collect();
    assert!(worst32(&near, f32::exp_all, f64::exp) <= 1.1);
    assert!(worst64(&near, f64::exp_all, f64::exp) <= 1.5);
}

#[test]
fn ln_and_tanh_are_good_to_three_units() {
    let x: Vec<f64> = toy::uniforms(50_001, 1, -85.0, 85.0, 4).iter().map(|v| v.exp()).collect();
    assert!(worst32(&x, f32::ln_all, f64::ln) <= 3.0);
    assert!(worst64(&x, f64::ln_all, f64::ln) <= 3.0);
    let near: Vec<f64> = toy::uniforms(50_001, 1, 0.5, 2.0, 5);
    assert!(worst32(&near, f32::ln_all, f64::ln) <= 3.0);
    assert!(worst64(&near, f64::ln_all, f64::ln) <= 3.0);
    for scale in [1e-6, 0.1, 1.0, 10.0] {
        let x: Vec<f64> = toy::normals(20_001, 1, 6).iter().map(|v| scale * v).collect();
        assert!(worst32(&x, f32::tanh_all, f64::tanh) <= 3.0);
        assert!(worst64(&x, f64::tanh_all, f64::tanh) <= 3.0);
    }
}

/// The code for machines without a fused multiply-add, which no test machine runs by itself.
#[test]
fn without_fused_multiply_add_it_is_nearly_as_good() {
    use crate::vector::scalar::{f32 as single, f64 as double};
    fn over<T: Copy>(f: impl Fn(T) -> T) -> impl Fn(&mut [T]) {
        move |x| {
            for v in x {
                *v = f(*v);
            }
        }
    }
    let x = toy::uniforms(20_001, 1, -86.0, 88.0, 10);
    assert!(worst32(&x, over(single::exp::<false>), f64::exp) <= 2.0);
    assert!(worst64(&x, over(double::exp::<false>), f64::exp) <= 2.0);
    let x = toy::normals(20_001, 1, 11);
    assert!(worst32(&x, over(single::tanh::<false>), f64::tanh) <= 4.0);
    assert!(worst64(&x, over(double::tanh::<false>), f64::tanh) <= 4.0);
    let x: Vec<f64> = x.iter().map(|v| (10.0 * v).exp()).collect();
    assert!(worst32(&x, over(single::ln::<false>), f64::ln) <= 4.0);
    assert!(worst64(&x, over(double::ln::<false>), f64::ln) <= 4.0);
}

#[test]
fn cosines_are_good_to_two_units_of_one() {
    for scale in [1e-9, 1.0, 7.0, 1e3, 9.9e5, 1.1e6, 1e12, 1e300] {
        let mut x: Vec<f64> = toy::uniforms(20_003, 1, -scale, scale, 12);
        // Multiples of a quarter turn: the cosine is 0 or 1 but for the rounding of x.
        x.extend(
            (-40..40).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_2 * (scale / 40.0).max(1.0).floor()),
        );
        let mut got = x.clone();
        cos_all(&mut got);
        for (&got, &x) in got.iter().zip(&x) {
            assert!((got - x.cos()).abs() <= 4.5e-16 * x.cos().abs().max(0.5), "{x}: {got} {}", x.cos());
            assert!(
                (got - x.cos()).abs() <= 1e-13 * x.cos().abs() || x.abs() > 1e6,
                "{x}: {got} {}",
                x.cos()
            );
            let plain = crate::vector::scalar::cos::<false>(x);
            assert!(x.abs() > 1e6 || (plain - x.cos()).abs() <= 4.5e-16, "{x}: {plain} {}", x.cos());
        }
        // What is computed does not depend on the neighbours.
        let mut alone = x.clone();
        alone.chunks_mut(7).for_each(cos_all);
        assert_eq!(alone, got);
    }
    let mut odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MIN_POSITIVE];
    cos_all(&mut odd);
    assert!(odd[..3].iter().all(|v| v.is_nan()));
    assert_eq!(odd[3..], [1.0; 3]);
}

#[test]
fn powers_and_roots() {
    let x = toy::uniforms(1003, 1, 0.1, 20.0, 7);
    for n in (0..=12).chain([25, 28]) {
        let bound = 1.0 + f64::from(n);
        assert!(worst64(&x, |x| f64::powi_all(x, n), |x| x.powi(n as i32)) <= bound, "{n}");
        assert!(worst32(&x, |x| f32::powi_all(x, n), |x| x.powi(n as i32)) <= bound, "{n}");
    }
    for e in [-2.0, -0.5, 0.5, 3.0, -0.3, 0.7, 2.5] {
        assert!(worst64(&x, |x| f64::powf_all(x, e), |x| x.powf(e)) <= 12.0, "{e}");
        assert!(worst32(&x, |x| f32::powf_all(x, e as f32), |x| x.powf(f64::from(e as f32))) <= 12.0, "{e}");
    }
    let mut odd = [-2.0f64, 2.0, 0.0];
    f64::powi_all(&mut odd, 7);
    assert_eq!(odd, [-128.0, 128.0, 0.0]);
}

macro_rules! edges {
    ($t:ident) => {{
        let mut x = [$t::NAN, $t::INFINITY, $t::NEG_INFINITY, 0.0, -1e6, 1e6, 0.99999 * $t::MAX.ln()];
        $t::exp_all(&mut x);
        assert!(x[0].is_nan());
        assert_eq!(&x[1..6], &[$t::INFINITY, 0.0, 1.0, 0.0, $t::INFINITY]);
        assert!(x[6].is_finite() && x[6] > 0.9 * $t::MAX, "{}", x[6]);
        let mut x = [$t::NAN, $t::INFINITY, $t::NEG_INFINITY, 0.0, -0.0, 1e6, -1e6];
        $t::tanh_all(&mut x);
        assert!(x[0].is_nan() && x[4].is_sign_negative());
        assert_eq!(&x[1..], &[1.0, -1.0, 0.0, 0.0, 1.0, -1.0]);
        let mut x = [$t::NAN, $t::INFINITY, 0.0, 1.0, -1.0];
        $t::ln_all(&mut x);
        assert!(x[0].is_nan() && x[4].is_nan());
        assert_eq!(&x[1..4], &[$t::INFINITY, $t::NEG_INFINITY, 0.0]);
        let mut t = [$t::NAN, 1.0, 2.0];
        $t::gauss_all(&mut t, 1.0, &[1.0, 1.0, 1.0], 3.0);
        assert!(t[0].is_nan());
        assert_eq!(&t[1..], &[1.0, 1.0]);
    }};
}

#[test]
fn edges_and_nan() {
    edges!(f32);
    edges!(f64);
}

#[test]
fn distances_and_gauss_from_dot_products() {
    let (a, b) = (2.0, [1.0, 3.0, 0.5, 2.0]);
    let dots = [0.5, -1.0, 0.25, 2.0];
    let mut t = dots;
    f64::distance_all(&mut t, a, &b);
    assert_eq!(t, [2.0, 7.0, 2.0, 0.0]);
    let mut g = dots;
    f64::gauss_all(&mut g, a, &b, 0.7);
    for (g, d) in g.iter().zip(t) {
        mercer_testkit::assert::close(*g, (-0.7 * d).exp(), 1e-15);
    }
}

#[test]
fn products_over_coordinates() {
    use crate::vector::{LANES, Parts, products};
    struct Sum;
    impl Parts for Sum {
        const PLANES: usize = 2;
        #[inline(always)]
        fn parts(&self, x: &[[f64; LANES]], y: &[[f64; LANES]]) -> [f64; LANES] {
            std::array::from_fn(|l| x[0][l] * y[0][l] + x[1][l] * y[1][l])
        }
    }
    let flat = toy::uniforms(3, 4 * LANES, 0.5, 1.0, 12);
    let rows: Vec<[f64; LANES]> = flat.as_chunks().0.to_vec();
    let mut out = [0.0; 2];
    products(&Sum, &rows[..4], &rows[4..], 4, &mut out);
    for (j, &got) in out.iter().enumerate() {
        let (x, y) = (&rows[..4], &rows[4 * (j + 1)..]);
        let part = |b: usize, l: usize| x[b][l] * y[b][l] + x[b + 1][l] * y[b + 1][l];
        let want: f64 = (0..2).flat_map(|b| (0..LANES).map(move |l| part(2 * b, l))).product();
        mercer_testkit::assert::close(got / want, 1.0, 1e-14);
    }
}

#[test]
fn sums_over_coordinates() {
    for d in [1, 7, 16, 33, 100] {
        let x = toy::uniforms(1, d, 0.0, 1.0, 8);
        let y = toy::uniforms(5, d, 0.0, 1.0, 9);
        let check = |f: fn(&[f64], &[f64], &mut [f64]),
                     g: fn(&[f32], &[f32], &mut [f32]),
                     term: fn(f64, f64) -> f64| {
            let want: Vec<f64> =
                y.chunks(d).map(|y| x.iter().zip(y).map(|(&x, &y)| term(x, y)).sum()).collect();
            let mut out = [0.0; 5];
            f(&x, &y, &mut out);
            mercer_testkit::assert::all_close(&out, &want, 1e-13);
            let (x, y): (Vec<f32>, Vec<f32>) =
                (x.iter().map(|&v| v as f32).collect(), y.iter().map(|&v| v as f32).collect());
            let mut out = [0.0; 5];
            g(&x, &y, &mut out);
            let out: Vec<f64> = out.iter().map(|&v| f64::from(v)).collect();
            mercer_testkit::assert::all_close(&out, &want, 1e-5);
        };
        check(f64::dots, f32::dots, |x, y| x * y);
        check(f64::squares, f32::squares, |x, y| (x - y).powi(2));
        check(f64::manhattan, f32::manhattan, |x, y| (x - y).abs());
        check(f64::harmonic_means, f32::harmonic_means, |x, y| 2.0 * x * y / (x + y));
        check(f64::chi_squares, f32::chi_squares, |x, y| (x - y).powi(2) / (x + y));
    }
    let mut out = [0.0; 1];
    f64::chi_squares(&[0.0, 1.0], &[0.0, 3.0], &mut out);
    assert_eq!(out, [1.0]);
}
