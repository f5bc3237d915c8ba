//! `tare serve --attach-pid`: SHOW GLOBAL STATUS is that of the attached server, which answers it itself.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::prelude::Queryable;
use servers::{Engine, Server, Version, run};
use support::server::connect;

fn check_attached_status(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Tare, &[]);
    let mut session = server.connect();
    run(&mut session, &["DO 1"]);
    let pid = server.pid.to_string();
    let (_served, socket) = server.serve_attached();
    let mut served = connect(&socket).expect("connected");
    let mut read = |sql: &str| -> Vec<(String, String)> { served.query(sql).expect(sql) };
    let of_server: Vec<(String, String)> = session.query("SHOW GLOBAL STATUS").expect("answers");
    for sql in [
        "SHOW GLOBAL STATUS",
        "SELECT * FROM performance_schema.global_status",
    ] {
        let attached = read(sql);
        let lower = |name: &str| name.to_lowercase();
        let value = |wanted: &str| {
            let row = attached
                .iter()
                .find(|(name, _)| lower(name) == lower(wanted));
            row.map(|(_, value)| value.clone())
        };
        // The table leaves out counters of statements, as MySQL's does.
        let is_there = |name: &str| sql.starts_with("SHOW") || !name.starts_with("Com_");
        for (name, _) in of_server.iter().filter(|(name, _)| is_there(name)) {
            assert!(value(name).is_some(), "{sql} has no {name}");
        }
        let constant = of_server
            .iter()
            .find(|(name, _)| name == "Innodb_page_size");
        assert_eq!(
            value("Innodb_page_size"),
            constant.map(|(_, value)| value.clone())
        );
        // This session, and the one that asks.
        let connected: u64 = value("Threads_connected")
            .expect("there")
            .parse()
            .expect("a number");
        assert!(connected >= 2, "{connected}");
        assert_eq!(value("Tare_attached_pid"), Some(pid.clone()));
    }
    server.stop();
}

#[test]
fn the_status_of_an_attached_mariadb_is_complete() {
    check_attached_status(Version::Mariadb);
}

#[test]
fn the_status_of_an_attached_mysql_is_complete() {
    check_attached_status(Version::Mysql97);
}
