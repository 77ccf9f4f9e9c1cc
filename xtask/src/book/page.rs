//! One page: Markdown to HTML, with chapters beside it and the neighbours below.

use anyhow::{Context, Result};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::maths;
use super::summary::Entry;

/// The Markdown that pages are written in.
pub(super) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_MATH).union(Options::ENABLE_STRIKETHROUGH);

/// Code of at most so many characters is not broken into lines.
const ONE_LINE: usize = 32;

/// The whole HTML page of a text.
pub(super) fn html(name: &str, text: &str, entries: &[Entry]) -> Result<String> {
    let mut events = Vec::new();
    let (mut title, mut heading) = (None, None::<(HeadingLevel, String, usize)>);
    let mut slugs = Slugs::default();
    for event in Parser::new_ext(text, OPTIONS) {
        let event = match event {
            Event::InlineMath(tex) => Event::InlineHtml(maths::mathml(&tex, false)?.into()),
            Event::DisplayMath(tex) => Event::Html(maths::mathml(&tex, true)?.into()),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                Event::Start(Tag::Link { link_type, dest_url: target(&dest_url), title, id })
            }
            Event::Start(Tag::Table(columns)) => {
                events.push(Event::Html("<div class=\"wide\">".into()));
                Event::Start(Tag::Table(columns))
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                Event::Html("</div>".into())
            }
            // Names and flags are read as one word; what is longer than a narrow screen may break.
            Event::Code(code) if heading.is_none() && code.chars().count() <= ONE_LINE => {
                Event::InlineHtml(format!("<code class=\"word\">{}</code>", escape(&code)).into())
            }
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some((level, String::new(), events.len()));
                continue;
            }
            Event::End(TagEnd::Heading(level)) => {
                let (_, words, at) = heading.take().context("a heading that ends began")?;
                let slug = slugs.of(&words);
                events.insert(at, Event::Html(format!("<{level} id=\"{slug}\">").into()));
                if level == HeadingLevel::H1 {
                    title.get_or_insert(words);
                }
                Event::Html(format!("</{level}>\n").into())
            }
            other => other,
        };
        if let (Some((_, words, _)), Event::Text(t) | Event::Code(t)) = (&mut heading, &event) {
            words.push_str(t);
        }
        events.push(event);
    }
    let title = title.context("a page begins with a heading of the first level")?;
    let mut body = String::with_capacity(2 * text.len());
    html::push_html(&mut body, events.into_iter());
    let up = "../".repeat(name.matches('/').count());
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{}: Mercer</title>\n<link rel=\"stylesheet\" \
         href=\"{up}style.css\">\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">To the text</a>\n<a \
         class=\"contents\" href=\"#chapters\">Contents</a>\n<nav id=\"chapters\" aria-label=\"Chapters\"><details open><summary>Mercer</summary>{}</details></nav>\n<main \
         id=\"content\">\n{body}{}</main>\n</body>\n</html>\n",
        escape(&title),
        super::chapters(entries, name),
        neighbours(name, entries, &up),
    ))
}

/// Links to the chapters before and after.
fn neighbours(name: &str, entries: &[Entry], up: &str) -> String {
    let pages: Vec<(&str, &str)> =
        entries.iter().filter_map(|e| Some((e.path.as_deref()?, e.title.as_str()))).collect();
    let Some(at) = pages.iter().position(|(path, _)| *path == name) else { return String::new() };
    let link = |at: Option<usize>, word: &str| {
        at.and_then(|at| pages.get(at)).map_or(String::new(), |(path, title)| {
            format!("<a href=\"{up}{}\">{word}: {}</a>", path.replace(".md", ".html"), escape(title))
        })
    };
    format!("<p class=\"turn\">{} {}</p>\n", link(at.checked_sub(1), "Previous"), link(Some(at + 1), "Next"))
}

/// Links between pages lead to their HTML; links to files outside `docs` stay as they are.
fn target<'a>(url: &str) -> CowStr<'a> {
    let (path, anchor) = url.split_once('#').map_or((url, None), |(p, a)| (p, Some(a)));
    let mut out = path.to_owned();
    if !path.contains("://")
        && let Some(stem) = path.strip_suffix(".md")
    {
        out = format!("{stem}.html");
    }
    if let Some(anchor) = anchor {
        out = format!("{out}#{anchor}");
    }
    out.into()
}

/// Anchors of headings, as GitHub makes them.
#[derive(Debug, Default)]
pub(super) struct Slugs(Vec<String>);

impl Slugs {
    /// The anchor of the next heading.
    pub(super) fn of(&mut self, words: &str) -> String {
        let mut slug = String::new();
        for c in words.trim().to_lowercase().chars() {
            match c {
                ' ' => slug.push('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => slug.push(c),
                _ => {}
            }
        }
        let before = self.0.iter().filter(|s| **s == slug).count();
        self.0.push(slug.clone());
        if before > 0 { format!("{slug}-{before}") } else { slug }
    }
}

/// Text as it may stand in HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_title_anchors_maths_and_neighbours() {
        let entry = |title: &str, path: &str| Entry { title: title.into(), path: Some(path.into()) };
        let entries = [entry("A", "a.md"), entry("B", "x/b.md"), entry("C", "c.md")];
        let text =
            "# B & more\n\n## A `part`\n\n`--a b` $x_i^2$ [see](../a.md#top) [out](https://x.org/a.md)\n";
        let page = html("x/b.md", text, &entries).expect("a page");
        for part in [
            "<title>B &amp; more: Mercer</title>",
            "<h2 id=\"a-part\">",
            "<msubsup>",
            "<code class=\"word\">--a b</code>",
            "href=\"../a.html#top\"",
            "href=\"https://x.org/a.md\"",
            "<a href=\"../a.html\">Previous: A</a>",
            "<a href=\"../c.html\">Next: C</a>",
            "aria-current=\"page\"",
        ] {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
        assert!(html("b.md", "no heading", &entries).is_err());
    }
}
