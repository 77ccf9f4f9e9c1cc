//! Files that once broke a reader: all under `tests/files/regress`, each read in every way.

use std::path::Path;

use mercer::data::io::ReadOptions;

use crate::property::read_every_way;

#[test]
fn files_that_once_broke_a_reader() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/regress"));
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a readable file");
        read_every_way(&bytes, &ReadOptions::default());
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}
