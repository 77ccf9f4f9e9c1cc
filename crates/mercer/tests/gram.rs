//! Blocks, rows, low-rank factors and expansions against their slow definitions, for every kernel in the table.

use mercer::Exec;
use mercer::data::{Csr, Points, View};
use mercer::expansion::{Expansion, Precision};
use mercer::gram::{self, Centres, KernelRows, Rows};
use mercer::kernel::{Form, Kernel, Takes};
use mercer_testkit::{assert, reference, toy};

/// Every kernel that is computed from vectors, through its examples in the table.
fn kernels() -> Vec<Kernel> {
    Kernel::ALL
        .iter()
        .filter(|entry| entry.takes != Takes::Sequences)
        .flat_map(|entry| entry.examples)
        .map(|line| line.parse::<Kernel>().expect(line))
        .filter(|k| k.form() != Form::Precomputed)
        .collect()
}

/// Positive values, so that histogram kernels are at home; d fits the examples of kernels with one width a column.
fn points(n: usize, seed: u64) -> Points {
    Points::dense(toy::uniforms(n, D, 0.05, 1.0, seed), D).expect("n x d")
}

const D: usize = 5;

fn slow(kernel: &Kernel, x: View<'_>, y: View<'_>) -> Vec<f64> {
    (0..x.n)
        .flat_map(|i| (0..y.n).map(move |j| (i, j)))
        .map(|(i, j)| kernel.value(x.row(i), y.row(j)))
        .collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

#[test]
fn blocks_are_the_definition_for_every_kernel() {
    let (x, y) = (points(61, 1), points(300, 2));
    for kernel in kernels() {
        let want = slow(&kernel, x.view(), y.view());
        for exec in [Exec::one(), Exec::new(2)] {
            let got = gram::cross::<f64>(&kernel, x.view(), y.view(), exec).expect("vectors");
            assert::close_to_scale(&got, &want, 1e-12);
            let got = gram::cross::<f32>(&kernel, x.view(), y.view(), exec).expect("vectors");
            assert::close_to_scale(&wide(&got), &want, 1e-5);
        }
    }
}

#[test]
fn the_symmetric_half_is_mirrored() {
    let x = points(300, 3);
    for kernel in kernels() {
        let want = slow(&kernel, x.view(), x.view());
        let got = gram::square::<f64>(&kernel, x.view(), Exec::new(2)).expect("vectors");
        assert::close_to_scale(&got, &want, 1e-12);
        assert!((0..300 * 300).all(|p| got[p] == got[p % 300 * 300 + p / 300]), "{kernel} is not mirrored");
    }
}

#[test]
fn sparse_rows_give_what_dense_rows_give() {
    let mut rng_values = toy::uniforms(40, 200, 0.0, 1.0, 5);
    rng_values.iter_mut().for_each(|v| *v = if *v < 0.98 { 0.0 } else { *v });
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in rng_values.chunks(200) {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(c as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    let sparse = Points::sparse(csr, 200).expect("rows in order");
    let dense = sparse.to_dense().expect("numbers");
    for line in
        ["linear", "rbf(gamma=0.5)", "poly(degree=3, scale=1, coef0=1)", "laplacian(gamma=0.3) + linear"]
    {
        let kernel: Kernel = line.parse().expect(line);
        let want = slow(&kernel, dense.view(), dense.view());
        let both = gram::square::<f64>(&kernel, sparse.view(), Exec::new(2)).expect("numbers");
        assert::close_to_scale(&both, &want, 1e-12);
        let mixed = gram::cross::<f64>(&kernel, sparse.view(), dense.view(), Exec::one()).expect("numbers");
        assert::close_to_scale(&mixed, &want, 1e-12);
        let other = gram::cross::<f64>(&kernel, dense.view(), sparse.view(), Exec::one()).expect("numbers");
        assert::close_to_scale(&other, &want, 1e-12);
    }
}

#[test]
fn a_far_origin_does_not_cost_f32_its_digits() {
    let near = points(50, 7);
    let far: Vec<f64> = near.view().to_f64().expect("dense").iter().map(|v| v + 1000.0).collect();
    let far = Points::dense(far, D).expect("n x d");
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let want = slow(&kernel, near.view(), near.view());
    let got = gram::square::<f32>(&kernel, far.view(), Exec::one()).expect("vectors");
    assert::all_close(&wide(&got), &want, 1e-5);
}

#[test]
fn rows_over_points_are_rows_of_the_matrix() {
    let x = points(130, 9);
    let kernel = Kernel::Rbf { gamma: 0.7 };
    let want = slow(&kernel, x.view(), x.view());
    let rows = KernelRows::new(&kernel, &x, Exec::one()).expect("vectors");
    let mut out = vec![0.0; 3 * 130];
    rows.block(&[5, 129, 0], &mut out, Exec::new(2));
    for (p, i) in [5, 129, 0].into_iter().enumerate() {
        assert::all_close(&wide(&out[p * 130..(p + 1) * 130]), &want[i * 130..(i + 1) * 130], 1e-5);
    }
    let keep = [7, 3, 100];
    let part = rows.subset(&keep);
    let mut out = vec![0.0; 9];
    part.fill(&mut out, Exec::one());
    let picked: Vec<f64> =
        keep.iter().flat_map(|&i| keep.map(|j| want[i as usize * 130 + j as usize])).collect();
    assert::all_close(&wide(&out), &picked, 1e-5);
    let coef = [0.5, -2.0];
    let mut sums = vec![1.0; 130];
    rows.apply(&[4, 90], &coef, &mut sums, Exec::new(2));
    let exact: Vec<f64> =
        (0..130).map(|i| 1.0 + 0.5 * want[i * 130 + 4] - 2.0 * want[i * 130 + 90]).collect();
    assert::all_close(&sums, &exact, 1e-13);
    assert::all_close(&rows.diag(), &vec![1.0; 130], 1e-15);
}

#[test]
fn low_rank_factors_come_near_and_say_how_near() {
    let x = points(80, 11);
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let k = slow(&kernel, x.view(), x.view());
    let rest = |f: &[f64], r: usize| -> Vec<f64> {
        (0..80 * 80)
            .map(|p| k[p] - (0..r).map(|c| f[p / 80 * r + c] * f[p % 80 * r + c]).sum::<f64>())
            .collect()
    };
    let trace = |m: &[f64]| (0..80).map(|i| m[i * 80 + i]).sum::<f64>();
    let by_pivots = gram::pivoted_cholesky(&kernel, x.view(), 80, 1e-6, Exec::one()).expect("vectors");
    let by_landmarks = gram::nystroem(&kernel, x.view(), &by_pivots.pivots, Exec::one()).expect("vectors");
    assert!(by_pivots.rank < 80 && by_pivots.error <= 1e-6 * by_pivots.trace);
    for low in [&by_pivots, &by_landmarks] {
        let rest = rest(&low.factor, low.rank);
        assert::close(low.error, trace(&rest), 1e-9);
        assert!(rest.iter().all(|v| v.abs() <= low.error + 1e-10), "an entry is off by more than the bound");
    }
    // On the same pivots the two are one approximation.
    assert::close(by_pivots.error, by_landmarks.error, 1e-8);
    let all = gram::nystroem(&kernel, x.view(), &(0..80).collect::<Vec<_>>(), Exec::one()).expect("vectors");
    assert!(all.error < 1e-9 * all.trace);
    assert!(gram::nystroem(&kernel, x.view(), &[80], Exec::one()).is_err());
    assert!(gram::pivoted_cholesky(&kernel, x.view(), 5, 1.5, Exec::one()).is_err());
}

fn expansion(kernel: &Kernel, m: usize, k: usize, seed: u64) -> Expansion {
    let coef = toy::normals(m, k, seed + 1);
    Expansion::new(kernel.clone(), points(m, seed), coef, (0..k).map(|o| o as f64).collect()).expect("fits")
}

#[test]
fn expansions_evaluate_as_the_sum_for_every_kernel() {
    let x = points(300, 21);
    for kernel in kernels() {
        let f = expansion(&kernel, 40, 3, 22);
        let k = slow(&kernel, x.view(), f.centres().view());
        let mut want = reference::product(&k, f.coef(), 300, 40, 3);
        want.iter_mut().enumerate().for_each(|(p, v)| *v += f.offset()[p % 3]);
        assert::close_to_scale(&f.evaluate(x.view(), Exec::new(2)).expect("fits"), &want, 1e-12);
        assert::close_to_scale(
            &f.evaluate_in(x.view(), Precision::F32, Exec::one()).expect("fits"),
            &want,
            1e-4,
        );
        assert::close_to_scale(&f.evaluate_values(&k, Exec::one()).expect("fits"), &want, 1e-12);
    }
}

#[test]
fn expansions_are_vectors_with_lengths_and_distances() {
    let kernel = Kernel::Rbf { gamma: 0.8 };
    let (f, g) = (expansion(&kernel, 30, 2, 31), expansion(&kernel, 20, 2, 41));
    let exec = Exec::one();
    let k = slow(&kernel, f.centres().view(), g.centres().view());
    let want = (0..4).map(|p| {
        (0..30)
            .flat_map(|i| (0..20).map(move |j| (i, j)))
            .map(|(i, j)| f.coef()[i * 2 + p / 2] * k[i * 20 + j] * g.coef()[j * 2 + p % 2])
            .sum()
    });
    assert::all_close(&f.inner(&g, exec).expect("one kernel"), &want.collect::<Vec<_>>(), 1e-12);
    let difference = f.sum(&g.scaled(-1.0)).expect("one kernel");
    assert::all_close(
        &f.distance2_to(&g, exec).expect("fits"),
        &difference.norm2(exec).expect("fits"),
        1e-10,
    );
    assert::all_close(&f.distance2_to(&f, exec).expect("fits"), &[0.0, 0.0], 1e-10);
    // The distance of Phi(x) to Psi is the distance of two expansions.
    let x = points(1, 51);
    let image = Expansion::new(kernel.clone(), x.clone(), vec![1.0, 1.0], vec![0.0, 0.0]).expect("fits");
    assert::all_close(
        &f.distance2(x.view(), exec).expect("fits"),
        &image.distance2_to(&f, exec).expect("fits"),
        1e-10,
    );
    let one = f.select(&[1]).expect("exists");
    assert::close(one.norm2(exec).expect("fits")[0], f.norm2(exec).expect("fits")[1], 1e-12);
    assert!(f.select(&[2]).is_err());
    assert!(f.inner(&expansion(&Kernel::Linear, 3, 2, 1), exec).is_err());
}

#[test]
fn gradients_are_finite_differences() {
    for kernel in kernels().iter().filter(|k| k.has_gradient()) {
        let f = expansion(kernel, 10, 2, 61);
        let x = points(1, 62).view().to_f64().expect("dense");
        let at = |j: usize, h: f64| {
            let mut moved = x.clone();
            moved[j] += h;
            f.evaluate(Points::dense(moved, D).expect("one row").view(), Exec::one()).expect("fits")
        };
        let got = f.gradient(mercer::data::Row::F64(&x)).expect("has one");
        let want: Vec<f64> =
            (0..2 * D).map(|p| (at(p % D, 1e-6)[p / D] - at(p % D, -1e-6)[p / D]) / 2e-6).collect();
        assert::close_to_scale(&got, &want, 1e-5);
    }
}

#[test]
fn the_best_coefficients_cannot_be_bettered() {
    let kernel = Kernel::Rbf { gamma: 0.6 };
    let f = expansion(&kernel, 40, 2, 71);
    let exec = Exec::one();
    // All centres: the same vector, even with a centre twice.
    let twice = f.centres().concat(&f.centres().gather(&[0, 1])).expect("one kind");
    let same = f.on_centres(twice, exec).expect("fits");
    let norm = f.norm2(exec).expect("fits");
    for (d, n) in f.distance2_to(&same, exec).expect("fits").iter().zip(&norm) {
        assert!(*d <= 1e-8 * n, "moved by {d:e} of {n:e}");
    }
    // Few centres: every change makes it worse.
    let near = f.on_centres(points(8, 72), exec).expect("fits");
    let best = f.distance2_to(&near, exec).expect("fits");
    for seed in 0..20 {
        let step = toy::normals(near.len(), 2, 100 + seed);
        let coef = near.coef().iter().zip(&step).map(|(c, s)| c + 0.01 * s).collect();
        let moved =
            Expansion::new(kernel.clone(), near.centres().clone(), coef, vec![0.0, 0.0]).expect("fits");
        let worse = f.distance2_to(&moved, exec).expect("fits");
        assert!(worse.iter().zip(&best).all(|(w, b)| w > b));
    }
}

#[test]
fn pruning_and_zero_coefficients_drop_centres() {
    let kernel = Kernel::Linear;
    let coef = vec![1.0, 0.0, 0.0, 0.0, 1e-9, 2.0];
    let f = Expansion::new(kernel, points(3, 81), coef, vec![0.0, 0.0]).expect("fits");
    assert_eq!(f.len(), 2);
    assert_eq!(f.pruned(1e-6).len(), 2);
    assert_eq!(f.pruned(1.5).len(), 1);
    assert!(Expansion::new(Kernel::Linear, points(1, 1), vec![f64::NAN], vec![0.0]).is_err());
    assert!(Expansion::new(Kernel::Linear, points(2, 1), vec![1.0], vec![0.0]).is_err());
}

#[test]
fn centres_take_points_in_pieces() {
    let kernel = Kernel::Poly { degree: 2, scale: 0.5, coef0: 1.0 };
    let (c, x) = (points(1100, 91), points(700, 92));
    let coef = toy::normals(1100, 1, 93);
    let mut got = vec![0.0; 700];
    Centres::<f64>::new(&kernel, c.view(), &coef, x.view(), Exec::one())
        .expect("fits")
        .apply(x.view(), &mut got, Exec::new(2))
        .expect("fits");
    let want = reference::product(&slow(&kernel, x.view(), c.view()), &coef, 700, 1100, 1);
    assert::close_to_scale(&got, &want, 1e-12);
}

/// Rows of integers times a constant, dense in both types and sparse, and rows of which one value is no such integer.
fn on_a_grid(n: usize, scale: f64, seed: u64) -> [Points; 4] {
    let whole = |v: f64| scale * (v * 40.0).floor().max(0.0);
    let values: Vec<f64> = toy::uniforms(n, D, -0.3, 1.0, seed).into_iter().map(whole).collect();
    let dense = Points::dense(values.clone(), D).expect("n x d");
    let single = Points::dense_f32(values.iter().map(|&v| v as f32).collect(), D).expect("n x d");
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in values.chunks(D) {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(c as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    let sparse = Points::sparse(csr, D).expect("rows in order");
    let mut off = values;
    off[n / 2 * D] += 0.31 * scale;
    [dense, single, sparse, Points::dense(off, D).expect("n x d")]
}

#[test]
fn small_integers_give_the_definition_for_every_kernel() {
    for scale in [1.0, 1.0 / 255.0, 0.125] {
        let (left, right) = (on_a_grid(70, scale, 21), on_a_grid(330, scale, 22));
        for kernel in kernels() {
            for (a, x) in left.iter().enumerate() {
                for (b, y) in right.iter().enumerate() {
                    let want = slow(&kernel, x.view(), y.view());
                    let got = gram::cross::<f64>(&kernel, x.view(), y.view(), Exec::new(2));
                    // Histogram kernels and the like do not take every storage.
                    let Ok(got) = got else { continue };
                    // Rows in f32 are rounded; the integers behind them are not.
                    let single = matches!(x.view().data, mercer::data::Data::F32(_))
                        || matches!(y.view().data, mercer::data::Data::F32(_));
                    assert::close_to_scale(&got, &want, if single { 1e-6 } else { 1e-12 });
                    // Floats in f32 lose digits of small distances, which kernels of their roots show; and all rows are
                    // floats where the processor does not multiply bytes.
                    if a == 3 || b == 3 || !mercer::num::bytes::available() {
                        continue;
                    }
                    let got = gram::cross::<f32>(&kernel, x.view(), y.view(), Exec::one()).expect("vectors");
                    assert::close_to_scale(&wide(&got), &want, 1e-5);
                }
                if a == 3 || !mercer::num::bytes::available() {
                    continue;
                }
                let got = gram::square::<f32>(&kernel, x.view(), Exec::new(2)).expect("vectors");
                assert::close_to_scale(&wide(&got), &slow(&kernel, x.view(), x.view()), 1e-5);
            }
        }
    }
}

#[test]
fn sums_against_centres_do_not_care_which_rows_are_integers() {
    let [centres, ..] = on_a_grid(700, 0.5, 31);
    let coef = toy::normals(700, 2, 33);
    for line in
        ["rbf(gamma=0.01)", "poly(degree=2, scale=0.01, coef0=1)", "linear", "normalised(poly(degree=2))"]
    {
        let kernel: Kernel = line.parse().expect(line);
        for points in on_a_grid(600, 0.5, 32) {
            let want = reference::product(&slow(&kernel, points.view(), centres.view()), &coef, 600, 700, 2);
            let mut got = vec![0.0; 1200];
            gram::apply::<f64>(&kernel, centres.view(), &coef, points.view(), &mut got, Exec::new(2))
                .expect("vectors");
            assert::close_to_scale(&got, &want, 1e-11);
            let mut got = vec![0.0; 1200];
            gram::apply::<f32>(&kernel, centres.view(), &coef, points.view(), &mut got, Exec::one())
                .expect("vectors");
            assert::close_to_scale(&got, &want, 1e-4);
        }
    }
}
