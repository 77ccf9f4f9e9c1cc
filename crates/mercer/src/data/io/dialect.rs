//! How one table writes its cells: the decimal sign and missing values.

use std::borrow::Cow;

use super::ReadOptions;
use super::amount::Amounts;
use super::records::Record;
use super::text::number;

/// How programs write missing values, and errors of formulas: in features and in labels.
const MISSING: [&str; 19] = [
    "", "na", "n/a", "n.a.", "nan", "-nan", "null", "(null)", "<na>", "\\n", "#na", "#n/a", "#value!",
    "#div/0!", "#ref!", "#name?", "#num!", "#null!", "#error!",
];
/// What means a missing value in features alone: in labels these are names of classes more often than not.
const MISSING_FEATURE: [&str; 8] = ["?", "none", "-", "--", "\u{2013}", "\u{2014}", ".", ".."];
/// Bytes of the longest of them.
const LONGEST_MISSING: usize = 8;

/// How cells are read.
#[derive(Debug, Clone, Default)]
pub(super) struct Dialect {
    /// Whether `1,5` is a number.
    decimal_comma: bool,
    missing: Option<Vec<String>>,
    /// Whether some number, such as -999, means a missing value.
    missing_number: bool,
    /// How each column writes its amounts, where cells are more than plain numbers.
    pub(super) amounts: Vec<Option<Amounts>>,
}

impl Dialect {
    /// The way the first records are written. A comma is a decimal sign where it does not separate fields, some number
    /// needs it, none has a point, and it is not between groups of three digits throughout.
    pub(super) fn of(sample: &[Record], delimiter: u8, options: &ReadOptions) -> Self {
        let missing = options.missing_values.as_ref();
        let missing: Option<Vec<String>> =
            missing.map(|list| list.iter().map(|m| m.trim().to_owned()).collect());
        let missing_number = missing.iter().flatten().any(|m| number(m.as_bytes()).is_some());
        let fields = || sample.iter().flat_map(Record::fields);
        let decimals = fields().any(|f| comma_number(f).is_some_and(|thousands| !thousands));
        let points = || fields().any(|f| f.contains(&b'.') && number(f).is_some());
        let decimal_comma = delimiter != b',' && decimals && !points();
        Dialect { decimal_comma, missing, missing_number, amounts: Vec::new() }
    }

    /// The record with plain numbers for amounts; nothing where it has none.
    pub(super) fn plain(&self, record: &Record) -> Option<Record> {
        if self.amounts.iter().all(Option::is_none) {
            return None;
        }
        let mut plain = Record::default();
        plain.line = record.line;
        for (at, field) in record.fields().enumerate() {
            let amounts = self.amounts.get(at).and_then(Option::as_ref).filter(|_| !self.is_missing(field));
            match amounts.and_then(|amounts| amounts.plain(field)) {
                Some(text) => plain.push(text.as_bytes()),
                None => plain.push(field),
            }
        }
        Some(plain)
    }

    /// Whether a comma is the decimal sign.
    pub(super) fn has_decimal_comma(&self) -> bool {
        self.decimal_comma
    }

    /// The finite number in a cell; `None` for a missing value.
    pub(super) fn number(&self, field: &[u8]) -> Option<f64> {
        if self.missing_number && self.is_missing(field) {
            return None;
        }
        if self.decimal_comma && comma_number(field).is_some() {
            let with_point: Vec<u8> = field.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
            return number(&with_point);
        }
        number(field)
    }

    /// Whether a feature's cell is missing.
    pub(super) fn is_missing(&self, field: &[u8]) -> bool {
        self.is_among(field, &MISSING) || self.missing.is_none() && self.is_among(field, &MISSING_FEATURE)
    }

    /// Whether a label is missing.
    pub(super) fn is_missing_label(&self, field: &[u8]) -> bool {
        self.is_among(field, &MISSING)
    }

    fn is_among(&self, field: &[u8], usual: &[&str]) -> bool {
        match &self.missing {
            Some(list) => field.is_empty() || list.iter().any(|m| field.eq_ignore_ascii_case(m.as_bytes())),
            // Nearly all cells are decided by their length or their first letter.
            None => {
                field.len() <= LONGEST_MISSING
                    && usual.iter().any(|m| field.eq_ignore_ascii_case(m.as_bytes()))
            }
        }
    }

    /// A cell of a column of text. A number has one form however it is written, so that `1`, `1.0` and `1,0` are one value;
    /// codes such as `007` and numbers of more than 15 digits stay as they are.
    pub(super) fn text<'a>(&self, field: &'a [u8]) -> Cow<'a, str> {
        match self.number(field).filter(|_| !is_code(field)) {
            Some(value) => Cow::Owned((value + 0.0).to_string()),
            None => text_of(field),
        }
    }
}

/// Whether a number is rather a code: digits that begin with a zero, or too many of them.
pub(super) fn is_code(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let whole = digits.iter().all(u8::is_ascii_digit);
    whole && (digits.len() > 15 || digits.len() > 1 && digits[0] == b'0')
}

/// A field as text: records are in UTF-8.
pub(super) fn text_of(field: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(field)
}

/// For `-12,5`, whether the comma may be between groups of three digits, as in `1,234`; nothing for anything else.
fn comma_number(field: &[u8]) -> Option<bool> {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let at = digits.iter().position(|&b| b == b',')?;
    let (whole, part) = (&digits[..at], &digits[at + 1..]);
    let (mantissa, exponent) = match part.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(e) => (&part[..e], &part[e + 1..]),
        None => (part, &b"0"[..]),
    };
    let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
    let all_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let fine = all_digits(whole) && all_digits(mantissa) && all_digits(exponent) && !exponent.is_empty();
    if !fine || whole.is_empty() && mantissa.is_empty() {
        return None;
    }
    Some((1..=3).contains(&whole.len()) && whole[0] != b'0' && part.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form_and_codes_are_kept() {
        let plain = Dialect::default();
        let comma = Dialect { decimal_comma: true, ..Dialect::default() };
        for (dialect, cell, wanted) in [
            (&plain, "1.0", "1"),
            (&plain, "+1", "1"),
            (&plain, "-0", "0"),
            (&plain, "02139", "02139"),
            (&plain, "0.50", "0.5"),
            (&plain, "12345678901234567890", "12345678901234567890"),
            (&plain, "1,5", "1,5"),
            (&comma, "1,50", "1.5"),
            (&comma, "-,5", "-0.5"),
            (&comma, "1,5e-2", "0.015"),
            (&comma, "1.234,5", "1.234,5"),
            (&comma, "1,2,3", "1,2,3"),
            (&comma, ",", ","),
        ] {
            assert_eq!(dialect.text(cell.as_bytes()), wanted, "{cell}");
        }
    }

    #[test]
    fn missing_values_are_the_usual_ones_or_those_given() {
        let plain = Dialect::default();
        for cell in [
            "", "NA", "n/a", "NaN", "NULL", "None", "?", "-", "#N/A", "#DIV/0!", "n.a.", "<NA>", "\\N",
            "\u{2013}", ".",
        ] {
            assert!(plain.is_missing(cell.as_bytes()), "{cell}");
        }
        assert!(MISSING.iter().chain(&MISSING_FEATURE).all(|m| m.len() <= LONGEST_MISSING));
        assert!(!plain.is_missing(b"0") && !plain.is_missing(b"unknown"));
        assert!(
            plain.is_missing_label(b"NA") && plain.is_missing_label(b"#N/A") && !plain.is_missing_label(b"-")
        );
        let given = Dialect { missing: Some(vec!["unknown".into()]), ..Dialect::default() };
        assert!(given.is_missing(b"Unknown") && given.is_missing(b"") && !given.is_missing(b"?"));
        assert!(given.is_missing_label(b"unknown"));
    }
}
