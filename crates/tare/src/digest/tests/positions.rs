//! Numbers of columns in GROUP BY and ORDER BY, as MySQL 9.7 shows them.

use super::super::*;

fn text(sql: &str) -> String {
    let rules = Rules {
        retains_positions: true,
    };
    let mut out = Vec::new();
    assert_eq!(
        normalize_by(rules, sql.as_bytes(), 64 << 10, &mut out),
        Extent::Complete
    );
    String::from_utf8(out).expect("sql is text")
}

#[test]
fn the_number_of_a_column_stays() {
    for (behind, expected) in [
        ("1", "1"),
        ("1, 2, 3", "1 , 2 , 3"),
        ("1, a, 3", "1 , `a` , 3"),
        ("1, (2+0), 3", "1 , ( ? + ? ) , 3"),
        ("4294967295", "4294967295"),
        // None of these is the number of a column.
        ("0", "?"),
        ("-1", "- ?"),
        ("+1", "+ ?"),
        ("1+0", "? + ?"),
        ("1*1", "? * ?"),
        ("1 << 1", "? << ?"),
        ("10000000000000000", "?"),
        ("'1'", "?"),
        ("1.0", "?"),
        ("a IN (1, 2), 3", "`a` IN (...) , 3"),
    ] {
        for by in ["GROUP BY", "ORDER BY"] {
            let expected = format!("SELECT * FROM `t` {by} {expected}");
            let normalized = text(&format!("select * from t {by} {behind}"));
            assert_eq!(normalized, expected);
            assert_eq!(text(&normalized), normalized, "normalised twice");
        }
    }
    for (sql, expected) in [
        (
            "SELECT a FROM t GROUP BY ROLLUP(1, 2), 3",
            "SELECT `a` FROM `t` GROUP BY ROLLUP ( 1 , 2 ) , 3",
        ),
        (
            "SELECT a FROM t WHERE b = 1 GROUP BY 2 HAVING a > 3 ORDER BY 4 DESC, 5 LIMIT 6, 7",
            "SELECT `a` FROM `t` WHERE `b` = ? GROUP BY 2 HAVING `a` > ? ORDER BY 4 DESC , 5 LIMIT ?, ...",
        ),
        (
            "SELECT a, (SELECT b FROM u ORDER BY 1), 2 FROM t",
            "SELECT `a` , ( SELECT `b` FROM `u` ORDER BY 1 ) , ? FROM `t`",
        ),
        (
            "SELECT a FROM t ORDER BY 1 FOR UPDATE; SELECT 1, 2",
            "SELECT `a` FROM `t` ORDER BY 1 FOR UPDATE ; SELECT ?, ...",
        ),
    ] {
        assert_eq!(text(sql), expected);
    }
}

#[test]
fn no_text_panics() {
    for sql in [
        "ORDER BY",
        "ORDER BY ))) , 1",
        "GROUP BY ROLLUP(",
        "ORDER BY (1",
        "GROUP 1 BY",
    ] {
        let _ = text(sql);
    }
}
