//! STATISTICS, KEY_COLUMN_USAGE, TABLE_CONSTRAINTS, REFERENTIAL_CONSTRAINTS.

use tare_mysql::series::Series;
use tare_mysql::table::ForeignKeyDef;

use super::all_tables::{AnyTable, tables_of};
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, col, null};
use crate::filter::Filter;
use crate::view::View;

/// A column of an index.
struct Part {
    schema: String,
    table: String,
    index: String,
    unique: bool,
    seq: u32,
    column: String,
    nullable: bool,
    hash: bool,
}

fn parts(view: &View, filter: &Filter) -> Vec<Part> {
    let mut parts = Vec::new();
    for (database, table) in tables_of(view, filter) {
        match table {
            AnyTable::Catalog(table) => {
                let columns = table.columns();
                let nullable = |c: &str| columns.iter().any(|m| m.name == c && m.nullable);
                let part = |key: &Key, seq: usize, column: &str| Part {
                    schema: database.name.clone(),
                    table: table.name().into(),
                    index: key.name().into(),
                    unique: key.unique(),
                    seq: seq as u32 + 1,
                    column: column.into(),
                    nullable: nullable(column),
                    hash: true,
                };
                for key in table.keys() {
                    let of_key = |(i, c): (usize, &&str)| part(key, i, c);
                    parts.extend(key.columns().iter().enumerate().map(of_key));
                }
            }
            AnyTable::User(table) => {
                for index in &table.indexes {
                    for (i, column) in index.columns.iter().enumerate() {
                        let definition = table.columns.iter().find(|c| c.name == *column);
                        parts.push(Part {
                            schema: database.name.clone(),
                            table: table.name.clone(),
                            index: index.name.clone(),
                            unique: index.unique,
                            seq: i as u32 + 1,
                            column: column.clone(),
                            nullable: definition.is_some_and(|c| c.nullable),
                            hash: false,
                        });
                    }
                }
            }
        }
    }
    parts
}

#[rustfmt::skip] // One column, one line.
const STATISTICS_COLUMNS: &[Column<Part>] = &[
    col("TABLE_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("TABLE_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    col("TABLE_NAME", "varchar(64)", "The table.", |r| r.table.as_str().into()),
    col("NON_UNIQUE", "int(1)", "0 if the index is unique.", |r| Cell::Signed((!r.unique).into())),
    col("INDEX_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    null("INDEX_NAME", "varchar(64)", "The index.", |r| r.index.as_str().into()),
    col("SEQ_IN_INDEX", "int(10) unsigned", "The column's position in the index, from 1.", |r| r.seq.into()),
    null("COLUMN_NAME", "varchar(64)", "The column.", |r| r.column.as_str().into()),
    null("COLLATION", "varchar(1)", "A if it is sorted in ascending order, else NULL.", |r| Cell::opt((!r.hash).then_some("A"))),
    null("CARDINALITY", "bigint(21)", "Always NULL: not estimated.", |_| Cell::Null),
    null("SUB_PART", "bigint(21)", "Always NULL: only whole columns are indexed.", |_| Cell::Null),
    null("PACKED", "binary(0)", "Always NULL.", |_| Cell::Null),
    col("NULLABLE", "varchar(3)", "YES if the column can be NULL, else empty.", |r| Cell::text(if r.nullable { "YES" } else { "" })),
    col("INDEX_TYPE", "varchar(11)", "HASH in the system schemas, else BTREE.", |r| Cell::text(if r.hash { "HASH" } else { "BTREE" })),
    col("COMMENT", "varchar(8)", "Always empty.", |_| Cell::text("")),
    col("INDEX_COMMENT", "varchar(2048)", "Always empty.", |_| Cell::text("")),
    col("IS_VISIBLE", "varchar(3)", "Always YES.", |_| Cell::text("YES")),
    null("EXPRESSION", "longtext", "Always NULL.", |_| Cell::Null),
];

static STATISTICS: Spec<Part> = Spec::new(
    "information_schema",
    "STATISTICS",
    "The columns of all indexes.",
    &[STATISTICS_COLUMNS],
    |view, filter| Ok(Box::new(parts(view, filter).into_iter())),
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"]);

/// A column of a constraint.
struct Usage {
    schema: String,
    table: String,
    constraint: String,
    column: String,
    position: u32,
    /// Table and column referred to.
    referenced: Option<(String, String)>,
}

fn usages(view: &View, filter: &Filter) -> Vec<Usage> {
    let unique = parts(view, filter)
        .into_iter()
        .filter(|p| p.unique)
        .map(|p| Usage {
            schema: p.schema,
            table: p.table,
            constraint: p.index,
            column: p.column,
            position: p.seq,
            referenced: None,
        });
    let mut usages: Vec<Usage> = unique.collect();
    for (schema, table, key) in foreign_keys(view, filter) {
        for (i, column) in key.columns.iter().enumerate() {
            let target = key.referred.get(i).unwrap_or(column).clone();
            usages.push(Usage {
                schema: schema.clone(),
                table: table.clone(),
                constraint: key.name.clone(),
                column: column.clone(),
                position: i as u32 + 1,
                referenced: Some((key.table.clone(), target)),
            });
        }
    }
    usages
}

fn foreign_keys(view: &View, filter: &Filter) -> Vec<(String, String, ForeignKeyDef)> {
    let mut keys = Vec::new();
    for (database, table) in tables_of(view, filter) {
        if let AnyTable::User(table) = table {
            let of = |key| (database.name.clone(), table.name.clone(), key);
            keys.extend(table.foreign_keys.iter().cloned().map(of));
        }
    }
    keys
}

impl Usage {
    /// The table and column that a foreign key refers to.
    fn referenced(&self) -> Option<(&str, &str)> {
        let (table, column) = self.referenced.as_ref()?;
        Some((table, column))
    }
}

#[rustfmt::skip] // One column, one line.
const USAGE_COLUMNS: &[Column<Usage>] = &[
    col("CONSTRAINT_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("CONSTRAINT_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    null("CONSTRAINT_NAME", "varchar(64)", "The constraint.", |r| r.constraint.as_str().into()),
    col("TABLE_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("TABLE_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    col("TABLE_NAME", "varchar(64)", "The table.", |r| r.table.as_str().into()),
    null("COLUMN_NAME", "varchar(64)", "The column.", |r| r.column.as_str().into()),
    col("ORDINAL_POSITION", "int(10) unsigned", "The column's position in the constraint, from 1.", |r| r.position.into()),
    null("POSITION_IN_UNIQUE_CONSTRAINT", "int(10) unsigned", "Its position there.", |r| Cell::opt(r.referenced().map(|_| r.position))),
    null("REFERENCED_TABLE_SCHEMA", "varchar(64)", "The referenced database.", |r| Cell::opt(r.referenced().map(|_| r.schema.as_str()))),
    null("REFERENCED_TABLE_NAME", "varchar(64)", "The referenced table.", |r| Cell::opt(r.referenced().map(|(table, _)| table))),
    null("REFERENCED_COLUMN_NAME", "varchar(64)", "The referenced column.", |r| Cell::opt(r.referenced().map(|(_, column)| column))),
];

static KEY_COLUMN_USAGE: Spec<Usage> = Spec::new(
    "information_schema",
    "KEY_COLUMN_USAGE",
    "The columns of primary, unique and foreign keys.",
    &[USAGE_COLUMNS],
    |view, filter| Ok(Box::new(usages(view, filter).into_iter())),
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"]);

struct Constraint {
    schema: String,
    table: String,
    name: String,
    kind: &'static str,
    is_enforced: bool,
}

/// Database, table and name of each primary and unique key.
pub(super) fn unique_keys(view: &View) -> Vec<(String, String, String)> {
    let firsts = parts(view, &Filter::all()).into_iter();
    let firsts = firsts.filter(|p| p.unique && p.seq == 1);
    firsts.map(|p| (p.schema, p.table, p.index)).collect()
}

fn checks(view: &View, filter: &Filter) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    for (database, table) in tables_of(view, filter) {
        if let AnyTable::User(table) = table {
            constraints.extend(table.checks.iter().map(|check| Constraint {
                schema: database.name.clone(),
                table: table.name.clone(),
                name: check.name.clone(),
                kind: "CHECK",
                is_enforced: !check.is_ignored,
            }));
        }
    }
    constraints
}

fn constraints(view: &View, filter: &Filter) -> Vec<Constraint> {
    let firsts = parts(view, filter)
        .into_iter()
        .filter(|p| p.unique && p.seq == 1);
    let mut constraints: Vec<Constraint> = firsts
        .map(|p| Constraint {
            schema: p.schema,
            table: p.table,
            kind: if p.index == "PRIMARY" {
                "PRIMARY KEY"
            } else {
                "UNIQUE"
            },
            name: p.index,
            is_enforced: true,
        })
        .collect();
    let foreign = foreign_keys(view, filter).into_iter();
    constraints.extend(foreign.map(|(schema, table, key)| Constraint {
        schema,
        table,
        name: key.name,
        kind: "FOREIGN KEY",
        is_enforced: true,
    }));
    // MySQL has them since 8.0.16.
    if view.source.series().has_checks() {
        constraints.extend(checks(view, filter));
    }
    constraints
}

#[rustfmt::skip] // One column, one line.
const CONSTRAINT_COLUMNS: &[Column<Constraint>] = &[
    col("CONSTRAINT_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("CONSTRAINT_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    null("CONSTRAINT_NAME", "varchar(64)", "The constraint.", |r| r.name.as_str().into()),
    col("TABLE_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    col("TABLE_NAME", "varchar(64)", "The table.", |r| r.table.as_str().into()),
    col("CONSTRAINT_TYPE", "varchar(11)", "PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK.", |r| r.kind.into()),
    col("ENFORCED", "varchar(3)", "Whether rows are checked: YES or NO.", |r: &Constraint| Cell::yes_no(r.is_enforced)).since(Series::V9_7),
];

static TABLE_CONSTRAINTS: Spec<Constraint> = Spec::new(
    "information_schema",
    "TABLE_CONSTRAINTS",
    "The primary, unique and foreign keys, and the CHECK constraints.",
    &[CONSTRAINT_COLUMNS],
    |view, filter| Ok(Box::new(constraints(view, filter).into_iter())),
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"]);

type Foreign = (String, String, ForeignKeyDef);
const RULES: &str = "enum('NO ACTION','RESTRICT','CASCADE','SET NULL','SET DEFAULT')";

#[rustfmt::skip] // One column, one line.
const REFERENTIAL_COLUMNS: &[Column<Foreign>] = &[
    col("CONSTRAINT_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("CONSTRAINT_SCHEMA", "varchar(64)", "The database.", |r| r.0.as_str().into()),
    null("CONSTRAINT_NAME", "varchar(64)", "The constraint.", |r| r.2.name.as_str().into()),
    col("UNIQUE_CONSTRAINT_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("UNIQUE_CONSTRAINT_SCHEMA", "varchar(64)", "The referenced database.", |r| r.0.as_str().into()),
    null("UNIQUE_CONSTRAINT_NAME", "varchar(64)", "The referenced key.", |_| Cell::text("PRIMARY")),
    col("MATCH_OPTION", "enum('NONE','PARTIAL','FULL')", "Always NONE.", |_| Cell::text("NONE")),
    col("UPDATE_RULE", RULES, "The action ON UPDATE.", |r| r.2.on_update.as_str().into()),
    col("DELETE_RULE", RULES, "The action ON DELETE.", |r| r.2.on_delete.as_str().into()),
    col("TABLE_NAME", "varchar(64)", "The table.", |r| r.1.as_str().into()),
    col("REFERENCED_TABLE_NAME", "varchar(64)", "The referenced table.", |r| r.2.table.as_str().into()),
];

static REFERENTIAL_CONSTRAINTS: Spec<Foreign> = Spec::new(
    "information_schema",
    "REFERENTIAL_CONSTRAINTS",
    "The foreign keys.",
    &[REFERENTIAL_COLUMNS],
    |view, _| Ok(Box::new(foreign_keys(view, &Filter::all()).into_iter())),
)
.expect(10);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &KEY_COLUMN_USAGE,
    &REFERENTIAL_CONSTRAINTS,
    &STATISTICS,
    &TABLE_CONSTRAINTS,
];
