//! House rules, tests and benches of the Mercer workspace.
fn main() {}
