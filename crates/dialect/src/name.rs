//! Names of tables and columns: their parts, and as SQLite quotes them.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

use crate::error::near;
use crate::error::{Error, Result};

/// The last part of a name.
pub fn last_name(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|p| p.as_ident())
        .map(|i| i.value.clone())
        .unwrap_or_default()
}

/// All parts of a name, with points between them.
pub fn full_name(name: &ObjectName) -> String {
    let parts = name.0.iter().filter_map(|p| p.as_ident());
    let parts: Vec<&str> = parts.map(|i| i.value.as_str()).collect();
    parts.join(".")
}

/// Database and table of a name, in a session with a default database or without.
pub fn resolve(name: &ObjectName, database: Option<&str>) -> Result<(String, String)> {
    let part = |p: &ObjectNamePart| p.as_ident().map(|i| i.value.clone()).unwrap_or_default();
    match name.0.as_slice() {
        [table] => {
            let database = database.ok_or(Error::NoDatabase)?.to_owned();
            Ok((database, part(table)))
        }
        [database, table] => Ok((part(database), part(table))),
        _ => Err(near(name)),
    }
}

/// A name as SQLite quotes it.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name in SQLite's tree, quoted so that it is no keyword.
pub fn ident(name: &str) -> Ident {
    Ident::with_quote('"', name.replace('"', "\"\""))
}
