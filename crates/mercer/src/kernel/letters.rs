//! The default kernel of sequences.

use super::Kernel;
use crate::data::{Data, View};

/// Words are as long as this number of distinct words allows: 3 letters for proteins, 6 for DNA.
const WORDS: usize = 10_000;
const LONGEST: u32 = 6;
/// Letters with a frequency below this are codes for uncertain ones, such as N or X; the rarest amino acid is twice
/// as frequent.
const RARE: f64 = 0.005;
/// For aligned sequences. On windows around splice sites, promoters and planted motifs no other degree up to 8 was
/// clearly better, and a shift tolerates slightly inexact alignment.
const ALIGNED: Kernel = Kernel::WeightedDegree { degree: 4, shift: 3 };

/// The default kernel of sequences, used by learners and plans alike.
///
/// Sequences of equal length are assumed to be aligned, like windows around a signal, and compared position by
/// position. Others are compared by their word counts, with the longest words of up to 6 letters for which at most
/// 10,000 distinct words exist and which fit into the sequences. Both kernels are normalised, so that lengths do not
/// matter.
///
/// `None` where rows are not sequences.
///
/// ```
/// use mercer::data::{Points, Sequences};
/// use mercer::kernel::default_sequence_kernel;
///
/// // ACGTACGTACGTA and CATCATCATCA
/// let symbol = vec![0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0];
/// let sequences = Sequences { alphabet: b"ACGT".to_vec(), start: vec![0, 13, 24], symbol };
/// let kernel = default_sequence_kernel(Points::sequences(sequences)?.view()).expect("sequences");
/// assert_eq!(kernel.to_string(), "normalised(kmer_spectrum(k=6))");
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn default_sequence_kernel(points: View<'_>) -> Option<Kernel> {
    let Data::Sequences { start, symbol, .. } = points.data else { return None };
    Some(if aligned(start) { normalised(ALIGNED) } else { spectrum(word(start, symbol)) })
}

/// The kernels that a search on sequences tries, the default first: words of 1 letter to one more than the default,
/// and for sequences of equal length also position by position. Empty where rows are not sequences.
pub fn sequence_kernels(points: View<'_>) -> Vec<Kernel> {
    let Data::Sequences { start, symbol, .. } = points.data else { return Vec::new() };
    let longest = room(start).min(word(start, symbol) + 1).min(LONGEST);
    let mut kernels: Vec<Kernel> = default_sequence_kernel(points).into_iter().collect();
    kernels.extend((1..=longest.max(1)).map(spectrum));
    let first = kernels[0].clone();
    let mut kept = 0;
    kernels.retain(|kernel| {
        kept += 1;
        kept == 1 || *kernel != first
    });
    kernels
}

fn normalised(kernel: Kernel) -> Kernel {
    Kernel::Normalised(Box::new(kernel))
}

fn spectrum(k: u32) -> Kernel {
    normalised(Kernel::KmerSpectrum { k })
}

/// Whether all sequences have the same length, so that positions can be compared.
fn aligned(start: &[usize]) -> bool {
    let length = |w: &[usize]| w[1] - w[0];
    let first = start.windows(2).next().map_or(0, length);
    start.len() > 2 && first > 1 && start.windows(2).all(|w| length(w) == first)
}

/// Word length of the default kernel.
fn word(start: &[usize], symbol: &[u8]) -> u32 {
    let mut count = [0usize; 256];
    let (from, to) = (start.first().copied().unwrap_or(0), start.last().copied().unwrap_or(0));
    symbol[from..to].iter().for_each(|&s| count[usize::from(s)] += 1);
    let letters = count.iter().filter(|&&c| c > 0 && c as f64 >= RARE * (to - from) as f64).count();
    let most = (1..=LONGEST).rev().find(|&k| letters.pow(k) <= WORDS).unwrap_or(1);
    most.max(2).min(room(start))
}

/// The word length of which most sequences contain several words: at most half the median length, and at most the
/// length of all but a twentieth of the sequences, since a sequence without words is similar to none.
fn room(start: &[usize]) -> u32 {
    let mut lengths: Vec<usize> = start.windows(2).map(|w| w[1] - w[0]).collect();
    lengths.sort_unstable();
    let at = |share: f64| lengths.get((share * lengths.len() as f64) as usize).copied().unwrap_or(0);
    (at(0.5) / 2).min(at(0.05)).clamp(1, LONGEST as usize) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Points, Sequences};

    /// Rows of these lengths over so many letters, all of which occur equally often.
    fn points(letters: u8, lengths: &[usize]) -> Points {
        let mut start = vec![0];
        lengths.iter().for_each(|l| start.push(start[start.len() - 1] + l));
        let symbol = (0..start[lengths.len()]).map(|i| (i % usize::from(letters)) as u8).collect();
        let alphabet = (0..letters).map(|s| b'A' + s).collect();
        Points::sequences(Sequences { alphabet, start, symbol }).expect("symbols of the alphabet")
    }

    fn line(points: &Points) -> String {
        default_sequence_kernel(points.view()).expect("sequences").to_string()
    }

    #[test]
    fn words_are_as_long_as_the_letters_and_the_lengths_allow() {
        let spectrum = |k: u32| spectrum(k).to_string();
        for (letters, k) in [(4, 6), (5, 5), (10, 4), (20, 3), (21, 3), (26, 2), (57, 2)] {
            assert_eq!(line(&points(letters, &[300, 310, 320])), spectrum(k), "{letters} letters");
        }
        for (lengths, k) in [([8, 9, 10], 4), ([2, 40, 50], 2), ([1, 1, 2], 1), ([0, 0, 3], 1)] {
            assert_eq!(line(&points(4, &lengths)), spectrum(k), "{lengths:?}");
        }
    }

    #[test]
    fn uncertain_letters_do_not_shorten_the_words() {
        let mut start = vec![0, 1000, 2100];
        let mut symbol: Vec<u8> = (0..2100).map(|i| (i % 4) as u8).collect();
        symbol[7] = 4;
        let of = |symbol: &[u8], start: &[usize]| Sequences {
            alphabet: b"ACGTN".to_vec(),
            start: start.to_vec(),
            symbol: symbol.to_vec(),
        };
        let rare = Points::sequences(of(&symbol, &start)).expect("symbols");
        assert_eq!(line(&rare), "normalised(kmer_spectrum(k=6))");
        symbol[..200].fill(4);
        let often = Points::sequences(of(&symbol, &start)).expect("symbols");
        assert_eq!(line(&often), "normalised(kmer_spectrum(k=5))");
        start.truncate(2);
        let one = Points::sequences(of(&symbol[..1000], &start)).expect("symbols");
        assert_eq!(line(&one), "normalised(kmer_spectrum(k=5))", "one row is aligned with nothing");
    }

    #[test]
    fn sequences_of_one_length_are_compared_place_by_place() {
        assert_eq!(line(&points(4, &[60, 60, 60])), "normalised(weighted_degree(degree=4, shift=3))");
        assert_eq!(line(&points(4, &[60, 60, 61])), "normalised(kmer_spectrum(k=6))");
        let lines = |points: &Points| -> Vec<String> {
            sequence_kernels(points.view()).iter().map(ToString::to_string).collect()
        };
        let words = |all: std::ops::RangeInclusive<u32>| all.map(|k| spectrum(k).to_string());
        let aligned = lines(&points(4, &[60, 60, 60]));
        assert_eq!(aligned[0], line(&points(4, &[60, 60, 60])));
        assert_eq!(aligned[1..], words(1..=6).collect::<Vec<_>>());
        let protein = lines(&points(20, &[60, 70, 80]));
        assert_eq!(protein[0], spectrum(3).to_string());
        assert_eq!(protein[1..], words(1..=2).chain(words(4..=4)).collect::<Vec<_>>());
        let numbers = Points::dense(vec![1.0, 2.0], 1).expect("rows");
        assert_eq!(default_sequence_kernel(numbers.view()), None);
        assert_eq!(sequence_kernels(numbers.view()), []);
    }
}
