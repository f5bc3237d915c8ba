//! A client reaches nothing of SQLite but its own tables and MySQL's functions.

use rusqlite::Connection;
use tare_server::Config;

use super::support::{Directory, Running, all_of, errno, exec, one};

/// What the linked SQLite has: the first column of a list.
fn names(list: &str) -> Vec<String> {
    let db = Connection::open_in_memory().expect("opens");
    let sql = format!("SELECT DISTINCT name FROM {list}");
    let mut names = db.prepare(&sql).expect("a list");
    let names = names.query_map([], |row| row.get(0)).expect("names");
    names.collect::<rusqlite::Result<_>>().expect("names")
}

#[test]
fn no_table_of_sqlites_exists_for_a_client() {
    let running = Running::start();
    let mut client = running.client();
    exec(
        &mut client,
        "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT)",
    );
    exec(&mut client, "CREATE VIEW v AS SELECT a FROM t");
    let pragmas = names("pragma_pragma_list")
        .into_iter()
        .map(|p| format!("pragma_{p}"));
    let internal = [
        "sqlite_master",
        "sqlite_schema",
        "sqlite_temp_master",
        "sqlite_temp_schema",
        "sqlite_sequence",
        "sqlite_stat1",
        "__tare_tables",
        "__TARE_TABLES",
        "Sqlite_Master",
    ];
    let internal = internal.into_iter().map(str::to_owned);
    let tables: Vec<String> = names("pragma_module_list")
        .into_iter()
        .chain(pragmas)
        .chain(internal)
        .collect();
    assert!(tables.len() > 70, "{tables:?}");
    for table in &tables {
        for (sql, expected) in [
            (format!("SELECT * FROM `{table}`"), 1146),
            (format!("SELECT COUNT(*) FROM {table}"), 1146),
            (format!("SELECT 1 FROM test.{table}"), 1146),
            (format!("SELECT 1 FROM performance_schema.{table}"), 1146),
            (format!("SELECT 1 FROM information_schema.{table}"), 1109),
            (format!("SELECT 1 FROM mysql.{table} AS x"), 1146),
            (format!("SELECT 1 FROM sys.{table}"), 1146),
            (format!("SELECT 1 FROM t, {table}"), 1146),
            (format!("SELECT 1 FROM t JOIN {table} ON TRUE"), 1146),
            (format!("SELECT (SELECT 1 FROM {table} LIMIT 1)"), 1146),
            (
                format!("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM {table})"),
                1146,
            ),
            (format!("SELECT 1 UNION SELECT 1 FROM {table}"), 1146),
            (
                format!("WITH c AS (SELECT * FROM {table}) SELECT * FROM c"),
                1146,
            ),
            (format!("SELECT * FROM {table}('65538')"), 1064),
            (format!("SELECT * FROM {table}(65538)"), 1064),
            (
                format!(
                    "SELECT * FROM (WITH {table} AS (SELECT 1) SELECT * FROM {table}) d, {table}"
                ),
                1146,
            ),
            (format!("INSERT INTO {table} VALUES (1)"), 1146),
            (format!("INSERT INTO t SELECT 1 FROM {table}"), 1146),
            (format!("REPLACE INTO {table} VALUES (1)"), 1146),
            (format!("UPDATE {table} SET name = 'x'"), 1146),
            (format!("UPDATE t, {table} SET t.a = 1"), 1146),
            (format!("DELETE FROM {table}"), 1146),
            (format!("DELETE t FROM t JOIN {table}"), 1146),
            (format!("CREATE TABLE x AS SELECT * FROM {table}"), 1146),
            (format!("CREATE TABLE x LIKE {table}"), 1146),
            (format!("CREATE VIEW x AS SELECT * FROM {table}"), 1146),
            (format!("SET @x = (SELECT COUNT(*) FROM {table})"), 1146),
            (format!("DO (SELECT COUNT(*) FROM {table})"), 1146),
            (format!("EXPLAIN SELECT * FROM {table}"), 1146),
            (format!("DESCRIBE {table}"), 1146),
            (format!("SHOW CREATE TABLE {table}"), 1146),
            (format!("SHOW INDEX FROM {table}"), 1146),
            (format!("TRUNCATE TABLE {table}"), 1146),
            (format!("DROP TABLE {table}"), 1051),
            (format!("ALTER TABLE {table} ADD COLUMN x INT"), 1146),
            (format!("RENAME TABLE {table} TO x"), 1146),
            (format!("CREATE INDEX i ON {table} (name)"), 1146),
            (format!("LOCK TABLES {table} READ"), 1146),
        ] {
            assert_eq!(errno(&mut client, &sql), expected, "{sql}");
        }
    }
    // Subqueries of SHOW, whose conditions are evaluated over rows in memory.
    for table in &tables {
        let sql = format!("SHOW STATUS WHERE 1 = (SELECT COUNT(*) FROM test.{table})");
        assert!(
            table == "json_each" || errno(&mut client, &sql) != 0,
            "{sql}"
        );
    }
    assert_eq!(all_of(&mut client, "SHOW TABLES"), ["t", "v"]);
}

#[test]
fn no_function_is_called_that_mysql_does_not_have() {
    let running = Running::start();
    let mut client = running.client();
    exec(&mut client, "CREATE TABLE t (a INT)");
    let functions = names("pragma_function_list");
    assert!(
        functions.iter().any(|f| f == "sqlite_version"),
        "{functions:?}"
    );
    let mut unknown = 0;
    for name in functions {
        if tare_functions::find(&name.to_lowercase()).is_some() || is_grammar(&name) {
            continue;
        }
        unknown += 1;
        for arguments in ["", "1", "1, 2", "'x', 'y', 'z'"] {
            let call = format!("`{name}`({arguments})");
            for sql in [
                format!("SELECT {call}"),
                format!("SELECT a FROM t WHERE {call}"),
                format!("SELECT {call} OVER () FROM t"),
                format!("INSERT INTO t VALUES ({call})"),
                format!("UPDATE t SET a = {call}"),
                format!("SET @x = {call}"),
                format!("CREATE VIEW x AS SELECT {call}"),
            ] {
                // 1235: MySQL has it, and Tare does not.
                assert!(matches!(errno(&mut client, &sql), 1235 | 1305), "{sql}");
            }
            for sql in [
                format!("CREATE TABLE x (a INT, CHECK ({call}))"),
                format!("CREATE TABLE x (a INT DEFAULT ({call}))"),
                format!("ALTER TABLE t ADD COLUMN b INT DEFAULT ({call})"),
                format!("ALTER TABLE t ADD CHECK ({call})"),
            ] {
                assert_ne!(errno(&mut client, &sql), 0, "{sql}");
            }
        }
    }
    assert!(unknown > 30, "{unknown}");
    assert_eq!(all_of(&mut client, "SHOW TABLES"), ["t"]);
}

#[test]
fn every_function_of_mysqls_is_on_the_list() {
    let running = Running::start();
    let mut client = running.client();
    // 9.7 itself answers these with 1305; earlier series have them.
    let removed = ["md5", "sha", "sha1"];
    for function in tare_functions::FAMILIES.iter().copied().flatten() {
        let signature = &function.signature;
        if removed.contains(&signature.name) {
            continue;
        }
        let arguments = vec!["NULL"; usize::from(signature.fewest)].join(", ");
        let sql = format!("SELECT {}({arguments})", signature.name);
        assert_ne!(errno(&mut client, &sql), 1305, "{sql}");
    }
}

/// Functions that MySQL's grammar has, so that an unknown function is not what is wrong.
fn is_grammar(name: &str) -> bool {
    let words = [
        "->",
        "->>",
        "if",
        "match",
        "substr",
        "substring",
        "trim",
        "current_date",
        "current_time",
    ];
    words.contains(&name) || name == "current_timestamp"
}

/// A view that a file has already, such as from an earlier version, reaches nothing either.
#[test]
fn views_of_a_file_reach_nothing_of_sqlites() {
    let directory = Directory::new();
    let file = directory.path().join("old.db");
    let db = Connection::open(&file).expect("opens");
    db.execute_batch(
        "CREATE TABLE t (a INT); CREATE VIEW schema AS SELECT name FROM sqlite_schema;
         CREATE VIEW size AS SELECT count(*) AS n FROM dbstat;
         CREATE VIEW paths AS SELECT file FROM pragma_database_list;
         CREATE VIEW version AS SELECT sqlite_version() AS v",
    )
    .expect("created");
    drop(db);
    let mut config: Config = super::support::config(&directory);
    config.data = directory.path().into();
    let server = tare_server::Server::start(config).expect("starts");
    let options = super::support::socket_options(&server.endpoints().socket);
    let mut client = mysql::Conn::new(options).expect("connects");
    exec(&mut client, "USE old");
    assert_eq!(one(&mut client, "SELECT COUNT(*) FROM t"), "0");
    for (view, expected) in [
        ("schema", 1146),
        ("size", 1146),
        ("paths", 1146),
        ("version", 1305),
    ] {
        assert_eq!(
            errno(&mut client, &format!("SELECT * FROM `{view}`")),
            expected,
            "{view}"
        );
    }
}
