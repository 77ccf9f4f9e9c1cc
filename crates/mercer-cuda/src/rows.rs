//! Rows that a device keeps: a kernel, points on the device, and which of them.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use mercer::Exec;
use mercer::exec::Device;
use mercer::gram::{self, Owner, Rows};
use mercer::kernel::Kernel;
use mercer::num::Floats;

use crate::back_end::BackEnd;
use crate::driver::{Gpu, Outcome};
use crate::memory::Memory;
use crate::pack::{Loaded, Packed};
use crate::program::Map;
use crate::values::{Block, Pair, Values, launch_times};

/// Points under a kernel, on the host and on the device.
pub(crate) struct Kept {
    pub(crate) kernel: Kernel,
    pub(crate) map: Map,
    pub(crate) packed: Packed,
    pub(crate) loaded: Loaded,
    /// `k(x, x)` of every row.
    pub(crate) diag: Vec<f64>,
    /// The whole matrix in f32, once products with it were asked for; none inside: there is no room for it.
    whole: OnceLock<Option<Whole>>,
}

/// A matrix on the device, row by row.
pub(crate) struct Whole {
    pub(crate) values: Memory,
    pub(crate) stride: usize,
}

/// Some of the rows of what is kept.
pub(crate) struct Part {
    pub(crate) kept: Arc<Kept>,
    /// None: all of them.
    pub(crate) index: Option<Vec<u32>>,
}

impl Kept {
    /// The whole matrix; none where it has no room.
    pub(crate) fn whole(&self, gpu: &Arc<Gpu>) -> Option<&Whole> {
        let make = || -> Outcome<Whole> {
            let n = self.packed.n;
            let stride = n.next_multiple_of(32);
            // Products read the padding too.
            let values = Memory::filled(gpu, 4 * n * stride, 0)?;
            let side = (self.loaded.side(None), n);
            let block = Block::new(side, side, &self.packed, values.pointer(), stride);
            block.launch(gpu, &self.map, self.packed.is_bytes(), false)?;
            Ok(Whole { values, stride })
        };
        self.whole.get_or_init(|| make().ok()).as_ref()
    }
}

impl Part {
    pub(crate) fn len(&self) -> usize {
        self.index.as_ref().map_or(self.kept.packed.n, Vec::len)
    }

    /// The row of the data at a place.
    pub(crate) fn row(&self, place: usize) -> u32 {
        self.index.as_ref().map_or(place as u32, |index| index[place])
    }

    fn all(&self) -> Vec<u32> {
        (0..self.len()).map(|p| self.row(p)).collect()
    }
}

/// Rows that solvers may ask for, by the number they are known by.
#[derive(Default)]
pub(crate) struct Register {
    next: AtomicU64,
    parts: Mutex<HashMap<u64, Weak<Part>>>,
}

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Register({})", self.next.load(Ordering::Relaxed))
    }
}

impl Register {
    fn put(&self, part: &Arc<Part>) -> u64 {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.insert(key, Arc::downgrade(part));
        key
    }

    /// The rows of a number.
    pub(crate) fn get(&self, key: u64) -> Option<Arc<Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).get(&key)?.upgrade()
    }

    fn remove(&self, key: u64) {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

/// What a solver sees of them.
pub(crate) struct DeviceRows {
    back_end: Arc<BackEnd>,
    part: Arc<Part>,
    key: u64,
    device: Device,
}

impl DeviceRows {
    pub(crate) fn new(
        back_end: Arc<BackEnd>,
        kernel: &Kernel,
        map: &Map,
        packed: Packed,
        loaded: Loaded,
        device: Device,
    ) -> Self {
        let diag = if kernel.translation_invariant() {
            vec![map.own(0.0); packed.n]
        } else {
            packed.squares().iter().map(|&square| map.own(square)).collect()
        };
        let kept = Kept { kernel: kernel.clone(), map: *map, packed, loaded, diag, whole: OnceLock::new() };
        let kept = Arc::new(kept);
        Self::of(back_end, Arc::new(Part { kept, index: None }), device)
    }

    fn of(back_end: Arc<BackEnd>, part: Arc<Part>, device: Device) -> Self {
        let key = back_end.register.put(&part);
        DeviceRows { back_end, part, key, device }
    }

    /// Does something with a block of rows (by the data's numbers) against all rows of this part, on the device.
    fn on_device(&self, rows: &[u32], work: impl FnOnce(&Pair<'_>) -> Outcome<()>) -> bool {
        let kept = &self.part.kept;
        let Some((gpu, _guard)) = self.back_end.enter(true) else { return false };
        let run = || {
            let numbers = Memory::of(&gpu, rows)?;
            let own = self.part.index.as_ref().map(|index| Memory::of(&gpu, index)).transpose()?;
            let a = (kept.loaded.side(Some(&numbers)), rows.len());
            let b = (kept.loaded.side(own.as_ref()), self.part.len());
            work(&Pair { gpu: &gpu, map: &kept.map, like: &kept.packed, a, b })
        };
        run().is_ok()
    }
}

impl Rows for DeviceRows {
    fn len(&self) -> usize {
        self.part.len()
    }

    fn diag(&self) -> Vec<f64> {
        let diag = &self.part.kept.diag;
        match &self.part.index {
            None => diag.clone(),
            Some(index) => index.iter().map(|&i| diag[i as usize]).collect(),
        }
    }

    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        if rows.is_empty() || out.is_empty() {
            return;
        }
        let own: Vec<u32> = rows.iter().map(|&r| self.part.row(r as usize)).collect();
        if self.on_device(&own, |pair| pair.values(Floats::F32(out))) {
            return;
        }
        // Memory ran out, or the device is lost: the host has the points too.
        let kept = &self.part.kept;
        let (some, all) = (kept.packed.points(&own), kept.packed.points(&self.part.all()));
        let cpu = exec.with_device(Device::CPU);
        let values = gram::cross::<f32>(&kept.kernel, some.view(), all.view(), cpu)
            .expect("kernel and points were checked when these rows were made");
        out.copy_from_slice(&values);
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
        if rows.is_empty() || out.is_empty() {
            return;
        }
        let own: Vec<u32> = rows.iter().map(|&r| self.part.row(r as usize)).collect();
        let done = self.on_device(&own, |pair| {
            let turned = Pair { gpu: pair.gpu, map: pair.map, like: pair.like, a: pair.b, b: pair.a };
            let (coef, total) = (Memory::of(pair.gpu, coef)?, Memory::of(pair.gpu, out)?);
            turned.sums(&coef, 1, &total, true)?;
            total.read(0, out)
        });
        if done {
            return;
        }
        let kept = &self.part.kept;
        let (some, all) = (kept.packed.points(&own), kept.packed.points(&self.part.all()));
        gram::apply::<f64>(&kept.kernel, some.view(), coef, all.view(), out, exec.with_device(Device::CPU))
            .expect("kernel and points were checked when these rows were made");
    }

    fn times(&self, x: &[f64], out: &mut [f64]) -> bool {
        let (n, kept) = (self.len(), &self.part.kept);
        if self.part.index.is_some() || n == 0 {
            return false;
        }
        let Some((gpu, _guard)) = self.back_end.enter(false) else { return false };
        let Some(whole) = kept.whole(&gpu) else { return false };
        if x.is_empty() {
            return true;
        }
        let mut run = || {
            let (from, to) = (Memory::of(&gpu, x)?, Memory::room(&gpu, size_of_val(out))?);
            launch_times(&gpu, Values::Narrow(&whole.values, whole.stride), &from, &to, (n, n), x.len() / n)?;
            to.read(0, out)
        };
        run().is_ok()
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        let index = keep.iter().map(|&p| self.part.row(p as usize)).collect();
        let part = Part { kept: Arc::clone(&self.part.kept), index: Some(index) };
        Box::new(Self::of(Arc::clone(&self.back_end), Arc::new(part), self.device))
    }

    fn owner(&self) -> Option<Owner> {
        Some(Owner { device: self.device, key: self.key })
    }

    fn cost(&self) -> f64 {
        self.part.kept.packed.d as f64
    }
}

impl Drop for DeviceRows {
    fn drop(&mut self) {
        self.back_end.register.remove(self.key);
    }
}
