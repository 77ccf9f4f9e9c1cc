//! The newcomer's path of README.md, line by line, on a table of one's own.

use std::path::Path;
use std::process::Stdio;

use crate::learn::flowers;
use crate::run::Folder;

/// The first block of shell lines below a heading.
fn block(text: &str, heading: &str) -> Vec<String> {
    let below = text.split_once(heading).expect("the heading is there").1;
    let block =
        below.split_once("```sh\n").expect("a block of commands").1.split_once("```").expect("its end").0;
    block.lines().map(str::to_owned).collect()
}

#[test]
fn the_readme_leads_from_a_table_to_a_report_in_four_commands() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let lines =
        block(&std::fs::read_to_string(readme).expect("a README"), "## Your own table, four commands");
    assert_eq!(lines.len(), 4, "{lines:?}");
    let folder = Folder::new().with("mine.csv", flowers());
    for line in &lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], "mercer", "{line}");
        let output =
            folder.command(&words[1..]).stdin(Stdio::null()).output().expect("the built command starts");
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        assert!(!output.stdout.is_empty(), "{line} says nothing");
    }
    assert_eq!(folder.read("predictions.csv").lines().count(), 1 + 8);
    let page = folder.read("mine.html");
    assert!(page.contains("<svg") && page.contains("iris") && !page.contains("http"), "{page}");
}
