//! The file of MySQL's answers: one line for each row of the grid, with its key and its cells behind tabs. A cell
//! that is the same in the row that a row resembles is `\=`. A cell that repeats the one before it is left out, and
//! `\+N` says how many are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A cell that is not compared: MySQL's answer depends on the time at which it is asked.
pub const DEPENDS_ON_TIME: &str = "\\?";

/// Bytes as printable text.
pub fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '~' => out.push_str("\\~"),
                '!' => out.push_str("\\!"),
                c if c.is_control() || c == '\u{fffd}' => {
                    let _ = write!(out, "\\u{:02x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// A cell that is the one of the row that this row resembles.
const SAME: &str = "\\=";

/// The row whose cells are mostly a row's.
fn resembles(key: &str) -> Option<String> {
    match key.split_once(' ')? {
        ("variable", rest) => Some(format!("literal {rest}")),
        ("lax", rest) => Some(format!("strict {rest}")),
        _ => None,
    }
}

pub fn write(path: &Path, answers: &BTreeMap<String, Vec<String>>) {
    let mut text = String::new();
    for (key, cells) in answers {
        text.push_str(key);
        let mut cells = cells.clone();
        if let Some(other) = resembles(key).and_then(|other| answers.get(&other)) {
            for (cell, other) in cells.iter_mut().zip(other) {
                if cell == other {
                    *cell = SAME.to_owned();
                }
            }
        }
        for same in cells.chunk_by(|a, b| a == b) {
            let _ = write!(text, "\t{}", same[0]);
            if same.len() > 1 {
                let _ = write!(text, "\t\\+{}", same.len() - 1);
            }
        }
        text.push('\n');
    }
    std::fs::write(path, text).expect("the answers are written");
}

pub fn read(path: &Path) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(path).expect("MySQL's answers");
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.split('\t');
        let key = fields.next().expect("a key").to_owned();
        let mut cells: Vec<String> = Vec::new();
        for field in fields {
            match field.strip_prefix("\\+") {
                None => cells.push(field.to_owned()),
                Some(n) => {
                    let last = cells.last().expect("a cell").clone();
                    let n: usize = n.parse().expect("a number");
                    cells.extend(std::iter::repeat_n(last, n));
                }
            }
        }
        answers.insert(key, cells);
    }
    let keys: Vec<String> = answers.keys().cloned().collect();
    for key in keys {
        let Some(other) = resembles(&key)
            .and_then(|other| answers.get(&other))
            .cloned()
        else {
            continue;
        };
        let cells = answers.get_mut(&key).into_iter().flatten();
        for (cell, other) in cells.zip(other) {
            if cell == SAME {
                *cell = other;
            }
        }
    }
    answers
}
