//! A result's columns: their types, and their definitions as packets.

use tare_mysql::error::Result;
use tare_mysql::wire::column::TextCharset;
use tare_mysql::wire::packets::put_packet;
use tare_mysql::wire::types::wire_in;

use crate::session::{Columns, Connections};
use tare_dialect::plan::Sql;
use tare_query::columns::describe;
use tare_store::StatementId;

/// Describes the columns of a statement that has not run yet.
pub fn describe_prepared(
    connections: &mut Connections,
    id: StatementId,
    sql: &Sql,
    columns: &mut Columns,
    charset: TextCharset,
) -> Result<()> {
    let databases = connections.context.shared.databases.clone();
    let cursor = connections.with(id)?.run(id)?;
    let column_type = |database: &str, table: &str, column: &str| {
        let definitions = databases.cached_definitions(database)?;
        let table = definitions.tables.get(table)?;
        table.column(column).map(|c| wire_in(table, c))
    };
    let Columns { types, packets, .. } = columns;
    packets.clear();
    let planned = match sql.prepared_columns.is_empty() {
        true => &sql.columns,
        false => &sql.prepared_columns,
    };
    describe(
        &cursor,
        planned,
        types,
        &column_type,
        false,
        &mut |column| {
            put_packet(packets, |out| column.put(out, charset));
        },
    );
    Ok(())
}
