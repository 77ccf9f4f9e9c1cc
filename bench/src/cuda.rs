//! An NVIDIA device beside the CPU: fits, predictions, the whole matrix. Best of several warm calls, in one process.

use std::time::Instant;

use anyhow::Result;
use mercer::assess::{KernelFamily, SearchAxis, SearchParams, Space, by_factors, search};
use mercer::data::{Dataset, Points, Targets};
use mercer::gram::{KernelRows, Rows};
use mercer::kernel::Kernel;
use mercer::model::{KpcaParams, LargeParams, Learner, Model, RidgeParams, Sample};
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
    if args.wants("whole") {
        whole(&mut report, args, sides)?;
    }
    if args.wants("ridge") {
        ridge(&mut report, args, sides)?;
    }
    if args.wants("grid") {
        grid(&mut report, args, sides)?;
    }
    if args.wants("large") && args.full {
        large(&mut report, args, sides)?;
    }
    if args.wants("kpca") {
        components(&mut report, args, sides)?;
    }
    Ok(report)
}

/// The matrix of 60,000 digits, kept on the device.
fn whole(report: &mut Report, args: &Args, sides: &[(&str, Exec)]) -> Result<()> {
    let split = sets::Set::named("mnist60k").load()?;
    let kernel = Kernel::Rbf { gamma: 0.02 };
    for &(label, exec) in sides.iter().filter(|(label, _)| *label == "device") {
        let mut least = f64::INFINITY;
        for _ in 0..=args.repeats {
            let rows = KernelRows::new(&kernel, &split.train.points, exec)?;
            let clock = Instant::now();
            // Without vectors the matrix is made and nothing is multiplied.
            anyhow::ensure!(rows.times(&[], &mut []), "the device keeps no matrix of this size");
            least = least.min(clock.elapsed().as_secs_f64());
        }
        report.note("gram of 60000 mnist rows, kept", label, least, "s");
        traced("whole", || {
            KernelRows::new(&kernel, &split.train.points, exec).map(|rows| {
                rows.times(&[], &mut []);
            })
        })?;
    }
    Ok(())
}

/// Exact ridge regression on the codes of ten classes of digits.
fn ridge(report: &mut Report, args: &Args, sides: &[(&str, Exec)]) -> Result<()> {
    let split = sets::Set::named("mnist60k").load()?;
    let learner =
        RidgeParams { kernel: Some(Kernel::Rbf { gamma: 0.02 }), lambda: 0.01, ..RidgeParams::default() };
    let sample = Sample::new(&split.train.points, &split.train.targets);
    for &(label, exec) in sides.iter().filter(|(label, _)| *label == "device" || args.full) {
        let mut kept = None;
        let seconds = best(args.repeats, || {
            kept = Some(Model::from(learner.fit(sample, exec, &mut silent())?));
            Ok(())
        })?;
        report.note("ridge", format!("{label}: fit"), seconds, "s");
        if label == "device" {
            traced("ridge", || learner.fit(sample, exec, &mut silent()).map(drop))?;
        }
        let Some(model) = kept else { continue };
        let info = model.info();
        report.note("ridge", format!("{label}: residual"), info.gap, "");
        report.note("ridge", format!("{label}: iterations"), info.iterations as f64, "");
        eprintln!("ridge, {label}: {:?}", info.notes);
        report.note("ridge", format!("{label}: test errors"), errors(&model, &split.test, exec)? as f64, "");
    }
    Ok(())
}

/// A search over 10 x 10 settings in five folds, on 10,000 digits. Once: nothing of it is kept between calls.
fn grid(report: &mut Report, args: &Args, sides: &[(&str, Exec)]) -> Result<()> {
    let split = sets::Set::named("mnist10k").load()?;
    let space = Space {
        families: vec![KernelFamily::rbf(&by_factors(0.005, 0.08, 10))],
        axes: vec![SearchAxis { name: "c".into(), values: by_factors(0.1, 100.0, 10) }],
    };
    let base = Learner::find("svc")?.learner();
    for &(label, exec) in sides.iter().filter(|(label, _)| *label == "device" || args.full) {
        let params = SearchParams { seconds: Some(60.0), ..SearchParams::new(space.clone()) };
        let clock = Instant::now();
        let found = search(&split.train, &[], &base, &params, exec, &mut silent())?;
        report.note("grid 10 x 10 x 5, mnist10k", label, clock.elapsed().as_secs_f64(), "s");
        report.note("grid 10 x 10 x 5, mnist10k", format!("{label}: error"), found.best.score.mean, "");
        report.note(
            "grid 10 x 10 x 5, mnist10k",
            format!("{label}: settings"),
            found.stages.iter().map(|s| s.cells.len()).sum::<usize>() as f64,
            "",
        );
    }
    Ok(())
}

/// The learner for large data on 60,000 digits, with 20,000 centres.
fn large(report: &mut Report, args: &Args, sides: &[(&str, Exec)]) -> Result<()> {
    let split = sets::Set::named("mnist60k").load()?;
    let learner = LargeParams {
        kernel: Some(Kernel::Rbf { gamma: 0.02 }),
        centres: 20_000,
        lambda: 0.01,
        tol: 1e-3,
        ..LargeParams::default()
    };
    let sample = Sample::new(&split.train.points, &split.train.targets);
    for &(label, exec) in sides.iter().filter(|(label, _)| *label == "device" || !args.peer.is_empty()) {
        let mut kept = None;
        let mut fit = || -> mercer::Result<()> {
            kept = Some(Model::from(learner.fit(sample, exec, &mut silent())?));
            Ok(())
        };
        let seconds = if label == "device" {
            let seconds = best(args.repeats, &mut fit)?;
            traced("large", &mut fit)?;
            seconds
        } else {
            let clock = Instant::now();
            fit()?;
            clock.elapsed().as_secs_f64()
        };
        report.note("large, 20,000 centres", label, seconds, "s");
        let Some(model) = kept else { continue };
        eprintln!("large, {label}: {:?}", model.info().notes);
        report.note("large, 20,000 centres", format!("{label}: passes"), model.info().iterations as f64, "");
        let wrong = errors(&model, &split.test, exec)? as f64;
        report.note("large, 20,000 centres", format!("{label}: test errors"), wrong, "");
    }
    Ok(())
}

/// Rows of another class than the model says.
fn errors(model: &Model, test: &Dataset, exec: Exec) -> Result<usize> {
    let predicted = model.predict_data(test, &mercer::model::Query::default(), exec)?;
    let (a, b) = (predicted.targets.classes()?, test.targets.classes()?);
    let name_of = |labels: &mercer::data::Labels, i: usize| labels.names[labels.of_row[i] as usize].clone();
    Ok((0..b.len()).filter(|&i| name_of(a, i) != name_of(b, i)).count())
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
        report.note(name, format!("{label}: test errors"), errors(&model, &split.test, exec)? as f64, "");
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
