//! The tables of active sessions, of an unmodified MySQL at the level `active`: by `tare sql`, and by `tare
//! serve` that is attached to it and samples it.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::Conn;
use mysql::prelude::Queryable;
use servers::{Engine, Server, Version, run};
use support::server::connect;
use support::wait_for;

const UPDATE: &str = "UPDATE moments.t SET b = 4 WHERE a = 1";

/// Runs a statement on a connection of its own until it is killed; the connection's id.
fn start(server: &Server, text: &'static str) -> (u32, std::thread::JoinHandle<()>) {
    let mut connection = server.connect();
    let id = connection.connection_id();
    let runs = std::thread::spawn(move || {
        // A statement that was killed has failed.
        let _killed = connection.query_drop(text);
    });
    (id, runs)
}

fn number(served: &mut Conn, sql: &str) -> f64 {
    let value: Option<Option<f64>> = served.query_first(sql).expect(sql);
    value
        .flatten()
        .unwrap_or_else(|| panic!("{sql} has no number"))
}

#[test]
fn active_sessions_of_mysql_are_listed_and_their_time_is_estimated() {
    if Version::Mysql97.is_left_out() {
        return;
    }
    let server = Server::start(Version::Mysql97, Engine::Sampled("active"), &[]);
    let mut connection = server.connect();
    run(
        &mut connection,
        &[
            "CREATE DATABASE moments",
            "CREATE TABLE moments.t (a BIGINT PRIMARY KEY, b BIGINT) ENGINE = InnoDB",
            "INSERT INTO moments.t VALUES (1, 1)",
            "BEGIN",
            "UPDATE moments.t SET b = 3 WHERE a = 1",
        ],
    );
    let (sleeper, sleeps) = start(&server, "SELECT SLEEP(1000)");
    let (updater, updates) = start(&server, UPDATE);

    // What they do now.
    let rows = wait_for("both sessions asleep in their waits", || {
        let rows = server.tare(
            "SELECT processlist_id AS id, user, statement, sql_text, stage, wait, object_schema, object_name, state, \
             statement_started IS NOT NULL AS started FROM tare.active_sessions WHERE processlist_id IS NOT NULL \
             ORDER BY processlist_id",
        );
        let are_asleep = rows
            .iter()
            .all(|row| row["state"] == "waiting" && !row["wait"].is_null());
        (rows.len() == 2 && are_asleep).then_some(rows)
    });
    let [slept, updated] = &rows[..] else {
        unreachable!()
    };
    assert_eq!(slept["id"], sleeper);
    assert_eq!(slept["sql_text"], "SELECT SLEEP(1000)");
    assert_eq!(slept["statement"], "statement/sql/select");
    assert_eq!(slept["stage"], "stage/sql/User sleep");
    assert_eq!(slept["user"], "root");
    assert_eq!(slept["started"], 1);
    assert!(
        slept["wait"]
            .as_str()
            .expect("a wait")
            .starts_with("wait/synch/cond/sql/")
    );
    assert_eq!(updated["id"], updater);
    assert_eq!(updated["sql_text"], UPDATE);
    assert_eq!(updated["wait"], "wait/io/table/sql/handler");
    assert_eq!(updated["object_schema"], "moments");
    assert_eq!(updated["object_name"], "t");

    // What they did since an observer began.
    let (_served, socket) = server.serve_attached();
    let served = &mut connect(&socket).expect("connected");
    let moments = "SELECT COUNT(DISTINCT sampled_at) FROM tare.active_session_history";
    wait_for("samples", || (number(served, moments) >= 5.0).then_some(()));
    assert_eq!(
        number(served, "SELECT @@warning_count"),
        0.0,
        "it began at the start"
    );
    for (table, condition) in [
        (
            "statement",
            "statement = 'statement/sql/select' AND digest_text = 'SELECT `SLEEP` (?)'",
        ),
        (
            "statement",
            "digest_text = 'UPDATE `moments` . `t` SET `b` = ? WHERE `a` = ?'",
        ),
        (
            "wait",
            "state = 'waiting' AND wait = 'wait/io/table/sql/handler' AND system_call IS NULL",
        ),
        (
            "stage",
            "stage = 'stage/sql/User sleep' AND waiting_seconds > 0",
        ),
        ("user", "user = 'root'"),
        ("table", "object_schema = 'moments' AND object_name = 't'"),
    ] {
        let sql = format!(
            "SELECT SUM(seconds) FROM tare.active_time_by_{table} WHERE {condition} AND seconds_error IS NOT NULL"
        );
        assert!(number(served, &sql) >= 0.5, "{sql}");
    }
    // One statement reads the samples once, so its sums agree.
    for table in ["statement", "wait", "stage", "user"] {
        let sql = format!(
            "SELECT ABS((SELECT SUM(seconds) FROM tare.active_session_history) \
             - (SELECT SUM(seconds) FROM tare.active_time_by_{table}))"
        );
        assert!(number(served, &sql) < 1e-6, "{sql}");
    }
    // A session that was asleep in every sample has no error to speak of; one row more or less would be 0.1 s.
    let steady =
        "SELECT seconds_error / seconds FROM tare.active_time_by_table WHERE object_name = 't'";
    assert!(number(served, steady) < 0.2);

    for id in [sleeper, updater] {
        run(&mut connection, &[&format!("KILL {id}")]);
    }
    sleeps.join().expect("the sleeper");
    updates.join().expect("the updater");
    served
        .query_drop("TRUNCATE TABLE tare.active_session_history")
        .expect("truncated");
    let of_sleeper =
        "SELECT COUNT(*) FROM tare.active_session_history WHERE stage = 'stage/sql/User sleep'";
    assert_eq!(number(served, of_sleeper), 0.0);
    server.stop();
}
