//! What the tour showed: a line a stop, with the command that does the same on own data.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::html::{self, Section};
use crate::{Page, Report, Tone, seconds};

/// A tour that is over.
#[derive(Debug, Clone, Serialize)]
pub struct Tour {
    /// Its stops, in order.
    pub stops: Vec<Stop>,
    /// The page of pictures.
    pub page: PathBuf,
    /// Seconds all of it took.
    pub seconds: f64,
}

/// One stop: something shown.
#[derive(Debug, Clone, Serialize)]
pub struct Stop {
    /// Its name in a word or two.
    pub name: &'static str,
    /// What was seen, in a line.
    pub seen: String,
    /// The command that does this on own data.
    pub command: &'static str,
    /// The numbers behind it.
    pub facts: Map<String, Value>,
    /// Seconds it took.
    pub seconds: f64,
    /// Its part of the page.
    #[serde(skip)]
    pub section: Section,
}

impl Stop {
    /// A stop without facts.
    pub fn new(name: &'static str, seen: impl Into<String>, command: &'static str, section: Section) -> Self {
        Stop { name, seen: seen.into(), command, facts: Map::new(), seconds: 0.0, section }
    }

    /// The same with one more number behind it.
    #[must_use]
    pub fn fact(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.into(), value.into());
        self
    }
}

impl Tour {
    /// The page of pictures.
    pub fn html(&self) -> String {
        let intro = format!(
            "Computed in {} by one command, `mercer tour`, on built-in digits and generated points. Each section ends with the \
             commands that do the same on your own data.",
            seconds(self.seconds)
        );
        html::Page {
            title: "A tour of Mercer".into(),
            intro,
            sections: self.stops.iter().map(|stop| stop.section.clone()).collect(),
            footer: "Made by `mercer tour`. The digits are from *Optical Recognition of Handwritten Digits* by E. Alpaydin \
                     and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0."
                .replace('*', ""),
            ..html::Page::default()
        }
        .html()
    }
}

impl Report for Tour {
    fn write(&self, page: &mut Page) {
        page.title("A tour of Mercer", "on built-in data");
        page.blank();
        for stop in &self.stops {
            let (name, command) =
                (page.tint(Tone::Strong, stop.name), page.tint(Tone::Command, stop.command));
            let gap = " ".repeat(15_usize.saturating_sub(stop.name.chars().count()));
            page.line(&format!("{name}{gap}{}", stop.seen));
            page.line(&format!("{}{command}", " ".repeat(15)));
        }
        page.blank();
        let took = format!("Total time: {}.", seconds(self.seconds));
        page.remark(Tone::Good, '✓', &took);
        page.remark(Tone::Good, '✓', &format!("{}: figures, for a browser.", self.page.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json, text};

    #[test]
    fn a_stop_has_two_lines_facts_and_a_section() {
        let stop = Stop::new("Ring", "a ring", "mercer train DATA -o MODEL", Section::new("Rings", "Round."));
        let tour = Tour { stops: vec![stop.fact("error", 0.25)], page: "tour.html".into(), seconds: 1.5 };
        let shown = text(&tour, false);
        assert!(
            shown.contains("Ring           a ring\n               mercer train DATA -o MODEL\n"),
            "{shown}"
        );
        assert!(json(&tour).contains("\"error\": 0.25") && !json(&tour).contains("section"));
        assert!(tour.html().contains("<h2>Rings</h2>") && tour.html().contains("in 1.5 s"));
    }
}
