//! Prepared statements with every type, and several statements in one text.

use mysql::prelude::Queryable;
use mysql::{Params, Value};

use super::support::{Running, code, errno, exec, one, rows};

/// A column's type, a value that is sent, and the value that must come back.
fn types() -> Vec<(&'static str, Value, Value)> {
    let bytes = |b: &[u8]| Value::Bytes(b.to_vec());
    let same = |t, v: Value| (t, v.clone(), v);
    vec![
        same("TINYINT", Value::Int(-128)),
        same("TINYINT UNSIGNED", Value::Int(255)),
        same("SMALLINT", Value::Int(-32768)),
        ("SMALLINT UNSIGNED", Value::Int(65535), Value::Int(65535)),
        same("MEDIUMINT", Value::Int(-8_388_608)),
        same("INT", Value::Int(i64::from(i32::MIN))),
        (
            "INT UNSIGNED",
            Value::Int(i64::from(u32::MAX)),
            Value::Int(i64::from(u32::MAX)),
        ),
        same("BIGINT", Value::Int(i64::MIN)),
        same("BIGINT UNSIGNED", Value::UInt(u64::MAX)),
        ("BOOL", Value::Int(1), Value::Int(1)),
        ("YEAR", Value::Int(2024), Value::Int(2024)),
        same("FLOAT", Value::Float(1.5)),
        same("DOUBLE", Value::Double(-2.25e300)),
        ("DECIMAL(10,3)", bytes(b"12.5"), bytes(b"12.500")),
        same("DATE", Value::Date(2024, 2, 29, 0, 0, 0, 0)),
        same("DATETIME(6)", Value::Date(2024, 1, 2, 3, 4, 5, 600_000)),
        same("TIMESTAMP", Value::Date(2024, 1, 2, 3, 4, 5, 0)),
        same("TIME", Value::Time(true, 2, 3, 4, 5, 0)),
        same("CHAR(10)", bytes(b"abc")),
        same("VARCHAR(10)", bytes("é'\\\"".as_bytes())),
        same("MEDIUMTEXT", bytes(&[b'x'; 100_000])),
        same("BLOB", bytes(&[0, 255, 39, 92])),
        same("VARBINARY(4)", bytes(&[1, 0, 2])),
        same("BINARY(3)", bytes(&[255, 254, 253])),
        same("ENUM('a','b')", bytes(b"b")),
        same("SET('a','b')", bytes(b"a,b")),
        same("JSON", bytes(b"{\"a\": 1}")),
        same("INT", Value::NULL),
    ]
}

#[test]
fn every_type_is_returned_as_it_was_sent() {
    for running in [Running::start(), Running::pool()] {
        let mut conn = running.client();
        let types = types();
        let columns: Vec<String> = types
            .iter()
            .enumerate()
            .map(|(i, (t, ..))| format!("c{i} {t}"))
            .collect();
        exec(
            &mut conn,
            &format!(
                "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, {})",
                columns.join(", ")
            ),
        );
        let names: Vec<String> = (0..types.len()).map(|i| format!("c{i}")).collect();
        let marks = vec!["?"; types.len()].join(", ");
        let insert = conn
            .prep(format!(
                "INSERT INTO t ({}) VALUES ({marks})",
                names.join(", ")
            ))
            .expect("prepared");
        assert_eq!(usize::from(insert.num_params()), types.len());
        for _ in 0..2 {
            let values: Vec<Value> = types.iter().map(|(_, v, _)| v.clone()).collect();
            conn.exec_drop(&insert, Params::Positional(values))
                .expect("inserted");
        }
        assert_eq!(conn.last_insert_id(), 2);
        let select = conn.prep("SELECT * FROM t WHERE id = ?").expect("prepared");
        assert_eq!(select.columns().len(), types.len() + 1);
        for id in 1..=2 {
            let row: mysql::Row = conn
                .exec_first(&select, (id,))
                .expect("selected")
                .expect("a row");
            for (i, (name, _, expected)) in types.iter().enumerate() {
                assert_eq!(&row[i + 1], expected, "{name}");
            }
        }
    }
}

#[test]
fn a_prepared_statement_survives_a_change_of_its_table() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a INT)");
    exec(&mut conn, "INSERT INTO t VALUES (1)");
    let all = conn.prep("SELECT * FROM t").expect("prepared");
    let row: Vec<mysql::Row> = conn.exec(&all, ()).expect("rows");
    assert_eq!(row[0].len(), 1);
    exec(
        &mut running.client(),
        "ALTER TABLE t ADD COLUMN b VARCHAR(5) NOT NULL DEFAULT 'new'",
    );
    let row: Vec<mysql::Row> = conn.exec(&all, ()).expect("rows");
    assert_eq!(row[0].len(), 2);
    assert_eq!(row[0][1], Value::Bytes(b"new".to_vec()));
    exec(&mut conn, "DROP TABLE t");
    assert_eq!(code(conn.exec_drop(&all, ())), 1146);
}

#[test]
fn invalid_statements_are_refused_by_prepare() {
    let running = Running::start();
    let mut conn = running.client();
    for (sql, expected) in [
        ("SELEC 1", 1064),
        ("SELECT * FROM nope", 1146),
        ("SELECT nope", 1054),
        ("SELECT nofunction(1)", 1305),
        ("SELECT 1; SELECT 2", 1064),
        ("", 1065),
    ] {
        assert_eq!(code(conn.prep(sql)), expected, "{sql}");
    }
    assert_eq!(one(&mut conn, "SELECT 1"), "1");
}

#[test]
fn statements_in_sql_are_prepared_by_name() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "PREPARE p FROM 'SELECT ? + ?'");
    exec(&mut conn, "SET @a = 2, @b = 40");
    assert_eq!(one(&mut conn, "EXECUTE p USING @a, @b"), "42");
    assert_eq!(errno(&mut conn, "EXECUTE p"), 1210);
    exec(&mut conn, "DEALLOCATE PREPARE p");
    assert_eq!(errno(&mut conn, "EXECUTE p"), 1243);
}

#[test]
fn several_statements_answer_one_by_one_up_to_the_first_error() {
    let running = Running::start();
    let mut conn = running.client();
    let mut result = conn.query_iter("SELECT 1; SELECT ';', 2; CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2); SELECT a FROM t").expect("runs");
    let mut results = Vec::new();
    while let Some(set) = result.iter() {
        results.push((set.affected_rows(), set.count()));
    }
    drop(result);
    assert_eq!(results, [(0, 1), (0, 1), (0, 0), (2, 0), (0, 2)]);
    let mut result = conn
        .query_iter("INSERT INTO t VALUES (3); SELECT * FROM nope; INSERT INTO t VALUES (4)")
        .expect("the first one runs");
    // The crate reports the second statement's error as the end of the sets.
    while let Some(set) = result.iter() {
        set.for_each(drop);
    }
    drop(result);
    assert_eq!(
        rows(&mut conn, "SELECT a FROM t").len(),
        3,
        "nothing runs after an error"
    );
}

#[test]
fn a_reset_connection_is_as_new() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a INT)");
    exec(&mut conn, "SET @x = 1, autocommit = 0");
    exec(&mut conn, "INSERT INTO t VALUES (1)");
    conn.reset().expect("reset");
    assert_eq!(
        one(&mut conn, "SELECT @x, @@autocommit, count(*) FROM test.t"),
        "NULL|1|0"
    );
}

#[test]
fn long_data_comes_in_pieces() {
    let running = Running::start();
    let mut conn = running.client();
    let long = vec![0xfeu8; 20 << 20];
    let length: Option<u64> = conn
        .exec_first("SELECT length(?)", (long.clone(),))
        .expect("sent in pieces");
    assert_eq!(length, Some(long.len() as u64));
}

/// Deprecated syntax is a warning when a statement is read, in its order. The expected answers are MySQL 9.7.4's.
#[test]
fn deprecated_syntax_warns_when_it_is_read() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE w (id INT PRIMARY KEY, v INT)");
    for (sql, starts) in [
        (
            "SELECT COUNT(*) FROM w WHERE NOT !(v && 1)",
            &["'!' is", "'&&' is"][..],
        ),
        ("SELECT v || 1 FROM w", &["'|| as a synonym for OR' is"]),
        (
            "SELECT 'a' LIKE BINARY 'a', BINARY 'b'",
            &["'BINARY expr' is"; 2],
        ),
        ("SELECT CAST('a' AS BINARY), CONVERT('a', BINARY(3))", &[]),
        (
            "SELECT SQL_CALC_FOUND_ROWS id FROM w",
            &["SQL_CALC_FOUND_ROWS is"],
        ),
        ("SELECT FOUND_ROWS()", &["FOUND_ROWS() is"]),
        (
            "INSERT INTO w VALUES (1, 2) ON DUPLICATE KEY UPDATE v = VALUES(v) + VALUES(id)",
            &["'VALUES function' is"; 2],
        ),
        (
            "SELECT _utf8'a', CONVERT('a' USING utf8)",
            &["'utf8' is currently an alias"; 2],
        ),
        (
            "CREATE TABLE x (a INT DEFAULT 0, b INT(5), c CHAR(4) BINARY, d DECIMAL(5,2) UNSIGNED)",
            &[
                "Integer display width",
                "'BINARY as attribute",
                "UNSIGNED for decimal",
            ],
        ),
        ("SET @x = 1 && 1", &["'&&' is"]),
        ("DO 1 && 1", &["'&&' is"]),
        ("PREPARE s FROM 'SELECT 1 && 1'", &["'&&' is"]),
        ("EXECUTE s", &[]),
    ] {
        exec(&mut conn, sql);
        let messages = rows(&mut conn, "SHOW WARNINGS");
        assert_eq!(messages.len(), starts.len(), "{sql}: {messages:?}");
        for (message, start) in messages.iter().zip(starts) {
            assert!(message[2].starts_with(start), "{sql}: {message:?}");
        }
    }
}
