//! Image-local kernels on digits (Schoelkopf 1997, Table 4.9 and Sec. 4.4.3): products of neighbouring pixels only.
//!
//! Ten machines, one against the rest, C = 10, also with virtual support vectors. Local kernels are scaled to `k(1, 1) = 1` for the image of ones, as the
//! polynomial ones are by the number of pixels.

use mercer::Result;
use mercer::data::Transformations;
use mercer::expansion::Precision;
use mercer::kernel::Kernel;
use mercer::model::svc::SvcParams;

use crate::Experiment;
use crate::data::{MNIST, Split, USPS, Usps, head};
use crate::digits::{C, COSTS, mean_support};
use crate::kernels::{local, poly};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "local-kernels",
    shows: "Products of neighbouring pixels separate digits better than products of any pixels",
    paper: "Schoelkopf 1997, Table 4.9 and Sec. 4.4.3",
    notes: &[
        "Small MNIST is the first 5000 of the 60000 training digits and all 10000 of the test digits.",
        "Virtual: retrained on support vectors and their four shifts by one pixel.",
        "C by validation: the fewest errors of the plain machine in a two-fold cross-validation on the training digits.",
        "Without --full the USPS digits only as the paper had them, smoothed.",
        "The paper smoothed the USPS digits and does not say how it treated edges; here edge pixels are repeated.",
    ],
    needs: &[USPS, MNIST],
    needs_full: &[USPS, MNIST],
    seconds: 115,
    full: Some(200),
    run,
};

/// Rows of the small MNIST set.
const SMALL: usize = 5000;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    lab.step("reading", 0, 1)?;
    let copies = if lab.settings.full { &Usps::BOTH[..] } else { &Usps::BOTH[..1] };
    for &copy in copies {
        let digits = lab.usps(copy)?;
        let ours = |number: f64| if copy == Usps::Smoothed { lab.paper(number) } else { None };
        let settings = [
            ("poly d=4", poly(4, 256), "", ours(4.2)),
            ("poly d=4, virtual", poly(4, 256), SHIFTS, ours(3.5)),
            ("k_7^{2,2}", local(7, 2, 2, 16), "", ours(3.6)),
            ("k_7^{2,2}, virtual", local(7, 2, 2, 16), SHIFTS, ours(3.0)),
        ];
        let group = format!("USPS, {}", copy.name());
        one_set(lab, &group, &digits, settings.to_vec(), Cost::Fixed, &mut rows)?;
        if copy == Usps::Smoothed {
            one_set(lab, &group, &digits, settings.to_vec(), Cost::Validated, &mut rows)?;
        }
    }
    let mut digits = lab.mnist()?;
    digits.train = head(&digits.train, SMALL);
    let settings = vec![
        ("poly d=4", poly(4, 784), "", lab.paper(4.0)),
        ("poly d=4, virtual", poly(4, 784), SHIFTS, lab.paper(2.8)),
        ("k_9^{2,2}", local(9, 2, 2, 28), "", lab.paper(3.1)),
        ("k_9^{4,1}", local(9, 4, 1, 28), "", lab.paper(3.4)),
        ("k_9^{2,2}, virtual", local(9, 2, 2, 28), SHIFTS, lab.paper(2.0)),
    ];
    one_set(lab, "small MNIST", &digits, settings.clone(), Cost::Fixed, &mut rows)?;
    // Machines of local kernels take most of this experiment's time: the short run has each once.
    let polynomial = |(_, kernel, ..): &Setting| matches!(kernel, Kernel::Poly { .. });
    let again = settings.into_iter().filter(|s| lab.settings.full || polynomial(s)).collect();
    one_set(lab, "small MNIST", &digits, again, Cost::Validated, &mut rows)?;
    Ok(rows)
}

/// Name, kernel, transformations of support vectors, the paper's error.
type Setting = (&'static str, Kernel, &'static str, Option<f64>);

/// What virtual vectors are made by.
const SHIFTS: &str = "shift=1";

/// How C is set.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cost {
    /// As in the paper.
    Fixed,
    /// By cross-validation of the plain machine on the training rows.
    Validated,
}

/// C for each kernel, chosen on the training rows.
fn validated(
    lab: &mut Lab<'_>,
    group: &str,
    digits: &Split,
    settings: &[Setting],
) -> Result<Vec<(Kernel, f64)>> {
    let mut out: Vec<(Kernel, f64)> = Vec::new();
    for (i, (name, kernel, ..)) in settings.iter().enumerate() {
        if out.iter().all(|(k, _)| k != kernel) {
            lab.step(format!("{group}, validating C for {name}"), i, settings.len())?;
            let c = lab.validated_cost(kernel, &digits.train, &COSTS)?.c;
            out.push((kernel.clone(), c));
        }
    }
    Ok(out)
}

fn one_set(
    lab: &mut Lab<'_>,
    group: &str,
    digits: &Split,
    settings: Vec<Setting>,
    cost: Cost,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let total = settings.len();
    let costs = match cost {
        Cost::Fixed => Vec::new(),
        Cost::Validated => validated(lab, group, digits, &settings)?,
    };
    for (i, (setting, kernel, line, paper)) in settings.into_iter().enumerate() {
        lab.step(format!("{group}, {setting}"), i, total)?;
        let c = costs.iter().find(|(k, _)| *k == kernel).map_or(C, |(_, c)| *c);
        let virtual_vectors = if line.is_empty() { Transformations::default() } else { line.parse()? };
        let params = SvcParams { kernel: Some(kernel), c, virtual_vectors, ..SvcParams::default() };
        let model = lab.machines(&params, &digits.train)?;
        let (by, setting, chosen) = match cost {
            Cost::Fixed => ("", setting.to_owned(), Chosen::Paper),
            Cost::Validated => (", C by validation", format!("{setting}, C={c}"), Chosen::Validation),
        };
        let row = |quantity, paper, mercer, unit, better| Row {
            group: format!("{group}{by}"),
            setting: setting.clone(),
            quantity,
            paper,
            mercer,
            unit,
            better,
            chosen,
        };
        // Local kernel values are what this experiment's time goes into, and f32 is enough for an answer.
        let outputs = model.decision_in(digits.test.points.view(), Precision::F32, lab.exec())?;
        let (told, labels) = (model.classes_of(&outputs), digits.test.targets.classes()?);
        let classes = model.classes();
        let wrong = (0..told.len()).filter(|&i| classes[told[i] as usize] != labels.name_of(i)).count();
        let error = 100.0 * wrong as f64 / digits.test.len() as f64;
        rows.push(row("test error", paper, error, Unit::Percent, Better::Lower));
        rows.push(row("SVs per machine", None, mean_support(&model), Unit::Count, Better::Near));
    }
    Ok(())
}
