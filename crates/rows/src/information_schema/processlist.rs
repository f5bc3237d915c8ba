//! PROCESSLIST.

use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::record::thread::Thread;

#[rustfmt::skip] // One column, one line.
const PROCESSLIST_COLUMNS: &[Column<Thread>] = &[
    col("ID", "bigint(21) unsigned", "The connection's number.", |r| Cell::opt(r.processlist_id)),
    col("USER", "varchar(32)", "The user of the connection.", |r| r.user.as_deref().unwrap_or("unauthenticated user").into()),
    col("HOST", "varchar(64)", "The client's host.", |r| r.host.as_deref().unwrap_or("").into()),
    null("DB", "varchar(64)", "The default database.", |r| Cell::opt(r.db.as_deref())),
    col("COMMAND", "varchar(16)", "The command that the thread runs, such as Query or Sleep.", |r| r.command.unwrap_or("").into()),
    col("TIME", "int(7)", "Seconds since the command or state began.", |r| r.time_s.unwrap_or(0).into()),
    null("STATE", "varchar(64)", "The current stage.", |r| Cell::opt(r.state.as_deref())),
    null("INFO", "varchar(65535)", "The statement that is running.", |r| Cell::opt(r.info.as_deref())),
];

static PROCESSLIST: Spec<Thread> = Spec::new(
    "information_schema",
    "PROCESSLIST",
    "The connections.",
    &[PROCESSLIST_COLUMNS],
    |view, _| {
        view.source.count_processlist_read();
        let threads = view.snapshot.threads(&crate::filter::Filter::all())?;
        Ok(Box::new(threads.filter(view.process_filter())))
    },
)
.expect(100);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&PROCESSLIST];
