//! Schema sys over a running server. In a process of its own: these tests change what is recorded.

mod functions;
mod metrics;
#[path = "../server/support.rs"]
#[allow(dead_code, reason = "the server's tests use more of it")]
mod support;
mod views;
