//! Completions and manual pages: made from the same table as the help.

use crate::run::Folder;

#[test]
fn every_shell_gets_completions_of_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.mercer(&format!("completions {shell}")).fine().out;
        for word in
            ["train", "predict", "evaluate", "explain", "convert", "novelty", "data", "kernel", "resume"]
        {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    let wrong = folder.mercer("completions basic");
    assert!(wrong.code == 2 && wrong.err.contains("bash"), "{wrong:?}");
}

#[test]
fn manual_pages_for_every_command() {
    let folder = Folder::new();
    let page = folder.mercer("man").fine().out;
    assert!(page.starts_with(".ie") && page.contains("Mercer: learning with kernels"), "{page}");
    let run = folder.mercer("man -o pages").fine();
    assert!(run.out.ends_with(" pages in pages\n"), "{}", run.out);
    for name in ["mercer", "mercer-train", "mercer-data-info", "mercer-kernel-gram", "mercer-man"] {
        let text = folder.read(&format!("pages/{name}.1"));
        assert!(text.contains(".TH"), "{text}");
    }
    assert_eq!(folder.mercer("man -o pages --format json").fine().json()["folder"], "pages");
    let train = folder.read("pages/mercer-train.1");
    assert!(train.contains("resume") && train.contains("Learners:") && train.contains("threads"), "{train}");
}
