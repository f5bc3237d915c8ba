//! The indexes of a table.

use super::names;
use crate::result::Rows;
use crate::runner::StatementRunner;
use tare_mysql::error::Result;
use tare_rows::describe::{Key, Table};
use tare_store::connection::quote;

/// SHOW INDEX.
pub fn indexes(
    runner: &mut dyn StatementRunner,
    database: &Option<String>,
    table: &str,
) -> Result<Rows> {
    let mut rows = Rows::new(&[
        "Table",
        "Non_unique",
        "Key_name",
        "Seq_in_index",
        "Column_name",
        "Collation",
        "Cardinality",
        "Sub_part",
        "Packed",
        "Null",
        "Index_type",
        "Comment",
        "Index_comment",
        "Visible",
        "Expression",
    ])
    .typed(&[
        "varchar(64)",
        "int",
        "varchar(64)",
        "int unsigned",
        "varchar(64)",
        "varchar(1)",
        "bigint",
        "bigint",
        "binary(0)",
        "varchar(3)",
        "varchar(11)",
        "varchar(8)",
        "varchar(2048)",
        "varchar(3)",
        "longtext",
    ]);
    if let Some(system) = names::system_table(runner, database, table)? {
        of_system(&mut rows, system);
        return Ok(rows);
    }
    let (database, def) = names::user_table(runner, database, table)?;
    // The primary key is first, and unique indexes are before others.
    let (unique, others): (Vec<_>, Vec<_>) = def.indexes.iter().partition(|i| i.unique);
    for index in unique.into_iter().chain(others) {
        for (i, column) in index.columns.iter().enumerate() {
            let nullable = def.column(column).is_some_and(|c| c.nullable);
            let parts: Vec<String> = index.columns[..=i].iter().map(|c| quote(c)).collect();
            let count = format!(
                "SELECT count(*) FROM (SELECT DISTINCT {} FROM {}.{})",
                parts.join(", "),
                quote(&database),
                quote(&def.name)
            );
            let counted = runner
                .connection()?
                .db()
                .query_row(&count, [], |row| row.get(0));
            let cardinality: Option<i64> = counted.ok();
            rows.push([
                def.name.as_str().into(),
                i64::from(!index.unique).into(),
                index.name.as_str().into(),
                (i as i64 + 1).into(),
                column.as_str().into(),
                "A".into(),
                cardinality.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                if nullable { "YES" } else { "" }.into(),
                "BTREE".into(),
                "".into(),
                "".into(),
                "YES".into(),
                None::<String>.into(),
            ]);
        }
    }
    Ok(rows)
}

/// The keys of a system table. Their cardinality is not known.
fn of_system(rows: &mut Rows, table: &dyn Table) {
    let columns = table.columns();
    for key in table.keys() {
        for (i, name) in key.columns().iter().enumerate() {
            let nullable = columns.iter().any(|c| c.name == *name && c.nullable);
            rows.push([
                table.name().into(),
                i64::from(matches!(key, Key::Plain(..))).into(),
                key.name().into(),
                (i as i64 + 1).into(),
                (*name).into(),
                None::<String>.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                if nullable { "YES" } else { "" }.into(),
                "HASH".into(),
                "".into(),
                "".into(),
                "YES".into(),
                None::<String>.into(),
            ]);
        }
    }
}
