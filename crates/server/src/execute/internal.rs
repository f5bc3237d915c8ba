//! Statements of the server's own, on the system schemas.

use rusqlite::types::Value;

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
    session
        .connections
        .system()?
        .select(&sql, &texts(parameters))
}

/// Parameters as SQLite takes them.
pub fn texts(parameters: &[&str]) -> Vec<Value> {
    let texts = parameters.iter();
    texts.map(|text| Value::Text((*text).to_owned())).collect()
}
