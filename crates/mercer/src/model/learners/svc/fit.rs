//! Fitting: the machines of a classifier, their kernel rows, and their parallel training.
//!
//! Machines share kernel values. One-vs-one: the square block of each class is computed once, the values between two
//! classes by their machine alone, so that no value is computed twice. One-vs-rest: the whole matrix, if it fits.
//! Machines are trained in parallel, the largest or hardest first, each on one thread; idle threads help with the blocks and
//! sums of running machines, and a single machine gets all threads. The result does not depend on the assignment of
//! threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::checkpoint::{Fitted, SvcCheckpoint};
use super::crowd::Crowd;
use super::desk::Desk;
use super::machine::{self, Task};
use super::params::{Kind, SvcParams};
use super::probe;
use super::share::{Filled, Kept};
use super::vectors::{MatrixRows, PointRows};
use crate::data::Labels;
use crate::error::{Error, Result};
use crate::exec::{Exec, side_by_side};
use crate::gram::{Classes, KernelRows, RowCache, Rows, is_precomputed};
use crate::kernel::Kernel;
use crate::model::Sample;
use crate::model::Sides;
use crate::model::common::kernel_or_default;
use crate::model::machine::multiclass;
use crate::num::Buffer;
use crate::solve::Keep;
use crate::watch::{Note, Stop, Watch};

/// Pairs whose values between the classes cost at most this many multiply-adds, on at most this many rows, are
/// trained on their whole matrix: computing it costs less than determining which rows are needed. (Measured: both
/// cost the same at 1000 x 1000 values of 256 columns.)
const DENSE: (f64, usize) = (5e8, 4096);

/// Machines on rows of their own use the whole matrix up to this number of rows.
const OWN: usize = 12_288;

/// Linear machines on more rows than this are trained on the rows themselves, without a matrix. (Measured: see
/// `docs/decisions/linear.md`.)
const MANY: usize = 16_384;

/// Data shared by all machines of a fit.
pub(super) struct Plan<'a> {
    pub(super) params: &'a SvcParams,
    pub(super) kernel: Kernel,
    pub(super) sample: Sample<'a>,
    /// The classes that occur, and each row's class.
    pub(super) labels: Labels,
    /// Row weight times class weight.
    pub(super) weight: Vec<f64>,
    pub(super) machines: Vec<Sides>,
    pub(super) exec: Exec,
    /// The rows of each machine; `None`: all rows of its classes.
    pub(super) only: Option<Vec<Vec<usize>>>,
    pub(super) start: Option<&'a SvcCheckpoint>,
}

impl<'a> Plan<'a> {
    /// Checks everything that can be checked before kernel values are computed.
    pub(super) fn new(
        params: &'a SvcParams,
        sample: Sample<'a>,
        start: Option<&'a SvcCheckpoint>,
        exec: Exec,
    ) -> Result<Self> {
        params.check()?;
        sample.check_on(exec)?;
        let labels = occurring(sample.targets.classes()?);
        if labels.names.len() < 2 {
            let got = format!("one ({})", labels.names.join(""));
            return Err(Error::shape("classes among the training rows", got, "at least 2"));
        }
        let kernel = kernel_or_default(params.kernel.as_ref(), &sample)?;
        kernel.check_points_within(sample.points.view(), exec.memory())?;
        if is_precomputed(&kernel) && sample.gram.is_none() {
            let why = "a precomputed kernel requires its matrix: pass it with the sample";
            return Err(Error::Unsupported(why.into()));
        }
        let by_class = params.weights_of(&labels)?;
        let weight =
            labels.of_row.iter().enumerate().map(|(i, &c)| sample.weight(i) * by_class[c as usize]).collect();
        let machines = multiclass::machines(labels.names.len(), params.multi);
        if let Some(start) = start {
            start.check(labels.len(), &machines)?;
        }
        Ok(Plan { params, kernel, sample, labels, weight, machines, exec, only: None, start })
    }

    /// Trains all machines, in the order of [`Plan::machines`], and returns notes on how.
    pub(super) fn train(&self, watch: &mut Watch<'_>) -> Result<(Vec<Fitted>, Vec<Note>)> {
        let begun = || match self.start {
            Some(start) => start.machines.clone(),
            None => vec![Fitted::not_begun(); self.machines.len()],
        };
        // Machines on rows of their own are a second round, which cannot be resumed.
        let keeper = self.sample.keeper.filter(|_| self.only.is_none());
        let desk = keeper.map(|keeper| Desk::new(keeper, begun()));
        let crowd = Crowd::new(watch, self.machines.len(), desk);
        if let Some(fitted) = self.together(&crowd)? {
            return Ok((fitted, vec!["all machines together".into()]));
        }
        if let Some(only) = &self.only {
            return Ok((self.on_own(only, &crowd)?, vec!["each machine on rows of its own".into()]));
        }
        let (fitted, note) = match self.sample.gram {
            Some(gram) => self.on_gram(gram, &crowd)?,
            None if self.is_linear() && self.sizes().iter().any(|&n| n > MANY) => self.on_points(&crowd)?,
            None if self.machines.len() == 1 => {
                let rows = KernelRows::new(&self.kernel, self.sample.points, self.exec)?;
                let all = self.all_rows();
                let one = self.machine(0, &rows, &all, self.exec, &crowd)?;
                (vec![one], "rows computed from the points".to_owned())
            }
            None if self.machines[0].negative.is_some() => self.on_pairs(&crowd)?,
            None => self.on_rest(&crowd)?,
        };
        Ok((fitted, vec![note.into()]))
    }

    /// The share of one of several workers: one thread, and a part of the memory.
    fn share(&self, parts: u64, workers: usize) -> Exec {
        self.exec.with_threads(1).with_memory(self.exec.memory() / parts / workers.max(1) as u64)
    }

    /// The share of one of several machines trained in parallel: a part of the memory, and all threads, of which idle
    /// ones help. The result does not depend on them.
    fn side_by_side(&self, parts: u64, workers: usize) -> Exec {
        self.share(parts, workers).with_threads(self.exec.threads())
    }

    fn all_rows(&self) -> Vec<usize> {
        (0..self.labels.len()).collect()
    }

    fn is_linear(&self) -> bool {
        self.kernel == Kernel::Linear && self.params.kind == Kind::C
    }

    /// Linear machines, each trained on its rows without a matrix.
    fn on_points(&self, crowd: &Crowd<'_, '_>) -> Result<(Vec<Fitted>, String)> {
        let members = self.members();
        let workers = self.exec.threads().min(self.machines.len());
        let exec = if self.machines.len() == 1 { self.exec } else { self.share(1, workers) };
        let job = |(): &mut (), m: usize| {
            let Sides { positive, negative } = self.machines[m];
            let pair = negative.filter(|_| self.machines.len() > 1).map(|negative| {
                [members[negative as usize].as_slice(), &members[positive as usize]].concat()
            });
            let gathered = pair.as_ref().map(|index| self.sample.points.gather(index));
            let points = gathered.as_ref().unwrap_or(self.sample.points);
            let index = pair.unwrap_or_else(|| self.all_rows());
            let rows = KernelRows::new(&self.kernel, points, exec)?;
            let vectors = PointRows::new(points.view(), exec).filter(|_| points.len() > MANY);
            self.machine_on(m, (&rows, vectors), &index, exec, crowd)
        };
        let fitted = side_by_side(workers, &self.order(), || (), job)?;
        Ok((fitted, "linear machines on the rows themselves".into()))
    }

    /// Each machine on its own selection of rows.
    fn on_own(&self, only: &[Vec<usize>], crowd: &Crowd<'_, '_>) -> Result<Vec<Fitted>> {
        let workers = self.exec.threads().min(self.machines.len());
        let exec = self.side_by_side(2, workers);
        let mut order: Vec<usize> = (0..only.len()).collect();
        order.sort_by_key(|&m| (std::cmp::Reverse(only[m].len()), m));
        let job = |buffer: &mut Buffer<f32>, m: usize| {
            let (index, n) = (&only[m], only[m].len());
            let points = self.sample.points.gather(index);
            let rows = KernelRows::new(&self.kernel, &points, exec)?;
            if n.saturating_mul(n).saturating_mul(size_of::<f32>()) > exec.budget() || n > OWN {
                return self.machine(m, &rows, index, exec, crowd);
            }
            if buffer.len() < n * n {
                *buffer = Buffer::stale(n * n);
            }
            rows.fill(&mut buffer[..n * n], exec);
            let filled = Filled { values: &buffer[..n * n], exact: &rows };
            let mut fitted = self.machine(m, &filled, index, exec, crowd)?;
            fitted.info.kernel_values += half(n);
            Ok(fitted)
        };
        side_by_side(workers, &order, || Buffer::zeroed(0), job)
    }

    /// Machines on a given matrix.
    fn on_gram(&self, gram: &dyn Rows, crowd: &Crowd<'_, '_>) -> Result<(Vec<Fitted>, String)> {
        let all = self.all_rows();
        let members = self.members();
        let single = self.machines.len() == 1;
        let workers = if single { 1 } else { self.exec.threads() };
        let exec = if single { self.exec } else { self.side_by_side(1, workers) };
        let order = self.order();
        let fitted = side_by_side(
            workers,
            &order,
            || (),
            |(), m| match self.machines[m] {
                Sides { positive, negative: Some(negative) } if !single => {
                    let index = [members[negative as usize].as_slice(), &members[positive as usize]].concat();
                    let keep: Vec<u32> = index.iter().map(|&i| i as u32).collect();
                    self.machine(m, gram.subset(&keep).as_ref(), &index, exec, crowd)
                }
                _ => self.machine(m, gram, &all, exec, crowd),
            },
        )?;
        Ok((fitted, "kernel matrix as given".into()))
    }

    /// One-vs-one machines, sharing the square blocks of classes.
    fn on_pairs(&self, crowd: &Crowd<'_, '_>) -> Result<(Vec<Fitted>, String)> {
        let workers = self.exec.threads().min(self.machines.len());
        let k = self.labels.names.len();
        let all = self.side_by_side(2, 1);
        let mut classes = Classes::new(&self.kernel, self.sample.points, &self.labels.of_row, k, all)?;
        let members = self.members();
        let mut sparse = 0;
        if members.iter().any(|rows| rows.len() > probe::LARGE)
            && let Some(asked) = probe::rows_asked(self, &members, false)
        {
            // Half of a square block is computed and mirrored, so it pays if at least half of its rows are needed.
            for (c, rows) in members.iter().enumerate().filter(|(_, rows)| rows.len() > probe::LARGE) {
                if asked[c] < rows.len() as f64 / 2.0 {
                    classes.on_demand(c);
                    sparse += 1;
                }
            }
        }
        // On all threads, before machines wait for each other: every square block is needed by some machine.
        classes.compute_squares(self.exec);
        let exec = self.side_by_side(4, workers);
        let large = AtomicUsize::new(0);
        let job = |buffer: &mut Buffer<f32>, m: usize| {
            let Sides { positive, negative } = self.machines[m];
            let (a, b) = (negative.unwrap_or(0) as usize, positive as usize);
            let (pair, index) = (classes.pair(a, b), [classes.rows(a), classes.rows(b)].concat());
            let n = index.len();
            let between = (classes.rows(a).len() * classes.rows(b).len()) as f64 * pair.cost();
            if between > DENSE.0 || n > DENSE.1 || n * n * size_of::<f32>() > exec.budget() {
                large.fetch_add(1, Ordering::Relaxed);
                return self.machine(m, &pair, &index, exec, crowd);
            }
            // The largest pair comes first, so each thread allocates its buffer once.
            if buffer.len() < n * n {
                *buffer = Buffer::stale(n * n);
            }
            pair.fill(&mut buffer[..n * n], exec);
            let rows = Filled { values: &buffer[..n * n], exact: &pair };
            let mut fitted = self.machine(m, &rows, &index, exec, crowd)?;
            fitted.info.kernel_values += (classes.rows(a).len() * classes.rows(b).len()) as u64;
            Ok(fitted)
        };
        let order = if workers > 1 && workers < self.machines.len() {
            probe::hardest_first(self, &members).unwrap_or_else(|| self.order())
        } else {
            self.order()
        };
        let mut fitted = side_by_side(workers, &order, || Buffer::zeroed(0), job)?;
        // The square blocks are shared by all machines of a class.
        fitted[0].info.kernel_values +=
            (0..k).filter(|&c| classes.kept(c)).map(|c| half(classes.rows(c).len())).sum::<u64>();
        let mut note = match large.into_inner() {
            0 => "pairs of classes, each on its full matrix".into(),
            large => format!("pairs of classes, {large} of {} with rows on demand", self.machines.len()),
        };
        if sparse > 0 {
            note = format!(
                "{note}; {sparse} large classes are likely to have few support vectors, and their matrices are not computed in full"
            );
        }
        Ok((fitted, note))
    }

    /// One-vs-rest machines on one matrix.
    fn on_rest(&self, crowd: &Crowd<'_, '_>) -> Result<(Vec<Fitted>, String)> {
        let budget = self.exec.budget();
        let (n, all) = (self.labels.len(), self.all_rows());
        let rows = KernelRows::new(&self.kernel, self.sample.points, self.exec)?;
        // All machines share the matrix, so it is worth more memory than the rows of one.
        let most = RowCache::<f32>::worth_keeping(rows.cost()).saturating_mul(4).min(budget / 4 * 3);
        let fits = n.saturating_mul(n).saturating_mul(size_of::<f32>()) <= most;
        let few = fits && n > probe::LARGE && {
            let asked = probe::rows_asked(self, &self.members(), true);
            asked.is_some_and(|asked| asked.iter().sum::<f64>() < n as f64 / 2.0)
        };
        if !fits || few {
            let kept = Kept::new(&rows, most / 2);
            let exec = self.share(2, 1).with_threads(self.exec.threads());
            let job = |(): &mut (), m| self.machine(m, &kept, &all, exec, crowd);
            let mut fitted = side_by_side(1, &self.order(), || (), job)?;
            for (m, f) in fitted.iter_mut().enumerate() {
                f.info.kernel_values = if m == 0 { kept.computed() } else { 0 };
            }
            let why = if few {
                "is unlikely to pay off (few support vectors)"
            } else {
                "does not fit or is not worth its memory"
            };
            return Ok((fitted, format!("one matrix for all machines {why}: rows on demand, shared")));
        }
        let mut whole = Buffer::<f32>::stale(n * n);
        rows.fill(&mut whole, self.exec);
        let rows = Filled { values: &whole, exact: &rows };
        let workers = self.exec.threads().min(self.machines.len());
        let exec = self.side_by_side(4, workers);
        let mut fitted =
            side_by_side(workers, &self.order(), || (), |(), m| self.machine(m, &rows, &all, exec, crowd))?;
        fitted[0].info.kernel_values += half(n);
        Ok((fitted, "one full matrix for all machines".into()))
    }

    /// Trains one machine on rows that are the sample's rows `index`.
    fn machine(
        &self,
        m: usize,
        rows: &dyn Rows,
        index: &[usize],
        exec: Exec,
        crowd: &Crowd<'_, '_>,
    ) -> Result<Fitted> {
        self.machine_on(m, (rows, None), index, exec, crowd)
    }

    /// The same, with the rows' points if training without a matrix is better.
    fn machine_on(
        &self,
        m: usize,
        (rows, vectors): (&dyn Rows, Option<PointRows<'_>>),
        index: &[usize],
        exec: Exec,
        crowd: &Crowd<'_, '_>,
    ) -> Result<Fitted> {
        if crowd.stopped() {
            return Ok(self.start.map_or_else(Fitted::not_begun, |s| s.machines[m].clone()));
        }
        let kept = self.start.map(|s| &s.machines[m]);
        if let Some(done) = kept.filter(|f| f.info.stop == Stop::Converged) {
            crowd.finished();
            return Ok(done.clone());
        }
        let (positive, weight) = self.labelled(self.machines[m], index);
        let names = self.names_of(self.machines[m]);
        let task = Task { rows, vectors, positive: &positive, weight: &weight, names };
        let start = kept.and_then(|f| f.start(index));
        let solver = self.params.solver(exec);
        let mut watch = crowd.watcher(m);
        let mut keep = crowd.desk.as_ref().map(|desk| desk.keep(self, &task, index, m));
        let kept: Option<&mut Keep<'_>> = match &mut keep {
            Some(keep) => Some(keep),
            None => None,
        };
        let mut solved = machine::train(self.params, &task, start, &solver, &mut watch, kept)?;
        drop(keep);
        if self.is_linear() && vectors.is_none() {
            let part = (index.len() < self.labels.len()).then(|| self.sample.points.gather(index));
            if let Some(x) = PointRows::new(part.as_ref().unwrap_or(self.sample.points).view(), exec) {
                solved = machine::sharpened(self.params, &task, &x, solved);
            }
        } else if is_precomputed(&self.kernel)
            && let Some(x) = MatrixRows::new(rows, exec)
        {
            solved = machine::sharpened(self.params, &task, &x, solved);
        }
        self.finish(m, &task, index, &solved, &solver, &mut watch, crowd)
    }

    /// Rows of each class.
    pub(super) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.labels.names.len()];
        self.labels.of_row.iter().enumerate().for_each(|(i, &c)| members[c as usize].push(i));
        members
    }

    /// Rows of each machine.
    fn sizes(&self) -> Vec<usize> {
        let counts = self.labels.counts();
        let size = |s: &Sides| {
            s.negative.map_or(self.labels.len(), |a| counts[a as usize] + counts[s.positive as usize])
        };
        self.machines.iter().map(size).collect()
    }

    /// Machines, the largest first.
    fn order(&self) -> Vec<usize> {
        let sizes = self.sizes();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&m| (std::cmp::Reverse(sizes[m]), m));
        order
    }
}

/// Number of values of a symmetric matrix that must be computed.
fn half(n: usize) -> u64 {
    n as u64 * (n as u64 + 1) / 2
}

/// The same labels without names that do not occur.
pub(super) fn occurring(labels: &Labels) -> Labels {
    let counts = labels.counts();
    let mut place = vec![0; counts.len()];
    let mut names = Vec::new();
    for (c, name) in labels.names.iter().enumerate().filter(|(c, _)| counts[*c] > 0) {
        place[c] = names.len() as u32;
        names.push(name.clone());
    }
    Labels { names, of_row: labels.of_row.iter().map(|&c| place[c as usize]).collect() }
}
