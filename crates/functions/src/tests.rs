//! The records agree with one another and with SQLite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::Value;
use tare_dialect::function::ANY;
use tare_mysql::session::SessionFacts;

mod calls;
mod work;

use super::{Called, EvaluationContext, FAMILIES, Function, find, register};

/// A session of which nothing is known, but whether its statement was killed.
#[derive(Debug, Default)]
struct Nobody {
    killed: bool,
    /// How often it was asked whether to stop, and from which time on the answer is yes; 0 is never.
    looks: AtomicU64,
    stop_at: AtomicU64,
}

impl SessionFacts for Nobody {}

impl EvaluationContext for Nobody {
    fn thread_id(&self) -> u64 {
        0
    }
    fn last_insert_id(&self) -> i64 {
        0
    }
    fn set_last_insert_id(&self, _: i64) {}
    fn row_count(&self) -> i64 {
        -1
    }
    fn found_rows(&self) -> i64 {
        0
    }
    fn count_updated(&self) {}
    fn variable(&self, _: &str, _: &str) -> Value {
        Value::Null
    }
    fn user_variable(&self, _: &str) -> Value {
        Value::Null
    }
    fn set_user_variable(&self, _: &str, _: Value) {}
    fn sys_option(&self, _: &str) -> Option<String> {
        None
    }
    fn instrument_default(&self, _: &str, _: bool) -> bool {
        true
    }
    fn sql_mode(&self) -> String {
        "STRICT_TRANS_TABLES".to_owned()
    }
    fn must_stop(&self) -> bool {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        let stop_at = self.stop_at.load(Ordering::Relaxed);
        self.killed || stop_at != 0 && looks >= stop_at
    }
    fn sleep(&self, _: f64) -> bool {
        false
    }
    fn try_lock(&self, _: &str) -> bool {
        true
    }
    fn lock_owner(&self, _: &str) -> Option<u64> {
        None
    }
    fn unlock(&self, _: &str) -> Option<bool> {
        None
    }
    fn unlock_all(&self) -> u64 {
        0
    }
}

fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().copied().flatten()
}

fn connection() -> rusqlite::Connection {
    let db = rusqlite::Connection::open_in_memory().expect("a database");
    let session: Arc<dyn EvaluationContext> = Arc::new(Nobody::default());
    register(&db, &session).expect("functions");
    db
}

#[test]
fn families_are_sorted_and_no_name_is_there_twice() {
    for family in FAMILIES {
        let sorted = family.is_sorted_by(|a, b| a.signature.name < b.signature.name);
        assert!(sorted, "{}", family[0].signature.name);
    }
    let mut names: Vec<&str> = all().map(|f| f.signature.name).collect();
    names.sort_unstable();
    let before = names.len();
    names.dedup();
    assert_eq!(names.len(), before);
    assert!(names.iter().all(|n| find(n).is_some_and(|f| f.name == *n)));
    assert!(find("tare_div").is_none());
}

/// What a record promises, SQLite has: itself, or from a body.
#[test]
fn sqlite_knows_every_function() {
    let db = connection();
    // -1 is as many as one likes; below that, at least two fewer (sqlite3_create_function).
    let mut known = db
        .prepare(
            "SELECT count(*) FROM pragma_function_list
             WHERE name = ?1 AND (narg IN (?2, -1) OR narg < -2 AND -2 - narg <= ?2)",
        )
        .expect("a list of functions");
    let mut missing = Vec::new();
    for function in all() {
        let Some(name) = function.name_in_sqlite() else {
            continue;
        };
        let signature = &function.signature;
        let most = match signature.most {
            ANY => signature.fewest + 2,
            most => most,
        };
        for n in signature.fewest..=most {
            let found: i64 = known
                .query_row((name, n), |row| row.get(0))
                .expect("a number");
            if found == 0 {
                missing.push(format!("{} with {n} arguments: {name}", signature.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Functions that take long look between steps whether their statement was killed: none ends with a
/// result then. With little to do they do not look.
#[test]
fn a_function_that_takes_long_ends_when_its_statement_is_killed() {
    let open = |killed| {
        let db = rusqlite::Connection::open_in_memory().expect("a database");
        let session: Arc<dyn EvaluationContext> = Arc::new(Nobody {
            killed,
            ..Nobody::default()
        });
        register(&db, &session).expect("functions");
        db
    };
    let ask = |db: &rusqlite::Connection, sql: &str, text: &str| {
        db.query_row(sql, [text], |row| row.get::<_, Value>(0))
    };
    let (alive, killed) = (open(false), open(true));
    for (sql, small, unit) in [
        ("SELECT tare_replace(?1, 'a', 'bb')", "aa", "a"),
        ("SELECT regexp_replace(?1, 'a', 'b')", "aa", "a"),
        ("SELECT lpad(?1, 1000000, 'x')", "", ""),
        ("SELECT rpad(?1, 1000000, 'x')", "", ""),
        ("SELECT find_in_set('b', ?1)", "a,", "a,"),
        ("SELECT soundex(?1)", "ab", "ab"),
        ("SELECT quote(?1)", "a'", "a'"),
        ("SELECT tare_like(?1, '%b%c', '')", "a", "a"),
        ("SELECT tare_like_exactly(?1, '%b%c', '')", "a", "a"),
        ("SELECT tare_greatest_text(?1, ?1)", "a", "a"),
        ("SELECT tare_least_text(?1, ?1)", "é", "é"),
        ("SELECT tare_nullif_text(?1, ?1)", "a", "a"),
        ("SELECT hex(?1)", "a", "a"),
        ("SELECT tare_unhex(?1)", "41", "41"),
        ("SELECT to_base64(?1)", "a", "a"),
        ("SELECT from_base64(?1)", "YWFh", "YWFh"),
        ("SELECT md5(?1)", "a", "a"),
        ("SELECT sha1(?1)", "a", "a"),
        ("SELECT sha2(?1, 512)", "a", "a"),
        ("SELECT tare_json_valid(?1)", "[1]", "[1]"),
        ("SELECT tare_json_pretty(?1)", "[1]", "[1]"),
    ] {
        let large = unit.repeat(1 << 19);
        if !unit.is_empty() {
            ask(&killed, sql, small).unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
        if !sql.contains("json") {
            ask(&alive, sql, &large).unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
        let ended = ask(&killed, sql, &large);
        assert!(ended.is_err(), "{sql} goes on");
    }
    // Steps join to what all at once would have been.
    for (sql, text, answer) in [
        ("SELECT tare_unhex(hex(?1)) = CAST(?1 AS BLOB)", "aé", 1),
        (
            "SELECT from_base64(to_base64(?1)) = CAST(?1 AS BLOB)",
            "aé",
            1,
        ),
        ("SELECT length(tare_replace(?1, 'a', 'bb'))", "aa", 2 << 20),
        (
            "SELECT length(regexp_replace(?1, '(a)b', '$1'))",
            "ab",
            1 << 19,
        ),
        ("SELECT length(quote(?1))", "'", (1 << 20) + 2),
    ] {
        let found = ask(&alive, sql, &text.repeat(1 << 19));
        assert_eq!(found, Ok(Value::Integer(answer)), "{sql}");
    }
}

/// A text that is sought is read in steps where it is long, from either end.
#[test]
fn a_long_text_is_found_in_a_longer_one() {
    let db = connection();
    let part = |of: &str, n: usize| of.repeat(n);
    let sought = part("ab", 1000) + "é";
    let others = [
        part("ab", 999) + &sought + "-" + &sought + "b",
        sought.clone(),
        part("ab", 5000),
        part("ab", 10),
        part("é", 10) + &sought,
        sought[2..].to_owned() + &sought[..2],
    ];
    for text in &others {
        let ask = |sql: &str| {
            let found = db.query_row(sql, [text, &sought], |row| row.get::<_, String>(0));
            found.unwrap_or_else(|e| panic!("{sql}: {e}"))
        };
        assert_eq!(
            ask("SELECT tare_replace(?1, ?2, 'x')"),
            text.replace(&sought, "x")
        );
        let before = text
            .split_once(&sought)
            .map_or(&**text, |(before, _)| before);
        assert_eq!(ask("SELECT substring_index(?1, ?2, 1)"), before);
        let behind = text
            .rsplit_once(&sought)
            .map_or(&**text, |(_, behind)| behind);
        assert_eq!(ask("SELECT substring_index(?1, ?2, -1)"), behind);
    }
    for (of, n) in [("a", 1000), ("ab", 1000), ("é", 1000)] {
        let (text, sought) = (part(of, 3 * n), part(of, n));
        let found = db.query_row("SELECT tare_replace(?1, ?2, 'x')", [text, sought], |row| {
            row.get::<_, String>(0)
        });
        assert_eq!(found.as_deref(), Ok("xxx"), "{of}");
    }
}

/// A long string of JSON is put into quotes piece by piece.
#[test]
fn a_long_string_is_quoted_as_a_short_one() {
    let db = connection();
    let text = "é\"\\\n\u{1}-".repeat(1000);
    for sql in [
        "SELECT tare_json_quote(?1)",
        "SELECT substr(tare_json_array(?1), 2, length(tare_json_array(?1)) - 2)",
    ] {
        let found = db.query_row(sql, [&text], |row| row.get::<_, String>(0));
        assert_eq!(found.ok(), serde_json::to_string(&text).ok(), "{sql}");
    }
}
