//! `mercer tour`.

use crate::run::Folder;

#[test]
fn the_tour_is_the_same_every_time() {
    Folder::new().mercer("tour").fine().without("All of it took").snapshot("tour");
}

#[test]
fn the_tour_has_facts_for_programs() {
    let facts = Folder::new().mercer("tour --format json --seed 4").fine().json();
    assert_eq!(facts["data"]["rows"], 400);
    assert_eq!(facts["check"]["points"]["positive"], true);
}
