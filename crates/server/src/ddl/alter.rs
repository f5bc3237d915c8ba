//! ALTER TABLE: changes a definition.

use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, MySQLColumnPosition, RenameTableNameKind,
};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::table::{ForeignKeyDef, TableDef};
use tare_mysql::types::{is_text, parts};

use super::rebuild::{follow_columns, put_views_back, rebuild, take_views};
use super::{constraint, default, engine, exclusive, foreign, table};
use crate::session::Session;
use tare_dialect::ddl::{AlterOperation, FromSql, TableName, collation, default_text};
use tare_dialect::name::last_name;
use tare_store::connection::quote;
use tare_store::tables::{IndexToSqlite, ToSqlite};

pub fn rename(session: &mut Session, from: &TableName, to: &TableName) -> Result<()> {
    if from.database != to.database {
        return Err(SqlError::unsupported("moving a table to another database"));
    }
    let old = table::require(&mut session.connections, from)?;
    let mut def = old.as_ref().clone();
    table::note_existing(&mut session.connections, to, false)?;
    constraint::follow_rename(&mut def, &to.table);
    constraint::check_names(session.connections.own()?, &to.database, &old, &def)?;
    let strict = session.mode().strict;
    let databases = session.shared.databases.clone();
    exclusive::run(session, &from.database, |connection| {
        table::store_next_id(connection, &databases.next_ids, from)?;
        let views = take_views(connection, &from.database)?;
        // SQLite changes the text of foreign keys that refer to a table that it renames.
        foreign::rename_in_place(connection, from, to)?;
        rebuild(connection, strict, to, (&def, &def), None)?;
        table::delete_definition(connection, from)?;
        foreign::redirect_foreign_keys(connection, from, to)?;
        put_views_back(connection, &views)?;
        databases.next_ids.forget(&from.database, &from.table);
        Ok(())
    })
}

/// CREATE INDEX, by the definition that has it. It may replace a foreign key's own index.
pub fn add_index(session: &mut Session, name: &TableName, def: &TableDef) -> Result<()> {
    def.check_indexes()?;
    let old = table::require(&mut session.connections, name)?;
    warn_of_duplicate_indexes(session, name, (def, &old));
    exclusive::run(session, &name.database, |connection| {
        for replaced in old.indexes.iter().filter(|i| !def.indexes.contains(i)) {
            connection.batch(&drop_sql(name, &replaced.name))?;
        }
        for index in def.indexes.iter().filter(|i| !old.indexes.contains(i)) {
            connection.batch(&index.to_sqlite(&name.database, &name.table, &name.table))?;
        }
        table::save_definition(connection, &name.database, def)
    })
}

/// Warns of new indexes that have the columns of others.
fn warn_of_duplicate_indexes(
    session: &Session,
    name: &TableName,
    (def, old): (&TableDef, &TableDef),
) {
    for index in def.new_duplicate_indexes(old) {
        let message = format!(
            "Duplicate index '{index}' defined on the table '{}.{}'. This is deprecated and will be disallowed in a \
             future release.",
            name.database, name.table
        );
        session.state.warnings.add("Warning", 1831, message);
    }
}

/// ALTER TABLE. Returns the affected rows as MySQL counts them: those that it copies because a column
/// changes its type.
pub fn alter(
    session: &mut Session,
    name: &TableName,
    operations: &[AlterOperation],
) -> Result<u64> {
    check_options(session, operations)?;
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
    foreign::check_drop_indexes(&mut session.connections, name, &old, &def)?;
    def.settle();
    def.check_indexes()?;
    constraint::check_names(session.connections.own()?, &name.database, &old, &def)?;
    warn_of_duplicate_indexes(session, name, (&def, &old));
    engine::warn_of_unknown(session, &def);
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
    let is_new = |key: &ForeignKeyDef| !old.foreign_keys.contains(key);
    let adds_foreign_key =
        foreign::has_checks(&session.state) && def.foreign_keys.iter().any(is_new);
    let checks_rows = def.foreign_keys != old.foreign_keys && foreign::has_checks(&session.state);
    let databases = session.shared.databases.clone();
    exclusive::run(session, &name.database, |connection| {
        table::store_next_id(connection, &databases.next_ids, name)?;
        let views = take_views(connection, &name.database)?;
        if to != *name {
            foreign::rename_in_place(connection, name, &to)?;
            table::delete_definition(connection, name)?;
        }
        let rows = rebuild(connection, strict, &to, (&def, &old), Some(&sources));
        let rows = rows.map_err(|error| match error.code {
            // The copied rows have a NULL.
            1048 => SqlError::new(1138, "Invalid use of NULL value"),
            _ => error,
        })?;
        if to != *name {
            foreign::redirect_foreign_keys(connection, name, &to)?;
        }
        follow_columns(connection, strict, &to, (&def, &sources))?;
        put_views_back(connection, &views)?;
        if checks_rows {
            foreign::check_rows(connection, &to)?;
        }
        let retyped = def.columns.iter().zip(&sources).any(|(column, source)| {
            let before = source.as_deref().and_then(|name| old.column(name));
            before.is_some_and(|before| copies_rows(&before.column_type, &column.column_type))
        });
        // Foreign keys are checked by a copy.
        let copies = retyped || adds_foreign_key || constraint::copies_rows(&old, &def);
        databases.next_ids.forget(&name.database, &name.table);
        Ok(if copies { rows } else { 0 })
    })
}

/// Checks what MySQL checks before it opens the table: character sets, collations and the engine.
fn check_options(session: &Session, operations: &[AlterOperation]) -> Result<()> {
    let mut named = TableDef::default();
    for operation in operations {
        if let AlterOperation::Options(options) | AlterOperation::Convert(options) = operation {
            named.apply_options(options)?;
        }
    }
    engine::check(session, &named)
}

/// Whether two definitions are the same table in SQLite.
fn has_same_form(a: &TableDef, b: &TableDef) -> bool {
    a.to_sqlite("", &a.name) == b.to_sqlite("", &b.name)
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

fn drop_sql(name: &TableName, index: &str) -> String {
    let index = quote(&format!("{}.{index}", name.table));
    format!("DROP INDEX {}.{index}", quote(&name.database))
}

/// DROP INDEX.
pub fn drop_one_index(session: &mut Session, name: &TableName, index: &str) -> Result<()> {
    let old = table::require(&mut session.connections, name)?;
    let mut def = old.as_ref().clone();
    drop_index(&mut def, index)?;
    foreign::check_drop_indexes(&mut session.connections, name, &old, &def)?;
    exclusive::run(session, &name.database, |connection| {
        connection.batch(&drop_sql(name, index))?;
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
    let rename = |column: &mut String| {
        if column.eq_ignore_ascii_case(old) {
            new.clone_into(column);
        }
    };
    let indexes = def.indexes.iter_mut().flat_map(|i| &mut i.columns);
    indexes.for_each(rename);
    for key in &mut def.foreign_keys {
        key.columns.iter_mut().for_each(rename);
        if key.table == def.name {
            key.referred.iter_mut().for_each(rename);
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
