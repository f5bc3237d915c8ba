//! Values of SQL as parts of JSON documents. The expected values are those of MySQL 9.7.4.

use mysql::prelude::Queryable;

use crate::support::*;

#[test]
fn values_become_parts_of_documents_by_their_types() {
    let running = Running::start();
    let mut conn = running.client();
    for sql in [
        "CREATE TABLE j (d DECIMAL(10,2), dt DATETIME, b BIT(3), y YEAR, e ENUM('x','y'), s SET('a','b'), \
         js JSON, bl BLOB, t TIME, bu BIGINT UNSIGNED, bo BOOL, v VARCHAR(10), f FLOAT)",
        "INSERT INTO j VALUES (12.50, '2026-01-02 03:04:05', b'101', 2026, 'y', 'a,b', '{\"a\": 1}', 'ab', \
         '10:00:00', 18446744073709551615, 1, '[1]', 1.5)",
    ] {
        exec(&mut conn, sql);
    }
    for (expression, document) in [
        (
            "JSON_OBJECT('d', d, 'dt', dt, 'b', b, 'y', y, 'e', e, 's', s, 'js', js)",
            r#"{"b": "base64:type16:BQ==", "d": 12.50, "e": "y", "s": "a,b", "y": 2026, "dt": "2026-01-02 03:04:05.000000", "js": {"a": 1}}"#,
        ),
        (
            "JSON_ARRAY(t, bu, bo, v, bl, f)",
            r#"["10:00:00.000000", 18446744073709551615, 1, "[1]", "base64:type252:YWI=", 1.5]"#,
        ),
        (
            "JSON_ARRAY(1 = 1, TRUE, NOT 1, d IS NULL, 1 IN (1), IF(1, TRUE, FALSE), COALESCE(TRUE), bo)",
            "[true, true, false, false, true, 1, 1, 1]",
        ),
        (
            "JSON_ARRAY(1.50, 1e0, CAST(1 AS UNSIGNED), NULL, 'x', '[1]', d + 1, -1.50, DATE'2026-01-01')",
            r#"[1.50, 1.0, 1, null, "x", "[1]", 13.50, -1.50, "2026-01-01"]"#,
        ),
        (
            "JSON_ARRAY(JSON_ARRAY(d), js->'$.a', js->>'$.a')",
            r#"[[12.50], 1, "1"]"#,
        ),
        ("JSON_ARRAYAGG(d)", "[12.50]"),
        ("JSON_OBJECTAGG(v, bo)", r#"{"[1]": 1}"#),
        ("JSON_OBJECTAGG(e, 1 = 1)", r#"{"y": true}"#),
        (
            "JSON_SET('{}', '$.a', TRUE, '$.c', dt, '$.d', '[1]', '$.e', js)",
            r#"{"a": true, "c": "2026-01-02 03:04:05.000000", "d": "[1]", "e": {"a": 1}}"#,
        ),
        ("CAST(d AS JSON)", "12.50"),
        ("CAST('[1]' AS JSON)", "[1]"),
        ("CAST(1 = 1 AS JSON)", "true"),
        ("CAST(bu AS JSON)", "18446744073709551615"),
        ("CAST(e AS JSON)", r#""y""#),
        ("'[1]' MEMBER OF('[[1]]')", "0"),
        ("TRUE MEMBER OF('[true]')", "1"),
        ("1 MEMBER OF('[true]')", "0"),
        ("JSON_OBJECT(d, 1)", r#"{"12.50": 1}"#),
        (
            "JSON_OBJECT('b', 1, 'a', 2, 'b', 3, 'aa', 4)",
            r#"{"a": 2, "b": 3, "aa": 4}"#,
        ),
    ] {
        let value = all_of(&mut conn, &format!("SELECT {expression} FROM j"));
        assert_eq!(value, [document], "{expression}");
    }
    for (expression, error) in [
        ("JSON_OBJECT(bl, 1)", 3144),
        ("JSON_QUOTE(bl)", 3144),
        ("JSON_QUOTE(dt)", 3064),
        ("JSON_QUOTE(js)", 3064),
        ("JSON_UNQUOTE(dt)", 3064),
        ("JSON_LENGTH(d)", 3146),
    ] {
        let sql = format!("SELECT {expression} FROM j");
        assert_eq!(errno(&mut conn, &sql), error, "{expression}");
    }
    // A parameter's text is a string.
    let document: Option<String> = conn
        .exec_first("SELECT JSON_ARRAY(?, ?)", ("[1]", 5))
        .expect("a document");
    assert_eq!(document.as_deref(), Some(r#"["[1]", 5]"#));
}

/// The documents of a table, by their numbers.
const DOCUMENTS: &str = r#"INSERT INTO j VALUES (1,'9','9',9,9),(2,'10','10',10,10.5),(3,'"abc"','abc',0,1),
    (4,'"Abc"','ABC',1,1),(5,'true','true',1,1),(6,'false','false',0,0),(7,'null','null',0,0),(8,'[1,2]','[1, 2]',1,1),
    (9,'[1]','[1]',1,1),(10,'{"a":1}','{"a": 1}',1,1),(11,'1.5','1.5',2,1.5),(12,'10.0','10',10,10),
    (13,NULL,NULL,NULL,NULL),(14,'"10"','10',10,10),(15,'18446744073709551615','x',0,0),(16,'-1','-1',-1,-1)"#;

#[test]
fn documents_compare_as_documents() {
    let running = Running::start();
    let mut conn = running.client();
    exec(
        &mut conn,
        "CREATE TABLE j (id INT PRIMARY KEY, j JSON, v VARCHAR(30), n INT, d DECIMAL(5,2))",
    );
    exec(&mut conn, DOCUMENTS);
    exec(&mut conn, "SET @n = 10, @s = 'abc', @f = 1.5e0");
    for (condition, ids) in [
        ("j = 10", "2,12"),
        ("j <> 10", "1,3,4,5,6,7,8,9,10,11,14,15,16"),
        ("j > 5", "1,2,3,4,5,6,8,9,10,12,14,15"),
        ("j < 5", "7,11,16"),
        ("10 = j", "2,12"),
        ("j = 'abc'", "3"),
        ("j >= 'abc'", "3,5,6,8,9,10"),
        ("j = TRUE", "5"),
        ("j = FALSE", "6"),
        ("j = n", "1,2,12,16"),
        ("j = v", "3,14"),
        ("j = d", "1,11,12,16"),
        ("j <=> NULL", "13"),
        ("j = @n OR j = @s OR j = @f", "2,3,11,12"),
        ("j = CAST('{\"a\": 1}' AS JSON)", "10"),
        ("j < JSON_ARRAY(1)", "1,2,3,4,7,10,11,12,14,15,16"),
        ("j IN (1, 9, 10)", "1,2,12"),
        ("j IN ('abc', '10')", "3,14"),
        ("j NOT IN (10, 'abc')", "1,4,5,6,7,8,9,10,11,14,15,16"),
        ("j BETWEEN 5 AND 10", "1,2,12,14"),
        ("j->'$.a' = 1", "10"),
        ("JSON_EXTRACT(j, '$[1]') > 1", "8"),
        ("j = (SELECT j FROM j WHERE id = 12)", "2,12"),
    ] {
        let sql = format!("SELECT GROUP_CONCAT(id ORDER BY id) FROM j WHERE {condition}");
        assert_eq!(one(&mut conn, &sql), ids, "{condition}");
    }
    for (query, answer) in [
        ("SELECT COUNT(DISTINCT j) FROM j", "14"),
        ("SELECT CAST('-0.0' AS JSON) = CAST('0' AS JSON)", "1"),
        (
            "SELECT JSON_CONTAINS('[9007199254740993, 2.0]', '9007199254740992') + 2 * JSON_CONTAINS('[2.0]', '2')",
            "2",
        ),
        ("SELECT CONCAT(MIN(j), MAX(j)) FROM j", "nulltrue"),
        (
            "SELECT GROUP_CONCAT(c) FROM (SELECT COUNT(*) AS c FROM j WHERE id IN (2, 12) GROUP BY j) AS t",
            "2",
        ),
        (
            "SELECT GROUP_CONCAT(NULLIF(j, 10) ORDER BY id) FROM j WHERE id IN (1, 2, 3, 12)",
            r#"9,"abc""#,
        ),
        (
            "SELECT CONCAT_WS(',', j + 1, j * 2, -j, j | 1) FROM j WHERE id = 14",
            "11,20,-10,11",
        ),
        (
            "SELECT CONCAT_WS(',', j + 1, j / 2, j DIV 2, j | 1) FROM j WHERE id = 11",
            "2.5,0.75,0,3",
        ),
        (
            "SELECT GROUP_CONCAT(CONCAT_WS(' ', CAST(j AS SIGNED), CAST(j AS DECIMAL(6,2))) ORDER BY id) \
             FROM j WHERE id IN (2, 11, 14)",
            "10 10.00,2 1.50,10 10.00",
        ),
        (
            "SELECT CONCAT(SUM(j), ' ', AVG(j)) FROM j WHERE id IN (1, 2, 11, 12)",
            "30.5 7.625",
        ),
        (
            "SELECT GROUP_CONCAT(IF(j, 1, 0) ORDER BY id) FROM j WHERE id IN (2, 5, 6, 14)",
            "1,1,0,1",
        ),
    ] {
        assert_eq!(one(&mut conn, query), answer, "{query}");
    }
    let sorted = all_of(
        &mut conn,
        "SELECT id FROM j WHERE id NOT IN (8, 9, 10) ORDER BY j, id",
    );
    assert_eq!(sorted.join(","), "13,7,16,11,1,2,12,15,14,4,3,6,5");
}
