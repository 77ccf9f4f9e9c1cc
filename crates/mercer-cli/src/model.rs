//! Models as a command line names them.

use std::path::{Path, PathBuf};

use mercer::Error;
use mercer::model::Model;

use crate::failure::Failure;

/// Reads a model of any format.
pub(crate) fn read(file: &Path) -> Result<Model, Failure> {
    Ok(Model::read(file)?)
}

/// Fails where a file cannot be written because its folder is not there: before the work, not after it.
pub(crate) fn can_write(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match std::fs::metadata(folder) {
        Ok(about) if about.is_dir() => Ok(()),
        Ok(_) => Err(Error::io(folder, std::io::ErrorKind::NotADirectory.into()).into()),
        Err(e) => Err(Error::io(folder, e).into()),
    }
}

/// Where the model of some data goes if nobody says: `iris.csv.gz` gives `iris.mercer`, in the current folder.
pub(crate) fn file_for(data: &Path) -> Result<PathBuf, Failure> {
    let name = data.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let packed = [".gz", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let stem = Path::new(packed).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match stem.filter(|stem| !stem.is_empty() && data != Path::new("-")) {
        Some(stem) => Ok(PathBuf::from(format!("{stem}.mercer"))),
        None => Err(Failure::usage(
            "standard input has no name to call the model by",
            "`-o FILE` says where the model goes",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
