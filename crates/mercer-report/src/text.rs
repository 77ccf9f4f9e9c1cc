//! A page of text: headings, facts, aligned tables, remarks, with colours where they are wanted.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::scatter::MARKS;

/// No line is made longer than this; one that cannot be broken stays as it is.
const WIDTH: usize = 80;
/// What stands before every line but titles.
const INDENT: &str = "  ";

/// How a piece of text looks on a terminal. On paper all tones look the same, so none may carry meaning alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// As is.
    #[default]
    Plain,
    /// Stands out.
    Strong,
    /// Steps back.
    Quiet,
    /// All is well.
    Good,
    /// Worth a look.
    Warn,
    /// Something to type.
    Command,
    /// A class by its number: six colours, then again.
    Class(u8),
}

impl Tone {
    /// The tone of a class.
    pub fn class(k: usize) -> Self {
        Tone::Class((k % 6) as u8)
    }

    fn code(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Warn => "33",
            Tone::Command => "36",
            Tone::Class(k) => ["36", "35", "33", "32", "34", "31"][k as usize % 6],
        }
    }
}

/// Which side a column's cells lean to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table: columns with a head, rows of cells. A column wide enough for its widest cell, two spaces between.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<(String, Tone)>>,
}

impl Table {
    /// An empty table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more column.
    #[must_use]
    pub fn column(mut self, head: &str, align: Align) -> Self {
        self.columns.push((clean(head), align));
        self
    }

    /// One more row; missing cells are empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.toned_row(cells.into_iter().map(|cell| (cell.into(), Tone::Plain)));
    }

    /// One more row, each cell in its tone.
    pub fn toned_row(&mut self, cells: impl IntoIterator<Item = (String, Tone)>) {
        self.rows.push(cells.into_iter().map(|(cell, tone)| (clean(&cell), tone)).collect());
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A page being written.
#[derive(Debug, Clone, Default)]
pub struct Page {
    colour: bool,
    text: String,
}

impl Page {
    /// An empty page.
    pub fn new(colour: bool) -> Self {
        Page { colour, text: String::new() }
    }

    /// The page as text.
    pub fn finish(self) -> String {
        self.text
    }

    /// A piece of text in a tone.
    pub fn tint(&self, tone: Tone, text: &str) -> String {
        if self.colour && tone != Tone::Plain && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", tone.code())
        } else {
            text.into()
        }
    }

    /// What the page is about, and a remark beside it.
    pub fn title(&mut self, title: &str, remark: &str) {
        let (title, remark) =
            (self.tint(Tone::Strong, &clean(title)), self.tint(Tone::Quiet, &clean(remark)));
        let gap = if remark.is_empty() { "" } else { "  " };
        self.push(&format!("{title}{gap}{remark}"));
    }

    /// A heading within the page, an empty line before it.
    pub fn heading(&mut self, heading: &str) {
        self.blank();
        let heading = self.tint(Tone::Strong, &clean(heading));
        self.push(&format!("{INDENT}{heading}"));
    }

    /// A numbered heading, an empty line before and after it.
    pub fn step(&mut self, number: usize, heading: &str) {
        self.blank();
        let text = self.tint(Tone::Strong, &format!("{number}  {}", clean(heading)));
        self.push(&text);
        self.blank();
    }

    /// An empty line, unless the page is empty or ends in one.
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A line as it is.
    pub fn line(&mut self, line: &str) {
        self.push(&clean(line));
    }

    /// A paragraph, broken into lines.
    pub fn paragraph(&mut self, text: &str) {
        for line in wrap(&clean(text), WIDTH - INDENT.len()) {
            self.push(&format!("{INDENT}{line}"));
        }
    }

    /// A remark behind a mark of its own, broken into lines that hang below the first.
    pub fn remark(&mut self, tone: Tone, mark: char, text: &str) {
        let lines = wrap(&clean(text), WIDTH - INDENT.len() - 2);
        for (i, line) in lines.iter().enumerate() {
            let mark = if i == 0 { self.tint(tone, &mark.to_string()) } else { " ".into() };
            self.push(&format!("{INDENT}{mark} {line}"));
        }
    }

    /// A command to type, with what it is for.
    pub fn command(&mut self, command: &str, purpose: &str) {
        let command = clean(command);
        let pad = " ".repeat(36usize.saturating_sub(width(&command)));
        let (shown, purpose) = (self.tint(Tone::Command, &command), self.tint(Tone::Quiet, &clean(purpose)));
        self.push(&format!("{INDENT}{shown}{pad}  {purpose}"));
    }

    /// Facts with their names, values in one column.
    pub fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, String)>) {
        let facts: Vec<(String, String)> =
            facts.into_iter().map(|(name, value)| (clean(name), value)).collect();
        let width = facts.iter().map(|(name, _)| width(name)).max().unwrap_or(0).max(10);
        for (name, value) in facts {
            let pad = " ".repeat(width - self::width(&name));
            let name = self.tint(Tone::Quiet, &name);
            for (i, line) in wrap(&clean(&value), WIDTH - INDENT.len() - width - 2).iter().enumerate() {
                if i == 0 {
                    self.push(&format!("{INDENT}{name}{pad}  {line}"));
                } else {
                    self.push(&format!("{INDENT}{}  {line}", " ".repeat(width)));
                }
            }
        }
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        let widths: Vec<usize> = (0..table.columns.len())
            .map(|j| {
                let cells = table.rows.iter().filter_map(|row| row.get(j)).map(|(cell, _)| width(cell));
                cells.chain([width(&table.columns[j].0)]).max().unwrap_or(0)
            })
            .collect();
        let head: Vec<(String, Tone)> =
            table.columns.iter().map(|(head, _)| (head.clone(), Tone::Quiet)).collect();
        let head = if head.iter().all(|(head, _)| head.is_empty()) { None } else { Some(&head) };
        for row in head.into_iter().chain(&table.rows) {
            let mut line = INDENT.to_owned();
            let last = row.iter().rposition(|(cell, _)| !cell.is_empty()).unwrap_or(0);
            for (j, ((cell, tone), (_, align))) in row.iter().zip(&table.columns).enumerate() {
                let pad = " ".repeat(widths[j] - width(cell));
                let cell = self.tint(*tone, cell);
                let between = if j == 0 { "" } else { "  " };
                let _ = match align {
                    Align::Right => write!(line, "{between}{pad}{cell}"),
                    Align::Left if j == last => write!(line, "{between}{cell}"),
                    Align::Left => write!(line, "{between}{cell}{pad}"),
                };
                if j == last {
                    break;
                }
            }
            self.push(&line);
        }
    }

    /// A drawing made elsewhere; in a scatter plot each class's marks get its tone.
    pub fn drawing(&mut self, lines: &[String], marks: bool) {
        for line in lines {
            let mut out = INDENT.to_owned();
            for c in visible(line).chars() {
                match MARKS.iter().position(|&mark| marks && mark == c) {
                    Some(k) => out.push_str(&self.tint(Tone::class(k), &c.to_string())),
                    None => out.push(c),
                }
            }
            self.push(&out);
        }
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

/// Text from a file made fit for a terminal: control characters escaped, no more than 2000 characters.
pub fn clean(text: &str) -> String {
    const MOST: usize = 2000;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text).into_owned(),
    }
}

/// Text that cannot drive a terminal: control characters, line ends included, and characters that reorder or hide text
/// are escaped as in `\n`, `\t` and `\u{1b}`.
///
/// ```
/// assert_eq!(mercer_report::visible("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
/// assert_eq!(mercer_report::visible("plain, ä, 中"), "plain, ä, 中");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.extend(c.escape_default()),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Characters that a terminal obeys instead of showing: controls, marks of direction, characters without width.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn wrap(text: &str, limit: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && width(line) + 1 + width(word) > limit {
            lines.push(word.into());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up_with_and_without_colour() {
        let mut table = Table::new().column("class", Align::Left).column("rows", Align::Right);
        table.toned_row([("a".into(), Tone::Strong), ("1000".into(), Tone::Plain)]);
        table.row(["longer", "7"]);
        let mut page = Page::new(false);
        page.table(&table);
        assert_eq!(page.finish(), "  class   rows\n  a       1000\n  longer     7\n");
        let mut page = Page::new(true);
        page.table(&table);
        let coloured = page.finish();
        assert!(coloured.contains("\u{1b}[1ma\u{1b}[0m       1000"), "{coloured:?}");
    }

    #[test]
    fn long_remarks_hang_below_their_mark() {
        let mut page = Page::new(false);
        page.remark(Tone::Warn, '!', &"word ".repeat(30));
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() > 1 && lines.iter().all(|l| l.chars().count() <= WIDTH));
        assert!(lines[0].starts_with("  ! word") && lines[1].starts_with("    word"));
    }

    #[test]
    fn a_file_cannot_drive_the_terminal() {
        let mut page = Page::new(false);
        page.title("evil\u{1b}[2J", "");
        let mut table = Table::new().column("", Align::Left);
        table.row(["a\nb\u{7}"]);
        page.table(&table);
        let text = page.finish();
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
        assert_eq!(text, "evil\\u{1b}[2J\n  a\\nb\\u{7}\n");
    }

    #[test]
    fn no_part_of_a_page_lets_controls_through() {
        let evil = "e\u{1b}[31m\n\u{9b}\u{202e}\u{7f}";
        let mut page = Page::new(false);
        page.title(evil, evil);
        page.heading(evil);
        page.step(1, evil);
        page.line(evil);
        page.paragraph(evil);
        page.remark(Tone::Warn, '!', evil);
        page.command(evil, evil);
        page.facts([(evil, evil.to_owned())]);
        let mut table = Table::new().column(evil, Align::Left).column(evil, Align::Right);
        table.row([evil, evil]);
        page.table(&table);
        page.drawing(&[evil.to_owned()], true);
        let text = page.finish();
        assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text:?}");
        assert_eq!(text.matches("e\\u{1b}[31m\\n\\u{9b}\\u{202e}\\u{7f}").count(), 16, "{text}");
    }
}
