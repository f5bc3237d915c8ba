//! mutex_instances and rwlock_instances: locks and the threads that hold them. cond_instances.

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::instance::LockInstance;

#[rustfmt::skip] // One column, one line.
const NAME: Column<LockInstance> = col("NAME", "varchar(128)", "The instrument.", |r| (&*r.name).into());
#[rustfmt::skip] // One column, one line.
const BEGIN: Column<LockInstance> = col("OBJECT_INSTANCE_BEGIN", U64, "Its address in memory.", |r| r.object_instance_begin.into());

#[rustfmt::skip] // One column, one line.
static MUTEXES: Spec<LockInstance> = Spec::new(
    "performance_schema",
    "mutex_instances",
    "The existing mutexes.",
    &[&[
        NAME,
        BEGIN,
        null("LOCKED_BY_THREAD_ID", U64, "The thread that holds the mutex; NULL if it is free.", |r| Cell::opt(r.owner)),
    ]],
    |view, filter| view.snapshot.mutexes(filter),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain("NAME", &["NAME"]),
    Key::Plain("LOCKED_BY_THREAD_ID", &["LOCKED_BY_THREAD_ID"]),
])
.filters(&["NAME"]);

#[rustfmt::skip] // One column, one line.
static RWLOCKS: Spec<LockInstance> = Spec::new(
    "performance_schema",
    "rwlock_instances",
    "The existing read-write locks.",
    &[&[
        NAME,
        BEGIN,
        null("WRITE_LOCKED_BY_THREAD_ID", U64, "The thread that holds the exclusive lock; NULL if none does.", |r| Cell::opt(r.owner)),
        col("READ_LOCKED_BY_COUNT", "int(10) unsigned", "How many threads hold a shared lock.", |r| r.readers.into()),
    ]],
    |view, filter| view.snapshot.rwlocks(filter),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain("NAME", &["NAME"]),
    Key::Plain("WRITE_LOCKED_BY_THREAD_ID", &["WRITE_LOCKED_BY_THREAD_ID"]),
])
.filters(&["NAME"]);

static CONDITIONS: Spec<LockInstance> = Spec::new(
    "performance_schema",
    "cond_instances",
    "The existing condition variables.",
    &[&[NAME, BEGIN]],
    |view, filter| view.snapshot.conditions(filter),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain("NAME", &["NAME"]),
])
.filters(&["NAME"]);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&MUTEXES, &RWLOCKS, &CONDITIONS];
