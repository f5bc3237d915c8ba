//! The MySQL door: one script runs on a real server, once with the server's own engine and once with Tare's.
//! Both must count the same.
//!
//! door/differences.tsv lists what differs by design. MariaDB 10.11 and 11.4, MySQL 9.7 and 5.7 are compared
//! in every run, MariaDB 11.8, MySQL 5.6 and 8.0 by `make test-long`.

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

/// docs/adding.md: fails for a release that no test compares with its own engine, or kills.
#[test]
fn each_release_is_tested() {
    for release in tare_image::Release::ALL {
        let version = Version::from(*release);
        let compared = format!("compare(Version::{version:?})");
        assert!(
            include_str!("door.rs").contains(&compared),
            "door.rs: {release}"
        );
        let killed = format!("= {version:?}");
        assert!(
            include_str!("survival.rs").contains(&killed),
            "survival.rs: {release}"
        );
    }
}

#[test]
fn mariadb_counts_the_same() {
    compare(Version::Mariadb);
}

#[test]
fn mariadb_11_4_counts_the_same() {
    compare(Version::Mariadb114);
}

#[test]
#[ignore = "MariaDB 11.8 is left to make test-long"]
fn mariadb_11_8_counts_the_same() {
    compare(Version::Mariadb118);
}

#[test]
fn mysql_9_7_counts_the_same() {
    compare(Version::Mysql97);
}

#[test]
fn mysql_5_7_counts_the_same() {
    compare(Version::Mysql57);
}

#[test]
#[ignore = "MySQL 5.6 is left to make test-long"]
fn mysql_5_6_counts_the_same() {
    compare(Version::Mysql56);
}

#[test]
#[ignore = "MySQL 8.0 is left to make test-long"]
fn mysql_8_0_counts_the_same() {
    compare(Version::Mysql80);
}
