//! The columns of a table.

use super::names;
use crate::result::{RowValue, Rows};
use crate::runner::StatementRunner;
use tare_mysql::error::Result;
use tare_mysql::schema::TARE;
use tare_mysql::types::is_text;
use tare_rows::describe::{Key, Table};
use tare_rows::show::DEFAULT_COLLATION;

fn yes(b: bool) -> RowValue {
    if b { "YES" } else { "NO" }.into()
}

/// SHOW COLUMNS.
pub fn columns(
    runner: &mut dyn StatementRunner,
    database: &Option<String>,
    table: &str,
    full: bool,
) -> Result<Rows> {
    let names: &[&str] = if full {
        &[
            "Field",
            "Type",
            "Collation",
            "Null",
            "Key",
            "Default",
            "Extra",
            "Privileges",
            "Comment",
        ]
    } else {
        &["Field", "Type", "Null", "Key", "Default", "Extra"]
    };
    let mut rows = Rows::new(names);
    let mut add = |field: &str,
                   kind: &str,
                   nullable: bool,
                   key: &str,
                   default: Option<String>,
                   extra: &str,
                   collation: &str,
                   comment: &str| {
        let collation = is_text(kind).then_some(collation);
        let mut row: Vec<RowValue> = vec![field.into(), kind.into()];
        if full {
            row.push(collation.into());
        }
        row.extend([yes(nullable), key.into(), default.into(), extra.into()]);
        if full {
            row.extend(["select,insert,update,references".into(), comment.into()]);
        }
        rows.rows.push(row.into_iter().map(|t| t.0).collect());
    };
    if let Some(system) = names::system_table(runner, database, table)? {
        for c in system.columns() {
            let key = key_of(system, c.name);
            let default = c.default.map(Into::into);
            let collation = c.own_collation().unwrap_or(DEFAULT_COLLATION);
            // As in information_schema.COLUMNS.
            let comment = if system.schema() == TARE { c.doc } else { "" };
            add(
                c.name,
                c.column_type,
                c.nullable,
                key,
                default,
                "",
                collation,
                comment,
            );
        }
        return Ok(rows);
    }
    let (_, def) = names::user_table(runner, database, table)?;
    let series = runner.programs().series();
    for c in &def.columns {
        let first_of = |i: &&tare_mysql::table::IndexDef| {
            i.columns
                .first()
                .is_some_and(|f| f.eq_ignore_ascii_case(&c.name))
        };
        let in_primary = def
            .visible_primary()
            .is_some_and(|p| p.columns.iter().any(|n| n.eq_ignore_ascii_case(&c.name)));
        let key = match def.indexes.iter().find(first_of) {
            _ if in_primary => "PRI",
            Some(i) if i.unique && i.columns.len() == 1 => "UNI",
            Some(_) => "MUL",
            None => "",
        };
        add(
            &c.name,
            &series.with_width(&c.column_type),
            c.nullable,
            key,
            c.plain_default(),
            &c.extra(),
            if c.binary {
                "utf8mb4_bin"
            } else {
                DEFAULT_COLLATION
            },
            &c.comment,
        );
    }
    Ok(rows)
}

/// Key of a column of a system table.
fn key_of(table: &dyn Table, column: &str) -> &'static str {
    let of = |key: &&Key| key.columns().contains(&column);
    match table.keys().iter().find(of) {
        Some(Key::Primary(_)) => "PRI",
        _ => {
            let begins = |key: &&Key| key.columns().first() == Some(&column);
            match table.keys().iter().find(begins) {
                Some(Key::Unique(_, [_])) => "UNI",
                Some(_) => "MUL",
                None => "",
            }
        }
    }
}
