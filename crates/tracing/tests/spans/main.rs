//! What spans become, read as a tool outside of the process would read it.

mod order;
mod records;
#[path = "../support/mod.rs"]
mod support;
mod totals;
