//! The MySQL door: column SOURCE has the file and line that the server's own engine has.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::BTreeSet;

use mysql::Conn;
use mysql::prelude::Queryable;

use servers::{Engine, Server, Version, run};
use support::wait_for;

const SCRIPT: &[&str] = &[
    "CREATE DATABASE place",
    "USE place",
    "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b))",
    "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
    "SELECT * FROM t WHERE a = 2",
    "SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY b",
    "CREATE PROCEDURE within() UPDATE t SET b = b + 1 WHERE a = 1",
    "CALL within()",
    "DELETE FROM t WHERE a = 3",
    "BEGIN",
    "UPDATE t SET b = 7 WHERE a = 2",
    "SELECT 'last'",
];

/// How often the script runs on the server's own engine until it has the sources that Tare has.
const MAX_RUNS: usize = 20;

/// Options with which the histories of the server's own engine hold the whole script.
const LARGE_HISTORIES: &[&str] = &[
    "--loose-performance-schema-events-waits-history-long-size=200000",
    "--loose-performance-schema-events-stages-history-long-size=10000",
    "--loose-performance-schema-events-transactions-history-long-size=10000",
    "--loose-performance-schema-consumer-events-stages-history-long=ON",
    "--loose-performance-schema-consumer-events-transactions-history-long=ON",
];

/// Events whose sources must all be the same.
const EXACT: &[(&str, &str)] = &[
    (
        "statements",
        "events_statements_history_long WHERE THREAD_ID = {thread}",
    ),
    (
        "stages",
        "events_stages_history_long WHERE THREAD_ID = {thread}",
    ),
    (
        "transactions",
        "events_transactions_history_long WHERE THREAD_ID = {thread}",
    ),
    (
        "waits",
        "events_waits_history_long WHERE THREAD_ID = {thread} AND (EVENT_NAME = 'idle' \
         OR EVENT_NAME LIKE 'wait/io/table/%' OR EVENT_NAME LIKE 'wait/lock/table/%')",
    ),
];

/// Events that depend on other threads, so that they vary from run to run. Most of Tare's must occur in
/// some run on the server's own engine. Tare has only those locks that were contended or tried, which
/// are few; the server's own engine has all.
const MOST: &[(&str, &str)] = &[
    (
        "files",
        "events_waits_history_long WHERE THREAD_ID = {thread} AND EVENT_NAME LIKE 'wait/io/file/%'",
    ),
    (
        "locks",
        "events_waits_history_long WHERE THREAD_ID = {thread} AND EVENT_NAME LIKE 'wait/synch/%'",
    ),
];

/// Pairs of event name and source.
type Sources = BTreeSet<(String, String)>;

struct ScriptedServer {
    server: Server,
    control: Conn,
    thread: u64,
    connection: Conn,
}

impl ScriptedServer {
    /// Starts a server and runs the script on a connection.
    fn new(version: Version, engine: Engine) -> Self {
        let options = match engine {
            Engine::Stock => LARGE_HISTORIES,
            _ => &[],
        };
        let server = Server::start(version, engine, options);
        let mut server = Self {
            connection: server.connect(),
            control: server.connect(),
            server,
            thread: 0,
        };
        server.run_script();
        let of = format!(
            "SELECT THREAD_ID AS a, '' AS b FROM performance_schema.threads WHERE PROCESSLIST_ID = {}",
            server.connection.connection_id()
        );
        server.thread = server
            .pairs(&of)
            .first()
            .expect("a thread")
            .0
            .parse()
            .expect("a number");
        // A server answers before it reports the end of a statement.
        wait_for("the last statement's end", || {
            let last = "SELECT EVENT_NAME AS a, 'x' AS b FROM performance_schema.events_statements_history_long \
                        WHERE SQL_TEXT LIKE 'SELECT ''last''%' AND THREAD_ID = ";
            (!server.pairs(&format!("{last}{}", server.thread)).is_empty()).then_some(())
        });
        server
    }

    fn run_script(&mut self) {
        run(&mut self.connection, SCRIPT);
    }

    fn run_script_again(&mut self) {
        self.connection
            .query_drop("DROP DATABASE place")
            .expect("the database goes");
        self.run_script();
    }

    /// Two columns, `a` and `b`.
    fn pairs(&mut self, question: &str) -> Sources {
        if self.server.engine == Engine::Stock {
            let rows: Vec<(String, Option<String>)> = self.control.query(question).expect(question);
            return rows
                .into_iter()
                .map(|(a, b)| (a, b.unwrap_or_default()))
                .collect();
        }
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Null => String::new(),
            other => other.to_string(),
        };
        let rows = self.server.tare(question);
        rows.iter()
            .map(|row| (text(&row["a"]), text(&row["b"])))
            .collect()
    }

    fn sources(&mut self, from: &str) -> Sources {
        let from = from.replace("{thread}", &self.thread.to_string());
        self.pairs(&format!(
            "SELECT EVENT_NAME AS a, SOURCE AS b FROM performance_schema.{from} GROUP BY EVENT_NAME, SOURCE"
        ))
    }

    fn metadata_locks(&mut self) -> Sources {
        self.pairs(&format!(
            "SELECT OBJECT_TYPE AS a, SOURCE AS b FROM performance_schema.metadata_locks \
             WHERE OWNER_THREAD_ID = {} GROUP BY OBJECT_TYPE, SOURCE",
            self.thread
        ))
    }
}

fn check_sources(version: Version) {
    if version.is_left_out() {
        return;
    }
    let mut stock = ScriptedServer::new(version, Engine::Stock);
    let mut tare = ScriptedServer::new(version, Engine::Tare);
    let compared = |what: &str, expected: Sources, sources: Sources| {
        assert!(!expected.is_empty(), "{version}: {what}");
        let has_line = |(_, source): &(String, String)| source.contains(':');
        assert!(
            sources.iter().all(has_line),
            "{version}: {what}: {sources:?}"
        );
        assert_eq!(
            expected.iter().any(has_line),
            !version.is_mariadb(),
            "{version}: {what}"
        );
        match version.is_mariadb() {
            false => (expected, sources),
            // Its own engine leaves the column empty, so that only events are compared.
            true => (
                expected,
                sources
                    .into_iter()
                    .map(|(event, _)| (event, String::new()))
                    .collect(),
            ),
        }
    };
    for (what, from) in EXACT {
        if version == Version::Mysql56 && *what == "transactions" {
            continue;
        }
        let (expected, sources) = compared(what, stock.sources(from), tare.sources(from));
        assert_eq!(sources, expected, "{version}: {what}");
    }
    for (what, from) in MOST {
        let mut runs = 1;
        loop {
            let (expected, sources) = compared(what, stock.sources(from), tare.sources(from));
            // In MariaDB no lock is tried or contended here.
            assert!(version.is_mariadb() && *what == "locks" || !sources.is_empty());
            let same = sources.intersection(&expected).count();
            // On a busy machine a background thread may wait for a lock that is free in the other
            // server, so one of a few sources may differ.
            if same * 10 >= sources.len() * 8 || sources.len() - same == 1 && same > 0 {
                break;
            }
            let others: Vec<_> = sources.difference(&expected).collect();
            assert!(
                runs < MAX_RUNS,
                "{version}: {what}: {same} of {} are the same, and not {others:#?}",
                sources.len()
            );
            stock.run_script_again();
            runs += 1;
        }
    }
    if version != Version::Mysql56 {
        let (expected, sources) = compared(
            "metadata locks",
            stock.metadata_locks(),
            tare.metadata_locks(),
        );
        assert_eq!(sources, expected, "{version}: metadata locks");
    }
    let lost = tare.server.tare("SHOW STATUS LIKE 'Tare_sources_lost'");
    assert_eq!(lost[0]["Value"].as_str(), Some("0"));
    stock.server.stop();
    tare.server.stop();
}

#[test]
fn mariadb() {
    check_sources(Version::Mariadb);
}

#[test]
#[ignore = "MariaDB 11.4 is left to make test-long"]
fn mariadb_11_4() {
    check_sources(Version::Mariadb114);
}

#[test]
#[ignore = "MariaDB 11.8 is left to make test-long"]
fn mariadb_11_8() {
    check_sources(Version::Mariadb118);
}

#[test]
fn mysql_9_7() {
    check_sources(Version::Mysql97);
}

#[test]
fn mysql_5_7() {
    check_sources(Version::Mysql57);
}

#[test]
#[ignore = "MySQL 5.6 is left to make test-long"]
fn mysql_5_6() {
    check_sources(Version::Mysql56);
}

#[test]
#[ignore = "MySQL 8.0 is left to make test-long"]
fn mysql_8_0() {
    check_sources(Version::Mysql80);
}
