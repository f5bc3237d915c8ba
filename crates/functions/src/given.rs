//! What SQLite is given for a call.

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Result, ToSql};

use crate::call::{Call, STEP};
use crate::record::Scalar;

/// What SQLite is given.
pub(crate) enum Given {
    Value(Value),
    /// An argument, which SQLite has already.
    Argument(usize),
}

impl ToSql for Given {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        match self {
            Self::Value(value) => value.to_sql(),
            Self::Argument(i) => Ok(ToSqlOutput::Arg(*i)),
        }
    }
}

impl Call<'_> {
    /// What a body has computed, for SQLite. What is long is copied: so the statement may end here.
    pub(crate) fn given(&self, body: Scalar) -> Result<Given> {
        let value = body(self)?;
        if let Some(i) = self.chosen.get() {
            return Ok(Given::Argument(i));
        }
        let bytes = match &value {
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
            _ => 0,
        };
        if bytes > STEP {
            self.go_on()?;
        }
        Ok(Given::Value(value))
    }
}
