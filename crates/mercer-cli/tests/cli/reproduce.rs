//! `mercer reproduce`: the list, and what is said where data or names are missing.

use crate::run::Folder;

#[test]
fn the_list_is_for_people_and_programs() {
    let folder = Folder::new();
    folder.mercer("reproduce --list").fine().snapshot("reproduce-list");
    let list = folder.mercer("reproduce --list --format json").fine().json();
    assert_eq!(list[0]["name"], "usps-kernels");
    assert_eq!(list[0]["needs"], serde_json::json!(["USPS"]));
}

#[test]
fn missing_data_and_unknown_names_are_refused() {
    let folder = Folder::new();
    let output = folder
        .command(&["reproduce", "one-class"])
        .env("MERCER_DATA", "nowhere")
        .output()
        .expect("the built command starts");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.starts_with(
            "error: the USPS digits were not found: no usps/usps.train.svm.xz, no usps/usps.test.svm.xz in nowhere; set \
             MERCER_DATA to the folder that contains them. Origin: zip.train and zip.test of the web page of Hastie"
        ),
        "{told}"
    );
    assert_eq!(folder.mercer("reproduce list").fine().out, folder.mercer("reproduce --list").fine().out);
    let run = folder.mercer("reproduce usps");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.starts_with("error: experiment = usps: must be one of usps-kernels, "), "{}", run.err);
    assert_eq!(folder.mercer("reproduce").code, 2);
}
