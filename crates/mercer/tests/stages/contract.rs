//! What every stage of the table keeps to.

use mercer::Exec;
use mercer::data::image::Transform;
use mercer::data::stage::Entry;
use mercer::data::{ImageShape, Labels, Points, Recipe, Sequences, Stage, Stages};
use mercer_testkit::assert::all_close;

use crate::{fit, images, narrow, sparse, values};

const SHAPES: [ImageShape; 2] =
    [ImageShape { height: 9, width: 7, channels: 1 }, ImageShape { height: 5, width: 8, channels: 3 }];

fn each(mut f: impl FnMut(&Entry, &Points, Stage)) {
    for entry in Recipe::ALL.iter().filter(|e| !e.sequence && !e.table) {
        for (seed, shape) in SHAPES.into_iter().enumerate() {
            let train = images(11, shape, seed as u64);
            f(entry, &images(6, shape, 100 + seed as u64), fit(entry.example, &train));
        }
    }
}

#[test]
fn a_line_is_read_and_printed_back() {
    let lines = Recipe::ALL.iter().map(|e| e.example);
    let more = [
        "minmax(-1, 1, channel)",
        "minmax",
        "standard(centre=false, per=channel)",
        "centre-mass(0.5, background=-1)",
        "edges(false)",
        "silhouette(0.25, 1/3)",
        "deskew(background=1e-300)",
        "scale(1/255, -0.5)",
    ];
    for line in lines.chain(more) {
        let recipe = Recipe::parse(line).expect(line);
        assert_eq!(Recipe::parse(&recipe.to_string()).expect("its own print"), recipe, "{line}");
        let json = serde_json::to_string(&recipe).expect("a line");
        assert_eq!(serde_json::from_str::<Recipe>(&json).expect("its own JSON"), recipe, "{line}");
        assert!(Recipe::ALL.iter().any(|e| e.name == recipe.name()));
    }
}

#[test]
fn wrong_lines_name_argument_value_and_range() {
    for (line, part) in [
        ("minmx", "must be one of scale, minmax"),
        ("minmax(1, 1)", "minmax hi = 1: must be a number above lo"),
        ("minmax(per=row)", "minmax per = row: must be column or channel"),
        ("power", "power p = nothing: must be a number above 0"),
        ("power(0)", "power p = 0"),
        ("smooth(-1)", "smooth sigma = -1: must be a number from 0 to 100"),
        ("downsample(4)", "downsample width = nothing"),
        ("downsample(0, 4)", "downsample height = 0"),
        ("downsample(2.5, 4)", "downsample height = 2.5"),
        ("silhouette(1)", "silhouette threshold = 1"),
        ("unit(2)", "unit argument = 2: must be without arguments"),
        ("standard(centre=maybe)", "standard centre = maybe: must be true, false or auto"),
    ] {
        let message = Recipe::parse(line).expect_err(line).to_string();
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn sizes_are_as_told() {
    each(|entry, test, stage| {
        let out = stage.apply(test.view(), Exec::one()).expect(entry.name);
        assert_eq!(stage.name(), entry.name);
        assert_eq!((out.len(), out.dim()), (test.len(), stage.output_dim()), "{}", entry.name);
        assert_eq!(out.view().image, stage.output_image(), "{}", entry.name);
        assert_eq!(stage.input_image(), test.view().image);
        assert!(stage.describe().starts_with(entry.name));
    });
}

#[test]
fn threads_and_slices_change_no_bit() {
    each(|entry, test, stage| {
        for test in [test.clone(), narrow(test), sparse(test)] {
            let whole = stage.apply(test.view(), Exec::one()).expect(entry.name);
            assert_eq!(stage.apply(test.view(), Exec::new(4)).expect(entry.name), whole, "{}", entry.name);
            let part = stage.apply(test.view().slice(2..5), Exec::new(2)).expect(entry.name);
            assert_eq!(part, whole.gather(&[2, 3, 4]), "{}", entry.name);
            let none = stage.apply(test.view().slice(3..3), Exec::new(2)).expect(entry.name);
            assert_eq!((none.len(), none.dim()), (0, stage.output_dim()), "{}", entry.name);
        }
    });
}

#[test]
fn points_keep_their_kind_and_their_numbers() {
    each(|entry, test, stage| {
        let want = values(&stage.apply(test.view(), Exec::one()).expect(entry.name));
        let from_f32 = stage.apply(narrow(test).view(), Exec::one()).expect(entry.name);
        assert_eq!(from_f32.kind(), "dense f32", "{}", entry.name);
        all_close(&values(&from_f32), &want, 1e-5);
        let from_sparse = stage.apply(sparse(test).view(), Exec::one()).expect(entry.name);
        assert_eq!(from_sparse.kind() == "sparse", stage.keeps_sparse(), "{}", entry.name);
        all_close(&values(&from_sparse), &want, 1e-14);
    });
}

#[test]
fn fitted_on_sparse_is_fitted_on_dense() {
    for entry in Recipe::ALL.iter().filter(|e| e.name != "standard" && !e.sequence && !e.table) {
        let train = images(11, SHAPES[0], 3);
        assert_eq!(fit(entry.example, &sparse(&train)), fit(entry.example, &train), "{}", entry.name);
    }
}

#[test]
fn sparse_rows_may_lack_the_last_columns_and_dense_rows_may_not() {
    let train = images(11, SHAPES[0], 3);
    let d = train.dim();
    let csr = mercer::data::Csr { start: vec![0, 2], column: vec![0, 5], value: vec![0.5, 0.25] };
    let short = Points::sparse(csr.clone(), 6).expect("valid rows");
    let long = Points::sparse(csr, d).expect("valid rows");
    for entry in Recipe::ALL.iter().filter(|e| !e.sequence && !e.table) {
        let stage = fit(entry.example, &train);
        let short = values(&stage.apply(short.view(), Exec::one()).expect(entry.name));
        assert_eq!(
            short,
            values(&stage.apply(long.view(), Exec::one()).expect(entry.name)),
            "{}",
            entry.name
        );
        for d in [d - 1, d + 1] {
            let other = Points::dense(vec![0.0; d], d).expect("one row");
            assert!(stage.apply(other.view(), Exec::one()).is_err(), "{}", entry.name);
        }
        let wide = sparse(&images(1, ImageShape::grey(9, 8), 1));
        assert!(stage.apply(wide.view(), Exec::one()).is_err(), "{}", entry.name);
        let turned = images(1, ImageShape::grey(7, 9), 1);
        let message = stage.apply(turned.view(), Exec::one()).expect_err(entry.name).to_string();
        assert!(message.contains("7 x 9 x 1") && message.contains("9 x 7 x 1"), "{message}");
    }
}

#[test]
fn stages_refuse_what_they_are_not_for() {
    let plain = Points::dense(vec![0.0, 1.0, 2.0, 3.0], 2).expect("two rows");
    let numbers = Points::row_numbers(vec![0, 1]);
    for entry in Recipe::ALL {
        let recipe = Recipe::parse(entry.example).expect("the table's example");
        assert_eq!(
            recipe.fit(plain.view(), mercer::Exec::one()).is_err(),
            entry.image || entry.sequence || entry.table,
            "{}",
            entry.name
        );
        assert!(recipe.fit(numbers.view(), mercer::Exec::one()).is_err(), "{}", entry.name);
        let letters =
            recipe.fit_with(sequences().view(), Some(&Labels::new(["a", "b", "a"])), mercer::Exec::one());
        assert_eq!(letters.is_ok(), entry.sequence, "{}", entry.name);
        assert_eq!(
            recipe.fit(crate::tables::small().view(), Exec::one()).is_ok(),
            entry.table,
            "{}",
            entry.name
        );
    }
    let recipe = Recipe::parse("log-odds").expect("a stage");
    let message = recipe.fit(sequences().view(), mercer::Exec::one()).expect_err("no labels").to_string();
    assert_eq!(message, "labels to fit stage log-odds with: got none, expected a class for every sequence");
}

fn sequences() -> Points {
    let symbol = vec![0, 1, 2, 3, 3, 1, 0, 2, 2];
    let rows = Sequences { alphabet: b"ACGT".to_vec(), start: vec![0, 3, 6, 9], symbol };
    Points::sequences(rows).expect("letters of the alphabet")
}

#[test]
fn stages_of_sequences_are_those_of_the_library_and_others_may_follow() {
    let (points, labels) = (sequences(), Labels::new(["a", "b", "a"]));
    let by_hand = [
        Stage::one_hot(points.view()).expect("sequences"),
        Stage::log_odds(points.view(), &labels).expect("sequences"),
    ];
    for (entry, want) in Recipe::ALL.iter().filter(|e| e.sequence).zip(by_hand) {
        let recipes = Stages::parse(&format!("{} | standard", entry.example)).expect("two stages");
        let (stages, out) =
            Stages::fit_with(&recipes, points.view(), Some(&labels), Exec::one()).expect("sequences");
        assert_eq!(stages.list[0], want, "{}", entry.name);
        assert_eq!(stages.apply(points.view(), Exec::new(2)).expect("sequences"), out);
        assert_eq!(out.dim(), want.output_dim());
        assert_eq!(Stages::from_parts(stages.to_parts()).expect("its own parts"), stages);
    }
}

#[test]
fn undoing_gives_back_what_there_was() {
    each(|entry, test, stage| {
        let out = stage.apply(test.view(), Exec::one()).expect(entry.name);
        let invertible = ["scale", "minmax", "standard", "power"].contains(&entry.name);
        match stage.undo(out.view(), Exec::new(2)) {
            Ok(back) => {
                all_close(&values(&back), &values(test), 1e-12);
                assert_eq!(back.view().image, test.view().image);
                assert!(invertible, "{}", entry.name);
            }
            Err(e) => assert!(!invertible && e.to_string().contains("cannot be undone"), "{e}"),
        }
    });
    let train = Points::dense(vec![0.0, 7.5, 5.0, 7.5], 2).expect("two rows");
    let (stages, out) = Stages::fit(
        &Stages::parse("scale(2, 1) | power(3) | minmax(-1, 1) | standard").expect("four stages"),
        train.view(),
        Exec::one(),
    )
    .expect("dense");
    all_close(&values(&stages.undo(out.view(), Exec::one()).expect("invertible")), &values(&train), 1e-13);
    assert!(fit("scale(0, 1)", &train).undo(out.view(), Exec::one()).is_err());
}

#[test]
fn a_chain_is_its_stages_one_after_the_other() {
    let (train, test) = (images(20, SHAPES[0], 1), images(5, SHAPES[0], 2));
    let recipes = Stages::parse("smooth(0.75) | edges | downsample(4, 3) | standard(per=channel) | unit")
        .expect("five stages");
    let (stages, fitted) = Stages::fit(&recipes, train.view(), Exec::new(2)).expect("images");
    assert_eq!(stages.len(), 5);
    let (mut x, mut y) = (train.clone(), test.clone());
    for recipe in &recipes {
        let stage = recipe.fit(x.view(), mercer::Exec::one()).expect("images");
        x = stage.apply(x.view(), Exec::one()).expect("images");
        y = stage.apply(y.view(), Exec::one()).expect("images");
    }
    assert_eq!(fitted, x);
    assert_eq!(stages.apply(test.view(), Exec::new(2)).expect("images"), y);
    assert_eq!(x.view().image, Some(ImageShape { height: 4, width: 3, channels: 5 }));

    let (none, same) =
        Stages::fit(&Stages::parse(" ").expect("no stage"), test.view(), Exec::one()).expect("nothing to do");
    assert!(none.is_empty());
    assert_eq!(same, test);
    assert!(Stages::parse("unit | ").is_err());
}

#[test]
fn the_document_shows_the_tables() {
    let text = include_str!("../../../../docs/stages.md");
    for entry in Recipe::ALL {
        let args: Vec<String> = entry
            .args
            .iter()
            .map(|a| a.default.map_or(a.name.to_owned(), |default| format!("{}={default}", a.name)))
            .collect();
        let call = if args.is_empty() {
            entry.name.to_owned()
        } else {
            format!("{}({})", entry.name, args.join(", "))
        };
        let only = match (entry.image, entry.sequence, entry.table) {
            (true, _, _) => "images ",
            (_, true, _) => "sequences ",
            (_, _, true) => "tables ",
            _ => "",
        };
        let row = format!("| `{call}` | {only}| {} |", entry.doc.replace('|', "\\|"));
        assert!(text.contains(&row), "docs/stages.md lacks: {row}");
    }
    for entry in Transform::ALL {
        let row = format!("| `{}` | {} |", entry.set, entry.doc);
        assert!(text.contains(&row), "docs/stages.md lacks: {row}");
    }
}

proptest::proptest! {
    #[test]
    fn any_line_gives_stages_or_a_message(line in "[a-z|(),=0-9./ é-]{0,40}", at in 0usize..11, cut in 0usize..30) {
        let example = Recipe::ALL[at].example;
        let near: String = example.chars().take(cut).chain(line.chars()).collect();
        for line in [&line, &near] {
            if let Ok(recipes) = Stages::parse(line) {
                for recipe in recipes {
                    assert_eq!(Recipe::parse(&recipe.to_string()).expect("its own print"), recipe);
                }
            }
            if let Ok(set) = Transform::parse_set(line) {
                for transform in set {
                    assert_eq!(transform.to_string().parse::<Transform>().expect("its own print"), transform);
                }
            }
        }
    }
}
