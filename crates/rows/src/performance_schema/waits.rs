//! events_waits_*: mutexes, rwlocks, conditions, files, sockets, tables, metadata locks, idle.

use super::event::*;
use super::lists::{events, summaries};
use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, U64, col, null};
use crate::record::event::*;
use crate::record::instance::InstanceWaits;
use crate::record::wait::Wait;
use crate::snapshot::{By, Which};

#[rustfmt::skip] // One column, one line.
const OBJECT: &[Column<Wait>] = &[
    null("SPINS", "int(10) unsigned", "Spin rounds before the thread slept; NULL where they are not counted.", |r| Cell::opt(r.spins)),
    null("OBJECT_SCHEMA", "varchar(64)", "The schema of the table.", |r| Cell::opt(r.object_schema.as_deref())),
    null("OBJECT_NAME", "varchar(512)", "The file, socket address or table.", |r| Cell::opt(r.object_name.as_deref())),
    null("INDEX_NAME", "varchar(64)", "The index used.", |r| Cell::opt(r.index_name.as_deref())),
    null("OBJECT_TYPE", "varchar(64)", "Such as FILE or TABLE; NULL for mutexes, rwlocks and conditions.", |r| Cell::opt(r.object_type)),
    col("OBJECT_INSTANCE_BEGIN", U64, "The instrumented object's address in memory, or its number.", |r| r.object_instance_begin.into()),
];

#[rustfmt::skip] // One column, one line.
const OPERATION: &[Column<Wait>] = &[
    col("OPERATION", "varchar(32)", "The operation: lock, read, write, fetch and so on.", |r| r.operation.into()),
    null("NUMBER_OF_BYTES", I64, "Bytes read or written; for table I/O, rows.", |r| Cell::opt(r.number_of_bytes)),
    null("FLAGS", "int(10) unsigned", "Always NULL, as in MySQL.", |r| Cell::opt(r.flags)),
];

const EVENT: &[&[Column<Wait>]] = &[&identity(), &times(), OBJECT, &nesting(), OPERATION];

events!(Wait, "waits", "wait", EVENT, waits, truncate_waits);

summaries!(
    Summary<Stat>,
    "events_waits",
    "event_name",
    "Waits",
    [&by_name(), &timing()],
    "EVENT_NAME",
    1000,
    WIDE,
    wait_summary,
    truncate_wait_summary
);

#[rustfmt::skip] // One column, one line.
const INSTANCE_HEAD: &[Column<InstanceWaits>] = &[
    col("EVENT_NAME", "varchar(128)", "The instrument.", |r| (&*r.name).into()),
    col("OBJECT_INSTANCE_BEGIN", U64, "The instrumented object's address in memory, or its number.", |r| r.object_instance_begin.into()),
];

static INSTANCE: Spec<InstanceWaits> = Spec::new(
    "performance_schema",
    "events_waits_summary_by_instance",
    "Waits by existing mutex, rwlock, condition, file and socket.",
    &[INSTANCE_HEAD, &timing()],
    |view, filter| view.snapshot.instance_waits(filter),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain("EVENT_NAME", &["EVENT_NAME"]),
])
.filters(&["EVENT_NAME"])
.truncate(|view| view.snapshot.truncate_instances());

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
    &INSTANCE,
];
