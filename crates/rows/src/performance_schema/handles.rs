//! table_handles and metadata_locks: what sessions hold.

use std::sync::Arc;

use crate::cell::Cell;
use crate::describe::{Key, Spec, Table, U64, col, null};

/// A table that a session has open.
#[derive(Debug, Clone)]
pub struct Handle {
    /// OBJECT_TYPE.
    pub kind: &'static str,
    /// OBJECT_SCHEMA.
    pub schema: Arc<str>,
    /// OBJECT_NAME.
    pub name: Arc<str>,
    /// OBJECT_INSTANCE_BEGIN.
    pub address: u64,
    /// OWNER_THREAD_ID.
    pub owner: Option<u64>,
    /// OWNER_EVENT_ID.
    pub event: Option<u64>,
    /// INTERNAL_LOCK.
    pub internal: Option<&'static str>,
    /// EXTERNAL_LOCK.
    pub external: Option<&'static str>,
}

#[rustfmt::skip] // One column, one line.
static HANDLES: Spec<Handle> = Spec::new(
    "performance_schema",
    "table_handles",
    "Open tables of each session, with their table locks.",
    &[&[
        col("OBJECT_TYPE", "varchar(64)", "TABLE.", |r: &Handle| r.kind.into()),
        col("OBJECT_SCHEMA", "varchar(64)", "The table's schema.", |r| (&*r.schema).into()),
        col("OBJECT_NAME", "varchar(64)", "The table.", |r| (&*r.name).into()),
        col("OBJECT_INSTANCE_BEGIN", U64, "The table handle's address in memory.", |r| r.address.into()),
        null("OWNER_THREAD_ID", U64, "The thread that has the table open.", |r| Cell::opt(r.owner)),
        null("OWNER_EVENT_ID", U64, "The event in which it was opened.", |r| Cell::opt(r.event)),
        null("INTERNAL_LOCK", "varchar(64)", "The table lock at SQL level.", |r| Cell::opt(r.internal)),
        null("EXTERNAL_LOCK", "varchar(64)", "The table lock at storage engine level.", |r| Cell::opt(r.external)),
    ]],
    |view, _| view.snapshot.table_handles(),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain(
        "OBJECT_TYPE",
        &["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME"],
    ),
    Key::Plain("OWNER_THREAD_ID", &["OWNER_THREAD_ID", "OWNER_EVENT_ID"]),
])
.expect(100);

/// A metadata lock.
#[derive(Debug, Clone)]
pub struct MetadataLock {
    /// OBJECT_TYPE.
    pub on: &'static str,
    /// OBJECT_SCHEMA.
    pub schema: Option<Arc<str>>,
    /// OBJECT_NAME.
    pub name: Option<Arc<str>>,
    /// COLUMN_NAME.
    pub column: Option<Arc<str>>,
    /// OBJECT_INSTANCE_BEGIN.
    pub address: u64,
    /// LOCK_TYPE.
    pub kind: &'static str,
    /// LOCK_DURATION.
    pub duration: &'static str,
    /// LOCK_STATUS.
    pub status: &'static str,
    /// SOURCE.
    pub source: Option<Arc<str>>,
    /// OWNER_THREAD_ID.
    pub owner: u64,
    /// OWNER_EVENT_ID.
    pub event: u64,
}

#[rustfmt::skip] // One column, one line.
static METADATA: Spec<MetadataLock> = Spec::new(
    "performance_schema",
    "metadata_locks",
    "The metadata locks that sessions hold or wait for.",
    &[&[
        col("OBJECT_TYPE", "varchar(64)", "The object's type, such as TABLE, SCHEMA or GLOBAL.", |r: &MetadataLock| r.on.into()),
        null("OBJECT_SCHEMA", "varchar(64)", "The object's schema.", |r| Cell::opt(r.schema.as_deref())),
        null("OBJECT_NAME", "varchar(64)", "The object's name.", |r| Cell::opt(r.name.as_deref())),
        null("COLUMN_NAME", "varchar(64)", "The locked column, if any.", |r: &MetadataLock| Cell::opt(r.column.as_deref())).mysql_only(),
        col("OBJECT_INSTANCE_BEGIN", U64, "The lock object's address in memory.", |r| r.address.into()),
        col("LOCK_TYPE", "varchar(32)", "The lock mode.", |r| r.kind.into()),
        col("LOCK_DURATION", "varchar(32)", "When the lock is released: STATEMENT, TRANSACTION or EXPLICIT.", |r| r.duration.into()),
        col("LOCK_STATUS", "varchar(32)", "GRANTED, or PENDING while the session waits for it.", |r| r.status.into()),
        null("SOURCE", "varchar(64)", "Source file and line of the request; NULL if unknown.", |r| Cell::opt(r.source.as_deref())),
        null("OWNER_THREAD_ID", U64, "The thread that requested the lock.", |r| r.owner.into()),
        null("OWNER_EVENT_ID", U64, "The event in which it was requested.", |r| r.event.into()),
    ]],
    |view, _| view.snapshot.metadata_locks(),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain(
        "OBJECT_TYPE",
        &["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME", "COLUMN_NAME"],
    ),
    Key::Plain("OWNER_THREAD_ID", &["OWNER_THREAD_ID", "OWNER_EVENT_ID"]),
])
.expect(100);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&HANDLES, &METADATA];
