//! The MySQL door: servers that report the rest of a packet with each of its statements, the names of locks of
//! GET_LOCK, and texts in the character sets of clients.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::Conn;
use mysql::prelude::Queryable;

use servers::{Engine, Server, Version};
use support::wait_for;

fn check_packets(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Tare, &[]);
    let mut connection = server.connect();
    connection
        .query_drop("CREATE DATABASE packets")
        .expect("created");
    connection.query_drop("USE packets").expect("used");
    connection
        .query_drop("CREATE TABLE t (i INT)")
        .expect("created");
    let create = "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END";
    connection.query_drop(create).expect("created");
    connection
        .query_drop("SELECT 1; SELECT 1, 2; INSERT INTO t VALUES (1); SET @a = ';'")
        .expect("four statements");
    connection.query_drop("SELECT 1;").expect("one statement");
    // A server answers before it reports the end of a statement.
    connection.query_drop("DO 0").expect("done");
    let rows = server.tare(
        "SELECT DIGEST_TEXT AS text, COUNT_STAR AS n FROM performance_schema.events_statements_summary_by_digest \
         WHERE SCHEMA_NAME = 'packets' ORDER BY 1",
    );
    let digests: Vec<(&str, u64)> = (rows.iter())
        .map(|row| {
            let text = row["text"].as_str().expect("a text");
            (text, row["n"].as_u64().expect("a number"))
        })
        .filter(|(text, _)| !text.starts_with("DO"))
        .collect();
    let program = "CREATE PROCEDURE `p` ( ) BEGIN SELECT ? ; SELECT ? ; END";
    let expected = [
        (program, 1),
        ("CREATE TABLE `t` ( `i` INTEGER )", 1),
        ("INSERT INTO `t` VALUES (?)", 1),
        ("SELECT ?", 2),
        ("SELECT ?, ...", 1),
        ("SET @? = ?", 1),
    ];
    assert_eq!(digests, expected, "{version}");
    connection
        .query_drop("SELECT GET_LOCK('a lock', 0)")
        .expect("a lock");
    let locks = server.tare(
        "SELECT OBJECT_SCHEMA AS object_schema, OBJECT_NAME AS object_name FROM performance_schema.metadata_locks \
         WHERE OBJECT_TYPE = 'USER LEVEL LOCK'",
    );
    assert_eq!(locks.len(), 1, "{version}: {locks:?}");
    assert!(locks[0]["object_schema"].is_null(), "{version}: {locks:?}");
    assert_eq!(locks[0]["object_name"], "a lock", "{version}");
    check_texts(&server);
    server.stop();
}

/// Bytes that are characters in UTF-8, and others in the character sets below.
const TEXT: &str = "\u{6587}\u{6587}";

/// A client's texts are converted to UTF-8 from the character set that it speaks.
fn check_texts(server: &Server) {
    let version = server.version;
    let mut connection = server.connect();
    for charset in ["utf8", "latin1", "gbk", "koi8r"] {
        let question =
            format!("SELECT CONVERT(CONVERT(x'E69687E69687' USING {charset}) USING utf8mb4)");
        let expected: Option<String> = connection.query_first(&question).expect(&question);
        let expected = expected.expect("a text");
        for statement in [
            format!("SET NAMES {charset}"),
            format!("SELECT '{TEXT}' AS in_{charset}"),
            format!("PREPARE p FROM \"SELECT '{TEXT}' AS prepared_in_{charset}\""),
            // A server answers before it reports the end of a statement.
            "DO 0".to_owned(),
        ] {
            connection.query_drop(&statement).expect(&statement);
        }
        let query = |sql: &str| server.tare(&sql.replace("{charset}", charset))[0]["text"].clone();
        let text = query(
            "SELECT SQL_TEXT AS text FROM performance_schema.events_statements_history WHERE SQL_TEXT LIKE '% AS in\\_{charset}'",
        );
        let plain = format!("SELECT '{expected}' AS in_{charset}");
        assert_eq!(text, plain, "{version}");
        let text = query(
            "SELECT QUERY_SAMPLE_TEXT AS text FROM performance_schema.events_statements_summary_by_digest \
             WHERE QUERY_SAMPLE_TEXT LIKE '% AS in\\_{charset}'",
        );
        assert_eq!(text, plain, "{version}");
        // 5.7 reports only that there is a PREPARE.
        if version != Version::Mysql57 {
            let text = query(
                "SELECT SQL_TEXT AS text FROM performance_schema.prepared_statements_instances",
            );
            let prepared = format!("SELECT '{expected}' AS prepared_in_{charset}");
            assert_eq!(text, prepared, "{version}");
        }
        connection.query_drop("SET NAMES utf8mb4").expect("set");
    }
    check_running_text(server, connection);
}

/// The same for the text of a statement that runs at the level `active`.
fn check_running_text(server: &Server, mut connection: Conn) {
    let id: Option<u64> = connection
        .query_first("SELECT CONNECTION_ID()")
        .expect("an id");
    connection.query_drop("SET NAMES latin1").expect("set");
    server.tare("UPDATE tare.setup_sampling SET sampling = 'active'");
    let sleeping =
        std::thread::spawn(move || connection.query_drop(format!("SELECT '{TEXT}', SLEEP(600)")));
    let text = wait_for("the statement's text", || {
        let rows = server.tare(
            "SELECT sql_text AS text FROM tare.active_sessions WHERE sql_text LIKE '%SLEEP(600)'",
        );
        rows.first().map(|row| row["text"].clone())
    });
    let latin1 = "\u{e6}\u{2013}\u{2021}\u{e6}\u{2013}\u{2021}";
    assert_eq!(
        text,
        format!("SELECT '{latin1}', SLEEP(600)"),
        "{}",
        server.version
    );
    let kill = format!("KILL {}", id.expect("an id"));
    server.connect().query_drop(kill).expect("killed");
    let _ = sleeping.join().expect("ends");
    server.tare("UPDATE tare.setup_sampling SET sampling = 'every'");
}

#[test]
fn mysql_9_7() {
    check_packets(Version::Mysql97);
}

#[test]
fn mysql_5_7() {
    check_packets(Version::Mysql57);
}

#[test]
fn mariadb() {
    check_packets(Version::Mariadb);
}

#[test]
fn mariadb_11_4() {
    check_packets(Version::Mariadb114);
}

#[test]
fn mysql_8_0() {
    check_packets(Version::Mysql80);
}
