//! A page as a browser sees it: headless Chromium lays it out, a script inside measures it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Measures the page after it has loaded and leaves what it found in an element of its own.
const PROBE: &str = include_str!("probe.js");
/// What comes before and after the findings in the text of the page.
const MARKS: [&str; 2] = ["<pre id=\"probe\">", "</pre>"];

/// What a browser found in a page.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What the script measured.
    pub(crate) facts: Value,
    /// What the page wrote to the console, and what could not be loaded.
    pub(crate) console: Vec<String>,
}

/// Whether Chromium is here; says so where it is not.
#[expect(clippy::print_stderr, reason = "a test that finds no browser says so")]
pub(crate) fn here() -> bool {
    let there = Command::new("chromium").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("chromium is not here (Debian: chromium); ./test installs it");
    }
    there
}

/// Opens a page in a window so many pixels wide.
pub(crate) fn open(page: &str, width: u32, dark: bool) -> Seen {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("page.html");
    let probed = page.replace("</body>", &format!("<script>{PROBE}</script></body>"));
    assert_ne!(probed, page, "the page has a body");
    // Windows have a least width, frames have none.
    let inside = probed.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
         <body style=\"margin:0\"><iframe style=\"border:0;width:{width}px;height:2000px\" srcdoc=\"{inside}\"></iframe>"
    );
    std::fs::write(&file, frame).expect("a file in a fresh folder");
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"])
        .args(["--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg("--window-size=1600,2000")
        .arg(address(&file))
        .output()
        .expect("chromium starts");
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let [before, after] = MARKS;
    let found = dom.rsplit_once(before).and_then(|(_, rest)| rest.split_once(after));
    let (found, _) = found.unwrap_or_else(|| panic!("no findings; {} bytes of page, log: {log}", dom.len()));
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Seen {
        facts: serde_json::from_str(&found).unwrap_or_else(|e| panic!("{e} in {found}")),
        console: log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect(),
    }
}

fn address(file: &Path) -> String {
    format!("file://{}", file.display())
}
