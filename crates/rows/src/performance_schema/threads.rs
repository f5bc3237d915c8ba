//! threads: every thread of the program, and what it does now.

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, U64, Update, YES_NO, col, null};
use crate::record::thread::Thread;
use tare_mysql::series::Series;

fn kind(foreground: bool) -> Cell<'static> {
    Cell::text(if foreground {
        "FOREGROUND"
    } else {
        "BACKGROUND"
    })
}

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Thread>] = &[
    col("THREAD_ID", U64, "The thread's number; never reused.", |r| r.thread_id.into()),
    col("NAME", "varchar(128)", "The thread instrument.", |r| (&*r.name).into()),
    col("TYPE", "varchar(10)", "FOREGROUND if it serves a client, else BACKGROUND.", |r| kind(r.foreground)),
    null("PROCESSLIST_ID", U64, "The connection's number, as in SHOW PROCESSLIST.", |r| Cell::opt(r.processlist_id)),
    null("PROCESSLIST_USER", "varchar(32)", "The connection's user.", |r: &Thread| Cell::opt(r.user.as_deref())).in_mariadb("varchar(128)"),
    null("PROCESSLIST_HOST", "varchar(60)", "The client's host.", |r: &Thread| Cell::opt(r.host.as_deref()))
        .in_9_7("varchar(255)")
        .in_mariadb("varchar(255)"),
    null("PROCESSLIST_DB", "varchar(64)", "The default database.", |r| Cell::opt(r.db.as_deref())),
    null("PROCESSLIST_COMMAND", "varchar(16)", "The command that the thread runs, such as Query or Sleep.", |r| Cell::opt(r.command)),
    null("PROCESSLIST_TIME", I64, "Seconds since the command or state began.", |r| Cell::opt(r.time_s)),
    null("PROCESSLIST_STATE", "varchar(64)", "The current stage.", |r| Cell::opt(r.state.as_deref())),
    null("PROCESSLIST_INFO", "longtext", "The statement that is running.", |r| Cell::opt(r.info.as_deref())),
    null("PARENT_THREAD_ID", U64, "The thread that created it.", |r| Cell::opt(r.parent_thread_id)),
    null("ROLE", "varchar(64)", "Always NULL, as in MySQL.", |_| Cell::Null),
    col("INSTRUMENTED", YES_NO, "Whether the thread's events are recorded; can be updated.", |r| Cell::yes_no(r.instrumented)),
    col("HISTORY", YES_NO, "Whether the thread's events go to the history tables; can be updated.", |r| Cell::yes_no(r.history)),
    null("CONNECTION_TYPE", "varchar(16)", "TCP/IP, SSL/TLS or Socket.", |r| Cell::opt(r.connection_type)),
    null("THREAD_OS_ID", U64, "The operating system's thread number.", |r| Cell::opt(r.os_id)),
    null("RESOURCE_GROUP", "varchar(64)", "Always NULL: resource groups are not supported.", |_| Cell::Null).mysql_only(),
    super::statements::execution_engine(),
    col("CONTROLLED_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
    col("MAX_CONTROLLED_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
    col("TOTAL_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
    col("MAX_TOTAL_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
    col("TELEMETRY_ACTIVE", YES_NO, "Always NO: no telemetry is exported.", |_| Cell::yes_no(false)).since(Series::V9_7),
];
const MEMORY: &str = "Always 0: see memory_summary_by_thread_by_event_name.";

static THREADS: Spec<Thread> = Spec::new(
    "performance_schema",
    "threads",
    "The threads of the server, or of the observed program.",
    &[COLUMNS],
    |view, filter| view.snapshot.threads(filter),
)
.keys(&[
    Key::Primary(&["THREAD_ID"]),
    Key::Plain("PROCESSLIST_ID", &["PROCESSLIST_ID"]),
    Key::Plain("THREAD_OS_ID", &["THREAD_OS_ID"]),
    Key::Plain("NAME", &["NAME"]),
    Key::Plain(
        "PROCESSLIST_ACCOUNT",
        &["PROCESSLIST_USER", "PROCESSLIST_HOST"],
    ),
    Key::Plain("PROCESSLIST_HOST", &["PROCESSLIST_HOST"]),
    Key::Plain("RESOURCE_GROUP", &["RESOURCE_GROUP"]),
])
.filters(&["THREAD_ID", "PROCESSLIST_ID"])
.expect(500)
.update(
    |r| r.thread_id as i64,
    Update {
        columns: &["INSTRUMENTED", "HISTORY"],
        apply: |view, rowid, changes| view.snapshot.set_thread(rowid as u64, changes),
    },
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&THREADS];
