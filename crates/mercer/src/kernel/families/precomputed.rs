//! A given matrix of kernel values: points are row numbers, and `gram` looks the values up.

use crate::kernel::Kernel;
use crate::kernel::table::{KernelEntry, Takes};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "precomputed",
    formula: "K[x, y]",
    doc: "A given kernel matrix; points are its row numbers.",
    definiteness: "unknown",
    examples: &["precomputed"],
    takes: Takes::RowNumbers,
    build: |_| Kernel::Precomputed,
    ..KernelEntry::EMPTY
};
