//! Kernel PCA beside scikit-learn's, each of its solvers that suits the case: fits, features, denoising as a whole job.
//!
//! Context: how far eigenvalues are apart, one step of the fixed point beside the two products it cannot do without, peak
//! memory; with `--full` the first 64 components of 50000 rows. How well noisy digits are restored: `denoise`.

use anyhow::{Context, Result};
use mercer::data::{Dataset, Points, Targets};
use mercer_testkit::toy;
use serde_json::{Value, json};

use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Outcome, Task, of};
use crate::side::{BEFORE, Side};
use crate::{Args, sets};

const MERCER: &str = "mercer";
const USPS_GAMMA: f64 = 1.0 / 128.0;
const MNIST_GAMMA: f64 = 0.02;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn"])?;
    let mut report = Report::new("kpca");
    let mut sides = vec![
        Side::mercer(args.threads())?,
        Side::peer("scikit-learn", &python, "kpca.py", &[], args.threads())?,
    ];
    if let Some(program) = &args.before {
        sides.push(Side::before(program, args.threads())?);
    }
    let usps = sets::Set::named("usps").load()?;
    let few = usps.train.gather(&(0..3000).collect::<Vec<_>>());
    if args.wants("3000x256 all") {
        fit(&mut sides, &mut report, args, "3000x256 all", &few, None, USPS_GAMMA, &["dense"])?;
    }
    if args.wants("7291x256 64") {
        let solvers = ["randomized", "arpack"];
        fit(&mut sides, &mut report, args, "7291x256 64", &usps.train, Some(64), USPS_GAMMA, &solvers)?;
    }
    if args.wants("mnist 10000x784 64") || args.wants("mnist transform") {
        let mnist = sets::Set::named("mnist10k").load()?;
        let case = "mnist 10000x784 64";
        let test = sets::hand_out(&mnist.test, "kpca-transform")?;
        fit(
            &mut sides,
            &mut report,
            args,
            case,
            &mnist.train,
            Some(64),
            MNIST_GAMMA,
            &["randomized", "arpack"],
        )?;
        let train = sets::hand_out(&mnist.train, "kpca-mnist")?;
        load(&mut sides, &train, Some(&test))?;
        let mut all = vec![task(0, MERCER, &json!({"do": "kpca_transform"}))];
        if args.wants_peer("scikit-learn") {
            all.push(task(1, "scikit-learn", &json!({"do": "transform"})));
        }
        all.extend(before(&sides, &json!({"do": "kpca_transform"})));
        let done = rounds::run(&mut sides, &all, args)?;
        let case = "mnist transform of 10000";
        for peer in &done[1..] {
            report.row(case, &peer.label, peer.seconds, done[0].seconds);
        }
        if let Some(off) = done[0].answer["off"].as_f64() {
            report.note(
                case,
                "mercer, largest difference from f64, in the feature's deviation",
                off,
                "of it",
            );
        }
    }
    if args.wants("denoise") {
        denoise(&mut sides, &mut report, args, &few, &usps.test)?;
    }
    if args.full {
        large(&mut sides[0], &mut report)?;
    }
    Ok(report)
}

fn task(side: usize, label: &str, request: &Value) -> Task {
    Task { label: label.to_owned(), side, request: request.clone() }
}

/// The same request for Mercer at another commit, where it takes part.
fn before(sides: &[Side], request: &Value) -> Option<Task> {
    (sides.len() > 2).then(|| task(2, BEFORE, request))
}

fn load(sides: &mut [Side], x: &std::path::Path, test: Option<&std::path::Path>) -> Result<()> {
    let request = |verb: &str| match test {
        Some(test) => json!({"do": verb, "x": x, "test_x": test}),
        None => json!({"do": verb, "x": x}),
    };
    for (i, side) in sides.iter_mut().enumerate() {
        side.ask(&request(if i == 1 { "load" } else { "kpca_load" }))?;
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a case and where it goes")]
fn fit(
    sides: &mut [Side],
    report: &mut Report,
    args: &Args,
    case: &str,
    data: &Dataset,
    components: Option<u64>,
    gamma: f64,
    solvers: &[&str],
) -> Result<()> {
    eprintln!("bench: {case}");
    let x = sets::hand_out(data, &format!("kpca-{}", case.replace(' ', "-")))?;
    load(sides, &x, None)?;
    let ours = json!({"do": "kpca_fit", "gamma": gamma, "components": components});
    let mut tasks = vec![task(0, MERCER, &ours)];
    tasks.extend(before(sides, &ours));
    for solver in solvers.iter().filter(|s| args.wants_peer(&format!("scikit-learn {s}"))) {
        let request = json!({"do": "fit", "gamma": gamma, "components": components, "solver": solver});
        tasks.push(task(1, &format!("scikit-learn {solver}"), &request));
    }
    let done = rounds::run(sides, &tasks, args)?;
    let ours = of(&done, MERCER)?;
    for peer in &done[1..] {
        report.row(case, &peer.label, peer.seconds, ours.seconds);
        let what = format!("eigenvalues, largest relative difference from {}", peer.label);
        report.note(case, what, apart(ours, peer)?, "of them");
    }
    if let Some(gap) = ours.answer["gap"].as_f64() {
        report.note(case, "mercer, largest residual relative to its eigenvalue", gap, "of it");
    }
    for outcome in &done {
        if let Some(peak) = outcome.peak_mb {
            report.note(case, format!("peak memory, {}", outcome.label), peak, "MB");
        }
    }
    Ok(())
}

/// The largest relative difference of eigenvalues, down to a millionth of the first: below, rounding decides.
fn apart(ours: &Outcome, theirs: &Outcome) -> Result<f64> {
    let list = |o: &Outcome| -> Result<Vec<f64>> {
        let values = o.answer["values"].as_array().context("an answer without eigenvalues")?;
        Ok(values.iter().filter_map(Value::as_f64).collect())
    };
    let (ours, theirs) = (list(ours)?, list(theirs)?);
    let top = theirs.first().copied().context("no eigenvalue")?;
    let pairs = ours.iter().zip(&theirs).filter(|(_, t)| **t > 1e-6 * top);
    Ok(pairs.map(|(a, b)| (a - b).abs() / b).fold(0.0, f64::max))
}

/// Rows with noise of deviation 0.5.
fn noisy(data: &Dataset) -> Result<Dataset> {
    let (x, noise) = (data.points.view().to_f64()?, toy::normals(data.len(), data.dim(), 9));
    let x = x.iter().zip(noise).map(|(x, e)| (x + 0.5 * e) as f32).collect();
    Ok(Dataset::new(Points::dense_f32(x, data.dim())?, Targets::None)?)
}

fn denoise(
    sides: &mut [Side],
    report: &mut Report,
    args: &Args,
    train: &Dataset,
    test: &Dataset,
) -> Result<()> {
    let case = "denoise 2007 digits, 3000 with 256 components";
    eprintln!("bench: {case}");
    let x = sets::hand_out(train, "kpca-denoise")?;
    let test_x = sets::hand_out(&noisy(test)?, "kpca-denoise-test")?;
    load(sides, &x, Some(&test_x))?;
    let request =
        |verb: &str| json!({"do": verb, "gamma": USPS_GAMMA, "components": 256, "solver": "randomized"});
    let mut arpack = request("denoise");
    arpack["solver"] = json!("arpack");
    let mut tasks = vec![task(0, MERCER, &request("kpca_denoise"))];
    tasks.extend(before(sides, &request("kpca_denoise")));
    for (label, request) in
        [("scikit-learn randomized", &request("denoise")), ("scikit-learn arpack", &arpack)]
    {
        if args.wants_peer(label) {
            tasks.push(task(1, label, request));
        }
    }
    let done = rounds::run(sides, &tasks, args)?;
    for peer in &done[1..] {
        report.row(case, &peer.label, peer.seconds, done[0].seconds);
    }
    if let Some(steps) = done[0].answer["steps"].as_f64() {
        report.note(case, "mercer, most steps a digit took", steps, "steps");
    }
    // A step is the difference between two runs of a known number of them.
    let (few, many) = (3, 13);
    let steps = |n: u32| json!({"do": "kpca_steps", "steps": n});
    let tasks = [
        task(0, "few", &steps(few)),
        task(0, "many", &steps(many)),
        task(0, "floor", &json!({"do": "kpca_floor"})),
    ];
    let done = rounds::run(sides, &tasks, args)?;
    let step = (of(&done, "many")?.seconds - of(&done, "few")?.seconds) / f64::from(many - few);
    let floor = of(&done, "floor")?.seconds;
    report.note(case, "mercer, one fixed-point step over all digits", step, "s");
    report.note(case, "its two products alone", floor, "s");
    report.note(case, "step / its two products", step / floor, "times");
    Ok(())
}

/// 64 components of 50000 rows, whose matrix is kept in f32.
fn large(side: &mut Side, report: &mut Report) -> Result<()> {
    let case = "mnist 50000x784 64";
    eprintln!("bench: {case}");
    let mnist = sets::Set::named("mnist60k").load()?;
    let x = sets::hand_out(&mnist.train.gather(&(0..50_000).collect::<Vec<_>>()), "kpca-large")?;
    drop(mnist);
    side.ask(&json!({"do": "kpca_load", "x": x, "dtype": "float32"}))?;
    let memory = 10_500_000_000_u64;
    let request =
        json!({"do": "kpca_fit", "gamma": MNIST_GAMMA, "components": 64, "tol": 1e-6, "memory": memory});
    let answer = side.ask(&request)?;
    for (key, what, unit) in [("seconds", "mercer, fit", "s"), ("peak_mb", "peak memory, mercer", "MB")] {
        if let Some(value) = answer[key].as_f64() {
            report.note(case, what, value, unit);
        }
    }
    let residual = side.ask(&json!({"do": "kpca_residual"}))?;
    let worst = residual["residual"].as_f64().context("an answer without a residual")?;
    report.note(case, "largest |Kv - lambda v| / lambda, kernel values in f64", worst, "of it");
    Ok(())
}
