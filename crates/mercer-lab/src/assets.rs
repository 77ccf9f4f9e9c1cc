//! The files of the page, embedded.

use axum::body::Body;
use axum::http::Response;
use mercer_serve::shell;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

/// Name, type, content. A test compares the list with the folder.
macro_rules! files {
    ($($name:literal $kind:ident;)*) => {
        &[$(($name, $kind, include_str!(concat!("../assets/", $name))),)*]
    };
}

const FILES: &[(&str, &str, &str)] = files! {
    "lab.css" STYLE;
    "icon.svg" IMAGE;
    "js/main.js" SCRIPT;
    "js/api.js" SCRIPT;
    "js/address.js" SCRIPT;
    "js/dom.js" SCRIPT;
    "js/colours.js" SCRIPT;
    "js/controls.js" SCRIPT;
    "js/draw.js" SCRIPT;
    "js/charts.js" SCRIPT;
    "js/jobs.js" SCRIPT;
    "js/plane.js" SCRIPT;
    "js/rooms/playground.js" SCRIPT;
    "js/rooms/data.js" SCRIPT;
    "js/rooms/digits.js" SCRIPT;
    "js/rooms/back.js" SCRIPT;
    "js/rooms/components.js" SCRIPT;
};

const PAGE: &str = include_str!("../assets/index.html");

/// The page.
pub(crate) fn page() -> Response<Body> {
    shell::document(PAGE)
}

/// A file of the page.
pub(crate) fn file(name: &str) -> Option<Response<Body>> {
    let (_, kind, content) = FILES.iter().find(|(own, ..)| *own == name)?;
    Some(shell::asset(kind, *content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn under(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { under(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_embedded_and_asks_for_nothing_remote() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        let mut found = Vec::new();
        under(&root, &mut found);
        let names: Vec<String> = found
            .iter()
            .map(|path| path.strip_prefix(&root).expect("inside").display().to_string())
            .filter(|name| name != "index.html")
            .collect();
        for name in &names {
            assert!(FILES.iter().any(|(own, ..)| own == name), "{name} is not embedded");
        }
        assert_eq!(names.len(), FILES.len());
        for (name, _, content) in FILES.iter().chain([&("index.html", "", PAGE)]) {
            for place in content.match_indices("http") {
                let rest = &content[place.0..];
                let own = rest.starts_with("http://www.w3.org/")
                    || !rest.starts_with("http://") && !rest.starts_with("https://");
                assert!(own, "{name} names {}", &rest[..rest.len().min(60)]);
            }
        }
    }
}
