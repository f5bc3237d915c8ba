//! The MySQL door: instruments start with the settings that the server's own engine gives them. (Consumers
//! start as in MySQL 8.0, in every server.)

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::BTreeMap;

use mysql::prelude::Queryable;

use servers::{Engine, Server, Version};

/// ENABLED and TIMED by name. Newer servers have no TIMED where nothing can be timed; older ones have NO.
type Settings = BTreeMap<String, (String, String)>;

const INSTRUMENTS: &str = "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments";

fn settings_of_stock(server: &Server) -> Settings {
    let rows: Vec<(String, String, Option<String>)> =
        server.connect().query(INSTRUMENTS).expect("its settings");
    let no = || "NO".to_owned();
    let settings = rows.into_iter();
    settings
        .map(|(name, enabled, timed)| (name, (enabled, timed.unwrap_or_else(no))))
        .collect()
}

fn settings_of_tare(server: &Server) -> Settings {
    // Once it accepts connections, a server has registered its instruments.
    drop(server.connect());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("NO").to_owned();
    let rows = server.tare(INSTRUMENTS).into_iter();
    rows.map(|row| {
        (
            text(&row["NAME"]),
            (text(&row["ENABLED"]), text(&row["TIMED"])),
        )
    })
    .collect()
}

fn check_defaults(version: Version) {
    if version.is_left_out() {
        return;
    }
    let stock = Server::start(version, Engine::StockDefaults, &[]);
    let settings = settings_of_stock(&stock);
    stock.stop();
    // Sampled, because Engine::Tare switches everything on.
    let tare = Server::start(version, Engine::Sampled("every"), &[]);
    let others = settings_of_tare(&tare);
    tare.stop();
    let mut differences = Vec::new();
    let mut equal = 0;
    for (name, stocks) in &settings {
        match others.get(name) {
            Some(tares) if tares == stocks => equal += 1,
            Some(tares) => differences.push(format!("{name}: {stocks:?}, Tare {tares:?}")),
            // The server's own engine registers these for itself.
            None if name.starts_with("memory/performance_schema/") => {}
            None => differences.push(format!("{name}: not in Tare")),
        }
    }
    assert!(differences.is_empty(), "{version}: {differences:#?}");
    assert!(equal > 400, "{version}: {equal} instruments");
}

#[test]
fn mysql_9_7() {
    check_defaults(Version::Mysql97);
}

#[test]
fn mysql_5_7() {
    check_defaults(Version::Mysql57);
}

#[test]
#[ignore = "MySQL 8.0 is left to make test-long"]
fn mysql_8_0() {
    check_defaults(Version::Mysql80);
}

#[test]
#[ignore = "MySQL 5.6 is left to make test-long"]
fn mysql_5_6() {
    check_defaults(Version::Mysql56);
}

#[test]
fn mariadb() {
    check_defaults(Version::Mariadb);
}

#[test]
fn mariadb_11_4() {
    check_defaults(Version::Mariadb114);
}

#[test]
#[ignore = "MariaDB 11.8 is left to make test-long"]
fn mariadb_11_8() {
    check_defaults(Version::Mariadb118);
}
