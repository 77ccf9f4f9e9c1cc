//! The stop at regression.

use mercer::Result;
use mercer::model::{Model, Sample, SvrParams};
use mercer_report::html::{Figure, Section};
use mercer_report::svg::{Learned, learned};
use mercer_report::{Stop, count, number};

use super::guide::Guide;
use crate::progress::Progress;

/// A curve through noise, with a narrow and a wide tube.
pub(super) fn regression(guide: &Guide<'_>) -> Result<Stop> {
    let data = guide.toy("sinc", 150)?;
    let sample = Sample::new(&data.points, &data.targets);
    let mut section = Section::new(
        "Regression",
        "Support vector regression looks for the flattest function of feature space that stays within epsilon of the \
         targets. Only points on the edge of the tube or outside it become support vectors: a wider tube needs fewer.",
    );
    let mut seen = String::new();
    let mut facts = Vec::new();
    let clean = |x: f64| if x == 0.0 { 1.0 } else { x.sin() / x };
    let places: Vec<f64> = (0..200).map(|i| -10.0 + 0.1 * f64::from(i)).collect();
    let want: Vec<f64> = places.iter().map(|&x| clean(x)).collect();
    let places = mercer::data::Points::dense(places, 1)?;
    for (epsilon, name) in [(0.05, "narrow"), (0.2, "wide")] {
        let kernel = Some(mercer::kernel::Kernel::Rbf { gamma: 0.2 });
        let params = SvrParams { epsilon, kernel, c: 10.0, ..SvrParams::default() };
        let model = params.fit(sample, guide.exec, &mut Progress::new(guide.context).watch())?;
        let support = model.support.len();
        let model = Model::from(model);
        let off = mercer::assess::metric::rmse(&model.decision(places.view(), guide.exec)?, &want);
        let picture = learned(&model, Learned::training("Regression", &model, &data), guide.exec)?;
        let caption = format!(
            "Epsilon {epsilon}: {} of {} points are support vectors; RMSE to the noise-free curve {}.",
            count(support),
            count(data.len()),
            number((1e3 * off).round() / 1e3)
        );
        section.figures.push(Figure::svg(picture, caption));
        seen = format!(
            "sin(x)/x from {} noisy points, RMSE {}",
            count(data.len()),
            number((1e3 * off).round() / 1e3)
        );
        facts.push((format!("rmse_{name}"), off));
    }
    section.commands = vec![
        ("mercer train DATA --task regress --epsilon 0.1 -o MODEL".into(), "trains a regression".into()),
        ("mercer evaluate DATA MODEL".into(), "RMSE, MAE, R^2".into()),
    ];
    let stop = Stop::new("Regression", seen, "mercer train DATA --task regress -o MODEL", section);
    Ok(facts.into_iter().fold(stop, |stop, (name, off)| stop.fact(&name, off)))
}
