//! The help of every command that the first screen names.

use crate::run::Folder;

#[test]
fn the_first_screen_is_the_same_with_and_without_asking() {
    let folder = Folder::new();
    let bare = folder.mercer("").fine();
    bare.snapshot("first-screen");
    assert_eq!(bare.out, folder.mercer("--help").fine().out);
    assert_eq!(bare.out, folder.mercer("-h").fine().out);
}

#[test]
fn every_command_explains_itself() {
    let folder = Folder::new();
    let screen = folder.mercer("").fine().out;
    // Two blanks, `mercer`, one or two words, blanks, the line about it.
    let commands: Vec<String> = screen
        .lines()
        .filter_map(|line| line.strip_prefix("  mercer "))
        .map(|rest| rest.split("  ").next().unwrap_or_default().trim().to_owned())
        .collect();
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands {
        let help = folder.mercer(&format!("{command} --help")).fine();
        help.snapshot(&format!("help-{}", command.replace(' ', "-")));
        assert!(help.out.lines().all(|line| line.chars().count() <= 100), "{}", help.out);
    }
}

#[test]
fn a_group_without_a_command_lists_its_commands() {
    let run = Folder::new().mercer("data");
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("info") && run.err.contains("convert"), "{}", run.err);
}

#[test]
fn the_version_is_told() {
    assert_eq!(
        Folder::new().mercer("--version").fine().out,
        format!("mercer {}\n", env!("CARGO_PKG_VERSION"))
    );
}
