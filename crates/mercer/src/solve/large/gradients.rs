//! Conjugate gradients for the systems of Newton steps, all outputs at once.
//!
//! Outputs whose curvatures do not depend on each other are systems of their own that share their passes; coupled ones are one
//! system.

/// A point, a direction or a gradient: m x k in the preconditioner's coordinates, and k of the offset.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) x: Vec<f64>,
    pub(super) b: Vec<f64>,
}

impl Place {
    pub(super) fn zero(m: usize, k: usize) -> Self {
        Place { x: vec![0.0; m * k], b: vec![0.0; k] }
    }

    /// Inner products per output; the total inner product for each if outputs are coupled.
    pub(super) fn dot(&self, other: &Place, coupled: bool) -> Vec<f64> {
        let k = self.b.len();
        let mut out: Vec<f64> = self.b.iter().zip(&other.b).map(|(a, b)| a * b).collect();
        for (a, b) in self.x.chunks(k).zip(other.x.chunks(k)) {
            out.iter_mut().zip(a).zip(b).for_each(|((o, a), b)| *o += a * b);
        }
        if coupled {
            let sum = out.iter().sum();
            out.fill(sum);
        }
        out
    }

    /// `self += by * other`, with a factor for each output.
    pub(super) fn add(&mut self, by: &[f64], other: &Place) {
        let k = self.b.len();
        let lines = self.x.chunks_mut(k).zip(other.x.chunks(k));
        for (to, from) in lines.chain([(self.b.as_mut_slice(), other.b.as_slice())]) {
            to.iter_mut().zip(from).zip(by).for_each(|((t, f), by)| *t += by * f);
        }
    }

    /// `self = other + by * self`.
    pub(super) fn turn(&mut self, by: &[f64], other: &Place) {
        let k = self.b.len();
        let lines = self.x.chunks_mut(k).zip(other.x.chunks(k));
        for (to, from) in lines.chain([(self.b.as_mut_slice(), other.b.as_slice())]) {
            to.iter_mut().zip(from).zip(by).for_each(|((t, f), by)| *t = f + by * *t);
        }
    }

    pub(super) fn length(&self) -> f64 {
        self.dot(self, true).first().copied().unwrap_or(0.0).sqrt()
    }

    pub(super) fn is_finite(&self) -> bool {
        self.x.iter().chain(&self.b).all(|v| v.is_finite())
    }
}

/// The state of conjugate gradients for `H step = right`.
pub(super) struct Gradients {
    pub(super) step: Place,
    rest: Place,
    direction: Place,
    square: Vec<f64>,
    coupled: bool,
}

impl Gradients {
    pub(super) fn new(right: Place, coupled: bool) -> Self {
        let (k, m) = (right.b.len(), right.x.len() / right.b.len().max(1));
        let square = right.dot(&right, coupled);
        Gradients { step: Place::zero(m, k), direction: right.clone(), rest: right, square, coupled }
    }

    /// The direction of the next product.
    pub(super) fn direction(&self) -> &Place {
        &self.direction
    }

    /// Length of the residual.
    pub(super) fn left(&self) -> f64 {
        self.rest.length()
    }

    /// Continues with `H direction`; false if no output can make progress because of rounding.
    pub(super) fn advance(&mut self, product: &Place) -> bool {
        let bend = self.direction.dot(product, self.coupled);
        let by: Vec<f64> = self
            .square
            .iter()
            .zip(&bend)
            .map(|(s, b)| if *b > 0.0 && *s > 0.0 { s / b } else { 0.0 })
            .collect();
        if by.iter().all(|b| *b == 0.0) || by.iter().any(|b| !b.is_finite()) {
            return false;
        }
        self.step.add(&by, &self.direction);
        self.rest.add(&by.iter().map(|b| -b).collect::<Vec<_>>(), product);
        let square = self.rest.dot(&self.rest, self.coupled);
        let turn: Vec<f64> =
            square.iter().zip(&self.square).map(|(a, b)| if *b > 0.0 { a / b } else { 0.0 }).collect();
        self.direction.turn(&turn, &self.rest);
        self.square = square;
        true
    }
}
