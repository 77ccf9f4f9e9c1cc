//! The data that comparisons run on: real sets where they are at hand, else something of the same shape.
//!
//! Real sets are looked for in the folder named by `MERCER_DATA`, else in `data/local`. All sides read the same numbers
//! from the same file: f32, so that a side working in f64 solves exactly the same problem.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use mercer::data::io::{self, ReadOptions, Storage, TargetKind};
use mercer::data::{Data, Dataset, Points, Targets};

use crate::made;

/// A real set with the machine that comparisons train on it.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// C and gamma of the Gaussian machine.
    pub(crate) c: f64,
    pub(crate) gamma: f64,
    /// Whether most values are 0, so that peers may be given sparse rows.
    pub(crate) sparse: bool,
    load: fn(&Path) -> Result<Split>,
}

/// Rows to learn from and rows to judge by.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) train: Dataset,
    pub(crate) test: Dataset,
}

/// Every set.
pub(crate) const ALL: [Set; 9] = [
    Set { name: "usps", c: 10.0, gamma: 1.0 / 128.0, sparse: false, load: usps },
    Set { name: "letter", c: 10.0, gamma: 0.1, sparse: false, load: letter },
    Set { name: "mnist10k", c: 10.0, gamma: 0.02, sparse: false, load: |root| mnist(root, 10_000) },
    Set { name: "mnist60k", c: 10.0, gamma: 0.02, sparse: false, load: |root| mnist(root, 60_000) },
    Set { name: "a9a", c: 1.0, gamma: 0.05, sparse: true, load: |root| libsvm(root, "a9a", 123) },
    Set { name: "ijcnn1", c: 32.0, gamma: 2.0, sparse: false, load: |root| libsvm(root, "ijcnn1", 22) },
    Set { name: "separated", c: 10.0, gamma: 1.0, sparse: false, load: |_| made::separated() },
    Set { name: "flags", c: 8.0, gamma: 0.05, sparse: true, load: |_| made::flags() },
    Set { name: "texts", c: 1.0, gamma: 1.0, sparse: true, load: |_| made::texts() },
];

impl Set {
    /// The set of this name.
    pub(crate) fn named(name: &str) -> &'static Set {
        ALL.iter().find(|s| s.name == name).expect("a name from the table")
    }

    /// Reads it. The error says where it was looked for.
    pub(crate) fn load(&self) -> Result<Split> {
        let root = folder();
        (self.load)(&root).with_context(|| {
            format!(
                "{}: looked for in {} (set MERCER_DATA to the folder that has it)",
                self.name,
                root.display()
            )
        })
    }
}

/// Where real sets are looked for.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("MERCER_DATA").map_or_else(|| workspace().join("data/local"), PathBuf::from)
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("bench lies inside the workspace")
}

/// The folder of this package, with the peers' scripts: `MERCER_BENCH` where the program was carried to a machine without
/// the checkout it was built from.
pub(crate) fn home() -> PathBuf {
    std::env::var_os("MERCER_BENCH")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).into(), PathBuf::from)
}

/// The folder for files that the driver hands to the sides.
pub(crate) fn scratch() -> Result<PathBuf> {
    let folder = match std::env::var_os("MERCER_BENCH") {
        Some(home) => PathBuf::from(home).join("scratch"),
        None => workspace().join("target/bench"),
    };
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Writes rows (and labels beside them, as `NAME.labels.npy`) for all sides to read.
pub(crate) fn hand_out(data: &Dataset, name: &str) -> Result<PathBuf> {
    let path = scratch()?.join(format!("{name}.npy"));
    io::write(&path, data)?;
    Ok(path)
}

fn read(path: &Path, columns: Option<usize>) -> Result<Dataset> {
    let options = ReadOptions {
        columns,
        storage: Storage::F32,
        targets: TargetKind::Classes,
        ..ReadOptions::default()
    };
    Ok(io::read(path, &options)?)
}

fn usps(root: &Path) -> Result<Split> {
    let part = |name: &str| read(&root.join(format!("usps/usps.{name}.svm.xz")), Some(256));
    Ok(Split { train: part("train")?, test: part("test")? })
}

fn libsvm(root: &Path, name: &str, columns: usize) -> Result<Split> {
    let part = |ending: &str| read(&root.join(format!("libsvm/{name}{ending}.svm.xz")), Some(columns));
    Ok(Split { train: part("")?, test: part(".t")? })
}

/// Rings of shells from measures of them: a regression, columns standardised.
pub(crate) fn abalone() -> Result<Dataset> {
    let path = folder().join("regression/abalone.svm.xz");
    let options = ReadOptions { storage: Storage::F32, targets: TargetKind::Reals, ..ReadOptions::default() };
    let data = io::read(&path, &options).with_context(|| path.display().to_string())?;
    let x: Vec<f64> = data.points.view().to_f64()?;
    let d = data.dim();
    Ok(Dataset::new(Points::dense_f32(made::standardised(&x, d), d)?, data.targets)?)
}

/// A regression by name, cut into rows to learn from and rows to judge by.
pub(crate) fn numbers(name: &str) -> Result<Split> {
    let data = match name {
        "abalone" => abalone()?,
        _ => made::surface()?,
    };
    let (rows, cut): (Vec<usize>, usize) = ((0..data.len()).collect(), data.len() * 3 / 4);
    Ok(Split { train: data.gather(&rows[..cut]), test: data.gather(&rows[cut..]) })
}

/// The first rows of the 60000, pixels from 0 to 1.
fn mnist(root: &Path, rows: usize) -> Result<Split> {
    let part = |name: &str| {
        let data = read(&root.join(format!("mnist/{name}-images-idx3-ubyte.gz")), None)?;
        mapped(&data, |_, v| v / 255.0)
    };
    let train = part("train")?;
    let train = train.gather(&(0..rows.min(train.len())).collect::<Vec<_>>());
    Ok(Split { train, test: part("t10k")? })
}

/// The first 15000 rows and the other 5000, each column standardised by the first 15000.
fn letter(root: &Path) -> Result<Split> {
    let data = read(&root.join("uci/letter.svm.xz"), Some(16))?;
    let (train, test) = (0..data.len()).partition::<Vec<usize>, _>(|&i| i < 15_000);
    let (train, test) = (data.gather(&train), data.gather(&test));
    let (x, d, n) = (values(&train.points)?, train.dim(), train.len() as f64);
    let column = |j: usize| x.iter().skip(j).step_by(d).map(|&v| f64::from(v));
    let mean: Vec<f64> = (0..d).map(|j| column(j).sum::<f64>() / n).collect();
    let scale: Vec<f64> =
        (0..d).map(|j| (column(j).map(|v| (v - mean[j]).powi(2)).sum::<f64>() / n).sqrt().recip()).collect();
    let standard = |j: usize, v: f32| ((f64::from(v) - mean[j]) * scale[j]) as f32;
    Ok(Split { train: mapped(&train, standard)?, test: mapped(&test, standard)? })
}

/// The rows' values, all dense f32 here.
pub(crate) fn values(points: &Points) -> Result<&[f32]> {
    match points.view().data {
        Data::F32(x) => Ok(x),
        _ => bail!("{} where dense f32 was asked for", points.kind()),
    }
}

/// The same data with each value replaced, by column.
fn mapped(data: &Dataset, map: impl Fn(usize, f32) -> f32) -> Result<Dataset> {
    let d = data.dim();
    let x = values(&data.points)?.iter().enumerate().map(|(p, &v)| map(p % d, v)).collect();
    Ok(Dataset::new(Points::dense_f32(x, d)?, data.targets.clone())?)
}

/// The first rows of a set, with their classes.
pub(crate) fn first_rows(name: &str, rows: usize) -> Result<Dataset> {
    let data = match name {
        "banana" => {
            let path = folder().join("ida/banana.svm.xz");
            read(&path, Some(2)).with_context(|| path.display().to_string())?
        }
        _ => Set::named(name).load()?.train,
    };
    Ok(data.gather(&(0..rows.min(data.len())).collect::<Vec<_>>()))
}

/// So many rows of a set, or random rows of the same shape where the set is not at hand. Tells which.
pub(crate) fn rows_like(name: &str, n: usize, d: usize) -> Result<(Dataset, String)> {
    if let Ok(split) = Set::named(name).load()
        && split.train.len() >= n
        && split.train.dim() == d
    {
        let mut data = split.train.gather(&(0..n).collect::<Vec<_>>());
        data.targets = Targets::None;
        return Ok((data, format!("rows of {name}")));
    }
    let x = mercer_testkit::toy::normals(n, d, 1).into_iter().map(|v| v as f32).collect();
    Ok((Dataset::new(Points::dense_f32(x, d)?, Targets::None)?, "random rows".to_owned()))
}
