//! A second back end behind the doors of `gram` and `solve`: it counts what it is asked, and computes kernel values by
//! their definition.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mercer::assess::Evaluation;
use mercer::data::{Dataset, Points, Targets, View, toy};
use mercer::exec::Device;
use mercer::gram::{self, Matrix, Owner, Rows, Sum};
use mercer::kernel::Kernel;
use mercer::model::{
    KpcaParams, LargeLoss, LargeParams, Learner, Machine, Model, Query, Rejection, Sample, Task, Wanted,
};
use mercer::num::Floats;
use mercer::num::factor::Spd;
use mercer::solve::{self, Nystrom, Params, Problem, Solution, Solved, System, solve};
use mercer::watch::{Info, Watch, silent};
use mercer::{Exec, Result};

/// What a device was asked.
#[derive(Default)]
struct Asked {
    square: AtomicU64,
    cross: AtomicU64,
    apply: AtomicU64,
    rows: AtomicU64,
    /// Machines, and calls of the door of solvers.
    machines: AtomicU64,
    batches: AtomicU64,
    /// Machines on rows that the device keeps.
    own: AtomicU64,
    /// Products with the matrix of rows that it keeps, and linear systems in one.
    products: AtomicU64,
    systems: AtomicU64,
    /// Columns that the device keeps, and passes over them.
    columns: AtomicU64,
    passes: AtomicU64,
}

impl Asked {
    fn values(&self) -> u64 {
        [&self.square, &self.cross, &self.apply, &self.rows].map(read).iter().sum()
    }
}

fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

fn add(count: &AtomicU64, by: usize) {
    count.fetch_add(by as u64, Ordering::Relaxed);
}

struct Toy {
    asked: Arc<Asked>,
    declines: bool,
}

fn device(declines: bool) -> (Device, Arc<Asked>) {
    let asked = Arc::new(Asked::default());
    let toy = || Toy { asked: Arc::clone(&asked), declines };
    let doors = (gram::GramDoor(Box::new(toy())), solve::SolveDoor(Box::new(toy())));
    let device = Device::new("toy", vec![Box::new(doors.0), Box::new(doors.1)]);
    (device, asked)
}

fn each(kernel: &Kernel, x: View<'_>, y: View<'_>, mut write: impl FnMut(usize, f64)) {
    for i in 0..x.n {
        for j in 0..y.n {
            write(i * y.n + j, kernel.value(x.row(i), y.row(j)));
        }
    }
}

fn fill(kernel: &Kernel, x: View<'_>, y: View<'_>, out: Floats<'_>) {
    match out {
        Floats::F32(out) => each(kernel, x, y, |at, v| out[at] = v as f32),
        Floats::F64(out) => each(kernel, x, y, |at, v| out[at] = v),
    }
}

impl gram::GramBackend for Toy {
    fn square(&self, kernel: &Kernel, x: View<'_>, out: Floats<'_>, _exec: Exec) -> Option<Result<()>> {
        add(&self.asked.square, 1);
        (!self.declines).then(|| {
            fill(kernel, x, x, out);
            Ok(())
        })
    }

    fn cross(
        &self,
        kernel: &Kernel,
        x: View<'_>,
        y: View<'_>,
        out: Floats<'_>,
        _exec: Exec,
    ) -> Option<Result<()>> {
        add(&self.asked.cross, 1);
        (!self.declines).then(|| {
            fill(kernel, x, y, out);
            Ok(())
        })
    }

    fn apply(&self, sum: &Sum<'_>, points: View<'_>, out: &mut [f64], _exec: Exec) -> Option<Result<()>> {
        add(&self.asked.apply, 1);
        (!self.declines).then(|| {
            let (m, k) = (sum.centres.n, sum.coef.len() / sum.centres.n);
            each(sum.kernel, points, sum.centres, |at, v| {
                let (i, j) = (at / m, at % m);
                (0..k).for_each(|o| out[i * k + o] += v * sum.coef[j * k + o]);
            });
            Ok(())
        })
    }

    fn rows(&self, kernel: &Kernel, points: View<'_>, exec: Exec) -> Option<Result<Box<dyn Rows>>> {
        add(&self.asked.rows, 1);
        let all: Vec<usize> = (0..points.n).collect();
        (!self.declines).then(|| {
            let (kernel, points) = (kernel.clone(), points.gather(&all));
            let asked = Arc::clone(&self.asked);
            Ok(Box::new(ToyRows { kernel, points, device: exec.device(), asked }) as Box<dyn Rows>)
        })
    }
}

/// Rows that lie on the device.
struct ToyRows {
    kernel: Kernel,
    points: Points,
    device: Device,
    asked: Arc<Asked>,
}

impl Rows for ToyRows {
    fn len(&self) -> usize {
        self.points.len()
    }

    fn diag(&self) -> Vec<f64> {
        (0..self.len()).map(|i| self.kernel.value(self.points.row(i), self.points.row(i))).collect()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], _exec: Exec) {
        let some = self.points.gather(&rows.iter().map(|&i| i as usize).collect::<Vec<_>>());
        fill(&self.kernel, some.view(), self.points.view(), Floats::F32(out));
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], _exec: Exec) {
        for (i, out) in out.iter_mut().enumerate() {
            let value = |r: u32| self.kernel.value(self.points.row(i), self.points.row(r as usize));
            *out += rows.iter().zip(coef).map(|(&r, c)| c * value(r)).sum::<f64>();
        }
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        let points = self.points.gather(&keep.iter().map(|&i| i as usize).collect::<Vec<_>>());
        let asked = Arc::clone(&self.asked);
        Box::new(ToyRows { kernel: self.kernel.clone(), points, device: self.device, asked })
    }

    fn times(&self, x: &[f64], out: &mut [f64]) -> bool {
        add(&self.asked.products, 1);
        let n = self.len();
        for (x, out) in x.chunks(n).zip(out.chunks_mut(n)) {
            out.fill(0.0);
            self.apply(&(0..n as u32).collect::<Vec<_>>(), x, out, Exec::one());
        }
        true
    }

    fn owner(&self) -> Option<Owner> {
        Some(Owner { device: self.device, key: self.len() as u64 })
    }

    fn cost(&self) -> f64 {
        self.points.dim() as f64
    }
}

impl solve::SolveBackend for Toy {
    fn solve(
        &self,
        problems: &[Problem<'_>],
        params: &Params,
        watch: &mut Watch<'_>,
    ) -> Option<Result<Vec<Solution>>> {
        add(&self.asked.batches, 1);
        add(&self.asked.machines, problems.len());
        let mine = |problem: &&Problem<'_>| {
            let owner = problem.rows.owner();
            owner.is_some_and(|o| o.device == params.exec.device() && o.key == problem.rows.len() as u64)
        };
        add(&self.asked.own, problems.iter().filter(mine).count());
        let here = Params { exec: params.exec.with_device(Device::CPU), ..params.clone() };
        (!self.declines).then(|| problems.iter().map(|problem| solve(problem, &here, watch)).collect())
    }

    fn linear(&self, system: &System<'_>, _exec: Exec, _watch: &mut Watch<'_>) -> Option<Result<Solved>> {
        add(&self.asked.systems, 1);
        let n = system.rows.len();
        let (mut a, mut rows) = (vec![0.0; n * n], vec![0.0; n]);
        for i in 0..n {
            rows.fill(0.0);
            system.rows.apply(&[i as u32], &[1.0], &mut rows, Exec::one());
            a[i * n..(i + 1) * n].copy_from_slice(&rows);
            a[i * n + i] += system.shift[i];
        }
        let factor = Spd::new(&a, n).expect("a positive definite matrix");
        let of = |b: &Vec<f64>| {
            let mut x = b.clone();
            factor.solve(&mut x, 1);
            x
        };
        (!self.declines).then(|| Ok((system.right.iter().map(of).collect(), Info::default())))
    }

    fn nystrom(&self, rows: &dyn Rows, centres: &[u32], _exec: Exec) -> Option<Result<Box<dyn Nystrom>>> {
        add(&self.asked.columns, 1);
        let (n, m) = (rows.len(), centres.len());
        let mut columns = vec![0.0; n * m];
        for (&c, column) in centres.iter().zip(columns.chunks_mut(n)) {
            rows.apply(&[c], &[1.0], column, Exec::one());
        }
        let own = (0..m * m).map(|p| columns[p / m * n + centres[p % m] as usize]).collect();
        let factors = Mutex::new([Vec::new(), Vec::new()]);
        let toy = ToyColumns { n, m, columns, own, factors, asked: Arc::clone(&self.asked) };
        (!self.declines).then(|| Ok(Box::new(toy) as Box<dyn Nystrom>))
    }
}

/// Columns by the definition, and factors by the plainest loops.
struct ToyColumns {
    n: usize,
    m: usize,
    /// Column by column.
    columns: Vec<f64>,
    own: Vec<f64>,
    /// L and A, row by row.
    factors: Mutex<[Vec<f64>; 2]>,
    asked: Arc<Asked>,
}

/// The lower factor of a matrix; none where it has none.
fn lower(mut a: Vec<f64>, m: usize) -> Option<Vec<f64>> {
    for j in 0..m {
        for i in j..m {
            let (top, bottom) = a.split_at(i * m);
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let row = if i == j { &bottom[..j] } else { &top[j * m..j * m + j] };
            let rest = a[i * m + j] - dot(&bottom[..j], row);
            if i == j && rest <= 0.0 {
                return None;
            }
            a[i * m + j] = if i == j { rest.sqrt() } else { rest / a[j * m + j] };
        }
        a[j * m + j + 1..(j + 1) * m].fill(0.0);
    }
    Some(a)
}

impl Nystrom for ToyColumns {
    fn times(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
        add(&self.asked.passes, 1);
        out.fill(0.0);
        for (x, out) in x.chunks(self.m).zip(out.chunks_mut(self.n)) {
            for (x, column) in x.iter().zip(self.columns.chunks(self.n)) {
                out.iter_mut().zip(column).for_each(|(o, v)| *o += x * v);
            }
        }
        Ok(())
    }

    fn times_transposed(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
        for (x, out) in x.chunks(self.n).zip(out.chunks_mut(self.m)) {
            for (o, column) in out.iter_mut().zip(self.columns.chunks(self.n)) {
                *o = x.iter().zip(column).map(|(x, v)| x * v).sum();
            }
        }
        Ok(())
    }

    fn factor(&self, ridge: f64) -> Result<bool> {
        let mut a = self.own.clone();
        (0..self.m).for_each(|i| a[i * self.m + i] += ridge);
        let found = lower(a, self.m);
        let fine = found.is_some();
        self.factors.lock().expect("one thread")[0] = found.unwrap_or_default();
        Ok(fine)
    }

    fn factor_inner(&self, by: f64, d: &[f64], lambda: f64) -> Result<bool> {
        let m = self.m;
        let mut factors = self.factors.lock().expect("one thread");
        let mut a = vec![0.0; m * m];
        for (i, row) in factors[0].chunks(m).enumerate() {
            let weight = by * d.get(i).copied().unwrap_or(1.0);
            for r in 0..=i {
                let scaled = weight * row[r];
                a[r * m..=r * m + i].iter_mut().zip(row).for_each(|(a, l)| *a += scaled * l);
            }
        }
        (0..m).for_each(|i| a[i * m + i] += lambda);
        let found = lower(a, m);
        let fine = found.is_some();
        factors[1] = found.unwrap_or_default();
        Ok(fine)
    }

    fn solve(&self, inner: bool, transposed: bool, x: &mut [f64]) -> Result<()> {
        let m = self.m;
        let factors = self.factors.lock().expect("one thread");
        let l = &factors[usize::from(inner)];
        for x in x.chunks_mut(m) {
            for step in 0..m {
                let i = if transposed { m - 1 - step } else { step };
                x[i] /= l[i * m + i];
                let others = if transposed { 0..i } else { i + 1..m };
                for j in others {
                    x[j] -= x[i] * if transposed { l[i * m + j] } else { l[j * m + i] };
                }
            }
        }
        Ok(())
    }

    fn times_factor(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
        let m = self.m;
        let factors = self.factors.lock().expect("one thread");
        for (x, out) in x.chunks(m).zip(out.chunks_mut(m)) {
            for (o, row) in out.iter_mut().zip(factors[0].chunks(m)) {
                *o = row.iter().zip(x).map(|(l, x)| l * x).sum();
            }
        }
        Ok(())
    }
}

fn data(task: Task) -> Dataset {
    let (points, targets) = match task {
        Task::Regression => toy::sinc(60, 3),
        Task::Classification => toy::three_clusters(60, 3),
        _ => (toy::three_clusters(60, 3).0, Targets::None),
    };
    Dataset::new(points, targets).expect("a target a row")
}

/// The learners of the table with every task they are for, at a tolerance at which rounding is all that is left.
fn learners() -> Vec<(Learner, Task)> {
    let of = |(learner, task): (Learner, Task)| {
        let mut learner = learner;
        learner.set_kernel(Kernel::Rbf { gamma: 0.8 });
        for (name, value) in [("rounds", 5.0), ("bounces", 50.0), ("passes", 20.0), ("tol", 1e-6)] {
            if learner.entry().takes(name) {
                learner.set(name, value.into()).expect("a number");
            }
        }
        // Networks whose centres move compute values beside their derivatives, in the solver.
        for (name, word) in [("base", "kernel"), ("place", "kmeans")] {
            if learner.entry().takes(name) {
                learner.set(name, word.into()).expect("a word");
            }
        }
        (learner, task)
    };
    let all = Learner::ALL.iter().flat_map(|entry| entry.tasks.iter().map(|&task| (entry.learner(), task)));
    all.map(of).collect()
}

fn fit(learner: &Learner, data: &Dataset, exec: Exec) -> Result<Model> {
    learner.fit(Sample::new(&data.points, &data.targets), exec, &mut silent()).map(Model::from)
}

fn is_machine(learner: &Learner) -> bool {
    matches!(learner, Learner::Svc(_) | Learner::Svr(_) | Learner::OneClass(_) | Learner::Sphere(_))
}

/// A sum over all rows of a class: only its predictions need kernel values.
fn lazy(learner: &Learner, task: Task) -> bool {
    learner.entry().name == "parzen" && task == Task::Classification
}

#[test]
fn every_learner_goes_through_the_doors_and_a_device_changes_rounding_only() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for (learner, task) in learners() {
        let data = data(task);
        let name = format!("{} to {}", learner.entry().name, task.verb());
        let Ok(here) = fit(&learner, &data, Exec::one()) else { continue };
        let (device, asked) = device(false);
        let exec = Exec::one().with_device(device);
        let there = fit(&learner, &data, exec).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(asked.values() > 0 || lazy(&learner, task), "{name}: no kernel value came through a door");
        if is_machine(&learner) {
            assert!(read(&asked.machines) > 0, "{name}: no machine came through the door");
            assert!(read(&asked.own) > 0, "{name}: the device did not know its own rows");
        }
        assert_eq!(there.info().device.is_none(), lazy(&learner, task), "{name}");
        assert_eq!(here.info().device, None, "{name}");
        let before = asked.values();
        let at = |model: &Model, exec| model.decision(data.points.view(), exec).expect(&name);
        let (f, g) = (at(&here, Exec::one()), at(&there, exec));
        assert!(asked.values() > before, "{name}: predictions passed by the door");
        let size = f.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        let off = f.iter().zip(&g).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if off > 1e-3 * size {
            wrong.push(format!("{name}: outputs differ by {off:e} of {size:e}"));
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared >= 20, "only {compared} learners were compared");
}

#[test]
fn a_device_that_declines_everything_changes_no_bit() {
    for (learner, task) in learners() {
        let data = data(task);
        let name = format!("{} to {}", learner.entry().name, task.verb());
        let Ok(here) = fit(&learner, &data, Exec::one()) else { continue };
        let (device, asked) = device(true);
        let exec = Exec::one().with_device(device);
        let there = fit(&learner, &data, exec).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(asked.values() > 0 || lazy(&learner, task), "{name}: nobody asked");
        assert_eq!(device.answered(), 0, "{name}");
        assert_eq!(there.info().device, None, "{name}");
        assert_eq!(there.info().notes, here.info().notes, "{name}");
        let at = |model: &Model, exec| model.decision(data.points.view(), exec).expect(&name);
        assert_eq!(at(&there, exec), at(&here, Exec::one()), "{name}");
    }
}

#[test]
fn whatever_is_asked_of_a_model_it_is_evaluated_once() {
    let (mut compared, mut with_probabilities) = (0, 0);
    for (mut learner, task) in learners() {
        let data = data(task);
        let name = format!("{} to {}", learner.entry().name, task.verb());
        if learner.entry().takes("probability") {
            learner.set("probability", true.into()).expect("a flag");
        }
        let Ok(model) = fit(&learner, &data, Exec::one()) else { continue };
        let (device, asked) = device(false);
        let exec = Exec::one().with_device(device);
        let count = |work: &dyn Fn()| {
            let before = asked.values();
            work();
            asked.values() - before
        };
        let once = count(&|| {
            model.decision(data.points.view(), exec).expect(&name);
        });
        assert!(once > 0, "{name}: predictions passed by the door");
        let classes = task == Task::Classification;
        let probabilities = model.machine.has_probabilities();
        let query = Query {
            predictions: true,
            decision: true,
            scores: classes,
            probabilities,
            reject: if classes { Rejection::Made(Wanted::Rejected(0.1)) } else { Rejection::Never },
        };
        let all = count(&|| {
            let found = model.predict_data(&data, &query, exec).expect(&name);
            assert_eq!(found.targets.len(), Some(data.len()), "{name}");
            assert_eq!(found.decision.map(|d| d.len()), Some(data.len() * model.outputs()), "{name}");
            assert_eq!(found.probabilities.is_some(), probabilities, "{name}");
        });
        assert_eq!(all, once, "{name}");
        let judged = count(&|| {
            Evaluation::new(&model, &data, exec).expect(&name);
        });
        assert_eq!(judged, once, "{name}: an evaluation");
        (compared, with_probabilities) = (compared + 1, with_probabilities + usize::from(probabilities));
    }
    assert!(compared >= 20 && with_probabilities >= 2, "{compared}, {with_probabilities}");
}

#[test]
fn systems_and_products_go_to_the_device_that_keeps_their_rows() {
    let data = data(Task::Classification);
    let ridge = Learner::find("ridge").expect("known").learner();
    for (method, systems) in [("auto", 1), ("gradients", 1), ("cholesky", 0)] {
        let mut learner = ridge.clone();
        learner.set("method", method.into()).expect("a word");
        let (device, asked) = device(false);
        let there = fit(&learner, &data, Exec::one().with_device(device)).expect("a fit");
        assert_eq!(read(&asked.systems), systems, "{method}");
        let here = fit(&learner, &data, Exec::one()).expect("a fit");
        let at = |model: &Model| model.decision(data.points.view(), Exec::one()).expect("values");
        let off = at(&here).iter().zip(at(&there)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 1e-6, "{method}: {off}");
    }
    let (device, asked) = device(false);
    let learner = KpcaParams { components: Some(3), ..KpcaParams::default() };
    // The matrix has no room here, but on the device.
    let exec = Exec::one().with_memory(20_000).with_device(device);
    learner.fit(Sample::new(&data.points, &Targets::None), exec, &mut silent()).expect("a fit");
    assert!(read(&asked.products) > 1, "{}", read(&asked.products));
}

#[test]
fn machines_of_several_classes_are_one_batch_on_the_devices_rows() {
    let data = data(Task::Classification);
    for (multi, machines) in [("one_vs_one", 3), ("one_vs_rest", 3)] {
        let mut learner = Learner::find("svc").expect("known").learner();
        learner.set("multi", multi.into()).expect("a word");
        let (device, asked) = device(false);
        let model = fit(&learner, &data, Exec::new(2).with_device(device)).expect("a fit");
        let counts = [&asked.batches, &asked.machines, &asked.own, &asked.rows].map(read);
        assert_eq!(counts, [1, machines, machines, 1], "{multi}");
        assert!(model.info().notes.contains(&"computed on device toy".into()), "{:?}", model.info().notes);
    }
}

#[test]
fn doors_give_the_values_of_the_device_in_both_precisions() {
    let points = toy::banana(20, 1).0;
    let (kernel, view) = (Kernel::Rbf { gamma: 0.5 }, points.view());
    let (device, asked) = device(false);
    let (exec, cpu) = (Exec::one().with_device(device), Exec::one());
    let wide = gram::cross::<f64>(&kernel, view, view.slice(0..5), exec).expect("values");
    let want = gram::cross::<f64>(&kernel, view, view.slice(0..5), cpu).expect("values");
    assert!(wide.iter().zip(want.iter()).all(|(a, b)| (a - b).abs() <= 1e-12));
    let narrow = gram::square::<f32>(&kernel, view, exec).expect("values");
    let want = gram::square::<f32>(&kernel, view, cpu).expect("values");
    assert!(narrow.iter().zip(want.iter()).all(|(a, b)| (a - b).abs() <= 1e-5));
    assert_eq!(Matrix::of(&kernel, view, exec).expect("values").whole(), Some(&narrow[..]));
    assert_eq!([&asked.cross, &asked.square].map(read), [1, 2]);
    let low = gram::pivoted_cholesky(&kernel, view, 20, 1e-9, exec).expect("pivots");
    let want = gram::pivoted_cholesky(&kernel, view, 20, 1e-9, cpu).expect("pivots");
    assert_eq!((low.pivots, read(&asked.rows)), (want.pivots, 1));
}

#[test]
fn components_tell_the_device_too() {
    let data = data(Task::Clustering);
    let (device, asked) = device(false);
    let sample = Sample::new(&data.points, &data.targets);
    let params = KpcaParams { kernel: Some(Kernel::Rbf { gamma: 0.5 }), ..KpcaParams::default() };
    let here = params.fit(sample, Exec::one(), &mut silent()).expect("components");
    let there = params.fit(sample, Exec::one().with_device(device), &mut silent()).expect("components");
    assert!(read(&asked.square) == 1 && there.info.device.as_deref() == Some("toy"));
    let values = |m: &Machine| m.components().expect("components").features.values.clone();
    let (here, there) = (values(&here), values(&there));
    assert!(here.iter().zip(&there).all(|(a, b)| (a - b).abs() <= 1e-9 * here[0]));
}

/// Every loss, numbers and classes, weights, held-out rows: values in f32 on the CPU, so differences are those of rounding.
#[test]
fn machines_for_large_data_are_solved_on_columns_that_the_device_keeps() {
    let (rows, centres) = (4200, 1000);
    let (points, classes) = toy::three_clusters(rows, 5);
    let (_, two) = toy::banana(rows, 5);
    let numbers = Targets::Reals((0..rows).map(|i| (i as f64 * 0.37).sin() + i as f64 / 1000.0).collect());
    let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
    let base = LargeParams {
        kernel: Some(Kernel::Rbf { gamma: 0.8 }),
        centres: centres as u64,
        tol: 1e-5,
        ..LargeParams::default()
    };
    let of = |loss| LargeParams { loss, ..base.clone() };
    let held = LargeParams { held_out: 150, ..base.clone() };
    let cases = [
        ("squared, three classes", base.clone(), &classes, false),
        ("squared, two classes, weights", base.clone(), &two, true),
        ("squared, numbers", base.clone(), &numbers, false),
        ("squared, held-out rows", held, &classes, false),
        ("logistic", of(LargeLoss::Logistic), &two, false),
        ("logistic, three classes, weights", of(LargeLoss::Logistic), &classes, true),
        ("squared hinge", of(LargeLoss::SquaredHinge), &classes, false),
    ];
    for (name, params, targets, weighted) in cases {
        let mut sample = Sample::new(&points, targets);
        if weighted {
            sample = sample.weighted(&weights);
        }
        let fit = |exec| Model::from(params.fit(sample, exec, &mut silent()).expect(name));
        let here = fit(Exec::new(2));
        let (device, asked) = device(false);
        let there = fit(Exec::new(2).with_device(device));
        assert!(read(&asked.columns) == 1 && read(&asked.passes) > 3, "{name}: the device was not used");
        assert_eq!(there.info().device.as_deref(), Some("toy"), "{name}");
        assert_eq!(there.info().stop, here.info().stop, "{name}");
        let at = |model: &Model| model.decision(points.view(), Exec::one()).expect(name);
        let (f, g) = (at(&here), at(&there));
        let size = f.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        let off = f.iter().zip(&g).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 2e-3 * size, "{name}: outputs differ by {off:e} of {size:e}");
        let (a, b) = (here.info().objective.expect(name), there.info().objective.expect(name));
        assert!((a - b).abs() <= 1e-4 * a.abs(), "{name}: objectives {a} and {b}");
    }
}
