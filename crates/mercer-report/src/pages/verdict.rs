//! What a page says first: what was predicted, how well, against which baseline, and whether there are enough rows to tell.

use crate::{count, number, percent};
use mercer::assess::{ClassEvaluation, Evaluation, RealEvaluation};
use mercer::data::Dataset;

/// An interval wider than this leaves too much open, as a share of rows.
const WIDE: f64 = 0.1;
/// To how much on either side more rows should narrow it.
const NARROW: f64 = 0.02;

/// The verdict of an evaluation on rows with known targets. `seen`: the model was trained on these rows.
pub(super) fn verdict(found: &Evaluation, data: &Dataset, seen: bool) -> String {
    let mut text = match found {
        Evaluation::Classification(e) => classes(e, &target(data, "the class"), seen),
        Evaluation::Regression(e) => reals(e, &target(data, "the target")),
        Evaluation::Novelty(e) => format!(
            "{} of {} rows ({}) are outliers: unlike the rows that the model was trained on.",
            count(e.outside),
            count(e.rows),
            percent(e.outside as f64 / e.rows.max(1) as f64)
        ),
        Evaluation::Clustering(e) => {
            let purity = e.purity.map_or_else(String::new, |p| {
                format!(" {} of the rows belong to the most frequent class of their cluster.", percent(p))
            });
            format!("{} rows fall into {} clusters.{purity}", count(e.rows), count(e.sizes.len()))
        }
    };
    if seen && matches!(found, Evaluation::Classification(_) | Evaluation::Regression(_)) {
        text += "\n\nThese are training rows. Errors on new rows are larger: evaluate on held-out rows.";
    }
    text
}

fn target(data: &Dataset, else_: &str) -> String {
    data.target_name.as_ref().map_or_else(|| else_.to_owned(), |name| format!("`{}`", name.replace('`', "'")))
}

fn classes(e: &ClassEvaluation, target: &str, seen: bool) -> String {
    let [low, high] = e.interval;
    let most = (0..e.classes.len()).max_by_key(|&c| (e.scores[c].rows, std::cmp::Reverse(c))).unwrap_or(0);
    let within = if seen {
        String::new()
    } else {
        format!(", 95 % confidence interval {} to {}", percent(low), percent(high))
    };
    let mut text = format!(
        "Predicts {target} ({} classes) with an error of {}: {} of {} rows wrong{within}. Baseline: always predicting the \
         most frequent class ({}) has an error of {}.",
        count(e.classes.len()),
        percent(e.error),
        count(e.wrong.len()),
        count(e.rows),
        e.classes[most],
        percent(e.baseline)
    );
    if seen {
        return text;
    }
    text += match () {
        () if high < e.baseline => " The model is better than the baseline.",
        () if low > e.baseline => " The model is worse than the baseline.",
        () => {
            " The model is not significantly better than the baseline: the baseline lies within the confidence interval."
        }
    };
    text + "\n\n" + &enough(e)
}

/// Whether there are enough rows to tell.
fn enough(e: &ClassEvaluation) -> String {
    let [low, high] = e.interval;
    let width = format!("{:.1} points wide", 100.0 * (high - low));
    if high - low <= WIDE {
        return format!("The number of rows is sufficient: the interval is {width}.");
    }
    // Half a row keeps an error of 0 from asking for none.
    let p = ((e.wrong.len() as f64 + 0.5) / (e.rows as f64 + 1.0)).clamp(0.0, 1.0);
    let rows = (p * (1.0 - p) * (1.96 / NARROW).powi(2)).ceil();
    format!(
        "Few rows: the interval is {width}. About {} rows would narrow it to +/- {:.0} points.",
        count(rows as usize),
        100.0 * NARROW
    )
}

fn reals(e: &RealEvaluation, target: &str) -> String {
    let explained = match e.r2 {
        r2 if !r2.is_finite() => String::new(),
        r2 if r2 > 0.0 => format!(" The model explains {} of the variance.", percent(r2)),
        _ => " The model is no better than the baseline.".into(),
    };
    let mut text = format!(
        "Predicts {target} with a root mean squared error of {} on {} rows. Baseline: always predicting the mean has {}.{explained}",
        number(e.rmse),
        count(e.rows),
        number(e.baseline)
    );
    if e.rows < 30 {
        text += "\n\nFewer than 30 rows: the estimate is unreliable.";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::data::{Points, Targets, toy};
    use mercer::exec::Exec;
    use mercer::model::{Model, RidgeParams, Sample, SvcParams};
    use mercer::watch::silent;

    fn told(rows: usize, seen: bool) -> String {
        let (x, y) = toy::banana(rows, 5);
        let (train_x, train_y) = toy::banana(80, 1);
        let svc = SvcParams::default().fit(Sample::new(&train_x, &train_y), Exec::one(), &mut silent());
        let data = Dataset::new(x, y).expect("whole");
        let found = Evaluation::new(&Model::from(svc.expect("a fit")), &data, Exec::one()).expect("labels");
        verdict(&found, &data, seen)
    }

    #[test]
    fn a_verdict_says_how_well_against_what_and_whether_rows_suffice() {
        let many = told(600, false);
        assert!(
            many.contains("better than the baseline") && many.contains("number of rows is sufficient"),
            "{many}"
        );
        let few = told(12, false);
        assert!(few.contains("Few rows") && few.contains("confidence interval"), "{few}");
        let seen = told(80, true);
        assert!(seen.contains("These are training rows") && !seen.contains("confidence interval"), "{seen}");
    }

    #[test]
    fn coins_are_not_called_better_and_numbers_have_their_mean() {
        let (x, y) = toy::banana(200, 1);
        let svc = SvcParams::default().fit(Sample::new(&x, &y), Exec::one(), &mut silent()).expect("a fit");
        let Targets::Classes(mut labels) = y else { panic!("classes") };
        labels.of_row.iter_mut().enumerate().for_each(|(i, c)| *c = u32::from(i * 7919 % 13 < 6));
        let data = Dataset::new(x, Targets::Classes(labels)).expect("whole");
        let found = Evaluation::new(&Model::from(svc), &data, Exec::one()).expect("labels");
        assert!(!verdict(&found, &data, false).contains("The model is better"));
        let x = Points::dense((0..40).map(f64::from).collect(), 1).expect("rows");
        let y = Targets::Reals((0..40).map(|i| 2.0 * f64::from(i)).collect());
        let ridge = RidgeParams::default().fit(Sample::new(&x, &y), Exec::one(), &mut silent());
        let mut data = Dataset::new(x, y).expect("whole");
        data.target_name = Some("price".into());
        let found = Evaluation::new(&Model::from(ridge.expect("a fit")), &data, Exec::one());
        let text = verdict(&found.expect("numbers"), &data, false);
        assert!(text.contains("`price`") && text.contains("of the variance"), "{text}");
    }
}
