//! Products of many values with a few outputs: what passes over kernel values are made of.
//!
//! ```text
//! dots:  out = N C'    n x k        N: n x m values, row by row,    C: k x m coefficients, output by output
//! sums:  out = R' N    k x m        R: n x k numbers of the rows
//! ```
//!
//! With k of about ten a product for matrices of any shape packs more than it multiplies. With AVX-512 a few rows by a few
//! outputs stay in registers, and values are read once per five outputs; elsewhere these are products by faer. A number of
//! `dots` depends on its own row alone, and one of `sums` on its own column: the same bits, however rows are cut into blocks
//! of the same rows.

use crate::{Mat, Real, product};

/// Rows whose products with a few outputs are summed at once.
const ROWS: usize = 4;

/// Coefficients are read from memory where they lie: k x m.
pub trait Narrow: Sized {
    /// [`dots`] by the instructions of this machine; whether there are some.
    fn narrow_dots(out: &mut [Self], values: Mat<'_, Self>, coef: Mat<'_, Self>) -> bool;
    /// [`sums`] by the instructions of this machine; whether there are some.
    fn narrow_sums(out: &mut [Self], values: Mat<'_, Self>, rows: &[Self]) -> bool;
}

/// The products of each row of `values` with each row of `coef`: n x k.
///
/// ```
/// use mercer_num::{Mat, narrow};
/// let (values, coef) = ([1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 1.0, 1.0]);
/// let mut out = [0.0; 4];
/// narrow::dots(&mut out, Mat::new(&values, 2, 2), Mat::new(&coef, 2, 2));
/// assert_eq!(out, [1.0, 3.0, 3.0, 7.0]);
/// ```
pub fn dots<T: Real>(out: &mut [T], values: Mat<'_, T>, coef: Mat<'_, T>) {
    checked(values);
    checked(coef);
    assert!(
        coef.cols == values.cols && out.len() == values.rows * coef.rows,
        "coefficients of another shape"
    );
    if !out.is_empty() && !T::narrow_dots(out, values, coef) {
        product::nt(out, values, coef, 1);
    }
}

/// The sums over rows of `values` times each column of `rows`, n x k: k x m.
///
/// ```
/// use mercer_num::{Mat, narrow};
/// let mut out = [0.0; 2];
/// narrow::sums(&mut out, Mat::new(&[1.0, 2.0, 3.0, 4.0], 2, 2), &[1.0, -1.0]);
/// assert_eq!(out, [-2.0, -2.0]);
/// ```
pub fn sums<T: Real>(out: &mut [T], values: Mat<'_, T>, rows: &[T]) {
    checked(values);
    let k = rows.len() / values.rows.max(1);
    assert!(rows.len() == values.rows * k && out.len() == k * values.cols, "numbers of another shape");
    if rows.is_empty() {
        out.fill(T::ZERO);
    } else if !out.is_empty() && !T::narrow_sums(out, values, rows) {
        product::tn(out, Mat::new(rows, values.rows, k), values, 1);
    }
}

/// The vector code reads through pointers.
fn checked<T: Copy>(m: Mat<'_, T>) {
    let last = m.rows.saturating_sub(1).checked_mul(m.stride).and_then(|at| at.checked_add(m.cols));
    let fits = m.rows == 0 || last.is_some_and(|end| end <= m.values.len());
    assert!(fits && m.cols <= m.stride.max(m.cols * usize::from(m.rows <= 1)), "a matrix beyond its values");
}

#[cfg(target_arch = "x86_64")]
macro_rules! narrow {
    ($t:ty, $module:ident, $lanes:literal, $load:ident, $store:ident, $fma:ident, $zero:ident, $set:ident, $reduce:ident) => {
        mod $module {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, $fma, $load, $reduce, $set, $store, $zero};

            use super::{ROWS, checked};
            use crate::Mat;

            const LANES: usize = $lanes;

            #[target_feature(enable = "avx512f")]
            pub(super) fn dots(out: &mut [$t], values: Mat<'_, $t>, coef: Mat<'_, $t>) {
                let k = coef.rows;
                let groups = k.div_ceil(5);
                for i in (0..values.rows).step_by(ROWS) {
                    let high = ROWS.min(values.rows - i);
                    let some = Mat { values: &values.values[i * values.stride..], rows: high, ..values };
                    for group in 0..groups {
                        let run = group * k / groups..(group + 1) * k / groups;
                        let of =
                            Mat { values: &coef.values[run.start * coef.stride..], rows: run.len(), ..coef };
                        let to = &mut out[i * k + run.start..];
                        match run.len() {
                            1 => strips::<1>(to, k, some, of),
                            2 => strips::<2>(to, k, some, of),
                            3 => strips::<3>(to, k, some, of),
                            4 => strips::<4>(to, k, some, of),
                            _ => strips::<5>(to, k, some, of),
                        }
                    }
                }
            }

            #[target_feature(enable = "avx512f")]
            fn strips<const K: usize>(out: &mut [$t], k: usize, values: Mat<'_, $t>, coef: Mat<'_, $t>) {
                if values.rows == ROWS {
                    return strip::<ROWS, K>(out, k, values, coef);
                }
                for r in 0..values.rows {
                    let row = Mat { values: &values.values[r * values.stride..], rows: 1, ..values };
                    strip::<1, K>(&mut out[r * k..], k, row, coef);
                }
            }

            /// R rows by K outputs.
            #[target_feature(enable = "avx512f")]
            fn strip<const R: usize, const K: usize>(
                out: &mut [$t],
                k: usize,
                values: Mat<'_, $t>,
                coef: Mat<'_, $t>,
            ) {
                let m = values.cols;
                checked(values);
                checked(coef);
                assert!(values.rows == R && coef.rows == K && coef.cols == m && out.len() >= (R - 1) * k + K);
                let mut sum = [[$zero(); K]; R];
                let whole = m / LANES * LANES;
                let (x, c) = (values.values.as_ptr(), coef.values.as_ptr());
                for j in (0..whole).step_by(LANES) {
                    let mut by = [$zero(); K];
                    for (o, by) in by.iter_mut().enumerate() {
                        // SAFETY: row o of K, and j + LANES <= m.
                        *by = unsafe { $load(c.add(o * coef.stride + j)) };
                    }
                    for r in 0..R {
                        // SAFETY: row r of R, and j + LANES <= m.
                        let v = unsafe { $load(x.add(r * values.stride + j)) };
                        for o in 0..K {
                            sum[r][o] = $fma(v, by[o], sum[r][o]);
                        }
                    }
                }
                for r in 0..R {
                    for o in 0..K {
                        let left = &values.values[r * values.stride..][whole..m];
                        let right = &coef.values[o * coef.stride..][whole..m];
                        let rest = left.iter().zip(right);
                        out[r * k + o] = rest.fold($reduce(sum[r][o]), |s, (v, c)| v.mul_add(*c, s));
                    }
                }
            }

            #[target_feature(enable = "avx512f")]
            pub(super) fn sums(out: &mut [$t], values: Mat<'_, $t>, rows: &[$t]) {
                let m = values.cols;
                let k = out.len() / m;
                let groups = k.div_ceil(10);
                for group in 0..groups {
                    let run = group * k / groups..(group + 1) * k / groups;
                    let to = &mut out[run.start * m..run.end * m];
                    let by = (&rows[run.start..], k);
                    match run.len() {
                        1 => columns::<1, 8>(to, values, by),
                        2 => columns::<2, 8>(to, values, by),
                        3 => columns::<3, 4>(to, values, by),
                        4 => columns::<4, 4>(to, values, by),
                        5 => columns::<5, 4>(to, values, by),
                        6 => columns::<6, 2>(to, values, by),
                        7 => columns::<7, 2>(to, values, by),
                        8 => columns::<8, 2>(to, values, by),
                        9 => columns::<9, 2>(to, values, by),
                        _ => columns::<10, 2>(to, values, by),
                    }
                }
            }

            /// All columns, W vectors of them at a time, for K outputs.
            #[target_feature(enable = "avx512f")]
            fn columns<const K: usize, const W: usize>(
                out: &mut [$t],
                values: Mat<'_, $t>,
                (rows, k): (&[$t], usize),
            ) {
                let m = values.cols;
                let wide = m / (W * LANES) * (W * LANES);
                let whole = m / LANES * LANES;
                for j in (0..wide).step_by(W * LANES) {
                    column::<K, W>(out, values, j, (rows, k));
                }
                for j in (wide..whole).step_by(LANES) {
                    column::<K, 1>(out, values, j, (rows, k));
                }
                for j in whole..m {
                    for o in 0..K {
                        let each =
                            values.values[j..].iter().step_by(values.stride.max(1)).zip(rows.chunks(k));
                        let each = each.take(values.rows);
                        out[o * m + j] = each.fold(0.0, |s, (v, r)| v.mul_add(r[o], s));
                    }
                }
            }

            #[target_feature(enable = "avx512f")]
            fn column<const K: usize, const W: usize>(
                out: &mut [$t],
                values: Mat<'_, $t>,
                j: usize,
                (rows, k): (&[$t], usize),
            ) {
                let (n, m) = (values.rows, values.cols);
                checked(values);
                assert!(n > 0 && rows.len() >= (n - 1) * k + K);
                assert!(j + W * LANES <= m && out.len() == K * m);
                let mut sum = [[$zero(); W]; K];
                let (x, by) = (values.values.as_ptr(), rows.as_ptr());
                for r in 0..n {
                    let mut v = [$zero(); W];
                    for (w, v) in v.iter_mut().enumerate() {
                        // SAFETY: row r of n, and j + W * LANES <= m; a prefetch may name any address.
                        unsafe {
                            let at = x.add(r * values.stride + j + w * LANES);
                            _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(W * LANES).cast());
                            *v = $load(at);
                        }
                    }
                    for o in 0..K {
                        // SAFETY: row r of n has K numbers from here on.
                        let by = $set(unsafe { *by.add(r * k + o) });
                        for w in 0..W {
                            sum[o][w] = $fma(v[w], by, sum[o][w]);
                        }
                    }
                }
                for o in 0..K {
                    for w in 0..W {
                        // SAFETY: row o of K, and j + W * LANES <= m.
                        unsafe { $store(out.as_mut_ptr().add(o * m + j + w * LANES), sum[o][w]) };
                    }
                }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
narrow!(
    f32,
    single,
    16,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_fmadd_ps,
    _mm512_setzero_ps,
    _mm512_set1_ps,
    _mm512_reduce_add_ps
);
#[cfg(target_arch = "x86_64")]
narrow!(
    f64,
    double,
    8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_fmadd_pd,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_reduce_add_pd
);

macro_rules! implemented {
    ($t:ty, $module:ident) => {
        impl Narrow for $t {
            fn narrow_dots(out: &mut [Self], values: Mat<'_, Self>, coef: Mat<'_, Self>) -> bool {
                #[cfg(target_arch = "x86_64")]
                if crate::dispatch::level() == crate::dispatch::Level::Avx512 {
                    // SAFETY: `level` has just seen that this machine has these instructions.
                    unsafe { $module::dots(out, values, coef) };
                    return true;
                }
                let _ = (out, values, coef);
                false
            }

            fn narrow_sums(out: &mut [Self], values: Mat<'_, Self>, rows: &[Self]) -> bool {
                #[cfg(target_arch = "x86_64")]
                if crate::dispatch::level() == crate::dispatch::Level::Avx512 {
                    // SAFETY: `level` has just seen that this machine has these instructions.
                    unsafe { $module::sums(out, values, rows) };
                    return true;
                }
                let _ = (out, values, rows);
                false
            }
        }
    };
}
implemented!(f32, single);
implemented!(f64, double);

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close_to_scale, toy};

    fn both<T: Real>(tol: f64) {
        let of = |x: &[f64]| x.iter().map(|v| T::of(*v)).collect::<Vec<T>>();
        let back = |x: &[T]| x.iter().map(|v| v.f64()).collect::<Vec<f64>>();
        for n in [1, 3, 4, 9, 33] {
            for m in [1, 5, 16, 31, 150, 264] {
                for k in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23] {
                    let (x, c) = (of(&toy::normals(n, m, 1)), of(&toy::normals(k, m, 2)));
                    let mut got = vec![T::of(f64::NAN); n * k];
                    dots(&mut got, Mat::new(&x, n, m), Mat::new(&c, k, m));
                    let mut want = vec![T::ZERO; n * k];
                    product::nt(&mut want, Mat::new(&x, n, m), Mat::new(&c, k, m), 1);
                    close_to_scale(&back(&got), &back(&want), tol);
                    let r = of(&toy::normals(n, k, 3));
                    let mut got = vec![T::of(f64::NAN); k * m];
                    sums(&mut got, Mat::new(&x, n, m), &r);
                    let mut want = vec![T::ZERO; k * m];
                    product::tn(&mut want, Mat::new(&r, n, k), Mat::new(&x, n, m), 1);
                    close_to_scale(&back(&got), &back(&want), tol);
                }
            }
        }
    }

    #[test]
    fn narrow_products_are_products() {
        both::<f32>(1e-5);
        both::<f64>(1e-13);
    }

    /// Parts of wider matrices are read in place.
    #[test]
    fn rows_may_lie_apart() {
        let (n, m, k, wide) = (9, 41, 7, 60);
        let (x, c, r) = (toy::normals(n, wide, 1), toy::normals(k, wide, 2), toy::normals(n, k, 3));
        let cut = |x: &[f64]| x.chunks(wide).flat_map(|row| row[..m].to_vec()).collect::<Vec<f64>>();
        let apart = |x, rows| Mat { values: x, rows, cols: m, stride: wide };
        let (mut got, mut want) = (vec![0.0; n * k], vec![0.0; n * k]);
        dots(&mut got, apart(&x, n), apart(&c, k));
        dots(&mut want, Mat::new(&cut(&x), n, m), Mat::new(&cut(&c), k, m));
        close_to_scale(&got, &want, 1e-14);
        let (mut got, mut want) = (vec![0.0; k * m], vec![0.0; k * m]);
        sums(&mut got, apart(&x, n), &r);
        sums(&mut want, Mat::new(&cut(&x), n, m), &r);
        close_to_scale(&got, &want, 1e-14);
    }

    /// Rows may be cut anywhere.
    #[test]
    fn a_row_has_the_same_bits_among_others_and_alone() {
        let (n, m, k) = (11, 77, 7);
        let (x, c) = (toy::normals(n, m, 1), toy::normals(k, m, 2));
        let mut all = vec![0.0; n * k];
        dots(&mut all, Mat::new(&x, n, m), Mat::new(&c, k, m));
        if crate::dispatch::level() == crate::dispatch::Level::Avx512 {
            for (row, want) in x.chunks(m).zip(all.chunks(k)) {
                let mut one = vec![0.0; k];
                dots(&mut one, Mat::new(row, 1, m), Mat::new(&c, k, m));
                assert_eq!(one, want);
            }
        }
    }

    #[test]
    #[should_panic(expected = "another shape")]
    fn shapes_are_checked() {
        dots(&mut [0.0; 2], Mat::new(&[1.0; 6], 2, 3), Mat::new(&[1.0; 4], 2, 2));
    }
}
