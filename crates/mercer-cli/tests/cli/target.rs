//! What is learned is told first: the target, how it was found, the task and the number of features.

use crate::run::Folder;

fn table(header: &str, last: impl Fn(usize) -> String) -> String {
    let columns = header.split(',').count();
    let row = |i: usize| {
        let cells = (0..columns - 1).map(|j| format!("{}", (i * (j + 3) % 7) as f64 + i as f64 * 0.01));
        cells.chain([last(i)]).collect::<Vec<_>>().join(",") + "\n"
    };
    std::iter::once(format!("{header}\n")).chain((0..40).map(row)).collect()
}

#[test]
fn a_numeric_species_is_the_target_and_y_among_x_and_z_is_not() {
    let folder = Folder::new().with("t.csv", table("x,y,z,w,species", |i| (i % 3).to_string()));
    let out = folder.mercer("train t.csv").fine().out;
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("t.csv  40 rows, 4 features"), "{out}");
    assert!(lines[2].starts_with("  target      species") && !lines[2].contains("guess"), "{out}");
    assert!(lines[3].starts_with("  task        classify"), "{out}");
    let model = folder.mercer("explain t.mercer --format json").fine().json();
    assert_eq!(model["model"]["task"].as_str().or(model["task"].as_str()), Some("classification"), "{model}");
}

#[test]
fn a_guess_says_so_and_names_the_option_in_every_command_that_learns() {
    let folder = Folder::new()
        .with("g.csv", table("x,y,z,w", |i| format!("{}", (i as f64 * 0.3).sin())))
        .with("n.csv", table("a,b,target", |i| format!("{}", (i as f64 * 0.3).sin())));
    for line in ["train g.csv", "tune g.csv --learner ridge --lambda 0.1,1 --folds 2"] {
        let out = folder.mercer(line).fine().out;
        let (target, task) = (out.find("target").expect("told"), out.find("task").expect("told"));
        let guess = out.find("a guess: the last column; --label COLUMN").unwrap_or_else(|| panic!("{out}"));
        assert!(target < guess && guess < task && task < 600, "{line}: {out}");
        let asked = folder.mercer(&format!("{line} --label w")).fine().out;
        assert!(!asked.contains("guess") && asked.contains("as given"), "{line}: {asked}");
        assert!(asked.contains("3 features") || asked.contains("features    3"), "{asked}");
        let named = folder.mercer(&line.replace("g.csv", "n.csv")).fine().out;
        assert!(!named.contains("guess") && named.contains("the name of a target column"), "{line}: {named}");
    }
    for line in ["novelty g.csv", "cluster g.csv -n 2"] {
        let out = folder.mercer(line).fine().out;
        assert!(out.contains("40 rows, 4 features") && out.contains("target      none"), "{line}: {out}");
    }
}

#[test]
fn columns_of_one_name_are_numbered_with_a_note_in_training_and_in_prediction() {
    let folder = Folder::new()
        .with("t.csv", table("a,b,class", |i| (i % 2).to_string()))
        .with("twins.csv", table("b,a,b,class", |i| (i % 2).to_string()));
    folder.mercer("train t.csv -q").fine();
    let note = "1 column has a name that another column has: renamed to `b.1`";
    for line in ["train twins.csv -o x.mercer", "data info twins.csv", "predict twins.csv t.mercer"] {
        let run = folder.mercer(line);
        assert_eq!(run.code, 0, "{run:?}");
        let told = format!("{} {}", run.out, run.err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(note), "{line}: {told}");
    }
    // The names that a model was trained with are those of new files.
    let run = folder.mercer("predict twins.csv x.mercer");
    assert_eq!((run.code, run.out.lines().count()), (0, 40), "{run:?}");
}
