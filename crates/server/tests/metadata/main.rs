//! The definitions of columns and parameters, byte by byte as MySQL 9.7.4 sends them.
//!
//! `statements.sql` lists statements, and `definitions.txt` has MySQL's definitions of their results and
//! parameters. `TARE_METADATA=9.7` asks the server of scripts/servers and rewrites the file. `known.txt` lists
//! the statements whose definitions differ, with the reason; every other difference fails, and so does an
//! entry that has become needless.

mod answer;
#[path = "../stored/mysqld.rs"]
mod mysqld;
#[path = "../server/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../server/support.rs"]
mod support;
mod system;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mysql::Conn;
use mysql::prelude::Queryable as _;

use answer::answer;

/// The differences that are printed; further ones are only counted.
const MAX_REPORTED: usize = 60;

/// The columns of table `a`.
const COLUMNS: &str = "id ti tu bo si su mi mu i iu b bu y bt b1 f fu f7 d d2 dc du d65 c v vb bi vn tt x mt lt \
    tb bl mb lb e s da tm t3 dt d6 ts t2 j";
/// One expression of each kind.
const KINDS: &str = "ti iu b bu y bt f d dc du v x lt bi bl e da tm d6 ts j 1 1.5 1e0 'ab' NULL";
/// One expression of each kind, for pairs.
const PAIRED: &str = "ti tu iu b bu y bt f d d2 dc du d65 c v x bi bl e da tm dt d6 ts j 1 -200 1.5 1e0 'ab' x'41' NULL TRUE";

/// A statement of the list, with a key for each of its forms.
struct Template<'t> {
    text: &'t str,
    keys: Vec<String>,
}

impl<'t> Template<'t> {
    fn new(text: &'t str, conn: &mut Conn) -> Self {
        let split = |list: &str| list.split_whitespace().map(str::to_owned).collect();
        let keys = if text.contains("{left}") {
            let pair = |a: &str| {
                let of = |b: &str| format!("{a},{b}");
                PAIRED.split(' ').map(of).collect::<Vec<_>>()
            };
            PAIRED.split(' ').flat_map(pair).collect()
        } else if text.contains("{col}") {
            split(COLUMNS)
        } else if text.contains("{one}") {
            split(KINDS)
        } else if text.contains("{table}") {
            tables(conn)
        } else {
            vec![String::new()]
        };
        Self { text, keys }
    }

    fn statement(&self, key: &str) -> String {
        let (left, right) = key.split_once(',').unwrap_or((key, key));
        self.text
            .replace("{left}", left)
            .replace("{right}", right)
            .replace("{col}", key)
            .replace("{one}", key)
            .replace("{table}", key)
    }
}

/// The tables of the system schemas.
fn tables(conn: &mut Conn) -> Vec<String> {
    let query = "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES \
                 WHERE TABLE_SCHEMA IN ('performance_schema', 'information_schema', 'mysql', 'sys') ORDER BY 1";
    support::all_of(conn, query)
}

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/metadata");
    folder.join(name)
}

fn statements() -> String {
    std::fs::read_to_string(path("statements.sql")).expect("the statements")
}

/// The lines of the list that are no comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
}

fn prepare(conn: &mut Conn) {
    support::exec(conn, "SET NAMES utf8mb4");
    support::exec(conn, "CREATE DATABASE IF NOT EXISTS test");
    support::exec(conn, "USE test");
}

/// Answers of every statement: the keys with the same answer are on one line.
fn answers(conn: &mut Conn, keys: impl Fn(&Template<'_>) -> Vec<String>) -> String {
    prepare(conn);
    let text = statements();
    let mut out = String::new();
    for line in lines(&text) {
        if let Some(sql) = line.strip_prefix('!') {
            support::exec(conn, sql);
            continue;
        }
        let template = Template::new(line, conn);
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for key in keys(&template) {
            let answer = answer(conn, &template.statement(&key), key.is_empty());
            match groups.iter_mut().find(|(a, _)| *a == answer) {
                Some((_, all)) => all.push(key),
                None => groups.push((answer, vec![key])),
            }
        }
        let _ = writeln!(out, "> {line}");
        for (answer, keys) in groups {
            let _ = writeln!(out, "{}\t{answer}", keys.join(" "));
        }
    }
    out
}

/// Answers by statement and key.
fn parsed(text: &str) -> BTreeMap<(String, String), String> {
    let mut all = BTreeMap::new();
    let mut statement = "";
    for line in text.lines() {
        match line.strip_prefix("> ") {
            Some(text) => statement = text,
            None => {
                let (keys, answer) = line.split_once('\t').expect("keys and an answer");
                for key in keys.split(' ') {
                    all.insert((statement.to_owned(), key.to_owned()), answer.to_owned());
                }
            }
        }
    }
    all
}

/// Asks a MySQL server, and stores its answers.
fn record(version: &str) {
    let server = mysqld::start(version, &["--performance-schema=ON"]);
    let mut conn = server.connect();
    let answers = answers(&mut conn, |t| t.keys.clone());
    let all = tables(&mut conn);
    system::record(&mut conn, &all);
    std::fs::write(path("definitions.txt"), answers).expect("the answers are stored");
}

/// The statements, or a statement and a key, whose answers differ; `*` is any key.
fn listed() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path("known.txt")).expect("the listed differences");
    let entry = |line: &str| {
        let (keys, statement) = line.split_once('\t').expect("keys and a statement");
        let statement = statement.to_owned();
        let keys: Vec<_> = keys.split(' ').map(str::to_owned).collect();
        keys.into_iter().map(move |key| (statement.clone(), key))
    };
    lines(&text).map(entry).flat_map(Vec::from_iter).collect()
}

/// Asks two servers at the same time, each for half of the keys.
fn answers_of_tare(expected: &BTreeMap<(String, String), String>) -> String {
    let half = |first: usize| {
        let running = support::Running::with(|config| config.performance_schema = true);
        let keys = |t: &Template<'_>| {
            let all = expected.keys().filter(|(statement, _)| statement == t.text);
            let all = all.map(|(_, key)| key.clone());
            match t.keys.len() {
                // Later statements may depend on it.
                1 => all.collect(),
                _ => all.skip(first).step_by(2).collect(),
            }
        };
        answers(&mut running.client(), keys)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0) + &other.join().expect("the other half")
    })
}

#[test]
fn definitions_are_mysqls() {
    if let Ok(version) = std::env::var("TARE_METADATA") {
        record(&version);
    }
    let expected = std::fs::read_to_string(path("definitions.txt")).expect("MySQL's definitions");
    let expected = parsed(&expected);
    let mut listed_statements = listed();
    let text = answers_of_tare(&expected);
    if let Ok(path) = std::env::var("TARE_METADATA_ANSWERS") {
        std::fs::write(path, &text).expect("the answers are stored");
    }
    let (mut report, mut differences, mut as_listed, mut forms) = (String::new(), 0, 0, 0);
    let mut used = vec![false; listed_statements.len()];
    for (at, answer) in parsed(&text) {
        let mysql = &expected[&at];
        forms += 1;
        if *mysql == answer {
            continue;
        }
        let is = |(statement, key): &(String, String)| {
            *statement == at.0 && (*key == at.1 || key == "*")
        };
        if let Some(i) = listed_statements.iter().position(is) {
            used[i] = true;
            as_listed += 1;
            continue;
        }
        differences += 1;
        if differences <= MAX_REPORTED {
            let (statement, key) = &at;
            let _ = writeln!(
                report,
                "{statement} [{key}]\n  MySQL {mysql}\n  Tare  {answer}"
            );
        }
    }
    let needless: Vec<_> = listed_statements
        .drain(..)
        .zip(used)
        .filter(|(_, used)| !used)
        .collect();
    println!("{forms} forms: {as_listed} differ as listed, {differences} otherwise");
    assert!(
        differences == 0 && needless.is_empty(),
        "{report}{differences} of {forms} forms differ; needless entries: {needless:?}"
    );
}

/// A statement, and the collation and length of its columns for a client that lets nothing convert its texts.
/// The expected values are MySQL 9.7.4's.
const ORIGINAL: [(&str, &[(u16, u32)]); 14] = [
    ("SELECT VERSION()", &[(33, 21)]),
    ("SELECT DATABASE(), SCHEMA()", &[(33, 192), (33, 192)]),
    (
        "SELECT USER(), SUBSTRING_INDEX(USER(), '@', 1)",
        &[(33, 864), (33, 864)],
    ),
    (
        "SELECT @@sql_mode, @@character_set_database",
        &[(33, 65_535), (33, 65_535)],
    ),
    ("SELECT 'a', 1, x'41'", &[(255, 4), (63, 2), (63, 1)]),
    (
        "SELECT SCHEMA_NAME AS c FROM information_schema.SCHEMATA",
        &[(83, 192)],
    ),
    (
        "SELECT TABLE_NAME, COLUMN_NAME, IS_NULLABLE, EXTRA FROM information_schema.COLUMNS LIMIT 1",
        &[(83, 192), (76, 192), (33, 9), (33, 768)],
    ),
    (
        "SELECT CASE WHEN TABLE_TYPE = 'BASE TABLE' THEN 'TABLE' ELSE TABLE_TYPE END FROM information_schema.TABLES LIMIT 1",
        &[(83, 33)],
    ),
    (
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), IFNULL(TABLE_NAME, 'x') FROM information_schema.TABLES LIMIT 1",
        &[(83, 387), (83, 192)],
    ),
    (
        "SELECT INDEX_NAME, COLLATION FROM information_schema.STATISTICS LIMIT 1",
        &[(76, 192), (33, 3)],
    ),
    ("SHOW DATABASES", &[(83, 192)]),
    ("SHOW WARNINGS", &[(33, 21), (63, 5), (33, 1536)]),
    (
        "SELECT EVENT_NAME FROM performance_schema.events_waits_current",
        &[(255, 512)],
    ),
    (
        "SELECT UPPER(USER()), TRIM(VERSION())",
        &[(33, 864), (33, 21)],
    ),
];

/// The collations and lengths of the statements' columns.
fn original_columns(conn: &mut Conn) -> Vec<Vec<(u16, u32)>> {
    prepare(conn);
    support::exec(conn, "SET character_set_results = NULL");
    let of = |(sql, _): (&str, _)| {
        let mut result = conn
            .query_iter(sql)
            .unwrap_or_else(|e| panic!("{sql}: {e}"));
        let columns = result.columns();
        let columns = columns.as_ref().iter();
        let columns = columns.map(|c| (c.character_set(), c.column_length()));
        let columns = columns.collect();
        result.by_ref().for_each(drop);
        columns
    };
    ORIGINAL.into_iter().map(of).collect()
}

#[test]
fn texts_that_nothing_converts_have_their_own_character_set() {
    let check = |conn: &mut Conn| {
        for (columns, (sql, expected)) in original_columns(conn).iter().zip(ORIGINAL) {
            assert_eq!(columns.as_slice(), expected, "{sql}");
        }
    };
    if let Ok(version) = std::env::var("TARE_METADATA") {
        let server = mysqld::start(&version, &["--performance-schema=ON"]);
        check(&mut server.connect());
    }
    let running = support::Running::with(|config| config.performance_schema = true);
    check(&mut running.client());
}
