//! data_locks, data_lock_waits, user_defined_functions: there for who asks, and empty.

use crate::describe::{I64, Key, Table, U64};
use crate::empty::{Empty, always, maybe};

#[rustfmt::skip] // One column, one line.
static DATA_LOCKS: Empty = Empty::new(
    "performance_schema",
    "data_locks",
    "Row locks. Always empty: SQLite locks whole databases; metadata_locks shows who holds a lock.",
    &[&[
        always("ENGINE", "varchar(32)", "The storage engine."),
        always("ENGINE_LOCK_ID", "varchar(128)", "The engine's name for the lock."),
        maybe("ENGINE_TRANSACTION_ID", U64, "The transaction that has or wants it."),
        maybe("THREAD_ID", U64, "The thread."),
        maybe("EVENT_ID", U64, "The event that asked for it."),
        maybe("OBJECT_SCHEMA", "varchar(64)", "Schema of the locked table."),
        maybe("OBJECT_NAME", "varchar(64)", "The locked table."),
        maybe("PARTITION_NAME", "varchar(64)", "Its partition."),
        maybe("SUBPARTITION_NAME", "varchar(64)", "Its subpartition."),
        maybe("INDEX_NAME", "varchar(64)", "The locked index."),
        always("OBJECT_INSTANCE_BEGIN", U64, "Address of the lock."),
        always("LOCK_TYPE", "varchar(32)", "RECORD or TABLE."),
        always("LOCK_MODE", "varchar(32)", "The lock mode."),
        always("LOCK_STATUS", "varchar(32)", "GRANTED or WAITING."),
        maybe("LOCK_DATA", "varchar(8192)", "The locked row."),
    ]],
)
.keys(&[
    Key::Primary(&["ENGINE_LOCK_ID", "ENGINE"]),
    Key::Plain("ENGINE_TRANSACTION_ID", &["ENGINE_TRANSACTION_ID", "ENGINE"]),
    Key::Plain("OBJECT_SCHEMA", &["OBJECT_SCHEMA", "OBJECT_NAME", "PARTITION_NAME", "SUBPARTITION_NAME"]),
    Key::Plain("THREAD_ID", &["THREAD_ID", "EVENT_ID"]),
]);

#[rustfmt::skip] // One column, one line.
static DATA_LOCK_WAITS: Empty = Empty::new(
    "performance_schema",
    "data_lock_waits",
    "Waits for row locks. Always empty: SQLite has no row locks.",
    &[&[
        always("ENGINE", "varchar(32)", "The storage engine."),
        always("REQUESTING_ENGINE_LOCK_ID", "varchar(128)", "The lock of who waits."),
        maybe("REQUESTING_ENGINE_TRANSACTION_ID", U64, "The transaction of who waits."),
        maybe("REQUESTING_THREAD_ID", U64, "The thread of who waits."),
        maybe("REQUESTING_EVENT_ID", U64, "The event of who waits."),
        always("REQUESTING_OBJECT_INSTANCE_BEGIN", U64, "Address of the lock of who waits."),
        always("BLOCKING_ENGINE_LOCK_ID", "varchar(128)", "The lock of who is waited for."),
        maybe("BLOCKING_ENGINE_TRANSACTION_ID", U64, "The transaction of who is waited for."),
        maybe("BLOCKING_THREAD_ID", U64, "The thread of who is waited for."),
        maybe("BLOCKING_EVENT_ID", U64, "The event of who is waited for."),
        always("BLOCKING_OBJECT_INSTANCE_BEGIN", U64, "Address of the lock of who is waited for."),
    ]],
)
.keys(&[
    Key::Plain("BLOCKING_ENGINE_LOCK_ID", &["BLOCKING_ENGINE_LOCK_ID", "ENGINE"]),
    Key::Plain("BLOCKING_ENGINE_TRANSACTION_ID", &["BLOCKING_ENGINE_TRANSACTION_ID", "ENGINE"]),
    Key::Plain("BLOCKING_THREAD_ID", &["BLOCKING_THREAD_ID", "BLOCKING_EVENT_ID"]),
    Key::Plain("REQUESTING_ENGINE_LOCK_ID", &["REQUESTING_ENGINE_LOCK_ID", "ENGINE"]),
    Key::Plain("REQUESTING_ENGINE_TRANSACTION_ID", &["REQUESTING_ENGINE_TRANSACTION_ID", "ENGINE"]),
    Key::Plain("REQUESTING_THREAD_ID", &["REQUESTING_THREAD_ID", "REQUESTING_EVENT_ID"]),
]);

#[rustfmt::skip] // One column, one line.
static USER_DEFINED_FUNCTIONS: Empty = Empty::new(
    "performance_schema",
    "user_defined_functions",
    "Loadable functions. Always empty: none can be loaded.",
    &[&[
        always("UDF_NAME", "varchar(64)", "The function."),
        always("UDF_RETURN_TYPE", "varchar(20)", "What it returns."),
        always("UDF_TYPE", "varchar(20)", "function or aggregate."),
        maybe("UDF_LIBRARY", "varchar(1024)", "The library that it is in."),
        maybe("UDF_USAGE_COUNT", I64, "How many use it now."),
    ]],
)
.keys(&[Key::Primary(&["UDF_NAME"])]);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&DATA_LOCKS, &DATA_LOCK_WAITS, &USER_DEFINED_FUNCTIONS];
