//! The page: sections of text, facts, tables, figures and commands.

use std::fmt::Write as _;

use super::tiles::Tiles;
use crate::Align;
use crate::svg::{self, Svg, escape};

const STYLE: &str = include_str!("page.css");
/// Letters beyond which the text of a cell is broken into lines.
const LONG: usize = 24;

/// A whole page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// What stands below the title.
    pub intro: String,
    /// What was found, in a few sentences: the first thing to read.
    pub verdict: String,
    /// Its sections, in order.
    pub sections: Vec<Section>,
    /// How the page was made: date, command, data, each with its name.
    pub provenance: Vec<(String, String)>,
    /// The last line.
    pub footer: String,
}

/// A part of a page. What is empty is left out. In running text, words between backquotes are code, and an empty line
/// starts a new paragraph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Running text.
    pub text: String,
    /// The numbers that matter, each with its name.
    pub facts: Vec<(String, String)>,
    /// Figures, side by side where there is room.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Commands with what they do.
    pub commands: Vec<(String, String)>,
}

/// A picture and what stands below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    content: Content,
    caption: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    Svg(Svg),
    Tiles(Tiles),
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What it shows; empty: nothing stands above it.
    pub caption: String,
    /// Column heads.
    pub columns: Vec<(String, Align)>,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
}

impl Section {
    /// A section with running text alone.
    pub fn new(heading: impl Into<String>, text: impl Into<String>) -> Self {
        Section { heading: heading.into(), text: text.into(), ..Section::default() }
    }
}

impl Figure {
    /// A drawn picture.
    pub fn svg(svg: Svg, caption: impl Into<String>) -> Self {
        Figure { content: Content::Svg(svg), caption: caption.into() }
    }

    /// Images, as wide as the page.
    pub fn tiles(tiles: Tiles, caption: impl Into<String>) -> Self {
        Figure { content: Content::Tiles(tiles), caption: caption.into() }
    }
}

impl Page {
    /// Says which data the page is about, so that it can be told apart from a later version of the file.
    pub fn made_from(&mut self, name: &str, data: &mercer::data::Dataset) {
        let value = format!(
            "{name}: {} rows, {} columns, checksum {:016x}",
            crate::count(data.len()),
            crate::count(data.dim()),
            data.checksum()
        );
        self.provenance.push(("Data".into(), value));
    }
}

/// A page of sections without an introduction.
pub fn page(title: &str, sections: &[Section]) -> String {
    Page { title: title.into(), sections: sections.to_vec(), ..Page::default() }.html()
}

/// Facts as a table of two columns: a part of a page, for a cell of a notebook, which has a style of its own.
///
/// ```
/// let html = mercer_report::html::facts("A model", &[("kernel", "a < b".into())]);
/// assert!(html.contains("<th scope=\"row\">kernel</th><td>a &lt; b</td>"), "{html}");
/// ```
pub fn facts(caption: &str, facts: &[(&str, String)]) -> String {
    let mut out = format!("<table>\n<caption>{}</caption>\n", escape(caption));
    for (name, value) in facts {
        let _ = writeln!(out, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(value));
    }
    out.push_str("</table>\n");
    out
}

impl Page {
    /// The page as one file.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1>{title}</h1>\n",
            svg::STYLE
        );
        paragraphs(&mut out, &self.intro, "lead");
        if !self.verdict.is_empty() {
            out.push_str("<div class=\"verdict\">\n");
            paragraphs(&mut out, &self.verdict, "");
            out.push_str("</div>\n");
        }
        if self.sections.len() > 3 {
            out.push_str("<nav>");
            for (i, section) in self.sections.iter().enumerate() {
                let _ = write!(out, "<a href=\"#s{}\">{}</a>", i + 1, escape(&section.heading));
            }
            out.push_str("</nav>\n");
        }
        out.push_str("</header>\n<main>\n");
        for (i, section) in self.sections.iter().enumerate() {
            section.write(&mut out, i + 1);
        }
        out.push_str("</main>\n");
        if !self.footer.is_empty() || !self.provenance.is_empty() {
            out.push_str("<footer>");
            for (name, value) in &self.provenance {
                let _ = write!(out, "<p><b>{}</b> {}</p>", escape(name), escape(value));
            }
            let _ = writeln!(out, "{}</footer>", inline(&self.footer));
        }
        out.push_str("</body>\n</html>\n");
        out
    }
}

impl Section {
    fn write(&self, out: &mut String, number: usize) {
        let _ = writeln!(out, "<section id=\"s{number}\">\n<h2>{}</h2>", escape(&self.heading));
        paragraphs(out, &self.text, "");
        if !self.facts.is_empty() {
            out.push_str("<dl>");
            for (name, value) in &self.facts {
                let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
            }
            out.push_str("</dl>\n");
        }
        self.tables.iter().for_each(|table| table.write(out));
        if !self.figures.is_empty() {
            out.push_str("<div class=\"figures\">\n");
            self.figures.iter().for_each(|figure| figure.write(out));
            out.push_str("</div>\n");
        }
        if !self.commands.is_empty() {
            out.push_str("<ul class=\"commands\">");
            for (command, purpose) in &self.commands {
                let _ =
                    write!(out, "<li><code>{}</code><span>{}</span></li>", escape(command), escape(purpose));
            }
            out.push_str("</ul>\n");
        }
        out.push_str("</section>\n");
    }
}

impl Figure {
    fn write(&self, out: &mut String) {
        let (class, content) = match &self.content {
            Content::Svg(svg) => {
                ("", format!("<p class=\"title\">{}</p>{}", escape(svg.title()), svg.inline()))
            }
            Content::Tiles(tiles) => (" class=\"wide\"", tiles.element()),
        };
        let caption = match self.caption.as_str() {
            "" => String::new(),
            text => format!("<figcaption>{}</figcaption>", inline(text)),
        };
        let _ = writeln!(out, "<figure{class}>{content}{caption}</figure>");
    }
}

impl Table {
    /// Whether all columns fit into a narrow window, when text is broken between words.
    fn narrow(&self) -> bool {
        // Pixels of a window of 360 less the page's margins; of a letter, a little more than the usual; between columns.
        const ROOM: usize = 328;
        const LETTER: usize = 8;
        const GAP: usize = 12;
        let widest = |j: usize, (head, align): &(String, Align)| {
            let cells = self.rows.iter().filter_map(|row| row.get(j)).map(String::as_str);
            let longest = |text: &str| match align {
                // Numbers are not broken.
                Align::Right => text.chars().count(),
                Align::Left => text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0),
            };
            let heads = head.split_whitespace().map(|word| word.chars().count());
            cells.map(longest).chain(heads).max().unwrap_or(0)
        };
        let columns = self.columns.iter().enumerate();
        columns.map(|(j, column)| LETTER * widest(j, column) + GAP).sum::<usize>() <= ROOM
    }

    fn write(&self, out: &mut String) {
        let class = |j: usize| match self.columns.get(j) {
            Some((_, Align::Right)) => " class=\"number\"",
            _ => "",
        };
        // The box scrolls, not the page; with a tab stop, so that keys can scroll it too. In a window as narrow as a
        // telephone's, what would have to scroll is written as a list instead: a number nobody sees is no report.
        let kind = if self.narrow() { "table" } else { "table list" };
        let _ = write!(out, "<div class=\"{kind}\" tabindex=\"0\"><table>");
        if !self.caption.is_empty() {
            let _ = write!(out, "<caption>{}</caption>", inline(&self.caption));
        }
        out.push_str("<thead><tr>");
        for (j, (head, _)) in self.columns.iter().enumerate() {
            let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(j), escape(head));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (j, cell) in row.iter().enumerate() {
                let head = self.columns.get(j).map_or("", |(head, _)| head.as_str());
                let name =
                    if head.is_empty() { String::new() } else { format!(" data-name=\"{}\"", escape(head)) };
                // Long text is broken into lines, so that the columns beside it stay in the window.
                let class = match class(j) {
                    "" if cell.chars().count() > LONG => " class=\"long\"",
                    class => class,
                };
                let _ = write!(out, "<td{class}{name}>{}</td>", escape(cell));
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>\n");
    }
}

fn paragraphs(out: &mut String, text: &str, class: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
        let _ = writeln!(out, "<p{class}>{}</p>", inline(paragraph));
    }
}

/// Text with code between backquotes.
fn inline(text: &str) -> String {
    let parts: Vec<String> = text.split('`').map(escape).collect();
    if parts.len().is_multiple_of(2) {
        // A backquote without a partner is itself.
        return parts.join("`");
    }
    let code = |(i, part): (usize, &String)| {
        if i % 2 == 1 { format!("<code>{part}</code>") } else { part.clone() }
    };
    parts.iter().enumerate().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{Axis, Chart};

    #[test]
    fn a_page_fetches_nothing_and_what_is_given_to_it_stays_text() {
        let mut section = Section::new("<script>alert(1)</script>", "one `a<b`\n\ntwo ` odd");
        section.facts.push(("name".into(), "<b>".into()));
        section.commands.push(("mercer tour".into(), "this & that".into()));
        section
            .figures
            .push(Figure::svg(Chart::new("c", Axis::new("x"), Axis::new("y"), vec![]).draw(), "cap"));
        let columns = vec![("word".into(), Align::Left), ("count".into(), Align::Right)];
        section.tables.push(Table { caption: "t".into(), columns, rows: vec![vec!["x".into(), "1".into()]] });
        let text = page("A & B", &[section]);
        assert!(!text.contains("<script") && !text.contains("http"), "{text}");
        for part in [
            "<title>A &amp; B</title>",
            "<td class=\"number\" data-name=\"count\">1</td>",
            "this &amp; that",
            "<figcaption>cap",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(text.contains("<div class=\"table\" "), "two short columns fit anywhere");
        let wide = (0..9).map(|i| (format!("column {i}"), Align::Right)).collect();
        let table = Table { columns: wide, rows: vec![vec!["0.123".into(); 9]], ..Table::default() };
        assert!(!table.narrow());
        assert_eq!(inline("one `a<b` end"), "one <code>a&lt;b</code> end");
        assert_eq!(inline("two ` odd"), "two ` odd");
    }
}
