//! Real clients: texts, users, databases, TLS, files and long packets, and what the server counts itself.

use std::process::Command;

use mysql::prelude::Queryable;

use super::{Server, Version};
use crate::support::{finish, wait_for};

/// The command-line client, as root by the socket.
fn client(server: &Server, options: &[&str], sql: &str) -> Command {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--user=root", "--socket=mysql.sock"]);
    command
        .args(options)
        .args(["--batch", "-e", sql])
        .current_dir(server.directory.path());
    command
}

fn run(server: &Server, options: &[&str], sql: &str) -> String {
    let finished = finish(&mut client(server, options, sql));
    assert_eq!(finished.code, Some(0), "{sql}: {finished:?}");
    finished.stdout
}

/// How often a statement was executed, by its instrument, and how many rows it sent and affected.
fn count(server: &Server, name: &str) -> (u64, u64, u64) {
    let sql = format!(
        "SELECT COUNT_STAR AS n, SUM_ROWS_SENT AS sent, SUM_ROWS_AFFECTED AS affected \
         FROM performance_schema.events_statements_summary_global_by_event_name \
         WHERE EVENT_NAME = 'statement/{name}'"
    );
    let row = server.rows(&sql).pop().expect("a row");
    let number = |name: &str| row[name].as_u64().expect("a number");
    (number("n"), number("sent"), number("affected"))
}

#[test]
fn clients_of_mariadb_are_recorded() {
    check(Version::Mariadb);
}

#[test]
fn clients_of_mysql_9_7_are_recorded() {
    check(Version::Mysql97);
}

fn check(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, &["--max-allowed-packet=64M"]);
    let log = server.log();
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.starts_with("tare run:"))
        .collect();
    let lines = lines.join("\n");
    assert!(
        lines.contains("statements with users and databases") && !lines.contains("TLS"),
        "{lines}"
    );
    check_load(&server);
    check_file(&server);
    check_long_packets(&server);
    check_session(&server);
    check_kill(&server);
    check_tls(&server);
    check_secrets(&server);
    check_open_file(&server);
}

/// Several clients at once: the totals are the server's.
fn check_load(server: &Server) {
    let own = |name: &str| -> u64 {
        let mut connection = server.connect();
        let sql = format!("SHOW GLOBAL STATUS LIKE 'Com_{name}'");
        let row: Option<(String, u64)> = connection.query_first(sql).expect("a status");
        row.expect("a row").1
    };
    let names = ["select", "insert", "create_table"];
    let before = names.map(|name| (own(name), count(server, &format!("sql/{name}")).0));
    let mut load = Command::new("mariadb-slap");
    load.args(["--no-defaults", "--user=root", "--socket=mysql.sock"]);
    load.args(["--concurrency=4", "--number-of-queries=400"]);
    load.args(["--auto-generate-sql", "--auto-generate-sql-load-type=mixed"]);
    let finished = finish(load.current_dir(server.directory.path()));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for (name, (own_before, before)) in names.into_iter().zip(before) {
        let counted = own(name) - own_before;
        wait_for("the statements to be counted", || {
            let recorded = count(server, &format!("sql/{name}")).0 - before;
            assert!(recorded <= counted, "{name}: {recorded} of {counted}");
            (recorded == counted).then_some(())
        });
    }
}

/// A file that the client sends.
fn check_file(server: &Server) {
    run(
        server,
        &[],
        "CREATE DATABASE shop; CREATE TABLE shop.t (a INT, b LONGTEXT)",
    );
    let lines: String = (0..50_000).map(|n| format!("{n}\tSELECT 1\n")).collect();
    std::fs::write(server.directory.path().join("file"), lines).expect("written");
    let load = "LOAD DATA LOCAL INFILE 'file' INTO TABLE t; SELECT 'behind it'";
    run(server, &["--local-infile=1", "shop"], load);
    wait_for("the file to be counted", || {
        (count(server, "sql/load") == (1, 0, 50_000)).then_some(())
    });
}

/// Packets of 16 MiB and more in both directions.
fn check_long_packets(server: &Server) {
    let (before, sent, _) = count(server, "sql/select");
    let mut connection = server.connect();
    connection.query_drop("USE shop").expect("used");
    let long = "x".repeat(17 << 20);
    connection
        .query_drop(format!("INSERT INTO t VALUES (-1, '{long}')"))
        .expect("inserted");
    let rows: Vec<(i32, String)> = connection
        .query("SELECT a, b FROM t WHERE a < 0 UNION SELECT 1, 'y'")
        .expect("selected");
    assert_eq!(rows[0].1.len(), long.len());
    wait_for("the rows to be counted", || {
        let (n, rows, _) = count(server, "sql/select");
        (n > before && rows >= sent + 2).then_some(())
    });
    let text = "SELECT LENGTH(SQL_TEXT) AS n, DIGEST_TEXT AS digest, ROWS_AFFECTED AS affected \
                FROM performance_schema.events_statements_history_long \
                WHERE EVENT_NAME = 'statement/sql/insert' AND SQL_TEXT LIKE '%-1, ''xxx%'";
    let row = server.rows(text).pop().expect("an event");
    assert_eq!(row["n"], 1024);
    assert_eq!(row["affected"], 1);
}

/// A session's user, host, database and attributes, while it sleeps in a statement.
fn check_session(server: &Server) {
    let mut connection = server.connect();
    connection
        .query_drop("SET NAMES utf8mb4; CREATE DATABASE other; USE other")
        .expect("used");
    connection
        .query_drop("CREATE TABLE t (a INT) ENGINE = InnoDB; INSERT INTO t VALUES (1)")
        .expect("inserted");
    let id = connection.connection_id();
    check_waits(server, id);
    let thread = std::thread::spawn(move || connection.query_drop("SELECT SLEEP(1000)"));
    let sql = format!(
        "SELECT PROCESSLIST_USER AS user, PROCESSLIST_HOST AS host, PROCESSLIST_DB AS db, \
         PROCESSLIST_COMMAND AS command, PROCESSLIST_INFO AS info, CONNECTION_TYPE AS connection \
         FROM performance_schema.threads \
         WHERE PROCESSLIST_ID = {id} AND PROCESSLIST_INFO LIKE '%SLEEP%'"
    );
    let row = wait_for("the statement to run", || server.rows(&sql).pop());
    let expected = serde_json::json!({
        "user": "root", "host": "localhost", "db": "other", "command": "Query",
        "info": "SELECT SLEEP(1000)", "connection": "Socket",
    });
    assert_eq!(row, expected);
    run(server, &[], &format!("KILL QUERY {id}"));
    thread.join().expect("joined").expect("SLEEP returns");
    let sessions =
        "SELECT PROCESSLIST_ID AS id FROM performance_schema.threads WHERE TYPE = 'FOREGROUND'";
    wait_for("the session to end", || {
        server.rows(sessions).is_empty().then_some(())
    });
}

/// The server closes a killed connection on the thread that kills it. Its own thread then serves others.
fn check_kill(server: &Server) {
    let mut connection = server.connect();
    let id = connection.connection_id();
    let thread = std::thread::spawn(move || connection.query_drop("SELECT SLEEP(1000) AS killed"));
    let sleeping =
        "SELECT 1 AS n FROM performance_schema.threads WHERE PROCESSLIST_INFO LIKE '%killed%'";
    wait_for("the statement to run", || server.rows(sleeping).pop());
    run(server, &[], &format!("KILL {id}"));
    thread.join().expect("joined").expect_err("killed");
    let sessions =
        "SELECT PROCESSLIST_ID AS id FROM performance_schema.threads WHERE TYPE = 'FOREGROUND'";
    wait_for("the session to end", || {
        run(server, &[], "SELECT 1 AS after_kill");
        server.rows(sessions).is_empty().then_some(())
    });
    let nested = "SELECT COUNT(*) AS n FROM performance_schema.events_statements_history_long \
                  WHERE NESTING_EVENT_ID IS NOT NULL OR SQL_TEXT LIKE '%AS killed%'";
    assert_eq!(server.rows(nested)[0]["n"], 0);
}

/// What a connection's thread waits for belongs to the session: the files of a new table.
fn check_waits(server: &Server, id: u32) {
    let waits = format!(
        "SELECT SUM(COUNT_STAR) AS n FROM performance_schema.events_waits_summary_by_thread_by_event_name \
         JOIN performance_schema.threads USING (THREAD_ID) \
         WHERE PROCESSLIST_ID = {id} AND EVENT_NAME LIKE 'wait/io/file/%'"
    );
    let n = &server.rows(&waits)[0]["n"];
    assert!(
        n.as_u64() > Some(0) || n.as_str().is_some_and(|n| n != "0"),
        "{n}"
    );
    let nested = "SELECT COUNT(*) AS n FROM performance_schema.events_waits_history_long w \
         JOIN performance_schema.events_statements_history_long s \
         ON s.THREAD_ID = w.THREAD_ID AND s.EVENT_ID = w.NESTING_EVENT_ID \
         WHERE w.NESTING_EVENT_TYPE = 'STATEMENT' AND w.EVENT_NAME LIKE 'wait/io/file/%' \
         AND s.EVENT_NAME = 'statement/sql/create_table' AND s.SQL_TEXT LIKE 'CREATE TABLE t (a INT)%'";
    assert_ne!(server.rows(nested)[0]["n"], 0);
}

/// At the level `active`, a file that was opened at this level has its name, and afterwards its row.
fn check_open_file(server: &Server) {
    let set = |level: &str| {
        server.tare(&format!(
            "UPDATE tare.setup_sampling SET sampling = '{level}'"
        ));
    };
    let fifo = server.directory.path().join("fifo");
    let status = Command::new("mkfifo")
        .args(["-m", "666"])
        .arg(&fifo)
        .status();
    assert!(status.expect("mkfifo starts").success());
    set("active");
    let mut connection = server.connect();
    let load = format!("LOAD DATA INFILE '{}' INTO TABLE shop.t", fifo.display());
    let loads = std::thread::spawn(move || connection.query_drop(load));
    // The server opens the file as soon as it has a writer, and then waits for bytes.
    let mut writer = std::fs::File::create(&fifo).expect("the server opens it");
    let reading = "SELECT wait, object_name AS object FROM tare.active_sessions \
                   WHERE sql_text LIKE 'LOAD DATA INFILE%' AND operation = 'read'";
    let row = wait_for("the server to read", || server.rows(reading).pop());
    assert_eq!(
        row["object"].as_str(),
        fifo.canonicalize().expect("a path").to_str()
    );
    let wait = row["wait"].as_str().expect("a wait");
    assert!(
        wait.starts_with("wait/io/file/") && wait.ends_with("/data"),
        "{wait}"
    );
    set("every");
    // Its next operations are counted.
    std::io::Write::write_all(&mut writer, b"1\ta\n").expect("the server reads");
    drop(writer);
    loads.join().expect("joined").expect("loaded");
    let row = format!(
        "SELECT SUM_NUMBER_OF_BYTES_READ AS n FROM performance_schema.file_summary_by_instance \
         WHERE FILE_NAME = '{}'",
        fifo.display()
    );
    wait_for("the file to have a row", || server.rows(&row).pop());
}

/// The same over TLS.
fn check_tls(server: &Server) {
    let own = |server: &Server| count(server, "sql/insert");
    let (before, _, affected) = own(server);
    let port = format!("--port={}", server.port);
    let options = ["--protocol=tcp", "--host=127.0.0.1", &port, "--ssl", "shop"];
    let cipher = run(server, &options, "SHOW STATUS LIKE 'Ssl_cipher'");
    assert!(cipher.contains("TLS") || cipher.contains("AES"), "{cipher}");
    let sql = "INSERT INTO t VALUES (-2, 'a'), (-2, 'b'); INSERT INTO t VALUES (-2, 'c'); \
               SELECT b FROM t WHERE a = -2; SELECT nothing";
    let finished = finish(&mut client(server, &options, sql));
    assert_eq!(finished.stdout, "b\na\nb\nc\n", "{finished:?}");
    wait_for("the statements to be counted", || {
        let (n, _, rows) = own(server);
        (n == before + 2 && rows == affected + 3).then_some(())
    });
    let digest = "SELECT COUNT_STAR AS n, SUM_ROWS_SENT AS sent \
                  FROM performance_schema.events_statements_summary_by_digest \
                  WHERE DIGEST_TEXT = 'SELECT `b` FROM `t` WHERE `a` = - ?' OR DIGEST_TEXT = 'SELECT `b` FROM `t` WHERE `a` = ?'";
    let rows = server.rows(digest);
    assert_eq!(rows, [serde_json::json!({"n": 1, "sent": 3})]);
}

/// No table has a password.
fn check_secrets(server: &Server) {
    let mut connection = server.connect();
    for sql in [
        "CREATE USER 'u'@'localhost' IDENTIFIED BY 'geheim'",
        "PREPARE s FROM \"ALTER USER 'u'@'localhost' IDENTIFIED BY 'geheim'\"",
        "ALTER USER 'u'@'localhost' IDENTIFIED BY 'geheim'",
    ] {
        connection.query_drop(sql).expect(sql);
    }
    // Errors may quote what follows.
    for sql in [
        "SET PASSWORD FOR 'nobody'@'localhost' = 'geheim'",
        "CREATE USR 'u'@'localhost' IDENTIFIED BY 'geheim'",
        "CREATE USER 'u'@'localhost' IDENTIFED 'geheim', 'x'@'%' IDENTIFIED BY 'geheim'",
    ] {
        connection.query_drop(sql).expect_err(sql);
    }
    connection
        .prep("CREATE USR 'u'@'localhost' IDENTIFIED BY 'geheim'")
        .expect_err("no syntax");
    let texts = "SELECT COUNT(*) AS n FROM performance_schema.events_statements_history_long \
                 WHERE SQL_TEXT LIKE '%<secret>%'";
    wait_for("the statements to be recorded", || {
        (server.rows(texts)[0]["n"] == 7).then_some(())
    });
    for (table, columns) in [
        (
            "events_statements_history_long",
            ["SQL_TEXT", "DIGEST_TEXT", "MESSAGE_TEXT"],
        ),
        (
            "events_statements_summary_by_digest",
            ["QUERY_SAMPLE_TEXT", "DIGEST_TEXT", "SCHEMA_NAME"],
        ),
    ] {
        for column in columns {
            let sql = format!(
                "SELECT {column} AS text FROM performance_schema.{table} WHERE {column} LIKE '%geheim%'"
            );
            assert!(server.rows(&sql).is_empty(), "{table}.{column}");
        }
    }
}
