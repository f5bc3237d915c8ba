//! Deeply nested statements in `tare sql` end with an answer or an error, and never with a signal. The
//! constructs are those of `tare serve`'s test.

mod support;

#[path = "../../server/tests/server/constructs.rs"]
mod constructs;

use constructs::{CONSTRUCTS, REFUSED, nested};
use support::{Directory, finish, finish_with_input, host};

/// The construct over a system table, because a segment has no user tables.
fn over_a_table(construct: &str) -> String {
    let mut text = String::new();
    for word in construct.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let (word, behind) = match word.strip_suffix(|c: char| !c.is_ascii_alphanumeric()) {
            Some(plain) => (plain, &word[plain.len()..]),
            None => (word, ""),
        };
        text.push_str(match word {
            "t" => "performance_schema.performance_timers",
            "n" => "TIMER_RESOLUTION",
            word => word,
        });
        text.push_str(behind);
    }
    text
}

/// `make test-long` sets TARE_TEST_LONG, which tries a million levels of each construct.
#[test]
fn each_construct_is_answered_or_refused_by_tare_sql() {
    let directory = Directory::new("depth");
    let mut command = directory.tare(["run", "--segment", "x.segment"]);
    host::add_arguments(command.arg("--"), "abort");
    finish(&mut command);
    let long = std::env::var_os("TARE_TEST_LONG").is_some();
    for (i, (construct, answered)) in CONSTRUCTS.iter().enumerate() {
        let construct = over_a_table(construct);
        let mut tried = vec![10, 1000];
        if long || i % 8 == 1 {
            tried.push(1_000_000);
        }
        for levels in tried {
            let what = format!("{construct} of {levels}");
            let mut sql = directory.tare(["sql", "--segment", "x.segment"]);
            let done = finish_with_input(&mut sql, &nested(&construct, levels));
            let code: u16 = match done.code {
                Some(0) => 0,
                Some(1) => {
                    let number = done
                        .stderr
                        .strip_prefix("ERROR ")
                        .and_then(|e| e.split(' ').next());
                    number
                        .and_then(|n| n.parse().ok())
                        .unwrap_or_else(|| panic!("{what}: {done:?}"))
                }
                _ => panic!("{what}: {done:?}"),
            };
            // Statements that would change a saved segment are refused.
            let may_be = REFUSED.contains(&code) || [1142, 1290].contains(&code);
            // A million tokens exceed the memory limit of a statement.
            let may_be = may_be || levels == 1_000_000 && code == 1041;
            assert!(may_be, "{what}: error {code}");
            assert!(
                levels > *answered || !construct.starts_with("SELECT") || code == 0,
                "{what}: {code}"
            );
            assert!(levels < 1_000_000 || code != 0, "{what}");
        }
    }
}
