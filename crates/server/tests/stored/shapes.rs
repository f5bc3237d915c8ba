//! Statements' events in performance_schema: fifty shapes of statements compared with the figures of MySQL
//! 9.7 in `shapes.tsv`. `TARE_STORED_SHAPES=9.7` asks the server of scripts/servers and rewrites the file.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use mysql::Conn;

use super::mysqld;
use super::support::{self, exec};

/// The columns of events_statements_history that are compared.
const FACTS: &[&str] = &[
    "NO_INDEX_USED",
    "NO_GOOD_INDEX_USED",
    "CREATED_TMP_TABLES",
    "CREATED_TMP_DISK_TABLES",
    "SORT_ROWS",
    "SORT_SCAN",
    "SELECT_SCAN",
    "SELECT_FULL_JOIN",
    "ROWS_EXAMINED",
    "ROWS_AFFECTED",
    "ROWS_SENT",
];

/// A thousand rows, and a hundred rows to join them with.
const TABLES: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), d DATE, KEY k_a (a), KEY k_c (c))",
    "CREATE TABLE u (id INT PRIMARY KEY, t_id INT, v INT, UNIQUE KEY u_v (v), KEY k_t (t_id))",
    "CREATE TABLE n (x INT, y INT)",
    "INSERT INTO t WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) \
     SELECT i, i % 100, i % 7, CONCAT('name', i % 50), '2026-01-01' + INTERVAL i % 365 DAY FROM r",
    "INSERT INTO u WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 100) \
     SELECT i, i * 10, i FROM r",
    "INSERT INTO n WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 20) \
     SELECT i, i % 3 FROM r",
];

/// The statements, in the order of their execution.
const SHAPES: &[&str] = &[
    "SELECT * FROM t WHERE id = 7",
    "SELECT * FROM t WHERE id IN (1, 2, 3)",
    "SELECT * FROM t WHERE id BETWEEN 10 AND 19",
    "SELECT * FROM t WHERE id > 990",
    "SELECT * FROM t",
    "SELECT * FROM t WHERE b = 3",
    "SELECT * FROM t WHERE b + 0 = 3 LIMIT 5",
    "SELECT * FROM t LIMIT 10",
    "SELECT * FROM t WHERE a = 5",
    "SELECT * FROM t WHERE a BETWEEN 5 AND 7",
    "SELECT * FROM t WHERE c = 'name7'",
    "SELECT * FROM t WHERE c LIKE 'name7%'",
    "SELECT * FROM t WHERE c LIKE '%7'",
    "SELECT * FROM t ORDER BY id LIMIT 5",
    "SELECT * FROM t ORDER BY id DESC LIMIT 5",
    "SELECT * FROM t ORDER BY b",
    "SELECT * FROM t ORDER BY b LIMIT 5",
    "SELECT * FROM t WHERE id < 50 ORDER BY b",
    "SELECT * FROM t WHERE a = 5 ORDER BY b",
    "SELECT a FROM t ORDER BY a LIMIT 5",
    "SELECT COUNT(*) FROM n",
    "SELECT SUM(b) FROM t",
    "SELECT MAX(id) FROM t",
    "SELECT MAX(b) FROM t",
    "SELECT b, COUNT(*) FROM t GROUP BY b",
    "SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY b",
    "SELECT a, COUNT(*) FROM t GROUP BY a",
    "SELECT d, SUM(b) FROM t GROUP BY d ORDER BY SUM(b) DESC LIMIT 3",
    "SELECT DISTINCT b FROM t",
    "SELECT DISTINCT a FROM t",
    "SELECT COUNT(DISTINCT b) FROM t",
    "SELECT x FROM n UNION SELECT y FROM n",
    "SELECT x FROM n UNION ALL SELECT y FROM n",
    "SELECT * FROM u JOIN t ON t.id = u.t_id",
    "SELECT * FROM u JOIN t ON t.id = u.t_id WHERE u.id = 3",
    "SELECT * FROM u JOIN t ON t.id = u.t_id WHERE u.v < 5",
    "SELECT * FROM n JOIN u ON u.v = n.x",
    "SELECT * FROM n JOIN n AS m ON m.y = n.x",
    "SELECT COUNT(*) FROM n, n AS m",
    "SELECT * FROM n LEFT JOIN u ON u.id = n.x WHERE u.id IS NULL",
    "SELECT * FROM u WHERE id IN (SELECT x FROM n)",
    "SELECT * FROM u WHERE EXISTS (SELECT 1 FROM n WHERE n.x = u.id)",
    "SELECT (SELECT MAX(y) FROM n) FROM u WHERE id = 1",
    "SELECT * FROM (SELECT y, COUNT(*) AS k FROM n GROUP BY y) AS q",
    "SELECT * FROM n ORDER BY y, x",
    "SELECT x, ROW_NUMBER() OVER (ORDER BY y) FROM n",
    "SELECT 1",
    "INSERT INTO n VALUES (100, 1), (101, 2)",
    "UPDATE t SET b = 9 WHERE id = 1",
    "UPDATE n SET y = 8 WHERE x = 100",
    "UPDATE t SET d = '2027-01-01' WHERE a = 5",
    "DELETE FROM n WHERE x = 100",
    "DELETE FROM t WHERE id > 995",
    "INSERT INTO n SELECT id, b FROM t WHERE id <= 3",
    "REPLACE INTO u VALUES (1, 1, 1)",
];

const COUNTED: &str =
    "InnoDB knows how many rows there are, or counts them outside of the statement; SQLite counts";
const LAST: &str =
    "SQLite takes the last entry by the beginning of a scan; MySQL before it executes";
const BLOCKS: &str = "MySQL counts each SELECT of the statement and each temporary table that it reads; Tare counts a statement once";
const SEMIJOIN: &str = "MySQL keeps the subquery's rows in a temporary table and reads them again; SQLite looks each one up";
const MEMBERS: &str = "what a subquery or an index of SQLite's own reads is not counted";

/// Where Tare differs, and why. Everything else must be equal. docs/clients.md lists them.
const DIFFERENT: &[(&str, &[&str], &str)] = &[
    (
        "SELECT * FROM t WHERE id < 50 ORDER BY b",
        &["SORT_SCAN"],
        "MySQL 8.0.20 and later count no SORT_RANGE; Tare does, as those before",
    ),
    (
        "SELECT COUNT(*) FROM n",
        &["NO_INDEX_USED", "SELECT_SCAN", "ROWS_EXAMINED"],
        COUNTED,
    ),
    (
        "SELECT COUNT(*) FROM n, n AS m",
        &["NO_INDEX_USED", "SELECT_SCAN", "ROWS_EXAMINED"],
        COUNTED,
    ),
    (
        "SELECT MAX(id) FROM t",
        &["NO_INDEX_USED", "SELECT_SCAN"],
        LAST,
    ),
    (
        "SELECT DISTINCT a FROM t",
        &["SELECT_SCAN", "ROWS_EXAMINED"],
        "MySQL jumps from one value of the index to the next; SQLite reads all entries",
    ),
    (
        "SELECT x FROM n UNION SELECT y FROM n",
        &["SELECT_SCAN", "ROWS_EXAMINED"],
        BLOCKS,
    ),
    (
        "SELECT x FROM n UNION ALL SELECT y FROM n",
        &["SELECT_SCAN"],
        BLOCKS,
    ),
    (
        "SELECT * FROM (SELECT y, COUNT(*) AS k FROM n GROUP BY y) AS q",
        &["SELECT_SCAN", "ROWS_EXAMINED"],
        BLOCKS,
    ),
    (
        "SELECT (SELECT MAX(y) FROM n) FROM u WHERE id = 1",
        &["SELECT_SCAN", "SELECT_FULL_JOIN", "ROWS_EXAMINED"],
        "a subquery's table counts as one that is joined",
    ),
    (
        "SELECT * FROM n JOIN n AS m ON m.y = n.x",
        &["ROWS_EXAMINED"],
        MEMBERS,
    ),
    (
        "SELECT * FROM n LEFT JOIN u ON u.id = n.x WHERE u.id IS NULL",
        &["ROWS_EXAMINED"],
        "a row that is looked up and then left out is not counted",
    ),
    (
        "SELECT * FROM u WHERE id IN (SELECT x FROM n)",
        &["CREATED_TMP_TABLES", "SELECT_SCAN", "ROWS_EXAMINED"],
        SEMIJOIN,
    ),
    (
        "SELECT * FROM u WHERE EXISTS (SELECT 1 FROM n WHERE n.x = u.id)",
        &["CREATED_TMP_TABLES", "ROWS_EXAMINED"],
        SEMIJOIN,
    ),
];

/// The figures of each statement.
fn facts(conn: &mut Conn, watcher: &mut Conn) -> Vec<Vec<String>> {
    for table in TABLES {
        exec(conn, table);
    }
    exec(conn, "ANALYZE TABLE t, u, n");
    let id = support::one(conn, "SELECT CONNECTION_ID()");
    let thread =
        format!("SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {id}");
    let thread = support::one(watcher, &thread);
    let of = |sql: &&str| {
        exec(conn, sql);
        let query = format!(
            "SELECT {} FROM performance_schema.events_statements_history WHERE THREAD_ID = {thread} \
             AND SQL_TEXT = '{}'",
            FACTS.join(", "),
            sql.replace('\'', "''")
        );
        // A statement's event ends after its answer is sent.
        loop {
            if let Some(row) = support::rows(watcher, &query).pop() {
                return row;
            }
            std::thread::yield_now();
        }
    };
    SHAPES.iter().map(of).collect()
}

fn figures_path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored/shapes.tsv")
}

/// Asks a MySQL server, and stores its figures.
fn record_mysql(version: &str) {
    let server = mysqld::start(
        version,
        &[
            "--performance-schema=ON",
            "--performance-schema-consumer-events-statements-history=ON",
        ],
    );
    let mut conn = server.connect();
    exec(&mut conn, "CREATE DATABASE test");
    exec(&mut conn, "USE test");
    let all = facts(&mut conn, &mut server.connect());
    let mut text = format!("statement\t{}\n", FACTS.join("\t"));
    for (sql, facts) in SHAPES.iter().zip(all) {
        let _ = writeln!(text, "{sql}\t{}", facts.join("\t"));
    }
    std::fs::write(figures_path(), text).expect("the figures are kept");
}

#[test]
fn statements_report_as_much_work_as_in_mysql() {
    if let Ok(version) = std::env::var("TARE_STORED_SHAPES") {
        record_mysql(&version);
    }
    let running = support::Running::with(|config| {
        config.performance_schema = true;
    });
    let mine = facts(&mut running.client(), &mut running.root());
    let text = std::fs::read_to_string(figures_path()).expect("the kept figures");
    let theirs: HashMap<&str, Vec<&str>> = text
        .lines()
        .filter_map(|line| {
            let mut cells = line.split('\t');
            Some((cells.next()?, cells.collect()))
        })
        .collect();
    let mut wrong = String::new();
    for (sql, mine) in SHAPES.iter().zip(&mine) {
        let theirs = &theirs[sql];
        for ((fact, mine), theirs) in FACTS.iter().zip(mine).zip(theirs) {
            let why = DIFFERENT
                .iter()
                .find(|(s, facts, _)| s == sql && facts.contains(fact));
            let differs = mine != theirs;
            if differs != why.is_some() {
                let why = why.map_or("", |w| w.2);
                let _ = writeln!(wrong, "{sql}\t{fact}: MySQL {theirs}, Tare {mine} {why}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
