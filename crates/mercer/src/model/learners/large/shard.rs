//! A distributed fit: each process has a shard of the rows, and one solver requests sums over the rows from all
//! shards.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::centres::{LargeCentres, Rows};
use super::design::{Blocks, Computed, From};
use super::solved::bytes_of_factors;
use super::{LargeAsk, LargeParams, LargeRows, LargeSums};
use crate::data::{Points, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::classified::check_reals;
use crate::model::learners::given::Given;
use crate::model::{Machine, Sample};
use crate::solve::large::Local;
use crate::watch::{Watch, silent};

/// Some of the rows of a fit, and their kernel values against the centres.
///
/// ```
/// use mercer::data::toy;
/// use mercer::model::{LargeAsk, LargeParams, LargeRows, LargeShard, LargeSums, Sample};
/// use mercer::{Exec, Result, watch};
///
/// /// Two places.
/// struct Both([LargeShard; 2]);
/// impl LargeRows for Both {
///     fn rows(&self) -> usize {
///         self.0.iter().map(|s| s.rows()).sum()
///     }
///     fn weight(&self) -> f64 {
///         self.0.iter().map(|s| s.weight()).sum()
///     }
///     fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums> {
///         let mut sums = self.0[0].pass(ask)?;
///         sums.add(&self.0[1].pass(ask)?);
///         Ok(sums)
///     }
/// }
///
/// let (points, targets) = toy::sinc(2000, 1);
/// let y = targets.reals()?.to_vec();
/// let params = LargeParams { centres: 30, ..LargeParams::default() };
/// let exec = Exec::one();
/// let centres = params.centres(Sample::new(&points, &targets), 2000, exec)?;
/// let part = |rows: std::ops::Range<usize>| {
///     let places: Vec<usize> = rows.clone().collect();
///     params.shard(&centres, points.gather(&places), y[rows].to_vec(), Vec::new(), exec)
/// };
/// let both = Both([part(0..700)?, part(700..2000)?]);
/// let machine = params.fit_rows(&centres, &both, exec, &mut watch::silent())?;
/// assert_eq!(machine.expansion.len(), 30);
/// # Ok::<(), mercer::Error>(())
/// ```
pub struct LargeShard {
    params: LargeParams,
    centres: LargeCentres,
    points: Points,
    targets: Vec<f64>,
    weight: Vec<f64>,
    total: f64,
    exec: Exec,
    /// Kernel values that are kept.
    kept: Arc<Vec<Computed>>,
    /// Outputs at the last function whose slope was requested.
    outputs: Mutex<(u64, Vec<f32>)>,
}

impl std::fmt::Debug for LargeShard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LargeShard")
            .field("rows", &self.points.len())
            .field("centres", &self.centres.points.len())
            .finish_non_exhaustive()
    }
}

impl LargeShard {
    /// Its rows.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Their targets: numbers, or numbers of classes.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// Their weights; none: 1.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// The sum of `k(x, x)` over its rows: the total variance of kernel PCA.
    pub fn trace(&self) -> f64 {
        let mut diag = vec![0.0; self.points.len()];
        self.centres.kernel.diag(self.points.view(), &mut diag);
        diag.iter().sum()
    }

    /// Bytes of rows and of kernel values that are kept.
    pub fn bytes(&self) -> usize {
        let values: usize = self.kept.iter().map(|(values, _)| values.bytes()).sum();
        self.points.view().bytes() + values + 8 * (self.targets.len() + self.weight.len())
    }

    fn from(&self) -> From<'_> {
        let (kernel, centres) = (&self.centres.kernel, self.centres.points.view());
        From::Points { kernel, points: self.points.view(), centres }
    }
}

impl LargeRows for LargeShard {
    fn rows(&self) -> usize {
        self.points.len()
    }

    fn weight(&self) -> f64 {
        self.total
    }

    fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums> {
        let aim = self.params.aim(&self.centres.classes)?;
        let m = self.centres.points.len();
        let k = ask.outputs();
        let fits = |coef: &[f64], offset: &[f64]| coef.len() == m * k && offset.len() == k;
        let given = match ask {
            LargeAsk::Slope { at } => fits(at.coef, at.offset) && k == aim.loss.outputs(),
            LargeAsk::Bend { at, along } => {
                let at = at.is_none_or(|at| fits(at.coef, at.offset) && k == aim.loss.outputs());
                at && fits(along.coef, along.offset)
            }
        };
        if k == 0 || !given {
            let want = format!("{m} x {} coefficients and as many offsets", aim.loss.outputs());
            return Err(Error::shape("the function of a pass", format!("{k} outputs"), want));
        }
        let digits = self.params.digits(self.centres.all, m);
        let about = (self.targets.as_slice(), self.weight.as_slice());
        let room = self.exec.budget() / 2;
        let design = Blocks::again(self.from(), about, digits, room, self.kept.clone(), self.exec)?;
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        let held = std::mem::take(&mut *outputs);
        let local = Local::holding(&design, aim.loss.as_ref(), self.total, held, self.exec);
        let sums = local.pass(ask);
        *outputs = local.held();
        sums
    }
}

impl LargeParams {
    /// Kernel and centres from rows that were drawn from all: at least as many as there are centres, ten times as
    /// many for `kmeans`, `cholesky` and a good preconditioner. The names of classes are those of the sample's
    /// targets; classes need not have a row in it. `all`: number of rows of all shards.
    pub fn centres(&self, sample: Sample<'_>, all: usize, exec: Exec) -> Result<LargeCentres> {
        let given = Given::new(self, sample, exec)?;
        let points = sample.points;
        let (targets, classes) = match sample.targets {
            Targets::Classes(labels) => {
                (labels.of_row.iter().map(|&c| f64::from(c)).collect(), labels.names.clone())
            }
            Targets::Reals(y) => {
                check_reals(y, 0..y.len())?;
                (y.clone(), Vec::new())
            }
            Targets::None => (Vec::new(), Vec::new()),
        };
        let mut centres = self.placed(&given.kernel, &Rows::Points(points), exec, &mut silent())?;
        centres.classes = classes;
        centres.all = all;
        let k = self.aim(&centres.classes)?.loss.outputs();
        let m = centres.points.len();
        let bytes = bytes_of_factors(self.digits(all, m), m);
        let most = self.standing((all, m), k, bytes, exec).map_or(0, |rows| rows.len());
        let wide = targets.len() / points.len().max(1);
        let stand: Vec<usize> = match (&centres.rows, most) {
            (Some(own), 0) => own.clone(),
            (None, 0) => Vec::new(),
            (_, most) => {
                let some: Vec<usize> = (0..points.len().min(most)).collect();
                centres.stand = Some(points.gather(&some));
                some
            }
        };
        centres.targets = stand.iter().flat_map(|&i| &targets[i * wide..(i + 1) * wide]).copied().collect();
        // Indices of the sample are not indices of all rows.
        centres.rows = None;
        Ok(centres)
    }
    /// Some of the rows, with a number each (the target, or the number of the class) and weights, if there are any. There may
    /// be no rows at all.
    ///
    /// Kernel values are kept within half of the memory of `exec`, and computed in every pass beyond it.
    pub fn shard(
        &self,
        centres: &LargeCentres,
        points: Points,
        targets: Vec<f64>,
        weight: Vec<f64>,
        exec: Exec,
    ) -> Result<LargeShard> {
        self.check()?;
        let (n, k) = (points.len(), centres.classes.len());
        if targets.len() != n {
            return Err(Error::shape("targets", targets.len(), format!("{n}, one per row")));
        }
        if !weight.is_empty() && weight.len() != n {
            return Err(Error::shape("weights", weight.len(), format!("{n}, one per row")));
        }
        check_reals(&targets, 0..n)?;
        let wrong = |y: &&f64| k > 0 && (**y < 0.0 || **y >= k as f64 || y.fract() != 0.0);
        if let Some(y) = targets.iter().find(wrong) {
            return Err(Error::param("a row's class", y, format!("a whole number below {k}")));
        }
        if let Some(w) = weight.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            return Err(Error::param("a row's weight", w, "a number of at least 0"));
        }
        if n > 0 {
            Sample::new(&points, &Targets::None).check()?;
        }
        let total = if weight.is_empty() { n as f64 } else { weight.iter().sum() };
        let (params, centres) = (self.clone(), centres.clone());
        let mut shard = LargeShard {
            params,
            centres,
            points,
            targets,
            weight,
            total,
            exec,
            kept: Arc::default(),
            outputs: Mutex::default(),
        };
        let digits = self.digits(shard.centres.all, shard.centres.points.len());
        let about = (shard.targets.as_slice(), shard.weight.as_slice());
        let kept =
            Blocks::new(shard.from(), about, digits, exec.budget() / 2, exec, &mut silent())?.into_kept();
        shard.kept = kept;
        Ok(shard)
    }

    /// Fits on all rows, which may be distributed: see [`LargeShard`]. If the watcher cancels, the machine is the
    /// current one.
    pub fn fit_rows(
        &self,
        centres: &LargeCentres,
        rows: &dyn LargeRows,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        let aim = self.aim(&centres.classes)?;
        let digits = self.digits(rows.rows(), centres.points.len());
        let mut found = self.solved_rows(centres, rows, aim.loss.as_ref(), (digits, None), exec, watch)?;
        found.info.note(centres.note.clone());
        found.info.kernel_values = rows.rows() as u64 * centres.points.len() as u64;
        let mut machine = self.machine(centres.clone(), found, aim, exec)?;
        machine.info.seconds = clock.elapsed().as_secs_f64();
        Ok(machine)
    }
}
