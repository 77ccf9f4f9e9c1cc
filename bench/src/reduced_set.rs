//! Reduced sets: what making them takes and what they save.
//!
//! The ten digit machines of the papers (smoothed USPS, a Gaussian, one against the rest) with 25 vectors each: seconds of
//! phase one and two, and the predictions of the smaller machine beside those of the whole one, measured. Then LIBSVM's own
//! model of the digits, trained by `svm-train`, ten times smaller: written as LIBSVM's text and predicted by `svm-predict`.
//! The peer of a row is the whole model; the ratio is the speed-up.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use mercer::data::io::{self, ReadOptions, TargetKind};
use mercer::data::{Dataset, ImageShape, Points, Stages};
use mercer::model::svc::Multi;
use mercer::model::{CompressParams, Compressed, Goal, Model, Sample, SvcParams};
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Share, Size};
use mercer::watch::silent;
use mercer::{Exec, kernel::Kernel};

use crate::Args;
use crate::report::Report;
use crate::sets::{self, Set};

/// The papers' machine.
const KERNEL: Kernel = Kernel::Rbf { gamma: 1.0 / 128.0 };
const C: f64 = 10.0;
const VECTORS: usize = 25;
/// Steps of phase two, as in the experiment.
const STEPS: usize = 300;

const CONSTRUCTION: &str = "usps, ten machines of 25 vectors";
const LIBSVM: &str = "usps, svm-train's model";

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("reduced-set");
    let exec = Exec::new(args.threads);
    let split = Set::named("usps").load()?;
    if args.wants(CONSTRUCTION) {
        construction(&smoothed(&split.train, exec)?, &smoothed(&split.test, exec)?, exec, args, &mut report)?;
    }
    if args.wants(LIBSVM) {
        match libsvm(&split.train, &split.test, exec, args, &mut report) {
            Err(error) if which("svm-train").is_none() => eprintln!("bench: left out {LIBSVM}: {error:#}"),
            done => done?,
        }
    }
    Ok(report)
}

/// As the papers prepared them.
fn smoothed(data: &Dataset, exec: Exec) -> Result<Dataset> {
    let points = data.points.clone().with_image(ImageShape::grey(16, 16))?;
    let (_, points) = Stages::fit(&Stages::parse("smooth(0.75)")?, points.view(), exec)?;
    Ok(Dataset::new(points, data.targets.clone())?)
}

fn construction(train: &Dataset, test: &Dataset, exec: Exec, args: &Args, report: &mut Report) -> Result<()> {
    let params = SvcParams { kernel: Some(KERNEL), c: C, multi: Multi::OneVsRest, ..SvcParams::default() };
    let whole = params.fit(Sample::new(&train.points, &train.targets), exec, &mut silent())?;
    let support = whole.expansion.coef().iter().filter(|c| **c != 0.0).count();
    let whole = Model::from(whole);
    let set = ReducedSetParams {
        method: ReducedSetMethod::FixedPoint,
        share: Share::Each,
        ..ReducedSetParams::default()
    };
    let wanted = Size::Vectors(VECTORS);
    let params = CompressParams { set, ..CompressParams::default() };
    let mut best: Option<Compressed> = None;
    let mut spent = 0.0;
    let seconds = |c: &Compressed| c.about.set.first_seconds + c.about.set.second_seconds;
    for _ in 0..args.repeats {
        let mut made =
            whole.compress_path(&params, &[(wanted, Some(STEPS))], Some(train), exec, &mut silent())?;
        let now = made.pop().context("one size was asked for")?;
        spent += seconds(&now);
        if best.as_ref().is_none_or(|b| seconds(&now) < seconds(b)) {
            best = Some(now);
        }
        if spent > args.budget {
            break;
        }
    }
    let small = best.context("at least one run")?;
    let set = &small.about.set;
    report.note(CONSTRUCTION, "support vectors per machine", support as f64 / 10.0, "");
    report.note(CONSTRUCTION, "phase one", set.first_seconds, "s");
    report.note(CONSTRUCTION, "phase two", set.second_seconds, "s");
    report.note(CONSTRUCTION, "distance in feature space", 100.0 * set.error, "%");
    report.note(CONSTRUCTION, "test error, whole", error(&whole, test, exec)?, "%");
    report.note(CONSTRUCTION, "test error, compressed", error(&small.model, test, exec)?, "%");
    let times = alternating(
        args,
        &mut [&mut || outputs(&whole, &test.points, exec), &mut || outputs(&small.model, &test.points, exec)],
    )?;
    report.row(
        &format!("{CONSTRUCTION}: predict {} rows", test.len()),
        "the whole model",
        times[0],
        times[1],
    );
    Ok(())
}

/// LIBSVM's model of the raw digits, smaller, in LIBSVM's own hands.
fn libsvm(train: &Dataset, test: &Dataset, exec: Exec, args: &Args, report: &mut Report) -> Result<()> {
    let folder = sets::scratch()?;
    let file = |name: &str| folder.join(name);
    io::write(file("reduced-train.svm"), train)?;
    io::write(file("reduced-test.svm"), test)?;
    let (train_file, test_file) = (file("reduced-train.svm"), file("reduced-test.svm"));
    let (model, smaller) = (file("reduced-whole.model"), file("reduced-small.model"));
    let gamma = (1.0_f64 / 128.0).to_string();
    tool("svm-train", &["-q", "-c", "10", "-g", &gamma, "-m", "1000"], &[&train_file, &model])?;
    let whole = Model::read(&model)?;
    let options = ReadOptions { targets: TargetKind::Classes, ..ReadOptions::default() };
    let data = io::read(&train_file, &options)?;
    let params =
        CompressParams { goal: Goal::Size(Size::Ratio(10.0)), by_class: true, ..CompressParams::default() };
    let clock = Instant::now();
    let small = whole.compress(&params, Some(&data), exec, &mut silent())?;
    report.note(LIBSVM, "compressing", clock.elapsed().as_secs_f64(), "s");
    small.model.save_libsvm(&smaller)?;
    let lines = |path: &Path| -> Result<f64> {
        let text = std::fs::read_to_string(path)?;
        let count = text.lines().find_map(|l| l.strip_prefix("total_sv "));
        Ok(count.context("a model without total_sv")?.trim().parse()?)
    };
    report.note(LIBSVM, "support vectors in the file, whole", lines(&model)?, "");
    report.note(LIBSVM, "support vectors in the file, compressed", lines(&smaller)?, "");
    let answers = |model: &Path, name: &str| -> Result<Vec<String>> {
        let out = file(name);
        tool("svm-predict", &["-q"], &[&test_file, model, &out])?;
        Ok(std::fs::read_to_string(&out)?.lines().map(str::to_owned).collect())
    };
    let times = alternating(
        args,
        &mut [&mut || answers(&model, "reduced-whole.out").map(|_| ()), &mut || {
            answers(&smaller, "reduced-small.out").map(|_| ())
        }],
    )?;
    report.row(
        &format!("{LIBSVM}: svm-predict {} rows", test.len()),
        "LIBSVM, the whole model",
        times[0],
        times[1],
    );
    let (before, after) = (answers(&model, "reduced-whole.out")?, answers(&smaller, "reduced-small.out")?);
    let share = |same: &dyn Fn(usize) -> bool| {
        100.0 * (0..before.len()).filter(|&i| same(i)).count() as f64 / before.len() as f64
    };
    let truth = test.targets.classes()?;
    let same = |a: &str, b: &str| a.trim().parse::<f64>().ok() == b.trim().parse::<f64>().ok();
    report.note(LIBSVM, "answers of svm-predict that stayed", share(&|i| before[i] == after[i]), "%");
    report.note(LIBSVM, "test error, whole", share(&|i| !same(&before[i], truth.name_of(i))), "%");
    report.note(LIBSVM, "test error, compressed", share(&|i| !same(&after[i], truth.name_of(i))), "%");
    let ours = small.model.predict(test.points.view(), exec)?;
    let ours = ours.classes()?;
    report.note(
        LIBSVM,
        "Mercer's answers that are svm-predict's",
        share(&|i| same(&after[i], ours.name_of(i))),
        "%",
    );
    Ok(())
}

/// The best time of each, run in turns.
fn alternating(args: &Args, work: &mut [&mut dyn FnMut() -> Result<()>]) -> Result<Vec<f64>> {
    let mut best = vec![f64::INFINITY; work.len()];
    let begun = Instant::now();
    for _ in 0..args.repeats.max(1) {
        for (work, best) in work.iter_mut().zip(&mut best) {
            let clock = Instant::now();
            work()?;
            *best = best.min(clock.elapsed().as_secs_f64());
        }
        if begun.elapsed().as_secs_f64() > args.budget {
            break;
        }
    }
    Ok(best)
}

fn outputs(model: &Model, points: &Points, exec: Exec) -> Result<()> {
    std::hint::black_box(model.decision(points.view(), exec)?);
    Ok(())
}

fn error(model: &Model, data: &Dataset, exec: Exec) -> Result<f64> {
    let told = model.predict(data.points.view(), exec)?;
    let (told, truth) = (told.classes()?, data.targets.classes()?);
    let wrong = (0..data.len()).filter(|&i| told.name_of(i) != truth.name_of(i)).count();
    Ok(100.0 * wrong as f64 / data.len() as f64)
}

fn which(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn tool(program: &str, options: &[&str], files: &[&Path]) -> Result<()> {
    let mut command = Command::new(program);
    let status = command.args(options).args(files).stdout(Stdio::null()).status();
    let status = status
        .with_context(|| format!("{program} cannot be started; on Debian: apt-get install libsvm-tools"))?;
    if !status.success() {
        bail!("{program} failed: {status}");
    }
    Ok(())
}
