//! The MySQL door: one script of statements on a real server, once with the server's own engine and once
//! with Tare's; what both have counted must be the same.
//!
//! door/script.sql is the script, door/differences.tsv what differs by design. MariaDB and MySQL 5.7 are
//! compared in every run, MySQL 5.6 and 8.0 by `make test-long`.

#[path = "support/servers.rs"]
mod servers;
mod support;

#[path = "door/checks.rs"]
mod checks;
#[path = "door/comparing.rs"]
mod comparing;
#[path = "door/counts.rs"]
mod counts;
#[path = "door/steps.rs"]
mod steps;

use comparing::compare;
use servers::Version;

#[test]
fn mariadb_counts_the_same() {
    compare(Version::Mariadb);
}

#[test]
fn mysql_5_7_counts_the_same() {
    compare(Version::Mysql57);
}

#[test]
#[ignore = "MySQL 5.6 takes minutes: make test-long"]
fn mysql_5_6_counts_the_same() {
    compare(Version::Mysql56);
}

#[test]
#[ignore = "MySQL 8.0 takes minutes: make test-long"]
fn mysql_8_0_counts_the_same() {
    compare(Version::Mysql80);
}
