//! Random Fourier features, `x -> sqrt(2 / m) cos(w_j . x + b_j)`: their dot products approximate the Gaussian kernel
//! `exp(-gamma |x - y|^2)` (Rahimi and Recht 2008). The frequencies w are normal with variance 2 gamma, the phases b uniform;
//! both are drawn once, by the seed, and saved with the stage. The error of a dot product falls as `1 / sqrt(m)`. Cost: n d m
//! multiply-adds and n m cosines.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::linear::Product;
use super::prelude::*;
use crate::data::noise::normal;
use crate::data::stage::Stage;
use crate::num::vector;

/// Maximum number of values of the matrix of frequencies.
const MOST: usize = 1 << 28;

/// The features; frequencies row by row, one row a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Fourier {
    outputs: usize,
    gamma: f64,
    #[serde(skip)]
    matrix: Vec<f64>,
    #[serde(skip)]
    offset: Vec<f64>,
}

impl Stage {
    /// Random Fourier features of the Gaussian kernel with this gamma from frequencies that were drawn elsewhere, row by row
    /// with `d` columns, and their phases.
    pub fn fourier(matrix: Vec<f64>, d: usize, offset: Vec<f64>, gamma: f64) -> Result<Self> {
        let outputs = offset.len();
        if d == 0 || outputs.checked_mul(d) != Some(matrix.len()) {
            let allowed = format!("{outputs} rows of {d} values");
            return Err(Error::shape("frequencies of Fourier features", matrix.len(), allowed));
        }
        let fourier = Fourier { outputs, gamma, matrix, offset };
        Stage { at: Frame { d, image: None }, op: Op::Fourier(fourier) }.checked()
    }
}

impl Line for Fourier {
    const ENTRY: Entry = Entry {
        name: "fourier",
        args: &[
            arg("gamma", "", "a number above 0", "the Gaussian kernel's gamma"),
            arg("features", "100", "a whole number from 1", "number of features"),
            arg("seed", "0", "a whole number from 0", "random seed"),
        ],
        doc: "random Fourier features: dot products approximate exp(-gamma (x - y)^2)",
        example: "fourier(0.01, features=20)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let (gamma, outputs) = (args.real("gamma")?, args.count("features")?);
        args.need("gamma", gamma > 0.0 && gamma.is_finite())?;
        args.need("features", outputs > 0)?;
        let seed = args.count("seed")? as u64;
        Ok(Asked::fit(move |on| Fourier::drawn(gamma, outputs, on.points.d, seed)))
    }
}

impl Fourier {
    fn drawn(gamma: f64, outputs: usize, d: usize, seed: u64) -> Result<Self> {
        let values = outputs.checked_mul(d).filter(|&values| values <= MOST);
        let Some(values) = values else {
            return Err(Error::param("fourier features", outputs, format!("at most {} of {d} columns", MOST / d)));
        };
        let (mut rng, deviation) = (ChaCha8Rng::seed_from_u64(seed), (2.0 * gamma).sqrt());
        let matrix = (0..values).map(|_| deviation * normal(&mut rng)).collect();
        let offset = (0..outputs).map(|_| std::f64::consts::TAU * rng.random::<f64>()).collect();
        Ok(Fourier { outputs, gamma, matrix, offset })
    }
}

impl Kind for Fourier {
    fn describe(&self, at: Frame) -> String {
        format!("fourier: {} columns to {} random features, gamma {}", at.d, self.outputs, self.gamma)
    }

    fn apply(&self, at: Frame, points: View<'_>, exec: Exec) -> Result<Points> {
        let product = Product { d: at.d, matrix: &self.matrix, offset: &self.offset };
        let angles = product.wide("fourier", points, exec)?;
        let size = (2.0 / self.outputs as f64).sqrt();
        let piece = angles.len().div_ceil(exec.threads()).max(1);
        let mut out = angles;
        out.par_chunks_mut(piece).for_each(|piece| {
            vector::cos_all(piece);
            piece.iter_mut().for_each(|v| *v *= size);
        });
        if matches!(points.data, Data::F32(_)) {
            return Points::dense_f32(out.par_iter().map(|v| *v as f32).collect(), self.outputs);
        }
        Points::dense(out, self.outputs)
    }

    fn output(&self, _at: Frame) -> Frame {
        Frame { d: self.outputs, image: None }
    }

    fn keeps_sparse(&self, _at: Frame) -> bool {
        false
    }

    fn arrays(&mut self, at: Frame) -> Vec<Array<'_>> {
        vec![
            Array { name: "matrix", shape: Some(vec![self.outputs, at.d]), values: &mut self.matrix },
            Array { name: "offset", shape: Some(vec![self.outputs]), values: &mut self.offset },
        ]
    }

    fn is_valid(&self, at: Frame) -> bool {
        self.outputs > 0
            && self.gamma > 0.0
            && self.gamma.is_finite()
            && self.outputs.checked_mul(at.d) == Some(self.matrix.len())
            && self.offset.len() == self.outputs
    }
}
