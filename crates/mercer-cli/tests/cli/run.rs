//! Runs the built command in a folder of its own, and compares what it says with committed files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder with files, gone when the test ends. Commands run inside it, so that paths in messages are short.
pub(crate) struct Folder(tempfile::TempDir);

/// What a run said and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) line: String,
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// The same with one more file.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path(name), content).expect("a file in a fresh folder");
        self
    }

    /// A file's place.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file's text.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }

    /// The command, ready to run here, its surroundings the same on every machine.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mercer"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs it: `folder.mercer("data info a.csv")`.
    pub(crate) fn mercer(&self, line: &str) -> Run {
        self.mercer_args(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs it with arguments that hold spaces.
    pub(crate) fn mercer_args(&self, args: &[&str]) -> Run {
        let output = self.command(args).output().expect("the built command starts");
        let quote =
            |arg: &&str| if arg.contains([' ', '(']) { format!("'{arg}'") } else { (*arg).to_owned() };
        Run {
            line: args.iter().map(quote).collect::<Vec<_>>().join(" "),
            code: output.status.code().expect("not killed"),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Run {
    /// Fails unless it ended well and kept standard error clean.
    #[track_caller]
    pub(crate) fn fine(self) -> Self {
        assert!(self.code == 0 && self.err.is_empty(), "{self:#?}");
        self
    }

    /// Fails unless it ended with this code, said exactly this on standard error and nothing on standard output.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, err: &str) {
        assert_eq!(self.err, err, "standard error of mercer {}", self.line);
        assert_eq!((self.code, self.out.as_str()), (code, ""), "mercer {}", self.line);
    }

    /// The same without the lines that hold a word: times differ from run to run.
    #[track_caller]
    pub(crate) fn without(mut self, word: &str) -> Self {
        assert!(self.out.contains(word), "no `{word}` in {}", self.out);
        self.out = self.out.split_inclusive('\n').filter(|line| !line.contains(word)).collect();
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in {}", self.out))
    }

    /// Compares all of it with `tests/snapshots/<name>.txt`. `MERCER_BLESS=1` writes that file instead: look at the
    /// difference before committing it.
    #[track_caller]
    pub(crate) fn snapshot(&self, name: &str) {
        let err = if self.err.is_empty() { "" } else { "--- standard error\n" };
        let text = format!("$ mercer {}\n{}{err}{}--- code {}\n", self.line, self.out, self.err, self.code);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
        if std::env::var_os("MERCER_BLESS").is_some() {
            let mut out = std::fs::File::create(&file).expect("a writable checkout");
            out.write_all(text.as_bytes()).expect("a writable checkout");
            return;
        }
        let wanted = std::fs::read_to_string(&file).unwrap_or_default();
        let first = wanted.lines().zip(text.lines()).position(|(a, b)| a != b);
        let line = first.unwrap_or_else(|| wanted.lines().count().min(text.lines().count())) + 1;
        assert!(
            wanted == text,
            "{} differs from line {line} on (MERCER_BLESS=1 accepts it)\n--- wanted\n{wanted}\n--- got\n{text}",
            file.display()
        );
    }
}
