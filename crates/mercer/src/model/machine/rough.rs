//! Decision values in reduced precision, accurate enough for predicted classes.
//!
//! Predicted classes depend only on the signs and the order of decision values. So values are computed in f32, which
//! is twice as fast, and rows whose class rounding could change are recomputed in f64: the classes are those of f64.
//! Only for Gaussian machines, whose rounding errors can be bounded by the norms of rows and the size of
//! coefficients.

use rayon::prelude::*;

use super::multiclass::{self, Sides};
use super::{Machine, Readout, Role};
use crate::data::{Data, View};
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::{Extent, Precision};
use crate::kernel::Kernel;
use crate::model::svc::Ties;
use crate::num::Real;

/// Bound of the f32 rounding of a Gaussian value and of sums of its products with coefficients. Sums over a tile have
/// some hundred terms, whose errors have both signs; this is ten times the largest error observed.
const ROUNDING: f64 = 4e-6;
/// Rounding of a squared distance, relative to the squared norms it is computed from.
const DISTANCE: f64 = 5e-7;
/// Rounding error of decision values above which too many rows would need recomputing: a machine's margin is at 1.
const LOST: f64 = 0.2;
/// With fewer kernel values the gain is not worth a second pass.
const FEW: usize = 1 << 16;
/// The same where nothing has to be computed of the centres first, in multiply-adds.
const FEW_PREPARED: usize = 1 << 17;

impl Machine {
    /// Decision values for which [`Machine::classes_of`] gives the same classes as for [`Machine::decision`]'s; None
    /// where that is not faster, or cannot be guaranteed.
    pub(in crate::model) fn decision_for_classes(
        &self,
        points: View<'_>,
        exec: Exec,
    ) -> Result<Option<Vec<f64>>> {
        let f = &self.expansion;
        let (Role::Classes(_) | Role::Novelty, Readout::Plain | Readout::Pairs(_), Kernel::Rbf { gamma }) =
            (&self.role, &self.readout, f.kernel())
        else {
            return Ok(None);
        };
        let numbers = matches!(points.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. });
        let values = points.n.saturating_mul(f.len());
        let few = values < FEW && !(f.is_prepared() && values.saturating_mul(points.d) >= FEW_PREPARED);
        if !numbers || !self.has_bounded_coef() || few {
            return Ok(None);
        }
        let k = f.outputs();
        let centres = f.centres().view();
        let extent = f.extent(|| {
            // Dense rows are shifted by the mean of the centres before products.
            let mean = mean(centres, exec);
            let mut size = vec![0.0; k];
            for line in f.coef().chunks(k.max(1)) {
                size.iter_mut().zip(line).for_each(|(s, c)| *s += c.abs());
            }
            Extent { length: longest(centres, &mean, exec), mean, size }
        });
        let length = longest(points, &extent.mean, exec).max(extent.length);
        let rounding = ROUNDING + DISTANCE * gamma * 2.0 * length;
        let close: Vec<f64> = extent.size.iter().map(|s| s * rounding).collect();
        // If rounding could change most rows, the first pass would be wasted.
        if close.iter().any(|c| *c > LOST) {
            return Ok(None);
        }
        let Ok(mut values) = self.decision_in(points, Precision::F32, exec) else {
            // Too large for f32.
            return Ok(None);
        };
        let (sides, classes) = (self.sides(), self.classes().len());
        let widest = close.iter().copied().fold(0.0, f64::max);
        // The rows whose class rounding could change.
        let undecided = |first: usize, lines: &[f64]| {
            let mut votes = vec![0.0; classes];
            let turns = |line: &[f64]| match self.readout {
                Readout::Pairs(ties) if k > 1 => {
                    multiclass::votes(line, &mut votes);
                    let equal = multiclass::gap(&votes) < 0.5;
                    if near(line, &close) {
                        // Sums of decision values would have to be compared for each way the votes could turn.
                        equal || overtaken(line, &close, &sides, &mut votes)
                    } else {
                        equal && ties == Ties::Sum && !apart(line, &close, &sides, &votes)
                    }
                }
                _ if k > 1 => multiclass::gap(line) <= 2.0 * widest,
                _ => near(line, &close),
            };
            let turned = lines.chunks(k).map(turns).enumerate().filter(|(_, turns)| *turns);
            turned.map(|(i, _)| first + i).collect::<Vec<usize>>()
        };
        let piece = multiclass::lines_a_piece(k);
        let again: Vec<usize> = if exec.threads() > 1 && points.n > piece {
            values
                .par_chunks(piece * k)
                .enumerate()
                .flat_map_iter(|(p, lines)| undecided(p * piece, lines))
                .collect()
        } else {
            undecided(0, &values)
        };
        if again.len() > points.n / 2 {
            return Ok(None);
        }
        if !again.is_empty() {
            let some = points.gather(&again);
            let exact = self.decision_in(some.view(), Precision::F64, exec)?;
            for (&i, line) in again.iter().zip(exact.chunks(k)) {
                values[i * k..(i + 1) * k].copy_from_slice(line);
            }
        }
        Ok(Some(values))
    }
}

/// Whether errors of at most `close` could change the sign of an output.
fn near(line: &[f64], close: &[f64]) -> bool {
    line.iter().zip(close).any(|(v, c)| v.abs() <= *c)
}

/// Whether another class could have as many votes as the first if errors of at most `close` change votes. With many
/// classes most uncertain votes are between two that are far behind.
fn overtaken(line: &[f64], close: &[f64], sides: &[Sides], votes: &mut [f64]) -> bool {
    let first = (1..votes.len()).fold(0, |best, c| if votes[c] > votes[best] { c } else { best });
    for ((value, close), side) in line.iter().zip(close).zip(sides) {
        if value.abs() <= *close {
            for class in [Some(side.positive), side.negative].into_iter().flatten() {
                votes[class as usize] += if class as usize == first { -1.0 } else { 1.0 };
            }
        }
    }
    votes.iter().enumerate().any(|(c, most)| c != first && *most >= votes[first])
}

/// Whether errors of at most `close` leave the order of the two largest sums of decision values among the classes with
/// most votes as it is.
fn apart(line: &[f64], close: &[f64], sides: &[Sides], votes: &[f64]) -> bool {
    let most = votes.iter().copied().fold(0.0, f64::max);
    let (mut sums, mut errors) = (vec![0.0; votes.len()], vec![0.0; votes.len()]);
    for ((value, close), side) in line.iter().zip(close).zip(sides) {
        let (winner, loser) = (side.positive as usize, side.negative.map(|c| c as usize));
        for (class, value) in [(Some(winner), *value), (loser, -value)] {
            if let Some(class) = class {
                sums[class] += value;
                errors[class] += close;
            }
        }
    }
    let first = (0..votes.len()).filter(|c| votes[*c] == most).max_by(|a, b| sums[*a].total_cmp(&sums[*b]));
    let Some(first) = first else { return false };
    let beaten = |c: usize| sums[first] - sums[c] > errors[first] + errors[c];
    (0..votes.len()).all(|c| c == first || votes[c] < most || beaten(c))
}

/// Rows that one thread processes at once: a fixed number, so that sums do not depend on the number of threads.
const PIECE: usize = 512;

/// Applies `of` to pieces of dense rows; results are in order.
fn pieces<T: Real, R: Send>(x: &[T], d: usize, exec: Exec, of: impl Fn(&[T]) -> R + Send + Sync) -> Vec<R> {
    let piece = PIECE * d.max(1);
    if exec.threads() == 1 || x.len() <= piece {
        return x.chunks(piece).map(of).collect();
    }
    x.par_chunks(piece).map(of).collect()
}

/// The mean of dense rows; empty for others.
fn mean(points: View<'_>, exec: Exec) -> Vec<f64> {
    fn dense<T: Real>(x: &[T], d: usize, exec: Exec) -> Vec<f64> {
        let sum = |rows: &[T]| {
            let mut sum = vec![0.0; d];
            rows.chunks(d.max(1)).for_each(|row| sum.iter_mut().zip(row).for_each(|(s, v)| *s += v.f64()));
            sum
        };
        let mut all = vec![0.0; d];
        for sum in pieces(x, d, exec, sum) {
            all.iter_mut().zip(sum).for_each(|(all, s)| *all += s);
        }
        all
    }
    let sum = match points.data {
        Data::F32(x) => dense(x, points.d, exec),
        Data::F64(x) => dense(x, points.d, exec),
        _ => Vec::new(),
    };
    sum.into_iter().map(|s| s / points.n.max(1) as f64).collect()
}

/// The largest squared distance of a row from `shift`, which is 0 if empty; infinite for rows that are not numbers.
fn longest(points: View<'_>, shift: &[f64], exec: Exec) -> f64 {
    fn dense<T: Real>(x: &[T], d: usize, shift: &[f64], exec: Exec) -> f64 {
        // Eight partial sums: a single one would wait for each addition.
        let square = |row: &[T]| {
            let mut sums = [0.0; 8];
            for (row, shift) in row.chunks(8).zip(shift.chunks(8)) {
                for ((sum, v), s) in sums.iter_mut().zip(row).zip(shift) {
                    *sum += (v.f64() - s).powi(2);
                }
            }
            sums.iter().sum::<f64>()
        };
        let most = |rows: &[T]| rows.chunks(d.max(1)).map(square).fold(0.0, f64::max);
        pieces(x, d, exec, most).into_iter().fold(0.0, f64::max)
    }
    let d = points.d;
    let zeros = vec![0.0; if shift.is_empty() { d } else { 0 }];
    let from = if shift.is_empty() { &zeros[..] } else { shift };
    match points.data {
        Data::F32(x) => dense(x, d, from, exec),
        Data::F64(x) => dense(x, d, from, exec),
        Data::Csr { start, value, .. } => {
            let rows =
                (0..points.n).map(|i| value[start[i]..start[i + 1]].iter().map(|v| v * v).sum::<f64>());
            // |x - s| <= |x| + |s|
            let far = shift.iter().map(|s| s * s).sum::<f64>();
            (rows.fold(0.0, f64::max).sqrt() + far.sqrt()).powi(2)
        }
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Csr, Labels, Points, Targets};
    use crate::exec::Exec;
    use crate::kernel::Kernel;
    use crate::model::svc::{Multi, Ties};
    use crate::model::{Machine, Sample, SvcParams};
    use crate::watch::silent;
    use mercer_testkit::toy;

    /// Overlapping classes, so that many rows lie near the boundary.
    fn clouds(n: usize, classes: u32, far: f64, seed: u64) -> (Points, Targets) {
        let of_row: Vec<u32> = (0..n as u32).map(|i| i % classes).collect();
        let mut x = toy::normals(n, 3, seed);
        for (row, class) in x.chunks_mut(3).zip(&of_row) {
            row[0] += 0.7 * f64::from(*class) + far;
        }
        let names = (0..classes).map(|c| c.to_string()).collect();
        (Points::dense(x, 3).expect("whole rows"), Targets::Classes(Labels { names, of_row }))
    }

    #[test]
    fn lengths_are_those_of_the_plain_sums() {
        for (n, d) in [(1, 1), (3, 8), (700, 11), (1300, 3)] {
            let x = toy::normals(n, d, 5);
            let single = Points::dense_f32(x.iter().map(|v| *v as f32).collect(), d).expect("whole rows");
            let double = Points::dense(x.clone(), d).expect("whole rows");
            let column = |j: usize| x.iter().skip(j).step_by(d).sum::<f64>() / n as f64;
            let shift: Vec<f64> = (0..d).map(column).collect();
            let square = |row: &[f64]| row.iter().zip(&shift).map(|(v, s)| (v - s).powi(2)).sum::<f64>();
            let most = x.chunks(d).map(square).fold(0.0, f64::max);
            let plain = x.chunks(d).map(|row| row.iter().map(|v| v * v).sum::<f64>()).fold(0.0, f64::max);
            for exec in [Exec::one(), Exec::one().with_threads(2)] {
                for (points, tol) in [(&double, 1e-12), (&single, 1e-5)] {
                    mercer_testkit::assert::all_close(&super::mean(points.view(), exec), &shift, tol);
                    let got = super::longest(points.view(), &shift, exec);
                    mercer_testkit::assert::close(got, most, tol * (1.0 + most));
                    let got = super::longest(points.view(), &[], exec);
                    mercer_testkit::assert::close(got, plain, tol * (1.0 + plain));
                }
            }
        }
    }

    #[test]
    fn single_rows_on_kept_centres_get_the_classes_of_f64() {
        let (n, d) = (700, 256);
        for (classes, gamma) in [(2, 2e-3), (5, 4e-3)] {
            let of_row: Vec<u32> = (0..n as u32).map(|i| i * 7 % 11 % classes).collect();
            let names = (0..classes).map(|c| c.to_string()).collect();
            let points = Points::dense(toy::normals(n, d, 3), d).expect("whole rows");
            let targets = Targets::Classes(Labels { names, of_row });
            let kernel = Some(Kernel::Rbf { gamma });
            let params = SvcParams { kernel, ..SvcParams::default() };
            let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent());
            let mut machine = machine.expect("a fit");
            let new = Points::dense(toy::normals(200, d, 4), d).expect("whole rows");
            let row = |i: usize| new.view().slice(i..i + 1);
            let rough =
                |machine: &Machine, i| machine.decision_for_classes(row(i), Exec::one()).expect("numbers");
            assert_eq!(rough(&machine, 0), None, "the centres are not kept");
            machine.expansion = machine.expansion.clone().prepared();
            let mut used = 0;
            for i in 0..200 {
                let Some(values) = rough(&machine, i) else { continue };
                used += 1;
                let exact = machine.decision(row(i), Exec::one()).expect("numbers");
                assert_ne!(values, exact, "in f32");
                assert_eq!(machine.classes_of(&values), machine.classes_of(&exact), "{classes} {i}");
            }
            assert!(used > 150, "the fast way was taken {used} times of 200");
        }
    }

    #[test]
    fn classes_are_those_of_f64() {
        let mut used = 0;
        for classes in [2, 4] {
            for multi in [Multi::OneVsOne, Multi::OneVsRest] {
                for (c, gamma, far) in
                    [(1.0, 0.5, 0.0), (1e3, 0.05, 0.0), (1e5, 2.0, 0.0), (10.0, 0.3, 300.0)]
                {
                    let (points, targets) = clouds(400, classes, far, 1);
                    let kernel = Some(Kernel::Rbf { gamma });
                    let params = SvcParams { kernel, c, multi, ties: Ties::Sum, ..SvcParams::default() };
                    let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent());
                    let machine = machine.expect("a fit");
                    let (new, _) = clouds(3000, classes, far, 2);
                    let single =
                        new.view().to_f64().expect("numbers").into_iter().map(|v| v as f32).collect();
                    let single = Points::dense_f32(single, 3).expect("whole rows");
                    let csr = Csr {
                        start: (0..=3000).map(|i| 3 * i).collect(),
                        column: (0..9000).map(|i| i % 3).collect(),
                        value: new.view().to_f64().expect("numbers"),
                    };
                    let sparse = Points::sparse(csr, 3).expect("rows in order");
                    for rows in [&new, &single, &sparse] {
                        let exact = machine.decision(rows.view(), Exec::one()).expect("rows of numbers");
                        let rough =
                            machine.decision_for_classes(rows.view(), Exec::new(2)).expect("rows of numbers");
                        let Some(rough) = rough else { continue };
                        used += 1;
                        assert_eq!(
                            machine.classes_of(&rough),
                            machine.classes_of(&exact),
                            "{classes} {multi:?} {c}"
                        );
                    }
                }
            }
        }
        assert!(used >= 18, "the fast way was taken {used} times of 48");
    }
}
