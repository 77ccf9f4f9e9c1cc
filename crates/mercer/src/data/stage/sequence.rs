//! Sequences as numbers: letters as unit vectors, or as scores of what they say about the class where they stand.
//!
//! A row becomes an image one pixel high, a pixel a place and a channel a letter or a class, so that image-local kernels
//! apply (Zien et al. 2000; Mueller et al. 2001, Sec. VII-A2, after Salzberg 1997). The score of letter s at place p for
//! class c is `ln P(s at p | c) - ln P(s at p)`, with one more of every letter counted than there is, so that a letter never
//! seen has a finite one.

use rayon::prelude::*;

use super::{Op, Stage};
use crate::data::points::{Data, Points, View};
use crate::data::targets::Labels;
use crate::error::{Error, Result};
use crate::exec::Exec;

/// A table of numbers for each place and letter, `channels` of them.
pub(super) struct Places<'a> {
    pub(super) d: usize,
    pub(super) letters: usize,
    pub(super) channels: usize,
    /// Empty: the letter's unit vector.
    pub(super) table: &'a [f64],
}

impl Places<'_> {
    /// Places that a sequence lacks and letters that the alphabet lacks are zeros.
    pub(super) fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let Data::Sequences { start, symbol, .. } = points.data else {
            return Err(Error::shape("points for a stage on sequences", points.kind(), "sequences"));
        };
        let width = self.d * self.channels;
        let mut out = vec![0.0_f32; points.n * width];
        let one = |(i, out): (usize, &mut [f32])| {
            let row = &symbol[start[i]..start[i + 1]];
            for (p, (&s, out)) in row.iter().zip(out.chunks_exact_mut(self.channels)).enumerate() {
                let s = usize::from(s);
                if s >= self.letters {
                    continue;
                }
                if self.table.is_empty() {
                    out[s] = 1.0;
                } else {
                    let scores = &self.table[(p * self.letters + s) * self.channels..][..self.channels];
                    out.iter_mut().zip(scores).for_each(|(out, &v)| *out = v as f32);
                }
            }
        };
        if exec.threads() == 1 {
            out.chunks_exact_mut(width).enumerate().for_each(one);
        } else {
            out.par_chunks_exact_mut(width).enumerate().for_each(one);
        }
        Points::dense_f32(out, width)
    }
}

impl Stage {
    /// Letters as unit vectors: as many channels a place as the alphabet has letters.
    ///
    /// ```
    /// use mercer::Exec;
    /// use mercer::data::{Points, Sequences, Stage};
    ///
    /// let dna = Sequences { alphabet: b"ACGT".to_vec(), start: vec![0, 2, 4], symbol: vec![0, 2, 3, 2] };
    /// let dna = Points::sequences(dna)?;
    /// let stage = Stage::one_hot(dna.view())?;
    /// let rows = stage.apply(dna.view(), Exec::one())?;
    /// assert_eq!(rows.row(0).to_f64(), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn one_hot(points: View<'_>) -> Result<Self> {
        let letters = letters(points)?;
        Stage { d: points.d, image: None, op: Op::OneHot { letters } }.checked()
    }

    /// Letters as log-odds scores: as many channels a place as there are classes.
    pub fn log_odds(points: View<'_>, labels: &Labels) -> Result<Self> {
        let (letters, d, classes) = (letters(points)?, points.d, labels.names.len());
        if labels.len() != points.n {
            return Err(Error::shape("labels of the sequences", labels.len(), points.n));
        }
        let Data::Sequences { start, symbol, .. } = points.data else { unreachable!("letters were counted") };
        // One of every letter more than there is.
        let mut count = vec![1.0; d * letters * classes];
        let mut rows = vec![letters as f64; d * classes];
        for i in 0..points.n {
            let class = labels.of_row[i] as usize;
            for (p, &s) in symbol[start[i]..start[i + 1]].iter().enumerate() {
                count[(p * letters + usize::from(s)) * classes + class] += 1.0;
                rows[p * classes + class] += 1.0;
            }
        }
        let mut table = vec![0.0; count.len()];
        for p in 0..d {
            let of_place = &rows[p * classes..(p + 1) * classes];
            let all: f64 = of_place.iter().sum();
            for s in 0..letters {
                let at = (p * letters + s) * classes;
                let any = count[at..at + classes].iter().sum::<f64>() / all;
                for (c, rows) in of_place.iter().enumerate() {
                    table[at + c] = (count[at + c] / rows / any).ln();
                }
            }
        }
        Stage { d, image: None, op: Op::LogOdds { letters, classes, table } }.checked()
    }
}

fn letters(points: View<'_>) -> Result<usize> {
    match points.data {
        Data::Sequences { alphabet, .. } if points.n > 0 && points.d > 0 => Ok(alphabet.len()),
        _ => Err(Error::shape("points to fit a stage on sequences on", points.kind(), "sequences")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sequences;

    fn dna(rows: &[&[u8]]) -> Points {
        let mut sequences = Sequences { alphabet: b"ACGT".to_vec(), start: vec![0], symbol: Vec::new() };
        for row in rows {
            sequences.symbol.extend_from_slice(row);
            sequences.start.push(sequences.symbol.len());
        }
        Points::sequences(sequences).expect("letters of the alphabet")
    }

    #[test]
    fn scores_are_log_odds() {
        let points = dna(&[&[0, 1], &[0, 2], &[3, 1]]);
        let labels = Labels::new(["yes", "yes", "no"].map(String::from));
        let stage = Stage::log_odds(points.view(), &labels).expect("sequences");
        let rows = stage.apply(points.view(), Exec::new(2)).expect("sequences");
        assert_eq!((rows.dim(), stage.output_dim()), (4, 4));
        let shape = rows.image().expect("an image one pixel high");
        assert_eq!((shape.height, shape.width, shape.channels), (1, 2, 2));
        let yes = labels.names.iter().position(|n| n == "yes").expect("a class");
        // Letter 0 at place 0: 3 of 6 in yes, 1 of 5 in no, 4 of 11 in all.
        let got = rows.row(0).to_f64()[yes];
        assert!((got - (0.5_f64 / (4.0 / 11.0)).ln()).abs() < 1e-6, "{got}");
        let short = stage.apply(dna(&[&[0]]).view(), Exec::one()).expect("a shorter one");
        assert_eq!(short.row(0).to_f64()[2..], [0.0, 0.0]);
        assert!(stage.apply(dna(&[&[0, 1, 2]]).view(), Exec::one()).is_err(), "a longer one");
        let numbers = Points::dense(vec![0.0, 1.0], 2).expect("a row");
        assert!(stage.apply(numbers.view(), Exec::one()).is_err());
        assert!(Stage::one_hot(numbers.view()).is_err());
        for stage in [stage, Stage::one_hot(points.view()).expect("sequences")] {
            assert_eq!(Stage::from_parts(stage.to_parts()).expect("its own parts"), stage);
            assert!(stage.undo(rows.view(), Exec::one()).is_err());
            assert!(!stage.describe().is_empty());
        }
    }
}
