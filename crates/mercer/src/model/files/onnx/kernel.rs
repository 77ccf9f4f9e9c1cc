//! Blocks of kernel values by plain operators, in f64.

use super::graph::{Graph, Name};
use super::proto::Attribute;
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// Rows of numbers on which a kernel is evaluated: new points by name, and their partners.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// New points, N x d.
    pub(super) x: Name,
    /// The known centres, m x d row by row; `None`: each point is paired with itself, and m is 1.
    pub(super) centres: Option<Vec<f64>>,
    /// d.
    pub(super) d: usize,
}

impl Pair {
    /// `x.y`, N x m.
    fn dot(&self, g: &mut Graph) -> Name {
        let Some(centres) = &self.centres else {
            let square = g.op("Mul", &[&self.x, &self.x]);
            return g.sum(&square, 1);
        };
        let (m, d) = (centres.len() / self.d, self.d);
        let turned: Vec<f64> = (0..d * m).map(|at| centres[at % m * d + at / m]).collect();
        let turned = g.doubles(&[d, m], &turned);
        g.op("MatMul", &[&self.x, &turned])
    }

    /// `|x - y|^2`, N x m, never negative.
    fn distance2(&self, g: &mut Graph) -> Name {
        let Some(centres) = &self.centres else {
            let sum = g.sum(&self.x, 1);
            return g.op("Sub", &[&sum, &sum]);
        };
        let squares: Vec<f64> = centres.chunks(self.d).map(|c| c.iter().map(|v| v * v).sum()).collect();
        let dot = self.dot(g);
        let own = g.op("Mul", &[&self.x, &self.x]);
        let own = g.sum(&own, 1);
        let twice = g.affine(&dot, -2.0, 0.0);
        let squares = g.doubles(&[1, squares.len()], &squares);
        let sum = g.op("Add", &[&own, &squares]);
        let sum = g.op("Add", &[&sum, &twice]);
        let zero = g.number(0.0);
        g.op("Max", &[&sum, &zero])
    }

    /// New points as N x 1 x d, and their partners as 1 x m x d or N x 1 x d.
    fn coordinates(&self, g: &mut Graph) -> (Name, Name) {
        let axes = g.ints(&[1]);
        let x = g.op("Unsqueeze", &[&self.x, &axes]);
        let y = match &self.centres {
            Some(centres) => g.doubles(&[1, centres.len() / self.d, self.d], centres),
            None => x.clone(),
        };
        (x, y)
    }

    /// Sums terms over coordinates: from N x m x d to N x m.
    fn over_coordinates(g: &mut Graph, terms: &str) -> Name {
        let sum = g.sum(terms, 2);
        g.squeeze(&sum, 2)
    }

    /// The same with every column multiplied by a factor.
    fn weighted(&self, g: &mut Graph, factors: &[f64]) -> Pair {
        let by = g.doubles(&[1, self.d], factors);
        let times = |c: &Vec<f64>| c.iter().enumerate().map(|(at, v)| v * factors[at % self.d]).collect();
        Pair { x: g.op("Mul", &[&self.x, &by]), centres: self.centres.as_ref().map(times), d: self.d }
    }

    /// Some of the columns alone.
    fn columns(&self, g: &mut Graph, from: usize, to: usize) -> Pair {
        let places: Vec<i64> = (from..to).map(|c| c as i64).collect();
        let part = |c: &Vec<f64>| c.chunks(self.d).flat_map(|c| &c[from..to]).copied().collect();
        Pair { x: g.pick(&self.x, &places, 1), centres: self.centres.as_ref().map(part), d: to - from }
    }

    /// The same points, each paired with itself.
    fn own(&self) -> Pair {
        Pair { x: self.x.clone(), centres: None, d: self.d }
    }
}

/// Kernel values of new points against all centres, N x m.
pub(super) fn block(g: &mut Graph, kernel: &Kernel, pair: &Pair) -> Result<Name> {
    Ok(match kernel {
        Kernel::Linear => pair.dot(g),
        Kernel::Poly { degree, scale, coef0 } => {
            let dot = pair.dot(g);
            let base = g.affine(&dot, *scale, *coef0);
            g.power(&base, f64::from(*degree))
        }
        Kernel::Sigmoid { amplitude, scale, shift } => {
            let dot = pair.dot(g);
            let at = g.affine(&dot, *scale, *shift);
            let tanh = g.op("Tanh", &[&at]);
            g.affine(&tanh, *amplitude, 0.0)
        }
        Kernel::Rbf { gamma } => {
            let d2 = pair.distance2(g);
            let at = g.affine(&d2, -gamma, 0.0);
            g.op("Exp", &[&at])
        }
        Kernel::Ard { gammas } => {
            let roots: Vec<f64> = gammas.iter().map(|v| v.sqrt()).collect();
            let pair = pair.weighted(g, &roots);
            block(g, &Kernel::Rbf { gamma: 1.0 }, &pair)?
        }
        Kernel::InverseMultiquadric { c } => shifted_power(g, pair, c * c, -0.5),
        Kernel::Multiquadric { c } => shifted_power(g, pair, c * c, 0.5),
        Kernel::RadialPower { power } => shifted_power(g, pair, 1.0, *power),
        Kernel::Laplacian { gamma } => {
            let (x, y) = pair.coordinates(g);
            let off = g.op("Sub", &[&x, &y]);
            let off = g.op("Abs", &[&off]);
            let sum = Pair::over_coordinates(g, &off);
            let at = g.affine(&sum, -gamma, 0.0);
            g.op("Exp", &[&at])
        }
        Kernel::ChiSquared { gamma } => {
            let (x, y) = pair.coordinates(g);
            let off = g.op("Sub", &[&x, &y]);
            let square = g.op("Mul", &[&off, &off]);
            let sum = over_sum(g, &square, &x, &y);
            let at = g.affine(&sum, -gamma, 0.0);
            g.op("Exp", &[&at])
        }
        Kernel::AdditiveChiSquared => {
            let (x, y) = pair.coordinates(g);
            let product = g.op("Mul", &[&x, &y]);
            let twice = g.affine(&product, 2.0, 0.0);
            over_sum(g, &twice, &x, &y)
        }
        Kernel::Columns { from, to, of } => {
            let pair = pair.columns(g, *from as usize, *to as usize);
            block(g, of, &pair)?
        }
        Kernel::Sum(kernels) | Kernel::Product(kernels) => {
            let join = if matches!(kernel, Kernel::Sum(_)) { "Add" } else { "Mul" };
            let parts = kernels.iter().map(|k| block(g, k, pair)).collect::<Result<Vec<_>>>()?;
            let mut parts = parts.into_iter();
            let first = parts.next().ok_or_else(|| impossible(kernel))?;
            parts.fold(first, |all, next| g.op(join, &[&all, &next]))
        }
        Kernel::Scaled { factor, of } => {
            let value = block(g, of, pair)?;
            g.affine(&value, *factor, 0.0)
        }
        Kernel::Power { degree, of } => {
            let value = block(g, of, pair)?;
            g.power(&value, f64::from(*degree))
        }
        Kernel::Normalised(of) => {
            let value = block(g, of, pair)?;
            let own = block(g, of, &pair.own())?;
            let own = one_over_root(g, &own);
            let other = match &pair.centres {
                None => own.clone(),
                Some(centres) => {
                    let own = centres.chunks(pair.d).map(crate::data::Row::F64).map(|c| of.value(c, c));
                    let unit: Vec<f64> = own.map(|v| if v > 0.0 { 1.0 / v.sqrt() } else { 0.0 }).collect();
                    g.doubles(&[1, unit.len()], &unit)
                }
            };
            let half = g.op("Mul", &[&value, &own]);
            g.op("Mul", &[&half, &other])
        }
        _ => return Err(impossible(kernel)),
    })
}

/// `(|x - y|^2 + add)^power`.
fn shifted_power(g: &mut Graph, pair: &Pair, add: f64, power: f64) -> Name {
    let d2 = pair.distance2(g);
    let base = g.affine(&d2, 1.0, add);
    g.power(&base, power)
}

/// `sum_i terms_i / (x_i + y_i)`; terms with a non-positive divisor are 0.
fn over_sum(g: &mut Graph, terms: &str, x: &str, y: &str) -> Name {
    let sum = g.op("Add", &[x, y]);
    let (zero, one) = (g.number(0.0), g.number(1.0));
    let positive = g.op("Greater", &[&sum, &zero]);
    let divisor = g.op("Where", &[&positive, &sum, &one]);
    let share = g.op("Div", &[terms, &divisor]);
    let share = g.op("Where", &[&positive, &share, &zero]);
    Pair::over_coordinates(g, &share)
}

/// `1 / sqrt(v)`; 0 where v is not positive.
fn one_over_root(g: &mut Graph, v: &str) -> Name {
    let (zero, one) = (g.number(0.0), g.number(1.0));
    let positive = g.op("Greater", &[v, &zero]);
    let safe = g.op("Where", &[&positive, v, &one]);
    let root = g.op("Sqrt", &[&safe]);
    let over = g.op("Div", &[&one, &root]);
    g.op("Where", &[&positive, &over, &zero])
}

fn impossible(kernel: &Kernel) -> Error {
    let can = "linear, poly, rbf, sigmoid, laplacian, ard, chi-squared, multiquadric and their algebra";
    Error::Unsupported(format!("the kernel {kernel} cannot be exported to ONNX; supported are {can}"))
}

/// For a kernel of ONNX's support vector operators: its name there, `gamma, coef0, degree`, and the factor for the
/// coefficients.
pub(super) fn standard(kernel: &Kernel) -> Option<(&'static str, [f32; 3], f64)> {
    Some(match kernel {
        Kernel::Linear => ("LINEAR", [0.0; 3], 1.0),
        Kernel::Poly { degree, scale, coef0 } => {
            ("POLY", [*scale as f32, *coef0 as f32, *degree as f32], 1.0)
        }
        Kernel::Rbf { gamma } => ("RBF", [*gamma as f32, 0.0, 0.0], 1.0),
        Kernel::Sigmoid { amplitude, scale, shift } => {
            ("SIGMOID", [*scale as f32, *shift as f32, 0.0], *amplitude)
        }
        Kernel::Scaled { factor, of } => {
            let (name, params, inner) = standard(of)?;
            (name, params, factor * inner)
        }
        _ => return None,
    })
}

/// The attributes that describe the kernel to those operators.
pub(super) fn attributes(name: &'static str, params: [f32; 3]) -> [(&'static str, Attribute); 2] {
    [("kernel_type", Attribute::Text(name)), ("kernel_params", Attribute::Floats(params.to_vec()))]
}
