//! A MariaDB server behind the door, queried through its own socket: FederatedX gives its clients
//! Tare's tables (docs/door.md), and the tools say where its instruments are.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::prelude::Queryable;

use servers::{Engine, Server, Version, run};
use support::finish;

#[test]
fn federatedx_reads_our_tables_in_mariadb() {
    let observed = Server::start(Version::Mariadb, Engine::Tare, &[]);
    let (_serving, socket) = observed.serve_attached();
    let mut client = observed.connect();
    run(
        &mut client,
        &[
            "INSTALL SONAME 'ha_federatedx'",
            &format!(
                "CREATE SERVER tare FOREIGN DATA WRAPPER mysql OPTIONS \
             (USER 'root', HOST 'localhost', SOCKET '{}', DATABASE 'performance_schema')",
                socket.display()
            ),
            "CREATE DATABASE inside",
            "USE inside",
            "CREATE TABLE statements (
            EVENT_NAME VARCHAR(128) NOT NULL, COUNT_STAR BIGINT UNSIGNED NOT NULL)
         ENGINE = FEDERATED CONNECTION = 'tare/events_statements_summary_global_by_event_name'",
            "CREATE TABLE threads (PROCESSLIST_ID BIGINT UNSIGNED, PROCESSLIST_INFO LONGTEXT)
         ENGINE = FEDERATED CONNECTION = 'tare'",
        ],
    );
    let created: Option<u64> = client
        .query_first(
            "SELECT COUNT_STAR FROM statements WHERE EVENT_NAME = 'statement/sql/create_table'",
        )
        .expect("statements");
    assert_eq!(created, Some(2));
    // It finds its own query.
    let question = "SELECT PROCESSLIST_INFO FROM threads WHERE PROCESSLIST_ID = CONNECTION_ID()";
    let info: Option<String> = client.query_first(question).expect("threads");
    assert_eq!(info.as_deref(), Some(question));
    observed.stop();
}

#[test]
fn tools_on_the_servers_socket_name_the_place_of_its_instruments() {
    let observed = Server::start(Version::Mariadb, Engine::Tare, &[]);
    // Commands run in that directory.
    let assert_prints = |arguments: &[&str], words: &str| {
        let arguments = arguments.iter().chain(&["--dsn", "./mysql.sock"]);
        let finished = finish(&mut observed.directory.tare(arguments));
        let output = format!("{}{}", finished.stdout, finished.stderr);
        assert!(output.contains(words), "no {words:?} in {finished:?}");
    };
    let elsewhere = "its own performance_schema has no instruments";
    for tool in [
        &["top", "--batch", "1"][..],
        &["explain", "--interval", "1"],
        &["querystat"],
        &["record", "--dir", "history"],
        &["live", "--listen", "127.0.0.1:0"],
    ] {
        assert_prints(tool, elsewhere);
    }
    assert_prints(&["weigh", "own"], "it has no instruments of statements");
    observed.stop();
}
