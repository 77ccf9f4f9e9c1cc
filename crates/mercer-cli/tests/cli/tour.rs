//! `mercer tour`.

use crate::run::Folder;

#[test]
fn the_tour_is_the_same_every_time() {
    Folder::new().mercer("tour").fine().without("All of it took").without("learned").snapshot("tour");
}

#[test]
fn the_tour_has_facts_for_programs() {
    let facts = Folder::new().mercer("tour --format json --seed 4").fine().json();
    assert_eq!(facts["data"]["rows"], 400);
    assert_eq!(facts["check"]["points"]["positive"], true);
    let error = facts["trial"]["error"].as_f64().expect("a number");
    assert!(error < 0.1, "{error}");
    assert_eq!(
        (&facts["trial"]["train_rows"], &facts["trial"]["info"]["stop"]),
        (&300.into(), &"converged".into())
    );
}
