//! The target of a model, as the first line of a plan: the column, and how it was found.

use crate::data::{Dataset, Targets};
use crate::model::{Choice, Task};

/// The description of the target, reported first, since a wrong target invalidates everything else.
pub(super) fn target(data: &Dataset, task: Task) -> Choice {
    let choice = |value: String, why: Option<String>| Choice { what: "target".into(), value, why };
    let from = data.target_from.as_ref();
    let name = data.target_name.clone().or(from.map(|from| format!("column {}", from.column)));
    match (&data.targets, task) {
        (Targets::None, _) => choice("none".into(), Some("the data have no targets".into())),
        (_, Task::Novelty | Task::Clustering | Task::Features) => {
            let name = name.map_or_else(|| "the labels are".into(), |name| format!("`{name}` is"));
            choice(
                "none".into(),
                Some(format!("{name} not used as a feature, and not required to {}", task.verb())),
            )
        }
        (_, Task::Classification | Task::Regression) => match (name, from) {
            (Some(name), Some(from)) => choice(name, from.why.clone()),
            (name, _) => {
                choice(name.unwrap_or_else(|| "label".into()), Some("the labels of the data".into()))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::io::{ReadOptions, read_bytes};

    fn told(bytes: &str, options: &ReadOptions, task: Task) -> (String, Option<String>) {
        let data = read_bytes("t", bytes.as_bytes(), options).expect("data");
        let choice = target(&data, task);
        (choice.value, choice.why)
    }

    #[test]
    fn the_target_is_named_and_a_guess_names_the_way_out() {
        let auto = ReadOptions::default();
        let table = "x,y,z,w,species\n1,2,3,4,0\n2,3,4,5,1\n";
        let (value, why) = told(table, &auto, Task::Classification);
        assert_eq!((value.as_str(), why.as_deref()), ("species", Some("the name of a target column")));
        let (value, why) = told("a,b,c\n1,2,3\n2,3,4.5\n", &auto, Task::Regression);
        assert!(value == "c" && why.is_some_and(|why| why.contains("a guess") && why.contains("--label")));
        let (value, _) = told("1,2,3\n2,3,4.5\n", &auto, Task::Regression);
        assert_eq!(value, "column 3");
        let asked = ReadOptions { label: "b".parse().expect("a name"), ..auto.clone() };
        assert_eq!(told("a,b,c\n1,2,3\n2,3,4.5\n", &asked, Task::Regression), ("b".into(), None));
        let (value, why) = told("1 1:2\n2 1:3\n", &auto, Task::Classification);
        assert_eq!((value.as_str(), why.as_deref()), ("label", Some("the labels of the data")));
        let (value, why) = told(table, &auto, Task::Novelty);
        assert_eq!(
            (value.as_str(), why.as_deref()),
            ("none", Some("`species` is not used as a feature, and not required to find novelties"))
        );
        let none = ReadOptions { label: "none".parse().expect("a word"), ..auto };
        assert_eq!(told(table, &none, Task::Novelty).1.as_deref(), Some("the data have no targets"));
    }
}
