//! data_locks, data_lock_waits: row locks and the waits for them.

use tare_reader::row_locks::{RowLock, RowLockWait};

use crate::cell::Cell;
use crate::describe::{Key, Spec, Table, U64, col, null};

#[rustfmt::skip] // One column, one line.
static DATA_LOCKS: Spec<RowLock> = Spec::new(
    "performance_schema",
    "data_locks",
    "Row locks of a MySQL 9.7 behind the door. Empty otherwise: SQLite locks whole databases, and metadata_locks shows who holds a lock.",
    &[&[
        col("ENGINE", "varchar(32)", "The storage engine.", |r: &RowLock| (&*r.engine).into()),
        col("ENGINE_LOCK_ID", "varchar(128)", "The engine's name for the lock.", |r| (&*r.owner.id).into()),
        null("ENGINE_TRANSACTION_ID", U64, "The transaction that has or wants it.", |r| Cell::opt(Some(r.owner.transaction))),
        null("THREAD_ID", U64, "The thread.", |r| Cell::opt(r.owner.thread)),
        null("EVENT_ID", U64, "The event that requested the lock.", |r| Cell::opt(r.owner.event)),
        null("OBJECT_SCHEMA", "varchar(64)", "Schema of the locked table.", |r| Cell::opt(r.object[0].as_deref())),
        null("OBJECT_NAME", "varchar(64)", "The locked table.", |r| Cell::opt(r.object[1].as_deref())),
        null("PARTITION_NAME", "varchar(64)", "Its partition.", |r| Cell::opt(r.object[2].as_deref())),
        null("SUBPARTITION_NAME", "varchar(64)", "Its subpartition.", |r| Cell::opt(r.object[3].as_deref())),
        null("INDEX_NAME", "varchar(64)", "The locked index.", |r| Cell::opt(r.object[4].as_deref())),
        col("OBJECT_INSTANCE_BEGIN", U64, "Address of the lock.", |r| r.owner.address.into()),
        col("LOCK_TYPE", "varchar(32)", "RECORD or TABLE.", |r| (&*r.lock[1]).into()),
        col("LOCK_MODE", "varchar(32)", "The lock mode.", |r| (&*r.lock[0]).into()),
        col("LOCK_STATUS", "varchar(32)", "GRANTED or WAITING.", |r| (&*r.lock[2]).into()),
        null("LOCK_DATA", "varchar(8192)", "Its key, up to 504 bytes; NULL if not in memory.", |r: &RowLock| Cell::opt(r.data.as_deref()))
            .collate("utf8mb4_0900_ai_ci"),
    ]],
    |view, _| view.snapshot.data_locks(),
)
.keys(&[
    Key::Primary(&["ENGINE_LOCK_ID", "ENGINE"]),
    Key::Plain("ENGINE_TRANSACTION_ID", &["ENGINE_TRANSACTION_ID", "ENGINE"]),
    Key::Plain("THREAD_ID", &["THREAD_ID", "EVENT_ID"]),
    Key::Plain("OBJECT_SCHEMA", &["OBJECT_SCHEMA", "OBJECT_NAME", "PARTITION_NAME", "SUBPARTITION_NAME"]),
])
.mysql_only();

const WAITS: [Key; 6] = [
    Key::Plain(
        "REQUESTING_ENGINE_LOCK_ID",
        &["REQUESTING_ENGINE_LOCK_ID", "ENGINE"],
    ),
    Key::Plain(
        "BLOCKING_ENGINE_LOCK_ID",
        &["BLOCKING_ENGINE_LOCK_ID", "ENGINE"],
    ),
    Key::Plain(
        "REQUESTING_ENGINE_TRANSACTION_ID",
        &["REQUESTING_ENGINE_TRANSACTION_ID", "ENGINE"],
    ),
    Key::Plain(
        "BLOCKING_ENGINE_TRANSACTION_ID",
        &["BLOCKING_ENGINE_TRANSACTION_ID", "ENGINE"],
    ),
    Key::Plain(
        "REQUESTING_THREAD_ID",
        &["REQUESTING_THREAD_ID", "REQUESTING_EVENT_ID"],
    ),
    Key::Plain(
        "BLOCKING_THREAD_ID",
        &["BLOCKING_THREAD_ID", "BLOCKING_EVENT_ID"],
    ),
];

const WAITS_LATER: [Key; 7] = [
    Key::Primary(&[
        "REQUESTING_ENGINE_LOCK_ID",
        "BLOCKING_ENGINE_LOCK_ID",
        "ENGINE",
    ]),
    WAITS[0],
    WAITS[1],
    WAITS[2],
    WAITS[3],
    WAITS[4],
    WAITS[5],
];

#[rustfmt::skip] // One column, one line.
static DATA_LOCK_WAITS: Spec<RowLockWait> = Spec::new(
    "performance_schema",
    "data_lock_waits",
    "Waits for row locks, of a MySQL 9.7 behind the door. Empty otherwise: SQLite has no row locks.",
    &[&[
        col("ENGINE", "varchar(32)", "The storage engine.", |r: &RowLockWait| (&*r.engine).into()),
        col("REQUESTING_ENGINE_LOCK_ID", "varchar(128)", "The lock of who waits.", |r| (&*r.requesting.id).into()),
        null("REQUESTING_ENGINE_TRANSACTION_ID", U64, "The transaction of who waits.", |r| Cell::opt(Some(r.requesting.transaction))),
        null("REQUESTING_THREAD_ID", U64, "The thread of who waits.", |r| Cell::opt(r.requesting.thread)),
        null("REQUESTING_EVENT_ID", U64, "The event of who waits.", |r| Cell::opt(r.requesting.event)),
        col("REQUESTING_OBJECT_INSTANCE_BEGIN", U64, "Address of the lock of who waits.", |r| r.requesting.address.into()),
        col("BLOCKING_ENGINE_LOCK_ID", "varchar(128)", "The lock of who is waited for.", |r| (&*r.blocking.id).into()),
        null("BLOCKING_ENGINE_TRANSACTION_ID", U64, "The transaction of who is waited for.", |r| Cell::opt(Some(r.blocking.transaction))),
        null("BLOCKING_THREAD_ID", U64, "The thread of who is waited for.", |r| Cell::opt(r.blocking.thread)),
        null("BLOCKING_EVENT_ID", U64, "The event of who is waited for.", |r| Cell::opt(r.blocking.event)),
        col("BLOCKING_OBJECT_INSTANCE_BEGIN", U64, "Address of the lock of who is waited for.", |r| r.blocking.address.into()),
    ]],
    |view, _| view.snapshot.data_lock_waits(),
)
.keys(&WAITS)
.keys_in_9_7(&WAITS_LATER)
.mysql_only();

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&DATA_LOCKS, &DATA_LOCK_WAITS];
