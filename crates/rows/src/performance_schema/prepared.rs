//! prepared_statements_instances and events_statements_summary_by_program: what statements cost by
//! the object that they belong to.

use super::event::*;
use super::lists::stats;
use super::statements::{execution_engine, sums};
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::prepared::{Prepared, Program};

/// MySQL's type of a program's OBJECT_TYPE.
pub const OBJECT_TYPE: &str = "enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER')";

const EXECUTIONS: &[Column<Prepared>] =
    &stats!("COUNT_EXECUTE", "TIMER_EXECUTE", "Executions.", r => r.sums.stat);

#[rustfmt::skip] // One column, one line.
static PREPARED: Spec<Prepared> = Spec::new(
    "performance_schema",
    "prepared_statements_instances",
    "Prepared statements of each session, with statistics of their executions.",
    &[
        &[
            col("OBJECT_INSTANCE_BEGIN", U64, "The prepared statement's address in memory.", |r: &Prepared| r.address.into()),
            col("STATEMENT_ID", U64, "The statement's number in the protocol.", |r| r.id.into()),
            null("STATEMENT_NAME", "varchar(64)", "Its name; NULL if the binary protocol prepared it.", |r| Cell::opt(r.name.as_deref())),
            col("SQL_TEXT", "longtext", "The statement's text.", |r| (&*r.text).into()),
            col("OWNER_THREAD_ID", U64, "The thread that prepared it.", |r| r.owner.into()),
            col("OWNER_EVENT_ID", U64, "The event in which it was prepared.", |r| r.event.into()),
            null("OWNER_OBJECT_TYPE", OBJECT_TYPE, "The type of its stored program.", |r| Cell::opt(r.program.as_ref().map(|p| p.kind))),
            null("OWNER_OBJECT_SCHEMA", "varchar(64)", "The object's schema.", |r| Cell::opt(r.program.as_ref().map(|p| &*p.schema))),
            null("OWNER_OBJECT_NAME", "varchar(64)", "The object's name.", |r| Cell::opt(r.program.as_ref().map(|p| &*p.name))),
            execution_engine(),
            col("TIMER_PREPARE", U64, "How long preparing it took, in picoseconds.", |r| r.prepare.into()),
            col("COUNT_REPREPARE", U64, "How often it was reprepared because a table had changed.", |r| r.reprepares.into()),
        ],
        EXECUTIONS,
        &sums(),
    ],
    |view, _| view.snapshot.prepared_statements(),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Unique("OWNER_THREAD_ID", &["OWNER_THREAD_ID", "OWNER_EVENT_ID"]),
    Key::Plain("STATEMENT_ID", &["STATEMENT_ID"]),
    Key::Plain("STATEMENT_NAME", &["STATEMENT_NAME"]),
    Key::Plain(
        "OWNER_OBJECT_TYPE",
        &[
            "OWNER_OBJECT_TYPE",
            "OWNER_OBJECT_SCHEMA",
            "OWNER_OBJECT_NAME",
        ],
    ),
])
.expect(100)
.truncate(|view| view.snapshot.truncate_prepared());

#[rustfmt::skip] // One column, one line.
const STATEMENTS: &[Column<Program>] = &stats!("COUNT_STATEMENTS", "STATEMENTS_WAIT", "Statements run by the program.", r => r.sums.stat);

#[rustfmt::skip] // One column, one line.
static PROGRAMS: Spec<Program> = Spec::new(
    "performance_schema",
    "events_statements_summary_by_program",
    "Stored programs: their calls, and the statements that they ran.",
    &[
        &[
            col("OBJECT_TYPE", OBJECT_TYPE, "The object type.", |r: &Program| r.named.kind.into()).mysql_only(),
            null("OBJECT_TYPE", OBJECT_TYPE, "The object type.", |r: &Program| r.named.kind.into()).mariadb_only(),
            col("OBJECT_SCHEMA", "varchar(64)", "The object's schema.", |r| (&*r.named.schema).into()),
            col("OBJECT_NAME", "varchar(64)", "The object's name.", |r| (&*r.named.name).into()),
        ],
        &timing(),
        STATEMENTS,
        &sums(),
    ],
    |view, _| view.snapshot.programs(),
)
.keys(&[Key::Primary(&[
    "OBJECT_TYPE",
    "OBJECT_SCHEMA",
    "OBJECT_NAME",
])])
.expect(100)
.truncate(|view| view.snapshot.truncate_programs());

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&PREPARED, &PROGRAMS];
