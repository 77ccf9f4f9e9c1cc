//! Every learner on sequences without a kernel: it takes the usual one of sequences, or says that it needs numbers.

use mercer::Exec;
use mercer::data::{Dataset, Labels, Points, Sequences, Targets};
use mercer::kernel::default_sequence_kernel;
use mercer::model::{Learner, Model, Sample, Task};
use mercer::watch::silent;
use mercer_testkit::toy;

/// Those whose centres move among the rows.
const NUMBERS: [&str; 5] = ["adaboost", "arc-gv", "adaboost-reg", "lpboost", "rbf-network"];

/// Rows of 4 or 20 letters, of one length or of several; every second row holds the same word twice.
fn points(letters: u8, n: usize, aligned: bool) -> Points {
    let mut start = vec![0];
    let mut symbol = Vec::new();
    for (i, row) in toy::uniforms(n, 40, 0.0, f64::from(letters), 7).chunks(40).enumerate() {
        let length = if aligned { 40 } else { 25 + i % 15 };
        let mut s: Vec<u8> = row[..length].iter().map(|v| *v as u8).collect();
        if i % 2 == 1 {
            for at in [3, 14] {
                s[at..at + 5].copy_from_slice(&[0, 1, 1, 2, 0]);
            }
        }
        symbol.extend(s);
        start.push(symbol.len());
    }
    let alphabet = (0..letters).map(|s| b'A' + s).collect();
    Points::sequences(Sequences { alphabet, start, symbol }).expect("symbols of the alphabet")
}

fn targets(task: Task, n: usize) -> Targets {
    match task {
        Task::Regression => Targets::Reals((0..n).map(|i| (i % 2) as f64 + 0.01 * i as f64).collect()),
        Task::Classification => Targets::Classes(Labels::new((0..n).map(|i| ["plain", "signal"][i % 2]))),
        _ => Targets::None,
    }
}

#[test]
fn every_learner_takes_the_usual_kernel_of_sequences() {
    let n = 60;
    let mut wrong = Vec::new();
    for (letters, aligned) in [(4, true), (4, false), (20, true), (20, false)] {
        let points = points(letters, n, aligned);
        let usual = default_sequence_kernel(points.view()).expect("sequences");
        for entry in Learner::ALL {
            for &task in entry.tasks {
                let name = format!("{} to {}, {letters} letters, aligned {aligned}", entry.name, task.verb());
                let data = Dataset::new(points.clone(), targets(task, n)).expect("a target a row");
                let sample = Sample::new(&data.points, &data.targets);
                let fitted = entry.learner().fit(sample, Exec::one(), &mut silent());
                let fitted = match fitted {
                    Err(why) if NUMBERS.contains(&entry.name) && why.to_string().contains("numbers") => {
                        continue;
                    }
                    Err(why) => {
                        wrong.push(format!("{name}: {why}"));
                        continue;
                    }
                    Ok(fitted) => fitted,
                };
                let model = Model::from(fitted);
                let took = model.machine.expansion.kernel();
                if NUMBERS.contains(&entry.name) || *took != usual {
                    wrong.push(format!("{name}: fitted with {took}"));
                }
                let f = model.decision(data.points.view(), Exec::one()).expect(&name);
                assert!(f.len() == n * model.outputs() && f.iter().all(|v| v.is_finite()), "{name}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
