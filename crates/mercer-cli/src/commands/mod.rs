//! One file a command. A command is a struct of arguments that can run; [`ALL`] is the one list of them, from which
//! the parser, the help and the first screen are made.

mod bounds;
mod compare;
mod completions;
mod compress;
mod convert;
mod data;
mod denoise;
mod devices;
mod evaluate;
mod explain;
mod kernel;
mod lab;
mod man;
mod pca;
mod predict;
mod reproduce;
mod serve;
mod tour;
mod train;
mod tune;

use clap::{ArgMatches, Args};
use mercer::Error;

use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;

/// Every command, in the order they are shown.
pub(crate) static ALL: &[Entry] = &[
    entry::<tour::Tour>(),
    entry::<lab::Lab>(),
    entry::<train::Train>(),
    entry::<tune::Tune>(),
    entry::<predict::Predict>(),
    entry::<evaluate::Evaluate>(),
    entry::<explain::Explain>(),
    entry::<bounds::Bound>(),
    entry::<compare::Compare>(),
    entry::<train::Novelty>(),
    entry::<train::Cluster>(),
    entry::<compress::Compress>(),
    entry::<convert::Convert>(),
    entry::<denoise::Denoise>(),
    entry::<serve::Serve>(),
    entry::<reproduce::Reproduce>(),
    entry::<devices::Devices>(),
    entry::<completions::Completions>(),
    entry::<man::Man>(),
    entry::<data::info::Info>(),
    entry::<data::convert::Convert>(),
    entry::<data::split::Split>(),
    entry::<data::toy::Toy>(),
    entry::<pca::fit::Fit>(),
    entry::<pca::transform::Transform>(),
    entry::<pca::inverse::Inverse>(),
    entry::<pca::show::Show>(),
    entry::<kernel::list::List>(),
    entry::<kernel::check::Check>(),
    entry::<kernel::gram::Gram>(),
    entry::<kernel::geometry::ShapeAt>(),
];

/// Headings of the first screen for commands of one word, with those commands.
pub(crate) static SINGLE: &[(&str, &[&str])] = &[
    ("Start here", &["tour", "lab"]),
    (
        "Models",
        &[
            "train", "tune", "predict", "evaluate", "explain", "bounds", "compare", "novelty", "cluster",
            "compress", "denoise", "convert", "serve",
        ],
    ),
    ("Other", &["reproduce", "devices", "completions", "man"]),
];

/// First words that stand before several commands, with what those have in common.
pub(crate) static GROUPS: &[(&str, &str)] =
    &[("data", "Data"), ("pca", "Kernel principal components"), ("kernel", "Kernels")];

/// A command: its arguments, and what it does with them.
pub(crate) trait Command: Args {
    /// The words that call it.
    const PATH: &'static [&'static str];

    /// What it reads and writes: looked at before it runs.
    fn files(&self) -> Result<Files, Failure>;

    /// Does it.
    fn run(self, context: &Context) -> Done;
}

/// A command's row in [`ALL`].
pub(crate) struct Entry {
    /// The words that call it.
    pub(crate) path: &'static [&'static str],
    /// Adds its arguments and its help to a parser.
    pub(crate) augment: fn(clap::Command) -> clap::Command,
    /// Runs it on what was parsed.
    pub(crate) run: fn(&ArgMatches, &Context) -> Done,
}

const fn entry<C: Command>() -> Entry {
    Entry { path: C::PATH, augment: C::augment_args, run: run::<C> }
}

fn run<C: Command>(matches: &ArgMatches, context: &Context) -> Done {
    let command = C::from_arg_matches(matches).map_err(Failure::Clap)?;
    let files = command.files()?;
    files.check()?;
    command.run(context).map_err(|failure| match &failure {
        Failure::Library(error) => in_order::<C>(error, &files, context).unwrap_or(failure),
        _ => failure,
    })
}

/// Data where a model is expected, and a model elsewhere on the command line: the arguments are swapped. Commands that
/// describe a model name it first, those that predict name the rows first, so this is a common slip.
fn in_order<C: Command>(error: &Error, files: &Files, context: &Context) -> Option<Failure> {
    let Error::ModelFile { path, .. } = error else { return None };
    let model = files.inputs_beside(path).find(|file| crate::model::is_one(file, context.exec))?;
    let parser = C::augment_args(clap::Command::new(""));
    let names = parser.get_positionals().filter_map(|arg| arg.get_value_names()?.first());
    let usage = names.fold(format!("mercer {}", C::PATH.join(" ")), |line, name| format!("{line} {name}"));
    Some(Failure::usage(
        format!("{} is not a model, but {} is one", path.display(), model.display()),
        format!("the order of the arguments is `{usage}`"),
    ))
}
