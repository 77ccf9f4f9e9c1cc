//! Letters of sequences as scores of what they say about the class at the place where they stand.
//!
//! A row becomes an image one pixel high, a pixel per place and a channel per class (Mueller et al. 2001, Sec. VII-A2, after
//! Salzberg 1997). The score of letter s at place p for class c is `ln P(s at p | c) - ln P(s at p)`, with one more of
//! every letter counted than there is, so that a letter never seen has a finite one.

use super::prelude::*;
use crate::data::stage::Stage;
use crate::data::stage::sequence::{Places, letters};
use crate::data::targets::Labels;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct LogOdds {
    letters: usize,
    classes: usize,
    #[serde(skip)]
    table: Vec<f64>,
}

impl Stage {
    /// Letters as log-odds scores: as many channels per place as there are classes.
    pub fn log_odds(points: View<'_>, labels: &Labels) -> Result<Self> {
        let op = Op::LogOdds(LogOdds::of(points, labels)?);
        Stage { at: Frame { d: points.d, image: None }, op }.checked()
    }
}

impl LogOdds {
    fn of(points: View<'_>, labels: &Labels) -> Result<Self> {
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
        Ok(LogOdds { letters, classes, table })
    }
}

impl Line for LogOdds {
    const ENTRY: Entry = Entry {
        name: "log-odds",
        sequence: true,
        doc: "letters as scores ln P(letter at place | class) - ln P(letter at place): one channel per class",
        example: "log-odds",
        ..Entry::NUMBERS
    };

    fn read(_args: &Args) -> Result<Asked<Self>> {
        Ok(Asked::fit(|on| {
            let missing =
                || Error::shape("labels to fit stage log-odds with", "none", "a class for every sequence");
            LogOdds::of(on.points, on.labels.ok_or_else(missing)?)
        }))
    }
}

impl Kind for LogOdds {
    fn describe(&self, at: Frame) -> String {
        let LogOdds { letters, classes, .. } = self;
        format!("log-odds: {} places, {letters} letters as scores of {classes} classes", at.d)
    }

    fn apply(&self, at: Frame, points: View<'_>, exec: Exec) -> Result<Points> {
        let LogOdds { letters, classes, ref table } = *self;
        Places { d: at.d, letters, channels: classes, table }.apply(points, exec)
    }

    fn output(&self, at: Frame) -> Frame {
        Frame::of(ImageShape { height: 1, width: at.d, channels: self.classes })
    }

    fn arrays(&mut self, at: Frame) -> Vec<Array<'_>> {
        let shape = Some(vec![at.d, self.letters, self.classes]);
        vec![Array { name: "table", shape, values: &mut self.table }]
    }

    fn is_valid(&self, at: Frame) -> bool {
        let size = at.d.checked_mul(self.letters).and_then(|n| n.checked_mul(self.classes));
        self.letters > 0 && self.classes > 0 && size == Some(self.table.len())
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
