//! How many threads a call may use: a value that is passed, never a global.

/// The number of pieces a call may cut its work into. Pieces run on rayon's pool.
///
/// ```
/// use mercer::Par;
/// assert_eq!(Par::one().threads(), 1);
/// assert!(Par::default().threads() >= 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Par(usize);

impl Par {
    /// No second thread.
    pub fn one() -> Self {
        Par(1)
    }

    /// So many threads; 0 means as many as the machine has.
    pub fn new(threads: usize) -> Self {
        if threads == 0 { Self::default() } else { Par(threads) }
    }

    /// The number of threads.
    pub fn threads(self) -> usize {
        self.0
    }
}

impl Default for Par {
    fn default() -> Self {
        Par(std::thread::available_parallelism().map_or(1, usize::from))
    }
}
