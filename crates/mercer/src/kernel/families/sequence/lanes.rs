//! Sequences interleaved for vector code, grouped by length.

use mercer_num::Real;

/// No symbol.
const NONE: f64 = -1.0;

/// Sequences of one length, as many as there are vector lanes; unused lanes match nothing.
pub(super) struct Panel<T> {
    /// Which sequences.
    pub(super) rows: Vec<usize>,
    /// Their length.
    pub(super) len: usize,
    /// Their symbols, position by position.
    pub(super) symbols: Vec<T>,
}

/// All sequences in panels.
pub(super) fn panels<T: Real>(rows: &[&[u8]]) -> Vec<Panel<T>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&i| rows[i].len());
    let same_length = order.chunk_by(|&i, &j| rows[i].len() == rows[j].len());
    same_length
        .flat_map(|group| group.chunks(T::LANES))
        .map(|group| {
            let len = rows[group[0]].len();
            let mut symbols = vec![T::of(NONE); len * T::LANES];
            for (l, &i) in group.iter().enumerate() {
                rows[i]
                    .iter()
                    .enumerate()
                    .for_each(|(p, &s)| symbols[p * T::LANES + l] = T::of(f64::from(s)));
            }
            Panel { rows: group.to_vec(), len, symbols }
        })
        .collect()
}

/// Symbols as floats.
pub(super) fn floats<T: Real>(row: &[u8]) -> Vec<T> {
    row.iter().map(|&s| T::of(f64::from(s))).collect()
}
