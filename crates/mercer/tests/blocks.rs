//! Data larger than memory: files read in blocks hold what the readers of whole files hold, and the learner for large data
//! finds on them what it finds in memory.

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::data::io::{self, Missing, Outside, ReadOptions, Source};
use mercer::data::{Csr, Dataset, Labels, Points, Stages, Targets, toy};
use mercer::model::{Landmarks, LargeLoss, LargeParams, Model, Plan, Sample, Wishes};
use mercer::watch::{Step, Stop, silent};
use mercer::{Error, Exec};
use mercer_testkit::assert::close_to_scale;

/// Points and targets that are read like a file.
struct Held {
    points: Points,
    targets: Vec<f64>,
    classes: Vec<String>,
    reads: AtomicUsize,
    /// Reads after which it fails.
    fails: usize,
}

impl Held {
    fn new(points: &Points, targets: &Targets) -> Self {
        let (numbers, classes) = match targets {
            Targets::Reals(y) => (y.clone(), Vec::new()),
            Targets::Classes(l) => (l.of_row.iter().map(|&c| f64::from(c)).collect(), l.names.clone()),
            Targets::None => (Vec::new(), Vec::new()),
        };
        Held {
            points: points.clone(),
            targets: numbers,
            classes,
            reads: AtomicUsize::new(0),
            fails: usize::MAX,
        }
    }
}

impl Source for Held {
    fn rows(&self) -> usize {
        self.points.len()
    }

    fn columns(&self) -> usize {
        self.points.dim()
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn read(&self, rows: Range<usize>) -> mercer::Result<(Points, Vec<f64>)> {
        if self.reads.fetch_add(1, Ordering::Relaxed) >= self.fails {
            return Err(Error::io("rows.bin", std::io::Error::other("the cable was pulled")));
        }
        let places: Vec<usize> = rows.clone().collect();
        Ok((self.points.gather(&places), self.targets.get(rows).unwrap_or_default().to_vec()))
    }
}

fn forms(points: &Points) -> Vec<Points> {
    let d = points.dim();
    let values: Vec<f64> =
        points.view().to_f64().expect("numbers").iter().map(|v| f64::from(*v as f32)).collect();
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in values.chunks(d) {
        for (j, &v) in row.iter().enumerate() {
            csr.column.push(j as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    vec![
        Points::dense_f32(values.iter().map(|v| *v as f32).collect(), d).expect("rows"),
        Points::sparse(csr, d).expect("rows"),
        Points::dense(values, d).expect("rows"),
    ]
}

#[test]
fn a_source_gives_the_machine_that_memory_gives() {
    let (sinc, numbers) = toy::sinc(900, 1);
    let (banana, two) = toy::banana(900, 2);
    let (clusters, three) = toy::three_clusters(900, 3);
    let sets = [(&sinc, &numbers), (&banana, &two), (&clusters, &three)];
    for (points, targets) in sets {
        for points in forms(points) {
            for loss in [LargeLoss::Squared, LargeLoss::Logistic, LargeLoss::SquaredHinge] {
                if loss != LargeLoss::Squared && matches!(targets, Targets::Reals(_)) {
                    continue;
                }
                for place in [Landmarks::Uniform, Landmarks::Kmeans, Landmarks::Cholesky] {
                    let params = LargeParams {
                        centres: 30,
                        loss,
                        place,
                        tol: 1e-9,
                        seed: 5,
                        ..LargeParams::default()
                    };
                    let kernel = Some(mercer::kernel::Kernel::Rbf { gamma: 0.8 });
                    let params = LargeParams { kernel, ..params };
                    let want = params
                        .fit(Sample::new(&points, targets), Exec::new(2), &mut silent())
                        .expect("good data");
                    let source = Held::new(&points, targets);
                    let got = params.fit_source(&source, Exec::new(2), &mut silent()).expect("good data");
                    let of =
                        |m: &mercer::model::Machine| m.decision(points.view(), Exec::one()).expect("rows");
                    close_to_scale(&of(&got), &of(&want), 1e-10);
                    assert_eq!(got.role, want.role);
                    assert_eq!(got.support, want.support);
                    assert_eq!(got.has_probabilities(), want.has_probabilities());
                }
            }
        }
    }
}

/// How memory cuts rows into blocks, and the number of threads, change nothing, with values in single precision too.
#[test]
fn memory_and_threads_do_not_change_what_is_learned() {
    let (points, targets) = toy::banana(9000, 4);
    let source = Held::new(&points, &targets);
    let params = LargeParams { centres: 600, lambda: 0.01, ..LargeParams::default() };
    let fitted = |params: &LargeParams, memory: u64, threads: usize| {
        let exec = Exec::new(threads).with_memory(memory);
        let machine = params.fit_source(&source, exec, &mut silent()).expect("good data");
        let partly = machine.info.notes.iter().any(|note| note.contains("computed in every pass"));
        (machine.decision(points.view(), Exec::one()).expect("rows"), partly)
    };
    for loss in [LargeLoss::Squared, LargeLoss::Logistic, LargeLoss::SquaredHinge] {
        let params = LargeParams { loss, tol: 1e-3, ..params.clone() };
        let (want, partly) = fitted(&params, 2 << 30, 1);
        assert!(!partly);
        for (memory, threads) in
            [(2 << 30, 2), (2 << 30, 5), (62 << 20, 1), (66 << 20, 2), (66 << 20, 3), (75 << 20, 2)]
        {
            let (got, partly) = fitted(&params, memory, threads);
            assert_eq!(partly, memory < 2 << 30, "{memory}");
            close_to_scale(&got, &want, 1e-10);
        }
    }
    let double = LargeParams { centres: 60, lambda: 1.0, tol: 1e-12, ..params.clone() };
    let (want, _) = fitted(&double, 2 << 30, 1);
    for (memory, threads) in [(2 << 30, 3), (50 << 20, 1), (51 << 20, 2), (50 << 20, 4)] {
        let (got, _) = fitted(&double, memory, threads);
        close_to_scale(&got, &want, 1e-10);
    }
    let small = Exec::one().with_memory(8 << 20);
    let e = params.fit_source(&source, small, &mut silent()).expect_err("too little memory");
    assert!(matches!(e, Error::Memory { .. }), "{e}");
}

#[test]
fn a_source_that_fails_is_an_error_and_one_that_is_stopped_a_machine() {
    let (points, targets) = toy::banana(9000, 4);
    let params = LargeParams { centres: 600, ..LargeParams::default() };
    let exec = Exec::new(2).with_memory(62 << 20);
    let mut source = Held::new(&points, &targets);
    params.fit_source(&source, exec, &mut silent()).expect("good data");
    let all = source.reads.load(Ordering::Relaxed);
    for fails in [0, 1, all / 2, all - 1] {
        (source.reads, source.fails) = (AtomicUsize::new(0), fails);
        let e = params.fit_source(&source, exec, &mut silent()).expect_err("it fails").to_string();
        assert!(e.contains("rows.bin") && e.contains("cable"), "{e}");
    }
    source.fails = usize::MAX;
    let mut steps = 0;
    let mut stop = |step: &Step| {
        steps += usize::from(step.phase == "solve");
        if steps >= 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let machine = params.fit_source(&source, exec, &mut stop).expect("what there was");
    assert_eq!(machine.info.stop, Stop::Cancelled);
    // No targets, one class, numbers for a loss of classes.
    let none = Held::new(&points, &Targets::None);
    assert!(params.fit_source(&none, exec, &mut silent()).is_err());
    let one = Held::new(&points, &Targets::Classes(Labels::new(vec!["a"; 9000])));
    assert!(params.fit_source(&one, exec, &mut silent()).is_err());
    let logistic = LargeParams { loss: LargeLoss::Logistic, ..params };
    let reals = Held::new(&points, &Targets::Reals(vec![1.5; 9000]));
    assert!(logistic.fit_source(&reals, exec, &mut silent()).is_err());
}

/// A file in blocks, its stages fitted on its sample.
fn blocks(path: &Path, options: &ReadOptions) -> (Dataset, Stages, Points, Targets) {
    let exec = Exec::new(2).with_memory(1 << 20);
    let outside =
        Outside::open(path, options, 16, exec, 3, &mut silent()).expect("a good file").expect("large");
    let wishes = Wishes { learner: Some("large".into()), ..Wishes::default() };
    let plan = Plan::new(outside.sample(), &wishes, exec).expect("a plan");
    let folder = path.parent().expect("a folder");
    let source = outside.source(&plan.stages, folder, exec, &mut silent()).expect("rows");
    assert_eq!(source.rows(), outside.rows());
    // In two parts, the second one first.
    let (n, half) = (source.rows(), source.rows() / 2);
    let (second, mut y) = source.read(half..n).expect("rows");
    let (first, before) = source.read(0..half).expect("rows");
    y.splice(0..0, before);
    let targets = if source.classes().is_empty() {
        Targets::Reals(y)
    } else {
        let of_row = y.iter().map(|c| *c as u32).collect();
        Targets::Classes(Labels { names: source.classes().to_vec(), of_row })
    };
    (outside.sample().clone(), plan.stages.clone(), first.concat(&second).expect("of one kind"), targets)
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// Files of every kind that is read in blocks, with the options they need.
fn files(folder: &Path) -> Vec<(&'static str, ReadOptions)> {
    let put = |name: &str, text: String| std::fs::write(folder.join(name), text).expect("a file");
    // Sorted by class; the rare kinds of cells come late and once.
    let word = |i: usize| ["red", "green", "blue"][i % 3];
    let row = |i: usize| {
        let x = (i as f64 * 0.37).sin();
        let gap = if i == 2900 { "NA".to_owned() } else { format!("{}", i % 11) };
        let class = if i == 2999 { "rare" } else { ["a", "b"][i / 1500] };
        format!("{x},{gap},\"{}, or so\",{class}\n", word(i))
    };
    put("mixed.csv", format!("x,count,colour,class\n{}", (0..3000).map(row).collect::<String>()));
    let unlabelled =
        |i: usize| if i % 50 == 7 { format!("{i},2,\n") } else { format!("{i},{},{}\n", i % 5, i % 2) };
    put("plain.csv", format!("u,v,label\n{}", (0..4000).map(unlabelled).collect::<String>()));
    put("numbers.tsv", lines(2500, |i| format!("{}\t{}\t{}\n", i, i * i % 97, i as f64 * 0.31)));
    put("comma.csv", lines(2500, |i| format!("{};{},5;{}\n", i, i % 9, i % 3)));
    let sparse = |i: usize| format!("{} {}:{} 200:1\n", [1, -1][i % 2], 1 + i % 150, 1.0 + (i % 4) as f64);
    put("sparse.svm", (0..3000).map(sparse).collect::<String>() + "1 300:2 # the widest\n");
    put("dense.svm", lines(3000, |i| format!("{}.5 1:{} 2:{}\n", i % 17, i, i % 7)));
    let (points, targets) = toy::three_clusters(3000, 1);
    let data = Dataset::new(points, targets).expect("rows");
    for name in ["three.npy", "three.csv.gz", "three.svm.xz", "three.csv.zst"] {
        io::write(folder.join(name), &data).expect("a file");
    }
    let auto = ReadOptions::default;
    vec![
        ("mixed.csv", auto()),
        ("mixed.csv", ReadOptions { missing: Missing::Fill, ignore: vec!["colour".into()], ..auto() }),
        ("plain.csv", auto()),
        ("numbers.tsv", auto()),
        ("numbers.tsv", ReadOptions { label: "1".parse().expect("a column"), ..auto() }),
        ("comma.csv", auto()),
        ("sparse.svm", auto()),
        ("dense.svm", auto()),
        ("three.npy", auto()),
        ("three.npy", ReadOptions { labels: Some(folder.join("three.labels.npy")), ..auto() }),
        ("three.csv.gz", auto()),
        ("three.svm.xz", auto()),
        ("three.csv.zst", auto()),
    ]
}

#[test]
fn files_in_blocks_hold_what_whole_files_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = || std::fs::read_dir(folder.path()).expect("a folder").count();
    let all = files(folder.path());
    let before = count();
    for (name, options) in all {
        let path = folder.path().join(name);
        let whole = io::read(&path, &options).expect("a good file");
        let (sample, stages, points, targets) = blocks(&path, &options);
        assert_eq!(targets, whole.targets, "{name}");
        assert_eq!(sample.column_names, whole.column_names, "{name}");
        assert_eq!(sample.target_name, whole.target_name, "{name}");
        assert_eq!(sample.points.kind(), whole.points.kind(), "{name}");
        let want = stages.apply(whole.points.view(), Exec::one()).expect("stages of a part fit the whole");
        assert_eq!(points, want, "{name}");
    }
    assert_eq!(count(), before, "what is converted leaves nothing behind");
}

#[test]
fn samples_are_drawn_by_their_seed_from_the_whole_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, lines(40_000, |i| format!("{i},{}\n", i % 2))).expect("a file");
    let sample = |seed: u64| {
        let exec = Exec::one().with_memory(1 << 20);
        let outside = Outside::open(&path, &ReadOptions::default(), 16, exec, seed, &mut silent());
        let outside = outside.expect("a good file").expect("large");
        outside.sample().points.view().to_f64().expect("numbers")
    };
    let one = sample(1);
    assert!(one.len() >= 256 && one.len() < 20_000);
    assert_eq!(one, sample(1));
    assert_ne!(one, sample(2));
    let mean = one.iter().sum::<f64>() / one.len() as f64;
    assert!((mean - 20_000.0).abs() < 3_000.0, "{mean}");
}

#[test]
fn damaged_files_are_told_with_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let exec = Exec::new(2).with_memory(1 << 20);
    let opened = |path: &Path| Outside::open(path, &ReadOptions::default(), 16, exec, 0, &mut silent());
    let (points, targets) = toy::banana(5000, 1);
    io::write(at("x.npy"), &Dataset::new(points, targets).expect("rows")).expect("a file");
    let bytes = std::fs::read(at("x.npy")).expect("written");
    let stages = Stages::default();
    // Cut off before it is opened, and after.
    std::fs::write(at("cut.npy"), &bytes[..bytes.len() - 9]).expect("a file");
    let e = opened(&at("cut.npy")).expect_err("cut off").to_string();
    assert!(e.contains("cut.npy") && e.contains("bytes"), "{e}");
    let outside = opened(&at("x.npy")).expect("a good file").expect("large");
    let source = outside.source(&stages, folder.path(), exec, &mut silent()).expect("rows");
    std::fs::write(at("x.npy"), &bytes[..bytes.len() / 2]).expect("a file");
    source.read(0..10).expect("still there");
    let e = source.read(4990..5000).expect_err("gone").to_string();
    assert!(e.contains("x.npy") && e.contains("the end of the file before row 5000"), "{e}");
    let mut nan = bytes.clone();
    let end = nan.len();
    nan[end - 8..].copy_from_slice(&f64::NAN.to_le_bytes());
    std::fs::write(at("nan.npy"), &nan).expect("a file");
    let e = opened(&at("nan.npy")).map(|outside| {
        let outside = outside.expect("large");
        outside.source(&stages, folder.path(), exec, &mut silent())?.read(4990..5000).map(|_| ())
    });
    // Whether a sample has the row or not.
    let e = e.and_then(|read| read).expect_err("not a number").to_string();
    assert!(e.contains("row 5000") && e.contains("finite"), "{e}");
    // Text: a short row, a word among numbers of LIBSVM text, a packed file that ends too early.
    let mut lines: Vec<String> = (0..5000).map(|i| format!("{i},{},{}\n", i % 7, i % 2)).collect();
    lines[4321] = "1,2\n".into();
    std::fs::write(at("t.csv"), lines.concat()).expect("a file");
    let outside = opened(&at("t.csv"));
    let e = match outside.map(|o| o.expect("large").source(&stages, folder.path(), exec, &mut silent())) {
        Ok(source) => source.err().expect("a short row"),
        Err(e) => e,
    };
    assert!(e.to_string().contains("t.csv, line 4322: got 2 fields"), "{e}");
    let mut lines: Vec<String> = (0..5000).map(|i| format!("{} 1:{i}\n", i % 2)).collect();
    lines[3210] = "1 1:x\n".into();
    std::fs::write(at("t.svm"), lines.concat()).expect("a file");
    let e = opened(&at("t.svm")).expect_err("a word").to_string();
    assert!(e.contains("t.svm, line 3211"), "{e}");
    let (points, targets) = toy::banana(5000, 1);
    io::write(at("p.csv.gz"), &Dataset::new(points, targets).expect("rows")).expect("a file");
    let bytes = std::fs::read(at("p.csv.gz")).expect("written");
    std::fs::write(at("p.csv.gz"), &bytes[..bytes.len() / 2]).expect("a file");
    let e = opened(&at("p.csv.gz")).expect_err("cut off").to_string();
    assert!(e.contains("p.csv.gz") && e.contains("damaged gz data"), "{e}");
    // A watcher that breaks, and a folder that is not there.
    lines.truncate(3000);
    std::fs::write(at("t.svm"), lines.concat()).expect("a file");
    let mut stop = |_: &Step| ControlFlow::Break(());
    let stopped = Outside::open(&at("t.svm"), &ReadOptions::default(), 16, exec, 0, &mut stop);
    assert!(matches!(stopped, Err(Error::Cancelled)));
    let outside = opened(&at("t.svm")).expect("a good file").expect("large");
    assert!(matches!(outside.source(&stages, folder.path(), exec, &mut stop), Err(Error::Cancelled)));
    let e =
        outside.source(&stages, &at("nowhere"), exec, &mut silent()).err().expect("no folder").to_string();
    assert!(e.contains("nowhere"), "{e}");
}

/// The name of a file, and its line for row i of a label.
type Line<'a> = (&'a str, &'a dyn Fn(usize, &str) -> String);

#[test]
fn a_file_that_changes_between_its_two_readings_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let exec = Exec::new(2).with_memory(1 << 20);
    let csv = |i: usize, label: &str| format!("{i},{},{label}\n", i % 7);
    let svm = |i: usize, label: &str| format!("{label} 1:{i} 2:{}\n", i % 7);
    for (name, line) in [("t.csv", &csv as _), ("t.svm", &svm as _)] as [Line<'_>; 2] {
        let path = folder.path().join(name);
        let text = |n: usize, last: &str| -> String {
            (0..n).map(|i| line(i, if i + 1 == n { last } else { ["1", "2"][i % 2] })).collect()
        };
        let good = text(5000, "1");
        // Fewer rows, more rows, another class, and the same again.
        let changes = [text(4000, "1"), text(6000, "1"), text(5000, "3"), good.clone()];
        for (i, change) in changes.iter().enumerate() {
            std::fs::write(&path, &good).expect("a file");
            let opened = Outside::open(&path, &ReadOptions::default(), 16, exec, 0, &mut silent());
            let outside = opened.expect("a good file").expect("large");
            std::fs::write(&path, change).expect("a file");
            let source = outside.source(&Stages::default(), folder.path(), exec, &mut silent());
            match source {
                Ok(source) => assert!(i == 3 && source.rows() == 5000, "{name}, change {i}"),
                Err(e) => {
                    let e = e.to_string();
                    assert!(i < 3 && e.contains(name) && e.contains("was changed while it was read"), "{e}");
                }
            }
        }
    }
}

#[test]
fn models_predict_blocks_like_whole_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, options) in files(folder.path()) {
        let path = folder.path().join(name);
        let whole = io::read(&path, &options).expect("a good file");
        let wishes = Wishes { learner: Some("large".into()), ..Wishes::default() };
        let plan = Plan::new(&whole, &wishes, Exec::one()).expect("a plan");
        let model: Model = plan.fit(Exec::one(), &mut silent()).expect("a fit");
        let data = model.read_rows(options.clone(), |o| io::read(&path, o)).expect("rows");
        let want = model.decision(data.points.view(), Exec::one()).expect("rows");
        let exec = Exec::new(2).with_memory(1 << 20);
        let mut got = Vec::new();
        let read = model
            .read_rows_in_blocks(&path, options.clone(), 16, exec, &mut |data| {
                got.extend(model.decision(data.points.view(), Exec::one())?);
                Ok(())
            })
            .expect("rows");
        assert!(read, "{name}");
        close_to_scale(&got, &want, 1e-12);
        let small = model.read_rows_in_blocks(&path, options, 1 << 40, exec, &mut |_| Ok(()));
        assert!(!small.expect("a file"), "{name}");
    }
}
