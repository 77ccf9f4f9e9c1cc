//! Columns of a matrix for machines on m centres: N by rows and by columns in f32, the centres' own matrix in f64, and its
//! factors.

use std::sync::{Arc, Mutex, PoisonError};

use mercer::solve::Nystrom;
use mercer::{Error, Result};

use crate::back_end::BackEnd;
use crate::driver::{Gpu, Outcome, Trouble};
use crate::factor::{self, Factor, TILE, Times};
use crate::memory::Memory;
use crate::rows::Part;
use crate::trace;
use crate::values::{Block, Values, argument, launch_times};

/// Centres below which the CPU's factors are as fast, and share of the free memory that may be used.
const FEW: usize = 1000;
const SHARE: f64 = 0.9;

/// What the device keeps.
pub(crate) struct Columns {
    back_end: Arc<BackEnd>,
    part: Arc<Part>,
    n: usize,
    m: usize,
    /// The centres' rows.
    numbers: Memory,
    /// N row by row, and column by column.
    tall: (Memory, usize),
    wide: (Memory, usize),
    own: Factor,
    inner: Factor,
    /// Calls go one after another: factors have room for one at a time.
    lock: Mutex<()>,
}

impl Columns {
    /// None where they have no room, or where f64 is slow.
    pub(crate) fn new(
        back_end: &Arc<BackEnd>,
        part: Arc<Part>,
        centres: &[u32],
        gpu: &Arc<Gpu>,
    ) -> Outcome<Option<Self>> {
        let (n, m) = (part.len(), centres.len());
        let rows: Vec<u32> = centres.iter().map(|&c| part.row(c as usize)).collect();
        let needed = 8.0 * n as f64 * m as f64 + 2.0 * factor::bytes(m) as f64;
        if !gpu.fast_f64 || m < FEW || needed > SHARE * gpu.left() as f64 {
            return Ok(None);
        }
        let numbers = Memory::of(gpu, &rows)?;
        let index = part.index.as_ref().map(|index| Memory::of(gpu, index)).transpose()?;
        let kept = &part.kept;
        let (all, some) = ((kept.loaded.side(index.as_ref()), n), (kept.loaded.side(Some(&numbers)), m));
        let values = |a, b: (_, usize), high: usize| -> Outcome<(Memory, usize)> {
            let stride = b.1.next_multiple_of(32);
            let out = Memory::filled(gpu, 4 * high * stride, 0)?;
            Block::new(a, b, &kept.packed, out.pointer(), stride).launch(
                gpu,
                &kept.map,
                kept.packed.is_bytes(),
                false,
            )?;
            Ok((out, stride))
        };
        let (tall, wide) = (values(all, some, n)?, values(some, all, m)?);
        let (own, inner) = (Factor::room(gpu, m)?, Factor::room(gpu, m)?);
        let (back_end, lock) = (Arc::clone(back_end), Mutex::new(()));
        Ok(Some(Columns { back_end, part, n, m, numbers, tall, wide, own, inner, lock }))
    }

    /// Does something on the device.
    fn on_device<T>(&self, name: &'static str, work: impl FnOnce(&Arc<Gpu>) -> Outcome<T>) -> Result<T> {
        let _own = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = || Err(Trouble::Failed("it cannot be used any more".to_owned()));
        let outcome = match self.back_end.enter(true) {
            Some((gpu, _guard)) => trace::host(name, || work(&gpu)),
            None => lost(),
        };
        match self.back_end.end(outcome) {
            Some(done) => done,
            None => Err(Error::Unsupported("the device's memory ran out in the middle of a fit".to_owned())),
        }
    }

    /// Vectors of m numbers as vectors of the factor's order, filled with zeros; `least` vectors at least.
    fn padded(&self, gpu: &Arc<Gpu>, x: &[f64], least: usize) -> Outcome<Memory> {
        let order = self.own.order;
        let mut wide = vec![0.0; (x.len() / self.m).max(least) * order];
        wide.chunks_mut(order)
            .zip(x.chunks(self.m))
            .for_each(|(to, from)| to[..self.m].copy_from_slice(from));
        Memory::of(gpu, &wide)
    }

    fn unpadded(&self, from: &Memory, out: &mut [f64]) -> Outcome<()> {
        let order = self.own.order;
        let mut wide = vec![0.0; out.len() / self.m * order];
        from.read(0, &mut wide)?;
        out.chunks_mut(self.m)
            .zip(wide.chunks(order))
            .for_each(|(to, from)| to.copy_from_slice(&from[..self.m]));
        Ok(())
    }
}

/// A product with N or its transpose.
fn product(
    (values, stride): (&Memory, usize),
    (high, wide): (usize, usize),
    x: &[f64],
    out: &mut [f64],
    gpu: &Arc<Gpu>,
) -> Outcome<()> {
    let (from, to) = (Memory::of(gpu, x)?, Memory::room(gpu, size_of_val(out))?);
    launch_times(gpu, Values::Narrow(values, stride), &from, &to, (high, wide), x.len() / wide)?;
    to.read(0, out)
}

impl Nystrom for Columns {
    fn times(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
        let values = (&self.tall.0, self.tall.1);
        self.on_device("product", |gpu| product(values, (self.n, self.m), x, out, gpu))
    }

    fn times_transposed(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
        let values = (&self.wide.0, self.wide.1);
        self.on_device("product back", |gpu| product(values, (self.m, self.n), x, out, gpu))
    }

    fn factor(&self, ridge: f64) -> Result<bool> {
        self.on_device("factor", |gpu| {
            let kept = &self.part.kept;
            let side = (kept.loaded.side(Some(&self.numbers)), self.m);
            let block = Block::new(side, side, &kept.packed, self.own.l.pointer(), self.own.order);
            block.launch(gpu, &kept.map, kept.packed.is_bytes(), true)?;
            self.own.run(gpu, ridge)
        })
    }

    fn factor_inner(&self, by: f64, d: &[f64], lambda: f64) -> Result<bool> {
        self.on_device("inner factor", |gpu| {
            let order = self.own.order;
            let mut from = self.own.turned.pointer();
            if !d.is_empty() {
                let mut roots: Vec<f64> = d.iter().map(|d| d.max(0.0).sqrt()).collect();
                roots.resize(order, 1.0);
                let roots = Memory::of(gpu, &roots)?;
                let (mut a, mut out) = (from, self.inner.turned.pointer());
                let (mut by, mut stride) = (roots.pointer(), order as i64);
                // SAFETY: arguments in the function's order; two squares of this order, and a number per column.
                unsafe {
                    gpu.launch(
                        "factor_scale",
                        (order.div_ceil(256), order),
                        256,
                        0,
                        &mut [argument(&mut a), argument(&mut out), argument(&mut by), argument(&mut stride)],
                    )
                }?;
                from = out;
            }
            // L' has zeros before the diagonal.
            let (a, c) = ((from, order), (self.inner.l.pointer(), order));
            Times { lower: 1, late: 1, alpha: by, ..Times::new(a, a, c, (order, order, order)) }
                .launch(gpu)?;
            self.inner.run(gpu, lambda)
        })
    }

    fn solve(&self, inner: bool, transposed: bool, x: &mut [f64]) -> Result<()> {
        self.on_device("triangular solve", |gpu| {
            let factor = if inner { &self.inner } else { &self.own };
            let k = x.len() / self.m;
            let (b, y) = (self.padded(gpu, x, 0)?, Memory::room(gpu, 8 * k * factor.order)?);
            factor.solve(gpu, transposed, &b, &y, k)?;
            self.unpadded(&y, x)
        })
    }

    fn times_factor(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
        self.on_device("product with the factor", |gpu| {
            // Whole tiles of vectors, the last of them zeros.
            let (order, k) = (self.own.order, (x.len() / self.m).next_multiple_of(TILE));
            let (from, to) = (self.padded(gpu, x, k)?, Memory::room(gpu, 8 * k * order)?);
            let (a, b) = ((from.pointer(), order), (self.own.l.pointer(), order));
            Times::new(a, b, (to.pointer(), order), (k, order, order)).launch(gpu)?;
            self.unpadded(&to, out)
        })
    }
}
