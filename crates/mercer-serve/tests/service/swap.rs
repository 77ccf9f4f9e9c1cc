//! Models come, change, break and go while requests run.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mercer::Exec;
use mercer::data::Points;
use serde_json::json;

use crate::client::{Server, receive, send};
use crate::malformed::banana;

/// Waits until something holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn version(server: &Server, name: &str) -> String {
    let reply = server.get(&format!("/v2/models/{name}"));
    reply.json()["versions"][0].as_str().unwrap_or_default().to_owned()
}

#[test]
fn models_are_swapped_without_a_lost_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = [1, 2, 3].map(|seed| {
        let other = tempfile::tempdir().expect("a folder");
        let model = banana(other.path(), "m", seed);
        (std::fs::read(other.path().join("m.mercer")).expect("bytes"), model)
    });
    let row = Points::dense(vec![0.3, -0.2], 2).expect("a row");
    let values: Vec<f64> = models
        .iter()
        .map(|(_, model)| model.decision(row.view(), Exec::one()).expect("a value")[0])
        .collect();
    let replace = |bytes: &[u8]| {
        let new = folder.path().join(".new");
        std::fs::write(&new, bytes).expect("written");
        std::fs::rename(new, folder.path().join("m.mercer")).expect("in place");
    };
    replace(&models[0].0);
    let server = Server::of(folder.path());
    let (done, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        let client = || {
            let mut seen = Vec::new();
            let mut socket = server.connect();
            let tensor = json!({ "name": "x", "shape": [1, 2], "datatype": "FP64", "data": [0.3, -0.2] });
            let body = json!({ "inputs": [tensor] }).to_string();
            while !done.load(Ordering::SeqCst) {
                send(&mut socket, "POST", "/v2/models/m/infer", &[], body.as_bytes());
                let value = receive(&mut socket).fine().numbers("decision")[0];
                let same = |of: &f64| of.to_bits() == value.to_bits();
                let value = values.iter().position(same).expect("a value of one of the models");
                asked.fetch_add(1, Ordering::SeqCst);
                if seen.last() != Some(&value) {
                    seen.push(value);
                }
            }
            seen
        };
        let clients = [scope.spawn(client), scope.spawn(client)];
        for turn in 1..4 {
            let before = version(&server, "m");
            replace(&models[turn % 3].0);
            until("a new version", || version(&server, "m") != before);
            let now = asked.load(Ordering::SeqCst);
            until("requests after it", || asked.load(Ordering::SeqCst) > now + 5);
        }
        done.store(true, Ordering::SeqCst);
        for client in clients {
            seen.extend(client.join().expect("no failed request"));
        }
    });
    assert!((0..3).all(|model| seen.contains(&model)), "every version has predicted");
}

#[test]
fn a_broken_file_leaves_the_old_model_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    let (file, before) = (folder.path().join("m.mercer"), version(&server, "m"));
    let mut bytes = std::fs::read(&file).expect("bytes");
    // In a tensor, which stands behind the metadata.
    let at = bytes.len() - 12;
    bytes[at] ^= 1;
    std::fs::write(&file, &bytes).expect("written");
    let index = || server.post("/v2/repository/index", "application/json", "").fine().json();
    until("a reason", || index()[0]["reason"] != "");
    let why = index()[0]["reason"].to_string();
    assert!(why.contains("checksum"), "{why}");
    assert_eq!((index()[0]["state"].as_str(), version(&server, "m")), (Some("READY"), before));
    server.post("/v1/models/m/predict", "text/csv", "1,2\n").fine();
    assert!(server.get("/").fine().text().contains("class=\"problem\""));
    banana(folder.path(), "m", 2);
    until("no reason", || index()[0]["reason"] == "");
}

#[test]
fn a_folder_that_is_gone_leaves_its_models_until_it_is_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let [models, away] = ["models", "away"].map(|name| folder.path().join(name));
    std::fs::create_dir(&models).expect("a folder");
    banana(&models, "m", 1);
    let server = Server::of(&models);
    let index = || server.post("/v2/repository/index", "application/json", "").fine().json();
    let before = version(&server, "m");
    std::fs::rename(&models, &away).expect("moved");
    until("a reason", || index()[0]["reason"].as_str().is_some_and(|why| why.contains("folder is gone")));
    server.post("/v1/models/m/predict", "text/csv", "1,2\n").fine();
    assert_eq!(version(&server, "m"), before);
    // Another folder in its place, as a deployment does it.
    let next = folder.path().join("next");
    std::fs::create_dir(&next).expect("a folder");
    banana(&next, "m", 2);
    std::fs::rename(&next, &models).expect("moved");
    until("a new version", || version(&server, "m") != before);
    assert_eq!(index()[0]["reason"], "");
    // A file that is taken out of a folder that is there goes.
    std::fs::remove_file(models.join("m.mercer")).expect("removed");
    until("no model", || server.get("/v2/models/m").status == 404);
}

#[test]
fn what_is_no_file_that_fits_into_memory_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = crate::client::settings(folder.path());
    given.exec = given.exec.with_memory(1 << 30);
    let server = Server::start(given);
    let index = || server.post("/v2/repository/index", "application/json", "").fine().json();
    // Nobody will ever write into it.
    let pipe = folder.path().join("pipe.mercer");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    std::fs::create_dir(folder.path().join("folder.mercer")).expect("a folder");
    std::os::unix::fs::symlink("/nowhere", folder.path().join("away.mercer")).expect("a link");
    let large = std::fs::File::create(folder.path().join("large.mercer")).expect("a file");
    large.set_len(1 << 40).expect("a hole");
    until("a reason", || index()[0]["name"] == "large");
    let why = index()[0]["reason"].to_string();
    assert!(why.contains("1.0 TiB of memory, more than the 1.0 GiB allowed"), "{why}");
    assert_eq!(index().as_array().map(Vec::len), Some(2), "{}", index());
    // The files are still looked at, and models can be loaded.
    banana(folder.path(), "next", 2);
    until("the next model", || server.get("/v2/models/next").status == 200);
    server.post("/v2/repository/models/m/load", "application/json", "").fine();
    server.post("/v2/repository/models/pipe/load", "application/json", "").refused(404);
    assert!(server.stop());
}

#[test]
fn a_change_that_leaves_time_and_length_as_they_were_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = tempfile::tempdir().expect("a folder");
    let json = banana(other.path(), "m", 1).to_json().expect("JSON");
    let path = folder.path().join("m.json");
    std::fs::write(&path, format!("{json} ")).expect("written");
    let server = Server::of(folder.path());
    let before = version(&server, "m");
    let modified = std::fs::metadata(&path).expect("a file").modified().expect("a time");
    // In place: the same file, the same length, the same time, and other bytes.
    std::fs::write(&path, format!(" {json}")).expect("written");
    let file = std::fs::File::options().write(true).open(&path).expect("a file");
    file.set_modified(modified).expect("a time");
    until("the new version", || version(&server, "m") != before);
}

#[test]
fn a_second_file_of_one_name_does_not_take_over() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    let index = || server.post("/v2/repository/index", "application/json", "").fine().json();
    let before = version(&server, "m");
    // Both before and behind it in the order of names.
    for second in ["m.json", "m.model"] {
        let other = tempfile::tempdir().expect("a folder");
        banana(other.path(), "m", 2);
        let path = folder.path().join(second);
        std::fs::copy(other.path().join("m.mercer"), &path).expect("copied");
        until("a reason", || {
            index()[0]["reason"].as_str().is_some_and(|why| why.contains("have the same name"))
        });
        assert_eq!(
            (index().as_array().map(Vec::len), version(&server, "m")),
            (Some(1), before.clone()),
            "{second}"
        );
        std::fs::remove_file(path).expect("removed");
        until("no reason", || index()[0]["reason"] == "");
    }
}

#[test]
fn versions_unload_and_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("banana");
    std::fs::create_dir_all(own.join("12")).expect("folders");
    banana(&own, "9", 1);
    banana(&own.join("12"), "model", 2);
    let server = Server::of(folder.path());
    let row = Points::dense(vec![0.3, -0.2], 2).expect("a row");
    let value = |path: &Path| {
        let model = mercer::model::Model::load(path).expect("a model");
        model.decision(row.view(), Exec::one()).expect("a value")
    };
    let ask = |version: &str| {
        let path = format!("/v2/models/banana{version}/infer");
        let tensor = json!({ "name": "x", "shape": [1, 2], "datatype": "FP64", "data": [0.3, -0.2] });
        server.post(&path, "application/json", json!({ "inputs": [tensor] }).to_string())
    };
    let (old, new) = (value(&own.join("9.mercer")), value(&own.join("12/model.mercer")));
    assert_ne!(old, new);
    // The largest number, not the last in the alphabet.
    assert_eq!(ask("").fine().numbers("decision"), new);
    assert_eq!(ask("/versions/12").fine().numbers("decision"), new);
    assert_eq!(ask("/versions/9").fine().numbers("decision"), old);
    ask("/versions/10").refused(404);
    let post = |path: &str| server.post(path, "application/json", "");
    post("/v2/repository/models/banana/unload").fine();
    assert!(ask("").refused(404).contains("unloaded"));
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(ask("").status, 404, "the watch does not load it again");
    post("/v2/repository/models/banana/load").fine();
    assert_eq!(ask("").fine().numbers("decision"), new);
    post("/v2/repository/models/none/load").refused(404);
    std::fs::remove_dir_all(own.join("12")).expect("removed");
    until("the version before", || ask("").fine().numbers("decision") == old);
}
