//! The columns of a statement's result: their names and types.

use tare_dialect::plan::ResultColumn;
use tare_dialect::scope::Origin;
use tare_mysql::wire::column::{Column, NOT_FIXED, WireType};
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

/// Finds the columns' types, and hands each column over. The type is that of the plan, or else the table's in
/// SQLite, or else that of the first row's value.
pub fn describe(
    cursor: &Cursor<'_>,
    planned: &[ResultColumn],
    types: &mut Types,
    lookup: TypeLookup<'_>,
    has_row: bool,
    each: &mut dyn FnMut(&Column<'_>),
) {
    types.wire.clear();
    types.guessed = false;
    let n = cursor.columns();
    let planned = (planned.len() == n).then_some(planned);
    for i in 0..n {
        let name = cursor.name(i);
        let planned = planned.and_then(|all| all.get(i));
        let mut guess = || {
            types.guessed = true;
            guess_type(cursor, i, has_row)
        };
        let (origin, wire) = match planned {
            Some(column) => {
                let wire = column.wire.unwrap_or_else(&mut guess);
                (column.origin.as_deref().cloned(), wire)
            }
            None => {
                let origin = cursor.origin(i);
                let declared = cursor.decltype(i).map(|text| {
                    let defined = origin.and_then(|(d, t, c)| lookup(d, t, c));
                    defined.unwrap_or_else(|| wire_type(&text.to_lowercase(), true))
                });
                let origin = origin.map(|(schema, table, column)| Origin {
                    schema: schema.to_owned(),
                    table: table.to_owned(),
                    org_table: table.to_owned(),
                    org_name: column.to_owned(),
                    derived: false,
                    sorted: None,
                });
                (origin, declared.unwrap_or_else(&mut guess))
            }
        };
        let own_scale = planned.is_some_and(|column| column.own_scale);
        types.wire.push(match own_scale && is_decimal(&wire) {
            true => WireType {
                decimals: NOT_FIXED,
                ..wire
            },
            false => wire,
        });
        let origin = origin.unwrap_or_default();
        each(&Column {
            schema: &origin.schema,
            table: &origin.table,
            org_table: &origin.org_table,
            name,
            org_name: &origin.org_name,
            wire,
        });
    }
}

fn is_decimal(wire: &WireType) -> bool {
    wire.code == WireType::decimal(1, 0).code
}

/// The type of the current row's value.
fn guess_type(cursor: &Cursor<'_>, column: usize, has_row: bool) -> WireType {
    let value = match has_row {
        true => cursor.value(column),
        false => Value::Null,
    };
    match value {
        Value::Int(_) => WireType::number(WireType::bigint().code, 21),
        Value::Real(_) => WireType::double(),
        // 65,535 bytes, as MySQL assumes of parameters.
        Value::Text(_) | Value::Null => WireType::text(16_383),
        Value::Blob(_) => WireType::blob(),
    }
}
