//! What `tare serve --as mariadb` answers differently from the MySQL series.

use mysql::Conn;
use mysql::prelude::Queryable;
use tare_server::Series;

use super::support::{Running, all_of, errno, exec, one, rows};

fn served() -> (Running, Conn) {
    let running = Running::with(|config| config.series = Series::Mariadb);
    let conn = running.client();
    (running, conn)
}

/// An error as a client receives it.
fn error(conn: &mut Conn, sql: &str) -> (u16, String) {
    match conn.query_drop(sql) {
        Err(mysql::Error::MySqlError(e)) => (e.code, e.message),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn event_types_have_timers() {
    let (_running, mut conn) = served();
    const ALL: &str = "SELECT * FROM performance_schema.setup_timers";
    let names: Vec<String> = rows(&mut conn, ALL)
        .into_iter()
        .map(|r| r[0].clone())
        .collect();
    assert_eq!(names, ["idle", "wait", "stage", "statement", "transaction"]);
    let warnings = rows(&mut conn, "SHOW WARNINGS");
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0][..2], ["Warning", "1681"]);
    let update = |timer| {
        format!(
            "UPDATE performance_schema.setup_timers SET TIMER_NAME = '{timer}' WHERE NAME = 'idle'"
        )
    };
    exec(&mut conn, &update("MICROSECOND"));
    let of =
        |schema: &str| format!("SELECT timer_name FROM {schema}.setup_timers WHERE name = 'idle'");
    assert_eq!(one(&mut conn, &of("performance_schema")), "MICROSECOND");
    // It is the table that Tare has for all series.
    assert_eq!(one(&mut conn, &of("tare")), "MICROSECOND");
    exec(&mut conn, &update("CYCLE"));
    // A timer that does not exist.
    assert_eq!(errno(&mut conn, &update("TICK")), 1683);
    let clocks =
        "SELECT TIMER_NAME, TIMER_FREQUENCY IS NULL FROM performance_schema.performance_timers";
    assert_eq!(all_of(&mut conn, clocks).last().expect("clocks"), "TICK|1");
}

#[test]
fn errors_are_worded_as_mariadb_does() {
    let (_running, mut conn) = served();
    let usage = (1683, "Invalid performance_schema usage".to_owned());
    for table in [
        "threads",
        "setup_consumers",
        "metadata_locks",
        "performance_timers",
    ] {
        let sql = format!("TRUNCATE TABLE performance_schema.{table}");
        assert_eq!(error(&mut conn, &sql), usage, "{table}");
    }
    let denied =
        "DELETE command denied to user 'root'@'localhost' for table `performance_schema`.`threads`";
    assert_eq!(
        error(&mut conn, "DELETE FROM performance_schema.threads"),
        (1142, denied.to_owned())
    );
    assert_eq!(
        errno(&mut conn, "TRUNCATE TABLE performance_schema.users"),
        0
    );
    exec(&mut conn, "SET sql_mode = 'NO_ENGINE_SUBSTITUTION'");
    assert!(rows(&mut conn, "SHOW WARNINGS").is_empty());
    let unknown =
        "INSERT INTO performance_schema.setup_objects VALUES ('ILLEGAL', 'a', 'b', 'YES', 'YES')";
    let refused = "Cannot add or update a child row: a foreign key constraint fails";
    assert_eq!(error(&mut conn, unknown), (1452, refused.to_owned()));
    for table in [
        "data_locks",
        "global_variables",
        "processlist",
        "setup_threads",
    ] {
        let sql = format!("SELECT * FROM performance_schema.{table}");
        assert_eq!(errno(&mut conn, &sql), 1146, "{table}");
    }
}

#[test]
fn uncounted_tables_are_not_listed() {
    let (_running, mut conn) = served();
    exec(
        &mut conn,
        "CREATE TABLE mariadbs_counted (a INT PRIMARY KEY)",
    );
    exec(&mut conn, "INSERT INTO mariadbs_counted VALUES (1)");
    let listed = |conn: &mut Conn| {
        ["table_io_waits_summary_by_table", "table_io_waits_summary_by_index_usage", "table_lock_waits_summary_by_table"]
            .map(|table| {
                let sql = format!(
                    "SELECT COUNT(*) > 0 FROM performance_schema.{table} WHERE OBJECT_NAME = 'mariadbs_counted'"
                );
                one(conn, &sql)
            })
    };
    assert_eq!(listed(&mut conn), ["1"; 3]);
    let database = one(&mut conn, "SELECT DATABASE()");
    let rule = format!(
        "INSERT INTO performance_schema.setup_objects VALUES ('TABLE', '{database}', 'mariadbs_counted', 'NO', 'NO')"
    );
    exec(&mut conn, &rule);
    assert_eq!(listed(&mut conn), ["0"; 3]);
    let summed = "SELECT COUNT(*) FROM performance_schema.objects_summary_global_by_type \
                 WHERE OBJECT_NAME = 'mariadbs_counted'";
    assert_eq!(one(&mut conn, summed), "1");
    exec(
        &mut conn,
        "DELETE FROM performance_schema.setup_objects WHERE OBJECT_NAME = 'mariadbs_counted'",
    );
}

#[test]
fn variables_and_counters_are_mariadbs() {
    let (_running, mut conn) = served();
    let names = |conn: &mut Conn, sql: &str| -> Vec<String> {
        rows(conn, sql)
            .into_iter()
            .map(|row| row[0].clone())
            .collect()
    };
    let variables = names(
        &mut conn,
        "SHOW GLOBAL VARIABLES LIKE 'performance_schema%'",
    );
    let theirs: Vec<&str> = include_str!("../fixtures/variables-mariadb.txt")
        .lines()
        .collect();
    assert_eq!(variables, theirs);
    let counters = names(&mut conn, "SHOW GLOBAL STATUS LIKE 'performance_schema%'");
    let theirs: Vec<&str> = include_str!("../fixtures/status-mariadb.txt")
        .lines()
        .collect();
    assert_eq!(counters, theirs);
    // information_schema has them too, in upper case.
    let sql = "SELECT variable_value FROM information_schema.global_variables \
               WHERE variable_name = 'PERFORMANCE_SCHEMA_MAX_MUTEX_CLASSES'";
    assert_eq!(one(&mut conn, sql), "210");
    let counter =
        conn.query_iter("SELECT variable_name FROM information_schema.session_status LIMIT 1");
    assert_eq!(
        counter.expect("it answers").columns().as_ref()[0].name_str(),
        "variable_name"
    );
    let consumers = "SELECT NAME FROM performance_schema.setup_consumers";
    assert_eq!(names(&mut conn, consumers).len(), 15);
}

#[test]
fn statements_are_read_and_digested_as_in_mariadb() {
    let (_running, mut conn) = served();
    let mode = one(&mut conn, "SELECT @@sql_mode");
    assert!(!mode.contains("ONLY_FULL_GROUP_BY"), "{mode}");
    rows(
        &mut conn,
        "SELECT NAME, THREAD_ID FROM performance_schema.threads GROUP BY NAME",
    );
    rows(&mut conn, "SELECT 'digested for mariadb'");
    let digest = "SELECT LENGTH(d.DIGEST), LENGTH(d.FIRST_SEEN) FROM performance_schema.events_statements_summary_by_digest AS d \
                  JOIN performance_schema.events_statements_history AS s ON s.DIGEST = d.DIGEST \
                  WHERE s.SQL_TEXT = 'SELECT ''digested for mariadb''' LIMIT 1";
    assert_eq!(one(&mut conn, digest), "32|19");
}

/// MariaDB has no index on these tables.
#[test]
fn performance_schema_has_no_keys() {
    let (_running, mut conn) = served();
    assert!(rows(&mut conn, "SHOW KEYS FROM performance_schema.threads").is_empty());
    let keys = "SELECT COUNT(*) FROM information_schema.statistics WHERE TABLE_SCHEMA = 'performance_schema'";
    assert_eq!(one(&mut conn, keys), "0");
}
