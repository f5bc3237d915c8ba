//! Differences between `tare serve --as 9.7` and `--as 8.0`.

use mysql::Conn;
use tare_server::Series;

use super::support::{Running, all_of, errno, exec, one, rows};

fn of(series: Series) -> (Running, Conn) {
    let running = Running::with(|config| config.series = series);
    let conn = running.client();
    (running, conn)
}

#[test]
fn the_version_is_that_of_the_served_series() {
    for (series, version, comments) in [
        (Series::V8_0, "8.0.15-tare-", "1"),
        (Series::V9_7, "9.7.4-tare-", "3"),
        (Series::Mariadb, "10.11.19-MariaDB-tare-", "2"),
    ] {
        let (_running, mut conn) = of(series);
        let schema = match series {
            Series::Mariadb => "information_schema",
            _ => "performance_schema",
        };
        for sql in [
            "SELECT VERSION()",
            "SELECT @@version",
            &format!(
                "SELECT variable_value FROM {schema}.global_variables WHERE variable_name = 'version'"
            ),
            "SELECT mysql_version FROM sys.version",
        ] {
            let version_text = one(&mut conn, sql);
            assert!(
                version_text.starts_with(version),
                "{series}: {sql}: {version_text}"
            );
        }
        let (major, minor, _) = conn.server_version();
        assert!(version.starts_with(&format!("{major}.{minor}.")));
        let sql = "SELECT 1 /*!80016 + 1 */ /*!90704 + 1 */ /*!90705 + 1 */ /*!101119 + 1 */ /*!101120 + 1 */";
        assert_eq!(one(&mut conn, sql), comments, "{series}");
    }
}

#[test]
fn every_table_and_view_of_9_7_answers() {
    let (_running, mut conn) = of(Series::V9_7);
    let names = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.tables WHERE TABLE_SCHEMA IN \
                 ('performance_schema', 'sys', 'information_schema', 'mysql', 'tare')";
    let all = rows(&mut conn, names);
    assert!(all.len() > 300, "{}", all.len());
    for table in all {
        let name = format!("{}.`{}`", table[0], table[1]);
        rows(&mut conn, &format!("SELECT * FROM {name} LIMIT 3"));
    }
}

#[test]
fn new_tables_and_columns_of_9_7_answer() {
    let (_running, mut conn) = of(Series::V9_7);
    // The segment also has the sessions of other tests' servers in this process.
    let sql = "SELECT MAX_CONTROLLED_MEMORY, MAX_TOTAL_MEMORY, EXECUTION_ENGINE FROM performance_schema.events_statements_current \
               WHERE SQL_TEXT LIKE 'SELECT MAX_CONTROLLED_MEMORY, MAX_TOTAL_MEMORY,%' LIMIT 1";
    assert_eq!(rows(&mut conn, sql), [["0", "0", "PRIMARY"]]);
    let own = "SELECT USER, COMMAND, EXECUTION_ENGINE FROM performance_schema.processlist \
               WHERE ID = CONNECTION_ID() AND INFO LIKE 'SELECT USER, COMMAND,%'";
    assert_eq!(rows(&mut conn, own), [["root", "Query", "PRIMARY"]]);
    let limits = "SELECT VARIABLE_SCOPE, DATA_TYPE, MIN_VALUE FROM performance_schema.variables_metadata \
                  WHERE VARIABLE_NAME = 'max_connections'";
    assert_eq!(rows(&mut conn, limits), [["GLOBAL", "Integer", "1"]]);
    let tls = "SELECT VALUE FROM performance_schema.tls_channel_status WHERE PROPERTY = 'Enabled'";
    assert_eq!(one(&mut conn, tls), "Yes");
    assert_eq!(
        one(&mut conn, "SELECT sys_version FROM sys.version"),
        "2.1.3"
    );
    // A table of MySQL 5.7; Tare's timers can be set in its own table.
    let timers = "SELECT * FROM performance_schema.setup_timers";
    assert_eq!(errno(&mut conn, timers), 1146);
    assert_eq!(
        one(&mut conn, "SELECT COUNT(*) FROM tare.setup_timers"),
        "5"
    );
}

/// The names that a live 9.7.4 has in performance_schema.global_variables, session_variables and
/// variables_metadata.
const VARIABLES: &str = include_str!("../fixtures/variables-9.7.txt");

/// Compares two sorted lists, and reports only their difference.
fn assert_same(ours: &[String], theirs: &[&str], what: &str) {
    let more: Vec<_> = ours
        .iter()
        .filter(|n| !theirs.contains(&n.as_str()))
        .collect();
    let fewer: Vec<_> = theirs
        .iter()
        .filter(|n| !ours.iter().any(|o| o == **n))
        .collect();
    assert!(
        more.is_empty() && fewer.is_empty(),
        "{what}: {more:?} more, {fewer:?} fewer"
    );
}

#[test]
fn every_variable_of_9_7_exists() {
    let (_running, mut conn) = of(Series::V9_7);
    exec(&mut conn, "USE performance_schema");
    // thread_pool_size is a variable of MySQL Enterprise; tare_ are Tare's own.
    let mut names = |table: &str| {
        let sql = format!(
            "SELECT VARIABLE_NAME FROM {table} WHERE VARIABLE_NAME NOT LIKE 'tare\\_%' \
             AND VARIABLE_NAME <> 'thread_pool_size'"
        );
        let mut names = all_of(&mut conn, &sql);
        names.sort();
        names
    };
    let of = |wanted: &str| -> Vec<&str> {
        let lines = VARIABLES.lines().filter_map(|line| line.split_once('\t'));
        let chosen = lines.filter(|(_, scope)| wanted.is_empty() || *scope != wanted);
        chosen.map(|(name, _)| name).collect()
    };
    for (table, without) in [
        ("session_variables", ""),
        ("global_variables", "SESSION_ONLY"),
    ] {
        assert_same(&names(table), &of(without), table);
    }
    assert_eq!(errno(&mut conn, "SELECT @@have_ssl"), 1193);
    assert_eq!(errno(&mut conn, "SET GLOBAL expire_logs_days = 0"), 1193);
    assert_eq!(
        one(&mut conn, "SELECT @@connection_memory_chunk_size"),
        "8192"
    );
    assert_eq!(one(&mut conn, "SELECT @@explain_format"), "TREE");
    let refused = "SET SESSION explain_format = 'NONSENSE'";
    assert_eq!(errno(&mut conn, refused), 1231);
    let update = one(&mut conn, "SELECT @@version_with_update");
    assert!(update.starts_with("9.7.4.0-tare-"), "{update}");
}

#[test]
fn variables_that_9_7_removed_exist_in_8_0() {
    let (_running, mut conn) = of(Series::V8_0);
    assert_eq!(one(&mut conn, "SELECT @@have_ssl"), "YES");
    assert_eq!(errno(&mut conn, "SELECT @@explain_format"), 1193);
}

/// The names that a live 9.7.4 has in SHOW GLOBAL STATUS and SHOW SESSION STATUS.
const STATUS: &str = include_str!("../fixtures/status-9.7.txt");

/// What tare serve does but does not count: any number would be invented.
const NOT_COUNTED: [&str; 6] = [
    "Created_tmp_disk_tables",
    "Innodb_pages_created",
    "Opened_table_definitions",
    "Sort_merge_passes",
    "Ssl_default_timeout",
    "Ssl_session_cache_timeout",
];

#[test]
fn every_status_variable_of_9_7_exists() {
    let (_running, mut conn) = of(Series::V9_7);
    for (sql, without) in [
        ("SHOW GLOBAL STATUS", "SESSION_ONLY"),
        ("SHOW SESSION STATUS", ""),
    ] {
        let names = rows(&mut conn, sql)
            .into_iter()
            .map(|mut row| row.remove(0));
        // Only Tare evicts digests.
        let own = |name: &str| {
            name.starts_with("Tare_")
                || name == "Performance_schema_digest_evicted"
                || without == "SESSION_ONLY" && name == "Compression"
        };
        let ours: Vec<String> = names.filter(|name| !own(name)).collect();
        let lines = STATUS.lines().filter_map(|line| line.split_once('\t'));
        let theirs = lines.filter(|(_, scope)| without.is_empty() || *scope != without);
        let theirs = theirs.filter(|(name, _)| !NOT_COUNTED.contains(name));
        let theirs: Vec<&str> = theirs.map(|(name, _)| name).collect();
        assert_same(&ours, &theirs, sql);
    }
}

#[test]
fn commands_are_counted_by_the_names_of_9_7() {
    let (_running, mut conn) = of(Series::V9_7);
    exec(&mut conn, "CREATE TABLE t (id INT PRIMARY KEY, n INT)");
    exec(&mut conn, "CREATE TABLE u (id INT PRIMARY KEY, n INT)");
    exec(&mut conn, "INSERT INTO t VALUES (1, 1), (2, 2)");
    for (name, sql) in [
        ("Com_insert_select", "INSERT INTO u SELECT * FROM t"),
        ("Com_replace_select", "REPLACE INTO u SELECT * FROM t"),
        (
            "Com_update_multi",
            "UPDATE t JOIN u ON t.id = u.id SET t.n = 3",
        ),
        ("Com_delete_multi", "DELETE t FROM t JOIN u ON t.id = u.id"),
        ("Com_insert", "INSERT INTO t VALUES (1, 1)"),
        ("Com_update", "UPDATE t SET n = 2"),
        ("Com_delete", "DELETE FROM t"),
        ("Com_show_function_status", "SHOW FUNCTION STATUS"),
        ("Com_show_replica_status", "SHOW REPLICA STATUS"),
        ("Com_show_binary_log_status", "SHOW BINARY LOG STATUS"),
        (
            "Deprecated_use_i_s_processlist_count",
            "SELECT COUNT(*) FROM information_schema.processlist",
        ),
    ] {
        let count = |conn: &mut Conn| -> u64 {
            let sql = format!("SHOW GLOBAL STATUS LIKE '{name}'");
            rows(conn, &sql)[0][1].parse().expect("a number")
        };
        let before = count(&mut conn);
        exec(&mut conn, sql);
        assert_eq!(count(&mut conn), before + 1, "{sql}");
    }
}

#[test]
fn the_error_log_is_that_of_the_process() {
    let (running, mut conn) = of(Series::V9_7);
    exec(&mut conn, "USE performance_schema");
    let listening = format!(
        "SELECT PRIO, SUBSYSTEM, THREAD_ID, ERROR_CODE FROM error_log \
         WHERE DATA = 'Listening on {}'",
        running.socket().display()
    );
    assert_eq!(one(&mut conn, &listening), "System|Server|0|NULL");
    let start =
        "SELECT COUNT(*) > 0 FROM error_log WHERE DATA LIKE 'tare serve % starts as process %'";
    assert_eq!(one(&mut conn, start), "1");
    let status = "SELECT VARIABLE_VALUE >= 3 FROM global_status \
                  WHERE VARIABLE_NAME = 'Error_log_buffered_events'";
    assert_eq!(one(&mut conn, status), "1");
    assert_eq!(errno(&mut conn, "TRUNCATE TABLE error_log"), 1142);
    assert_eq!(errno(&mut conn, "DELETE FROM error_log"), 1142);
}

#[test]
fn constraints_and_attributes_are_listed() {
    let (_running, mut conn) = of(Series::V9_7);
    let table = "CREATE TABLE t (id INT PRIMARY KEY, n INT CHECK (n > 0), UNIQUE KEY second (n))";
    exec(&mut conn, table);
    exec(&mut conn, "USE information_schema");
    let check = "SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM CHECK_CONSTRAINTS \
                 WHERE CONSTRAINT_SCHEMA = 'test'";
    assert_eq!(one(&mut conn, check), "t_chk_1|(`n` > 0)");
    let kinds = "SELECT CONSTRAINT_TYPE, CONSTRAINT_NAME FROM TABLE_CONSTRAINTS \
                 WHERE TABLE_SCHEMA = 'test' ORDER BY 1";
    assert_eq!(
        all_of(&mut conn, kinds),
        ["CHECK|t_chk_1", "PRIMARY KEY|PRIMARY", "UNIQUE|second"]
    );
    for (sql, expected) in [
        (
            "SELECT CONSTRAINT_NAME FROM TABLE_CONSTRAINTS_EXTENSIONS WHERE CONSTRAINT_SCHEMA = 'test' AND TABLE_NAME = 't' ORDER BY 1",
            "PRIMARY second",
        ),
        (
            "SELECT COLUMN_NAME FROM COLUMNS_EXTENSIONS WHERE TABLE_SCHEMA = 'test' AND TABLE_NAME = 't' ORDER BY 1",
            "id n",
        ),
        (
            "SELECT TABLE_NAME FROM TABLES_EXTENSIONS WHERE TABLE_SCHEMA = 'test'",
            "t",
        ),
        (
            "SELECT SCHEMA_NAME FROM SCHEMATA_EXTENSIONS WHERE SCHEMA_NAME = 'test'",
            "test",
        ),
        (
            "SELECT TABLESPACE_NAME FROM TABLESPACES_EXTENSIONS WHERE TABLESPACE_NAME = 'test'",
            "test",
        ),
        (
            "SELECT USER FROM USER_ATTRIBUTES WHERE USER = 'root' AND HOST = 'localhost'",
            "root",
        ),
    ] {
        assert_eq!(all_of(&mut conn, sql).join(" "), expected, "{sql}");
    }
}

/// The answers of a live 9.7.4 without the telemetry component.
#[test]
fn meters_and_loggers_store_their_settings() {
    let (_running, mut conn) = of(Series::V9_7);
    exec(&mut conn, "USE performance_schema");
    let metrics = "SELECT m.NAME, COUNT(*) FROM setup_meters m JOIN setup_metrics ON METER = m.NAME \
                   WHERE m.NAME LIKE 'mysql.stats%' GROUP BY m.NAME ORDER BY 1";
    assert_eq!(
        all_of(&mut conn, metrics),
        [
            "mysql.stats|60",
            "mysql.stats.com|172",
            "mysql.stats.connection|7",
            "mysql.stats.handler|18",
            "mysql.stats.ssl|13",
        ]
    );
    let meter =
        "SELECT FREQUENCY, ENABLED, DESCRIPTION FROM setup_meters WHERE NAME = 'mysql.inno'";
    assert_eq!(one(&mut conn, meter), "10|YES|Metrics of InnoDB.");
    exec(
        &mut conn,
        "UPDATE setup_meters SET FREQUENCY = 0, ENABLED = 'NO' WHERE NAME = 'mysql.inno'",
    );
    assert_eq!(one(&mut conn, meter), "0|NO|Metrics of InnoDB.");
    let logger = "SELECT LEVEL FROM setup_loggers WHERE NAME = 'logger/sql/slow_log'";
    assert_eq!(one(&mut conn, logger), "info");
    exec(
        &mut conn,
        "UPDATE setup_loggers SET LEVEL = 'debug' WHERE NAME LIKE '%slow%'",
    );
    assert_eq!(one(&mut conn, logger), "debug");
    for (sql, code) in [
        ("UPDATE setup_meters SET FREQUENCY = NULL", 1048),
        ("UPDATE setup_meters SET FREQUENCY = 'abc'", 1366),
        ("UPDATE setup_meters SET FREQUENCY = -1", 1264),
        ("UPDATE setup_meters SET ENABLED = 'MAYBE'", 1265),
        ("UPDATE setup_meters SET NAME = 'x'", 1683),
        ("INSERT INTO setup_meters VALUES ('a', 10, 'YES', '')", 1142),
        ("DELETE FROM setup_meters", 1142),
        ("TRUNCATE TABLE setup_meters", 1142),
        ("UPDATE setup_metrics SET UNIT = 'x'", 1142),
        ("UPDATE setup_loggers SET LEVEL = 'bogus'", 1265),
        ("UPDATE setup_loggers SET LEVEL = NULL", 1048),
        ("TRUNCATE TABLE setup_loggers", 1142),
    ] {
        assert_eq!(errno(&mut conn, sql), code, "{sql}");
    }
}

#[test]
fn new_tables_and_columns_of_9_7_are_unknown_to_8_0() {
    let (_running, mut conn) = of(Series::V8_0);
    for (sql, expected) in [
        ("SELECT * FROM performance_schema.processlist", 1146),
        ("SELECT * FROM performance_schema.setup_timers", 1146),
        (
            "SELECT CPU_TIME FROM performance_schema.events_statements_current",
            1054,
        ),
        (
            "SELECT cpu_latency FROM sys.user_summary_by_statement_type",
            1054,
        ),
    ] {
        assert_eq!(errno(&mut conn, sql), expected, "{sql}");
    }
}
