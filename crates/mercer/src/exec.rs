//! What a call may use of the machine: threads, a value that is passed, never a global, and memory.

mod memory;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
pub(crate) use memory::room_for_table;
pub use memory::{MULTIPLE, half_of_ram, limit_memory, memory_limit, room};

/// The number of pieces a call may cut its work into. Pieces run on rayon's pool.
///
/// ```
/// use mercer::Exec;
/// assert_eq!(Exec::one().threads(), 1);
/// assert!(Exec::default().threads() >= 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exec(usize);

impl Exec {
    /// No second thread.
    pub fn one() -> Self {
        Exec(1)
    }

    /// So many threads; 0 means as many as the machine has.
    pub fn new(threads: usize) -> Self {
        if threads == 0 { Self::default() } else { Exec(threads) }
    }

    /// The number of threads.
    pub fn threads(self) -> usize {
        self.0
    }
}

impl Default for Exec {
    fn default() -> Self {
        Exec(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Does jobs on so many threads, in the order given, each thread with a state of its own. Results come in the order of
/// the jobs' numbers; of several errors the first by number.
pub(crate) fn side_by_side<S, T: Send>(
    workers: usize,
    order: &[usize],
    state: impl Fn() -> S + Sync,
    job: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<T>>>> = Mutex::new(order.iter().map(|_| None).collect());
    let work = || {
        let mut state = state();
        while let Some(&m) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = job(&mut state, m);
            if let Ok(mut results) = results.lock() {
                results[m] = Some(result);
            }
        }
    };
    if workers <= 1 {
        work();
    } else {
        rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
    }
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.into_iter().map(|r| r.expect("every job was done")).collect()
}
