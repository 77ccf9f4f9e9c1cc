//! The shapes that pictures are made of, as text.

use std::fmt::Write as _;

use super::{Svg, WIDTH};

/// A picture being drawn.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    out: String,
}

/// Where a text stands to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    /// The picture, so many units high.
    pub(super) fn finish(self, title: &str, height: f64) -> Svg {
        Svg { title: title.to_owned(), width: WIDTH, height: height.ceil(), body: self.out }
    }

    pub(super) fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let (x, y, width, height) = (short(x), short(y), short(width.max(0.0)), short(height.max(0.0)));
        let _ = write!(
            self.out,
            "<rect{} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>",
            of(class)
        );
    }

    /// A rectangle of which so much is seen.
    pub(super) fn tint(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), share: f64) {
        let (x, y, width, height) = (short(x), short(y), short(width), short(height));
        let _ = write!(
            self.out,
            "<rect{} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"2\" fill-opacity=\"{share:.2}\"/>",
            of(class)
        );
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        self.sized_text(class, (x, y), anchor, None, text);
    }

    pub(super) fn sized_text(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        anchor: Anchor,
        size: Option<f64>,
        text: &str,
    ) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let size = size.map(|size| format!(" font-size=\"{}\"", short(size))).unwrap_or_default();
        let (x, y, text) = (short(x), short(y), escape(text));
        let _ = write!(self.out, "<text{} x=\"{x}\" y=\"{y}\"{anchor}{size}>{text}</text>", of(class));
    }

    /// Text along the left side, read upwards.
    pub(super) fn upwards(&mut self, x: f64, y: f64, text: &str) {
        if text.is_empty() {
            return;
        }
        let (x, y, text) = (short(x), short(y), escape(text));
        let _ = write!(
            self.out,
            "<text transform=\"translate({x} {y}) rotate(-90)\" text-anchor=\"middle\">{text}</text>"
        );
    }

    /// Lines through places, each list a line of its own; places that would fall together are left out.
    pub(super) fn lines(&mut self, class: &str, lines: &[Vec<(f64, f64)>], closed: bool) {
        let mut path = String::new();
        for line in lines.iter().filter(|line| line.len() > 1) {
            let mut last = (f64::INFINITY, f64::INFINITY);
            for (i, &(x, y)) in line.iter().enumerate() {
                let near = (x - last.0).abs().max((y - last.1).abs()) < 0.35;
                if near && i + 1 < line.len() {
                    continue;
                }
                let _ = write!(path, "{}{} {}", if i == 0 { 'M' } else { 'L' }, short(x), short(y));
                last = (x, y);
            }
            if closed {
                path.push('Z');
            }
        }
        if !path.is_empty() {
            let _ = write!(self.out, "<path{} d=\"{path}\"/>", of(class));
        }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.lines(class, &[vec![from, to]], false);
    }

    pub(super) fn ring(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let _ = write!(
            self.out,
            "<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            of(class),
            short(x),
            short(y),
            short(radius)
        );
    }

    /// The marks of a class at many places, as one path: discs, squares, triangles, diamonds, then again.
    pub(super) fn marks(&mut self, class: usize, places: &[(f64, f64)], r: f64) {
        let mut path = String::new();
        let mut seen = std::collections::HashSet::new();
        for &(x, y) in places {
            if !x.is_finite() || !y.is_finite() || !seen.insert((short(x), short(y))) {
                continue;
            }
            let (w, h) = (short(2.0 * r), short(r));
            let _ = match class % 4 {
                0 => write!(path, "M{} {}a{h} {h} 0 1 0 {w} 0a{h} {h} 0 1 0 -{w} 0Z", short(x - r), short(y)),
                1 => {
                    let s = short(1.8 * r);
                    write!(path, "M{} {}h{s}v{s}h-{s}Z", short(x - 0.9 * r), short(y - 0.9 * r))
                }
                2 => {
                    let (s, t) = (short(1.15 * r), short(2.0 * r));
                    write!(path, "M{} {}l{s} {t}h-{}Z", short(x), short(y - 1.2 * r), short(2.3 * r))
                }
                _ => {
                    let s = short(1.25 * r);
                    write!(path, "M{} {}l{s} {s}l-{s} {s}l-{s} -{s}Z", short(x), short(y - 1.25 * r))
                }
            };
        }
        if !path.is_empty() {
            let _ = write!(self.out, "<path class=\"k{} dot\" d=\"{path}\"/>", class % 8);
        }
    }
}

fn of(class: &str) -> String {
    if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") }
}

/// A tenth of a unit is as fine as anyone sees.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}

/// Text that means itself inside markup.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The size of letters where nothing else is said.
pub(super) const SIZE: f64 = 12.0;

/// About how many units a text is wide at the usual size.
pub(super) fn text_width(text: &str) -> f64 {
    SIZE * text.chars().map(em).sum::<f64>()
}

/// The width of a character in units of the letters' size. Fonts differ: this is for a wide one, in bold, because room
/// that stays empty does less harm than texts that overlap.
fn em(c: char) -> f64 {
    match c {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'i' | 'j' | 'l' => 0.4,
        'M' | 'W' | 'm' | 'w' | '%' | '@' | '…' => 1.08,
        'A'..='Z' => 0.8,
        // East Asian characters are as wide as high.
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'.. => 1.05,
        _ => 0.7,
    }
}

/// As much of a text as has room at this size, with an ellipsis where something is missing.
pub(super) fn fitted(text: &str, room: f64, size: f64) -> String {
    if text_width(text) * size / SIZE <= room {
        return text.to_owned();
    }
    let mut left = room / size - em('…');
    let fits = |c: &char| {
        left -= em(*c);
        left >= 0.0
    };
    let mut out: String = text.chars().take_while(fits).collect();
    // One character says more than none.
    if out.is_empty() {
        return text.chars().take(1).collect();
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_text_is_harmless() {
        assert_eq!((short(1.0), short(-0.04), short(2.345)), ("1".into(), "0".into(), "2.3".into()));
        assert_eq!(escape("a<b & \"c\"\u{7}'"), "a&lt;b &amp; &quot;c&quot;\u{fffd}&#39;");
    }

    #[test]
    fn a_text_is_cut_to_its_room() {
        assert_eq!(fitted("short", 100.0, 12.0), "short");
        let cut = fitted("a rather long name of a class", 100.0, 12.0);
        assert!(cut.ends_with('…') && text_width(&cut) <= 100.0 && text_width(&cut) > 80.0, "{cut}");
        assert!(
            fitted("WWWWWWWWWW", 60.0, 12.0).chars().count()
                < fitted("llllllllll", 60.0, 12.0).chars().count()
        );
        assert_eq!((fitted("abc", 1.0, 12.0), fitted("", 0.0, 12.0)), ("a".into(), String::new()));
    }

    #[test]
    fn places_that_fall_together_are_drawn_once() {
        let mut canvas = Canvas::default();
        canvas.marks(1, &[(1.0, 1.0), (1.0, 1.01), (f64::NAN, 0.0), (2.0, 1.0)], 2.0);
        let svg = canvas.finish("two", 10.0).inline();
        assert_eq!(svg.matches('Z').count(), 2, "{svg}");
        assert!(super::super::well_formed(&svg));
    }
}
