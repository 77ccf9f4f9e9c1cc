//! The experiments there are, for people and programs.

use mercer_report::{Align, Page, Report, Table, Tone};
use serde::{Serialize, Serializer};

use crate::data::Set;
use crate::{ALL, Experiment};

/// The list of all experiments.
#[derive(Debug, Clone, Copy, Default)]
pub struct List;

#[derive(Serialize)]
struct Line {
    name: &'static str,
    shows: &'static str,
    paper: &'static str,
    needs: Vec<&'static str>,
    seconds: u32,
    full_seconds: Option<u32>,
}

impl From<&Experiment> for Line {
    fn from(e: &Experiment) -> Self {
        Line {
            name: e.name,
            shows: e.shows,
            paper: e.paper,
            needs: e.needs.iter().map(|set| set.name).collect(),
            seconds: e.seconds,
            full_seconds: e.full,
        }
    }
}

impl Serialize for List {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ALL.iter().map(Line::from))
    }
}

impl Report for List {
    fn write(&self, page: &mut Page) {
        let mut table = Table::new()
            .column("name", Align::Left)
            .column("data", Align::Left)
            .column("about", Align::Right)
            .column("--full", Align::Right)
            .column("paper", Align::Left);
        for line in ALL.iter().map(Line::from) {
            let seconds = |s: u32| format!("{s} s");
            table.toned_row([
                (line.name.to_owned(), Tone::Command),
                (line.needs.join(", "), Tone::Plain),
                (seconds(line.seconds), Tone::Plain),
                (line.full_seconds.map_or_else(String::new, seconds), Tone::Plain),
                (line.paper.to_owned(), Tone::Quiet),
            ]);
        }
        page.title("Experiments of the papers", "the papers' numbers next to Mercer's");
        page.blank();
        page.table(&table);
        page.blank();
        page.facts(ALL.iter().map(|e| (e.name, format!("{}.", e.shows))));
        page.heading("Sources of the data");
        page.paragraph(
            "Mercer does not distribute them. Put the files, under these names, into the folder named by MERCER_DATA, or into \
             data/local.",
        );
        let mut sets: Vec<&Set> = Vec::new();
        for set in ALL.iter().flat_map(|e| e.needs.iter().chain(e.needs_full)) {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        page.facts(
            sets.iter().map(|set| (set.name, format!("{}. Files: {}.", set.origin, set.files.join(", ")))),
        );
    }
}
