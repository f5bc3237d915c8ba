//! Actions that neither return rows nor change any.

use rusqlite::types::Value;

use super::prepare::{self, Answer};
use super::{account, flush, locks, named, savepoint};
use crate::ddl;
use crate::session::Session;
use crate::set;
use crate::transaction;
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::number::Number;

/// Runs an action. Returns the affected rows for the OK packet, or `None` if it has answered.
pub fn run(session: &mut Session, action: &Action, answer: Answer) -> Result<Option<u64>> {
    match action {
        Action::Begin { read_only } => transaction::begin(session, *read_only)?,
        Action::Commit { chain } => {
            let read_only = session.transaction.read_only;
            transaction::commit(session)?;
            if *chain {
                transaction::begin(session, read_only)?;
            }
        }
        Action::Rollback { chain } => {
            let read_only = session.transaction.read_only;
            transaction::roll_back(session);
            if *chain {
                transaction::begin(session, read_only)?;
            }
        }
        Action::Savepoint(name) => savepoint::set(session, name)?,
        Action::RollbackTo(name) => savepoint::roll_back_to(session, name)?,
        Action::Release(name) => savepoint::release(session, name)?,
        Action::Use(name) => session.use_database(name)?,
        Action::Set(items) => set::set(session, items)?,
        Action::Kill { id, query_only } => {
            let id = thread_number(&prepare::evaluate(session, id.clone())?);
            if id == session.state.id {
                if !query_only {
                    session.control.kill();
                }
                return Err(SqlError::interrupted());
            }
            session.rights.require_all("CONNECTION_ADMIN")?;
            if !session.shared.registry.kill(id, *query_only) {
                return Err(SqlError::new(1094, format!("Unknown thread id: {id}")));
            }
        }
        Action::LockTables(tables) => locks::lock(session, tables)?,
        Action::UnlockTables => session.locks.tables.clear(),
        Action::NoOp | Action::Empty => {}
        Action::Account(change) => account::change(session, change)?,
        Action::Flush(what) => flush::flush(session, what)?,
        Action::Shutdown => {
            session.rights.require_all("SHUTDOWN")?;
            session.shared.stop.request();
        }
        Action::Prepare(name, text) => named::prepare(session, name, text)?,
        Action::Execute(name, using) => {
            named::execute(session, name, using, answer)?;
            return Ok(None);
        }
        Action::Deallocate(name) => named::deallocate(session, name)?,
        Action::Ddl(ddl) => return ddl::run(session, ddl, answer),
        Action::Call(_)
        | Action::Rows(_)
        | Action::Into(..)
        | Action::Do(_)
        | Action::Write(..)
        | Action::Show(_) => {}
    }
    Ok(Some(0))
}

/// The number of a thread as MySQL converts it: rounded, of 32 bits, and 0 for NULL and other texts.
fn thread_number(value: &Value) -> u64 {
    let number = match value {
        Value::Integer(n) => *n,
        Value::Real(x) => x.round() as i64,
        Value::Text(text) => Number::of(text.as_bytes()).double().round() as i64,
        Value::Null | Value::Blob(_) => 0,
    };
    u64::from(number as u32)
}
