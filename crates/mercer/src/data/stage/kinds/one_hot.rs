//! Letters of sequences as unit vectors.
//!
//! A row becomes an image one pixel high, a pixel per place and a channel per letter, so that image-local kernels apply
//! (Zien et al. 2000).

use super::prelude::*;
use crate::data::stage::Stage;
use crate::data::stage::sequence::{Places, letters};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct OneHot {
    letters: usize,
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
        let op = Op::OneHot(OneHot { letters: letters(points)? });
        Stage { at: Frame { d: points.d, image: None }, op }.checked()
    }
}

impl Line for OneHot {
    const ENTRY: Entry = Entry {
        name: "one-hot",
        sequence: true,
        doc: "letters as unit vectors: one channel per letter, one pixel per position of an image one pixel high",
        example: "one-hot",
        ..Entry::NUMBERS
    };

    fn read(_args: &Args) -> Result<Asked<Self>> {
        Ok(Asked::fit(|on| Ok(OneHot { letters: letters(on.points)? })))
    }
}

impl Kind for OneHot {
    fn describe(&self, at: Frame) -> String {
        format!("one-hot: {} places, {} letters as unit vectors", at.d, self.letters)
    }

    fn apply(&self, at: Frame, points: View<'_>, exec: Exec) -> Result<Points> {
        let letters = self.letters;
        Places { d: at.d, letters, channels: letters, table: &[] }.apply(points, exec)
    }

    fn output(&self, at: Frame) -> Frame {
        Frame::of(ImageShape { height: 1, width: at.d, channels: self.letters })
    }

    fn is_valid(&self, at: Frame) -> bool {
        (1..=256).contains(&self.letters) && at.d.checked_mul(self.letters).is_some()
    }
}
