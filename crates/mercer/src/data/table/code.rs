//! How one column of a table becomes numbers: fitted on training rows, saved inside a model.
//!
//! | kind | columns of numbers |
//! |---|---|
//! | number | the value less the median of training; where that makes it less skewed, `ln(1 + x / median)`. A missing value is 0 |
//! | category | a column of 0 and 1 for each value that is not rare, one for all rare ones together, one for missing |
//! | category of more than 50 values | the same for the 50 most frequent ones, and the logarithm of each value's frequency |
//! | ordered | the place among the values, from 0 to 1, less its median |
//! | yes/no | 0 or 1; the more frequent one where it is missing |
//! | date | the day less its median, and sine and cosine of hour, weekday and month, where they vary |
//!
//! A column that had missing values in training gets a further one, 1 where the value is missing.
//!
//! Nothing here looks at the targets, so that nothing of a held-out row leaks into its features.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::date::{DAY, Format, hour, month, weekday};
use super::fit::{category, date_format, log_unit, median, share};
use super::kind::{Found, number, yes_or_no};
use super::{Column, Kind, MISSING};
use crate::error::{Error, Fault, Result};

/// What happens to one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::data) struct Code {
    /// The column's name.
    pub(in crate::data) name: String,
    /// Whether a further column marks missing values.
    pub(in crate::data) marker: bool,
    /// How its values become numbers.
    pub(in crate::data) how: How,
}

/// How values become numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::data) enum How {
    /// Left out.
    Ignored {
        /// Why, in words.
        why: String,
    },
    Number {
        /// Whether as a logarithm.
        log: bool,
        /// Whether text counts as missing: there was some in training.
        lenient: bool,
    },
    Category {
        /// The values with a column of their own, then those that only have a frequency, each in order.
        values: Vec<String>,
        /// How many have a column.
        own: usize,
        /// Whether the others share one.
        other: bool,
    },
    Ordered {
        values: Vec<String>,
    },
    YesNo {},
    Date {
        format: Format,
        parts: Vec<Part>,
    },
}

/// A part of a date that comes around again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::data) enum Part {
    Hour,
    Weekday,
    Month,
}

impl Part {
    const ALL: [Part; 3] = [Part::Hour, Part::Weekday, Part::Month];

    fn name(self) -> &'static str {
        match self {
            Part::Hour => "hour",
            Part::Weekday => "weekday",
            Part::Month => "month",
        }
    }

    /// Its place in its circle, from 0 to below 1.
    fn of(self, seconds: f64) -> f64 {
        match self {
            Part::Hour => hour(seconds) / 24.0,
            Part::Weekday => weekday(seconds) / 7.0,
            Part::Month => month(seconds) / 12.0,
        }
    }
}

/// The numbers of a code, which models save apart from it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::data) struct Numbers {
    /// What a missing value becomes before anything is subtracted: a median, or the more frequent of two values.
    pub(in crate::data) fill: f64,
    /// What a value is divided by under the logarithm.
    pub(in crate::data) unit: f64,
    /// The logarithm of each value's share of the training rows, where it is used.
    pub(in crate::data) frequency: Vec<f64>,
}

/// A column's values, from a table or from dense points.
pub(in crate::data) enum Cells<'a> {
    Numbers(Cow<'a, [f64]>),
    Text { pool: &'a [String], of_row: &'a [u32] },
}

impl<'a> Cells<'a> {
    /// Some rows of a column.
    pub(in crate::data) fn of(column: &'a Column, rows: std::ops::Range<usize>) -> Self {
        match column {
            Column::Numbers(x) => Cells::Numbers(Cow::Borrowed(&x[rows])),
            Column::Text { pool, of_row } => Cells::Text { pool, of_row: &of_row[rows] },
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Numbers(x) => x.len(),
            Cells::Text { of_row, .. } => of_row.len(),
        }
    }
}

/// A value of a category that was never seen.
const UNSEEN: f64 = -1.0;

impl Code {
    /// Fits a column.
    pub(in crate::data) fn fit(name: &str, found: &Found, cells: &Cells<'_>) -> Result<(Self, Numbers)> {
        let ignored = |why: String| {
            let how = How::Ignored { why };
            Ok((Code { name: name.to_owned(), marker: false, how }, Numbers::default()))
        };
        if !found.kind.is_used() {
            return ignored(found.why.clone().unwrap_or_else(|| "as requested".into()));
        }
        let mut how = match &found.kind {
            Kind::Category => category(cells),
            Kind::Ordered(values) => How::Ordered { values: values.clone() },
            Kind::YesNo => How::YesNo {},
            Kind::Date => How::Date { format: date_format(name, cells)?, parts: Vec::new() },
            _ => How::Number { log: false, lenient: !found.odd.is_empty() },
        };
        let code = Code { name: name.to_owned(), marker: false, how: how.clone() };
        let values = code.values(cells, true, None)?;
        let n = values.len();
        let present: Vec<f64> = (0..n).map(|i| values.at(i)).filter(|v| !v.is_nan()).collect();
        if present.is_empty() {
            return ignored("it has no values".into());
        }
        let mut marker = present.len() < n;
        let mut numbers = Numbers { fill: median(&present), unit: 1.0, frequency: Vec::new() };
        match &mut how {
            How::Number { log, .. } => {
                if let Some(unit) = log_unit(&present) {
                    *log = true;
                    numbers.unit = unit;
                }
            }
            How::YesNo {} => {
                let yes = present.iter().filter(|v| **v > 0.5).count();
                numbers.fill = f64::from(u8::from(yes * 2 > present.len()));
            }
            How::Date { format, parts } => {
                let varies = |part: &Part| present.iter().any(|v| part.of(*v) != part.of(present[0]));
                let fits = |p: &Part| format.has_day() || *format == Format::Time && *p == Part::Hour;
                *parts = Part::ALL.into_iter().filter(|p| fits(p) && varies(p)).collect();
            }
            How::Category { values: names, own, .. } => {
                let mut count = vec![0usize; names.len()];
                present.iter().filter(|v| **v >= 0.0).for_each(|v| count[*v as usize] += 1);
                // The most frequent value stands for missing ones where training had none.
                let most = (0..*own).max_by_key(|&k| (count[k], std::cmp::Reverse(k))).unwrap_or(0);
                numbers.fill = most as f64;
                if names.len() > *own {
                    numbers.frequency = count.iter().map(|&c| share(c, n)).collect();
                }
            }
            How::Ordered { .. } => {}
            How::Ignored { .. } => marker = false,
        }
        Ok((Code { name: name.to_owned(), marker, how }, numbers))
    }

    /// The names of the columns it gives.
    pub(in crate::data) fn output_names(&self) -> Vec<String> {
        let name = &self.name;
        let mut names = match &self.how {
            How::Ignored { .. } => Vec::new(),
            How::Number { log: true, .. } => vec![format!("log {name}")],
            How::Number { .. } | How::Ordered { .. } | How::YesNo {} => vec![name.clone()],
            How::Category { values, own, other } => {
                let mut names: Vec<String> = values[..*own].iter().map(|v| format!("{name}={v}")).collect();
                names.extend(other.then(|| format!("{name}=(other)")));
                names.extend((values.len() > *own).then(|| format!("{name}.frequency")));
                names
            }
            How::Date { parts, .. } => {
                let circle = |p: &Part| ["sin", "cos"].map(|f| format!("{name}.{}.{f}", p.name()));
                std::iter::once(name.clone()).chain(parts.iter().flat_map(circle)).collect()
            }
        };
        names.extend(self.marker.then(|| format!("{name} is missing")));
        names
    }

    /// How many columns it gives.
    pub(in crate::data) fn width(&self) -> usize {
        let own = match &self.how {
            How::Ignored { .. } => 0,
            How::Number { .. } | How::Ordered { .. } | How::YesNo {} => 1,
            How::Category { values, own, other } => {
                own + usize::from(*other) + usize::from(values.len() > *own)
            }
            How::Date { parts, .. } => 1 + 2 * parts.len(),
        };
        own + usize::from(self.marker)
    }

    /// Whether all its columns are 0 in most rows.
    pub(in crate::data) fn is_sparse(&self) -> bool {
        matches!(&self.how, How::Category { values, own, .. } if values.len() == *own)
    }

    /// Each row's value as one number: the number, the seconds, the rank, 0 or 1, or the place of a category. NaN where it
    /// is missing. `unseen` counts values of categories that training did not have. Text that is none of what the column
    /// holds is an error where `strict`; else it counts as missing, as it must in a fold whose training rows had none of it.
    pub(in crate::data) fn values<'c>(
        &self,
        cells: &'c Cells<'_>,
        strict: bool,
        mut unseen: Option<&mut Unseen>,
    ) -> Result<Values<'c>> {
        let wrong = |text: &str, row: usize, expected: &str| {
            Error::from(Fault {
                row: Some(row as u64 + 1),
                column: Some(format!("`{}`", self.name)),
                got: Some(format!("`{text}`")),
                expected: expected.to_owned(),
                ..Fault::default()
            })
        };
        let place: HashMap<&str, usize> = match &self.how {
            How::Category { values, .. } | How::Ordered { values } => {
                values.iter().enumerate().map(|(k, v)| (v.as_str(), k)).collect()
            }
            _ => HashMap::new(),
        };
        let mut of_text = |text: &str, row: usize| -> Result<f64> {
            Ok(match &self.how {
                How::Ignored { .. } => f64::NAN,
                How::Number { lenient, .. } => match number(text) {
                    Some(value) => value,
                    None if *lenient || !strict => f64::NAN,
                    None => return Err(wrong(text, row, "a number, as in training")),
                },
                How::YesNo {} => match yes_or_no(text).or(flag(text)) {
                    Some(yes) => f64::from(u8::from(yes)),
                    None if !strict => f64::NAN,
                    None => return Err(wrong(text, row, "yes or no, as in training")),
                },
                How::Date { format, .. } => format.parse(text).unwrap_or_else(|| {
                    note(&mut unseen, text);
                    f64::NAN
                }),
                How::Ordered { values } => match place.get(text) {
                    Some(&k) => k as f64 / (values.len().max(2) - 1) as f64,
                    None if !strict => f64::NAN,
                    None => return Err(wrong(text, row, &format!("one of {}", values.join(", ")))),
                },
                How::Category { .. } => place.get(text).map_or_else(
                    || {
                        note(&mut unseen, text);
                        UNSEEN
                    },
                    |&k| k as f64,
                ),
            })
        };
        Ok(match cells {
            Cells::Numbers(x) if matches!(self.how, How::Number { .. } | How::Ignored { .. }) => {
                Values::Direct(Cow::Borrowed(x))
            }
            Cells::Numbers(x) => {
                let mut known: HashMap<u64, f64> = HashMap::new();
                let mut out = Vec::with_capacity(x.len());
                for (row, &v) in x.iter().enumerate() {
                    let key = (v + 0.0).to_bits();
                    out.push(match known.get(&key) {
                        Some(&value) => value,
                        None if v.is_nan() => f64::NAN,
                        None => {
                            let value = of_text(&(v + 0.0).to_string(), row)?;
                            known.insert(key, value);
                            value
                        }
                    });
                }
                Values::Direct(Cow::Owned(out))
            }
            Cells::Text { pool, of_row } => {
                // Texts that no row has are not judged; the first row that has one is named.
                let mut first = vec![usize::MAX; pool.len()];
                for (row, &k) in of_row.iter().enumerate().filter(|(_, k)| **k != MISSING) {
                    first[k as usize] = first[k as usize].min(row);
                }
                let mut order: Vec<usize> = (0..pool.len()).filter(|&k| first[k] < usize::MAX).collect();
                order.sort_by_key(|&k| first[k]);
                let mut of_pool = vec![f64::NAN; pool.len()];
                for k in order {
                    of_pool[k] = of_text(&pool[k], first[k])?;
                }
                Values::Coded { of_row, of_pool }
            }
        })
    }

    /// Writes a value into the columns of its row, which are zeros.
    pub(in crate::data) fn write(&self, value: f64, numbers: &Numbers, out: &mut [f64]) {
        let missing = value.is_nan();
        if self.marker
            && let Some(last) = out.last_mut()
        {
            *last = f64::from(u8::from(missing));
        }
        // Differences of the largest numbers have none of their own.
        let shift = |v: f64| (v - numbers.fill).clamp(f64::MIN, f64::MAX);
        match &self.how {
            How::Ignored { .. } => {}
            How::Number { log: true, .. } => {
                let log = |v: f64| (v.max(0.0) / numbers.unit).min(f64::MAX).ln_1p();
                out[0] = if missing { 0.0 } else { log(value) - log(numbers.fill) };
            }
            How::Number { .. } | How::Ordered { .. } => out[0] = if missing { 0.0 } else { shift(value) },
            How::YesNo {} => out[0] = if missing { numbers.fill } else { value },
            How::Category { values, own, other } => {
                // Where training had missing values, their marker is their category.
                let value = if missing && !self.marker { numbers.fill } else { value };
                let place = if value.is_nan() { None } else { Some(value) };
                let known = place.filter(|v| *v >= 0.0).map(|v| v as usize);
                match known {
                    Some(k) if k < *own => out[k] = 1.0,
                    _ if place.is_some() && *other => out[*own] = 1.0,
                    _ => {}
                }
                if values.len() > *own {
                    let unknown = numbers.frequency.iter().copied().fold(0.0, f64::min);
                    let frequency = match known {
                        Some(k) => numbers.frequency[k],
                        None => unknown,
                    };
                    out[own + usize::from(*other)] = frequency - unknown;
                }
            }
            How::Date { parts, .. } => {
                if missing {
                    return;
                }
                out[0] = shift(value) / DAY;
                for (part, out) in parts.iter().zip(out[1..].chunks_exact_mut(2)) {
                    let angle = part.of(value) * std::f64::consts::TAU;
                    out[0] = angle.sin();
                    out[1] = angle.cos();
                }
            }
        }
    }

    /// Whether it and its numbers fit together; neither is trusted.
    pub(in crate::data) fn is_valid(&self, numbers: &Numbers) -> bool {
        let different = |values: &[String]| {
            let mut sorted: Vec<&String> = values.iter().collect();
            sorted.sort_unstable();
            sorted.windows(2).all(|w| w[0] != w[1])
        };
        let fine = match &self.how {
            How::Ignored { .. } => !self.marker,
            How::Number { .. } => numbers.unit > 0.0,
            How::Category { values, own, .. } => {
                let frequencies = if values.len() > *own { values.len() } else { 0 };
                let place = numbers.fill >= 0.0 && numbers.fill.fract() == 0.0 && numbers.fill <= *own as f64;
                *own <= values.len() && different(values) && place && numbers.frequency.len() == frequencies
            }
            How::Ordered { values } => values.len() >= 2 && different(values),
            How::YesNo {} => numbers.fill == 0.0 || numbers.fill == 1.0,
            How::Date { parts, .. } => (1..parts.len()).all(|i| !parts[..i].contains(&parts[i])),
        };
        let category = matches!(self.how, How::Category { .. });
        fine && (category || numbers.frequency.is_empty())
    }
}

/// Values that training did not have: how many rows' first of each text, and some of them.
#[derive(Debug, Default)]
pub(in crate::data) struct Unseen {
    pub(in crate::data) count: usize,
    pub(in crate::data) first: Vec<String>,
}

fn note(unseen: &mut Option<&mut Unseen>, text: &str) {
    if let Some(unseen) = unseen {
        unseen.count += 1;
        if unseen.first.len() < 3 {
            unseen.first.push(text.to_owned());
        }
    }
}

/// One number per row.
pub(in crate::data) enum Values<'a> {
    Direct(Cow<'a, [f64]>),
    Coded { of_row: &'a [u32], of_pool: Vec<f64> },
}

impl Values<'_> {
    pub(in crate::data) fn at(&self, row: usize) -> f64 {
        match self {
            Values::Direct(x) => x[row],
            Values::Coded { of_row, of_pool } => {
                of_pool.get(of_row[row] as usize).copied().unwrap_or(f64::NAN)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Direct(x) => x.len(),
            Values::Coded { of_row, .. } => of_row.len(),
        }
    }
}

/// 0 and 1 where yes and no were written before.
fn flag(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}
