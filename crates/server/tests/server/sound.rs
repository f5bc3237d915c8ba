//! The files of a server, and details of its answers.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use mysql::prelude::Queryable;
use tare_server::Server;

use super::support::{Directory, Running, all_of, config, errno, exec, one, rows};

#[test]
fn others_cannot_open_the_files_of_a_database() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (n INT)");
    exec(&mut conn, "INSERT INTO t VALUES (1)");
    let modes = |directory: &std::path::Path| {
        let mut modes = Vec::new();
        for entry in std::fs::read_dir(directory).expect("readable").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains(".db") {
                // SQLite may have removed it since it was listed.
                match entry.metadata() {
                    Ok(metadata) => modes.push((name, metadata.permissions().mode() & 0o777)),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{name}: {error}"),
                }
            }
        }
        modes
    };
    let files = modes(running.directory.path());
    assert!(files.len() >= 2, "{files:?}");
    assert!(files.iter().all(|(_, mode)| mode & 0o137 == 0), "{files:?}");
    // The next start corrects the mode of files from an earlier version.
    drop(conn);
    running.server.shutdown();
    let file = running.directory.path().join("test.db");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("set");
    let again = Server::start(config(&running.directory)).expect("starts");
    let files = modes(running.directory.path());
    assert!(files.iter().all(|(_, mode)| mode & 0o137 == 0), "{files:?}");
    again.shutdown();
}

#[test]
fn a_password_file_is_written_atomically() {
    let directory = Directory::new();
    let mut wanted = config(&directory);
    wanted.password = None;
    // The temporary file cannot be created, as with a full disk.
    std::fs::create_dir(directory.path().join("password.new")).expect("made");
    assert!(Server::start(wanted.clone()).is_err());
    assert!(!directory.path().join("password").exists());
    std::fs::remove_dir(directory.path().join("password.new")).expect("removed");
    let server = Server::start(wanted.clone()).expect("starts");
    server.shutdown();
    let password = std::fs::read_to_string(directory.path().join("password")).expect("there");
    assert_eq!(password.trim().len(), 32);
    // An empty file is an error, not an empty password.
    std::fs::write(directory.path().join("password"), "").expect("written");
    let error = Server::start(wanted).expect_err("refused").to_string();
    assert!(error.contains("empty"), "{error}");
}

#[test]
fn durable_commits_wait_for_the_disk() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (n INT)");
    let syncs = |conn: &mut mysql::Conn| -> u64 {
        one(
            conn,
            "SELECT SUM(COUNT_MISC) FROM performance_schema.file_summary_by_event_name \
                   WHERE EVENT_NAME LIKE 'wait/io/file/%wal'",
        )
        .parse()
        .expect("a number")
    };
    let mut spent = |sql: &str, times: usize| {
        let before = syncs(&mut conn);
        for _ in 0..times {
            exec(&mut conn, sql);
        }
        syncs(&mut conn) - before
    };
    let relaxed = spent("INSERT INTO t VALUES (1)", 20);
    let mut root = running.root();
    assert_eq!(
        one(&mut root, "SELECT @@innodb_flush_log_at_trx_commit"),
        "2"
    );
    exec(&mut root, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
    let durable = spent("INSERT INTO t VALUES (1)", 20);
    // The log itself is also synced a few times, when it begins and at checkpoints.
    assert!(relaxed < 20, "{relaxed}");
    assert!(durable >= 20, "{durable}");
}

#[test]
fn small_facts_are_mysqls() {
    let running = Running::start();
    let mut conn = running.client();
    assert_eq!(
        one(&mut conn, "SELECT 1 /*!90705 + 1 */ /*!90704 + 2 */"),
        "3"
    );
    exec(&mut conn, "/* a comment by itself */");
    exec(&mut conn, "-- another\n");
    exec(&mut conn, "/*!90705 SET x */");
    assert_eq!(errno(&mut conn, " ; "), 1065);
    exec(
        &mut conn,
        "SET NAMES utf8mb4, @@SESSION.sql_mode = CONCAT(@@sql_mode, ',ANSI'), @@SESSION.wait_timeout = 100",
    );
    assert_eq!(one(&mut conn, "SELECT @@wait_timeout"), "100");
    exec(&mut conn, "SET @a = 1, NAMES utf8mb4, sql_mode = DEFAULT");
    exec(
        &mut conn,
        "CREATE TABLE k (a VARCHAR(64) CHARSET ascii, `key` INT, `order` INT) DEFAULT CHARSET=utf8mb4",
    );
    exec(&mut conn, "INSERT INTO k VALUES ('x', 1, 2)");
    assert_eq!(
        one(
            &mut conn,
            "SELECT k.key, k.order FROM k WHERE k.key = 1 ORDER BY k.order"
        ),
        "1|2"
    );
    exec(&mut conn, "CREATE TABLE w (`transaction` INT, nothing INT)");
    exec(
        &mut conn,
        "INSERT INTO w (transaction, nothing) VALUES (1, 2)",
    );
    assert_eq!(
        one(
            &mut conn,
            "SELECT transaction AS commit, nothing escape FROM w nothing WHERE nothing.transaction = 1 ORDER BY nothing"
        ),
        "1|2"
    );
    assert_eq!(errno(&mut conn, "CHECKSUM TABLE w"), 1235);
    assert_eq!(errno(&mut conn, "SELECT GTID_SUBSET('', '')"), 1235);
    assert!(rows(&mut conn, "HELP 'select'").is_empty());
    for table in [
        "innodb_index_stats",
        "innodb_table_stats",
        "help_topic",
        "role_edges",
        "global_grants",
        "func",
        "slave_master_info",
    ] {
        assert!(
            rows(&mut conn, &format!("SELECT * FROM mysql.{table}")).is_empty(),
            "{table}"
        );
    }
    assert_eq!(
        errno(&mut conn, "LOCK TABLES performance_schema.accounts READ"),
        1142
    );
    let name = |conn: &mut mysql::Conn, sql: &str| {
        use mysql::prelude::Queryable;
        let result = conn.query_iter(sql).expect("runs");
        result.columns().as_ref()[0].name_str().into_owned()
    };
    assert_eq!(
        name(&mut conn, "SELECT time FROM information_schema.processlist"),
        "time"
    );
    assert_eq!(
        name(&mut conn, "SELECT Engine FROM information_schema.ENGINES"),
        "Engine"
    );
    assert_eq!(
        name(
            &mut conn,
            "SELECT table_name FROM information_schema.tables"
        ),
        "TABLE_NAME"
    );
}

#[test]
fn variables_are_set_to_the_nearest_allowed_value() {
    let running = Running::start();
    let mut conn = running.root();
    for (set, variable, value, nearest) in [
        ("SESSION", "wait_timeout", "0", "1"),
        ("SESSION", "wait_timeout", "99999999999", "31536000"),
        ("GLOBAL", "wait_timeout", "-5", "1"),
        ("GLOBAL", "long_query_time", "-1", "0"),
        ("GLOBAL", "long_query_time", "-0.5", "0"),
        ("SESSION", "max_execution_time", "-1", "0"),
        ("SESSION", "group_concat_max_len", "1", "4"),
    ] {
        let sql = format!("SET {set} {variable} = {value}");
        exec(&mut conn, &sql);
        let warning = format!("Warning|1292|Truncated incorrect {variable} value: '{value}'");
        assert_eq!(one(&mut conn, "SHOW WARNINGS"), warning, "{sql}");
        let now = one(&mut conn, &format!("SELECT @@{set}.{variable} = {nearest}"));
        assert_eq!(now, "1", "{sql}");
    }
    // A value in the range is accepted without a warning.
    exec(
        &mut conn,
        "SET SESSION max_execution_time = 18446744073709551615",
    );
    assert!(rows(&mut conn, "SHOW WARNINGS").is_empty());
    exec(
        &mut conn,
        "SET SESSION max_execution_time = 0, sql_mode = 'STRICT_ALL_TABLES'",
    );
    assert_eq!(errno(&mut conn, "SET SESSION wait_timeout = 0"), 1231);
}

#[test]
fn strict_mode_refuses_wrong_values_of_conditions_and_expressions() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), d DECIMAL(10,2), dt DATETIME, tx TEXT)",
    );
    exec(
        &mut conn,
        "INSERT INTO t VALUES (1, 'abc', 1.5, '2026-11-21 08:00:00', 'x')",
    );
    // As MySQL 9.7.4 answers.
    for (sql, message) in [
        (
            "DELETE FROM t WHERE id = '12abc'",
            "Truncated incorrect DOUBLE value: '12abc'",
        ),
        (
            "UPDATE t SET v = 'q' WHERE d < '12abc'",
            "Truncated incorrect DECIMAL value: '12abc'",
        ),
        (
            "UPDATE t SET v = 'q' WHERE dt = 12",
            "Incorrect datetime value: '12' for column 'dt' at row 1",
        ),
        (
            "UPDATE t SET id = YEAR(v)",
            "Truncated incorrect date value: 'abc'",
        ),
        (
            "INSERT INTO t (id) SELECT v + 2 FROM t",
            "Truncated incorrect DOUBLE value: 'abc'",
        ),
        (
            "UPDATE t SET d = DATEDIFF(v, '2026-01-01')",
            "Truncated incorrect date value: 'abc'",
        ),
        (
            "DELETE FROM t WHERE v < CURDATE()",
            "Truncated incorrect date value: 'abc'",
        ),
    ] {
        match conn.query_drop(sql) {
            Err(mysql::Error::MySqlError(e)) => {
                assert_eq!((e.code, e.message.as_str()), (1292, message), "{sql}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
    // MySQL does not warn of a TEXT, and IGNORE makes warnings of errors.
    exec(&mut conn, "UPDATE t SET d = 1.5 WHERE tx + 0 = 5");
    exec(&mut conn, "INSERT IGNORE INTO t (id) SELECT v + 2 FROM t");
    exec(&mut conn, "SELECT YEAR(v), d < '12abc' FROM t WHERE id = 1");
    let warnings = all_of(&mut conn, "SHOW WARNINGS");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    exec(&mut conn, "SET sql_mode = ''");
    exec(&mut conn, "DELETE FROM t WHERE id = '12abc'");
    exec(&mut conn, "UPDATE t SET d = YEAR(v)");
    assert_eq!(
        one(&mut conn, "SELECT COUNT(*) FROM t WHERE d IS NULL"),
        "2"
    );
}
