//! The degree of a polynomial chosen without rows set aside (Schoelkopf 1997, section 2.6.1, Table 2.14, Fig. 2.16).
//!
//! One machine a digit against the rest on the USPS digits, `((x.y) / 256)^d` for d = 1 to 7. For each digit the degree
//! with the smallest `R^2 |w|^2` is taken, of those from 2 on: with degree 1 there are so many training errors that the
//! capacity alone says nothing. The risk bound, which counts the training errors too, chooses among all seven. What comes
//! of both on the test set is put beside the best of the seven.
//!
//! The estimate is made for machines with next to no training errors, which the paper's had. On this copy of the digits
//! the kernels of high degree are so small that C = 10 leaves many: so beside C = 10 there is a C for each degree, the
//! smallest power of ten with which no training digit is wrong (section 2.2.1), found on training rows; and, where there
//! are numbers of the paper's, the C that cross-validation on the training rows chooses for the ten machines of a degree.

use mercer::Result;
use mercer::assess::bounds::{KernelChoice, KernelTried, choose_kernel};
use mercer::model::Sample;
use mercer::model::svc::{Multi, SvcParams};
use mercer_report::html::Figure;
use mercer_report::svg::{Axis, Chart, Series};

use crate::Experiment;
use crate::data::{Split, USPS, Usps};
use crate::digits;
use crate::kernels::poly;
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "vc-degree",
    shows: "The degree of a polynomial kernel, chosen for each digit by the estimate of the VC dimension",
    paper: "Schoelkopf 1997, Table 2.14 and Fig. 2.16",
    notes: &[
        "The degree is the one with the smallest R^2|w|^2 of 2 to 7; by the risk bound, of 1 to 7.",
        "Errors are those of one machine on the 2007 test digits.",
        "C = 50: where machines have as many support vectors as the paper counts.",
        "C by validation: for each degree the fewest errors of a two-fold cross-validation on the training digits.",
        "C by degree: the smallest power of ten, at most 1e6, with which no training digit is on the wrong side.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 35,
    full: None,
    run,
};

/// Degrees tried.
const DEGREES: u32 = 7;

/// The paper's numbers.
mod paper {
    pub(super) const DEGREE: [f64; 10] = [3.0, 7.0, 3.0, 3.0, 4.0, 3.0, 4.0, 5.0, 4.0, 5.0];
    pub(super) const CAPACITY: [f64; 10] =
        [547.0, 95.0, 832.0, 1130.0, 977.0, 1117.0, 615.0, 526.0, 1466.0, 1210.0];
    pub(super) const ERRORS: [[f64; 7]; 10] = [
        [36.0, 14.0, 11.0, 11.0, 11.0, 12.0, 17.0],
        [17.0, 15.0, 14.0, 11.0, 10.0, 9.0, 10.0],
        [53.0, 32.0, 28.0, 26.0, 28.0, 27.0, 32.0],
        [57.0, 25.0, 22.0, 22.0, 22.0, 22.0, 23.0],
        [50.0, 32.0, 32.0, 30.0, 30.0, 29.0, 33.0],
        [37.0, 20.0, 22.0, 24.0, 24.0, 26.0, 28.0],
        [23.0, 12.0, 12.0, 15.0, 17.0, 17.0, 19.0],
        [25.0, 15.0, 12.0, 10.0, 11.0, 13.0, 14.0],
        [71.0, 33.0, 28.0, 24.0, 28.0, 32.0, 34.0],
        [51.0, 18.0, 15.0, 11.0, 11.0, 12.0, 15.0],
    ];
}

/// Powers of ten tried for C.
const COSTS: [f64; 6] = [10.0, 1e2, 1e3, 1e4, 1e5, 1e6];

/// How C is set.
#[derive(Clone, Copy, PartialEq)]
enum Cost {
    /// As in the paper.
    Fixed,
    /// As the paper's numbers of support vectors imply.
    ByCounts,
    /// For each degree so large that no training row is wrong.
    ByDegree,
    /// For each degree by cross-validation on the training rows.
    Validated,
}

impl Cost {
    fn name(self) -> &'static str {
        match self {
            Cost::Fixed => "C=10",
            Cost::ByCounts => "C=50",
            Cost::ByDegree => "C by degree",
            Cost::Validated => "C by validation",
        }
    }
}

/// What was found with one way to set C.
struct Found {
    /// C of each degree.
    costs: Vec<f64>,
    /// For each machine all degrees.
    choices: Vec<KernelChoice>,
    /// Test errors of each machine, degree by degree.
    errors: Vec<Vec<usize>>,
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (done, copy) in Usps::BOTH.into_iter().enumerate() {
        let digits = lab.usps(copy)?;
        let known = copy == Usps::Smoothed && lab.settings.rows.is_none();
        for cost in [Cost::Fixed, Cost::ByCounts, Cost::ByDegree, Cost::Validated] {
            if matches!(cost, Cost::Validated | Cost::ByCounts) && copy == Usps::Raw {
                continue;
            }
            let name = cost.name();
            let found = choose(lab, &digits, cost, &format!("{}, {name}", copy.name()), done)?;
            let head = format!("{}, {name}", copy.name());
            by_digit(&head, &digits, &found, known, &mut rows);
            by_degree(&head, &found, known, &mut rows);
            if copy == Usps::Smoothed && cost == Cost::ByDegree {
                lab.draw(figure(&found));
            }
        }
    }
    Ok(rows)
}

fn choose(lab: &mut Lab<'_>, set: &Split, cost: Cost, what: &str, done: usize) -> Result<Found> {
    let sample = Sample::new(&set.train.points, &set.train.targets);
    let labels = set.test.targets.classes()?;
    let exec = lab.exec();
    let mut found = Found { costs: Vec::new(), choices: Vec::new(), errors: Vec::new() };
    for degree in 1..=DEGREES {
        let kernels = [poly(degree, set.train.dim())];
        let tried = match cost {
            Cost::Validated => {
                lab.step(format!("{what}, validating C for degree {degree}"), done, 2)?;
                vec![lab.validated_cost(&kernels[0], &set.train, &digits::COSTS)?.c]
            }
            Cost::ByCounts => vec![digits::C_BY_COUNTS],
            Cost::Fixed | Cost::ByDegree => COSTS.to_vec(),
        };
        for c in tried {
            lab.step(format!("{what}, degree {degree}, C={c}"), done, 2)?;
            let params = SvcParams { c, multi: Multi::OneVsRest, ..SvcParams::default() };
            let mut errors = Vec::new();
            let choices = lab.watched(|watch| {
                choose_kernel(&kernels, &params, sample, 0.05, exec, watch, &mut |_, model| {
                    let outputs = model.decision(set.test.points.view(), exec)?;
                    let (k, classes, sides) = (model.outputs(), model.classes(), model.sides());
                    let wrong = |o: usize, class: u32| {
                        let own = |i: usize| labels.name_of(i) == classes[class as usize];
                        (0..set.test.len()).filter(|&i| (outputs[i * k + o] > 0.0) != own(i)).count()
                    };
                    errors = (0..k).map(|o| wrong(o, sides[o].positive)).collect();
                    Ok(())
                })
            })?;
            let training: usize = choices.iter().map(|m| m.tried[0].training_errors).sum();
            // No plane parts the digits: nothing is gained by a larger C.
            let enough = degree == 1 || training == 0 || c == COSTS[COSTS.len() - 1];
            if cost != Cost::ByDegree || enough {
                found.costs.push(c);
                found.errors.push(errors);
                add_degree(&mut found.choices, choices);
                break;
            }
        }
    }
    Ok(found)
}

/// Puts what one degree gave beside the degrees before.
fn add_degree(all: &mut Vec<KernelChoice>, next: Vec<KernelChoice>) {
    if all.is_empty() {
        *all = next;
        return;
    }
    for (choice, next) in all.iter_mut().zip(next) {
        let place = choice.tried.len();
        choice.tried.extend(next.tried.into_iter().map(|t| KernelTried { kernel: place, ..t }));
        let last = &choice.tried[place];
        if last.risk < choice.tried[choice.by_risk].risk {
            choice.by_risk = place;
        }
        if last.capacity < choice.tried[choice.by_capacity].capacity {
            choice.by_capacity = place;
        }
    }
}

/// The degree, from 0, with the smallest capacity, degree 1 left out.
fn chosen(choice: &KernelChoice) -> usize {
    let of = |k: &usize| choice.tried[*k].capacity;
    (1..choice.tried.len()).min_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or(0)
}

fn by_digit(head: &str, digits: &Split, found: &Found, known: bool, rows: &mut Vec<Row>) {
    let Found { choices, errors, .. } = found;
    let names = digits.train.targets.classes().map(|l| l.names.clone()).unwrap_or_default();
    let mut totals = [0.0; 4];
    let mut published = [0.0; 3];
    let mut add = |setting: &str, quantity, paper: Option<f64>, mercer: f64, better| {
        rows.push(Row {
            group: format!("{head}, degree chosen by digit (Table 2.14)"),
            setting: setting.into(),
            quantity,
            paper: paper.filter(|_| known),
            mercer,
            unit: Unit::Count,
            better,
            chosen: Chosen::Validation,
        });
    };
    for (digit, choice) in choices.iter().enumerate() {
        let degree = chosen(choice);
        let at = |k: usize| errors[k][digit] as f64;
        let best = (0..errors.len()).map(at).fold(f64::INFINITY, f64::min);
        let theirs = paper::ERRORS[digit % 10];
        let their_best = theirs.iter().copied().fold(f64::INFINITY, f64::min);
        let their_errors = theirs[paper::DEGREE[digit % 10] as usize - 1];
        let setting = format!("digit {}", names.get(digit).map_or("", String::as_str));
        add(&setting, "degree", Some(paper::DEGREE[digit % 10]), (degree + 1) as f64, Better::Near);
        add(
            &setting,
            "R^2|w|^2",
            Some(paper::CAPACITY[digit % 10]),
            choice.tried[degree].capacity,
            Better::Near,
        );
        add(&setting, "errors", Some(their_errors), at(degree), Better::Lower);
        add(&setting, "best of 1-7", Some(their_best), best, Better::Lower);
        add(&setting, "by risk bound", None, at(choice.by_risk), Better::Lower);
        for (total, value) in totals.iter_mut().zip([at(degree), best, at(choice.by_risk), 0.0]) {
            *total += value;
        }
        for (total, value) in published.iter_mut().zip([their_errors, their_best, 0.0]) {
            *total += value;
        }
    }
    add("all ten", "errors", Some(published[0]), totals[0], Better::Lower);
    add("all ten", "best of 1-7", Some(published[1]), totals[1], Better::Lower);
    add("all ten", "by risk bound", None, totals[2], Better::Lower);
}

fn by_degree(head: &str, found: &Found, known: bool, rows: &mut Vec<Row>) {
    let Found { choices, errors, costs } = found;
    for (k, errors) in errors.iter().enumerate() {
        let theirs: f64 = paper::ERRORS.iter().map(|line| line[k]).sum();
        let mean = |of: &dyn Fn(&KernelChoice) -> f64| {
            choices.iter().map(of).sum::<f64>() / choices.len().max(1) as f64
        };
        let row = |quantity, paper: Option<f64>, mercer, better| Row {
            group: format!("{head}, ten machines of one degree (Fig. 2.16)"),
            setting: format!("degree {}, C={}", k + 1, costs[k]),
            quantity,
            paper: paper.filter(|_| known),
            mercer,
            unit: Unit::Count,
            better,
            chosen: Chosen::Paper,
        };
        rows.push(row("test errors", Some(theirs), errors.iter().sum::<usize>() as f64, Better::Lower));
        rows.push(row("mean R^2|w|^2", None, mean(&|c| c.tried[k].capacity), Better::Near));
        rows.push(row(
            "training errors",
            None,
            10.0 * mean(&|c| c.tried[k].training_errors as f64),
            Better::Near,
        ));
    }
}

/// Fig. 2.16: capacity and errors over the degree.
fn figure(found: &Found) -> Figure {
    let Found { choices, errors, .. } = found;
    let capacity = |k: usize| choices.iter().map(|c| c.tried[k].capacity).sum::<f64>() / choices.len() as f64;
    let degrees = 1..errors.len();
    let point = |k: usize, value: f64| ((k + 1) as f64, value);
    // One axis for both: each as a multiple of its smallest value.
    let scaled = |values: Vec<f64>| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min).max(1.0);
        degrees.clone().zip(values).map(|(k, v)| point(k, v / least)).collect::<Vec<_>>()
    };
    let series = vec![
        Series::line("mean R^2|w|^2", scaled(degrees.clone().map(capacity).collect())),
        Series::line(
            "test errors of ten machines",
            scaled(degrees.clone().map(|k| errors[k].iter().sum::<usize>() as f64).collect()),
        ),
    ];
    let (x, y) = (Axis::new("degree"), Axis::new("multiple of the smallest"));
    Figure::svg(
        Chart::new("Capacity and errors by degree", x, y, series).draw(),
        "Where the estimate of the VC dimension is smallest, and where the test errors are.",
    )
}
