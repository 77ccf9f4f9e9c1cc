//! The losses: their value, slope and curvature at the outputs of one row.
//!
//! A row's target is several numbers: the index of its class, or the desired outputs.

/// A loss of the k outputs of each row.
pub(crate) trait Loss: Sync {
    /// k.
    fn outputs(&self) -> usize;

    /// Whether one Newton step is the solution.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Whether the curvature of one output depends on directions of another.
    fn is_coupled(&self) -> bool {
        false
    }

    /// The loss at the outputs of a row, which are replaced by its slopes.
    fn slope(&self, target: &[f64], outputs: &mut [f64]) -> f64;

    /// A direction of the outputs of a row, replaced by the curvature at `at` times it.
    fn bend(&self, target: &[f64], at: &[f32], direction: &mut [f64]);

    /// Whether the curvature at the outputs of a row is exactly 0 for all outputs: such rows are skipped in passes along a
    /// direction.
    fn is_flat(&self, _target: &[f64], _at: &[f32]) -> bool {
        false
    }

    /// The curvature at the outputs of a row, as one number for all outputs.
    fn curvature(&self, target: &[f64], at: &[f64]) -> f64;

    /// The error of a row's outputs: 1 for a wrong class and 0 for the correct one, the mean squared error for
    /// numbers.
    fn error(&self, target: &[f64], outputs: &[f64]) -> f64 {
        wrong_class(target, outputs)
    }

    /// Whether the curvature depends on targets.
    fn curves_by_target(&self) -> bool {
        false
    }
}

/// 1 where the largest output, or the sign of the only one, is that of another class.
fn wrong_class(target: &[f64], outputs: &[f64]) -> f64 {
    let first = (0, f64::NEG_INFINITY);
    let class = if outputs.len() == 1 {
        usize::from(outputs[0] > 0.0)
    } else {
        outputs.iter().enumerate().fold(first, |best, (o, f)| if *f > best.1 { (o, *f) } else { best }).0
    };
    f64::from(u8::from(class != target[0] as usize))
}

/// The code of a class for an output: 1 for its own and -1 for others; a single output is that of the second class.
fn code(class: f64, output: usize, outputs: usize) -> f64 {
    let own = if outputs == 1 { 1.0 } else { output as f64 };
    if class == own { 1.0 } else { -1.0 }
}

/// `(f - y)^2 / 2`; y are numbers, or codes of classes.
pub(crate) struct Squared {
    pub(crate) outputs: usize,
    /// Whether targets are classes.
    pub(crate) classes: bool,
}

impl Loss for Squared {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn slope(&self, target: &[f64], outputs: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for (o, f) in outputs.iter_mut().enumerate() {
            *f -= if self.classes { code(target[0], o, self.outputs) } else { target[o] };
            sum += *f * *f / 2.0;
        }
        sum
    }

    fn bend(&self, _target: &[f64], _at: &[f32], _direction: &mut [f64]) {}

    fn error(&self, target: &[f64], outputs: &[f64]) -> f64 {
        if self.classes {
            return wrong_class(target, outputs);
        }
        outputs.iter().zip(target).map(|(f, y)| (f - y) * (f - y)).sum::<f64>() / outputs.len() as f64
    }

    fn curvature(&self, _target: &[f64], _at: &[f64]) -> f64 {
        1.0
    }
}

/// `log(1 + exp(-y f))`, y 1 for the second of two classes and -1 for the first.
pub(crate) struct Logistic;

/// `1 / (1 + exp(-f))`.
fn sigmoid(f: f64) -> f64 {
    // The exponential of a negative number only: no overflow on either side.
    if f >= 0.0 { 1.0 / (1.0 + (-f).exp()) } else { f.exp() / (1.0 + f.exp()) }
}

impl Loss for Logistic {
    fn outputs(&self) -> usize {
        1
    }

    fn slope(&self, target: &[f64], outputs: &mut [f64]) -> f64 {
        let y = code(target[0], 0, 1);
        let margin = y * outputs[0];
        outputs[0] = -y * sigmoid(-margin);
        // log(1 + exp(-m)) without overflow.
        (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
    }

    fn bend(&self, target: &[f64], at: &[f32], direction: &mut [f64]) {
        direction[0] *= self.curvature(target, &[f64::from(at[0])]);
    }

    fn curvature(&self, _target: &[f64], at: &[f64]) -> f64 {
        sigmoid(at[0]) * sigmoid(-at[0])
    }
}

/// `log sum_c exp(f_c) - f_y` for three classes or more.
pub(crate) struct Softmax {
    pub(crate) classes: usize,
}

/// Outputs become probabilities; returns `log sum_c exp(f_c)`.
fn softmax(f: &mut [f64]) -> f64 {
    // Relative to the largest output, so that no exponential overflows.
    let top = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for v in f.iter_mut() {
        *v = (*v - top).exp();
        sum += *v;
    }
    f.iter_mut().for_each(|v| *v /= sum);
    top + sum.ln()
}

impl Loss for Softmax {
    fn outputs(&self) -> usize {
        self.classes
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn slope(&self, target: &[f64], outputs: &mut [f64]) -> f64 {
        let own = target[0] as usize;
        let at = outputs[own];
        let log = softmax(outputs);
        outputs[own] -= 1.0;
        log - at
    }

    fn bend(&self, _target: &[f64], at: &[f32], direction: &mut [f64]) {
        // (diag(p) - p p') v.
        let (mut sum, mut mean) = (0.0, 0.0);
        let top = at.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let share = |f: f32| f64::from(f - top).exp();
        for (v, f) in direction.iter().zip(at) {
            sum += share(*f);
            mean += share(*f) * v;
        }
        mean /= sum;
        direction.iter_mut().zip(at).for_each(|(v, f)| *v = share(*f) / sum * (*v - mean));
    }

    fn curvature(&self, _target: &[f64], at: &[f64]) -> f64 {
        let top = at.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut squares) = (0.0, 0.0);
        for f in at {
            let share = (f - top).exp();
            sum += share;
            squares += share * share;
        }
        // The mean of the eigenvalues that are not 0: the sum of p (1 - p) over their number.
        (1.0 - squares / (sum * sum)) / (self.classes - 1).max(1) as f64
    }
}

/// `max(0, 1 - y f)^2 / 2` for each output, y being codes of classes.
pub(crate) struct Hinge {
    pub(crate) outputs: usize,
}

impl Loss for Hinge {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn slope(&self, target: &[f64], outputs: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for (o, f) in outputs.iter_mut().enumerate() {
            let y = code(target[0], o, self.outputs);
            let short = (1.0 - y * *f).max(0.0);
            *f = -y * short;
            sum += short * short / 2.0;
        }
        sum
    }

    fn bend(&self, target: &[f64], at: &[f32], direction: &mut [f64]) {
        for (o, (v, f)) in direction.iter_mut().zip(at).enumerate() {
            // Beyond the margin the loss is flat: the generalised Hessian is 0 there and 1 elsewhere.
            if code(target[0], o, self.outputs) * f64::from(*f) >= 1.0 {
                *v = 0.0;
            }
        }
    }

    fn is_flat(&self, target: &[f64], at: &[f32]) -> bool {
        at.iter().enumerate().all(|(o, f)| code(target[0], o, self.outputs) * f64::from(*f) >= 1.0)
    }

    fn curvature(&self, target: &[f64], at: &[f64]) -> f64 {
        let short = |(o, f): (usize, &f64)| code(target[0], o, self.outputs) * f < 1.0;
        at.iter().enumerate().filter(|p| short(*p)).count() as f64 / self.outputs as f64
    }

    fn curves_by_target(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::assert::close;

    /// Slopes and curvatures are those of finite differences.
    #[test]
    fn slopes_and_curvatures_are_derivatives() {
        let losses: [&dyn Loss; 6] = [
            &Squared { outputs: 3, classes: true },
            &Squared { outputs: 3, classes: false },
            &Logistic,
            &Softmax { classes: 3 },
            &Hinge { outputs: 3 },
            &Hinge { outputs: 1 },
        ];
        for loss in losses {
            let k = loss.outputs();
            for row in [&[0.0, 2.0, 1.0], &[1.0, 0.5, 0.0], &[2.0, -1.0, 7.0]] {
                for at in [[0.3_f32, -0.8, 1.7], [-4.0, 2.5, 0.25], [30.0, -20.0, 3.0]] {
                    let at = &at[..k];
                    let wide: Vec<f64> = at.iter().map(|f| f64::from(*f)).collect();
                    let value = |f: &[f64]| loss.slope(row, &mut f.to_vec());
                    let mut slope = wide.clone();
                    loss.slope(row, &mut slope);
                    let h = 1e-5;
                    for o in 0..k {
                        let moved = |by: f64| {
                            let mut f = wide.clone();
                            f[o] += by;
                            f
                        };
                        let (up, down) = (moved(h), moved(-h));
                        close((value(&up) - value(&down)) / (2.0 * h), slope[o], 1e-6);
                        let (mut up, mut down) = (up, down);
                        loss.slope(row, &mut up);
                        loss.slope(row, &mut down);
                        let mut unit = vec![0.0; k];
                        unit[o] = 1.0;
                        loss.bend(row, at, &mut unit);
                        for (c, bend) in unit.iter().enumerate() {
                            close((up[c] - down[c]) / (2.0 * h), *bend, 1e-5);
                        }
                    }
                    assert!((0.0..=1.0).contains(&loss.curvature(row, &wide)));
                    let mut along = vec![1.0; k];
                    loss.bend(row, at, &mut along);
                    assert!(!loss.is_flat(row, at) || along.iter().all(|v| *v == 0.0));
                }
            }
        }
    }
}
