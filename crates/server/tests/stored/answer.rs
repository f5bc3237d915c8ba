//! A server's answer, and which parts of it must be equal.

use mysql::prelude::Queryable;
use mysql::{Conn, Value};

use super::generate::Form;

/// The answer to a statement.
#[derive(Debug, Default)]
pub struct Answer {
    /// The error's number; 0 for none.
    pub error: u16,
    pub message: String,
    pub affected: u64,
    /// Each column's type code and number of decimals.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The errors of values that do not fit their columns.
const REFUSED: &[u16] = &[1048, 1062, 1264, 1265, 1292, 1365, 1366, 1406, 1690];

fn text(value: Value) -> String {
    match value {
        Value::NULL => "NULL".into(),
        Value::Bytes(b) => match String::from_utf8(b) {
            // The sign of a zero is ignored: see left_out.rs.
            Ok(text) => match text.strip_prefix('-') {
                Some(zero) if zero.starts_with('0') && zero.trim_matches(['0', '.']).is_empty() => {
                    format!("'{zero}'")
                }
                _ => format!("'{text}'"),
            },
            Err(e) => format!("{:02x?}", e.into_bytes()),
        },
        other => other.as_sql(true),
    }
}

/// Runs a statement on a server.
pub fn query(conn: &mut Conn, sql: &str) -> Answer {
    let mut answer = Answer::default();
    let failed = match conn.query_iter(sql) {
        Err(e) => Some(e),
        Ok(mut result) => {
            answer.affected = result.affected_rows();
            answer.columns = result
                .columns()
                .as_ref()
                .iter()
                .map(|c| format!("{:?}.{}", c.column_type(), c.decimals()))
                .collect();
            let mut failed = None;
            for row in result.by_ref() {
                match row {
                    Ok(row) => answer
                        .rows
                        .push(row.unwrap().into_iter().map(text).collect()),
                    Err(e) => {
                        failed = Some(e);
                        break;
                    }
                }
            }
            failed
        }
    };
    match failed {
        Some(mysql::Error::MySqlError(e)) => {
            answer.rows.clear();
            answer.error = e.code;
            answer.message = e.message;
        }
        Some(other) => panic!("{sql}: {other}"),
        None => {}
    }
    answer
}

impl Answer {
    /// How another server's answer differs from this one, which is MySQL's.
    pub fn difference(&self, other: &Self, form: Form) -> Option<String> {
        // Servers may report different values of a row that has several wrong ones.
        let refused = |e: u16| REFUSED.contains(&e);
        if form == Form::Change && refused(self.error) && refused(other.error) {
            return None;
        }
        if self.error != other.error {
            return Some(format!(
                "MySQL: {} {}; Tare: {} {}{}",
                self.error,
                self.message,
                other.error,
                other.message,
                if self.error == 0 {
                    format!(" (MySQL's rows: {:?})", first_rows(&self.rows))
                } else if other.error == 0 {
                    format!(" (Tare's rows: {:?})", first_rows(&other.rows))
                } else {
                    String::new()
                }
            ));
        }
        if self.error != 0 {
            return None;
        }
        if form == Form::Change {
            return (self.affected != other.affected)
                .then(|| format!("affected: MySQL {}, Tare {}", self.affected, other.affected));
        }
        let (mut mine, mut theirs) = (self.rows.clone(), other.rows.clone());
        if form == Form::Unordered {
            mine.sort();
            theirs.sort();
        }
        if mine != theirs {
            let (mut only_mine, mut only_theirs) = (mine.clone(), theirs.clone());
            only_mine.retain(|r| !theirs.contains(r));
            only_theirs.retain(|r| !mine.contains(r));
            if only_mine.is_empty() && only_theirs.is_empty() {
                (only_mine, only_theirs) = (mine, theirs);
            }
            return Some(format!(
                "MySQL: {:?}\n  Tare:  {:?}",
                first_rows(&only_mine),
                first_rows(&only_theirs)
            ));
        }
        None
    }
}

fn first_rows(rows: &[Vec<String>]) -> &[Vec<String>] {
    &rows[..rows.len().min(6)]
}
