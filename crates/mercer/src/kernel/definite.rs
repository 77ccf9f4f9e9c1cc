//! Definiteness and translation invariance.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::kernel::Kernel;

use Definiteness::{Conditional, ConditionalNegative, Positive, Unknown};

/// What is known about the sign of `sum_ij a_i a_j k(x_i, x_j)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Definiteness {
    /// Never negative: a Mercer kernel.
    Positive,
    /// Never negative where `sum_i a_i = 0`: enough for machines with an offset and for centred components.
    Conditional,
    /// Never positive where `sum_i a_i = 0`: the kernel's negative is conditionally positive definite.
    ConditionalNegative,
    /// Not known, or known to be indefinite.
    Unknown,
}

impl Kernel {
    /// The kernel's definiteness, from its parameters and by closure rules: sums, products, powers and positive
    /// multiples of Mercer kernels are Mercer kernels.
    pub fn definiteness(&self) -> Definiteness {
        match self {
            Kernel::Poly { degree, coef0, .. } => match (degree, *coef0 >= 0.0) {
                (_, true) => Positive,
                (1, false) => Conditional,
                _ => Unknown,
            },
            Kernel::Multiquadric { .. } => ConditionalNegative,
            Kernel::RadialPower { power } if *power > 1.0 => Unknown,
            Kernel::RadialPower { power } if *power > 0.0 => ConditionalNegative,
            Kernel::Custom(custom) => custom.0.definiteness(),
            Kernel::RadialPower { .. } => Positive,
            _ if self.children().is_empty() => self.entry().map_or(Unknown, |entry| entry.known),
            _ => of_parts(self),
        }
    }

    /// Fails for a kernel of the wrong sign: one whose negative is conditionally positive definite. A machine that
    /// requires a conditionally positive definite kernel would learn the opposite. The message contains the correct
    /// kernel.
    ///
    /// ```
    /// use mercer::kernel::Kernel;
    /// let wrong = Kernel::parse("multiquadric(c=2)")?.check_sign().unwrap_err().to_string();
    /// assert!(wrong.contains("`-1*multiquadric(c=2)`"), "{wrong}");
    /// assert!(Kernel::parse("-1*multiquadric(c=2)")?.check_sign().is_ok());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn check_sign(&self) -> Result<()> {
        if self.definiteness() != ConditionalNegative {
            return Ok(());
        }
        let meant = match self {
            Kernel::Scaled { factor, of } if *factor == -1.0 => (**of).clone(),
            Kernel::Scaled { factor, of } => Kernel::Scaled { factor: -factor, of: of.clone() },
            other => Kernel::Scaled { factor: -1.0, of: Box::new(other.clone()) },
        };
        let why = format!("it is conditionally negative definite; use its negative, `{meant}`");
        Err(Error::Kernel { line: self.to_string(), why })
    }

    /// Whether `k(x + z, y + z) = k(x, y)` for all z. The points may then be centred before products.
    pub fn translation_invariant(&self) -> bool {
        match self {
            Kernel::Custom(custom) => custom.0.translation_invariant(),
            Kernel::Sum(_)
            | Kernel::Product(_)
            | Kernel::Scaled { .. }
            | Kernel::Power { .. }
            | Kernel::Normalised(_)
            | Kernel::Columns { .. }
            | Kernel::Subvector { .. } => self.children().iter().all(Kernel::translation_invariant),
            _ => self.entry().is_some_and(|entry| entry.translation_invariant),
        }
    }
}

/// By the closure rules for sums, products, multiples and powers.
fn of_parts(kernel: &Kernel) -> Definiteness {
    let parts: Vec<Definiteness> = kernel.children().iter().map(Kernel::definiteness).collect();
    let [first, ..] = parts[..] else { return Unknown };
    let all = |known: &[Definiteness]| parts.iter().all(|p| known.contains(p));
    match kernel {
        Kernel::Sum(_) | Kernel::Product(_) if all(&[Positive]) => Positive,
        Kernel::Sum(_) if all(&[Positive, Conditional]) => Conditional,
        Kernel::Sum(_) if all(&[ConditionalNegative]) => ConditionalNegative,
        Kernel::Scaled { factor, .. } => match first {
            known if *factor > 0.0 => known,
            Positive | Conditional => ConditionalNegative,
            ConditionalNegative => Conditional,
            Unknown => Unknown,
        },
        Kernel::Power { degree: 1, .. } | Kernel::Columns { .. } | Kernel::Subvector { degree: 1, .. } => {
            first
        }
        Kernel::Power { .. } | Kernel::Subvector { .. } | Kernel::Normalised(_) if first == Positive => {
            Positive
        }
        _ => Unknown,
    }
}
