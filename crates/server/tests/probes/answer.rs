//! A server's answer to one statement: compared, written and read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use mysql::consts::{ColumnFlags, ColumnType};
use mysql::prelude::Queryable;
use mysql::{Conn, Value};

use super::file::Compare;

/// A server's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Number and SQL state.
    pub error: Option<(u16, String)>,
    /// Names and kinds of types. No columns: an OK packet.
    pub columns: Vec<(String, String)>,
    /// Values as the text protocol writes them; NULL is `\N`.
    pub rows: Vec<Vec<String>>,
    /// Rows that were changed.
    pub affected: u64,
}

/// The binary collation's number, which byte strings have.
const BINARY: u16 = 63;

/// The kinds of types that clients distinguish; widths are not compared.
fn kind(column: &mysql::Column) -> &'static str {
    use ColumnType::*;
    let text = column.character_set() != BINARY;
    match column.column_type() {
        MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_LONG | MYSQL_TYPE_LONGLONG
        | MYSQL_TYPE_INT24 => {
            if column.flags().contains(ColumnFlags::UNSIGNED_FLAG) {
                "unsigned"
            } else {
                "integer"
            }
        }
        MYSQL_TYPE_YEAR => "year",
        MYSQL_TYPE_DECIMAL | MYSQL_TYPE_NEWDECIMAL => "decimal",
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => "double",
        MYSQL_TYPE_DATE | MYSQL_TYPE_NEWDATE => "date",
        MYSQL_TYPE_TIME | MYSQL_TYPE_TIME2 => "time",
        MYSQL_TYPE_DATETIME
        | MYSQL_TYPE_DATETIME2
        | MYSQL_TYPE_TIMESTAMP
        | MYSQL_TYPE_TIMESTAMP2 => "datetime",
        MYSQL_TYPE_JSON => "json",
        MYSQL_TYPE_BIT => "bit",
        MYSQL_TYPE_NULL => "null",
        _ if text => "text",
        _ => "bytes",
    }
}

/// Runs a statement.
pub fn query(conn: &mut Conn, sql: &str) -> Answer {
    let mut answer = Answer::default();
    let outcome = (|| -> mysql::Result<()> {
        let mut result = conn.query_iter(sql)?;
        answer.affected = result.affected_rows();
        answer.columns = result
            .columns()
            .as_ref()
            .iter()
            .map(|c| (c.name_str().into_owned(), kind(c).to_owned()))
            .collect();
        if !answer.columns.is_empty() {
            answer.affected = 0;
        }
        let Some(set) = result.iter() else {
            return Ok(());
        };
        for row in set {
            answer
                .rows
                .push(row?.unwrap().iter().map(display).collect());
        }
        Ok(())
    })();
    match outcome {
        Ok(()) => {}
        Err(mysql::Error::MySqlError(e)) => {
            answer = Answer {
                error: Some((e.code, e.state)),
                ..Answer::default()
            };
        }
        // The connection is lost.
        Err(other) => panic!("{sql}: {other}"),
    }
    answer
}

fn display(value: &Value) -> String {
    match value {
        Value::NULL => "\\N".into(),
        Value::Bytes(bytes) => {
            let mut text = String::new();
            for c in String::from_utf8_lossy(bytes).chars() {
                match c {
                    '\\' => text.push_str("\\\\"),
                    '\n' => text.push_str("\\n"),
                    '\t' => text.push_str("\\t"),
                    '\r' => text.push_str("\\r"),
                    c if c.is_control() => {
                        let _ = write!(text, "\\x{:02x}", u32::from(c));
                    }
                    c => text.push(c),
                }
            }
            text
        }
        other => other.as_sql(true),
    }
}

/// Whether two values agree: doubles except for their last digits, because servers print different
/// numbers of digits.
fn same(kind: &str, a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    match (kind, a.parse::<f64>(), b.parse::<f64>()) {
        ("double", Ok(a), Ok(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
        _ => false,
    }
}

impl Answer {
    fn text(&self) -> String {
        let mut text = String::new();
        if let Some((code, state)) = &self.error {
            let _ = writeln!(text, "  error {code} {state}");
            return text;
        }
        if self.columns.is_empty() {
            let _ = writeln!(text, "  ok {}", self.affected);
            return text;
        }
        for (name, kind) in &self.columns {
            let _ = writeln!(text, "  {kind} {}", name.replace('\n', "\\n"));
        }
        for row in &self.rows {
            let _ = writeln!(text, "  = {}", row.join("\t"));
        }
        text
    }

    /// Describes the first difference, if any.
    pub fn difference(&self, got: &Answer, compare: Compare) -> Option<String> {
        let errno = |a: &Answer| a.error.as_ref().map_or(0, |e| e.0);
        let report = |what: &str| {
            Some(format!(
                "{what}\n expected:\n{} got:\n{}",
                self.text(),
                got.text()
            ))
        };
        if errno(self) != errno(got) {
            return report("another outcome");
        }
        if compare == Compare::Errno {
            return None;
        }
        if self.error != got.error {
            return report("another SQL state");
        }
        if self.columns != got.columns {
            return report("other columns");
        }
        if compare == Compare::Columns {
            return None;
        }
        if self.rows.len() != got.rows.len() {
            return report("another number of rows");
        }
        if compare == Compare::Rows {
            return None;
        }
        if self.affected != got.affected {
            return report("another number of changed rows");
        }
        let same_row = |a: &Vec<String>, b: &Vec<String>| {
            let columns = self.columns.iter();
            columns
                .zip(a.iter().zip(b))
                .all(|((_, kind), (a, b))| same(kind, a, b))
        };
        if !self.rows.iter().zip(&got.rows).all(|(a, b)| same_row(a, b)) {
            return report("other values");
        }
        None
    }
}

/// Writes the answers to a file that `read_answers` reads.
pub fn write_answers(path: &Path, answers: &BTreeMap<String, Answer>) {
    let mut text = String::new();
    for (key, answer) in answers {
        let _ = write!(text, "{key}\n{}", answer.text());
    }
    std::fs::write(path, text).expect("the kept answers can be written");
}

/// Reads what `write_answers` has written.
pub fn read_answers(path: &Path) -> BTreeMap<String, Answer> {
    let text = std::fs::read_to_string(path).expect("the kept answers");
    let mut answers: BTreeMap<String, Answer> = BTreeMap::new();
    let mut key = String::new();
    for line in text.lines() {
        let Some(inside) = line.strip_prefix("  ") else {
            key = line.to_owned();
            answers.insert(key.clone(), Answer::default());
            continue;
        };
        let answer = answers.get_mut(&key).expect("a probe before its answer");
        let (word, rest) = inside.split_once(' ').unwrap_or((inside, ""));
        match word {
            "error" => {
                let (code, state) = rest.split_once(' ').expect("number and state");
                answer.error = Some((code.parse().expect("a number"), state.into()));
            }
            "ok" => answer.affected = rest.parse().expect("a number"),
            "=" => answer
                .rows
                .push(rest.split('\t').map(str::to_owned).collect()),
            kind => answer
                .columns
                .push((rest.replace("\\n", "\n"), kind.into())),
        }
    }
    answers
}
