//! What one engine counts while the script is played.

use std::collections::BTreeMap;

use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};

use crate::checks::{CHECKS, Check};
use crate::servers::{Engine, Server, Version};
use crate::steps::play;

const THREAD: &str =
    "(SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {connection})";

/// Statistics that a background thread takes anew would change plans from one run to the next. On a slow machine more
/// pages are older than a second when they are read again, and are made young, under locks.
const STEADY: &[&str] = &[
    "--innodb-stats-auto-recalc=OFF",
    "--innodb-old-blocks-time=3600000",
];

/// In MariaDB, how many undo logs a session makes anew depends on how far the purge threads have come: there
/// are none at this level, which changes nothing else.
const WITHOUT_PURGE: &[&str] = &[
    "--innodb-stats-auto-recalc=OFF",
    "--innodb-force-recovery=2",
];

/// What was counted: check, then what, then how often.
pub type Counts = BTreeMap<(&'static str, String), f64>;

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

pub fn counts(version: Version, engine: Engine) -> (Vec<String>, Counts) {
    let options = if version.is_mariadb() {
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
        let columns = check.columns();
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
