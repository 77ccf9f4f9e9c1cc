//! A page as a browser sees it: headless Chromium lays it out, a script inside measures it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Measures the page after it has loaded and leaves what it found in an element of its own.
const PROBE: &str = include_str!("probe.js");
/// What comes before and after the findings in the text of the page.
const MARKS: [&str; 2] = ["<pre id=\"probe", "</pre>"];

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
    open_all(&[(page, width)], dark).pop().expect("one page")
}

/// Opens pages, each in a window of its own width. The browser starts once; what pages wrote to the console is told of
/// the first.
pub(crate) fn open_all(pages: &[(&str, u32)], dark: bool) -> Vec<Seen> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("page.html");
    // Windows have a least width, frames have none.
    let mut frames = String::from(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\"><body style=\"margin:0\">",
    );
    for (at, (page, width)) in pages.iter().enumerate() {
        let probed = page.replace("</body>", &format!("<script>{PROBE}</script></body>"));
        assert_ne!(&probed, page, "the page has a body");
        let inside = probed.replace('&', "&amp;").replace('"', "&quot;");
        let _ = write!(
            frames,
            "<iframe name=\"{at}\" style=\"display:block;border:0;width:{width}px;height:2000px\" srcdoc=\"{inside}\"></iframe>"
        );
    }
    std::fs::write(&file, frames).expect("a file in a fresh folder");
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
    let console: Vec<String> =
        log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    let [before, after] = MARKS;
    let seen = |at: usize| {
        let found = dom.rsplit_once(&format!("{before}{at}\">")).and_then(|(_, rest)| rest.split_once(after));
        let (found, _) = found
            .unwrap_or_else(|| panic!("no findings of page {at}; {} bytes of page, log: {log}", dom.len()));
        let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        Seen {
            facts: serde_json::from_str(&found).unwrap_or_else(|e| panic!("{e} in {found}")),
            console: if at == 0 { console.clone() } else { Vec::new() },
        }
    };
    (0..pages.len()).map(seen).collect()
}

fn address(file: &Path) -> String {
    format!("file://{}", file.display())
}
