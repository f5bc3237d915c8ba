//! A segment to ask, evaluated in this process: no server and no socket.

use std::path::Path;
use std::sync::Arc;

use tare_mysql::wire::bytes::Cursor;
use tare_mysql::wire::column::WireType;
use tare_mysql::wire::value::{Value, put_text};
use tare_query::result::{Rows as Answered, borrowed};
use tare_query::segment::Outcome;
use tare_reader::{AttachError, Segment, Target};

use super::cell::{Kind, of_text};
use super::{Answer, SqlError};
use crate::exit::{FAILED, Failure, NO_SEGMENT};
use crate::output::{Cell, Rows};

/// A session on a segment.
pub struct Local(tare_sys::segment::SegmentSession);

impl Local {
    /// Attaches to the segment that is meant.
    pub fn open(target: Target) -> Result<Self, Failure> {
        let segment = attach(target)?;
        Self::of(Arc::new(segment))
    }

    /// Over a segment that is attached to already.
    pub fn of(segment: Arc<Segment>) -> Result<Self, Failure> {
        let session = tare_sys::segment::SegmentSession::open(segment);
        session
            .map(Self)
            .map_err(|error| Failure::new(FAILED, format!("cannot evaluate SQL: {error}")))
    }

    /// Runs one statement, and hands each of its results over.
    pub fn run(&mut self, statement: &str, take: &mut dyn FnMut(Answer)) -> Result<(), SqlError> {
        let done = self.0.query(statement, &mut |outcome| {
            take(match outcome {
                Outcome::Rows(rows) => Answer::Rows(shown(&rows)),
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

/// A result as a client of a server would get it.
pub(super) fn shown(made: &Answered) -> Rows {
    let types: Vec<WireType> = (0..made.names.len()).map(|i| made.type_of(i)).collect();
    let cells = |row: &Vec<_>| {
        let values = row.iter().map(borrowed).zip(&types);
        values.map(|(value, wire)| cell(value, wire)).collect()
    };
    Rows {
        columns: made.names.clone(),
        rows: made.rows.iter().map(cells).collect(),
    }
}

fn cell(value: Value<'_>, wire: &WireType) -> Cell {
    let kind = Kind::of(wire.code as u8);
    match value {
        Value::Null => return Cell::Null,
        Value::Int(n) if kind == Kind::Whole && (n >= 0 || wire.is_unsigned()) => {
            return Cell::Unsigned(n as u64);
        }
        _ => {}
    }
    let mut text = Vec::new();
    put_text(&mut text, value, wire);
    let text = Cursor::new(&text).lenenc_str().unwrap_or_default();
    of_text(String::from_utf8_lossy(text).into_owned(), kind)
}

/// Attaches, and says how to choose when there is a choice.
pub fn attach(target: Target) -> Result<Segment, Failure> {
    Segment::attach(target).map_err(|error| {
        let advice = match error {
            AttachError::Several { .. } => "\n`tare ps` says which is which",
            _ => "",
        };
        Failure::new(NO_SEGMENT, format!("{error}{advice}"))
    })
}

/// The segment that `--pid` or `--segment` means; without them the only one.
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
