//! The tables: each described once, its rows made from a [`snapshot::Snapshot`] of the segment
//! or from what the server says of itself.

pub mod cost;
pub mod information_schema;
pub mod mysql;
pub mod performance_schema;
pub mod snapshot;
pub mod sys;
pub mod tare;
pub mod time;

use std::sync::OnceLock;

use crate::catalog::{Scope, Table, Variable, VariableInfo, View};

/// Every table, by schema and name.
pub fn all() -> &'static [&'static dyn Table] {
    static ALL: OnceLock<Vec<&'static dyn Table>> = OnceLock::new();
    ALL.get_or_init(|| {
        let files = [
            performance_schema::TABLES,
            information_schema::TABLES,
            mysql::TABLES,
            sys::TABLES,
            tare::TABLES,
        ];
        let mut all: Vec<_> = files
            .into_iter()
            .flatten()
            .flat_map(|t| t.iter().copied())
            .collect();
        all.sort_by_key(|t| (t.schema(), t.name()));
        all
    })
}

/// A table by names without case.
pub fn find(schema: &str, name: &str) -> Option<&'static dyn Table> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    all()
        .iter()
        .copied()
        .find(|t| same(t.schema(), schema) && same(t.name(), name))
}

fn merged(mut server: Vec<Variable>, own: Vec<Variable>) -> Vec<Variable> {
    // What the segment says is the truth; a server may not contradict it.
    server.retain(|s| !own.iter().any(|o| o.name.eq_ignore_ascii_case(&s.name)));
    server.extend(own);
    server.sort_by_cached_key(|v| v.name.to_ascii_lowercase());
    server
}

/// The variables of a scope, performance_schema's own among them.
pub fn variables(view: &View, scope: Scope) -> Vec<Variable> {
    merged(view.source.variables(scope), view.snapshot.variables())
}

/// The status counters of a scope, performance_schema's own among them.
pub fn status(view: &View, scope: Scope) -> Vec<Variable> {
    merged(view.source.status(scope), view.snapshot.status())
}

/// Where the values of the variables come from, performance_schema's own among them.
pub fn variables_info(view: &View) -> Vec<VariableInfo> {
    let mut all = view.source.variables_info();
    for own in view.snapshot.variables() {
        if !all.iter().any(|v| v.name == own.name) {
            all.push(VariableInfo {
                name: own.name,
                source: "COMPILED",
                min: "0",
                max: "0",
                ..VariableInfo::default()
            });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
