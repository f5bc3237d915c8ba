//! table_io_waits_summary_by_table, table_io_waits_summary_by_index_usage,
//! table_lock_waits_summary_by_table, objects_summary_global_by_type.

use tare_layout::object::TableLock;

use super::event::*;
use super::lists::stats;
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::object::{HasName, ObjectWaits, TableIo, TableLocks};

/// OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME.
#[rustfmt::skip] // One column, one line.
const fn object<R: HasName>() -> [Column<R>; 3] {
    [
        null("OBJECT_TYPE", "varchar(64)", "The object type, such as TABLE or PROCEDURE.", |r| r.named().kind.into()),
        null("OBJECT_SCHEMA", "varchar(64)", "The object's schema.", |r| (&*r.named().schema).into()),
        null("OBJECT_NAME", "varchar(64)", "The object's name.", |r| (&*r.named().name).into()),
    ]
}

const OBJECT_KEYS: &[Key] = &[Key::Unique(
    "OBJECT",
    &["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME"],
)];

const IO_READ: &[Column<TableIo>] =
    &stats!("COUNT_READ", "TIMER_READ", "Rows fetched.", r => r.read);
const IO_WRITE: &[Column<TableIo>] =
    &stats!("COUNT_WRITE", "TIMER_WRITE", "Rows inserted, updated and deleted.", r => r.write);
const IO_FETCH: &[Column<TableIo>] =
    &stats!("COUNT_FETCH", "TIMER_FETCH", "Rows fetched.", r => r.each[0]);
const IO_INSERT: &[Column<TableIo>] =
    &stats!("COUNT_INSERT", "TIMER_INSERT", "Rows inserted.", r => r.each[1]);
const IO_UPDATE: &[Column<TableIo>] =
    &stats!("COUNT_UPDATE", "TIMER_UPDATE", "Rows updated.", r => r.each[2]);
const IO_DELETE: &[Column<TableIo>] =
    &stats!("COUNT_DELETE", "TIMER_DELETE", "Rows deleted.", r => r.each[3]);

static BY_TABLE: Spec<TableIo> = Spec::new(
    "performance_schema",
    "table_io_waits_summary_by_table",
    "Rows fetched, inserted, updated and deleted, by table.",
    &[
        &object(),
        &timing(),
        IO_READ,
        IO_WRITE,
        IO_FETCH,
        IO_INSERT,
        IO_UPDATE,
        IO_DELETE,
    ],
    |view, _| view.snapshot.table_io(view.source.series()),
)
.keys(OBJECT_KEYS)
.expect(100)
.truncate(|view| view.snapshot.truncate_table_io());

#[rustfmt::skip] // One column, one line.
static BY_INDEX: Spec<TableIo> = Spec::new(
    "performance_schema",
    "table_io_waits_summary_by_index_usage",
    "Rows fetched, inserted, updated and deleted, by index. INDEX_NAME is NULL for accesses without an index.",
    &[
        &object(),
        &[null("INDEX_NAME", "varchar(64)", "The index; NULL for accesses without an index.", |r: &TableIo| Cell::opt(r.index.as_deref()))],
        &timing(),
        IO_READ,
        IO_WRITE,
        IO_FETCH,
        IO_INSERT,
        IO_UPDATE,
        IO_DELETE,
    ],
    |view, _| view.snapshot.index_io(view.source.series()),
)
.keys(&[Key::Unique(
    "OBJECT",
    &["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME", "INDEX_NAME"],
)])
.expect(300)
.truncate(|view| view.snapshot.truncate_table_io());

/// The columns of one way to lock.
#[rustfmt::skip] // One column, one line.
macro_rules! lock {
    ($name:literal, $lock:ident, $what:literal) => {
        stats!(concat!("COUNT_", $name), concat!("TIMER_", $name), concat!($what, "."), r => r.each[TableLock::$lock as usize])
    };
}

const LOCK_READ: &[Column<TableLocks>] =
    &stats!("COUNT_READ", "TIMER_READ", "Read locks.", r => r.read);
const LOCK_WRITE: &[Column<TableLocks>] =
    &stats!("COUNT_WRITE", "TIMER_WRITE", "Write locks.", r => r.write);
const LOCK_READ_NORMAL: &[Column<TableLocks>] = &lock!("READ_NORMAL", Read, "Ordinary read locks");
const LOCK_READ_WITH_SHARED_LOCKS: &[Column<TableLocks>] = &lock!(
    "READ_WITH_SHARED_LOCKS",
    ReadWithSharedLocks,
    "Read locks of SELECT ... FOR SHARE"
);
const LOCK_READ_HIGH_PRIORITY: &[Column<TableLocks>] = &lock!(
    "READ_HIGH_PRIORITY",
    ReadHighPriority,
    "Read locks of SELECT HIGH_PRIORITY"
);
const LOCK_READ_NO_INSERT: &[Column<TableLocks>] = &lock!(
    "READ_NO_INSERT",
    ReadNoInsert,
    "Read locks that exclude concurrent inserts"
);
const LOCK_READ_EXTERNAL: &[Column<TableLocks>] = &lock!(
    "READ_EXTERNAL",
    ReadExternal,
    "Read locks at storage engine level"
);
const LOCK_WRITE_ALLOW_WRITE: &[Column<TableLocks>] = &lock!(
    "WRITE_ALLOW_WRITE",
    WriteAllowWrite,
    "Write locks that allow concurrent writes"
);
const LOCK_WRITE_CONCURRENT_INSERT: &[Column<TableLocks>] = &lock!(
    "WRITE_CONCURRENT_INSERT",
    WriteConcurrentInsert,
    "Write locks of concurrent inserts"
);
const LOCK_WRITE_DELAYED: &[Column<TableLocks>] = &delayed();
const LOCK_WRITE_LOW_PRIORITY: &[Column<TableLocks>] = &lock!(
    "WRITE_LOW_PRIORITY",
    WriteLowPriority,
    "Write locks of LOW_PRIORITY statements"
);
const LOCK_WRITE_NORMAL: &[Column<TableLocks>] =
    &lock!("WRITE_NORMAL", Write, "Ordinary write locks");
const LOCK_WRITE_EXTERNAL: &[Column<TableLocks>] = &lock!(
    "WRITE_EXTERNAL",
    WriteExternal,
    "Write locks at storage engine level"
);

const DELAYED: &str = "Always 0: locks of INSERT DELAYED are counted as those of LOW_PRIORITY.";

/// MariaDB counts locks of INSERT DELAYED separately; MySQL has no such statement.
const fn delayed() -> [Column<TableLocks>; 5] {
    const fn zero(name: &'static str) -> Column<TableLocks> {
        col(name, U64, DELAYED, |_| 0_u64.into()).mariadb_only()
    }
    [
        zero("COUNT_WRITE_DELAYED"),
        zero("SUM_TIMER_WRITE_DELAYED"),
        zero("MIN_TIMER_WRITE_DELAYED"),
        zero("AVG_TIMER_WRITE_DELAYED"),
        zero("MAX_TIMER_WRITE_DELAYED"),
    ]
}

static LOCKS_BY_TABLE: Spec<TableLocks> = Spec::new(
    "performance_schema",
    "table_lock_waits_summary_by_table",
    "Table locks, by table and lock mode.",
    &[
        &object(),
        &timing(),
        LOCK_READ,
        LOCK_WRITE,
        LOCK_READ_NORMAL,
        LOCK_READ_WITH_SHARED_LOCKS,
        LOCK_READ_HIGH_PRIORITY,
        LOCK_READ_NO_INSERT,
        LOCK_READ_EXTERNAL,
        LOCK_WRITE_ALLOW_WRITE,
        LOCK_WRITE_CONCURRENT_INSERT,
        LOCK_WRITE_DELAYED,
        LOCK_WRITE_LOW_PRIORITY,
        LOCK_WRITE_NORMAL,
        LOCK_WRITE_EXTERNAL,
    ],
    |view, _| view.snapshot.table_locks(view.source.series()),
)
.keys(OBJECT_KEYS)
.expect(100)
.truncate(|view| view.snapshot.truncate_table_locks());

static OBJECTS: Spec<ObjectWaits> = Spec::new(
    "performance_schema",
    "objects_summary_global_by_type",
    "Table I/O and table locks together, by table; calls, by stored program.",
    &[&object(), &timing()],
    |view, _| view.snapshot.object_waits(),
)
.keys(OBJECT_KEYS)
.expect(100)
.truncate(|view| view.snapshot.truncate_tables());

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&BY_TABLE, &BY_INDEX, &LOCKS_BY_TABLE, &OBJECTS];
