//! The two doors, on one device that starts when it is first needed. Calls of several threads go one after another.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mercer::data::View;
use mercer::exec::Device;
use mercer::gram::{GramBackend, GramDoor, Rows, Sum};
use mercer::kernel::Kernel;
use mercer::num::Floats;
use mercer::solve::{Nystrom, Params, Problem, Solution, SolveBackend, SolveDoor, Solved, System};
use mercer::watch::Watch;
use mercer::{Error, Exec, Result};

use crate::batch::Batch;
use crate::driver::{Gpu, Outcome, Trouble};
use crate::memory::Memory;
use crate::nystrom::Columns;
use crate::plan::Rule;
use crate::program::Map;
use crate::rows::{DeviceRows, Register};
use crate::values::Pair;
use crate::{linear, pack, trace};

/// A device, started or not.
#[derive(Debug)]
pub(crate) struct BackEnd {
    ordinal: usize,
    auto: bool,
    gpu: OnceLock<std::result::Result<Arc<Gpu>, String>>,
    lock: Mutex<()>,
    pub(crate) register: Arc<Register>,
}

impl BackEnd {
    pub(crate) fn new(ordinal: usize, auto: bool) -> Self {
        BackEnd {
            ordinal,
            auto,
            gpu: OnceLock::new(),
            lock: Mutex::new(()),
            register: Arc::new(Register::default()),
        }
    }

    /// The device as the library knows it.
    pub(crate) fn device(self) -> Device {
        let name = format!("cuda:{}", self.ordinal);
        let back_end = Arc::new(self);
        let gram = GramDoor(Box::new(Values(Arc::clone(&back_end))));
        let solve = SolveDoor(Box::new(Machines(back_end)));
        Device::new(name, vec![Box::new(gram), Box::new(solve)])
    }

    /// Starts the device, or says why that does not work.
    pub(crate) fn start(&self) -> std::result::Result<Arc<Gpu>, String> {
        self.gpu.get_or_init(|| Gpu::start(self.ordinal)).clone()
    }

    fn rule(&self, exec: Exec) -> Rule {
        let running = self.gpu.get().is_some_and(std::result::Result::is_ok);
        Rule { named: !self.auto, running, threads: exec.threads() }
    }

    /// The device, made current and held; none where it cannot be used, or is slow at what this needs.
    pub(crate) fn enter(&self, bytes: bool) -> Option<(Arc<Gpu>, MutexGuard<'_, ()>)> {
        let gpu = self.start().ok()?;
        if self.auto && !bytes && !gpu.fast_f64 {
            return None;
        }
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        gpu.enter().ok()?;
        Some((gpu, guard))
    }

    /// What a call on the device ends in: done, left to the CPU for want of memory, or an error that names the device.
    pub(crate) fn end<T>(&self, outcome: Outcome<T>) -> Option<Result<T>> {
        match outcome {
            Ok(done) => Some(Ok(done)),
            Err(Trouble::Memory) => None,
            Err(Trouble::Failed(why)) => {
                Some(Err(Error::Unsupported(format!("device cuda:{} failed: {why}", self.ordinal))))
            }
        }
    }
}

/// The door of `gram`.
#[derive(Debug)]
pub(crate) struct Values(pub(crate) Arc<BackEnd>);

impl GramBackend for Values {
    fn square(&self, kernel: &Kernel, x: View<'_>, out: Floats<'_>, exec: Exec) -> Option<Result<()>> {
        if !self.0.rule(exec).block(x.n, x.n, x.d) {
            return None;
        }
        let map = Map::of(kernel)?;
        let rows = pack::one(kernel, x, exec)?;
        let (gpu, _guard) = self.0.enter(rows.is_bytes())?;
        let work = || {
            let loaded = rows.load(&gpu, exec)?;
            let side = (loaded.side(None), rows.n);
            Pair { gpu: &gpu, map: &map, like: &rows, a: side, b: side }.values(out)
        };
        self.0.end(work())
    }

    fn cross(
        &self,
        kernel: &Kernel,
        x: View<'_>,
        y: View<'_>,
        out: Floats<'_>,
        exec: Exec,
    ) -> Option<Result<()>> {
        if !self.0.rule(exec).block(x.n, y.n, x.d) {
            return None;
        }
        let map = Map::of(kernel)?;
        let (right, left) = pack::two(kernel, y, x, exec)?;
        let (gpu, _guard) = self.0.enter(right.is_bytes())?;
        let work = || {
            let (a, b) = (left.load(&gpu, exec)?, right.load(&gpu, exec)?);
            let (a, b) = ((a.side(None), left.n), (b.side(None), right.n));
            Pair { gpu: &gpu, map: &map, like: &right, a, b }.values(out)
        };
        self.0.end(work())
    }

    fn apply(&self, sum: &Sum<'_>, points: View<'_>, out: &mut [f64], exec: Exec) -> Option<Result<()>> {
        let k = sum.coef.len() / sum.centres.n.max(1);
        if k == 0 || !self.0.rule(exec).apply(points.n, sum.centres.n, points.d, k) {
            return None;
        }
        let map = Map::of(sum.kernel)?;
        let (right, left) = trace::host("pack two", || pack::two(sum.kernel, sum.centres, points, exec))?;
        let (gpu, _guard) = self.0.enter(right.is_bytes())?;
        let mut work = || {
            let (a, b) = (left.load(&gpu, exec)?, right.load(&gpu, exec)?);
            let (a, b) = ((a.side(None), left.n), (b.side(None), right.n));
            let (coef, total) = (Memory::of(&gpu, sum.coef)?, Memory::of(&gpu, out)?);
            Pair { gpu: &gpu, map: &map, like: &right, a, b }.sums(&coef, k, &total, sum.exact)?;
            total.read(0, out)
        };
        self.0.end(work())
    }

    fn rows(&self, kernel: &Kernel, points: View<'_>, exec: Exec) -> Option<Result<Box<dyn Rows>>> {
        if !self.0.rule(exec).rows(points.n, points.d) {
            return None;
        }
        let map = Map::of(kernel)?;
        let packed = trace::host("pack", || pack::one(kernel, points, exec))?;
        let (gpu, guard) = self.0.enter(packed.is_bytes())?;
        let loaded = trace::host("load", || packed.load(&gpu, exec));
        drop(guard);
        let made = loaded.map(|loaded| {
            let rows = DeviceRows::new(Arc::clone(&self.0), kernel, &map, packed, loaded, exec.device());
            Box::new(rows) as Box<dyn Rows>
        });
        self.0.end(made)
    }
}

/// The door of `solve`.
#[derive(Debug)]
pub(crate) struct Machines(pub(crate) Arc<BackEnd>);

impl SolveBackend for Machines {
    fn solve(
        &self,
        problems: &[Problem<'_>],
        params: &Params,
        watch: &mut Watch<'_>,
    ) -> Option<Result<Vec<Solution>>> {
        let batch = Batch::new(&self.0, problems, params)?;
        let (gpu, _guard) = self.0.enter(true)?;
        let solved = trace::host("solve", || batch.solve(&gpu, watch));
        match self.0.end(solved)? {
            Ok(solved) => solved.map(Ok),
            Err(error) => Some(Err(error)),
        }
    }

    fn linear(&self, system: &System<'_>, _exec: Exec, watch: &mut Watch<'_>) -> Option<Result<Solved>> {
        let part = self.0.register.get(system.rows.owner()?.key)?;
        let (gpu, _guard) = self.0.enter(true)?;
        let solved = trace::host("linear", || linear::solve(&part, system, &gpu, watch));
        match self.0.end(solved)? {
            Ok(solved) => solved.map(Ok),
            Err(error) => Some(Err(error)),
        }
    }

    fn nystrom(&self, rows: &dyn Rows, centres: &[u32], exec: Exec) -> Option<Result<Box<dyn Nystrom>>> {
        let part = self.0.register.get(rows.owner()?.key)?;
        if !self.0.rule(exec).columns(part.len(), centres.len(), part.kept.packed.d) {
            return None;
        }
        let (gpu, _guard) = self.0.enter(false)?;
        let made = trace::host("columns", || Columns::new(&self.0, part, centres, &gpu));
        match self.0.end(made)? {
            Ok(made) => made.map(|columns| Ok(Box::new(columns) as Box<dyn Nystrom>)),
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a call becomes when the device fails, without a device: memory that runs out leaves the call to the CPU, a device
    /// that is lost is an error that names it.
    #[test]
    fn want_of_memory_goes_to_the_cpu_and_a_lost_device_is_an_error_that_names_it() {
        let back_end = BackEnd::new(3, false);
        assert!(matches!(back_end.end(Ok(7)), Some(Ok(7))));
        assert!(back_end.end::<()>(Err(Trouble::Memory)).is_none());
        let lost = back_end.end::<()>(Err(Trouble::Failed("unspecified launch failure".to_owned())));
        let error = lost.expect("an answer").expect_err("an error").to_string();
        assert!(error.contains("cuda:3") && error.contains("unspecified launch failure"), "{error}");
    }

    /// Where no driver is, `auto` computes on the CPU and says nothing; with one, this says that it was not tried.
    #[test]
    fn a_device_that_does_not_start_declines() {
        let back_end = BackEnd::new(usize::from(u16::MAX), true);
        assert!(back_end.enter(true).is_none());
        assert!(!back_end.rule(Exec::one()).running);
    }
}
