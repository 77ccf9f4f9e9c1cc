//! The files of a command: what it reads and what it writes, looked at before any work is done.
//!
//! Every command names them ([`crate::commands::Command::files`]), so that none can forget to look: outputs must be
//! writable, differ from each other, and not replace what the same command reads.

use std::path::{Path, PathBuf};

use mercer::data::io::{check_writable, check_writable_folder, companions, is_picture, lies_in, same_place};

use crate::failure::{Done, Failure};

/// What a command reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Files {
    inputs: Vec<PathBuf>,
    outputs: Vec<Output>,
}

#[derive(Debug)]
struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A file.
    File,
    /// Data: labels may go to a file of their own.
    Data,
    /// Data, or a folder of pictures where the path is one of a folder.
    Rows,
    /// A folder of files.
    Folder,
    /// A file that the command reads first and then goes on with.
    Journal,
}

impl Files {
    /// No files.
    pub(crate) fn none() -> Self {
        Files::default()
    }

    /// The same with a file or folder that is read; `-` is standard input.
    pub(crate) fn reads<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.inputs.extend(paths.filter(|path| path != Path::new("-")));
        self
    }

    /// The same with a file that is written.
    pub(crate) fn writes<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.with(paths, Kind::File)
    }

    /// The same with a data file that is written.
    pub(crate) fn writes_data<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.with(paths, Kind::Data)
    }

    /// The same with rows that are written: see [`crate::rows::write`].
    pub(crate) fn writes_rows(self, path: &Path) -> Self {
        self.with([path], Kind::Rows)
    }

    /// The same with a folder that is written into.
    pub(crate) fn fills<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.with(paths, Kind::Folder)
    }

    /// The same with a file that is gone on with.
    pub(crate) fn goes_on_with<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.with(paths, Kind::Journal)
    }

    fn with<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>, kind: Kind) -> Self {
        self.outputs.extend(paths.into_iter().map(|path| Output { path: path.as_ref().to_owned(), kind }));
        self
    }

    /// What is read besides one of the inputs.
    pub(crate) fn inputs_beside(&self, one: &Path) -> impl Iterator<Item = &PathBuf> {
        self.inputs.iter().filter(move |path| path.as_path() != one)
    }

    /// Fails where an output would replace an input or another output, or cannot be written. Changes nothing.
    pub(crate) fn check(&self) -> Done {
        let inputs: Vec<PathBuf> =
            self.inputs.iter().flat_map(|path| companions(path).into_iter().chain([path.clone()])).collect();
        let mut taken: Vec<PathBuf> = Vec::new();
        for output in &self.outputs {
            let all = output.all();
            for path in &all {
                if let Some(input) = inputs.iter().find(|input| output.replaces(path, input)) {
                    return Err(Failure::usage(
                        format!(
                            "{} would replace {}, which this command reads",
                            path.display(),
                            input.display()
                        ),
                        "choose another name for the output",
                    ));
                }
                if taken.iter().any(|other| same_place(other, path)) {
                    return Err(Failure::usage(
                        format!("two outputs have the same path: {}", path.display()),
                        "choose a different name for each output",
                    ));
                }
            }
            taken.extend(all);
        }
        self.outputs.iter().try_for_each(Output::check)
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

impl Output {
    /// The files it becomes, as far as their names are known before.
    fn all(&self) -> Vec<PathBuf> {
        let beside = matches!(self.kind, Kind::Data | Kind::Rows) && !self.is_folder();
        let labels = if beside { companions(&self.path) } else { Vec::new() };
        labels.into_iter().chain([self.path.clone()]).collect()
    }

    fn is_folder(&self) -> bool {
        self.kind == Kind::Folder || self.kind == Kind::Rows && crate::rows::is_folder(&self.path)
    }

    /// Whether writing `path`, one of its files, would replace an input.
    fn replaces(&self, path: &Path, input: &Path) -> bool {
        if same_place(path, input) {
            return true;
        }
        if !input.is_dir() {
            // A picture of the same name would be written beside its own rows.
            let beside =
                input.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            return self.is_folder() && is_picture(input) && same_place(beside, path);
        }
        // A folder is read picture by picture: new folders in it become classes, and a picture that is there is data.
        lies_in(path, input) && (self.is_folder() || path.exists() && is_picture(path))
    }

    fn check(&self) -> Done {
        if self.is_folder() {
            return Ok(check_writable_folder(&self.path)?);
        }
        Ok(self.all().iter().try_for_each(check_writable)?)
    }
}
