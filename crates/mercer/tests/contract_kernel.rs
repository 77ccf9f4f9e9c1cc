//! What every kernel of [`Kernel::ALL`] must keep, on seeded points.
//!
//! A new kernel is tested by its row in the table: nothing needs to be written here.

use mercer::data::{Csr, Points, Row};
use mercer::kernel::{Definiteness, Form, Kernel};
use mercer::num::Real;
use mercer_testkit::{assert, reference, toy};

/// Columns of the points; the examples in the table are made for them.
const D: usize = 5;

/// Every example of every row but the precomputed matrix, whose values are not the kernel's own.
fn examples() -> Vec<Kernel> {
    let lines = Kernel::ALL.iter().flat_map(|entry| {
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
        let (a, b) = (points(&kernel, 9, 2), points(&kernel, 13, 3));
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
            k.iter_mut().for_each(|v| *v = -*v);
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
