//! Words of texts, as counts, as 0 and 1, weighted, and as shares: what is chosen where nobody says must not lose to rows as
//! they are; and new texts have words that no training text has.

use crate::run::Folder;

/// Numbers between 0 and 1 that look random.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Texts of three topics: most words come from a list that all share, whose first words come often, the rest from the topic's.
fn texts(rows: usize, words: usize, seed: u64) -> Vec<(usize, Vec<(usize, f64)>)> {
    let mut dice = Dice(seed);
    (0..rows)
        .map(|i| {
            let topic = i % 3;
            let length = 20 + (60.0 * dice.next() * dice.next()) as usize;
            let mut counts = vec![0.0; words];
            for _ in 0..length {
                let word = if dice.next() < 0.16 {
                    (7 * topic + 31 * (6.0 * dice.next()) as usize) % words
                } else {
                    ((words as f64).powf(dice.next()) - 1.0) as usize
                };
                counts[word.min(words - 1)] += 1.0;
            }
            (topic, counts.into_iter().enumerate().filter(|(_, c)| *c > 0.0).collect())
        })
        .collect()
}

/// How a count is written, given the sum of the row's.
type Form = (&'static str, fn(f64, f64) -> f64);

const FORMS: [Form; 4] = [
    ("counts", |count, _| count),
    ("binary", |_, _| 1.0),
    ("weighted", |count, _| 1.0 + count.ln()),
    ("shares", |count, all| count / all),
];

fn lines(texts: &[(usize, Vec<(usize, f64)>)], form: fn(f64, f64) -> f64) -> String {
    let row = |(topic, counts): &(usize, Vec<(usize, f64)>)| {
        let all: f64 = counts.iter().map(|c| c.1).sum();
        let entries: Vec<String> =
            counts.iter().map(|(w, c)| format!("{}:{}", w + 1, form(*c, all))).collect();
        format!("{topic} {}\n", entries.join(" "))
    };
    texts.iter().map(row).collect()
}

#[test]
fn what_is_chosen_for_texts_does_not_lose_to_rows_as_they_are() {
    let (mut chosen, mut plain, mut tested) = (0.0, 0.0, 0.0);
    for (seed, words) in [(1, 150), (2, 600)] {
        let all = texts(1000, words, seed);
        for (name, form) in FORMS {
            let folder = Folder::new()
                .with("train.svm", lines(&all[..300], form))
                .with("test.svm", lines(&all[300..], form));
            let error = |more: &str| {
                folder.mercer(&format!("train train.svm -o m.mercer --force -q {more}")).fine();
                let told = folder.mercer("evaluate test.svm m.mercer --format json");
                assert_eq!(told.code, 0, "{told:?}");
                told.json()["error"].as_f64().expect("an error")
            };
            let (own, none) = (error(""), error("--scale none"));
            let noise = (none.max(0.01) * (1.0 - none) / 700.0).sqrt();
            assert!(own <= none + 2.5 * noise, "{name}, {words} words: {own} chosen, {none} unscaled");
            (chosen, plain, tested) = (chosen + own, plain + none, tested + 1.0);
        }
    }
    assert!(chosen <= plain + 0.005 * tested, "{chosen} chosen, {plain} unscaled, over {tested} sets");
}

#[test]
fn words_that_no_training_text_has_are_ignored_with_a_note() {
    let all = texts(60, 40, 3);
    let train = lines(&all, FORMS[0].1);
    let folder = Folder::new()
        .with("train.svm", &train)
        .with("wider.svm", train.replace('\n', " 90:3\n"))
        .with("narrow.svm", "0 1:1\n1 2:1\n");
    for scale in ["auto", "none", "unit", "standard", "minmax"] {
        folder.mercer(&format!("train train.svm -o m.mercer --force -q --scale {scale}")).fine();
        let wanted = folder.mercer("predict train.svm m.mercer").fine().out;
        let run = folder.mercer("predict wider.svm m.mercer");
        assert_eq!((run.code, &run.out), (0, &wanted), "{scale}: {run:?}");
        let told = "of the training data are ignored, with 60 values that are not 0";
        assert!(run.err.contains("columns after the") && run.err.contains(told), "{scale}: {run:?}");
        assert_eq!(folder.mercer("predict narrow.svm m.mercer").fine().out.lines().count(), 2, "{scale}");
    }
}
