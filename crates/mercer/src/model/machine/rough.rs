//! Decision values that are good enough to tell classes apart.
//!
//! Who asks for classes alone needs the signs and the order of decision values, not their digits. So values are computed in
//! f32, which is twice as fast, and rows where rounding could change the class are computed again in f64: the classes are
//! those of f64. For Gaussian machines, whose rounding can be bounded from the length of rows and the size of coefficients.

use super::{Machine, Readout, Role, multiclass};
use crate::data::{Data, View};
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Precision;
use crate::kernel::Kernel;
use crate::num::Real;

/// Rounding of one Gaussian value and of sums of products with coefficients, in f32. Sums over a tile are of some hundred terms,
/// whose errors do not all have one sign; this is ten times what was seen.
const ROUNDING: f64 = 4e-6;
/// Rounding of a squared distance, relative to the squared lengths it is made of.
const DISTANCE: f64 = 5e-7;
/// Rounding of decision values from which on too many rows would need a second look: a machine's margin is at 1.
const LOST: f64 = 0.2;
/// Below so many kernel values the gain is not worth a second look.
const FEW: usize = 1 << 16;

impl Machine {
    /// Decision values of which [`Machine::classes_of`] makes the same classes as of [`Machine::decision`]'s; None where that
    /// is not faster, or cannot be told.
    pub(in crate::model) fn decision_for_classes(
        &self,
        points: View<'_>,
        exec: Exec,
    ) -> Result<Option<Vec<f64>>> {
        let f = &self.expansion;
        let (Role::Classes(_), Readout::Plain | Readout::Pairs(_), Kernel::Rbf { gamma }) =
            (&self.role, &self.readout, f.kernel())
        else {
            return Ok(None);
        };
        let numbers = matches!(points.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. });
        if !numbers || !self.has_bounded_coef() || points.n.saturating_mul(f.len()) < FEW {
            return Ok(None);
        }
        let k = f.outputs();
        let centres = f.centres().view();
        // Dense rows are shifted by the mean of the centres before they are multiplied.
        let shift = mean(centres);
        let length = longest(points, &shift).max(longest(centres, &shift));
        let mut size = vec![0.0; k];
        for line in f.coef().chunks(k.max(1)) {
            size.iter_mut().zip(line).for_each(|(s, c)| *s += c.abs());
        }
        let rounding = ROUNDING + DISTANCE * gamma * 2.0 * length;
        let close: Vec<f64> = size.iter().map(|s| s * rounding).collect();
        // Where rounding could turn most rows, the first look would be in vain.
        if close.iter().any(|c| *c > LOST) {
            return Ok(None);
        }
        let Ok(mut values) = self.decision_in(points, Precision::F32, exec) else {
            // Too large for f32.
            return Ok(None);
        };
        let (sides, mut scores) = (self.sides(), vec![0.0; self.classes().len()]);
        let mut undecided = |line: &[f64]| match self.readout {
            Readout::Pairs(_) if k > 1 => {
                multiclass::scores(line, &sides, &mut scores);
                // Less than a vote between the first two: sums of decision values decide.
                near(line, &close) || multiclass::gap(&scores) < 0.5
            }
            _ if k > 1 => multiclass::gap(line) <= 2.0 * close.iter().copied().fold(0.0, f64::max),
            _ => near(line, &close),
        };
        let again: Vec<usize> = (0..points.n).filter(|&i| undecided(&values[i * k..(i + 1) * k])).collect();
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

/// The mean of dense rows; empty for others.
fn mean(points: View<'_>) -> Vec<f64> {
    fn dense<T: Real>(x: &[T], d: usize) -> Vec<f64> {
        let mut sum = vec![0.0; d];
        x.chunks(d.max(1)).for_each(|row| sum.iter_mut().zip(row).for_each(|(s, v)| *s += v.f64()));
        sum
    }
    let sum = match points.data {
        Data::F32(x) => dense(x, points.d),
        Data::F64(x) => dense(x, points.d),
        _ => Vec::new(),
    };
    sum.into_iter().map(|s| s / points.n.max(1) as f64).collect()
}

/// The largest squared length of a row from `shift`, which is 0 where it is empty; infinite for rows that are no numbers.
fn longest(points: View<'_>, shift: &[f64]) -> f64 {
    fn dense<T: Real>(x: &[T], d: usize, shift: &[f64]) -> f64 {
        let from = |j: usize| shift.get(j).copied().unwrap_or(0.0);
        let square =
            |row: &[T]| row.iter().enumerate().map(|(j, v)| (v.f64() - from(j)).powi(2)).sum::<f64>();
        x.chunks(d.max(1)).map(square).fold(0.0, f64::max)
    }
    match points.data {
        Data::F32(x) => dense(x, points.d, shift),
        Data::F64(x) => dense(x, points.d, shift),
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
    use crate::model::{Sample, SvcParams};
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
