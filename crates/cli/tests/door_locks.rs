//! The MySQL door: that the words of the server's locks are what docs/door.md says. One word that is not,
//! and every acquisition of its class would look contended; a lock that is held must look so.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::prelude::Queryable;

use servers::{Engine, Server, Version};

/// So many acquisitions of a class say something about it.
const MANY: u64 = 500;

/// Counts of a row: event name, acquisitions, contended ones.
fn contention(server: &Server) -> Vec<(String, u64, u64)> {
    let rows = server.tare(
        "SELECT event_name, count_star, count_contended FROM tare.contention_by_event_name \
         WHERE event_name LIKE 'wait/synch/%'",
    );
    rows.iter()
        .map(|row| {
            let number = |name: &str| row[name].as_u64().expect("a number");
            let name = row["event_name"].as_str().expect("a name").to_owned();
            (name, number("count_star"), number("count_contended"))
        })
        .collect()
}

fn locks_are_seen_free(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Tare, &[]);
    let mut connection = server.connect();
    for statement in [
        "CREATE DATABASE locks",
        "USE locks",
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b)) ENGINE=InnoDB",
    ] {
        connection.query_drop(statement).expect(statement);
    }
    for i in 0..400 {
        let insert = format!("INSERT INTO t VALUES ({i}, {})", i % 7);
        connection.query_drop(insert).expect("inserted");
        connection
            .query_drop(format!("SELECT * FROM t WHERE b = {}", i % 7))
            .expect("selected");
    }
    let counts = contention(&server);
    let said: Vec<_> = counts.iter().filter(|(_, n, _)| *n >= MANY).collect();
    // Of each sort of word: the C library's, InnoDB's mutexes and its latches.
    let latches = match version {
        Version::Mysql56 => "rwlock/innodb/",
        _ => "sxlock/innodb/",
    };
    for sort in ["mutex/sql/", "mutex/innodb/", latches, "rwlock/sql/"] {
        let prefix = format!("wait/synch/{sort}");
        assert!(
            said.iter().any(|(name, ..)| name.starts_with(&prefix)),
            "no class of {sort} was taken {MANY} times: {counts:?}"
        );
    }
    // From 9.7 on this one is no latch: it has no word that could be seen free.
    let is_unseen =
        |name: &str| version == Version::Mysql97 && name == "wait/synch/sxlock/innodb/log_sn_lock";
    for (name, count, contended) in said.into_iter().filter(|(name, ..)| !is_unseen(name)) {
        assert!(
            2 * contended < *count,
            "{name}: {contended} of {count} looked taken, with one connection"
        );
    }
    // An index has a latch: more of them than a class has instances. The rest is lost, and said to be.
    let index = format!("wait/synch/{latches}index_tree_rw_lock");
    connection
        .query_drop(
            "CREATE TABLE parts (a INT) ENGINE = InnoDB PARTITION BY HASH (a) PARTITIONS 1100",
        )
        .expect("made");
    let listed = server.tare(&format!(
        "SELECT COUNT(*) AS n FROM performance_schema.rwlock_instances WHERE NAME = '{index}'"
    ));
    let lost = server.tare("SHOW STATUS LIKE 'Performance_schema_rwlock_instances_lost'");
    let lost: u64 = lost[0]["Value"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .expect("a number");
    assert_eq!(listed[0]["n"].as_u64(), Some(1024), "{listed:?}");
    assert!(lost >= 1100 - 1024, "{lost}");
    // The server's own lock of an object, held by one, is waited for by another: what waits is a condition.
    connection
        .query_drop("LOCK TABLES t WRITE")
        .expect("locked");
    let mut other = server.connect();
    other
        .query_drop("SET SESSION lock_wait_timeout = 1")
        .expect("set");
    let refused = other.query_drop("SELECT * FROM locks.t");
    assert!(matches!(refused, Err(mysql::Error::MySqlError(e)) if e.code == 1205));
    // 5.6 tells of the condition alone.
    let waits = match version {
        Version::Mysql56 => "wait/synch/cond/sql/MDL_context::COND_wait_status",
        _ => "wait/lock/metadata/sql/mdl",
    };
    let rows = server.tare(&format!(
        "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
         WHERE EVENT_NAME = '{waits}'"
    ));
    assert!(rows[0]["COUNT_STAR"].as_u64() >= Some(1), "{rows:?}");
    server.stop();
}

#[test]
fn mysql_9_7() {
    locks_are_seen_free(Version::Mysql97);
}

#[test]
fn mysql_5_7() {
    locks_are_seen_free(Version::Mysql57);
}

#[test]
#[ignore = "MySQL 5.6 is left to make test-long"]
fn mysql_5_6() {
    locks_are_seen_free(Version::Mysql56);
}

#[test]
#[ignore = "MySQL 8.0 is left to make test-long"]
fn mysql_8_0() {
    locks_are_seen_free(Version::Mysql80);
}
