//! The columns of a statement's result: their names and types.

use tare_dialect::plan::Sql;
use tare_mysql::wire::column::{Column, WireType};
use tare_mysql::wire::types::wire_type;
use tare_mysql::wire::value::Value;
use tare_store::Cursor;

/// The type of a table's column (database, table, column), where the definitions tell.
pub type Known<'k> = &'k dyn Fn(&str, &str, &str) -> Option<WireType>;

/// No table of a user's is there.
pub fn nothing_known(_database: &str, _table: &str, _column: &str) -> Option<WireType> {
    None
}

/// The types of a result's columns, kept from one execution to the next.
#[derive(Debug, Default)]
pub struct Types {
    /// How each column's values are written.
    pub wire: Vec<WireType>,
    /// Which version of the prepared statement they belong to; 0 is none yet.
    pub version: i32,
    /// Whether the values of the first row had a say.
    pub guessed: bool,
}

/// Finds the columns' types, and tells each column: of the table, of the expression, or else of the
/// first row's values.
pub fn describe(
    cursor: &Cursor<'_>,
    sql: &Sql,
    types: &mut Types,
    known: Known<'_>,
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
            .map(|d| (d, origin.and_then(|(d, t, c)| known(d, t, c))));
        let wire = match (declared, hint.copied().flatten()) {
            (Some((_, Some(known))), _) => known,
            (Some((text, None)), _) => wire_type(&text.to_lowercase(), true),
            (None, Some(hint)) => hint,
            (None, None) => {
                types.guessed = true;
                guessed(cursor, i, has_row)
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

/// A type for the value of the row at hand.
fn guessed(cursor: &Cursor<'_>, column: usize, has_row: bool) -> WireType {
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
