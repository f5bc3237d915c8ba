//! Totals of statements and transactions are those of pg_stat_statements and pg_stat_database.

use std::process::Stdio;

use super::client::{Client, extended, query, sync};
use super::counts;
use crate::number;
use crate::postgres::Postgres;
use crate::support::{Process, finish, finish_with_input, wait_for};

#[test]
fn counts_are_those_of_pg_stat_statements_and_pg_stat_database() {
    let server = Postgres::start(&[
        "shared_preload_libraries=pg_stat_statements",
        "autovacuum=off",
    ]);
    run_statements(&server);
    server.ordinary_pgbench(&["-i", "-q"]);
    for mode in ["simple", "extended", "prepared"] {
        server.ordinary_pgbench(&["-S", "-M", mode, "-c", "2", "-t", "50"]);
        server.ordinary_pgbench(&["-M", mode, "-t", "5", "-C"]);
    }
    compare_statements(&server);
    compare_transactions(&server);
}

#[test]
fn what_comes_over_tls_is_recorded_as_without_it() {
    let server = Postgres::start_tls(&[
        "shared_preload_libraries=pg_stat_statements",
        "autovacuum=off",
    ]);
    run_statements(&server);
    server.ordinary_pgbench(&["-i", "-q"]);
    server.ordinary_pgbench(&["-S", "-M", "prepared", "-c", "2", "-t", "50"]);
    server.ordinary_pgbench(&["-t", "5", "-C"]);
    // More than one record of TLS, and parts of a message in records of their own.
    let mut client = Client::login(&server);
    assert_eq!(
        client.call(&query(&format!("SELECT '{}'", "x".repeat(50_000)))),
        "CZ"
    );
    for byte in [extended("DELETE FROM t WHERE id = 3"), sync()].concat() {
        client.send(&[byte]);
    }
    assert_eq!(client.read(), "12CZ");
    // The server is a client, too: its libpq calls libssl, and not the program itself.
    server.query("CREATE EXTENSION dblink");
    let remote =
        "SELECT n FROM dblink('host=127.0.0.1 sslmode=require', 'SELECT 4711') AS t (n int)";
    assert_eq!(server.query(remote), "4711\n");
    compare_statements(&server);

    let mut sleeper = server.psql("SELECT pg_sleep(1000)");
    let mut sleeper = Process::start_on(
        sleeper.env("PGAPPNAME", "worker-7").stderr(Stdio::null()),
        Stdio::null(),
    );
    let sql = "SELECT t.PROCESSLIST_ID AS id, t.PROCESSLIST_USER AS user, t.PROCESSLIST_HOST AS host, \
               t.PROCESSLIST_DB AS db, t.CONNECTION_TYPE AS connection, t.PROCESSLIST_COMMAND AS command \
               FROM performance_schema.threads t \
               JOIN performance_schema.session_connect_attrs a ON a.PROCESSLIST_ID = t.PROCESSLIST_ID \
               WHERE a.ATTR_VALUE = 'worker-7' AND t.PROCESSLIST_COMMAND = 'Query'";
    let row = wait_for("the statement to run", || server.rows(sql).pop());
    let own = "SELECT pid FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) \
               WHERE application_name = 'worker-7' AND ssl";
    let pid = server.numbers(own)[0];
    let expected = serde_json::json!({
        "id": pid, "user": "postgres", "host": "localhost", "db": "postgres", "connection": "SSL/TLS",
        "command": "Query",
    });
    assert_eq!(row, expected);
    server.query(&format!("SELECT pg_cancel_backend({pid})"));
    assert!(!sleeper.wait().success());
}

/// Statements of every kind that pg_stat_statements counts, and errors.
fn run_statements(server: &Postgres) {
    let run = |sql: &str| finish(&mut server.psql(sql));
    run("CREATE EXTENSION pg_stat_statements");
    run("CREATE TABLE t (id int PRIMARY KEY, n text)");
    run(
        "INSERT INTO t SELECT i, 'x' FROM generate_series(1, 100) AS i; UPDATE t SET n = 'y' WHERE id <= 7; \
         SELECT * FROM t WHERE id < 10; ; BEGIN; DELETE FROM t WHERE id = 100; COMMIT",
    );
    run("WITH new AS (INSERT INTO t VALUES (101, ';') RETURNING id) SELECT * FROM new");
    run(
        "WITH old AS (SELECT 1) UPDATE t SET n = $$a;b$$ WHERE id IN (SELECT * FROM old) RETURNING id",
    );
    run("SELECT 1; SELECT 1 / 0; SELECT 2");
    run("BEGIN; SELECT 1; SELECT nothing; COMMIT");
    run("SELEC 1");
    run("COPY (SELECT * FROM t) TO STDOUT");
    let mut copy = server.psql("COPY t FROM STDIN");
    finish_with_input(&mut copy, "201\ta\n202\tb\n203\tc\n");
    finish_with_input(&mut copy, "204\ta\n204\tb\n");
}

fn compare_statements(server: &Postgres) {
    let own = "SELECT lower(regexp_replace(replace(query, 'END', 'COMMIT'), '[ (;].*', '')), \
               sum(calls), sum(rows) \
               FROM pg_stat_statements WHERE query !~* '^(create|alter|drop|truncate|vacuum)' GROUP BY 1";
    let own = server.query(own);
    let mut all = counts(server);
    let mut compared = 0;
    for line in own.lines() {
        let [verb, calls, rows] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        // A statement WITH has the instrument of its main part.
        let verb = match verb {
            "with" => continue,
            verb => verb,
        };
        let (n, errors, sent, affected) = all.remove(verb).unwrap_or_default();
        let of_with = u64::from(matches!(verb, "select" | "update"));
        // Itself.
        let (own_query, own_rows) = match verb {
            "select" => (1, own.lines().count() as u64),
            _ => (0, 0),
        };
        let rows: u64 = rows.parse().expect("a number");
        assert_eq!(
            (n - errors - of_with - own_query).to_string(),
            calls,
            "{verb} in {own}"
        );
        let recorded = match verb {
            "update" => affected,
            _ => sent + affected,
        };
        assert_eq!(recorded - of_with - own_rows, rows, "{verb} in {own}");
        compared += 1;
    }
    assert_eq!(
        compared, 7,
        "select, insert, update, delete, copy, begin, commit in {own}"
    );
}

fn compare_transactions(server: &Postgres) {
    let run = |sql: &str| finish(&mut server.psql(sql));
    // PostgreSQL counts one more for each connection, and VACUUM's are several.
    server.ordinary_pgbench(&["-c", "2", "-t", "5", "-C", "-S"]);
    let counted = || {
        let sql =
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'";
        let own = server.numbers(sql)[0];
        let sql = "SELECT SUM(COUNT_STAR) \
                   FROM performance_schema.events_transactions_summary_global_by_event_name";
        let connections =
            "SELECT SUM(TOTAL_CONNECTIONS) FROM performance_schema.accounts WHERE USER IS NOT NULL";
        let of = |sql: &str| number(&server.rows(sql)[0]);
        (own, of(sql) + of(connections))
    };
    let vacuum = wait_for("PostgreSQL to publish its counts", || {
        let (first, second) = (counted(), counted());
        let difference = first.0.checked_sub(first.1);
        (difference == second.0.checked_sub(second.1)).then_some(difference)
    });
    for mode in ["simple", "extended", "prepared"] {
        server.ordinary_pgbench(&["-M", mode, "-t", "20"]);
    }
    run("SELECT 1; SELECT 2; BEGIN; SELECT 3; COMMIT; SELECT 4");
    run("BEGIN; SAVEPOINT s; ROLLBACK TO s; COMMIT AND CHAIN; ROLLBACK; SELECT 1");
    run("SELECT 1 / 0");
    // The end of a session ends its transaction.
    run("BEGIN; SELECT 1");
    wait_for("equal numbers of transactions", || {
        let (own, recorded) = counted();
        (own.checked_sub(recorded) == vacuum).then_some(())
    });
}
