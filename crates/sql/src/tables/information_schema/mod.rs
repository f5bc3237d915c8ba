//! information_schema: databases, tables, columns, indexes and what else clients ask for.

pub mod columns;
pub mod constants;
pub mod engine;
pub mod keywords;
pub mod metrics;
pub mod nothing;
pub mod routines;
pub mod schemata;
pub mod statistics;
pub mod stored;
pub mod tables;

use std::sync::Arc;

use tare_mysql::schema::SYSTEM_SCHEMAS;
use tare_mysql::table::TableDef;

use crate::catalog::{Database, Filter, Source, Table};

/// Its tables, file by file.
pub static TABLES: &[&[&dyn Table]] = &[
    columns::TABLES,
    constants::TABLES,
    keywords::TABLES,
    metrics::TABLES,
    engine::TABLES,
    nothing::TABLES,
    routines::TABLES,
    schemata::TABLES,
    statistics::TABLES,
    stored::TABLES,
    tables::TABLES,
];

/// The databases that a filter on a schema column leaves: the catalog's own and the user's.
fn schemas(source: &dyn Source, filter: &Filter, column: &str) -> Vec<Database> {
    let admit = filter.text(column);
    let own = SYSTEM_SCHEMAS.iter().map(|name| {
        let mut database = Database::new(*name);
        if *name == "information_schema" {
            database.charset = "utf8".into();
            database.collation = "utf8_general_ci".into();
        }
        database
    });
    own.chain(source.databases())
        .filter(|d| admit.admits_name(&d.name))
        .collect()
}

/// A table of the catalog's or of the user's.
enum AnyTable {
    Catalog(&'static dyn Table),
    User(Arc<TableDef>),
}

/// The tables that filters on TABLE_SCHEMA and TABLE_NAME leave, with their schemas.
fn tables_of(source: &dyn Source, filter: &Filter) -> Vec<(Database, AnyTable)> {
    let admit = filter.text("TABLE_NAME");
    let mut found = Vec::new();
    for database in schemas(source, filter, "TABLE_SCHEMA") {
        let own = crate::catalog::tables_in(&database.name).into_iter();
        for table in own.filter(|t| admit.admits_name(t.name())) {
            found.push((database.clone(), AnyTable::Catalog(table)));
        }
        if SYSTEM_SCHEMAS.contains(&database.name.as_str()) {
            continue;
        }
        for table in source.tables(&database.name) {
            if admit.admits_name(&table.name) {
                found.push((database.clone(), AnyTable::User(table)));
            }
        }
    }
    found
}
