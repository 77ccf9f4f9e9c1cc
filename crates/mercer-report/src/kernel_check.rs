//! What a kernel's line means, and how the kernel sees some points.

use serde::Serialize;

use crate::{Align, Page, Report, Table, Tone, count, number, percent};
use mercer::data::{Dataset, split};
use mercer::error::Result;
use mercer::exec::Exec;
use mercer::gram;
use mercer::kernel::{Definiteness, Kernel, default_gamma};
use mercer::num::factor::eigen;

/// Rows a sample has at most: its eigenvalues take well below a second.
const SAMPLE: usize = 500;
/// Of fewer rows nothing is said about the width.
const ENOUGH: usize = 20;
/// Eigenvalues shown.
const SHOWN: usize = 8;
/// Below minus this share of the largest an eigenvalue is negative by more than rounding.
const ROUNDING: f64 = 1e-10;
/// Where points spread in more than this share of all directions, nearly every one has its own.
const NARROW: f64 = 0.5;
/// Where they spread in fewer directions than this, all of them look alike.
const WIDE: f64 = 1.02;

/// A kernel, and how it sees some points where some are given.
#[derive(Debug, Clone, Serialize)]
pub struct KernelCheck {
    /// The kernel, as its line is printed.
    pub kernel: String,
    /// Its formula, where it is one of the table.
    pub formula: Option<&'static str>,
    /// What is known about its definiteness.
    pub definiteness: Definiteness,
    /// Whether depends only on the difference of two points.
    pub translation_invariant: bool,
    /// How it sees the points.
    pub points: Option<Sight>,
}

/// A kernel's values on a sample of points.
#[derive(Debug, Clone, Serialize)]
pub struct Sight {
    /// Where the points are from.
    pub source: String,
    /// Rows there.
    pub rows: usize,
    /// Rows looked at.
    pub sample: usize,
    /// Smallest and largest value between two different rows.
    pub between: Option<[f64; 2]>,
    /// Smallest and largest value of a row with itself.
    pub diagonal: [f64; 2],
    /// Median of `k(x, y) / sqrt(k(x, x) k(y, y))` between two different rows, where those roots exist.
    pub likeness: Option<f64>,
    /// Smallest eigenvalue of the sample's Gram matrix.
    pub least_eigenvalue: f64,
    /// The largest eigenvalues, falling.
    pub eigenvalues: Vec<f64>,
    /// Sum of all eigenvalues.
    pub trace: f64,
    /// `(sum of eigenvalues)^2 / sum of their squares`: in how many directions the points spread.
    pub directions: f64,
    /// Whether no eigenvalue is negative by more than rounding.
    pub positive: bool,
    /// The Gaussian whose gamma is 1 over the median squared distance.
    pub suggestion: Option<String>,
}

impl KernelCheck {
    /// What is known of a kernel without points.
    pub fn new(kernel: &Kernel) -> Self {
        KernelCheck {
            kernel: kernel.to_string(),
            formula: kernel.entry().map(|entry| entry.formula),
            definiteness: kernel.definiteness(),
            translation_invariant: kernel.translation_invariant(),
            points: None,
        }
    }

    /// The same with a look at some points: at most 500 of them, drawn by the seed.
    pub fn on(
        kernel: &Kernel,
        source: impl Into<String>,
        data: &Dataset,
        seed: u64,
        exec: Exec,
    ) -> Result<Self> {
        let points = Some(Sight::new(kernel, source.into(), data, seed, exec)?);
        Ok(KernelCheck { points, ..Self::new(kernel) })
    }
}

impl Sight {
    fn new(kernel: &Kernel, source: String, data: &Dataset, seed: u64, exec: Exec) -> Result<Self> {
        let mut rows = split::shuffle(data.len(), seed);
        rows.truncate(SAMPLE);
        rows.sort_unstable();
        let sample = data.points.gather(&rows);
        let n = sample.len();
        let gram = gram::square::<f64>(kernel, sample.view(), exec)?;
        let (falling, _) = eigen(&gram, n)?;
        let off = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.map(|v| [v, v]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
        };
        let mut alike: Vec<f64> = off()
            .map(|(i, j)| gram[i * n + j] / (gram[i * n + i] * gram[j * n + j]).sqrt())
            .filter(|v| v.is_finite())
            .collect();
        let middle = alike.len() / 2;
        let likeness = (!alike.is_empty()).then(|| *alike.select_nth_unstable_by(middle, f64::total_cmp).1);
        let trace: f64 = falling.iter().sum();
        let squares: f64 = falling.iter().map(|v| v * v).sum();
        let size = falling.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let least = falling.last().copied().unwrap_or(0.0);
        let gamma = default_gamma(data.points.view());
        Ok(Sight {
            source,
            rows: data.len(),
            sample: n,
            between: ends(&mut off().map(|(i, j)| gram[i * n + j])),
            diagonal: ends(&mut (0..n).map(|i| gram[i * n + i])).unwrap_or_default(),
            likeness,
            least_eigenvalue: least,
            eigenvalues: falling.iter().copied().take(SHOWN).collect(),
            trace,
            directions: trace * trace / squares,
            positive: least >= -ROUNDING * size,
            suggestion: gamma.map(|gamma| format!("rbf(gamma={})", number(gamma))),
        })
    }
}

impl Report for KernelCheck {
    fn write(&self, page: &mut Page) {
        page.title(&self.kernel, "");
        page.blank();
        let definite = match self.definiteness {
            Definiteness::Positive => "positive: a Mercer kernel, a dot product in some feature space",
            Definiteness::Conditional => {
                "conditionally positive: sufficient for machines with an offset and for centred components"
            }
            Definiteness::ConditionalNegative => "conditionally negative: use its negative, -1*(...)",
            Definiteness::Unknown => {
                "not known to be: solvers may stop at a local optimum; check the eigenvalues"
            }
        };
        let mut facts: Vec<(&str, String)> = Vec::new();
        facts.extend(self.formula.map(|formula| ("formula", formula.to_owned())));
        facts.push(("definite", definite.to_owned()));
        if self.translation_invariant {
            facts.push(("invariant", "depends only on the difference of two points".into()));
        }
        page.facts(facts);
        if let Some(sight) = &self.points {
            sight.write(page);
        }
    }
}

impl Report for Sight {
    fn write(&self, page: &mut Page) {
        let of = if self.sample < self.rows { format!("{} of ", count(self.sample)) } else { String::new() };
        page.heading(&format!("On {of}{} rows of {}", count(self.rows), self.source));
        let range = |[low, high]: [f64; 2]| {
            let (low, high) = (number(low), number(high));
            if low == high { low } else { format!("{low} to {high}") }
        };
        let mut facts = vec![("diagonal", range(self.diagonal))];
        facts.extend(self.between.map(|between| ("between", range(between))));
        facts.extend(
            self.likeness.map(|likeness| ("likeness", format!("{} in the middle", number(likeness)))),
        );
        facts.push((
            "eigenvalues",
            format!(
                "{} down to {}",
                self.eigenvalues.first().map_or_else(String::new, |v| number(*v)),
                number(self.least_eigenvalue)
            ),
        ));
        facts.push(("directions", format!("about {}", number(self.directions.round()))));
        page.facts(facts);
        page.blank();
        self.spectrum(page);
        page.blank();
        self.verdict(page);
    }
}

impl Sight {
    /// The largest eigenvalues as bars.
    pub(crate) fn spectrum(&self, page: &mut Page) {
        let most = self.eigenvalues.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let mut table = Table::new()
            .column("eigenvalue", Align::Right)
            .column("share", Align::Right)
            .column("", Align::Left);
        for &value in &self.eigenvalues {
            let bar = "█".repeat((30.0 * value.max(0.0) / most).round() as usize);
            let share =
                if self.trace > 0.0 { percent((value / self.trace).clamp(0.0, 1.0)) } else { String::new() };
            table.toned_row([(number(value), Tone::Plain), (share, Tone::Plain), (bar, Tone::class(0))]);
        }
        page.table(&table);
    }

    fn verdict(&self, page: &mut Page) {
        if self.positive {
            page.remark(
                Tone::Good,
                '✓',
                "No negative eigenvalue beyond rounding: positive semidefinite here.",
            );
        } else {
            page.remark(
                Tone::Warn,
                '!',
                &format!(
                    "Eigenvalue {}: not positive semidefinite on these rows.",
                    number(self.least_eigenvalue)
                ),
            );
        }
        match self.directions {
            _ if !self.positive || self.sample < ENOUGH => {}
            v if v > NARROW * self.sample as f64 => page.remark(
                Tone::Warn,
                '!',
                "Most rows are similar only to themselves: a model will hardly generalise beyond the training rows. Use \
                 a wider kernel.",
            ),
            v if v < WIDE => page.remark(
                Tone::Warn,
                '!',
                "Most rows are almost identical to this kernel: use a narrower one, or scale the columns.",
            ),
            _ => {}
        }
        if let Some(line) = &self.suggestion {
            page.remark(Tone::Command, '→', &format!("From the median distance between rows: {line}"));
        }
    }
}
