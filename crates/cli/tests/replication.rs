//! Replication in tare top: between two servers, how far the replica is behind, what is pending, gaps and errors; a
//! member of a group; a node of Galera.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::net::TcpListener;

use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use servers::{Engine, Server, Version, create_data_directory, run};
use support::{Directory, finish, wait_for};

/// A port of this machine that nobody uses.
fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    free.expect("a free port").port()
}

/// A server with an identity of its own and these options, and the port at which it listens.
fn start(
    name: &str,
    id: u32,
    (version, engine): (Version, Engine),
    more: &[String],
) -> (Server, u16) {
    let directory = Directory::new(name);
    create_data_directory(version, directory.path());
    // All new data directories have the same.
    let _ = std::fs::remove_file(directory.path().join("data/auto.cnf"));
    let port = free_port();
    let mut options = vec![
        "--skip-networking=OFF".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--port={port}"),
        format!("--server-id={id}"),
        "--log-bin=logs".to_owned(),
    ];
    if !version.is_mariadb() {
        let gtids = ["--gtid-mode=ON", "--enforce-gtid-consistency=ON"];
        options.extend(gtids.map(str::to_owned));
    }
    let options: Vec<&str> = options.iter().chain(more).map(String::as_str).collect();
    let server = Server::start_in(directory, version, engine, &options);
    (server, port)
}

/// The replica's channel on the page replication.
fn channel(replica: &Server) -> Value {
    let target = match replica.engine {
        Engine::Tare => ["--pid".to_owned(), replica.pid.to_string()],
        _ => ["--dsn".to_owned(), "mysql.sock".to_owned()],
    };
    let words = [
        "top",
        "--batch",
        "1",
        "-i",
        "0.2",
        "--format",
        "json",
        "--page",
        "replication",
    ];
    let words = words.map(str::to_owned);
    let done = finish(&mut replica.directory.tare(words.iter().chain(&target)));
    let page: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    page["rows"][0].clone()
}

/// Waits until the channel is as wanted.
fn wait_for_channel(replica: &Server, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    let reached = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wait_for(what, || {
            last = channel(replica);
            is_wanted(&last).then(|| last.clone())
        })
    }));
    reached.unwrap_or_else(|_| panic!("{what}: {last}"))
}

fn insert(source: &mut Conn, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let sql = format!("INSERT INTO shop.t VALUES ({number})");
        source.query_drop(sql).expect("inserts");
    }
}

fn check_pair(version: Version, engine: Engine) {
    if version.is_left_out() {
        return;
    }
    let (source, port) = start("source", 1, (version, engine), &[]);
    let (replica, _) = start("replica", 2, (version, engine), &[]);
    let (mut on_source, mut on_replica) = (source.connect(), replica.connect());
    run(
        &mut on_source,
        &[
            "CREATE USER r@'127.0.0.1' IDENTIFIED BY 'x'",
            "GRANT REPLICATION SLAVE ON *.* TO r@'127.0.0.1'",
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (a INT PRIMARY KEY) ENGINE = InnoDB",
        ],
    );
    let (change, begin) = match version.is_mariadb() {
        true => (
            format!(
                "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'r', \
                 MASTER_PASSWORD = 'x', MASTER_USE_GTID = slave_pos"
            ),
            "START SLAVE",
        ),
        false => (
            format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'r', \
                 SOURCE_PASSWORD = 'x', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
            ),
            "START REPLICA",
        ),
    };
    run(&mut on_replica, &[&change, begin]);
    let is_current = |row: &Value| row["lag_s"] == 0 && row["pending"] == 0 && row["io"] == "Yes";
    let row = wait_for_channel(&replica, "a replica without lag", is_current);
    assert_eq!(
        (&row["kind"], &row["sql"]),
        (&"replica".into(), &"Yes".into())
    );
    assert_eq!(row["source"], format!("127.0.0.1:{port}"));
    assert!(row["error"].is_null() && row["workers"].is_u64(), "{row}");

    // A session of the replica blocks the threads that apply.
    wait_for("the table", || {
        on_replica.query_drop("LOCK TABLES shop.t READ").ok()
    });
    insert(&mut on_source, 0..3);
    let is_late = |row: &Value| row["pending"] == 3 && row["lag_s"].as_u64() >= Some(1);
    wait_for_channel(&replica, "three pending transactions", is_late);
    run(&mut on_replica, &["UNLOCK TABLES"]);
    wait_for_channel(&replica, "no lag again", is_current);
    if !version.is_mariadb() {
        check_gap(&mut on_source, &replica);
    }

    // A row that the replica has already.
    run(
        &mut on_replica,
        &["SET sql_log_bin = 0", "INSERT INTO shop.t VALUES (100)"],
    );
    insert(&mut on_source, 100..101);
    let row = wait_for_channel(&replica, "an error", |row| row["error"].is_string());
    assert!(
        row["error"]
            .as_str()
            .is_some_and(|text| text.starts_with("1062 ")),
        "{row}"
    );
    assert_eq!((&row["sql"], &row["lag_s"]), (&"No".into(), &Value::Null));
    assert_eq!(row["pending"], 1, "{row}");
}

/// The source skips 9 numbers after those that it has used. Positions of MariaDB have no gaps.
fn check_gap(on_source: &mut Conn, replica: &Server) {
    let next = "SELECT CONCAT(@@server_uuid, ':', 10 + CAST(SUBSTRING_INDEX(@@gtid_executed, '-', -1) AS UNSIGNED))";
    let next: Option<String> = on_source.query_first(next).expect("answers");
    let set = format!("SET gtid_next = '{}'", next.expect("a transaction"));
    assert_eq!(channel(replica)["gaps"], 0);
    run(
        on_source,
        &[&set, "BEGIN", "COMMIT", "SET gtid_next = AUTOMATIC"],
    );
    wait_for_channel(replica, "a gap", |row| row["gaps"] == 9);
}

#[test]
#[ignore = "groups of servers are left to make test-long"]
fn a_member_of_a_group() {
    if Version::Mysql97.is_left_out() {
        return;
    }
    let address = format!("127.0.0.1:{}", free_port());
    let options = [
        "--report-host=127.0.0.1".to_owned(),
        "--plugin-load-add=group_replication.so".to_owned(),
        "--group-replication-group-name=aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa".to_owned(),
        format!("--group-replication-local-address={address}"),
        format!("--group-replication-group-seeds={address}"),
        "--group-replication-bootstrap-group=ON".to_owned(),
        "--group-replication-start-on-boot=OFF".to_owned(),
    ];
    let engine = (Version::Mysql97, Engine::StockDefaults);
    let (server, port) = start("member", 1, engine, &options);
    let mut admin = server.connect();
    assert_eq!(channel(&server)["sql"], "OFFLINE");
    run(&mut admin, &["START GROUP_REPLICATION"]);
    let row = wait_for_channel(&server, "a member", |row| row["sql"] == "ONLINE");
    assert_eq!(
        (&row["kind"], &row["io"]),
        (&"group member".into(), &"PRIMARY".into())
    );
    assert_eq!(
        (&row["source"], &row["pending"]),
        (&format!("127.0.0.1:{port}").into(), &0.into())
    );
    let id: Option<String> = admin.query_first("SELECT @@server_uuid").expect("answers");
    assert_eq!(row["channel"].as_str(), id.as_deref());
}

#[test]
#[ignore = "groups of servers are left to make test-long"]
fn a_node_of_galera() {
    let library = "/usr/lib/galera/libgalera_smm.so";
    if Version::Mariadb.is_left_out() || !std::path::Path::new(library).exists() {
        eprintln!("{library} is not installed: Galera is not tested");
        return;
    }
    let address = format!("127.0.0.1:{}", free_port());
    let options = [
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={library}"),
        "--wsrep-cluster-address=gcomm://".to_owned(),
        format!("--wsrep-node-address={address}"),
        format!("--wsrep-provider-options=gmcast.listen_addr=tcp://{address}"),
        "--binlog-format=ROW".to_owned(),
        "--wsrep-node-name=n1".to_owned(),
    ];
    let engine = (Version::Mariadb, Engine::StockDefaults);
    let (server, _) = start("node", 1, engine, &options);
    let row = wait_for_channel(&server, "a node", |row| row["sql"] == "Synced");
    assert_eq!(
        (&row["kind"], &row["channel"]),
        (&"Galera node".into(), &"n1".into())
    );
    assert_eq!(
        (&row["io"], &row["pending"]),
        (&"Primary, 1 nodes".into(), &0.into())
    );
}

#[test]
#[ignore = "pairs of servers are left to make test-long"]
fn a_stock_pair() {
    check_pair(Version::Mysql97, Engine::StockDefaults);
}

#[test]
#[ignore = "pairs of servers are left to make test-long"]
fn a_pair_of_mariadb() {
    check_pair(Version::Mariadb, Engine::StockDefaults);
}

#[test]
#[ignore = "pairs of servers are left to make test-long"]
fn a_pair_behind_the_door() {
    check_pair(Version::Mysql97, Engine::Tare);
}
