//! ALTER TABLE: changes a definition and rebuilds its table.

use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, Expr, MySQLColumnPosition, RenameTableNameKind,
};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types::{base_type, is_text, parts};

use super::{constraint, default, engine, exclusive, foreign, table};
use crate::session::Session;
use tare_dialect::ddl::{AlterOperation, FromSql, TableName, collation, default_text};
use tare_dialect::name::last_name;
use tare_dialect::node;
use tare_dialect::rewrite::conversion_call;
use tare_store::Connection;
use tare_store::authorizer::as_server;
use tare_store::connection::quote;
use tare_store::tables::{IndexToSqlite, ToSqlite};

pub fn rename(session: &mut Session, from: &TableName, to: &TableName) -> Result<()> {
    if from.database != to.database {
        return Err(SqlError::unsupported("moving a table to another database"));
    }
    let mut def = table::require(&mut session.connections, from)?
        .as_ref()
        .clone();
    table::note_existing(&mut session.connections, to, false)?;
    constraint::follow_rename(&mut def, &to.table);
    let strict = session.mode().strict;
    exclusive::run(session, &from.database, |connection| {
        let views = take_views(connection, &from.database)?;
        // SQLite changes the text of foreign keys that refer to a table that it renames.
        foreign::rename_in_place(connection, from, to)?;
        rebuild(connection, strict, to, (&def, &def), None)?;
        table::delete_definition(connection, from)?;
        foreign::redirect_foreign_keys(connection, from, to)?;
        put_views_back(connection, &views)
    })
}

pub fn add_last_index(session: &mut Session, name: &TableName, def: &TableDef) -> Result<()> {
    let Some(index) = def.indexes.last() else {
        return Ok(());
    };
    def.check_indexes()?;
    let sql = index.to_sqlite(&name.database, &name.table, &name.table);
    exclusive::run(session, &name.database, |connection| {
        connection.batch(&sql)?;
        table::save_definition(connection, &name.database, def)
    })
}

/// ALTER TABLE. Returns the affected rows as MySQL counts them: those that it copies because a column
/// changes its type.
pub fn alter(
    session: &mut Session,
    name: &TableName,
    operations: &[AlterOperation],
) -> Result<u64> {
    let old = table::require(&mut session.connections, name)?;
    if old.view.is_some() {
        return Err(SqlError::new(
            1347,
            format!("'{}.{}' is not BASE TABLE", name.database, name.table),
        ));
    }
    let mut def = old.as_ref().clone();
    // The old column that each new column is copied from.
    let own: Vec<Option<String>> = def.columns.iter().map(|c| Some(c.name.clone())).collect();
    let mut sources = own.clone();
    (def.engine, def.next_id) = (None, None);
    constraint::change(&mut def, operations)?;
    for operation in operations {
        change(session, &mut def, &mut sources, operation)?;
    }
    foreign::check_drop_columns(session.connections.own()?, name, &old, &def, &sources)?;
    def.settle();
    def.check_indexes()?;
    constraint::check_names(session.connections.own()?, &name.database, &old, &def)?;
    engine::check_altered(session, &def)?;
    default::settle(session, &mut def, Some(&old))?;
    let to = TableName {
        database: name.database.clone(),
        table: def.name.clone(),
    };
    if to != *name {
        table::note_existing(&mut session.connections, &to, false)?;
    } else if sources == own && def.next_id.is_none() && has_same_form(&old, &def) {
        return exclusive::run(session, &name.database, |connection| {
            table::save_definition(connection, &name.database, &def)?;
            Ok(0)
        });
    }
    let strict = session.mode().strict;
    let checks_rows = def.foreign_keys != old.foreign_keys && foreign::has_checks(&session.state);
    exclusive::run(session, &name.database, |connection| {
        let views = take_views(connection, &name.database)?;
        if to != *name {
            foreign::rename_in_place(connection, name, &to)?;
            table::delete_definition(connection, name)?;
        }
        let rows = rebuild(connection, strict, &to, (&def, &old), Some(&sources))?;
        if to != *name {
            foreign::redirect_foreign_keys(connection, name, &to)?;
        }
        put_views_back(connection, &views)?;
        if checks_rows {
            foreign::check_rows(connection, &to)?;
        }
        let retyped = def.columns.iter().zip(&sources).any(|(column, source)| {
            let before = source.as_deref().and_then(|name| old.column(name));
            before.is_some_and(|before| copies_rows(&before.column_type, &column.column_type))
        });
        let copies = retyped || constraint::copies_rows(&old, &def);
        Ok(if copies { rows } else { 0 })
    })
}

/// Whether two definitions are the same table in SQLite.
fn has_same_form(a: &TableDef, b: &TableDef) -> bool {
    a.to_sqlite("", &a.name) == b.to_sqlite("", &b.name)
}

/// Drops a database's views, and returns the statements that create them. SQLite refuses to rename a table if any
/// view names one that is gone, and changes the names of tables in views; MySQL does neither.
fn take_views(connection: &mut Connection, database: &str) -> Result<Vec<String>> {
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
fn put_views_back(connection: &mut Connection, views: &[String]) -> Result<()> {
    views
        .iter()
        .try_for_each(|create| Ok(connection.batch(create)?))
}

/// Whether MySQL copies the rows to change a type. It does not for a longer VARCHAR whose length prefix
/// keeps its size, nor for members appended to an ENUM or SET.
fn copies_rows(from: &str, to: &str) -> bool {
    let (a, b) = (parts(from), parts(to));
    if from == to || a.base != b.base {
        return from != to;
    }
    match a.base.as_str() {
        "varchar" => match (a.characters(), b.characters()) {
            // A character takes up to four bytes.
            (Some(a), Some(b)) => b < a || (a * 4 > 255) != (b * 4 > 255),
            _ => true,
        },
        "enum" | "set" => !b.members().starts_with(&a.members()),
        _ => true,
    }
}

/// Rebuilds the table as `def` defines it, because SQLite can alter little in place. Returns the number
/// of copied rows.
fn rebuild(
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
        Some(_) => Some(table::next_id(connection, name)?),
        None => None,
    };
    connection.batch(&format!("DROP TABLE {db}.{}", quote(&name.table)))?;
    connection.batch(&format!(
        "ALTER TABLE {db}.{} RENAME TO {}",
        quote(&scratch),
        quote(&def.name)
    ))?;
    if next_id.is_some() {
        table::set_next_id(connection, name, next_id.max(def.next_id))?;
    }
    for index in def.indexes.iter().filter(|i| i.name != "PRIMARY") {
        connection.batch(&index.to_sqlite(&name.database, &def.name, &def.name))?;
    }
    table::delete_definition(connection, name)?;
    table::save_definition(connection, &name.database, def)?;
    Ok(rows)
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

/// DROP INDEX.
pub fn drop_one_index(session: &mut Session, name: &TableName, index: &str) -> Result<()> {
    let mut def = table::require(&mut session.connections, name)?
        .as_ref()
        .clone();
    drop_index(&mut def, index)?;
    exclusive::run(session, &name.database, |connection| {
        connection.batch(&format!(
            "DROP INDEX {}.{}",
            quote(&name.database),
            quote(&format!("{}.{index}", name.table))
        ))?;
        table::save_definition(connection, &name.database, &def)
    })
}

fn drop_index(def: &mut TableDef, index: &str) -> Result<()> {
    let before = def.indexes.len();
    def.indexes.retain(|i| !i.name.eq_ignore_ascii_case(index));
    if def.indexes.len() == before {
        return Err(SqlError::new(
            1091,
            format!("Can't DROP '{index}'; check that column/key exists"),
        ));
    }
    Ok(())
}

fn position(def: &TableDef, at: Option<&MySQLColumnPosition>) -> Result<usize> {
    match at {
        None => Ok(def.columns.len()),
        Some(MySQLColumnPosition::First) => Ok(0),
        Some(MySQLColumnPosition::After(name)) => column_position(def, &name.value).map(|i| i + 1),
    }
}

fn column_position(def: &TableDef, name: &str) -> Result<usize> {
    def.columns
        .iter()
        .position(|c| c.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| SqlError::new(1054, format!("Unknown column '{name}' in '{}'", def.name)))
}

/// Applies an operation of ALTER TABLE to the definition, unless [`constraint::change`] has done so.
fn change(
    session: &Session,
    def: &mut TableDef,
    sources: &mut Vec<Option<String>>,
    operation: &AlterOperation,
) -> Result<()> {
    match operation {
        AlterOperation::Parsed(operation) => change_parsed(def, sources, operation)?,
        AlterOperation::Options(options) => def.apply_options(options)?,
        AlterOperation::Convert(options) => {
            let binary = collation(options)?.unwrap_or_default();
            def.binary = binary;
            for column in def.columns.iter_mut().filter(|c| is_text(&c.column_type)) {
                column.binary = binary;
            }
        }
        AlterOperation::SwitchKeys => {
            let message = "Table storage engine for '{}' doesn't have this option";
            let message = message.replace("{}", &def.name);
            session.state.warnings.add("Note", 1031, message);
        }
        AlterOperation::RenameIndex { .. }
        | AlterOperation::DropCheck(_)
        | AlterOperation::DropConstraint(_)
        | AlterOperation::EnforceCheck { .. }
        | AlterOperation::Nothing => {}
    }
    Ok(())
}

/// Applies an operation that sqlparser reads.
fn change_parsed(
    def: &mut TableDef,
    sources: &mut Vec<Option<String>>,
    operation: &AlterTableOperation,
) -> Result<()> {
    use AlterTableOperation as Op;
    match operation {
        Op::AddColumn {
            column_def,
            if_not_exists,
            column_position,
            ..
        } => {
            add_column(
                def,
                sources,
                column_def,
                *if_not_exists,
                column_position.as_ref(),
            )?;
        }
        Op::DropColumn { column_names, .. } => {
            for name in column_names {
                drop_column(def, sources, &name.value)?;
            }
        }
        Op::ModifyColumn {
            col_name,
            data_type,
            options,
            column_position,
        } => {
            redefine(
                def,
                sources,
                &col_name.value,
                &col_name.value,
                data_type,
                options,
                column_position.as_ref(),
            )?;
        }
        Op::ChangeColumn {
            old_name,
            new_name,
            data_type,
            options,
            column_position,
        } => {
            redefine(
                def,
                sources,
                &old_name.value,
                &new_name.value,
                data_type,
                options,
                column_position.as_ref(),
            )?;
        }
        Op::RenameColumn {
            old_column_name,
            new_column_name,
        } => {
            rename_column(def, &old_column_name.value, &new_column_name.value)?;
        }
        Op::AlterColumn { column_name, op } => {
            alter_column(def, &column_name.value, op)?;
        }
        Op::AddConstraint { constraint, .. } => {
            def.add_constraint(constraint)?;
            def.settle();
        }
        Op::DropPrimaryKey { .. } => drop_index(def, "PRIMARY")?,
        Op::DropIndex { name } => drop_index(def, &name.value)?,
        Op::DropForeignKey { name, .. } => drop_foreign_key(def, &name.value)?,
        Op::RenameTable { table_name } => {
            let (RenameTableNameKind::As(name) | RenameTableNameKind::To(name)) = table_name;
            constraint::follow_rename(def, &last_name(name));
        }
        Op::Algorithm { .. } | Op::Lock { .. } => {}
        other => return Err(SqlError::unsupported(format!("ALTER TABLE ... {other}"))),
    }
    Ok(())
}

fn drop_foreign_key(def: &mut TableDef, name: &str) -> Result<()> {
    let before = def.foreign_keys.len();
    def.foreign_keys.retain(|f| f.name != name);
    if before == def.foreign_keys.len() {
        return Err(SqlError::new(
            1091,
            format!("Can't DROP '{name}'; check that column/key exists"),
        ));
    }
    Ok(())
}

fn add_column(
    def: &mut TableDef,
    sources: &mut Vec<Option<String>>,
    column: &sqlparser::ast::ColumnDef,
    if_not_exists: bool,
    to: Option<&MySQLColumnPosition>,
) -> Result<()> {
    if def.column(&column.name.value).is_some() {
        if if_not_exists {
            return Ok(());
        }
        return Err(SqlError::new(
            1060,
            format!("Duplicate column name '{}'", column.name.value),
        ));
    }
    let to = position(def, to)?;
    def.add_column(column)?;
    if let Some(column) = def.columns.pop() {
        def.columns.insert(to, column);
        sources.insert(to, None);
    }
    Ok(())
}

fn drop_column(def: &mut TableDef, sources: &mut Vec<Option<String>>, name: &str) -> Result<()> {
    let at = column_position(def, name).map_err(|_| {
        SqlError::new(
            1091,
            format!("Can't DROP '{name}'; check that column/key exists"),
        )
    })?;
    def.columns.remove(at);
    sources.remove(at);
    for index in &mut def.indexes {
        index.columns.retain(|c| !c.eq_ignore_ascii_case(name));
    }
    def.indexes.retain(|i| !i.columns.is_empty());
    Ok(())
}

fn alter_column(def: &mut TableDef, name: &str, op: &AlterColumnOperation) -> Result<()> {
    let at = column_position(def, name)?;
    match op {
        AlterColumnOperation::SetDefault { value } => {
            let column = &mut def.columns[at];
            column.default = Some(default_text(value, &column.column_type));
        }
        AlterColumnOperation::DropDefault => def.columns[at].default = None,
        other => return Err(SqlError::unsupported(other)),
    }
    Ok(())
}

fn rename_column(def: &mut TableDef, old: &str, new: &str) -> Result<()> {
    let at = column_position(def, old)?;
    if !old.eq_ignore_ascii_case(new) && def.column(new).is_some() {
        return Err(SqlError::new(
            1060,
            format!("Duplicate column name '{new}'"),
        ));
    }
    def.columns[at].name = new.to_owned();
    for column in def.indexes.iter_mut().flat_map(|i| &mut i.columns) {
        if column.eq_ignore_ascii_case(old) {
            *column = new.to_owned();
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn redefine(
    def: &mut TableDef,
    sources: &mut Vec<Option<String>>,
    old: &str,
    new: &str,
    data_type: &sqlparser::ast::DataType,
    options: &[sqlparser::ast::ColumnOption],
    to: Option<&MySQLColumnPosition>,
) -> Result<()> {
    rename_column(def, old, new)?;
    let at = column_position(def, new)?;
    let column = sqlparser::ast::ColumnDef {
        name: sqlparser::ast::Ident::new(new),
        data_type: data_type.clone(),
        options: options
            .iter()
            .map(|o| sqlparser::ast::ColumnOptionDef {
                name: None,
                option: o.clone(),
            })
            .collect(),
    };
    def.add_column(&column)?;
    if let Some(column) = def.columns.pop() {
        def.columns[at] = column;
    }
    if to.is_some() {
        let column = def.columns.remove(at);
        let source = sources.remove(at);
        let at = position(def, to)?;
        def.columns.insert(at, column);
        sources.insert(at, source);
    }
    def.settle();
    Ok(())
}
