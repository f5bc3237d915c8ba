//! PARTITIONS: no table has partitions, so each table has one row, as in MySQL.

use tare_mysql::series::Series;

use super::tables::{BIG, Row, bytes_per_row, rows};
use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};

/// A figure of a table; views have 0 here.
fn or_zero(cell: Cell<'_>) -> Cell<'_> {
    match cell {
        Cell::Null => Cell::Unsigned(0),
        cell => cell,
    }
}

/// A column that only a partition has.
const fn of_partition(name: &'static str, column_type: &'static str) -> Column<Row> {
    null(
        name,
        column_type,
        "Always NULL: the table has no partitions.",
        |_| Cell::Null,
    )
}

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Row>] = &[
    col("TABLE_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("TABLE_SCHEMA", "varchar(64)", "The database.", |r: &Row| r.schema()),
    col("TABLE_NAME", "varchar(64)", "The table or view.", |r| r.name().into()),
    of_partition("PARTITION_NAME", "varchar(64)"),
    of_partition("SUBPARTITION_NAME", "varchar(64)"),
    of_partition("PARTITION_ORDINAL_POSITION", "int(10) unsigned"),
    of_partition("SUBPARTITION_ORDINAL_POSITION", "int(10) unsigned"),
    of_partition("SECONDARY_LOAD", "varchar(1)").since(Series::V9_7),
    of_partition("PARTITION_METHOD", "varchar(13)"),
    of_partition("SUBPARTITION_METHOD", "varchar(13)"),
    of_partition("PARTITION_EXPRESSION", "varchar(2048)"),
    of_partition("SUBPARTITION_EXPRESSION", "varchar(2048)"),
    of_partition("PARTITION_DESCRIPTION", "text"),
    null("TABLE_ROWS", BIG, "As in TABLES; 0 if unknown.", |r| or_zero(r.table_rows())),
    null("AVG_ROW_LENGTH", BIG, "As in TABLES; 0 if unknown.", |r| or_zero(r.pages(bytes_per_row))),
    null("DATA_LENGTH", BIG, "As in TABLES; 0 if unknown.", |r| or_zero(r.pages(|s| s.data_bytes))),
    null("MAX_DATA_LENGTH", BIG, "Always 0: no limit is known.", |_| Cell::Unsigned(0)),
    null("INDEX_LENGTH", BIG, "As in TABLES; 0 if unknown.", |r| or_zero(r.pages(|s| s.index_bytes))),
    null("DATA_FREE", BIG, "Always 0: not counted by table.", |_| Cell::Unsigned(0)),
    null("CREATE_TIME", "timestamp", "As in TABLES.", Row::create_time),
    null("UPDATE_TIME", "datetime", "Always NULL: not recorded.", |_| Cell::Null),
    null("CHECK_TIME", "datetime", "Always NULL: not recorded.", |_| Cell::Null),
    null("CHECKSUM", "bigint(21)", "Always NULL: not computed.", |_| Cell::Null),
    null("PARTITION_COMMENT", "text", "Always empty.", |_| Cell::text("")),
    null("NODEGROUP", "varchar(256)", "Always empty.", |_| Cell::text("")),
    of_partition("TABLESPACE_NAME", "varchar(259)"),
];

static PARTITIONS: Spec<Row> = Spec::new(
    "information_schema",
    "PARTITIONS",
    "The tables and views. None has partitions, so each has one row.",
    &[COLUMNS],
    |view, filter| Ok(Box::new(rows(view, filter).into_iter())),
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"])
.expect(200);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&PARTITIONS];
