//! Schema sys of a running server. These tests change settings of the process, and so have their own.

mod figures;
mod functions;
mod metrics;
mod procedures;
#[path = "../server/support.rs"]
#[allow(dead_code, reason = "the server's tests use more of it")]
mod support;
mod views;

/// Settings are the process's: tests that change them run one at a time.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
