//! COLUMNS.

use tare_mysql::account::Rights;
use tare_mysql::schema::TARE;
use tare_mysql::series::Series;
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types::{self, Parts};

use super::all_tables::{AnyTable, tables_of};
use crate::cell::Cell;
use crate::describe::{Column, Key, Meta, Spec, Table, Update, col, null};
use crate::filter::Filter;
use crate::show::charset;
use crate::source::Database;
use crate::view::View;

struct Row {
    schema: String,
    collation: String,
    charset: String,
    table: String,
    name: String,
    position: u32,
    default: Option<String>,
    nullable: bool,
    column_type: String,
    parts: Parts,
    key: &'static str,
    extra: String,
    privileges: &'static str,
    comment: String,
}

impl Row {
    fn characters(&self) -> Option<u64> {
        // That of a document is not limited in characters.
        self.parts
            .characters()
            .filter(|_| self.parts.base != "json")
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.characters()? * self.bytes_per_character())
    }

    /// Bytes that a character of the column may take.
    fn bytes_per_character(&self) -> u64 {
        match (self.parts.is_text(), self.charset.as_str()) {
            (true, "utf8mb4") if !self.parts.base.ends_with("text") => 4,
            (true, "utf8" | "utf8mb3") if !self.parts.base.ends_with("text") => 3,
            _ => 1,
        }
    }
}

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Row>] = &[
    col("TABLE_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("TABLE_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    col("TABLE_NAME", "varchar(64)", "The table.", |r| r.table.as_str().into()),
    null("COLUMN_NAME", "varchar(64)", "The column.", |r| r.name.as_str().into()),
    col("ORDINAL_POSITION", "int(10) unsigned", "The position, from 1.", |r| r.position.into()),
    null("COLUMN_DEFAULT", "longtext", "The default value.", |r| Cell::opt(r.default.as_deref())),
    col("IS_NULLABLE", "varchar(3)", "Whether the column can be NULL.", |r| Cell::yes_no(r.nullable)),
    null("DATA_TYPE", "longtext", "The data type without length and attributes.", |r| r.parts.base.as_str().into()),
    null("CHARACTER_MAXIMUM_LENGTH", "bigint(21)", "The maximum length, in characters.", |r| Cell::opt(r.characters())),
    null("CHARACTER_OCTET_LENGTH", "bigint(21)", "The maximum length, in bytes.", |r| Cell::opt(r.bytes())),
    null("NUMERIC_PRECISION", "bigint(10) unsigned", "The numeric precision, in digits.", |r| Cell::opt(r.parts.numeric().map(|(n, _)| n))),
    null("NUMERIC_SCALE", "bigint(10) unsigned", "Digits after the decimal point.", |r| Cell::opt(r.parts.numeric().and_then(|(_, n)| n))),
    null("DATETIME_PRECISION", "int(10) unsigned", "The fractional seconds precision, in digits.", |r| Cell::opt(r.parts.fraction())),
    null("CHARACTER_SET_NAME", "varchar(64)", "The character set.", |r| Cell::opt(r.parts.is_text().then_some(r.charset.as_str()))),
    null("COLLATION_NAME", "varchar(64)", "The collation.", |r| Cell::opt(r.parts.is_text().then_some(r.collation.as_str()))),
    col("COLUMN_TYPE", "mediumtext", "The data type with length and attributes.", |r| r.column_type.as_str().into()),
    col("COLUMN_KEY", "enum('','PRI','UNI','MUL')", "PRI, UNI or MUL for a column of a key.", |r| r.key.into()),
    null("EXTRA", "varchar(56)", "Further attributes, such as auto_increment.", |r| r.extra.as_str().into()),
    null("PRIVILEGES", "varchar(154)", "The privileges of the current account on the column.", |r| r.privileges.into()),
    col("COLUMN_COMMENT", "text", "The comment; for schema tare, what the column shows.", |r| r.comment.as_str().into()),
    col("GENERATION_EXPRESSION", "longtext", "Always empty.", |_| Cell::text("")),
    null("SRS_ID", "int(10) unsigned", "Always NULL.", |_| Cell::Null),
];

/// COLUMN_KEY of a column, from keys as (unique, primary, columns).
fn key_of<'a>(name: &str, keys: impl Iterator<Item = (bool, bool, Vec<&'a str>)>) -> &'static str {
    let mut best = "";
    for (unique, primary, columns) in keys {
        let first = columns
            .first()
            .is_some_and(|c| c.eq_ignore_ascii_case(name));
        let within = columns.iter().any(|c| c.eq_ignore_ascii_case(name));
        if primary && within {
            return "PRI";
        }
        if first && unique && columns.len() == 1 {
            best = "UNI";
        } else if first && best.is_empty() {
            best = "MUL";
        }
    }
    best
}

/// PRIVILEGES of an account that may do everything.
const ALL_PRIVILEGES: &str = "select,insert,update,references";

/// PRIVILEGES of a column of a system schema. As in MySQL they are those granted, even if the table is read-only.
fn privileges(rights: Rights, table: &dyn Table, meta: &Meta) -> &'static str {
    let is_ours = matches!(table.schema(), "information_schema" | TARE);
    let settable = |update: &Update| update.columns.contains(&meta.name);
    match table.update().is_some_and(settable) {
        _ if rights.all && !is_ours => ALL_PRIVILEGES,
        true if rights.may_set() => "select,update",
        _ => "select",
    }
}

fn catalog_row(
    database: &Database,
    table: &dyn Table,
    rights: Rights,
    i: usize,
    meta: &Meta,
) -> Row {
    let keys = table.keys().iter();
    let parts_of = |k: &Key| {
        (
            k.unique(),
            matches!(k, Key::Primary(_)),
            k.columns().to_vec(),
        )
    };
    let collation = meta.own_collation().or(table.collation());
    let collation = collation.unwrap_or(&database.collation);
    Row {
        schema: database.name.clone(),
        collation: collation.into(),
        charset: charset(collation).into(),
        table: table.name().into(),
        name: meta.name.into(),
        position: i as u32 + 1,
        default: meta.default.map(Into::into),
        nullable: meta.nullable,
        column_type: meta.column_type.into(),
        parts: types::parts(meta.column_type),
        key: key_of(meta.name, keys.map(parts_of)),
        extra: String::new(),
        privileges: privileges(rights, table, meta),
        // MySQL's tables have no comments, as in MySQL: docs/tables.md has the sentences.
        comment: match database.name == TARE {
            true => meta.doc.into(),
            false => String::new(),
        },
    }
}

fn user_rows(database: &Database, table: &TableDef, rights: Rights, series: Series) -> Vec<Row> {
    let primary = table.visible_primary();
    let keys = || {
        table.indexes.iter().map(|index| {
            let columns = index.columns.iter().map(String::as_str).collect();
            let is_primary = primary.is_some_and(|key| key.name == index.name);
            (index.unique, is_primary, columns)
        })
    };
    let row = |(i, column): (usize, &ColumnDef)| Row {
        schema: database.name.clone(),
        collation: match column.binary {
            true => "utf8mb4_bin".into(),
            false => database.collation.clone(),
        },
        charset: database.charset.clone(),
        table: table.name.clone(),
        name: column.name.clone(),
        position: i as u32 + 1,
        default: column.plain_default(),
        nullable: column.nullable,
        column_type: series.with_width(&column.column_type).into_owned(),
        parts: types::parts(&column.column_type),
        key: key_of(&column.name, keys()),
        extra: column.extra(),
        privileges: match rights.all {
            true => ALL_PRIVILEGES,
            false => "select",
        },
        comment: column.comment.clone(),
    };
    table.columns.iter().enumerate().map(row).collect()
}

fn rows(view: &View, filter: &Filter) -> Vec<Row> {
    let admit = filter.text("COLUMN_NAME");
    let rights = view.source.rights();
    let mut rows = Vec::new();
    for (database, table) in tables_of(view, filter) {
        match table {
            AnyTable::Catalog(table) => {
                let columns = table.columns();
                let row = |(i, meta)| catalog_row(&database, table, rights, i, meta);
                rows.extend(columns.iter().enumerate().map(row));
            }
            AnyTable::User(table) => {
                let series = view.source.series();
                rows.extend(user_rows(&database, &table, rights, series));
            }
        }
    }
    rows.retain(|r| admit.admits_name(&r.name));
    rows
}

static COLUMNS_: Spec<Row> = Spec::new(
    "information_schema",
    "COLUMNS",
    "The columns of all tables and views.",
    &[COLUMNS],
    |view, filter| Ok(Box::new(rows(view, filter).into_iter())),
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME"])
.expect(2000);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&COLUMNS_];

#[cfg(test)]
mod tests {
    use super::key_of;

    #[test]
    fn column_key_is_the_strongest_of_its_keys() {
        let keys = || {
            [
                (true, true, vec!["id", "part"]),
                (true, false, vec!["name"]),
                (true, false, vec!["a", "b"]),
                (false, false, vec!["c"]),
            ]
            .into_iter()
        };
        assert_eq!(key_of("part", keys()), "PRI");
        assert_eq!(key_of("NAME", keys()), "UNI");
        assert_eq!(key_of("a", keys()), "MUL");
        assert_eq!(key_of("b", keys()), "");
        assert_eq!(key_of("c", keys()), "MUL");
    }
}
