//! Schema sys of a running server: every view answers with MySQL's columns, and its figures are those of
//! the tables that it reads.

use std::collections::BTreeMap;

use mysql::prelude::Queryable;
use tare_server::Series;

use crate::support::{Running, errno, exec, exec_for_all, one, rows};

/// schema, view, position, column, type, nullable: from information_schema of MySQL 8.0.15, 9.7.4 and
/// MariaDB 10.11.
fn reference(series: Series) -> BTreeMap<&'static str, Vec<[&'static str; 3]>> {
    let text = match series {
        Series::V8_0 => include_str!("../../../rows/tests/fixtures/columns.tsv"),
        Series::V9_7 => include_str!("../../../rows/tests/fixtures/columns-9.7.tsv"),
        Series::Mariadb => include_str!("../../../rows/tests/fixtures/columns-mariadb.tsv"),
    };
    let mut views: BTreeMap<&str, Vec<[&str; 3]>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [schema, view, position, name, kind, null] = fields[..] else {
            panic!("{line:?}")
        };
        if schema != "sys" {
            continue;
        }
        let columns = views.entry(view).or_default();
        columns.push([name, kind, null]);
        assert_eq!(position, columns.len().to_string(), "{view}");
    }
    assert_eq!(views.len(), 101);
    views
}

/// Does some of everything that the views show.
pub fn load(running: &Running) {
    let mut client = running.client();
    exec_for_all(
        &mut client,
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'",
    );
    exec_for_all(
        &mut client,
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'",
    );
    drop(client);
    let mut client = running.client();
    exec(
        &mut client,
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b TEXT, KEY a (a), KEY ab (a, b), KEY again (a))",
    );
    for i in 0..50 {
        exec(
            &mut client,
            &format!("INSERT INTO t (a, b) VALUES ({i}, 'x')"),
        );
    }
    exec(
        &mut client,
        "SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY b",
    );
    exec(&mut client, "SELECT * FROM t WHERE a = 3");
    exec(&mut client, "UPDATE t SET a = a + 1 WHERE id < 10");
    exec(&mut client, "DELETE FROM t WHERE id = 7");
    assert_eq!(errno(&mut client, "SELECT nosuch FROM t"), 1054);
}

#[test]
fn every_view_answers_with_mysqls_columns() {
    for series in Series::ALL {
        every_view_answers(series);
    }
}

fn every_view_answers(series: Series) {
    let _turn = crate::turn();
    let running = Running::with(|config| config.series = series);
    load(&running);
    let mut client = running.client();
    let mut failed = Vec::new();
    for (view, expected) in reference(series) {
        let result = client.query_iter(format!("SELECT * FROM sys.`{view}`"));
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                failed.push(format!("{view}: {error}"));
                continue;
            }
        };
        let names: Vec<String> = answer
            .columns()
            .as_ref()
            .iter()
            .map(|c| c.name_str().into_owned())
            .collect();
        let wanted: Vec<&str> = expected.iter().map(|c| c[0]).collect();
        if names != wanted {
            failed.push(format!("{view}: columns {names:?}"));
        }
        for column in answer.columns().as_ref() {
            // tests/metadata compares the schemas that 9.7 sends.
            if series != Series::V9_7 {
                assert_eq!(column.schema_str(), "sys", "{view}");
            }
            assert_eq!(column.table_str(), view, "{view}");
        }
        for row in answer {
            let row = row.unwrap_or_else(|e| panic!("{view}: {e}"));
            for (i, [name, kind, null]) in expected.iter().enumerate() {
                let value = row.as_ref(i).expect("as many as columns");
                let text = match value {
                    mysql::Value::NULL => {
                        if *null != "YES" {
                            failed.push(format!("{view}.{name}: NULL"));
                        }
                        continue;
                    }
                    mysql::Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
                    other => other.as_sql(true),
                };
                let number = ["bigint", "decimal", "int"]
                    .iter()
                    .any(|n| kind.starts_with(n));
                if number && text.parse::<f64>().is_err() {
                    failed.push(format!("{view}.{name} is {kind}: {text}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{series}: {}", failed.join("\n"));
}

#[test]
fn information_schema_describes_the_views() {
    for series in Series::ALL {
        describes_the_views(series);
    }
}

fn describes_the_views(series: Series) {
    let _turn = crate::turn();
    let running = Running::with(|config| config.series = series);
    let mut client = running.root();
    let columns = rows(
        &mut client,
        "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA = 'sys' ORDER BY TABLE_NAME, ORDINAL_POSITION",
    );
    let mut described: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for mut row in columns {
        let name = row.remove(0);
        described.entry(name).or_default().push(row);
    }
    for (view, expected) in reference(series) {
        assert_eq!(described.get(view).expect(view), &expected, "{view}");
    }
    assert_eq!(described.len(), 101);
    let views = "SELECT COUNT(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'sys' AND VIEW_DEFINITION LIKE 'SELECT%'";
    assert_eq!(one(&mut client, views), "100");
}

#[test]
fn sys_is_a_schema_like_others() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.root();
    assert!(rows(&mut client, "SHOW DATABASES").contains(&vec!["sys".to_owned()]));
    let status = rows(&mut client, "SHOW TABLE STATUS FROM sys LIKE 'version'");
    assert_eq!(
        status[0].iter().filter(|v| *v != "NULL").count(),
        2,
        "{status:?}"
    );
    exec(&mut client, "USE sys");
    let tables = rows(&mut client, "SHOW FULL TABLES");
    assert_eq!(tables.len(), 101);
    assert!(tables.contains(&vec!["processlist".into(), "VIEW".into()]));
    assert!(tables.contains(&vec!["sys_config".into(), "BASE TABLE".into()]));
    assert_eq!(
        rows(&mut client, "DESCRIBE version")[0][..2],
        ["sys_version", "varchar(5)"]
    );
    assert!(
        rows(&mut client, "SHOW CREATE VIEW host_summary")[0][1]
            .contains("VIEW `host_summary` (`host`,")
    );
    assert_eq!(one(&mut client, "SELECT sys_version FROM version"), "2.1.3");
    assert_eq!(
        one(
            &mut client,
            "SELECT v.sys_version FROM sys.version AS v WHERE v.mysql_version = VERSION()"
        ),
        "2.1.3"
    );
    // Names and aliases compare without case.
    assert_eq!(
        one(&mut client, "SELECT VERSION.sys_version FROM SYS.VERSION"),
        "2.1.3"
    );
    for (sql, number) in [
        ("SELECT * FROM sys.nothing", 1146),
        ("SELECT * FROM sys.x$nothing", 1146),
        ("SELECT sys.nothing(1)", 1305),
        ("SELECT sys.format_bytes()", 1318),
        ("UPDATE sys.version SET sys_version = '1'", 1288),
        ("DELETE FROM sys.version", 1288),
        ("INSERT INTO sys.version VALUES ('1', '2')", 1471),
        ("SELECT nosuch FROM sys.version", 1054),
    ] {
        assert_eq!(errno(&mut client, sql), number, "{sql}");
    }
}

#[test]
fn columns_of_views_have_their_types_in_queries() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.root();
    let mut types = |sql: &str| -> Vec<String> {
        let answer = client
            .query_iter(sql)
            .unwrap_or_else(|e| panic!("{sql}: {e}"));
        let columns = answer.columns();
        columns
            .as_ref()
            .iter()
            .map(|c| format!("{} {:?}", c.name_str(), c.column_type()))
            .collect()
    };
    assert_eq!(
        types("SELECT total_latency AS t, x.exec_count, 1 FROM sys.x$statement_analysis x LIMIT 0"),
        [
            "t MYSQL_TYPE_LONGLONG",
            "exec_count MYSQL_TYPE_LONGLONG",
            "1 MYSQL_TYPE_LONGLONG"
        ]
    );
    assert_eq!(
        types(
            "SELECT u.*, t.THREAD_ID FROM (SELECT user, total FROM sys.io_by_thread_by_latency) u, performance_schema.threads t LIMIT 0"
        ),
        [
            "user MYSQL_TYPE_VAR_STRING",
            "total MYSQL_TYPE_NEWDECIMAL",
            "THREAD_ID MYSQL_TYPE_LONGLONG"
        ]
    );
}

#[test]
fn numbers_of_views_compare_as_numbers() {
    let _turn = crate::turn();
    let running = Running::start();
    load(&running);
    let mut client = running.client();
    let some = "SELECT COUNT(*) FROM sys.x$host_summary WHERE host = 'localhost' AND statements > '1' AND file_ios >= '2'";
    assert_eq!(one(&mut client, some), "1");
    let hosts: Vec<(String, mysql::Value)> = client
        .exec(
            "SELECT host, statements FROM sys.x$host_summary WHERE host = ? AND statements > ?",
            ("localhost", "1"),
        )
        .expect("found");
    assert_eq!(hosts.len(), 1);
    let thread: u64 = one(&mut client, "SELECT sys.ps_thread_id(NULL)")
        .parse()
        .expect("a number");
    let own: Vec<(u64, String)> = client
        .exec("SELECT thd_id, command FROM sys.session WHERE conn_id = CONNECTION_ID() AND thd_id = ?", (thread,))
        .expect("found");
    assert_eq!(own, [(thread, "Execute".to_owned())]);
    // Into a table of another database, with qualified names.
    exec(
        &mut client,
        "CREATE TABLE kept (host VARCHAR(60), n BIGINT)",
    );
    exec(
        &mut client,
        "INSERT INTO kept SELECT x$host_summary.host, sys.x$host_summary.statements FROM sys.x$host_summary WHERE sys.x$host_summary.host = 'localhost'",
    );
    assert_eq!(
        one(&mut client, "SELECT host, n > 1 FROM kept"),
        "localhost|1"
    );
    assert_eq!(
        rows(
            &mut client,
            "SELECT v.host FROM kept AS k JOIN sys.host_summary AS v ON v.host = k.host"
        )
        .len(),
        1
    );
    let mut monitor = running
        .tcp("monitor", Some(crate::support::MONITOR))
        .expect("connects");
    assert_eq!(
        errno(
            &mut monitor,
            "INSERT INTO test.kept SELECT 'x', 1 FROM sys.version"
        ),
        1142
    );
    let status = rows(
        &mut monitor,
        "SHOW FUNCTION STATUS WHERE Name = 'format_bytes'",
    );
    assert_eq!(
        status.len(),
        1,
        "{:?}",
        rows(&mut monitor, "SHOW FUNCTION STATUS")
    );
}
