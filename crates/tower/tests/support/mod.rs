//! What servers do, read while they run.

#[path = "../../../reader/tests/support/mod.rs"]
mod reading;

use tare_reader::events::{Events, Table};
use tare_reader::threads;

pub use reading::{Running, scale};

/// The texts of the statements that run.
pub fn current(running: &Running) -> Vec<String> {
    let all = threads(running.view());
    let current = Events::new(running.view(), &all).statements(Table::Current);
    let texts = current
        .iter()
        .filter_map(|statement| statement.text.as_deref());
    texts.map(String::from).collect()
}

/// Waits until the server has done what it is about to do.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        // Something has failed: not a measure of speed.
        assert!(begin.elapsed().as_secs() < 60, "not so: {what}");
        std::thread::yield_now();
    }
}
