//! What there is on a machine.

/// What was found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The devices, by number.
    pub devices: Vec<Seen>,
    /// Why there is none, in words, if there is none.
    pub why: Option<String>,
    /// The version of the driver's interface, as major and minor, where there is a driver.
    pub driver: Option<(i32, i32)>,
}

/// A device that the driver sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its number: `cuda:N`.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its memory in bytes.
    pub memory: u64,
    /// Its compute capability.
    pub capability: (i32, i32),
    /// Multiprocessors.
    pub multiprocessors: i32,
    /// Why it cannot be used, if it cannot.
    pub why_not: Option<String>,
}
