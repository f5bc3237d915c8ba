//! A result's columns: their types, and their definitions as packets.

use tare_mysql::error::Result;
use tare_mysql::wire::column::{Column, WireType};
use tare_mysql::wire::types::{wire_in, wire_type};
use tare_mysql::wire::value::Value;

use crate::session::{Columns, Session};
use tare_dialect::plan::Sql;
use tare_store::{Cursor, StatementId};

/// The type of a table's column, where the definitions tell.
pub(super) type Known<'k> = &'k dyn Fn(&str, &str, &str) -> Option<WireType>;

/// The columns of a statement that has not run yet.
pub fn describe_prepared(
    session: &mut Session,
    id: StatementId,
    sql: &Sql,
    columns: &mut Columns,
) -> Result<()> {
    let databases = session.shared.databases.clone();
    let cursor = session.connections.with(id)?.run(id)?;
    let known = |database: &str, table: &str, column: &str| {
        let known = databases.known(database)?;
        let table = known.tables.get(table)?;
        table.column(column).map(|c| wire_in(table, c))
    };
    describe(&cursor, sql, columns, &known, false);
    Ok(())
}

/// Finds the columns' types: of the table, of the expression, or else of the first row's values.
pub(super) fn describe(
    cursor: &Cursor<'_>,
    sql: &Sql,
    columns: &mut Columns,
    known: Known<'_>,
    has_row: bool,
) {
    columns.packets.clear();
    columns.wire.clear();
    columns.guessed = false;
    let n = cursor.columns();
    for i in 0..n {
        let origin = cursor.origin(i);
        let hint = sql
            .hints
            .0
            .get(i)
            .or_else(|| sql.hints.1.get(n - 1 - i))
            .copied()
            .flatten();
        let declared = cursor
            .decltype(i)
            .map(|d| (d, origin.and_then(|(d, t, c)| known(d, t, c))));
        let views = &sql.views;
        let view = views.0.get(i).or_else(|| views.1.get(n - 1 - i));
        if let Some(view) = view.and_then(Option::as_ref) {
            let meta = &view.column;
            let wire = wire_type(&meta.column_type.to_lowercase(), meta.nullable);
            columns.wire.push(wire);
            let column = Column {
                schema: "sys",
                table: &view.table,
                org_table: view.view,
                name: cursor.name(i),
                org_name: meta.name,
                wire,
            };
            put_packet(&mut columns.packets, |out| column.put(out));
            continue;
        }
        let wire = match (declared, hint) {
            (Some((_, Some(known))), _) => known,
            (Some((text, None)), _) => wire_type(&text.to_lowercase(), true),
            (None, Some(hint)) => hint,
            (None, None) => {
                columns.guessed = true;
                let value = if has_row {
                    cursor.value(i)
                } else {
                    Value::Null
                };
                match value {
                    Value::Int(_) => WireType::bigint(),
                    Value::Real(_) => WireType::double(),
                    Value::Text(_) | Value::Null => WireType::text(255),
                    Value::Blob(_) => WireType::blob(),
                }
            }
        };
        columns.wire.push(wire);
        let (schema, table, org_name) = origin.unwrap_or(("", "", ""));
        let column = Column {
            schema,
            table,
            org_table: table,
            name: cursor.name(i),
            org_name,
            wire,
        };
        put_packet(&mut columns.packets, |out| column.put(out));
    }
}

/// A packet without a number, for [`PacketWriter::replay`].
pub fn put_packet(out: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    payload(out);
    let len = (out.len() - at - 4) as u32;
    out[at..at + 3].copy_from_slice(&len.to_le_bytes()[..3]);
}
