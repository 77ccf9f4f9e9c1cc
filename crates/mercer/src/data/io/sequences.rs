//! Sequences of symbols: `class<TAB>sequence` lines, and FASTA.
//!
//! A FASTA header is `>id`, `>id class`, or has `class=...` (or `label=...`) among its words or between bars:
//! `>sp|P1|class=kinase`. Sequence lines of one entry are joined. Either all entries have a class or none has.
//!
//! Letters are converted to upper case and the alphabet is detected from the letters that occur: DNA (`ACGT`), RNA
//! (`ACGU`), protein (the 20 amino acids), each followed by its codes for uncertain letters if any occur; else the
//! letters there are, in order. The plain letters have the same symbols with and without the codes, so that a test
//! file agrees with its training file. [`ReadOptions::alphabet`] fixes the letters instead, and then their case
//! counts. A file that is read for a model has the letters of the model, whichever of them occur.

use std::io::Write;

use super::ReadOptions;
use super::labels::Collector;
use super::source::Input;
use super::text::{Lines, name_of, shown};
use crate::data::{Data, Dataset, Points, Sequences, Targets};
use crate::error::{Error, Fault, Result};

/// A known alphabet: its letters, and the further codes that may occur among them.
struct Known {
    name: &'static str,
    letters: &'static [u8],
    codes: &'static [u8],
    /// Share of plain letters from which a text is of this kind; ambiguity codes alone are not evidence.
    plain_share: f64,
}

const KNOWN: [Known; 3] = [
    Known { name: "DNA", letters: b"ACGT", codes: b"RYSWKMBDHVN-", plain_share: 0.9 },
    Known { name: "RNA", letters: b"ACGU", codes: b"RYSWKMBDHVN-", plain_share: 0.9 },
    Known { name: "protein", letters: b"ACDEFGHIKLMNPQRSTVWY", codes: b"BJOUXZ*-", plain_share: 0.5 },
];

/// Rows as they are collected, letters not yet replaced by symbols.
struct Rows {
    start: Vec<usize>,
    letters: Vec<u8>,
    fold: bool,
}

impl Rows {
    fn new(options: &ReadOptions) -> Self {
        let upper = |letters: &Vec<u8>| !letters.iter().any(u8::is_ascii_lowercase);
        let fold = options.alphabet.is_none() && options.model_alphabet.as_ref().is_none_or(upper);
        Rows { start: vec![0], letters: Vec::new(), fold }
    }

    /// Adds letters to the row being read; the first that cannot be one is an error.
    fn extend(&mut self, text: &[u8]) -> std::result::Result<(), u8> {
        if let Some(&bad) = text.iter().find(|b| !b.is_ascii_graphic()) {
            return Err(bad);
        }
        let fold = self.fold;
        self.letters.extend(text.iter().map(|b| if fold { b.to_ascii_uppercase() } else { *b }));
        Ok(())
    }

    /// Ends the row being read; false if it is empty.
    fn end_row(&mut self) -> bool {
        let some = self.start.last() != Some(&self.letters.len());
        self.start.push(self.letters.len());
        some
    }

    fn bytes(&self) -> usize {
        self.letters.len() + self.start.len() * 8
    }

    fn finish(mut self, source: &str, options: &ReadOptions) -> Result<(Points, String)> {
        let mut seen = [0usize; 256];
        for &letter in &self.letters {
            seen[usize::from(letter)] += 1;
        }
        let (alphabet, name) = match (&options.alphabet, &options.model_alphabet) {
            (Some(text), own) => {
                let given = given_alphabet(text)?;
                if let Some(own) =
                    own.as_ref().filter(|own| !given.starts_with(own) && !own.starts_with(&given))
                {
                    let allowed = format!("{}, the letters of the model", shown(own));
                    return Err(Error::param("alphabet", shown(&given), allowed));
                }
                (given, "given")
            }
            (None, Some(own)) => (with_codes(own, &seen), "the model's"),
            (None, None) => alphabet_of(&seen),
        };
        let mut symbol = [None; 256];
        for (s, &letter) in alphabet.iter().enumerate() {
            symbol[usize::from(letter)] = Some(s as u8);
        }
        for (at, letter) in self.letters.iter_mut().enumerate() {
            let Some(s) = symbol[usize::from(*letter)] else {
                let row = self.start.partition_point(|&s| s <= at);
                return Err(Fault {
                    source: Some(source.to_owned()),
                    row: Some(row as u64),
                    got: Some(format!("the letter {}", shown(&[*letter]))),
                    expected: format!("a letter of the alphabet {}", shown(&alphabet)),
                    ..Fault::default()
                }
                .into());
            };
            *letter = s;
        }
        self.letters.shrink_to_fit();
        let note = format!("alphabet: {name}, {} letters", alphabet.len());
        let points = Points::sequences(Sequences { alphabet, start: self.start, symbol: self.letters })?;
        Ok((points, note))
    }
}

fn given_alphabet(text: &str) -> Result<Vec<u8>> {
    let letters = text.as_bytes();
    let twice = (1..letters.len()).any(|i| letters[..i].contains(&letters[i]));
    if letters.is_empty() || twice || !letters.iter().all(u8::is_ascii_graphic) {
        return Err(Error::param("alphabet", format!("{text:?}"), "different printable ASCII letters"));
    }
    Ok(letters.to_vec())
}

/// A model's letters, with the codes for uncertain ones behind them where some occur.
fn with_codes(own: &[u8], seen: &[usize; 256]) -> Vec<u8> {
    let mut alphabet = own.to_vec();
    if let Some(known) = KNOWN.iter().find(|known| known.letters == own)
        && known.codes.iter().any(|&code| seen[usize::from(code)] > 0)
    {
        alphabet.extend_from_slice(known.codes);
    }
    alphabet
}

fn alphabet_of(seen: &[usize; 256]) -> (Vec<u8>, &'static str) {
    let occurring: Vec<u8> = (0..=255u8).filter(|&b| seen[usize::from(b)] > 0).collect();
    let total: usize = seen.iter().sum();
    for known in &KNOWN {
        let plain: usize = known.letters.iter().map(|&b| seen[usize::from(b)]).sum();
        let enough = plain as f64 >= known.plain_share * total as f64;
        if enough && occurring.iter().all(|b| known.letters.contains(b) || known.codes.contains(b)) {
            let mut alphabet = known.letters.to_vec();
            if plain < total {
                alphabet.extend_from_slice(known.codes);
            }
            return (alphabet, known.name);
        }
    }
    (occurring, "the letters there are")
}

/// Reads `class<TAB>sequence` lines.
pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let mut rows = Rows::new(options);
    let mut labels = Collector::new(options.targets);
    let mut lines = Lines::new(input);
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let Some(tab) = lines.line().iter().position(|&b| b == b'\t') else {
            return Err(lines.fault(Some(shown(line)), "`class<TAB>sequence`"));
        };
        let (class, letters) = lines.line().split_at(tab);
        labels.push(class.trim_ascii()).map_err(|(got, expected)| lines.fault(Some(got), expected))?;
        rows.extend(letters.trim_ascii()).map_err(|bad| bad_letter(&lines, bad))?;
        if !rows.end_row() {
            return Err(lines.fault(Some("an empty sequence".into()), "at least one letter"));
        }
        lines.input.budget.check(&lines.input.name, Some(lines.number), rows.bytes() + labels.bytes(), 1)?;
    }
    if rows.start.len() == 1 {
        return Err(input.fault(Some("no rows"), "at least one line `class<TAB>sequence`"));
    }
    let (points, note) = rows.finish(&input.name, options)?;
    let mut data = Dataset::new(points, labels.finish())?;
    data.note(note);
    Ok(data)
}

/// Sequences that are texts already, read as the lines of a file are.
pub(super) fn of_texts(source: &str, texts: &[&str], options: &ReadOptions) -> Result<Dataset> {
    let mut rows = Rows::new(options);
    for (row, text) in texts.iter().enumerate() {
        let fault = |got: String, expected: &str| -> Error {
            let (source, row) = (Some(source.to_owned()), Some(row as u64 + 1));
            Fault { source, row, got: Some(got), expected: expected.into(), ..Fault::default() }.into()
        };
        rows.extend(text.trim().as_bytes()).map_err(|bad| fault(shown(&[bad]), LETTERS))?;
        if !rows.end_row() {
            return Err(fault("an empty sequence".into(), "at least one letter"));
        }
    }
    let (points, note) = rows.finish(source, options)?;
    let mut data = Dataset::new(points, Targets::None)?;
    data.note(note);
    Ok(data)
}

/// Reads FASTA.
pub(super) fn read_fasta(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let mut rows = Rows::new(options);
    let mut labels = Collector::new(options.targets);
    let mut labelled = None;
    let mut names: Vec<String> = Vec::new();
    let mut name_bytes = 0;
    let mut lines = Lines::new(input);
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if line.is_empty() || line.starts_with(b";") {
            continue;
        }
        let bytes = rows.bytes() + labels.bytes() + name_bytes;
        lines.input.budget.check(&lines.input.name, Some(lines.number), bytes, 1)?;
        let Some(header) = line.strip_prefix(b">") else {
            if names.is_empty() {
                return Err(lines.fault(Some(shown(line)), "a header `>id class` first"));
            }
            rows.extend(line).map_err(|bad| bad_letter(&lines, bad))?;
            continue;
        };
        if !names.is_empty() && !rows.end_row() {
            return Err(
                lines.fault(Some("a header after an empty sequence".into()), "a sequence for each header")
            );
        }
        let Some(header) = name_of(header) else {
            return Err(lines.fault(Some(shown(header)), "a header in UTF-8"));
        };
        let (id, class) = id_and_class(header);
        if *labelled.get_or_insert(class.is_some()) != class.is_some() {
            let expected =
                if class.is_some() { "no class, as the entries before have none" } else { "`>id class`" };
            return Err(lines.fault(Some(shown(line)), expected));
        }
        if let Some(class) = class {
            labels.push(class.as_bytes()).map_err(|(got, expected)| lines.fault(Some(got), expected))?;
        }
        name_bytes += id.len() + size_of::<String>();
        names.push(id.to_owned());
    }
    if names.is_empty() {
        return Err(input.fault(Some("no entries"), "at least one `>id class` and its sequence"));
    }
    if !rows.end_row() {
        return Err(input.fault(Some("a last header without a sequence"), "a sequence for each header"));
    }
    let (points, note) = rows.finish(&input.name, options)?;
    let targets = if labelled == Some(true) { labels.finish() } else { Targets::None };
    let mut data = Dataset::new(points, targets)?;
    data.row_names = Some(names);
    data.note(note);
    Ok(data)
}

const LETTERS: &str = "printable ASCII letters without spaces in a sequence";

fn bad_letter(lines: &Lines<'_, '_>, bad: u8) -> Error {
    lines.fault(Some(shown(&[bad])), LETTERS)
}

/// The name and the class in a FASTA header.
fn id_and_class(header: &str) -> (&str, Option<&str>) {
    let header = header.trim();
    let id_end = header.find(char::is_whitespace).unwrap_or(header.len());
    let (word, rest) = header.split_at(id_end);
    for key in ["class=", "label="] {
        let in_bars = word.split('|').find_map(|part| part.strip_prefix(key));
        let in_words = rest.split_whitespace().find_map(|part| part.strip_prefix(key));
        if let Some(class) = in_bars.or(in_words) {
            let id = word.split('|').find(|part| !part.starts_with(key)).unwrap_or(word);
            return (if in_bars.is_some() { id } else { word }, Some(class));
        }
    }
    (word, rest.split_whitespace().next())
}

/// Writes `class<TAB>sequence` lines.
pub(super) fn write(out: &mut dyn Write, data: &Dataset, source: &str, _memory: u64) -> Result<()> {
    let view = data.points.view();
    let Data::Sequences { alphabet, start, symbol } = view.data else {
        return Err(Error::shape("points to write as sequences", view.kind(), "sequences"));
    };
    let mut line = Vec::new();
    for i in 0..view.n {
        line.clear();
        let class = match &data.targets {
            Targets::Classes(labels) => labels.name_of(i).to_owned(),
            Targets::Reals(y) => y[i].to_string(),
            Targets::None => {
                return Err(Error::shape("targets of sequences to write", "none", "one per row"));
            }
        };
        if class.contains(['\t', '\n', '\r']) || class.trim() != class || class.starts_with('#') {
            let allowed = "a name without tabs, line ends, surrounding spaces or a leading `#`";
            return Err(Error::param("class name", format!("{class:?}"), allowed));
        }
        line.extend_from_slice(class.as_bytes());
        line.push(b'\t');
        line.extend(symbol[start[i]..start[i + 1]].iter().map(|&s| alphabet[usize::from(s)]));
        line.push(b'\n');
        out.write_all(&line).map_err(|e| Error::io(source, e))?;
    }
    Ok(())
}

/// Letters of a line of FASTA.
const FASTA_LINE: usize = 60;

/// Writes FASTA: `>name class`, or `>name` where there are no classes, then lines of 60 letters.
pub(super) fn write_fasta(out: &mut dyn Write, data: &Dataset, source: &str, _memory: u64) -> Result<()> {
    let view = data.points.view();
    let Data::Sequences { alphabet, start, symbol } = view.data else {
        return Err(Error::shape("points to write as FASTA", view.kind(), "sequences"));
    };
    if let Some(letter) = alphabet.iter().find(|b| matches!(b, b'>' | b';')) {
        let allowed = "letters without `>` and `;`, which begin headers and remarks";
        return Err(Error::param("alphabet", char::from(*letter), allowed));
    }
    // A header is cut at blanks and may mark its class between bars.
    let word = |what: &str, text: String| {
        let marked = text.split('|').any(|part| part.starts_with("class=") || part.starts_with("label="));
        if text.is_empty() || text.contains(char::is_whitespace) || marked {
            return Err(Error::param(what, format!("{text:?}"), "a word without spaces, class= and label="));
        }
        Ok(text)
    };
    let mut lines = Vec::new();
    for i in 0..view.n {
        lines.clear();
        let name = match &data.row_names {
            Some(names) => word("row name", names[i].clone())?,
            None => (i + 1).to_string(),
        };
        lines.extend_from_slice(format!(">{name}").as_bytes());
        match &data.targets {
            Targets::Classes(labels) => {
                lines.extend_from_slice(
                    format!(" {}", word("class name", labels.name_of(i).to_owned())?).as_bytes(),
                );
            }
            Targets::Reals(y) => lines.extend_from_slice(format!(" {}", y[i]).as_bytes()),
            Targets::None => {}
        }
        lines.push(b'\n');
        for piece in symbol[start[i]..start[i + 1]].chunks(FASTA_LINE) {
            lines.extend(piece.iter().map(|&s| alphabet[usize::from(s)]));
            lines.push(b'\n');
        }
        out.write_all(&lines).map_err(|e| Error::io(source, e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Format, read_bytes, write_to};
    use super::*;

    #[test]
    fn fasta_comes_back_and_what_would_not_is_refused() {
        let long = "ACGT".repeat(40);
        let texts = [
            format!(">p1 kinase\n{long}\n>p2 other\nAC\n"),
            format!(">p1\n{long}\n>p2\nGATTACA\n"),
            ">p1 0.5\nAC\n>p2 1.5\nGT\n".to_owned(),
        ];
        for text in texts {
            let data = read_bytes("s.fasta", text.as_bytes(), &ReadOptions::default()).expect("FASTA");
            let mut bytes = Vec::new();
            write_to(&mut bytes, "s.fasta", &data, Format::Fasta).expect("written");
            assert!(bytes.split(|&b| b == b'\n').all(|line| line.len() <= FASTA_LINE));
            assert_eq!(read_bytes("s.fasta", &bytes, &ReadOptions::default()).expect("again"), data);
        }
        let bad =
            read_bytes("s.seq", b"two words\tACGT\nb\tGGCC\n", &ReadOptions::default()).expect("sequences");
        let refused =
            write_to(&mut Vec::new(), "s.fasta", &bad, Format::Fasta).expect_err("a blank").to_string();
        assert!(refused.starts_with("class name = \"two words\": must be a word"), "{refused}");
    }
}
