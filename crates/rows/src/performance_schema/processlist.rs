//! processlist: SHOW PROCESSLIST as a table.

use tare_mysql::series::Series;

use super::statements::execution_engine;
use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, U64, col, null};
use crate::record::thread::Thread;

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Thread>] = &[
    col("ID", U64, "The connection's number.", |r| Cell::opt(r.processlist_id)),
    null("USER", "varchar(32)", "The user of the connection.", |r| Cell::opt(r.user.as_deref())),
    null("HOST", "varchar(261)", "The client's host.", |r| Cell::opt(r.host.as_deref())),
    null("DB", "varchar(64)", "The default database.", |r| Cell::opt(r.db.as_deref())),
    null("COMMAND", "varchar(16)", "The command that the thread runs, such as Query or Sleep.", |r| Cell::opt(r.command)),
    null("TIME", I64, "Seconds since the command or state began.", |r| Cell::opt(r.time_s)),
    null("STATE", "varchar(64)", "The current stage.", |r| Cell::opt(r.state.as_deref())),
    null("INFO", "longtext", "The statement that is running.", |r| Cell::opt(r.info.as_deref())),
    execution_engine(),
];

static PROCESSLIST: Spec<Thread> = Spec::new(
    "performance_schema",
    "processlist",
    "The connections.",
    &[COLUMNS],
    |view, _| {
        let threads = view.snapshot.threads(&crate::filter::Filter::all())?;
        Ok(Box::new(threads.filter(view.process_filter())))
    },
)
.keys(&[Key::Primary(&["ID"])])
.expect(100)
.since(Series::V9_7);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&PROCESSLIST];
