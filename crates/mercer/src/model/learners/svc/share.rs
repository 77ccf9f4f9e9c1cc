//! Kernel values shared by several machines: a whole matrix in memory, or rows that are kept between machines.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::exec::Exec;
use crate::gram::{Owner, RowCache, Rows};

/// A matrix of f32 values with the rows it was computed from, which provide the f64 sums.
#[derive(Clone, Copy)]
pub(super) struct Filled<'a> {
    pub(super) values: &'a [f32],
    pub(super) exact: &'a dyn Rows,
}

impl Rows for Filled<'_> {
    fn len(&self) -> usize {
        self.exact.len()
    }

    fn diag(&self) -> Vec<f64> {
        self.exact.diag()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], _exec: Exec) {
        let n = self.len();
        for (&r, out) in rows.iter().zip(out.chunks_mut(n)) {
            out.copy_from_slice(&self.values[r as usize * n..(r as usize + 1) * n]);
        }
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
        self.exact.apply(rows, coef, out, exec);
    }

    fn apply_at(&self, rows: &[u32], coef: &[f64], at: &[u32], out: &mut [f64], exec: Exec) {
        self.exact.apply_at(rows, coef, at, out, exec);
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        self.exact.subset(keep)
    }

    fn whole(&self) -> Option<&[f32]> {
        Some(self.values)
    }

    fn owner(&self) -> Option<Owner> {
        self.exact.owner()
    }

    fn cost(&self) -> f64 {
        0.0
    }
}

/// Rows that are kept for the next machine, within a memory budget.
pub(super) struct Kept<'a> {
    rows: &'a dyn Rows,
    cache: Mutex<RowCache<f32>>,
    /// Rows computed so far.
    computed: AtomicU64,
}

impl<'a> Kept<'a> {
    pub(super) fn new(rows: &'a dyn Rows, bytes: usize) -> Self {
        Kept { rows, cache: Mutex::new(RowCache::new(rows.len(), bytes, 1)), computed: AtomicU64::new(0) }
    }

    /// Kernel values computed so far.
    pub(super) fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed) * self.rows.len() as u64
    }
}

impl Rows for Kept<'_> {
    fn shared(&self) -> bool {
        true
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn diag(&self) -> Vec<f64> {
        self.rows.diag()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        let n = self.len();
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let room = cache.capacity();
        for (rows, out) in rows.chunks(room).zip(out.chunks_mut(room * n)) {
            let new = cache.fetch(rows, exec, |missing, out| self.rows.block(missing, out, exec));
            self.computed.fetch_add(new as u64, Ordering::Relaxed);
            for (&r, out) in rows.iter().zip(out.chunks_mut(n)) {
                out.copy_from_slice(cache.row(r));
            }
        }
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
        self.rows.apply(rows, coef, out, exec);
    }

    fn apply_at(&self, rows: &[u32], coef: &[f64], at: &[u32], out: &mut [f64], exec: Exec) {
        self.rows.apply_at(rows, coef, at, out, exec);
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        self.rows.subset(keep)
    }

    fn owner(&self) -> Option<Owner> {
        self.rows.owner()
    }

    fn cost(&self) -> f64 {
        self.rows.cost()
    }
}
