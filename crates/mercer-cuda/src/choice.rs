//! Which device: what a person writes.

use std::fmt;
use std::str::FromStr;

/// A device as a person asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The first NVIDIA device where there is one and a call computes enough, else the CPU.
    Auto,
    /// The CPU.
    #[default]
    Cpu,
    /// The NVIDIA device of this number.
    Cuda(usize),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Choice::Auto),
            "cpu" => Ok(Choice::Cpu),
            "cuda" => Ok(Choice::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .filter(|number| number.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|number| number.parse().ok())
                .map(Choice::Cuda)
                .ok_or_else(|| "expected auto, cpu, cuda or cuda:N".to_owned()),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Auto => f.write_str("auto"),
            Choice::Cpu => f.write_str("cpu"),
            Choice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back_and_nothing_else_is_read() {
        for choice in [Choice::Auto, Choice::Cpu, Choice::Cuda(0), Choice::Cuda(17)] {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        assert_eq!("cuda".parse(), Ok(Choice::Cuda(0)));
        for wrong in
            ["", "gpu", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "CUDA", "cuda:99999999999999999999999"]
        {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong}");
        }
    }
}
