//! SCHEMATA.

use tare_mysql::series::Series;

use super::all_tables::schemas;
use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::source::Database;

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Database>] = &[
    col("CATALOG_NAME", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("SCHEMA_NAME", "varchar(64)", "The database.", |r| r.name.as_str().into()),
    col("DEFAULT_CHARACTER_SET_NAME", "varchar(64)", "The default character set.", |r| r.charset.as_str().into()),
    col("DEFAULT_COLLATION_NAME", "varchar(64)", "The default collation.", |r| r.collation.as_str().into()),
    null("SQL_PATH", "binary(0)", "Always NULL.", |_| Cell::Null).in_9_7("varbinary(0)"),
    col("DEFAULT_ENCRYPTION", "enum('NO','YES')", "Always NO: databases are not encrypted.", |_| Cell::text("NO")).since(Series::V9_7),
];

static SCHEMATA: Spec<Database> = Spec::new(
    "information_schema",
    "SCHEMATA",
    "The databases.",
    &[COLUMNS],
    |view, filter| {
        Ok(Box::new(
            schemas(&*view.source, filter, "SCHEMA_NAME").into_iter(),
        ))
    },
)
.filters(&["SCHEMA_NAME"])
.expect(10);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&SCHEMATA];
