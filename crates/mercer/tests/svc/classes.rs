//! Several classes.

use mercer::Exec;
use mercer::data::{Labels, Points, Targets};
use mercer::model::svc::{Multi, SvcParams, Ties};

use super::help::{clouds, error, fit, outputs, rbf};

#[test]
fn classes_that_lie_apart_are_told_apart() {
    let (points, targets) = clouds(5, 60, 1);
    let (probe, truth) = clouds(5, 60, 2);
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        let params = SvcParams { kernel: Some(rbf(0.3)), multi, ..SvcParams::default() };
        let model = fit(&params, &points, &targets);
        assert_eq!(model.classes(), targets.classes().expect("classes").names);
        let off = error(&model, &probe, &truth);
        assert!(off < 0.15, "{multi:?}: {off}");
    }
}

#[test]
fn the_second_name_is_positive() {
    let points = Points::dense(vec![-1.0, 1.0], 1).expect("whole rows");
    for (names, sign) in [(["a", "b"], 1.0), (["b", "a"], -1.0)] {
        let targets = Targets::Classes(Labels::new(names));
        let model = fit(&SvcParams { kernel: Some(rbf(1.0)), ..SvcParams::default() }, &points, &targets);
        let f = outputs(&model, &points);
        assert!(f[1] * sign > 0.5 && f[0] * sign < -0.5, "{names:?}: {f:?}");
        assert_eq!(model.labels(points.view(), Exec::one()).expect("one column").name_of(1), names[1]);
    }
}

#[test]
fn votes_are_counted_as_written_down() {
    let (points, targets) = clouds(6, 30, 3);
    let (probe, _) = clouds(6, 60, 4);
    for ties in [Ties::First, Ties::Sum] {
        let params = SvcParams { kernel: Some(rbf(0.2)), ties, c: 0.3, ..SvcParams::default() };
        let model = fit(&params, &points, &targets);
        let f = outputs(&model, &probe);
        let got = model.labels(probe.view(), Exec::one()).expect("columns agree").of_row;
        let mut tied = 0;
        for (line, got) in f.chunks(15).zip(got) {
            let (mut votes, mut sums) = (vec![0; 6], vec![0.0; 6]);
            for (sides, f) in model.sides().iter().zip(line) {
                let (p, n) = (sides.positive as usize, sides.negative.expect("a pair") as usize);
                votes[if *f > 0.0 { p } else { n }] += 1;
                sums[p] += f;
                sums[n] -= f;
            }
            let most = *votes.iter().max().expect("six classes");
            let best: Vec<usize> = (0..6).filter(|&c| votes[c] == most).collect();
            tied += usize::from(best.len() > 1);
            let want = match ties {
                Ties::First => best[0],
                Ties::Sum => best.iter().copied().fold(best[0], |b, c| if sums[c] > sums[b] { c } else { b }),
            };
            assert_eq!(got as usize, want);
        }
        assert!(ties == Ties::First || tied < 200);
    }
}

#[test]
fn against_the_rest_the_largest_output_wins() {
    let (points, targets) = clouds(4, 30, 5);
    let params = SvcParams { kernel: Some(rbf(0.5)), multi: Multi::OneVsRest, ..SvcParams::default() };
    let model = fit(&params, &points, &targets);
    let f = outputs(&model, &points);
    let got = model.labels(points.view(), Exec::one()).expect("columns agree").of_row;
    for (line, got) in f.chunks(4).zip(got) {
        assert!(line.iter().all(|v| *v <= line[got as usize]));
    }
}

#[test]
fn names_without_rows_are_left_out() {
    let (points, targets) = clouds(4, 20, 6);
    let labels = targets.classes().expect("classes");
    let keep: Vec<usize> = (0..labels.len()).filter(|&i| labels.of_row[i] != 1).collect();
    let model = fit(&SvcParams::default(), &points.gather(&keep), &targets.gather(&keep));
    assert_eq!(model.classes(), ["class 0", "class 2", "class 3"]);
    assert_eq!(model.parts.len(), 3);
}

#[test]
fn one_set_of_centres_serves_all_machines() {
    let (points, targets) = clouds(4, 40, 7);
    let model = fit(&SvcParams { kernel: Some(rbf(0.5)), ..SvcParams::default() }, &points, &targets);
    assert_eq!(model.expansion.outputs(), 6);
    assert_eq!(model.expansion.len(), model.support.len());
    let mut rows: Vec<u32> =
        model.parts.iter().flat_map(|m| m.free.iter().chain(&m.bounded)).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows, model.support);
    let used: usize = model.parts.iter().map(|m| m.free.len() + m.bounded.len()).sum();
    assert!(used > model.support.len(), "no centre is shared");
}
