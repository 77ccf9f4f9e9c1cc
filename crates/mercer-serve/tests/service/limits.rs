//! Limits, tokens, and a stop that finishes what was accepted.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::client::{Server, header, receive, send, settings};
use crate::malformed::banana;

#[test]
fn bodies_rows_and_times_have_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    given.limits.body = 1000;
    given.limits.rows = 3;
    given.limits.head_time = Duration::from_secs(2);
    given.limits.body_time = Duration::from_millis(300);
    let server = Server::start(given);
    let path = "/v1/models/m/predict";
    let large = server.post(path, "text/csv", "1,2\n".repeat(300)).refused(413);
    assert!(large.contains("more than 1000 bytes"), "{large}");
    assert!(server.post(path, "text/csv", "1,2\n".repeat(4)).refused(413).contains("4 rows, more than 3"));
    // In pieces, without a length.
    let mut socket = server.connect();
    let piece = format!("190\r\n{}\r\n", "1".repeat(400));
    let head = format!("POST {path} HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n");
    let _ = socket.write_all((head + &piece.repeat(4) + "0\r\n\r\n").as_bytes());
    assert_eq!(receive(&mut socket).status, 413);
    drop(socket);
    // A body that does not come, and a head that does not end.
    let mut slow = server.connect();
    let head = format!("POST {path} HTTP/1.1\r\nhost: here\r\ncontent-length: 8\r\n\r\n1,2");
    slow.write_all(head.as_bytes()).expect("written");
    assert_eq!(receive(&mut slow).status, 408);
    drop(slow);
    let mut endless = server.connect();
    endless.write_all(b"GET / HTTP/1.1\r\nhost:").expect("written");
    let start = Instant::now();
    let _ = endless.read_to_end(&mut Vec::new());
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn who_asks_for_much_and_reads_nothing_is_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    given.limits.body_time = Duration::from_millis(500);
    let server = Server::start(given);
    let path = "/v1/models/m/predict?output=label,decision,score";
    let body = "0.123456,-0.654321\n".repeat(100_000);
    let length = server.post(path, "text/csv", &body).fine().body.len();
    assert!(length > 4 << 20, "{length}: more than the buffers of two sockets hold");
    let mut idle = server.connect();
    send(&mut idle, "POST", path, &[("content-type", "text/csv")], body.as_bytes());
    let open = || {
        let metrics = server.get("/metrics").fine();
        let line =
            metrics.text().lines().find(|line| line.starts_with("mercer_connections_open ")).expect("a line");
        line.rsplit(' ').next().expect("a value").parse::<usize>().expect("a number")
    };
    // Until the response waits for its reader.
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    while open() > 1 {
        assert!(start.elapsed() < Duration::from_secs(20), "the connection stays open");
        std::thread::sleep(Duration::from_millis(50));
    }
    // What was sent before can still be read, and is not all.
    let mut got = Vec::new();
    let _ = idle.read_to_end(&mut got);
    assert!(got.len() < length, "{} of {length}", got.len());
    // Who reads slowly, but reads, gets everything.
    let mut slow = server.connect();
    send(&mut slow, "POST", path, &[("content-type", "text/csv")], body.as_bytes());
    let mut got = 0;
    let mut piece = vec![0; 1 << 20];
    while got < length {
        std::thread::sleep(Duration::from_millis(100));
        got += slow.read(&mut piece).expect("more of it");
    }
}

#[test]
fn bodies_share_the_memory_and_little_ones_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    // A sixteenth of it for bodies: one megabyte.
    given.exec = given.exec.with_memory(16 << 20);
    given.limits.body = 4 << 20;
    let server = Server::start(given);
    let path = "/v1/models/m/predict";
    let large = "0.123456,-0.654321\n".repeat(50_000);
    server.post(path, "text/csv", &large).fine();
    // Held in the middle: another large one is told to come back, a little one is answered.
    let mut held = server.connect();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: here\r\ncontent-type: text/csv\r\ncontent-length: {}\r\n\r\n",
        large.len()
    );
    held.write_all(head.as_bytes()).expect("written");
    held.write_all(&large.as_bytes()[..large.len() - 10]).expect("written");
    std::thread::sleep(Duration::from_millis(200));
    let refused = server.post(path, "text/csv", &large);
    assert_eq!(header(&refused.head, "retry-after"), Some("1"));
    assert!(refused.refused(503).contains("memory"));
    server.post(path, "text/csv", "1,2\n").fine();
    held.write_all(&large.as_bytes()[large.len() - 10..]).expect("written");
    assert_eq!(receive(&mut held).fine().text().lines().count(), 50_001);
    server.post(path, "text/csv", &large).fine();
}

#[test]
fn one_connection_too_many_is_turned_away_and_the_others_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    given.limits.connections = 2;
    let server = Server::start(given);
    let mut open = [server.connect(), server.connect()];
    for socket in &mut open {
        send(socket, "GET", "/v2/health/live", &[], b"");
        assert_eq!(receive(socket).status, 200);
    }
    let away = receive(&mut server.connect());
    assert_eq!((away.status, header(&away.head, "retry-after")), (503, Some("1")));
    send(&mut open[0], "GET", "/v2/health/live", &[], b"");
    assert_eq!(receive(&mut open[0]).status, 200);
}

#[test]
fn a_full_queue_is_told_and_retried() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    given.limits.queue = 1;
    given.batching.workers = 1;
    given.batching.rows = 1;
    // The worker holds the first request for a while, so that the queue fills.
    given.batching.rows = 2;
    given.batching.wait = Duration::from_millis(400);
    let server = Server::start(given);
    let body = "1,2\n3,4\n5,6\n";
    std::thread::scope(|scope| {
        let ask = || server.post("/v1/models/m/predict", "text/csv", "1,2\n");
        let first = scope.spawn(ask);
        std::thread::sleep(Duration::from_millis(100));
        // Three rows do not fit the batch of two: they wait.
        let second = scope.spawn(|| server.post("/v1/models/m/predict", "text/csv", body));
        std::thread::sleep(Duration::from_millis(100));
        let third = server.post("/v1/models/m/predict", "text/csv", body);
        assert_eq!(header(&third.head, "retry-after"), Some("1"));
        assert!(third.refused(429).contains("1 requests wait already"));
        first.join().expect("no panic").fine();
        second.join().expect("no panic").fine();
    });
}

#[test]
fn tokens_are_required_where_they_are_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = folder.path().join("models");
    std::fs::create_dir(&models).expect("a folder");
    banana(&models, "m", 1);
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "secret\n").expect("written");
    let mut given = settings(&models);
    given.access.tokens = Some(tokens);
    let server = Server::start(given);
    server.get("/v2/health/live").fine();
    let without = server.get("/v2/models/m");
    assert_eq!(header(&without.head, "www-authenticate"), Some("Bearer"));
    assert!(without.refused(401).contains("Authorization: Bearer"));
    let with = |value: &str| server.send("GET", "/v2/models/m", &[("authorization", value)], b"");
    assert!(with("Bearer wrong").refused(401).contains("not valid"));
    assert!(with("Basic secret").refused(401).contains("requires a token"));
    with("Bearer secret").fine();
    with("bearer secret").fine();
    assert!(server.get("/metrics").status == 401 && server.get("/").status == 401);
}

#[test]
fn a_stop_finishes_what_was_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    given.batching.wait = Duration::from_millis(300);
    let server = Server::start(given);
    let mut idle = server.connect();
    send(&mut idle, "GET", "/v2/health/ready", &[], b"");
    assert_eq!(receive(&mut idle).status, 200);
    let mut socket = server.connect();
    send(&mut socket, "POST", "/v1/models/m/predict", &[("content-type", "text/csv")], b"1,2\n");
    std::thread::sleep(Duration::from_millis(100));
    server.begin_to_stop();
    assert_eq!(receive(&mut socket).status, 200);
    // An idle connection is closed, and nobody waits for it.
    assert_eq!(idle.read(&mut [0; 1]).expect("closed in order"), 0);
    let address = server.address;
    let start = Instant::now();
    assert!(server.stop() && start.elapsed() < Duration::from_secs(10));
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn strangers_are_not_let_in_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = settings(folder.path());
    given.access.listen = "0.0.0.0:0".parse().expect("an address");
    let refused = mercer_serve::serve(given, || true, |_, _| ()).expect_err("open to all").to_string();
    assert!(refused.contains("without a token and without TLS"), "{refused}");
}
