//! An NVIDIA device beside the CPU: fits, predictions, the whole matrix. Best of several warm calls, in one process.

use std::time::Instant;

use anyhow::Result;
use mercer::data::{Dataset, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::{KpcaParams, Learner, Model, Sample};
use mercer::watch::silent;
use mercer::{Exec, gram};
use mercer_cuda::Choice;

use crate::report::Report;
use crate::{Args, made, sets};

const SETS: [&str; 6] = ["mnist60k", "usps", "letter", "a9a", "ijcnn1", "separated"];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("cuda");
    let clock = Instant::now();
    let device = mercer_cuda::device(Choice::Cuda(0)).map_err(anyhow::Error::msg)?;
    report.note("device", "start", clock.elapsed().as_secs_f64(), "s");
    let cpu = Exec::new(args.threads);
    let mut sides = vec![("device", cpu.with_device(device)), ("cpu", cpu)];
    sides.retain(|(label, _)| args.peer.is_empty() || args.peer.iter().any(|peer| label.contains(peer)));
    let sides = sides.as_slice();
    for name in SETS.iter().filter(|name| args.wants(name)) {
        let set = sets::Set::named(name);
        match set.load() {
            Ok(split) => machines(&mut report, args, name, (set.c, set.gamma), &split, sides)?,
            Err(error) => eprintln!("bench: {error:#}"),
        }
    }
    if args.wants("shifts") && args.full {
        let set = sets::Set::named("mnist60k");
        let split = set.load()?;
        let shifted = sets::Split { train: made::shifted(&split.train, 28)?, test: split.test };
        machines(&mut report, args, "shifts", (set.c, set.gamma), &shifted, &sides[..1])?;
    }
    if args.wants("svr") {
        regression(&mut report, args, sides)?;
    }
    if args.wants("gram") {
        let split = sets::Set::named("mnist10k").load()?;
        for &(label, exec) in sides {
            let kernel = Kernel::Rbf { gamma: 0.02 };
            let best = best(args.repeats, || {
                gram::square::<f32>(&kernel, split.train.points.view(), exec).map(drop)
            })?;
            report.note("gram of 10000 mnist rows, to the host", label, best, "s");
        }
    }
    if args.wants("kpca") {
        components(&mut report, args, sides)?;
    }
    Ok(report)
}

/// The first 64 components of 50,000 digits.
fn components(report: &mut Report, args: &Args, sides: &[(&str, Exec)]) -> Result<()> {
    let split = sets::Set::named("mnist60k").load()?;
    let some: Vec<usize> = (0..50_000).collect();
    let data = split.train.gather(&some);
    let learner = KpcaParams {
        kernel: Some(Kernel::Rbf { gamma: 0.02 }),
        components: Some(64),
        tol: 1e-4,
        ..KpcaParams::default()
    };
    let none = Targets::None;
    let sample = Sample::new(&data.points, &none);
    for &(label, exec) in sides.iter().filter(|(label, _)| *label == "device" || args.full) {
        let mut first = f64::NAN;
        let fit = |first: &mut f64| {
            let machine = learner.fit(sample, exec, &mut silent())?;
            *first = machine.info.gap;
            eprintln!("kpca, {label}: {:?}", machine.info.notes);
            Ok(())
        };
        let seconds = best(args.repeats, || fit(&mut first))?;
        report.note("kpca", format!("{label}: fit"), seconds, "s");
        report.note("kpca", format!("{label}: residual"), first, "");
        if label == "device" {
            traced("kpca", || fit(&mut first))?;
        }
    }
    Ok(())
}

/// The best time of several calls after one that is not counted.
fn best(repeats: usize, mut work: impl FnMut() -> mercer::Result<()>) -> Result<f64> {
    work()?;
    let mut best = f64::INFINITY;
    for _ in 0..repeats.max(1) {
        let clock = Instant::now();
        work()?;
        best = best.min(clock.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Does something once more, and says where its time goes.
fn traced(name: &str, mut work: impl FnMut() -> mercer::Result<()>) -> Result<()> {
    mercer_cuda::look(true);
    let clock = Instant::now();
    work()?;
    let seconds = clock.elapsed().as_secs_f64();
    mercer_cuda::look(false);
    eprintln!("{name}, traced: {seconds:.4} s\n{}", mercer_cuda::trace());
    Ok(())
}

fn machines(
    report: &mut Report,
    args: &Args,
    name: &str,
    (c, gamma): (f64, f64),
    split: &sets::Split,
    sides: &[(&str, Exec)],
) -> Result<()> {
    let mut learner = Learner::find("svc").expect("known").learner();
    learner.set_kernel(Kernel::Rbf { gamma });
    learner.set("c", c.into())?;
    let sample = Sample::new(&split.train.points, &split.train.targets);
    for &(label, exec) in sides {
        let mut kept = None;
        let seconds = best(args.repeats, || {
            kept = Some(Model::from(learner.fit(sample, exec, &mut silent())?));
            Ok(())
        })?;
        report.note(name, format!("{label}: fit"), seconds, "s");
        if label == "device" {
            traced(name, || learner.fit(sample, exec, &mut silent()).map(drop))?;
        }
        let Some(model) = kept else { continue };
        let info = model.info();
        report.note(name, format!("{label}: solver alone"), info.seconds, "s");
        report.note(name, format!("{label}: support vectors"), model.machine.expansion.len() as f64, "");
        report.note(name, format!("{label}: objective"), info.objective.unwrap_or(f64::NAN), "");
        report.note(name, format!("{label}: iterations"), info.iterations as f64, "");
        eprintln!("{name}, {label}: {:?}", info.notes);
        let seconds = best(args.repeats, || model.decision(split.test.points.view(), exec).map(drop))?;
        report.note(name, format!("{label}: decision values"), seconds, "s");
        let predicted = model.predict_data(&split.test, &mercer::model::Query::default(), exec)?;
        if let (Ok(a), Ok(b)) = (predicted.targets.classes(), split.test.targets.classes()) {
            let name_of =
                |labels: &mercer::data::Labels, i: usize| labels.names[labels.of_row[i] as usize].clone();
            let wrong = (0..b.len()).filter(|&i| name_of(a, i) != name_of(b, i)).count();
            report.note(name, format!("{label}: test errors"), wrong as f64, "");
        }
    }
    Ok(())
}

/// A smooth function of ten columns with noise, most rows outside the tube.
fn regression(report: &mut Report, args: &Args, sides: &[(&str, Exec)]) -> Result<()> {
    let (n, d) = (15_000, 10);
    let x = mercer_testkit::toy::normals(n, d, 1);
    let noise = mercer_testkit::toy::normals(n, 1, 2);
    let y = x.chunks(d).zip(&noise).map(|(r, e)| (r[0] * 2.0).sin() + r[1] * r[2] + 0.3 * e).collect();
    let data = Dataset::new(Points::dense(x, d)?, Targets::Reals(y))?;
    let mut learner = Learner::find("svr").expect("known").learner();
    learner.set_kernel(Kernel::Rbf { gamma: 0.1 });
    for (name, value) in [("c", 1.0), ("epsilon", 0.05)] {
        learner.set(name, value.into())?;
    }
    let sample = Sample::new(&data.points, &data.targets);
    for &(label, exec) in sides {
        let mut objective = f64::NAN;
        let seconds = best(args.repeats, || {
            let machine = learner.fit(sample, exec, &mut silent())?;
            objective = machine.info.objective.unwrap_or(f64::NAN);
            Ok(())
        })?;
        report.note("svr", format!("{label}: fit"), seconds, "s");
        if label == "device" {
            traced("svr", || learner.fit(sample, exec, &mut silent()).map(drop))?;
        }
        report.note("svr", format!("{label}: objective"), objective, "");
    }
    Ok(())
}
