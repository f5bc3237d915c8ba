//! What the tools read does not depend on the globals that their sessions inherit.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::BTreeMap;

use mysql::Conn;
use mysql::prelude::Queryable;
use servers::{Engine, Server, Version, run};
use support::finish;
use support::server::Work;
use tare_client::{Address, SessionKind, connect};

/// Globals that end, cut or change what a session reads.
const HOSTILE: &[&str] = &[
    "sql_select_limit = 1",
    "max_join_size = 1",
    "sql_big_selects = 0",
    "wait_timeout = 1",
    "net_read_timeout = 1",
    "net_write_timeout = 1",
    "autocommit = 0",
    "completion_type = 'RELEASE'",
    "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,HIGH_NOT_PRECEDENCE,ONLY_FULL_GROUP_BY'",
    "sql_safe_updates = 1",
    "sql_auto_is_null = 1",
    "lock_wait_timeout = 1",
    "innodb_lock_wait_timeout = 1",
    "time_zone = '+13:00'",
    "lc_time_names = 'de_DE'",
    "default_week_format = 5",
    "div_precision_increment = 0",
    "group_concat_max_len = 4",
    "character_set_client = 'latin1'",
    "character_set_results = 'latin1'",
    "character_set_connection = 'latin1'",
    "collation_connection = 'latin1_german2_ci'",
    "transaction_isolation = 'SERIALIZABLE'",
    "max_allowed_packet = 1024",
];

const OF_MYSQL: &[&str] = &["max_execution_time = 1", "transaction_read_only = 1"];

const OF_MARIADB: &[&str] = &["max_statement_time = 0.001", "tx_read_only = 1"];

/// The variables of a session of a tool. The packet's limit is of the server alone.
fn variables(server: &Server, kind: SessionKind, hostile: &[&str]) -> BTreeMap<String, String> {
    let address = Address {
        socket: Some(server.directory.path().join("mysql.sock")),
        user: "root".into(),
        ..Address::default()
    };
    let mut conn = connect(&address, None, kind, None).expect("connected");
    let names = hostile.iter().filter_map(|set| set.split(" = ").next());
    let names = names.filter(|name| *name != "max_allowed_packet");
    let value = |name: &str| read_variable(&mut conn, name);
    let values: Vec<String> = names.clone().map(value).collect();
    names.map(str::to_owned).zip(values).collect()
}

fn read_variable(conn: &mut Conn, name: &str) -> String {
    // MariaDB before 11.1 knows it by its old name.
    let name = match name {
        "transaction_isolation" if read_version(conn).contains("MariaDB") => "tx_isolation",
        name => name,
    };
    let value: Option<String> = conn.query_first(format!("SELECT @@{name}")).expect(name);
    value.expect(name)
}

fn read_version(conn: &mut Conn) -> String {
    let version = conn.query_first("SELECT VERSION()").expect("a version");
    version.expect("a version")
}

/// Runs `tare` with the server's address, and returns its output.
fn tare(server: &Server, arguments: &[&str]) -> String {
    let mut command = server.directory.tare(arguments);
    let done = finish(command.arg("--dsn").arg("mysql.sock"));
    assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
    done.stdout
}

fn check_hostile_globals(version: Version, of_product: &[&str]) {
    if version.is_left_out() {
        return;
    }
    let options = ["--loose-character-set-client-handshake=OFF"];
    let server = Server::start(version, Engine::Stock, &options);
    let hostile = [HOSTILE, of_product].concat();
    let tool = variables(&server, SessionKind::Tool, &hostile);
    let user = variables(&server, SessionKind::User, &hostile);
    let mut admin = server.connect();
    run(
        &mut admin,
        &[
            "CREATE DATABASE `süß`",
            "CREATE TABLE `süß`.t (a INT PRIMARY KEY)",
        ],
    );
    let _work = Work::start(&server.directory.path().join("mysql.sock"));
    for setting in &hostile {
        let setting = match (version.is_mariadb(), setting.split_once(' ')) {
            (true, Some(("transaction_isolation", value))) => format!("tx_isolation {value}"),
            _ => (*setting).to_owned(),
        };
        run(&mut admin, &[&format!("SET GLOBAL {setting}")]);
    }
    assert_eq!(variables(&server, SessionKind::Tool, &hostile), tool);
    // A user's statements mean what they mean in another client, but their answers are complete.
    let hostile_user = variables(&server, SessionKind::User, &hostile);
    for name in [
        "sql_select_limit",
        "max_join_size",
        "wait_timeout",
        "character_set_results",
    ] {
        assert_eq!(hostile_user[name], user[name], "{name}");
    }
    assert_eq!(hostile_user["autocommit"], "0");
    assert!(hostile_user["sql_mode"].contains("NO_BACKSLASH_ESCAPES"));

    let rows = tare(
        &server,
        &["sql", "-e", "SELECT 1 UNION SELECT 2 UNION SELECT 'süß'"],
    );
    assert_eq!(rows.lines().skip(1).collect::<Vec<_>>(), ["1", "2", "süß"]);
    for page in ["statements", "tables", "threads", "memory"] {
        let arguments = ["top", "--batch", "1", "--format", "json", "--page", page];
        let answer: serde_json::Value =
            serde_json::from_str(&tare(&server, &arguments)).expect("an object");
        let rows = answer["rows"].as_array().expect("rows").len();
        assert!(rows > usize::from(page != "tables"), "{page}: {answer}");
    }
    tare(
        &server,
        &[
            "record",
            "--dir",
            "history",
            "--for",
            "3s",
            "--write-every",
            "1s",
        ],
    );
    let sampled = finish(server.directory.tare([
        "sql", "--history", "history", "--format", "json", "-e",
        "SELECT COUNT(*) > 1 AS n FROM moments UNION ALL SELECT COUNT(DISTINCT name) > 9 FROM growth",
    ]).stdin(std::process::Stdio::null()));
    assert_eq!(sampled.stdout.matches("\"n\": 1").count(), 2, "{sampled:?}");
    server.stop();
}

#[test]
fn mysql_s_globals_do_not_change_what_tools_read() {
    check_hostile_globals(Version::Mysql97, OF_MYSQL);
}

#[test]
fn mariadb_s_globals_do_not_change_what_tools_read() {
    check_hostile_globals(Version::Mariadb, OF_MARIADB);
}
