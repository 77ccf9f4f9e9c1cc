//! The number of support vectors as a bound on the leave-one-out error.
//!
//! ```text
//! E[error of training on l - 1 rows]  <=  E[support vectors of training on l rows] / (l - 1)
//! ```
//!
//! (Vapnik and Chervonenkis 1974; Schoelkopf 1997, proposition 2.1.2.) A row that is not a support vector can be left
//! out without changing the machine, which classifies it correctly, so only support vectors can be leave-one-out
//! errors. A vote of three machines on the same rows errs only on rows that are support vectors of at least two of
//! them (Vapnik and Watkins, in Schoelkopf 1997, section 2.4).

use serde::Serialize;

use super::trained::TrainedMachine;

/// The number of support vectors as a bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SupportCount {
    /// Number of support vectors.
    pub support: usize,
    /// Number of rows of the machine.
    pub rows: usize,
    /// The bound on the expected error, at most 1.
    pub rate: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// The bound of a machine's support vectors.
pub fn support_count(machine: &TrainedMachine<'_>) -> SupportCount {
    let (support, rows) = (machine.support().len(), machine.len());
    SupportCount {
        support,
        rows,
        rate: share(support, rows.saturating_sub(1)),
        assumes: "rows drawn independently; holds for the expectation over training sets, not for this one",
    }
}

/// The bound for a vote of three machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoOfThree {
    /// Number of rows that are support vectors of at least two machines.
    pub shared: usize,
    /// Number of training rows.
    pub rows: usize,
    /// The bound on the expected error of the vote, at most 1.
    pub rate: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// The bound of a vote of three machines from their support vectors, by row numbers.
///
/// ```
/// use mercer::assess::bounds::two_of_three;
/// let bound = two_of_three([&[0, 1], &[1, 2], &[2, 3]], 10);
/// assert_eq!((bound.shared, bound.rate), (2, 0.2));
/// ```
pub fn two_of_three(support: [&[u32]; 3], rows: usize) -> TwoOfThree {
    let mut all: Vec<u32> = Vec::new();
    for set in support {
        let mut set = set.to_vec();
        set.sort_unstable();
        set.dedup();
        all.append(&mut set);
    }
    all.sort_unstable();
    let shared = all.chunk_by(|a, b| a == b).filter(|run| run.len() > 1).count();
    TwoOfThree {
        shared,
        rows,
        rate: share(shared, rows),
        assumes: "three machines trained on the same rows, which were drawn independently; holds for the expectation",
    }
}

/// A share of at most 1.
fn share(part: usize, whole: usize) -> f64 {
    if part == 0 { 0.0 } else { (part as f64 / whole.max(1) as f64).min(1.0) }
}
