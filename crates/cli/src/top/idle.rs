//! Why a page is empty: because nothing happens, or because nothing is counted.

use super::sheet::Sheet;
use crate::observe::{ObservedServer, QueryError, integer, sql_literal, text};

const CONSUMERS: &str =
    "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'NO' AND NAME IN ";
const INSTRUMENTS: &str = "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE ENABLED = 'YES' AND NAME LIKE ";

/// What is off that this page needs, and the statement that switches it on. `None` when all is on, or
/// when this account may not know.
pub fn off(observed: &mut ObservedServer, sheet: &Sheet) -> Result<Option<String>, QueryError> {
    match asked(observed, sheet) {
        Err(QueryError::Refused(_)) => Ok(None),
        other => other,
    }
}

fn asked(observed: &mut ObservedServer, sheet: &Sheet) -> Result<Option<String>, QueryError> {
    if sheet.instruments.is_empty() {
        return Ok(None);
    }
    let mut names = vec![sql_literal("global_instrumentation")];
    if !sheet.consumer.is_empty() {
        names.push(sql_literal(sheet.consumer));
    }
    let rows = observed.rows(&format!("{CONSUMERS}({})", names.join(", ")))?;
    if let Some(name) = rows.first().and_then(|row| text(row.first()?)) {
        return Ok(Some(format!(
            "nothing is counted: the consumer {name} is off: UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = '{name}'"
        )));
    }
    let pattern = sheet.instruments;
    let rows = observed.rows(&format!("{INSTRUMENTS}{}", sql_literal(pattern)))?;
    let on = rows.first().and_then(|row| integer(row.first()?));
    Ok((on == Some(0)).then(|| {
        format!(
            "nothing is counted: all instruments {pattern} are off: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', \
             TIMED = 'YES' WHERE NAME LIKE '{pattern}'"
        )
    }))
}

/// What is asked here, for whoever leaves out our own statements.
pub fn questions() -> [String; 2] {
    [CONSUMERS.to_owned(), INSTRUMENTS.to_owned()]
}
