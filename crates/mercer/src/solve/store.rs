//! Where full rows come from, and rows gathered on some columns.

use mercer_num::pass::Element;

use super::pair::LocalRows;
use super::problem::MAX_GROUPS;

/// Full rows of K that are in memory.
pub(super) trait Store {
    /// f32, or f64 for the last digits.
    type T: Element;
    /// A row that is in memory.
    fn row(&self, row: u32) -> &[Self::T];
}

/// All of them.
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

/// Rows on a local problem's columns, gathered when first asked for: most variables of a local problem never move, and
/// their rows are never read. A ring of slots bounds the memory.
pub(super) struct Gathered<'a, S: Store> {
    store: &'a S,
    /// The row of K each local variable belongs to.
    columns: Vec<u32>,
    slot_of: Vec<u32>,
    owner: Vec<u32>,
    values: Vec<S::T>,
    slots: usize,
    next: usize,
    /// The variables of the last loads: their slots are not given away.
    recent: [u32; 2 * MAX_GROUPS],
    loads: usize,
}

impl<'a, S: Store> Gathered<'a, S> {
    /// Rows of `store` on these columns, in at most so many bytes (but never fewer slots than a step needs).
    pub(super) fn new(store: &'a S, columns: Vec<u32>, bytes: usize) -> Self {
        let m = columns.len();
        let slots = (bytes / (m.max(1) * size_of::<S::T>())).clamp(4 * MAX_GROUPS, m.max(4 * MAX_GROUPS));
        Gathered {
            store,
            slot_of: vec![NONE; m],
            columns,
            owner: Vec::new(),
            values: Vec::new(),
            slots,
            next: 0,
            recent: [NONE; 2 * MAX_GROUPS],
            loads: 0,
        }
    }
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
        while self.owner.get(self.next).is_some_and(|owner| self.recent.contains(owner)) {
            self.next = (self.next + 1) % self.slots;
        }
        let slot = self.next;
        self.next = (self.next + 1) % self.slots;
        if slot == self.owner.len() {
            self.owner.push(variable as u32);
            self.values.extend(self.columns.iter().map(|&c| row[c as usize]));
        } else {
            self.slot_of[self.owner[slot] as usize] = NONE;
            self.owner[slot] = variable as u32;
            for (v, &c) in self.values[slot * m..(slot + 1) * m].iter_mut().zip(&self.columns) {
                *v = row[c as usize];
            }
        }
        self.slot_of[variable] = slot as u32;
    }

    fn row(&self, variable: usize) -> &[S::T] {
        let (m, slot) = (self.columns.len(), self.slot_of[variable] as usize);
        &self.values[slot * m..(slot + 1) * m]
    }
}
