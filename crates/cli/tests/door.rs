//! The MySQL door: one script of statements on a real server, once with the server's own engine and once
//! with Tare's; what both have counted must be the same.
//!
//! door/script.sql is the script, door/differences.tsv what differs by design. MariaDB and MySQL 5.7 are
//! compared in every run, the others with TARE_TEST_LONG=1.

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
fn mysql_5_6_counts_the_same() {
    in_the_long_run(Version::Mysql56);
}

#[test]
fn mysql_8_0_counts_the_same() {
    in_the_long_run(Version::Mysql80);
}

fn in_the_long_run(version: Version) {
    if std::env::var_os("TARE_TEST_LONG").is_some() {
        compare(version);
    } else {
        println!("{version} is compared with TARE_TEST_LONG=1");
    }
}
