//! What was written is read back, to the last bit.

use mercer::data::io::{
    FORMATS, Format, LabelColumn, ReadOptions, Storage, read, read_bytes, write, write_to,
};
use mercer::data::{Csr, Dataset, ImageShape, Labels, Points, Targets};

/// Numbers that are hard to print.
const HARD: [f64; 12] = [
    0.1,
    -0.0,
    1.0 / 3.0,
    5e-324,
    f64::MAX,
    f64::MIN_POSITIVE,
    123_456_789.123_456_79,
    -1e-7,
    9_007_199_254_740_993.0,
    0.0,
    1e22,
    -2.5,
];

fn dense() -> Points {
    Points::dense(HARD.to_vec(), 3).expect("four rows")
}

fn sparse() -> Points {
    let csr = Csr { start: vec![0, 1, 1, 3, 3], column: vec![2, 0, 9], value: vec![0.1, -3.0, 1e300] };
    Points::sparse(csr, 20).expect("four rows")
}

fn targets() -> [Targets; 4] {
    [
        Targets::Classes(Labels::new(["-1", "1", "1", "-1"])),
        Targets::Classes(Labels::new(["spam", "ham", "007", "spam"])),
        Targets::Reals(vec![0.1, -7.0, 1e-9, 3.5]),
        Targets::None,
    ]
}

fn same(a: &Dataset, b: &Dataset) {
    let bits = |d: &Dataset| -> Vec<u64> {
        // Sparse storage does not keep the sign of zero.
        d.points.view().to_f64().expect("numbers").iter().map(|v| (v + 0.0).to_bits()).collect()
    };
    assert_eq!((a.dim(), bits(a)), (b.dim(), bits(b)));
    assert_eq!(a.targets, b.targets);
}

#[test]
fn text_formats_through_memory() {
    for format in [Format::Libsvm, Format::Csv, Format::Tsv, Format::JsonLines] {
        for points in [dense(), sparse()] {
            for targets in targets() {
                let data = Dataset::new(points.clone(), targets).expect("four of each");
                let mut bytes = Vec::new();
                write_to(&mut bytes, "memory", &data, format).expect("written");
                let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
                same(&read_bytes("memory", &bytes, &options).expect("read"), &data);
                same(&read_bytes("memory", &bytes, &ReadOptions::default()).expect("told by content"), &data);
            }
        }
    }
}

#[test]
fn files_of_every_format_and_compression() {
    let folder = tempfile::tempdir().expect("a folder");
    for format in FORMATS.iter().filter(|f| {
        f.writable() && !matches!(f.format, Format::Sequences | Format::Fasta | Format::Png | Format::Pnm)
    }) {
        for packing in ["", ".gz", ".bz2", ".xz", ".zst"] {
            for (k, targets) in targets().into_iter().enumerate() {
                let path = folder.path().join(format!("data{k}.{}{packing}", format.extensions[0]));
                let data = Dataset::new(dense(), targets).expect("four of each");
                write(&path, &data).expect("written");
                let back = read(&path, &ReadOptions::default()).expect("read");
                same(&back, &data);
                let word = if packing.is_empty() { format.name } else { &packing[1..] };
                assert!(back.notes[0].contains(word), "{:?}", back.notes);
            }
        }
    }
    let names = std::fs::read_dir(folder.path()).expect("a folder");
    assert!(
        names.flatten().all(|e| !e.file_name().to_string_lossy().starts_with(".mercer-")),
        "temporary files are left"
    );
}

#[test]
fn npy_keeps_f32_and_images_and_refuses_foreign_labels() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.npy");
    let points = Points::dense_f32((0..24u8).map(f32::from).collect(), 12)
        .and_then(|p| p.with_image(ImageShape { height: 2, width: 3, channels: 2 }))
        .expect("two images");
    let data = Dataset::new(points.clone(), Targets::Reals(vec![0.5, 1.5])).expect("two targets");
    write(&path, &data).expect("written");
    let back = read(&path, &ReadOptions::default()).expect("read");
    assert_eq!((back.points, back.targets), (points.clone(), data.targets));
    let bare = ReadOptions { label: LabelColumn::None, storage: Storage::F64, ..ReadOptions::default() };
    let back = read(&path, &bare).expect("read");
    assert_eq!(
        (back.points.kind(), back.points.image(), back.targets),
        ("dense f64", points.image(), Targets::None)
    );
    let unlabelled = Dataset::new(points, Targets::None).expect("no targets");
    let refused = write(&path, &unlabelled).expect_err("stale labels").to_string();
    assert!(refused.contains("x.labels.npy"), "{refused}");
}

#[test]
fn sequences_come_back() {
    let text = b"+\tACGT\n-\tTTTTT\n+\tA\n";
    let data = read_bytes("s", text, &ReadOptions::default()).expect("sequences");
    let mut bytes = Vec::new();
    write_to(&mut bytes, "s", &data, Format::Sequences).expect("written");
    assert_eq!(bytes, text);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let blank =
        Dataset::new(dense(), Targets::Classes(Labels::new(["a b", "c", "c", "c"]))).expect("four labels");
    let refused = write_to(&mut Vec::new(), "m", &blank, Format::Libsvm).expect_err("a blank").to_string();
    assert!(refused.starts_with("class name = \"a b\": must be a word"), "{refused}");
    let refused = write("data.xyz", &blank).expect_err("no format").to_string();
    assert!(refused.starts_with("file to write = data.xyz: must be a name that ends in .svm"), "{refused}");
    let refused = write_to(&mut Vec::new(), "m", &blank, Format::Idx).expect_err("no writer").to_string();
    assert!(
        refused.contains("libsvm, csv, tsv, jsonl") && refused.contains("sequences, fasta, npy"),
        "{refused}"
    );
}

#[test]
fn no_format_takes_a_number_that_no_reader_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let written =
        FORMATS.iter().filter(|f| f.writable() && !matches!(f.format, Format::Sequences | Format::Fasta));
    let mut refused = 0;
    for format in written {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let values = vec![0.5, 1.0, 2.0, bad];
            let narrow = values.iter().map(|&v| v as f32).collect();
            let csr = Csr { start: vec![0, 2, 4], column: vec![0, 1, 0, 1], value: values.clone() };
            let whole = Points::dense(vec![0.0; 4], 2).expect("two rows");
            let reals = Targets::Reals(vec![1.0, bad]);
            for (points, targets) in [
                (Points::dense(values.clone(), 2).expect("two rows"), Targets::None),
                (Points::dense_f32(narrow, 2).expect("two rows"), Targets::None),
                (Points::sparse(csr, 2).expect("two rows"), Targets::None),
                (whole, reals),
            ] {
                let path = folder.path().join(format!("x.{}", format.extensions[0]));
                let said = Dataset::new(points, targets).and_then(|data| write(&path, &data));
                let said = said.expect_err(format.name).to_string();
                assert!(
                    said.contains("row 2") && said.contains("a finite number"),
                    "{}: {said}",
                    format.name
                );
                refused += 1;
            }
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    assert!(left.is_empty() && refused > 60, "{left:?}, {refused}");
}

#[test]
fn pictures_and_folders_of_them_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, shape) in [
        ("grey.png", ImageShape::grey(2, 3)),
        ("grey.pgm", ImageShape::grey(3, 2)),
        ("colour.png", ImageShape { height: 1, width: 2, channels: 3 }),
        ("colour.ppm.gz", ImageShape { height: 2, width: 1, channels: 3 }),
    ] {
        let values = [0.0, 255.0, 17.0, 3.0, 128.0, 254.0].to_vec();
        let points = Points::dense(values.clone(), 6).and_then(|p| p.with_image(shape)).expect("one image");
        let path = folder.path().join(name);
        write(&path, &Dataset::new(points, Targets::None).expect("no targets")).expect("written");
        let back = read(&path, &ReadOptions::default()).expect("read");
        assert_eq!(
            (back.points.view().to_f64().expect("numbers"), back.points.image()),
            (values, Some(shape))
        );
        assert_eq!(back.row_names.expect("the file's")[0].split('.').next(), name.split('.').next());
    }
    // Pixels outside of 0 to 255 end there, and a file holds one image.
    let wide = Points::dense(vec![-7.0, 300.0], 2).and_then(|p| p.with_image(ImageShape::grey(1, 2)));
    let wide = Dataset::new(wide.expect("one image"), Targets::None).expect("no targets");
    let mut bytes = Vec::new();
    write_to(&mut bytes, "w", &wide, Format::Pnm).expect("written");
    assert_eq!(bytes, b"P5\n2 1\n255\n\x00\xff");
    let two = wide.gather(&[0, 0]);
    let refused = write_to(&mut Vec::new(), "w.png", &two, Format::Png).expect_err("two").to_string();
    assert_eq!(refused, "w.png: got 2 rows, expected one image: a file holds no more");
}

#[test]
fn folders_of_pictures_are_classes() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = |level: f64, side: usize| {
        let points = Points::dense(vec![level; side * side], side * side)
            .and_then(|p| p.with_image(ImageShape::grey(side, side)));
        Dataset::new(points.expect("one image"), Targets::None).expect("no targets")
    };
    for (class, level) in [("cat", 10.0), ("dog", 20.0)] {
        std::fs::create_dir(folder.path().join(class)).expect("a folder");
        for n in 0..2 {
            write(folder.path().join(class).join(format!("{n}.png")), &image(level + f64::from(n), 2))
                .expect("written");
        }
    }
    std::fs::write(folder.path().join("cat/notes.txt"), "not a picture").expect("written");
    let data = read(folder.path(), &ReadOptions::default()).expect("four pictures");
    let labels = data.targets.classes().expect("classes");
    assert_eq!((0..4).map(|i| labels.name_of(i)).collect::<Vec<_>>(), ["cat", "cat", "dog", "dog"]);
    assert_eq!(data.points.row(3).to_f64(), [21.0; 4]);
    assert_eq!(data.row_names.expect("names"), ["cat/0", "cat/1", "dog/0", "dog/1"]);
    let bare = ReadOptions { targets: mercer::data::io::TargetKind::None, ..ReadOptions::default() };
    assert_eq!(read(folder.path(), &bare).expect("read").targets, Targets::None);
    // Another size, and no pictures at all, are told by name.
    write(folder.path().join("dog/2.png"), &image(1.0, 3)).expect("written");
    let error = read(folder.path(), &bare).expect_err("another size").to_string();
    assert!(error.contains("2.png: got 3 x 3 pixels of 1 values, expected 2 x 2"), "{error}");
    let empty = tempfile::tempdir().expect("a folder");
    let error = read(empty.path(), &bare).expect_err("nothing").to_string();
    assert!(error.contains("a folder without pictures"), "{error}");
}
