//! The counts of one engine after the script.

use std::collections::BTreeMap;

use mysql::prelude::Queryable;
use mysql::{Conn, Row};

use crate::checks::{CHECKS, Check};
use crate::servers::{Engine, Server, Version, json_text, value_text};
use crate::steps::play;

const THREAD: &str =
    "(SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {connection})";

/// Options that make runs repeatable: no background recalculation of statistics, which changes plans, and no
/// moves of pages to the young list, which takes locks and happens more often on a slow machine.
const REPEATABLE: &[&str] = &[
    "--innodb-stats-auto-recalc=OFF",
    "--innodb-old-blocks-time=3600000",
];

/// In MariaDB, the number of undo logs that a session creates depends on the progress of the purge threads.
/// This recovery level starts none, and changes nothing else.
const WITHOUT_PURGE: &[&str] = &[
    "--innodb-stats-auto-recalc=OFF",
    "--innodb-force-recovery=2",
];

/// Counts by check and by row and column.
pub type Counts = BTreeMap<(&'static str, String), f64>;

fn query(server: &Server, control: &mut Conn, check: &Check, connection: u32) -> Vec<Vec<String>> {
    let sql = check
        .sql
        .replace("{thread}", THREAD)
        .replace("{connection}", &connection.to_string());
    if server.engine == Engine::Tare {
        let rows = server.tare(&sql);
        return rows
            .into_iter()
            .map(|row| row.values().map(json_text).collect())
            .collect();
    }
    let rows: Vec<Row> = control
        .query(&sql)
        .unwrap_or_else(|error| panic!("{}: {error}", check.name));
    rows.into_iter()
        .map(|row| row.unwrap().iter().map(value_text).collect())
        .collect()
}

/// Runs the script on a new server, and returns the outcome of each step and the counts.
pub fn run_script(version: Version, engine: Engine) -> (Vec<String>, Counts) {
    let options = if version.is_mariadb() {
        WITHOUT_PURGE
    } else {
        REPEATABLE
    };
    let server = Server::start(version, engine, options);
    let mut connection = server.connect();
    let outcomes = play(&mut connection);
    let id = connection.connection_id();
    let mut control = server.connect();
    if engine == Engine::Stock {
        // Except files: 5.7 counts some as lost whatever the size of the table.
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
    let mut counts = Counts::new();
    for check in CHECKS
        .iter()
        .filter(|check| check.servers.contains(&version))
    {
        let columns = check.columns();
        let rows = query(&server, &mut control, check, id);
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
                *counts.entry((check.name, what)).or_default() += number;
            }
        }
    }
    drop(connection);
    drop(control);
    server.stop();
    (outcomes, counts)
}
