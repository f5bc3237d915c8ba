//! variables_metadata: what variables may be set to.

use tare_mysql::series::Series;
use tare_mysql::variable::{Scope, Settable, Type, Variable, find_in};

use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::view::View;

/// A limit of a number. Other variables have none: an empty text, as in MySQL.
fn limit(variable: &Variable, limit: &'static str) -> Cell<'static> {
    match variable.value_type {
        Type::Number | Type::Real => limit.into(),
        Type::Switch | Type::Word | Type::Text | Type::Modes(_) => "".into(),
    }
}

fn scope(variable: &Variable) -> &'static str {
    match variable.settable {
        Settable::Fixed | Settable::Global | Settable::Shared => "GLOBAL",
        Settable::Both => "SESSION",
        Settable::Session => "SESSION_ONLY",
    }
}

fn data_type(variable: &Variable) -> &'static str {
    match variable.value_type {
        Type::Switch => "Boolean",
        Type::Word => "Enumeration",
        Type::Number => "Integer",
        Type::Real => "Numeric",
        Type::Text => "String",
        Type::Modes(_) => "Set",
    }
}

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<&'static Variable>] = &[
    col("VARIABLE_NAME", "varchar(64)", "The variable's name.", |r| r.name.into()),
    col("VARIABLE_SCOPE", "enum('GLOBAL','SESSION','SESSION_ONLY')", "SESSION: the server and sessions have it.", |r| scope(r).into()),
    col("DATA_TYPE", "enum('Integer','Numeric','String','Enumeration','Boolean','Set')", "Its type.", |r| data_type(r).into()),
    null("MIN_VALUE", "varchar(64)", "The smallest value of a number.", |r| limit(r, r.min)),
    null("MAX_VALUE", "varchar(64)", "The largest value of a number.", |r| limit(r, r.max)),
    col("DOCUMENTATION", "mediumtext", "Always empty: MySQL's manual has the texts.", |_| "".into()),
];

fn variables(view: &View) -> Vec<&'static Variable> {
    let mut names = view.source.variables(Scope::Global);
    names.extend(view.source.variables(Scope::Session));
    let series = view.source.series();
    let all = names.iter().filter_map(|v| find_in(series, &v.name));
    let mut all: Vec<&Variable> = all.collect();
    all.sort_by_key(|v| v.name);
    all.dedup_by_key(|v| v.name);
    all
}

static VARIABLES_METADATA: Spec<&'static Variable> = Spec::new(
    "performance_schema",
    "variables_metadata",
    "What system variables may be set to, and where.",
    &[COLUMNS],
    |view, _| Ok(Box::new(variables(view).into_iter())),
)
.expect(600)
.since(Series::V9_7);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&VARIABLES_METADATA];
