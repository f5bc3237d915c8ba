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
