//! Every package that a build of this workspace can touch, its licence against the list of those we accept.
//!
//! The packages come from `cargo metadata`: no extra tool, and also those of other platforms are checked.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{cargo_in, spdx};

/// Licences that ask no more than a notice: what `MIT OR Apache-2.0` code may link to.
const ACCEPTED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    // BSD with two clauses more of the same kind: name the origin, mark changes. Of libbz2-rs-sys.
    "bzip2-1.0.6",
];

/// Fails with the offenders.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = metadata(root)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let offenders = offenders(packages);
    if !offenders.is_empty() {
        bail!(
            "{} of {} packages have a licence that is not accepted:\n  {}\naccepted: {}",
            offenders.len(),
            packages.len(),
            offenders.join("\n  "),
            ACCEPTED.join(", ")
        );
    }
    println!("licences: {} packages, all accepted", packages.len());
    Ok(())
}

/// What cargo knows of the workspace and all it depends on, from the local store where that is complete.
fn metadata(root: &Path) -> Result<Value> {
    let ask = |more: &[&str]| {
        let mut command = cargo_in(root);
        command.args(["metadata", "--format-version", "1", "--locked"]).args(more);
        command.output().context("cannot start cargo metadata")
    };
    let mut output = ask(&["--offline"])?;
    if !output.status.success() {
        output = ask(&[])?;
    }
    if !output.status.success() {
        bail!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata did not answer with JSON")
}

fn offenders(packages: &[Value]) -> Vec<String> {
    let accepted = |name: &str| ACCEPTED.contains(&name);
    packages
        .iter()
        .filter_map(|package| {
            let name = format!("{} {}", text(package, "name"), text(package, "version"));
            let Some(licence) = package["license"].as_str() else {
                return Some(format!("{name}: states no licence"));
            };
            match spdx::is_met(licence, &accepted) {
                Ok(true) => None,
                Ok(false) => Some(format!("{name}: {licence}")),
                Err(error) => Some(format!("{name}: {error}")),
            }
        })
        .collect()
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn offenders_are_named_and_good_packages_are_not() {
        let packages = [
            json!({"name": "good", "version": "1.0.0", "license": "MIT OR GPL-3.0"}),
            json!({"name": "copyleft", "version": "2.0.0", "license": "GPL-3.0-only"}),
            json!({"name": "silent", "version": "3.0.0", "license": null}),
            json!({"name": "both", "version": "4.0.0", "license": "MIT AND MPL-2.0"}),
        ];
        let found = offenders(&packages);
        assert_eq!(
            found,
            [
                "copyleft 2.0.0: GPL-3.0-only",
                "silent 3.0.0: states no licence",
                "both 4.0.0: MIT AND MPL-2.0"
            ]
        );
    }
}
