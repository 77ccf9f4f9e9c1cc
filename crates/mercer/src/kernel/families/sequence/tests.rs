//! Values against the papers' sums, and the fast ways against the definitions.

use super::*;
use crate::data::{Points, Sequences};

/// Random sequences over so many letters, some of another length, some alike.
fn sequences(n: usize, letters: u8, lengths: &[usize]) -> Points {
    let mut state = 9_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let (mut start, mut symbol) = (vec![0], Vec::new());
    for i in 0..n {
        let len = lengths[i % lengths.len()];
        symbol.extend(
            (0..len).map(|p| if next() % 3 == 0 { (p % 2) as u8 } else { (next() % letters as usize) as u8 }),
        );
        start.push(symbol.len());
    }
    let alphabet = (b'A'..b'A' + letters).collect();
    Points::sequences(Sequences { alphabet, start, symbol }).expect("symbols of the alphabet")
}

fn kernels() -> Vec<Kernel> {
    let entries = Kernel::ALL.iter().filter(|entry| entry.takes == crate::kernel::Takes::Sequences);
    let lines = entries.flat_map(|entry| entry.examples.iter().copied());
    let more = ["kmer_spectrum(k=200)", "mismatch(k=6, m=1, letters=20)", "codon_improved(p=13)"];
    let algebra = ["normalised(mismatch)", "0.5*weighted_degree + kmer_spectrum^2"];
    lines.chain(more).chain(algebra).map(|line| line.parse().expect(line)).collect()
}

#[test]
fn blocks_are_the_definition() {
    // Words of long sequences are listed with their neighbours, those of short ones compared in pairs.
    for lengths in [&[12][..], &[9, 14, 1, 9, 3, 0], &[40, 33, 2]] {
        for letters in [2, 4] {
            let (a, b) = (sequences(7, letters, lengths), sequences(45, letters, lengths));
            for kernel in kernels() {
                let want: Vec<f64> =
                    (0..7 * 45).map(|at| kernel.value(a.row(at / 45), b.row(at % 45))).collect();
                let size = want.iter().fold(1e-9_f64, |m, v| m.max(v.abs()));
                let mut wide = vec![f64::NAN; 7 * 45];
                kernel.own_block(a.view(), b.view(), &mut wide);
                let mut narrow = vec![f32::NAN; 7 * 45];
                kernel.own_block(a.view(), b.view(), &mut narrow);
                for at in 0..7 * 45 {
                    assert!(
                        (wide[at] - want[at]).abs() <= 1e-13 * size,
                        "{kernel}: {} for {}",
                        wide[at],
                        want[at]
                    );
                    assert!(
                        (f64::from(narrow[at]) - want[at]).abs() <= 3e-6 * size,
                        "{kernel}: {}",
                        narrow[at]
                    );
                }
            }
        }
    }
}

#[test]
fn gram_matrices_are_positive() {
    let n = 24;
    for lengths in [&[8][..], &[6, 9, 2]] {
        let x = sequences(n, 3, lengths);
        for kernel in
            kernels().into_iter().filter(|k| k.definiteness() == crate::kernel::Definiteness::Positive)
        {
            let gram: Vec<f64> = (0..n * n).map(|at| kernel.value(x.row(at / n), x.row(at % n))).collect();
            for at in 0..n * n {
                let mirrored = gram[at % n * n + at / n];
                assert!((gram[at] - mirrored).abs() <= 1e-14 * (1.0 + mirrored.abs()), "{kernel}");
            }
            let (values, _) = mercer_testkit::reference::eigen(&gram, n);
            assert!(
                values[n - 1] >= -1e-10 * values[0].max(1e-9),
                "{kernel}: {:e} of {:e}",
                values[n - 1],
                values[0]
            );
        }
    }
}

fn value(line: &str, x: &[u8], y: &[u8]) -> f64 {
    let kernel: Kernel = line.parse().expect(line);
    kernel.value(Row::Sequence(x), Row::Sequence(y))
}

#[test]
fn values_are_counted_by_hand() {
    let (x, y) = ([0, 1, 2, 1], [0, 1, 1, 1]);
    // Matches at 0, 1 and 3; a window of three weighs 1, 2, 1 over 4.
    let windows = [2.0 + 1.0, 1.0 + 2.0, 1.0 + 1.0, 2.0].map(|v| v / 4.0);
    let squares: f64 = windows.iter().map(|v| v * v).sum();
    assert!((value("locality(p=3, d1=2, d2=3)", &x, &y) - squares.powi(3)).abs() < 1e-15);
    // Single places: own matches 1.5 times, and through the shift by two x_q = y_{q+2}, x_{q+2} = y_q, x_{q+2} = y_{q+2}.
    let codon = [1.5, 1.5 + 0.5 + 0.5 + 0.5, 0.0, 1.5];
    let want = codon.iter().sum::<f64>();
    assert!((value("codon(p=1, d1=1, d2=1, shift=2)", &x, &y) - want).abs() < 1e-15);
    // Words of two: 01 12 21 and 01 11 11.
    assert_eq!(value("kmers(k=2)", &x, &y), 1.0);
    assert_eq!(value("kmers(k=1)", &x, &y), 1.0 + 2.0 * 3.0);
    assert_eq!(value("kmers(k=5)", &x, &y), 0.0);
    // Words of two letters out of three, one of which may differ: 5 neighbours each.
    let near = |u: [u8; 2], v: [u8; 2]| -> f64 {
        let within = |w: [u8; 2], u: [u8; 2]| w != u && w[0] != u[0] && w[1] != u[1];
        let all = (0..9).map(|w| [w / 3, w % 3]);
        all.filter(|&w| !within(w, u) && !within(w, v)).count() as f64
    };
    let want: f64 =
        x.windows(2).flat_map(|u| y.windows(2).map(move |v| near([u[0], u[1]], [v[0], v[1]]))).sum();
    assert_eq!(value("mismatch(k=2, m=1, letters=3)", &x, &y), want);
    // Runs of 2, 1 and 1 places of at most two: weights 2/3 and 1/3.
    assert!((value("wd(degree=2)", &x, &y) - (2.0 / 3.0 * 3.0 + 1.0 / 3.0)).abs() < 1e-15);
    let shifted = value("wd(degree=1)", &x[1..], &y[..3]) + value("wd(degree=1)", &x[..3], &y[1..]);
    assert!((value("wd(degree=1, shift=1)", &x, &y) - (3.0 + shifted / 4.0)).abs() < 1e-15);
}

#[test]
fn points_and_parameters_that_do_not_fit_are_refused() {
    let dna = sequences(3, 4, &[5]);
    let numbers = Points::dense(vec![1.0, 2.0], 2).expect("a row");
    let message = |line: &str, points: &Points| {
        let kernel: crate::error::Result<Kernel> = line.parse();
        kernel.and_then(|k| k.check_points(points.view())).expect_err(line).to_string()
    };
    assert!(message("kmers", &numbers).contains("got dense f64, expected sequences"));
    assert!(message("linear", &dna).contains("expected rows of numbers"));
    assert!(message("mismatch(letters=3)", &dna).contains("at least 4, the letters of the alphabet"));
    assert!(message("mismatch(k=2, m=2)", &dna).contains("below k = 2"));
    assert!(message("mismatch(k=100)", &dna).contains("63 bits"));
    assert!(message("locality(p=4)", &dna).contains("an odd number"));
    for kernel in kernels() {
        assert!(!kernel.has_gradient(), "{kernel}");
        assert!(kernel.value(Row::F64(&[1.0]), Row::F64(&[1.0])).is_nan(), "{kernel}");
    }
}
