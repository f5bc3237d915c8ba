//! INNODB_METRICS of a running server, and the variables that switch its metrics.

use tare_server::Series;

use crate::support::{MONITOR, Running, errno, exec, one, rows};

fn count(client: &mut mysql::Conn, name: &str) -> i64 {
    let sql =
        format!("SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = '{name}'");
    one(client, &sql).parse().expect("a number")
}

#[test]
fn innodb_metrics_has_mysqls_columns() {
    const REFERENCE: &str = include_str!("../fixtures/innodb_metrics.columns.tsv");
    let _turn = crate::turn();
    let running = Running::with(|config| config.series = Series::V8_0);
    let mut client = running.root();
    let columns = rows(
        &mut client,
        "SELECT TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE \
         FROM information_schema.COLUMNS WHERE TABLE_NAME = 'innodb_metrics' ORDER BY ORDINAL_POSITION",
    );
    let columns: Vec<String> = columns.iter().map(|row| row.join("\t")).collect();
    assert_eq!(columns, REFERENCE.lines().collect::<Vec<_>>());
    let types = "SELECT COUNT(*) FROM information_schema.INNODB_METRICS \
                 WHERE TYPE NOT IN ('counter', 'value', 'status_counter', 'set_owner', 'set_member') \
                 OR STATUS NOT IN ('enabled', 'disabled') OR COMMENT NOT LIKE '%.'";
    assert_eq!(one(&mut client, types), "0");
}

// One test: the process has only one set of metrics.
#[test]
fn metrics_count_what_the_server_does() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.client();
    exec(&mut client, "CREATE TABLE t (id INT PRIMARY KEY, a INT)");
    let names = [
        "dml_inserts",
        "dml_updates",
        "dml_deletes",
        "trx_rw_commits",
        "trx_rollbacks",
        "log_writes",
        "log_write_requests",
        "os_log_bytes_written",
        "buffer_pool_read_requests",
        "connections_made",
        "statement_cache_hits",
        "lock_timeouts",
        "trx_rollbacks_savepoint",
    ];
    let before: Vec<i64> = names.iter().map(|name| count(&mut client, name)).collect();
    for i in 0..10 {
        exec(&mut client, &format!("INSERT INTO t VALUES ({i}, {i})"));
    }
    exec(&mut client, "UPDATE t SET a = -1 WHERE id < 4");
    exec(&mut client, "DELETE FROM t WHERE id = 9");
    for _ in 0..5 {
        exec(&mut client, "SELECT COUNT(*) FROM t");
    }
    exec(&mut client, "BEGIN");
    exec(&mut client, "INSERT INTO t VALUES (100, 1)");
    exec(&mut client, "SAVEPOINT s");
    exec(&mut client, "ROLLBACK TO s");
    let mut other = running.client();
    exec(&mut other, "SET innodb_lock_wait_timeout = 1");
    assert_eq!(errno(&mut other, "INSERT INTO t VALUES (101, 1)"), 1205);
    exec(&mut client, "ROLLBACK");
    let grown: Vec<i64> = names
        .iter()
        .zip(&before)
        .map(|(name, before)| count(&mut client, name) - before)
        .collect();
    let of = |name: &str| grown[names.iter().position(|n| *n == name).expect("asked for")];
    // Other tests of the process count too.
    for (name, least) in [
        ("dml_inserts", 11),
        ("dml_updates", 4),
        ("dml_deletes", 1),
        ("trx_rw_commits", 12),
        ("trx_rollbacks", 1),
        ("log_write_requests", 12),
        ("log_writes", 24),
        ("os_log_bytes_written", 12 * 4096),
        ("buffer_pool_read_requests", 10),
        ("connections_made", 1),
        ("statement_cache_hits", 4),
        ("lock_timeouts", 1),
        ("trx_rollbacks_savepoint", 1),
    ] {
        assert!(of(name) >= least, "{name}: {}", of(name));
    }
    let value = "SELECT `COUNT`, MAX_COUNT, MIN_COUNT, TYPE FROM information_schema.INNODB_METRICS WHERE NAME = 'innodb_page_size'";
    assert_eq!(one(&mut client, value), "4096|4096|4096|value");
    let most =
        "SELECT MAX_COUNT >= 1 FROM information_schema.INNODB_METRICS WHERE NAME = 'connections'";
    assert_eq!(one(&mut client, most), "1");
    assert!(count(&mut client, "file_num_open_files") >= 1);

    // While it is off, nothing is counted; on again, it continues.
    let status = "SELECT STATUS FROM information_schema.INNODB_METRICS WHERE NAME = 'dml_reads'";
    assert_eq!(one(&mut client, status), "disabled");
    exec(
        &mut client,
        "SET GLOBAL innodb_monitor_enable = 'dml_reads'",
    );
    assert_eq!(one(&mut client, status), "enabled");
    assert_eq!(
        one(&mut client, "SELECT @@GLOBAL.innodb_monitor_enable"),
        "dml_reads"
    );
    let reads = count(&mut client, "dml_reads");
    exec(&mut client, "SELECT * FROM t");
    assert!(count(&mut client, "dml_reads") >= reads + 9);
    exec(
        &mut client,
        "SET GLOBAL innodb_monitor_disable = 'DML_READ%'",
    );
    assert_eq!(one(&mut client, status), "disabled");
    let reads = count(&mut client, "dml_reads");
    exec(&mut client, "SELECT * FROM t");
    assert_eq!(count(&mut client, "dml_reads"), reads);
    exec(&mut client, "SET GLOBAL innodb_monitor_reset = dml_reads");
    let reset = "SELECT `COUNT`, COUNT_RESET, TIME_RESET IS NOT NULL, TIME_DISABLED IS NOT NULL FROM information_schema.INNODB_METRICS WHERE NAME = 'dml_reads'";
    assert_eq!(one(&mut client, reset), format!("{reads}|0|1|1"));
    exec(
        &mut client,
        "SET GLOBAL innodb_monitor_reset_all = 'dml_reads'",
    );
    assert_eq!(one(&mut client, reset), "0|0|0|0");

    // A module. A metric that is enabled already keeps its count.
    exec(
        &mut client,
        "SET GLOBAL innodb_monitor_enable = 'module_trx'",
    );
    let off = "SELECT COUNT(*) FROM information_schema.INNODB_METRICS WHERE SUBSYSTEM = 'transaction' AND STATUS = 'disabled'";
    assert_eq!(one(&mut client, off), "0");
    exec(
        &mut client,
        "SET GLOBAL innodb_monitor_reset_all = 'module_trx'",
    );
    assert_eq!(rows(&mut client, "SHOW WARNINGS").len(), 1);
    assert!(count(&mut client, "trx_rw_commits") >= 12);

    for (sql, number) in [
        ("SET GLOBAL innodb_monitor_enable = 'nothing'", 1231),
        ("SET GLOBAL innodb_monitor_enable = ''", 1231),
        ("SET GLOBAL innodb_monitor_disable = 'module_nothing'", 1231),
        ("SET GLOBAL innodb_monitor_reset = DEFAULT", 1231),
        ("SET innodb_monitor_enable = 'all'", 1229),
        (
            "UPDATE information_schema.INNODB_METRICS SET `COUNT` = 0",
            1044,
        ),
    ] {
        let code = errno(&mut client, sql);
        assert_eq!(code, number, "{sql}");
    }
    let mut monitor = running.tcp("monitor", Some(MONITOR)).expect("connects");
    assert_eq!(
        errno(&mut monitor, "SET GLOBAL innodb_monitor_enable = 'all'"),
        1227
    );
    assert!(count(&mut monitor, "dml_inserts") >= 11);

    // Status variables, metrics and memory in one list.
    let groups = rows(
        &mut client,
        "SELECT Type, COUNT(*) > 0 FROM sys.metrics GROUP BY Type ORDER BY Type",
    );
    let groups: Vec<&str> = groups.iter().map(|row| row[0].as_str()).collect();
    for group in [
        "Global Status",
        "InnoDB Metrics - dml",
        "InnoDB Metrics - log",
        "Performance Schema",
        "System Time",
    ] {
        assert!(groups.contains(&group), "{group}: {groups:?}");
    }
    let deletes = "SELECT Variable_value FROM sys.metrics WHERE Variable_name = 'dml_deletes'";
    assert_eq!(
        one(&mut client, deletes),
        count(&mut client, "dml_deletes").to_string()
    );
}
