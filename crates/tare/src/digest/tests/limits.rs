//! Long texts, limits, and random bytes.

use proptest::prelude::*;

use super::super::*;
use super::text;

#[test]
fn stops_at_the_limit() {
    let sql = "SELECT a FROM t WHERE b = 1";
    let full = text(sql);
    let mut out = Vec::with_capacity(full.len());
    let capacity = out.capacity();
    for limit in 0..=full.len() + 1 {
        let extent = normalize(sql.as_bytes(), limit, &mut out);
        let normalized = std::str::from_utf8(&out).unwrap();
        assert_eq!(extent == Extent::Complete, limit >= full.len(), "{limit}");
        assert!(
            full.starts_with(normalized) && normalized.len() <= limit,
            "{limit}: {normalized}"
        );
        let cut = &full[normalized.len()..];
        assert!(
            normalized.is_empty() || cut.is_empty() || cut.starts_with(' '),
            "{limit}: {normalized}"
        );
        assert_eq!(out.capacity(), capacity, "allocated");
    }
}

#[test]
fn any_number_of_rows_takes_the_space_of_one() {
    let mut sql = "INSERT INTO t (a, b) VALUES (1, 'x')".to_owned();
    for row in 0..50_000 {
        sql.push_str(&format!(", ({row}, 'x')"));
    }
    let mut out = Vec::new();
    assert_eq!(
        normalize(sql.as_bytes(), MAX_DIGEST_LENGTH, &mut out),
        Extent::Complete
    );
    assert_eq!(
        out,
        b"INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */"
    );
}

/// Depth must not matter: there is no recursion, and a comment is searched once.
#[test]
fn long_and_deep_texts() {
    for piece in [
        "(",
        "((1),",
        "-",
        "@",
        "/*",
        "/*!",
        "SELECT /*+ ",
        "COUNT /*",
        "`",
        "'",
        ".",
        "x.",
    ] {
        let sql = piece.repeat(100_000 / piece.len());
        let mut out = Vec::new();
        normalize(sql.as_bytes(), 1 << 20, &mut out);
        let mut again = Vec::new();
        normalize(&out, 1 << 21, &mut again);
        assert_eq!(out, again, "{piece}");
    }
}

/// `make test-long` sets TARE_TEST_LONG.
fn cases() -> u32 {
    if std::env::var_os("TARE_TEST_LONG").is_some() {
        1_000_000
    } else {
        1_000
    }
}

/// Pieces for any order, which retain their meaning when joined by blanks.
fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "SELECT",
        "select",
        "FROM",
        "in",
        "IN",
        "NOT",
        "NULL",
        "null",
        "DEFAULT",
        "THEN",
        "VALUES",
        "count",
        "NOW",
        "current_date",
        "user",
        "@",
        "@@",
        "(",
        ")",
        "(",
        ")",
        ",",
        ",",
        ".",
        ";",
        "-",
        "+",
        "-",
        "*",
        "/",
        "=",
        "<>",
        "!",
        ">=",
        "->",
        ":=",
        "?",
        "...",
        "1",
        "-1",
        "'x'",
        "\"y\"",
        "0x4f",
        "1e5",
        ".5",
        "5a",
        "`q`",
        "`q``r`",
        "``",
        "_utf8'z'",
        "_utf8",
        "(_charset)",
        "n'x'",
        "t.a",
        "t.5",
        "a.b.c",
        "\\N",
        "{",
        "}",
        "[",
        "~",
        "|",
        "||",
        "&",
        "%",
        "^",
        ":",
        "é",
        "(?)",
        "(...)",
        "?, ...",
        "IN (...)",
    ];
    prop_oneof![
        8 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => "[a-zA-Z_$][a-zA-Z0-9_$]{0,6}",
        1 => "'[^'\\\\]{0,4}'",
    ]
}

/// Blanks that may be between two tokens without changing them.
fn blank() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(" ".to_owned()),
        "[ \t\n\r]{1,4}",
        "/\\*[^*]{0,6}\\*/"
            .prop_map(|comment| format!(" {comment} "))
            .prop_filter(
                "digests write it, optimizers read it, MySQL runs it",
                |comment| {
                    !comment.contains(", ...")
                        && !comment.contains("/*!")
                        && !comment.contains("/*+")
                }
            ),
        "[^\n]{0,6}".prop_map(|comment| format!(" -- {comment}\n")),
        "[^\n]{0,6}".prop_map(|comment| format!(" #{comment}\n")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_bytes_are_a_statement(sql in prop::collection::vec(any::<u8>(), 0..200), limit in 0..300_usize) {
        let mut out = Vec::new();
        let extent = normalize(&sql, limit, &mut out);
        prop_assert!(out.len() <= limit);
        if extent == Extent::Complete {
            let mut again = Vec::new();
            normalize(&out, 1 << 20, &mut again);
            prop_assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&again));
        }
    }

    #[test]
    fn sql_like_bytes_are_stable(sql in "[-SELECTIN0-9a. @`'\"(),;*/!+#?_\\\\<>=:|&\u{e9}\u{0}\n]{0,60}") {
        let once = text(&sql);
        prop_assert_eq!(text(&once), once);
    }

    #[test]
    fn pieces_are_stable_and_blanks_do_not_matter(
        parts in prop::collection::vec((piece(), blank()), 0..24)
    ) {
        let plain: String = parts.iter().map(|(piece, _)| format!("{piece} ")).collect();
        let blanks: String = parts.iter().map(|(piece, blank)| format!("{piece}{blank}")).collect();
        let once = text(&plain);
        prop_assert_eq!(text(&once), once.clone());
        prop_assert_eq!(text(&blanks), once);
    }

    #[test]
    fn literals_do_not_matter(
        values in prop::collection::vec(prop_oneof![
            "[0-9]{1,9}", "-[0-9]{1,9}", "[0-9]{1,3}\\.[0-9]{0,3}", "[0-9]e[-+]?[0-9]{1,2}",
            "'[^'\\\\]{0,20}'", "'(a''|\\\\.|é){0,5}'", "\"[^\"\\\\]{0,20}\"", "0x[0-9a-f]{1,8}",
            "[xX]'([0-9a-f]{2}){0,4}'", "NULL", "\\?",
        ], 6)
    ) {
        let [a, b, c, d, e, f] = &values[..] else { unreachable!() };
        prop_assert_eq!(
            text(format!("INSERT INTO t (a,b) VALUES ({a}, {b}),({c}, {d})")),
            "INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */"
        );
        prop_assert_eq!(
            text(format!("SELECT x FROM t WHERE a BETWEEN {a} AND {b} OR a IN ({c},{d}) AND f(y,{e}) LIKE {f}")),
            "SELECT `x` FROM `t` WHERE `a` BETWEEN ? AND ? OR `a` IN (...) AND `f` ( `y` , ? ) LIKE ?"
        );
    }

    #[test]
    fn letter_case_of_keywords_does_not_matter(upper in any::<u64>()) {
        let sql = "insert into t select count(*) from u where a is not null group by b with rollup";
        let mixed: String = sql.char_indices().map(|(at, letter)| {
            if upper >> (at % 64) & 1 == 1 && !"tuab".contains(letter) { letter.to_ascii_uppercase() } else { letter }
        }).collect();
        // Only complete names are spared above, so compare the rest in one case.
        prop_assert_eq!(text(mixed).to_ascii_uppercase(), text(sql).to_ascii_uppercase());
    }
}
