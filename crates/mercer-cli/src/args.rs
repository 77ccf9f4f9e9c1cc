//! The command line: options that every command has, and the tree of commands built from `commands::ALL`.

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Style};
use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};

use mercer_cuda::Choice;

use crate::commands::{ALL, Entry, GROUPS, SINGLE};
use crate::failure::Failure;
use crate::memory;

const STRONG: Style = Style::new().bold();
const COMMAND: Style = AnsiColor::Cyan.on_default();
const STYLES: Styles =
    Styles::styled().header(STRONG).usage(STRONG).literal(COMMAND).placeholder(Style::new());

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Output format
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "text|json",
        hide_possible_values = true
    )]
    pub(crate) format: Format,

    /// Print results and errors only: no progress bar, no notes
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Number of threads [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Memory limit, for example 64M or 2G [default: half of the available memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory::parse)]
    pub(crate) memory: Option<u64>,

    /// Device: auto, cpu, cuda or cuda:N (see mercer devices)
    #[arg(long, global = true, value_name = "DEVICE", default_value_t = Choice::Auto)]
    pub(crate) device: Choice,

    /// Seed of the random number generator; the same seed gives the same result
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

impl Global {
    /// The options among a command's matches.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Self, Failure> {
        Global::from_arg_matches(matches).map_err(Failure::Clap)
    }
}

/// The whole tree of commands.
pub(crate) fn command() -> clap::Command {
    let root = clap::Command::new("mercer")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Mercer: learning with kernels")
        .styles(STYLES)
        .max_term_width(100)
        .disable_help_subcommand(true)
        .help_template(format!("{{before-help}}{STRONG}Global options{STRONG:#}\n{{options}}{{after-help}}"))
        .before_help(overview())
        .after_help(format!(
            "{COMMAND}mercer COMMAND --help{COMMAND:#} explains a command and shows examples."
        ));
    tree(root)
}

/// A root with all options and commands.
fn tree(root: clap::Command) -> clap::Command {
    let mut root = Global::augment_args(root).mut_args(|arg| arg.help_heading("Global options"));
    for (name, about) in GROUPS {
        let below = ALL.iter().filter(|entry| entry.path[0] == *name && entry.path.len() == 2);
        let group = clap::Command::new(*name)
            .about(*about)
            .subcommand_required(true)
            .arg_required_else_help(true)
            .disable_help_subcommand(true)
            .subcommands(below.map(leaf));
        root = root.subcommand(group);
    }
    root.subcommands(ALL.iter().filter(|entry| entry.path.len() == 1).map(leaf))
}

fn leaf(entry: &Entry) -> clap::Command {
    let name = entry.path[entry.path.len() - 1];
    (entry.augment)(clap::Command::new(name))
}

/// The first screen: every command with its line, by group.
fn overview() -> String {
    let line = |entry: &Entry| {
        let words = entry.path.join(" ");
        let about = leaf(entry).get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {COMMAND}mercer {words:18}{COMMAND:#} {about}\n")
    };
    let section = |head: &str, has: &dyn Fn(&Entry) -> bool| {
        let lines: String = ALL.iter().filter(|entry| has(entry)).map(line).collect();
        format!("{STRONG}{head}{STRONG:#}\n{lines}\n")
    };
    let single = |(head, names): &(&str, &[&str])| {
        section(head, &|entry| entry.path.len() == 1 && names.contains(&entry.path[0]))
    };
    let group = |(name, about): &(&str, &str)| {
        section(about, &|entry| entry.path.len() == 2 && entry.path[0] == *name)
    };
    // What is needed once comes last.
    let (last, first) = SINGLE.split_last().expect("there are headings");
    let sections = first.iter().map(single).chain(GROUPS.iter().map(group)).chain([single(last)]);
    format!("{STRONG}Mercer{STRONG:#}: learning with kernels\n\n{}", sections.collect::<String>())
}

/// The tree without the first screen's own form: for pages that have one.
pub(crate) fn plain_command() -> clap::Command {
    // The options' own text would else stand for the whole command.
    tree(clap::Command::new("mercer").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true))
        .about("Mercer: learning with kernels")
}
