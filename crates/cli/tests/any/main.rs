//! `tare run` of programs that know nothing of Tare: Redis, memcached, PostgreSQL, nginx, and small programs.

mod client;
mod door_install;
mod event_loop;
mod hostile;
#[path = "../support/live.rs"]
mod live;
mod locks;
mod memcached;
mod mysql;
mod nginx;
mod nginx_loop;
mod nginx_upstream;
mod postgres;
mod postgres_statements;
mod postgres_waits;
mod processes;
mod programs;
mod redis;
mod segment_file;
mod server;
#[path = "../support/servers.rs"]
mod servers;
#[path = "../support/mod.rs"]
mod support;
mod switching;
mod tls;
mod tools;
#[path = "../support/traceparent.rs"]
mod traceparent;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use support::{Directory, TARE, finish};

/// libtare_any.so of this build.
fn library() -> PathBuf {
    let directory = Path::new(TARE).parent().expect("in target/debug");
    ["deps/libtare_any.so", "libtare_any.so"]
        .map(|name| directory.join(name))
        .into_iter()
        .filter(|path| path.exists())
        .max_by_key(|path| path.metadata().and_then(|file| file.modified()).ok())
        .expect("libtare_any.so is not built; run: cargo build -p tare-any")
}

const STATEMENTS: &str = "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS name, COUNT_STAR AS n \
    FROM performance_schema.events_statements_summary_global_by_event_name \
    WHERE COUNT_STAR > 0 AND EVENT_NAME LIKE 'statement/redis/%'";

fn rows(directory: &Directory, target: &[&str], sql: &str) -> Vec<Json> {
    let mut command = directory.tare(["sql", "--format", "json"]);
    let finished = finish(command.args(target).args(["-e", sql]));
    assert_eq!(finished.code, Some(0), "{sql}: {finished:?}");
    let rows: Json = serde_json::from_str(&finished.stdout).expect("JSON");
    rows.as_array().expect("rows").clone()
}

/// Runs a statement without rows.
fn execute(directory: &Directory, target: &[&str], sql: &str) {
    let mut command = directory.tare(["sql", "-e", sql]);
    let finished = finish(command.args(target));
    assert_eq!(finished.code, Some(0), "{sql}: {finished:?}");
}

/// The only value of a row, a number.
fn number(row: &Json) -> u64 {
    let value = row
        .as_object()
        .and_then(|row| row.values().next())
        .expect("a value");
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    text.parse().expect("a number")
}

fn statements(rows: &[Json]) -> BTreeMap<String, u64> {
    let count = |row: &Json| {
        let name = row["name"].as_str().expect("a name").to_owned();
        (name, row["n"].as_u64().expect("a count"))
    };
    rows.iter().map(count).collect()
}
