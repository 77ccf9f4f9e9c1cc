//! The text of a LIBSVM model file: header lines, then one line per support vector.
//!
//! ```text
//! svm_type c_svc          nr_class 3          label 3 1 2
//! kernel_type rbf         total_sv 45         nr_sv 10 20 15
//! gamma 0.5               rho .1 .2 .3        SV
//! 1 0.5 1:0.25 3:1        (nr_class - 1 coefficients, then index:value)
//! ```
//!
//! Every count in the file is checked against its content, so that no allocation exceeds the size of the file, and
//! any bytes give a [`Text`] or an error with the line number.

use std::str::FromStr;

use crate::data::{Csr, Points};
use crate::error::{Error, Fault, Result};
use crate::kernel::Kernel;

/// LIBSVM's five machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    CSvc,
    NuSvc,
    OneClass,
    EpsilonSvr,
    NuSvr,
}

const MACHINES: [(&str, Machine); 5] = [
    ("c_svc", Machine::CSvc),
    ("nu_svc", Machine::NuSvc),
    ("one_class", Machine::OneClass),
    ("epsilon_svr", Machine::EpsilonSvr),
    ("nu_svr", Machine::NuSvr),
];

impl Machine {
    pub(super) fn name(self) -> &'static str {
        MACHINES.iter().find(|(_, m)| *m == self).map_or("", |(name, _)| name)
    }

    pub(super) fn classifies(self) -> bool {
        matches!(self, Machine::CSvc | Machine::NuSvc)
    }
}

/// The content of a file, uninterpreted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) machine: Machine,
    pub(super) kernel: Kernel,
    /// `nr_class`; 2 for machines without classes.
    pub(super) classes: usize,
    /// One for each pair of classes, `(0, 1), (0, 2), ..., (1, 2), ...`.
    pub(super) rho: Vec<f64>,
    /// LIBSVM's class numbers, in its order; empty for machines without classes.
    pub(super) label: Vec<i32>,
    pub(super) prob_a: Vec<f64>,
    pub(super) prob_b: Vec<f64>,
    /// Ten density marks of a one-class machine's probabilities (LIBSVM 3.30 and later).
    pub(super) density: Vec<f64>,
    /// Centres of each class, one class after the other; empty for machines without classes.
    pub(super) counts: Vec<usize>,
    /// One row per centre, `classes - 1` numbers each.
    pub(super) coef: Vec<f64>,
    /// Sparse rows, or row numbers (from 0) of a precomputed matrix.
    pub(super) centres: Points,
}

/// A header line's key, its words, and its number from 1.
struct Line<'a> {
    source: &'a str,
    number: u64,
    key: &'a str,
    words: Vec<&'a str>,
}

impl Line<'_> {
    fn fault(&self, got: impl Into<String>, expected: impl Into<String>) -> Error {
        fault(self.source, self.number, got, expected)
    }

    fn one<T: FromStr>(&self, expected: &str) -> Result<T> {
        let [word] = self.words[..] else {
            return Err(self.fault(format!("{} words after `{}`", self.words.len(), self.key), "one"));
        };
        word.parse().map_err(|_| self.fault(shown(word), format!("{expected} after `{}`", self.key)))
    }

    fn all<T: FromStr>(&self, expected: &str) -> Result<Vec<T>> {
        let parse = |word: &&str| word.parse().map_err(|_| self.fault(shown(word), expected));
        self.words.iter().map(parse).collect()
    }

    fn finite(&self) -> Result<Vec<f64>> {
        let numbers: Vec<f64> = self.all("finite numbers")?;
        match numbers.iter().position(|v| !v.is_finite()) {
            Some(at) => Err(self.fault(shown(self.words[at]), "finite numbers")),
            None => Ok(numbers),
        }
    }
}

fn fault(source: &str, line: u64, got: impl Into<String>, expected: impl Into<String>) -> Error {
    Fault {
        source: Some(source.to_owned()),
        line: Some(line),
        got: Some(got.into()),
        expected: expected.into(),
        ..Fault::default()
    }
    .into()
}

/// Text for messages: in backticks, shortened, without unprintable characters.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    format!("`{short}`")
}

/// The header while it is being read.
#[derive(Default)]
struct Header {
    machine: Option<Machine>,
    kernel: Option<String>,
    degree: Option<u32>,
    gamma: Option<f64>,
    coef0: Option<f64>,
    classes: Option<usize>,
    total: Option<usize>,
    rho: Option<Vec<f64>>,
    label: Vec<i32>,
    counts: Vec<usize>,
    prob_a: Vec<f64>,
    prob_b: Vec<f64>,
    density: Vec<f64>,
}

impl Header {
    fn take(&mut self, line: &Line<'_>) -> Result<()> {
        match line.key {
            "svm_type" => {
                let name: String = line.one("a name")?;
                let found = MACHINES.iter().find(|(n, _)| *n == name);
                let names: Vec<&str> = MACHINES.iter().map(|(n, _)| *n).collect();
                self.machine = Some(
                    found.ok_or_else(|| line.fault(shown(&name), format!("one of {}", names.join(", "))))?.1,
                );
            }
            "kernel_type" => self.kernel = Some(line.one("a name")?),
            "degree" => self.degree = Some(line.one("a whole number")?),
            "gamma" => self.gamma = Some(line.one("a number")?),
            "coef0" => self.coef0 = Some(line.one("a number")?),
            "nr_class" => self.classes = Some(line.one("a whole number")?),
            "total_sv" => self.total = Some(line.one("a whole number")?),
            "rho" => self.rho = Some(line.finite()?),
            "label" => self.label = line.all("whole numbers")?,
            "nr_sv" => self.counts = line.all("whole numbers")?,
            "probA" => self.prob_a = line.finite()?,
            "probB" => self.prob_b = line.finite()?,
            "prob_density_marks" => self.density = line.finite()?,
            key => return Err(line.fault(shown(key), "a header line of a LIBSVM model")),
        }
        Ok(())
    }

    fn kernel(&self) -> std::result::Result<Kernel, String> {
        let need =
            |value: Option<f64>, name: &str| value.ok_or(format!("`{name}`, which this kernel requires"));
        let kernel = match self.kernel.as_deref() {
            Some("linear") => Kernel::Linear,
            Some("polynomial") => Kernel::Poly {
                degree: self.degree.ok_or("`degree`, which this kernel requires")?,
                scale: need(self.gamma, "gamma")?,
                coef0: need(self.coef0, "coef0")?,
            },
            Some("rbf") => Kernel::Rbf { gamma: need(self.gamma, "gamma")? },
            Some("sigmoid") => Kernel::Sigmoid {
                amplitude: 1.0,
                scale: need(self.gamma, "gamma")?,
                shift: need(self.coef0, "coef0")?,
            },
            Some("precomputed") => Kernel::Precomputed,
            Some(_) => return Err("`kernel_type` linear, polynomial, rbf, sigmoid or precomputed".into()),
            None => return Err("`kernel_type`".into()),
        };
        match kernel.check(None) {
            Ok(()) => Ok(kernel),
            Err(e) => Err(format!("kernel parameters in their range ({e})")),
        }
    }
}

/// Reads a file's bytes; `source` stands for the file in messages.
pub(super) fn read(source: &str, bytes: &[u8]) -> Result<Text> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes[..e.valid_up_to()].split(|&b| b == b'\n').count() as u64;
        fault(source, line, "bytes that are not text", "a LIBSVM model")
    })?;
    let mut lines = text.lines().zip(1u64..);
    let mut header = Header::default();
    let at = loop {
        let Some((line, number)) = lines.next() else {
            return Err(fault(
                source,
                text.lines().count() as u64 + 1,
                "the end of the file",
                "`SV` and what follows it",
            ));
        };
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            None => {}
            Some("SV") => break number,
            Some(key) => header.take(&Line { source, number, key, words: words.collect() })?,
        }
    };
    let missing = |what: String| fault(source, at, "a header without it", what);
    let kernel = header.kernel().map_err(missing)?;
    let machine = header.machine.ok_or_else(|| missing("`svm_type`".into()))?;
    let classes = header.classes.ok_or_else(|| missing("`nr_class`".into()))?;
    let total = header.total.ok_or_else(|| missing("`total_sv`".into()))?;
    let rho = header.rho.take().ok_or_else(|| missing("`rho`".into()))?;
    let pairs = classes.saturating_mul(classes.saturating_sub(1)) / 2;
    let count = |name: &str, got: usize, want: usize| {
        if got == want {
            Ok(())
        } else {
            Err(fault(source, at, format!("{got} numbers after `{name}`"), want.to_string()))
        }
    };
    count("rho", rho.len(), pairs)?;
    if machine.classifies() {
        count("label", header.label.len(), classes)?;
        count("nr_sv", header.counts.len(), classes)?;
        if header.counts.iter().fold(0usize, |sum, &c| sum.saturating_add(c)) != total {
            return Err(fault(
                source,
                at,
                "others",
                format!("numbers after `nr_sv` whose sum is {total}, the `total_sv`"),
            ));
        }
        let mut sorted = header.label.clone();
        sorted.sort_unstable();
        if let Some([twice, ..]) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(fault(source, at, format!("label {twice} twice"), "labels that differ"));
        }
        for (name, prob) in [("probA", &header.prob_a), ("probB", &header.prob_b)] {
            if !prob.is_empty() {
                count(name, prob.len(), pairs)?;
            }
        }
        count("probB", header.prob_b.len(), header.prob_a.len())?;
    } else {
        count("nr_class", classes, 2)
            .map_err(|_| fault(source, at, format!("`nr_class` {classes}"), "2 for this machine"))?;
        if !header.prob_a.is_empty() {
            count("probA", header.prob_a.len(), 1)?;
        }
    }
    let width = classes.saturating_sub(1);
    let mut rows = Rows { precomputed: kernel == Kernel::Precomputed, width, ..Rows::default() };
    for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
        rows.push(line).map_err(|(got, expected)| fault(source, number, got, expected))?;
    }
    if rows.count != total {
        let line = text.lines().count() as u64;
        return Err(fault(
            source,
            line,
            format!("{} support vectors", rows.count),
            format!("{total}, the `total_sv`"),
        ));
    }
    let (coef, centres) = rows.finish()?;
    Ok(Text {
        machine,
        kernel,
        classes,
        rho,
        label: header.label,
        prob_a: header.prob_a,
        prob_b: header.prob_b,
        density: header.density,
        counts: header.counts,
        coef,
        centres,
    })
}

/// The largest index, LIBSVM's own limit.
const LARGEST_INDEX: u32 = i32::MAX as u32;

/// Support vectors while they are being read.
#[derive(Default)]
struct Rows {
    precomputed: bool,
    width: usize,
    count: usize,
    coef: Vec<f64>,
    csr: Csr,
    serial: Vec<u32>,
    d: u32,
}

impl Rows {
    fn push(&mut self, line: &str) -> std::result::Result<(), (String, String)> {
        let mut words = line.split_ascii_whitespace();
        for p in 0..self.width {
            let word = words.next().ok_or_else(|| (format!("{p} coefficients"), self.width.to_string()))?;
            let value = finite(word).ok_or_else(|| (shown(word), "a finite coefficient".into()))?;
            self.coef.push(value);
        }
        let mut last = None;
        for word in words {
            let pair = word.split_once(':').and_then(|(i, v)| Some((i.parse::<u32>().ok()?, finite(v)?)));
            let (index, value) = pair.ok_or_else(|| (shown(word), "`index:value`".to_owned()))?;
            if self.precomputed {
                // The serial number must be an integer written as a float.
                let serial =
                    (value >= 1.0 && value <= f64::from(LARGEST_INDEX) && value.fract() == 0.0 && index == 0)
                        .then_some(value as u32 - 1)
                        .filter(|_| last.is_none())
                        .ok_or_else(|| {
                            (shown(word), "`0:` and a row's number from 1, once per line".to_owned())
                        })?;
                self.serial.push(serial);
            } else {
                if index == 0 || index > LARGEST_INDEX || last.is_some_and(|last| index <= last) {
                    return Err((shown(word), format!("increasing indices from 1 to {LARGEST_INDEX}")));
                }
                if value != 0.0 {
                    self.csr.column.push(index - 1);
                    self.csr.value.push(value);
                }
                self.d = self.d.max(index);
            }
            last = Some(index);
        }
        if self.precomputed && last.is_none() {
            return Err(("none".into(), "`0:` and a row's number from 1".into()));
        }
        self.count += 1;
        if self.csr.start.is_empty() {
            self.csr.start.push(0);
        }
        self.csr.start.push(self.csr.value.len());
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<f64>, Points)> {
        if self.precomputed {
            return Ok((self.coef, Points::row_numbers(self.serial)));
        }
        if self.csr.start.is_empty() {
            self.csr.start.push(0);
        }
        Ok((self.coef, Points::sparse(self.csr, (self.d as usize).max(1))?))
    }
}

fn finite(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|v| v.is_finite())
}
