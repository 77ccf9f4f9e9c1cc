//! What kernels there are, and how each is written.

use serde::Serialize;

use crate::{Align, Page, Report, Table, Tone};
use mercer::error::{Error, Result};
use mercer::kernel::{Definiteness, Kernel, KernelEntry};

/// Every kernel and every operation on kernels.
#[derive(Debug, Clone, Serialize)]
pub struct KernelList {
    /// Kernels, then operations.
    pub kernels: Vec<KernelFacts>,
}

/// One kernel of the table.
#[derive(Debug, Clone, Serialize)]
pub struct KernelFacts {
    /// The name its line starts with.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// The formula.
    pub formula: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What is known about definiteness, in words.
    pub definiteness: &'static str,
    /// Whether it is an operation on kernels.
    pub algebra: bool,
    /// Its parameters.
    pub parameters: Vec<ParameterFacts>,
    /// Lines that show it.
    pub examples: &'static [&'static str],
}

/// One parameter of a kernel.
#[derive(Debug, Clone, Serialize)]
pub struct ParameterFacts {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub range: String,
    /// What it is if it is not given.
    pub default: Option<&'static str>,
    /// One phrase.
    pub doc: &'static str,
}

impl KernelList {
    /// All of [`Kernel::ALL`].
    pub fn all() -> Self {
        KernelList { kernels: Kernel::ALL.iter().map(KernelFacts::of).collect() }
    }
}

impl KernelFacts {
    /// The kernel of this name or alias.
    pub fn named(name: &str) -> Result<Self> {
        KernelEntry::find(name).map(Self::of).ok_or_else(|| {
            let names: Vec<&str> = Kernel::ALL.iter().map(|entry| entry.name).collect();
            Error::param("kernel", name, format!("one of {}", names.join(", ")))
        })
    }

    fn of(entry: &KernelEntry) -> Self {
        let parameter = |p: &mercer::param::Param| ParameterFacts {
            name: p.name,
            range: p.allowed.to_string(),
            default: p.default,
            doc: p.doc,
        };
        KernelFacts {
            name: entry.name,
            aliases: entry.aliases,
            formula: entry.formula,
            doc: entry.doc,
            definiteness: entry.definiteness,
            algebra: entry.algebra,
            parameters: entry.params.iter().map(parameter).collect(),
            examples: entry.examples,
        }
    }

    /// What is known about the first example.
    fn mark(&self) -> (char, Tone) {
        let known = self.examples.first().and_then(|line| Kernel::parse(line).ok()).map(|k| k.definiteness());
        match known {
            Some(Definiteness::Positive) => ('●', Tone::Good),
            Some(Definiteness::Conditional | Definiteness::ConditionalNegative) => ('◐', Tone::Warn),
            _ => ('○', Tone::Quiet),
        }
    }
}

impl Report for KernelList {
    fn write(&self, page: &mut Page) {
        for (algebra, heading) in [(false, "Kernels"), (true, "Made of kernels")] {
            page.heading(heading);
            let mut table =
                Table::new().column("", Align::Left).column("", Align::Left).column("", Align::Left);
            for kernel in self.kernels.iter().filter(|k| k.algebra == algebra) {
                let (mark, tone) = kernel.mark();
                let formula = kernel.formula.to_owned();
                table.toned_row([
                    (mark.to_string(), tone),
                    (kernel.name.to_owned(), Tone::Strong),
                    (formula, Tone::Plain),
                ]);
            }
            page.table(&table);
        }
        page.blank();
        page.paragraph("● positive definite   ◐ conditionally, or its negative   ○ not known to be");
        page.blank();
        page.paragraph("A kernel is written as one line, for example");
        for line in ["rbf(gamma=0.5)", "poly(degree=3, scale=1/256)", "0.5*rbf(gamma=1) + linear"] {
            page.line(&format!("    {line}"));
        }
        page.blank();
        page.command("mercer kernel list NAME", "parameters, ranges and examples of a kernel");
        page.command("mercer kernel check LINE [DATA]", "explain a kernel, and check it on data");
    }
}

impl Report for KernelFacts {
    fn write(&self, page: &mut Page) {
        page.title(
            self.name,
            &if self.aliases.is_empty() {
                String::new()
            } else {
                format!("also {}", self.aliases.join(", "))
            },
        );
        page.blank();
        page.facts([
            ("formula", self.formula.to_owned()),
            ("about", self.doc.to_owned()),
            ("definite", self.definiteness.to_owned()),
        ]);
        if !self.parameters.is_empty() {
            page.blank();
            let mut table = Table::new()
                .column("parameter", Align::Left)
                .column("default", Align::Left)
                .column("range", Align::Left)
                .column("", Align::Left);
            for p in &self.parameters {
                let default = p.default.unwrap_or("none").to_owned();
                table.toned_row([
                    (p.name.to_owned(), Tone::Strong),
                    (default, Tone::Plain),
                    (p.range.clone(), Tone::Plain),
                    (p.doc.to_owned(), Tone::Quiet),
                ]);
            }
            page.table(&table);
        }
        page.heading("Examples");
        for line in self.examples {
            page.line(&format!("  {line}"));
        }
    }
}
