//! What strangers send: every wrong request gets a status of the 400s and words, and the server goes on.

use mercer::Exec;
use mercer::data::toy;
use mercer::model::{Model, Sample, SvcParams};
use mercer::watch::silent;
use serde_json::json;

use crate::client::{Server, receive};

pub(crate) fn banana(folder: &std::path::Path, name: &str, seed: u64) -> Model {
    let (points, targets) = toy::banana(60, seed);
    let svc =
        SvcParams::default().fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
    let model = Model::from(svc);
    model.save(folder.join(format!("{name}.mercer"))).expect("saved");
    model
}

#[test]
fn requests_that_lie_are_refused_with_words() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let good = r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,2]}]}"#;
    for (body, words) in [
        ("", "not an inference request"),
        ("{", "not an inference request"),
        ("[]", "not an inference request"),
        ("{}", "missing field `inputs`"),
        (r#"{"inputs":[]}"#, "no inputs"),
        (
            r#"{"inputs":[{"name":"x","shape":[2,2],"datatype":"FP64","data":[1,2]}]}"#,
            "requires 4 values, got 2",
        ),
        (r#"{"inputs":[{"name":"x","shape":[-1,2],"datatype":"FP64","data":[1,2]}]}"#, "negative side"),
        (
            r#"{"inputs":[{"name":"x","shape":[9223372036854775807,9223372036854775807],"datatype":"FP64","data":[1]}]}"#,
            "too large",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1e400],"datatype":"FP64","data":[1]}]}"#,
            "not an inference request",
        ),
        (r#"{"inputs":[{"name":"x","shape":[],"datatype":"FP64","data":[1]}]}"#, "0 dimensions"),
        (r#"{"inputs":[{"name":"x","shape":[0,2],"datatype":"FP64","data":[]}]}"#, "no rows"),
        (
            r#"{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP64","data":[1,2,3]}]}"#,
            "columns of the points: got 3, expected 2",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP65","data":[1,2]}]}"#,
            "unknown datatype `FP65`",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":["a","b"]}]}"#,
            "strings, but its datatype says numbers",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"BYTES","data":[1,2]}]}"#,
            "numbers, but its datatype says strings",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,"b"]}]}"#,
            "a string among numbers",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,null]}]}"#,
            "expected a finite number",
        ),
        (r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,1e999]}]}"#, "out of range"),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,NaN]}]}"#,
            "not an inference request",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":{"a":1}}]}"#,
            "an object among the data",
        ),
        (r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64"}]}"#, "has no data"),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","parameters":{"binary_data_size":16}}]}"#,
            "16 bytes declared, got 0",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,2]}],"outputs":[{"name":"nothing"}]}"#,
            "no output `nothing`",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,2]}],"outputs":[{"name":"probability"}]}"#,
            "no output `probability`",
        ),
        (
            r#"{"inputs":[{"name":"a","shape":[1],"datatype":"FP64","data":[1]},{"name":"b","shape":[2],"datatype":"FP64","data":[1,2]}]}"#,
            "all inputs must have the same number",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"INT8","data":[1,300]}]}"#,
            "300, but its datatype says whole numbers from -128 to 127",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"INT64","data":[1,1.5]}]}"#,
            "1.5, but its datatype says whole numbers",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[2,2],"datatype":"FP64","data":[[1,2,3],[4]]}]}"#,
            "unequal lengths, 3 and 1 values",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[2,2],"datatype":"FP64","data":[1,[2,3],4]}]}"#,
            "values mixed with arrays",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[3,2],"datatype":"FP64","data":[[1,2,3],[4,5,6]]}]}"#,
            "arrays of lengths [2, 3], but its shape is [3, 2]",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[[1],[2]]}]}"#,
            "arrays of lengths [2, 1], but its shape is [1, 2]",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP16","data":[65520,1]}]}"#,
            "65520, but its datatype says numbers from -6.5504e4",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,-1e39]}]}"#,
            "its datatype says",
        ),
        (
            r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"BF16","data":[3.4e38,1]}]}"#,
            "its datatype says",
        ),
        (r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"UINT16","data":[1,-1]}]}"#, "from 0 to 65535"),
        (r#"{"inputs":[{"name":"x","shape":[1,2],"datatype":"BOOL","data":[true,2]}]}"#, "from 0 to 1"),
        (deep.as_str(), "nested more than 16 levels"),
    ] {
        let why = server.post("/v2/models/m/infer", "application/json", body).refused(400);
        assert!(why.contains(words), "{body}: {why}");
    }
    for (length, body, words) in [
        ("99999999999999999999999", good, "not a number"),
        ("-1", good, "not a number"),
        ("1000000", good, "is said to have 1000000 bytes"),
        ("10", good, "not an inference request"),
        (&good.len().to_string(), &format!("{good}abc"), "3 bytes after the last tensor"),
    ] {
        let headers = [("inference-header-content-length", length)];
        let why = server.send("POST", "/v2/models/m/infer", &headers, body.as_bytes()).refused(400);
        assert!(why.contains(words), "{length}: {why}");
    }
    let tensor = |datatype: &str, bytes: &[u8]| {
        let head = json!({ "inputs": [{ "name": "x", "shape": [1, 2], "datatype": datatype,
                                        "parameters": { "binary_data_size": bytes.len() } }] })
        .to_string();
        let length = head.len().to_string();
        let body = [head.as_bytes(), bytes].concat();
        server.send("POST", "/v2/models/m/infer", &[("inference-header-content-length", &length)], &body)
    };
    assert!(tensor("FP64", &[0; 15]).refused(400).contains("not a whole number of values"));
    assert!(tensor("BYTES", &[255, 255, 255, 255, 1]).refused(400).contains("a string of 4294967295 bytes"));
    assert!(tensor("BYTES", &[1, 0]).refused(400).contains("is cut off"));
    let nan = [f64::NAN.to_le_bytes(), 1f64.to_le_bytes()].concat();
    assert!(tensor("FP64", &nan).refused(400).contains("row 1, column 1"));
    for (datatype, bytes) in [
        ("INT8", vec![1u8, 2]),
        ("UINT8", vec![1, 2]),
        ("BOOL", vec![1, 0]),
        ("INT16", vec![1, 0, 2, 0]),
        ("INT32", vec![1, 0, 0, 0, 2, 0, 0, 0]),
        ("INT64", vec![1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]),
        ("FP16", vec![0, 0x3c, 0, 0x40]),
        ("BF16", vec![0x80, 0x3f, 0, 0x40]),
    ] {
        tensor(datatype, &bytes).fine();
    }
    server.post("/v2/models/m/infer", "application/json", good).fine();
    server.post("/v2/models/m/infer", "application/json", format!("\u{feff}{good}")).fine();
    // What is left out may also be null, and parameters that nobody knows are ignored.
    for (from, to) in [
        ("{\"inputs\"", r#"{"id":null,"parameters":null,"outputs":null,"inputs""#),
        ("\"data\"", r#""parameters":null,"data""#),
        ("}]}", r#"}],"outputs":[{"name":"label","parameters":null}]}"#),
        ("{\"inputs\"", r#"{"parameters":{"priority":3,"binary_data_output":null,"a":[1]},"inputs""#),
        ("FP64\",\"data\":[1,2]", r#"FP16","data":[65519,-65519]"#),
        ("FP64\",\"data\":[1,2]", r#"FP32","data":[1e10,1e-60]"#),
        ("[1,2],\"datatype\":\"FP64\",\"data\":[1,2]", r#"[1,1,2],"datatype":"FP64","data":[[[1,2]]]"#),
    ] {
        assert!(good.contains(from), "{from}");
        server.post("/v2/models/m/infer", "application/json", good.replacen(from, to, 1)).fine();
    }
    for datatype in ["BOOL", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"] {
        let whole = good.replace("FP64", datatype).replace("[1,2]}]", "[0,true]}]");
        server.post("/v2/models/m/infer", "application/json", whole).fine();
    }
}

#[test]
fn the_plain_door_says_what_the_command_says() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    let path = "/v1/models/m/predict";
    for (kind, body, status, words) in [
        ("application/json", "[[1,2,3,4]]", 400, "columns"),
        ("application/json", "[[1,2],[3]]", 400, "got 1 values, expected 2 as in the first row"),
        ("application/json", "[]", 400, "no rows"),
        ("application/json", "{}", 400, ""),
        ("application/json", "nonsense", 400, "not an array of rows"),
        ("application/json", "5", 400, "expected an array or an object"),
        ("application/json", "[[1,\"a\"]]", 400, ""),
        ("text/csv", "1,2\n3\n", 400, ""),
        ("text/csv", "", 400, ""),
        ("text/csv", "a,b\n", 400, ""),
        ("application/x-npy", "nonsense", 400, ""),
        ("application/xml", "<a/>", 415, "`application/xml` is not supported"),
        ("image/png", "nonsense", 400, ""),
    ] {
        let why = server.post(path, kind, body).refused(status);
        assert!(!why.is_empty() && why.contains(words), "{kind} {body}: {why}");
    }
    assert!(
        server
            .post("/v1/models/m/predict?output=x", "text/csv", "1,2\n")
            .refused(400)
            .contains("no output `x`")
    );
    assert!(
        server
            .post("/v1/models/m/predict?a=x", "text/csv", "1,2\n")
            .refused(400)
            .contains("unknown parameter `a`")
    );
    assert!(server.post("/v1/models/x/predict", "text/csv", "1,2\n").refused(404).contains("no model `x`"));
    assert!(
        server
            .post("/v1/models/m/versions/7/predict", "text/csv", "1,2\n")
            .refused(404)
            .contains("no version `7`")
    );
    assert!(server.get("/v1/models/m/predict").refused(405).contains("does not support this method"));
    assert!(server.get("/nowhere").refused(404).contains("/nowhere"));
    let accept = [("content-type", "text/csv"), ("accept", "application/pdf")];
    server.send("POST", path, &accept, b"1,2\n").refused(406);
    for (accept, kind) in [
        ("application/json;q=0.1, text/csv", "text/csv"),
        ("text/csv; q=0.2, application/json ;q=0.9, application/x-npy;q=0.5", "application/json"),
        ("application/*", "application/json"),
        ("text/*;q=0.5, image/png", "text/csv"),
        ("application/pdf, */*;q=0.1", "text/csv"),
    ] {
        let reply = server.send("POST", path, &[("content-type", "text/csv"), ("accept", accept)], b"1,2\n");
        let got = crate::client::header(&reply.head, "content-type").expect("a type");
        assert!(got.starts_with(kind), "{accept}: {got}");
    }
    let never = [("content-type", "text/csv"), ("accept", "*/*;q=0")];
    server.send("POST", path, &never, b"1,2\n").refused(406);
    let encoded = server.post("/v1/models/m/predict?output=%6Cabel%2Cdecision", "text/csv", "1,2\n");
    assert_eq!(
        encoded.fine().body,
        server.post("/v1/models/m/predict?output=label,decision", "text/csv", "1,2\n").fine().body
    );
    server.post("/v1/models/m/predict?output=%ff", "text/csv", "1,2\n").refused(400);
    let origin = [("content-type", "text/csv"), ("origin", "http://evil.example")];
    server.send("POST", path, &origin, b"1,2\n").refused(403);
    assert_eq!(server.post(path, "text/csv", "1,2\n3,4\n").fine().text().lines().count(), 3);
}

#[test]
fn bytes_that_are_no_http_do_not_stop_the_server() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    for bytes in
        [&b"\x16\x03\x01\x00\xa5"[..], b"GET", b"\r\n\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", &[0; 4096]]
    {
        let mut socket = server.connect();
        let _ = socket.write_all(bytes);
        drop(socket);
    }
    // Two lengths, a length and pieces, pieces that are none: what a proxy may read in another way is refused or ends the
    // connection, so that nothing behind it is taken for a request.
    let hidden = "GET /v2/health/live HTTP/1.1\r\nhost: here\r\n\r\n";
    for head in [
        "host: here\r\ncontent-length: 4\r\ncontent-length: 5\r\n",
        "host: here\r\ncontent-length: 4, 5\r\n",
        "host: here\r\ncontent-length: +4\r\n",
        "host: here\r\ncontent-length : 4\r\n",
        "host: here\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n",
        "host: here\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n",
        "host: here\r\ntransfer-encoding: identity\r\n",
        "host: here\r\ntransfer-encoding: xchunked\r\n",
        "host: here\r\ntransfer-encoding: chunked, identity\r\n",
        "host: here\r\nx: a\r\n b\r\n",
    ] {
        let mut socket = server.connect();
        let text = format!("POST /v1/models/m/predict HTTP/1.1\r\n{head}\r\n0\r\n\r\n{hidden}");
        let _ = socket.write_all(text.as_bytes());
        let mut all = Vec::new();
        let _ = std::io::Read::read_to_end(&mut socket, &mut all);
        let all = String::from_utf8_lossy(&all);
        assert!(all.starts_with("HTTP/1.1 400") && all.matches("HTTP/1.1 ").count() == 1, "{head}: {all}");
    }
    // No host, two hosts, an address without end, a body packed twice.
    for (status, text) in [
        (400, "GET /v2 HTTP/1.1\r\n\r\n".to_owned()),
        (400, "GET /v2 HTTP/1.1\r\nhost: here\r\nhost: there\r\n\r\n".to_owned()),
        (414, format!("GET /{} HTTP/1.1\r\nhost: here\r\n\r\n", "a".repeat(9000))),
        (
            415,
            "POST /v1/models/m/predict HTTP/1.1\r\nhost: here\r\ncontent-length: 4\r\ncontent-encoding: \
             identity\r\ncontent-encoding: gzip\r\n\r\n1,2\n"
                .to_owned(),
        ),
    ] {
        let mut socket = server.connect();
        socket.write_all(text.as_bytes()).expect("written");
        let reply = receive(&mut socket);
        assert_eq!(reply.status, status, "{}", reply.text());
        assert!(!reply.refused(status).is_empty());
    }
    let mut socket = server.connect();
    socket.write_all(b"GET /v2 HTTP/1.0\r\n\r\n").expect("written");
    assert_eq!(receive(&mut socket).status, 200);
    let mut socket = server.connect();
    crate::client::send(&mut socket, "GET", "/v2/health/live", &[], b"");
    assert_eq!(receive(&mut socket).status, 200);
}

#[test]
fn what_is_quoted_back_is_short() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let people =
        "age,colour,label\n".to_owned() + &"30,red,yes\n41,blue,no\n52,red,no\n29,blue,yes\n".repeat(6);
    let read = mercer::data::io::ReadOptions::default();
    let data = mercer::data::io::read_bytes("people.csv", people.as_bytes(), &read).expect("data");
    let plan =
        mercer::model::Plan::new(&data, &mercer::model::Wishes::default(), Exec::one()).expect("a plan");
    let model = plan.fit(Exec::one(), &mut silent()).expect("a fit");
    model.save(folder.path().join("people.mercer")).expect("saved");
    let server = Server::of(folder.path());
    let long = "x".repeat(1 << 20);
    // In an error, and in the warning of a category that the model has never seen.
    let why = server.post("/v1/models/m/predict", "text/csv", format!("1,{long}\n")).refused(400);
    assert!(why.len() < 5000 && why.contains("xxx"), "{}", why.len());
    let why = server
        .post("/v1/models/m/predict", "text/csv", format!("1,{}\n", "\u{fc}".repeat(1 << 20)))
        .refused(400);
    assert!(why.len() < 20_000, "{}", why.len());
    let body = json!([{ "age": 30, "colour": long }]).to_string();
    let reply = server.post("/v1/models/people/predict", "application/json", body).fine();
    assert!(crate::client::header(&reply.head, "x-mercer-warning").is_some() && reply.head.len() < 10_000);
    let inputs: Vec<_> = (0..20_000)
        .map(|i| json!({ "name": format!("a{i}"), "shape": [1], "datatype": "FP64", "data": [1] }))
        .collect();
    let why = server.infer("m", &json!({ "inputs": inputs })).refused(400);
    assert!(why.contains("20000 inputs"), "{why}");
}

#[test]
fn little_that_unpacks_to_much_is_refused() {
    use std::io::Read as _;
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let mut given = crate::client::settings(folder.path());
    given.limits.body = 1 << 20;
    let server = Server::start(given);
    // Compressed as a file is, not by the protocol.
    let mut bomb = Vec::new();
    let text = std::io::repeat(b'1').take(64 << 20);
    let lines = std::io::Read::chain(text, &b"\n"[..]);
    flate2::read::GzEncoder::new(lines, flate2::Compression::best()).read_to_end(&mut bomb).expect("memory");
    assert!(bomb.len() < 100_000);
    let reply = server.post("/v1/models/m/predict", "text/plain", &bomb);
    assert!(reply.status == 413 || reply.status == 400, "{}", reply.text());
    let mut rows = Vec::new();
    let lines = std::io::Cursor::new("1,2\n".repeat(4 << 20));
    flate2::read::GzEncoder::new(lines, flate2::Compression::best()).read_to_end(&mut rows).expect("memory");
    let why = server.post("/v1/models/m/predict", "text/plain", &rows).refused(413);
    assert!(why.contains("memory"), "{why}");
}
