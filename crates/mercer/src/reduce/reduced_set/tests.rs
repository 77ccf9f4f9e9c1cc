//! What must hold for every method.

use super::*;
use crate::data::Points;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::watch::silent;
use mercer_testkit::{assert::close, toy};

fn psi(line: &str, n: usize, d: usize, k: usize) -> Expansion {
    let centres = Points::dense(toy::normals(n, d, 1), d).expect("rows");
    let kernel: Kernel = line.parse().expect("a kernel");
    Expansion::new(kernel, centres, toy::normals(n, k, 2), vec![0.5; k]).expect("fits")
}

fn reduced(psi: &Expansion, params: &ReducedSetParams) -> Reduced {
    reduce(psi, params, Exec::new(2), &mut silent()).expect("a set")
}

fn params(method: ReducedSetMethod, size: Size) -> ReducedSetParams {
    ReducedSetParams { method, size, ..ReducedSetParams::default() }
}

const SELECT: [ReducedSetMethod; 3] =
    [ReducedSetMethod::Greedy, ReducedSetMethod::Components, ReducedSetMethod::Penalty];
const BUILD: [ReducedSetMethod; 2] = [ReducedSetMethod::FixedPoint, ReducedSetMethod::Gradient];
const SHARES: [Share; 3] = [Share::All, Share::Each, Share::Pooled];

#[test]
fn all_centres_kept_is_the_same_expansion() {
    let psi = psi("rbf(gamma=0.3)", 20, 3, 2);
    for method in SELECT.into_iter().chain(BUILD).chain([ReducedSetMethod::Exact, ReducedSetMethod::Auto]) {
        for size in [Size::Vectors(20), Size::Vectors(1000), Size::Ratio(1.0), Size::Error(0.0)] {
            for share in SHARES {
                let small = reduced(&psi, &ReducedSetParams { share, ..params(method, size) });
                let x = Points::dense(toy::normals(9, 3, 5), 3).expect("rows");
                let (got, want) = (
                    small.expansion.evaluate(x.view(), Exec::one()).expect("numbers"),
                    psi.evaluate(x.view(), Exec::one()).expect("numbers"),
                );
                got.iter().zip(&want).for_each(|(g, w)| close(*g, *w, 1e-8));
                assert!(small.report.error < 1e-6, "{method:?} {share:?} {}", small.report.error);
            }
        }
    }
}

#[test]
fn the_error_never_grows_with_the_set() {
    let psi = psi("rbf(gamma=0.3)", 30, 3, 3);
    for method in SELECT.into_iter().chain(BUILD) {
        for share in SHARES {
            let mut last = 1.0 + 1e-12;
            for m in [1, 2, 4, 8, 16, 29] {
                let wish = ReducedSetParams { share, descent: Some(0), ..params(method, Size::Vectors(m)) };
                let now = reduced(&psi, &wish);
                assert!(
                    now.report.error <= last,
                    "{method:?} {share:?} at {m}: {} > {last}",
                    now.report.error
                );
                last = now.report.error;
                let most = if share == Share::All { m } else { 3 * m + 2 };
                assert!(
                    now.expansion.len() <= most,
                    "{method:?} {share:?}: {} of {most}",
                    now.expansion.len()
                );
                assert_eq!(now.expansion.offset(), psi.offset());
            }
            assert!(last < 0.5, "{method:?} {share:?} {last}");
        }
    }
}

#[test]
fn phase_two_lowers_the_error_of_every_kernel() {
    for line in ["rbf(gamma=0.3)", "poly(degree=3, scale=0.2, coef0=1)", "rbf(gamma=0.2)*linear + linear"] {
        let psi = psi(line, 30, 4, 2);
        let first = reduced(
            &psi,
            &ReducedSetParams { descent: Some(0), ..params(ReducedSetMethod::Auto, Size::Vectors(5)) },
        );
        let second = reduced(&psi, &params(ReducedSetMethod::Auto, Size::Vectors(5)));
        assert!(second.report.error < first.report.error, "{line}");
        assert_eq!(second.expansion.len(), 5);
        close(*first.report.path.last().expect("steps"), first.report.error, 1e-6);
    }
}

#[test]
fn coefficients_are_optimal_against_small_changes() {
    let psi = psi("rbf(gamma=0.3)", 25, 3, 2);
    let small = reduced(&psi, &params(ReducedSetMethod::Greedy, Size::Vectors(6))).expansion;
    let best: f64 = psi.distance2_to(&small, Exec::one()).expect("numbers").iter().sum();
    for seed in 0..30 {
        let mut coef = small.coef().to_vec();
        coef.iter_mut().zip(toy::normals(6, 2, 50 + seed)).for_each(|(c, v)| *c += 1e-3 * v);
        let moved = Expansion::new(psi.kernel().clone(), small.centres().clone(), coef, vec![0.5; 2]);
        let off = psi.distance2_to(&moved.expect("fits"), Exec::one()).expect("numbers");
        assert!(off.iter().sum::<f64>() > best);
    }
}

#[test]
fn greedy_removal_is_the_best_single_removal() {
    let psi = psi("rbf(gamma=0.3)", 12, 2, 2);
    let got = reduced(&psi, &params(ReducedSetMethod::Greedy, Size::Vectors(11))).report.error;
    let best = (0..12)
        .map(|out| {
            let keep: Vec<usize> = (0..12).filter(|&i| i != out).collect();
            let small = psi.on_centres(psi.centres().gather(&keep), Exec::one()).expect("definite");
            let norm2 = psi.norm2(Exec::one()).expect("numbers");
            psi.relative_errors(&norm2, &small, Exec::one()).expect("numbers").0
        })
        .fold(f64::INFINITY, f64::min);
    close(got / best, 1.0, 1e-6);
}

#[test]
fn one_output_shared_is_one_output_alone() {
    // Several outputs that are multiples of one have the vectors of that one: eq. 19 is then eq. 12.
    let one = psi("rbf(gamma=0.3)", 20, 3, 1);
    let coef = one.coef().iter().flat_map(|c| [*c, -2.0 * c]).collect();
    let two = Expansion::new(one.kernel().clone(), one.centres().clone(), coef, vec![0.0; 2]).expect("fits");
    let wish =
        ReducedSetParams { descent: Some(0), ..params(ReducedSetMethod::FixedPoint, Size::Vectors(3)) };
    let (a, b) = (reduced(&one, &wish), reduced(&two, &wish));
    let rows = |r: &Reduced| r.expansion.centres().view().to_f64().expect("dense");
    rows(&a).iter().zip(rows(&b)).for_each(|(a, b)| close(*a, b, 1e-6));
}

#[test]
fn duplicates_cost_nothing_and_huge_coefficients_do_no_harm() {
    let base = psi("rbf(gamma=0.3)", 10, 3, 1);
    let centres = base.centres().concat(base.centres()).expect("fits");
    let coef = base.coef().iter().chain(base.coef()).map(|c| 1e9 * c).collect();
    let twice = Expansion::new(base.kernel().clone(), centres, coef, vec![0.0]).expect("fits");
    let exact = reduced(&twice, &params(ReducedSetMethod::Exact, Size::Ratio(2.0)));
    assert_eq!(exact.expansion.len(), 10);
    assert!(exact.report.error < 1e-7);
    for method in SELECT.into_iter().chain(BUILD) {
        let small = reduced(&twice, &params(method, Size::Vectors(5)));
        assert!(small.expansion.len() <= 5 && small.report.error < 1.0, "{method:?}");
    }
}

#[test]
fn one_centre_none_and_nothing_to_do() {
    let one = psi("rbf(gamma=0.3)", 1, 3, 2);
    assert_eq!(reduced(&one, &params(ReducedSetMethod::Auto, Size::Ratio(10.0))).expansion, one);
    let none = Expansion::new(one.kernel().clone(), one.centres().clone(), vec![0.0; 2], vec![0.1, 0.2])
        .expect("fits");
    for method in SELECT.into_iter().chain(BUILD) {
        assert!(reduced(&none, &params(method, Size::Vectors(3))).expansion.is_empty());
    }
    let e = reduce(&one, &params(ReducedSetMethod::Auto, Size::Vectors(0)), Exec::one(), &mut silent())
        .expect_err("none");
    assert_eq!(e.to_string(), "vectors = 0: must be at least 1");
    let e = reduce(&one, &params(ReducedSetMethod::Square, Size::Vectors(1)), Exec::one(), &mut silent());
    assert_eq!(
        e.expect_err("no square").to_string(),
        "method square is for (x.y)^2, not for `rbf(gamma=0.3)`"
    );
}

#[test]
fn under_the_square_there_are_as_many_vectors_as_columns() {
    let psi = psi("poly(degree=2, scale=0.5)", 40, 4, 1);
    let small = reduced(&psi, &params(ReducedSetMethod::Auto, Size::Ratio(10.0)));
    assert_eq!((small.report.method, small.expansion.len()), (ReducedSetMethod::Square, 4));
    assert!(small.report.error < 1e-7, "{}", small.report.error);
    // Three vectors that descent finds are no better than the three largest.
    let three = reduced(&psi, &params(ReducedSetMethod::Square, Size::Vectors(3))).report.error;
    let found = reduced(&psi, &params(ReducedSetMethod::Gradient, Size::Vectors(3))).report.error;
    assert!(three <= found + 1e-9 && found < three * 1.2, "{three} {found}");
}

#[test]
fn an_error_asked_for_is_kept_and_a_smaller_set_would_not_do() {
    let psi = psi("rbf(gamma=0.1)", 40, 2, 2);
    for share in SHARES {
        let small =
            reduced(&psi, &ReducedSetParams { share, ..params(ReducedSetMethod::Auto, Size::Error(0.05)) });
        assert!(small.report.error <= 0.05 && small.expansion.len() < 40, "{:?}", small.report);
    }
}

#[test]
fn runs_repeat_and_threads_change_nothing_much() {
    let psi = psi("rbf(gamma=0.3)", 25, 3, 3);
    let wish = ReducedSetParams { share: Share::Each, ..params(ReducedSetMethod::Auto, Size::Vectors(3)) };
    let (a, b) = (reduced(&psi, &wish).expansion, reduced(&psi, &wish).expansion);
    assert_eq!(a, b);
    let one = reduce(&psi, &wish, Exec::one(), &mut silent()).expect("a set").expansion;
    assert_eq!(a, one);
}

#[test]
fn a_watcher_can_break_off() {
    let psi = psi("rbf(gamma=0.3)", 25, 3, 1);
    let mut watch = |_: &crate::watch::Step| std::ops::ControlFlow::Break(());
    let broken = reduce(&psi, &params(ReducedSetMethod::Auto, Size::Vectors(5)), Exec::one(), &mut watch);
    assert!(matches!(broken, Err(crate::Error::Cancelled)));
}

#[test]
fn centres_of_a_block_are_replaced_by_centres_of_that_block() {
    // Three outputs, each of two of three parts: machines of pairs of classes.
    let whole = psi("rbf(gamma=0.3)", 30, 3, 3);
    let outputs = [[0, 1], [0, 2], [1, 2]];
    let mut coef = whole.coef().to_vec();
    for (i, line) in coef.chunks_mut(3).enumerate() {
        (0..3).filter(|o| !outputs[i / 10].contains(o)).for_each(|o| line[o] = 0.0);
    }
    let whole =
        Expansion::new(whole.kernel().clone(), whole.centres().clone(), coef, vec![0.0; 3]).expect("fits");
    let block = |b: usize| Block { centres: (b * 10..b * 10 + 10).collect(), outputs: outputs[b].to_vec() };
    let blocks: Vec<Block> = (0..3).map(block).collect();
    for method in SELECT.into_iter().chain(BUILD) {
        let wish = ReducedSetParams { blocks: blocks.clone(), ..params(method, Size::Ratio(2.5)) };
        let small = reduced(&whole, &wish);
        assert!(small.expansion.len() <= 12 && small.report.error < 0.9, "{method:?} {:?}", small.report);
        for line in small.expansion.coef().chunks(3) {
            assert!(line.contains(&0.0), "{method:?}: a centre of no block, {line:?}");
        }
        // Each output has the best coefficients on the centres of both its blocks.
        for o in 0..3 {
            let own = small.expansion.select(&[o]).expect("an output");
            let best = whole.select(&[o]).expect("an output").on_centres(own.centres().clone(), Exec::one());
            let best = best.expect("definite");
            best.coef().iter().zip(own.coef()).for_each(|(a, b)| close(*a, *b, 1e-6));
        }
    }
    let twice = vec![block(0), block(0), block(1), block(2)];
    for (blocks, why) in [(twice, "centre 0, output 0"), (vec![block(0)], "no block has")] {
        let wish = ReducedSetParams { blocks, ..params(ReducedSetMethod::Auto, Size::Vectors(5)) };
        let e = reduce(&whole, &wish, Exec::one(), &mut silent()).expect_err("not the expansion's");
        assert!(e.to_string().contains(why), "{e}");
    }
}

#[test]
fn candidates_beyond_the_centres_are_chosen_where_they_are_better() {
    // Twins around four points: those points are not among the centres, but stand for two of them each.
    let middle = toy::normals(4, 2, 9);
    let twins: Vec<f64> = middle.chunks(2).flat_map(|z| [z[0] - 0.1, z[1], z[0] + 0.1, z[1]]).collect();
    let centres = Points::dense(twins, 2).expect("rows");
    let coef = vec![1.0, 1.0, -1.0, -1.0, 0.5, 0.5, 2.0, 2.0];
    let kernel: Kernel = "rbf(gamma=0.5)".parse().expect("a kernel");
    let psi = Expansion::new(kernel, centres, coef, vec![0.0]).expect("fits");
    let more = Points::dense(middle.clone(), 2).expect("rows");
    for method in SELECT {
        let wish = ReducedSetParams { weighting: Weighting::Equal, ..params(method, Size::Vectors(4)) };
        let without = reduced(&psi, &wish);
        let with = reduced(&psi, &ReducedSetParams { candidates: Some(more.clone()), ..wish.clone() });
        assert!(with.expansion.len() <= 4, "{method:?}");
        if method == ReducedSetMethod::Greedy {
            let (with_them, without) = (with.report.error, without.report.error);
            assert!(with_them < 0.5 * without, "{with_them} {without}");
            let chosen = with.expansion.centres().view().to_f64().expect("dense");
            assert!(chosen.chunks(2).any(|c| middle.chunks(2).any(|m| m == c)), "{chosen:?}");
        }
    }
    // Added one by one, the first is the best single one, and all of them are the whole.
    let pool = more.concat(psi.centres()).expect("fits");
    let mut forward = super::select::Forward::new(&psi, &pool, Exec::one()).expect("numbers");
    // In two goes, which must be as one.
    forward.grow(3, Exec::one()).expect("numbers");
    forward.grow(12, Exec::one()).expect("numbers");
    let order = forward.order;
    let error = |keep: &[usize]| {
        let pool = more.concat(psi.centres()).expect("fits");
        let small = psi.on_centres(pool.gather(keep), Exec::one()).expect("definite");
        let norm2 = psi.norm2(Exec::one()).expect("numbers");
        psi.relative_errors(&norm2, &small, Exec::one()).expect("numbers").0
    };
    let best = (0..12).map(|i| error(&[i])).fold(f64::INFINITY, f64::min);
    close(error(&order[..1]), best, 1e-9);
    assert!(error(&order) < 1e-4);
    let wide = Points::dense(vec![0.0; 3], 3).expect("rows");
    let wish =
        ReducedSetParams { candidates: Some(wide), ..params(ReducedSetMethod::Greedy, Size::Vectors(4)) };
    assert!(reduce(&psi, &wish, Exec::one(), &mut silent()).is_err());
}

#[test]
fn sizes_asked_for_one_after_the_other_are_those_asked_for_alone() {
    let psi = psi("rbf(gamma=0.3)", 30, 3, 2);
    for method in SELECT {
        let base = ReducedSetParams { share: Share::Each, ..params(method, Size::Vectors(1)) };
        let sizes = [5, 10, 20, 8].map(|m| (Size::Vectors(m), None));
        let all = reduce_path(&psi, &base, &sizes, Exec::new(2), &mut silent()).expect("sets");
        for ((size, _), got) in sizes.into_iter().zip(all) {
            let alone = reduced(&psi, &ReducedSetParams { size, ..base.clone() });
            assert_eq!(got.expansion.len(), alone.expansion.len(), "{method:?} {size:?}");
            close(got.report.error, alone.report.error, 1e-3);
        }
    }
}

#[test]
fn moved_centres_are_better_than_centres_that_stay_and_taken_where_there_are_many() {
    let psi = psi("rbf(gamma=0.3)", 60, 3, 4);
    let moved = reduced(&psi, &params(ReducedSetMethod::Moved, Size::Vectors(12)));
    let stay = ReducedSetParams { descent: Some(0), ..params(ReducedSetMethod::Moved, Size::Vectors(12)) };
    let stay = reduced(&psi, &stay);
    assert_eq!((moved.expansion.len(), stay.expansion.len()), (12, 12));
    assert!(moved.report.error < 0.9 * stay.report.error, "{} {}", moved.report.error, stay.report.error);
    // As good as vectors found one by one and then moved, give or take a little.
    let one_by_one = reduced(&psi, &params(ReducedSetMethod::FixedPoint, Size::Vectors(12))).report.error;
    assert!(moved.report.error < 1.25 * one_by_one, "{} {one_by_one}", moved.report.error);
    assert_eq!(
        ReducedSetMethod::Auto.on(&psi, 1, &[Size::Vectors(12)]).expect("a method"),
        ReducedSetMethod::FixedPoint
    );
    let many = Points::dense(vec![0.5; 2000 * 300], 300).expect("rows");
    let kernel: Kernel = "rbf(gamma=0.3)".parse().expect("a kernel");
    let large = Expansion::new(kernel, many, vec![1.0; 2000], vec![0.0]).expect("fits");
    let on = |size| ReducedSetMethod::Auto.on(&large, 1, &[Size::Vectors(1), size]).expect("a method");
    assert_eq!(
        (on(Size::Ratio(10.0)), on(Size::Vectors(20))),
        (ReducedSetMethod::Moved, ReducedSetMethod::FixedPoint)
    );
}

#[test]
fn widths_that_are_free_lower_the_error() {
    // A broad bump made of narrow ones: one width is short of vectors, several are not.
    let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 10.0 - 3.0).collect();
    let coef: Vec<f64> = x.iter().map(|x| (-0.3 * x * x).exp() - if *x > 1.5 { 0.5 } else { 0.0 }).collect();
    let kernel = Kernel::Rbf { gamma: 2.0 };
    let psi = Expansion::new(kernel, Points::dense(x, 1).expect("rows"), coef, vec![0.1]).expect("fits");
    let wide = with_widths(&psi).expect("Gaussian");
    for share in SHARES {
        let wish = ReducedSetParams { share, ..params(ReducedSetMethod::FixedPoint, Size::Vectors(4)) };
        let (fixed, free) = (reduced(&psi, &wish), reduced(&wide, &wish));
        assert!(free.report.error < 0.7 * fixed.report.error, "{} {}", free.report.error, fixed.report.error);
        let t: Vec<f64> =
            free.expansion.centres().view().to_f64().expect("dense").chunks(2).map(|row| row[1]).collect();
        assert!(t.iter().any(|t| t.abs() > 0.1), "{t:?}");
    }
    // Selection takes no width away, and a set that has widths can be made smaller still.
    let some = reduced(&wide, &params(ReducedSetMethod::Greedy, Size::Vectors(10)));
    let same = reduced(&psi, &params(ReducedSetMethod::Greedy, Size::Vectors(10)));
    close(some.report.error, same.report.error, 1e-6);
    let less = reduced(&wide, &params(ReducedSetMethod::FixedPoint, Size::Vectors(6))).expansion;
    assert!(reduced(&less, &params(ReducedSetMethod::Auto, Size::Vectors(3))).expansion.len() == 3);
    assert!(with_widths(&self::psi("laplacian(gamma=0.3)", 4, 2, 1)).is_err());
}
