//! Gaussian networks trained in the classical way beside support vector machines (Schoelkopf, Sung et al. 1997; Schoelkopf
//! 1997, Sec. 2.5 and Tables 2.11-2.13).
//!
//! Three systems of ten recognisers, one a digit: centres by k-means and weights by descent; support vectors as centres and
//! weights by descent; and the machine itself. All have the same Gaussian, and each classical recogniser has as many centres
//! as its machine has support vectors, half of them in the digit, half in the rest.

use mercer::Result;
use mercer::data::{Dataset, Labels, Targets};
use mercer::kernel::Kernel;
use mercer::model::{NetworkParams, Place, Sample, Weights};

use crate::Experiment;
use crate::data::{Split, USPS, Usps};
use crate::digits::C;
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "rbf-networks",
    shows: "Support vectors are better centres than those of k-means, and a machine's weights better than trained ones",
    paper: "Schoelkopf 1997, Tables 2.11-2.13",
    notes: &[
        "exp(-|x - y|^2 / (0.3 * 256)), C = 10; digits smoothed. Weights by 300 steps of descent on squared errors of logistic \
         outputs, with negligible weight decay (1e-4); the paper also chose which Gaussians of other digits to keep by a bootstrap.",
        "Recogniser: test errors of one digit against the rest.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 20,
    full: None,
    run,
};

/// Numbers of support vectors, and test errors of the three systems, digit by digit.
const SUPPORT: [f64; 10] = [274.0, 104.0, 377.0, 361.0, 334.0, 388.0, 236.0, 235.0, 342.0, 263.0];
const ERRORS: [[f64; 10]; 3] = [
    [20.0, 16.0, 43.0, 38.0, 46.0, 31.0, 15.0, 18.0, 37.0, 26.0],
    [9.0, 12.0, 27.0, 24.0, 32.0, 24.0, 19.0, 16.0, 26.0, 16.0],
    [16.0, 8.0, 25.0, 19.0, 29.0, 23.0, 14.0, 12.0, 25.0, 16.0],
];
/// The systems with their errors on training and test rows.
const SYSTEMS: [(&str, f64, f64); 3] =
    [("k-means centres", 1.7, 6.7), ("SV centres", 0.0, 4.9), ("SV machine", 0.0, 4.2)];
/// What a system of ten recognisers says.
struct Answers {
    /// n x 10.
    outputs: Vec<f64>,
    labels: Labels,
}

impl Answers {
    fn new(labels: &Labels) -> Self {
        Answers { outputs: vec![f64::NEG_INFINITY; labels.len() * 10], labels: labels.clone() }
    }

    fn add(&mut self, digit: usize, values: &[f64]) {
        values.iter().enumerate().for_each(|(i, v)| self.outputs[i * 10 + digit] = *v);
    }

    /// Errors of the digit whose recogniser answers most strongly, in percent.
    fn error(&self) -> f64 {
        let strongest = |line: &[f64]| (0..10).fold(0, |b, c| if line[c] > line[b] { c } else { b });
        let wrong = self
            .outputs
            .chunks(10)
            .enumerate()
            .filter(|(i, line)| self.labels.name_of(*i) != strongest(line).to_string());
        100.0 * wrong.count() as f64 / self.labels.len() as f64
    }

    fn recogniser_errors(&self, digit: usize) -> usize {
        let own = digit.to_string();
        let wrong = |i: &usize| (self.outputs[i * 10 + digit] > 0.0) != (self.labels.name_of(*i) == own);
        (0..self.labels.len()).filter(wrong).count()
    }
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("reading", 0, 11)?;
    let split: Split = lab.usps(Usps::Smoothed)?;
    let (train, test) = (&split.train, &split.test);
    let (found, support) = systems(lab, train, &[train, test])?;

    let mut rows = Vec::new();
    for digit in 0..10 {
        let (name, paper) = (digit.to_string(), lab.paper(SUPPORT[digit]));
        let count = support[digit] as f64;
        rows.push(row("support vectors", &name, "count", paper, count, Better::Near, Unit::Count));
    }
    for (s, answers) in found.iter().enumerate() {
        for digit in 0..10 {
            let (name, paper) = (digit.to_string(), lab.paper(ERRORS[s][digit]));
            let wrong = answers[1].recogniser_errors(digit) as f64;
            let quantity = "recogniser errors";
            rows.push(row(SYSTEMS[s].0, &name, quantity, paper, wrong, Better::Lower, Unit::Count));
        }
    }
    for (answers, (name, train, test)) in found.iter().zip(SYSTEMS) {
        for (quantity, paper, answers) in
            [("training error", train, &answers[0]), ("test error", test, &answers[1])]
        {
            let (paper, error) = (lab.paper(paper), answers.error());
            rows.push(row("ten classes", name, quantity, paper, error, Better::Lower, Unit::Percent));
        }
    }
    Ok(rows)
}

/// The three systems, each with its answers on several sets, and the machines' numbers of support vectors.
fn systems(lab: &mut Lab<'_>, train: &Dataset, sets: &[&Dataset]) -> Result<(Vec<Vec<Answers>>, Vec<usize>)> {
    let kernel = Kernel::Rbf { gamma: 1.0 / (0.3 * 256.0) };
    let labels = train.targets.classes()?;
    let empty = || sets.iter().map(|set| Ok(Answers::new(set.targets.classes()?))).collect();
    let mut answers: Vec<Vec<Answers>> = (0..3).map(|_| empty()).collect::<Result<_>>()?;
    let mut support = Vec::new();
    let exec = lab.exec();
    for digit in 0..10 {
        lab.step(format!("digit {digit}"), digit + 1, 11)?;
        let sides = Targets::Classes(two(labels, &digit.to_string()));
        let data = Dataset::new(train.points.clone(), sides)?;
        let svm = lab.classifier(kernel.clone(), C, &data)?;
        support.push(svm.support.len());
        let places = [Place::Kmeans, Place::SupportVectors];
        for (place, answers) in places.into_iter().zip(&mut answers) {
            let params = NetworkParams {
                kernel: Some(kernel.clone()),
                centres: svm.support.len().max(2) as u64,
                place,
                weights: Weights::Descent,
                lambda: 1e-4,
                steps: 30,
                c: C,
                ..NetworkParams::default()
            };
            let net =
                lab.watched(|watch| params.fit(Sample::new(&data.points, &data.targets), exec, watch))?;
            for (answers, set) in answers.iter_mut().zip(sets) {
                answers.add(digit, &net.decision(set.points.view(), exec)?);
            }
        }
        for (answers, set) in answers[2].iter_mut().zip(sets) {
            answers.add(digit, &svm.decision(set.points.view(), exec)?);
        }
    }
    Ok((answers, support))
}

/// One class (1) against the rest (0).
fn two(labels: &Labels, name: &str) -> Labels {
    let of_row = (0..labels.len()).map(|i| u32::from(labels.name_of(i) == name)).collect();
    Labels { names: vec!["rest".into(), name.into()], of_row }
}

fn row(
    group: &str,
    setting: &str,
    quantity: &'static str,
    paper: Option<f64>,
    mercer: f64,
    better: Better,
    unit: Unit,
) -> Row {
    Row {
        group: group.into(),
        setting: setting.into(),
        quantity,
        paper,
        mercer,
        unit,
        better,
        chosen: Chosen::Paper,
    }
}
