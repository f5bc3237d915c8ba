//! Accounts that clients create, and their rights.

use std::os::unix::fs::PermissionsExt;

use mysql::prelude::Queryable;
use mysql::{Conn, SslOpts};
use tare_server::{Server, StartError};

use super::support::{
    Directory, MONITOR, PASSWORD, Running, all_of, code, config, errno, exec, one, socket_options,
    tcp_options,
};

fn by_tls(port: u16, user: &str, password: &str) -> mysql::Result<Conn> {
    let ssl = SslOpts::default().with_danger_accept_invalid_certs(true);
    Conn::new(tcp_options(port, user, Some(password)).ssl_opts(Some(ssl)))
}

fn by_socket(running: &Running, user: &str, password: &str) -> mysql::Result<Conn> {
    let options = socket_options(&running.socket());
    Conn::new(options.user(Some(user)).pass(Some(password)))
}

#[test]
fn a_user_is_created_changed_and_dropped() {
    for running in [Running::start(), Running::pool()] {
        let mut root = running.root();
        for plugin in ["mysql_native_password", "caching_sha2_password"] {
            exec(
                &mut root,
                &format!("CREATE USER 'ann'@'%' IDENTIFIED WITH '{plugin}' BY 'one'"),
            );
            let mut ann = by_tls(running.port(), "ann", "one").expect(plugin);
            assert_eq!(
                one(&mut ann, "SELECT USER(), CURRENT_USER()"),
                "ann@localhost|ann@%"
            );
            assert_eq!(code(by_tls(running.port(), "ann", "two")), 1045);
            assert_eq!(code(by_tls(running.port(), "ann", "")), 1045);
            by_socket(&running, "ann", "one").expect("by the socket");
            assert_eq!(code(by_socket(&running, "ann", "two")), 1045);
            assert_eq!(
                one(
                    &mut root,
                    "SELECT plugin FROM mysql.user WHERE user = 'ann'"
                ),
                plugin
            );
            // A user changes the own password.
            exec(&mut ann, "SET PASSWORD = 'two'");
            assert_eq!(code(by_tls(running.port(), "ann", "one")), 1045);
            let mut ann = by_tls(running.port(), "ann", "two").expect("the new one");
            exec(&mut ann, "ALTER USER USER() IDENTIFIED BY 'three'");
            by_tls(running.port(), "ann", "three").expect("the newest");
            exec(&mut root, "RENAME USER ann TO 'eve'@'127.0.%'");
            assert_eq!(code(by_tls(running.port(), "ann", "three")), 1045);
            by_tls(running.port(), "eve", "three").expect("by her new name");
            exec(&mut root, "ALTER USER 'eve'@'127.0.%' ACCOUNT LOCK");
            assert_eq!(code(by_tls(running.port(), "eve", "three")), 3118);
            exec(&mut root, "DROP USER 'eve'@'127.0.%'");
            assert_eq!(code(by_tls(running.port(), "eve", "three")), 1045);
        }
    }
}

#[test]
fn passwords_are_not_sent_unencrypted() {
    let running = Running::start();
    let mut root = running.root();
    exec(&mut root, "CREATE USER ann IDENTIFIED BY 'one'");
    // No client has proved the password yet, and the connection is not encrypted: the right password, a
    // wrong one and an unknown user get the same answer.
    for (user, password) in [("ann", "one"), ("ann", "two"), ("nobody", "one")] {
        match running.tcp(user, Some(password)) {
            Err(mysql::Error::MySqlError(error)) => {
                assert_eq!(error.code, 1045);
                assert!(error.message.contains("TLS"), "{}", error.message);
            }
            other => panic!("{user}: {other:?}"),
        }
    }
    by_tls(running.port(), "ann", "one").expect("TLS");
    // Now the server has the digest, so that the client proves the password without sending it.
    running.tcp("ann", Some("one")).expect("known");
    assert_eq!(code(running.tcp("ann", Some("two"))), 1045);
    exec(&mut root, "ALTER USER ann IDENTIFIED BY 'two'");
    assert_eq!(code(running.tcp("ann", Some("one"))), 1045);
    exec(&mut root, "ALTER USER ann REQUIRE SSL");
    by_tls(running.port(), "ann", "two").expect("TLS");
    assert_eq!(code(running.tcp("ann", Some("two"))), 1045);
    assert_eq!(
        one(
            &mut root,
            "SELECT ssl_type FROM mysql.user WHERE user = 'ann'"
        ),
        "ANY"
    );
}

#[test]
fn accounts_have_three_levels_of_rights() {
    let running = Running::start();
    let mut root = running.client();
    exec(&mut root, "CREATE TABLE t (a INT)");
    exec(&mut root, "CREATE USER u IDENTIFIED BY 'p'");
    let read = "SELECT COUNT(*) FROM performance_schema.setup_consumers";
    let data = "SELECT * FROM test.t";
    let others = "SELECT COUNT(*) FROM information_schema.innodb_trx";
    let switch = "UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name = 'x'";
    let truncate = "TRUNCATE performance_schema.events_waits_history";
    let global = "SET GLOBAL max_execution_time = 0";
    let write = "INSERT INTO test.t VALUES (1)";
    let users = "CREATE USER x";
    let all = [read, others, data, switch, truncate, global, write, users];
    let denied = [1142, 1227, 1142, 1142, 1142, 1227, 1142, 1227];
    let may = |grant: &str, what: &[&str]| {
        let mut root = running.root();
        exec(&mut root, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM u");
        if !grant.is_empty() {
            exec(&mut root, grant);
        }
        let mut u = by_tls(running.port(), "u", "p").expect("connects");
        assert_eq!(one(&mut u, "SELECT 1"), "1");
        assert_eq!(errno(&mut u, "SHOW VARIABLES LIKE 'version'"), 0);
        for (statement, number) in all.iter().zip(denied) {
            let expected = match statement {
                _ if what.contains(statement) => 0,
                _ => number,
            };
            assert_eq!(errno(&mut u, statement), expected, "{grant}: {statement}");
        }
        exec(&mut root, "DROP USER IF EXISTS x");
    };
    may("", &[]);
    may("GRANT SELECT ON performance_schema.* TO u", &[read]);
    may("GRANT PROCESS ON *.* TO u", &[others]);
    may(
        "GRANT SELECT, PROCESS, REPLICATION CLIENT ON *.* TO u",
        &[read, others, data],
    );
    may(
        "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO u",
        &[truncate, global],
    );
    may(
        "GRANT SELECT, UPDATE ON performance_schema.* TO u",
        &[read, switch, truncate, global],
    );
    may("GRANT ALL PRIVILEGES ON *.* TO u WITH GRANT OPTION", &all);
    assert_eq!(
        all_of(&mut root, "SHOW GRANTS FOR u"),
        ["GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION"]
    );
    let mut monitor = running.tcp("monitor", Some(MONITOR)).expect("monitor");
    for statement in [
        data,
        switch,
        truncate,
        global,
        write,
        users,
        "GRANT ALL ON *.* TO monitor",
    ] {
        assert_ne!(errno(&mut monitor, statement), 0, "{statement}");
    }
    // An account that may only read system schemas does not see databases there.
    let tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'test'";
    assert_eq!(one(&mut monitor, tables), "0");
    assert_eq!(one(&mut root, tables), "1");
    // A session may outlive its account.
    exec(&mut root, "CREATE USER gone IDENTIFIED BY 'p'");
    let mut gone = by_tls(running.port(), "gone", "p").expect("connects");
    exec(&mut root, "DROP USER gone");
    assert_eq!(errno(&mut gone, "SHOW GRANTS"), 1141);
}

#[test]
fn wrong_account_statements_get_mysqls_error_numbers() {
    let running = Running::start();
    let mut root = running.root();
    exec(
        &mut root,
        "CREATE USER a, 'b'@'localhost' IDENTIFIED BY 'p'",
    );
    for (statement, number) in [
        ("CREATE USER a", 1396),
        ("CREATE USER c, a", 1396),
        ("DROP USER c", 1396),
        ("ALTER USER c IDENTIFIED BY 'x'", 1396),
        ("RENAME USER a TO 'b'@'localhost'", 1396),
        ("SET PASSWORD FOR c = 'x'", 1133),
        ("GRANT SELECT ON *.* TO c", 1410),
        ("SHOW GRANTS FOR c", 1141),
        ("SHOW CREATE USER c", 1396),
        ("CREATE USER c IDENTIFIED WITH nobody_knows BY 'x'", 1524),
        (
            "CREATE USER c IDENTIFIED WITH mysql_native_password AS 'x'",
            1827,
        ),
        ("CREATE USER 'a123456789012345678901234567890123'", 1470),
        ("GRANT SELECT ON shop.* TO a", 1235),
        ("GRANT INSERT ON *.* TO a", 1235),
        ("DROP USER root", 1235),
        ("GRANT SELECT ON *.* TO monitor", 1235),
        ("CREATE USER", 1064),
        ("GRANT SELECT ON *.* TO a IDENTIFIED BY 'x'", 1064),
    ] {
        assert_eq!(errno(&mut root, statement), number, "{statement}");
    }
    exec(&mut root, "CREATE USER IF NOT EXISTS a");
    assert!(one(&mut root, "SHOW WARNINGS").starts_with("Note|3163|"));
    exec(&mut root, "DROP USER IF EXISTS c");
    assert!(one(&mut root, "SHOW WARNINGS").starts_with("Note|3162|"));
    // Statements that failed have changed nothing.
    assert_eq!(
        all_of(
            &mut root,
            "SELECT CONCAT(user, '@', host) FROM mysql.user ORDER BY 1"
        ),
        ["a@%", "b@localhost", "monitor@localhost", "root@localhost"]
    );
    let hash = "*81F5E21E35407D884A6CD4A731AEBFB6AF209E1B";
    exec(
        &mut root,
        &format!("ALTER USER a IDENTIFIED WITH mysql_native_password AS '{hash}'"),
    );
    running.tcp("a", Some("root")).expect("the hash of 'root'");
}

#[test]
fn users_survive_a_restart() {
    let directory = Directory::new();
    let start = || {
        let server = Server::start(config(&directory)).expect("starts");
        let port = server.endpoints().port.expect("a port");
        (server, port)
    };
    let (server, port) = start();
    let mut root = by_tls(port, "root", PASSWORD).expect("root");
    exec(
        &mut root,
        "CREATE USER a IDENTIFIED BY 'one', b IDENTIFIED WITH mysql_native_password BY 'two'",
    );
    exec(&mut root, "GRANT SELECT ON *.* TO a");
    exec(&mut root, "ALTER USER b REQUIRE SSL");
    drop(root);
    drop(server);
    let file = directory.path().join("accounts");
    let mode = std::fs::metadata(&file).expect("kept").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).expect("kept");
    assert!(
        !text.contains("\"one\"") && !text.contains("\"two\""),
        "{text}"
    );
    assert!(!directory.path().join("accounts.new").exists());
    let (server, port) = start();
    let mut a = by_tls(port, "a", "one").expect("a");
    assert_eq!(
        all_of(&mut a, "SHOW GRANTS"),
        ["GRANT SELECT ON *.* TO `a`@`%`"]
    );
    by_tls(port, "b", "two").expect("b");
    drop(a);
    drop(server);
    std::fs::write(&file, &text[..text.len() / 2]).expect("damaged");
    match Server::start(config(&directory)) {
        Err(StartError::Data { path, .. }) => assert_eq!(path, file),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_password_of_root_is_that_of_its_file() {
    let directory = Directory::new();
    let own = || {
        let mut config = config(&directory);
        config.password = None;
        Server::start(config).expect("starts")
    };
    let server = own();
    let file = directory.path().join("password");
    let password = std::fs::read_to_string(&file).expect("made");
    let port = server.endpoints().port.expect("a port");
    let mut root = by_tls(port, "root", password.trim()).expect("root");
    exec(
        &mut root,
        "ALTER USER root@localhost IDENTIFIED BY 'another one'",
    );
    assert_eq!(
        std::fs::read_to_string(&file).expect("there"),
        "another one\n"
    );
    assert_eq!(errno(&mut root, "SET PASSWORD = ''"), 1819);
    drop(root);
    drop(server);
    let server = own();
    let port = server.endpoints().port.expect("a port");
    by_tls(port, "root", "another one").expect("root");
}

#[test]
fn recorded_statements_have_no_passwords() {
    let running = Running::start();
    let mut root = running.root();
    let _enabled = running.enable("setup_consumers", "events_statements_history_long");
    exec(&mut root, "CREATE USER a IDENTIFIED BY 'a very hush word'");
    exec(&mut root, "SET PASSWORD FOR a = 'another hush word'");
    exec(
        &mut root,
        "ALTER USER a IDENTIFIED BY /* c */ 'one hush word'",
    );
    for refused in [
        "ALTER USER nobody IDENTIFIED BY 'a third hush word' AND 'another hush word'",
        "ALTER USER a IDENTIFIED BY 'a hush word' AND 'another hush word'",
        "ALTER USER a IDENTIFIED BY hush word",
        "GRANT SELECT ON *.* TO a IDENTIFIED BY 'a hush word'",
        "CALL sys.no_such_procedure('ALTER USER a IDENTIFIED BY ''a hush word''')",
    ] {
        assert_ne!(errno(&mut root, refused), 0, "{refused}");
        assert!(root.prep(refused).is_err(), "{refused}");
    }
    let prepared = root.prep("ALTER USER a IDENTIFIED BY 'a fourth hush word'");
    root.exec_drop(prepared.expect("prepared"), ())
        .expect("executed");
    exec(
        &mut root,
        "PREPARE s FROM 'ALTER USER a IDENTIFIED BY ''a fifth hush word'''",
    );
    exec(&mut root, "EXECUTE s");
    by_tls(running.port(), "a", "a fifth hush word").expect("the last one counts");
    for (table, columns) in [
        (
            "events_statements_history",
            &["sql_text", "message_text", "digest_text"][..],
        ),
        (
            "events_statements_history_long",
            &["sql_text", "message_text", "digest_text"],
        ),
        (
            "events_statements_summary_by_digest",
            &["query_sample_text", "digest_text"],
        ),
        ("prepared_statements_instances", &["sql_text"]),
    ] {
        for column in columns {
            let of = format!("FROM performance_schema.{table} WHERE {column}");
            let there = one(&mut root, &format!("SELECT COUNT(*) > 0 {of} <> ''"));
            assert_eq!(there, "1", "nothing to look for in {table}.{column}");
            // This statement's own text has the pattern, too, and is excluded.
            let sql = format!(
                "SELECT {column} {of} LIKE '%hush%' AND {column} NOT LIKE '%FROM performance_schema%'"
            );
            assert_eq!(
                all_of(&mut root, &sql),
                Vec::<String>::new(),
                "{table}.{column}"
            );
        }
    }
}
