//! Models as a command line names them.

use std::path::{Path, PathBuf};

use mercer::Exec;
use mercer::model::Model;

use crate::failure::Failure;

/// Reads a model of any format.
pub(crate) fn read(file: &Path, exec: Exec) -> Result<Model, Failure> {
    Ok(Model::read_within(file, exec.memory())?)
}

/// Whether a file is a model. Pipes and devices are not asked: what is read from them is gone.
pub(crate) fn is_one(file: &Path, exec: Exec) -> bool {
    file.is_file() && read(file, exec).is_ok()
}

/// The file for an unfinished model, next to the final one. `None` if that is a device or a pipe.
pub(crate) fn partial(out: &Path) -> Option<PathBuf> {
    let stream = std::fs::metadata(out).is_ok_and(|about| !about.is_file());
    (!stream).then(|| PathBuf::from(format!("{}{PARTIAL}", out.display())))
}

/// Suffix of unfinished models.
const PARTIAL: &str = ".partial";

/// Where a model goes that is gone on with: an unfinished one becomes the one it was to be.
pub(crate) fn whole(from: &Path) -> PathBuf {
    let name = from.display().to_string();
    name.strip_suffix(PARTIAL).filter(|name| !name.is_empty()).map_or(from.to_owned(), PathBuf::from)
}

/// Where an interrupted model goes: to its place where nothing is lost by it, else beside it.
pub(crate) fn place_of_interrupted(out: &Path, replace: bool) -> PathBuf {
    let lost = out.is_file() && !replace;
    partial(out).filter(|_| lost).unwrap_or_else(|| out.to_owned())
}

/// What to do after an interrupted training: continue it where its learner can.
pub(crate) fn after_interruption(model: &Model, data: &Path, file: &Path) -> String {
    if model.machine.can_resume() {
        return format!("`mercer train {} --resume {}` continues", data.display(), file.display());
    }
    let name = model.machine.learner.entry().name;
    format!("training of {name} cannot be resumed; run the same command again to start over")
}

/// The default file of a model: `iris.csv.gz` gives `iris.mercer`, in the current folder.
pub(crate) fn file_for(data: &Path) -> Result<PathBuf, Failure> {
    let name = data.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let packed = [".gz", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let stem = Path::new(packed).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match stem.filter(|stem| !stem.is_empty() && data != Path::new("-")) {
        Some(stem) => Ok(PathBuf::from(format!("{stem}.mercer"))),
        None => Err(Failure::usage("standard input gives no name for the model", "pass `-o FILE`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_model_becomes_the_one_it_was_to_be() {
        assert_eq!(partial(Path::new("a/m.mercer")), Some("a/m.mercer.partial".into()));
        assert_eq!(partial(Path::new("/dev/null")), None);
        assert_eq!(whole(Path::new("a/m.mercer.partial")), Path::new("a/m.mercer"));
        assert_eq!(whole(Path::new("m.mercer")), Path::new("m.mercer"));
        assert_eq!(whole(Path::new(".partial")), Path::new(".partial"));
    }

    #[test]
    fn models_are_called_after_their_data() {
        for (data, model) in [
            ("iris.csv", "iris.mercer"),
            ("a/b.svm.xz", "b.mercer"),
            ("x", "x.mercer"),
            ("d.v1.npy", "d.v1.mercer"),
        ] {
            assert_eq!(file_for(Path::new(data)).expect("a name"), Path::new(model));
        }
        assert!(file_for(Path::new("-")).is_err());
    }
}
