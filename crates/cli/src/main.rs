//! The one binary, `tare`.
fn main() {}
