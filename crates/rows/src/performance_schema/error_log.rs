//! error_log: the server's messages.

use tare_mysql::series::Series::V9_7;

use crate::cell::Cell;
use crate::describe::{Key, Spec, Table, U64, col, null};
use crate::server::LogLine;
use crate::time::timestamp;

#[rustfmt::skip] // One column, one line.
static ERROR_LOG: Spec<LogLine> = Spec::new(
    "performance_schema",
    "error_log",
    "The last 1,000 lines of the log of tare serve. What an attached program writes is not known \
     here, and a segment has no log: there it is empty.",
    &[&[
        col("LOGGED", "timestamp(6)", "When it was written.", |r: &LogLine| Cell::owned(timestamp(r.logged_us))),
        null("THREAD_ID", U64, "Always 0: no connection writes lines of its own.", |_| 0_u64.into()),
        col("PRIO", "enum('System','Error','Warning','Note')", "How grave it is.", |r| r.priority.into()),
        null("ERROR_CODE", "varchar(10)", "Always NULL: lines have no numbers.", |_| Cell::Null),
        null("SUBSYSTEM", "varchar(7)", "The part that wrote it: Server, or SQLite for what stores the databases.", |r| r.subsystem.into()),
        col("DATA", "text", "The text.", |r| r.text.as_str().into()),
    ]],
    |view, _| Ok(Box::new(view.source.error_log().into_iter())),
)
.keys(&[
    Key::Primary(&["LOGGED"]),
    Key::Plain("THREAD_ID", &["THREAD_ID"]),
    Key::Plain("PRIO", &["PRIO"]),
    Key::Plain("ERROR_CODE", &["ERROR_CODE"]),
    Key::Plain("SUBSYSTEM", &["SUBSYSTEM"]),
])
.expect(20)
.since(V9_7);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&ERROR_LOG];
