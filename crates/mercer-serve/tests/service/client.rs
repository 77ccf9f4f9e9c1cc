//! A server in this process, and a client that sends exactly the bytes it is told to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use mercer::Exec;
use mercer_serve::shell::{Access, Limits};
use mercer_serve::{Batching, Place, Settings, serve};
use serde_json::Value;

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<bool>>,
}

/// What a server says.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn settings(place: &Path) -> Settings {
    Settings {
        places: vec![Place::new(place)],
        access: Access::local("127.0.0.1:0".parse().expect("an address")),
        limits: Limits::default(),
        batching: Batching { rows: mercer::exec::FEW, wait: Duration::ZERO, workers: 2, queue: 1000 },
        look: Some(Duration::from_millis(50)),
        io_threads: 2,
        exec: Exec::new(1),
    }
}

impl Server {
    pub(crate) fn start(settings: Settings) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = channel();
        let asked = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let started = move |address, _| tell.send(address).expect("the test waits");
            serve(settings, move || asked.load(Ordering::SeqCst), started).expect("a server").all_answered
        });
        let address = told.recv_timeout(Duration::from_mins(1)).expect("a server that listens");
        Server { address, stop, thread: Some(thread) }
    }

    /// A server of a file or folder, with what is usual.
    pub(crate) fn of(place: &Path) -> Self {
        Server::start(settings(place))
    }

    /// Asks it to stop; true if all was answered.
    pub(crate) fn stop(mut self) -> bool {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().expect("it runs").join().expect("no panic")
    }

    /// Tells it to stop, and does not wait.
    pub(crate) fn begin_to_stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).expect("a connection");
        socket.set_read_timeout(Some(Duration::from_secs(30))).expect("a time");
        socket.set_nodelay(true).expect("at once");
        socket
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, kind: &str, body: impl AsRef<[u8]>) -> Reply {
        self.send("POST", path, &[("content-type", kind)], body.as_ref())
    }

    pub(crate) fn infer(&self, model: &str, request: &Value) -> Reply {
        self.post(&format!("/v2/models/{model}/infer"), "application/json", request.to_string())
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut socket = self.connect();
        send(&mut socket, method, path, headers, body);
        receive(&mut socket)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn send(socket: &mut TcpStream, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: here\r\ncontent-length: {}\r\n", body.len());
    for &(name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    let all = [head.as_bytes(), body].concat();
    // A server that refuses early may have closed its side.
    let _ = socket.write_all(&all);
}

/// One response; the connection stays.
pub(crate) fn receive(socket: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let mut byte = [0; 1];
    while !bytes.ends_with(b"\r\n\r\n") {
        match socket.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            other => panic!("no response, but {other:?} after {}", String::from_utf8_lossy(&bytes)),
        }
    }
    let head = String::from_utf8(bytes).expect("text");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let length = header(&head, "content-length").and_then(|v| v.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    socket.read_exact(&mut body).expect("a whole body");
    Reply { status, head, body }
}

pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The same if it went well.
    pub(crate) fn fine(self) -> Self {
        assert_eq!(self.status, 200, "{}", self.text());
        self
    }

    /// What is wrong, if it has this status.
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()["error"].as_str().expect("words").to_owned()
    }

    /// The data of an output.
    pub(crate) fn output(&self, name: &str) -> Value {
        let json = self.json();
        let outputs = json["outputs"].as_array().expect("outputs").clone();
        outputs.into_iter().find(|o| o["name"] == name).unwrap_or_else(|| panic!("no {name} in {json}"))
    }

    /// The numbers of an output.
    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        let data = self.output(name)["data"].clone();
        serde_json::from_value(data).expect("numbers")
    }

    /// The texts of an output.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let data = self.output(name)["data"].clone();
        serde_json::from_value(data).expect("texts")
    }

    /// The bytes of outputs, in their order, behind the JSON.
    pub(crate) fn binary(&self) -> (Value, Vec<&[u8]>) {
        let length: usize = header(&self.head, "inference-header-content-length")
            .expect("a length")
            .parse()
            .expect("a number");
        let json: Value = serde_json::from_slice(&self.body[..length]).expect("JSON");
        let mut at = length;
        let mut parts = Vec::new();
        for output in json["outputs"].as_array().expect("outputs") {
            let size = output["parameters"]["binary_data_size"].as_u64().expect("a size") as usize;
            parts.push(&self.body[at..at + size]);
            at += size;
        }
        assert_eq!(at, self.body.len());
        (json, parts)
    }
}

/// Numbers from bytes.
pub(crate) fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight"))).collect()
}
