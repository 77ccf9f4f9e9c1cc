//! The stops at the digits: the data, classification, probabilities and rejection.

use mercer::Result;
use mercer::assess::{pr_curve, roc_curve};
use mercer::model::svc::Multi;
use mercer::model::{Machine, Reject, SvcParams, Wanted};
use mercer_report::html::{Figure, Section, Table, Tile};
use mercer_report::svg::{Axis, Chart, NamedCurve, Series, confusion, precision_recall, reliability, roc};
use mercer_report::{Align, Stop, Trial, count, number, percent, seconds};

use super::guide::Guide;

/// Images in a row of the page.
const SHOWN: usize = 28;

/// The data itself.
pub(super) fn data(guide: &Guide<'_>) -> Result<Stop> {
    let (train, test) = (guide.train.len(), guide.test.len());
    let labels = guide.train.targets.classes()?;
    let tile = |row: usize| Tile::new(Guide::pixels(&guide.train, row), labels.name_of(row));
    let mut section = Section::new(
        "Handwritten digits",
        "The built-in data set: 8 x 8 pixels, ten classes, written by thirteen people. Two thirds are the training set; all \
         errors below are measured on the other third, the test set.",
    );
    section.facts = vec![
        ("images".into(), count(train + test)),
        ("training set".into(), count(train)),
        ("test set".into(), count(test)),
    ];
    let tiles = Guide::tiles((0..SHOWN.min(train)).map(tile).collect());
    section.figures = vec![Figure::tiles(tiles, "Some of the digits with their labels.")];
    section.commands = vec![
        ("mercer data toy digits digits.csv --rows 1797".into(), "writes them to a file".into()),
        ("mercer data info DATA".into(), "describes a file and lists what looks wrong".into()),
    ];
    let seen = format!("{} images of 8 x 8 pixels, built in", count(train + test));
    Ok(Stop::new("Digits", seen, "mercer data info DATA", section).fact("train", train).fact("test", test))
}

fn params(multi: Multi) -> SvcParams {
    SvcParams { c: 10.0, multi, ..SvcParams::default() }
}

/// Ten classes by machines for two, both ways.
pub(super) fn classify(guide: &Guide<'_>) -> Result<Stop> {
    let pairs = guide.svc(&params(Multi::OneVsOne), &guide.train)?;
    let rest = guide.svc(&params(Multi::OneVsRest), &guide.train)?;
    let by_pairs = Trial::new(&pairs, guide.train.len(), &guide.test, guide.exec)?;
    let by_rest = Trial::new(&rest, guide.train.len(), &guide.test, guide.exec)?;
    let mut section = Section::new(
        "Ten classes of digits",
        "A support vector machine separates two classes by the largest margin in the feature space of its kernel. For ten \
         classes, one-vs-one trains a machine per pair of classes and counts votes; one-vs-rest trains a machine per class \
         and takes the largest decision value. The kernel is a Gaussian whose width is set from the variance of the pixels.",
    );
    let way = |name: &str, model: &Machine, trial: &Trial| {
        vec![
            name.to_owned(),
            count(model.outputs()),
            count(trial.support),
            percent(trial.error),
            seconds(trial.info.seconds),
        ]
    };
    let heads = [("", Align::Left), ("machines", Align::Right), ("support vectors", Align::Right)];
    let heads = heads.into_iter().chain([("test error", Align::Right), ("training time", Align::Right)]);
    section.tables = vec![Table {
        caption: "Two multi-class methods".into(),
        columns: heads.map(|(head, align)| (head.to_owned(), align)).collect(),
        rows: vec![way("one-vs-one", &pairs, &by_pairs), way("one-vs-rest", &rest, &by_rest)],
    }];
    let [roc_of, precision_of] = curves(guide, &rest)?;
    section.figures = vec![
        Figure::svg(
            confusion(&by_rest.classes, &by_rest.confusion),
            "Confusion matrix on the test set, one-vs-rest: rows are the true classes.",
        ),
        Figure::svg(
            errors_by_size(guide)?,
            "Learning curve: the test error falls with the number of training digits.",
        ),
        Figure::svg(
            roc_of,
            "ROC curves of the three hardest digits, each against the rest, with the area under the curve.",
        ),
        Figure::svg(precision_of, "Precision over recall of the same decision values."),
        Figure::tiles(
            Guide::tiles(mistakes(guide, &rest)?),
            "Misclassified test digits: true class and prediction.",
        ),
        Figure::tiles(
            Guide::tiles(heaviest(guide, &rest)),
            "Support vectors of the machine for 8 with the largest coefficients: atypical eights (positive), and other digits \
             that resemble an eight (negative).",
        ),
    ];
    section.commands = vec![
        ("mercer train DATA -o MODEL".into(), "trains; settings that are not given are chosen".into()),
        ("mercer train DATA --multiclass ovr -o MODEL".into(), "one-vs-rest".into()),
        (
            "mercer evaluate DATA MODEL --report FILE".into(),
            "error, confusion matrix and curves; also as an HTML page".into(),
        ),
        ("mercer explain MODEL DATA".into(), "support vectors, margins, labels that look wrong".into()),
    ];
    let seen = format!("test error {} on {} digits", percent(by_rest.error), count(guide.test.len()));
    Ok(Stop::new("Classification", seen, "mercer train DATA -o MODEL && mercer evaluate DATA MODEL", section)
        .fact("error_one_vs_one", by_pairs.error)
        .fact("error_one_vs_rest", by_rest.error)
        .fact("support_vectors", by_rest.support))
}

/// How well single outputs rank: receiver operating characteristic, precision and recall, of the three hardest digits.
fn curves(guide: &Guide<'_>, model: &Machine) -> Result<[mercer_report::svg::Svg; 2]> {
    let f = model.decision(guide.test.points.view(), guide.exec)?;
    let want = guide.test.targets.classes()?;
    let classes = model.classes();
    let k = classes.len();
    let mut found: Vec<_> = (0..k)
        .map(|class| {
            let score: Vec<f64> = f.iter().skip(class).step_by(k).copied().collect();
            let own: Vec<bool> = (0..want.len()).map(|i| want.name_of(i) == classes[class]).collect();
            (classes[class].as_str(), roc_curve(&score, &own), pr_curve(&score, &own))
        })
        .collect();
    found.sort_by(|a, b| a.1.area.total_cmp(&b.1.area));
    found.truncate(3);
    let hits: Vec<_> =
        found.iter().map(|(name, c, _)| NamedCurve { name, points: &c.points, area: c.area }).collect();
    let right: Vec<_> =
        found.iter().map(|(name, _, c)| NamedCurve { name, points: &c.points, area: c.area }).collect();
    Ok([roc(&hits), precision_recall(&right)])
}

/// The test error by how many digits were learned from.
fn errors_by_size(guide: &Guide<'_>) -> Result<mercer_report::svg::Svg> {
    let mut points = Vec::new();
    for size in [30, 60, 120, 240, 480, guide.train.len()] {
        let some = guide.train.gather(&(0..size.min(guide.train.len())).collect::<Vec<_>>());
        let model = guide.svc(&params(Multi::OneVsRest), &some)?;
        let trial = Trial::new(&model, some.len(), &guide.test, guide.exec)?;
        points.push((some.len() as f64, 100.0 * trial.error));
    }
    let series = vec![Series::line("", points.clone()).colour(0), Series::dots("", points).colour(0)];
    let (x, y) = (Axis::new("training digits").log(), Axis::new("test error, per cent").log());
    Ok(Chart::new("Error by number of training digits", x, y, series).draw())
}

fn mistakes(guide: &Guide<'_>, model: &Machine) -> Result<Vec<Tile>> {
    let got = model.labels(guide.test.points.view(), guide.exec)?;
    let want = guide.test.targets.classes()?;
    let wrong = (0..got.len()).filter(|&i| got.name_of(i) != want.name_of(i));
    let tile = |i: usize| Tile {
        marked: true,
        ..Tile::new(Guide::pixels(&guide.test, i), format!("{} → {}", want.name_of(i), got.name_of(i)))
    };
    Ok(wrong.take(SHOWN).map(tile).collect())
}

/// Of the machine for 8, the centres with the largest coefficients of either sign.
fn heaviest(guide: &Guide<'_>, model: &Machine) -> Vec<Tile> {
    const DIGIT: usize = 8;
    let k = model.outputs();
    let coef: Vec<f64> = model.expansion.coef().iter().skip(DIGIT).step_by(k).copied().collect();
    let mut order: Vec<usize> = (0..coef.len()).collect();
    order.sort_by(|&a, &b| coef[b].total_cmp(&coef[a]));
    let half = (SHOWN / 2).min(order.len() / 2);
    let ends = order[..half].iter().chain(&order[order.len() - half..]);
    let tile = |&at: &usize| {
        let row = model.support[at] as usize;
        Tile::new(Guide::pixels(&guide.train, row), format!("{:+.1}", coef[at]))
    };
    ends.map(tile).collect()
}

/// Outputs as probabilities.
pub(super) fn probabilities(guide: &Guide<'_>) -> Result<Stop> {
    let model = guide.svc(&SvcParams { probability: true, ..params(Multi::OneVsOne) }, &guide.train)?;
    let told = model.probabilities(guide.test.points.view(), guide.exec)?;
    let want = guide.test.targets.classes()?;
    let classes = model.classes();
    let k = classes.len();
    let likeliest = |line: &[f64]| (0..k).max_by(|&a, &b| line[a].total_cmp(&line[b])).unwrap_or(0);
    let answers: Vec<(usize, f64)> =
        told.values.chunks(k).map(|line| (likeliest(line), line[likeliest(line)])).collect();
    let right = |row: usize| classes[answers[row].0] == want.name_of(row);
    let kept: Vec<(f64, bool)> = answers.iter().enumerate().map(|(row, a)| (a.1, right(row))).collect();
    let mut order: Vec<usize> = (0..answers.len()).collect();
    order.sort_by(|&a, &b| answers[a].1.total_cmp(&answers[b].1));
    let tile = |&row: &usize| Tile {
        marked: !right(row),
        ..Tile::new(
            Guide::pixels(&guide.test, row),
            format!("{}? {:.0} %", classes[answers[row].0], 100.0 * answers[row].1),
        )
    };
    let doubtful = order.iter().filter(|&&row| answers[row].1 < 0.5).count();
    let sure = answers.iter().filter(|a| a.1 > 0.95).count();
    let mut section = Section::new(
        "Probability estimates",
        "Decision values become probabilities by sigmoids fitted on held-out folds; the estimates of pairs of classes are \
         coupled to one distribution over all ten.",
    );
    section.facts = vec![
        ("probability above 95 %".into(), format!("{} of {}", count(sure), count(answers.len()))),
        ("probability below 50 %".into(), count(doubtful)),
    ];
    section.figures = vec![
        Figure::svg(
            reliability(&kept),
            "Reliability diagram: fraction correct among test digits of similar predicted probability.",
        ),
        Figure::tiles(
            Guide::tiles(order.iter().take(SHOWN).map(tile).collect()),
            "The least certain test digits; framed where the most probable class is wrong.",
        ),
    ];
    section.commands = vec![
        ("mercer train DATA --proba -o MODEL".into(), "trains with calibrated probabilities".into()),
        ("mercer predict DATA MODEL --proba".into(), "a probability for each class".into()),
    ];
    let seen = format!("{} of {} predictions above 95 % probability", count(sure), count(answers.len()));
    Ok(Stop::new("Probabilities", seen, "mercer predict DATA MODEL --proba", section)
        .fact("surer_than_95_percent", sure)
        .fact("less_sure_than_50_percent", doubtful))
}

/// Error on accepted rows against the share of rejected rows.
pub(super) fn reject(guide: &Guide<'_>) -> Result<Stop> {
    let model = guide.classifier(&params(Multi::OneVsRest), &guide.train)?;
    let svc = &model.machine;
    let gaps = svc.gaps_of(&svc.decision(guide.test.points.view(), guide.exec)?)?;
    let got = svc.labels(guide.test.points.view(), guide.exec)?;
    let want = guide.test.targets.classes()?;
    let right: Vec<bool> = (0..got.len()).map(|i| got.name_of(i) == want.name_of(i)).collect();
    let rules = (0..=20).map(|i| Reject::fit(&gaps, &right, Wanted::Rejected(0.01 * f64::from(i))));
    let rules = rules.collect::<Result<Vec<Reject>>>()?;
    let line: Vec<(f64, f64)> = rules.iter().map(|r| (100.0 * r.rejected, 100.0 * r.error)).collect();
    let none = Reject::fit(&gaps, &right, Wanted::Error(0.0))?;
    let mut order: Vec<usize> = (0..gaps.len()).collect();
    order.sort_by(|&a, &b| gaps[a].total_cmp(&gaps[b]));
    let tile = |&row: &usize| Tile {
        marked: !right[row],
        ..Tile::new(
            Guide::pixels(&guide.test, row),
            format!("gap {}", number((100.0 * gaps[row]).round() / 100.0)),
        )
    };
    let mut section = Section::new(
        "Rejection",
        "Where the two largest decision values are close, the prediction is uncertain. Rejecting digits with a small gap \
         lowers the error on the rest.",
    );
    section.facts = vec![
        ("error without rejection".into(), percent(rules[0].error)),
        ("rejection rate for zero error".into(), percent(none.rejected)),
    ];
    let (x, y) = (Axis::new("rejected, per cent"), Axis::new("error of the rest, per cent"));
    let series = vec![Series::line("", line.clone()).colour(0), Series::dots("", line).colour(0)];
    section.figures = vec![
        Figure::svg(
            Chart::new("Error over rejection rate", x, y, series).draw(),
            "The error on the remaining digits falls with the rejection rate.",
        ),
        Figure::tiles(
            Guide::tiles(order.iter().take(SHOWN).map(tile).collect()),
            "The first digits to be rejected, with the gap between the two largest decision values; framed where the prediction is wrong.",
        ),
    ];
    section.commands =
        vec![("mercer predict DATA MODEL --reject-rate 0.05".into(), "rejects the least certain 5 %".into())];
    let seen = format!("zero error on the rest if {} of the digits are rejected", percent(none.rejected));
    Ok(Stop::new("Rejection", seen, "mercer predict DATA MODEL --reject-rate R", section)
        .fact("error", rules[0].error)
        .fact("rejected_for_no_error", none.rejected))
}
