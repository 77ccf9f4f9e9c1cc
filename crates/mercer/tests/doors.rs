//! A second back end behind the doors of `gram` and `solve`: it counts what it is asked, and computes kernel values by
//! their definition.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mercer::assess::Evaluation;
use mercer::data::{Dataset, Points, Targets, View, toy};
use mercer::exec::Device;
use mercer::gram::{self, Matrix, Owner, Rows, Sum};
use mercer::kernel::Kernel;
use mercer::model::{KpcaParams, Learner, Machine, Model, Query, Rejection, Sample, Task, Wanted};
use mercer::num::Floats;
use mercer::num::factor::Spd;
use mercer::solve::{self, Params, Problem, Solution, Solved, System, solve};
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
