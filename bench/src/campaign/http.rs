//! As much of HTTP as a client needs that sends exactly the bytes it is told to.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// What a server says.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// A connection, whose reads end after some seconds.
pub(super) fn connect(port: u16) -> std::io::Result<TcpStream> {
    let socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_read_timeout(Some(Duration::from_secs(30)))?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// A request with its head.
pub(super) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: here\r\ncontent-length: {}\r\n", body.len());
    for &(name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// Sends all bytes.
pub(super) fn send(socket: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    socket.write_all(bytes)
}

/// One response; the connection stays. None where it was closed before the first byte.
pub(super) fn receive(socket: &mut TcpStream) -> std::io::Result<Option<Reply>> {
    let early = || std::io::Error::other("the response ends early");
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break end;
        }
        match socket.read(&mut piece)? {
            0 if bytes.is_empty() => return Ok(None),
            0 => return Err(early()),
            n => bytes.extend_from_slice(&piece[..n]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).ok_or_else(early)?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).ok_or_else(early)?;
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        match socket.read(&mut piece)? {
            0 => return Err(early()),
            n => body.extend_from_slice(&piece[..n]),
        }
    }
    Ok(Some(Reply { status, head, body }))
}
