//! Stored data compared with a MySQL 8.0.15 that the test starts: tables with values at the bounds of their
//! types, and statements on them. Rows, affected rows, errors and the final contents must be equal.
//! Tare serves two cases as 9.7, its default, and the next two as 8.0. As 9.7, no text outside of the calendar is
//! compared with a date: MySQL 9.7 and 8.0.15 differ in it (1525).
//!
//! A seed gives one case: a table and a hundred statements. `TARE_STORED_SEED=n` runs one case and prints it,
//! `TARE_STORED_KINDS='BIGINT|DATE'` chooses types, `TARE_STORED_STATEMENTS=n` sets the number of statements,
//! `TARE_STORED_FIRST=n` the first seed.

mod answer;
mod chance;
mod generate;
mod kinds;
mod left_out;
mod mysqld;
#[path = "../server/process.rs"]
mod process;
mod shapes;
#[allow(dead_code)]
#[path = "../server/support.rs"]
mod support;

use std::fmt::Write as _;

use answer::{Answer, query};
use chance::Chance;
use generate::{Form, Generator};
use mysql::Conn;
use tare_server::Series;

/// Statements in a case.
const STATEMENTS: usize = 100;
/// Rows in a table.
const ALL: &str = "SELECT * FROM t ORDER BY id";
/// The differences that are printed; further ones are only counted.
const MAX_REPORTED: usize = 12;

/// What Tare serves as.
const SERIES: [Series; 2] = [Series::V9_7, Series::V8_0];

/// Servers, each with a database for the case.
struct Servers {
    /// As each of [`SERIES`].
    tare: [Conn; 2],
    /// The one of the case.
    series: usize,
    mysql: Conn,
    /// Whether each statement is printed.
    prints: bool,
}

impl Servers {
    fn both(&mut self, sql: &str) -> (Answer, Answer) {
        if self.prints {
            println!("{sql};");
        }
        let tare = &mut self.tare[self.series];
        (query(tare, sql), query(&mut self.mysql, sql))
    }

    /// Every other case has another time zone than UTC.
    fn prepare(&mut self, seed: u64) {
        self.series = (seed / 2 % 2) as usize;
        let zone = match seed % 2 {
            0 => "SET time_zone = '-03:30'",
            _ => "SET time_zone = '+00:00'",
        };
        for sql in [
            "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
            zone,
            "DROP TABLE IF EXISTS t",
        ] {
            support::exec(&mut self.tare[self.series], sql);
            support::exec(&mut self.mysql, sql);
        }
    }

    /// Runs a seed's case. Returns the number of statements and the differences. The case ends when the tables
    /// differ.
    fn case(&mut self, seed: u64) -> (usize, Vec<String>) {
        self.prepare(seed);
        let kinds = kinds::chosen();
        let mut generator = Generator {
            chance: Chance::new(seed),
            id: 0,
            changes: false,
            kinds: &kinds,
            series: SERIES[self.series],
        };
        let table = generator.table();
        let (tare, mysql) = self.both(&table.create);
        if let Some(difference) = mysql.difference(&tare, Form::Change) {
            return (
                1,
                vec![format!("seed {seed}: {}\n  {difference}", table.create)],
            );
        }
        let mut differences = Vec::new();
        for n in 0..STATEMENTS {
            let statement = generator.statement(&table);
            let (tare, mysql) = self.both(&statement.sql);
            if let Some(difference) = mysql.difference(&tare, statement.form) {
                differences.push(format!(
                    "seed {seed}: {}\n  {}\n  {difference}",
                    table.create, statement.sql
                ));
                if statement.form == Form::Change {
                    return (n + 2, differences);
                }
            }
            if statement.form == Form::Change && mysql.affected > 0 {
                let (tare, mysql) = self.both(ALL);
                if let Some(d) = mysql.difference(&tare, Form::Ordered) {
                    differences.push(format!(
                        "seed {seed}: {}\n  {}\n  leaves\n  {d}",
                        table.create, statement.sql
                    ));
                    return (n + 2, differences);
                }
            }
        }
        (STATEMENTS + 1, differences)
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn compare(statements: usize) {
    let running = SERIES.map(|series| support::Running::with(|config| config.series = series));
    let server = mysqld::start(
        "8.0",
        &[
            "--performance-schema=OFF",
            // Automatic statistics would change plans, and so which expressions are evaluated.
            "--innodb-stats-auto-recalc=OFF",
        ],
    );
    let mut servers = Servers {
        tare: running.each_ref().map(support::Running::client),
        series: 0,
        mysql: server.connect(),
        prints: number("TARE_STORED_SEED").is_some(),
    };
    support::exec(&mut servers.mysql, "CREATE DATABASE test");
    support::exec(&mut servers.mysql, "USE test");
    let statements = number("TARE_STORED_STATEMENTS").map_or(statements, |n| n as usize);
    let one = number("TARE_STORED_SEED");
    let first = number("TARE_STORED_FIRST").unwrap_or(1);
    let max_reported = number("TARE_STORED_REPORTED").map_or(MAX_REPORTED, |n| n as usize);
    let (mut ran, mut report, mut differences) = (0, String::new(), 0);
    let mut seed = one.unwrap_or(first);
    while ran < statements {
        let (n, case_differences) = servers.case(seed);
        ran += n;
        for difference in case_differences {
            differences += 1;
            if differences <= max_reported {
                let _ = writeln!(report, "{difference}\n");
            }
        }
        if one.is_some() {
            break;
        }
        seed += 1;
    }
    println!("{ran} statements, {differences} differences");
    assert!(
        differences == 0,
        "{report}{differences} of {ran} statements differ"
    );
}

#[test]
fn stored_data_is_mysqls() {
    let long = std::env::var_os("TARE_TEST_LONG").is_some();
    compare(if long { 1_000_000 } else { 20_000 });
}
