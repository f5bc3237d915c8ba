//! The MySQL door under stress: Tare's engine must not crash a server or lose its data.
//!
//! `make test-long` adds MariaDB 11.8, MySQL 5.6 and 8.0, and ten minutes of connections that come and go.

#[path = "survival/load.rs"]
mod load;
#[path = "support/servers.rs"]
mod servers;
mod support;
#[path = "survival/unknown.rs"]
mod unknown;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use rustix::process::Signal;

use load::{checksums, create_tables, read_its_own_tables, under_load};
use servers::{Engine, Server, Version, command_line, create_data_directory, library, tare_run};
use support::{Directory, finish, wait_for};

fn is_long() -> bool {
    std::env::var_os("TARE_TEST_LONG").is_some()
}

/// A test for each of these servers. Those with a reason are left to `make test-long`.
macro_rules! on_servers {
    ($what:ident: $($server:ident = $version:ident $(($why:literal))?),*) => {
        mod $what {
            $(
                #[test]
                $(#[ignore = $why])?
                fn $server() {
                    let version = super::Version::$version;
                    if !version.is_left_out() {
                        super::$what(version);
                    }
                }
            )*
        }
    };
}

macro_rules! on_all_servers {
    ($($what:ident,)*) => {$(
        on_servers!($what:
            mariadb = Mariadb,
            mariadb_11_4 = Mariadb114,
            mysql_5_7 = Mysql57,
            mysql_9_7 = Mysql97,
            mariadb_11_8 = Mariadb118 ("MariaDB 11.8 is left to make test-long"),
            mysql_5_6 = Mysql56 ("MySQL 5.6 is left to make test-long"),
            mysql_8_0 = Mysql80 ("MySQL 8.0 is left to make test-long"));
    )*};
}

on_all_servers! {
    a_server_stops_in_good_order,
    a_server_that_is_killed_recovers_with_the_same_rows,
    many_connections_come_and_go_while_tables_are_read_and_changed,
    version_and_help_are_unchanged,
    a_server_with_performance_schema_off_is_left_unchanged,
}

// MariaDB and 5.6 create a data directory by a script that uses --bootstrap; the others have --initialize.
on_servers!(initialize_creates_a_data_directory:
    mysql_5_7 = Mysql57,
    mysql_9_7 = Mysql97,
    mysql_8_0 = Mysql80 ("MySQL 8.0 is left to make test-long"));
on_servers!(bootstrap_runs:
    mariadb = Mariadb,
    mariadb_11_4 = Mariadb114,
    mariadb_11_8 = Mariadb118 ("MariaDB 11.8 is left to make test-long"),
    mysql_5_6 = Mysql56 ("MySQL 5.6 is left to make test-long"));

/// How long the load runs.
fn load_time() -> Duration {
    Duration::from_secs(if is_long() { 600 } else { 5 })
}

/// Concurrent connections of the load.
fn connection_count() -> usize {
    if is_long() { 1000 } else { 100 }
}

fn a_server_stops_in_good_order(version: Version) {
    let mut server = Server::start(version, Engine::Tare, &["--max-connections=200"]);
    create_tables(&mut server.connect());
    let sums = checksums(&mut server.connect());
    let served = under_load(&server, 8, || {
        std::thread::sleep(Duration::from_millis(500));
    });
    assert!(served > 8, "{version}: {served}");
    let threads = server.tare("SELECT COUNT(*) AS n FROM performance_schema.threads");
    assert!(threads[0]["n"].as_u64() > Some(3), "{version}: {threads:?}");
    // `tare run` passes SIGTERM on and exits with the server's code.
    server.signal(Signal::TERM);
    let status = server.wait();
    assert_eq!(status.code(), Some(0), "{version}: {}", server.log());
    assert!(
        !server.log().contains("got signal"),
        "{version}: {}",
        server.log()
    );
    // The server's own engine starts on the same data.
    let again = Server::start_in(server.take_directory(), version, Engine::Stock, &[]);
    assert_eq!(checksums(&mut again.connect()), sums, "{version}");
    again.stop();
}

fn a_server_that_is_killed_recovers_with_the_same_rows(version: Version) {
    let mut server = Server::start(version, Engine::Tare, &["--max-connections=200"]);
    create_tables(&mut server.connect());
    let sums = checksums(&mut server.connect());
    // MySQL's own handler of SIGSEGV writes its log and exits with 1 or 2; MariaDB's raises the signal again.
    for (signal, codes) in [
        (Signal::KILL, &[128 + 9][..]),
        (Signal::SEGV, &[128 + 11, 1, 2][..]),
    ] {
        under_load(&server, 4, || {
            std::thread::sleep(Duration::from_millis(300));
            server.signal_server(signal);
            // Connections may fail until the load stops.
            std::thread::sleep(Duration::from_millis(100));
        });
        let status = server.wait();
        let code = status.code();
        assert!(
            code.is_some_and(|code| codes.contains(&code)),
            "{version}: {code:?} {}",
            server.log()
        );
        // The saved segment can be read.
        let saved = server
            .directory
            .path()
            .join(format!("tare-{}.segment", server.pid));
        assert!(saved.exists(), "{version}: {}", server.log());
        let question = "SELECT COUNT(*) > 3 AS enough FROM performance_schema.threads";
        let path = saved.to_string_lossy().into_owned();
        let arguments = [
            "sql",
            "--segment",
            &path,
            "--format",
            "json",
            "-e",
            question,
        ];
        let answer = finish(&mut server.directory.tare(arguments));
        assert!(
            answer.stdout.contains("\"enough\": 1"),
            "{version}: {answer:?}"
        );
        server = Server::start_in(
            server.take_directory(),
            version,
            Engine::Tare,
            &["--max-connections=200"],
        );
        assert_eq!(
            checksums(&mut server.connect()),
            sums,
            "{version} after {signal:?}"
        );
    }
    server.stop();
}

fn many_connections_come_and_go_while_tables_are_read_and_changed(version: Version) {
    let server = Server::start(
        version,
        Engine::Tare,
        &["--max-connections=1200", "--open-files-limit=8000"],
    );
    create_tables(&mut server.connect());
    let sums = checksums(&mut server.connect());
    let since = Instant::now();
    let served = under_load(&server, connection_count(), || {
        let mut connection = server.connect();
        let mut round = 0;
        while since.elapsed() < load_time() {
            round += 1;
            // InnoDB's status, a table that is dropped while it is used, and a plugin.
            let status: Vec<mysql::Row> = connection
                .query("SHOW ENGINE INNODB STATUS")
                .expect("status");
            assert_eq!(status.len(), 1);
            connection
                .query_drop("CREATE TABLE hard.brief LIKE hard.t0")
                .expect("created");
            connection
                .query_drop("INSERT INTO hard.brief SELECT * FROM hard.t0")
                .expect("filled");
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut other = server.connect();
                    // Until the table is dropped.
                    while other
                        .query_drop("SELECT COUNT(*) FROM hard.brief WHERE n = 3")
                        .is_ok()
                    {}
                });
                std::thread::sleep(Duration::from_millis(20));
                connection
                    .query_drop("DROP TABLE hard.brief")
                    .expect("dropped");
            });
            if let Some(plugin) = plugin(version) {
                connection
                    .query_drop(format!("INSTALL PLUGIN {plugin}"))
                    .expect("installed");
                let name = plugin.split(' ').next().expect("a name");
                connection
                    .query_drop(format!("UNINSTALL PLUGIN {name}"))
                    .expect("uninstalled");
            }
            read_its_own_tables(&server);
            // The reader still works.
            let threads = server.tare("SELECT COUNT(*) AS n FROM performance_schema.threads");
            assert!(threads[0]["n"].as_u64() > Some(3), "{threads:?}");
        }
        assert!(round > 0);
    });
    assert!(
        served > connection_count(),
        "{version}: {served} connections"
    );
    assert_eq!(checksums(&mut server.connect()), sums, "{version}");
    let gone = wait_for("the sessions to end", || {
        let rows = server.tare(
            "SELECT COUNT(*) AS n FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL",
        );
        // Servers have up to two threads of their own with a PROCESSLIST_ID.
        rows[0]["n"].as_u64().filter(|left| *left < 5)
    });
    assert!(gone < 5);
    let log = server.log();
    assert!(
        !log.contains("got signal") && !log.contains("panicked"),
        "{version}: {log}"
    );
    server.stop();
}

/// A plugin with instruments, if one is installed for this server.
fn plugin(version: Version) -> Option<&'static str> {
    let directory = Path::new("/usr/lib/mysql/plugin");
    let is_there = directory.join("ha_archive.so").exists();
    (version == Version::Mariadb && is_there).then_some("archive SONAME 'ha_archive.so'")
}

fn version_and_help_are_unchanged(version: Version) {
    let directory = Directory::new("tell");
    let program = command_line(version, directory.path()).remove(0);
    for (option, expected) in [("--version", "Ver "), ("--help", "Usage: ")] {
        let plain = finish(Command::new(&program).args(["--no-defaults", option]));
        let line = [program.clone(), "--no-defaults".into(), option.into()];
        let ours = finish(&mut tare_run(&directory, &line));
        assert!(plain.stdout.contains(expected), "{version}: {plain:?}");
        assert_eq!(
            (ours.code, &ours.stdout),
            (plain.code, &plain.stdout),
            "{version} {option}"
        );
        // With the library alone.
        let preloaded = finish(
            Command::new(&program)
                .args(["--no-defaults", option])
                .env("LD_PRELOAD", library())
                .env("TARE_PSI_REQUIRE", "1"),
        );
        assert_eq!(
            (preloaded.code, &preloaded.stdout),
            (plain.code, &plain.stdout),
            "{version} {option}"
        );
    }
}

fn a_server_with_performance_schema_off_is_left_unchanged(version: Version) {
    let directory = Directory::new("off");
    let line = command_line(version, directory.path());
    let mut switches = vec!["--performance-schema=OFF", "--skip-performance-schema"];
    if version.is_mariadb() {
        // Off by default.
        switches.push("--port=0");
    }
    for switch in switches {
        let done = finish(
            Command::new(&line[0])
                .args(&line[1..])
                .arg(switch)
                .env("LD_PRELOAD", library())
                .env("TARE_PSI_REQUIRE", "1"),
        );
        // TARE_PSI_REQUIRE makes it exit instead of starting without Tare.
        assert_eq!(done.code, Some(4), "{version} {switch}: {done:?}");
        let message = done.stderr.lines().next().unwrap_or_default();
        assert!(
            message.contains("registers no instruments"),
            "{version}: {message}"
        );
    }
}

fn initialize_creates_a_data_directory(version: Version) {
    let directory = Directory::new("initialise");
    let mut line = command_line(version, directory.path());
    line.push("--initialize-insecure".into());
    let done = finish(&mut tare_run(&directory, &line));
    assert_eq!(done.code, Some(0), "{version}: {done:?}");
    let server = Server::start_in(directory, version, Engine::Tare, &[]);
    let one: Option<u8> = server
        .connect()
        .query_first("SELECT COUNT(*) > 0 FROM mysql.user")
        .expect("users");
    assert_eq!(one, Some(1));
    server.stop();
}

fn bootstrap_runs(version: Version) {
    let directory = Directory::new("bootstrap");
    create_data_directory(version, directory.path());
    let mut line = command_line(version, directory.path());
    line.push("--bootstrap".into());
    let mut command = tare_run(&directory, &line);
    let done = support::finish_with_input(&mut command, "CREATE DATABASE made_in_bootstrap;\n");
    assert_eq!(done.code, Some(0), "{version}: {done:?}");
    assert!(directory.path().join("data/made_in_bootstrap").is_dir());
}

#[test]
fn shells_pass_the_library_on() {
    // mysqld_safe is a shell script.
    let done = finish(
        Command::new("sh")
            .args(["-c", "echo $LD_PRELOAD"])
            .env("LD_PRELOAD", library()),
    );
    assert_eq!(done.stdout.trim(), library().to_string_lossy());
    assert_eq!(done.stderr, "");
}

#[test]
fn mysqld_safe_starts_a_server_with_our_engine() {
    let directory = Directory::new("safe");
    create_data_directory(Version::Mariadb, directory.path());
    let mut line = command_line(Version::Mariadb, directory.path());
    line[0] = "mariadbd-safe".into();
    line.push(format!(
        "--log-error={}",
        directory.path().join("error.log").display()
    ));
    let log = std::fs::File::create(directory.path().join("log")).expect("log");
    // Dropping it kills the shell and its server.
    let mut running = support::Process::start(tare_run(&directory, &line).stderr(log));
    let socket = directory.path().join("mysql.sock");
    let words = || {
        let read =
            |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap_or_default();
        read("log") + &read("error.log")
    };
    let mut connection = wait_for("mysqld_safe's server", || {
        support::server::connect(&socket).ok()
    });
    let pid = std::fs::read_to_string(directory.path().join("pid")).expect("pid");
    let question = "SELECT COUNT(*) > 3 AS enough FROM performance_schema.threads";
    let answer = finish(&mut directory.tare([
        "sql",
        "--pid",
        pid.trim(),
        "--format",
        "json",
        "-e",
        question,
    ]));
    assert!(
        answer.stdout.contains("\"enough\": 1"),
        "{answer:?}\n{}",
        words()
    );
    connection.query_drop("SHUTDOWN").expect("shut down");
    let status = running.wait();
    assert!(status.success(), "{status:?}: {}", words());
}
