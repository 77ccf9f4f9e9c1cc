//! Real files, where `MERCER_DATA` (or `data/local`) has them; without them these tests say so and pass.

use std::path::PathBuf;

use mercer::data::io::{ReadOptions, Storage, TargetKind, read, read_splits};
use mercer::data::{Dataset, Targets};

fn path(file: &str) -> Option<PathBuf> {
    let local = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/local");
    let folder = std::env::var_os("MERCER_DATA").map_or_else(|| PathBuf::from(local), PathBuf::from);
    let path = folder.join(file);
    if !path.exists() {
        eprintln!("skipped: {} is not there (set MERCER_DATA)", path.display());
        return None;
    }
    Some(path)
}

fn data(file: &str, options: &ReadOptions) -> Option<Dataset> {
    Some(read(path(file)?, options).expect("a good file"))
}

fn counts(data: &Dataset) -> Vec<usize> {
    data.targets.classes().expect("classes").counts()
}

#[test]
fn usps_is_dense() {
    let Some(usps) = data("usps/usps.train.svm.xz", &ReadOptions::default()) else { return };
    assert_eq!((usps.len(), usps.dim(), usps.points.kind()), (7291, 256, "dense f64"));
    assert_eq!(counts(&usps), [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]);
    let values = usps.points.view().to_f64().expect("numbers");
    assert!(values.iter().all(|v| (-1.0..=1.0).contains(v)));
    assert_eq!(values[7], -0.631);
}

#[test]
fn a9a_stays_sparse_and_its_test_file_takes_its_width() {
    let Some(train) = data("libsvm/a9a.svm.xz", &ReadOptions::default()) else { return };
    assert_eq!((train.len(), train.dim(), train.points.kind()), (32561, 123, "sparse"));
    assert_eq!(counts(&train), [24720, 7841]);
    let same = ReadOptions { columns: Some(train.dim()), ..ReadOptions::default() };
    let Some(test) = data("libsvm/a9a.t.svm.xz", &same) else { return };
    assert_eq!((test.len(), test.dim()), (16281, 123));
}

#[test]
fn mnist_brings_its_labels_and_its_shape() {
    let Some(mnist) = data("mnist/t10k-images-idx3-ubyte.gz", &ReadOptions::default()) else { return };
    assert_eq!((mnist.len(), mnist.dim(), mnist.points.kind()), (10000, 784, "dense f32"));
    assert_eq!(mnist.points.image().map(|s| (s.height, s.width, s.channels)), Some((28, 28, 1)));
    assert_eq!(counts(&mnist), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
}

#[test]
fn regression_and_sequences() {
    let Some(housing) = data("regression/housing.svm.xz", &ReadOptions::default()) else { return };
    assert!(matches!(&housing.targets, Targets::Reals(y) if y.len() == 506 && y[0] == 24.0));
    let reals = ReadOptions { targets: TargetKind::Reals, storage: Storage::F64, ..ReadOptions::default() };
    let Some(abalone) = data("regression/abalone.svm.xz", &reals) else { return };
    assert!(abalone.targets.reals().is_ok());
    let Some(splice) = data("dna/splice_junction.txt.xz", &ReadOptions::default()) else { return };
    assert_eq!((splice.len(), splice.dim(), splice.points.kind()), (3190, 60, "sequences"));
    assert_eq!(counts(&splice), [767, 768, 1655]);
    let Some(promoters) = data("dna/promoters.txt.xz", &ReadOptions::default()) else { return };
    assert_eq!((promoters.len(), promoters.dim()), (106, 57));
    assert_eq!(promoters.targets.classes().expect("classes").names, ["+", "-"]);
}

#[test]
fn splits_that_come_with_a_data_set() {
    let Some(heart) = data("ida/heart.svm.xz", &ReadOptions::default()) else { return };
    let Some(splits) = path("ida/heart.splits.txt.xz") else { return };
    let folds = read_splits(splits, heart.len()).expect("good splits");
    assert_eq!(folds.len(), 10);
    assert!(folds.iter().all(|f| f.train.len() == 170 && f.test.len() == 100));
}
