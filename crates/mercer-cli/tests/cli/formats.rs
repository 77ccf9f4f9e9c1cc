//! Files of other programs through the command: read, converted, trained on, written.

use std::fmt::Write as _;

use crate::run::{Folder, Run};

/// Fails unless the command failed with this code and these words.
#[track_caller]
fn refused(run: &Run, code: i32, words: &str) {
    assert!(run.code == code && run.err.contains(words), "{run:#?}");
}

/// A table of two classes that one column tells apart.
fn table() -> String {
    let mut text = String::from("age,colour,outcome\n");
    for i in 0..40 {
        let (age, outcome) = if i % 2 == 0 { (20 + i % 7, "buys") } else { (50 + i % 5, "leaves") };
        let colour = ["red", "blue", ""][i as usize % 3];
        writeln!(text, "{age},{colour},{outcome}").expect("room");
    }
    text
}

#[test]
fn json_lines_train_and_answer_as_a_csv_file_does() {
    let folder = Folder::new().with("t.csv", table());
    folder.mercer("data convert t.csv t.jsonl.bz2 --label outcome").fine();
    folder.mercer("data convert t.jsonl.bz2 back.csv --label outcome").fine();
    assert_eq!(folder.read("back.csv").replace("\"\"", ""), table());
    folder.mercer("train t.jsonl.bz2 --label outcome -o m.mercer").fine();
    folder.mercer("predict t.csv m.mercer --with age -o p.jsonl").fine();
    let answers = folder.read("p.jsonl");
    assert_eq!(answers.lines().count(), 40);
    let first: serde_json::Value =
        serde_json::from_str(answers.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first, serde_json::json!({"age": "20", "prediction": "buys", "outcome": "buys"}));
}

#[test]
fn text_in_other_encodings_is_read_where_it_is_named() {
    let folder = Folder::new().with("l.csv", b"gr\xf6sse,label\n1,a\n2,b\n");
    refused(&folder.mercer("data info l.csv --encoding utf-8"), 1, "--encoding latin-1");
    folder.mercer("data convert l.csv u.csv --encoding latin-1").fine();
    assert_eq!(folder.read("u.csv"), "grösse,label\n1,a\n2,b\n");
    refused(&folder.mercer("data info l.csv --encoding ebcdic"), 2, "utf-8, utf-16 or latin-1");
}

#[test]
fn fasta_is_split_into_fasta() {
    let entry = |i: usize| format!(">p{i} {}\nACGTAC{}", ["a", "b"][i % 2], "GT".repeat(i));
    let entries = (0..20).map(entry).collect::<Vec<_>>().join("\n");
    let folder = Folder::new().with("s.fasta", entries);
    folder.mercer("data convert s.fasta copy.fasta").fine();
    let data =
        |name: &str| folder.mercer(&format!("data info {name} --format json")).fine().json()["rows"].clone();
    assert_eq!((data("s.fasta"), data("copy.fasta")), (20.into(), 20.into()));
}

#[test]
fn pictures_of_any_size_are_resized_and_made_grey() {
    let pgm =
        |w: usize, h: usize, v: u8| [format!("P5\n{w} {h}\n255\n").into_bytes(), vec![v; w * h]].concat();
    let folder = Folder::new();
    std::fs::create_dir(folder.path("pics")).expect("made");
    let folder = folder
        .with("pics/a.pgm", pgm(4, 6, 10))
        .with("pics/b.pgm", pgm(9, 3, 200))
        .with("pics/c.ppm", b"P6\n1 1\n255\n\x10\x10\x10");
    refused(&folder.mercer("data info pics"), 1, "--image HxW");
    refused(&folder.mercer("data info pics --image 2x2"), 1, "--grey");
    folder.mercer("data convert pics out.csv --image 2x2 --grey").fine();
    let rows: Vec<String> = folder.read("out.csv").lines().skip(1).map(str::to_owned).collect();
    assert_eq!(rows.len(), 3);
    for (row, value) in rows.iter().zip([10.0, 200.0, 16.0]) {
        let near = |field: &str| (field.parse::<f64>().expect("a number") - value).abs() <= 1e-3;
        assert!(row.split(',').count() == 4 && row.split(',').all(near), "{row}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_files_are_known_to_a_build_without_them() {
    let folder = Folder::new().with("t.parquet", b"PAR1 and more").with("t.csv", table());
    refused(&folder.mercer("data info t.parquet"), 1, "--features parquet");
    refused(&folder.mercer("data convert t.csv new.parquet"), 1, "--features parquet");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_and_arrow_come_back() {
    let folder = Folder::new().with("t.csv", table());
    for name in ["t.parquet", "t.feather"] {
        folder.mercer(&format!("data convert t.csv {name} --label outcome")).fine();
        folder.mercer(&format!("data convert {name} back.csv --label outcome")).fine();
        assert_eq!(folder.read("back.csv").replace("\"\"", ""), table());
    }
}
