//! Word counts of sequences: the spectrum kernel and the mismatch kernel.
//!
//! `k(x, y) = sum_u count(u in x) count(u in y)` over all words u of k letters (Leslie, Eskin and Noble 2002); with
//! mismatches a word counts for every word that differs from it in at most m letters (Leslie et al. 2004). Values
//! grow with the square of the length; `normalised(...)` removes this.
//!
//! Cost: a word has `sum_i C(k, i) (letters - 1)^i` neighbours. If a word has many more than sequences have letters, words
//! are compared in pairs: two that differ in h letters share a number of neighbours that depends on h alone. Otherwise a
//! block lists every sequence's words once; if few are distinct, the lists become dense rows and the block is a matrix
//! product, else sorted lists are merged.

use mercer_num::Real;

use super::Compare;
use crate::data::View;
use crate::error::{Error, Result};
use crate::exec::room;
use crate::kernel::Kernel;
use crate::kernel::definite::Definiteness;
use crate::kernel::table::{KernelEntry, Takes};
use crate::param::{Allowed, Param};

/// Words are encoded as integers below this; longer ones are compared as bytes.
const CODES: u128 = 1 << 63;
/// Maximum number of neighbours of a word.
const NEIGHBOURS: f64 = 1e6;
/// Number of neighbours of a word, as a multiple of the sequences' length, from which words are compared in pairs.
const PAIRED: f64 = 4.0;
/// Number of distinct words in a block up to which rows are dense.
const DENSE: usize = 2048;

const K: Param = Param::new("k", Allowed::Count(1, 1000), Some("3"), "letters per word");

pub(in crate::kernel) const SPECTRUM: KernelEntry = KernelEntry {
    name: "kmer_spectrum",
    aliases: &["kmers"],
    formula: "sum_u count(u in x) count(u in y), u all words of k letters",
    doc: "Sequences: words of k letters that both contain, at any position.",
    params: &[K],
    definiteness: "positive",
    known: Definiteness::Positive,
    takes: Takes::Sequences,
    examples: &["kmer_spectrum(k=2)", "kmer_spectrum"],
    build: |v| Kernel::KmerSpectrum { k: v[0].whole() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const MISMATCH: KernelEntry = KernelEntry {
    name: "mismatch",
    formula: "kmer_spectrum where a word also counts for all words within m mismatches",
    doc: "Sequences: words of k letters that both contain with up to m mismatches, at any position.",
    params: &[
        K,
        Param::new("m", Allowed::Count(0, 10), Some("1"), "maximum number of mismatches, below k"),
        Param::new(
            "letters",
            Allowed::Count(2, 256),
            Some("4"),
            "letters of the alphabet: 4 for DNA, 20 for proteins",
        ),
    ],
    definiteness: "positive",
    known: Definiteness::Positive,
    takes: Takes::Sequences,
    examples: &["mismatch(k=3)", "mismatch(k=4, m=2, letters=5)"],
    build: |v| Kernel::Mismatch { k: v[0].whole(), m: v[1].whole(), letters: v[2].whole() },
    ..KernelEntry::EMPTY
};

pub(super) struct Kmers {
    pub(super) k: u32,
    pub(super) m: u32,
    pub(super) letters: u32,
}

pub(super) fn check(k: u32, m: u32, letters: u32) -> Result<()> {
    if m >= k {
        return Err(Error::param("mismatch m", m, format!("below k = {k}")));
    }
    if neighbours(k, m, letters) > NEIGHBOURS
        || u128::from(letters).checked_pow(k).is_none_or(|codes| codes > CODES)
    {
        let allowed = "small enough that a word has at most a million neighbours and is a number of 63 bits";
        return Err(Error::param("mismatch k, m and letters", format!("{k}, {m} and {letters}"), allowed));
    }
    Ok(())
}

/// Number of words within m letters per word, including itself.
fn neighbours(k: u32, m: u32, letters: u32) -> f64 {
    (0..=m).map(|i| choose(k, i) * f64::from(letters - 1).powi(i as i32)).sum()
}

/// Whether words of sequences up to this length are compared in pairs.
fn by_pairs(k: u32, m: u32, letters: u32, longest: usize) -> bool {
    m > 0 && neighbours(k, m, letters) > PAIRED * longest as f64
}

/// Checks that the words of a block of sequences and all their neighbours fit in memory.
pub(super) fn check_room(k: u32, m: u32, letters: u32, points: View<'_>, memory: u64) -> Result<()> {
    /// Number of sequences whose words are listed at once.
    const LISTED: usize = 64;
    if by_pairs(k, m, letters, points.d) {
        return Ok(());
    }
    let words = (points.d as f64 - f64::from(k) + 1.0).max(0.0);
    // Each distinct word once, with its count.
    let all = words * neighbours(k, m, letters);
    let different = all.min(f64::from(letters).powi(k as i32));
    let bytes = 16.0 * different * points.n.min(LISTED) as f64 + 8.0 * all;
    let what = format!("the words within {m} letters of those of {} sequences", points.n.min(LISTED));
    room(&what, bytes as u128, points.bytes() as u128, memory)
}

fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

impl Kmers {
    /// Number of words within m letters of both of two words that differ in h letters.
    fn shared(&self, h: u32) -> f64 {
        let (k, m, others) = (self.k, self.m, f64::from(self.letters));
        let mut sum = 0.0;
        // Of the h differing letters a are as in the first word, b as in the second, the others as in neither; i
        // letters are changed where the words agree.
        for (a, b) in (0..=h).flat_map(|a| (0..=h - a).map(move |b| (a, b))) {
            let neither = h - a - b;
            let ways = choose(h, a) * choose(h - a, b) * (others - 2.0).powi(neither as i32);
            for i in 0..=k - h {
                if i + h - a <= m && i + h - b <= m {
                    sum += ways * choose(k - h, i) * (others - 1.0).powi(i as i32);
                }
            }
        }
        sum
    }

    /// For each number of letters in which two words may differ, the number of neighbours they share.
    fn worth(&self) -> Vec<f64> {
        (0..=(2 * self.m).min(self.k)).map(|h| self.shared(h)).collect()
    }

    /// The kernel's value by its definition: over all pairs of words.
    fn paired(&self, worth: &[f64], x: &[u8], y: &[u8]) -> f64 {
        let k = self.k as usize;
        let differ = |u: &[u8], v: &[u8]| u.iter().zip(v).filter(|(a, b)| a != b).count();
        let pair = |u: &[u8], v: &[u8]| worth.get(differ(u, v)).copied().unwrap_or(0.0);
        x.windows(k).map(|u| y.windows(k).map(|v| pair(u, v)).sum::<f64>()).sum()
    }

    /// The words of a sequence and their neighbours as integers, sorted and distinct, with counts.
    fn counts(&self, x: &[u8]) -> Vec<(u64, f64)> {
        let base = u64::from(self.letters);
        let mut codes = Vec::new();
        for word in x.windows(self.k as usize) {
            let code = word.iter().fold(0, |code, &s| code * base + u64::from(s));
            self.neighbours(word, code, 0, self.m, &mut codes);
        }
        codes.sort_unstable();
        codes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64)).collect()
    }

    /// Appends the word and all words that differ from it in at most `m` letters from position `from` on.
    fn neighbours(&self, word: &[u8], code: u64, from: usize, m: u32, codes: &mut Vec<u64>) {
        codes.push(code);
        if m == 0 {
            return;
        }
        for p in from..word.len() {
            let place = u64::from(self.letters).pow((word.len() - 1 - p) as u32);
            let without = code - u64::from(word[p]) * place;
            for letter in (0..u64::from(self.letters)).filter(|&l| l != u64::from(word[p])) {
                self.neighbours(word, without + letter * place, p + 1, m - 1, codes);
            }
        }
    }

    /// Words too long for an integer, compared as bytes; without mismatches only.
    fn words<'a>(&self, x: &'a [u8]) -> Vec<(&'a [u8], f64)> {
        let mut words: Vec<&[u8]> = x.windows(self.k as usize).collect();
        words.sort_unstable();
        words.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64)).collect()
    }
}

impl Compare for Kmers {
    fn value(&self, x: &[u8], y: &[u8]) -> f64 {
        self.paired(&self.worth(), x, y)
    }

    fn block<T: Real>(&self, a: &[&[u8]], b: &[&[u8]], out: &mut [T]) {
        let longest = a.iter().chain(b).map(|x| x.len()).max().unwrap_or(0);
        if by_pairs(self.k, self.m, self.letters, longest) {
            let worth = self.worth();
            for (x, out) in a.iter().zip(out.chunks_mut(b.len().max(1))) {
                b.iter().zip(out).for_each(|(y, out)| *out = T::of(self.paired(&worth, x, y)));
            }
        } else if u128::from(self.letters).checked_pow(self.k).is_some_and(|codes| codes <= CODES) {
            let counts = |rows: &[&[u8]]| rows.iter().map(|x| self.counts(x)).collect::<Vec<_>>();
            meet(&counts(a), &counts(b), out);
        } else {
            let words = |rows: &[&'_ [u8]]| -> Vec<Vec<(Vec<u8>, f64)>> {
                let own = |(word, count): (&[u8], f64)| (word.to_vec(), count);
                rows.iter().map(|x| self.words(x).into_iter().map(own).collect()).collect()
            };
            meet(&words(a), &words(b), out);
        }
    }
}

/// `out[i * m + j]`: the sum over common words of the products of their counts.
fn meet<W: Ord + Clone, T: Real>(a: &[Vec<(W, f64)>], b: &[Vec<(W, f64)>], out: &mut [T]) {
    let mut known: Vec<W> = b.iter().flatten().map(|(word, _)| word.clone()).collect();
    known.sort_unstable();
    known.dedup();
    let (m, d) = (b.len(), known.len());
    // A list and the known words are both sorted, so they are merged.
    let places = |list: &[(W, f64)]| -> Vec<(usize, f64)> {
        let mut at = 0;
        let place = |(word, count): &(W, f64)| {
            at += known[at..].partition_point(|k| k < word);
            known.get(at).filter(|k| *k == word).map(|_| (at, *count))
        };
        list.iter().filter_map(place).collect()
    };
    if d == 0 {
        out.fill(T::ZERO);
        return;
    }
    if d <= DENSE {
        let dense = |list: &[(W, f64)]| {
            let mut row = vec![T::ZERO; d];
            places(list).into_iter().for_each(|(at, count)| row[at] = T::of(count));
            row
        };
        let right: Vec<T> = b.iter().flat_map(|list| dense(list)).collect();
        for (list, out) in a.iter().zip(out.chunks_mut(m)) {
            T::dots(&dense(list), &right, out);
        }
        return;
    }
    let mut holders: Vec<Vec<(usize, T)>> = vec![Vec::new(); d];
    for (j, list) in b.iter().enumerate() {
        places(list).into_iter().for_each(|(at, count)| holders[at].push((j, T::of(count))));
    }
    for (list, out) in a.iter().zip(out.chunks_mut(m)) {
        out.fill(T::ZERO);
        for (at, count) in places(list) {
            holders[at].iter().for_each(|&(j, other)| out[j] += T::of(count) * other);
        }
    }
}
