//! Probabilities and rejects.

use mercer::Exec;
use mercer::data::{Labels, Points, Targets};
use mercer::model::Sample;
use mercer::model::Wanted;
use mercer::model::svc::{Multi, SvcParams};
use mercer::watch::silent;
use mercer_testkit::assert::close;

use super::help::{clouds, disc, error, fit, outputs, rbf};

#[test]
fn probabilities_of_two_classes_rise_with_the_output_and_are_calibrated() {
    let (points, targets) = disc(600, 1);
    let (probe, truth) = disc(2000, 2);
    let params = SvcParams { kernel: Some(rbf(0.5)), probability: true, ..SvcParams::default() };
    let model = fit(&params, &points, &targets);
    let f = outputs(&model, &probe);
    let p = model.probabilities(probe.view(), Exec::one()).expect("fitted with them");
    let mut order: Vec<usize> = (0..2000).collect();
    order.sort_by(|&i, &j| f[i].total_cmp(&f[j]));
    for w in order.windows(2) {
        assert!(p.values[2 * w[0] + 1] <= p.values[2 * w[1] + 1]);
    }
    for line in p.values.chunks(2) {
        close(line[0] + line[1], 1.0, 1e-12);
    }
    // Nine labels in ten are right away from the edge, and the probabilities know.
    let want = &truth.classes().expect("classes").of_row;
    let sure: Vec<usize> = (0..2000).filter(|&i| p.values[2 * i + 1] > 0.8).collect();
    let share = sure.iter().filter(|&&i| want[i] == 1).count() as f64 / sure.len() as f64;
    let mean = sure.iter().map(|&i| p.values[2 * i + 1]).sum::<f64>() / sure.len() as f64;
    assert!(sure.len() > 300 && (share - mean).abs() < 0.05, "{share} against {mean} on {}", sure.len());
    // Where the likelier class is not the predicted one, it is said.
    let got = model.labels(probe.view(), Exec::one()).expect("columns agree").of_row;
    for i in 0..2000 {
        let likelier = u32::from(p.values[2 * i + 1] > p.values[2 * i]);
        assert_eq!(p.contradict.contains(&(i as u32)), likelier != got[i], "row {i}");
    }
    assert!(p.contradict.len() < 100 && model.info.notes.iter().any(|n| n.starts_with("calibration: ")));
}

#[test]
fn probabilities_of_several_classes_sum_to_one_and_follow_the_votes() {
    let (points, targets) = clouds(4, 50, 3);
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        let params = SvcParams { kernel: Some(rbf(0.3)), probability: true, multi, ..SvcParams::default() };
        let model = fit(&params, &points, &targets);
        let p = model.probabilities(points.view(), Exec::one()).expect("fitted with them");
        for line in p.values.chunks(4) {
            close(line.iter().sum(), 1.0, 1e-12);
            assert!(line.iter().all(|v| *v >= 0.0));
        }
        assert!(p.contradict.len() * 20 < points.len(), "{multi:?}: {} contradictions", p.contradict.len());
        let loss =
            mercer::assess::metric::log_loss(&p.values, 4, &targets.classes().expect("classes").of_row);
        assert!(loss < 0.4, "{multi:?}: {loss}");
    }
}

#[test]
fn probabilities_need_to_be_asked_for_and_one_row_of_a_class_is_told() {
    let (points, targets) = disc(50, 4);
    let model = fit(&SvcParams::default(), &points, &targets);
    assert!(model.probabilities(points.view(), Exec::one()).is_err());
    let few = Points::dense(vec![0.0, 0.1, 5.0], 1).expect("whole rows");
    let lonely = Targets::Classes(Labels::new(["a", "a", "b"]));
    let params = SvcParams { probability: true, ..SvcParams::default() };
    let model = params.fit(Sample::new(&few, &lonely), Exec::one(), &mut silent()).expect("two classes");
    let p = model.probabilities(few.view(), Exec::one()).expect("fitted with them");
    assert!(p.values.chunks(2).all(|row| (row[0] + row[1] - 1.0).abs() < 1e-12));
    let told = "calibration: class b has one row, so its probabilities are unreliable";
    assert!(model.info.notes.iter().any(|note| note.contains(told)), "{:?}", model.info.notes);
}

#[test]
fn rejects_are_as_many_or_as_good_as_wanted() {
    let (points, targets) = clouds(4, 60, 5);
    let (probe, truth) = clouds(4, 200, 6);
    let labels = truth.classes().expect("classes");
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        let params = SvcParams { kernel: Some(rbf(0.3)), multi, ..SvcParams::default() };
        let mut model = fit(&params, &points, &targets);
        let plain = error(&model, &probe, &truth);
        assert!(plain > 0.02);
        for wanted in [Wanted::Error(plain / 2.0), Wanted::Rejected(0.1)] {
            let f = outputs(&model, &probe);
            let rule = model.reject_rule(&f, Some(labels), wanted).expect("rows");
            model.reject = Some(rule);
            let got = model.unrejected(&f).expect("classes");
            let answered: Vec<usize> = (0..got.len()).filter(|&i| got[i].is_some()).collect();
            let wrong = answered.iter().filter(|&&i| got[i] != Some(labels.of_row[i])).count();
            let (error, rejected) =
                (wrong as f64 / answered.len() as f64, 1.0 - answered.len() as f64 / got.len() as f64);
            close(rule.error, error, 1e-12);
            close(rule.rejected, rejected, 1e-12);
            match wanted {
                Wanted::Error(rate) => assert!(error <= rate && rejected > 0.0 && rejected < 0.5, "{rule:?}"),
                Wanted::Rejected(rate) => {
                    assert!(rejected <= rate && rejected > 0.05 && error < plain, "{rule:?}");
                }
            }
        }
    }
}

#[test]
fn calibration_of_many_machines_is_one_note_and_of_few_a_note_each() {
    for (classes, notes) in [(3, 1..=3), (12, 1..=1)] {
        let (points, targets) = clouds(classes, 40, 3);
        let params =
            SvcParams { kernel: Some(rbf(0.3)), probability: true, folds: 2, ..SvcParams::default() };
        let model = fit(&params, &points, &targets);
        let told: Vec<_> = model.info.notes.iter().filter(|n| n.starts_with("calibration: ")).collect();
        assert!(notes.contains(&told.len()), "{classes} classes: {told:?}");
        assert_eq!(told[0].contains(" of 66 machines have probability 1/2 at outputs from "), classes == 12);
    }
}
