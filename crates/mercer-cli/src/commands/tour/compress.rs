//! The stop at reduced sets: ten machines with a tenth of the centres, measured.

use std::time::Instant;

use mercer::Result;
use mercer::data::ImageShape;
use mercer::model::svc::Multi;
use mercer::model::{CompressParams, Goal, Model, SvcParams};
use mercer::reduce::reduced_set::Size;
use mercer::watch::silent;
use mercer_report::html::{Figure, Section};
use mercer_report::svg::{Axis, Chart, Series};
use mercer_report::{Stop, centre_images, count, percent};

use super::guide::Guide;

/// Times smaller; the last is the one shown.
const RATIOS: [f64; 4] = [40.0, 20.0, 5.0, 10.0];
/// Runs that a time is the best of.
const RUNS: usize = 5;

/// A model ten times smaller.
pub(super) fn compress(guide: &Guide<'_>) -> Result<Stop> {
    let mut train = guide.train.clone();
    train.points = train.points.with_image(ImageShape::grey(8, 8))?;
    let whole =
        guide.classifier(&SvcParams { c: 10.0, multi: Multi::OneVsRest, ..SvcParams::default() }, &train)?;
    let params = CompressParams { goal: Goal::Size(Size::Ratio(10.0)), ..CompressParams::default() };
    let wanted = RATIOS.map(|r| (Size::Ratio(r), None));
    let all = whole.compress_path(&params, &wanted, Some(&train), guide.exec, &mut silent())?;
    let whole_error = error(guide, &whole)?;
    let before = whole.machine.expansion.len();
    let mut line = vec![(before as f64, 100.0 * whole_error)];
    for small in &all {
        line.push((small.about.set.after as f64, 100.0 * error(guide, &small.model)?));
    }
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(small) = all.last() else { unreachable!("sizes were requested") };
    let small_error = error(guide, &small.model)?;
    let faster = time(guide, &whole)? / time(guide, &small.model)?;
    let after = small.about.set.after;
    let mut section = Section::new(
        "A tenth of the centres",
        "A prediction costs one kernel value per centre. A reduced set approximates the same ten outputs with a tenth of the \
         centres: constructed images that minimise the distance to the original machines in feature space. All ten machines \
         share them.",
    );
    section.facts = vec![
        ("centres".into(), format!("{} → {}", count(before), count(after))),
        ("measured speed-up".into(), format!("{faster:.1} times")),
        ("test error".into(), format!("{} → {}", percent(whole_error), percent(small_error))),
        ("training predictions unchanged".into(), percent(small.about.agreement)),
    ];
    let series = vec![Series::line("", line.clone()).colour(0), Series::dots("", line).colour(0)];
    let chart = Chart::new(
        "Test error over the number of centres",
        Axis::new("centres").log(),
        Axis::new("test error, per cent"),
        series,
    );
    section.figures = vec![Figure::svg(chart.draw(), "The right end is the original model.")];
    section.figures.extend(centre_images(&small.model));
    section.commands = vec![
        ("mercer compress MODEL DATA --ratio 10 -o SMALL".into(), "ten times smaller".into()),
        (
            "mercer compress MODEL DATA --agreement 0.99 -o SMALL".into(),
            "as small as keeps 99 % of the predictions".into(),
        ),
    ];
    let seen =
        format!("{} centres, {faster:.1} times faster, test error {}", count(after), percent(small_error));
    Ok(Stop::new("Compression", seen, "mercer compress MODEL DATA --ratio 10 -o SMALL", section)
        .fact("centres", before)
        .fact("compressed", after)
        .fact("times_faster", faster)
        .fact("error", whole_error)
        .fact("error_compressed", small_error))
}

fn error(guide: &Guide<'_>, model: &Model) -> Result<f64> {
    let told = model.predict(guide.test.points.view(), guide.exec)?;
    let (told, want) = (told.classes()?, guide.test.targets.classes()?);
    let wrong = (0..want.len()).filter(|&i| told.name_of(i) != want.name_of(i)).count();
    Ok(wrong as f64 / want.len() as f64)
}

/// Seconds the outputs of all test digits take, on one thread: there are too few for more.
fn time(guide: &Guide<'_>, model: &Model) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let clock = Instant::now();
        model.decision(guide.test.points.view(), mercer::Exec::one())?;
        best = best.min(clock.elapsed().as_secs_f64());
    }
    Ok(best)
}
