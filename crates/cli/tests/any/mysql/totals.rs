//! The counts of a connection's statements are those of the server's own Performance Schema.

use std::collections::BTreeMap;

use mysql::prelude::Queryable;
use mysql::{Conn, Params, Row};

use super::{Server, Version};
use crate::support::wait_for;

/// Statements of many kinds, one a line; some fail. A line may have several.
const SCRIPT: &str = include_str!("script.sql");

#[test]
fn counts_and_digests_of_mariadb_are_its_own() {
    check(Version::Mariadb);
}

#[test]
fn counts_and_digests_of_mysql_9_7_are_its_own() {
    check(Version::Mysql97);
}

#[test]
fn counts_and_digests_of_mysql_8_0_are_its_own() {
    check(Version::Mysql80);
}

#[test]
fn counts_and_digests_of_a_thread_pool_are_its_own() {
    check_with(Version::Mariadb, &["--thread-handling=pool-of-threads"]);
}

fn check(version: Version) {
    check_with(version, &[]);
}

fn check_with(version: Version, options: &[&str]) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, options);
    let mut connection = server.connect();
    for line in SCRIPT.lines().filter(|line| !line.is_empty()) {
        run_text(&mut connection, line);
    }
    run_prepared(&mut connection);
    let id = connection.connection_id();
    let mut other = server.connect();
    // A client gets its result before the server has counted the statement.
    let own = wait_for("the server to count", || {
        let sql = format!(
            "SELECT EVENT_NAME, COUNT_STAR, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT \
             FROM performance_schema.events_statements_summary_by_thread_by_event_name \
             JOIN performance_schema.threads USING (THREAD_ID) \
             WHERE PROCESSLIST_ID = {id} AND COUNT_STAR > 0 AND EVENT_NAME NOT LIKE 'statement/sp/%'"
        );
        let own = sums(other.query(sql).expect("the server's own"));
        own.contains_key("statement/com/Ping").then_some(own)
    });
    let tare = wait_for("Tare to count", || {
        let sql = format!(
            "SELECT EVENT_NAME AS name, COUNT_STAR AS n, SUM_ERRORS AS errors, SUM_WARNINGS AS warnings, \
             SUM_ROWS_AFFECTED AS affected, SUM_ROWS_SENT AS sent \
             FROM performance_schema.events_statements_summary_by_thread_by_event_name \
             JOIN performance_schema.threads USING (THREAD_ID) \
             WHERE PROCESSLIST_ID = {id} AND COUNT_STAR > 0"
        );
        let rows = server.rows(&sql).into_iter();
        let tare: BTreeMap<_, _> = rows
            .map(|row| {
                let number = |name: &str| row[name].as_u64().expect("a number");
                let name = row["name"].as_str().expect("a name");
                let numbers = ["n", "errors", "warnings", "affected", "sent"].map(number);
                (name.to_owned(), without_internal(name, numbers))
            })
            .collect();
        tare.contains_key("statement/com/Ping").then_some(tare)
    });
    assert!(own.len() > 20, "{own:?}");
    assert_eq!(tare, own, "{version}");
    compare_digests(&server, &mut other);
}

/// The server counts no rows that it sends outside of a query's result, such as those of SHOW.
fn without_internal(name: &str, mut numbers: [u64; 5]) -> [u64; 5] {
    let is_query = ["/select", "/Execute", "/execute_sql"];
    if !is_query.iter().any(|end| name.ends_with(end)) {
        numbers[4] = 0;
    }
    numbers
}

fn sums(rows: Vec<Row>) -> BTreeMap<String, [u64; 5]> {
    let sums = rows.into_iter().map(|row| {
        let (name, n, errors, warnings, affected, sent) = mysql::from_row(row);
        let name: String = name;
        let numbers = without_internal(&name, [n, errors, warnings, affected, sent]);
        (name, numbers)
    });
    sums.collect()
}

/// Runs a text and reads its results.
fn run_text(connection: &mut Conn, text: &str) {
    // An error is one of the results.
    if let Ok(mut results) = connection.query_iter(text) {
        while let Some(rows) = results.iter() {
            rows.for_each(drop);
        }
    }
}

fn run_prepared(connection: &mut Conn) {
    let insert = connection.prep("INSERT INTO t VALUES (?, ?)");
    let insert = insert.expect("prepared");
    for number in 100..110 {
        connection
            .exec_drop(&insert, (number, "prepared"))
            .expect("executed");
    }
    connection
        .exec_drop(&insert, (100, "again"))
        .expect_err("a duplicate");
    let long = "x".repeat(100_000);
    connection
        .exec_drop(&insert, (200, &long))
        .expect_err("too long");
    let select = connection.prep("SELECT * FROM t WHERE a > ?");
    let select = select.expect("prepared");
    let rows: Vec<Row> = connection.exec(&select, (100,)).expect("executed");
    assert_eq!(rows.len(), 9);
    connection.close(insert).expect("closed");
    connection
        .exec_drop("CALL q(3)", Params::Empty)
        .expect("called");
    connection
        .prep("SELECT nothing FROM t")
        .expect_err("no column");
    connection.prep("SELEC 1").expect_err("no syntax");
    connection.ping().expect("answered");
}

/// Digests of the texts with several statements.
const SEVERAL: [&str; 5] = [
    "SELECT ?",
    "SELECT ?, ...",
    "SELECT `nothing`",
    "SELECT `b` FROM `t` WHERE `a` = ?",
    "INSERT INTO `t` VALUES (...)",
];

/// Of statements whose digest the server takes of what the client sent.
fn compare_digests(server: &Server, other: &mut Conn) {
    let sql = "SELECT DIGEST_TEXT AS text, SUM(COUNT_STAR) AS n \
               FROM performance_schema.events_statements_summary_by_digest \
               WHERE SCHEMA_NAME = 'shop' AND (DIGEST_TEXT LIKE 'SELECT%' OR DIGEST_TEXT LIKE 'INSERT%' \
               OR DIGEST_TEXT LIKE 'UPDATE%' OR DIGEST_TEXT LIKE 'DELETE%' OR DIGEST_TEXT LIKE 'EXECUTE %') \
               GROUP BY DIGEST_TEXT";
    let is_compared = |text: &str| match server.version {
        // It gives EXECUTE the digest of the statement that was prepared in SQL.
        Version::Mysql97 => !text.starts_with("EXECUTE DO") && !text.contains("USING"),
        _ if text.starts_with("EXECUTE") => false,
        // SHOW and DESCRIBE are queries of a view.
        Version::Mysql80 => !text.contains("`cat`"),
        // The digest of each statement of a text is that of the text.
        _ => !SEVERAL.contains(&text),
    };
    let own: BTreeMap<String, u64> = (other.query(sql).expect("the server's own").into_iter())
        .map(|(text, n): (String, u64)| (text.trim_end().trim_end_matches(" ;").to_owned(), n))
        .filter(|(text, _)| is_compared(text))
        .collect();
    let tare: BTreeMap<String, u64> = (server.rows(sql).into_iter())
        .map(|row| {
            let n = row["n"]
                .as_u64()
                .or_else(|| row["n"].as_str()?.parse().ok());
            let text = row["text"].as_str().expect("a text");
            (text.to_owned(), n.expect("a number"))
        })
        .filter(|(text, _)| is_compared(text))
        .collect();
    assert!(own.len() > 10, "{own:?}");
    assert_eq!(tare, own, "{}", server.version);
}
