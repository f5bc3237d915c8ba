//! Calls of every function at its limit: one argument is as long as a text can be, in several ways, and
//! the others are small.

use rusqlite::types::Value;

use super::Called;

/// Texts of a size, of which each kind takes some function longest.
pub(super) fn texts(bytes: usize) -> Vec<(&'static str, Value)> {
    let many = |part: &str| part.repeat(bytes / part.len());
    let list = |part: &str| many(part).trim_end_matches(',').to_owned();
    // A member is `"k00000001":0,`.
    let members: Vec<String> = (0..bytes / 14).map(|i| format!("\"k{i:08}\":0")).collect();
    let text = Value::Text;
    vec![
        ("letters", text(many("a"))),
        ("two bytes", text(many("é"))),
        ("digits", text(many("1"))),
        ("string", text(format!("\"{}\"", many("a")))),
        ("members", text(many("a,"))),
        ("array", text(format!("[{}]", list("1,")))),
        ("object", text(format!("{{{}}}", members.join(",")))),
        ("path", text(format!("${}", many("[0]")))),
        ("bytes", Value::Blob(vec![0xff; bytes])),
    ]
}

/// What the other arguments are, all alike; `?1` is the long one.
const OTHERS: [&str; 5] = ["1", "'a'", "'[1]'", "10000", "?1"];

/// Calls whose arguments are of several kinds.
const OWN: [&str; 29] = [
    "tare_like(?1, '%a%b', '|')",
    "tare_like_exactly(?1, '%a%b', '|')",
    "tare_like(?1, ?1, '|')",
    "tare_json_contains_path(?1, 'one', '$**.b')",
    "tare_json_extract(?1, '$**[*]')",
    "tare_json_contains(?1, '[2]')",
    "tare_json_set(?1, '$[0]', 'a')",
    "tare_insert(?1, 1000, 10, 'a')",
    "tare_substr(?1, 1000, 100000000)",
    "substring_index(?1, ',', 100000000)",
    "substring_index(?1, ',', -100000000)",
    "tare_convert(?1, 'latin1')",
    "tare_convert(?1, 'ascii')",
    "tare_convert(?1, 'utf8')",
    "sha2(?1, 512)",
    "tare_decimal(?1, 10, 2, 0)",
    "tare_to_int(?1, 'c', 0, 32, 0)",
    "tare_to_decimal(?1, 'c', 0, 10, 2, 0)",
    "tare_to_double(?1, 'c', 0, 0, 1, 10, 3)",
    "tare_to_char(?1, 'c', 0, 10)",
    "tare_to_binary(?1, 'c', 0, 10)",
    "tare_to_date(?1, 'c', 0)",
    "tare_to_datetime(?1, 'c', 0, 6, 0)",
    "tare_to_time(?1, 'c', 0, 6)",
    "tare_to_year(?1, 'c', 0)",
    "tare_to_enum(?1, 'c', 0, 'a', 'b')",
    "tare_to_set(?1, 'c', 0, 'a', 'b')",
    "tare_members(?1, 'a', 'b')",
    "regexp_replace(?1, 'a', 'b')",
];

/// A function's calls.
pub(super) fn of(function: &Called) -> Vec<String> {
    let own = OWN
        .iter()
        .filter(|c| c.split('(').next() == Some(function.name));
    let own = own.map(|c| (*c).to_owned());
    // What a column's type says of itself is the dialect's to write.
    if function.name.starts_with("tare_to_") || function.name == "tare_decimal" {
        return own.collect();
    }
    let (fewest, most) = function.arguments;
    let most = most.min(fewest.max(1) + 2);
    let mut calls = Vec::new();
    for count in [most] {
        for at in 0..count {
            for other in OTHERS {
                let arguments: Vec<&str> = (0..count)
                    .map(|i| if i == at { "?1" } else { other })
                    .collect();
                calls.push(format!("{}({})", function.name, arguments.join(", ")));
            }
        }
    }
    calls.sort();
    calls.dedup();
    let own = OWN
        .iter()
        .filter(|c| c.split('(').next() == Some(function.name));
    calls.extend(own.map(|c| (*c).to_owned()));
    calls.retain(|_| most > 0);
    calls
}
