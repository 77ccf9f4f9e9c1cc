//! `mercer data ...`.

use crate::run::Folder;

/// A table with everything that is worth a look: a row number, a constant, a wide column, repeated rows with other
/// labels, a rare class.
fn suspicious() -> String {
    let mut text = String::from("id,height,salary,planet,species\n");
    for i in 0..60 {
        let height = 1.5 + 0.01 * f64::from((i * 7) % 30);
        let salary = 20_000 + 500 * ((i * 11) % 40);
        let species = if i == 30 {
            "wookiee"
        } else if i % 3 == 0 {
            "human"
        } else {
            "ewok"
        };
        text.push_str(&format!("{},{height:.2},{salary},Endor,{species}\n", i + 1).replace("Endor", "4"));
    }
    text
}

#[test]
fn info_of_a_table_with_a_header() {
    let folder = Folder::new().with("people.csv", suspicious());
    folder.mercer("data info people.csv").fine().snapshot("data-info-table");
    let folder =
        Folder::new().with("houses.csv", "rooms,age,price\n3,10,210.5\n2,40,99.25\n5,1,400\n3,70,180\n");
    folder.mercer("data info houses.csv --label price").fine().snapshot("data-info-regression");
}

#[test]
fn info_tells_equal_rows_with_different_labels() {
    let folder = Folder::new().with("a.csv", "x,y,class\n1,2,a\n1,2,b\n3,4,a\n3,4,a\n5,6,b\n");
    let run = folder.mercer("data info a.csv --format json").fine();
    let info = run.json();
    assert_eq!(info["findings"][0]["kind"], "conflicting_rows");
    assert_eq!(info["findings"][0]["first"], serde_json::json!([0, 1]));
    assert_eq!((&info["rows"], &info["columns"]), (&5.into(), &2.into()));
    assert_eq!(info["column_names"], serde_json::json!(["x", "y"]));
    run.snapshot("data-info-json");
}

#[test]
fn info_draws_what_can_be_drawn() {
    let folder = Folder::new();
    folder.mercer("data toy ring ring.csv --rows 150 --seed 1 --quiet").fine();
    folder.mercer("data info ring.csv").fine().snapshot("data-info-scatter");
    let digits = "0 1:1 2:1 3:1 4:1 6:1 7:1 8:1 9:1\n1 2:1 5:1 8:1\n";
    let folder = Folder::new().with("digits.svm", digits);
    folder.mercer("data info digits.svm --image 3x3").fine().snapshot("data-info-images");
}

#[test]
fn info_of_sequences_and_sparse_rows() {
    let folder = Folder::new().with("dna.txt", "EI\tACGT\nIE\tAC\nN\tACGTTT\nN\tGGGTTT\n");
    folder.mercer("data info dna.txt").fine().snapshot("data-info-sequences");
    let folder = Folder::new().with("wide.svm", "1 1:1 900000000:2\n-1 7:1\n");
    folder.mercer("data info wide.svm").fine().snapshot("data-info-sparse");
}

#[test]
fn info_reads_standard_input() {
    let folder = Folder::new().with("a.csv", "x,y,class\n1,2,a\n3,4,b\n");
    let mut command = folder.command(&["data", "info", "-", "--format", "json"]);
    let file = std::fs::File::open(folder.path("a.csv")).expect("just written");
    let output = command.stdin(file).output().expect("the built command starts");
    let info: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&info["source"], &info["rows"]), (&"standard input".into(), &2.into()));
}

#[test]
fn every_column_is_shown_when_asked() {
    let row: Vec<String> = (1..=20).map(|j| format!("{j}:{j}")).collect();
    let folder = Folder::new().with("a.svm", format!("1 {0}\n-1 {0}\n", row.join(" ")));
    let each = |line: &str| folder.mercer(line).fine().json()["each"].as_array().expect("a list").len();
    assert_eq!(each("data info a.svm --format json"), 0);
    assert_eq!(each("data info a.svm --format json --each"), 20);
}

#[test]
fn convert_there_and_back_changes_nothing() {
    let text = "x,y,class\n0.1,0,a\n0,-2.5e-300,b\n3,4,a\n";
    let folder = Folder::new().with("a.csv", text);
    folder.mercer("data convert a.csv b.svm.xz").fine();
    let line = "data convert b.svm.xz c.csv --to csv --storage f64 --format json";
    let written = folder.mercer(line).fine().json();
    assert_eq!(
        (&written["file"], &written["rows"], &written["columns"]),
        (&"c.csv".into(), &3.into(), &2.into())
    );
    let values = |name: &str| {
        let text = folder.read(name);
        let rows = text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        rows.collect::<Vec<_>>()
    };
    for (a, c) in values("a.csv").iter().zip(&values("c.csv")) {
        for (a, c) in a[..2].iter().zip(&c[..2]) {
            assert_eq!(a.parse::<f64>().expect("number"), c.parse::<f64>().expect("number"));
        }
    }
    assert_eq!(folder.mercer("data convert a.csv d.tsv --quiet").fine().out, "");
}

#[test]
fn split_takes_each_class_by_its_share_and_obeys_the_seed() {
    let folder = Folder::new();
    folder.mercer("data toy clusters all.csv --rows 90 -q").fine();
    folder.mercer("data split all.csv train.csv test.csv --test 0.2").fine().snapshot("data-split");
    let (train, test) = (folder.read("train.csv"), folder.read("test.csv"));
    folder.mercer("data split all.csv train2.csv test2.csv --test 0.2 -q").fine();
    assert_eq!((train.as_str(), test.as_str()), (&*folder.read("train2.csv"), &*folder.read("test2.csv")));
    folder.mercer("data split all.csv train3.csv test3.csv --test 0.2 -q --seed 5").fine();
    assert_ne!(test, folder.read("test3.csv"));
    let info = folder.mercer("data info test.csv --format json").fine().json();
    let rows: Vec<_> =
        info["targets"]["classes"].as_array().expect("classes").iter().map(|c| &c["rows"]).collect();
    assert_eq!(rows, [6, 6, 6]);
}

#[test]
fn info_warns_of_clusters_that_rounding_blurs_and_not_of_offsets() {
    let rows = |centre: &dyn Fn(i32) -> f64| {
        let row = |i: i32| format!("{},{}\n", centre(i) + f64::from(i * i % 17), i % 2);
        format!("x,class\n{}", (0..30).map(row).collect::<String>())
    };
    let folder = Folder::new()
        .with("apart.csv", rows(&|i| if i % 2 == 0 { 1e8 } else { -1e8 }))
        .with("offset.csv", rows(&|_| 1e8));
    let told = folder.mercer("data info apart.csv").fine().out;
    assert!(told.contains("rounding changes squared distances by up to"), "{told}");
    let told = folder.mercer("data info offset.csv").fine().out;
    assert!(!told.contains("rounding"), "{told}");
}
