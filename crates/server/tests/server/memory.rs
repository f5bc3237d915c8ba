//! The memory that statements use: every function at its limit.
//!
//! `TARE_TEST_LONG=1 cargo test --release -p tare-server --test server memory:: -- --nocapture` gives the
//! figure of docs/security.md.

use super::calls::{TEXTS, fill, functions, is_long};
use super::support::{Running, errno, one};

/// The peak of the process's resident memory since the last call, in MiB.
fn most_resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: u64 = kib.and_then(|kib| kib.parse().ok()).expect("a number");
    std::fs::write("/proc/self/clear_refs", "5").expect("one's own");
    kib >> 10
}

#[test]
fn no_function_takes_more_memory_than_a_statement_may() {
    let limit: u64 = if is_long() { 256 << 20 } else { 16 << 20 };
    let running = Running::with(|c| c.max_statement_memory = limit);
    fill(&running, if is_long() { 60_000_000 } else { 1_000_000 });
    let mut conn = running.client();
    let mut peaks = Vec::new();
    for (name, calls) in functions() {
        // They wait, and allocate nothing.
        if name == "sleep" || name == "benchmark" {
            continue;
        }
        let kinds = if is_long() { TEXTS.len() } else { 1 };
        let calls = &calls[..if is_long() {
            calls.len()
        } else {
            calls.len().min(4)
        }];
        for (kind, _) in &TEXTS[..kinds] {
            most_resident();
            let before = most_resident();
            for call in calls {
                let from = format!("FROM n a, n b, (SELECT t FROM big WHERE kind = '{kind}') x");
                let sql = format!("SELECT LENGTH({call}) {from} WHERE a.n < 3 AND b.n = 1");
                // The result does not matter: the test asserts that the server lives, and its memory.
                errno(&mut conn, &sql);
            }
            peaks.push((most_resident().saturating_sub(before), name, *kind));
        }
        assert_eq!(one(&mut conn, "SELECT 1"), "1", "{name}");
    }
    peaks.sort();
    for (mib, name, kind) in peaks.iter().rev().take(if is_long() { 25 } else { 3 }) {
        println!("{mib:5} MiB  {name} of {kind}");
    }
    // In a short run, other tests run in this process.
    if is_long() {
        let most = peaks.last().expect("functions").0;
        assert!(most < 2 * (limit >> 20), "{most} MiB");
    }
}
