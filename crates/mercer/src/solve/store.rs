//! Storage of full rows, and of rows gathered on a subset of columns.

use mercer_num::Real;
use mercer_num::pass::Element;
use rayon::prelude::*;

use super::pair::LocalRows;
use super::problem::MAX_GROUPS;
use crate::exec::Exec;

/// Full rows of K that are in memory.
pub(super) trait Store {
    /// f32, or f64 for full precision.
    type T: Element;
    /// A row that is in memory.
    fn row(&self, row: u32) -> &[Self::T];
}

/// The whole matrix.
pub(super) struct Whole<'a, T> {
    pub(super) values: &'a [T],
    pub(super) n: usize,
}

impl<T: Element> Store for Whole<'_, T> {
    type T = T;
    fn row(&self, row: u32) -> &[T] {
        &self.values[row as usize * self.n..(row as usize + 1) * self.n]
    }
}

const NONE: u32 = u32::MAX;

/// Rows on the columns of a local problem, gathered on first use: most variables of a local problem never change, and
/// their rows are never read. A ring of slots bounds the memory.
///
/// A gather reads a few values from nearly every cache line of the full row, so it costs as much as streaming the
/// row. [`Gathered::prepare`] does it on all threads for the variables that are certain to be used.
pub(super) struct Gathered<'a, S: Store> {
    store: &'a S,
    /// The row of K each local variable belongs to.
    columns: Vec<u32>,
    slot_of: Vec<u32>,
    owner: Vec<u32>,
    /// May be longer than the slots in use; values left by an earlier problem are overwritten.
    values: &'a mut Vec<S::T>,
    slots: usize,
    next: usize,
    /// The variables of the last loads; their slots must not be reused.
    recent: [u32; 2 * MAX_GROUPS],
    loads: usize,
}

impl<'a, S: Store> Gathered<'a, S> {
    /// Rows of `store` on these columns, within `bytes` (but with at least as many slots as a step needs), stored in
    /// `values`, whose contents are discarded.
    pub(super) fn new(store: &'a S, columns: Vec<u32>, bytes: usize, values: &'a mut Vec<S::T>) -> Self {
        let m = columns.len();
        // A step holds up to two rows per group; twice that many slots leave room for the next ones.
        let slots = (bytes / (m.max(1) * size_of::<S::T>())).clamp(4 * MAX_GROUPS, m.max(4 * MAX_GROUPS));
        Gathered {
            store,
            slot_of: vec![NONE; m],
            columns,
            owner: Vec::new(),
            values,
            slots,
            next: 0,
            recent: [NONE; 2 * MAX_GROUPS],
            loads: 0,
        }
    }

    /// Gathers the rows of these distinct variables on all threads, up to the number of free slots.
    pub(super) fn prepare(&mut self, variables: &[u32], exec: Exec)
    where
        S: Sync,
    {
        let m = self.columns.len();
        let count = variables.len().min(self.slots - self.owner.len());
        let (variables, first) = (&variables[..count], self.owner.len());
        if exec.threads() == 1 || count * m < WORTH_THREADS {
            return;
        }
        let end = (first + count) * m;
        if self.values.len() < end {
            self.values.resize(end, S::T::ZERO);
        }
        let (store, columns) = (self.store, &self.columns);
        let places = self.values[first * m..end].par_chunks_mut(m);
        places.zip(variables).for_each(|(place, &v)| gather(place, store.row(columns[v as usize]), columns));
        for (at, &v) in variables.iter().enumerate() {
            self.slot_of[v as usize] = (first + at) as u32;
        }
        self.owner.extend_from_slice(variables);
        self.next = self.owner.len() % self.slots;
    }
}

/// Number of values from which gathering is worth several threads.
const WORTH_THREADS: usize = 1 << 16;

fn gather<T: Element>(place: &mut [T], row: &[T], columns: &[u32]) {
    place.iter_mut().zip(columns).for_each(|(v, &c)| *v = row[c as usize]);
}

impl<S: Store> LocalRows for Gathered<'_, S> {
    type T = S::T;

    fn load(&mut self, variable: usize) {
        self.recent[self.loads % (2 * MAX_GROUPS)] = variable as u32;
        self.loads += 1;
        if self.slot_of[variable] != NONE {
            return;
        }
        let m = self.columns.len();
        let row = self.store.row(self.columns[variable]);
        // The pair of a step must stay valid while the other row is loaded.
        while self.owner.get(self.next).is_some_and(|owner| self.recent.contains(owner)) {
            self.next = (self.next + 1) % self.slots;
        }
        let slot = self.next;
        self.next = (self.next + 1) % self.slots;
        let place = slot * m..(slot + 1) * m;
        if slot == self.owner.len() {
            self.owner.push(variable as u32);
            if self.values.len() < place.end {
                self.values.truncate(place.start);
                self.values.extend(self.columns.iter().map(|&c| row[c as usize]));
            } else {
                gather(&mut self.values[place], row, &self.columns);
            }
        } else {
            self.slot_of[self.owner[slot] as usize] = NONE;
            self.owner[slot] = variable as u32;
            gather(&mut self.values[place], row, &self.columns);
        }
        self.slot_of[variable] = slot as u32;
    }

    fn row(&self, variable: usize) -> &[S::T] {
        let (m, slot) = (self.columns.len(), self.slot_of[variable] as usize);
        &self.values[slot * m..(slot + 1) * m]
    }
}
