//! Tables that are created again, with their rows, because SQLite can alter little in place.

use sqlparser::ast::Expr;
use tare_dialect::ddl::TableName;
use tare_dialect::node;
use tare_dialect::rewrite::conversion_call;
use tare_mysql::error::Result;
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types::{base_type, parts};
use tare_store::Connection;
use tare_store::authorizer::as_server;
use tare_store::connection::quote;
use tare_store::tables::{IndexToSqlite, ToSqlite};

use super::{foreign, table};

/// Rebuilds the table as `def` defines it, because SQLite can alter little in place. Returns the number
/// of copied rows.
pub fn rebuild(
    connection: &mut Connection,
    strict: bool,
    name: &TableName,
    (def, old): (&TableDef, &TableDef),
    sources: Option<&[Option<String>]>,
) -> Result<u64> {
    let db = quote(&name.database);
    let scratch = format!("__tare_new_{}", def.name);
    let own: Vec<Option<String>> = def.columns.iter().map(|c| Some(c.name.clone())).collect();
    let sources = sources.unwrap_or(&own);
    let (mut into, mut from) = (Vec::new(), Vec::new());
    for (column, source) in def.columns.iter().zip(sources) {
        if let Some(source) = source {
            into.push(quote(&column.name));
            from.push(copy_expression(column, old.column(source), source, strict).to_string());
        } else if !column.nullable && column.default.is_none() && !column.auto_increment {
            // MySQL fills a new NOT NULL column with its type's zero.
            into.push(quote(&column.name));
            from.push(zero_value(column).to_string());
        }
    }
    let mut all = def.to_sqlite(&name.database, &scratch).into_iter();
    if let Some(create) = all.next() {
        connection.batch(&create)?;
    }
    connection.batch(&format!(
        "INSERT INTO {db}.{} ({}) SELECT {} FROM {db}.{}",
        quote(&scratch),
        into.join(", "),
        from.join(", "),
        quote(&name.table)
    ))?;
    let rows = connection.changes();
    let next_id = match def.auto_increment() {
        Some(_) => match def.next_id {
            Some(next_id) => Some(next_id),
            None => Some(table::next_id(connection, name)?),
        },
        None => None,
    };
    connection.batch(&format!("DROP TABLE {db}.{}", quote(&name.table)))?;
    connection.batch(&format!(
        "ALTER TABLE {db}.{} RENAME TO {}",
        quote(&scratch),
        quote(&def.name)
    ))?;
    table::set_next_id(connection, name, next_id)?;
    for index in def.indexes.iter().filter(|i| i.name != "PRIMARY") {
        connection.batch(&index.to_sqlite(&name.database, &def.name, &def.name))?;
    }
    table::delete_definition(connection, name)?;
    table::save_definition(connection, &name.database, def)?;
    Ok(rows)
}

/// Rebuilds the tables whose foreign keys refer to columns that have another name now.
pub fn follow_columns(
    connection: &mut Connection,
    strict: bool,
    name: &TableName,
    (def, sources): (&TableDef, &[Option<String>]),
) -> Result<()> {
    let renamed = def.columns.iter().zip(sources);
    let renamed = renamed.filter_map(|(column, source)| Some((source.as_ref()?, &column.name)));
    let renamed: Vec<_> = renamed
        .filter(|(old, new)| !old.eq_ignore_ascii_case(new))
        .collect();
    for (child, _) in foreign::referring_tables(connection, name)? {
        let mut new = child.as_ref().clone();
        let keys = new
            .foreign_keys
            .iter_mut()
            .filter(|k| k.table == name.table);
        for column in keys.flat_map(|key| &mut key.referred) {
            let mut renamed = renamed.iter();
            if let Some((_, new)) = renamed.find(|(old, _)| old.eq_ignore_ascii_case(column)) {
                column.clone_from(new);
            }
        }
        if new != *child {
            let table = TableName {
                database: name.database.clone(),
                table: new.name.clone(),
            };
            rebuild(connection, strict, &table, (&new, &child), None)?;
        }
    }
    Ok(())
}

/// The expression that copies a column. A stored TIMESTAMP is already in UTC.
fn copy_expression(
    column: &ColumnDef,
    old: Option<&ColumnDef>,
    source: &str,
    strict: bool,
) -> Expr {
    let is_moment = |c: &ColumnDef| base_type(&c.column_type) == "timestamp";
    let value = node::column(source);
    if !old.is_some_and(is_moment) {
        return conversion_call(column, value, strict);
    }
    if !is_moment(column) {
        return conversion_call(column, node::call("tare_local", vec![value]), strict);
    }
    let digits = parts(&column.column_type).fraction().unwrap_or(0) as i64;
    let all = [strict.into(), digits, 2].map(node::number);
    let mut arguments = vec![value, node::text(&column.name)];
    arguments.extend(all);
    node::call("tare_to_datetime", arguments)
}

/// The value that existing rows get in a new column that is NOT NULL and has no default.
fn zero_value(column: &ColumnDef) -> Expr {
    match base_type(&column.column_type) {
        "date" => node::text("0000-00-00"),
        "datetime" | "timestamp" => node::text("0000-00-00 00:00:00"),
        "enum" => conversion_call(column, node::number(1), true),
        "set" => node::text(""),
        kind if kind.ends_with("char") || kind.ends_with("text") => node::text(""),
        kind if kind.ends_with("blob") || kind.ends_with("binary") => node::bytes("".into()),
        _ => conversion_call(column, node::number(0), true),
    }
}

/// Drops a database's views, and returns the statements that create them. SQLite refuses to rename a table if any
/// view names one that is gone, and changes the names of tables in views; MySQL does neither.
pub fn take_views(connection: &mut Connection, database: &str) -> Result<Vec<String>> {
    let db = quote(database);
    let sql = format!("SELECT name, sql FROM {db}.sqlite_schema WHERE type = 'view'");
    let views: Vec<(String, String)> = as_server(|| -> rusqlite::Result<_> {
        let mut statement = connection.db().prepare(&sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    })
    .map_err(tare_store::Error::from)?;
    let mut all = Vec::new();
    for (name, sql) in views {
        // SQLite stores the text without the name of the database.
        let Some(definition) = sql.strip_prefix("CREATE VIEW ") else {
            continue;
        };
        connection.batch(&format!("DROP VIEW {db}.{}", quote(&name)))?;
        all.push(format!("CREATE VIEW {db}.{definition}"));
    }
    Ok(all)
}

/// Creates views that `take_views` has dropped.
pub fn put_views_back(connection: &mut Connection, views: &[String]) -> Result<()> {
    views
        .iter()
        .try_for_each(|create| Ok(connection.batch(create)?))
}
