//! Prints a kernel as one line.

use std::fmt;

use crate::kernel::Kernel;
use crate::kernel::families;
use crate::kernel::table::Value;
use crate::param::Allowed;

/// The shortest decimal that reads back unchanged.
struct Decimal(f64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `{:?}` is short for tiny and huge numbers, `{}` drops the `.0` of whole ones.
        if self.0 == self.0.trunc() && self.0.abs() < 1e15 {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

pub(in crate::kernel) fn show(value: &Value) -> String {
    match value {
        Value::Real(v) => Decimal(*v).to_string(),
        Value::Whole(v) => v.to_string(),
        Value::List(list) => {
            let list: Vec<String> = list.iter().map(|&v| Decimal(v).to_string()).collect();
            format!("[{}]", list.join(", "))
        }
        Value::Kernel(kernel) => kernel.to_string(),
        Value::Kernels(kernels) => kernels.iter().map(Kernel::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// A kernel, in brackets unless it is an atom.
struct Atom<'a>(&'a Kernel);

impl fmt::Display for Atom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = match self.0 {
            Kernel::Sum(k) | Kernel::Product(k) => k.len() > 1,
            Kernel::Scaled { .. } | Kernel::Power { .. } => true,
            _ => false,
        };
        if operator { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Sum(kernels) if kernels.len() > 1 => {
                for (i, kernel) in kernels.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { " + " })?;
                    // A nested sum keeps its brackets, so that it reads back nested.
                    if matches!(kernel, Kernel::Sum(_)) {
                        write!(f, "{}", Atom(kernel))?;
                    } else {
                        write!(f, "{kernel}")?;
                    }
                }
                Ok(())
            }
            Kernel::Product(kernels) if kernels.len() > 1 => {
                for (i, kernel) in kernels.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { " * " })?;
                    if matches!(kernel, Kernel::Power { .. }) {
                        write!(f, "{kernel}")?;
                    } else {
                        write!(f, "{}", Atom(kernel))?;
                    }
                }
                Ok(())
            }
            Kernel::Scaled { factor, of } => match &**of {
                inner @ Kernel::Sum(_) => write!(f, "{}*{}", Decimal(*factor), Atom(inner)),
                inner => write!(f, "{}*{inner}", Decimal(*factor)),
            },
            Kernel::Power { degree, of } => match &**of {
                inner @ Kernel::Power { .. } => write!(f, "{inner}^{degree}"),
                inner => write!(f, "{}^{degree}", Atom(inner)),
            },
            Kernel::Custom(custom) => write!(f, "custom({})", custom.0.name()),
            _ => call(self, f),
        }
    }
}

/// `name(parameter=value, ...)`, without parameters at their defaults.
fn call(kernel: &Kernel, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((entry, values)) = families::describe(kernel) else { return Ok(()) };
    let shown: Vec<String> = entry
        .params
        .iter()
        .zip(&values)
        .filter(|(param, value)| {
            param.default.is_none_or(|text| super::default_value(param.allowed, text) != **value)
        })
        .map(|(param, value)| match param.allowed {
            Allowed::Kernel | Allowed::Kernels => show(value),
            _ => format!("{}={}", param.name, show(value)),
        })
        .collect();
    if shown.is_empty() { f.write_str(entry.name) } else { write!(f, "{}({})", entry.name, shown.join(", ")) }
}
