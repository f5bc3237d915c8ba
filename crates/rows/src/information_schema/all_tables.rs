//! The databases and tables that information_schema lists: the system schemas' and the user's.

use std::sync::Arc;

use tare_mysql::schema::SYSTEM_SCHEMAS;
use tare_mysql::series::Series;
use tare_mysql::table::TableDef;

use crate::describe::Table;
use crate::filter::Filter;
use crate::source::{Database, Source};
use crate::view::View;

/// The databases that match a filter on a schema column: the catalog's own and the user's.
pub(super) fn schemas(source: &dyn Source, filter: &Filter, column: &str) -> Vec<Database> {
    let admit = filter.text(column);
    let own = SYSTEM_SCHEMAS.iter().map(|name| {
        let mut database = Database::new(*name);
        if *name == "information_schema" {
            let charset = match source.series() {
                Series::V9_7 => "utf8mb3",
                _ => "utf8",
            };
            database.charset = charset.into();
            database.collation = format!("{charset}_general_ci");
        }
        database
    });
    own.chain(source.databases().into_iter().map(Database::new))
        .filter(|d| admit.admits_name(&d.name))
        .collect()
}

/// A table of the catalog's or of the user's.
pub(super) enum AnyTable {
    Catalog(&'static dyn Table),
    User(Arc<TableDef>),
}

/// The tables that filters on TABLE_SCHEMA and TABLE_NAME leave, with their schemas.
pub(super) fn tables_of(view: &View, filter: &Filter) -> Vec<(Database, AnyTable)> {
    let admit = filter.text("TABLE_NAME");
    let mut tables = Vec::new();
    for database in schemas(&*view.source, filter, "TABLE_SCHEMA") {
        let own = view.tables_in(&database.name).into_iter();
        for table in own.filter(|t| admit.admits_name(t.name())) {
            tables.push((database.clone(), AnyTable::Catalog(table)));
        }
        if SYSTEM_SCHEMAS.contains(&database.name.as_str()) {
            continue;
        }
        for table in view.source.tables(&database.name) {
            if admit.admits_name(&table.name) {
                tables.push((database.clone(), AnyTable::User(table)));
            }
        }
    }
    tables
}
