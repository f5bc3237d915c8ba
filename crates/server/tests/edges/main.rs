//! Expressions at the edges: every function and operator with each value of a grid (`grid.rs`), as a literal,
//! a user variable and a column, and each value stored in a column of each type. The values and the error
//! numbers must be those of MySQL 9.7.4, which are in `mysql-9.7.4.grid`. What differs by design has its
//! reason in `by_design.rs`;
//! `open.txt` has the cells that differ and should not. A listed cell that agrees fails the test, so that the list only
//! gets shorter.
//!
//! `TARE_REGENERATE=1` rewrites `open.txt`, and if TARE_TEST_MYSQL has the socket of a 9.7, the grid, too
//! (`TARE_REGENERATE=1 scripts/servers run 9.7 cargo test -p tare-server --test edges`). `TARE_EDGES_REPORT=FILE`
//! writes the differences, and those that are listed, too, with `TARE_EDGES_ALL=1`.

mod by_design;
mod file;
mod grid;
#[allow(dead_code)]
#[path = "../server/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mysql::prelude::Queryable;
use mysql::{Conn, Value};

use grid::{
    COLUMN_PAIRS, COLUMNS, OPERANDS, PAIRS, PAIRS_WITH_COLUMNS, STORED, VALUES, constants,
    expressions,
};

/// A row of the grid: the statements of an expression or a column type, and what each of them needs before it.
struct Row {
    key: String,
    cells: Vec<Cell>,
}

struct Cell {
    /// The value that is the cell's.
    name: String,
    before: Option<String>,
    query: String,
}

impl Cell {
    fn query(name: &str, query: String) -> Self {
        Self {
            name: name.to_owned(),
            before: None,
            query,
        }
    }
}

/// The settings of the session.
const SESSION: &[&str] = &[
    "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
    "SET time_zone = '+00:00'",
    STRICT,
];
const STRICT: &str = "SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,\
     NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'";
const LAX: &str = "SET sql_mode = ''";

fn with(template: &str, operand: &str) -> String {
    template.replacen("{}", operand, 1)
}

/// Column `n` of the table with all types.
fn column(n: usize) -> String {
    format!("c{n}")
}

/// The statements that fill the tables.
fn tables() -> Vec<String> {
    let columns: Vec<String> = COLUMNS
        .iter()
        .enumerate()
        .map(|(n, (kind, ..))| format!("{} {kind} NULL", column(n)))
        .collect();
    let row = |id: usize, value: fn(&(&str, &'static str, &'static str)) -> &'static str| {
        let values: Vec<&str> = COLUMNS.iter().map(value).collect();
        format!("INSERT INTO e VALUES ({id}, {})", values.join(", "))
    };
    let mut all = vec![
        LAX.to_owned(),
        format!(
            "CREATE TABLE e (id INT PRIMARY KEY, {})",
            columns.join(", ")
        ),
        row(1, |c| c.1),
        row(2, |c| c.2),
    ];
    for (n, kind) in STORED.iter().enumerate() {
        all.push(format!("CREATE TABLE s{n} (c {kind} NULL)"));
    }
    all.push(STRICT.to_owned());
    all
}

/// All rows of the grid.
fn rows() -> Vec<Row> {
    let mut all = Vec::new();
    let mut row = |key: String, cells: Vec<Cell>| all.push(Row { key, cells });
    for expression in constants() {
        let query = format!("SELECT {expression}");
        row(
            format!("constant {expression}"),
            vec![Cell::query("", query)],
        );
    }
    for template in expressions() {
        let literal = |v: &&str| Cell::query(v, format!("SELECT {}", with(template, v)));
        row(
            format!("literal {template}"),
            VALUES.iter().map(literal).collect(),
        );
        let variable = |v: &&str| Cell {
            name: (*v).to_owned(),
            before: Some(format!("SET @v = {v}")),
            query: format!("SELECT {}", with(template, "@v")),
        };
        row(
            format!("variable {template}"),
            VALUES.iter().map(variable).collect(),
        );
        let cells = COLUMNS.iter().enumerate().flat_map(|(n, c)| {
            [(1, c.1), (2, c.2)].map(|(id, value)| {
                let of = with(template, &column(n));
                Cell::query(
                    &format!("{} {value}", c.0),
                    format!("SELECT {of} FROM e WHERE id = {id}"),
                )
            })
        });
        row(format!("column {template}"), cells.collect());
    }
    for (at, template) in PAIRS.iter().enumerate() {
        for left in OPERANDS {
            let right = |v: &&str| {
                let expression = with(&with(template, left), v);
                Cell::query(v, format!("SELECT {expression}"))
            };
            row(
                format!("pair {}", with(template, left)),
                OPERANDS.iter().map(right).collect(),
            );
        }
        if at >= PAIRS_WITH_COLUMNS {
            continue;
        }
        for (n, (kind, ..)) in COLUMNS.iter().enumerate() {
            let right = |v: &&str| {
                let expression = with(&with(template, &column(n)), v);
                Cell::query(v, format!("SELECT {expression} FROM e WHERE id = 1"))
            };
            row(
                format!("column pair {}", with(template, kind)),
                OPERANDS.iter().step_by(2).map(right).collect(),
            );
        }
    }
    for template in COLUMN_PAIRS {
        for (n, (kind, ..)) in COLUMNS.iter().enumerate() {
            let left = with(template, &column(n));
            let right = |(m, c): (usize, &(&str, _, _))| Cell::query(c.0, with(&left, &column(m)));
            row(
                format!("columns {}", with(template, kind)),
                COLUMNS.iter().enumerate().map(right).collect(),
            );
        }
    }
    for (mode, name) in [(STRICT, "strict"), (LAX, "lax")] {
        for (n, kind) in STORED.iter().enumerate() {
            let cell = |v: &&str| Cell {
                name: (*v).to_owned(),
                before: Some(format!(
                    "ROLLBACK;{mode};BEGIN;INSERT INTO s{n} VALUES ({v})"
                )),
                query: format!("SELECT c FROM s{n}"),
            };
            row(format!("{name} {kind}"), VALUES.iter().map(cell).collect());
        }
    }
    all
}

/// A value as the file has it: NULL is `~`, and an error is `!` and its number.
fn text(value: Value) -> String {
    match value {
        Value::NULL => "~".into(),
        Value::Bytes(bytes) => file::escaped(&bytes),
        other => other.as_sql(true),
    }
}

fn run(conn: &mut Conn, cell: &Cell) -> mysql::Result<String> {
    for statement in cell.before.iter().flat_map(|all| all.split(';')) {
        conn.query_drop(statement)?;
    }
    let mut values = Vec::new();
    for row in conn.query_iter(&cell.query)? {
        values.extend(row?.unwrap().into_iter().map(text));
    }
    Ok(values.join("|"))
}

/// The answers of a server, by the keys of the rows.
fn answers(conn: &mut Conn, rows: impl Iterator<Item = Row>) -> BTreeMap<String, Vec<String>> {
    for statement in SESSION {
        support::exec(conn, statement);
    }
    for statement in tables() {
        support::exec(conn, &statement);
    }
    let mut all = BTreeMap::new();
    for row in rows {
        let answer = |cell: &Cell| match run(conn, cell) {
            Ok(value) => value,
            Err(mysql::Error::MySqlError(e)) => format!("!{}", e.code),
            Err(other) => panic!("{} {}: {other}", row.key, cell.query),
        };
        let answers = row.cells.iter().map(answer).collect();
        support::exec(conn, STRICT);
        assert!(
            all.insert(row.key.clone(), answers).is_none(),
            "{} stands twice",
            row.key
        );
    }
    all
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edges/mysql-9.7.4.grid")
}

fn open_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edges/open.txt")
}

/// Whether two answers agree: doubles except for their last digits, which depend on the mathematical library.
fn agree(a: &str, b: &str) -> bool {
    let double = |text: &str| text.len() > 14 && text.contains(['.', 'e']);
    match (a.parse::<f64>(), b.parse::<f64>()) {
        _ if a == b => true,
        (Ok(x), Ok(y)) if double(a) || double(b) => (x - y).abs() <= 4e-15 * x.abs().max(y.abs()),
        _ => false,
    }
}

/// Asks MySQL on two days.
fn record_mysql(socket: &str) {
    let mut conn = Conn::new(support::socket_options(Path::new(socket))).expect("MySQL answers");
    assert_eq!(conn.server_version(), (9, 7, 4), "the grid is of 9.7.4");
    let [mut one_day, another] = ["795248550.123456", "1795248550.9"].map(|now| {
        support::exec(&mut conn, "DROP DATABASE IF EXISTS edges");
        support::exec(
            &mut conn,
            "CREATE DATABASE edges COLLATE utf8mb4_general_ci",
        );
        support::exec(&mut conn, "USE edges");
        support::exec(&mut conn, &format!("SET timestamp = {now}"));
        answers(&mut conn, rows().into_iter())
    });
    for (key, cells) in &mut one_day {
        for (one, other) in cells.iter_mut().zip(&another[key]) {
            if one != other {
                *one = file::DEPENDS_ON_TIME.to_owned();
            }
        }
    }
    file::write(&path(), &one_day);
}

/// Asks two servers at the same time, each for half of the rows.
fn answers_of_tare() -> BTreeMap<String, Vec<String>> {
    let answer = |half: usize| {
        let running = support::Running::start();
        let mut root = running.root();
        support::exec(&mut root, "CREATE DATABASE edges");
        support::exec(&mut root, "USE edges");
        let mine = rows().into_iter().enumerate().filter(|(n, row)| {
            // One constant sets what another reads: LAST_INSERT_ID().
            half == match row.key.starts_with("constant ") {
                true => 0,
                false => n % 2,
            }
        });
        answers(&mut root, mine.map(|(_, row)| row))
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| answer(1));
        let mut all = answer(0);
        all.extend(other.join().expect("the other half"));
        all
    })
}

#[test]
fn expressions_have_mysqls_values_at_the_edges() {
    if let (Ok(socket), Some(_)) = (
        std::env::var("TARE_TEST_MYSQL"),
        std::env::var_os("TARE_REGENERATE"),
    ) {
        record_mysql(&socket);
    }
    let (theirs, mine) = (file::read(&path()), answers_of_tare());
    let mut report = String::new();
    let (mut open, mut now_equal, mut differences) = (BTreeMap::new(), 0, 0);
    let listed = by_design::read_open(&open_path());
    for row in rows() {
        let theirs = theirs
            .get(&row.key)
            .unwrap_or_else(|| panic!("{}: MySQL has not been asked", row.key));
        assert_eq!(theirs.len(), row.cells.len(), "{}", row.key);
        let row_is_open = |n: usize| listed.get(&row.key).is_some_and(|cells| cells.contains(&n));
        let mut open_cells = Vec::new();
        for (n, (cell, (theirs, mine))) in row
            .cells
            .iter()
            .zip(theirs.iter().zip(&mine[&row.key]))
            .enumerate()
        {
            let differs = theirs != file::DEPENDS_ON_TIME && !agree(theirs, mine);
            let reason = by_design::reason(theirs, mine);
            if differs && reason.is_none() {
                open_cells.push(n);
            }
            let (is_new, is_gone) = match row_is_open(n) {
                true => (false, !differs),
                false => (differs && reason.is_none(), false),
            };
            differences += usize::from(is_new);
            now_equal += usize::from(is_gone);
            if is_new || is_gone || std::env::var_os("TARE_EDGES_ALL").is_some() && differs {
                let _ = writeln!(report, "{}\t{}\t{theirs}\t{mine}", row.key, cell.name);
            }
        }
        if !open_cells.is_empty() {
            open.insert(row.key, open_cells);
        }
    }
    if let Some(file) = std::env::var_os("TARE_EDGES_REPORT") {
        std::fs::write(file, &report).expect("the report is written");
    }
    if std::env::var_os("TARE_REGENERATE").is_some() {
        by_design::write_open(&open_path(), &open);
        return;
    }
    let first: Vec<&str> = report.lines().take(100).collect();
    assert!(
        differences + now_equal == 0,
        "expression, value, MySQL, Tare:\n{}\n{differences} new differences; {now_equal} cells of open.txt agree now \
         (TARE_REGENERATE=1 takes them out)",
        first.join("\n")
    );
}

/// Functions that the grid leaves out, because their values depend on more than their arguments.
const LEFT_OUT: &[&str] = &[
    "connection_id",
    "cume_dist",
    "current_date",
    "current_time",
    "current_user",
    "default",
    "dense_rank",
    "grouping",
    "ntile",
    "percent_rank",
    "ps_current_thread_id",
    "rank",
    "row_number",
    "schema",
    "session_user",
    "stddev",
    "stddev_pop",
    "substring",
    "system_user",
    "sysdate",
    "user",
    "uuid",
    "uuid_short",
    "values",
    "var_samp",
    "version",
];

#[test]
fn the_grid_has_every_function() {
    let all = expressions()
        .chain(PAIRS.iter().copied())
        .chain(constants());
    let all: Vec<String> = all.map(|e| e.to_lowercase()).collect();
    let missing: Vec<&str> = tare_functions::FAMILIES
        .iter()
        .copied()
        .flatten()
        .map(|f| f.signature.name)
        .filter(|name| !LEFT_OUT.contains(name))
        .filter(|name| {
            !all.iter()
                .any(|e| e.contains(&format!("{name}(")) || e == name)
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
