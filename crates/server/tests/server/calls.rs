//! Every function at its limit: tables of long texts, and calls with them.

use mysql::prelude::Queryable;

use super::support::{Running, exec};

/// The slowest texts for some function: beginning, repeated part and end.
pub const TEXTS: [(&str, [&[u8]; 3]); 8] = [
    ("letters", [b"", b"a", b""]),
    ("two bytes", [b"", "é".as_bytes(), b""]),
    ("digits", [b"", b"1", b""]),
    ("members", [b"", b"a,", b""]),
    ("array", [b"[", b"1,", b"1]"]),
    ("object", [b"{\"a\":1", b",\"a\":1", b"}"]),
    ("controls", [b"", b"\x7f", b""]),
    ("spaces", [b"", b" ", b"1"]),
];

/// The other arguments, all equal.
const OTHERS: [&str; 4] = ["'a'", "1", "'$'", "t"];

/// Calls of functions whose arguments have different types, or a grammar of their own.
const OWN: [&str; 30] = [
    "ADDDATE(t, INTERVAL 1 DAY)",
    "CAST(t AS DECIMAL(65,30))",
    "CONVERT(t USING latin1)",
    "CONVERT_TZ(t, '+00:00', '+01:00')",
    "CHAR(65, a.n, b.n USING utf8mb4)",
    "DATE_ADD(t, INTERVAL a.n DAY)",
    "DATE_SUB(t, INTERVAL a.n DAY)",
    "EXTRACT(YEAR FROM t)",
    "GET_FORMAT(DATE, 'USA')",
    "JSON_CONTAINS_PATH(t, 'one', '$**.b')",
    "JSON_EXTRACT(t, '$**[*]')",
    "JSON_INSERT(t, '$[0]', 1)",
    "JSON_REPLACE(t, '$[0]', 1)",
    "JSON_SET(t, '$[0]', 1)",
    "JSON_STORAGE_SIZE(t)",
    "LOCATE(CONCAT(t, 'b'), CONCAT(t, t))",
    "MAKE_SET(7, t, t, t)",
    "MAKETIME(a.n, 1, 1)",
    "REGEXP_REPLACE(t, 'a', 'b')",
    "REPLACE(t, 'a', 'bb')",
    "SHA2(t, 512)",
    "SUBDATE(t, INTERVAL 1 DAY)",
    "SUBSTRING_INDEX(t, ',', 100000000)",
    "SUBSTRING_INDEX(t, ',', -100000000)",
    "TIMESTAMPADD(DAY, a.n, t)",
    "TIMESTAMPDIFF(DAY, t, '2020-01-01')",
    "TRIM(LEADING 'a' FROM t)",
    "TRIM(TRAILING 'a' FROM t)",
    "t LIKE '%a%b'",
    "t REGEXP 'b'",
];

/// Functions that refuse every call, or are not allowed in such a query.
const NEVER: [&str; 6] = [
    "default",
    "grouping",
    "load_file",
    "master_pos_wait",
    "name_const",
    "values",
];

pub fn is_long() -> bool {
    std::env::var_os("TARE_TEST_LONG").is_some()
}

/// Creates a table `n` of a thousand numbers and a table `big` of long texts in database `test`.
pub fn fill(running: &Running, bytes: usize) {
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE n (n INT PRIMARY KEY)");
    let numbers: Vec<String> = (1..=1000).map(|n| format!("({n})")).collect();
    exec(
        &mut conn,
        &format!("INSERT INTO n VALUES {}", numbers.join(",")),
    );
    exec(
        &mut conn,
        "CREATE TABLE big (kind VARCHAR(20) PRIMARY KEY, t LONGTEXT)",
    );
    for (kind, [begin, part, end]) in TEXTS {
        let text = [begin, &part.repeat(bytes / part.len()), end].concat();
        conn.exec_drop("INSERT INTO big VALUES (?, ?)", (kind, text))
            .expect("inserted");
    }
}

/// The functions that can be called, and their calls.
pub fn functions() -> Vec<(&'static str, Vec<String>)> {
    let only = std::env::var("TARE_TEST_FUNCTION").ok();
    let all = tare_functions::FAMILIES.iter().copied().flatten();
    all.map(|function| &function.signature)
        .filter(|f| {
            !NEVER.contains(&f.name)
                && only
                    .as_deref()
                    .is_none_or(|only| only.split(',').any(|name| name == f.name))
        })
        .map(|f| (f.name, calls(f.name, f.fewest, f.most)))
        .collect()
}

/// A function's calls: one argument is a long text, and the others are equal.
fn calls(name: &str, fewest: u8, most: u8) -> Vec<String> {
    let own = OWN.iter().filter(|call| {
        let called = call.split('(').next();
        called.is_some_and(|called| called.eq_ignore_ascii_case(name))
    });
    let mut calls: Vec<String> = own.map(|call| (*call).to_owned()).collect();
    let fewest = usize::from(fewest);
    let count = usize::from(most).min(fewest.max(1) + 2);
    for count in [fewest, count] {
        for at in 0..count.max(1) {
            for other in OTHERS {
                let arguments: Vec<&str> = (0..count)
                    .map(|i| if i == at { "t" } else { other })
                    .collect();
                calls.push(format!("{name}({})", arguments.join(", ")));
            }
        }
    }
    // Arguments that are numbers or dates are not long.
    for all in ["a.n", "1", "'2020-01-01'", "'a'"] {
        calls.push(format!("{name}({})", vec![all; fewest.max(1)].join(", ")));
    }
    let mut distinct = std::collections::HashSet::new();
    calls.retain(|call| distinct.insert(call.clone()));
    calls
}
