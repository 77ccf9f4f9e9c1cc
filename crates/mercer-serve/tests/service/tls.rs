//! TLS with a certificate of our own making, as curl sees it. With the feature `tls`; needs `openssl` and `curl`.

use std::path::Path;
use std::process::{Command, Output};

use crate::client::{Server, settings};
use crate::malformed::banana;

fn run(program: &str, args: &[&str], folder: &Path) -> Output {
    Command::new(program).args(args).current_dir(folder).output().unwrap_or_else(|e| panic!("{program}: {e}"))
}

/// A certificate for 127.0.0.1 and its key, as `NAME.pem` and `NAME.key`.
fn certificate(name: &str, folder: &Path) {
    let (pem, key) = (format!("{name}.pem"), format!("{name}.key"));
    let mut args = vec![
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ];
    args.extend([
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        &key,
        "-out",
        &pem,
    ]);
    let made = run("openssl", &args, folder);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn requests_over_tls_need_the_certificate_and_the_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    banana(path, "m", 1);
    certificate("own", path);
    certificate("other", path);
    std::fs::write(path.join("tokens"), "correct-horse-battery\n").expect("written");
    let mut given = settings(&path.join("m.mercer"));
    given.access.tls = Some((path.join("own.pem"), path.join("own.key")));
    given.access.tokens = Some(path.join("tokens"));
    let server = Server::start(given);
    let url = format!("https://{}/v1/models/m/predict", server.address);
    let ask = |url: &str, authority: &str, token: &str| {
        let header = format!("authorization: Bearer {token}");
        let mut args =
            vec!["--silent", "--show-error", "--max-time", "20", "--cacert", authority, "-H", &header];
        args.extend(["-w", " %{http_code}", "-d", "[[0.3, -0.2]]", url]);
        let done = run("curl", &args, path);
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let (code, text) = ask(&url, "own.pem", "correct-horse-battery");
    assert!(code == Some(0) && text.ends_with(" 200") && text.contains("predictions"), "{code:?} {text}");
    let (_, text) = ask(&url, "own.pem", "wrong");
    assert!(text.ends_with(" 401") && text.contains("the token is not valid"), "{text}");
    // A certificate of somebody else is refused by the client.
    let (code, _) = ask(&url, "other.pem", "correct-horse-battery");
    assert_eq!(code, Some(60));
    // Who speaks plain HTTP on this port gets no response, and the server goes on.
    let (code, text) = ask(&url.replace("https", "http"), "own.pem", "correct-horse-battery");
    assert!(code != Some(0) && !text.contains("predictions"), "{code:?} {text}");
    assert!(ask(&url, "own.pem", "correct-horse-battery").1.ends_with(" 200"));
    assert!(server.stop());
}

#[test]
fn renewed_certificates_are_taken_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    banana(path, "m", 1);
    certificate("old", path);
    certificate("new", path);
    let place = |name: &str, ending: &str| {
        std::fs::copy(path.join(format!("{name}.{ending}")), path.join("next")).expect("copied");
        std::fs::rename(path.join("next"), path.join(format!("live.{ending}"))).expect("in place");
    };
    place("old", "pem");
    place("old", "key");
    let mut given = settings(&path.join("m.mercer"));
    given.access.tls = Some((path.join("live.pem"), path.join("live.key")));
    let server = Server::start(given);
    let url = format!("https://{}/v2/health/live", server.address);
    let trusts = |authority: &str| {
        let args = ["--silent", "--max-time", "20", "--cacert", authority, &url];
        run("curl", &args, path).status.success()
    };
    let until = |authority: &str| {
        let start = std::time::Instant::now();
        while !trusts(authority) {
            assert!(start.elapsed() < std::time::Duration::from_secs(20), "never {authority}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    };
    assert!(trusts("old.pem") && !trusts("new.pem"));
    // The chain without its key is no pair: the old one stays.
    place("new", "pem");
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert!(trusts("old.pem") && !trusts("new.pem"));
    place("new", "key");
    until("new.pem");
    assert!(!trusts("old.pem"));
    std::fs::remove_file(path.join("live.pem")).expect("removed");
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert!(trusts("new.pem"));
    assert!(server.stop());
}

#[test]
fn certificates_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    banana(path, "m", 1);
    certificate("own", path);
    certificate("other", path);
    std::fs::write(path.join("empty"), "").expect("written");
    for (chain, key, words) in [
        ("own.pem", "other.key", "own.pem"),
        ("own.pem", "own.pem", "own.pem"),
        ("own.pem", "none.key", "none.key"),
        ("empty", "own.key", "empty: no certificate"),
        ("own.key", "own.key", "own.key: no certificate"),
    ] {
        let mut given = settings(&path.join("m.mercer"));
        given.access.tls = Some((path.join(chain), path.join(key)));
        let refused = mercer_serve::serve(given, || true, |_, _| ()).expect_err("not a pair").to_string();
        assert!(refused.contains(words), "{chain} {key}: {refused}");
    }
}
