//! What is said about bad input: the file, the line or row, the value, and what was expected.

use mercer::data::io::{Format, LabelColumn, Missing, ReadOptions, TargetKind, read, read_bytes};

fn message(name: &str, bytes: &[u8], options: &ReadOptions) -> String {
    read_bytes(name, bytes, options).expect_err("bad data").to_string()
}

fn plain(text: &str) -> String {
    message("f", text.as_bytes(), &ReadOptions::default())
}

#[test]
fn libsvm_text() {
    assert_eq!(
        plain("1 1:1\n1 0:5 2:1\n"),
        "f, line 2: got index 0 in `0:5`, expected an index from 1 to 2147483647 (scikit-learn's dump_svmlight_file counts from 1 with zero_based=False)"
    );
    assert_eq!(
        plain("1 1:1\n1 3:1 2:1\n"),
        "f, line 2: got index 2 after 3, expected indices in increasing order within a line"
    );
    assert_eq!(
        plain("1 2:1 2:1\n"),
        "f, line 1: got index 2 after 2, expected indices in increasing order within a line"
    );
    assert_eq!(
        plain("1 1000000000000:1\n"),
        "f, line 1: got `1000000000000:1`, expected an index from 1 to 2147483647"
    );
    assert_eq!(
        plain("1 1:1\n\n# two lines on\n1 1:nan\n"),
        "f, line 4: got `nan` in `1:nan`, expected a finite number after the colon"
    );
    assert_eq!(
        plain("1 1:1e999\n"),
        "f, line 1: got `1e999` in `1:1e999`, expected a finite number after the colon"
    );
    assert_eq!(plain("1 1:2 3\n"), "f, line 1: got `3`, expected `index:value`");
    assert_eq!(plain("1 1:1\n1:1 2:2\n"), "f, line 2: got `1:1`, expected a label first");
    assert_eq!(
        plain("1 1:1\n1 -1:2\n"),
        "f, line 2: got `-1:2`, expected an index that is a whole number from 1"
    );
    let narrow = ReadOptions { columns: Some(2), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"1 1:1\n1 3:1\n", &narrow),
        "f, line 2: got `3:1`, expected an index from 1 to 2 (columns = 2)"
    );
    let wide = ReadOptions { columns: Some(1_000_000_000_000), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"1 1:1\n", &wide),
        "columns = 1000000000000: must be at most 2147483647 for sparse rows"
    );
    let reals = ReadOptions { targets: TargetKind::Reals, ..ReadOptions::default() };
    assert_eq!(
        message("f", b"2.5 1:1\nspam 1:1\n", &reals),
        "f, line 2: got `spam`, expected a finite number as target"
    );
}

#[test]
fn tables() {
    assert_eq!(
        plain("a,b,label\n1,2,x\n\n3,y\n"),
        "f, line 4: got 2 fields, expected 3 as in the first line"
    );
    let refuse = ReadOptions { missing: Missing::Refuse, ..ReadOptions::default() };
    for (missing, got) in [("", "an empty field"), ("?", "`?`"), ("NA", "`NA`"), ("NaN", "`NaN`")] {
        assert_eq!(
            message("f", format!("1,2,x\n1,{missing},x\n").as_bytes(), &refuse),
            format!(
                "f, line 2, column 2: got {got}, expected a value, since missing values are refused: --missing fill fills \
                 them in, --missing rows skips such rows"
            )
        );
    }
    let numbers = ReadOptions { kinds: "b=number".parse().expect("a kind"), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"a,b,label\r\n1,2,x\r\n1,oops,x\r\n", &numbers),
        "f, line 3, column 2 (`b`): got `oops`, expected a number; if it stands for a missing value, name it in \
         --missing-values; --missing fill treats all text in columns of numbers as missing"
    );
    let other = ReadOptions { kinds: "c=number".parse().expect("a kind"), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"a,b,label\n1,2,x\n", &other),
        "columns = c: must be one of the columns of f: `a`, `b`, `label`"
    );
    assert!(
        plain("1,2,x\n1,inf,x\n").starts_with("f, line 2, column 2: got `inf`, expected a finite number")
    );
    assert_eq!(
        plain("1,2\n3,\"4\n5,6\n"),
        "f, line 2: got a quote that is never closed, expected a closing quote"
    );
    assert_eq!(plain("a,b\n"), "f: got a header and no rows, expected at least one row");
    let species = ReadOptions { label: LabelColumn::Name("species".into()), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"a,b,kind\n1,2,x\n", &species),
        "label column = species: must be one of the columns of f: `a`, `b`, `kind`"
    );
    assert_eq!(
        message("f", b"1,2,x\n", &species),
        "label column = species: must be a number from 1 to 3: f has no header"
    );
    let fifth = ReadOptions { label: LabelColumn::Number(5), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"1,2,x\n", &fifth),
        "label column = 5: must be 1 to 3, or -1 to -3 from the end: f has 3 columns"
    );
    let zeroth = ReadOptions { label: LabelColumn::Number(0), ..ReadOptions::default() };
    assert!(message("f", b"1,2,x\n", &zeroth).contains("must be 1 to 3"));
    let four = ReadOptions { columns: Some(4), ..ReadOptions::default() };
    assert_eq!(message("f", b"1,2,x\n", &four), "f: got 2 columns, expected 4 columns");
}

#[test]
fn files_that_are_nothing() {
    assert_eq!(plain(""), "f: got an empty file, expected at least one row");
    assert_eq!(plain(" \n\n"), "f: got an empty file, expected at least one row");
    assert!(plain("a\0b").starts_with("f: got bytes that are neither text nor a known format"));
    let there = read("no/such/file.svm", &ReadOptions::default()).expect_err("no file").to_string();
    assert!(there.starts_with("no/such/file.svm: "), "{there}");
    let folder = read(env!("CARGO_MANIFEST_DIR"), &ReadOptions::default()).expect_err("a folder").to_string();
    assert!(folder.contains("got a folder without pictures, expected pictures that end in"), "{folder}");
}

#[test]
fn packed_files_that_are_damaged() {
    let gz = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33";
    let got = message("f.gz", gz, &ReadOptions::default());
    assert!(got.starts_with("f.gz: got damaged gz data"), "{got}");
    let got = message("f.xz", b"\xfd7zXZ\0rubbish", &ReadOptions::default());
    assert!(got.starts_with("f.xz: got damaged xz data"), "{got}");
    let got = message("f.bz2", b"BZh91AY&SYrubbish", &ReadOptions::default());
    assert!(got.starts_with("f.bz2: got damaged bz2 data"), "{got}");
    let got = message("f.zst", b"\x28\xb5\x2f\xfdrubbish", &ReadOptions::default());
    assert!(got.starts_with("f.zst: got damaged zst data"), "{got}");
}

#[test]
fn arrays_that_declare_more_than_there_is() {
    // 10^9 images of 28 x 28 in 20 bytes.
    let mut idx = vec![0, 0, 8, 3];
    for size in [1_000_000_000u32, 28, 28] {
        idx.extend(size.to_be_bytes());
    }
    idx.extend([0; 4]);
    let got = message("f", &idx, &ReadOptions::default());
    assert!(got.starts_with("f: got 4 bytes, expected 784000000000 bytes of values"), "{got}");
    let npy = |header: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend([0; 16]);
        message("f.npy", &bytes, &ReadOptions::default())
    };
    let got = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1000000000000), }");
    assert!(got.starts_with("f.npy: got 16 bytes, expected 8000000000000 bytes of values"), "{got}");
    let got = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615, 2), }");
    assert!(got.contains("expected an array that fits in memory"), "{got}");
    let got = npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }");
    assert!(got.starts_with("f.npy: got values of type `|O`, expected booleans"), "{got}");
    let got = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }");
    assert_eq!(
        got,
        "f.npy: got more bytes, expected the end of the file after the values its shape declares"
    );
}

#[test]
fn sequences() {
    let forced = ReadOptions { format: Some(Format::Sequences), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"+\tACGT\nACGT\n", &forced),
        "f, line 2: got `ACGT`, expected `class<TAB>sequence`"
    );
    assert_eq!(
        message("f", b"+\tACGT\n+\t \n", &forced),
        "f, line 2: got an empty sequence, expected at least one letter"
    );
    assert!(message("f", b"+\tAC GT\n", &forced).starts_with("f, line 1: got ` `, expected printable"));
    let dna = ReadOptions { alphabet: Some("ACGT".into()), ..ReadOptions::default() };
    assert_eq!(
        message("f", b"+\tACGT\n+\tACNT\n", &dna),
        "f, row 2: got the letter `N`, expected a letter of the alphabet `ACGT`"
    );
    assert_eq!(plain(">a x\nACGT\n>b\nAC\n"), "f, line 3: got `>b`, expected `>id class`");
    assert!(plain(">a x\n>b y\nAC\n").starts_with("f, line 2: got a header after an empty sequence"));
}

#[test]
fn a_number_that_is_not_finite_is_neither_a_name_nor_a_class() {
    for bad in ["inf", "-inf", "Infinity", "+infinity", "1e999", "-1e400"] {
        for delimiter in [",", ";", "\t"] {
            // In the first row, which might be a header, and in others; in the first column and in the last.
            for at in 0..3 {
                for last in [false, true] {
                    let row = |i: usize| match (i == at, last) {
                        (true, false) => [bad, "2.5"].join(delimiter),
                        (true, true) => ["2.5", bad].join(delimiter),
                        _ => [format!("{i}.5"), format!("{i}.25")].join(delimiter),
                    };
                    let text: String = (0..3).map(|i| row(i) + "\n").collect();
                    for label in [LabelColumn::Auto, LabelColumn::None, LabelColumn::Number(-1)] {
                        let options = ReadOptions { label: label.clone(), ..ReadOptions::default() };
                        let said = message("f", text.as_bytes(), &options);
                        let place =
                            format!("f, line {}, column {}: got `{bad}`", at + 1, 1 + usize::from(last));
                        assert!(said.starts_with(&place), "{text:?}, {label:?}: {said}");
                    }
                }
            }
        }
    }
}
