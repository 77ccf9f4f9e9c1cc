//! Writes rows that are images as a folder of pictures: one file per row.

use std::collections::HashSet;
use std::path::Path;

use super::atomic::Ready;
use super::picture::write_png;
use super::place::sweep;
use crate::data::Dataset;
use crate::error::{Error, Result};

/// Writes rows that are images as PNG files into a folder, which is made if it is not there: values from 0 to 255, files
/// named as the rows are, or numbered. A `/` in a row's name is a folder, so that a tree of classes stays one; rows of one
/// name get numbers behind it, because each row is a file of its own.
///
/// ```
/// use mercer::data::io::{ReadOptions, read, write_images};
/// use mercer::data::{Dataset, ImageShape, Points, Targets};
/// let points = Points::dense(vec![0.0, 64.0, 128.0, 255.0], 2)?.with_image(ImageShape::grey(1, 2))?;
/// let folder = tempfile::tempdir().expect("a folder");
/// write_images(folder.path(), &Dataset::new(points.clone(), Targets::None)?)?;
/// let back = read(folder.path(), &ReadOptions::default())?;
/// assert_eq!(back.points.view().to_f64()?, points.view().to_f64()?);
/// assert_eq!(back.row_names, Some(vec!["1".into(), "2".into()]));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn write_images(folder: &Path, data: &Dataset) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    for (row, name) in file_names(data).into_iter().enumerate() {
        let file = folder.join(format!("{name}.png"));
        if let Some(above) = file.parent() {
            std::fs::create_dir_all(above).map_err(|e| Error::io(above, e))?;
        }
        let one = data.gather(&[row]);
        let ready = Ready::new(&file, |out| write_png(out, &one, &file.display().to_string(), u64::MAX))?;
        ready.map_or(Ok(()), Ready::commit)?;
    }
    sweep(folder);
    Ok(())
}

/// A file name for each row, no two the same on any system, none outside the folder they are for.
fn file_names(data: &Dataset) -> Vec<String> {
    let digits = data.len().to_string().len();
    let mut taken = HashSet::new();
    let mut out = Vec::with_capacity(data.len());
    for row in 0..data.len() {
        let number = format!("{:0digits$}", row + 1);
        let name = data.row_names.as_ref().map_or(number.clone(), |names| within(&names[row], &number));
        // Some file systems take A and a for one name.
        let mut unique = name.clone();
        for more in 2.. {
            if taken.insert(unique.to_lowercase()) {
                break;
            }
            unique = format!("{name}-{more}");
        }
        out.push(unique);
    }
    out
}

/// A row's name as a path that stays inside its folder: every part is the name of something.
fn within(name: &str, number: &str) -> String {
    let parts = name.split(['/', '\\']).filter(|part| !part.is_empty());
    let part = |part: &str| match part {
        "." | ".." => part.replace('.', "_"),
        _ => part.replace(['\0', ':'], "_"),
    };
    let path = parts.map(part).collect::<Vec<_>>().join("/");
    if path.is_empty() { number.to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read};
    use super::*;
    use crate::data::{ImageShape, Points, Targets};

    #[test]
    fn a_tree_stays_a_tree_and_no_row_is_written_over_another() {
        let shape = ImageShape::grey(1, 1);
        let of = |names: Option<&[&str]>, n: usize| {
            let points = Points::dense((0..n).map(|v| v as f64).collect(), 1).expect("rows");
            let mut data =
                Dataset::new(points.with_image(shape).expect("an image"), Targets::None).expect("fits");
            data.row_names = names.map(|names| names.iter().map(|n| (*n).to_owned()).collect());
            data
        };
        let names = ["a/1", "b/1", "b/1", "B/1", "b/1-2", "", "../../x", "/etc/x", ".", "c:\\x", "a//1"];
        let got = file_names(&of(Some(&names), names.len()));
        let want =
            ["a/1", "b/1", "b/1-2", "B/1-3", "b/1-2-2", "06", "__/__/x", "etc/x", "_", "c_/x", "a/1-2"];
        assert_eq!(got, want);
        assert_eq!(file_names(&of(None, 2)), ["1", "2"]);

        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let whole = of(Some(&["a/1", "a/2", "b/1", "b/2"]), 4);
        write_images(&from, &whole).expect("written");
        let of_folder = |path: &Path| read(path, &ReadOptions::default()).expect("pictures");
        write_images(&to, &of_folder(&from)).expect("written");
        let back = of_folder(&to);
        assert_eq!(back.points.view().to_f64().expect("numbers"), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(back.row_names, whole.row_names);
        assert_eq!(back.targets.classes().expect("folders").names, ["a", "b"]);
    }
}
