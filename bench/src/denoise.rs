//! How well noisy digits are restored, beside scikit-learn's `KernelPCA(fit_inverse_transform=True)` at its best.
//!
//! The digits, the noise and the five draws are those of the experiment `denoise-usps`. scikit-learn's width, number of
//! components and ridge are the best on the test digits of the first draw; Mercer's width and number are chosen on training
//! digits held out of it. Both settings are then judged on the test digits of every draw. No times: `bench kpca` has those.

use anyhow::{Context, Result};
use mercer::data::{Dataset, Points, Targets};
use mercer_reproduce::data::{Usps, usps};
use mercer_reproduce::{Lab, Noise, NoisyDigits, Settings};
use serde_json::{Value, json};

use crate::python::Python;
use crate::report::Report;
use crate::side::Side;
use crate::{Args, sets};

/// Draws of digits and noise.
const DRAWS: usize = 5;
/// Widths that scikit-learn chooses from, in units of the number of pixels.
const WIDTHS: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn"])?;
    let mut peer = Side::peer("scikit-learn", &python, "denoise.py", &[], args.threads())?;
    let mut report = Report::new("denoise");
    let settings = Settings { exec: mercer::Exec::new(args.threads), ..Settings::default() };
    let digits = usps(&settings.folder, Usps::Smoothed, None, settings.exec)?;
    let mut watch = mercer::watch::silent();
    let mut lab = Lab::new(settings, &mut watch);
    let draws: Vec<NoisyDigits> =
        (0..DRAWS).map(|draw| NoisyDigits::draw(&digits, draw)).collect::<mercer::Result<_>>()?;
    eprintln!("bench: width and components by held-out digits");
    let choices = draws[0].choose(&mut lab)?;
    for (noise, choice) in Noise::BOTH.into_iter().zip(choices) {
        if !args.wants(noise.name()) {
            continue;
        }
        let case = format!("{} noise", noise.name());
        eprintln!("bench: {case}");
        let (mut ours, mut theirs) = (0.0, 0.0);
        let mut best = json!({
            "do": "best",
            "gammas": WIDTHS.map(|width| 1.0 / (256.0 * width)),
            "counts": [32, 64, 128, 256, 512, 1024],
            "alphas": [0.1, 0.01, 0.001, 0.0001],
        });
        for digits in &draws {
            ours += digits.restored(&mut lab, noise, choice)?.0 / DRAWS as f64;
            hand_over(&mut peer, digits, noise)?;
            let found = peer.ask(&best)?;
            theirs += found["error2"].as_f64().context("an answer without an error")? / DRAWS as f64;
            // From the second draw on, the first one's setting.
            for (list, one) in [("gammas", "gamma"), ("counts", "components"), ("alphas", "alpha")] {
                best[list] = json!([found[one]]);
            }
        }
        let setting = |key: &str| best[key][0].as_f64().unwrap_or(f64::NAN);
        report.note(
            &case,
            format!("mercer, width {}, {} components", choice.width, choice.used),
            ours,
            "squared",
        );
        let words = format!(
            "scikit-learn, width {:.2}, {} components, ridge {}",
            1.0 / (256.0 * setting("gammas")),
            setting("counts"),
            setting("alphas")
        );
        report.note(&case, words, theirs, "squared");
        report.note(&case, "mercer lower by", 100.0 * (1.0 - ours / theirs), "%");
    }
    Ok(report)
}

fn hand_over(peer: &mut Side, digits: &NoisyDigits, noise: Noise) -> Result<()> {
    let out = |points: &Points, name: &str| -> Result<Value> {
        let data = Dataset::new(points.clone(), Targets::None)?;
        Ok(json!(sets::hand_out(&data, &format!("denoise-{name}"))?))
    };
    let request = json!({
        "do": "load",
        "x": out(&flat(&digits.train)?, "train")?,
        "noisy": out(&flat(&digits.noisy(noise)?)?, "noisy")?,
        "clean": out(&flat(&digits.test)?, "clean")?,
    });
    peer.ask(&request)?;
    Ok(())
}

/// Rows that are no images any more: the peer reads tables.
fn flat(points: &Points) -> Result<Points> {
    Ok(Points::dense(points.view().to_f64()?, points.dim())?)
}
