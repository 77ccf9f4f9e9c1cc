//! Wrong data ends with 1, wrong usage with 2, each with the message it should have.

use crate::run::Folder;

/// A file with this content is refused by `data info` with this message.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, message: &str) {
    Folder::new().with(name, content).mercer(&format!("data info {name}")).fails(1, message);
}

#[test]
fn ragged_rows() {
    refused(
        "ragged.csv",
        "a,b,c\n1,2,x\n1,x\n",
        "error: ragged.csv, line 3: got 2 fields, expected 3 as in the first line\n",
    );
}

#[test]
fn values_that_are_not_finite() {
    Folder::new().with("nan.csv", "a,b,c\n1,NaN,x\n").mercer("data info nan.csv --missing refuse").fails(
        1,
        "error: nan.csv, line 2, column 2 (`b`): got `NaN`, expected a value, since missing values are refused: --missing \
         fill fills them in, --missing rows skips such rows\n",
    );
    refused(
        "inf.csv",
        "a,b,c\n1,inf,x\n",
        "error: inf.csv, line 2, column 2 (`b`): got `inf`, expected a finite number; if it stands for a missing value, name \
         it in --missing-values\n",
    );
    refused(
        "inf.svm",
        "1 1:0.5\n-1 2:inf\n",
        "error: inf.svm, line 2: got `inf` in `2:inf`, expected a finite number after the colon\n",
    );
}

#[test]
fn index_zero() {
    refused(
        "zero.svm",
        "1 0:3\n",
        "error: zero.svm, line 1: got index 0 in `0:3`, expected an index from 1 to 2147483647 (scikit-learn's dump_svmlight_file counts from 1 with zero_based=False)\n",
    );
}

#[test]
fn unordered_indices() {
    refused(
        "order.svm",
        "1 3:1 2:1\n",
        "error: order.svm, line 1: got index 2 after 3, expected indices in increasing order within a line\n",
    );
}

#[test]
fn text_where_a_number_should_be() {
    let folder = Folder::new().with("a.csv", "height,species,salary\n1.5,ewok,200\n");
    folder.mercer("data info a.csv --label salary --columns species=number").fails(
        1,
        "error: a.csv, line 2, column 2 (`species`): got `ewok`, expected a number; if it stands for a missing value, name \
         it in --missing-values; --missing fill treats all text in columns of numbers as missing\n",
    );
}

#[test]
fn nothing_in_the_file() {
    refused("empty.csv", "", "error: empty.csv: got an empty file, expected at least one row\n");
}

#[test]
fn a_million_million_columns() {
    refused(
        "huge.svm",
        "1 1000000000000:1\n",
        "error: huge.svm, line 1: got `1000000000000:1`, expected an index from 1 to 2147483647\n",
    );
    let header =
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1000000000000), }";
    let mut npy = header.to_vec();
    npy.resize(127, b' ');
    npy.push(b'\n');
    refused(
        "huge.npy",
        npy,
        "error: huge.npy: got 0 bytes, expected 8000000000000 bytes of values for an array of shape \
         [1, 1000000000000] and 8 bytes per value\n",
    );
}

#[test]
fn a_label_column_that_is_not_there() {
    let folder = Folder::new().with("ok.csv", "a,b,c\n1,2,x\n3,4,y\n");
    folder
        .mercer("data info ok.csv --label species")
        .fails(2, "error: label column = species: must be one of the columns of ok.csv: `a`, `b`, `c`\n");
    folder.mercer("data info ok.csv --label 4").fails(
        2,
        "error: label column = 4: must be 1 to 3, or -1 to -3 from the end: ok.csv has 3 columns\n",
    );
}

#[test]
fn a_file_that_is_not_there() {
    let folder = Folder::new().with("iris.csv", "1,a\n");
    folder.mercer("data info iris").fails(
        1,
        "error: iris: No such file or directory (os error 2)\nhint: there is `iris.csv` in the same folder\n",
    );
    folder.mercer("data info mars.csv").fails(1, "error: mars.csv: No such file or directory (os error 2)\n");
}

#[test]
fn a_format_that_nobody_writes() {
    let folder = Folder::new().with("ok.csv", "a,b,c\n1,2,x\n3,4,y\n");
    let tables = if cfg!(feature = "parquet") { " .parquet, .arrow," } else { "" };
    let names = format!(".svm, .csv, .tsv, .jsonl,{tables} .seq, .fasta, .npy, .png, .pgm");
    let told = format!("error: file to write = ok.xyz: must be a name that ends in {names}\n");
    folder.mercer("data convert ok.csv ok.xyz").fails(2, &told);
    assert!(!folder.path("ok.xyz").exists());
}

#[test]
fn options_that_make_no_sense() {
    let folder = Folder::new().with("ok.csv", "a,b,c\n1,2,x\n3,4,y\n");
    let starts = |line: &str, message: &str| {
        let run = folder.mercer(line);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.starts_with(message), "{}", run.err);
    };
    starts(
        "data info ok.csv --memory 5X",
        "error: invalid value '5X' for '--memory <SIZE>': expected a size such as",
    );
    starts(
        "data info ok.csv --threads 0",
        "error: invalid value '0' for '--threads <N>': 0 is not in 1..=65535",
    );
    starts("data info ok.csv --format yaml", "error: invalid value 'yaml' for '--format <text|json>'");
    starts(
        "data info ok.csv --storag f32",
        "error: unexpected argument '--storag' found\n\n  tip: a similar argument",
    );
    starts("data info", "error: the following required arguments were not provided:\n  <FILE>");
    starts(
        "data inf ok.csv",
        "error: unrecognized subcommand 'inf'\n\n  tip: a similar subcommand exists: 'info'",
    );
    starts(
        "data info ok.csv --image 3by3",
        "error: invalid value '3by3' for '--image <HxW>': expected height and width",
    );
    starts("data toy bananas x.csv", "error: toy set = `bananas`: must be one of banana, ");
}

/// Commands that take a model and rows, with their arguments in the wrong order, and the right one.
const SWAPPED: &[(&str, &str)] = &[
    ("predict MODEL ROWS", "predict DATA MODEL"),
    ("evaluate MODEL ROWS", "evaluate DATA MODEL"),
    ("explain ROWS MODEL", "explain MODEL DATA"),
    ("bounds ROWS MODEL", "bounds MODEL DATA"),
    ("compare ROWS MODEL MODEL", "compare MODEL MODEL DATA"),
    ("compress ROWS MODEL -o out.mercer", "compress MODEL DATA"),
    ("pca transform MODEL ROWS -o out.csv", "pca transform DATA MODEL"),
    ("pca inverse MODEL ROWS -o out.csv", "pca inverse DATA MODEL"),
    ("pca show ROWS MODEL -o out.svg", "pca show MODEL DATA"),
];

#[test]
fn swapped_arguments_are_named_with_the_right_order() {
    let folder = Folder::new()
        .with("rows.csv", "a,b,c\n1,2,1\n3,1,2\n0,2,1\n4,1,2\n")
        .with("rows.svm", "1 1:1 2:2\n-1 1:3 2:1\n1 1:0 2:2\n-1 1:4 2:1\n")
        .with("rows.jsonl", "{\"a\":1,\"b\":2,\"c\":\"x\"}\n{\"a\":3,\"b\":1,\"c\":\"y\"}\n");
    folder.mercer("train rows.csv -o m.mercer -q --scale none --targets classes").fine();
    folder.mercer("convert m.mercer --to libsvm -o m.libsvm -q").fine();
    folder.mercer("data convert rows.csv rows.npy -q").fine();
    for (line, order) in SWAPPED {
        for model in ["m.mercer", "m.libsvm"] {
            for rows in ["rows.csv", "rows.svm", "rows.jsonl", "rows.npy"] {
                let said = format!(
                    "error: {rows} is not a model, but {model} is one\n\
                     hint: the order of the arguments is `mercer {order}`\n"
                );
                folder.mercer(&line.replace("MODEL", model).replace("ROWS", rows)).fails(2, &said);
            }
        }
    }
    // Without a model there is nothing to swap; nor may a pipe be read to find one.
    let run = folder.mercer("predict rows.csv rows.svm");
    assert!(run.code == 1 && run.err.contains("model file rows.svm"), "{run:#?}");
}

#[test]
fn flags_of_every_command_say_what_they_take_instead_of_a_number_they_cannot_parse() {
    let folder = Folder::new();
    let first = folder.mercer("").fine().out;
    let commands = first.lines().filter_map(|line| line.strip_prefix("  mercer "));
    let (mut refused, mut seen) = (0, std::collections::BTreeSet::new());
    for command in commands.map(|line| line.split("  ").next().unwrap_or_default().trim()) {
        let help = folder.mercer(&format!("{command} --help")).fine().out;
        // Flags that many commands share are asked once.
        let flags = help.lines().map(str::trim_start).filter(|line| seen.insert((*line).to_owned()));
        let flags = flags.filter_map(|line| line.split_once(" <").map(|(flag, _)| flag));
        for flag in flags.filter_map(|flag| flag.split(", ").find(|name| name.starts_with("--"))) {
            for value in ["2.7", "abc", "", "99999999999999999999999", "1,5"] {
                let args: Vec<String> = command
                    .split(' ')
                    .map(str::to_owned)
                    .chain([format!("{flag}={value}"), "nosuch".into(), "nosuch".into()])
                    .collect();
                let run = folder.mercer_args(&args.iter().map(String::as_str).collect::<Vec<_>>());
                let said = [
                    "invalid digit",
                    "invalid float",
                    "cannot parse",
                    "number too large",
                    "too many characters",
                    "number too small",
                ];
                assert!(!said.iter().any(|words| run.err.contains(words)), "{run:#?}");
                refused += usize::from(run.err.contains("must be a whole number, such as 10"));
            }
        }
    }
    assert!(refused > 40, "{refused}");
    for (line, told) in [
        ("data toy banana a.csv --rows 2.7", "'2.7' for '--rows <N>': must be a whole number, such as 10"),
        ("train a.csv --tol abc", "'abc' for '--tol <T>': must be a number, such as 0.5 or 1e-3"),
        ("train a.csv --max-iter 99999999999999999999", "must be a smaller number"),
    ] {
        let run = folder.mercer(line);
        assert!(run.code == 2 && run.err.contains(told), "{run:#?}");
    }
}
