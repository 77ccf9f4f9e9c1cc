//! The resources of a call: threads, memory and a device, passed as one value and never global.

mod device;
mod memory;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
pub use device::Device;
pub(crate) use memory::room_for_table;
pub use memory::{MULTIPLE, half_of_ram, room};

/// Number of rows up to which a prediction computes them one by one. A matrix product is not faster for so few, and
/// its order of summation depends on the number of rows; so a row in a small batch has bit-identical values whichever
/// rows are beside it.
pub const FEW: usize = 32;

/// Multiply-adds that take several times as long as waking a thread and waiting for its result.
const WAKE: usize = 1 << 19;

/// The execution context of a call: the number of pieces into which work is divided, the bytes it may allocate, and
/// the device. Pieces run on rayon's pool.
///
/// The caller (the command, Python, a service) makes one and passes it down; the library never makes one itself.
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

    /// The given number of threads, half of the memory, the CPU; 0 means as many threads as the machine has.
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

    /// The same with no more threads than this number of multiply-adds keeps busy: waking a thread for less work takes
    /// longer than doing it.
    #[must_use]
    pub(crate) fn for_work(self, multiply_adds: usize) -> Self {
        Exec { threads: self.threads.min(multiply_adds / WAKE).max(1), ..self }
    }

    /// Bytes that a call may allocate beyond a multiple of its data: kernel values, dense copies, buffers.
    pub fn memory(self) -> u64 {
        self.memory
    }

    /// The memory budget as `usize`.
    pub(crate) fn budget(self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }

    /// The device that computes.
    pub fn device(self) -> Device {
        self.device
    }
}

/// All threads of the machine, half of its memory, the CPU. For programs; the library never uses it.
impl Default for Exec {
    fn default() -> Self {
        Exec::new(0)
    }
}

/// Runs jobs on the given number of threads, in order, with one state per thread. Results are in the order of the
/// jobs; of several errors the first one is returned.
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
