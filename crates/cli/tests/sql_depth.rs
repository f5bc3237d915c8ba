//! Statements that nest as deep as their sender likes, in `tare sql`: an answer or an error, and never a
//! signal. The constructs are those that `tare serve` is tested with.

mod support;

#[path = "../../server/tests/server/constructs.rs"]
mod constructs;

use constructs::{CONSTRUCTS, REFUSED, nested};
use support::{Directory, finish, finish_with_input, host};

/// On a segment there is no table of a user's: a construct over one that is there.
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

/// `make test-long` sets TARE_TEST_LONG: a million levels of everything.
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
            // A saved segment is not changed.
            let may_be = REFUSED.contains(&code) || [1142, 1290].contains(&code);
            // A million tokens take more memory than a statement may.
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
