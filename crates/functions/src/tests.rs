//! The records agree with one another and with SQLite.

use std::sync::Arc;

use rusqlite::types::Value;
use tare_dialect::function::ANY;
use tare_mysql::error::SqlError;
use tare_mysql::interrupt::{StopSignal, begin_statement};
use tare_mysql::session::SessionFacts;

use super::{Counted, EvaluationContext, FAMILIES, Function, find, register};

/// A session that has nothing.
#[derive(Debug)]
struct Nobody;

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
    fn count(&self, _: Counted) {}
    fn variable(&self, _: &str, _: &str) -> Value {
        Value::Null
    }
    fn user_variable(&self, _: &str) -> Value {
        Value::Null
    }
    fn set_user_variable(&self, _: &str, _: Value, _: bool) {}
    fn sys_option(&self, _: &str) -> Option<String> {
        None
    }
    fn instrument_default(&self, _: &str, _: bool) -> bool {
        true
    }
    fn sql_mode(&self) -> String {
        "STRICT_TRANS_TABLES".to_owned()
    }
    fn sleep(&self, _: f64) -> Result<bool, SqlError> {
        Ok(false)
    }
    fn take_lock(&self, _: &str, _: Option<std::time::Duration>) -> Result<bool, SqlError> {
        Ok(true)
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
    let session: Arc<dyn EvaluationContext> = Arc::new(Nobody);
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
    let mut statement = db
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
            let count: i64 = statement
                .query_row((name, n), |row| row.get(0))
                .expect("a number");
            if count == 0 {
                missing.push(format!("{} with {n} arguments: {name}", signature.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn a_text_beyond_the_limit_is_null() {
    let db = connection();
    let value = |sql: &str| db.query_row(sql, [], |row| row.get::<_, Value>(0));
    for sql in [
        "SELECT regexp_replace(repeat('a', 1 << 20), 'a+', repeat('$0', 1 << 20))",
        "SELECT regexp_replace(repeat('a', 1 << 20), 'a', repeat('b', 1 << 20))",
    ] {
        assert_eq!(value(sql), Ok(Value::Null), "{sql}");
    }
}

#[test]
fn a_replacement_has_the_groups_of_its_match() {
    let db = connection();
    for (new, expected) in [
        ("[$0]", "x[abc]y"),
        ("$2$1", "xcby"),
        ("$9$$$1$", "x$b$y"),
        ("$é$$1", "x$é$1y"),
        ("-", "x-y"),
        ("", "xy"),
    ] {
        let sql = "SELECT regexp_replace('xabcy', 'a(b)(c)', ?1)";
        let text = db.query_row(sql, [new], |row| row.get::<_, String>(0));
        assert_eq!(text.as_deref(), Ok(expected), "{new}");
    }
    for (nth, expected) in [
        (-1, "[a]b"),
        (0, "[a][b]"),
        (1, "[a]b"),
        (2, "a[b]"),
        (3, "ab"),
    ] {
        let sql = "SELECT regexp_replace('ab', '(.)', '[$1]', 1, ?1)";
        let text = db.query_row(sql, [nth], |row| row.get::<_, String>(0));
        assert_eq!(text.as_deref(), Ok(expected), "{nth}");
    }
}

/// A statement that was killed.
#[derive(Debug)]
struct Killed;

impl StopSignal for Killed {
    fn must_stop(&self) -> bool {
        true
    }
    fn interruption(&self) -> SqlError {
        SqlError::interrupted()
    }
}

#[test]
fn calls_of_long_texts_can_be_interrupted() {
    let db = connection();
    let length = |sql: &str, bytes: usize| {
        let text = "a".repeat(bytes);
        db.query_row(sql, [text], |row| row.get::<_, i64>(0))
    };
    let reads = "SELECT length(md5(?1))";
    let builds = "SELECT length(repeat('a', length(?1)))";
    assert_eq!(length(reads, 1 << 20), Ok(32));
    let _statement = begin_statement(&Arc::new(Killed));
    assert_eq!(length(reads, 100), Ok(32));
    assert_eq!(length(builds, 100), Ok(100));
    for sql in [reads, builds] {
        assert!(length(sql, 1 << 20).is_err(), "{sql}");
    }
}
