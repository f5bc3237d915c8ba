//! Texts without passwords, users, databases, errors and transactions.

use std::process::Stdio;

use super::client::{Client, query, startup};
use crate::number;
use crate::postgres::Postgres;
use crate::support::{Process, finish, wait_for};

#[test]
fn texts_users_and_databases_are_recorded() {
    let server = Postgres::start(&[]);
    let consumers = "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'";
    let mut tare = server
        .directory
        .tare(["sql", "--segment", "segment", "-e", consumers]);
    assert_eq!(finish(&mut tare).code, Some(0));
    let run = |sql: &str| finish(&mut server.psql(sql));
    run("CREATE ROLE alice LOGIN PASSWORD 'geheim'");
    run("CREATE DATABASE shop OWNER alice");
    for secret in [
        "ALTER USER alice PASSWORD 'geheim'",
        "ALTER USER alice PASSWORD 'geheim",
        "CREATE SUBSCRIPTION s CONNECTION 'host=nowhere password=geheim' PUBLICATION p \
         WITH (connect = false, slot_name = NONE)",
        "CREATE USER MAPPING FOR alice SERVER nothing OPTIONS (pass 'geheim')",
        "CREAT ROLE bob 'geheim'",
        "DO $$ BEGIN RAISE 'no passwords: geheim'; END $$",
        "SELECT 1; ALTER ROLE alice PASSWORD 'geheim'",
        // The server refuses the text before its first statement.
        "SELECT 1; CREATE USER MAPPING FOR alice SERVER nothing OPTIONS (pass 'geheim",
        "ALTER ROLE alice PASSWORD geheim",
        "ALTER ROLE alice PASSWORD \"geheim\"",
    ] {
        run(secret);
    }
    let mut create = server.psql("CREATE TABLE own AS SELECT 1");
    create.env("PGUSER", "alice").env("PGDATABASE", "shop");
    assert_eq!(finish(&mut create).code, Some(0));
    let mut sleeper = server.psql("SELECT pg_sleep(1000), 'Grüße', 17");
    sleeper
        .env("PGUSER", "alice")
        .env("PGDATABASE", "shop")
        .env("PGAPPNAME", "worker-7");
    let mut sleeper = Process::start_on(sleeper.stderr(Stdio::null()), Stdio::null());
    let sql = "SELECT t.PROCESSLIST_ID AS id, t.PROCESSLIST_USER AS user, t.PROCESSLIST_HOST AS host, \
               t.PROCESSLIST_DB AS db, t.PROCESSLIST_COMMAND AS command, t.NAME AS thread, \
               s.EVENT_NAME AS name, s.SQL_TEXT AS text, s.DIGEST_TEXT AS digest, a.ATTR_VALUE AS program \
               FROM performance_schema.threads t \
               JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID \
               JOIN performance_schema.session_connect_attrs a ON a.PROCESSLIST_ID = t.PROCESSLIST_ID \
               WHERE a.ATTR_NAME = 'program_name' AND s.SQL_TEXT LIKE '%pg_sleep%'";
    let row = wait_for("the statement to run", || server.rows(sql).pop());
    let pid =
        server.numbers("SELECT pid FROM pg_stat_activity WHERE application_name = 'worker-7'")[0];
    let expected = serde_json::json!({
        "id": pid, "user": "alice", "host": "localhost", "db": "shop", "command": "Query",
        "thread": "thread/postgres/client backend", "name": "statement/postgres/select",
        "text": "SELECT pg_sleep(1000), 'Grüße', 17", "digest": "SELECT pg_sleep(?), ?, ...",
        "program": "worker-7",
    });
    assert_eq!(row, expected);
    assert_eq!(
        finish(&mut server.psql(&format!("SELECT pg_cancel_backend({pid})"))).stdout,
        "t\n"
    );
    assert!(!sleeper.wait().success());
    let errors = server.rows(
        "SELECT RETURNED_SQLSTATE AS state, MESSAGE_TEXT AS message, MYSQL_ERRNO AS number \
         FROM performance_schema.events_statements_history_long WHERE SQL_TEXT LIKE '%pg_sleep(1000)%'",
    );
    let expected = serde_json::json!({
        "state": "57014", "message": "canceling statement due to user request", "number": 1105,
    });
    assert_eq!(errors, [expected]);

    let texts = |pattern: &str| {
        let sql = format!(
            "SELECT COUNT(*) FROM performance_schema.events_statements_history_long \
             WHERE CONCAT_WS(' ', SQL_TEXT, DIGEST_TEXT, MESSAGE_TEXT) LIKE '{pattern}'"
        );
        number(&server.rows(&sql)[0])
    };
    assert_eq!(texts("%geheim%"), 0);
    assert_eq!(
        (
            texts("ALTER USER alice PASSWORD ?%"),
            texts("ALTER ROLE alice PASSWORD ?%"),
            texts("DO ?%")
        ),
        (2, 3, 1)
    );
    check_transactions(&server);
    // A statement's waits belong to its session, and so to its user.
    let sql = "SELECT COUNT(*) FROM performance_schema.events_waits_summary_by_user_by_event_name \
               WHERE USER = 'alice' \
               AND EVENT_NAME = 'wait/io/file/postgres/DataFileExtend' AND COUNT_STAR > 0";
    assert_eq!(number(&server.rows(sql)[0]), 1);
}

/// How transactions end, and their savepoints.
fn check_transactions(server: &Postgres) {
    let transactions = || {
        let sql = "SELECT STATE AS state, AUTOCOMMIT AS autocommit, NUMBER_OF_SAVEPOINTS AS savepoints, \
                   NUMBER_OF_ROLLBACK_TO_SAVEPOINT AS rollbacks, NUMBER_OF_RELEASE_SAVEPOINT AS releases \
                   FROM performance_schema.events_transactions_history_long \
                   WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads \
                   WHERE PROCESSLIST_DB = 'shop' AND PROCESSLIST_USER = 'postgres') \
                   ORDER BY EVENT_ID";
        server.rows(sql)
    };
    let mut client = Client::connect(server);
    client.call(&startup("shop"));
    for statements in [
        // A failure that is undone by a savepoint.
        &[
            "BEGIN",
            "SAVEPOINT s",
            "SELECT 1 / 0",
            "ROLLBACK TO s",
            "RELEASE s",
            "COMMIT",
        ][..],
        &[
            "BEGIN; SAVEPOINT s",
            "SELECT 1 / 0",
            "ROLLBACK TO s; COMMIT; SELECT 1",
        ],
        &["BEGIN", "SELECT 1 / 0", "COMMIT"],
        &["BEGIN; ROLLBACK"],
        &["SELECT 1; SELECT 1 / 0"],
    ] {
        for statement in statements {
            client.call(&query(statement));
        }
    }
    let expected = |state: &str, autocommit: &str, [savepoints, rollbacks, releases]: [u64; 3]| {
        serde_json::json!({
            "state": state, "autocommit": autocommit,
            "savepoints": savepoints, "rollbacks": rollbacks, "releases": releases,
        })
    };
    assert_eq!(
        transactions(),
        [
            expected("COMMITTED", "NO", [1, 1, 1]),
            expected("COMMITTED", "NO", [1, 1, 0]),
            expected("COMMITTED", "YES", [0; 3]),
            expected("ROLLED BACK", "NO", [0; 3]),
            expected("ROLLED BACK", "NO", [0; 3]),
            expected("ROLLED BACK", "YES", [0; 3]),
        ]
    );
}
