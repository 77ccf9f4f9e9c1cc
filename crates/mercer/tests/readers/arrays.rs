//! NPY, NPZ and IDX. The NumPy files under `tests/files/numpy` were written by NumPy itself, by the script beside them.

use std::path::PathBuf;

use mercer::data::io::{Format, LabelColumn, ReadOptions, TargetKind, read, read_bytes, read_labels};
use mercer::data::{Dataset, Targets};

use crate::values;

fn numpy(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/numpy")).join(name)
}

fn read_numpy(name: &str, options: &ReadOptions) -> Dataset {
    read(numpy(name), options).expect("a file of NumPy's")
}

fn plain(name: &str) -> Dataset {
    read_numpy(name, &ReadOptions::default())
}

fn names(data: &Dataset) -> Vec<&str> {
    let labels = data.targets.classes().expect("classes");
    (0..labels.len()).map(|i| labels.name_of(i)).collect()
}

#[test]
fn npy_of_every_type_and_order() {
    let table = [0.5, -1.25, 3.0, 1e-300, 2.0, -0.0];
    for name in ["f8.npy", "f8_columns.npy"] {
        let data = plain(name);
        assert_eq!((data.dim(), values(&data)), (3, table.to_vec()), "{name}");
    }
    let single = plain("f4_big.npy");
    assert_eq!(single.points.kind(), "dense f32");
    assert_eq!(values(&single), table.map(|v| f64::from(v as f32)));
    for (name, kind) in [
        ("i1", "dense f32"),
        ("i2", "dense f32"),
        ("i4", "dense f64"),
        ("i8", "dense f64"),
        ("u1", "dense f32"),
        ("u2", "dense f32"),
        ("u4", "dense f64"),
        ("u8", "dense f64"),
        ("b1", "dense f32"),
    ] {
        let data = plain(&format!("{name}.npy"));
        assert_eq!((values(&data), data.points.kind()), (vec![0.0, 1.0, 1.0, 1.0, 0.0, 1.0], kind), "{name}");
    }
}

#[test]
fn npy_of_other_shapes() {
    let line = plain("line.npy");
    assert_eq!((line.dim(), values(&line)), (1, vec![0.0, 1.0, 2.0, 3.0]));
    for name in ["images.npy", "images_columns.npy"] {
        let images = plain(name);
        assert_eq!(values(&images), (0..12).map(f64::from).collect::<Vec<_>>(), "{name}");
        assert_eq!(images.points.image().map(|s| (s.height, s.width)), Some((2, 3)));
    }
    for (name, word) in [("scalar.npy", "0 dimensions"), ("complex.npy", "`<c16`"), ("text.npy", "got text")]
    {
        let message = read(numpy(name), &ReadOptions::default()).expect_err("no table").to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn npy_with_a_label_column() {
    let last = ReadOptions { label: LabelColumn::Number(-1), ..ReadOptions::default() };
    let data = read_numpy("u1.npy", &last);
    assert_eq!((values(&data), names(&data)), (vec![0.0, 1.0, 1.0, 0.0], vec!["1", "1"]));
    let first =
        ReadOptions { label: LabelColumn::Number(1), targets: TargetKind::Reals, ..ReadOptions::default() };
    let data = read_numpy("f8.npy", &first);
    assert_eq!(values(&data), [-1.25, 3.0, 2.0, -0.0]);
    assert_eq!(data.targets, Targets::Reals(vec![0.5, 1e-300]));
}

#[test]
fn labels_from_a_file_of_their_own() {
    let targets = read_labels(numpy("text.npy"), TargetKind::Auto).expect("labels");
    assert_eq!(targets.classes().expect("classes").names, ["hé", "spam"]);
    let options = ReadOptions { labels: Some(numpy("bytes.npy")), ..ReadOptions::default() };
    assert_eq!(names(&read_numpy("f8.npy", &options)), ["a", "bcd"]);
    let options = ReadOptions { labels: Some(numpy("line.npy")), ..ReadOptions::default() };
    let message = read(numpy("f8.npy"), &options).expect_err("four labels for two rows").to_string();
    assert!(message.contains("line.npy: got 4 labels, expected 2, one for each row of"), "{message}");
}

#[test]
fn npz_by_names_by_wish_and_by_shape() {
    let data = plain("xy.npz");
    assert_eq!((data.dim(), names(&data)), (3, vec!["1", "0"]));
    let train = plain("train_test.npz");
    assert_eq!((train.len(), names(&train)), (2, vec!["7", "9"]));
    assert!(train.points.image().is_some());
    let wish = ReadOptions { array: Some("x_test".into()), ..ReadOptions::default() };
    let test = read_numpy("train_test.npz", &wish);
    assert_eq!((test.len(), names(&test)), (1, vec!["8"]));
    let other = plain("other.npz");
    assert_eq!((other.points.kind(), names(&other)), ("dense f32", vec!["p", "q"]));
    let named = ReadOptions { label: LabelColumn::Name("scale".into()), ..ReadOptions::default() };
    let message = read(numpy("other.npz"), &named).expect_err("three labels").to_string();
    assert!(message.contains("array scale: got 3 labels, expected 2"), "{message}");
    let wrong = ReadOptions { array: Some("z".into()), ..ReadOptions::default() };
    let message = read(numpy("xy.npz"), &wrong).expect_err("no z").to_string();
    assert!(message.starts_with("array = z: must be one of the arrays of"), "{message}");
    assert!(message.ends_with("xy.npz: y, X"), "{message}");
}

#[test]
fn npz_from_memory_and_packed_again() {
    use std::io::Write;
    let bytes = std::fs::read(numpy("xy.npz")).expect("the file");
    let expected = plain("xy.npz").points;
    assert_eq!(read_bytes("m", &bytes, &ReadOptions::default()).expect("read").points, expected);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&bytes).expect("room");
    let packed = packed.finish().expect("room");
    assert_eq!(read_bytes("m", &packed, &ReadOptions::default()).expect("read").points, expected);
}

/// An IDX file of bytes.
fn idx(shape: &[u32], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, shape.len() as u8];
    bytes.extend(shape.iter().flat_map(|s| s.to_be_bytes()));
    bytes.extend(values);
    bytes
}

#[test]
fn idx_images_find_their_labels() {
    let folder = tempfile::tempdir().expect("a folder");
    let images = folder.path().join("few-images-idx3-ubyte");
    std::fs::write(&images, idx(&[2, 1, 2], &[0, 255, 7, 8])).expect("written");
    let data = read(&images, &ReadOptions::default()).expect("read");
    assert_eq!((values(&data), data.targets), (vec![0.0, 255.0, 7.0, 8.0], Targets::None));
    let labels = folder.path().join("few-labels-idx1-ubyte");
    std::fs::write(&labels, idx(&[2], &[3, 4])).expect("written");
    let data = read(&images, &ReadOptions::default()).expect("read");
    assert_eq!(names(&data), ["3", "4"]);
    assert!(data.notes.iter().any(|n| n.contains("few-labels-idx1-ubyte")), "{:?}", data.notes);
    let none = ReadOptions { targets: TargetKind::None, ..ReadOptions::default() };
    assert_eq!(read(&images, &none).expect("read").targets, Targets::None);
    std::fs::write(&labels, idx(&[3], &[3, 4, 5])).expect("written");
    let message = read(&images, &ReadOptions::default()).expect_err("three labels").to_string();
    assert!(message.contains("got 3 labels, expected 2"), "{message}");
}

#[test]
fn idx_of_wider_types_is_big_endian() {
    let mut bytes = vec![0, 0, 0x0c, 1, 0, 0, 0, 2];
    bytes.extend((-5i32).to_be_bytes());
    bytes.extend(70_000i32.to_be_bytes());
    let forced = ReadOptions { format: Some(Format::Idx), ..ReadOptions::default() };
    for options in [ReadOptions::default(), forced] {
        assert_eq!(values(&read_bytes("m", &bytes, &options).expect("read")), [-5.0, 70_000.0]);
    }
    let mut bytes = vec![0, 0, 0x0e, 2, 0, 0, 0, 1, 0, 0, 0, 2];
    bytes.extend(0.1f64.to_be_bytes());
    bytes.extend(f64::NAN.to_be_bytes());
    let message = read_bytes("m", &bytes, &ReadOptions::default()).expect_err("NaN").to_string();
    assert_eq!(message, "m, row 1, column 2: got NaN or infinity, expected a finite number");
}
