//! Statements of PostgreSQL under `tare run`, as they are read from the protocol.
//!
//! | file | contents |
//! |---|---|
//! | client | a client of the protocol itself |
//! | totals | comparison with PostgreSQL's own counts, with TLS and without |
//! | extended | the extended protocol, COPY and errors |
//! | texts | texts, users, databases and transactions |
//! | hostile | bytes that are no messages |

pub mod client;
mod extended;
mod hostile;
mod texts;
mod totals;

use std::collections::BTreeMap;

use crate::postgres::Postgres;

/// Statements by the last part of their instruments' names, with the sums of errors, rows sent and affected.
type Counts = BTreeMap<String, Numbers>;
type Numbers = (u64, u64, u64, u64);

fn counts(server: &Postgres) -> Counts {
    let rows = server.rows(
        "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS name, COUNT_STAR AS n, SUM_ERRORS AS errors, \
         SUM_ROWS_SENT AS sent, SUM_ROWS_AFFECTED AS affected \
         FROM performance_schema.events_statements_summary_global_by_event_name WHERE COUNT_STAR > 0",
    );
    let count = |row: &serde_json::Value| {
        let number = |name: &str| row[name].as_u64().expect("a number");
        let name = row["name"].as_str().expect("a name").to_owned();
        let numbers = (
            number("n"),
            number("errors"),
            number("sent"),
            number("affected"),
        );
        (name, numbers)
    };
    rows.iter().map(count).collect()
}

/// What was counted between two times.
fn difference(before: &Counts, after: &Counts) -> Counts {
    let rows = after.iter().map(|(name, after)| {
        let before = before.get(name).copied().unwrap_or_default();
        let rest = (
            after.0 - before.0,
            after.1 - before.1,
            after.2 - before.2,
            after.3 - before.3,
        );
        (name.clone(), rest)
    });
    rows.filter(|(_, counts)| counts.0 != 0).collect()
}

fn expect(rows: &[(&str, Numbers)]) -> Counts {
    rows.iter()
        .map(|&(name, counts)| (name.to_owned(), counts))
        .collect()
}
