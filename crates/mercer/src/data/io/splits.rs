//! Splits that come with a data set: lines `k train i1 i2 ...` and `k test i1 i2 ...`, row numbers from 0.

use std::path::Path;

use super::limits::Budget;
use super::source::Input;
use super::text::{Lines, shown};
use crate::data::split::Fold;
use crate::error::{Error, Result};

/// Reads the splits of a data set of n rows, in the order of their numbers.
///
/// Row numbers may come in any order. Each number needs both a `train` and a `test` line, no row may be on both sides, and none twice on one.
pub fn read_splits(path: impl AsRef<Path>, n: usize) -> Result<Vec<Fold>> {
    read(&mut Input::open(path.as_ref(), Budget::new(None, None))?, n)
}

/// Reads splits from memory; `name` stands for the file in messages.
///
/// ```
/// let folds = mercer::data::io::read_splits_bytes("s", b"1 train 0 2\n1 test 1\n", 3)?;
/// assert_eq!((folds[0].train.as_slice(), folds[0].test.as_slice()), (&[0, 2][..], &[1][..]));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn read_splits_bytes(name: &str, bytes: &[u8], n: usize) -> Result<Vec<Fold>> {
    read(&mut Input::bytes(name, bytes, Budget::new(None, None))?, n)
}

fn read(input: &mut Input<'_>, n: usize) -> Result<Vec<Fold>> {
    let mut sides = std::collections::BTreeMap::<u32, [Option<Vec<usize>>; 2]>::new();
    let mut lines = Lines::new(input);
    let mut total = 0usize;
    while lines.advance()? {
        let mut words = lines.line().split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let Some(first) = words.next().filter(|w| !w.starts_with(b"#")) else { continue };
        let side = words.next().unwrap_or_default();
        let Some(number) = whole(first) else {
            return Err(lines.fault(Some(shown(first)), "a split's number"));
        };
        let Some(side) = [b"train".as_slice(), b"test"].iter().position(|s| *s == side) else {
            return Err(lines.fault(Some(shown(lines.line())), "`k train i1 i2 ...` or `k test i1 i2 ...`"));
        };
        let rows: Vec<usize> = words
            .map(|word| {
                whole(word).filter(|&row| (row as usize) < n).map(|row| row as usize).ok_or_else(|| {
                    lines.fault(Some(shown(word)), format!("a row number from 0 to {}", n.saturating_sub(1)))
                })
            })
            .collect::<Result<_>>()?;
        total += rows.len();
        lines.input.budget.check(&lines.input.name, Some(lines.number), total, 8)?;
        let place = &mut sides.entry(number).or_default()[side];
        if place.is_some() {
            return Err(lines.fault(Some(shown(lines.line())), "one train and one test line for each split"));
        }
        *place = Some(rows);
    }
    if sides.is_empty() {
        return Err(input.fault(Some("no splits"), "lines `k train i1 i2 ...` and `k test i1 i2 ...`"));
    }
    sides.into_iter().map(|(number, sides)| fold(input, number, sides, n)).collect()
}

fn whole(word: &[u8]) -> Option<u32> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn fold(input: &Input<'_>, number: u32, sides: [Option<Vec<usize>>; 2], n: usize) -> Result<Fold> {
    let [Some(mut train), Some(mut test)] = sides else {
        return Err(
            input.fault(Some(&format!("half of split {number}")), "a train and a test line for each split")
        );
    };
    let mut seen = vec![false; n];
    for &row in train.iter().chain(&test) {
        if std::mem::replace(&mut seen[row], true) {
            return Err(twice(input, number, row));
        }
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok(Fold { train, test })
}

fn twice(input: &Input<'_>, number: u32, row: usize) -> Error {
    input.fault(Some(&format!("row {row} twice in split {number}")), "each row at most once in a split")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read_splits_bytes("s", text.as_bytes(), 3).expect_err("bad splits").to_string()
    }

    #[test]
    fn splits_come_in_the_order_of_their_numbers() {
        let folds =
            read_splits_bytes("s", b"2 test 0\n1 train 1 0\n1 test 2\n2 train 1\n", 3).expect("fine splits");
        assert_eq!(folds.len(), 2);
        assert_eq!((folds[0].train.as_slice(), folds[1].train.as_slice()), (&[0, 1][..], &[1][..]));
    }

    #[test]
    fn bad_splits_are_named() {
        assert_eq!(message("1 train 0 3\n"), "s, line 1: got `3`, expected a row number from 0 to 2");
        assert_eq!(
            message("1 train 0\n"),
            "s: got half of split 1, expected a train and a test line for each split"
        );
        assert_eq!(
            message("1 train 0\n1 test 0\n"),
            "s: got row 0 twice in split 1, expected each row at most once in a split"
        );
        assert_eq!(
            message("1 tran 0\n"),
            "s, line 1: got `1 tran 0`, expected `k train i1 i2 ...` or `k test i1 i2 ...`"
        );
        assert_eq!(
            message(""),
            "s: got no splits, expected lines `k train i1 i2 ...` and `k test i1 i2 ...`"
        );
    }
}
