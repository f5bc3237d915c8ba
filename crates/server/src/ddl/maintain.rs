//! Maintenance of tables: CHECK, ANALYZE and their like.

use super::exclusive::literal;
use super::table;
use crate::answer;
use crate::execute::prepare::Answer;
use crate::session::Session;
use crate::transaction;
use tare_dialect::ddl::{Maintenance, TableName};
use tare_mysql::error::Result;
use tare_mysql::series::Series;
use tare_query::result::Rows;
use tare_query::show::definition::of_maintenance;
use tare_store::authorizer::as_server;
use tare_store::connection::quote;

/// CHECK, ANALYZE, OPTIMIZE, REPAIR: a row for each table.
pub fn maintain(
    session: &mut Session,
    tables: &[TableName],
    operation: Maintenance,
    answer: Answer,
) -> Result<()> {
    let mut rows = Rows::new(&["Table", "Op", "Msg_type", "Msg_text"]);
    for name in tables {
        let full = format!("{}.{}", name.database, name.table);
        let (kind, text) = match maintain_one(session, name, operation) {
            Ok(text) => ("status", text),
            Err(error) => ("Error", error.message),
        };
        rows.push([
            full.into(),
            operation.name().into(),
            kind.into(),
            text.into(),
        ]);
    }
    if session.shared.config.series == Series::V9_7 {
        rows.definitions = of_maintenance();
    }
    answer::send(session, &rows, answer)
}

fn maintain_one(session: &mut Session, name: &TableName, operation: Maintenance) -> Result<String> {
    table::require(&mut session.connections, name)?;
    let (db, table) = (quote(&name.database), quote(&name.table));
    if operation == Maintenance::Check {
        let check = format!("PRAGMA {db}.integrity_check({})", literal(&name.table));
        let connection = session.connections.own()?;
        let checked = as_server(|| connection.db().query_row(&check, [], |row| row.get(0)));
        let problem: String = checked.map_err(tare_store::Error::from)?;
        return Ok(if problem == "ok" {
            "OK".into()
        } else {
            problem
        });
    }
    transaction::commit(session)?;
    let guard = transaction::acquire_write_lock(session, &name.database)?;
    session
        .connections
        .own()?
        .batch(&format!("ANALYZE {db}.{table}"))?;
    drop(guard);
    Ok("OK".into())
}
