//! SQL on a segment, evaluated in this process without a server.

use std::path::Path;
use std::sync::Arc;

use tare_mysql::wire::bytes::Cursor;
use tare_mysql::wire::column::WireType;
use tare_mysql::wire::value::{Value, put_text};
use tare_query::result::{Rows as QueryRows, borrowed};
use tare_query::segment::Outcome;
use tare_reader::{AttachError, Segment, Target};

use super::cell::{Kind, parse};
use super::{Answer, SqlError};
use crate::exit::{FAILED, Failure, NO_SEGMENT};
use crate::output::{Cell, Rows};

/// A session on a segment.
pub struct Local(tare_sys::segment::SegmentSession);

impl Local {
    /// Attaches to a segment.
    pub fn open(target: Target) -> Result<Self, Failure> {
        let segment = attach(target)?;
        Self::new(Arc::new(segment))
    }

    /// A session on an attached segment.
    pub fn new(segment: Arc<Segment>) -> Result<Self, Failure> {
        let session = tare_sys::segment::SegmentSession::open(segment, tare::digest::hash_and_text);
        session
            .map(Self)
            .map_err(|error| Failure::new(FAILED, format!("cannot evaluate SQL: {error}")))
    }

    /// Runs one statement, and calls `take` with each of its results.
    pub fn run(&mut self, statement: &str, take: &mut dyn FnMut(Answer)) -> Result<(), SqlError> {
        let done = self.0.query(statement, &mut |outcome| {
            take(match outcome {
                Outcome::Rows(rows) => Answer::Rows(rows_for_client(&rows)),
                Outcome::Changed(rows) => Answer::Changed(rows),
            });
        });
        Ok(done?)
    }
}

impl From<tare_mysql::SqlError> for SqlError {
    fn from(error: tare_mysql::SqlError) -> Self {
        Self {
            errno: error.code,
            sqlstate: error.state.to_owned(),
            message: error.message,
        }
    }
}

/// A result as a client of a server gets it.
pub(super) fn rows_for_client(result: &QueryRows) -> Rows {
    let types: Vec<WireType> = (0..result.names.len()).map(|i| result.type_of(i)).collect();
    let cells = |row: &Vec<_>| {
        let values = row.iter().map(borrowed).zip(&types);
        values.map(|(value, wire)| cell(value, wire)).collect()
    };
    Rows {
        columns: result.names.clone(),
        rows: result.rows.iter().map(cells).collect(),
    }
}

fn cell(value: Value<'_>, wire: &WireType) -> Cell {
    let kind = Kind::from_code(wire.code as u8);
    match value {
        Value::Null => return Cell::Null,
        Value::Int(n) if kind == Kind::Integer && (n >= 0 || wire.is_unsigned()) => {
            return Cell::Unsigned(n as u64);
        }
        _ => {}
    }
    let mut text = Vec::new();
    put_text(&mut text, value, wire);
    let text = Cursor::new(&text).lenenc_str().unwrap_or_default();
    parse(String::from_utf8_lossy(text).into_owned(), kind)
}

/// Attaches to a segment. The error says how to choose among several.
pub fn attach(target: Target) -> Result<Segment, Failure> {
    Segment::attach(target).map_err(|error| {
        let advice = match error {
            AttachError::Several { .. } => "\n`tare ps` says which is which",
            AttachError::NoSegment { .. } => {
                "; tare top, record and live observe threads without a segment"
            }
            _ => "",
        };
        Failure::new(NO_SEGMENT, format!("{error}{advice}"))
    })
}

/// The segment of `--pid` or `--segment`; without them the only one.
pub fn target(pid: Option<u32>, segment: Option<&Path>) -> Target {
    match (pid, segment) {
        (_, Some(path)) => Target::Path(path.to_owned()),
        (Some(pid), None) => Target::Pid(pid),
        (None, None) => Target::Only,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_a_server_would_send() {
        let unsigned = WireType::bigint_unsigned();
        assert_eq!(cell(Value::Int(-1), &unsigned), Cell::Unsigned(u64::MAX));
        assert_eq!(cell(Value::Int(-1), &WireType::bigint()), Cell::Signed(-1));
        assert_eq!(cell(Value::Null, &unsigned), Cell::Null);
        assert_eq!(cell(Value::Real(2.5), &WireType::double()), Cell::Real(2.5));
        let decimal = WireType::decimal(10, 4);
        assert_eq!(
            cell(Value::Int(2), &decimal),
            Cell::Decimal("2.0000".into())
        );
        let text = WireType::text(3);
        assert_eq!(cell(Value::Text(b"12"), &text), Cell::Text("12".into()));
    }
}
