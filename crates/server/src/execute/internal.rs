//! Statements of the server's own, on the system schemas.

use super::prepare;
use crate::session::Session;
use tare_dialect::near;
use tare_dialect::plan::Action;
use tare_mysql::error::Result;
use tare_query::result::Rows;

/// The rows of a SELECT on system schemas, written in MySQL's dialect; `?` are the parameters.
pub fn select(session: &mut Session, query: &str, parameters: &[&str]) -> Result<Rows> {
    let generation = session.shared.databases.generation();
    let plan = prepare::translate(session, query, generation)?;
    let Action::Rows(sql) = plan.action else {
        return Err(near(query).into());
    };
    let mut rows = rows(session, &sql.catalog, &sql.text, parameters)?;
    rows.wire = sql.hints.0;
    Ok(rows)
}

/// The rows of SQLite's text for a SELECT that names these tables.
pub fn rows(
    session: &mut Session,
    named: &[(String, String)],
    text: &str,
    parameters: &[&str],
) -> Result<Rows> {
    let (connection, catalog) = session.connections.system(named)?;
    let _snapshot = catalog.statement();
    let mut statement = connection
        .db()
        .prepare(text)
        .map_err(tare_store::Error::from)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rows = Rows::new(&names);
    let mut found = statement
        .query(rusqlite::params_from_iter(parameters))
        .map_err(tare_store::Error::from)?;
    while let Some(row) = found.next().map_err(tare_store::Error::from)? {
        let values = (0..names.len())
            .map(|i| row.get(i))
            .collect::<rusqlite::Result<_>>()
            .map_err(tare_store::Error::from)?;
        rows.rows.push(values);
    }
    Ok(rows)
}
