//! Installed clients: mariadb and PyMySQL.

use std::path::Path;
use std::process::Command;

use super::support::{PASSWORD, Running, output};

fn mariadb(running: &Running) -> Command {
    let mut command = Command::new("mariadb");
    command
        .arg("--no-defaults")
        .arg("--socket")
        .arg(running.socket())
        .args(["--user=root", "test", "-t", "-e"]);
    command
}

#[test]
fn mariadb_runs_statements_and_draws_tables() {
    for running in [Running::start(), Running::pool()] {
        let sql = "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL DEFAULT 'x', u BIGINT UNSIGNED);
            INSERT INTO t (name, u) VALUES ('it''s', 18446744073709551615), ('b', NULL);
            SELECT * FROM t;
            SELECT COUNT(*), concat(name, '!') FROM t GROUP BY name ORDER BY 2;";
        let text = output(mariadb(&running).arg(sql));
        let expected = "\
+----+------+----------------------+
| id | name | u                    |
+----+------+----------------------+
|  1 | it's | 18446744073709551615 |
|  2 | b    |                 NULL |
+----+------+----------------------+
+----------+-------------------+
| COUNT(*) | concat(name, '!') |
+----------+-------------------+
|        1 | b!                |
|        1 | it's!             |
+----------+-------------------+
";
        assert_eq!(text, expected);
    }
}

#[test]
fn mariadb_lists_what_exists() {
    let running = Running::start();
    output(mariadb(&running).arg("CREATE TABLE a (x INT NOT NULL, y VARCHAR(5) COMMENT 'why', UNIQUE KEY u (x), KEY (y)); CREATE VIEW v AS SELECT x FROM a"));
    for (sql, expected) in [
        (
            "SHOW DATABASES",
            vec![
                "performance_schema",
                "information_schema",
                "mysql",
                "tare",
                "test",
            ],
        ),
        ("SHOW FULL TABLES", vec!["BASE TABLE", "VIEW"]),
        (
            "DESCRIBE a",
            vec!["| x     | int        | NO   | PRI | NULL", "varchar(5)"],
        ),
        ("SHOW FULL COLUMNS FROM a", vec!["why"]),
        (
            "SHOW CREATE TABLE a",
            vec!["CREATE TABLE `a`", "UNIQUE KEY `u` (`x`)", "COMMENT 'why'"],
        ),
        (
            "SHOW CREATE VIEW v",
            vec!["SQL SECURITY DEFINER VIEW `v` AS SELECT x FROM a"],
        ),
        (
            "SHOW INDEX FROM a",
            vec!["| a     |          0 | u        |"],
        ),
        ("SHOW VARIABLES LIKE 'version%'", vec!["9.7.4-tare"]),
        (
            "SHOW VARIABLES WHERE Variable_name = 'autocommit' AND Value = 'ON'",
            vec!["autocommit"],
        ),
        (
            "SHOW GLOBAL STATUS LIKE 'Threads_connected'",
            vec!["Threads_connected"],
        ),
        ("SHOW PROCESSLIST", vec!["SHOW PROCESSLIST"]),
        ("SHOW ENGINES", vec!["SQLite", "PERFORMANCE_SCHEMA"]),
        ("SHOW COLLATION LIKE 'utf8mb4_bin'", vec!["utf8mb4_bin"]),
        ("SHOW CHARACTER SET", vec!["utf8mb4"]),
        ("SHOW GRANTS", vec!["ALL PRIVILEGES"]),
        ("SHOW TABLE STATUS LIKE 'a'", vec!["SQLite"]),
        ("SHOW CREATE DATABASE test", vec!["CREATE DATABASE `test`"]),
        (
            "EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a WHERE x = 1",
            vec!["| ref ", "| u "],
        ),
        (
            "DROP TABLE IF EXISTS nope; SHOW WARNINGS",
            vec!["Unknown table 'test.nope'"],
        ),
        (
            "SELECT table_name, engine FROM information_schema.tables WHERE table_schema = 'test'",
            vec!["| a "],
        ),
        (
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'test' AND table_name = 'a'",
            vec!["| y "],
        ),
        (
            "SHOW CREATE TABLE performance_schema.threads",
            vec!["`PROCESSLIST_INFO`"],
        ),
    ] {
        let text = output(mariadb(&running).arg(sql));
        for word in expected {
            assert!(text.contains(word), "{sql}: no {word} in\n{text}");
        }
    }
}

const PYTHON: &str = r#"
import sys, datetime, decimal, pymysql
conn = pymysql.connect(host='127.0.0.1', port=int(sys.argv[1]), user='root', password=sys.argv[2], database='test')
with conn.cursor() as c:
    c.execute('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, d DATE, t DATETIME, n DECIMAL(10,2), b BLOB, s VARCHAR(40), f DOUBLE)')
    row = (datetime.date(2024, 2, 29), datetime.datetime(2024, 1, 2, 3, 4, 5), decimal.Decimal('12.50'), b'\x00\xff', 'it\'s \\ "quoted" \u00e9', 2.5)
    assert c.execute('INSERT INTO t (d, t, n, b, s, f) VALUES (%s, %s, %s, _binary %s, %s, %s)', row) == 1
    assert c.lastrowid == 1
    assert c.executemany('INSERT INTO t (s) VALUES (%s)', [('a',), ('b',)]) == 2
    # A system schema in the middle of a transaction that has written.
    c.execute('SELECT count(*) FROM information_schema.schemata')
    conn.rollback()
    c.execute('SELECT count(*) FROM t')
    assert c.fetchone() == (0,)
    c.execute('INSERT INTO t (d, t, n, b, s, f) VALUES (%s, %s, %s, _binary %s, %s, %s)', row)
    conn.commit()
    c.execute('SELECT d, t, n, b, s, f FROM t')
    assert c.fetchall() == (row,), c.fetchall()
    assert [d[0] for d in c.description] == ['d', 't', 'n', 'b', 's', 'f']
    try:
        c.execute('SELECT * FROM nope')
        raise SystemExit('no error')
    except pymysql.err.ProgrammingError as e:
        assert e.args[0] == 1146, e
    try:
        c.execute('INSERT INTO t (id) SELECT max(id) FROM t AS u')
        raise SystemExit('no error')
    except pymysql.err.IntegrityError as e:
        assert e.args[0] == 1062, e
conn.close()
print('fine')
"#;

#[test]
fn pymysql_has_types_and_transactions() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/bin/python");
    assert!(
        python.exists(),
        "PyMySQL is installed by `make deps`, in {}",
        python.display()
    );
    for running in [Running::start(), Running::pool()] {
        let mut command = Command::new(&python);
        command.args(["-c", PYTHON, &running.port().to_string(), PASSWORD]);
        assert_eq!(output(&mut command), "fine\n");
    }
}
