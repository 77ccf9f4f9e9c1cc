//! What each format reads as.

use mercer::data::io::{Format, LabelColumn, ReadOptions, Storage, TargetKind, read_bytes};
use mercer::data::{Data, Dataset, Targets};

use crate::{read_text, values};

fn read_with(bytes: &[u8], options: &ReadOptions) -> Dataset {
    read_bytes("test", bytes, options).expect("fine data")
}

fn classes(data: &Dataset) -> Vec<&str> {
    let labels = data.targets.classes().expect("classes");
    (0..labels.len()).map(|i| labels.name_of(i)).collect()
}

#[test]
fn libsvm_text_with_comments_qid_and_empty_rows() {
    let data = read_text("# a comment\n+1 qid:7 1:0.5 3:-2 # more\r\n-1\n\n1 2:1e-3 4:0\n");
    assert_eq!((data.len(), data.dim()), (3, 4));
    assert_eq!(classes(&data), ["1", "-1", "1"]);
    assert_eq!(values(&data), [0.5, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.001, 0.0, 0.0]);
    assert!(data.notes.iter().any(|n| n.contains("qid")), "{:?}", data.notes);
}

#[test]
fn libsvm_storage_goes_by_density_unless_asked() {
    // One value in four is the border.
    let (dense, sparse) = ("1 1:1 4:0\n", "1 1:1 5:0\n");
    assert_eq!(read_text(dense).points.kind(), "dense f64");
    assert_eq!(read_text(sparse).points.kind(), "sparse");
    for (storage, kind) in
        [(Storage::F32, "dense f32"), (Storage::F64, "dense f64"), (Storage::Sparse, "sparse")]
    {
        let options = ReadOptions { storage, ..ReadOptions::default() };
        for text in [dense, sparse, "1,0,0,1\n"] {
            let data = read_with(text.as_bytes(), &options);
            assert_eq!(data.points.kind(), kind);
            assert_eq!(values(&data)[0], 1.0);
        }
    }
}

#[test]
fn libsvm_wide_rows_stay_sparse_and_refuse_to_be_dense() {
    let text = b"1 1:1 2147483647:1\n1 5:1\n";
    let data = read_with(text, &ReadOptions::default());
    assert_eq!((data.dim(), data.points.kind()), (2_147_483_647, "sparse"));
    let dense = ReadOptions { storage: Storage::F64, max_bytes: Some(1 << 30), ..ReadOptions::default() };
    let refused = read_bytes("f", text, &dense).expect_err("16 GB").to_string();
    assert!(refused.contains("2 rows and 2147483647 columns"), "{refused}");
}

#[test]
fn libsvm_without_labels() {
    let data = read_text("1:1 2:2\n2:3\n");
    assert_eq!(data.targets, Targets::None);
    assert_eq!(values(&data), [1.0, 2.0, 0.0, 3.0]);
}

#[test]
fn tables_with_any_delimiter() {
    for text in [
        "a,b,y\n1,2,3\n4,5,6\n",
        "a\tb\ty\n1\t2\t3\n4\t5\t6\n",
        "a;b;y\n1;2;3\n4;5;6",
        "a b  y\n1 2 3\n 4  5 6\n",
    ] {
        let data = read_text(text);
        assert_eq!(values(&data), [1.0, 2.0, 4.0, 5.0], "{text:?}");
        assert_eq!(data.column_names, Some(vec!["a".into(), "b".into()]));
        assert_eq!(data.target_name.as_deref(), Some("y"));
        assert_eq!(classes(&data), ["3", "6"]);
    }
}

#[test]
fn headers_are_told_from_rows() {
    assert_eq!(read_text("1,2,x\n3,4,y\n").len(), 2);
    assert_eq!(read_text("p,q,r\n3,4,y\n").len(), 1);
    assert_eq!(read_text("label,1,2\n7,0.5,0.25\n").len(), 1);
    let no = ReadOptions { header: Some(false), ..ReadOptions::default() };
    assert_eq!(read_with(b"1,2\n3,4\n", &no).len(), 2);
    let yes = ReadOptions { header: Some(true), ..ReadOptions::default() };
    let data = read_with(b"1,2\n3,4\n", &yes);
    assert_eq!((data.len(), data.column_names), (1, Some(vec!["1".to_owned()])));
}

#[test]
fn the_label_column() {
    let label = |label| ReadOptions { label, ..ReadOptions::default() };
    let by_name = read_with(b"a,kind,b\n1,p,2\n3,q,4\n", &label(LabelColumn::Name("kind".into())));
    assert_eq!((values(&by_name), classes(&by_name)), (vec![1.0, 2.0, 3.0, 4.0], vec!["p", "q"]));
    for number in [2, -2] {
        assert_eq!(read_with(b"a,kind,b\n1,p,2\n3,q,4\n", &label(LabelColumn::Number(number))), by_name);
    }
    let none = read_with(b"1,2\n3,4\n", &label(LabelColumn::None));
    assert_eq!((none.dim(), none.targets), (2, Targets::None));
    assert_eq!(classes(&read_text("T,2,8\nI,5,12\n")), ["T", "I"]);
    assert_eq!(classes(&read_text("x,Class,z\n1,2,3\n4,5,6\n")), ["2", "5"]);
    assert_eq!(read_text("x1,x2\n1,2\n").targets, Targets::None);
    assert_eq!(read_text("5\n6\n").dim(), 1);
}

#[test]
fn quotes_hold_delimiters_quotes_and_line_ends() {
    let data = read_text("\"a,b\",\"la\"\"bel\"\n1,\"x\ny\"\n 2 , \"z\" \n");
    assert_eq!(data.column_names, Some(vec!["a,b".into()]));
    assert_eq!(data.target_name.as_deref(), Some("la\"bel"));
    assert_eq!(classes(&data), ["x\ny", "z"]);
    assert_eq!(values(&data), [1.0, 2.0]);
    let data = read_text("1,\" kept \" \n2, left \"out\" \n");
    assert_eq!(classes(&data), [" kept ", "left \"out\""]);
}

#[test]
fn byte_order_marks_and_comments_are_skipped() {
    let data = read_text("\u{feff}a,label\n1,x\n");
    assert_eq!(data.column_names, Some(vec!["a".into()]));
    let data = read_text("# made by hand\na,label\n1,#x\n");
    assert_eq!(classes(&data), ["#x"]);
}

#[test]
fn targets_can_be_forced() {
    let kind = |targets| ReadOptions { targets, ..ReadOptions::default() };
    let text = b"1 1:1\n2 1:2\n";
    assert_eq!(read_with(text, &kind(TargetKind::Reals)).targets, Targets::Reals(vec![1.0, 2.0]));
    assert_eq!(read_with(text, &kind(TargetKind::None)).targets, Targets::None);
    assert!(read_with(b"1.5 1:1\n2 1:2\n", &kind(TargetKind::Classes)).targets.classes().is_ok());
}

#[test]
fn sequences_and_their_alphabets() {
    let alphabet = |text: &str| match read_text(text).points.view().data {
        Data::Sequences { alphabet, .. } => String::from_utf8(alphabet.to_vec()).expect("letters"),
        _ => panic!("no sequences: {text}"),
    };
    assert_eq!(alphabet("+\tacgt\n-\tTTT\n"), "ACGT");
    assert_eq!(alphabet("+\tACGTACGTACGTACGTN\n"), "ACGTRYSWKMBDHVN-");
    assert_eq!(alphabet("+\tacgu\n"), "ACGU");
    assert_eq!(alphabet("k\tMKVLAW\n"), "ACDEFGHIKLMNPQRSTVWY");
    assert_eq!(alphabet("k\tMKXLAW\n"), "ACDEFGHIKLMNPQRSTVWYBJOUXZ*-");
    assert_eq!(alphabet("k\tTUTU\n"), "ACDEFGHIKLMNPQRSTVWYBJOUXZ*-");
    let ours = ReadOptions {
        alphabet: Some("ab".into()),
        format: Some(Format::Sequences),
        ..ReadOptions::default()
    };
    let data = read_with(b"1\tabba\n2\tb\n", &ours);
    let Data::Sequences { symbol, start, .. } = data.points.view().data else { panic!("no sequences") };
    assert_eq!((symbol, start), (&[0, 1, 1, 0, 1][..], &[0, 4, 5][..]));
    assert_eq!(classes(&data), ["1", "2"]);
}

#[test]
fn fasta_headers() {
    let data = read_text(">a x rest\nAC\nGT\n\n>b|class=y\nA\n>c other class=z\nT\n");
    assert_eq!(classes(&data), ["x", "y", "z"]);
    assert_eq!(data.row_names, Some(vec!["a".into(), "b".into(), "c".into()]));
    let Data::Sequences { start, .. } = data.points.view().data else { panic!("no sequences") };
    assert_eq!(start, [0, 4, 5, 6]);
    assert_eq!(read_text(">a\nAC\n>b\nA\n").targets, Targets::None);
}
