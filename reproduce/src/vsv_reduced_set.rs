//! Virtual support vectors, then a reduced set (Schoelkopf 1997, Table 4.5): MNIST digits, one against the rest, C = 10,
//! degree 5, shifts by a pixel; each machine's vectors replaced by fifty times fewer, found by gradient descent since the
//! kernel is no function of distances. Virtual vectors make a machine better and slower, the reduced set gives the speed
//! back.
//!
//! Beside the paper: the same with an image-local kernel, which has a gradient as well.

use mercer::Result;
use mercer::kernel::Kernel;
use mercer::model::Machine;
use mercer::model::svc::SvcParams;
use mercer::model::{CompressParams, Goal, Model};
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Share, Size};

use crate::Experiment;
use crate::data::{MNIST, Split, USPS, Usps, head};
use crate::digits::{C, error_percent};
use crate::kernels::{local, poly};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};
use crate::reduced::vectors;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "vsv-reduced-set",
    shows: "A reduced set recovers the speed that virtual support vectors cost, and keeps most of their gain",
    paper: "Schoelkopf 1997, Table 4.5",
    notes: &[
        "Without --full only the first 5000 of 60000 training digits are used, and there is nothing to compare with; the \
         image-local machines are of the first 1000 USPS digits.",
        "Thresholds are recomputed on the training digits. Retrained: coefficients by squared hinge losses on them, on \
         the same vectors.",
        "Pooled: every machine uses the vectors of all machines, at the same number of kernel values.",
    ],
    needs: &[MNIST, USPS],
    needs_full: &[MNIST, USPS],
    seconds: 60,
    full: Some(400),
    run,
};

/// Training rows of the default, and of the image-local machines.
const PART: usize = 5000;
const LOCAL: usize = 1000;
/// How many times fewer vectors.
const FEWER: f64 = 50.0;
const LOCAL_FEWER: f64 = 20.0;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("reading", 0, 6)?;
    let mut digits = lab.mnist()?;
    let full = lab.settings.full;
    if !full {
        digits.train = head(&digits.train, PART);
    }
    let d = digits.train.dim();
    let n = digits.train.len();
    let mut rows = Vec::new();
    let group = format!("poly d=5, {n} training digits");
    let paper = |lab: &Lab<'_>, number| lab.paper(number).filter(|_| full);
    let whole = vsv(lab, 1, poly(5, d), &digits)?;
    rows.extend(row(lab, &group, "VSV", &whole, &digits, paper(lab, 1.0))?);
    let mean = vectors(&whole.expansion);
    let size = (mean / FEWER).round().max(1.0) as usize;
    lab.step("reduced set", 2, 6)?;
    let each = reduced(lab, &whole, size, (16, 200), &digits)?;
    let setting = format!("reduced set of {size} per machine");
    rows.extend(row(lab, &group, &setting, &each, &digits, paper(lab, 1.1))?);
    lab.step("reduced set, retrained", 3, 6)?;
    let pooled = whole.expansion.on_centres(each.expansion.centres().clone(), lab.exec())?;
    let pooled = Machine { expansion: pooled, ..each.clone() };
    for (small, name) in [(each, "retrained"), (pooled, "pooled, retrained")] {
        let anew = Model::from(small).retrained(&digits.train, 0, lab.exec())?;
        rows.extend(row(lab, &group, &format!("{setting}, {name}"), &anew.machine, &digits, None)?);
    }
    let mut small = lab.usps(Usps::Smoothed)?;
    small.train = head(&small.train, LOCAL);
    let group = format!("k_7^{{2,2}}, {} training digits of USPS", small.train.len());
    let whole = vsv(lab, 4, local(7, 2, 2, 16), &small)?;
    rows.extend(row(lab, &group, "VSV", &whole, &small, None)?);
    lab.step("reduced set, image-local", 5, 6)?;
    let size = (vectors(&whole.expansion) / LOCAL_FEWER).round().max(1.0) as usize;
    let few = reduced(lab, &whole, size, (4, 30), &small)?;
    rows.extend(row(lab, &group, &format!("reduced set of {size} per machine"), &few, &small, None)?);
    Ok(rows)
}

/// The ten machines with virtual vectors.
fn vsv(lab: &mut Lab<'_>, step: usize, kernel: Kernel, digits: &Split) -> Result<Machine> {
    lab.step(format!("virtual support vectors, {kernel}"), step, 6)?;
    let virtual_vectors = "shift=1".parse()?;
    let params = SvcParams { kernel: Some(kernel), c: C, virtual_vectors, ..SvcParams::default() };
    lab.machines(&params, &digits.train)
}

fn reduced(
    lab: &mut Lab<'_>,
    whole: &Machine,
    size: usize,
    (starts, steps): (usize, usize),
    digits: &Split,
) -> Result<Machine> {
    let set = ReducedSetParams {
        method: ReducedSetMethod::Gradient,
        share: Share::Each,
        starts,
        descent: Some(steps),
        ..ReducedSetParams::default()
    };
    let params = CompressParams { goal: Goal::Size(Size::Vectors(size)), set, ..CompressParams::default() };
    let (exec, model) = (lab.exec(), Model::from(whole.clone()));
    let small = lab.watched(|watch| model.compress(&params, Some(&digits.train), exec, watch))?;
    Ok(small.model.machine)
}

fn row(
    lab: &Lab<'_>,
    group: &str,
    setting: &str,
    model: &Machine,
    digits: &Split,
    paper: Option<f64>,
) -> Result<[Row; 2]> {
    let row = |quantity, paper, mercer, unit, better| Row {
        group: group.to_owned(),
        setting: setting.to_owned(),
        quantity,
        paper,
        mercer,
        unit,
        better,
        chosen: Chosen::Paper,
    };
    let error = error_percent(model, &digits.test, lab.exec())?;
    let centres = model.expansion.len() as f64;
    Ok([
        row("test error", paper, error, Unit::Percent, Better::Lower),
        row("kernel values per digit", None, centres, Unit::Count, Better::Lower),
    ])
}
