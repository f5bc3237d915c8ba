//! Whether a page is empty because its instruments or consumers are off.

use super::sheet::Sheet;
use crate::observe::{ObservedServer, QueryError, integer, sql_literal, text};

const CONSUMERS: &str =
    "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'NO' AND NAME IN ";
const INSTRUMENTS: &str = "SELECT COUNT(*), SUM(ENABLED = 'YES') FROM performance_schema.setup_instruments WHERE NAME LIKE ";

/// What is off that this page needs, and the statement that switches it on, or that the server has no such
/// instruments. `None` if all is on, or if this account lacks the privilege to query it. At the level
/// `active` only one consumer makes a difference.
pub fn find_disabled(
    observed: &mut ObservedServer,
    sheet: &Sheet,
    is_active: bool,
) -> Result<Option<String>, QueryError> {
    match query_disabled(observed, sheet, is_active) {
        Err(QueryError::Refused(_)) => Ok(None),
        other => other,
    }
}

fn query_disabled(
    observed: &mut ObservedServer,
    sheet: &Sheet,
    is_active: bool,
) -> Result<Option<String>, QueryError> {
    if sheet.instruments.is_empty() {
        return Ok(None);
    }
    let mut names = vec![sql_literal("global_instrumentation")];
    if !sheet.consumer.is_empty() && !is_active {
        names.push(sql_literal(sheet.consumer));
    }
    let rows = observed.rows(&format!("{CONSUMERS}({})", names.join(", ")))?;
    if let Some(name) = rows.first().and_then(|row| text(row.first()?)) {
        return Ok(Some(format!(
            "nothing is counted: the consumer {name} is off: UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = '{name}'"
        )));
    }
    if is_active {
        return Ok(None);
    }
    let pattern = sheet.instruments;
    let rows = observed.rows(&format!("{INSTRUMENTS}{}", sql_literal(pattern)))?;
    let count = |column: usize| rows.first().and_then(|row| integer(row.get(column)?));
    Ok(match (count(0), count(1)) {
        (Some(0), _) => Some(format!("this server has no instruments {pattern}")),
        (_, Some(0)) => Some(format!(
            "nothing is counted: all instruments {pattern} are off: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', \
             TIMED = 'YES' WHERE NAME LIKE '{pattern}'"
        )),
        _ => None,
    })
}

/// The beginnings of this module's queries.
pub fn queries() -> [String; 2] {
    [CONSUMERS.to_owned(), INSTRUMENTS.to_owned()]
}
