//! events_transactions_*.

use super::event::*;
use super::lists::{events, stats, summaries};

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, YES_NO, col, null};
use crate::record::event::*;
use crate::record::transaction::{Sums, Transaction};
use crate::snapshot::{By, Which};

#[rustfmt::skip] // One column, one line.
const STATE: &[Column<Transaction>] = &[
    null("STATE", "enum('ACTIVE','COMMITTED','ROLLED BACK')", "ACTIVE, COMMITTED or ROLLED BACK.", |r| Cell::opt(r.state)),
    null("TRX_ID", U64, "The storage engine's transaction number.", |r| Cell::opt(r.trx_id)),
    null("GTID", "varchar(64)", "The GTID, or AUTOMATIC.", |r: &Transaction| Cell::opt(r.gtid.as_deref())).in_9_7("varchar(90)"),
    null("XID_FORMAT_ID", "int(11)", "The XA format ID; NULL for other transactions.", |_| Cell::Null),
    null("XID_GTRID", "varchar(130)", "The XA global transaction ID; NULL for other transactions.", |_| Cell::Null),
    null("XID_BQUAL", "varchar(130)", "The XA branch qualifier; NULL for other transactions.", |_| Cell::Null),
    null("XA_STATE", "varchar(64)", "The XA state; NULL for other transactions.", |_| Cell::Null),
];

#[rustfmt::skip] // One column, one line.
const KIND: &[Column<Transaction>] = &[
    null("ACCESS_MODE", "enum('READ ONLY','READ WRITE')", "READ ONLY or READ WRITE.", |r| Cell::opt(r.access_mode)),
    null("ISOLATION_LEVEL", "varchar(64)", "The isolation level.", |r| Cell::opt(r.isolation_level)),
    col("AUTOCOMMIT", YES_NO, "Whether autocommit was on when it began.", |r| Cell::yes_no(r.autocommit)),
    null("NUMBER_OF_SAVEPOINTS", U64, "SAVEPOINT statements in the transaction.", |r| Cell::opt(r.savepoints)),
    null("NUMBER_OF_ROLLBACK_TO_SAVEPOINT", U64, "Its ROLLBACK TO SAVEPOINT statements.", |r| Cell::opt(r.rollbacks_to_savepoint)),
    null("NUMBER_OF_RELEASE_SAVEPOINT", U64, "RELEASE SAVEPOINT statements in the transaction.", |r| Cell::opt(r.releases)),
    null("OBJECT_INSTANCE_BEGIN", U64, "Always NULL, as in MySQL.", |_| Cell::Null),
];

const EVENT: &[&[Column<Transaction>]] = &[&identity(), STATE, &times(), KIND, &nesting()];

type Row = Summary<Sums>;

#[rustfmt::skip] // One column, one line.
const READ_WRITE: &[Column<Row>] = &stats!("COUNT_READ_WRITE", "TIMER_READ_WRITE", "READ WRITE transactions.", r => r.sums.read_write);
#[rustfmt::skip] // One column, one line.
const READ_ONLY: &[Column<Row>] = &stats!("COUNT_READ_ONLY", "TIMER_READ_ONLY", "READ ONLY transactions.", r => r.sums.read_only);

events!(
    Transaction,
    "transactions",
    "transaction",
    EVENT,
    transactions,
    truncate_transactions
);

summaries!(
    Row,
    "events_transactions",
    "event_name",
    "Transactions",
    [&by_name(), &timing(), READ_WRITE, READ_ONLY],
    "EVENT_NAME",
    1,
    NARROW,
    transaction_summary,
    truncate_transaction_summary
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &CURRENT,
    &HISTORY,
    &HISTORY_LONG,
    &GLOBAL,
    &THREAD,
    &ACCOUNT,
    &USER,
    &HOST,
];
