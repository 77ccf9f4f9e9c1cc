//! What a call may use of the machine: threads, memory and a device. One value that is passed, never a global.

mod device;
mod memory;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
pub use device::Device;
pub(crate) use memory::room_for_table;
pub use memory::{MULTIPLE, half_of_ram, room};

/// Rows that a prediction computes one by one. A matrix product gains nothing for so few, and how it sums depends on the
/// number of rows; so a row among few has the same values, to the last bit, whichever rows are beside it.
pub const FEW: usize = 32;

/// The execution context of a call: how many pieces its work is cut into, how many bytes it may allocate, and the
/// device that computes. Pieces run on rayon's pool.
///
/// The edge (the command, Python, a service) makes one and passes it down; the library makes none by itself.
///
/// ```
/// use mercer::Exec;
/// assert_eq!(Exec::one().threads(), 1);
/// assert!(Exec::default().threads() >= 1);
/// let small = Exec::new(2).with_memory(1 << 20);
/// assert_eq!((small.threads(), small.memory()), (2, 1 << 20));
/// assert!(small.device().is_cpu());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exec {
    threads: usize,
    memory: u64,
    device: Device,
}

impl Exec {
    /// One thread, half of the memory, the CPU.
    pub fn one() -> Self {
        Exec { threads: 1, memory: half_of_ram() as u64, device: Device::CPU }
    }

    /// So many threads, half of the memory, the CPU; 0 means as many threads as the machine has.
    pub fn new(threads: usize) -> Self {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        Exec { threads: if threads == 0 { all() } else { threads }, ..Exec::one() }
    }

    /// The same with another number of threads; 0 means as many as the machine has.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Exec { threads: Exec::new(threads).threads, ..self }
    }

    /// The same with a memory budget in bytes; 0 counts as 1.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Exec { memory: bytes.max(1), ..self }
    }

    /// The same on another device.
    #[must_use]
    pub fn with_device(self, device: Device) -> Self {
        Exec { device, ..self }
    }

    /// The number of threads.
    pub fn threads(self) -> usize {
        self.threads
    }

    /// Bytes that a call may allocate beyond a multiple of its data: kernel values, dense copies, buffers.
    pub fn memory(self) -> u64 {
        self.memory
    }

    /// The memory budget as a size of an object in memory.
    pub(crate) fn budget(self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }

    /// The device that computes.
    pub fn device(self) -> Device {
        self.device
    }
}

/// All threads of the machine, half of its memory, the CPU. For programs: code of the library never calls it.
impl Default for Exec {
    fn default() -> Self {
        Exec::new(0)
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
