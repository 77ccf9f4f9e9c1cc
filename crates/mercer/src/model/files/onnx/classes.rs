//! From outputs of machines to classes and probabilities, by plain operators in f64.

use super::graph::{Graph, Name};
use super::proto::{Attribute, Element};
use crate::model::svc::Ties;
use crate::model::{Calibration, Machine, Sides, Sigmoid};

/// The class names as a constant to index labels from, and its element type: integers if all names are integers, else
/// strings.
pub(super) fn names(g: &mut Graph, classes: &[String]) -> (Name, Element) {
    match numbers(classes) {
        Some(numbers) => (g.ints(&numbers), Element::Int64),
        None => (g.texts(classes), Element::String),
    }
}

/// The names as integers, if they are written as such.
pub(super) fn numbers(classes: &[String]) -> Option<Vec<i64>> {
    let number = |name: &String| name.parse::<i64>().ok().filter(|v| v.to_string() == *name);
    classes.iter().map(number).collect()
}

/// For one output, the second class where it is positive.
pub(super) fn by_sign(g: &mut Graph, f: &str, names: &str) -> Name {
    let zero = g.number(0.0);
    let positive = g.op("Greater", &[f, &zero]);
    let place = g.cast(&positive, Element::Int64);
    let place = g.squeeze(&place, 1);
    g.with("Gather", &[names, &place], &[("axis", Attribute::Int(0))])
}

/// The class of the largest score, the first of equal ones.
pub(super) fn by_largest(g: &mut Graph, scores: &str, names: &str) -> Name {
    let place = g.with("ArgMax", &[scores], &[("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))]);
    g.with("Gather", &[names, &place], &[("axis", Attribute::Int(0))])
}

/// The label of a classifier from its decision values, N x k.
pub(super) fn label(g: &mut Graph, model: &Machine, f: &str, names: &str) -> Name {
    let (k, m, sides) = (model.classes().len(), model.outputs(), model.sides());
    if m == 1 && k > 1 {
        return by_sign(g, f, names);
    }
    if sides.first().is_none_or(|sides| sides.negative.is_none()) {
        return by_largest(g, f, names);
    }
    let side = |wanted: fn(&Sides) -> Option<u32>| -> Vec<f64> {
        (0..m * k).map(|at| f64::from(u8::from(wanted(&sides[at / k]) == Some((at % k) as u32)))).collect()
    };
    let (positive, negative) = (side(|s| Some(s.positive)), side(|s| s.negative));
    // Votes for the positive sides, minus those for the negative sides, plus the number that could be negative.
    let won = sign_of(g, f);
    let lost = g.affine(&won, -1.0, 1.0);
    let (for_positive, for_negative) = (g.doubles(&[m, k], &positive), g.doubles(&[m, k], &negative));
    let votes = g.op("MatMul", &[&won, &for_positive]);
    let others = g.op("MatMul", &[&lost, &for_negative]);
    let mut votes = g.op("Add", &[&votes, &others]);
    if model.ties() == Ties::Sum {
        let signed: Vec<f64> = positive.iter().zip(&negative).map(|(p, n)| p - n).collect();
        let signed = g.doubles(&[m, k], &signed);
        let sum = g.op("MatMul", &[f, &signed]);
        let size = g.op("Abs", &[&sum]);
        let size = g.affine(&size, 3.0, 3.0);
        let share = g.op("Div", &[&sum, &size]);
        votes = g.op("Add", &[&votes, &share]);
    }
    by_largest(g, &votes, names)
}

/// 1 where positive, else 0.
fn sign_of(g: &mut Graph, f: &str) -> Name {
    let zero = g.number(0.0);
    let positive = g.op("Greater", &[f, &zero]);
    g.cast(&positive, Element::Double)
}

/// Probabilities of all classes from outputs, N x machines; `None` for a model without sigmoids or softmax.
pub(super) fn probabilities(g: &mut Graph, model: &Machine, f: &str) -> Option<Name> {
    if model.calibration == Calibration::Softmax {
        return Some(g.with("Softmax", &[f], &[("axis", Attribute::Int(1))]));
    }
    let Calibration::Sigmoids(sigmoids) = &model.calibration else { return None };
    let (k, m, sides) = (model.classes().len(), model.outputs(), model.sides());
    let row = |g: &mut Graph, part: fn(&Sigmoid) -> f64| {
        g.doubles(&[1, m], &sigmoids.iter().map(part).collect::<Vec<_>>())
    };
    let (a, b) = (row(g, |s| -s.a), row(g, |s| -s.b));
    let z = g.op("Mul", &[f, &a]);
    let z = g.op("Add", &[&z, &b]);
    let p = g.op("Sigmoid", &[&z]);
    if sides[0].negative.is_none() {
        return Some(normalised(g, &p));
    }
    let (low, high) = (g.number(1e-7), g.number(1.0 - 1e-7));
    let p = g.op("Max", &[&p, &low]);
    let p = g.op("Min", &[&p, &high]);
    let q = g.affine(&p, -1.0, 1.0);
    if k == 2 {
        return Some(g.with("Concat", &[&q, &p], &[("axis", Attribute::Int(1))]));
    }
    // r[i, j] is the probability of class i when it is i or j.
    let (mut own, mut other) = (vec![0.0; m * k * k], vec![0.0; m * k * k]);
    for (at, sides) in sides.iter().enumerate() {
        let (i, j) = (sides.positive as usize, sides.negative? as usize);
        own[at * k * k + i * k + j] = 1.0;
        other[at * k * k + j * k + i] = 1.0;
    }
    let (own, other) = (g.doubles(&[m, k * k], &own), g.doubles(&[m, k * k], &other));
    let (r, s) = (g.op("MatMul", &[&p, &own]), g.op("MatMul", &[&q, &other]));
    let r = g.op("Add", &[&r, &s]);
    let shape = g.ints(&[-1, k as i64, k as i64]);
    let r = g.op("Reshape", &[&r, &shape]);
    Some(coupled(g, &r, k))
}

/// One distribution from pairwise ones: the minimum of `p' Q p` where p sums to 1, with `Q_ij = -r_ji r_ij` and `Q_ii
/// = sum_j r_ji^2` (Wu, Lin and Weng 2004, second method). On that plane `Q + ee'` has the same minimum and is
/// positive definite, so p is the normalised solution of `(Q + ee') p = e`, by Gauss-Jordan elimination with one step
/// per class.
fn coupled(g: &mut Graph, r: &str, k: usize) -> Name {
    let turned = g.with("Transpose", &[r], &[("perm", Attribute::Ints(vec![0, 2, 1]))]);
    let product = g.op("Mul", &[r, &turned]);
    let square = g.op("Mul", &[&turned, &turned]);
    let own = g.sum(&square, 2);
    let eye: Vec<f64> = (0..k * k).map(|at| f64::from(u8::from(at / k == at % k))).collect();
    let unit = g.doubles(&[1, k, k], &eye);
    let own = g.op("Mul", &[&own, &unit]);
    let q = g.op("Sub", &[&own, &product]);
    let q = g.affine(&q, 1.0, 1.0);
    // The right-hand side, a column of ones for each point, computed from a column of Q.
    let column = g.pick(&q, &[0], 2);
    let ones = g.op("Sub", &[&column, &column]);
    let ones = g.affine(&ones, 1.0, 1.0);
    let mut all = g.with("Concat", &[&q, &ones], &[("axis", Attribute::Int(2))]);
    for i in 0..k {
        let row = g.pick(&all, &[i as i64], 1);
        let pivot = g.pick(&row, &[i as i64], 2);
        let row = g.op("Div", &[&row, &pivot]);
        let column = g.pick(&all, &[i as i64], 2);
        let one = g.doubles(&[1, k, 1], &eye[i * k..(i + 1) * k]);
        let column = g.op("Sub", &[&column, &one]);
        let step = g.op("MatMul", &[&column, &row]);
        all = g.op("Sub", &[&all, &step]);
    }
    let p = g.pick(&all, &[k as i64], 2);
    let p = g.squeeze(&p, 2);
    normalised(g, &p)
}

/// Clips rows at 0 and normalises them to sum 1.
fn normalised(g: &mut Graph, p: &str) -> Name {
    let zero = g.number(0.0);
    let p = g.op("Max", &[p, &zero]);
    let sum = g.sum(&p, 1);
    g.op("Div", &[&p, &sum])
}
