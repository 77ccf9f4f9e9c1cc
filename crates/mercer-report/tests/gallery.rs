//! Runs the Rust scripts of `docs/gallery` and compares their figures with those kept. `MERCER_BLESS=1` writes the figures.

use std::path::{Path, PathBuf};

/// Includes the scripts, and lists them with their names.
macro_rules! scripts {
    ($($name:ident $file:literal)*) => {
        $(#[path = $file] mod $name;)*
        const SCRIPTS: &[(&str, fn() -> mercer::Result<()>)] = &[$((stringify!($name), $name::main)),*];
    };
}

scripts! {
    clusters "../../../docs/gallery/clusters.rs"
    components "../../../docs/gallery/components.rs"
    convergence "../../../docs/gallery/convergence.rs"
    cost "../../../docs/gallery/cost.rs"
    denoised "../../../docs/gallery/denoised.rs"
    gamma "../../../docs/gallery/gamma.rs"
    margin "../../../docs/gallery/margin.rs"
    one_class "../../../docs/gallery/one_class.rs"
    path "../../../docs/gallery/path.rs"
    reduced_set "../../../docs/gallery/reduced_set.rs"
    roc "../../../docs/gallery/roc.rs"
    search "../../../docs/gallery/search.rs"
    tube "../../../docs/gallery/tube.rs"
}

fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gallery")
}

/// One test: scripts write into the current folder, and a process has only one.
#[test]
fn every_script_runs_and_leaves_its_picture() {
    let there = std::fs::read_dir(gallery()).expect("the gallery");
    let scripts = there.filter(|e| e.as_ref().is_ok_and(|e| e.path().extension().is_some_and(|x| x == "rs")));
    assert_eq!(scripts.count(), SCRIPTS.len(), "a script of docs/gallery is not listed here");
    let folder = std::env::temp_dir().join(format!("mercer-gallery-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let before = std::env::current_dir().expect("a folder");
    std::env::set_current_dir(&folder).expect("just made");
    for (name, script) in SCRIPTS {
        script().unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    std::env::set_current_dir(before).expect("it was there");
    for (name, _) in SCRIPTS {
        let made = std::fs::read_to_string(folder.join(format!("{name}.svg"))).expect("a picture");
        let kept = gallery().join(format!("{name}.svg"));
        if std::env::var_os("MERCER_BLESS").is_some() {
            std::fs::write(&kept, &made).expect("a writable checkout");
        }
        // The last digits of coordinates may differ between processors; what is drawn does not.
        let kept = std::fs::read_to_string(&kept).unwrap_or_else(|e| panic!("{}: {e}", kept.display()));
        let (a, b) = (made.len() as f64, kept.len() as f64);
        assert!(made.starts_with("<svg") && (a / b - 1.0).abs() < 0.1, "{name}: {a} bytes beside {b}");
    }
    std::fs::remove_dir_all(&folder).expect("ours");
}
