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

/// Symbols of a file to predict on mean what they meant in training, whichever letters occur in it.
#[test]
fn letters_of_a_file_are_those_of_the_model() {
    use mercer::data::io::{Format, ReadOptions, read_bytes, read_sequences};
    let trained = |lines: String| {
        let options = ReadOptions { format: Some(Format::Sequences), ..ReadOptions::default() };
        let data = read_bytes("train.txt", lines.as_bytes(), &options).expect("sequences");
        let plan =
            mercer::model::Plan::new(&data, &mercer::model::Wishes::default(), Exec::one()).expect("a plan");
        plan.fit(Exec::one(), &mut silent()).expect("a fit")
    };
    let spelled = |letters: &[u8], plain: usize| -> String {
        let value = toy::uniforms(30, 24, 0.0, 1.0, 5);
        let lines = value.chunks(24).enumerate().map(|(i, row)| {
            // Other letters are usual in every second row.
            let of = |v: &f64| letters[(v.powf(1.0 + (i % 2) as f64) * plain as f64) as usize] as char;
            format!("{}\t{}\n", ["x", "y"][i % 2], row.iter().map(of).collect::<String>())
        });
        lines.collect::<Vec<_>>().concat()
    };
    for (letters, codes, strange, plain) in [
        ("ACGT", "N-RYK", "U", 4),
        ("ACGU", "N-RYK", "T", 4),
        ("ACDEFGHIKLMNPQRSTVWY", "XBZ*", "1", 20),
        // Neither of the known alphabets.
        ("JQXZ", "", "A", 4),
    ] {
        let model = trained(spelled(letters.as_bytes(), plain));
        let read = |text: &str| {
            let read = |options: &ReadOptions| read_bytes("new.txt", text.as_bytes(), options);
            // Codes alone do not look like sequences.
            let format = if text.starts_with('>') { Format::Fasta } else { Format::Sequences };
            model.read_rows(ReadOptions { format: Some(format), ..ReadOptions::default() }, read)
        };
        let values =
            |text: &str| model.decision(read(text).expect(text).points.view(), Exec::one()).expect("values");
        let word: String = letters.chars().cycle().take(24).collect();
        let alone = values(&format!("x\t{word}\n"));
        // Few letters, or in lower case.
        let some: String = letters.chars().take(2).cycle().take(24).collect();
        let two = values(&format!("x\t{word}\ny\t{some}\n"));
        assert_eq!(two[..alone.len()], alone[..], "{letters}");
        assert_eq!(values(&format!("y\t{some}\n"))[..], two[alone.len()..], "{letters}");
        assert_eq!(values(&format!("x\t{}\n", word.to_lowercase())), alone, "{letters}");
        assert_eq!(values(&format!(">a x\n{word}\n")), alone, "{letters}");
        // One row of codes alone does not change what another row's letters mean.
        for code in codes.chars() {
            let uncertain: String = std::iter::repeat_n(code, 24).collect();
            let two = values(&format!("x\t{word}\ny\t{uncertain}\n"));
            assert_eq!(two[..alone.len()], alone[..], "{letters} {code}");
        }
        let why = read(&format!("x\t{word}\ny\t{some}{strange}\n")).expect_err(strange).to_string();
        assert!(why.contains(strange) && why.contains(letters), "{why}");
        // Texts are read as the lines of a file.
        let texts = |text: &str| {
            model.read_rows(ReadOptions::default(), |options| read_sequences("texts", &[text], options))
        };
        let data = texts(&word.to_lowercase()).expect("a row");
        assert_eq!(model.decision(data.points.view(), Exec::one()).expect("values"), alone, "{letters}");
        let why = texts(&format!("{some}{strange}")).expect_err(strange).to_string();
        assert!(why.contains("row 1") && why.contains(strange) && why.contains(letters), "{why}");
        assert!(texts("").expect_err("empty").to_string().contains("an empty sequence"));
        // Letters that are given and differ from the model's are refused.
        let other = ReadOptions { alphabet: Some("TGCA".into()), ..ReadOptions::default() };
        let read = |options: &ReadOptions| read_bytes("new.txt", format!("x\t{word}\n").as_bytes(), options);
        let why = model.read_rows(other, read).expect_err("other letters").to_string();
        assert!(why.contains("the letters of the model"), "{why}");
    }
}
