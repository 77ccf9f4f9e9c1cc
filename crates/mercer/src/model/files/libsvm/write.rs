//! A model as LIBSVM's text, in LIBSVM's own order of lines.

use std::io::Write;

use super::text::Text;
use crate::data::Row;
use crate::kernel::Kernel;

impl Text {
    /// Writes the file.
    pub(super) fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "svm_type {}", self.machine.name())?;
        match self.kernel {
            Kernel::Linear => writeln!(out, "kernel_type linear")?,
            Kernel::Poly { degree, scale, coef0 } => {
                writeln!(
                    out,
                    "kernel_type polynomial\ndegree {degree}\ngamma {}\ncoef0 {}",
                    Number(scale),
                    Number(coef0)
                )?;
            }
            Kernel::Rbf { gamma } => writeln!(out, "kernel_type rbf\ngamma {}", Number(gamma))?,
            Kernel::Sigmoid { scale, shift, .. } => {
                writeln!(out, "kernel_type sigmoid\ngamma {}\ncoef0 {}", Number(scale), Number(shift))?;
            }
            _ => writeln!(out, "kernel_type precomputed")?,
        }
        writeln!(out, "nr_class {}\ntotal_sv {}", self.classes, self.centres.len())?;
        let mut line = |key: &str, words: &mut dyn Iterator<Item = String>| {
            let words: Vec<String> = words.collect();
            if words.is_empty() && key != "rho" { Ok(()) } else { writeln!(out, "{key} {}", words.join(" ")) }
        };
        line("rho", &mut self.rho.iter().map(|&v| Number(v).to_string()))?;
        line("label", &mut self.label.iter().map(i32::to_string))?;
        line("probA", &mut self.prob_a.iter().map(|&v| Number(v).to_string()))?;
        line("probB", &mut self.prob_b.iter().map(|&v| Number(v).to_string()))?;
        line("prob_density_marks", &mut self.density.iter().map(|&v| Number(v).to_string()))?;
        line("nr_sv", &mut self.counts.iter().map(usize::to_string))?;
        writeln!(out, "SV")?;
        let width = self.classes.saturating_sub(1);
        for i in 0..self.centres.len() {
            for &c in &self.coef[i * width..(i + 1) * width] {
                write!(out, "{} ", Number(c))?;
            }
            match self.centres.row(i) {
                Row::F32(x) => {
                    pairs(out, x.iter().enumerate().map(|(j, &v)| (j, f64::from(v))))?;
                }
                Row::F64(x) => pairs(out, x.iter().copied().enumerate())?,
                Row::Sparse { column, value, .. } => {
                    pairs(out, column.iter().map(|&c| c as usize).zip(value.iter().copied()))?;
                }
                Row::Number(r) => write!(out, "0:{} ", u64::from(r) + 1)?,
                Row::Sequence(_) | Row::Cells { .. } => {}
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

fn pairs(out: &mut dyn Write, row: impl Iterator<Item = (usize, f64)>) -> std::io::Result<()> {
    row.filter(|(_, v)| *v != 0.0).try_for_each(|(j, v)| write!(out, "{}:{} ", j + 1, Number(v)))
}

/// The shortest decimal that reads back unchanged, with an exponent where that is shorter.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Number(v) = *self;
        if v == 0.0 || (1e-5..1e16).contains(&v.abs()) { write!(f, "{v}") } else { write!(f, "{v:e}") }
    }
}
