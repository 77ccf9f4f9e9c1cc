//! A kernel as a list of operations that the device runs for each value.

use mercer::kernel::Kernel;

const LINEAR: i32 = 0;
const POLY: i32 = 1;
const RBF: i32 = 2;
const SIGMOID: i32 = 3;
const POWER_LAW: i32 = 4;
const SCALE: i32 = 5;
const ADD: i32 = 6;
const MULTIPLY: i32 = 7;
const POWER: i32 = 8;
const NORMALISE: i32 = 9;

/// Maximum number of operations; the device gets them by value.
const MOST: usize = 24;
/// Maximum number of values on the stack.
const DEEPEST: usize = 12;

/// One operation. Mirrors `Op` of `kernels/1_map.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Op {
    code: i32,
    /// Of what a leaf reads the product: of both rows (0), of the first with itself (1), of the second (2).
    from: i32,
    a: f64,
    b: f64,
    c: f64,
}

/// A kernel's operations. Mirrors `Map`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Map {
    count: i32,
    pad: i32,
    op: [Op; MOST],
}

impl Map {
    /// The operations of a kernel; none where it is not a function of dot products, or too long.
    pub(crate) fn of(kernel: &Kernel) -> Option<Map> {
        let mut list = Vec::new();
        emit(kernel, 0, &mut list)?;
        let mut deep = 0_usize;
        for op in &list {
            match op.code {
                ADD | MULTIPLY => deep -= 1,
                NORMALISE => deep -= 2,
                SCALE | POWER => {}
                _ => deep += 1,
            }
            if deep > DEEPEST {
                return None;
            }
        }
        if list.len() > MOST {
            return None;
        }
        let mut map = Map { count: list.len() as i32, pad: 0, op: [Op::default(); MOST] };
        map.op[..list.len()].copy_from_slice(&list);
        Some(map)
    }

    /// Whether some part of the kernel is a function of the distance of two rows.
    pub(crate) fn sees_distances(&self) -> bool {
        self.op[..self.count as usize].iter().any(|op| op.code == RBF || op.code == POWER_LAW)
    }

    /// Whether all values lie between 0 and 1 and a row's value with itself is 1: Gaussians, their products and powers.
    pub(crate) fn is_unit(&self) -> bool {
        self.op[..self.count as usize].iter().all(|op| matches!(op.code, RBF | MULTIPLY | POWER))
    }

    /// `k(x, x)` of a row of this squared norm, as the device would compute it.
    pub(crate) fn own(&self, square: f64) -> f64 {
        let mut stack: Vec<f64> = Vec::with_capacity(DEEPEST);
        for op in &self.op[..self.count as usize] {
            let value = match op.code {
                SCALE => stack.pop().unwrap_or(0.0) * op.a,
                POWER => stack.pop().unwrap_or(0.0).powi(op.a as i32),
                ADD | MULTIPLY => {
                    let (b, a) = (stack.pop().unwrap_or(0.0), stack.pop().unwrap_or(0.0));
                    if op.code == ADD { a + b } else { a * b }
                }
                NORMALISE => {
                    let (b, a) = (stack.pop().unwrap_or(0.0), stack.pop().unwrap_or(0.0));
                    let value = stack.pop().unwrap_or(0.0);
                    if a > 0.0 && b > 0.0 { value / (a * b).sqrt() } else { 0.0 }
                }
                LINEAR => square,
                POLY => (op.a * square + op.b).powi(op.c as i32),
                RBF => 1.0,
                SIGMOID => op.a * (op.b * square + op.c).tanh(),
                _ => op.a.powf(op.b),
            };
            stack.push(value);
        }
        stack.pop().unwrap_or(f64::NAN)
    }
}

fn emit(kernel: &Kernel, from: i32, list: &mut Vec<Op>) -> Option<()> {
    if list.len() > MOST {
        return None;
    }
    let op = |code: i32, [a, b, c]: [f64; 3]| Op { code, from, a, b, c };
    let leaf = match kernel {
        Kernel::Linear => op(LINEAR, [0.0; 3]),
        Kernel::Poly { degree, scale, coef0 } => op(POLY, [*scale, *coef0, f64::from(*degree)]),
        Kernel::Rbf { gamma } => op(RBF, [*gamma, 0.0, 0.0]),
        Kernel::Sigmoid { amplitude, scale, shift } => op(SIGMOID, [*amplitude, *scale, *shift]),
        Kernel::InverseMultiquadric { c } => op(POWER_LAW, [c * c, -0.5, 0.0]),
        Kernel::Multiquadric { c } => op(POWER_LAW, [c * c, 0.5, 0.0]),
        Kernel::RadialPower { power } => op(POWER_LAW, [1.0, *power, 0.0]),
        Kernel::Scaled { factor, of } => {
            emit(of, from, list)?;
            op(SCALE, [*factor, 0.0, 0.0])
        }
        Kernel::Power { degree, of } => {
            emit(of, from, list)?;
            op(POWER, [f64::from(*degree), 0.0, 0.0])
        }
        Kernel::Normalised(of) if from == 0 => {
            (0..3).try_for_each(|from| emit(of, from, list))?;
            op(NORMALISE, [0.0; 3])
        }
        Kernel::Sum(parts) | Kernel::Product(parts) => {
            let join = if matches!(kernel, Kernel::Sum(_)) { ADD } else { MULTIPLY };
            for (p, part) in parts.iter().enumerate() {
                emit(part, from, list)?;
                if p > 0 {
                    list.push(op(join, [0.0; 3]));
                }
            }
            return (!parts.is_empty()).then_some(());
        }
        _ => return None,
    };
    list.push(leaf);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::data::Row;
    use mercer::kernel::Form;

    #[test]
    fn every_function_of_dot_products_has_a_program_and_nothing_else_has() {
        let mut taken = 0;
        for entry in Kernel::ALL {
            for line in entry.examples {
                let kernel = Kernel::parse(line).expect("an example");
                let map = Map::of(&kernel);
                assert_eq!(map.is_some(), kernel.form() == Form::Dot, "{line}");
                let Some(map) = map else { continue };
                taken += 1;
                let x = [0.3, -1.2, 0.9];
                let (own, want) = (map.own(0.09 + 1.44 + 0.81), kernel.value(Row::F64(&x), Row::F64(&x)));
                assert!((own - want).abs() <= 1e-12 * (1.0 + want.abs()), "{line}: {own}, {want}");
            }
        }
        assert!(taken >= 15, "{taken}");
    }

    #[test]
    fn gaussians_and_their_products_have_ones_on_the_diagonal_and_others_are_not_taken_for_them() {
        let unit =
            |line: &str| Map::of(&Kernel::parse(line).expect("a kernel")).expect("a program").is_unit();
        for line in ["rbf(gamma=2)", "rbf(gamma=1) * rbf(gamma=3)"] {
            assert!(unit(line), "{line}");
        }
        for line in ["linear", "0.5*rbf(gamma=1)", "rbf(gamma=1) + rbf(gamma=2)", "rbf(gamma=1) * linear"] {
            assert!(!unit(line), "{line}");
        }
    }

    #[test]
    fn what_is_too_long_is_declined() {
        let line = (0..40).map(|g| format!("rbf(gamma={})", g + 1)).collect::<Vec<_>>().join(" + ");
        assert_eq!(Map::of(&Kernel::parse(&line).expect("a sum")), None);
    }
}
