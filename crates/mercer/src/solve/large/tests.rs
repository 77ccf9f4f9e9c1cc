//! The solver on values that are at hand, cut into blocks of any height.

use super::*;
use crate::error::Error;
use crate::exec::Exec;
use crate::watch::{Stop, silent};
use mercer_testkit::assert::close_to_scale;
use mercer_testkit::{reference, toy};

/// n x m values in blocks of so many pieces.
struct Given {
    values: Vec<f64>,
    single: Option<Vec<f32>>,
    targets: Vec<f64>,
    centres: usize,
    pieces: usize,
}

impl Design for Given {
    fn rows(&self) -> usize {
        self.values.len() / self.centres
    }

    fn centres(&self) -> usize {
        self.centres
    }

    fn visit(&self, call: &mut Visit<'_>) -> Result<()> {
        let m = self.centres;
        let high = self.pieces * piece(m, if self.single.is_some() { 4 } else { 8 });
        for (b, values) in self.values.chunks(high * m).enumerate() {
            let run = b * high..b * high + values.len() / m;
            let values = match &self.single {
                Some(all) => Values::Single(&all[run.start * m..run.end * m]),
                None => Values::Double(values),
            };
            call(&Block { first: run.start, values, targets: &self.targets[run], weight: &[] })?;
        }
        Ok(())
    }
}

fn given(single: bool, classes: usize) -> (Given, Vec<f64>) {
    let (n, m, d) = (3000, 40, 3);
    let x = toy::normals(n, d, 3);
    let rbf = |a: &[f64], b: &[f64]| (-a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp();
    let values = reference::gram(&x, &x[..m * d], d, rbf);
    let own = values[..m * m].to_vec();
    let noise = toy::normals(n, 1, 8);
    let class = |(row, e): (&[f64], &f64)| {
        let at = (row[0] + 0.3 * e + 1.5).clamp(0.0, 2.9);
        (at * classes as f64 / 3.0).floor()
    };
    let targets = x.chunks(d).zip(&noise).map(class).collect();
    let short = single.then(|| values.iter().map(|v| *v as f32).collect());
    (Given { values, single: short, targets, centres: m, pieces: 1 }, own)
}

/// Rows that stand for all: the centres, or the first ones as a sketch.
fn solved_with(
    design: &Given,
    own: &[f64],
    loss: &dyn Loss,
    (keep, sketch, tol, threads): (bool, usize, f64, usize),
) -> Fitted {
    let buffer = |values: &[f64]| {
        let mut matrix = Buffer::stale(values.len());
        matrix.copy_from_slice(values);
        Own::Double(matrix)
    };
    let (m, exec) = (design.centres, Exec::new(threads));
    let local = Local::new(design, loss, design.rows() as f64, keep, exec);
    let standing = if sketch == 0 { m } else { sketch };
    let problem = LargeProblem {
        rows: &local,
        loss,
        centres: m,
        targets: &design.targets[..standing],
        weight: &[],
        lambda: 0.5,
        offset: true,
        rounding: if design.single.is_some() { f64::from(f32::EPSILON) } else { f64::EPSILON },
        judge: None,
    };
    let limits = Limits { tol, max_iter: 2000 };
    let stand = (sketch > 0).then(|| Stand { values: buffer(&design.values[..sketch * m]) });
    fit(&problem, Start::Here(buffer(own), stand), &limits, exec, &mut silent()).expect("a solution")
}

fn solved(design: &Given, own: &[f64], loss: &dyn Loss, keep: bool, tol: f64, threads: usize) -> Fitted {
    solved_with(design, own, loss, (keep, 0, tol, threads))
}

/// Outputs on the first rows.
fn outputs(design: &Given, found: &Fitted) -> Vec<f64> {
    let k = found.offset.len();
    let mut out = reference::product(&design.values[..500 * 40], &found.coef, 500, 40, k);
    out.chunks_mut(k).for_each(|line| line.iter_mut().zip(&found.offset).for_each(|(o, b)| *o += b));
    out
}

fn losses() -> Vec<(Box<dyn Loss>, usize)> {
    vec![
        (Box::new(Squared { outputs: 3, classes: true }), 3),
        (Box::new(Squared { outputs: 1, classes: false }), 3),
        (Box::new(Logistic), 2),
        (Box::new(Softmax { classes: 3 }), 3),
        (Box::new(Hinge { outputs: 3 }), 3),
    ]
}

#[test]
fn blocks_of_any_height_and_any_number_of_threads_give_the_same_answer() {
    for single in [false, true] {
        for (loss, classes) in losses() {
            let (mut design, own) = given(single, classes);
            let want = solved(&design, &own, loss.as_ref(), true, 1e-5, 1);
            for (pieces, threads) in [(1, 2), (2, 1), (3, 3), (1000, 2), (1000, 5)] {
                design.pieces = pieces;
                let got = solved(&design, &own, loss.as_ref(), true, 1e-5, threads);
                assert_eq!(got.info.iterations, want.info.iterations);
                close_to_scale(&outputs(&design, &got), &outputs(&design, &want), 1e-10);
            }
        }
    }
}

#[test]
fn outputs_that_are_not_kept_are_computed_again() {
    for (loss, classes) in losses() {
        let (design, own) = given(false, classes);
        let kept = solved(&design, &own, loss.as_ref(), true, 1e-9, 2);
        let again = solved(&design, &own, loss.as_ref(), false, 1e-9, 2);
        close_to_scale(&outputs(&design, &again), &outputs(&design, &kept), 1e-7);
    }
}

/// A sketch changes the way, not the end; a larger one shortens it.
#[test]
fn a_sketch_takes_fewer_passes_to_the_same_answer() {
    for (loss, classes) in losses() {
        let (design, own) = given(false, classes);
        let want = solved(&design, &own, loss.as_ref(), true, 1e-9, 1);
        let got = solved_with(&design, &own, loss.as_ref(), (true, 1500, 1e-9, 2));
        close_to_scale(&outputs(&design, &got), &outputs(&design, &want), 1e-7);
        assert!(
            got.info.iterations < want.info.iterations,
            "{} {}",
            got.info.iterations,
            want.info.iterations
        );
    }
}

/// Rows in several places, each with its own values, are one set of rows.
struct Places<'a>(Vec<Local<'a>>);

impl LargeRows for Places<'_> {
    fn rows(&self) -> usize {
        self.0.iter().map(LargeRows::rows).sum()
    }

    fn weight(&self) -> f64 {
        self.0.iter().map(LargeRows::weight).sum()
    }

    fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums> {
        let mut sums = LargeSums::zero(40, ask.outputs());
        for place in &self.0 {
            sums.add(&place.pass(ask)?);
        }
        Ok(sums)
    }
}

#[test]
fn sums_over_places_give_the_same_answer() {
    for (loss, classes) in losses() {
        let (design, own) = given(false, classes);
        let want = solved(&design, &own, loss.as_ref(), true, 1e-9, 1);
        let part = |rows: std::ops::Range<usize>| Given {
            values: design.values[rows.start * 40..rows.end * 40].to_vec(),
            single: None,
            targets: design.targets[rows].to_vec(),
            centres: 40,
            pieces: 1,
        };
        let parts = [part(0..700), part(700..701), part(701..3000)];
        // The second place keeps no outputs.
        let numbered = parts.iter().enumerate();
        let places = Places(
            numbered
                .map(|(i, part)| Local::new(part, loss.as_ref(), part.rows() as f64, i != 1, Exec::one()))
                .collect(),
        );
        let problem = LargeProblem {
            rows: &places,
            loss: loss.as_ref(),
            centres: 40,
            targets: &design.targets[..40],
            weight: &[],
            lambda: 0.5,
            offset: true,
            rounding: f64::EPSILON,
            judge: None,
        };
        let limits = Limits { tol: 1e-9, max_iter: 2000 };
        let mut matrix = Buffer::stale(own.len());
        matrix.copy_from_slice(&own);
        let got = fit(&problem, Start::Here(Own::Double(matrix), None), &limits, Exec::one(), &mut silent());
        let got = got.expect("a solution");
        close_to_scale(&outputs(&design, &got), &outputs(&design, &want), 1e-7);
    }
}

/// Rows whose passes are cancelled from one on.
struct Cancelling<'a>(Local<'a>, std::sync::atomic::AtomicU64, u64);

impl LargeRows for Cancelling<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn weight(&self) -> f64 {
        self.0.weight()
    }
    fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums> {
        if self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1 >= self.2 {
            return Err(Error::Cancelled);
        }
        self.0.pass(ask)
    }
}

/// A pass that is cancelled ends the fit: with the step so far where products were found, else without a function.
#[test]
fn a_cancelled_pass_keeps_the_step_so_far() {
    for (loss, classes) in losses() {
        if !loss.is_quadratic() {
            continue;
        }
        let (design, own) = given(false, classes);
        let m = design.centres;
        let stopped = |at: u64| {
            let local = Local::new(&design, loss.as_ref(), design.rows() as f64, true, Exec::one());
            let rows = Cancelling(local, 0.into(), at);
            let problem = LargeProblem {
                rows: &rows,
                loss: loss.as_ref(),
                centres: m,
                targets: &design.targets[..m],
                weight: &[],
                lambda: 0.5,
                offset: true,
                rounding: f64::EPSILON,
                judge: None,
            };
            let mut matrix = Buffer::stale(own.len());
            matrix.copy_from_slice(&own);
            let limits = Limits { tol: 1e-9, max_iter: 2000 };
            fit(&problem, Start::Here(Own::Double(matrix), None), &limits, Exec::one(), &mut silent())
        };
        // Two passes at functions, then one per product.
        for at in 1..=3 {
            assert!(matches!(stopped(at), Err(Error::Cancelled)), "{at}");
        }
        let far = |at: u64| {
            let found = stopped(at).expect("a step so far");
            assert_eq!(found.info.stop, Stop::Cancelled);
            let whole = solved(&design, &own, loss.as_ref(), true, 1e-9, 1);
            let (a, b) = (outputs(&design, &found), outputs(&design, &whole));
            a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
        };
        assert!(far(12) < 0.1 * far(4), "{} {}", far(12), far(4));
    }
}
