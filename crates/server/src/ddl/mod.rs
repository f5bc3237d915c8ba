//! Changes of the schema. Each commits the open transaction first, as in MySQL, and is one transaction.

mod alter;
mod constraint;
mod create_as_select;
mod database;
mod default;
pub mod engine;
mod exclusive;
mod foreign;
mod maintain;
mod program;
mod rebuild;
mod table;

use tare::{LockDuration, LockType, Namespace};
use tare_mysql::error::Result;
use tare_mysql::schema::is_system_schema;

use self::exclusive::literal;
use super::execute::prepare::Answer;
use super::points;
use super::session::Session;
use super::transaction;
use tare_dialect::ddl::FromSql;
use tare_dialect::ddl::{Ddl, TableName};
use tare_query::programs;
use tare_store::connection::quote;

/// The exclusive metadata locks of a change.
fn metadata_locks(ddl: &Ddl) -> Vec<tare::metadata::MetadataLock> {
    let lock = |on: Namespace, database: &str, table: &str| {
        let mut lock = tare::metadata::MetadataLock::new(&points::MDL, on, database, table);
        lock.granted(LockType::Exclusive, LockDuration::Transaction);
        lock
    };
    match ddl {
        Ddl::CreateDatabase { name, .. } | Ddl::DropDatabase { name, .. } => {
            vec![lock(Namespace::Schema, name, "")]
        }
        _ => {
            let tables = ddl.tables().into_iter();
            tables
                .map(|t| lock(Namespace::Table, &t.database, &t.table))
                .collect()
        }
    }
}

/// Drops the recorded figures of tables whose names no longer exist.
fn drop_statistics(ddl: &Ddl) {
    let gone = |name: &TableName| tare::table::dropped(&name.database, &name.table);
    match ddl {
        Ddl::Drop { names, .. } => names.iter().for_each(gone),
        Ddl::Rename(pairs) => pairs.iter().for_each(|(from, _)| gone(from)),
        _ => {}
    }
}

/// Runs a change. Returns the affected rows, or `None` if it has answered with rows.
pub fn run(session: &mut Session, ddl: &Ddl, answer: Answer) -> Result<Option<u64>> {
    if let Ddl::Maintain(tables, operation) = ddl {
        maintain::maintain(session, tables, *operation, answer)?;
        return Ok(None);
    }
    if let Ddl::Truncate(name) = ddl
        && is_system_schema(&name.database)
    {
        let system = session.connections.system()?;
        system.truncate(&name.database, &name.table)?;
        return Ok(Some(0));
    }
    let account = session.state.account();
    if let Some(error) = programs::system_ddl_error(
        tare_sys::Sys::of(session.shared.config.series),
        ddl,
        &account,
    ) {
        return Err(error);
    }
    transaction::commit(session)?;
    let _locks = metadata_locks(ddl);
    let result = apply(session, ddl);
    if result.is_ok() {
        drop_statistics(ddl);
    }
    result
}

fn apply(session: &mut Session, ddl: &Ddl) -> Result<Option<u64>> {
    match ddl {
        Ddl::CreateDatabase {
            name,
            if_not_exists,
        } => return database::create(session, name, *if_not_exists).map(Some),
        Ddl::DropDatabase { name, if_exists } => {
            return database::drop(session, name, *if_exists).map(Some);
        }
        Ddl::CreateTable {
            name,
            def,
            if_not_exists,
        } => {
            engine::check_created(session, def)?;
            if !table::note_existing(&mut session.connections, name, *if_not_exists)? {
                let def = table::check_new(session, name, def)?;
                exclusive::run(session, &name.database, |c| table::create(c, name, &def))?;
                table::warn_of_deprecated(&session.connections.context, &def);
            }
        }
        Ddl::CreateLike {
            name,
            like,
            if_not_exists,
        } => {
            if !table::note_existing(&mut session.connections, name, *if_not_exists)? {
                let mut def = table::require(&mut session.connections, like)?
                    .as_ref()
                    .clone();
                constraint::leave_names(&mut def, &name.table);
                constraint::check_new_names(session.connections.own()?, &name.database, &def)?;
                exclusive::run(session, &name.database, |c| table::create(c, name, &def))?;
                table::warn_of_deprecated(&session.connections.context, &def);
            }
        }
        Ddl::CreateAs {
            name,
            def,
            rows,
            if_not_exists,
        } => {
            engine::check_created(session, def)?;
            if !table::note_existing(&mut session.connections, name, *if_not_exists)? {
                let def = table::check_new(session, name, def)?;
                return create_as_select::create(session, name, &def, rows).map(Some);
            }
        }
        Ddl::CreateView {
            name,
            query,
            text,
            or_replace,
        } => table::create_view(session, name, query, text, *or_replace)?,
        Ddl::Drop {
            names,
            if_exists,
            view,
        } => table::drop(session, names, *if_exists, *view)?,
        Ddl::DropProgram {
            program,
            database,
            name,
            if_exists,
        } => program::drop(session, *program, database.as_deref(), name, *if_exists)?,
        Ddl::Alter { name, operations } => {
            return alter::alter(session, name, operations).map(Some);
        }
        Ddl::CreateIndex { name, constraint } => {
            let mut def = table::require(&mut session.connections, name)?
                .as_ref()
                .clone();
            def.add_constraint(constraint)?;
            def.settle();
            alter::add_index(session, name, &def)?;
        }
        Ddl::DropIndex { name, index } => alter::drop_one_index(session, name, index)?,
        Ddl::Rename(pairs) => {
            for (from, to) in pairs {
                alter::rename(session, from, to)?;
            }
        }
        Ddl::Truncate(name) => truncate(session, name)?,
        Ddl::Maintain(..) => {}
    }
    Ok(Some(0))
}

/// TRUNCATE, which also resets AUTO_INCREMENT.
fn truncate(session: &mut Session, name: &TableName) -> Result<()> {
    let def = table::require(&mut session.connections, name)?;
    foreign::check_truncate(&mut session.connections, name)?;
    let (db, table) = (quote(&name.database), quote(&name.table));
    let databases = session.shared.databases.clone();
    exclusive::run(session, &name.database, |connection| {
        connection.batch(&format!("DELETE FROM {db}.{table}"))?;
        if def.auto_increment().is_some() {
            connection.batch(&format!(
                "DELETE FROM {db}.sqlite_sequence WHERE name = {}",
                literal(&name.table)
            ))?;
        }
        // Under the lock: the next session's rows have the numbers from 1 on.
        databases.next_ids.forget(&name.database, &name.table);
        Ok(())
    })
}
