//! What HTTP allows and few clients do: several requests at once, other methods, names of any letters, compressed bodies.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::{GzEncoder, ZlibEncoder};

use crate::client::{Server, header, receive, send, settings};
use crate::malformed::banana;

const PATH: &str = "/v1/models/m/predict?output=label,decision";

#[test]
fn requests_behind_each_other_are_answered_in_their_order() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    let rows: Vec<String> = (0..20).map(|i| format!("{},{}\n", f64::from(i) / 7.0 - 1.0, 0.25)).collect();
    let want: Vec<String> =
        rows.iter().map(|row| server.post(PATH, "text/csv", row).fine().text().to_owned()).collect();
    let mut socket = server.connect();
    let mut all = Vec::new();
    for row in &rows {
        let head = format!(
            "POST {PATH} HTTP/1.1\r\nhost: here\r\ncontent-type: text/csv\r\ncontent-length: {}\r\n\r\n",
            row.len()
        );
        all.extend(head.bytes().chain(row.bytes()));
    }
    // In one piece, and cut anywhere.
    socket.write_all(&all).expect("written");
    for want in &want {
        assert_eq!(receive(&mut socket).fine().text(), want);
    }
    for part in all.chunks(97) {
        socket.write_all(part).expect("written");
    }
    for want in &want {
        assert_eq!(receive(&mut socket).fine().text(), want);
    }
    // A refused one does not part the others from their responses.
    send(&mut socket, "POST", PATH, &[("content-type", "text/csv")], b"1\n");
    send(&mut socket, "POST", PATH, &[("content-type", "text/csv")], rows[3].as_bytes());
    receive(&mut socket).refused(400);
    assert_eq!(receive(&mut socket).fine().text(), want[3]);
}

#[test]
fn other_methods_are_refused_in_words_and_head_has_no_body() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    for (path, allowed) in
        [(PATH, "POST"), ("/v2/models/m/infer", "POST"), ("/v2/models/m", "GET"), ("/metrics", "GET")]
    {
        for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PURGE"] {
            let reply = server.send(method, path, &[], b"");
            assert!(
                header(&reply.head, "allow").is_some_and(|allow| allow.contains(allowed)),
                "{}",
                reply.head
            );
            assert!(reply.refused(405).contains("does not take this method"), "{method} {path}");
        }
    }
    let mut socket = server.connect();
    for path in ["/v2/health/live", "/v2/models/m", "/metrics", "/"] {
        socket.write_all(format!("HEAD {path} HTTP/1.1\r\nhost: here\r\n\r\n").as_bytes()).expect("written");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).expect("a head");
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 200"), "{path}");
    }
    send(&mut socket, "POST", PATH, &[("content-type", "text/csv")], b"1,2\n");
    receive(&mut socket).fine();
    // A client that asks before it sends its body.
    let head =
        format!("POST {PATH} HTTP/1.1\r\nhost: here\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    socket.write_all(head.as_bytes()).expect("written");
    assert_eq!(receive(&mut socket).status, 100);
    socket.write_all(b"1,2\n").expect("written");
    receive(&mut socket).fine();
}

#[test]
fn who_is_refused_by_the_head_alone_is_told_so_and_the_connection_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "secret\n").expect("written");
    let mut given = settings(folder.path());
    given.access.tokens = Some(tokens);
    let server = Server::start(given);
    let body = "0.5,0.25\n".repeat(20_000);
    let mut socket = server.connect();
    for (method, path, token, status) in [
        ("POST", "/v1/models/none/predict", "secret", 404),
        ("POST", "/v2/models/none/infer", "secret", 404),
        ("POST", "/nowhere", "secret", 404),
        ("DELETE", "/v1/models/m/predict", "secret", 405),
        ("POST", "/v1/models/m/predict", "wrong", 401),
        ("POST", "/v1/models/m/predict?output=nothing", "secret", 400),
        ("POST", "/v1/models/m/predict", "secret", 200),
    ] {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: here\r\ncontent-type: text/csv\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).expect("written");
        // The body comes when the head has been read for long.
        std::thread::sleep(std::time::Duration::from_millis(50));
        socket.write_all(body.as_bytes()).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(receive(&mut socket).status, status, "{method} {path}");
    }
}

#[test]
fn names_of_any_letters_are_found_percent_encoded() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = ["ü b", "数字", "a+b&c=d?#", "<i>x", "100%", "m"];
    for name in names {
        banana(folder.path(), name, 1);
    }
    let server = Server::of(folder.path());
    let index = server.send("POST", "/v2/repository/index", &[], b"").fine().json();
    let mut listed: Vec<&str> =
        index.as_array().expect("models").iter().filter_map(|one| one["name"].as_str()).collect();
    let mut all = names.to_vec();
    listed.sort_unstable();
    all.sort_unstable();
    assert_eq!(listed, all);
    for name in names {
        let encoded = name.bytes().map(|b| format!("%{b:02X}")).collect::<Vec<_>>().concat();
        let reply = server.post(&format!("/v1/models/{encoded}/predict"), "text/csv", "1,2\n");
        assert!(header(&reply.head, "x-model-version").is_some(), "{name}");
        assert_eq!(reply.fine().text().lines().count(), 2, "{name}");
        assert_eq!(server.get(&format!("/v2/models/{encoded}")).fine().json()["name"], name);
    }
    for path in ["/v1/models/%ff/predict", "/v2/models/%C3/infer", "/v2/models/%zz/infer"] {
        let why = server.post(path, "application/json", "{}").refused(400);
        assert!(why.contains("percent-encoded UTF-8"), "{path}: {why}");
    }
    assert!(server.post("/v1/models/%F0%9F%A6%80/predict", "text/csv", "1,2\n").refused(404).contains("🦀"));
    // In the metrics a name cannot end its own quotes.
    for line in server.get("/metrics").fine().text().lines() {
        assert!(
            line.starts_with('#') || line.rsplit(' ').next().is_some_and(|v| v.parse::<f64>().is_ok()),
            "{line}"
        );
    }
}

#[test]
fn compressed_bodies_are_read_within_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    given.limits.body = 1 << 20;
    let server = Server::start(given);
    let gzip = |bytes: &[u8]| {
        let mut out = Vec::new();
        GzEncoder::new(bytes, Compression::best()).read_to_end(&mut out).expect("memory");
        out
    };
    let deflate = |bytes: &[u8]| {
        let mut out = Vec::new();
        ZlibEncoder::new(bytes, Compression::best()).read_to_end(&mut out).expect("memory");
        out
    };
    let csv = "0.5,-0.25\n".repeat(2000);
    let json = r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[0.5,-0.25]}]}"#;
    let ask = |path: &str, kind: &str, coding: &str, body: &[u8]| {
        server.send("POST", path, &[("content-type", kind), ("content-encoding", coding)], body)
    };
    let infer = "/v2/models/m/infer";
    for (path, kind, body) in [(PATH, "text/csv", csv.as_str()), (infer, "application/json", json)] {
        let want = server.post(path, kind, body).fine().body;
        for (coding, bytes) in [
            ("gzip", gzip(body.as_bytes())),
            ("GZIP", gzip(body.as_bytes())),
            ("x-gzip", gzip(body.as_bytes())),
            ("deflate", deflate(body.as_bytes())),
            ("identity", body.into()),
        ] {
            assert_eq!(ask(path, kind, coding, &bytes).fine().body, want, "{path} {coding}");
        }
        let why = ask(path, kind, "br", body.as_bytes()).refused(415);
        assert!(why.contains("`br` is not supported"), "{why}");
        let why = ask(path, kind, "gzip", body.as_bytes()).refused(400);
        assert!(why.contains("not valid gzip, its content encoding"), "{why}");
        let cut = gzip(body.as_bytes());
        ask(path, kind, "gzip", &cut[..cut.len() - 5]).refused(400);
    }
    // Little that becomes much.
    let coded =
        format!("POST {PATH} HTTP/1.1\r\nhost: here\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
    let mut socket = server.connect();
    socket.write_all(coded.as_bytes()).expect("written");
    assert!(receive(&mut socket).refused(501).contains("Content-Encoding"));
    let bomb = gzip(&vec![b'1'; 64 << 20]);
    assert!(bomb.len() < 1 << 20);
    let why = ask(PATH, "text/csv", "gzip", &bomb).refused(413);
    assert!(why.contains("more than 1048576 bytes"), "{why}");
}
