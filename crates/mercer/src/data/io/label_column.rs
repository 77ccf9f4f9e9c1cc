//! Which column of a table is the label: the one asked for, one whose name says so, or a guess by its place.

use super::LabelColumn;
use super::dialect::Dialect;
use super::records::Record;
use super::table_rows::Layout;
use super::text::{is_not_finite, shown};
use crate::data::TargetFrom;
use crate::data::table::{Column, Kind, kind};
use crate::error::{Error, Result};

/// Header names that mark the label column, best first.
const NAMES: [&str; 19] = [
    "label",
    "class",
    "target",
    "labels",
    "classes",
    "targets",
    "outcome",
    "response",
    "species",
    "category",
    "diagnosis",
    "y_true",
    "class_label",
    "target_class",
    "zielvariable",
    "zielgröße",
    "cible",
    "objetivo",
    "etichetta",
];

/// Last words of names that speak for an outcome, where no column is called a label and the place would decide.
const OUTCOMES: [&str; 14] = [
    "delay",
    "price",
    "survived",
    "churn",
    "churned",
    "fraud",
    "attrition",
    "exited",
    "defaulted",
    "approved",
    "readmitted",
    "converted",
    "quality",
    "result",
];

/// The same, for names that are as often features: they yield to a last column that may hold classes.
const WEAK_OUTCOMES: [&str; 7] = ["salary", "cost", "rating", "sales", "revenue", "demand", "income"];

/// The first rows of a table.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) rows: &'a [Record],
    pub(super) width: usize,
    pub(super) names: Option<&'a [String]>,
    pub(super) dialect: &'a Dialect,
    pub(super) layout: &'a Layout,
}

impl<'a> Sample<'a> {
    /// The cells of a column that are not missing.
    fn cells(&self, at: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let Sample { rows, dialect, .. } = *self;
        let cells = rows.iter().filter(move |r| r.len() > at).map(move |r| r.field(at));
        cells.filter(move |f| !dialect.is_missing_label(f))
    }

    /// Whether a column is text: its first value that is not missing is not a number, not even an infinite one.
    fn is_text(&self, at: usize) -> bool {
        self.cells(at).find(|f| !is_not_finite(f)).is_some_and(|f| self.dialect.number(f).is_none())
    }

    /// Whether a column may well hold classes: text, or two different values.
    fn is_like_classes(&self, at: usize) -> bool {
        let first = self.cells(at).next();
        let second = self.cells(at).find(|cell| Some(*cell) != first);
        let only_two = || second.is_some() && self.cells(at).all(|c| Some(c) == first || Some(c) == second);
        self.is_text(at) || only_two()
    }

    /// Whether a column is not an identifier, a date or free text.
    fn may_be_label(&self, at: usize) -> bool {
        let cells: Vec<_> = self.cells(at).map(|f| self.dialect.text(f)).collect();
        let column = Column::text(cells.iter().map(|c| Some(&**c)));
        // Without column names, no name indicates an identifier.
        let name = self.names.map_or("unknown", |names| &names[at]);
        let found = kind::find(name, &column, 0..column.len());
        !matches!(found.kind, Kind::Identifier | Kind::Date | Kind::Text)
    }
}

/// The label's column, none where there is none.
pub(super) fn label_column(
    source: &str,
    sample: &Sample<'_>,
    wish: &LabelColumn,
) -> Result<Option<TargetFrom>> {
    let Sample { width, names, .. } = *sample;
    let asked = |at: usize| {
        if width == 1 {
            return Err(Error::shape("columns other than the label", 0, "at least 1"));
        }
        Ok(Some(TargetFrom { column: at + 1, why: None, guessed: false }))
    };
    match wish {
        LabelColumn::None => Ok(None),
        LabelColumn::Number(number) => asked(super::column_number(source, *number, width)?),
        LabelColumn::Name(name) => {
            let Some(names) = names else {
                let allowed = format!("a number from 1 to {width}: {source} has no header");
                return Err(Error::param("label column", name, allowed));
            };
            let at = names.iter().position(|n| n == name);
            let at = at.or_else(|| names.iter().position(|n| n.eq_ignore_ascii_case(name)));
            at.map_or_else(
                || {
                    let allowed = format!("one of the columns of {source}: {}", listed(names));
                    Err(Error::param("label column", name, allowed))
                },
                asked,
            )
        }
        LabelColumn::Auto => Ok(guess(sample)),
    }
}

fn guess(sample: &Sample<'_>) -> Option<TargetFrom> {
    let Sample { width, names, layout, .. } = *sample;
    if width == 1 {
        return None;
    }
    if let Some(names) = names {
        if let Some(found) = by_name(names).filter(|found| !layout.ignores(found.column - 1)) {
            return Some(found);
        }
        // How this library writes a table without targets.
        if names.iter().enumerate().all(|(j, n)| *n == format!("x{}", j + 1)) {
            return None;
        }
    }
    let text: Vec<usize> = (0..width).filter(|&at| !layout.ignores(at) && sample.is_text(at)).collect();
    let only_text = |at: usize| TargetFrom {
        column: at + 1,
        why: Some("the only column of text".into()),
        guessed: false,
    };
    let last = (0..width).rev().find(|&at| !layout.ignores(at) && sample.may_be_label(at));
    let last = last.unwrap_or(width - 1);
    let outcome = names.and_then(|names| {
        let yields = sample.is_like_classes(last);
        let word = |at: usize| {
            let name = names[at].trim();
            let word = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
            let weak = || WEAK_OUTCOMES.contains(&word.as_str()) && (!yields || at == last);
            OUTCOMES.contains(&word.as_str()) || weak()
        };
        let mut found = (0..width).filter(|&at| word(at) && !layout.ignores(at) && sample.may_be_label(at));
        // Two outcomes are as good as none.
        found.next().filter(|&at| at != last && found.next().is_none())
    });
    match text[..] {
        // With a header, a first column of text may well be a row's name.
        [0] if names.is_none() && sample.may_be_label(0) => Some(only_text(0)),
        // A category may well stand last behind an outcome that is a number.
        [at] if at == last && outcome.is_some() => Some(TargetFrom {
            column: at + 1,
            why: Some("a guess: the only column of text; --label COLUMN selects another".into()),
            guessed: true,
        }),
        [at] if at == last => Some(only_text(at)),
        _ if outcome.is_some() => outcome.map(|at| TargetFrom {
            column: at + 1,
            why: Some("a guess: its name is that of an outcome; --label COLUMN selects another".into()),
            guessed: true,
        }),
        _ => {
            let which = if last == width - 1 {
                "the last column"
            } else {
                "the last column that is not an identifier, date or free text"
            };
            Some(TargetFrom {
                column: last + 1,
                why: Some(format!("a guess: {which}; --label COLUMN selects another")),
                guessed: true,
            })
        }
    }
}

/// The column whose name is a target's, where there is one.
fn by_name(names: &[String]) -> Option<TargetFrom> {
    let place = |name: &&str| names.iter().position(|n| n.trim().to_lowercase() == **name);
    let mut found = NAMES.iter().filter_map(place);
    let (column, guessed) = if let Some(at) = found.next() {
        (at, found.next().is_some())
    } else {
        let at = place(&"y")?;
        // Beside x, or x and z, y is a coordinate; unless the two are all there is, and y a function of x.
        if place(&"z").is_some() || place(&"x").is_some() && names.len() > 2 {
            return None;
        }
        (at, false)
    };
    let why = if guessed {
        "a guess: other columns have a target's name too; --label COLUMN selects another"
    } else {
        "the name of a target column"
    };
    Some(TargetFrom { column: column + 1, why: Some(why.into()), guessed })
}

/// Names for a message, the first of them.
pub(super) fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut list: Vec<String> = names.iter().take(MOST).map(|n| shown(n.as_bytes())).collect();
    if names.len() > MOST {
        list.push(format!("and {} more", names.len() - MOST));
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use crate::data::io::{ReadOptions, read_bytes};

    /// The column taken, from 1, and whether that was a guess.
    fn taken(table: &str) -> Option<(usize, bool)> {
        let data = read_bytes("t.csv", table.as_bytes(), &ReadOptions::default()).expect("a table");
        let from = data.target_from?;
        assert_eq!(from.guessed, from.why.is_some_and(|why| why.contains("--label")), "{table}");
        Some((from.column, from.guessed))
    }

    #[test]
    fn names_come_before_places_and_guesses_say_so() {
        for (table, wanted) in [
            ("x,y,z,w,species\n1,2,3,4,0\n2,3,4,5,1\n", Some((5, false))),
            ("x,y,z,w\n1,2,3,4\n2,3,4,5\n", Some((4, true))),
            ("x,y,w\n1,2,3\n2,3,4\n", Some((3, true))),
            ("arr_delay,hour,wind\n1,2,3\n2,3,4\n", Some((1, true))),
            ("Sale Price,area,cost\n1,2,3\n2,3,4\n", Some((3, true))),
            ("delays,hour,wind\n1,2,3\n2,3,4\n", Some((3, true))),
            ("y,x\n1,2\n2,3\n", Some((1, false))),
            ("x,y\n1,2\n2,3\n", Some((2, false))),
            ("y,x1,x2\n1,2,3\n2,3,4\n", Some((1, false))),
            ("Target,a,b\n1,2,3\n2,3,4\n", Some((1, false))),
            ("a,label,class\n1,2,3\n2,3,4\n", Some((2, true))),
            ("a,b,kind\n1,2,u\n2,3,v\n", Some((3, false))),
            ("a,price,b,city\n1,2,3,u\n2,3,4,v\n", Some((4, true))),
            ("city,income,cls\nu,20,p\nv,31,q\nu,42,q\n", Some((3, true))),
            ("city,income,flag\nu,20,0\nv,31,1\nu,42,1\n", Some((3, true))),
            ("city,income,size\nu,20,4\nv,31,5\nu,42,6\n", Some((2, true))),
            ("city,price,cls\nu,20,p\nv,31,q\nu,42,q\n", Some((2, true))),
            ("Zielgröße,a,b\n1,2,3\n2,3,4\n", Some((1, false))),
            ("a,b,price\n1,2,3\n2,3,4\n", Some((3, true))),
            ("1,2,3\n2,3,4\n", Some((3, true))),
            ("u,2,3\nv,3,4\n", Some((1, false))),
            ("x1,x2\n1,2\n2,3\n", None),
            ("1\n2\n", None),
        ] {
            assert_eq!(taken(table), wanted, "{table}");
        }
    }

    #[test]
    fn columns_of_one_name_are_numbered_as_pandas_does() {
        let data = read_bytes("t.csv", b"a,b,a,a.1,a\n1,2,3,4,5\n6,7,8,9,1\n", &ReadOptions::default());
        let data = data.expect("numbered");
        assert_eq!(data.column_names.as_deref().expect("names"), ["a", "b", "a.2", "a.1"]);
        assert_eq!(data.target_name.as_deref(), Some("a.3"));
        let note = "2 columns have a name that another column has: renamed to `a.2`, `a.3`";
        assert!(data.notes.iter().any(|n| n.text == note), "{:?}", data.notes);
        let unnamed =
            read_bytes("t.csv", b"a,,b,,c\n1,2,3,4,5\n", &ReadOptions::default()).expect("numbered");
        assert_eq!(unnamed.column_names.expect("names"), ["a", "Unnamed: 1", "b", "Unnamed: 3"]);
        let fine = read_bytes("t.csv", b"a,A,\n1,2,3\n", &ReadOptions::default()).expect("all different");
        assert_eq!(fine.column_names.expect("names"), ["a", "A"]);
    }
}
