//! The foreign keys of other tables: what they forbid, and how they follow a rename. In SQLite a foreign
//! key refers to a table of the same database.

use std::sync::Arc;

use super::table;
use crate::session::Connections;
use crate::state::SessionState;
use tare_dialect::ddl::TableName;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::table::{ForeignKeyDef, IndexDef, TableDef};
use tare_store::Connection;
use tare_store::authorizer::as_server;
use tare_store::connection::quote;

/// Whether @@foreign_key_checks is on.
pub fn has_checks(state: &SessionState) -> bool {
    state.text("foreign_key_checks").as_deref() != Some("OFF")
}

/// The other tables that refer to a table: their definitions, and the index of a key that does.
pub(super) fn referring_tables(
    connection: &mut Connection,
    name: &TableName,
) -> Result<Vec<(Arc<TableDef>, usize)>> {
    let definitions = connection.definitions(&name.database)?;
    let mut referring_tables = Vec::new();
    for def in definitions.tables.values().filter(|d| d.name != name.table) {
        let key = def.foreign_keys.iter().position(|k| k.table == name.table);
        referring_tables.extend(key.map(|key| (def.clone(), key)));
    }
    referring_tables.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    Ok(referring_tables)
}

/// Error 3730: a table that another one refers to can be dropped only together with it.
pub fn check_drop(connections: &mut Connections, names: &[&TableName]) -> Result<()> {
    if !has_checks(&connections.context.state) {
        return Ok(());
    }
    let connection = connections.own()?;
    for name in names {
        for (child, key) in referring_tables(connection, name)? {
            let goes_too = names
                .iter()
                .any(|n| n.database == name.database && n.table == child.name);
            if !goes_too {
                return Err(SqlError::new(
                    3730,
                    format!(
                        "Cannot drop table '{}' referenced by a foreign key constraint '{}' on table '{}'.",
                        name.table, child.foreign_keys[key].name, child.name
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Error 1701: TRUNCATE refuses a table that another one refers to.
pub fn check_truncate(connections: &mut Connections, name: &TableName) -> Result<()> {
    if !has_checks(&connections.context.state) {
        return Ok(());
    }
    let mut children = referring_tables(connections.own()?, name)?.into_iter();
    let Some((child, key)) = children.next() else {
        return Ok(());
    };
    Err(SqlError::new(
        1701,
        format!(
            "Cannot truncate a table referenced in a foreign key constraint (`{}`.`{}`, CONSTRAINT `{}`)",
            name.database, child.name, child.foreign_keys[key].name
        ),
    ))
}

/// Error 1553: an index that a foreign key of this table, or one that refers to it, needs cannot be dropped.
/// An index that a foreign key implies does not replace it.
pub fn check_drop_indexes(
    connections: &mut Connections,
    name: &TableName,
    old: &TableDef,
    new: &TableDef,
) -> Result<()> {
    let is_retained = |index: &&IndexDef| new.indexes.iter().any(|i| i.name == index.name);
    let gone: Vec<&IndexDef> = old.indexes.iter().filter(|i| !is_retained(i)).collect();
    if gone.is_empty() {
        return Ok(());
    }
    let mut needed: Vec<Vec<String>> = Vec::new();
    needed.extend(new.foreign_keys.iter().map(|key| key.columns.clone()));
    if has_checks(&connections.context.state) {
        for (child, _) in referring_tables(connections.own()?, name)? {
            let to_it = child.foreign_keys.iter().filter(|k| k.table == name.table);
            needed.extend(to_it.map(|key| key.referred.clone()));
        }
    }
    for columns in needed {
        let is_written = |i: &&IndexDef| !i.implied || old.indexes.contains(i);
        let mut left = new.indexes.iter().filter(is_written);
        if left.any(|i| i.begins_with(&columns)) {
            continue;
        }
        if let Some(index) = gone.iter().find(|i| i.begins_with(&columns)) {
            let index = &index.name;
            let message =
                format!("Cannot drop index '{index}': needed in a foreign key constraint");
            return Err(SqlError::new(1553, message));
        }
    }
    Ok(())
}

/// Errors 1828 and 1829: a column that a foreign key needs cannot be dropped.
pub fn check_drop_columns(
    connection: &mut Connection,
    name: &TableName,
    old: &TableDef,
    new: &TableDef,
    sources: &[Option<String>],
) -> Result<()> {
    let gone = |column: &String| {
        let stays = |s: &Option<String>| s.as_ref().is_some_and(|s| s.eq_ignore_ascii_case(column));
        old.column(column).is_some() && !sources.iter().any(stays)
    };
    for key in &new.foreign_keys {
        if let Some(column) = key.columns.iter().find(|c| gone(c)) {
            let message = format!(
                "Cannot drop column '{column}': needed in a foreign key constraint '{}'",
                key.name
            );
            return Err(SqlError::new(1828, message));
        }
    }
    for (child, _) in referring_tables(connection, name)? {
        let to_it = |k: &&ForeignKeyDef| k.table == name.table;
        for key in child.foreign_keys.iter().filter(to_it) {
            if let Some(column) = key.referred.iter().find(|c| gone(c)) {
                let message = format!(
                    "Cannot drop column '{column}': needed in a foreign key constraint '{}' of table '{}'",
                    key.name, child.name
                );
                return Err(SqlError::new(1829, message));
            }
        }
    }
    Ok(())
}

/// Error 1452: a row of a rebuilt table refers to a row that does not exist.
pub fn check_rows(connection: &Connection, name: &TableName) -> Result<()> {
    let sql = format!(
        "SELECT 1 FROM pragma_foreign_key_check({}, {}) LIMIT 1",
        super::literal(&name.table),
        super::literal(&name.database)
    );
    let broken = as_server(|| connection.db().prepare(&sql)?.exists([]));
    if broken.map_err(tare_store::Error::from)? {
        return Err(SqlError::new(
            1452,
            "Cannot add or update a child row: a foreign key constraint fails",
        ));
    }
    Ok(())
}

/// Makes the foreign keys of other tables refer to a table's new name. Runs inside the change.
pub fn redirect_foreign_keys(
    connection: &mut Connection,
    from: &TableName,
    to: &TableName,
) -> Result<()> {
    for (child, _) in referring_tables(connection, from)? {
        let mut def = child.as_ref().clone();
        for key in def
            .foreign_keys
            .iter_mut()
            .filter(|k| k.table == from.table)
        {
            key.table.clone_from(&to.table);
        }
        table::save_definition(connection, &from.database, &def)?;
    }
    Ok(())
}

/// Renames a table in SQLite, which also renames it in the foreign keys that refer to it.
pub fn rename_in_place(
    connection: &mut Connection,
    from: &TableName,
    to: &TableName,
) -> Result<()> {
    connection.batch(&format!(
        "ALTER TABLE {}.{} RENAME TO {}",
        quote(&from.database),
        quote(&from.table),
        quote(&to.table)
    ))?;
    Ok(())
}
