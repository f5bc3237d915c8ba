//! setup_actors and setup_threads: which threads are instrumented when they come.

use std::sync::Arc;

use tare_reader::Actor;

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, Update, YES_NO, col, null};

/// A rule and its place.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Where the segment has it.
    pub place: usize,
    /// The rule.
    pub actor: Actor,
}

#[rustfmt::skip] // One column, one line.
const ACTORS: &[Column<Rule>] = &[
    col("HOST", "char(60)", "The host, or % for any.", |r: &Rule| (&*r.actor.host).into())
        .in_9_7("char(255)")
        .in_mariadb("char(255)")
        .default("%"),
    col("USER", "char(32)", "The user, or % for any.", |r: &Rule| (&*r.actor.user).into()).in_mariadb("char(128)").binary().default("%"),
    col("ROLE", "char(32)", "Always NULL, as in MySQL.", |r: &Rule| (&*r.actor.role).into()).in_mariadb("char(128)").binary().default("%"),
    col("ENABLED", YES_NO, "Whether new foreground threads are instrumented; can be updated.", |r: &Rule| Cell::yes_no(r.actor.enabled))
        .default("YES"),
    col("HISTORY", YES_NO, "Whether events of new threads go to histories; can be updated.", |r: &Rule| Cell::yes_no(r.actor.history))
        .default("YES"),
];

static SETUP_ACTORS: Spec<Rule> = Spec::new(
    "performance_schema",
    "setup_actors",
    "Which connections are instrumented. The most specific matching rule decides.",
    &[ACTORS],
    |view, _| view.snapshot.actors(),
)
.keys(&[Key::Primary(&["HOST", "USER", "ROLE"])])
.expect(10)
.update(
    |r| r.place as i64,
    Update {
        columns: &["ENABLED", "HISTORY"],
        apply: |view, rowid, changes| view.snapshot.set_actor(rowid as usize, changes),
    },
)
.change(
    |view, row| view.snapshot.add_actor(row),
    |view, rowid| view.snapshot.remove_actor(rowid as usize),
)
.truncate(|view| view.snapshot.clear_actors());

/// A class of threads.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct ThreadClass {
    /// The class's number in the segment.
    pub id: usize,
    pub name: Arc<str>,
    pub enabled: bool,
    pub history: bool,
    pub properties: String,
    pub volatility: i64,
    pub documentation: Option<Arc<str>>,
}

#[rustfmt::skip] // One column, one line.
const THREADS: &[Column<ThreadClass>] = &[
    col("NAME", "varchar(128)", "The thread instrument.", |r| (&*r.name).into()),
    col("ENABLED", YES_NO, "Whether new background threads of this kind are instrumented; can be updated.", |r| Cell::yes_no(r.enabled)),
    col("HISTORY", YES_NO, "Whether events of new threads go to the history tables; can be updated.", |r| Cell::yes_no(r.history)),
    col("PROPERTIES", "set('singleton','user')", "Properties of such threads: singleton, user.", |r| r.properties.as_str().into()),
    col("VOLATILITY", "int(11)", "How short-lived such threads are; 0 if unknown.", |r| r.volatility.into()),
    null("DOCUMENTATION", "longtext", "What such threads do.", |r| Cell::opt(r.documentation.as_deref())),
];

static SETUP_THREADS: Spec<ThreadClass> = Spec::new(
    "performance_schema",
    "setup_threads",
    "The thread instruments, with the settings that new threads start with.",
    &[THREADS],
    |view, filter| view.snapshot.thread_classes(filter),
)
.keys(&[Key::Primary(&["NAME"])])
.filters(&["NAME"])
.expect(20)
.mysql_only()
.update(
    |r| r.id as i64,
    Update {
        columns: &["ENABLED", "HISTORY"],
        apply: |view, rowid, changes| view.snapshot.set_thread_class(rowid as usize, changes),
    },
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&SETUP_ACTORS, &SETUP_THREADS];
