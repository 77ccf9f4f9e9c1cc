//! Numbers as people write them in cells: `$1,234.50`, `12 %`, `1 234,5 kg`, `(99.00)`.
//!
//! A single cell is ambiguous: `1,234` may be above a thousand or slightly above one. So the column decides: nearly
//! all its cells must be numbers with the same decimal sign and unit, otherwise it stays text. A unit shared by all
//! cells carries no information and is dropped.

use std::collections::HashSet;

use super::dialect::{Dialect, is_code};
use super::records::Record;

/// One cell in this many may be something else.
const ODD: usize = 1000;
/// Longest unit in characters.
const LONGEST_UNIT: usize = 12;
/// Different whole numbers up to which amounts in a label are names of classes.
const FEW: usize = 20;
/// Currency codes that precede an amount.
const CODES: [&str; 29] = [
    "USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK",
    "HUF", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "RUB", "TRY", "Rs.", "Rs", "Fr.", "kr.", "kr",
];
/// Separators of groups of three digits, besides comma and point: blanks of several widths and apostrophes.
const GROUPS: [char; 7] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}', '_'];

/// How the amounts of one column are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amounts {
    /// Whether the decimal sign is a comma.
    comma: bool,
    /// The unit around the number; empty if digits are only grouped.
    unit: String,
    /// A cell, for the note.
    example: String,
}

impl Amounts {
    /// How a column's cells are written; nothing where they are plain numbers, or no amounts.
    pub(super) fn of(sample: &[Record], at: usize, dialect: &Dialect, delimiter: u8) -> Option<Self> {
        let missing = |field: &[u8]| dialect.is_missing(field) || dialect.is_missing_label(field);
        let cells = || sample.iter().filter(|r| r.len() > at).map(|r| r.field(at)).filter(|f| !missing(f));
        let example =
            cells().find(|f| dialect.number(f).is_none()).and_then(|f| std::str::from_utf8(f).ok())?;
        let most_odd = cells().count() / ODD;
        let read = |comma: bool| {
            let (mut unit, mut odd) = (String::new(), 0);
            for field in cells() {
                if !comma && dialect.number(field).is_some() {
                    continue;
                }
                match std::str::from_utf8(field).ok().and_then(|text| amount(text, comma)) {
                    Some((_, own)) if own.is_empty() || own == unit => {}
                    Some((_, own)) if unit.is_empty() => unit = own,
                    _ => odd += 1,
                }
                if odd > most_odd {
                    return None;
                }
            }
            // The exceptional cell is not used as the example and does not determine the unit.
            amount(example, comma).map(|_| Amounts { comma, unit, example: example.to_owned() })
        };
        // In a file with decimal commas a point only ever groups digits.
        if dialect.has_decimal_comma() {
            return read(true);
        }
        let (points, commas) = (read(false), read(true));
        // In files whose delimiter is not a comma, `1,234` in all cells is ambiguous and is not converted.
        let told = |way: &Option<Amounts>| way.as_ref().and_then(|a| a.plain(example.as_bytes()));
        let guess =
            delimiter != b',' && points.is_some() && commas.is_some() && told(&points) != told(&commas);
        points.or(commas).filter(|a| !guess || !a.unit.is_empty())
    }

    /// Whether such cells of a label are numbers, rather than names of classes: there are many, or fractions.
    pub(super) fn are_numbers(&self, sample: &[Record], at: usize) -> bool {
        let cells = sample.iter().filter(|r| r.len() > at).filter_map(|r| self.plain(r.field(at)));
        let different: HashSet<String> = cells.collect();
        different.len() > FEW || different.iter().any(|v| v.parse::<f64>().is_ok_and(|v| v.fract() != 0.0))
    }

    /// A cell as a plain number; nothing where it is none, or has another unit.
    pub(super) fn plain(&self, field: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(field).ok()?;
        let (value, unit) = amount(text, self.comma)?;
        (unit.is_empty() || unit == self.unit).then_some(value)
    }

    /// The conversion, for a note.
    pub(super) fn note(&self, column: &str) -> String {
        let value = self.plain(self.example.as_bytes()).unwrap_or_default();
        format!("column {column}: `{}` is read as {value}", self.example)
    }
}

/// The number that a text is under a decimal sign, written plainly, and its unit.
fn amount(text: &str, comma: bool) -> Option<(String, String)> {
    let text = text.trim();
    // Accountants write losses in parentheses.
    let (text, loss) = match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inside) => (inside.trim(), true),
        None => (text, false),
    };
    let (before, text) = sign(text);
    let (currency, text) = prefix(text);
    let (after, text) = if before.is_none() { sign(text) } else { (None, text) };
    // SAP writes `5.00-`.
    let last = text.strip_suffix(['-', '\u{2212}']).filter(|_| before.or(after).is_none());
    let minus = before.or(after).or(last.map(|_| true));
    let text = last.map_or(text, str::trim_end);
    if loss && minus.is_some() {
        return None;
    }
    let numeral = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',') || GROUPS.contains(&c);
    let end = text.find(|c| !numeral(c)).unwrap_or(text.len());
    let (digits, suffix) = (text[..end].trim_end(), text[end..].trim());
    // A point or comma before the unit belongs to neither: "5. kg" is not an amount.
    if digits.ends_with(['.', ',', '\'', '\u{2019}', '_']) {
        return None;
    }
    let value = mantissa(digits, comma)?;
    let (value, suffix) = match exponent(suffix) {
        Some((power, rest)) => (format!("{value}e{power}"), rest.trim()),
        None => (value, suffix),
    };
    unit(currency, suffix).map(|unit| (signed(minus, loss, &value), unit))
}

fn signed(minus: Option<bool>, loss: bool, value: &str) -> String {
    if loss || minus == Some(true) { format!("-{value}") } else { value.to_owned() }
}

/// A sign at the beginning: whether it is a minus; and the rest.
fn sign(text: &str) -> (Option<bool>, &str) {
    for (c, minus) in [('-', true), ('\u{2212}', true), ('+', false)] {
        if let Some(rest) = text.strip_prefix(c) {
            return (Some(minus), rest.trim_start());
        }
    }
    (None, text)
}

/// A currency before the number, and the rest.
fn prefix(text: &str) -> (&str, &str) {
    let symbol =
        |c: char| c == '$' || ('\u{a2}'..='\u{a5}').contains(&c) || ('\u{20a0}'..='\u{20cf}').contains(&c);
    // Up to two letters may precede a symbol, as in US$ and R$.
    let at = text.char_indices().take(3).find(|(_, c)| symbol(*c));
    if let Some((at, c)) = at.filter(|(at, _)| text[..*at].chars().all(|c| c.is_ascii_uppercase())) {
        let (currency, rest) = text.split_at(at + c.len_utf8());
        return (currency, rest.trim_start());
    }
    for code in CODES {
        if let Some(rest) = text.strip_prefix(code).map(str::trim_start)
            && rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | ','))
        {
            return (code, rest);
        }
    }
    ("", text)
}

/// `5` or `-3` of `e5` or `E-3` at the beginning of what follows the digits, and the rest.
fn exponent(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let sign = rest.len() - rest.strip_prefix(['-', '+']).unwrap_or(rest).len();
    let digits = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
    (1..=4).contains(&digits).then(|| rest.split_at(sign + digits))
}

/// The text around a number, if it can be a unit.
fn unit(currency: &str, suffix: &str) -> Option<String> {
    let part = |c: char| {
        c.is_alphabetic()
            || matches!(c, '%' | '‰' | '°' | '²' | '³' | '/' | '.' | '$' | ' ' | '"' | '\'')
            || ('\u{20a0}'..='\u{20cf}').contains(&c)
    };
    let fine = suffix.chars().count() <= LONGEST_UNIT
        && suffix.chars().all(part)
        && suffix.matches(' ').count() <= 1;
    fine.then(|| format!("{currency}{suffix}"))
}

/// Digits with a decimal sign and perhaps groups, as a plain number.
fn mantissa(text: &str, comma: bool) -> Option<String> {
    let (decimal, other) = if comma { (',', '.') } else { ('.', ',') };
    let (whole, part) = match text.split_once(decimal) {
        Some((whole, part)) => (whole, Some(part)),
        None => (text, None),
    };
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if part.is_some_and(|part| part.is_empty() || !digits(part)) || whole.is_empty() && part.is_none() {
        return None;
    }
    let plain = match whole.chars().find(|c| !c.is_ascii_digit()) {
        None if is_code(whole.as_bytes()) => return None,
        None => whole.to_owned(),
        Some(group) => {
            if group != other && !GROUPS.contains(&group) {
                return None;
            }
            let groups: Vec<&str> = whole.split(group).collect();
            let (first, last) = (groups[0], groups[groups.len() - 1]);
            let middle = &groups[1..groups.len() - 1];
            // 1,234,567, and 12,34,567 as in India.
            let even = middle.iter().all(|g| g.len() == 3)
                || middle.iter().all(|g| g.len() == 2) && first.len() <= 2;
            let fine = (1..=3).contains(&first.len()) && !first.starts_with('0') && last.len() == 3 && even;
            if !fine || !groups.iter().all(|g| digits(g)) {
                return None;
            }
            groups.concat()
        }
    };
    let plain = if plain.is_empty() { "0".to_owned() } else { plain };
    Some(part.map_or_else(|| plain.clone(), |part| format!("{plain}.{part}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::io::{ReadOptions, read_bytes};
    use crate::data::{Data, Targets};

    #[test]
    fn amounts_are_read_under_one_decimal_sign() {
        for (text, comma, wanted) in [
            ("$1,234.50", false, Some(("1234.50", "$"))),
            ("US$ 5", false, Some(("5", "US$"))),
            ("R$ 1.234,50", true, Some(("1234.50", "R$"))),
            ("€5", false, Some(("5", "€"))),
            ("EUR 5,00", true, Some(("5.00", "EUR"))),
            ("5,00 €", true, Some(("5.00", "€"))),
            ("-$5", false, Some(("-5", "$"))),
            ("$-5", false, Some(("-5", "$"))),
            ("\u{2212}5 °C", false, Some(("-5", "°C"))),
            ("(1,234)", false, Some(("-1234", ""))),
            ("12 %", false, Some(("12", "%"))),
            ("12.5%", false, Some(("12.5", "%"))),
            ("1 234,5", true, Some(("1234.5", ""))),
            ("1\u{a0}234\u{202f}567", true, None),
            ("1\u{a0}234\u{a0}567 km/h", true, Some(("1234567", "km/h"))),
            ("1'234.50", false, Some(("1234.50", ""))),
            ("12,34,567", false, Some(("1234567", ""))),
            ("1.234.567", true, Some(("1234567", ""))),
            ("70 kg", false, Some(("70", "kg"))),
            ("1.5e3 kg", false, Some(("1.5e3", "kg"))),
            ("1.5E-3", false, Some(("1.5e-3", ""))),
            ("5 euros", false, Some(("5", "euros"))),
            (".5%", false, Some(("0.5", "%"))),
            ("1,234.50-", false, Some(("-1234.50", ""))),
            ("5 €-", false, Some(("-5", "€"))),
            // No amounts.
            ("1,5", false, None),
            ("1,23", false, None),
            ("0,123", false, None),
            ("1,2345", false, None),
            ("1.5.2", false, None),
            ("31.12.2024", true, None),
            ("2024-12-31", false, None),
            ("12:30", false, None),
            ("555 123 4567", false, None),
            ("A1", false, None),
            ("12 A4", false, None),
            ("007", false, None),
            ("10-20", false, None),
            ("5.", false, None),
            ("kg", false, None),
            ("", false, None),
            ("$", false, None),
            ("(-5)", false, None),
            ("-5-", false, None),
        ] {
            let got = amount(text, comma);
            assert_eq!(got, wanted.map(|(v, u)| (v.to_owned(), u.to_owned())), "{text} {comma}");
        }
    }

    /// Reads a table; the values of its features.
    fn numbers(text: &str) -> (Vec<f64>, Targets, Vec<String>) {
        let data = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).expect("a table");
        let Data::F64(values) = data.points.view().data else { panic!("{}: {text}", data.points.kind()) };
        (values.to_vec(), data.targets.clone(), data.notes.iter().map(|n| n.text.clone()).collect())
    }

    #[test]
    fn a_column_of_amounts_becomes_numbers_and_the_note_shows_one() {
        let (x, y, notes) = numbers("price,class\n\"$1,200.50\",a\n$30,b\n$7,a\n");
        assert_eq!(x, [1200.5, 30.0, 7.0]);
        assert!(y.classes().is_ok());
        assert!(notes.iter().any(|n| n == "column `price`: `$1,200.50` is read as 1200.50"), "{notes:?}");
        // Decimal commas in quotes, and thousands in points.
        assert_eq!(numbers("a,class\n\"1,5\",a\n\"2,25\",b\n").0, [1.5, 2.25]);
        assert_eq!(numbers("a;class\n1.234,5;a\n2,25;b\n12.000;b\n").0, [1234.5, 2.25, 12000.0]);
        // A target of amounts is a number where there are fractions or many, and a class where there are few.
        let (_, y, _) = numbers("a,price\n1,$2.50\n2,$3.75\n");
        assert_eq!(y, Targets::Reals(vec![2.5, 3.75]));
        let (_, y, _) = numbers("a,discount\n1,5 %\n2,10 %\n3,5 %\n");
        let mut names = y.classes().expect("classes").names.clone();
        names.sort();
        assert_eq!(names, ["10 %", "5 %"]);
    }

    #[test]
    fn cells_of_several_units_stay_text() {
        for text in ["w,class\n5 kg,a\n6 g,b\n", "w,class\n$5,a\n€6,b\n", "w,class\n1.5,a\n\"2,5\",b\n"] {
            let data = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).expect("a table");
            assert_eq!(data.points.kind(), "table", "{text}");
        }
    }
}
