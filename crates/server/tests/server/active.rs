//! The tables of active sessions, of the server itself.

use mysql::prelude::Queryable;

use super::support::{Running, errno, exec, one, until};

const WAITING: &str = "SELECT SLEEP(1000)";

#[test]
fn a_session_sees_itself_and_the_others() {
    let running = Running::start();
    let mut root = running.root();
    let mut sleeper = running.client();
    let id = one(&mut sleeper, "SELECT CONNECTION_ID()");
    let sleeps = std::thread::spawn(move || {
        // A statement that was killed has failed.
        let _killed = sleeper.query_drop(WAITING);
    });
    // The level of the process is that of all tests here: cli/tests/active_tables.rs has the level active.
    let sql = format!(
        "SELECT CONCAT_WS('|', user, db, statement, sql_text, stage, state) FROM tare.active_sessions \
         WHERE processlist_id = {id} AND state IN ('waiting', 'blocked elsewhere')"
    );
    until("the sleeper sleeps", || {
        let row: Option<String> = root.query_first(&sql).expect("rows");
        row.as_deref().is_some_and(|row| {
            row.starts_with(
                "root|test|statement/sql/select|SELECT SLEEP(1000)|stage/sql/User sleep|",
            )
        })
    });
    let own = "SELECT COUNT(*) FROM tare.active_sessions WHERE processlist_id = CONNECTION_ID() \
         AND sql_text LIKE '%CONNECTION_ID()%'";
    assert_eq!(one(&mut root, own), "1");
    let joined = "SELECT COUNT(*) = (SELECT COUNT(*) FROM tare.active_sessions) FROM tare.active_sessions a \
         JOIN tare.active_sessions b USING (thread_id)";
    assert_eq!(one(&mut root, joined), "1", "a statement reads them once");
    exec(&mut root, &format!("KILL QUERY {id}"));
    sleeps.join().expect("the sleeper");
}

#[test]
fn sampling_begins_with_the_first_statement_that_reads_samples() {
    let running = Running::start();
    let mut root = running.root();
    let count = |name: &str| format!("SELECT COUNT(*) FROM {name}");
    let history = count("tare.active_session_history");
    assert_eq!(one(&mut root, &history), "0");
    let warning: Option<(String, u16, String)> = root.query_first("SHOW WARNINGS").expect("rows");
    let (_, code, message) = warning.expect("a warning");
    assert_eq!(code, 1105);
    assert!(message.contains("begins with this statement"), "{message}");
    until("the reader itself is sampled", || {
        exec(
            &mut root,
            "SELECT COUNT(*) FROM performance_schema.events_waits_summary_by_instance, information_schema.columns",
        );
        one(&mut root, &history) != "0"
    });
    assert_eq!(one(&mut root, "SELECT @@warning_count"), "0");
    assert_eq!(
        one(
            &mut root,
            "SELECT COUNT(*) FROM tare.active_time_by_user WHERE user = 'root' AND seconds >= 0.1"
        ),
        "1"
    );
    let texts = "SELECT GROUP_CONCAT(digest_text) FROM tare.active_time_by_statement";
    assert!(one(&mut root, texts).contains("`information_schema` . `columns`"));
}

#[test]
fn only_who_may_read_the_segment_reads_sessions_of_others() {
    let running = Running::start();
    let mut root = running.root();
    exec(
        &mut root,
        "CREATE USER 'other'@'%' IDENTIFIED WITH mysql_native_password BY 'a long password'",
    );
    let mut other = running
        .tcp("other", Some("a long password"))
        .expect("it connects");
    for table in [
        "active_sessions",
        "active_session_history",
        "active_time_by_user",
    ] {
        let sql = format!("SELECT * FROM tare.{table}");
        assert_eq!(errno(&mut other, &sql), 1142, "{table}");
    }
}
