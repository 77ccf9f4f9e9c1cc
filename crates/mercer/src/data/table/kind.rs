//! Kinds of table columns: given by the user, or detected from the values.
//!
//! The rules, in order; a column takes the first that holds:
//!
//! | kind | rule |
//! |---|---|
//! | constant | no value at all, or the same one in every row |
//! | identifier | whole numbers, a different one in each of at least 10 rows, in a column called id, index, row, key, number or the like, or without a name |
//! | number | numbers, except for at most 1 value in 1,000, or for up to 5 words in at most a fifth of the rows (`unknown`, `see note`) next to more than 20 different numbers; what is no number counts as missing |
//! | date | dates or times in one form, except for at most 1 value in 1,000, which then counts as missing |
//! | yes/no | yes and no, y and n, true and false, t and f, on and off, or the same in German, French, Spanish or Italian, in upper or lower case |
//! | identifier | text of one or two words on average, at least 95 % of the values different, in at least 20 rows |
//! | text | more than half of the values different, in at least 20 rows; or more than 5 words on average and over 20 different ones |
//! | category | any other text |
//!
//! Missing values do not count, in the rules as in the shares. Ordered categories, and numbers that are categories,
//! only a person can tell.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::date::Format;
use super::{Column, MISSING};
use crate::error::Error;

/// One value in this many may be something else.
const ODD: usize = 1000;
/// Different words that may stand in a column of numbers instead of missing values; the share of the values that they may
/// be is one in so many, and beside no more different numbers than these the words are rather categories.
const MOST_ODD_WORDS: usize = 5;
const ODD_WORDS: usize = 5;
const FEW_NUMBERS: usize = 20;
/// Fewer rows do not show that whole numbers identify them.
const ENOUGH_NUMBERS: usize = 10;
/// Fewer rows do not show that texts identify them, or that they repeat too seldom.
const ENOUGH_TEXTS: usize = 20;
/// Words of an average text beyond which it is no name of a category.
const WORDS: f64 = 5.0;
/// Names of columns that number rows, in lower case without blanks, hyphens and underscores.
const NUMBERING: [&str; 13] =
    ["", "id", "ids", "index", "idx", "row", "rownames", "rownumber", "key", "number", "no", "nr", "uuid"];
/// What means yes and no.
const YES: [&str; 13] = ["yes", "y", "true", "t", "on", "ja", "j", "wahr", "oui", "vrai", "si", "sí", "sì"];
const NO: [&str; 10] = ["no", "n", "false", "f", "off", "nein", "falsch", "non", "faux", "falso"];

/// What a column is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Amounts.
    Number,
    /// One of some values without order.
    Category,
    /// One of these values, from low to high.
    Ordered(Vec<String>),
    /// Yes or no, true or false.
    YesNo,
    /// Dates, times, or both.
    Date,
    /// Text to read; not used.
    Text,
    /// Distinguishes rows and carries no information; ignored.
    Identifier,
    /// The same in every row; not used.
    Constant,
}

impl Kind {
    /// The kinds that a word names, with that word.
    pub const WORDS: [(&'static str, Kind); 6] = [
        ("number", Kind::Number),
        ("category", Kind::Category),
        ("yes/no", Kind::YesNo),
        ("date", Kind::Date),
        ("text", Kind::Text),
        ("identifier", Kind::Identifier),
    ];

    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Ordered(_) => "ordered",
            Kind::Constant => "constant",
            other => Kind::WORDS.iter().find(|(_, kind)| kind == other).map_or("", |(word, _)| word),
        }
    }

    /// Whether a model learns from such columns.
    pub fn is_used(&self) -> bool {
        !matches!(self, Kind::Text | Kind::Identifier | Kind::Constant)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Ordered(values) => write!(f, "ordered({})", values.join("<")),
            other => f.write_str(other.name()),
        }
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if let Some(values) = text.strip_prefix("ordered(").and_then(|t| t.strip_suffix(')')) {
            let values: Vec<String> = values.split('<').map(|v| v.trim().to_owned()).collect();
            let twice = (1..values.len()).any(|i| values[..i].contains(&values[i]));
            if values.len() < 2 || twice || values.contains(&String::new()) {
                return Err(Error::param(
                    "kind of a column",
                    text,
                    "different values, as ordered(low<medium<high)",
                ));
            }
            return Ok(Kind::Ordered(values));
        }
        let word = match text {
            "boolean" | "bool" | "yes-no" => "yes/no",
            "time" | "datetime" => "date",
            "id" => "identifier",
            other => other,
        };
        Kind::WORDS.iter().find(|(w, _)| *w == word).map(|(_, kind)| kind.clone()).ok_or_else(|| {
            let words = Kind::WORDS.map(|(word, _)| word).join(", ");
            Error::param("kind of a column", text, format!("one of {words}, or ordered(low<medium<high)"))
        })
    }
}

/// What some columns are: `age=number,size=ordered(small<large)`.
///
/// ```
/// use mercer::data::table::{ColumnKinds, Kind};
/// let kinds: ColumnKinds = "zip=category, size=ordered(small<large)".parse()?;
/// assert_eq!(kinds.0[0], ("zip".to_owned(), Kind::Category));
/// assert_eq!(kinds.to_string(), "zip=category,size=ordered(small<large)");
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnKinds(pub Vec<(String, Kind)>);

impl FromStr for ColumnKinds {
    type Err = Error;

    /// Commas within parentheses or double quotes are part of a value or a name.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (mut pieces, mut depth, mut quoted) = (vec![String::new()], 0usize, false);
        for c in text.chars() {
            match c {
                '"' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            match (c, pieces.last_mut()) {
                (',', _) if depth == 0 && !quoted => pieces.push(String::new()),
                (c, Some(piece)) => piece.push(c),
                _ => {}
            }
        }
        let one = |piece: &String| {
            let piece = piece.trim();
            let cut = match piece.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
                Some((name, rest)) => rest.trim().strip_prefix('=').map(|kind| (name, kind)),
                None => piece.split_once('='),
            };
            let (name, kind) = cut.ok_or_else(|| {
                Error::param("columns", format!("`{piece}`"), "a name and a kind, for example age=number")
            })?;
            Ok((name.trim().to_owned(), kind.parse()?))
        };
        let list = pieces.iter().map(one).collect::<Result<Vec<_>, Error>>()?;
        if let Some(i) = (1..list.len()).find(|&i| list[..i].iter().any(|(name, _)| *name == list[i].0)) {
            return Err(Error::param(
                "columns",
                format!("`{}` twice", list[i].0),
                "one kind for each column",
            ));
        }
        Ok(ColumnKinds(list))
    }
}

impl fmt::Display for ColumnKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, kind): &(String, Kind)| {
            let quote = if name.contains([',', '=', '"']) { "\"" } else { "" };
            format!("{quote}{name}{quote}={kind}")
        };
        f.write_str(&self.0.iter().map(one).collect::<Vec<_>>().join(","))
    }
}

/// What a column was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The kind.
    pub kind: Kind,
    /// Why; nothing where somebody said so.
    pub why: Option<String>,
    /// Values that are of another kind and count as missing; the first few.
    pub odd: Vec<String>,
}

/// What a column is by its values in some rows.
pub(in crate::data) fn find(name: &str, column: &Column, rows: Range<usize>) -> Found {
    let found = |kind, why: &str| Found { kind, why: Some(why.to_owned()), odd: Vec::new() };
    match column {
        Column::Numbers(x) => {
            let x = &x[rows];
            let present = || x.iter().copied().filter(|v| !v.is_nan());
            let Some(first) = present().next() else { return found(Kind::Constant, "it has no values") };
            if x.iter().all(|&v| v == first) {
                return found(Kind::Constant, "it is the same in every row");
            }
            if x.len() >= ENOUGH_NUMBERS && numbers_rows(name) && x.iter().all(|v| v.fract() == 0.0) {
                let mut sorted = x.to_vec();
                sorted.sort_by(f64::total_cmp);
                if sorted.windows(2).all(|w| w[0] < w[1]) {
                    return found(Kind::Identifier, "whole numbers, all different, under such a name");
                }
            }
            found(Kind::Number, "its values are numbers")
        }
        Column::Text { pool, of_row } => {
            let of_row = &of_row[rows];
            let mut count = vec![0usize; pool.len()];
            for &k in of_row.iter().filter(|&&k| k != MISSING) {
                count[k as usize] += 1;
            }
            let texts: Vec<(&str, usize)> =
                pool.iter().map(String::as_str).zip(count).filter(|(_, count)| *count > 0).collect();
            of_texts(name, &texts, of_row.len())
        }
    }
}

/// What a column of these texts is, each with how often it occurs.
fn of_texts(name: &str, texts: &[(&str, usize)], rows: usize) -> Found {
    let found = |kind, why: String| Found { kind, why: Some(why), odd: Vec::new() };
    let present: usize = texts.iter().map(|(_, count)| count).sum();
    let distinct = texts.len();
    if present == 0 {
        return found(Kind::Constant, "it has no values".into());
    }
    if distinct == 1 && present == rows {
        return found(Kind::Constant, "it is the same in every row".into());
    }
    let mostly = |good: usize| good > 0 && (present - good) * ODD <= present;
    let besides = |is: &dyn Fn(&str) -> bool| {
        texts.iter().filter(|(t, _)| !is(t)).take(3).map(|(t, _)| (*t).to_owned()).collect::<Vec<_>>()
    };
    let is_number = |text: &str| number(text).is_some();
    let numbers: usize = texts.iter().filter(|(t, _)| is_number(t)).map(|(_, count)| count).sum();
    let words = || texts.iter().filter(|(t, _)| !is_number(t));
    let with_words = (present - numbers) * ODD_WORDS <= present
        && words().count() <= MOST_ODD_WORDS
        && distinct - words().count() > FEW_NUMBERS
        // Codes such as `V27` are names, not gaps; `<0.5` and `90+` are limits of what was measured.
        && words().all(|(t, _)| {
            let limit = t.starts_with(['<', '>', '≤', '≥', '~']) || t.ends_with('+');
            limit || !t.bytes().any(|b| b.is_ascii_digit())
        });
    if mostly(numbers) || with_words {
        if numbers == present && distinct == rows && rows >= ENOUGH_NUMBERS && numbers_rows(name) {
            return found(Kind::Identifier, "numbers, all different, under such a name".into());
        }
        let odd = besides(&is_number);
        return Found { kind: Kind::Number, why: Some("its values are numbers".into()), odd };
    }
    if let Some((format, read)) = Format::of(texts.iter().copied()).filter(|(_, read)| mostly(*read)) {
        let odd = besides(&|text| format.parse(text).is_some());
        debug_assert!(read <= present);
        return Found { kind: Kind::Date, why: Some("its values are dates or times".into()), odd };
    }
    if texts.iter().all(|(t, _)| yes_or_no(t).is_some()) {
        return found(Kind::YesNo, "its values are yes and no".into());
    }
    let words =
        texts.iter().map(|(t, c)| t.split_whitespace().count() * c).sum::<usize>() as f64 / present as f64;
    let share = distinct as f64 / present as f64;
    if present >= ENOUGH_TEXTS && share >= 0.95 && words <= 2.0 {
        return found(Kind::Identifier, format!("{distinct} different values in {present} rows"));
    }
    if present >= ENOUGH_TEXTS && share > 0.5 || words > WORDS && distinct > ENOUGH_TEXTS {
        return found(Kind::Text, format!("{distinct} different values in {present} rows"));
    }
    found(Kind::Category, format!("{distinct} different values"))
}

/// Yes or no as a word, in any case.
pub(in crate::data) fn yes_or_no(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|w| text.eq_ignore_ascii_case(w));
    if is(&YES) {
        Some(true)
    } else if is(&NO) {
        Some(false)
    } else {
        None
    }
}

/// The finite number that a text is.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|v: &f64| v.is_finite())
}

/// Whether a column of this name numbers rows.
pub(in crate::data) fn numbers_rows(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let bare: String = lower.chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '.')).collect();
    // `PassengerId` and `customer_id`, but not `acid`.
    let ends = lower.ends_with("_id") || lower.ends_with(" id") || lower.ends_with("-id");
    // `Unnamed: 0`, as pandas writes it.
    let unnamed = bare.strip_prefix("unnamed:").is_some_and(|k| k.bytes().all(|b| b.is_ascii_digit()));
    NUMBERING.contains(&bare.as_str()) || unnamed || ends || name.ends_with("Id") || name.ends_with("ID")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, cells: &[&str]) -> Kind {
        let text = Column::text(cells.iter().map(|c| Some(*c).filter(|c| !c.is_empty())));
        find(name, &text, 0..cells.len()).kind
    }

    fn many(n: usize, f: impl Fn(usize) -> String) -> Vec<String> {
        (0..n).map(f).collect()
    }

    fn kind_of(name: &str, cells: &[String]) -> Kind {
        kind(name, &cells.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn each_rule_finds_its_kind() {
        assert_eq!(kind("a", &["", ""]), Kind::Constant);
        assert_eq!(kind("a", &["x", "x"]), Kind::Constant);
        assert_eq!(kind("a", &["x", ""]), Kind::Category);
        assert_eq!(kind("a", &["1", "2.5", ""]), Kind::Number);
        assert_eq!(kind("a", &["2024-01-31", "2024-02-01 12:00"]), Kind::Date);
        assert_eq!(kind("a", &["08:15", "17:45:10"]), Kind::Date);
        assert_eq!(kind("a", &["Yes", "no", "NO"]), Kind::YesNo);
        assert_eq!(kind("a", &["T", "F"]), Kind::YesNo);
        assert_eq!(kind("a", &["TRUE", "yes", "N", "off", "Nein"]), Kind::YesNo);
        assert_eq!(kind("a", &["red", "no"]), Kind::Category);
        assert_eq!(kind("a", &["$5", "$7"]), Kind::Category);
        assert_eq!(kind_of("name", &many(40, |i| format!("p{i}"))), Kind::Identifier);
        assert_eq!(kind_of("note", &many(40, |i| format!("the text of row number {i} here"))), Kind::Text);
        assert_eq!(kind_of("cabin", &many(40, |i| format!("c{}", i * 3 / 4))), Kind::Text);
        assert_eq!(kind_of("city", &many(40, |i| format!("c{}", i % 7))), Kind::Category);
        assert_eq!(kind_of("customer_id", &many(40, |i| format!("{}", 100 + i))), Kind::Identifier);
        assert_eq!(kind_of("acid", &many(40, |i| format!("{}", 100 + i))), Kind::Number);
        let numbers = |name: &str, x: Vec<f64>| find(name, &Column::Numbers(x.clone()), 0..x.len()).kind;
        assert_eq!(numbers("PassengerId", (0..40).map(f64::from).collect()), Kind::Identifier);
        assert_eq!(numbers("", (0..40).map(f64::from).collect()), Kind::Identifier);
        assert_eq!(numbers("id", (0..40).map(|i| f64::from(i) / 2.0).collect()), Kind::Number);
        assert_eq!(numbers("x", vec![1.0, f64::NAN]), Kind::Number);
        assert_eq!(numbers("x", vec![f64::NAN, f64::NAN]), Kind::Constant);
    }

    #[test]
    fn one_odd_value_in_a_thousand_does_not_change_the_kind() {
        let cells =
            |odd: usize| many(5000, |i| if i < odd { format!("oops{i}") } else { format!("{}", i % 97) });
        let found = |odd| {
            let cells = cells(odd);
            find("a", &Column::text(cells.iter().map(|c| Some(c.as_str()))), 0..cells.len())
        };
        assert_eq!(found(5).kind, Kind::Number);
        assert_eq!(found(5).odd, ["oops0", "oops1", "oops2"]);
        assert_eq!(found(6).kind, Kind::Category);
        assert!(found(0).odd.is_empty());
    }

    #[test]
    fn a_few_words_among_many_numbers_are_gaps() {
        let cells = |word: &dyn Fn(usize) -> String, numbers: usize| {
            many(200, |i| if i % 8 == 0 { word(i) } else { format!("{}.5", i % numbers) })
        };
        let found = |cells: &[String]| {
            find("a", &Column::text(cells.iter().map(|c| Some(c.as_str()))), 0..cells.len())
        };
        let unknown = found(&cells(&|_| "unknown".into(), 60));
        assert_eq!((unknown.kind, unknown.odd), (Kind::Number, vec!["unknown".to_owned()]));
        assert_eq!(found(&cells(&|i| ["<0.5", "90+"][i / 8 % 2].into(), 60)).kind, Kind::Number);
        // Codes, a few numbers beside a word, and remarks of all sorts are none.
        assert_eq!(found(&cells(&|i| format!("V{}", i % 3), 60)).kind, Kind::Category);
        assert_eq!(found(&cells(&|_| "other".into(), 7)).kind, Kind::Category);
        let remark = |i: usize| ["a", "b", "c", "d", "e", "f", "g"][i / 8 % 7].to_owned();
        assert_eq!(found(&cells(&remark, 60)).kind, Kind::Category);
    }

    #[test]
    fn kinds_are_read_and_printed() {
        for line in
            ["a=number", "a=category,b=ordered(x<y<z)", "\"a,b=c\"=date", "x=yes/no,y=text,z=identifier"]
        {
            let kinds: ColumnKinds = line.parse().expect(line);
            assert_eq!(kinds.to_string(), line);
        }
        for (line, part) in [
            ("a", "columns = `a`: must be a name and a kind"),
            ("a=colour", "kind of a column = colour: must be one of number, category"),
            ("a=ordered(x)", "ordered(low<medium<high)"),
            ("a=ordered(x<x)", "different values"),
            ("a=number,a=text", "`a` twice"),
        ] {
            let message = line.parse::<ColumnKinds>().expect_err(line).to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
