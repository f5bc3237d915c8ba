//! The MySQL door: one script of statements on a real server, once with the server's own engine and once
//! with Tare's; what both have counted must be the same.
//!
//! door/script.sql is the script, door/differences.tsv what differs by design. MariaDB and MySQL 5.7 are
//! compared in every run, the others with TARE_TEST_LONG=1.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::{BTreeMap, BTreeSet};

use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};

use servers::{Engine, Server, Version};

const SCRIPT: &str = include_str!("door/script.sql");
const DIFFERENCES: &str = include_str!("door/differences.tsv");

#[test]
fn mariadb_counts_the_same() {
    compare(Version::Mariadb);
}

#[test]
fn mysql_5_7_counts_the_same() {
    compare(Version::Mysql57);
}

#[test]
fn mysql_5_6_counts_the_same() {
    in_the_long_run(Version::Mysql56);
}

#[test]
fn mysql_8_0_counts_the_same() {
    in_the_long_run(Version::Mysql80);
}

fn in_the_long_run(version: Version) {
    if std::env::var_os("TARE_TEST_LONG").is_some() {
        compare(version);
    } else {
        println!("{version} is compared with TARE_TEST_LONG=1");
    }
}

// -- the script

/// One thing to do.
#[derive(Debug, PartialEq)]
enum Step {
    Text(String),
    Binary(String, Vec<Vec<Value>>),
}

fn steps(script: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut values = Vec::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(list) = line.strip_prefix("#binary") {
            values.push(
                list.split(',')
                    .map(str::trim)
                    .filter(|v| !v.is_empty())
                    .map(value)
                    .collect(),
            );
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut statement = line.to_owned();
        while let Some(more) = lines.next_if(|next| next.starts_with(' ')) {
            statement.push('\n');
            statement.push_str(more);
        }
        let statement = statement
            .strip_suffix(';')
            .expect("ends with a semicolon")
            .to_owned();
        if let Some(repeated) = statement.strip_prefix("@repeat ") {
            let (times, text) = repeated.split_once(' ').expect("times and text");
            for n in 0..times.parse::<u32>().expect("a number") {
                steps.push(Step::Text(text.replace(":n", &n.to_string())));
            }
        } else if values.is_empty() {
            steps.push(Step::Text(statement));
        } else {
            steps.push(Step::Binary(statement, std::mem::take(&mut values)));
        }
    }
    steps
}

fn value(text: &str) -> Value {
    match text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
    {
        Some(text) => text.into(),
        None => text
            .parse::<i64>()
            .expect("a number or a quoted text")
            .into(),
    }
}

/// Runs the script. What each step answered goes into the comparison, too: both servers must have done the
/// same.
fn play(connection: &mut Conn) -> Vec<String> {
    let outcome = |result: mysql::Result<usize>| match result {
        Ok(rows) => format!("{rows} rows"),
        Err(mysql::Error::MySqlError(error)) => format!("error {}", error.code),
        Err(error) => panic!("the connection broke: {error}"),
    };
    let mut outcomes = Vec::new();
    for step in steps(SCRIPT) {
        match step {
            Step::Text(text) => outcomes.push(outcome(count_rows(connection, &text))),
            Step::Binary(text, executions) => match connection.prep(&text) {
                Ok(statement) => {
                    for values in executions {
                        let rows: mysql::Result<Vec<Row>> = connection.exec(&statement, values);
                        outcomes.push(outcome(rows.map(|rows| rows.len())));
                    }
                    connection.close(statement).expect("closed");
                }
                Err(error) => outcomes.push(outcome(Err(error))),
            },
        }
    }
    outcomes
}

fn count_rows(connection: &mut Conn, text: &str) -> mysql::Result<usize> {
    let mut result = connection.query_iter(text)?;
    let mut rows = 0;
    while let Some(set) = result.iter() {
        for row in set {
            row?;
            rows += 1;
        }
    }
    Ok(rows)
}

// -- what is compared

/// A question that both engines are asked.
struct Check {
    name: &'static str,
    /// `{thread}` stands for the script's connection.
    sql: &'static str,
    /// How many of the columns, from the first, name what the others count.
    keys: usize,
    /// What may differ, in percent.
    percent: f64,
    /// Servers that have it.
    of: &'static [Version],
}

const ALL: &[Version] = &[
    Version::Mysql56,
    Version::Mysql57,
    Version::Mysql80,
    Version::Mariadb,
];
const NEW: &[Version] = &[Version::Mysql57, Version::Mysql80, Version::Mariadb];
const MYSQL: &[Version] = &[Version::Mysql57, Version::Mysql80];
const THREAD: &str =
    "(SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {connection})";

const CHECKS: &[Check] = &[
    Check {
        name: "statements",
        sql: "SELECT EVENT_NAME, COUNT_STAR, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT,
              SUM_ROWS_EXAMINED, SUM_CREATED_TMP_DISK_TABLES, SUM_CREATED_TMP_TABLES, SUM_SELECT_FULL_JOIN,
              SUM_SELECT_FULL_RANGE_JOIN, SUM_SELECT_RANGE, SUM_SELECT_RANGE_CHECK, SUM_SELECT_SCAN,
              SUM_SORT_MERGE_PASSES, SUM_SORT_RANGE, SUM_SORT_ROWS, SUM_SORT_SCAN, SUM_NO_INDEX_USED,
              SUM_NO_GOOD_INDEX_USED
              FROM performance_schema.events_statements_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "stages",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_stages_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "transactions",
        sql: "SELECT EVENT_NAME, COUNT_STAR, COUNT_READ_WRITE, COUNT_READ_ONLY
              FROM performance_schema.events_transactions_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        of: NEW,
    },
    Check {
        name: "table io",
        sql: "SELECT OBJECT_NAME, COALESCE(INDEX_NAME, '-'), COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE
              FROM performance_schema.table_io_waits_summary_by_index_usage
              WHERE OBJECT_SCHEMA = 'door' AND COUNT_STAR > 0",
        keys: 2,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "table locks",
        sql: "SELECT OBJECT_NAME, COUNT_READ, COUNT_WRITE, COUNT_READ_NORMAL, COUNT_READ_WITH_SHARED_LOCKS,
              COUNT_READ_HIGH_PRIORITY, COUNT_READ_NO_INSERT, COUNT_READ_EXTERNAL, COUNT_WRITE_ALLOW_WRITE,
              COUNT_WRITE_CONCURRENT_INSERT, COUNT_WRITE_LOW_PRIORITY, COUNT_WRITE_NORMAL, COUNT_WRITE_EXTERNAL
              FROM performance_schema.table_lock_waits_summary_by_table
              WHERE OBJECT_SCHEMA = 'door' AND COUNT_STAR > 0",
        keys: 1,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "files",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/io/file/%'",
        keys: 1,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "file opens",
        sql: "SELECT SUBSTRING_INDEX(FILE_NAME, '/data/', -1), EVENT_NAME, COUNT_READ, COUNT_MISC
              FROM performance_schema.file_summary_by_instance
              WHERE FILE_NAME LIKE '%/data/door/%' AND FILE_NAME NOT LIKE '%#sql%' AND COUNT_STAR > 0",
        keys: 2,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "waits of other kinds",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0
              AND EVENT_NAME NOT LIKE 'wait/io/file/%' AND EVENT_NAME NOT LIKE 'wait/synch/%'",
        keys: 1,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "locks",
        sql: "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/synch/%'",
        keys: 1,
        percent: 2.0,
        of: ALL,
    },
    Check {
        name: "locks in all",
        sql: "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', 3), SUM(COUNT_STAR)
              FROM performance_schema.events_waits_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND EVENT_NAME LIKE 'wait/synch/%'
              GROUP BY SUBSTRING_INDEX(EVENT_NAME, '/', 3) HAVING SUM(COUNT_STAR) > 0",
        keys: 1,
        percent: 2.0,
        of: ALL,
    },
    Check {
        name: "digests",
        // 5.7 and MariaDB end each text with a space, 8.0 and Tare do not.
        sql: "SELECT RTRIM(DIGEST_TEXT), COUNT_STAR, SUM_ERRORS, SUM_ROWS_SENT, SUM_ROWS_EXAMINED
              FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = 'door'",
        keys: 1,
        percent: 0.0,
        of: NEW,
    },
    Check {
        name: "digests",
        // 5.6 quotes a name in the text where the statement does, Tare and later servers quote all.
        sql: "SELECT REPLACE(RTRIM(DIGEST_TEXT), '`', ''), SUM(COUNT_STAR), SUM(SUM_ERRORS), SUM(SUM_ROWS_SENT), SUM(SUM_ROWS_EXAMINED)
              FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = 'door'
              GROUP BY REPLACE(RTRIM(DIGEST_TEXT), '`', '')",
        keys: 1,
        percent: 0.0,
        of: &[Version::Mysql56],
    },
    Check {
        name: "programs",
        sql: "SELECT OBJECT_TYPE, OBJECT_NAME, COUNT_STAR, COUNT_STATEMENTS, SUM_ERRORS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT
              FROM performance_schema.events_statements_summary_by_program WHERE OBJECT_SCHEMA = 'door'",
        keys: 2,
        percent: 0.0,
        of: NEW,
    },
    Check {
        name: "memory",
        sql: "SELECT EVENT_NAME, COUNT_ALLOC, COUNT_FREE
              FROM performance_schema.memory_summary_by_thread_by_event_name
              WHERE THREAD_ID = {thread} AND COUNT_ALLOC > 0",
        keys: 1,
        percent: 2.0,
        of: NEW,
    },
    Check {
        name: "prepared statements",
        sql: "SELECT STATEMENT_NAME, SQL_TEXT, COUNT_REPREPARE, COUNT_EXECUTE, SUM_ROWS_SENT
              FROM performance_schema.prepared_statements_instances WHERE OWNER_THREAD_ID = {thread}",
        keys: 2,
        percent: 0.0,
        of: NEW,
    },
    Check {
        name: "metadata locks",
        sql: "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS, COUNT(*)
              FROM performance_schema.metadata_locks WHERE OWNER_THREAD_ID = {thread}
              GROUP BY OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS",
        keys: 6,
        percent: 0.0,
        of: NEW,
    },
    Check {
        name: "threads",
        sql: "SELECT NAME, TYPE, PROCESSLIST_USER, PROCESSLIST_HOST, PROCESSLIST_DB, PROCESSLIST_COMMAND, COUNT(*)
              FROM performance_schema.threads WHERE PROCESSLIST_ID = {connection}
              GROUP BY NAME, TYPE, PROCESSLIST_USER, PROCESSLIST_HOST, PROCESSLIST_DB, PROCESSLIST_COMMAND",
        keys: 6,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "attributes",
        sql: "SELECT ATTR_NAME, ATTR_VALUE, COUNT(*) FROM performance_schema.session_connect_attrs
              WHERE PROCESSLIST_ID = {connection} GROUP BY ATTR_NAME, ATTR_VALUE",
        keys: 2,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "history",
        sql: "SELECT EVENT_NAME, SQL_TEXT, CURRENT_SCHEMA, ERRORS, MYSQL_ERRNO, RETURNED_SQLSTATE, ROWS_SENT,
              NESTING_EVENT_TYPE, COUNT(*) FROM performance_schema.events_statements_history
              WHERE THREAD_ID = {thread} GROUP BY EVENT_NAME, SQL_TEXT, CURRENT_SCHEMA, ERRORS, MYSQL_ERRNO,
              RETURNED_SQLSTATE, ROWS_SENT, NESTING_EVENT_TYPE",
        keys: 8,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "errors",
        sql: "SELECT ERROR_NAME, SUM_ERROR_RAISED, SUM_ERROR_HANDLED
              FROM performance_schema.events_errors_summary_by_thread_by_error
              WHERE THREAD_ID = {thread} AND SUM_ERROR_RAISED > 0",
        keys: 1,
        percent: 0.0,
        of: &[Version::Mysql80],
    },
    Check {
        name: "instruments",
        sql: "SELECT NAME, COUNT(*) FROM performance_schema.setup_instruments
              WHERE NAME NOT LIKE 'memory/performance_schema/%' GROUP BY NAME",
        keys: 1,
        percent: 0.0,
        of: ALL,
    },
    Check {
        name: "background threads",
        sql: "SELECT NAME, TYPE, COUNT(*) FROM performance_schema.threads WHERE TYPE = 'BACKGROUND' GROUP BY NAME, TYPE",
        keys: 2,
        percent: 0.0,
        of: MYSQL,
    },
];

/// Statistics that a background thread takes anew would change plans from one run to the next.
const STEADY: &[&str] = &["--innodb-stats-auto-recalc=OFF"];

/// In MariaDB, how many undo logs a session makes anew depends on how far the purge threads have come: there
/// are none at this level, which changes nothing else.
const WITHOUT_PURGE: &[&str] = &[
    "--innodb-stats-auto-recalc=OFF",
    "--innodb-force-recovery=2",
];

/// What was counted: check, then what, then how often.
type Counts = BTreeMap<(&'static str, String), f64>;

fn ask(server: &Server, control: &mut Conn, check: &Check, connection: u32) -> Vec<Vec<String>> {
    let sql = check
        .sql
        .replace("{thread}", THREAD)
        .replace("{connection}", &connection.to_string());
    if server.engine == Engine::Tare {
        let rows = server.tare(&sql);
        return rows
            .into_iter()
            .map(|row| row.into_iter().map(|(_, value)| plain(&value)).collect())
            .collect();
    }
    let rows: Vec<Row> = control
        .query(&sql)
        .unwrap_or_else(|error| panic!("{}: {error}", check.name));
    rows.into_iter()
        .map(|row| {
            row.unwrap()
                .into_iter()
                .map(|value| value_text(&value))
                .collect()
        })
        .collect()
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => "NULL".into(),
        other => other.to_string(),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::NULL => "NULL".into(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.as_sql(true),
    }
}

/// The names of the columns that count, from the question's text.
fn columns(check: &Check) -> Vec<String> {
    let list = check
        .sql
        .split_once(" FROM ")
        .or_else(|| check.sql.split_once("\n"))
        .expect("FROM")
        .0;
    let list = list
        .split("FROM")
        .next()
        .expect("a list")
        .trim_start_matches("SELECT");
    let mut depth = 0;
    let mut columns = vec![String::new()];
    for letter in list.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => columns.push(String::new()),
            _ => {}
        }
        if !(letter == ',' && depth == 0) {
            columns.last_mut().expect("one").push(letter);
        }
    }
    columns
        .iter()
        .skip(check.keys)
        .map(|column| column.trim().to_owned())
        .collect()
}

fn counts(version: Version, engine: Engine) -> (Vec<String>, Counts) {
    let options = if version == Version::Mariadb {
        WITHOUT_PURGE
    } else {
        STEADY
    };
    let server = Server::start(version, engine, options);
    let mut connection = server.connect();
    let outcomes = play(&mut connection);
    let id = connection.connection_id();
    let mut control = server.connect();
    if engine == Engine::Stock {
        // Files are excepted: 5.7 counts some that it never tried to keep, whatever room there is.
        let lost: Vec<(String, u64)> = control
            .query(
                "SHOW STATUS WHERE Variable_name LIKE 'Performance_schema%lost' AND Value <> 0
                    AND Variable_name <> 'Performance_schema_file_instances_lost'",
            )
            .expect("status");
        assert_eq!(
            lost,
            [],
            "the server's own engine was too small for the script"
        );
    }
    let mut found = Counts::new();
    for check in CHECKS.iter().filter(|check| check.of.contains(&version)) {
        let columns = columns(check);
        let rows = ask(&server, &mut control, check, id);
        assert!(
            !rows.is_empty(),
            "{version} {engine:?}: {} found nothing\n{}",
            check.name,
            server.log()
        );
        for row in rows {
            let (keys, numbers) = row.split_at(check.keys);
            assert_eq!(numbers.len(), columns.len(), "{}: {row:?}", check.name);
            for (column, number) in columns.iter().zip(numbers) {
                let number: f64 = number
                    .parse()
                    .unwrap_or_else(|_| panic!("{}: {row:?}", check.name));
                let what = format!("{} {column}", keys.join(" "));
                *found.entry((check.name, what)).or_default() += number;
            }
        }
    }
    drop(connection);
    drop(control);
    server.stop();
    (outcomes, found)
}

// -- differences by design

struct Difference {
    check: String,
    what: String,
    /// Percent, or nothing if it may be anything.
    percent: Option<f64>,
}

/// Those of one server. A line: servers, check, what (with % for anything), how much ("any" or a percentage),
/// reason.
fn differences(version: Version) -> Vec<Difference> {
    let lines = DIFFERENCES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [servers, check, what, much, reason] = fields[..] else {
                panic!("door/differences.tsv: {line:?} has not five fields");
            };
            assert!(reason.len() > 10, "{line:?} gives no reason");
            assert!(
                CHECKS.iter().any(|known| known.name == check),
                "{line:?}: there is no check {check:?}"
            );
            let percent =
                (much != "any").then(|| much.trim_end_matches('%').parse().expect("a percentage"));
            (servers == "all" || servers.split(' ').any(|each| each == version.name())).then(|| {
                Difference {
                    check: check.to_owned(),
                    what: what.to_owned(),
                    percent,
                }
            })
        })
        .collect()
}

/// SQL's LIKE, with % alone.
fn like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('%') {
        None => text == pattern,
        Some((start, rest)) => {
            let Some(text) = text.strip_prefix(start) else {
                return false;
            };
            (0..=text.len()).any(|at| text.is_char_boundary(at) && like(&text[at..], rest))
        }
    }
}

/// How often both engines are run before a difference counts. A background thread that comes in between
/// makes a difference in one run; what an engine counts otherwise is there in all of them.
const ROUNDS: usize = 3;

fn compare(version: Version) {
    let known = differences(version);
    let mut lasting: Option<BTreeMap<String, String>> = None;
    for _ in 0..ROUNDS {
        let found = round(version, &known);
        let seen = match lasting {
            None => found,
            Some(earlier) => found
                .into_iter()
                .filter(|(what, _)| earlier.contains_key(what))
                .collect(),
        };
        if seen.is_empty() {
            return;
        }
        lasting = Some(seen);
    }
    let report: Vec<String> = lasting
        .into_iter()
        .flatten()
        .map(|(what, how)| format!("{what}\t{how}\n"))
        .collect();
    panic!(
        "{version}: not as the server's own engine counts\n{}",
        report.concat()
    );
}

/// Runs the script with both engines and gives what differs.
fn round(version: Version, known: &[Difference]) -> BTreeMap<String, String> {
    let (did, stock) = counts(version, Engine::Stock);
    let (did_too, tare) = counts(version, Engine::Tare);
    let steps = steps(SCRIPT);
    assert!(
        did.len() >= steps.len()
            && did.iter().filter(|each| each.starts_with("error")).count() > 10
    );
    assert_eq!(
        did, did_too,
        "the server answers otherwise with Tare's engine"
    );
    let mut report = BTreeMap::new();
    let every: BTreeSet<_> = stock.keys().chain(tare.keys()).collect();
    for key in every {
        let (check, what) = key;
        let (a, b) = (
            stock.get(key).copied().unwrap_or(0.0),
            tare.get(key).copied().unwrap_or(0.0),
        );
        let mut by_design = known.iter().filter(|each| each.check == *check);
        let percent = match by_design.find(|each| like(what, &each.what)) {
            Some(each) => each.percent,
            None => CHECKS
                .iter()
                .find(|each| each.name == *check)
                .map(|each| each.percent),
        };
        if percent.is_some_and(|percent| (a - b).abs() > a.max(b) * percent / 100.0) {
            report.insert(format!("{check}\t{what}"), format!("stock {a}\tTare {b}"));
        }
    }
    // A line about something that no server has any more is to go. Not every run has every event,
    // but each has all instruments.
    for each in known {
        if !stock
            .keys()
            .chain(tare.keys())
            .any(|(_, what)| like(what, &each.what))
        {
            report.insert(
                format!("{}\t{}", each.check, each.what),
                "listed, and not there".into(),
            );
        }
    }
    report
}

#[test]
fn the_script_is_read_as_meant() {
    let script = "# a comment\nBEGIN;\n#binary 1, 'x'\n#binary 2, 'y'\nSELECT ?,\n    ?;\n@repeat 2 DO :n;\n";
    let both = vec![vec![1.into(), "x".into()], vec![2.into(), "y".into()]];
    let expected = [
        Step::Text("BEGIN".into()),
        Step::Binary("SELECT ?,\n    ?".into(), both),
        Step::Text("DO 0".into()),
        Step::Text("DO 1".into()),
    ];
    assert_eq!(steps(script), expected);
    assert!(like("wait/synch/mutex", "wait/%/mutex") && like("a", "%") && !like("ab", "b%"));
    let names: Vec<String> = columns(&CHECKS[0]);
    assert_eq!((names[0].as_str(), names.len()), ("COUNT_STAR", 19));
}
