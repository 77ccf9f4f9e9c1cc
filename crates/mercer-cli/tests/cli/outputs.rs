//! Every output of every command, against every kind of place it may be given: what cannot be written is refused before
//! the work, nothing that is read is replaced, and links, devices, pipes and rights stay what they are.
//!
//! [`OUTPUTS`] is the one list; an option of a command that names a file and is in no list here fails the first test.

use std::collections::BTreeSet;
use std::path::Path;

use mercer::data::io::{FORMATS, Format};

use crate::learn::flowers;
use crate::run::{Folder, Run};

/// An output: the command with `@` in its place.
#[derive(Clone, Copy)]
struct Output {
    command: &'static str,
    /// The option, or the argument as the usage writes it.
    arg: &'static str,
    line: &'static str,
    /// A name that the command can write to.
    name: &'static str,
    /// Files that the command reads.
    inputs: &'static [&'static str],
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Written in under a second.
    File,
    /// Refusals only: the command takes long, or needs data that is not here.
    Refusals,
    /// A file that is gone on with: neither a device nor a pipe.
    Journal,
    /// A folder.
    Folder,
}

const fn output(
    command: &'static str,
    arg: &'static str,
    line: &'static str,
    name: &'static str,
    inputs: &'static [&'static str],
    how: How,
) -> Output {
    Output { command, arg, line, name, inputs, how }
}

const DATA: &[&str] = &["a.csv"];
const BOTH: &[&str] = &["a.csv", "m.mercer"];

const OUTPUTS: &[Output] = &[
    output("tour", "--out", "tour -o @", "x.html", &[], How::Refusals),
    output("train", "--out", "train a.csv -o @", "x.mercer", DATA, How::File),
    output("train", "--report", "train a.csv -o y --report @", "x.html", DATA, How::File),
    output("tune", "--out", "tune a.csv -c 1 --gamma 1 --folds 2 -o @", "x.mercer", DATA, How::File),
    output("tune", "--report", "tune a.csv -c 1 --gamma 1 --folds 2 --report @", "x.html", DATA, How::File),
    output(
        "tune",
        "--checkpoint",
        "tune a.csv -c 1 --gamma 1 --folds 2 --checkpoint @",
        "x",
        DATA,
        How::Journal,
    ),
    output("predict", "--out", "predict a.csv m.mercer -o @", "x.csv", BOTH, How::File),
    output("evaluate", "--report", "evaluate a.csv m.mercer --report @", "x.html", BOTH, How::File),
    output("explain", "--report", "explain m.mercer a.csv --report @", "x.html", BOTH, How::File),
    output("novelty", "--out", "novelty a.csv -o @", "x.mercer", DATA, How::File),
    output("novelty", "--report", "novelty a.csv -o y --report @", "x.html", DATA, How::File),
    output("cluster", "--out", "cluster a.csv -o @", "x.mercer", DATA, How::File),
    output("cluster", "--report", "cluster a.csv -o y --report @", "x.html", DATA, How::File),
    output("compress", "--out", "compress m.mercer a.csv --vectors 3 -o @", "x.mercer", BOTH, How::File),
    output(
        "compress",
        "--report",
        "compress m.mercer a.csv --vectors 3 -o y --report @",
        "x.html",
        BOTH,
        How::File,
    ),
    output("convert", "--out", "convert m.mercer --to json -o @", "x.json", &["m.mercer"], How::File),
    output("denoise", "--out", "denoise a.csv -n 1 -o @", "x.csv", DATA, How::File),
    output("denoise", "--report", "denoise a.csv -n 1 -o y.csv --report @", "x.html", DATA, How::File),
    output("reproduce", "--report", "reproduce toy --report @", "x.html", &[], How::Refusals),
    output("man", "--out", "man -o @", "x", &[], How::Folder),
    output("data convert", "<OUT>", "data convert a.csv @", "x.svm", DATA, How::File),
    output("data split", "<TRAIN>", "data split a.csv @ y.csv", "x.csv", DATA, How::File),
    output("data split", "<TEST>", "data split a.csv y.csv @", "x.csv", DATA, How::File),
    output("data toy", "<OUT>", "data toy banana @ --rows 20", "x.csv", &[], How::File),
    output("pca fit", "--out", "pca fit a.csv -n 2 -o @", "x.pca", DATA, How::File),
    output("pca fit", "--report", "pca fit a.csv -n 2 -o y --report @", "x.html", DATA, How::File),
    output(
        "pca transform",
        "--out",
        "pca transform a.csv p.pca -o @",
        "x.csv",
        &["a.csv", "p.pca"],
        How::File,
    ),
    output("pca inverse", "--out", "pca inverse f.csv p.pca -o @", "x.csv", &["f.csv", "p.pca"], How::File),
    output("pca show", "--out", "pca show p.pca -o @", "x.html", &["p.pca"], How::File),
    output("kernel gram", "--out", "kernel gram a.csv --kernel linear -o @", "x.csv", DATA, How::File),
];

/// Options and arguments that name a file to read.
const INPUTS: &[&str] = &[
    "<DATA>",
    "[DATA]",
    "<MODEL>",
    "<MODEL>...",
    "[FILE]...",
    "--tokens",
    "--tls-cert",
    "--tls-key",
    "<IN>",
    "<FILE>",
    "--labels",
    "--resume",
    "--features",
    "--model",
    "--importance",
    "--train",
    "--reject-on",
    "--groups",
];

/// Words in the help that stand for a file or a folder.
const PLACES: &[&str] = &["FILE", "DIR", "MODEL", "DATA", "OUT", "IN", "TRAIN", "TEST"];

fn folder() -> Folder {
    let folder = Folder::new()
        .with("a.csv", flowers())
        .with("s.seq", "x\tACGT\ny\tTTGA\nx\tACGG\n")
        .with("g.pgm", "P2\n2 2\n255\n0 80 160 255\n");
    folder.mercer("train a.csv -o m.mercer -q").fine();
    folder.mercer("pca fit a.csv -n 2 -o p.pca -q").fine();
    folder.mercer("pca transform a.csv p.pca -o f.csv -q").fine();
    folder
}

impl Output {
    fn run(&self, folder: &Folder, place: &str) -> Run {
        folder.mercer(&format!("{} -q --threads 1", self.line.replace('@', place)))
    }

    fn written(&self) -> bool {
        matches!(self.how, How::File | How::Journal)
    }
}

fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    std::fs::read(folder.path(name)).unwrap_or_default()
}

/// The command that writes every format, once for each that can be written, and once packed.
fn formats() -> Vec<Output> {
    let data = |format: Format| match format {
        Format::Sequences | Format::Fasta => "s.seq",
        Format::Png | Format::Pnm => "g.pgm",
        _ => "a.csv",
    };
    let written = FORMATS.iter().filter(|row| row.writable());
    let plain = written.clone().map(|row| (row.format, format!("x.{}", row.extensions[0])));
    let packed = written.take(1).flat_map(|row| {
        ["gz", "bz2", "xz", "zst"].map(|end| (row.format, format!("x.{}.{end}", row.extensions[0])))
    });
    let output = |(format, name): (Format, String)| Output {
        command: "data convert",
        arg: "<OUT>",
        line: format!("data convert {} @", data(format)).leak(),
        name: name.leak(),
        inputs: if data(format) == "a.csv" { DATA } else { &[] },
        how: How::File,
    };
    plain.chain(packed).map(output).collect()
}

/// All of them.
fn all() -> Vec<Output> {
    OUTPUTS.iter().copied().chain(formats()).collect()
}

/// What is in a folder, hidden files too.
fn listed(folder: &Folder) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder.path(".")).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_option_that_names_a_file_is_in_a_list() {
    let folder = Folder::new();
    let first = folder.mercer("").fine().out;
    let commands: Vec<String> = first
        .lines()
        .filter_map(|line| line.strip_prefix("  mercer "))
        .map(|line| line.split("  ").next().unwrap_or_default().trim().to_owned())
        .collect();
    assert!(commands.len() > 20 && commands.iter().any(|c| c == "pca show"), "{commands:?}");
    let mut found = BTreeSet::new();
    for command in &commands {
        let help = folder.mercer(&format!("{command} --help")).fine().out;
        for line in help.lines().map(str::trim_start).filter(|line| line.starts_with(['-', '<', '['])) {
            let head = line.split("  ").next().unwrap_or_default();
            let Some(value) = head.split(['<', '[', '>', ']']).nth(1) else { continue };
            if !PLACES.contains(&value) {
                continue;
            }
            let arg = head.split_whitespace().find(|word| word.starts_with("--")).unwrap_or(head).to_owned();
            if !INPUTS.contains(&arg.as_str()) {
                found.insert((command.clone(), arg));
            }
        }
    }
    let listed: BTreeSet<(String, String)> =
        OUTPUTS.iter().map(|o| (o.command.to_owned(), o.arg.to_owned())).collect();
    assert_eq!(found, listed);
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work_and_nothing_is_left_behind() {
    let folder = folder();
    std::fs::create_dir(folder.path("d")).expect("made");
    let before = listed(&folder);
    for output in all() {
        let inside = |name: &str| format!("{name}/{}", output.name);
        let mut places = vec![inside("a.csv")];
        if output.how != How::Folder {
            places.push(inside("nowhere"));
            // Pictures go into a folder that is there.
            places.extend((!output.line.contains(".pgm")).then(|| "d".to_owned()));
            // A folder that is asked for is made where the command can fill one.
            places.extend(
                (!output.line.contains("denoise")
                    && !output.line.contains("pca ")
                    && !output.line.contains("data convert"))
                .then(|| "new/".to_owned()),
            );
        }
        if Path::new("/proc/self").is_dir() {
            places.push(inside("/proc/self"));
        }
        for place in places {
            let run = output.run(&folder, &place);
            assert!(run.code == 1 && run.out.is_empty() && run.err.starts_with("error: "), "{run:#?}");
            assert_eq!(listed(&folder), before, "{run:#?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn no_output_replaces_an_input() {
    let folder = folder();
    for name in ["a.csv", "m.mercer", "p.pca", "f.csv"] {
        std::os::unix::fs::symlink(name, folder.path(&format!("soft-{name}"))).expect("linked");
        std::fs::hard_link(folder.path(name), folder.path(&format!("hard-{name}"))).expect("linked");
    }
    let kept: Vec<(&str, Vec<u8>)> =
        ["a.csv", "m.mercer", "p.pca", "f.csv"].map(|name| (name, bytes(&folder, name))).to_vec();
    let before = listed(&folder);
    for output in all() {
        for input in output.inputs {
            for place in
                [(*input).to_owned(), format!("./{input}"), format!("soft-{input}"), format!("hard-{input}")]
            {
                let run = output.run(&folder, &place);
                let told = format!("error: {place} would replace {input}, which this command reads\n");
                assert!(run.code == 2 && run.err.starts_with(&told), "{run:#?}");
                assert_eq!(listed(&folder), before, "{run:#?}");
            }
        }
    }
    for (name, content) in kept {
        assert_eq!(bytes(&folder, name), content, "{name}");
    }
}

#[test]
fn two_outputs_have_two_places() {
    let folder = folder();
    std::fs::write(folder.path("both.svm"), "").expect("written");
    for line in [
        "data split a.csv x.csv x.csv",
        "data split a.csv x.csv ./x.csv",
        "train a.csv -o x --report x",
        "novelty a.csv -o both.svm --report both.svm",
        "tune a.csv -o x --checkpoint x",
        "compress m.mercer -o x --report x",
        "denoise a.csv -o x.csv --report x.csv",
        "pca fit a.csv -o x --report x",
        "train a.csv -o x --report x.partial",
        "data split a.csv x.npy x.labels.npy",
    ] {
        let run = folder.mercer(line);
        assert!(run.code == 2 && run.err.contains("two outputs have the same path"), "{run:#?}");
        assert!(!folder.path("x").exists() && !folder.path("x.csv").exists(), "{line}");
    }
}

#[test]
fn labels_in_a_file_of_their_own_are_inputs_and_outputs_too() {
    let folder = folder();
    folder.mercer("data convert a.csv a.npy -q").fine();
    let labels = bytes(&folder, "a.labels.npy");
    for line in [
        "train a.npy -o a.labels.npy",
        "predict a.npy m.mercer -o a.labels.npy",
        "data convert a.csv l.csv --labels l.csv",
    ] {
        std::fs::write(folder.path("l.csv"), "1\n").expect("written");
        let run = folder.mercer(line);
        assert!(run.code == 2 && run.err.contains("which this command reads"), "{run:#?}");
    }
    assert_eq!(bytes(&folder, "a.labels.npy"), labels);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    use std::process::Command;

    fn mode(folder: &Folder, name: &str) -> u32 {
        std::fs::metadata(folder.path(name)).expect("there").permissions().mode() & 0o777
    }

    fn outputs() -> impl Iterator<Item = Output> {
        all().into_iter().filter(Output::written)
    }

    fn cleared(folder: &Folder) {
        for name in ["y", "y.csv", ".y.csv.pair", "x", "x.partial", "y.partial"] {
            let _ = std::fs::remove_file(folder.path(name));
        }
    }

    #[test]
    fn links_are_followed_and_rights_stay() {
        let folder = folder();
        for (at, output) in outputs().enumerate() {
            // A journal is gone on with, so it must not hold anything else.
            let old = if output.how == How::Journal { "" } else { "old" };
            let (target, link) = (format!("target-{at}"), format!("link-{at}-{}", output.name));
            for rights in [0o600, 0o644] {
                std::fs::write(folder.path(&target), old).expect("written");
                std::fs::set_permissions(folder.path(&target), std::fs::Permissions::from_mode(rights))
                    .expect("own");
                if !folder.path(&link).exists() {
                    symlink(&target, folder.path(&link)).expect("linked");
                }
                cleared(&folder);
                output.run(&folder, &link).fine();
                let about = std::fs::symlink_metadata(folder.path(&link)).expect("there");
                assert!(about.is_symlink(), "{}", output.line);
                assert_eq!(mode(&folder, &target), rights, "{}", output.line);
                assert!(bytes(&folder, &target).len() > 3, "{}", output.line);
            }
        }
    }

    #[test]
    fn a_link_to_nothing_makes_a_file_with_the_rights_of_the_umask() {
        let folder = folder();
        std::fs::create_dir(folder.path("sub")).expect("made");
        for (at, output) in outputs().enumerate() {
            let (target, link) = (format!("sub/target-{at}"), format!("link-{at}-{}", output.name));
            symlink(&target, folder.path(&link)).expect("linked");
            cleared(&folder);
            let line = format!("{} -q --threads 1", output.line.replace('@', &link));
            let mercer = env!("CARGO_BIN_EXE_mercer");
            let done = Command::new("sh")
                .args(["-c", &format!("umask 027; exec {mercer} {line}")])
                .current_dir(folder.path("."))
                .output()
                .expect("a shell");
            assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
            assert!(std::fs::symlink_metadata(folder.path(&link)).expect("there").is_symlink(), "{line}");
            assert_eq!(mode(&folder, &target), 0o640, "{line}");
        }
    }

    #[test]
    fn a_pipe_gets_everything_and_stays_a_pipe() {
        let folder = folder();
        for (at, output) in outputs().filter(|output| output.how == How::File).enumerate() {
            let name = format!("pipe-{at}-{}", output.name);
            let made = Command::new("mkfifo").arg(folder.path(&name)).status().expect("mkfifo is there");
            assert!(made.success());
            cleared(&folder);
            let path = folder.path(&name);
            let reader = std::thread::spawn(move || std::fs::read(path).expect("a pipe"));
            output.run(&folder, &name).fine();
            assert!(reader.join().expect("read").len() > 3, "{}", output.line);
            let about = std::fs::symlink_metadata(folder.path(&name)).expect("there");
            assert!(about.file_type().is_fifo(), "{}", output.line);
        }
    }

    #[test]
    fn a_device_stays_a_device() {
        let folder = folder();
        let made = |name: &str| {
            let done = Command::new("mknod").arg(folder.path(name)).args(["c", "1", "3"]).output();
            // Only root may, and not everywhere.
            done.is_ok_and(|done| done.status.success()) && std::fs::write(folder.path(name), "x").is_ok()
        };
        for (at, output) in outputs().filter(|output| output.how == How::File).enumerate() {
            let name = format!("device-{at}-{}", output.name);
            if !made(&name) {
                return;
            }
            cleared(&folder);
            output.run(&folder, &name).fine();
            let about = std::fs::symlink_metadata(folder.path(&name)).expect("there");
            assert!(about.file_type().is_char_device(), "{}", output.line);
            assert!(!folder.path(&format!("{name}.partial")).exists());
        }
    }
}
