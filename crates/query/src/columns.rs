//! The columns of a statement's result: their names and types.

use tare_dialect::plan::Sql;
use tare_mysql::wire::column::{Column, WireType};
use tare_mysql::wire::types::wire_type;
use tare_mysql::wire::value::Value;
use tare_store::Cursor;

/// Looks up the type of a table's column (database, table, column) in the definitions.
pub type TypeLookup<'k> = &'k dyn Fn(&str, &str, &str) -> Option<WireType>;

/// The lookup where there are no tables of users.
pub fn no_definitions(_database: &str, _table: &str, _column: &str) -> Option<WireType> {
    None
}

/// The types of a result's columns, stored between executions.
#[derive(Debug, Default)]
pub struct Types {
    /// How each column's values are written.
    pub wire: Vec<WireType>,
    /// Which version of the prepared statement they belong to; 0 is none yet.
    pub version: i32,
    /// Whether the type of some column is that of the first row's value.
    pub guessed: bool,
}

/// Finds the columns' types, and hands each column over. The type is the table's, the expression's, or
/// else that of the first row's value.
pub fn describe(
    cursor: &Cursor<'_>,
    sql: &Sql,
    types: &mut Types,
    lookup: TypeLookup<'_>,
    has_row: bool,
    each: &mut dyn FnMut(&Column<'_>),
) {
    types.wire.clear();
    types.guessed = false;
    let n = cursor.columns();
    for i in 0..n {
        let views = &sql.views;
        let view = views.0.get(i).or_else(|| views.1.get(n - 1 - i));
        if let Some(view) = view.and_then(Option::as_ref) {
            let meta = &view.column;
            let wire = wire_type(&meta.column_type.to_lowercase(), meta.nullable);
            types.wire.push(wire);
            each(&Column {
                schema: "sys",
                table: &view.table,
                org_table: view.view,
                name: cursor.name(i),
                org_name: meta.name,
                wire,
            });
            continue;
        }
        let origin = cursor.origin(i);
        let hints = &sql.hints;
        let hint = hints.0.get(i).or_else(|| hints.1.get(n - 1 - i));
        let declared = cursor
            .decltype(i)
            .map(|d| (d, origin.and_then(|(d, t, c)| lookup(d, t, c))));
        let wire = match (declared, hint.copied().flatten()) {
            (Some((_, Some(defined))), _) => defined,
            (Some((text, None)), _) => wire_type(&text.to_lowercase(), true),
            (None, Some(hint)) => hint,
            (None, None) => {
                types.guessed = true;
                guess_type(cursor, i, has_row)
            }
        };
        types.wire.push(wire);
        let (schema, table, org_name) = origin.unwrap_or(("", "", ""));
        each(&Column {
            schema,
            table,
            org_table: table,
            name: cursor.name(i),
            org_name,
            wire,
        });
    }
}

/// The type of the current row's value.
fn guess_type(cursor: &Cursor<'_>, column: usize, has_row: bool) -> WireType {
    let value = match has_row {
        true => cursor.value(column),
        false => Value::Null,
    };
    match value {
        Value::Int(_) => WireType::bigint(),
        Value::Real(_) => WireType::double(),
        Value::Text(_) | Value::Null => WireType::text(255),
        Value::Blob(_) => WireType::blob(),
    }
}
