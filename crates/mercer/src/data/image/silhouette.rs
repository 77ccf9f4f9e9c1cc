//! Silhouettes: 1 where there is figure, 0 where there is ground (Schoelkopf 1997, Sec. 2.2 and App. A).

use super::moments::Mass;
use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// Binary images; with several channels each has its own.
#[derive(Debug)]
pub(in crate::data) struct Silhouette {
    shape: ImageShape,
    mass: Mass,
}

impl Silhouette {
    /// Figure is what is further than `level` from the background.
    pub(in crate::data) fn new(shape: ImageShape, background: f64, level: f64) -> Self {
        Silhouette { shape, mass: Mass { background, level: Some(level) } }
    }
}

impl RowMap for Silhouette {
    fn dim_out(&self) -> usize {
        self.shape.len()
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        out.iter_mut().zip(x).for_each(|(to, &v)| *to = self.mass.of(v));
    }
}
