//! What a search must keep: its table, its winner, and an answer whenever it ends.

use std::ops::ControlFlow;

use super::choose::best_by;
use super::*;
use crate::data::toy;
use crate::kernel::Kernel;
use crate::watch::{Step, silent};

fn banana(n: usize, seed: u64) -> Dataset {
    let (points, targets) = toy::banana(n, seed);
    Dataset::new(points, targets).expect("whole")
}

fn space() -> Space {
    Space {
        families: vec![KernelFamily::rbf(&by_factors(0.001, 1000.0, 7)), KernelFamily::poly(1..=3, 0.5)],
        axes: vec![SearchAxis { name: "c".into(), values: by_factors(0.01, 1000.0, 6) }],
    }
}

fn run(data: &Dataset, params: &SearchParams) -> Found {
    let base = Learner::find("svc").expect("known").learner();
    search(data, &[], &base, params, Exec::new(2), &mut silent()).expect("found")
}

#[test]
fn racing_never_drops_the_winner_of_the_whole_grid() {
    let mut dropped = 0;
    for seed in 0..12 {
        let data = banana(200, seed);
        let whole = SearchParams { seed, ..SearchParams::new(space()) };
        let raced = SearchParams { race: true, ..whole.clone() };
        let (all, raced) = (run(&data, &whole), run(&data, &raced));
        assert_eq!(all.best.setting, raced.best.setting, "seed {seed}");
        assert_eq!(all.best.score, raced.best.score);
        let gone = raced.stages[0].cells.iter().filter(|c| c.open).count();
        assert!(gone < all.stages[0].cells.len(), "seed {seed}");
        dropped += gone;
    }
    // Of 12 x 60 settings.
    assert!(dropped > 200, "{dropped}");
}

#[test]
fn the_second_stage_is_finer_and_no_worse() {
    let data = banana(120, 3);
    let found = run(&data, &SearchParams { stages: 2, ..SearchParams::new(space()) });
    assert_eq!(found.stages.len(), 2);
    let coarse = best_by(&found.stages[0], found.metric, |c| c.score.mean).expect("some");
    let coarse = &found.stages[0].cells[coarse];
    assert!(found.best.score.mean <= coarse.score.mean);
    assert!(found.stages[1].cells.iter().any(|c| c.setting.kernel == coarse.setting.kernel));
    assert!(found.flat.settings >= 1 && found.flat.ranges[0].1 <= found.flat.ranges[0].2);
}

#[test]
fn medians_of_several_drawings_are_a_setting_of_the_grid() {
    let data = banana(100, 5);
    let splits = Splits::Folds { folds: 4, times: 5 };
    let found = run(&data, &SearchParams { splits, median: true, ..SearchParams::new(space()) });
    assert_eq!(found.folds, 20);
    let by_mean = best_by(&found.stages[0], found.metric, |c| c.score.mean).expect("some");
    let by_mean = found.stages[0].cells[by_mean].score.mean;
    assert!(found.best.score.mean < by_mean + 0.05, "{} {by_mean}", found.best.score.mean);
}

#[test]
fn a_search_that_was_broken_off_ends_in_the_same_table() {
    let data = banana(80, 2);
    let path = std::env::temp_dir().join(format!("mercer-search-{}", std::process::id()));
    let params = SearchParams { stages: 2, ..SearchParams::new(space()) };
    let whole = run(&data, &params);
    let kept = SearchParams { checkpoint: Some(path.clone()), ..params };
    let base = Learner::find("svc").expect("known").learner();
    let mut breaks = 0;
    let found = loop {
        let mut left = 7;
        let mut watch = |step: &Step| {
            left -= i32::from(step.done > 0);
            if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match search(&data, &[], &base, &kept, Exec::one(), &mut watch) {
            Ok(found) => break found,
            Err(Error::Cancelled) => breaks += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(breaks < 1000, "no end");
    };
    assert!(breaks > 3 && found.known > 0, "{breaks}");
    assert_eq!((found.best, found.stages), (whole.best, whole.stages));
    // Other data: another search.
    let refused = search(&banana(80, 3), &[], &base, &kept, Exec::one(), &mut silent());
    assert!(refused.expect_err("another").to_string().contains("another search"));
    std::fs::remove_file(path).expect("there");
}

fn usual() -> Learner {
    let mut learner = Learner::find("svc").expect("known").learner();
    learner.set_kernel(Kernel::Rbf { gamma: 1.0 });
    learner
}

#[test]
fn whenever_a_search_ends_it_has_a_setting_no_worse_than_the_start() {
    let splits = Splits::Folds { folds: 2, times: 1 };
    let mut judged = 0;
    for (rows, seconds) in [(1200, 1e-9), (1200, 0.02), (1200, 0.2), (100, 1e-9), (100, 1e3)] {
        let data = banana(rows, 2);
        for (stages, race) in [(1, false), (2, true)] {
            let params = SearchParams {
                start: Some(usual()),
                splits: splits.clone(),
                seconds: Some(seconds),
                stages,
                race,
                ..SearchParams::new(space())
            };
            let found = search(&data, &[], &usual(), &params, Exec::one(), &mut silent()).expect("one");
            assert!(found.late == (seconds < 1.0) || seconds > 1e-3, "{seconds}");
            let start = found.default.expect("there is a start");
            if found.best.open && found.rows.is_none() {
                assert_eq!(found.learner, usual());
            } else if found.rows.is_none() && !start.open {
                judged += 1;
                assert!(found.best.score.mean <= start.score.mean);
            }
            assert!(found.best.failed.is_none());
        }
    }
    assert!(judged >= 2, "{judged}");
    let data = banana(100, 2);
    let none = SearchParams { start: None, seconds: Some(1e-9), ..SearchParams::new(space()) };
    let refused = search(&data, &[], &usual(), &none, Exec::one(), &mut silent()).expect_err("no answer");
    assert!(refused.to_string().contains("the time limit was reached"), "{refused}");
    let wrong = SearchParams { seconds: Some(-1.0), ..none };
    assert!(search(&data, &[], &usual(), &wrong, Exec::one(), &mut silent()).is_err());
}

#[test]
fn with_time_enough_a_limit_changes_no_score() {
    let data = banana(1100, 4);
    let splits = Splits::Folds { folds: 2, times: 1 };
    let few = Space {
        families: vec![KernelFamily::rbf(&[0.1, 1.0, 10.0])],
        axes: vec![SearchAxis { name: "c".into(), values: vec![0.1, 1.0] }],
    };
    let base = SearchParams { start: Some(usual()), splits, ..SearchParams::new(few) };
    let limited = SearchParams { seconds: Some(1e6), ..base.clone() };
    let (whole, limited, again) = (run(&data, &base), run(&data, &limited), run(&data, &limited));
    assert!(!limited.late && whole.stages[0].cells.len() == 6);
    assert_eq!((&limited.stages, &limited.best), (&again.stages, &again.best));
    for (a, b) in whole.stages[0].cells.iter().zip(&limited.stages[0].cells) {
        assert!((a.score.mean - b.score.mean).abs() < 2e-3, "{a:?} {b:?}");
    }
}

#[test]
fn a_setting_that_cannot_be_fitted_is_left_out_and_told() {
    // Of 60 rows 12 are of one class: nu above 0.4 has no solution.
    let data = banana(60, 1);
    let labels = data.targets.classes().expect("classes");
    let mut rare = 0;
    let rows: Vec<usize> = (0..60)
        .filter(|&i| {
            rare += usize::from(labels.of_row[i] == 1);
            labels.of_row[i] == 0 || rare <= 6
        })
        .collect();
    let data = data.gather(&rows);
    let mut base = Learner::find("nu-svc").expect("known").learner();
    base.set_kernel(Kernel::Rbf { gamma: 1.0 });
    let space = Space {
        families: vec![KernelFamily::rbf(&[0.5, 1.0])],
        axes: vec![SearchAxis { name: "nu".into(), values: vec![0.05, 0.1, 0.5, 0.9] }],
    };
    let params = SearchParams { start: Some(base.clone()), ..SearchParams::new(space.clone()) };
    let found = search(&data, &[], &base, &params, Exec::new(2), &mut silent()).expect("some can be");
    let failed = found.stages[0].cells.iter().filter(|c| c.failed.is_some()).count();
    assert!(failed >= 4 && found.best.failed.is_none() && !found.best.open, "{failed}");
    assert!(found.notes.iter().any(|n| n.contains("could not be fitted")), "{:?}", found.notes);
    let hopeless = Space { axes: vec![SearchAxis { name: "nu".into(), values: vec![0.9] }], ..space };
    let params = SearchParams { start: None, ..SearchParams::new(hopeless) };
    let refused = search(&data, &[], &base, &params, Exec::one(), &mut silent()).expect_err("none can be");
    assert!(refused.to_string().contains("nu"), "{refused}");
}

#[test]
fn a_journal_of_any_bytes_is_an_error_or_a_search() {
    use rand::{RngExt as _, SeedableRng as _};
    let data = banana(40, 2);
    let few = Space {
        families: vec![KernelFamily::rbf(&[0.5, 1.0])],
        axes: vec![SearchAxis { name: "c".into(), values: vec![1.0, 10.0] }],
    };
    let path = std::env::temp_dir().join(format!("mercer-bytes-{}", std::process::id()));
    let params = SearchParams {
        start: Some(usual()),
        checkpoint: Some(path.clone()),
        splits: Splits::Folds { folds: 2, times: 1 },
        ..SearchParams::new(few)
    };
    let run = || search(&data, &[], &usual(), &params, Exec::one(), &mut silent());
    let whole = run().expect("found");
    let written = std::fs::read(&path).expect("a journal");
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let (mut fine, mut refused) = (0, 0);
    for round in 0..300 {
        let mut bytes = written.clone();
        for _ in 0..=round % 4 {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..4) {
                0 => bytes[at] = random.random_range(0..=255),
                1 => bytes.truncate(at),
                2 => bytes.insert(at, b"0 9\n-x.\xff\0"[random.random_range(0..9)]),
                _ => bytes.extend_from_slice(b"99999999999999999999 7 0.1\n0 3000 0.5\n"),
            }
            if bytes.is_empty() {
                break;
            }
        }
        std::fs::write(&path, &bytes).expect("written");
        match run() {
            Ok(found) => {
                fine += 1;
                assert_eq!(found.stages[0].cells.len(), whole.stages[0].cells.len());
            }
            Err(e) => {
                refused += 1;
                let text = e.to_string();
                let clear =
                    text.contains("checkpoint") || text.contains("line ") && text.contains("expected");
                assert!(clear, "{text}");
            }
        }
    }
    assert!(fine > 20 && refused > 20, "{fine} {refused}");
    std::fs::remove_file(&path).expect("there");
}

#[test]
fn a_setting_that_time_cut_short_is_judged_by_the_folds_it_has() {
    let cell = |folds: [f64; 3]| Cell {
        setting: Setting { family: 0, at: 0, kernel: Kernel::Linear, values: Vec::new() },
        score: Score::new(folds.to_vec()),
        open: folds.iter().any(|f| f.is_nan()),
        failed: None,
    };
    let start = cell([0.2, 0.1, 0.3]);
    let nan = f64::NAN;
    for (folds, ahead) in [
        ([nan, nan, nan], true),
        ([0.15, nan, nan], true),
        ([0.25, nan, nan], false),
        ([0.25, 0.01, nan], true),
        ([0.2, nan, nan], false),
    ] {
        assert_eq!(not_behind(&cell(folds), &start, true), ahead, "{folds:?}");
    }
    // Of accuracies the higher one is ahead.
    assert!(not_behind(&cell([0.3, nan, nan]), &start, false));
    assert!(!not_behind(&cell([0.1, nan, nan]), &start, false));
}
