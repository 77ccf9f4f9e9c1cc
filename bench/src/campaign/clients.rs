//! Clients of a campaign: those that ask as they should and check every bit, and those that do not.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{self, Reply};
use super::{Campaign, LARGEST};

/// A source of numbers that are not all the same.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Requests as they should be, each checked against what the library predicts.
pub(super) fn good(campaign: &Campaign, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut socket: Option<TcpStream> = None;
    while !campaign.over() {
        std::thread::sleep(Duration::from_millis(3));
        let rows: Vec<usize> = (0..=dice.below(6)).map(|_| dice.below(campaign.rows.len())).collect();
        let form = dice.below(3);
        let bytes = asked(campaign, &rows, form);
        // A server that is being replaced may close; a request that was sent before it was told to stop may not be lost.
        loop {
            let started = campaign.stops();
            let reply = ask(campaign, &mut socket, &bytes);
            match reply {
                Ok(Some(reply)) => {
                    check(campaign, &rows, form, &reply);
                    if reply.head.contains("connection: close") {
                        socket = None;
                    }
                    campaign.count("good requests");
                    break;
                }
                failed => {
                    socket = None;
                    if campaign.over() {
                        return;
                    }
                    if campaign.stops() == started && !campaign.is_stopping() {
                        campaign.fail(format!("a good request has no response: {failed:?}"));
                        break;
                    }
                    campaign.count("good requests sent again around a stop");
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }
}

fn ask(campaign: &Campaign, socket: &mut Option<TcpStream>, bytes: &[u8]) -> std::io::Result<Option<Reply>> {
    if socket.is_none() {
        *socket = Some(http::connect(campaign.port)?);
    }
    let Some(open) = socket.as_mut() else { return Ok(None) };
    http::send(open, bytes)?;
    let told_before = campaign.is_stopping();
    let reply = http::receive(open);
    if !told_before && campaign.is_stopping() && !matches!(reply, Ok(Some(_))) {
        campaign
            .fail(format!("a request sent before the server was told to stop has no response: {reply:?}"));
    }
    reply
}

/// A request for the decision values and labels of some rows, in one of three forms.
fn asked(campaign: &Campaign, rows: &[usize], form: usize) -> Vec<u8> {
    let x: Vec<f64> = rows.iter().flat_map(|&i| campaign.rows[i]).collect();
    let outputs = json!([{ "name": "label" }, { "name": "decision" }]);
    match form {
        0 => {
            let tensor = json!({ "name": "x", "shape": [rows.len(), 2], "datatype": "FP64", "data": x });
            let body = json!({ "inputs": [tensor], "outputs": outputs }).to_string();
            http::request("POST", "/v2/models/m/infer", &[], body.as_bytes())
        }
        1 => {
            let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
            let size = json!({ "binary_data_size": bytes.len() });
            let tensor =
                json!({ "name": "x", "shape": [rows.len(), 2], "datatype": "FP64", "parameters": size });
            let head = json!({ "inputs": [tensor], "outputs": outputs }).to_string();
            let length = head.len().to_string();
            let headers = [("inference-header-content-length", length.as_str())];
            http::request("POST", "/v2/models/m/infer", &headers, &[head.as_bytes(), &bytes].concat())
        }
        _ => {
            let lines: Vec<String> = x.chunks(2).map(|row| format!("{},{}\n", row[0], row[1])).collect();
            let lines = lines.concat();
            let path = "/v1/models/m/predict?output=label,decision";
            http::request("POST", path, &[("content-type", "text/csv")], lines.as_bytes())
        }
    }
}

fn check(campaign: &Campaign, rows: &[usize], form: usize, reply: &Reply) {
    let text = String::from_utf8_lossy(&reply.body);
    if reply.status != 200 {
        campaign.fail(format!("a good request has status {}: {text}", reply.status));
        return;
    }
    let found: Option<Vec<(String, f64)>> = if form == 2 {
        let cells = |line: &str| {
            let (label, value) = line.split_once(',')?;
            Some((label.to_owned(), value.parse().ok()?))
        };
        text.lines().skip(1).map(cells).collect()
    } else {
        serde_json::from_slice::<Value>(&reply.body).ok().and_then(|json| {
            let outputs = json["outputs"].as_array()?;
            let labels = outputs[0]["data"].as_array()?.iter().map(|label| Some(label.as_str()?.to_owned()));
            let values = outputs[1]["data"].as_array()?.iter().map(Value::as_f64);
            labels.zip(values).map(|(label, value)| Some((label?, value?))).collect()
        })
    };
    // All rows by one version: a request is never parted.
    let same = |version: &[(String, f64)]| {
        found.as_ref().is_some_and(|found| {
            found.len() == rows.len()
                && found.iter().zip(rows).all(|(found, &row)| {
                    found.0 == version[row].0 && found.1.to_bits() == version[row].1.to_bits()
                })
        })
    };
    match campaign.expected.iter().position(|version| same(version)) {
        Some(version) => campaign.count(["first model", "second model", "third model"][version % 3]),
        None => campaign.fail(format!("a response that no version of the model gives: {text}")),
    }
}

/// Requests that must be refused: every one with a status from 400 on, below 500, or by closing.
pub(super) fn bad(campaign: &Campaign, seed: u64) {
    let mut dice = Dice::new(seed);
    while !campaign.over() {
        std::thread::sleep(Duration::from_millis(20));
        if campaign.is_stopping() {
            continue;
        }
        let stops = campaign.stops();
        let what = ["malformed", "oversized", "slow", "cut", "noise"][dice.below(5)];
        let reply = match what {
            "malformed" => malformed(campaign, &mut dice),
            "oversized" => oversized(campaign, &mut dice),
            "slow" => slow(campaign, &mut dice),
            "cut" => cut(campaign, &mut dice),
            _ => noise(campaign, &mut dice),
        };
        campaign.count(what);
        match reply {
            Ok(Some(reply)) if reply.status >= 500 => {
                campaign.fail(format!(
                    "{what}: status {}: {}",
                    reply.status,
                    String::from_utf8_lossy(&reply.body)
                ));
            }
            Ok(Some(reply)) if what != "malformed" && reply.status < 400 => {
                campaign.fail(format!("{what}: accepted with {}", reply.status));
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && campaign.stops() == stops => {
                campaign.fail(format!("{what}: no response and no end within 30 s"));
            }
            _ => {}
        }
    }
}

/// A good request with a few bytes of its body changed. Some changes are harmless.
fn malformed(campaign: &Campaign, dice: &mut Dice) -> std::io::Result<Option<Reply>> {
    let form = dice.below(3);
    let mut bytes = asked(campaign, &[dice.below(campaign.rows.len())], form);
    let body = bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(0, |at| at + 4);
    for _ in 0..=dice.below(4) {
        let at = body + dice.below(bytes.len() - body);
        bytes[at] = b"[]{}\",:-019eE.\\\x00\xff"[dice.below(17)];
    }
    exchange(campaign, &bytes)
}

fn oversized(campaign: &Campaign, dice: &mut Dice) -> std::io::Result<Option<Reply>> {
    let mut socket = http::connect(campaign.port)?;
    let head = "POST /v1/models/m/predict HTTP/1.1\r\nhost: here\r\n";
    if dice.below(2) == 0 {
        // Announced: refused before it is sent.
        write!(socket, "{head}content-length: {}\r\n\r\n", LARGEST + 1 + dice.below(1 << 40))?;
        return http::receive(&mut socket);
    }
    write!(socket, "{head}transfer-encoding: chunked\r\n\r\n")?;
    let piece = vec![b'1'; 1 << 15];
    for _ in 0..=LARGEST / piece.len() + 1 {
        // A server that has refused may have closed its side.
        if write!(socket, "{:x}\r\n", piece.len()).and_then(|()| socket.write_all(&piece)).is_err()
            || socket.write_all(b"\r\n").is_err()
        {
            break;
        }
    }
    http::receive(&mut socket)
}

/// A head or a body that drips, longer than the server waits.
fn slow(campaign: &Campaign, dice: &mut Dice) -> std::io::Result<Option<Reply>> {
    let bytes = asked(campaign, &[0], 0);
    let body = bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(0, |at| at + 4);
    let first = if dice.below(2) == 0 { 10 } else { body + 5 };
    let mut socket = http::connect(campaign.port)?;
    socket.write_all(&bytes[..first])?;
    let start = Instant::now();
    socket.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut byte = [0];
    for next in &bytes[first..bytes.len() - 1] {
        match socket.read(&mut byte) {
            Ok(0) => return Ok(None),
            Ok(_) => {
                // The response has begun: a time-out, or whatever else is said; its status was not read.
                return Ok(None);
            }
            Err(_) => {}
        }
        if socket.write_all(&[*next]).is_err() || campaign.over() || campaign.is_stopping() {
            return Ok(None);
        }
        if start.elapsed() > Duration::from_secs(20) {
            campaign.fail("a request that drips is waited for beyond the time-outs".into());
            return Ok(None);
        }
    }
    Ok(None)
}

/// A connection that ends in the middle of a request, or before its response is read.
fn cut(campaign: &Campaign, dice: &mut Dice) -> std::io::Result<Option<Reply>> {
    let bytes = asked(campaign, &[0, 1, 2], dice.below(3));
    let mut socket = http::connect(campaign.port)?;
    let until = if dice.below(3) == 0 { bytes.len() } else { dice.below(bytes.len()) };
    socket.write_all(&bytes[..until])?;
    Ok(None)
}

/// Bytes that are no HTTP.
fn noise(campaign: &Campaign, dice: &mut Dice) -> std::io::Result<Option<Reply>> {
    let mut bytes: Vec<u8> = (0..200 + dice.below(400)).map(|_| dice.below(256) as u8).collect();
    // Heads that never end are a matter of time-outs; these end.
    bytes.extend_from_slice(b"\r\n\r\n");
    exchange(campaign, &bytes)
}

fn exchange(campaign: &Campaign, bytes: &[u8]) -> std::io::Result<Option<Reply>> {
    let mut socket = http::connect(campaign.port)?;
    socket.write_all(bytes)?;
    http::receive(&mut socket)
}
