//! global_variables, session_variables, global_status, session_status.

use tare_mysql::error::SqlError;

use crate::describe::{Column, Key, Rows, Spec, Table, col, null};
use crate::filter::Filter;
use crate::server::StatusBy;
use crate::source::Variable;
use crate::view::View;
use tare_mysql::variable::Scope;

#[rustfmt::skip] // One column, one line.
pub(super) const NAME: Column<Variable> = col("VARIABLE_NAME", "varchar(64)", "The variable's name.", |r| r.name.as_str().into());
#[rustfmt::skip] // One column, one line.
pub(super) const VALUE: Column<Variable> =
    null("VARIABLE_VALUE", "varchar(1024)", "The variable's value.", |r: &Variable| r.value.as_str().into()).in_mariadb("varchar(4096)");
const KEYS: &[Key] = &[Key::Primary(&["VARIABLE_NAME"])];

fn named(all: Vec<Variable>, filter: &Filter) -> Result<Rows<Variable>, SqlError> {
    let admit = filter.text("VARIABLE_NAME");
    let rows: Vec<Variable> = all
        .into_iter()
        .filter(|v| admit.admits_name(&v.name))
        .collect();
    Ok(Box::new(rows.into_iter()))
}

fn variables(view: &View, scope: Scope, filter: &Filter) -> Result<Rows<Variable>, SqlError> {
    named(crate::merged::variables(view, scope), filter)
}

fn status(view: &View, scope: Scope, filter: &Filter) -> Result<Rows<Variable>, SqlError> {
    let mut all = crate::merged::status(view, scope);
    // As in MySQL: commands are in events_statements_summary_*.
    all.retain(|v| !v.name.starts_with("Com_") || v.name == "Com_stmt_reprepare");
    named(all, filter)
}

static GLOBAL_VARIABLES: Spec<Variable> = Spec::new(
    "performance_schema",
    "global_variables",
    "The server's global system variables.",
    &[&[NAME, VALUE]],
    |view, filter| variables(view, Scope::Global, filter),
)
.mysql_only()
.keys(KEYS)
.filters(&["VARIABLE_NAME"])
.expect(200);

static SESSION_VARIABLES: Spec<Variable> = Spec::new(
    "performance_schema",
    "session_variables",
    "System variables of the current session.",
    &[&[NAME, VALUE]],
    |view, filter| variables(view, Scope::Session, filter),
)
.mysql_only()
.keys(KEYS)
.filters(&["VARIABLE_NAME"])
.expect(200);

static GLOBAL_STATUS: Spec<Variable> = Spec::new(
    "performance_schema",
    "global_status",
    "The server's global status variables.",
    &[&[NAME, VALUE]],
    |view, filter| status(view, Scope::Global, filter),
)
.keys(KEYS)
.filters(&["VARIABLE_NAME"])
.expect(200)
.truncate(|view| {
    for by in [
        StatusBy::Thread,
        StatusBy::Account,
        StatusBy::User,
        StatusBy::Host,
    ] {
        view.source.truncate_status(by);
    }
    Ok(())
});

static SESSION_STATUS: Spec<Variable> = Spec::new(
    "performance_schema",
    "session_status",
    "Status variables of the current session.",
    &[&[NAME, VALUE]],
    |view, filter| status(view, Scope::Session, filter),
)
.keys(KEYS)
.filters(&["VARIABLE_NAME"])
.expect(200);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &GLOBAL_VARIABLES,
    &SESSION_VARIABLES,
    &GLOBAL_STATUS,
    &SESSION_STATUS,
];
