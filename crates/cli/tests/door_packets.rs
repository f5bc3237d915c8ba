//! The MySQL door: servers that report the rest of a packet with each of its statements, and the names of
//! locks of GET_LOCK.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::prelude::Queryable;

use servers::{Engine, Server, Version};

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
    server.stop();
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
