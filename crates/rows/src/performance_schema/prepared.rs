//! prepared_statements_instances and events_statements_summary_by_program: what statements cost by
//! the thing that they belong to.

use std::sync::Arc;

use super::event::*;
use super::lists::stats;
use super::statements::sums;
use super::tables::Named;
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::event::*;
use crate::record::statement::{HasSums, Sums};

/// MySQL's type of a program's OBJECT_TYPE.
pub const OBJECT_TYPE: &str = "enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER')";

/// A prepared statement.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// OBJECT_INSTANCE_BEGIN.
    pub address: u64,
    /// STATEMENT_ID.
    pub id: u64,
    /// STATEMENT_NAME.
    pub name: Option<Arc<str>>,
    /// SQL_TEXT.
    pub text: Arc<str>,
    /// OWNER_THREAD_ID.
    pub owner: u64,
    /// OWNER_EVENT_ID.
    pub event: u64,
    /// The program that prepared it.
    pub program: Option<Named>,
    /// TIMER_PREPARE.
    pub prepare: u64,
    /// COUNT_REPREPARE.
    pub reprepares: u64,
    /// Its executions.
    pub sums: Sums,
}

impl HasStat for Prepared {
    fn stat(&self) -> &Stat {
        &self.sums.stat
    }
}

impl HasSums for Prepared {
    fn sums(&self) -> &Sums {
        &self.sums
    }
}

const EXECUTIONS: &[Column<Prepared>] =
    &stats!("COUNT_EXECUTE", "TIMER_EXECUTE", "Executions.", r => r.sums.stat);

static PREPARED: Spec<Prepared> = Spec::new(
    "performance_schema",
    "prepared_statements_instances",
    "The statements that sessions have prepared, and what executing them has cost.",
    &[
        &[
            col(
                "OBJECT_INSTANCE_BEGIN",
                U64,
                "The statement's address.",
                |r: &Prepared| r.address.into(),
            ),
            col("STATEMENT_ID", U64, "Its number in the protocol.", |r| {
                r.id.into()
            }),
            null(
                "STATEMENT_NAME",
                "varchar(64)",
                "Its name; NULL for one of the binary protocol.",
                |r| Cell::opt(r.name.as_deref()),
            ),
            col("SQL_TEXT", "longtext", "Its text.", |r| (&*r.text).into()),
            col("OWNER_THREAD_ID", U64, "Whose it is.", |r| r.owner.into()),
            col("OWNER_EVENT_ID", U64, "The event that prepared it.", |r| {
                r.event.into()
            }),
            null(
                "OWNER_OBJECT_TYPE",
                OBJECT_TYPE,
                "The program that prepared it: its type.",
                |r| Cell::opt(r.program.as_ref().map(|p| p.kind)),
            ),
            null("OWNER_OBJECT_SCHEMA", "varchar(64)", "Its schema.", |r| {
                Cell::opt(r.program.as_ref().map(|p| &*p.schema))
            }),
            null("OWNER_OBJECT_NAME", "varchar(64)", "Its name.", |r| {
                Cell::opt(r.program.as_ref().map(|p| &*p.name))
            }),
            col("TIMER_PREPARE", U64, "What preparing it took.", |r| {
                r.prepare.into()
            }),
            col(
                "COUNT_REPREPARE",
                U64,
                "How often it was prepared anew, because a table had changed.",
                |r| r.reprepares.into(),
            ),
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

/// A stored program.
#[derive(Debug, Clone)]
pub struct Program {
    /// It.
    pub named: Named,
    /// Its calls.
    pub calls: Stat,
    /// The statements in it.
    pub sums: Sums,
}

impl HasStat for Program {
    fn stat(&self) -> &Stat {
        &self.calls
    }
}

impl HasSums for Program {
    fn sums(&self) -> &Sums {
        &self.sums
    }
}

const STATEMENTS: &[Column<Program>] = &stats!(
    "COUNT_STATEMENTS", "STATEMENTS_WAIT", "Statements run in it.", r => r.sums.stat
);

static PROGRAMS: Spec<Program> = Spec::new(
    "performance_schema",
    "events_statements_summary_by_program",
    "Stored programs: their calls, and the statements in them.",
    &[
        &[
            col("OBJECT_TYPE", OBJECT_TYPE, "What it is.", |r: &Program| {
                r.named.kind.into()
            }),
            col("OBJECT_SCHEMA", "varchar(64)", "Its schema.", |r| {
                (&*r.named.schema).into()
            }),
            col("OBJECT_NAME", "varchar(64)", "Its name.", |r| {
                (&*r.named.name).into()
            }),
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
