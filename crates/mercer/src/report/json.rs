//! Reports for programs.

use serde::Serialize;

/// Any report as indented JSON with a line end. Values that are not finite become `null`: JSON has no word for them.
pub fn json(report: &impl Serialize) -> String {
    let mut out = serde_json::to_string_pretty(report)
        .expect("a report is made of structs with text keys, which serde_json always writes");
    out.push('\n');
    out
}
