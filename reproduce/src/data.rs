//! The data sets of the papers: where they are looked for, and how they are prepared.

use std::path::{Path, PathBuf};

use mercer::data::io::{ReadOptions, TargetKind, read};
use mercer::data::{Dataset, ImageShape, Stages};
use mercer::{Error, Exec, Result};

/// A data set that is not ours to give away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    /// What people call it.
    pub name: &'static str,
    /// What its rows are.
    pub of: &'static str,
    /// Its files, within the data folder.
    pub files: &'static [&'static str],
    /// Where it is published, in words, and in what form the files are expected.
    pub origin: &'static str,
}

/// Where the sets of Raetsch, Onoda and Mueller 2001 come from.
pub(crate) const IDA_ORIGIN: &str = "the benchmark repository of Raetsch, Onoda and Mueller 2001 (IDA benchmarks). LIBSVM \
    text with labels -1 and 1 and the columns as published, mean 0 and deviation 1; compressed by xz. Splits: a line each, \
    `number train|test rows`, rows from 0";

/// US Postal Service digits, 7291 to train on and 2007 to test on: 16 x 16 pixels in [-1, 1].
pub const USPS: Set = Set {
    name: "USPS",
    of: "digits",
    files: &["usps/usps.train.svm.xz", "usps/usps.test.svm.xz"],
    origin: "zip.train and zip.test of the web page of Hastie, Tibshirani and Friedman, The Elements of Statistical \
                 Learning, also in the R package ElemStatLearn; or usps among the data sets of LIBSVM. LIBSVM text with \
                 labels 0 to 9 and 256 pixels in [-1, 1], compressed by xz",
};

/// Handwritten digits of many writers, 60000 and 10000: 28 x 28 pixels from 0 to 255.
pub const MNIST: Set = Set {
    name: "MNIST",
    of: "digits",
    files: &[
        "mnist/train-images-idx3-ubyte.gz",
        "mnist/train-labels-idx1-ubyte.gz",
        "mnist/t10k-images-idx3-ubyte.gz",
        "mnist/t10k-labels-idx1-ubyte.gz",
    ],
    origin: "the MNIST database of handwritten digits by LeCun, Cortes and Burges: its four files as published, compressed \
             by gzip",
};

/// Splice junctions: 3190 windows of 60 letters around ends of exons, ends of introns, and neither.
pub const SPLICE: Set = Set {
    name: "splice",
    of: "junctions",
    files: &["dna/splice_junction.txt.xz"],
    origin: "Molecular Biology (Splice-junction Gene Sequences) of the UCI Machine Learning Repository. A line per row: class (EI, IE or N), a tab, 60 letters; compressed by xz",
};

/// Twenty objects on a turntable, 72 views of each: 32 x 32 pixels in [0, 1].
pub const COIL: Set = Set {
    name: "COIL-20",
    of: "views",
    files: &["coil20/coil20.svm.xz"],
    origin: "Columbia Object Image Library (COIL-20) by Nene, Nayar and Murase 1996, the processed images resized to 32 x 32. LIBSVM text with labels 1 to 20 and 1024 pixels in [0, 1], 72 views of an object after each other; compressed by xz",
};

/// Views of an object in [`COIL`].
const VIEWS: usize = 72;

/// Abalones, 4177 rows of 8 columns: how many rings the shell has.
pub const ABALONE: Set = Set {
    name: "abalone",
    of: "shells",
    files: &["regression/abalone.svm.xz"],
    origin: "Abalone of the UCI Machine Learning Repository. LIBSVM text: rings, then 8 columns with sex as M = 1, F = 2, I = 3; compressed by xz",
};

/// Heart disease, 270 rows of 13 columns of mean 0 and deviation 1.
pub const HEART: Set = Set { name: "heart", of: "rows", files: &["ida/heart.svm.xz"], origin: IDA_ORIGIN };

/// Two crescents in the plane, 5300 rows.
pub const BANANA: Set = Set { name: "banana", of: "rows", files: &["ida/banana.svm.xz"], origin: IDA_ORIGIN };

/// Rows to learn from and rows to judge by.
#[derive(Debug, Clone)]
pub struct Split {
    /// To learn from.
    pub train: Dataset,
    /// To judge by.
    pub test: Dataset,
}

/// How the USPS digits are prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usps {
    /// Smoothed with a Gaussian of 0.75 pixels as the papers did (Schoelkopf 1997, App. C), edge pixels repeated.
    Smoothed,
    /// As they are.
    Raw,
}

impl Usps {
    /// Both, the papers' own first.
    pub const BOTH: [Usps; 2] = [Usps::Smoothed, Usps::Raw];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Usps::Smoothed => "smoothed",
            Usps::Raw => "raw",
        }
    }
}

/// Where data is looked for: the folder that `MERCER_DATA` names, else `data/local`.
pub fn folder() -> PathBuf {
    std::env::var_os("MERCER_DATA").map_or_else(|| PathBuf::from("data/local"), PathBuf::from)
}

/// Fails if a file is missing, and says which.
pub fn check(needs: &[Set], folder: &Path) -> Result<()> {
    for set in needs {
        let missing: Vec<&str> = set.files.iter().filter(|f| !folder.join(f).is_file()).copied().collect();
        if !missing.is_empty() {
            return Err(Error::Unsupported(format!(
                "the {} {} were not found: no {} in {}; set MERCER_DATA to the folder that contains them. Origin: {}",
                set.name,
                set.of,
                missing.join(", no "),
                folder.display(),
                set.origin
            )));
        }
    }
    Ok(())
}

/// The USPS digits, or the first so many of both files.
pub fn usps(folder: &Path, copy: Usps, rows: Option<usize>, exec: Exec) -> Result<Split> {
    let line = match copy {
        Usps::Smoothed => "smooth(0.75)",
        Usps::Raw => "",
    };
    let options = ReadOptions { columns: Some(256), ..classes() };
    let split = read_both(&USPS, [0, 1], &options, folder, rows)?;
    prepared(split, ImageShape::grey(16, 16), line, exec)
}

/// The MNIST digits, or the first so many of both files, pixels mapped to [-1, 1].
pub fn mnist(folder: &Path, rows: Option<usize>, exec: Exec) -> Result<Split> {
    let split = read_both(&MNIST, [0, 2], &classes(), folder, rows)?;
    prepared(split, ImageShape::grey(28, 28), "scale(by=2/255, add=-1)", exec)
}

/// The splice junctions, or so many of them from all over the file.
pub fn splice(folder: &Path, rows: Option<usize>) -> Result<Dataset> {
    check(&[SPLICE], folder)?;
    let data = read(folder.join(SPLICE.files[0]), &classes())?;
    // The file is sorted by class.
    let step = rows.map_or(1, |n| (data.len() / n.max(1)).max(1));
    Ok(data.gather(&(0..data.len()).step_by(step).collect::<Vec<_>>()))
}

/// Views of objects after the stages of a line: every so many to learn from, the others to judge by. With `rows`, only
/// the first objects.
pub fn coil(folder: &Path, line: &str, step: usize, rows: Option<usize>, exec: Exec) -> Result<Split> {
    check(&[COIL], folder)?;
    let options = ReadOptions { columns: Some(1024), ..classes() };
    let data = read(folder.join(COIL.files[0]), &options)?;
    let objects = rows.map_or(usize::MAX, |n| n.div_ceil(VIEWS).max(2));
    let some: Vec<usize> = (0..data.len()).filter(|i| i / VIEWS < objects).collect();
    let (learned, judged): (Vec<usize>, Vec<usize>) =
        some.into_iter().partition(|i| (i % VIEWS).is_multiple_of(step));
    let split = Split { train: data.gather(&learned), test: data.gather(&judged) };
    prepared(split, ImageShape::grey(32, 32), line, exec)
}

/// The abalones, or the first so many, columns of mean 0 and standard deviation 1.
pub fn abalone(folder: &Path, rows: Option<usize>, exec: Exec) -> Result<Dataset> {
    check(std::slice::from_ref(&ABALONE), folder)?;
    let options = ReadOptions { targets: TargetKind::Reals, columns: Some(8), ..ReadOptions::default() };
    let data = read(folder.join(ABALONE.files[0]), &options)?;
    let mut data = rows.map_or_else(|| data.clone(), |n| head(&data, n));
    data.points = data.points.to_dense()?;
    (_, data.points) = Stages::fit(&Stages::parse("standard")?, data.points.view(), exec)?;
    Ok(data)
}

/// A set of two classes, or the first so many rows of it.
pub fn ida(folder: &Path, set: &Set, rows: Option<usize>) -> Result<Dataset> {
    check(std::slice::from_ref(set), folder)?;
    let data = read(folder.join(set.files[0]), &classes())?;
    let mut data = rows.map_or_else(|| data.clone(), |n| head(&data, n));
    data.points = data.points.to_dense()?;
    Ok(data)
}

fn classes() -> ReadOptions {
    ReadOptions { targets: TargetKind::Classes, ..ReadOptions::default() }
}

/// The training and the test file of a set, by their place among its files.
fn read_both(
    set: &Set,
    [train, test]: [usize; 2],
    options: &ReadOptions,
    folder: &Path,
    rows: Option<usize>,
) -> Result<Split> {
    check(std::slice::from_ref(set), folder)?;
    let one = |file: usize| -> Result<Dataset> {
        let data = read(folder.join(set.files[file]), options)?;
        Ok(match rows {
            Some(n) => head(&data, n),
            None => data,
        })
    };
    Ok(Split { train: one(train)?, test: one(test)? })
}

/// The first rows.
pub(crate) fn head(data: &Dataset, n: usize) -> Dataset {
    data.gather(&(0..n.min(data.len())).collect::<Vec<_>>())
}

/// Images of a shape after the stages of a line.
fn prepared(mut split: Split, shape: ImageShape, line: &str, exec: Exec) -> Result<Split> {
    let (train, test) = (&mut split.train.points, &mut split.test.points);
    *train = train.clone().with_image(shape)?;
    *test = test.clone().with_image(shape)?;
    let (stages, fitted) = Stages::fit(&Stages::parse(line)?, train.view(), exec)?;
    *test = stages.apply(test.view(), exec)?;
    *train = fitted;
    Ok(split)
}
