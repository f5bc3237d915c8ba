//! Tables that MySQL 9.7 added: attributes of tables, columns, keys, databases and users, and CHECK
//! constraints.

use tare_mysql::series::Series::V9_7;

use super::all_tables::{AnyTable, schemas, tables_of};
use super::engine::spaces;
use super::statistics::unique_keys;
use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::filter::Filter;
use crate::source::Database;
use crate::view::View;
use tare_mysql::account::Account;

/// The names that a row has: of a database, a table, and a column or a key.
struct RowNames {
    schema: String,
    table: String,
    name: String,
}

const fn catalog<R>(name: &'static str) -> Column<R> {
    col(name, "varchar(64)", "Always def.", |_| Cell::text("def"))
}

#[rustfmt::skip] // One column, one line.
const SCHEMA: Column<RowNames> = col("TABLE_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into());
#[rustfmt::skip] // One column, one line.
const TABLE: Column<RowNames> = col("TABLE_NAME", "varchar(64)", "The table.", |r| r.table.as_str().into());
#[rustfmt::skip] // One column, one line.
const OF_CONSTRAINT: Column<RowNames> = col("CONSTRAINT_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into());

#[rustfmt::skip] // One column, one line.
const fn attribute<R>() -> Column<R> {
    null("ENGINE_ATTRIBUTE", "json", "Always NULL: the engine has no attributes.", |_| Cell::Null)
}

#[rustfmt::skip] // One column, one line.
const fn second_attribute<R>() -> Column<R> {
    null("SECONDARY_ENGINE_ATTRIBUTE", "json", "Always NULL: there is no second engine.", |_| Cell::Null)
}

fn names(table: &AnyTable) -> (String, Vec<String>) {
    match table {
        AnyTable::Catalog(table) => {
            let columns = table.columns();
            let columns = columns.iter().map(|c| c.name.to_owned()).collect();
            (table.name().to_owned(), columns)
        }
        AnyTable::User(table) => {
            let columns = table.columns.iter().map(|c| c.name.clone()).collect();
            (table.name.clone(), columns)
        }
    }
}

static TABLES_EXTENSIONS: Spec<RowNames> = Spec::new(
    "information_schema",
    "TABLES_EXTENSIONS",
    "Attributes of tables that are meant for their engine.",
    &[&[
        catalog("TABLE_CATALOG"),
        SCHEMA,
        TABLE,
        attribute(),
        second_attribute(),
    ]],
    |view, filter| {
        let tables = tables_of(view, filter).into_iter();
        Ok(Box::new(tables.map(|(database, table)| RowNames {
            schema: database.name,
            table: names(&table).0,
            name: String::new(),
        })))
    },
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"])
.since(V9_7);

fn columns(view: &View, filter: &Filter) -> Vec<RowNames> {
    let mut rows = Vec::new();
    for (database, table) in tables_of(view, filter) {
        let (table, columns) = names(&table);
        rows.extend(columns.into_iter().map(|name| RowNames {
            schema: database.name.clone(),
            table: table.clone(),
            name,
        }));
    }
    rows
}

#[rustfmt::skip] // One column, one line.
static COLUMNS_EXTENSIONS: Spec<RowNames> = Spec::new(
    "information_schema",
    "COLUMNS_EXTENSIONS",
    "Attributes of columns that are meant for their engine.",
    &[&[
        catalog("TABLE_CATALOG"),
        SCHEMA,
        TABLE,
        null("COLUMN_NAME", "varchar(64)", "The column.", |r| r.name.as_str().into()),
        attribute(),
        second_attribute(),
    ]],
    |view, filter| Ok(Box::new(columns(view, filter).into_iter())),
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"])
.expect(2000)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static TABLE_CONSTRAINTS_EXTENSIONS: Spec<RowNames> = Spec::new(
    "information_schema",
    "TABLE_CONSTRAINTS_EXTENSIONS",
    "Attributes of primary and unique keys that are meant for their engine.",
    &[&[
        catalog("CONSTRAINT_CATALOG"),
        OF_CONSTRAINT,
        col("CONSTRAINT_NAME", "varchar(64)", "The key.", |r| r.name.as_str().into()),
        TABLE,
        attribute(),
        second_attribute(),
    ]],
    |view, _| {
        let keys = unique_keys(view).into_iter();
        Ok(Box::new(keys.map(|(schema, table, name)| RowNames {
            schema,
            table,
            name,
        })))
    },
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static SCHEMATA_EXTENSIONS: Spec<Database> = Spec::new(
    "information_schema",
    "SCHEMATA_EXTENSIONS",
    "Options of databases.",
    &[&[
        catalog("CATALOG_NAME"),
        col("SCHEMA_NAME", "varchar(64)", "The database.", |r: &Database| r.name.as_str().into()),
        null("OPTIONS", "varchar(256)", "Always empty: no database is READ ONLY.", |_| Cell::text("")),
    ]],
    |view, filter| {
        let all = schemas(&*view.source, filter, "SCHEMA_NAME");
        Ok(Box::new(all.into_iter()))
    },
)
.filters(&["SCHEMA_NAME"])
.expect(10)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static TABLESPACES_EXTENSIONS: Spec<String> = Spec::new(
    "information_schema",
    "TABLESPACES_EXTENSIONS",
    "Attributes of tablespaces that are meant for their engine.",
    &[&[
        col("TABLESPACE_NAME", "varchar(268)", "The tablespace: a database's file.", |r: &String| r.as_str().into()),
        attribute(),
    ]],
    |view, _| Ok(Box::new(spaces(view).into_iter().map(|space| space.name))),
)
.expect(10)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static USER_ATTRIBUTES: Spec<Account> = Spec::new(
    "information_schema",
    "USER_ATTRIBUTES",
    "Comments and attributes of accounts.",
    &[&[
        col("USER", "char(32)", "The user.", |r: &Account| r.user.as_str().into()),
        col("HOST", "char(255)", "The host.", |r| r.host.as_str().into()),
        null("ATTRIBUTE", "longtext", "Always NULL: accounts have no comment.", |_| Cell::Null),
    ]],
    |view, _| Ok(Box::new(view.source.accounts().into_iter())),
)
.expect(10)
.since(V9_7);

fn checks(view: &View, filter: &Filter) -> Vec<(RowNames, String)> {
    let admit = filter.text("CONSTRAINT_SCHEMA");
    let mut rows = Vec::new();
    for (database, table) in tables_of(view, &Filter::all()) {
        let AnyTable::User(table) = table else {
            continue;
        };
        if !admit.admits_name(&database.name) {
            continue;
        }
        rows.extend(table.checks.iter().map(|check| {
            let named = RowNames {
                schema: database.name.clone(),
                table: table.name.clone(),
                name: check.name.clone(),
            };
            (named, format!("({})", check.condition))
        }));
    }
    rows
}

#[rustfmt::skip] // One column, one line.
static CHECK_CONSTRAINTS: Spec<(RowNames, String)> = Spec::new(
    "information_schema",
    "CHECK_CONSTRAINTS",
    "The CHECK constraints.",
    &[&[
        catalog("CONSTRAINT_CATALOG"),
        col("CONSTRAINT_SCHEMA", "varchar(64)", "The database.", |r: &(RowNames, String)| r.0.schema.as_str().into()),
        col("CONSTRAINT_NAME", "varchar(64)", "The constraint.", |r| r.0.name.as_str().into()),
        col("CHECK_CLAUSE", "longtext", "The expression.", |r| r.1.as_str().into()),
    ]],
    |view, filter| Ok(Box::new(checks(view, filter).into_iter())),
)
.filters(&["CONSTRAINT_SCHEMA"])
.since(V9_7);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &CHECK_CONSTRAINTS,
    &COLUMNS_EXTENSIONS,
    &SCHEMATA_EXTENSIONS,
    &TABLES_EXTENSIONS,
    &TABLESPACES_EXTENSIONS,
    &TABLE_CONSTRAINTS_EXTENSIONS,
    &USER_ATTRIBUTES,
];
