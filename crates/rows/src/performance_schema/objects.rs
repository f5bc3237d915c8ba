//! setup_objects: which tables and programs are counted.

use tare_reader::Rule;

use super::prepared::OBJECT_TYPE;
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, Update, YES_NO, col, null};

#[rustfmt::skip] // One column, one line.
const RULES: &[Column<Rule>] = &[
    col("OBJECT_TYPE", OBJECT_TYPE, "The object type.", |r: &Rule| r.kind.text().into()).default("TABLE"),
    null("OBJECT_SCHEMA", "varchar(64)", "The schema, or % for any.", |r: &Rule| (&*r.schema).into()).default("%"),
    col("OBJECT_NAME", "varchar(64)", "The name, or % for any.", |r: &Rule| (&*r.name).into()).default("%"),
    col("ENABLED", YES_NO, "Whether their events are recorded; can be updated.", |r: &Rule| Cell::yes_no(r.enabled)).default("YES"),
    col("TIMED", YES_NO, "Whether these events are timed; can be updated.", |r: &Rule| Cell::yes_no(r.timed)).default("YES"),
];

static SETUP_OBJECTS: Spec<Rule> = Spec::new(
    "performance_schema",
    "setup_objects",
    "Which tables and stored programs are instrumented. A rule for the object's name takes \
     precedence over one for its schema, and that over one for any schema.",
    &[RULES],
    |view, _| view.snapshot.object_rules(),
)
.keys(&[Key::Unique(
    "OBJECT",
    &["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME"],
)])
.expect(20)
.update(
    |r| r.place as i64,
    Update {
        columns: &["ENABLED", "TIMED"],
        apply: |view, rowid, changes| view.snapshot.set_object_rule(rowid as usize, changes),
    },
)
.change(
    |view, row| view.snapshot.add_object_rule(row),
    |view, rowid| view.snapshot.remove_object_rule(rowid as usize),
)
.truncate(|view| view.snapshot.clear_object_rules());

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&SETUP_OBJECTS];
