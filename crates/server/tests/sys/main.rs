//! Schema sys over a running server. In a process of its own: these tests change what is recorded.

mod figures;
mod functions;
mod metrics;
mod procedures;
#[path = "../server/support.rs"]
#[allow(dead_code, reason = "the server's tests use more of it")]
mod support;
mod views;

/// What is recorded is the process's: tests that change it take turns.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
