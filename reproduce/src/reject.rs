//! How many digits must go without an answer for half a percent of errors among the others (Schoelkopf 1997, section
//! 4.4.1): MNIST, polynomial machines of degree 5 one against the rest, C = 10. A digit is rejected if its two largest
//! outputs are too near each other; like the paper's, the share is measured on the test set itself.
//!
//! All 60000 training rows only in full: the default is the first 10000, for which the paper has no numbers.

use mercer::Result;
use mercer::model::Wanted;

use crate::Experiment;
use crate::data::{MNIST, head};
use crate::digits::{C, error_percent, mean_support};
use crate::kernels::poly;
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "reject",
    shows: "Fraction of MNIST that must be rejected for an error of 0.5 %",
    paper: "Schoelkopf 1997, section 4.4.1 and Table 4.2",
    notes: &[
        "Without --full only the first 10000 of 60000 training digits are used, and there is nothing to compare with.",
    ],
    needs: &[MNIST],
    needs_full: &[MNIST],
    seconds: 30,
    full: Some(600),
    run,
};

/// Training rows of the default.
const PART: usize = 10_000;
/// Support vectors of the paper's ten machines.
const SUPPORT: [f64; 10] = [1206.0, 757.0, 2183.0, 2506.0, 1784.0, 2255.0, 1347.0, 1712.0, 3053.0, 2720.0];

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("reading", 0, 3)?;
    let mut digits = lab.mnist()?;
    if !lab.settings.full {
        digits.train = head(&digits.train, PART);
    }
    let n = digits.train.len();
    lab.step(format!("training on {n} digits"), 1, 3)?;
    let model = lab.classifier(poly(5, digits.train.dim()), C, &digits.train)?;
    lab.step("testing", 2, 3)?;
    let error = error_percent(&model, &digits.test, lab.exec())?;
    let (points, labels) = (digits.test.points.view(), digits.test.targets.classes()?);
    let outputs = model.decision(points, lab.exec())?;
    let rule = model.reject_rule(&outputs, Some(labels), Wanted::Error(0.005))?;
    let paper = |number: f64| lab.paper(number).filter(|_| lab.settings.full);
    let row = |quantity, number, mercer, unit, better| Row {
        group: format!("{n} training digits"),
        setting: "poly d=5".into(),
        quantity,
        paper: paper(number),
        mercer,
        unit,
        better,
        chosen: Chosen::Paper,
    };
    let support = SUPPORT.iter().sum::<f64>() / SUPPORT.len() as f64;
    Ok(vec![
        row("test error", 1.4, error, Unit::Percent, Better::Lower),
        row("rejected for 0.5 % error", 2.4, 100.0 * rule.rejected, Unit::Percent, Better::Lower),
        row("SVs per machine", support, mean_support(&model), Unit::Count, Better::Near),
    ])
}
