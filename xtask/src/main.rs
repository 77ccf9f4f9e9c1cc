//! House rules, tests and benches of the Mercer workspace: `cargo xtask <command>`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command's output is its purpose")]

mod book;
mod budget;
mod experiments;
mod lab;
mod licences;
mod ptx;
mod python;
mod release;
mod serve;
mod spdx;
mod steps;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

const HELP: &str = "\
cargo xtask <command>

  tidy [FOLDER]            the house rules: who may name whom, where unsafe may be, what must not be committed
  licences                 every dependency's licence against the list of those we accept
  test [STEP ...]          everything `./test` runs, or only the named steps
  bench NAME [ARG ...]     Mercer beside its peers in one run (`cargo xtask bench list` names them)
  campaign serve [--minutes 10]
                           mixed load on the service, models swapped, stops and starts: no failure, no leak
  budget                   time of a cold release build and size of the command, as ARCHITECTURE.md budgets them
  book                     generates the reference pages, then the book of docs/ in target/book, links checked
  release --dry-run        packages crates, command, tarball, wheel and sdist into target/dist, and checks them
  experiments [NAME ...]   runs the papers' experiments, all unless named, and records their numbers in reproduce/runs
  ptx                      compiles the device code of crates/mercer-cuda again; needs no device
  docs                     the library's documentation, warnings denied
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let root = root();
    let (command, rest) = args.split_first().map_or(("help", args), |(c, rest)| (c.as_str(), rest));
    match command {
        "tidy" => tidy::run(rest.first().map_or(root.as_path(), Path::new)),
        "budget" => budget::run(&root),
        "release" => release::run(&root, rest),
        "book" => book::run(&root),
        "experiments" => experiments::run(&root, rest),
        "ptx" => ptx::run(&root),
        "licences" => licences::run(&root),
        "test" => steps::run(&root, rest),
        "docs" => {
            steps::docs(&root)?;
            println!("{}", root.join("target/doc/mercer/index.html").display());
            Ok(())
        }
        "bench" | "campaign" => {
            let cargo = ["run", "--locked", "--release", "--quiet", "--package", "mercer-bench", "--"];
            let campaign = (command == "campaign").then_some("--campaign");
            spawn(cargo_in(&root).args(cargo).args(campaign).args(rest))
        }
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("there is no command `{other}`\n\n{HELP}"),
    }
}

/// The workspace's folder: the parent of this crate's.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies inside the workspace").to_path_buf()
}

fn cargo_in(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

fn spawn(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{} ended with {status}", line_of(command));
    }
    Ok(())
}

/// The same, with the output printed as a whole when the command has ended, so that it does not mix with another's.
fn spawn_quietly(command: &mut Command) -> Result<()> {
    let out = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    println!("{}\n{text}{}", line_of(command), String::from_utf8_lossy(&out.stderr));
    if !out.status.success() {
        bail!("{} ended with {}", line_of(command), out.status);
    }
    Ok(())
}

/// The command as one would type it.
fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    std::iter::once(program)
        .chain(command.get_args())
        .map(|a| a.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
