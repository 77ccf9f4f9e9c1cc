//! Ctrl-C during training: a checkpoint, a code of its own, and a way to go on that ends where it would have ended.

#![cfg(unix)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::run::Folder;

#[test]
fn ctrl_c_keeps_what_there_is_and_resume_ends_where_it_would_have_ended() {
    let folder = Folder::new();
    // Clashing labels at a large C: thousands of steps.
    folder.mercer("data toy banana a.csv --rows 2000 --seed 1 -q").fine();
    let text: String = folder
        .read("a.csv")
        .lines()
        .enumerate()
        .map(|(i, line)| match line.rsplit_once(',') {
            Some((x, _)) if i > 0 && i % 3 == 0 => format!("{x},{}\n", i % 2),
            _ => format!("{line}\n"),
        })
        .collect();
    let folder = folder.with("a.csv", text);
    let slow = ["train", "a.csv", "--gamma", "30", "-c", "100000", "--tol", "1e-6", "--threads", "1"];
    let mut child = folder
        .command(&[&slow[..], &["-o", "cut.mercer"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().expect("a child").is_none(), "the problem is not slow enough to interrupt");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    let asked = Instant::now();
    let output = child.wait_with_output().expect("ends");
    assert!(asked.elapsed() < Duration::from_secs(20), "it took too long to stop");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text} {}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("mercer train a.csv --resume cut.mercer"), "{text}");

    folder.mercer("train a.csv --resume cut.mercer --threads 1 -o whole.mercer -q").fine();
    folder.mercer_args(&[&slow[..], &["-o", "once.mercer", "-q"]].concat()).fine();
    let answers = |model: &str| folder.mercer(&format!("predict a.csv {model}")).fine().out;
    let (resumed, once) = (answers("whole.mercer"), answers("once.mercer"));
    let apart = resumed.lines().zip(once.lines()).filter(|(a, b)| a != b).count();
    assert_eq!(apart, 0, "{apart} answers differ");
    folder
        .mercer("train a.csv --resume whole.mercer")
        .fails(1, "error: this model's training came to its end: there is nothing to go on with\n");
}

#[test]
fn ctrl_c_ends_a_search_with_a_model() {
    let folder = Folder::new();
    folder.mercer("data toy banana a.csv --rows 3000 --noise 0.5 --seed 1 -q").fine();
    let mut child = folder
        .command(&["tune", "a.csv", "-c", "1..1e6", "--threads", "1", "-o", "best.mercer"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    std::thread::sleep(Duration::from_millis(1000));
    assert!(child.try_wait().expect("a child").is_none(), "the search is not slow enough to interrupt");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    let output = child.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text} {}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("interrupted") && text.contains("✓ best.mercer"), "{text}");
    folder.mercer("evaluate a.csv best.mercer -q").fine();
}
