//! The open transaction of each session: its age and its state.

use std::collections::HashMap;

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Row};
use crate::observe::innodb::{Ids, InnodbReader};
use crate::observe::{ObservedServer, Product, QueryError, integer, text};

/// Whether Performance Schema records transactions: then there are three rows.
const RECORDED: &str = "SELECT c.NAME FROM performance_schema.setup_consumers AS c \
     JOIN performance_schema.setup_instruments AS i ON i.NAME = 'transaction' AND i.ENABLED = 'YES' \
     WHERE c.ENABLED = 'YES' AND c.NAME IN ('global_instrumentation', 'thread_instrumentation', 'events_transactions_current')";

/// The open transactions that Performance Schema has.
const EVENTS: &str = "SELECT THREAD_ID, TIMER_WAIT DIV 1000000000000, STATE \
     FROM performance_schema.events_transactions_current WHERE STATE = 'ACTIVE'";

/// The queries of this module.
pub fn queries() -> [&'static str; 2] {
    [RECORDED, EVENTS]
}

/// Age in seconds and state, by the text of a thread's or connection's id.
struct Transactions {
    ids: Ids,
    by_session: HashMap<String, (f64, String)>,
}

/// What is known of a page's transactions.
pub struct Knowledge {
    /// Whether each session without a transaction has none.
    pub is_complete: bool,
    /// Why they are unknown, if the server refused to answer.
    pub note: Option<String>,
}

/// Fills in the sessions' transactions.
pub fn fill(
    observed: &mut ObservedServer,
    innodb: Option<&mut InnodbReader>,
    sheet: &Sheet,
    rows: &mut [Row],
    is_active: bool,
) -> Result<Knowledge, QueryError> {
    let (Some(age), Some(state), Some(thread), Some(connection)) = (
        sheet.find(|kind| kind == Measure::TransactionAge),
        sheet.find(|kind| kind == Measure::TransactionState),
        sheet.find(|kind| kind == Measure::KeyNumber),
        sheet.column("CONN"),
    ) else {
        return Ok(UNKNOWN);
    };
    let transactions = match read(observed, innodb, is_active)? {
        Ok(Some(transactions)) => transactions,
        Ok(None) => return Ok(UNKNOWN),
        Err(why) => {
            let note = Some(format!("open transactions are unknown: {why}"));
            return Ok(Knowledge { note, ..UNKNOWN });
        }
    };
    let session = match transactions.ids {
        Ids::Threads => thread,
        Ids::Connections => connection,
    };
    for row in rows {
        let id = row.figures[session].text(Measure::Gauge);
        if let Some((seconds, what)) = transactions.by_session.get(&id) {
            row.figures[age] = Figure::Number(*seconds);
            row.figures[state] = Figure::Text(what.clone());
        }
    }
    Ok(Knowledge {
        is_complete: true,
        note: None,
    })
}

const UNKNOWN: Knowledge = Knowledge {
    is_complete: false,
    note: None,
};

/// The transactions of Tare's engine where it records them, else those of InnoDB, else those of the server's
/// Performance Schema. `None` if nobody records them; the inner error is the server's refusal.
fn read(
    observed: &mut ObservedServer,
    innodb: Option<&mut InnodbReader>,
    is_active: bool,
) -> Result<Result<Option<Transactions>, String>, QueryError> {
    let is_recorded = match observed.rows(RECORDED) {
        Ok(recorded) => recorded.len() == 3 && !is_active,
        Err(QueryError::Refused(_)) => false,
        Err(lost) => return Err(lost),
    };
    let mut refusal = None;
    if observed.about.product != Product::Tare || !is_recorded {
        match innodb.map(|innodb| (innodb.ids(), innodb.read_transactions().map(<[_]>::to_vec))) {
            Some((ids, Ok(open))) => {
                let entries = open
                    .into_iter()
                    .map(|open| (open.session.to_string(), (open.age_s as f64, open.state)));
                let by_session = entries.collect();
                return Ok(Ok(Some(Transactions { ids, by_session })));
            }
            Some((_, Err(why))) => refusal = Some(why),
            None => {}
        }
    }
    if !is_recorded {
        return Ok(refusal.map_or(Ok(None), Err));
    }
    let rows = match observed.rows(EVENTS) {
        Ok(rows) => rows,
        Err(QueryError::Refused(why)) => return Ok(Err(why)),
        Err(lost) => return Err(lost),
    };
    let entries = rows.iter().filter_map(|row| {
        let age = row.get(1).and_then(integer).unwrap_or(0) as f64;
        let state = row.get(2).and_then(text).unwrap_or_default();
        Some((text(row.first()?)?, (age, state)))
    });
    Ok(Ok(Some(Transactions {
        ids: Ids::Threads,
        by_session: entries.collect(),
    })))
}
