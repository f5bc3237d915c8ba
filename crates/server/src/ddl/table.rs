//! Finds, creates and drops tables and views, and stores their definitions.

use std::sync::Arc;

use super::exclusive::literal;
use super::{constraint, default, exclusive, foreign};
use crate::context::SessionContext;
use crate::session::{Connections, Session};
use tare_dialect::ddl::TableName;
use tare_dialect::plan::Sql;
use tare_mysql::date::now_utc;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types;
use tare_store::Connection;
use tare_store::authorizer::as_server;
use tare_store::connection::quote;
use tare_store::next_ids::NextIds;
use tare_store::tables::{DEFINITIONS_TABLE, ToSqlite};

pub fn find(connections: &mut Connections, name: &TableName) -> Result<Option<Arc<TableDef>>> {
    if is_system_schema(&name.database) {
        let (user, host) = connections.context.state.account();
        return Err(SqlError::new(
            1142,
            format!(
                "command denied to user '{user}'@'{host}' for table '{}'",
                name.table
            ),
        ));
    }
    let connection = connections.own()?;
    Ok(connection.table(&name.database, &name.table)?)
}

pub fn require(connections: &mut Connections, name: &TableName) -> Result<Arc<TableDef>> {
    find(connections, name)?.ok_or_else(|| SqlError::no_such_table(&name.database, &name.table))
}

pub fn note_existing(
    connections: &mut Connections,
    name: &TableName,
    if_not_exists: bool,
) -> Result<bool> {
    if find(connections, name)?.is_none() {
        return Ok(false);
    }
    let message = format!("Table '{}' already exists", name.table);
    if if_not_exists {
        connections
            .context
            .state
            .warnings
            .add("Note", 1050, message);
        return Ok(true);
    }
    Err(SqlError::new(1050, message))
}

pub fn create(connection: &mut Connection, name: &TableName, def: &TableDef) -> Result<()> {
    for sql in def.to_sqlite(&name.database, &name.table) {
        connection.batch(&sql)?;
    }
    set_next_id(
        connection,
        name,
        def.next_id.filter(|_| def.auto_increment().is_some()),
    )?;
    save_definition(connection, &name.database, def)
}

/// The definition of a new table, with its defaults as they are stored: 1067, 1101 and 3822.
pub fn check_new(session: &mut Session, name: &TableName, def: &TableDef) -> Result<TableDef> {
    constraint::check_new_names(session.connections.own()?, &name.database, def)?;
    let mut def = def.clone();
    default::settle(session, &mut def, None)?;
    Ok(def)
}

/// The number that AUTO_INCREMENT of a table gives next.
pub fn next_id(connection: &Connection, name: &TableName) -> Result<u64> {
    let last = format!(
        "SELECT coalesce(max(seq), 0) FROM {}.sqlite_sequence WHERE name = {}",
        quote(&name.database),
        literal(&name.table)
    );
    Ok(as_server(|| connection.number(&last))? as u64 + 1)
}

/// Sets the number that AUTO_INCREMENT gives next, unless larger ones are there.
pub fn set_next_id(
    connection: &mut Connection,
    name: &TableName,
    next_id: Option<u64>,
) -> Result<()> {
    let Some(next_id) = next_id else {
        return Ok(());
    };
    let next_id = next_id.max(self::next_id(connection, name)?);
    let last = i64::try_from(next_id.saturating_sub(1)).unwrap_or(i64::MAX);
    let (db, table) = (quote(&name.database), literal(&name.table));
    Ok(connection.batch(&format!(
        "DELETE FROM {db}.sqlite_sequence WHERE name = {table}; \
         INSERT INTO {db}.sqlite_sequence (name, seq) VALUES ({table}, {last})"
    ))?)
}

/// Stores the number that AUTO_INCREMENT of a table gives next, before the table is rebuilt or renamed.
pub fn store_next_id(
    connection: &mut Connection,
    next_ids: &NextIds,
    name: &TableName,
) -> Result<()> {
    set_next_id(connection, name, next_ids.get(&name.database, &name.table))
}

/// Warns of deprecated types in a table that was created, as MySQL 8.0.17 and later do.
pub fn warn_of_deprecated(context: &SessionContext, def: &TableDef) {
    let digits = |column: &ColumnDef| {
        let parts = types::parts(&column.column_type);
        matches!(parts.base.as_str(), "float" | "double") && parts.fixed().is_some()
    };
    if context.shared.config.series.warns_of_deprecated() {
        for _ in def.columns.iter().filter(|column| digits(column)) {
            context
                .state
                .warnings
                .add("Warning", 1681, DEPRECATED_DIGITS);
        }
    }
}

/// The warning of MySQL 8.0.17 and later.
const DEPRECATED_DIGITS: &str = "Specifying number of digits for floating point data types is deprecated and will be removed in a future release.";

/// Stores a table's definition in the database.
pub fn save_definition(connection: &mut Connection, database: &str, def: &TableDef) -> Result<()> {
    let quoted = quote(database);
    connection.batch(&format!("CREATE TABLE IF NOT EXISTS {quoted}.{DEFINITIONS_TABLE} (name TEXT PRIMARY KEY, definition TEXT NOT NULL, created INTEGER)"))?;
    let columns = format!(
        "SELECT count(*) FROM pragma_table_info({}, {}) WHERE name = 'created'",
        literal(DEFINITIONS_TABLE),
        literal(database)
    );
    let has_created = as_server(|| connection.number(&columns))?;
    if has_created == 0 {
        connection.batch(&format!(
            "ALTER TABLE {quoted}.{DEFINITIONS_TABLE} ADD COLUMN created INTEGER"
        ))?;
    }
    let insert = format!(
        "INSERT OR REPLACE INTO {quoted}.{DEFINITIONS_TABLE} (name, definition, created) VALUES (?1, ?2, ?3)"
    );
    let values = rusqlite::params![def.name, def.to_mysql(), now_utc().0];
    as_server(|| connection.db().execute(&insert, values)).map_err(tare_store::Error::from)?;
    Ok(())
}

pub fn delete_definition(connection: &Connection, name: &TableName) -> Result<()> {
    let sql = format!(
        "DELETE FROM {}.{DEFINITIONS_TABLE} WHERE name = ?1",
        quote(&name.database)
    );
    match as_server(|| connection.db().execute(&sql, [&name.table])) {
        // A database that another program created has no such table.
        Err(rusqlite::Error::SqliteFailure(_, Some(m))) if m.starts_with("no such table") => Ok(()),
        other => Ok(other.map(std::mem::drop).map_err(tare_store::Error::from)?),
    }
}

pub fn create_view(
    session: &mut Session,
    name: &TableName,
    query: &Sql,
    text: &str,
    or_replace: bool,
) -> Result<()> {
    if !query.catalog.is_empty() || query.databases.iter().any(|d| *d != name.database) {
        return Err(SqlError::unsupported("a view of another database's tables"));
    }
    let old = find(&mut session.connections, name)?;
    if old
        .as_ref()
        .is_some_and(|o| o.view.is_none() || !or_replace)
    {
        return Err(SqlError::new(
            1050,
            format!("Table '{}' already exists", name.table),
        ));
    }
    // In SQLite a view cannot name its own database.
    let own = format!("{}.", quote(&name.database));
    let select = query.text.replace(&own, "");
    let def = TableDef {
        name: name.table.clone(),
        view: Some(text.to_owned()),
        ..TableDef::default()
    };
    exclusive::run(session, &name.database, |connection| {
        let (db, view) = (quote(&name.database), quote(&name.table));
        if old.is_some() {
            connection.batch(&format!("DROP VIEW {db}.{view}"))?;
        }
        connection.batch(&format!("CREATE VIEW {db}.{view} AS {select}"))?;
        save_definition(connection, &name.database, &def)
    })
}

pub fn drop(session: &mut Session, names: &[TableName], if_exists: bool, view: bool) -> Result<()> {
    let (mut missing, mut there) = (Vec::new(), Vec::new());
    for name in names {
        let existing = match find(&mut session.connections, name) {
            // `find` refuses every table of a system schema, existing or not.
            _ if is_system_schema(&name.database) => None,
            Ok(def) => def.filter(|d| d.view.is_some() == view),
            Err(e) if e.code == 1049 => None,
            Err(e) => return Err(e),
        };
        match existing {
            Some(_) => there.push(name),
            None => missing.push(format!("{}.{}", name.database, name.table)),
        }
    }
    if !missing.is_empty() && !if_exists {
        return Err(SqlError::new(
            1051,
            format!("Unknown table '{}'", missing.join(",")),
        ));
    }
    foreign::check_drop(&mut session.connections, &there)?;
    let word = if view { "VIEW" } else { "TABLE" };
    let databases = session.shared.databases.clone();
    for name in there {
        exclusive::run(session, &name.database, |connection| {
            connection.batch(&format!(
                "DROP {word} {}.{}",
                quote(&name.database),
                quote(&name.table)
            ))?;
            delete_definition(connection, name)?;
            databases.next_ids.forget(&name.database, &name.table);
            Ok(())
        })?;
    }
    for name in missing {
        session
            .state
            .warnings
            .add("Note", 1051, format!("Unknown table '{name}'"));
    }
    Ok(())
}
