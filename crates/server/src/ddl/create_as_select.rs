//! CREATE TABLE ... AS SELECT.

use tare_dialect::ddl::TableName;
use tare_dialect::plan::Sql;
use tare_mysql::error::Result;
use tare_mysql::table::TableDef;
use tare_query::system::prepare_error;
use tare_store::Connection;

use super::{exclusive, table};
use crate::execute::prepare;
use crate::session::Session;
use crate::transaction;

/// Creates a table and fills it. Returns the number of rows.
pub fn create(session: &mut Session, name: &TableName, def: &TableDef, rows: &Sql) -> Result<u64> {
    prepare::start(session, rows)?;
    // Without autocommit the SELECT has begun a transaction, which the change of the schema commits.
    transaction::commit(session)?;
    let count = exclusive::run(session, &name.database, |connection| {
        table::create(connection, name, def)?;
        insert_rows(connection, rows)
    })?;
    table::warn_of_deprecated(&session.connections.context, def);
    Ok(count)
}

fn insert_rows(connection: &mut Connection, rows: &Sql) -> Result<u64> {
    let refused = |error| prepare_error(error, rows);
    let id = connection.prepare(&rows.text).map_err(refused)?;
    let filled = (|| {
        let mut cursor = connection.run(id)?;
        let counting = cursor.count_replaced();
        while cursor.step()? {}
        Ok(counting.end().deleted)
    })();
    let rows = connection.changes();
    connection.close(id);
    filled.map(|deleted| rows + deleted)
}
