//! Ctrl-C during training: a checkpoint, a code of its own, and a way to go on that ends where it would have ended.

#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::run::Folder;

/// Clashing labels at a large C: thousands of steps.
fn slow() -> Folder {
    let folder = Folder::new();
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
    folder.with("a.csv", text)
}

const SLOW: [&str; 10] =
    ["train", "a.csv", "--gamma", "30", "-c", "100000", "--tol", "1e-6", "--threads", "1"];

/// Starts a slow training.
fn started(folder: &Folder, more: &[&str]) -> Child {
    folder
        .command(&[&SLOW[..], more].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

/// Sends Ctrl-C after a while; returns what was said on both streams.
fn interrupted(mut child: Child) -> (String, String) {
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().expect("a child").is_none(), "the problem is not slow enough to interrupt");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    let asked = Instant::now();
    let output = child.wait_with_output().expect("ends");
    assert!(asked.elapsed() < Duration::from_secs(20), "it took too long to stop");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{out} {err}");
    (out, err)
}

#[test]
fn ctrl_c_keeps_what_there_is_and_resume_ends_where_it_would_have_ended() {
    let folder = slow();
    let (text, err) = interrupted(started(&folder, &["-o", "cut.mercer"]));
    assert!(text.contains("mercer train a.csv --resume cut.mercer"), "{text}");
    assert!(err.starts_with("error: interrupted: the partial model is in cut.mercer\n"), "{err}");

    folder.mercer("train a.csv --resume cut.mercer --threads 1 -o whole.mercer -q").fine();
    folder.mercer_args(&[&SLOW[..], &["-o", "once.mercer", "-q"]].concat()).fine();
    let answers = |model: &str| folder.mercer(&format!("predict a.csv {model}")).fine().out;
    let (resumed, once) = (answers("whole.mercer"), answers("once.mercer"));
    let apart = resumed.lines().zip(once.lines()).filter(|(a, b)| a != b).count();
    assert_eq!(apart, 0, "{apart} answers differ");
    folder
        .mercer("train a.csv --resume whole.mercer")
        .fails(1, "error: this model's training is complete: there is nothing to resume\n");
    assert!(!folder.path("whole.mercer.partial").exists() && !folder.path("once.mercer.partial").exists());
}

#[test]
fn an_interrupted_training_leaves_a_finished_model_alone() {
    let folder = slow();
    folder.mercer("train a.csv -o m.mercer -q").fine();
    let whole = std::fs::read(folder.path("m.mercer")).expect("there");
    let (text, err) = interrupted(started(&folder, &["-o", "m.mercer"]));
    assert_eq!(std::fs::read(folder.path("m.mercer")).expect("there"), whole);
    assert!(text.contains("mercer train a.csv --resume m.mercer.partial"), "{text}");
    let told = "error: interrupted: the partial model is in m.mercer.partial; m.mercer is as it was\n\
                hint: `mercer train a.csv --resume m.mercer.partial` continues\n";
    assert_eq!(err, told);
    // Begun again, it would be lost.
    folder.mercer("train a.csv -o m.mercer").fails(
        2,
        "error: m.mercer.partial holds an unfinished training\n\
         hint: --resume m.mercer.partial continues it; --force starts over and replaces it\n",
    );
    folder.mercer("train a.csv --resume m.mercer.partial --threads 1 -q").fine();
    assert!(!folder.path("m.mercer.partial").exists(), "it is in the model now");
    assert_ne!(std::fs::read(folder.path("m.mercer")).expect("there"), whole);

    let (_, err) = interrupted(started(&folder, &["-o", "m.mercer", "--force"]));
    assert!(err.starts_with("error: interrupted: the partial model is in m.mercer\n"), "{err}");
    assert!(!folder.path("m.mercer.partial").exists());
}

#[test]
fn a_training_that_is_killed_goes_on_from_its_last_save() {
    let folder = slow();
    let mut child = started(&folder, &["-o", "m.mercer", "--save-every", "0.2"]);
    let begun = Instant::now();
    while !folder.path("m.mercer.partial").exists() {
        assert!(begun.elapsed() < Duration::from_mins(1), "nothing was saved");
        assert!(child.try_wait().expect("a child").is_none(), "the problem is not slow enough to kill");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    child.kill().expect("its own child");
    child.wait().expect("ends");
    assert!(!folder.path("m.mercer").exists(), "a save never goes to the model's own place");
    // What was saved predicts, and is known not to be finished.
    folder.mercer("predict a.csv m.mercer.partial -o p.csv -q").fine();
    folder.mercer("train a.csv --resume m.mercer.partial --threads 1 -q").fine();
    assert!(folder.path("m.mercer").exists() && !folder.path("m.mercer.partial").exists());
    folder.mercer_args(&[&SLOW[..], &["-o", "once.mercer", "-q"]].concat()).fine();
    let answers = |model: &str| folder.mercer(&format!("predict a.csv {model}")).fine().out;
    assert_eq!(answers("m.mercer"), answers("once.mercer"));
    // Saving on the way changes nothing about what comes out, and leaves nothing behind.
    folder.mercer_args(&[&SLOW[..], &["-o", "saved.mercer", "--save-every", "0.1", "-q"]].concat()).fine();
    assert!(!folder.path("saved.mercer.partial").exists());
    let decisions = |model: &str| folder.mercer(&format!("predict a.csv {model} --decision")).fine().out;
    assert_eq!(decisions("saved.mercer"), decisions("once.mercer"));
}

#[test]
fn work_that_keeps_nothing_ends_at_once() {
    let folder = Folder::new();
    folder.mercer("data toy banana a.csv --rows 6000 --noise 0.5 --seed 1 -q").fine();
    for line in [
        "train a.csv --learner ridge --gamma 1 -o none",
        "train a.csv --learner kfd --gamma 1 -o none",
        "pca fit a.csv --method complete -k rbf(gamma=1) -o none",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let child =
            folder.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        // Each of them factors or decomposes a matrix of 6000 rows then, in one step of many seconds.
        let (_, err) = interrupted(child);
        assert_eq!(err, "error: interrupted: the command did not finish\n", "{line}");
        assert!(!folder.path("none").exists(), "{line}");
    }
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
    std::thread::sleep(Duration::from_secs(1));
    assert!(child.try_wait().expect("a child").is_none(), "the search is not slow enough to interrupt");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    let output = child.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text} {}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("interrupted") && text.contains("✓ best.mercer"), "{text}");
    folder.mercer("evaluate a.csv best.mercer -q").fine();
}

#[test]
fn an_interrupted_training_that_cannot_be_resumed_does_not_offer_it() {
    let folder = slow();
    for learner in ["kfd-lp", "kfd-greedy", "lp-machine", "rbf-network", "adaboost"] {
        let more: &[&str] = match learner {
            "kfd-greedy" => &["--set", "centres=2000"],
            "rbf-network" | "adaboost" => &["--set", "centres=200", "--set", "steps=100000"],
            _ => &[],
        };
        let args = ["train", "a.csv", "--learner", learner, "--threads", "1", "-o", "m.mercer", "--force"];
        let child = folder
            .command(&[&args[..], more].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        std::thread::sleep(Duration::from_millis(400));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let output = child.wait_with_output().expect("ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        // A fast machine may be done before the signal; whatever happened, nothing offers what does not exist.
        assert!(sent.expect("kill is there").success() || output.status.code() == Some(0), "{learner}");
        assert!(!out.contains("--resume") && !err.contains("--resume"), "{learner}: {out} {err}");
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_told_once_and_the_training_goes_on() {
    let folder = slow();
    // A folder stands where the checkpoint would go; made after the command has checked its outputs.
    let child = started(&folder, &["-o", "m.mercer", "--save-every", "0.3"]);
    std::thread::sleep(Duration::from_millis(100));
    std::fs::create_dir(folder.path("m.mercer.partial")).expect("a fresh name");
    let (_, err) = interrupted(child);
    assert_eq!(err.matches("warning: cannot write a checkpoint: ").count(), 1, "{err}");
    assert!(err.contains("training continues without checkpoints\n"), "{err}");
}
