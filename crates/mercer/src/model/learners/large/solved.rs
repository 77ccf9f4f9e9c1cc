//! From rows to coefficients: centres, memory, values, the solver, and held-out errors on the way.

use std::borrow::Cow;
use std::sync::Mutex;
use std::time::Instant;

use super::centres::{LargeCentres, Rows};
use super::design::{Blocks, Digits, From};
use super::held::{Without, held_out, told};
use super::same::merged;
use super::{Landmarks, LargeParams, LargeRows};
use crate::data::Points;
use crate::data::io::{Source, gathered};
use crate::error::{Error, Result};
use crate::exec::{Exec, room};
use crate::gram::{self, KernelRows, is_precomputed};
use crate::kernel::Kernel;
use crate::model::classified::places;
use crate::model::learners::given::Given;
use crate::num::Buffer;
use crate::solve::large::{
    Fitted, Judge, LargeProblem, Limits, Local, Loss, OnDevice, Own, Polled, Stand, Start, fit,
};
use crate::solve::nystrom_on_device;
use crate::watch::{Step, Watch, silent};

/// Tolerance below which values are f64.
const SINGLE: f64 = 1e-6;
/// Number of values up to which they are f64 for any tolerance: single precision would save nothing.
const FEW: usize = 4_000_000;
/// Approximate memory of the program itself, which counts towards the limit.
pub(super) const PROGRAM: u128 = 48 << 20;
/// Number of centres from which factors are f32 if values are.
const MANY: usize = 4096;

/// The rows in this process: their blocks, and the held-out rows with their targets.
type Here<'a> = (&'a Blocks<'a>, Option<&'a (Points, Vec<f64>)>);

/// Training rows and held-out rows.
pub(super) struct Training<'a> {
    params: &'a LargeParams,
    given: &'a Given<'a>,
    /// Rows of the sample.
    rows: Vec<u32>,
    weight: Vec<f64>,
    /// A few numbers for each.
    targets: Vec<f64>,
    held: Option<(Points, Vec<f64>)>,
    /// A note on the selection of rows.
    note: Option<String>,
    /// The part of the objective that merging removed.
    within: f64,
}

impl<'a> Training<'a> {
    /// Holds out rows if requested, and merges equal rows if there are many. `amounts`: targets are numbers with squared errors.
    pub(super) fn new(
        params: &'a LargeParams,
        given: &'a Given<'a>,
        mut rows: Vec<u32>,
        mut targets: Vec<f64>,
        amounts: bool,
    ) -> Result<Self> {
        let wide = targets.len() / rows.len().max(1);
        let held = params.held_rows(rows.len());
        let mut judged = None;
        if !held.is_empty() {
            if given.sample.gram.is_some() {
                let allowed = "0 for a precomputed kernel";
                return Err(Error::param("held_out", held.len(), allowed));
            }
            let at = |places: &[usize]| -> (Vec<u32>, Vec<f64>) {
                let of = places.iter().flat_map(|&p| &targets[p * wide..(p + 1) * wide]).copied();
                (places.iter().map(|&p| rows[p]).collect(), of.collect())
            };
            let (theirs, errors) = at(&held);
            let others: Vec<usize> = (0..rows.len()).filter(|p| held.binary_search(p).is_err()).collect();
            let (ours, of) = at(&others);
            judged = Some((given.points(&theirs), errors));
            (rows, targets) = (ours, of);
        }
        let mut weight: Vec<f64> = rows.iter().map(|&i| given.sample.weight(i as usize)).collect();
        let (mut note, mut within) = (None, 0.0);
        if given.sample.gram.is_none()
            && !is_precomputed(&given.kernel)
            && let Some(fewer) = merged(given.sample.points, &rows, &weight, &targets, amounts, given.exec)
        {
            note = Some(format!(
                "{} rows, of which {} are distinct: duplicates are merged",
                rows.len(),
                fewer.rows.len()
            ));
            within = fewer.within;
            (rows, weight, targets) = (fewer.rows, fewer.weight, fewer.targets);
        }
        Ok(Training { params, given, rows, weight, targets, held: judged, note, within })
    }

    /// Centres and coefficients, and the held-out errors of the path there; rows of the centres are those of the sample.
    pub(super) fn solved(&self, loss: &dyn Loss, watch: &mut Watch<'_>) -> Result<(LargeCentres, Fitted)> {
        let mut errors = Vec::new();
        let mut last = None;
        for centres in self.params.sizes(self.rows.len()) {
            let clock = Instant::now();
            let params = LargeParams { centres, ..self.params.clone() };
            let (centres, found) = self.one(&params, loss, watch)?;
            errors.extend(held_out(&centres, &found, self.held.as_ref(), clock));
            let stopped = found.info.stop == crate::watch::Stop::Cancelled;
            last = Some((centres, found));
            if stopped {
                break;
            }
        }
        let Some((centres, mut found)) = last else { return Err(Error::Cancelled) };
        found.info.notes.extend(self.note.clone().map(Into::into));
        found.info.objective = found.info.objective.map(|value| value + self.within);
        told(errors, &mut found);
        Ok((centres, found))
    }

    fn one(
        &self,
        params: &LargeParams,
        loss: &dyn Loss,
        watch: &mut Watch<'_>,
    ) -> Result<(LargeCentres, Fitted)> {
        let (given, rows) = (self.given, &self.rows);
        let (sample, exec) = (&given.sample, given.exec);
        let all = rows.len() == sample.points.len();
        let points: Cow<'_, Points> =
            if all { Cow::Borrowed(sample.points) } else { Cow::Owned(given.points(rows)) };
        let part = match sample.gram {
            Some(gram) if !all => Some(gram.subset(rows)),
            _ => None,
        };
        let gram = part.as_deref().or(sample.gram);
        let mut centres = if gram.is_some() {
            params.among_rows(&points)?
        } else {
            params.placed(&given.kernel, &Rows::Points(&points), exec, watch)?
        };
        let (n, m, k) = (rows.len(), centres.points.len(), loss.outputs());
        let total: f64 = self.weight.iter().sum();
        let digits = params.digits(n, m);
        if gram.is_none()
            && let Some(mut found) = self.on_device(params, &mut centres, &points, (digits, loss), watch)?
        {
            found.info.kernel_values = (n * m) as u64 + (m as u64).pow(2) / 2;
            self.renumbered(&mut centres);
            return Ok((centres, found));
        }
        let bytes = bytes_of_factors(digits, m);
        let stand = if gram.is_some() { None } else { params.standing((n, m), k, bytes, exec) };
        let alike = self.weight.windows(2).all(|pair| pair[0] == pair[1]);
        let stand =
            stand.map(|rows| if alike { (rows, Vec::new()) } else { by_weight(&self.weight, rows.len()) });
        self.stood(&mut centres, stand.as_ref(), &points, total);
        let other = params.other(m, k, digits, &centres, self.held.as_ref()) + (n as u128 * k as u128) * 4;
        let held = sample.points.view().bytes() as u128;
        room(&format!("{m} centres for {n} rows"), other, held, exec.memory())?;
        let left = exec.budget().saturating_sub(usize::try_from(other).unwrap_or(usize::MAX)) / 4 * 3;
        let numbers: Vec<u32> = centres.rows.iter().flatten().map(|&i| i as u32).collect();
        let found = {
            let from = if let Some(gram) = gram {
                From::Matrix { rows: gram, centres: &numbers }
            } else {
                let (kernel, centres) = (&given.kernel, centres.points.view());
                From::Points { kernel, points: points.view(), centres }
            };
            let design = Blocks::new(from, (&self.targets, &self.weight), digits, left, exec, watch)?;
            let polled = Polled::new(watch);
            let (poll, mut told) = (|| polled.cancels(), |step: &Step| polled.tell(step));
            let local = Local::new(&design, loss, total, true, exec).polled(&poll);
            let here = Some((&design, self.held.as_ref()));
            let mut found = params.solved_rows(&centres, &local, loss, (digits, here), exec, &mut told)?;
            counted(&design, &mut found);
            found
        };
        self.renumbered(&mut centres);
        if let Some(own) = centres.rows.as_ref().filter(|_| gram.is_some()) {
            centres.points = given.points(&own.iter().map(|&i| i as u32).collect::<Vec<_>>());
        }
        Ok((centres, found))
    }

    /// The rows of the centres as those of the sample.
    fn renumbered(&self, centres: &mut LargeCentres) {
        if let Some(own) = &mut centres.rows {
            let places = places(&self.rows);
            own.iter_mut().for_each(|i| *i = places[*i]);
        }
    }

    /// The same with values and factors on the call's device; none where it has no place for them, or where centres do not
    /// stand for all rows.
    fn on_device(
        &self,
        params: &LargeParams,
        centres: &mut LargeCentres,
        points: &Points,
        (digits, loss): (Digits, &dyn Loss),
        watch: &mut Watch<'_>,
    ) -> Result<Option<Fitted>> {
        let exec = self.given.exec;
        let Some(numbers) = centres.rows.clone() else { return Ok(None) };
        if exec.device().is_cpu() || digits == Digits::Double || params.place != Landmarks::Uniform {
            return Ok(None);
        }
        let rows = KernelRows::new(&self.given.kernel, points, exec)?;
        let numbers: Vec<u32> = numbers.iter().map(|&i| i as u32).collect();
        let Some(kept) = nystrom_on_device(&rows, &numbers, exec)? else { return Ok(None) };
        let diag = gram::Rows::diag(&rows);
        let diag: Vec<f64> = numbers.iter().map(|&i| diag[i as usize]).collect();
        let total: f64 = self.weight.iter().sum();
        self.stood(centres, None, points, total);
        let on_device = OnDevice {
            kept: kept.as_ref(),
            loss,
            targets: &self.targets,
            weight: &self.weight,
            rows: self.rows.len(),
            total,
            exec,
            outputs: Mutex::default(),
        };
        let start = Start::Kept(kept.as_ref(), diag);
        let held = self.held.as_ref();
        let mut found = params.solved_from(start, centres, &on_device, loss, (digits, held), exec, watch)?;
        found.info.note(format!("{} values per row and the preconditioner on the device", numbers.len()));
        found.info.device = Some(exec.device().name().to_owned());
        Ok(Some(found))
    }

    /// The rows of the preconditioner's sketch, with targets and weights.
    fn stood(
        &self,
        centres: &mut LargeCentres,
        stand: Option<&(Vec<usize>, Vec<f64>)>,
        points: &Points,
        total: f64,
    ) {
        let n = self.rows.len();
        let wide = self.targets.len() / n.max(1);
        let rows = match (stand, &centres.rows) {
            (Some((rows, _)), _) => {
                centres.stand = Some(points.gather(rows));
                rows
            }
            (None, Some(rows)) => rows,
            (None, None) => return,
        };
        centres.targets =
            rows.iter().flat_map(|&i| &self.targets[i * wide..(i + 1) * wide]).copied().collect();
        let scaled = |mean: f64, weight: &[f64]| weight.iter().map(|w| w / mean).collect();
        centres.weight = match stand {
            // As much weight as all rows.
            Some((rows, weight)) => scaled(total / rows.len() as f64, weight),
            None => rows.iter().map(|&i| self.weight[i] / (total / n as f64)).collect(),
        };
    }
}

/// About `many` rows drawn by weight, and the weight of each: heavy rows stand for themselves, with their own weight, and the
/// drawn ones of the others share the weight of all others equally. No row occurs twice.
fn by_weight(weight: &[f64], many: usize) -> (Vec<usize>, Vec<f64>) {
    let step = share(weight, many);
    let (mut rows, mut of_row) = (Vec::with_capacity(many), Vec::with_capacity(many));
    let mut sum = 0.5 * step;
    for (i, &w) in weight.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        let stands = if w < step {
            // At equal steps along the sum of the others.
            sum += w;
            if sum < step {
                continue;
            }
            sum -= step;
            step
        } else {
            w
        };
        rows.push(i);
        of_row.push(stands);
    }
    (rows, of_row)
}

/// The weight that every row but the heavy ones stands for, where `many` rows are drawn: with it, `min(1, w / share)` adds up to
/// that number.
fn share(weight: &[f64], many: usize) -> f64 {
    let mut sorted: Vec<f64> = weight.iter().copied().filter(|w| *w > 0.0).collect();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut left: f64 = sorted.iter().sum();
    for (i, w) in sorted.iter().enumerate().take(many) {
        let step = left / (many - i) as f64;
        if *w < step {
            return step;
        }
        left -= w;
    }
    // All of them.
    0.0
}

impl LargeParams {
    /// The same for rows of a source, whatever their number; some may be held out.
    pub(super) fn solved_source(
        &self,
        kernel: &Kernel,
        (source, judged): (&Without<'_>, Option<(Points, Vec<f64>)>),
        loss: &dyn Loss,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(LargeCentres, Fitted)> {
        let mut errors = Vec::new();
        let mut last = None;
        for centres in self.sizes(source.rows()) {
            let clock = Instant::now();
            let params = LargeParams { centres, ..self.clone() };
            let (centres, found) = params.one_source(kernel, source, judged.as_ref(), loss, exec, watch)?;
            errors.extend(held_out(&centres, &found, judged.as_ref(), clock));
            let stopped = found.info.stop == crate::watch::Stop::Cancelled;
            last = Some((centres, found));
            if stopped {
                break;
            }
        }
        let Some((mut centres, mut found)) = last else { return Err(Error::Cancelled) };
        if let Some(rows) = &mut centres.rows {
            rows.iter_mut().for_each(|row| *row = source.place(*row));
        }
        told(errors, &mut found);
        Ok((centres, found))
    }

    fn one_source(
        &self,
        kernel: &Kernel,
        source: &Without<'_>,
        judged: Option<&(Points, Vec<f64>)>,
        loss: &dyn Loss,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(LargeCentres, Fitted)> {
        let n = source.rows();
        let mut centres = self.placed(kernel, &Rows::Source(source), exec, watch)?;
        let (m, k) = (centres.points.len(), loss.outputs());
        let digits = self.digits(n, m);
        if let Some(rows) = self.standing((n, m), k, bytes_of_factors(digits, m), exec) {
            let (points, targets) = gathered(source, &rows)?;
            (centres.stand, centres.targets) = (Some(points), targets);
        } else if let Some(rows) = centres.rows.as_ref().filter(|_| !loss.is_quadratic()) {
            centres.targets = gathered(source, rows)?.1;
        }
        let outputs = n as u128 * k as u128 * 4;
        let keep = outputs <= u128::from(exec.memory() / 8);
        let kept = if keep && !loss.is_quadratic() { outputs } else { 0 };
        let rows = 3 * centres.points.view().bytes() as u128;
        let other = self.other(m, k, digits, &centres, judged) + kept + rows + PROGRAM;
        room(&format!("{m} centres for {n} rows in blocks"), other, 0, exec.memory())?;
        let left = exec.budget().saturating_sub(usize::try_from(other).unwrap_or(usize::MAX)) / 2;
        let found = {
            let from = From::Source { kernel, source, centres: centres.points.view(), labelled: true };
            let design = Blocks::new(from, (&[], &[]), digits, left, exec, watch)?;
            let polled = Polled::new(watch);
            let (poll, mut told) = (|| polled.cancels(), |step: &Step| polled.tell(step));
            let local = Local::new(&design, loss, n as f64, keep, exec).polled(&poll);
            let here = Some((&design, judged));
            let mut found = self.solved_rows(&centres, &local, loss, (digits, here), exec, &mut told)?;
            counted(&design, &mut found);
            found
        };
        Ok((centres, found))
    }

    /// Solves on centres and rows, given the blocks and held-out rows of this process.
    pub(super) fn solved_rows(
        &self,
        centres: &LargeCentres,
        rows: &dyn LargeRows,
        loss: &dyn Loss,
        (digits, here): (Digits, Option<Here<'_>>),
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Fitted> {
        let (kernel, view) = (&centres.kernel, centres.points.view());
        let m = view.n;
        let single = digits == Digits::Single && m >= MANY;
        let own = match here.and_then(|(design, _)| design.own_of_matrix::<f64>()) {
            Some(own) if single => Own::Single(short(&own)),
            Some(own) => Own::Double(own),
            None if single => Own::Single(gram::square(kernel, view, exec)?),
            None => Own::Double(gram::square(kernel, view, exec)?),
        };
        let stand = match &centres.stand {
            Some(points) => Some(Stand { values: against(centres, points, single, exec)? }),
            None => None,
        };
        let judged = here.and_then(|(_, judged)| judged);
        self.solved_from(Start::Here(own, stand), centres, rows, loss, (digits, judged), exec, watch)
    }

    /// The same from what the preconditioner is made from.
    #[expect(clippy::too_many_arguments, reason = "what a fit consists of, once")]
    fn solved_from(
        &self,
        start: Start<'_>,
        centres: &LargeCentres,
        rows: &dyn LargeRows,
        loss: &dyn Loss,
        (digits, judged): (Digits, Option<&(Points, Vec<f64>)>),
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Fitted> {
        let m = centres.points.len();
        let judge = match judged {
            Some((points, targets)) => {
                let values = against(centres, points, digits == Digits::Single, exec)?;
                Some(Judge { values, targets })
            }
            None => None,
        };
        let problem = LargeProblem {
            rows,
            loss,
            centres: m,
            targets: &centres.targets,
            weight: &centres.weight,
            lambda: self.lambda,
            offset: self.offset,
            rounding: digits.rounding(),
            judge: judge.as_ref(),
        };
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let mut found = fit(&problem, start, &limits, exec, watch)?;
        found.info.note(centres.note.clone());
        if centres.stand.is_some() {
            found.info.note(format!("the preconditioner is computed from {} rows", centres.standing()));
        }
        Ok(found)
    }

    pub(super) fn digits(&self, n: usize, m: usize) -> Digits {
        if self.tol < SINGLE || n.saturating_mul(m) <= FEW { Digits::Double } else { Digits::Single }
    }

    /// Bytes of factors and of the solver's own numbers.
    #[expect(clippy::unused_self, reason = "belongs to the counts of a fit")]
    fn other(
        &self,
        m: usize,
        k: usize,
        digits: Digits,
        centres: &LargeCentres,
        held: Option<&(Points, Vec<f64>)>,
    ) -> u128 {
        let bytes = bytes_of_factors(digits, m) as u128;
        let stand =
            centres.stand.as_ref().map_or(0, Points::len) + held.map_or(0, |(points, _)| points.len());
        (3 * m as u128 + stand as u128) * m as u128 * bytes + (m as u128 * k as u128) * 8 * 64
    }

    /// Centres for a given matrix without points.
    fn among_rows(&self, points: &Points) -> Result<LargeCentres> {
        if self.place != Landmarks::Uniform {
            let word = if self.place == Landmarks::Kmeans { "kmeans" } else { "cholesky" };
            return Err(Error::param("place", word, "uniform for a precomputed kernel"));
        }
        self.placed(&Kernel::Precomputed, &Rows::Points(points), Exec::one(), &mut silent())
    }
}

/// Bytes of a number of the factors.
pub(super) fn bytes_of_factors(digits: Digits, m: usize) -> usize {
    if digits == Digits::Single && m >= MANY { 4 } else { 8 }
}

/// Values of points against the centres.
fn against(centres: &LargeCentres, points: &Points, single: bool, exec: Exec) -> Result<Own> {
    let (kernel, view) = (&centres.kernel, centres.points.view());
    Ok(if single {
        Own::Single(gram::cross(kernel, points.view(), view, exec)?)
    } else {
        Own::Double(gram::cross(kernel, points.view(), view, exec)?)
    })
}

fn short(from: &Buffer<f64>) -> Buffer<f32> {
    let mut out = Buffer::stale(from.len());
    out.iter_mut().zip(from.iter()).for_each(|(o, v)| *o = *v as f32);
    out
}

/// Notes what was computed, and how often.
fn counted(design: &Blocks<'_>, found: &mut Fitted) {
    use crate::solve::large::Design;
    let (kept, passes, m) = (design.kept(), found.info.iterations as f64, design.centres());
    let values = design.rows() as f64 * m as f64;
    found.info.kernel_values = (values * (kept + (1.0 - kept) * passes)) as u64 + (m as u64).pow(2) / 2;
    if kept < 1.0 {
        found.info.note(format!(
            "{:.0} % of the kernel values fit into the memory budget; the others are recomputed in every pass",
            100.0 * kept
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::by_weight;

    #[test]
    fn heavy_rows_stand_for_themselves_and_others_for_a_share() {
        let check = |weight: &[f64], many: usize, rows: &[usize], of_row: &[f64]| {
            assert_eq!(by_weight(weight, many), (rows.to_vec(), of_row.to_vec()), "{weight:?} {many}");
        };
        check(&[1.0, 0.0, 2.0, 1.0], 4, &[0, 2, 3], &[1.0, 2.0, 1.0]);
        check(&[1.0; 6], 3, &[0, 2, 4], &[2.0; 3]);
        check(&[1.0, 1.0, 9.0, 1.0, 1.0], 3, &[0, 2, 3], &[2.0, 9.0, 2.0]);
        check(&[5.0], 2, &[0], &[5.0]);
        check(&[], 3, &[], &[]);
        check(&[0.0; 2], 3, &[], &[]);
        // Sums over drawn rows are those over all rows, whatever the weights.
        let weight: Vec<f64> =
            (0..5000).map(|i| f64::from(i % 17) * if i % 100 == 0 { 50.0 } else { 0.5 }).collect();
        let (rows, of_row) = by_weight(&weight, 500);
        assert!(rows.len().abs_diff(500) <= 1 && rows.windows(2).all(|pair| pair[0] < pair[1]));
        let (all, drawn): (f64, f64) = (weight.iter().sum(), of_row.iter().sum());
        assert!((drawn - all).abs() < 0.01 * all, "{drawn} {all}");
    }
}
