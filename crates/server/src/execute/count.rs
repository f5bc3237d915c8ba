//! Counts what a statement has done: in SHOW STATUS, in its event and in the metrics.

use tare::Counter as Event;

use crate::metrics;
use crate::session::{Tally, Work};
use crate::status::{Counter, Status};
use tare_dialect::plan::{Action, Change};

/// Adds it to the session's status.
pub fn add_to_status(status: &Status, tally: &Tally) {
    if let Some(rows) = tally.looked_up {
        status.add(Counter::HandlerExternalLock, 2);
        status.add(Counter::HandlerReadKey, 1);
        if rows > 1 {
            status.add(Counter::HandlerReadNext, rows - 1);
        }
        return;
    }
    let Some(work) = &tally.work else {
        if tally.sorts > 0 {
            status.add(Counter::SortRows, tally.sent);
        }
        return;
    };
    for (counter, n) in [
        (Counter::HandlerExternalLock, work.external_locks),
        (Counter::CreatedTmpTables, work.temporaries),
        (Counter::HandlerReadFirst, work.read_first),
        (Counter::HandlerReadKey, work.read_key),
        (Counter::HandlerReadLast, work.read_last),
        (Counter::HandlerReadNext, work.read_next),
        (Counter::HandlerReadPrev, work.read_prev),
        (Counter::HandlerReadRndNext, work.read_rnd_next),
        (Counter::SortRows, work.sorted),
        (Counter::SelectFullJoin, work.select_full_join.into()),
        (
            Counter::SelectFullRangeJoin,
            work.select_full_range_join.into(),
        ),
        (Counter::SelectRange, work.select_range.into()),
        (Counter::SelectScan, work.select_scan.into()),
        (Counter::SortRange, sorts(work, true)),
        (Counter::SortScan, sorts(work, false)),
    ] {
        if n > 0 {
            status.add(counter, n);
        }
    }
}

/// The sorts of rows that a range of a key returned (`of_range`), or the others.
fn sorts(work: &Work, of_range: bool) -> u64 {
    match work.select_range == of_range {
        true => work.sorts,
        false => 0,
    }
}

/// Sets it in the statement's event.
pub fn set_in_event(point: &tare::statement::Statement, tally: &Tally, warnings: u16) {
    let work = tally.work.unwrap_or(Work {
        select_scan: tally.scanned,
        sorts: tally.sorts,
        sorted: if tally.sorts > 0 { tally.sent } else { 0 },
        ..Work::default()
    });
    point.set_all([
        (Event::RowsSent, tally.sent),
        (Event::RowsExamined, tally.examined),
        (Event::RowsAffected, tally.affected),
        (Event::Warnings, warnings.into()),
        (Event::CreatedTmpTables, work.temporaries),
        (Event::SelectFullJoin, work.select_full_join.into()),
        (
            Event::SelectFullRangeJoin,
            work.select_full_range_join.into(),
        ),
        (Event::SelectRange, work.select_range.into()),
        (Event::SelectScan, work.select_scan.into()),
        (Event::SortRange, sorts(&work, true)),
        (Event::SortScan, sorts(&work, false)),
        (Event::SortRows, work.sorted),
        (Event::NoIndexUsed, work.no_index.into()),
    ]);
}

/// Adds it to the server's metrics.
#[inline]
pub fn add_to_metrics(action: &Action, tally: &Tally) {
    if tally.examined != 0 {
        metrics::DML_READS.add(tally.examined);
    }
    match action {
        Action::Rows(_) => {
            if tally.sorts != 0 {
                metrics::STATEMENT_SORTS.add(tally.sorts);
            }
            if tally.scanned {
                metrics::STATEMENT_FULL_SCAN_ROWS.add(tally.examined);
            }
        }
        Action::Write(_, change) if tally.affected != 0 => {
            let metric = match change {
                Change::Insert | Change::Replace => &metrics::DML_INSERTS,
                Change::Update => &metrics::DML_UPDATES,
                Change::Delete => &metrics::DML_DELETES,
            };
            metric.add(tally.affected);
        }
        _ => {}
    }
}
