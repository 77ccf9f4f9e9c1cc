//! A server of a comparison while it runs: whether it answers, its processor time and its memory.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Side;

/// A server that runs.
pub(super) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    pub(super) fn start(side: &Side) -> Result<Self> {
        // Three free ports in a row, below those that the system gives to clients.
        let free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
        let port = (20_000..30_000).step_by(10).find(|port| (*port..port + 3).all(free));
        let port = port.context("no free port")?;
        let mut command = (side.start)(port)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{} cannot be started", side.name))?;
        let errors = child.stderr.take().context("its errors are read")?;
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(errors).lines().map_while(Result::ok).for_each(|line| drop(tell.send(line)));
        });
        let mut server = Server { child, port };
        let start = Instant::now();
        while !server.answers(side.ready) {
            if server.child.try_wait()?.is_some() || start.elapsed() > Duration::from_mins(2) {
                bail!("{} does not answer: {}", side.name, told.try_iter().collect::<Vec<_>>().join("\n"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    pub(super) fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn answers(&self, path: &str) -> bool {
        use std::io::{Read as _, Write as _};
        let ask = || -> std::io::Result<bool> {
            let mut socket = TcpStream::connect(("127.0.0.1", self.port))?;
            write!(socket, "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")?;
            let mut text = String::new();
            socket.read_to_string(&mut text)?;
            Ok(text.starts_with("HTTP/1.1 200"))
        };
        ask().unwrap_or(false)
    }

    /// Seconds of processor time so far, of the process and its children.
    pub(super) fn cpu(&self) -> f64 {
        let ticks = self.tree().into_iter().filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
        });
        ticks.sum::<f64>() / 100.0
    }

    /// Resident memory in MB of 10^6 bytes, of the process and its children.
    pub(super) fn memory(&self) -> f64 {
        let kib = self.tree().into_iter().filter_map(|pid| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        });
        kib.sum::<f64>() * 1024.0 / 1e6
    }

    fn tree(&self) -> Vec<u32> {
        let mut all = vec![self.child.id()];
        let mut at = 0;
        while at < all.len() {
            let pid = all[at];
            let children =
                std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
            at += 1;
        }
        all
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for pid in self.tree().into_iter().skip(1) {
            let _ = Command::new("kill").arg(pid.to_string()).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
