//! A reduction in progress: grouping of outputs, source of vectors, their numbers, both phases.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use rayon::prelude::*;

use super::construct::Construction;
use super::join::{blocks, shaped};
use super::l1::{self, Path};
use super::{
    Block, Reduced, ReducedSetMethod, ReducedSetParams, Report, Share, Size, descend, select, square, wide,
};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::watch::{Step, Watch};

/// Default number of steps of phase two.
const DESCENT: usize = 200;

/// Outputs whose vectors are found together.
pub(super) struct Group {
    pub outputs: Vec<usize>,
    pub psi: Expansion,
    /// `|Psi_o|^2` of its outputs.
    norm2: Vec<f64>,
    /// The same at one width, on which vectors are found first if they are to have individual widths.
    thin: Option<Expansion>,
    /// Indices in the job's pool of its centres, followed by the other candidates.
    rows: Vec<usize>,
    source: Source,
}

/// Where vectors come from.
enum Source {
    /// New vectors, one by one.
    Grows(Box<Construction>),
    /// New vectors, all known.
    Known(Vec<f64>),
    /// Centres in the reverse order of removal.
    Kept(Vec<usize>),
    /// Candidates in the order of selection.
    Taken(Box<select::Forward>),
    /// Centres selected by a penalty.
    Penalised(Box<Path>),
}

/// Centres selected for a group, with their indices in the whole expansion, if they are its centres.
pub(super) struct Chosen {
    pub points: Points,
    pub rows: Option<Vec<usize>>,
}

/// A reduction in progress.
pub(super) struct Job<'a> {
    pub whole: &'a Expansion,
    pub groups: Vec<Group>,
    /// The whole expansion's centres, followed by other candidates.
    pub pool: Cow<'a, Points>,
    method: ReducedSetMethod,
    pub params: &'a ReducedSetParams,
    pub exec: Exec,
    first: f64,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        whole: &'a Expansion,
        params: &'a ReducedSetParams,
        wanted: &[Size],
        exec: Exec,
    ) -> Result<Self> {
        let clock = Instant::now();
        let k = whole.outputs();
        let sets: Vec<Block> = match params.share {
            _ if !params.blocks.is_empty() => blocks(&params.blocks, whole)?,
            Share::All => vec![Block { centres: Vec::new(), outputs: (0..k).collect() }],
            Share::Each | Share::Pooled => {
                (0..k).map(|o| Block { centres: Vec::new(), outputs: vec![o] }).collect()
            }
        };
        let thin = wide::at_one_width(whole)?;
        let method = params.method.on(thin.as_ref().unwrap_or(whole), sets[0].outputs.len(), wanted)?;
        let pool = match &params.candidates {
            Some(more) => Cow::Owned(whole.centres().concat(more)?),
            None => Cow::Borrowed(whole.centres()),
        };
        let threads = if sets.len() > 1 { exec.with_threads(1) } else { exec };
        let group = |Block { centres, outputs }: Block| -> Result<Group> {
            let within: Vec<usize> =
                if params.blocks.is_empty() { (0..whole.len()).collect() } else { centres };
            let used = |&i: &usize| outputs.iter().any(|&o| whole.coef()[i * k + o] != 0.0);
            let rows: Vec<usize> = within.into_iter().filter(used).collect();
            let coef =
                rows.iter().flat_map(|&i| outputs.iter().map(move |&o| whole.coef()[i * k + o])).collect();
            let offset = outputs.iter().map(|&o| whole.offset()[o]).collect();
            let psi = Expansion::new(whole.kernel().clone(), whole.centres().gather(&rows), coef, offset)?;
            let thin = wide::at_one_width(&psi)?;
            let rows: Vec<usize> = rows.into_iter().chain(whole.len()..pool.len()).collect();
            let near = if pool.len() > whole.len()
                && (method == ReducedSetMethod::Moved || !method.constructs())
                && method != ReducedSetMethod::Exact
            {
                Cow::Owned(pool.gather(&rows))
            } else {
                Cow::Borrowed(psi.centres())
            };
            let source = match method {
                _ if psi.is_empty() => Source::Kept(Vec::new()),
                ReducedSetMethod::Square => Source::Known(square::vectors(&psi, threads)?),
                ReducedSetMethod::Exact => {
                    Source::Kept(select::independent(psi.kernel(), psi.centres().view(), threads)?)
                }
                ReducedSetMethod::Moved => {
                    Source::Taken(Box::new(select::Forward::new(&psi, &near, threads)?))
                }
                ReducedSetMethod::Greedy if near.len() > psi.len() || !psi.definite() => {
                    Source::Taken(Box::new(select::Forward::new(&psi, &near, threads)?))
                }
                ReducedSetMethod::Greedy => Source::Kept(select::greedy(&psi, &near, threads)?),
                ReducedSetMethod::Components => Source::Kept(select::components(&psi, &near, threads)?),
                ReducedSetMethod::Penalty => {
                    Source::Penalised(Box::new(Path::new(&psi, &near, params.weighting, threads)?))
                }
                by => {
                    let by_gradient = by == ReducedSetMethod::Gradient;
                    let from = thin.as_ref().unwrap_or(&psi).clone();
                    let made = Construction::new(from, by_gradient, params.starts, params.seed, threads)?;
                    Source::Grows(Box::new(made))
                }
            };
            drop(near);
            let norm2 = match &source {
                Source::Grows(made) if thin.is_none() => made.norm2.clone(),
                _ => psi.norm2(threads)?,
            };
            Ok(Group { outputs, psi, norm2, thin, rows, source })
        };
        let groups = if exec.threads() > 1 {
            sets.into_par_iter().map(group).collect::<Result<_>>()?
        } else {
            sets.into_iter().map(group).collect::<Result<_>>()?
        };
        Ok(Job { whole, groups, pool, method, params, exec, first: clock.elapsed().as_secs_f64() })
    }

    /// Number of vectors of each group.
    fn sizes(&self, size: Size) -> Vec<usize> {
        let all: usize = self.groups.iter().map(|g| g.psi.len()).sum();
        let share = |n: usize, of: f64| ((n as f64 * of).round() as usize).clamp(1, n.max(1));
        self.groups
            .iter()
            .map(|g| match size {
                _ if self.method == ReducedSetMethod::Exact => g.psi.len(),
                Size::Ratio(r) => share(g.psi.len(), 1.0 / r),
                Size::Vectors(v) if !self.params.blocks.is_empty() => {
                    share(g.psi.len(), v as f64 / all.max(1) as f64)
                }
                Size::Vectors(v) if self.method.constructs() || self.groups.len() == 1 => v,
                // Selection takes equal fractions of every output, so sizes are averages.
                Size::Vectors(v) => share(g.psi.len(), (v * self.groups.len()) as f64 / all.max(1) as f64),
                Size::Error(_) => g.psi.len(),
            })
            .collect()
    }

    /// The squared norm of every output, from the groups unless outputs belong to several.
    fn norm2(&self) -> Result<Vec<f64>> {
        if !self.params.blocks.is_empty() {
            return self.whole.norm2(self.exec);
        }
        let mut all = vec![0.0; self.whole.outputs()];
        for group in &self.groups {
            group.outputs.iter().zip(&group.norm2).for_each(|(&o, n)| all[o] = *n);
        }
        Ok(all)
    }

    /// The expansion unchanged.
    pub(super) fn unchanged(&self) -> Result<Reduced> {
        self.told(self.whole.clone(), Vec::new(), 0.0)
    }

    pub(super) fn build(
        &mut self,
        size: Size,
        descent: Option<usize>,
        watch: &mut Watch<'_>,
    ) -> Result<Reduced> {
        let clock = Instant::now();
        let sizes = self.sizes(size);
        if self.groups.iter().zip(&sizes).all(|(g, &s)| s >= g.psi.len())
            && self.method != ReducedSetMethod::Exact
        {
            return self.unchanged();
        }
        // A watcher can be called by one thread at a time.
        let watch = Mutex::new((watch, false));
        let step = |step: &Step| {
            let mut held = watch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let answer = (held.0)(step);
            held.1 |= answer.is_break();
            if held.1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let threads = if self.groups.len() > 1 { self.exec.with_threads(1) } else { self.exec };
        let mut chosen = self.choose(&sizes, threads, &step)?;
        self.first += clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let steps = descent.unwrap_or(match self.method {
            ReducedSetMethod::FixedPoint | ReducedSetMethod::Gradient | ReducedSetMethod::Moved => DESCENT,
            _ => 0,
        });
        if steps > 0 && !self.whole.definite() {
            return Err(Error::Unsupported(format!(
                "a joint descent requires a positive definite kernel, and `{}` is not known to be one: pass 0 descent steps",
                self.whole.kernel()
            )));
        }
        let widths = self.groups.iter().any(|g| g.thin.is_some());
        if steps > 0 || widths {
            let groups = &self.groups;
            let together = |(g, chosen): (usize, &mut Chosen)| -> Result<()> {
                let psi = &groups[g].psi;
                if chosen.points.len() >= psi.len() {
                    return Ok(());
                }
                let (mut z, mut d) =
                    (chosen.points.view().to_f64_within(self.exec.memory())?, chosen.points.dim());
                let mut watch = |s: &Step| {
                    let phase = format!("phase two, set {} of {}", g + 1, groups.len());
                    step(&Step::new(phase, s.done, s.total))
                };
                if let Some(thin) = &groups[g].thin
                    && thin.centres().dim() == d
                {
                    if steps > 0 {
                        let norm2 = thin.norm2(threads)?.iter().sum();
                        descend::run(thin, norm2, &mut z, steps, threads, &mut watch)?;
                    }
                    (z, d) = (wide::padded(&z, d), d + 1);
                }
                if steps > 0 {
                    let norm2 = groups[g].norm2.iter().sum();
                    descend::run(psi, norm2, &mut z, steps, threads, &mut watch)?;
                }
                *chosen = Chosen { points: shaped(z, d, psi)?, rows: None };
                Ok(())
            };
            if self.exec.threads() > 1 {
                chosen.par_iter_mut().enumerate().try_for_each(together)?;
            } else {
                chosen.iter_mut().enumerate().try_for_each(together)?;
            }
        }
        let cancelled = watch.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).1;
        if cancelled {
            return Err(Error::Cancelled);
        }
        let small = self.joined(chosen)?;
        let path = self.path(&sizes);
        self.told(small, path, clock.elapsed().as_secs_f64())
    }

    /// Phase one, or the missing part of it.
    fn choose(
        &mut self,
        sizes: &[usize],
        threads: Exec,
        step: &(impl Fn(&Step) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Chosen>> {
        let pool = &self.pool;
        if self.method == ReducedSetMethod::Penalty {
            let mut paths: Vec<&mut Path> = Vec::new();
            for group in &mut self.groups {
                if let Source::Penalised(path) = &mut group.source {
                    paths.push(path);
                }
            }
            let (sets, _) = l1::at_size(&mut paths, sizes.iter().sum());
            let mut sets = sets.into_iter();
            return Ok(self
                .groups
                .iter()
                .map(|g| match g.source {
                    Source::Penalised(_) => g.kept(&sets.next().unwrap_or_default(), pool),
                    _ => g.kept(&[], pool),
                })
                .collect());
        }
        let total = sizes.iter().sum::<usize>() as u64;
        let pick = |(group, &size): (&mut Group, &usize)| -> Result<Chosen> {
            if size >= group.psi.len() && !matches!(group.source, Source::Kept(_)) {
                return Ok(group.kept(&(0..group.psi.len()).collect::<Vec<_>>(), pool));
            }
            match &mut group.source {
                Source::Grows(grows) => {
                    let mut z = Vec::new();
                    // A few at a time, so that the watcher can cancel.
                    for m in (0..=size).step_by(8).skip(1).chain([size]) {
                        z = grows.at(m, threads)?;
                        let done = (m * sizes.len()) as u64;
                        if step(&Step::new("vectors", done.min(total), Some(total))).is_break() {
                            return Err(Error::Cancelled);
                        }
                    }
                    let from = group.thin.as_ref().unwrap_or(&group.psi);
                    Ok(Chosen { points: shaped(z, from.centres().dim(), from)?, rows: None })
                }
                Source::Known(z) => {
                    let d = group.psi.centres().dim();
                    let z = z[..(size * d).min(z.len())].to_vec();
                    Ok(Chosen { points: shaped(z, d, &group.psi)?, rows: None })
                }
                Source::Kept(order) => {
                    let keep = order[..size.min(order.len())].to_vec();
                    Ok(group.kept(&keep, pool))
                }
                Source::Taken(forward) => {
                    forward.grow(size, threads)?;
                    let keep = forward.order[..size.min(forward.order.len())].to_vec();
                    Ok(group.kept(&keep, pool))
                }
                Source::Penalised(_) => Ok(group.kept(&[], pool)),
            }
        };
        if self.exec.threads() > 1 {
            self.groups.par_iter_mut().zip(sizes).map(pick).collect()
        } else {
            self.groups.iter_mut().zip(sizes).map(pick).collect()
        }
    }

    /// The relative error after each vector of sets of these sizes, for methods that add vectors one by one. More may
    /// be known already.
    fn path(&self, sizes: &[usize]) -> Vec<f64> {
        let rests: Option<Vec<&[f64]>> = self
            .groups
            .iter()
            .zip(sizes)
            .map(|(g, &size)| match &g.source {
                Source::Grows(grows) => Some(&grows.rest[..grows.rest.len().min(size + 1)]),
                _ => None,
            })
            .collect();
        let Some(rests) = rests else { return Vec::new() };
        let steps = rests.iter().map(|r| r.len()).max().unwrap_or(0);
        let at = |i: usize| rests.iter().map(|r| r[i.min(r.len() - 1)]).sum::<f64>();
        let norm2 = at(0);
        (0..steps).map(|i| if norm2 > 0.0 { (at(i) / norm2).sqrt() } else { 0.0 }).collect()
    }

    fn told(&self, expansion: Expansion, path: Vec<f64>, second_seconds: f64) -> Result<Reduced> {
        let (error, error_by_output) = self.whole.relative_errors(&self.norm2()?, &expansion, self.exec)?;
        let report = Report {
            method: self.method,
            before: self.whole.len(),
            after: expansion.len(),
            error,
            error_by_output,
            by_outputs: !self.whole.definite(),
            path,
            first_seconds: self.first,
            second_seconds,
        };
        Ok(Reduced { expansion, report })
    }
}

impl Group {
    /// Some of the group's candidates.
    fn kept(&self, keep: &[usize], pool: &Points) -> Chosen {
        let rows: Vec<usize> = keep.iter().map(|&i| self.rows[i]).collect();
        Chosen { points: pool.gather(&rows), rows: Some(rows) }
    }
}
