//! What every kernel of [`Kernel::ALL`] must keep, on seeded points.
//!
//! A new kernel is tested by its row in the table: nothing needs to be written here.

use mercer::data::{Csr, Points, Row};
use mercer::kernel::{Definiteness, Form, Kernel, KernelFn, Takes};
use mercer::num::Real;
use mercer_testkit::{assert, reference, toy};

/// Columns of the points; the examples in the table are made for them.
const D: usize = 5;

/// Every example of every row but the precomputed matrix, whose values are not the kernel's own, and kernels on sequences,
/// whose contract stands beside them.
fn examples() -> Vec<Kernel> {
    let lines = Kernel::ALL.iter().filter(|entry| entry.takes != Takes::Sequences).flat_map(|entry| {
        assert!(!entry.examples.is_empty(), "{} has no example", entry.name);
        entry.examples.iter()
    });
    lines
        .map(|line| Kernel::parse(line).unwrap_or_else(|e| panic!("{e}")))
        .filter(|k| k.form() != Form::Precomputed)
        .collect()
}

/// Points fit for the kernel: normal ones, or histograms.
fn values(kernel: &Kernel, n: usize, seed: u64) -> Vec<f64> {
    let raw = toy::normals(n, D, seed);
    let signed = Points::dense(raw.clone(), D).expect("rows");
    if kernel.check_points(signed.view()).is_ok() { raw } else { raw.iter().map(|v| v.abs()).collect() }
}

fn points(kernel: &Kernel, n: usize, seed: u64) -> Points {
    Points::dense(values(kernel, n, seed), D).expect("rows")
}

/// The same points with some zeros, sparse.
fn sparse(values: &[f64]) -> (Points, Points) {
    let dropped: Vec<f64> =
        values.iter().enumerate().map(|(i, &v)| if i % 3 == 0 || i % 7 == 2 { 0.0 } else { v }).collect();
    let mut csr = Csr { start: vec![0], column: vec![], value: vec![] };
    for row in dropped.chunks(D) {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(c as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    (Points::sparse(csr, D).expect("rows"), Points::dense(dropped, D).expect("rows"))
}

fn gram(kernel: &Kernel, a: &Points, b: &Points) -> Vec<f64> {
    (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| kernel.value(a.row(i), b.row(j)))).collect()
}

/// A block by the kernel's fast path: matrix product and map, or its own routine.
fn block<T: Real>(kernel: &Kernel, a: &Points, b: &Points) -> Vec<f64> {
    let mut out = vec![T::ZERO; a.len() * b.len()];
    if kernel.form() == Form::Dot {
        let (x, y) = (a.view().to_f64().expect("numbers"), b.view().to_f64().expect("numbers"));
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        out = reference::gram(&x, &y, D, dot).into_iter().map(T::of).collect();
        let squares = |x: &[f64]| x.chunks(D).map(|r| T::of(dot(r, r))).collect::<Vec<T>>();
        kernel.map(&mut out, &squares(&x), &squares(&y));
    } else {
        kernel.own_block(a.view(), b.view(), &mut out);
    }
    out.into_iter().map(Real::f64).collect()
}

/// Every difference within `tol` of the value itself or, where values change sign, of the self-values' root.
#[track_caller]
fn same(kernel: &Kernel, got: &[f64], want: &[f64], a: &Points, b: &Points, tol: f64) {
    let own = |p: &Points| {
        let mut out = vec![0.0; p.len()];
        kernel.diag(p.view(), &mut out);
        out
    };
    let (own_a, own_b) = (own(a), own(b));
    for (at, (&g, &w)) in got.iter().zip(want).enumerate() {
        let (i, j) = (at / b.len(), at % b.len());
        let scale = w.abs().max((own_a[i] * own_b[j]).abs().sqrt());
        assert!(
            (g - w).abs() <= tol * scale,
            "{kernel} at {i}, {j}: got {g:e}, wanted {w:e}, scale {scale:e}"
        );
    }
}

#[test]
fn values_are_symmetric_and_finite() {
    for kernel in examples() {
        let x = points(&kernel, 12, 1);
        let k = gram(&kernel, &x, &x);
        for i in 0..12 {
            for j in 0..12 {
                assert!(k[i * 12 + j].is_finite(), "{kernel}");
                assert::close(k[i * 12 + j], k[j * 12 + i], 1e-14);
            }
        }
    }
}

#[test]
fn blocks_are_the_definition() {
    for kernel in examples() {
        // More columns than algebra takes at once.
        let (a, b) = (points(&kernel, 9, 2), points(&kernel, 150, 3));
        let want = gram(&kernel, &a, &b);
        same(&kernel, &block::<f64>(&kernel, &a, &b), &want, &a, &b, 1e-12);
        same(&kernel, &block::<f32>(&kernel, &a, &b), &want, &a, &b, 1e-5);
        // The slow routine that works for all, and rows of a second width in storage.
        let mut own = vec![0.0_f64; want.len()];
        kernel.own_block(a.view(), b.view(), &mut own);
        same(&kernel, &own, &want, &a, &b, 1e-12);
        let narrow = |p: &Points| {
            let values = p.view().to_f64().expect("numbers");
            Points::dense_f32(values.iter().map(|&v| v as f32).collect(), D).expect("rows")
        };
        let (a, b) = (narrow(&a), narrow(&b));
        let want = gram(&kernel, &a, &b);
        same(&kernel, &block::<f64>(&kernel, &a, &b), &want, &a, &b, 1e-12);
    }
}

#[test]
fn blocks_of_wide_points_are_the_definition() {
    let d = 70;
    let near: Vec<f64> = toy::normals(12, d, 14).iter().map(|v| 0.2 * v.abs()).collect();
    let x = Points::dense(near, d).expect("rows");
    for kernel in examples().into_iter().filter(|k| k.check(Some(d)).is_ok()) {
        let want = gram(&kernel, &x, &x);
        let mut own = vec![0.0_f64; want.len()];
        kernel.own_block(x.view(), x.view(), &mut own);
        same(&kernel, &own, &want, &x, &x, 1e-12);
        let mut own = vec![0.0_f32; want.len()];
        kernel.own_block(x.view(), x.view(), &mut own);
        let own: Vec<f64> = own.into_iter().map(f64::from).collect();
        same(&kernel, &own, &want, &x, &x, 1e-5);
    }
}

/// Rows so thin and long that they are merged, not made dense.
#[test]
fn blocks_of_thin_rows_are_the_definition() {
    let (n, d) = (6, 5000);
    let mut csr = Csr { start: vec![0], column: vec![], value: vec![] };
    for (i, row) in toy::uniforms(n, 4, 0.0, 1.0, 15).chunks(4).enumerate() {
        csr.column.extend((0..4).map(|c| c * 1000 + (i % 3) as u32));
        csr.value.extend(row);
        csr.start.push(csr.column.len());
    }
    let x = Points::sparse(csr, d).expect("rows");
    let dense = x.to_dense().expect("numbers");
    for kernel in examples().into_iter().filter(|k| k.check(Some(d)).is_ok()) {
        let want = gram(&kernel, &dense, &dense);
        let mut own = vec![0.0_f64; n * n];
        kernel.own_block(x.view(), x.view(), &mut own);
        same(&kernel, &own, &want, &dense, &dense, 1e-12);
    }
}

#[test]
fn sparse_and_dense_rows_agree() {
    for kernel in examples() {
        let (a, a_dense) = sparse(&values(&kernel, 6, 4));
        let (b, b_dense) = sparse(&values(&kernel, 7, 5));
        let want = gram(&kernel, &a_dense, &b_dense);
        for (x, y) in [(&a, &b), (&a, &b_dense), (&a_dense, &b)] {
            assert::all_close(&gram(&kernel, x, y), &want, 1e-13);
            let mut own = vec![0.0_f64; want.len()];
            kernel.own_block(x.view(), y.view(), &mut own);
            same(&kernel, &own, &want, &a_dense, &b_dense, 1e-12);
        }
    }
}

#[test]
fn the_diagonal_is_the_value_of_a_point_with_itself() {
    for kernel in examples() {
        let x = points(&kernel, 8, 6);
        let mut diag = vec![0.0; 8];
        kernel.diag(x.view(), &mut diag);
        for (i, &k) in diag.iter().enumerate() {
            assert::close(k, kernel.value(x.row(i), x.row(i)), 1e-14);
        }
    }
}

#[test]
fn gram_matrices_are_as_definite_as_claimed() {
    let mut seen = Vec::new();
    for kernel in examples() {
        let n = 24;
        let mut k = gram(&kernel, &points(&kernel, n, 7), &points(&kernel, n, 7));
        let definiteness = kernel.definiteness();
        seen.push(definiteness);
        if definiteness == Definiteness::Unknown {
            continue;
        }
        if definiteness != Definiteness::Positive {
            // On coefficients that sum to 0: the matrix between two centrings.
            let mean = |v: &[f64]| v.iter().sum::<f64>() / n as f64;
            let rows: Vec<f64> = k.chunks(n).map(mean).collect();
            let grand = mean(&rows);
            for i in 0..n {
                for j in 0..n {
                    k[i * n + j] += grand - rows[i] - rows[j];
                }
            }
        }
        if definiteness == Definiteness::ConditionalNegative {
            k = k.iter().map(|v| -v).collect();
        }
        let (eigenvalues, _) = reference::eigen(&k, n);
        let (largest, smallest) = (eigenvalues[0], eigenvalues[n - 1]);
        assert!(largest > 0.0 && smallest >= -1e-10 * largest, "{kernel}: {smallest:e} of {largest:e}");
    }
    for every in [Definiteness::Positive, Definiteness::Conditional, Definiteness::ConditionalNegative] {
        assert!(seen.contains(&every), "no example is {every:?}");
    }
}

#[test]
fn translation_invariance_is_as_claimed() {
    for kernel in examples() {
        let x = points(&kernel, 2, 8);
        let moved = |i: usize| x.row(i).to_f64().iter().map(|v| v + 0.37).collect::<Vec<_>>();
        let before = kernel.value(x.row(0), x.row(1));
        let after = kernel.value(Row::F64(&moved(0)), Row::F64(&moved(1)));
        let moved = (before - after).abs() > 1e-9 * before.abs();
        assert_eq!(!moved, kernel.translation_invariant(), "{kernel}: {before:e} and {after:e}");
    }
}

#[test]
fn lines_and_files_give_the_same_kernel_back() {
    for kernel in examples().into_iter().chain([Kernel::Precomputed]) {
        let line = kernel.to_string();
        assert_eq!(Kernel::parse(&line).unwrap_or_else(|e| panic!("{e}")), kernel, "{line}");
        assert_eq!(Kernel::parse(&line).map(|k| k.to_string()).ok(), Some(line.clone()));
        let json = serde_json::to_string(&kernel).expect("a kernel that can be saved");
        assert_eq!(serde_json::from_str::<Kernel>(&json).expect("what was saved"), kernel, "{json}");
    }
}

/// `df/dx_i` by central differences of fourth order.
fn slope(x: &[f64], i: usize, f: impl Fn(&[f64]) -> f64) -> f64 {
    let h = 1e-3;
    let at = |steps: f64| {
        let mut x = x.to_vec();
        x[i] += steps * h;
        f(&x)
    };
    (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h)
}

#[test]
fn gradients_are_finite_differences() {
    for kernel in examples() {
        assert!(kernel.has_gradient(), "{kernel}: every kernel of the table has one");
        let points = points(&kernel, 6, 9);
        for i in 0..5 {
            let (x, y) = (points.row(i).to_f64(), points.row(i + 1).to_f64());
            let mut got = vec![f64::NAN; D];
            let value = kernel.gradient(Row::F64(&x), Row::F64(&y), &mut got).expect("a gradient");
            assert::close(value, kernel.value(Row::F64(&x), Row::F64(&y)), 1e-15);
            for c in 0..D {
                let want = slope(&x, c, |x| kernel.value(Row::F64(x), Row::F64(&y)));
                let scale = 1e-7 * (1.0 + value.abs() + want.abs());
                assert!((got[c] - want).abs() < scale, "{kernel}, column {c}: got {}, wanted {want}", got[c]);
            }
            // The same on sparse rows, and added up.
            let (thin, dense) = sparse(&[x, y].concat());
            kernel.gradient(dense.row(0), dense.row(1), &mut got).expect("a gradient");
            let mut sum = got.clone();
            kernel.add_gradient(-2.0, thin.row(0), thin.row(1), &mut sum);
            assert::all_close(&sum, &got.iter().map(|g| -g).collect::<Vec<_>>(), 1e-12);
        }
    }
}

#[test]
fn second_derivatives_are_finite_differences() {
    let mut without = Vec::new();
    for kernel in examples() {
        let points = points(&kernel, 4, 10);
        if kernel.smoothness() < 2 {
            assert!(kernel.second_derivatives(points.row(0), points.row(1)).is_err(), "{kernel}");
            without.push(kernel.to_string());
            continue;
        }
        for i in 0..3 {
            let (x, y) = (points.row(i).to_f64(), points.row(i + 1).to_f64());
            let got = kernel.second_derivatives(Row::F64(&x), Row::F64(&y)).expect("smooth");
            let gradient = |x: &[f64], y: &[f64]| {
                let mut out = vec![0.0; D];
                let value = kernel.gradient(Row::F64(x), Row::F64(y), &mut out).expect("a gradient");
                (value, out)
            };
            let (value, first) = gradient(&x, &y);
            assert::close(got.value, value, 1e-12);
            assert::all_close(&got.x, &first, 1e-11);
            assert::all_close(&got.y, &gradient(&y, &x).1, 1e-11);
            let scale = 1e-6 * (1.0 + first.iter().fold(value.abs(), |m, v| m.max(v.abs())));
            for at in 0..D * D {
                let (r, c) = (at / D, at % D);
                let xx = slope(&x, c, |x| gradient(x, &y).1[r]);
                let xy = slope(&y, c, |y| gradient(&x, y).1[r]);
                assert!((got.xx[at] - xx).abs() < scale, "{kernel} xx {r}, {c}: {} for {xx}", got.xx[at]);
                assert!((got.xy[at] - xy).abs() < scale, "{kernel} xy {r}, {c}: {} for {xy}", got.xy[at]);
            }
        }
    }
    // Kinks only.
    assert!(without.iter().all(|k| k.contains("laplacian") || k.contains("order=0")), "{without:?}");
}

#[test]
fn derivative_maps_make_gradients() {
    let mut seen = 0;
    for kernel in examples().into_iter().filter(|k| k.form() == Form::Dot) {
        seen += 1;
        // More columns than the map takes at once.
        let (n, m) = (3, 150);
        let (a, b) = (values(&kernel, n, 11), values(&kernel, m, 12));
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let dots = reference::gram(&a, &b, D, dot);
        let squares = |x: &[f64]| x.chunks(D).map(|r| dot(r, r)).collect::<Vec<_>>();
        let (a_sq, b_sq) = (squares(&a), squares(&b));
        let (mut d_dot, mut d_row) = (vec![0.0; n * m], vec![0.0; n * m]);
        kernel.map_derivative(&dots, &a_sq, &b_sq, &mut d_dot, &mut d_row);
        let narrow = |x: &[f64]| x.iter().map(|&v| v as f32).collect::<Vec<_>>();
        let (mut f_dot, mut f_row) = (vec![0.0; n * m], vec![0.0; n * m]);
        kernel.map_derivative(&narrow(&dots), &narrow(&a_sq), &narrow(&b_sq), &mut f_dot, &mut f_row);
        for (i, x) in a.chunks(D).enumerate() {
            for (j, y) in b.chunks(D).enumerate() {
                let at = i * m + j;
                let mut want = vec![0.0; D];
                kernel.gradient(Row::F64(x), Row::F64(y), &mut want).expect("a gradient");
                let scale = want.iter().fold(1e-3_f64, |s, v| s.max(v.abs()));
                for c in 0..D {
                    let wide = d_dot[at] * y[c] + 2.0 * d_row[at] * x[c];
                    assert!((wide - want[c]).abs() <= 1e-11 * scale, "{kernel}: {wide} for {}", want[c]);
                    let single = f64::from(f_dot[at]) * y[c] + 2.0 * f64::from(f_row[at]) * x[c];
                    assert!((single - want[c]).abs() <= 1e-4 * scale, "{kernel}: {single} for {}", want[c]);
                }
            }
        }
    }
    assert!(seen >= 10);
}

#[test]
fn points_of_another_kind_are_refused() {
    let numbers = Points::dense(vec![1.0, -2.0, 3.0, 4.0, 5.0], D).expect("rows");
    let rows = Points::row_numbers(vec![0, 1]);
    assert!(Kernel::Linear.check_points(numbers.view()).is_ok());
    assert!(Kernel::Precomputed.check_points(rows.view()).is_ok());
    let message = |k: &Kernel, p: &Points| k.check_points(p.view()).expect_err("refused").to_string();
    assert_eq!(
        message(&Kernel::Linear, &rows),
        "points for the kernel `linear`: got row numbers of a precomputed matrix, expected rows of numbers"
    );
    assert!(message(&Kernel::Precomputed, &numbers).contains("expected row numbers"));
    let half = Kernel::parse("0.5*precomputed").expect("a kernel");
    assert!(half.check_points(rows.view()).is_ok() && half.form() == Form::Parts);
    assert!(message(&Kernel::parse("precomputed + linear").expect("a kernel"), &rows).contains("`linear`"));
    let chi2 = Kernel::parse("2*chi2 + linear").expect("a kernel");
    assert_eq!(
        message(&chi2, &numbers),
        "row 1, column 2: got -2, expected no negative value: this kernel is for histograms"
    );
    assert!(Kernel::Linear.value(rows.row(0), rows.row(1)).is_nan());
}

#[test]
fn a_custom_kernel_works_everywhere_but_cannot_be_saved() {
    struct Mine;
    impl KernelFn for Mine {
        fn name(&self) -> &'static str {
            "mine"
        }
        fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
            Kernel::Rbf { gamma: 0.3 }.value(x, y)
        }
        fn definiteness(&self) -> Definiteness {
            Definiteness::Positive
        }
        fn has_gradient(&self) -> bool {
            true
        }
        fn gradient(&self, x: Row<'_>, y: Row<'_>, out: &mut [f64]) {
            Kernel::Rbf { gamma: 0.3 }.gradient(x, y, out).expect("a gradient");
        }
    }
    let around = |k: Kernel| {
        let part = Kernel::Columns { from: 1, to: 4, of: Box::new(k.clone()) };
        Kernel::Product(vec![Kernel::Sum(vec![k, Kernel::Linear]), part])
    };
    let (custom, known) = (around(Kernel::custom(Mine)), around(Kernel::Rbf { gamma: 0.3 }));
    let (a, a_dense) = sparse(&toy::normals(5, D, 13));
    let want = gram(&known, &a_dense, &a_dense);
    for points in [&a, &a_dense] {
        let mut got = vec![0.0_f64; 25];
        custom.own_block(points.view(), points.view(), &mut got);
        assert::all_close(&got, &want, 1e-13);
        let (mut g, mut w) = (vec![0.0; D], vec![0.0; D]);
        custom.gradient(points.row(0), points.row(1), &mut g).expect("a gradient");
        known.gradient(points.row(0), points.row(1), &mut w).expect("a gradient");
        assert::all_close(&g, &w, 1e-13);
    }
    assert_eq!(custom.form(), Form::Parts);
    assert_eq!(custom.definiteness(), Definiteness::Positive);
    assert_eq!(custom.clone(), custom);
    assert!(serde_json::to_string(&custom).expect_err("code").to_string().contains("cannot be saved"));
    assert!(custom.second_derivatives(a.row(0), a.row(1)).is_err());
}

#[test]
fn a_zero_vector_stays_zero_when_normalised() {
    let kernel = Kernel::parse("normalised(linear)").expect("a kernel");
    let (zero, one) = ([0.0; 2], [3.0, 4.0]);
    assert_eq!(kernel.value(Row::F64(&zero), Row::F64(&one)), 0.0);
    assert_eq!(kernel.value(Row::F64(&one), Row::F64(&one)), 1.0);
    let mut tile = [0.0_f32, 25.0];
    kernel.map(&mut tile, &[25.0], &[0.0, 25.0]);
    assert_eq!(tile[0], 0.0);
    assert::close(f64::from(tile[1]), 1.0, 1e-6);
}

#[test]
fn kernels_cross_threads() {
    fn crosses<T: Send + Sync + Clone>() {}
    crosses::<Kernel>();
}

#[test]
fn the_table_is_complete_and_its_names_are_unique() {
    let mut names: Vec<&str> =
        Kernel::ALL.iter().flat_map(|e| std::iter::once(e.name).chain(e.aliases.iter().copied())).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    for entry in Kernel::ALL {
        assert!(
            !entry.formula.is_empty() && entry.doc.ends_with('.') && !entry.definiteness.is_empty(),
            "{}",
            entry.name
        );
        // Each example is of its own row.
        for line in entry.examples {
            let kernel = Kernel::parse(line).expect("an example");
            assert_eq!(kernel.entry().map(|e| e.name), Some(entry.name), "{line}");
        }
    }
}
